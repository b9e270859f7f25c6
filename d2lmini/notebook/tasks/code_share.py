"""The share of queries whose largest weight lies at an offset, by head."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal


def head_weights(heads: int, n: int, length: int, seed: int) -> Tensor:
    scores = 2 * normal(heads, n, n, seed=seed)
    return torch.softmax(scores.masked_fill(torch.arange(n) >= length, float("-inf")), dim=-1)


def share(
    axis: int = -1,
    side: int = 1,
    asks: Callable[[Tensor, Tensor, int, int], Tensor] = lambda query, key, length, n: (
        (query < length) & (key >= 0) & (key < length)
    ),
    hits: Callable[[Tensor, Tensor], Tensor] | None = None,
    over: int | None = -1,
) -> Callable[..., Results]:
    """Shares of queries by head, right by default, with one thing at a time that can be done wrong."""

    def share(weights: Tensor, length: int, offset: int) -> Results:
        n = weights.shape[-1]
        query = torch.arange(n)
        key = query + side * offset
        asked = asks(query, key, length, n)
        hit = (weights.argmax(dim=axis) == key) if hits is None else hits(weights, key)
        return (hit[:, asked].float().mean(dim=over),)

    return share


def weights_there(weights: Tensor, key: Tensor) -> Tensor:
    inside = key.clamp(0, weights.shape[-1] - 1).expand(weights.shape[0], -1).unsqueeze(-1)
    return weights.gather(-1, inside).squeeze(-1)


TASK = Task(
    returns=("share",),
    right=share(),
    cases=(
        (head_weights(3, 6, 6, seed=0), 6, -1),
        (head_weights(4, 8, 5, seed=1), 5, 1),
        (head_weights(4, 9, 6, seed=2), 6, -2),
        (head_weights(2, 7, 4, seed=3), 4, 0),
    ),
    edges=((head_weights(1, 2, 2, seed=4), 2, -1),),
    bugs={
        "padding-counted": (
            share(asks=lambda query, key, length, n: (key >= 0) & (key < n)),
            share(asks=lambda query, key, length, n: (key >= 0) & (key < length)),
            share(asks=lambda query, key, length, n: (query < length) & (key >= 0)),
            share(asks=lambda query, key, length, n: query >= 0),
        ),
        "all-real-queries": (share(asks=lambda query, key, length, n: query < length),),
        "wrong-axis": (share(axis=-2),),
        "wrong-side": (share(side=-1),),
        "mean-weight": (share(hits=weights_there),),
        "over-all-heads": (share(over=None),),
    },
)
