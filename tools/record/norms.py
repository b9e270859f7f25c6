"""Record how the stacks of chapter 9, norm before or after, learn to swap two letters: norms.csv."""

import csv
from typing import Any

import torch
from torch import nn

import d2lmini as d2l
from book.chapters import path_of, read, source
from tools.record import ASSETS, device_name, show

PATH = ASSETS / "norms.csv"
COLUMNS = ["device", "form", "blocks", "rate", "warmup", "clip", "seed", "right_30", "right_100", "losses"]
RECIPES: tuple[tuple[str, int, float, int, float], ...] = (  # form, blocks, rate, warmup, clip
    ("post_norm", 2, 0.01, 1, torch.inf),
    ("pre_norm", 2, 0.01, 1, torch.inf),
    ("post_norm", 24, 0.01, 1, torch.inf),
    ("pre_norm", 24, 0.01, 1, torch.inf),
    ("post_norm", 24, 0.01, 30, torch.inf),
    ("post_norm", 24, 0.005, 1, torch.inf),
    ("post_norm", 24, 0.01, 1, 0.1),
)
SEEDS = 5


def run(devices: list[torch.device], record: bool) -> None:
    """Train each stack from five seeds, on the CPU, with the chapter's own cells; record them if asked."""
    cells = {cell["id"]: source(cell) for cell in read(path_of("en", "transformer-block"))["cells"]}
    page: dict[str, Any] = {"torch": torch, "nn": nn, "d2l": d2l}
    for name in ("pre-norm-block", "swap-code", "swap-train"):
        exec(cells[name], page)
    rows = []
    for form, blocks, rate, warmup, clip in RECIPES:
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = page["Swapper"](page[form], blocks)
            curve = page["train"](model, rate, warmup, steps=100, clip=clip)
            recipe = (form, blocks, rate, warmup, clip, seed)
            ends = [f"{curve[step - 1][1]:.3f}" for step in (30, 100)]
            losses = " ".join(f"{loss:.2f}" for loss, _ in curve)
            rows.append([device_name(torch.device("cpu")), *map(str, recipe), *ends, losses])
    show("norms: share right after 30 and 100 steps", COLUMNS[1:-1], [row[1:-1] for row in rows])
    if record:
        with PATH.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
