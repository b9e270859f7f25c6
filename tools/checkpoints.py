"""Train the translators that the package ships, each from the same seed: `python3 course.py checkpoints`.

What is new against D2L's recipe, and why: every sentence is used; the embeddings
of the target are the weights of the last layer too, so that a token learns from being read and from being
written; the learning rate warms up and decays, label smoothing and dropout keep the model from being sure too
early. Everything here was chosen on sentences taken from those to train on (`--choose`), never on those held
out.
"""

import argparse
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import d2lmini as d2l
from d2lmini.checkpoints import DIRECTIONS, SHARED, Translator, load_translator, make_net
from d2lmini.data import Vocab, course_sentences, split_tokens

ASSETS = Path(__file__).parents[1] / "d2lmini" / "assets" / "checkpoints"
SEED = 0
CONFIG = {"num_hiddens": 64, "ffn_num_hiddens": 128, "num_heads": 4, "num_layers": 2, "num_steps": 10}
EPOCHS = 100
BATCH = 64
RATE = 3e-3
DROPOUT = 0.2
SMOOTHING = 0.1
RESERVED = ["<pad>", "<bos>", "<eos>"]
EVERY = 17  # with --choose, every 17th sentence is kept for measuring
EXAMPLES = {"en": "He's calm.", "fr": "Je suis content.", "vi": "Tôi rất vui.", "zh": "我很高兴。"}

