"""Record what each change since 2017 does to the block of chapter 9, alone and all together: since.csv.

Written down before the first row: a model of two blocks, d 64, 4 heads, reads the same 19 200 English stories
in the same order, 600 steps of 32, with the one recipe of `train_language_model`, tuned for none of them.
Eleven models: the block of 2017 (post-norm, LayerNorm, ReLU network of width 4d with biases, sinusoids added,
an output matrix of its own), the same with one change, with all eight, and with all but the tied embeddings.
Three seeds each, which draw the weights. Compared are the loss on 1 000 stories held out and the share of
things recalled right; a change counts only if its three losses and those of 2017 do not overlap. `step_ms` is
the median processor time of a step.
"""

import csv
import itertools
import statistics
import time
from typing import Any

import torch
from torch import nn

import d2lmini as d2l
from book.chapters import path_of, read, source
from d2lmini.training import train_language_model
from tools.record import ASSETS, device_name, show
from tools.record.writers import scores

PATH = ASSETS / "since.csv"
MEASURES = ["loss", "recalled", "unseen", "longer"]
COLUMNS = ["device", "change", "seed", *MEASURES, "step_ms"]
CELLS = ("block-code", "model-code", "changes-code", "trials-code")
STEPS, BATCH, SEEDS = 600, 32, 3


def train(net: nn.Module, X: torch.Tensor) -> float:
    """Train a model, and return the median processor time of a step in milliseconds."""
    times = [time.process_time()]
    train_language_model(net, X, STEPS, 2e-3, BATCH, lambda step, loss: times.append(time.process_time()))
    net.eval()
    return 1000 * statistics.median(after - before for before, after in itertools.pairwise(times))


def run(devices: list[torch.device], record: bool) -> None:
    """Train each model from three seeds, on the CPU, with the chapter's own cells; record them if asked."""
    d2l.use_language("en")
    cells = {cell["id"]: source(cell) for cell in read(path_of("en", "since-2017"))["cells"]}
    page: dict[str, Any] = {"torch": torch, "nn": nn, "d2l": d2l}
    for name in CELLS:
        exec(cells[name], page)
    stories = d2l.Stories("en")
    X = stories.batch(STEPS * BATCH, seed=0)
    rows = []
    for seed in range(SEEDS):
        for change, options in page["trials"].items():
            torch.manual_seed(seed)
            net = page["make_model"](**options)
            step_ms = train(net, X)
            measured = scores(net, stories)
            numbers = [f"{measured[name]:.4f}" for name in MEASURES]
            rows.append([device_name(torch.device("cpu")), change, str(seed), *numbers, f"{step_ms:.1f}"])
            print(*rows[-1], sep=",", flush=True)
    rows.sort(key=lambda row: list(page["trials"]).index(row[1]))  # the seeds of a change side by side
    show("since: loss and share recalled", COLUMNS[1:], [row[1:] for row in rows])
    if record:
        with PATH.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
