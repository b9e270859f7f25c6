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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import d2lmini as d2l
from book.chapters import ROOT, store, sweep
from book.lock import locked
from d2lmini.checkpoints import DIRECTIONS, SHARED, Translator, make_net, read_checkpoint
from d2lmini.data import Vocab, course_sentences, split_tokens

ASSETS = ROOT / "d2lmini" / "assets" / "checkpoints"
CONFIG = {"num_hiddens": 64, "ffn_num_hiddens": 128, "num_heads": 4, "num_layers": 2, "num_steps": 10}
RECIPE = {"epochs": 100, "batch": 64, "rate": 3e-3, "dropout": 0.1, "label_smoothing": 0.1, "seed": 0}
RESERVED = ["<pad>", "<bos>", "<eos>"]
EVERY = 17  # with --choose, every 17th sentence is kept for measuring
EXAMPLES = {"en": "He's calm.", "fr": "Je suis content.", "vi": "Tôi rất vui.", "zh": "我很高兴。"}

CARD = """# Six small translators

Transformers of two blocks on either side, 64 wide, with 4 heads and a feed-forward network of 128, trained
by `python3 course.py checkpoints` on the sentences of `../corpus.tsv` and on nothing else. They know some
hundred everyday words in sentences of at most nine tokens; they are for looking into, not for translating
letters.
A file is in the safetensors format: each matrix as 8-bit integers with a scale for each row.
`d2lmini.load_translator` makes the model. The weights are under CC0 1.0, like the sentences.

The scores are those of the sentences held out: mean BLEU (k = 2, the best of several references) and the
share of translations that equal a reference, by greedy search and with a beam. Beside them, what the recipe
of *Dive into Deep Learning* reaches with its 600 pairs. Nothing was chosen by these sentences. They are known
words in new company: most differ from some sentence trained on in a single word.
"""

Sentences = list[tuple[str, list[str]]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the checkpoints that are named, or all."""
    parser = argparse.ArgumentParser(prog="checkpoints", description="Train the translators of the package.")
    parser.add_argument("directions", nargs="*", metavar="DIRECTION", help=f"of {', '.join(DIRECTIONS)}")
    parser.add_argument("--choose", action="store_true", help="keep some sentences to measure; write nothing")
    parser.add_argument("--epochs", type=int, default=RECIPE["epochs"])
    options = parser.parse_args(arguments)
    if unknown := set(options.directions) - set(DIRECTIONS):
        parser.error(f"no such direction: {', '.join(sorted(unknown))}; choose of {', '.join(DIRECTIONS)}")
    torch.set_num_threads(1)  # sums in another order end in other weights
    with locked(ROOT / "_build" / "checkpoints.lock", "checkpoints: another run makes some; this one waits"):
        sweep([ASSETS])
        make(options)


def make(options: argparse.Namespace) -> None:
    """Train, measure and store one direction after the other."""
    for direction in options.directions or DIRECTIONS:
        source, target = direction.split("-")
        sentences = list(course_sentences(source, target, "train").items())
        if options.choose:
            asked = sentences[EVERY // 2 :: EVERY]
            sentences = [one for i, one in enumerate(sentences) if i % EVERY != EVERY // 2]
        else:
            asked = list(course_sentences(source, target, "test").items())
        translator = train(source, target, sentences, {**RECIPE, "epochs": options.epochs})
        measured = scores(translator, asked)
        print(direction, measured, flush=True)
        if not options.choose:
            measured |= {"reference": reference(source, target, asked)}
            path = ASSETS / f"{direction}.safetensors"
            write(path, translator, measured)
            store(ASSETS / "README.md", card().encode())
            print(f"{path.name}: {path.stat().st_size} bytes", flush=True)


# ---- training


def train(source: str, target: str, sentences: Sentences, recipe: Mapping[str, Any]) -> Translator:
    """Train one translator, and round its matrices as its file will."""
    pairs = [(split_tokens(one), split_tokens(others[0])) for one, others in sentences]
    # a token met once becomes <unk>: so the model learns what to make of a word that it does not know
    source_lines, target_lines = zip(*pairs, strict=True)
    src_vocab, tgt_vocab = Vocab(source_lines, 2, RESERVED), Vocab(target_lines, 2, RESERVED)
    sources, source_lens = d2l.build_array_nmt(source_lines, src_vocab, CONFIG["num_steps"])
    targets, target_lens = d2l.build_array_nmt(target_lines, tgt_vocab, CONFIG["num_steps"])
    torch.manual_seed(recipe["seed"])
    net = make_net(len(src_vocab), len(tgt_vocab), dropout=recipe["dropout"], **CONFIG)
    for module in net.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
    for module in net.modules():  # after the linear layers: one of them has the weights of an embedding
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=CONFIG["num_hiddens"] ** -0.5)
    optimizer = torch.optim.AdamW(net.parameters(), lr=recipe["rate"], betas=(0.9, 0.98), fused=True)
    epochs, batch = recipe["epochs"], recipe["batch"]
    steps = epochs * math.ceil(len(pairs) / batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: warm_up_and_decay(step, steps))
    smoothing = recipe["label_smoothing"]
    net.train()
    for epoch in range(1, epochs + 1):
        total = torch.zeros(())
        for rows in torch.randperm(len(pairs)).split(batch):
            X_len, Y_len = source_lens[rows], target_lens[rows]
            X, Y = sources[rows][:, : X_len.max()], targets[rows][:, : Y_len.max()]  # the rest is padding
            bos = torch.full((len(Y), 1), tgt_vocab["<bos>"])
            label = d2l.sequence_mask(Y, Y_len, value=-100)
            Y_hat, _ = net(X, torch.cat((bos, Y[:, :-1]), dim=1), X_len)  # (batch, steps, vocabulary)
            loss = F.cross_entropy(Y_hat.flatten(0, 1), label.flatten(), label_smoothing=smoothing)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1)
            optimizer.step()
            schedule.step()
            total += loss.detach() * len(rows)
        if epoch % 10 == 0:
            print(f"{source}-{target}: epoch {epoch}/{epochs}, loss {total / len(pairs):.3f}", flush=True)
    with torch.no_grad():  # what is measured next is what is shipped
        for parameter in net.parameters():
            if parameter.dim() == 2:
                rows, scale = eight_bits(parameter)
                parameter.copy_(rows * scale[:, None])
    net.eval()
    about = {
        "example": EXAMPLES[source],
        "sentences": len(sentences),
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "training": recipe,
        "torch": torch.__version__.partition("+")[0],
        "license": "CC0-1.0",
    }
    return Translator(source, target, net, src_vocab, tgt_vocab, CONFIG["num_steps"], about)


def eight_bits(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row of a matrix, (rows, columns), to -127 … 127 times a scale of its own, (rows,)."""
    scale = matrix.abs().amax(dim=1).clamp(min=1e-12) / 127
    return (matrix / scale[:, None]).round().to(torch.int8), scale


def warm_up_and_decay(step: int, steps: int) -> float:
    """Return the share of the learning rate: up along a line for a tenth of the steps, then down to 0."""
    warm = max(1, steps // 10)
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm))


