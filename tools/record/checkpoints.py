"""Train the models that the package ships, each from the same seed: `python3 course.py checkpoints`.

The recipes are in translators.py and writers.py beside this file; `--choose` measures another recipe of a
translator on sentences taken from those to train on, never on those held out.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import torch

import d2lmini as d2l
from book.chapters import ROOT, store, sweep
from book.lock import locked
from d2lmini.checkpoints import DIRECTIONS, Translator
from d2lmini.data import course_sentences
from tools.record import ASSETS as PACKAGE_ASSETS
from tools.record.card import card
from tools.record.checkpoint_files import write
from tools.record.translation import small_translator
from tools.record.translators import RECIPE, Sentences, train
from tools.record.writers import NAMES, STEPS, make_writer_file

ASSETS = PACKAGE_ASSETS / "checkpoints"
EVERY = 17  # with --choose, every 17th sentence is kept for measuring


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the checkpoints that are named, or all."""
    parser = argparse.ArgumentParser(prog="checkpoints", description="Train the models of the package.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join((*DIRECTIONS, *NAMES))}")
    parser.add_argument("--choose", action="store_true", help="measure translators only; write nothing")
    parser.add_argument("--epochs", type=int, default=RECIPE["epochs"])
    parser.add_argument("--steps", type=int, default=STEPS, help="of a writer")
    options = parser.parse_args(arguments)
    known = DIRECTIONS if options.choose else (*DIRECTIONS, *NAMES)
    if unknown := set(options.names) - set(known):
        parser.error(f"no such model: {', '.join(sorted(unknown))}; choose of {', '.join(known)}")
    options.names = options.names or known
    torch.set_num_threads(1)  # sums in another order end in other weights
    with locked(ROOT / "_build" / "checkpoints.lock", "checkpoints: another run makes some; this one waits"):
        sweep([ASSETS])
        make(options)


def make(options: argparse.Namespace) -> None:
    """Train, measure and store one model after the other."""
    for name in [name for name in options.names if name in NAMES]:
        make_writer_file(ASSETS / f"{name}.safetensors", options.steps)
    for direction in [name for name in options.names if name in DIRECTIONS]:
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
            print(f"{path.name}: {path.stat().st_size} bytes", flush=True)
    if not options.choose:
        store(ASSETS / "README.md", card(ASSETS).encode())


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


if __name__ == "__main__":
    main()