Sentences = list[tuple[str, list[str]]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the checkpoints that are named, or all."""
    parser = argparse.ArgumentParser(prog="checkpoints", description="Train the translators of the package.")
    parser.add_argument("directions", nargs="*", metavar="DIRECTION", help=f"of {', '.join(DIRECTIONS)}")
    parser.add_argument("--choose", action="store_true", help="keep some sentences to measure; write nothing")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args(arguments)
    if unknown := set(options.directions) - set(DIRECTIONS):
        parser.error(f"no such direction: {', '.join(sorted(unknown))}; choose of {', '.join(DIRECTIONS)}")
    torch.set_num_threads(1)  # sums in another order end in other weights
    for direction in options.directions or DIRECTIONS:
        source, target = direction.split("-")
        sentences = list(course_sentences(source, target, "train").items())
        asked = list(course_sentences(source, target, "test").items())
        if options.choose:
            asked = sentences[EVERY // 2 :: EVERY]
            sentences = [one for i, one in enumerate(sentences) if i % EVERY != EVERY // 2]
        translator = train(source, target, sentences, options.epochs)
        if options.choose:
            print(direction, scores(translator, asked), flush=True)
            continue
        path = ASSETS / f"{direction}.safetensors"
        write(path, translator)  # rounded to 8 bits by now: what is measured next is what is shipped
        measured = load_translator(source, target)
        about = {**translator.about, **scores(measured, asked), "reference": reference(source, target, asked)}
        write(path, translator, about)
        print(direction, f"{path.stat().st_size} bytes", about, flush=True)


# ---- training


def train(source: str, target: str, sentences: Sentences, epochs: int) -> Translator:
    """Train one translator from `SEED`."""
    pairs = [(split_tokens(one), split_tokens(others[0])) for one, others in sentences]
    # a token met once becomes <unk>: so the model learns what to make of a word that it does not know
    src_vocab, tgt_vocab = (Vocab(side, 2, RESERVED) for side in zip(*pairs, strict=True))
    torch.manual_seed(SEED)
    net = make_net(len(src_vocab), len(tgt_vocab), dropout=DROPOUT, **CONFIG)
    for module in net.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
    for module in net.modules():  # after the linear layers: one of them has the weights of an embedding
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=CONFIG["num_hiddens"] ** -0.5)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, betas=(0.9, 0.98), fused=True)
    steps = epochs * math.ceil(len(pairs) / BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: warm_up_and_decay(step, steps))
    net.train()
    for epoch in range(1, epochs + 1):
        total = torch.zeros(())
        for rows in torch.randperm(len(pairs)).split(BATCH):
            batch = [pairs[row] for row in rows.tolist()]
            X, X_len = rectangle([src_vocab[one] for one, _ in batch])
            Y, Y_len = rectangle([tgt_vocab[other] for _, other in batch])
            bos = torch.full((len(Y), 1), tgt_vocab["<bos>"])
            label = Y.masked_fill(torch.arange(Y.shape[1]) >= Y_len[:, None], -100)
            Y_hat, _ = net(X, torch.cat((bos, Y[:, :-1]), dim=1), X_len)  # (batch, steps, vocabulary)
            loss = F.cross_entropy(Y_hat.flatten(0, 1), label.flatten(), label_smoothing=SMOOTHING)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1)
            optimizer.step()
            schedule.step()
            total += loss.detach() * len(batch)
        if epoch % 10 == 0:
            print(f"{source}-{target}: epoch {epoch}/{epochs}, loss {total / len(pairs):.3f}", flush=True)
    net.eval()
    about = {
        "example": EXAMPLES[source],
        "sentences": len(sentences),
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "training": {
            "epochs": epochs,
            "batch": BATCH,
            "rate": RATE,
            "dropout": DROPOUT,
            "label_smoothing": SMOOTHING,
            "seed": SEED,
        },
        "torch": torch.__version__.partition("+")[0],
        "license": "CC0-1.0",
    }
    return Translator(source, target, net, src_vocab, tgt_vocab, CONFIG["num_steps"], about)


def warm_up_and_decay(step: int, steps: int) -> float:
    """Return the share of the learning rate: up along a line for a tenth of the steps, then down to 0."""
    warm = max(1, steps // 10)
    return min((step + 1) / warm, (steps - step) / (steps - warm))


def rectangle(lines: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Return numbers with `<eos>` and padding, shape (sentences, longest), and their valid lengths."""
    ends = [torch.tensor([*line, 3]) for line in lines]
    lengths = torch.tensor([len(line) for line in ends])
    return nn.utils.rnn.pad_sequence(ends, batch_first=True, padding_value=1), lengths


# ---- measuring


def scores(translator: Translator, sentences: Sentences) -> dict[str, float]:
    """Return mean BLEU (k = 2, best reference) and the share of exact ones, greedy and with a beam of 4."""
    given = (translator.src_vocab, translator.tgt_vocab, translator.num_steps, "cpu")
    found = {}
    for name, answer in (
        ("", lambda one: d2l.predict_seq2seq(translator.net, one, *given)[0]),
        ("beam_", lambda one: d2l.beam_search(translator.net, one, *given)[0][0]),
    ):
        each = [d2l.bleu(answer(one), others, k=2) for one, others in sentences]
        found[f"{name}bleu"] = round(sum(each) / len(each), 4)
        found[f"{name}exact"] = round(sum(score == 1 for score in each) / len(each), 4)
    return found


def reference(source: str, target: str, sentences: Sentences) -> dict[str, float]:
    """Train by D2L's recipe on its 600 pairs, and return the scores."""
    torch.manual_seed(SEED)
    language = target if source == "en" else source
    data, src_vocab, tgt_vocab = d2l.load_data_nmt(64, 10, 600, target=language, reverse=source != "en")
    sizes = (32, 32, 32, 32, [32], 32, 64, 4, 2, 0.0)
    encoder = d2l.TransformerEncoder(len(src_vocab), *sizes)
    net = d2l.EncoderDecoder(encoder, d2l.TransformerDecoder(len(tgt_vocab), *sizes))
    d2l.train_seq2seq(net, data, 0.005, 100, tgt_vocab, "cpu")
    found = scores(Translator(source, target, net, src_vocab, tgt_vocab, 10, {}), sentences)
    return {key: found[key] for key in ("bleu", "exact")}


# ---- writing


def write(path: Path, translator: Translator, about: dict[str, object] | None = None) -> None:
    """Write a checkpoint in the safetensors format: matrices as 8-bit rows, all or nothing."""
    config = {**CONFIG, "source": translator.source, "target": translator.target}
    meta: dict[str, object] = {"config": config, "about": about or translator.about}
    vocabularies = {"src_vocab": translator.src_vocab, "tgt_vocab": translator.tgt_vocab}
    meta.update((name, vocab.idx_to_token) for name, vocab in vocabularies.items())
    tensors: dict[str, Tensor] = {}
    for name, tensor in translator.net.state_dict().items():
        if name == SHARED[0]:
            continue
        if tensor.dim() < 2:
            tensors[name] = tensor
            continue
        scale = tensor.abs().amax(dim=1).clamp(min=1e-12) / 127  # (rows,)
        tensors[f"{name}.scale"] = scale
        tensors[name] = (tensor / scale[:, None]).round().to(torch.int8)
    # F32 before I8, so that numbers of four bytes begin at multiples of four
    tensors = dict(sorted(tensors.items(), key=lambda item: (item[1].dtype == torch.int8, item[0])))
    plain = {name: json.dumps(value, ensure_ascii=False) for name, value in meta.items()}
    header: dict[str, object] = {"__metadata__": plain}
    data = b""
    for name, tensor in tensors.items():
        begin, data = len(data), data + tensor.contiguous().numpy().tobytes()
        dtype = "I8" if tensor.dtype == torch.int8 else "F32"
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(len(text).to_bytes(8, "little") + text + data)
    os.replace(part, path)


if __name__ == "__main__":
    main()
