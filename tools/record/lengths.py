"""Record how models of chapter 7, trained on 16 tokens, read up to 256: lengths.csv."""

import csv
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

import d2lmini as d2l
from book.chapters import path_of, read, source
from tools.record import ASSETS, device_name, show

PATH = ASSETS / "lengths.csv"
COLUMNS = ["device", "model", "seed", "steps", "16", "32", "64", "256"]
RECIPES: dict[str, tuple[Callable[[], dict[str, Any]], int]] = {  # arguments of Model, offsets up to
    "none, one layer": (dict[str, Any], 0),
    "none, two layers": (lambda: {"layers": 2}, 0),
    "none, three layers": (lambda: {"layers": 3}, 0),
    "sinusoids": (lambda: {"add": d2l.PositionalEncoding(48, 0)}, 0),
    "sinusoids, random offsets": (lambda: {"add": d2l.PositionalEncoding(48, 0)}, 240),
    "learned, random offsets": (lambda: {"add": d2l.LearnedPositionalEncoding(48, 0)}, 240),
}


def shares(recipe: str, seed: int, steps: int) -> list[float]:
    """Train a model of chapter 7 with the chapter's own cells; return its shares of right answers."""
    cells = {cell["id"]: source(cell) for cell in read(path_of("en", "relative-positions"))["cells"]}
    page: dict[str, Any] = {"torch": torch, "nn": nn, "d2l": d2l}
    for name in ("doors-code", "layer-code", "model-code", "train-code", "right-code"):
        exec(cells[name], page)
    arguments, offsets = RECIPES[recipe]
    torch.manual_seed(seed)
    model = page["Model"](**arguments())
    page["train"](model, steps=steps, offsets=offsets)
    return [page["right"](model, n)[15 if n > 16 else 0 :].mean().item() for n in (16, 32, 64, 256)]


def run(devices: list[torch.device], record: bool) -> None:
    """Train each model from three seeds, on the CPU; print the shares, and record them if asked."""
    rows, steps = [], 1500
    for recipe in RECIPES:
        for seed in range(3):
            cells = [f"{share:.3f}" for share in shares(recipe, seed, steps)]
            rows.append([device_name(torch.device("cpu")), recipe, str(seed), str(steps), *cells])
    show("lengths: share right, trained on 16 tokens", COLUMNS[1:], [row[1:] for row in rows])
    if record:
        with PATH.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