# ---- measuring


def scores(translator: Translator, sentences: Sentences) -> dict[str, Any]:
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
    torch.manual_seed(RECIPE["seed"])
    language = target if source == "en" else source
    data, src_vocab, tgt_vocab = d2l.load_data_nmt(64, 10, 600, target=language, reverse=source != "en")
    sizes = (32, 32, 32, 32, [32], 32, 64, 4, 2, 0.0)
    encoder = d2l.TransformerEncoder(len(src_vocab), *sizes)
    net = d2l.EncoderDecoder(encoder, d2l.TransformerDecoder(len(tgt_vocab), *sizes))
    d2l.train_seq2seq(net, data, 0.005, 100, tgt_vocab, "cpu")
    found = scores(Translator(source, target, net, src_vocab, tgt_vocab, 10, {}), sentences)
    return {key: found[key] for key in ("bleu", "exact")}


# ---- writing


def write(path: Path, translator: Translator, measured: Mapping[str, Any]) -> None:
    """Write a checkpoint in the safetensors format: matrices as 8-bit rows, all or nothing."""
    config = {**CONFIG, "source": translator.source, "target": translator.target}
    meta: dict[str, object] = {"config": config, "about": {**translator.about, **measured}}
    vocabularies = {"src_vocab": translator.src_vocab, "tgt_vocab": translator.tgt_vocab}
    meta.update((name, vocab.idx_to_token) for name, vocab in vocabularies.items())
    tensors: dict[str, Tensor] = {}
    for name, tensor in translator.net.state_dict().items():
        if name == SHARED[0]:
            continue
        if tensor.dim() < 2:
            tensors[name] = tensor
            continue
        tensors[name], tensors[f"{name}.scale"] = eight_bits(tensor)
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
    ASSETS.mkdir(exist_ok=True)
    store(path, len(text).to_bytes(8, "little") + text + data)


def card() -> str:
    """Describe the checkpoints that are there, from what they say of themselves."""
    rows = []
    for direction in DIRECTIONS:
        path = ASSETS / f"{direction}.safetensors"
        if path.exists():
            about = json.loads(read_checkpoint(direction)[0]["about"])
            found = [f"{about[key]:.2f}" for key in ("bleu", "exact", "beam_bleu", "beam_exact")]
            found += [f"{about['reference'][key]:.2f}" for key in ("bleu", "exact")]
            size = f"{path.stat().st_size / 1000:.0f} KB"
            rows.append([direction, about["sentences"], about["parameters"], size, *found])
    head = ["direction", "sentences", "parameters", "file", "BLEU", "exact", "BLEU, beam 4", "exact, beam 4"]
    head += ["BLEU, 600 pairs", "exact, 600 pairs"]
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    recipe = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in RECIPE.items())
    return f"""{CARD}
Training: {recipe}.

{table}
"""


if __name__ == "__main__":
    main()
