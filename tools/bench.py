"""Measures what the course claims to be fast, side by side with the straightforward code, in one run.

    python3 course.py bench                     # every section
    python3 course.py bench --section layers    # one of them
    python3 course.py bench --record            # also renew this device's rows in d2lmini/assets/*.csv

Computes on one thread of the CPU, and on a GPU where there is one. Prints medians and ratios; a ratio above 1
says how many times faster (or smaller) d2lmini is. It never fails for a time: the reader's machine is what it
is. The baselines are written out below, without any of d2lmini's care.
"""

import argparse
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.utils.benchmark import timer  # waits for the GPU, then reads the clock

import d2lmini as d2l
from book.chapters import ROOT
from tools.record import device_name, lengths, milliseconds, show, timings, translation
from tools.record.timings import peak_bytes

ATTENTION_SIZES = (  # batch, n, width, heads
    (2, 4, 100, 5),
    (32, 64, 128, 4),
    (8, 256, 256, 8),
    (4, 1024, 256, 8),
    (1, 4096, 256, 8),
)


class WrittenOutDotProduct(nn.Module):
    """softmax(QKᵀ/√d)V as the formula reads: all n² weights, kept to look at; what is masked gets −10⁶."""

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])  # (batch, heads, n, n)
        if valid_lens is not None:
            per_query = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None]
            padding = torch.arange(keys.shape[2], device=keys.device) >= per_query[:, None, :, None]
            scores = scores.masked_fill(padding, -1e6)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e6)
        self.attention_weights = torch.softmax(scores, dim=-1)
        return self.attention_weights @ values


def write_out_attention(net: nn.Module) -> nn.Module:
    """Put the written-out dot product into every multi-head attention of a network."""
    for module in list(net.modules()):
        if isinstance(module, d2l.MultiHeadAttention):
            module.attention = WrittenOutDotProduct()  # type: ignore[assignment]
    return net


def attention_runs(
    device: torch.device, batch: int, n: int, width: int, heads: int, masked: bool, backward: bool
) -> dict[str, Callable[[], None]]:
    """Return the three attentions, each as a function without arguments that runs it once."""
    X = torch.randn(batch, n, width, device=device, requires_grad=backward)
    valid_lens = torch.randint(max(1, n // 2), n + 1, (batch,), device=device) if masked else None
    padding = None if valid_lens is None else torch.arange(n, device=device) >= valid_lens[:, None]
    ours = d2l.MultiHeadAttention(width, width, width, width, heads, 0.0).to(device)
    torchs = nn.MultiheadAttention(width, heads, bias=False, batch_first=True, device=device)
    plain = write_out_attention(d2l.MultiHeadAttention(width, width, width, width, heads, 0.0)).to(device)
    forwards: dict[str, Callable[[], Tensor]] = {
        "d2lmini": lambda: ours(X, X, X, valid_lens),
        "nn.MultiheadAttention": lambda: torchs(X, X, X, key_padding_mask=padding, need_weights=False)[0],
        "written out": lambda: plain(X, X, X, valid_lens),
    }

    def run(forward: Callable[[], Tensor]) -> None:
        if backward:
            forward().sum().backward()
        else:
            with torch.no_grad():
                forward()

    return {name: partial(run, forward) for name, forward in forwards.items()}


def bench_attention(devices: list[torch.device], record: bool) -> None:
    table = []
    for device in devices:
        for size in ATTENTION_SIZES:
            for backward in (False, True):
                for masked in (False, True):
                    runs = attention_runs(device, *size, masked=masked, backward=backward)
                    once = d2l.median_time(runs["written out"], repeats=1)
                    repeats = min(51, max(3, int(0.3 / once)))
                    seconds = interleaved_medians(runs, repeats)
                    what = ("forward+backward" if backward else "forward") + (", masked" if masked else "")
                    table.append([device.type, str(size), what, *compared(seconds, milliseconds)])
    header = ["device", "(batch, n, width, heads)", "pass"]
    header += ["d2lmini", "nn.MultiheadAttention", "ratio", "written out", "ratio"]
    show("attention: ms", header, table)
    table = []
    for device in devices:
        for backward in (False, True):
            runs = attention_runs(device, 1, 4096, 256, 8, masked=True, backward=backward)
            peaks = {name: float(peak_bytes(run, device)) for name, run in runs.items()}
            what = ("forward+backward" if backward else "forward") + ", masked"
            table.append([device.type, "(1, 4096, 256, 8)", what, *compared(peaks, mebibytes)])
    show("attention: peak MiB", header, table)


def interleaved_medians(runs: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each run; they take turns, so that a busy machine disturbs all alike."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(repeats):
        for name, run in runs.items():
            start = timer()
            run()
            times[name].append(timer() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def mebibytes(count: float) -> str:
    return f"{count / 2**20:.1f}"


def compared(values: dict[str, float], write: Callable[[float], str]) -> list[str]:
    """Return d2lmini's value, then each baseline's with its ratio to it."""
    ours = values["d2lmini"]
    baselines = [value for name, value in values.items() if name != "d2lmini"]
    return [write(ours), *(cell for value in baselines for cell in (write(value), f"×{value / ours:.2f}"))]


def bench_site(devices: list[torch.device], record: bool) -> None:
    from tools import bench_site

    subprocess.run([sys.executable, "-m", "book.build"], cwd=ROOT, check=True)  # nothing if it is built
    for table in bench_site.tables(ROOT / "_build" / "site"):
        show(*table)


SECTIONS = {
    "layers": timings.run,
    "lengths": lengths.run,
    "attention": bench_attention,
    "site": bench_site,
    "translation": translation.run,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python3 course.py bench", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--section", action="append", choices=SECTIONS, help="only this section; may be repeated"
    )
    parser.add_argument(
        "--record", action="store_true", help="renew this device's rows in d2lmini/assets/*.csv"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), help="only this kind of device")
    options = parser.parse_args(arguments)
    # work handed from core to core waits for whatever else runs there: steps in every curve
    torch.set_num_threads(1)
    devices = [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]
    devices = [device for device in devices if options.device in (None, device.type)]
    for device in devices:
        print(f"{device.type}: {device_name(device)}, torch {torch.__version__}")
    for section in options.section or SECTIONS:
        SECTIONS[section](devices, options.record)


if __name__ == "__main__":
    main()
