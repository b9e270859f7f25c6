"""Multi-head attention from one sequence to another."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Case, Results, Task, normal

Cut = Callable[[Tensor, int], Tensor]


def cut(Z: Tensor, heads: int) -> Tensor:
    return Z.reshape(len(Z), heads, -1).transpose(0, 1)


def join(Z: Tensor) -> Tensor:
    return Z.transpose(0, 1).flatten(1)


def multi_head(
    cut: Cut = cut,
    join: Callable[[Tensor], Tensor] = join,
    scale: Callable[[int, int], float] = lambda d, heads: (d / heads) ** 0.5,
    axis: int = -1,
    last: bool = True,
    keys: int = 1,
    values: int = 1,
) -> Callable[..., Results]:
    """Multi-head attention, right by default, with one thing at a time done wrong."""

    def multi_head(
        X: Tensor, Y: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int
    ) -> Results:
        sources = (X, Y) if len(X) == len(Y) else (Y, Y)  # keys and values of two lengths do not fit
        Q, K, V = (cut(Z, heads) for Z in (X @ W_q, sources[keys] @ W_k, sources[values] @ W_v))
        weights = torch.softmax(Q @ K.mT / scale(X.shape[1], heads), dim=axis)
        joined = join(weights @ V)
        return (joined @ W_o if last else joined,)

    return multi_head


def case(n: int, m: int, d: int, heads: int, seed: int) -> Case:
    shapes = ((n, d), (m, d), *[(d, d)] * 4)
    return (*(normal(*shape, seed=seed + k) for k, shape in enumerate(shapes)), heads)


def join_badly(Z: Tensor) -> Tensor:
    return Z.reshape(Z.shape[1], -1)


def mixed(Z: Tensor, heads: int) -> Tensor:
    return Z.reshape(heads, len(Z), -1)


TASK = Task(
    returns=("result",),
    right=multi_head(),
    cases=(case(4, 4, 6, 2, 0), case(5, 5, 8, 4, 10)),
    edges=(case(2, 5, 6, 3, 20), case(1, 3, 4, 1, 30)),
    bugs={
        "no-scale": (multi_head(scale=lambda d, heads: 1),),
        "scale-of-d": (multi_head(scale=lambda d, heads: d**0.5),),
        "one-head": (
            multi_head(cut=lambda Z, heads: Z[None], scale=lambda d, heads: d**0.5),
            multi_head(cut=lambda Z, heads: Z[None]),
        ),
        "mixed-tokens": (
            multi_head(cut=mixed),
            multi_head(cut=mixed, join=join_badly),
        ),
        "badly-joined": (multi_head(join=join_badly),),
        "no-output": (multi_head(last=False),),
        "wrong-source": (multi_head(keys=0, values=0), multi_head(keys=0), multi_head(values=0)),
        "wrong-axis": (multi_head(axis=-2), multi_head(axis=0)),
    },
)
