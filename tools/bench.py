"""Measures what the course claims to be fast, side by side with the straightforward code, in one run.

    python3 course.py bench                     # every section
    python3 course.py bench --section layers    # one of them
    python3 course.py bench --record            # also renew this device's rows in d2lmini/assets/*.csv

Computes on one thread of the CPU, and on a GPU where there is one. Prints medians and ratios; a ratio above 1
says how many times faster (or smaller) d2lmini is. It never fails for a time: the reader's machine is what it
is. The baselines are written out below, without any of d2lmini's care.
"""

import argparse
import csv
import json
import math
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.benchmark import timer  # waits for the GPU, then reads the clock

import d2lmini as d2l

ROOT = Path(__file__).resolve().parent.parent
TIMINGS = ROOT / "d2lmini" / "assets" / "timings.csv"
COLUMNS = ("device", "layer", "batch", "n", "d", "k", "seconds", "peak_bytes")

LENGTHS = ROOT / "d2lmini" / "assets" / "lengths.csv"
LENGTHS_PAGE = ROOT / "chapters" / "en" / "relative-positions.ipynb"
LENGTH_COLUMNS = ["device", "model", "seed", "steps", "16", "32", "64", "256"]
LENGTH_RECIPES: dict[str, tuple[Callable[[], dict[str, Any]], int]] = {  # arguments of Model, offsets up to
    "none, one layer": (dict[str, Any], 0),
    "none, two layers": (lambda: {"layers": 2}, 0),
    "none, three layers": (lambda: {"layers": 3}, 0),
    "sinusoids": (lambda: {"add": d2l.PositionalEncoding(48, 0)}, 0),
    "sinusoids, random offsets": (lambda: {"add": d2l.PositionalEncoding(48, 0)}, 240),
    "learned, random offsets": (lambda: {"add": d2l.LearnedPositionalEncoding(48, 0)}, 240),
}

TRANSLATION = ROOT / "d2lmini" / "assets" / "translation.csv"

ATTENTION_SIZES = (  # batch, n, width, heads
    (2, 4, 100, 5),
    (32, 64, 128, 4),
    (8, 256, 256, 8),
    (4, 1024, 256, 8),
    (1, 4096, 256, 8),
)


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


# ---- the layers of chapters 3 and 4


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
            run = partial(layer, torch.randn(batch, n, 64, device=device))
            try:
                with torch.no_grad():
                    once = d2l.median_time(run, repeats=1)
                    seconds = d2l.median_time(run, repeats=min(101, max(5, int(0.5 / once))))
                    peak = peak_bytes(run, device)
            except torch.cuda.OutOfMemoryError:
                continue
            cells = (device_name(device), name, batch, n, 64, 3, float(f"{seconds:.3g}"), peak)
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def bench_layers(devices: list[torch.device], record: bool) -> None:
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
            save_rows(TIMINGS, rows)
    show("layers: ms a forward pass, d = 64, k = 3, batch 1", ["device", "n", *names], curves)
    show("layers: ms a sequence, n = 512, d = 64, k = 3", ["device", "batch", *names], batches)


def save_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Replace the rows of this device in a file of recorded measurements, and keep those of other devices."""
    kept: list[dict[str, Any]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["device"] != rows[0]["device"]]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept + rows)
    print(f"recorded {len(rows)} measurements of {rows[0]['device']} in {path.relative_to(ROOT)}")


# ---- chapter 7: trained on 16 tokens, read 256


def length_shares(recipe: str, seed: int, steps: int) -> list[float]:
    """Train a model of chapter 7 with the chapter's own cells; return its shares of right answers."""
    notebook = json.loads(LENGTHS_PAGE.read_text(encoding="utf-8"))
    cells = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    page: dict[str, Any] = {"torch": torch, "nn": nn, "d2l": d2l}
    for name in ("doors-code", "layer-code", "model-code", "train-code", "right-code"):
        exec(cells[name], page)
    arguments, offsets = LENGTH_RECIPES[recipe]
    torch.manual_seed(seed)
    model = page["Model"](**arguments())
    page["train"](model, steps=steps, offsets=offsets)
    return [page["right"](model, n)[15 if n > 16 else 0 :].mean().item() for n in (16, 32, 64, 256)]


def bench_lengths(devices: list[torch.device], record: bool) -> None:
    rows, steps = [], 1500
    for recipe in LENGTH_RECIPES:
        for seed in range(3):
            shares = [f"{share:.3f}" for share in length_shares(recipe, seed, steps)]
            rows.append([device_name(torch.device("cpu")), recipe, str(seed), str(steps), *shares])
    show("lengths: share right, trained on 16 tokens", LENGTH_COLUMNS[1:], [row[1:] for row in rows])
    if record:
        with LENGTHS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([LENGTH_COLUMNS, *rows])


