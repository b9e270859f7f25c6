"""Time the training of chapter 11 as a reader runs it, alone and beside a busy process, on two cores."""

import os
import subprocess
import sys
from typing import Any

from book.chapters import ROOT
from tools.record import show

PAGE_SECONDS = 15  # what the page promises
EPOCHS = 100
ON_TWO_CORES = """
import os
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
"""
BUSY = ON_TWO_CORES + "while True: pass"
TRAINING = (
    ON_TWO_CORES
    + """
import torch, d2lmini as d2l
from tools.record.translation import small_translator
torch.manual_seed(0)
data, source, target = d2l.load_data_nmt(64, 10, 600)
timer = d2l.Timer()
d2l.train_seq2seq(small_translator(len(source), len(target)), data, 0.005, {epochs}, target, "cpu")
print(timer.stop())
"""
)


def seconds(busy: bool, epochs: int = EPOCHS) -> float:
    """Return the seconds of a training in a process that says nothing of threads."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "MKL_"))}
    neighbor = subprocess.Popen([sys.executable, "-c", BUSY]) if busy else None
    try:
        command = [sys.executable, "-c", TRAINING.format(epochs=epochs)]
        run = subprocess.run(command, cwd=ROOT, env=plain, stdout=subprocess.PIPE, text=True, check=True)
    finally:
        if neighbor:
            neighbor.kill()
            neighbor.wait()
    return float(run.stdout)


def run(devices: Any = None, record: bool = False) -> None:
    """Print both times; nothing is recorded."""
    row = [f"{seconds(busy):.1f} s" for busy in (False, True)]
    title = f"Chapter 11, {EPOCHS} epochs on two cores; the page says {PAGE_SECONDS} s"
    show(title, ["alone", "beside a busy process"], [row])
