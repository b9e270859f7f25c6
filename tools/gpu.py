"""Runs the notebooks on a graphics card and records what it measures there, for `course.py gpu`.

First every notebook, compared with the same stored outputs as on a CPU. Then the layers of chapter 4, up to
65 536 tokens, and the translators of chapter 9, into `d2lmini/assets/gpu.json`. Pages that were silent about
GPUs get a cell that prints the record.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

import d2lmini as d2l
from d2lmini.language import LANGUAGES
from d2lmini.notebook.gpu import RECORD
from tools import bench, notebooks

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 65_536
# section of the record: the page that shows it, and after which cell
PLACES = {
    "layers": ("cost-in-practice", "wall-clock-yours"),
    "translation": ("translation", "training-run-code"),
}
ABSENT = (
    "gpu: PyTorch sees no CUDA device here, and nothing was run. It takes an NVIDIA card, its driver, and a\n"
    "build of PyTorch with CUDA (pytorch.org/get-started). CONTRIBUTING.md says how to let a runner do it."
)


def measure(device: torch.device) -> dict[str, Any]:
    """Return what the pages show of this device; progress goes to the terminal."""
    print("gpu: the layers of chapter 4 …", flush=True)
    layers = bench.layer_runs(device, dict.fromkeys(bench.LAYERS, LONGEST))
    shown = ("layer", "batch", "n", "seconds", "peak_bytes")
    rows = []
    for target in ("fr", "vi", "zh"):
        for name, make in bench.TRANSLATORS.items():
            print(f"gpu: training and translating, en→{target}, {name} …", flush=True)
            rows.append(translator_speed(name, make, target, device))
    return {
        "device": torch.cuda.get_device_name(device),
        "torch": torch.__version__.split("+")[0],
        "cuda": torch.version.cuda,
        "layers": [{key: row[key] for key in shown} for row in layers],
        "translation": rows,
    }


def translator_speed(name: str, make: Any, target: str, device: torch.device) -> dict[str, Any]:
    """Return target tokens a second, of training in batches of 64 and of translating one by one."""
    torch.manual_seed(0)
    data, src_vocab, tgt_vocab = d2l.load_data_nmt(64, bench.NUM_STEPS, 600, target=target)
    net = make(len(src_vocab), len(tgt_vocab))
    training = d2l.train_seq2seq(net, data, 0.005, 20, tgt_vocab, device)
    speeds = []
    for source, _ in d2l.held_out_nmt(target)[:20]:
        start = bench.timer()
        said, _ = d2l.predict_seq2seq(net, source, src_vocab, tgt_vocab, bench.NUM_STEPS, device)
        speeds.append((len(said.split()) + 1) / (bench.timer() - start))  # with <eos>
    return {
        "model": name,
        "target": target,
        "training": round(training.tokens_per_second),
        "translating": round(statistics.median(speeds)),
    }


def write(record: dict[str, Any], path: Path = RECORD) -> None:
    """Keep a record in place of the one before."""
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    os.replace(aside, path)


def show_in_pages(root: Path = ROOT) -> list[str]:
    """Give each page of `PLACES` its cell, in every language; return the names of these pages."""
    for section, (page, after) in PLACES.items():
        for language in LANGUAGES:
            path = root / "chapters" / language / f"{page}.ipynb"
            notebook = notebooks.read(path)
            ids = [cell["id"] for cell in notebook["cells"]]
            if f"gpu-{section}" in ids:
                continue
            cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "id": f"gpu-{section}"}
            cell |= {"metadata": {}, "outputs": [], "source": [f'd2l.gpu_report("{section}")']}
            notebook["cells"].insert(ids.index(after) + 1, cell)
            notebooks.write(path, notebook)
    return [page for page, _ in PLACES.values()]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course.py gpu", description=__doc__)
    parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print(ABSENT, file=sys.stderr)
        return 1
    device = torch.device("cuda")
    print(f"gpu: every notebook on {torch.cuda.get_device_name(device)} …", flush=True)
    if code := subprocess.run([sys.executable, "-m", "pytest", "chapters"], cwd=ROOT, check=False).returncode:
        print("gpu: the notebooks do not print here what is stored; nothing was recorded", file=sys.stderr)
        return code
    write(measure(device))
    print(f"gpu: recorded in {RECORD.relative_to(ROOT)}", flush=True)
    return notebooks.main(show_in_pages())


if __name__ == "__main__":
    sys.exit(main())
