"""Record the Transformer of chapter 11 beside the recurrent model of chapter 12: translation.csv."""

from time import process_time
from typing import Any

import torch
from torch import nn
from torch.utils.benchmark import timer  # waits for the GPU, then reads the clock

import d2lmini as d2l
from tools.record import ASSETS, device_name, save_rows, show

PATH = ASSETS / "translation.csv"
RATE = 0.005  # D2L's
GROUPS = ("trained", "known", "unknown")  # sentences trained on; new ones: words known, or not


def small_translator(src_size: int, tgt_size: int) -> d2l.EncoderDecoder:
    widths = (32, 32, 32, 32, [32], 32, 64, 4, 2, 0.0)  # key … num_hiddens, norm, ffn, heads, blocks, dropout
    return d2l.EncoderDecoder(
        d2l.TransformerEncoder(src_size, *widths), d2l.TransformerDecoder(tgt_size, *widths)
    )


def recurrent_translator(src_size: int, tgt_size: int) -> d2l.EncoderDecoder:
    sizes = (32, 40, 2)  # width of an embedding, hidden units, GRU layers: as many parameters, within 5 %
    return d2l.EncoderDecoder(
        d2l.Seq2SeqEncoder(src_size, *sizes, bidirectional=True, packed=True),
        d2l.Seq2SeqAttentionDecoder(tgt_size, *sizes),
    )


MODELS = {"Transformer": small_translator, "recurrent": recurrent_translator}


def train_and_score(
    name: str, target: str, seed: int, device: torch.device, pairs: str = "sample", rate: float = RATE
) -> dict[str, Any]:
    """Train a model on 600 pairs, a sample or the first; score it on these, and on sentences that are new.

    With `pairs="validation"` the new ones are some 200 of those left over, to choose a rate by.
    """
    # on a CPU the time that this process got, so that minutes of other work do not count
    clock = process_time if device.type == "cpu" else timer
    sample = None if pairs == "first" else 0
    torch.manual_seed(seed)
    data, src_vocab, tgt_vocab = d2l.load_data_nmt(64, 10, 600, target=target, sample=sample)
    net: nn.Module = MODELS[name](len(src_vocab), len(tgt_vocab))
    start = clock()
    training = d2l.train_seq2seq(net, data, rate, 100, tgt_vocab, device)
    seconds = clock() - start
    tokens = len(training.losses) * sum(int(Y_valid_len.sum()) for *_, Y_valid_len in data)

    every = [
        (one, [answer]) for one, answer in (x.split("\t") for x in d2l.read_data_nmt(target).split("\n"))
    ]
    rows = list(range(600)) if sample is None else d2l.sample_rows(600, sample)
    every_sixth = [every[row] for row in rows[::6]]
    left = [every[row] for row in range(len(every)) if row not in rows]
    new = left[:: len(left) // 200] if pairs == "validation" else d2l.held_out_nmt(target)
    asked = dict(zip(GROUPS, (every_sixth, *d2l.split_known(new, src_vocab, tgt_vocab)), strict=True))
    start, scores = clock(), {}
    for group, sentences in asked.items():
        scores[group] = d2l.score_sentences(net, sentences, src_vocab, tgt_vocab, 10, device)
    row = {"device": device_name(device), "model": name, "pairs": pairs, "target": target, "seed": seed}
    row |= {"rate": rate, "parameters": sum(parameter.numel() for parameter in net.parameters())}
    row |= {"tokens_per_second": round(tokens / seconds)}
    row |= {"sentences_per_second": round(sum(map(len, scores.values())) / (clock() - start))}
    for group, each in scores.items():
        bleu, exact = each.mean(), (each == 1).float().mean()
        row |= {
            group: len(each),
            f"{group}_bleu": f"{bleu:.3f}",
            f"{group}_exact": f"{exact:.3f}",
        }
    return row | {"losses": " ".join(f"{loss:.3g}" for loss in training.losses)}


def plan() -> list[tuple[str, str, int, str, float]]:
    """Return what is trained: the models take turns, so that a busy machine disturbs both alike.

    Each of them with D2L's rate, and with the one that is best on the validation sentences.
    """
    chosen = (("Transformer", RATE), ("recurrent", RATE), ("Transformer", 0.01))
    rates, seeds, targets = (0.0025, 0.005, 0.01, 0.02), range(3), ("fr", "vi", "zh")
    return [
        *((name, "fr", seed, "validation", rate) for seed in range(3) for rate in rates for name in MODELS),
        *((name, t, seed, "sample", rate) for seed in seeds for t in targets for name, rate in chosen),
        *(("Transformer", t, seed, "first", RATE) for seed in range(3) for t in targets),
    ]


def run(devices: list[torch.device], record: bool) -> None:
    """Train everything that is planned on each device; print the scores, and record them if asked."""
    columns = ("model", "pairs", "target", "rate", "seed", *(f"{group}_bleu" for group in GROUPS))
    for device in devices:
        rows = [train_and_score(name, t, seed, device, pairs, rate) for name, t, seed, pairs, rate in plan()]
        show(
            "translation: 600 pairs, 100 epochs", list(columns), [[str(r[c]) for c in columns] for r in rows]
        )
        if record:
            save_rows(PATH, rows)
