"""Scaled dot-product attention with a mask."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Case, Results, Task, normal


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
        if mask is not None and mask_use in ("before", "inverted"):
            hidden = mask if mask_use == "inverted" else ~mask
            scores = scores.masked_fill(hidden, -1e9 if empty == "uniform" else float("-inf"))
        weights = torch.softmax(scores, dim=axis)
        if after:
            weights = weights / scale(Q, V)
        if mask is not None and mask_use != "ignored" and (mask_use == "late" or empty == "zeros"):
            weights = weights.masked_fill(~mask, 0.0)
        return weights @ V, weights

    return attention


def inputs(queries: tuple[int, ...], keys: tuple[int, ...], width: int, seed: int) -> Case:
    return normal(*queries, seed=seed), normal(*keys, seed=seed + 1), normal(*keys[:-1], width, seed=seed + 2)


right_attention = attention()
EMPTY = ("zeros", "nan", "uniform")


# widths of queries and values differ, and so do the numbers of queries and keys: mix-ups then show
TASK = Task(
    returns=("output", "weights"),
    right=right_attention,
    cases=(
        inputs((3, 8), (4, 8), 5, seed=0),
        (*inputs((2, 3, 16), (2, 5, 16), 4, seed=3), torch.tensor([[3], [2]])[..., None] > torch.arange(5)),
        (*inputs((2, 2, 4, 6), (2, 2, 4, 6), 3, seed=6), torch.ones(4, 4, dtype=torch.bool).tril()),
    ),
    edges=(
        (*inputs((2, 2, 4), (2, 3, 4), 4, seed=9), torch.tensor([[2], [0]])[..., None] > torch.arange(3)),
    ),
    bugs={
        "missing-scale": (attention(scale=lambda Q, V: 1.0),),
        "scale-after-softmax": (attention(after=True),),
        "scale-by-d": (attention(scale=lambda Q, V: Q.shape[-1]),),
        "scale-by-values": (attention(scale=lambda Q, V: V.shape[-1] ** 0.5),),
        "wrong-axis": tuple(attention(axis=axis, empty=empty) for axis in (-2, 0) for empty in EMPTY),
        "from-the-front": (
            attention(scale=lambda Q, V: Q.shape[1] ** 0.5),
            *(attention(axis=1, empty=empty) for empty in EMPTY),
            *(attention(axis=1, scale=lambda Q, V: Q.shape[1] ** 0.5, empty=empty) for empty in EMPTY),
        ),
        "mask-inverted": (
            lambda Q, K, V, mask=None: right_attention(Q, K, V, None if mask is None else ~mask),
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
