"""Residual sum and layer norm with gain and shift."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal


def add_norm(
    summed: Callable[[Tensor, Tensor], Tensor] = lambda X, Y: X + Y,
    axes: tuple[int, ...] = (-1,),
    correction: int = 0,
    root: float = 0.5,
    inside: float = 1e-5,
    outside: float = 0.0,
    gained: bool = True,
    added_late: bool = False,
) -> Callable[..., Results]:
    """Residual sum and layer norm, right by default, with one thing at a time done wrong."""

    def add_norm(X: Tensor, Y: Tensor, gain: Tensor, shift: Tensor) -> Results:
        Z = summed(X, Y)
        mean = Z.mean(dim=axes, keepdim=True)
        variance = Z.var(dim=axes, keepdim=True, correction=correction)
        Z = (Z - mean) / ((variance + inside) ** root + outside)
        Z = gain * Z + shift if gained else Z
        return (X + Z if added_late else Z,)

    return add_norm


TASK = Task(
    returns=("result",),
    right=add_norm(),
    cases=(
        (normal(3, 4), normal(3, 4, seed=1), normal(4, seed=2), normal(4, seed=3)),
        (normal(2, 5, 6, seed=4), normal(2, 5, 6, seed=5), normal(6, seed=6), normal(6, seed=7)),
    ),
    edges=(
        (1e-3 * normal(3, 4, seed=8), 1e-3 * normal(3, 4, seed=9), torch.ones(4), torch.zeros(4)),
        (torch.ones(2, 3, 4), torch.ones(2, 3, 4), torch.ones(4), torch.zeros(4)),
    ),
    bugs={
        "no-shortcut": (add_norm(summed=lambda X, Y: Y),),
        "norm-before-sum": (add_norm(summed=lambda X, Y: Y, added_late=True),),
        "wrong-axis": (add_norm(axes=(-2,)), add_norm(axes=(0,)), add_norm(axes=(1,))),
        "both-axes": (add_norm(axes=(-2, -1)),),
        "no-root": (add_norm(root=1),),
        "unbiased": (add_norm(correction=1),),
        "no-gain": (add_norm(gained=False),),
        "epsilon-outside": (add_norm(inside=0, outside=1e-5),),
        "epsilon-size": tuple(add_norm(inside=size) for size in (0, 1e-12, 1e-8, 1e-6)),
    },
)