# ---- attention


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


def compared(values: dict[str, float], write: Callable[[float], str]) -> list[str]:
    """Return d2lmini's value, then each baseline's with its ratio to it."""
    ours = values["d2lmini"]
    baselines = [value for name, value in values.items() if name != "d2lmini"]
    return [write(ours), *(cell for value in baselines for cell in (write(value), f"×{value / ours:.2f}"))]


# ---- the package


def bench_import(devices: list[torch.device], record: bool) -> None:
    code = (
        "from time import perf_counter as now; start = now(); import torch; loaded = now(); import d2lmini; "
        "print(loaded - start, now() - loaded)"
    )
    runs = []
    for _ in range(6):
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        runs.append([float(seconds) for seconds in run.stdout.split()])
    cells = [milliseconds(statistics.median(column)) for column in zip(*runs[1:], strict=True)]
    show("import: ms", ["torch", "d2lmini after it"], [cells])


def bench_wheel(devices: list[torch.device], record: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # a copy: setuptools leaves its build folder beside pyproject.toml, and later wheels take from there
        source = Path(folder, "source")
        shutil.copytree(ROOT / "d2lmini", source / "d2lmini", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source)
        options = ["-q", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
        command = [sys.executable, "-m", "pip", "wheel", *options, str(source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if not wheels:
            print(f"wheel: could not be built: {run.stderr.strip().splitlines()[-1:]}")
            return
        entries = zipfile.ZipFile(wheels[0]).infolist()
        fonts = sum(entry.compress_size for entry in entries if "/fonts/" in entry.filename)
        rest = sum(entry.compress_size for entry in entries) - fonts
    show(
        "wheel: KiB, compressed", ["without fonts", "fonts"], [[f"{rest / 1024:.0f}", f"{fonts / 1024:.0f}"]]
    )


def bench_site(devices: list[torch.device], record: bool) -> None:
    from tools import bench_site

    subprocess.run([sys.executable, "-m", "book.build"], cwd=ROOT, check=True)  # nothing if it is built
    for table in bench_site.tables(ROOT / "_build" / "site"):
        show(*table)


# ---- the translator

NUM_STEPS = 10


def bench_translator(devices: list[torch.device], record: bool) -> None:
    """Train the small translator by `train_seq2seq`, and the written-out model by a loop without any care."""
    table = []
    for device in devices:
        for how, written_out in (("d2lmini", False), ("written out", True)):
            torch.manual_seed(0)
            data_iter, src_vocab, tgt_vocab = d2l.load_data_nmt(64, NUM_STEPS, 600)
            net = small_translator(len(src_vocab), len(tgt_vocab))
            if written_out:
                speed, loss = train_plainly(
                    write_out_attention(net), data_iter, 0.005, 100, tgt_vocab, device
                )
            else:
                training = d2l.train_seq2seq(net, data_iter, 0.005, 100, tgt_vocab, device)
                speed, loss = training.tokens_per_second, training.losses[-1]
            learned = [line.split("\t")[:2] for line in d2l.read_data_nmt().splitlines()[:100]]
            scores = [
                mean_bleu(net, pairs, src_vocab, tgt_vocab, device) for pairs in (learned, d2l.held_out_nmt())
            ]
            table.append(
                [device.type, how, f"{speed:.0f}", f"{loss:.4f}", *(f"{score:.3f}" for score in scores)]
            )
    title = "translator: 600 pairs, 100 epochs; loss in nats a target token, BLEU with k = 2"
    show(title, ["device", "how", "tokens/s", "loss", "BLEU learned", "BLEU held out"], table)


def small_translator(src_size: int, tgt_size: int) -> nn.Module:
    widths = (32, 32, 32, 32, [32], 32, 64, 4, 2, 0.0)  # key … num_hiddens, norm, ffn, heads, blocks, dropout
    return d2l.EncoderDecoder(
        d2l.TransformerEncoder(src_size, *widths), d2l.TransformerDecoder(tgt_size, *widths)
    )


def train_plainly(
    net: nn.Module, data_iter: Any, lr: float, num_epochs: int, tgt_vocab: Any, device: torch.device
) -> tuple[float, float]:
    """Train as the steps are usually written down; return target tokens per second and the last loss."""
    for module in net.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
    net.to(device).train()
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    masked_loss = d2l.MaskedSoftmaxCELoss()
    start, all_tokens = timer(), 0.0
    for _ in range(num_epochs):
        total, tokens = 0.0, 0.0
        for batch in data_iter:
            X, X_valid_len, Y, Y_valid_len = (part.to(device) for part in batch)
            bos = torch.tensor([tgt_vocab["<bos>"]] * len(Y), device=device).reshape(-1, 1)
            optimizer.zero_grad()
            Y_hat, _ = net(X, torch.cat([bos, Y[:, :-1]], 1), X_valid_len)
            loss = masked_loss(Y_hat, Y, Y_valid_len)
            loss.sum().backward()
            norm = math.sqrt(sum((p.grad**2).sum().item() for p in net.parameters() if p.grad is not None))
            if norm > 1:
                for p in net.parameters():
                    if p.grad is not None:
                        p.grad *= 1 / norm
            optimizer.step()
            total += loss.sum().item() * Y.shape[1]
            tokens += Y_valid_len.sum().item()
        all_tokens += tokens
    return all_tokens / (timer() - start), total / tokens


def mean_bleu(net: nn.Module, pairs: Any, src_vocab: Any, tgt_vocab: Any, device: torch.device) -> float:
    """Return the mean BLEU (k = 2) of greedy translations of (source, target) pairs."""
    scores = []
    for source, target in pairs:
        said, _ = d2l.predict_seq2seq(net, source, src_vocab, tgt_vocab, NUM_STEPS, device)
        scores.append(d2l.bleu(said, target, k=2))
    return statistics.mean(scores)


# ---- chapter 10: the Transformer beside the recurrent model


def bench_translation(devices: list[torch.device], record: bool) -> None:
    """Train both models on the same pairs, with the same budget: five seeds for each target language."""
    table = []
    for device in devices:
        rows = []
        for target in ("fr", "vi", "zh"):
            for seed in range(5):  # the models take turns, so that a busy machine disturbs both alike
                for name, make in TRANSLATORS.items():
                    rows.append(train_and_score(name, make, target, seed, device))
            for name in TRANSLATORS:
                runs = [row for row in rows if (row["target"], row["model"]) == (target, name)]
                table.append([device.type, target, name, *(spread(runs, column) for column in SPREADS)])
        if record:
            save_rows(TRANSLATION, rows)
    title = "translation: 600 pairs, 100 epochs; median (least to greatest) of 5 seeds, BLEU with k = 2"
    show(title, ["device", "target", "model", *SPREADS], table)


SPREADS = ("parameters", "tokens_per_second", "sentences_per_second", "loss", "bleu")


def spread(rows: list[dict[str, Any]], column: str) -> str:
    values = sorted(
        float(str(row["losses"]).split()[-1] if column == "loss" else row[column]) for row in rows
    )
    return f"{statistics.median(values):g} ({values[0]:g} to {values[-1]:g})"


def train_and_score(
    name: str, make: Callable[[int, int], nn.Module], target: str, seed: int, device: torch.device
) -> dict[str, Any]:
    """Train one model with the reference recipe, and let it translate the held-out sentences."""
    # on a CPU the time that this process got, so that minutes of other work do not count
    clock = process_time if device.type == "cpu" else timer
    torch.manual_seed(seed)
    data_iter, src_vocab, tgt_vocab = d2l.load_data_nmt(64, NUM_STEPS, 600, target=target)
    net = make(len(src_vocab), len(tgt_vocab))
    start = clock()
    training = d2l.train_seq2seq(net, data_iter, 0.005, 100, tgt_vocab, device)
    trained = clock()
    held_out = d2l.held_out_nmt(target)
    score = mean_bleu(net, held_out, src_vocab, tgt_vocab, device)
    translated = clock()
    tokens = len(training.losses) * sum(int(Y_valid_len.sum()) for *_, Y_valid_len in data_iter)
    return {
        "device": device_name(device),
        "model": name,
        "target": target,
        "seed": seed,
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "tokens_per_second": f"{tokens / (trained - start):.0f}",
        "sentences_per_second": f"{len(held_out) / (translated - trained):.0f}",
        "bleu": f"{score:.3f}",
        "losses": " ".join(f"{loss:.3g}" for loss in training.losses),
    }


def recurrent_translator(src_size: int, tgt_size: int) -> nn.Module:
    sizes = (32, 32, 2)  # width of an embedding, width of the state, GRU layers
    return d2l.EncoderDecoder(
        d2l.Seq2SeqEncoder(src_size, *sizes), d2l.Seq2SeqAttentionDecoder(tgt_size, *sizes)
    )


TRANSLATORS = {"Transformer": small_translator, "recurrent": recurrent_translator}


# ---- output


def milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e3:.3g}"


def mebibytes(count: float) -> str:
    return f"{count / 2**20:.1f}"


def show(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown, so that it can be pasted where it is discussed."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    print(f"\n{title}\n")
    for row in (header, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    sys.stdout.flush()


SECTIONS = {
    "layers": bench_layers,
    "lengths": bench_lengths,
    "attention": bench_attention,
    "import": bench_import,
    "wheel": bench_wheel,
    "site": bench_site,
    "translator": bench_translator,
    "translation": bench_translation,
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
