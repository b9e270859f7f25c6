"""Scaled dot-product attention with a mask."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal


def attention(
    scale: Callable[[Tensor, Tensor], float] = lambda Q, V: Q.shape[-1] ** 0.5,
    axis: int = -1,
    mask_use: str = "before",
    after: bool = False,
    empty: str = "zeros",
) -> Callable[..., Results]:
    """Scaled dot-product attention, right by default, with one thing at a time that can be done wrong."""

    def attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Results:
        scores = Q @ K.transpose(-2, -1)
        if not after:
            scores = scores / scale(Q, V)
        if mask is not None and mask_use != "ignored":
            hidden = mask if mask_use == "inverted" else ~mask
            if mask_use != "late":
                scores = scores.masked_fill(hidden, -1e9 if empty == "uniform" else float("-inf"))
        weights = torch.softmax(scores, dim=axis)
        if after:
            weights = weights / scale(Q, V)
        if mask is not None and mask_use != "ignored" and (mask_use == "late" or empty == "zeros"):
            weights = weights.masked_fill(~mask, 0.0)
        return weights @ V, weights

    return attention


def visible(*rows: list[int]) -> Tensor:
    return torch.tensor(rows, dtype=torch.bool)


right_attention = attention()


def inverted_throughout(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Results:
    return right_attention(Q, K, V, None if mask is None else ~mask)


# widths of queries and values differ, and so do the numbers of queries and keys: mix-ups then show
TASK = Task(
    returns=("output", "weights"),
    right=right_attention,
    cases=(
        (normal(3, 8), normal(4, 8, seed=1), normal(4, 5, seed=2)),
        (
            normal(2, 3, 16, seed=3),
            normal(2, 5, 16, seed=4),
            normal(2, 5, 4, seed=5),
            visible([1, 1, 1, 0, 0], [1, 1, 0, 0, 0]).unsqueeze(1),
        ),
        (
            normal(2, 2, 4, 6, seed=6),
            normal(2, 2, 4, 6, seed=7),
            normal(2, 2, 4, 3, seed=8),
            torch.ones(4, 4, dtype=torch.bool).tril(),
        ),
    ),
    edges=(
        (
            normal(2, 2, 4, seed=9),
            normal(2, 3, 4, seed=10),
            normal(2, 3, 4, seed=11),
            visible([1, 1, 0], [0, 0, 0]).unsqueeze(1),
        ),
    ),
    bugs={
        "missing-scale": (attention(scale=lambda Q, V: 1.0),),
        "scale-after-softmax": (attention(after=True),),
        "scale-by-d": (attention(scale=lambda Q, V: Q.shape[-1]),),
        "scale-by-values": (attention(scale=lambda Q, V: V.shape[-1] ** 0.5),),
        "wrong-axis": tuple(attention(axis=-2, empty=empty) for empty in ("zeros", "nan", "uniform")),
        "mask-inverted": (
            inverted_throughout,
            attention(mask_use="inverted"),
            attention(mask_use="inverted", empty="nan"),
        ),
        "mask-after-softmax": (attention(mask_use="late"),),
        "mask-ignored": (attention(mask_use="ignored"),),
        "only-output": (lambda *case: right_attention(*case)[:1],),
        "swapped": (lambda *case: right_attention(*case)[::-1],),
        "empty-row-nan": (attention(empty="nan"),),
        "empty-row-uniform": (attention(empty="uniform"),),
    },
)
