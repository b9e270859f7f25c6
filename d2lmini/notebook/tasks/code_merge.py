"""One step of byte-pair encoding: count pairs, choose one, merge it."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task

Pair = tuple[int, int]


def left_to_right(tokens: list[int], pair: Pair, number: int) -> list[int]:
    merged: list[int] = []
    for token in tokens:
        if merged and (merged[-1], token) == pair:
            merged[-1] = number
        else:
            merged.append(token)
    return merged


def right_to_left(tokens: list[int], pair: Pair, number: int) -> list[int]:
    return left_to_right(tokens[::-1], pair[::-1], number)[::-1]


def second_kept(tokens: list[int], pair: Pair, number: int) -> list[int]:
    found = [number if here == pair else here[0] for here in pairwise(tokens)]
    return [*found, tokens[-1]]


def overlapping(tokens: list[int], pair: Pair, number: int) -> list[int]:
    """Where 7 7 is merged, 7 7 7 becomes two new tokens."""
    merged = []
    for i, token in enumerate(tokens):
        if (*tokens[i : i + 2],) == pair:
            merged.append(number)
        elif i == 0 or (tokens[i - 1], token) != pair:
            merged.append(token)
    return merged


def last_lost(tokens: list[int], pair: Pair, number: int) -> list[int]:
    merged, i = [], 0
    while i < len(tokens) - 1:
        found = (tokens[i], tokens[i + 1]) == pair
        merged.append(number if found else tokens[i])
        i += 2 if found else 1
    return merged


def only_once(tokens: list[int], pair: Pair, number: int) -> list[int]:
    i = [*pairwise(tokens)].index(pair)
    return [*tokens[:i], number, *tokens[i + 2 :]]


def step(
    choose: Callable[[Counter[Pair]], Pair] = lambda counts: min(counts, key=lambda p: (-counts[p], p)),
    put: Callable[[list[int], Pair, int], list[int]] = left_to_right,
) -> Callable[..., Results]:
    """A step of learning, right by default, with one thing at a time that can be done wrong."""

    def merge_step(tokens: Tensor, number: int) -> Results:
        ids = tokens.tolist()
        pair = choose(Counter(pairwise(ids)))
        return torch.tensor(pair), torch.tensor(put(ids, pair, number))

    return merge_step


TASK = Task(
    returns=("pair", "tokens"),
    right=step(),
    cases=(
        (torch.tensor([1, 1, 1, 2, 1, 2]), 256),
        (torch.tensor([5, 3, 5, 3, 1, 4, 1, 4, 7]), 256),
        (torch.tensor([2, 9, 9, 9, 9, 9, 2, 8]), 300),
    ),
    edges=((torch.tensor([6, 4]), 256), (torch.tensor([4, 4, 4]), 257)),
    bugs={
        "first-met": (step(choose=lambda counts: counts.most_common(1)[0][0]),),
        "larger-pair": (step(choose=lambda counts: max(counts, key=lambda pair: (counts[pair], pair))),),
        "rarest": (step(choose=lambda counts: min(counts, key=lambda pair: (counts[pair], pair))),),
        "smallest-pair": (step(choose=min),),
        "second-kept": (step(put=second_kept),),
        "overlapping": (step(put=overlapping),),
        "from-the-right": (step(put=right_to_left),),
        "last-lost": (step(put=last_lost),),
        "only-once": (step(put=only_once),),
    },
)
