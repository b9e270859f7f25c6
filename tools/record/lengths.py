"""Record how models of chapter 8, trained on 16 tokens, read up to 256: lengths.csv."""

import csv
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import d2lmini as d2l
from book.chapters import path_of, read, source
from tools.record import ASSETS, device_name, show

PATH = ASSETS / "lengths.csv"
COLUMNS = ["device", "model", "seed", "steps", "16", "32", "64", "256"]
CELLS = ["layer-code", "model-code", "train-code", "right-code", "only-seen", "stretch-code"]


class Recipe(NamedTuple):
    """A model of the chapter and its training: arguments of `Model`, and what comes after."""

    doors: Callable[[], dict[str, Any]] = dict
    steps: int = 300
    offsets: int = 0  # sequences start at a random position up to this one
    speeds: Tensor | None = None  # RoPE's clocks after the training
    further: int = 0  # steps on 256 tokens, after the training
    hidden: bool = False  # keys farther than any in training, when the model is tested


def sinusoids() -> dict[str, Any]:
    return {"add": d2l.PositionalEncoding(48, 0)}


def learned() -> dict[str, Any]:
    return {"add": d2l.LearnedPositionalEncoding(48, 0)}


def rope() -> dict[str, Any]:
    return {"turn": d2l.RotaryEmbedding(8)}


def relative() -> dict[str, Any]:
    return {"bias": d2l.RelativePositionBias(8, max_distance=8)}


def alibi() -> dict[str, Any]:
    return {"bias": lambda Q: d2l.ALiBi(6)(Q.shape[-2])}


DOORS = {"sinusoids": sinusoids, "RoPE": rope, "relative": relative, "ALiBi": alibi}
SPEEDS = 10000 ** (-torch.arange(0, 8, 2) / 8)
CLOCKS = {
    "RoPE": None,
    "RoPE, interpolated": SPEEDS / 16,
    "RoPE, NTK-aware": SPEEDS / 16 ** torch.linspace(0, 1, 4),
    "RoPE, by parts": SPEEDS / torch.tensor([1, 16, 16, 16]),
}
RECIPES = (
    {"learned": Recipe(learned), "none": Recipe()}
    | {name: Recipe(doors) for name, doors in DOORS.items()}
    | {f"{name}, far keys hidden": Recipe(doors, hidden=True) for name, doors in DOORS.items()}
    | {name: Recipe(rope, speeds=speeds) for name, speeds in CLOCKS.items()}
    | {f"{name}, 200 more steps": Recipe(rope, speeds=speeds, further=200) for name, speeds in CLOCKS.items()}
    | {"none, one layer": Recipe(steps=1500)}
    | {"none, two layers": Recipe(lambda: {"layers": 2}, 1500)}
    | {"none, three layers": Recipe(lambda: {"layers": 3}, 1500)}
    | {"sinusoids, no offsets": Recipe(sinusoids, 1500)}
    | {"sinusoids, random offsets": Recipe(sinusoids, 1500, offsets=240)}
    | {"learned, random offsets": Recipe(learned, 1500, offsets=240)}
)


def shares(recipe: Recipe, seed: int) -> list[float]:
    """Train a model of chapter 8 with the chapter's own cells; return its shares of right answers."""
    cells = {cell["id"]: source(cell) for cell in read(path_of("en", "relative-positions"))["cells"]}
    page: dict[str, Any] = {"torch": torch, "nn": nn, "d2l": d2l}
    for name in CELLS:
        exec(cells[name], page)
    torch.manual_seed(seed)
    model = page["Model"](**recipe.doors())
    page["train"](model, steps=recipe.steps, offsets=recipe.offsets)
    if recipe.speeds is not None:
        model.layers[0].turn = page["clocks"](recipe.speeds)
    if recipe.further:
        page["train"](model, steps=recipe.further, n=256)
    if recipe.hidden:
        model.layers[0].mask = page["only_seen"]
    return [page["right"](model, n)[15 if n > 16 else 0 :].mean().item() for n in (16, 32, 64, 256)]


def run(devices: list[torch.device], record: bool) -> None:
    """Train each model from three seeds, on the CPU; print the shares, and record them if asked."""
    rows = []
    for name, recipe in RECIPES.items():
        for seed in range(3):
            cells = [f"{share:.3f}" for share in shares(recipe, seed)]
            steps = str(recipe.steps + recipe.further)
            rows.append([device_name(torch.device("cpu")), name, str(seed), steps, *cells])
    show("lengths: share right, trained on 16 tokens", COLUMNS[1:], [row[1:] for row in rows])
    if record:
        with PATH.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
