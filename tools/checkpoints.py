"""Train the translators that the package ships, each from the same seed: `python3 course.py checkpoints`.

The recipe is in tools/record/translators.py; `--choose` measures another on sentences taken from those to
train on, never on those held out.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import d2lmini as d2l
from book.chapters import ROOT, store, sweep
from book.lock import locked
from d2lmini.checkpoints import DIRECTIONS, SHARED, Translator, read_checkpoint
from d2lmini.data import course_sentences
from tools.record.translation import small_translator
from tools.record.translators import CONFIG, RECIPE, Sentences, eight_bits, train

ASSETS = ROOT / "d2lmini" / "assets" / "checkpoints"
EVERY = 17  # with --choose, every 17th sentence is kept for measuring
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
            sentences = [pair for i, pair in enumerate(sentences) if i % EVERY != EVERY // 2]
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


# ---- measuring


def scores(translator: Translator, sentences: Sentences) -> dict[str, Any]:
    """Return mean BLEU (k = 2, best reference) and the share of exact ones, greedy and with a beam of 4."""
    given = (translator.src_vocab, translator.tgt_vocab, translator.num_steps, "cpu")
    measured = {}
    for name, answer in (
        ("", lambda sentence: d2l.predict_seq2seq(translator.net, sentence, *given)[0]),
        ("beam_", lambda sentence: d2l.beam_search(translator.net, sentence, *given)[0][0]),
    ):
        each = [d2l.bleu(answer(sentence), references, k=2) for sentence, references in sentences]
        measured[f"{name}bleu"] = round(sum(each) / len(each), 4)
        measured[f"{name}exact"] = round(sum(score == 1 for score in each) / len(each), 4)
    return measured


def reference(source: str, target: str, sentences: Sentences) -> dict[str, float]:
    """Train by D2L's recipe on its 600 pairs, and return the scores."""
    torch.manual_seed(RECIPE["seed"])
    language = target if source == "en" else source
    data, src_vocab, tgt_vocab = d2l.load_data_nmt(64, 10, 600, target=language, reverse=source != "en")
    net = small_translator(len(src_vocab), len(tgt_vocab))
    d2l.train_seq2seq(net, data, 0.005, 100, tgt_vocab, "cpu")
    measured = scores(Translator(source, target, net, src_vocab, tgt_vocab, 10, {}), sentences)
    return {key: measured[key] for key in ("bleu", "exact")}


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
            results = [f"{about[key]:.2f}" for key in ("bleu", "exact", "beam_bleu", "beam_exact")]
            results += [f"{about['reference'][key]:.2f}" for key in ("bleu", "exact")]
            size = f"{path.stat().st_size / 1000:.0f} KB"
            rows.append([direction, about["sentences"], about["parameters"], size, *results])
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
