"""What `python3 course.py gpu` recorded on a graphics card, as a page shows it."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from d2lmini.language import text

RECORD = Path(str(files("d2lmini"))) / "assets" / "gpu.json"
SECTIONS = ("layers", "translation")


def gpu_report(section: str) -> None:
    """Print what was measured on a graphics card, with the device named.

    `python3 course.py gpu` measures it, on a machine that has one, and puts these calls into the pages. The
    package holds no measurements until somebody did.

    Args:
        section: `"layers"` prints the milliseconds and peak MiB of a forward pass for each layer, and how a
            batch changes them; `"translation"` the speed of training and of translating.

    Raises:
        ValueError: there is no such section.
        FileNotFoundError: nothing was measured yet.

    Example:
        >>> gpu_report("speed")
        Traceback (most recent call last):
        ValueError: section: got 'speed'; choose one of 'layers', 'translation'
    """
    if section not in SECTIONS:
        raise ValueError(f"section: got {section!r}; choose one of {', '.join(map(repr, SECTIONS))}")
    if not RECORD.exists():
        raise FileNotFoundError("nothing was recorded yet: run python3 course.py gpu where there is a GPU")
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    print(f"{record['device']}, PyTorch {record['torch']}, CUDA {record['cuda']}")
    (_print_layers if section == "layers" else _print_translation)(record[section])


def _print_layers(rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(row["layer"] for row in rows))
    found = {(row["layer"], row["batch"], row["n"]): row for row in rows}
    spoken = ", ".join(map(text, names))

    def column(name: str, batch: int, n: int, key: str, unit: float) -> str:
        row = found.get((name, batch, n))
        return f"{row[key] / unit:10.2f}" if row else f"{'–':>10}"  # it did not fit into the card's memory

    for key, unit, label in (("seconds", 1e-3, "ms"), ("peak_bytes", 2**20, "MiB")):
        print(f"\n{label}\nn: {spoken}")
        for n in sorted({row["n"] for row in rows if row["n"] >= 512}):
            print(f"{n:6}" + "".join(column(name, 1, n, key, unit) for name in names))
    print(f"\nn = 512; ms / {text('sequence')}\n{text('sequences at once')}: {spoken}")
    for batch in sorted({row["batch"] for row in rows}):
        print(f"{batch:6}" + "".join(column(name, batch, 512, "seconds", batch * 1e-3) for name in names))


def _print_translation(rows: list[dict[str, Any]]) -> None:
    print(text("tokens / s: training, translating"))
    for row in rows:
        print(f"{row['training']:8.0f} {row['translating']:8.0f}  en→{row['target']} {text(row['model'])}")
