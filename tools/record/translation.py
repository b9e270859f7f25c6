"""Record the Transformer of chapter 10 beside the recurrent model: translation.csv."""

import statistics
from collections.abc import Callable
from time import process_time
from typing import Any

import torch
from torch import nn
from torch.utils.benchmark import timer  # waits for the GPU, then reads the clock

import d2lmini as d2l
from tools.record import ASSETS, device_name, save_rows, show

PATH = ASSETS / "translation.csv"
NUM_STEPS = 10
SPREADS = ("parameters", "tokens_per_second", "sentences_per_second", "loss", "bleu")


def small_translator(src_size: int, tgt_size: int) -> d2l.EncoderDecoder:
    widths = (32, 32, 32, 32, [32], 32, 64, 4, 2, 0.0)  # key … num_hiddens, norm, ffn, heads, blocks, dropout
    return d2l.EncoderDecoder(
        d2l.TransformerEncoder(src_size, *widths), d2l.TransformerDecoder(tgt_size, *widths)
    )


def recurrent_translator(src_size: int, tgt_size: int) -> nn.Module:
    sizes = (32, 32, 2)  # width of an embedding, width of the state, GRU layers
    return d2l.EncoderDecoder(
        d2l.Seq2SeqEncoder(src_size, *sizes), d2l.Seq2SeqAttentionDecoder(tgt_size, *sizes)
    )


TRANSLATORS = {"Transformer": small_translator, "recurrent": recurrent_translator}


def mean_bleu(net: nn.Module, pairs: Any, src_vocab: Any, tgt_vocab: Any, device: torch.device) -> float:
    """Return the mean BLEU (k = 2) of greedy translations of (source, target) pairs."""
    scores = []
    for source, target in pairs:
        said, _ = d2l.predict_seq2seq(net, source, src_vocab, tgt_vocab, NUM_STEPS, device)
        scores.append(d2l.bleu(said, target, k=2))
    return statistics.mean(scores)


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


def spread(rows: list[dict[str, Any]], column: str) -> str:
    values = sorted(
        float(str(row["losses"]).split()[-1] if column == "loss" else row[column]) for row in rows
    )
    return f"{statistics.median(values):g} ({values[0]:g} to {values[-1]:g})"


def run(devices: list[torch.device], record: bool) -> None:
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
            save_rows(PATH, rows)
    title = "translation: 600 pairs, 100 epochs; median (least to greatest) of 5 seeds, BLEU with k = 2"
    show(title, ["device", "target", "model", *SPREADS], table)
