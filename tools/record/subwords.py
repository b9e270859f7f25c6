"""Record what bytes, characters, merges and words cost a small model in bits per character: subwords.csv.

What is compared, written down before the first figure: the same model (two blocks of width 64, the writer's)
and the same training (600 steps of 32 sentences, AdamW, 2e-3) on the course's English sentences cut in four
ways, with 300 merges; on 1 000 sentences and on all, three seeds, each of which draws the order of the
sentences and the weights. All read the same text in as many updates; the number of tokens differs. The score
is that of the 99 held-out sentences: a word or character met less than twice in training costs `<unk>` and 8
bits for each of its bytes.
"""

import csv
import math
from collections import Counter
from typing import Any

import torch
from torch.nn import functional as F

import d2lmini as d2l
from book.chapters import path_of, read, source
from d2lmini.training import train_language_model
from tools.record import ASSETS, device_name, show

PATH = ASSETS / "subwords.csv"
COLUMNS = ["device", "sentences", "tokens", "seed", "vocabulary", "held_out", "unknown", "loss", "bits"]
SEEDS, STEPS = 3, 600


def page_of(sentences: int) -> dict[str, Any]:
    """Return what the chapter's own cells define, with merges learned from so many sentences."""
    cells = {cell["id"]: source(cell) for cell in read(path_of("en", "subwords"))["cells"]}
    page: dict[str, Any] = {"torch": torch, "F": F, "d2l": d2l, "math": math, "Counter": Counter}
    exec(cells["words-code"].split("\n\n")[0], page)
    total = len(d2l.read_data_nmt().split("\n"))
    rows = d2l.sample_rows(sentences) if sentences < total else range(total)
    page["train"], page["new"] = page["read"]("en", rows)
    page["bpe"] = d2l.BytePairEncoding("\n".join(page["train"]), num_merges=300)
    for name in ("cuts-code", "bits-code"):
        exec(cells[name], page)
    return page


def measure(page: dict[str, Any], name: str, seed: int, steps: int = STEPS) -> list[Any]:
    """Train a model on one kind of token; return size of the vocabulary, tokens, unknown, loss, bits."""
    cut, vocab = page["cuts"][name], page["vocabulary"](name)
    order = torch.randperm(len(page["train"]), generator=torch.Generator().manual_seed(seed))
    X = page["as_rows"]([page["train"][row] for row in order], cut, vocab)
    torch.manual_seed(seed)
    blocks = [d2l.PreNormBlock(64, 4, d2l.PositionWiseFFN(64, 256, 64)) for _ in range(2)]
    net = d2l.LanguageModel(len(vocab), 64, blocks)
    train_language_model(net, X, steps, lr=2e-3, batch_size=32, on_step=lambda step, loss: None)
    rows = page["as_rows"](page["new"], cut, vocab)
    with torch.no_grad():
        scores = net(rows[:, :-1])[0].transpose(1, 2)
        loss = F.cross_entropy(scores, rows[:, 1:], ignore_index=1).item()
    bits = page["bits_per_character"](net, page["new"], cut, vocab)
    return [len(vocab), int((rows[:, 1:] != 1).sum()), int((rows == 0).sum()), f"{loss:.4f}", f"{bits:.4f}"]


def run(devices: list[torch.device], record: bool) -> None:
    """Train each model three times, on the CPU; record them if asked."""
    rows = []
    for sentences in (1000, 3513):
        page = page_of(sentences)
        for name in page["cuts"]:
            for seed in range(SEEDS):
                found = measure(page, name, seed)
                rows.append([device_name(torch.device("cpu")), *map(str, (sentences, name, seed, *found))])
    show("subwords: bits per character of held-out sentences", COLUMNS[1:], [row[1:] for row in rows])
    if record:
        with PATH.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
