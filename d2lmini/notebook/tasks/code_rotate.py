"""Rotary position embedding."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal


def rotate(
    turn: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] = lambda a, b, sin, cos: (
        a * cos - b * sin,
        a * sin + b * cos,
    ),
    halves: bool = False,
    woven: bool = True,
    one_speed: bool = False,
    count_rows: bool = False,
) -> Callable[..., Results]:
    """RoPE, right by default, with one thing at a time that can be done wrong."""

    def rotate(X: Tensor, i: Tensor) -> Results:
        d = X.shape[1]
        i = torch.arange(len(X)) if count_rows else i
        angle = i[:, None] * 10000 ** (-torch.arange(0, d, 2) * (0 if one_speed else 1) / d)
        a, b = (X[:, : d // 2], X[:, d // 2 :]) if halves else (X[:, 0::2], X[:, 1::2])
        turned = turn(a, b, angle.sin(), angle.cos())
        return (torch.stack(turned, dim=-1).flatten(1) if woven and not halves else torch.cat(turned, dim=1),)

    return rotate


def one_after_the_other(a: Tensor, b: Tensor, sin: Tensor, cos: Tensor) -> tuple[Tensor, Tensor]:
    a = a * cos - b * sin
    return a, a * sin + b * cos


TASK = Task(
    returns=("turned",),
    right=rotate(),
    cases=((normal(5, 8), torch.arange(5) + 3), (normal(4, 6, seed=1), torch.tensor([7, 0, 2, 40]))),
    edges=(
        (normal(1, 2, seed=2), torch.tensor([0])),
        (normal(3, 4, seed=3), torch.tensor([9.5, 1.0, 2.0])),
    ),
    bugs={
        "clockwise": (rotate(lambda a, b, sin, cos: (a * cos + b * sin, b * cos - a * sin)),),
        "half-pairs": (rotate(halves=True),),
        "one-after-the-other": (rotate(one_after_the_other),),
        "not-woven": (rotate(woven=False),),
        "one-angle": (rotate(one_speed=True),),
        "row-numbers": (rotate(count_rows=True),),
    },
)
