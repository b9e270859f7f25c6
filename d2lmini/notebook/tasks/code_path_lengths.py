"""Layers of convolution until one token sees another."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, distances


def path_lengths(
    reach: Callable[[int], float] = lambda k: (k - 1) // 2,
    whole: Callable[[Tensor], Tensor] = torch.ceil,
    least: int = 1,
    signed: bool = False,
) -> Callable[..., Results]:
    """Layers of convolution between all pairs, right by default, with one thing at a time done wrong."""

    def path_lengths(n: int, k: int) -> Results:
        distance = distances(n) if signed else distances(n).abs()
        return (whole(distance / reach(k)).clamp(min=least),)

    return path_lengths


TASK = Task(
    returns=("layers",),
    right=path_lengths(),
    cases=((7, 3), (9, 5)),
    edges=((1, 3), (4, 9)),
    bugs={
        "whole-window": (path_lengths(reach=lambda k: k - 1),),
        "by-kernel-size": (path_lengths(reach=lambda k: k),),
        "rounded-down": (path_lengths(whole=torch.floor),),
        "own-input-zero": (path_lengths(least=0),),
        "one-sided": (path_lengths(signed=True),),
    },
)
