"""BLEU."""

import math
from collections import Counter
from collections.abc import Callable

import torch

from d2lmini.notebook.tasks import Case, Results, Task


def clipped(said: Counter[Case], wanted: Counter[Case]) -> int:
    return (said & wanted).total()


def bleu(
    short: Callable[[int, int], float] = lambda pred, label: math.exp(min(0, 1 - label / pred)),
    matches: Callable[[Counter[Case], Counter[Case]], int] = clipped,
    power: Callable[[int, int], float] = lambda n, k: 0.5**n,
    recall: bool = False,
) -> Callable[..., Results]:
    """BLEU, right by default, with one thing at a time that can be done wrong."""

    def bleu(pred: list[str], label: list[str], k: int) -> Results:
        score = short(len(pred), len(label))
        for n in range(1, k + 1):
            said, wanted = (
                Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
                for tokens in (pred, label)
            )
            score *= (matches(said, wanted) / (wanted if recall else said).total()) ** power(n, k)
        return (torch.tensor(score),)

    return bleu


TASK = Task(
    returns=("score",),
    right=bleu(),
    cases=(
        (["a", "a", "b", "c"], ["a", "b", "c", "d", "e"], 2),
        (["a", "b", "c", "d", "e", "f", "g"], ["a", "b", "c", "x", "e"], 3),
        (["a", "b", "b", "b"], ["a", "b", "b", "c", "d", "f"], 2),
    ),
    edges=((["a", "b"], ["a", "b"], 2), (["a", "b"], ["c", "d"], 1)),
    bugs={
        "not-clipped": (
            bleu(matches=lambda said, wanted: sum(count for gram, count in said.items() if gram in wanted)),
        ),
        "distinct-only": (bleu(matches=lambda said, wanted: len(said.keys() & wanted.keys())),),
        "no-penalty": (bleu(short=lambda pred, label: 1.0),),
        "penalty-turned": (bleu(short=lambda pred, label: math.exp(min(0, 1 - pred / label))),),
        "long-rewarded": (bleu(short=lambda pred, label: math.exp(1 - label / pred)),),
        "equal-powers": (bleu(power=lambda n, k: 1 / k),),
        "no-powers": (bleu(power=lambda n, k: 1.0),),
        "recall": (bleu(recall=True),),
    },
)
