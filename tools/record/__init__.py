"""What pages show as recorded: one file an experiment. `course.py bench --record` runs them."""

import csv
import json
import platform
import sys
from pathlib import Path
from typing import Any

import torch

from book.chapters import ROOT, shown, store

ASSETS = ROOT / "d2lmini" / "assets"


def device_name(device: torch.device) -> str:
    """Return what a reader would call this device: the model of the processor, or of the GPU."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return f"{model}, 1 thread"


def save_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Replace the rows of this device in a file of recorded measurements, and keep those of other devices."""
    others: list[dict[str, Any]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            others = [row for row in csv.DictReader(file) if row["device"] != rows[0]["device"]]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(others + rows)
    print(f"recorded {len(rows)} measurements of {rows[0]['device']} in {shown(path)}")


def save_first(name: str, shown_first: list[dict[str, Any]]) -> None:
    """Write what an explorer shows before its weights come, a line a language."""
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in shown_first]
    store(ASSETS / f"{name}-first.jsonl", ("\n".join(lines) + "\n").encode())


def milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e3:.3g}"


def show(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown, so that it can be pasted where it is discussed."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    print(f"\n{title}\n")
    for row in (header, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    sys.stdout.flush()
