"""RMSNorm: a token divided by the root of its mean square, times a gain."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal


def rms_norm(
    centered: bool = False,
    axes: tuple[int, ...] = (-1,),
    power: float = 0.5,
    summed: bool = False,
    inside: float = 1e-6,
    outside: float = 0.0,
    gained: bool = True,
) -> Callable[[Tensor, Tensor], Results]:
    """RMSNorm, right by default, with one thing at a time that can be done wrong."""

    def rms_norm(X: Tensor, gain: Tensor) -> Results:
        Y = X - X.mean(dim=-1, keepdim=True) if centered else X
        squares = Y.square()
        mean = squares.sum(axes, keepdim=True) if summed else squares.mean(axes, keepdim=True)
        Y = Y / ((mean + inside) ** power + outside)
        return (Y * gain if gained else Y,)

    return rms_norm


TASK = Task(
    returns=("result",),
    right=rms_norm(),
    cases=(
        (normal(3, 4) + 1, normal(4, seed=1)),
        (normal(2, 5, 6, seed=2) - 1, normal(6, seed=3)),
    ),
    edges=((1e-3 * normal(3, 4, seed=4), torch.ones(4)), (torch.zeros(2, 4), torch.ones(4))),
    bugs={
        "centered": (rms_norm(centered=True),),
        "length-one": (rms_norm(summed=True),),
        "no-root": (rms_norm(power=1),),
        "wrong-axis": (rms_norm(axes=(-2,)), rms_norm(axes=(0,)), rms_norm(axes=(1,))),
        "all-axes": (rms_norm(axes=(-2, -1)),),
        "no-gain": (rms_norm(gained=False),),
        "epsilon-outside": (rms_norm(inside=0, outside=1e-6),),
        "epsilon-size": tuple(rms_norm(inside=size) for size in (0, 1e-8, 1e-5)),
    },
)
