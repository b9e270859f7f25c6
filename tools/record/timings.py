"""Record time and peak memory of a forward pass of each layer, for chapters 3 and 4: timings.csv."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

import d2lmini as d2l
from tools.record import ASSETS, device_name, milliseconds, save_rows, show

PATH = ASSETS / "timings.csv"
COLUMNS = ("device", "layer", "batch", "n", "d", "k", "seconds", "peak_bytes")
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "convolution": lambda: d2l.ConvolutionLayer(64, 3),
    "recurrent": lambda: d2l.RecurrentLayer(64),
    "attention": lambda: d2l.AttentionLayer(64),
    "fused attention": lambda: d2l.AttentionLayer(64, fused=True),
}
# tokens at most; n² weights: 256 MiB at 8 192 tokens, several at a time
LONGEST = {"convolution": 65_536, "recurrent": 65_536, "attention": 8_192, "fused attention": 16_384}


def layer_runs(device: torch.device, longest: dict[str, int] = LONGEST) -> list[dict[str, Any]]:
    """Time one forward pass of every layer, with d = 64 and k = 3: by length, then by batch at 512 tokens.

    What does not fit into the memory of a GPU has no row.
    """
    rows = []
    for name, make in LAYERS.items():
        layer = make().to(device).eval()
        sizes = [(1, 2**power) for power in range(6, int(math.log2(longest[name])) + 1)]
        for batch, n in (*sizes, (4, 512), (32, 512)):
            forward = partial(layer, torch.randn(batch, n, 64, device=device))
            try:
                with torch.no_grad():
                    once = d2l.median_time(forward, repeats=1)
                    seconds = d2l.median_time(forward, repeats=min(101, max(5, int(0.5 / once))))
                    peak = peak_bytes(forward, device)
            except torch.cuda.OutOfMemoryError:
                continue
            cells = (device_name(device), name, batch, n, 64, 3, float(f"{seconds:.3g}"), peak)
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def peak_bytes(run: Callable[[], None], device: torch.device) -> int:
    """Return the peak memory of a run: the allocator's own on a GPU, the living tensors on a CPU."""
    if device.type != "cuda":
        return d2l.peak_memory(run)
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    run()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) - before


def run(devices: list[torch.device], record: bool) -> None:
    """Time the layers on each device, print ms and slopes; record them if asked."""
    curves, batches = [], []
    for device in devices:
        rows = layer_runs(device)
        names = list(dict.fromkeys(row["layer"] for row in rows))
        seconds = {(row["layer"], row["batch"], row["n"]): row["seconds"] for row in rows}
        for n in sorted({row["n"] for row in rows}):
            curves.append([device.type, str(n), *(milliseconds(seconds.get((name, 1, n))) for name in names)])
        slopes = []
        for name in names:
            curve = {n: value for (layer, batch, n), value in seconds.items() if (layer, batch) == (name, 1)}
            lengths = [n for n in curve if n >= 512]
            slopes.append(f"n^{d2l.loglog_slope(lengths, [curve[n] for n in lengths]):.2f}")
        curves.append([device.type, "slope", *slopes])
        for batch in sorted({row["batch"] for row in rows}):
            each = (milliseconds(seconds[name, batch, 512] / batch) for name in names)
            batches.append([device.type, str(batch), *each])
        if record:
            save_rows(PATH, rows)
    show("layers: ms a forward pass, d = 64, k = 3, batch 1", ["device", "n", *names], curves)
    show("layers: ms a sequence, n = 512, d = 64, k = 3", ["device", "batch", *names], batches)
