"""Split the hidden units into heads and fold these into the batch."""

from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal


def split_heads(X: Tensor, num_heads: int) -> Results:
    batch, n, hidden = X.shape
    split = X.reshape(batch, n, num_heads, hidden // num_heads).transpose(1, 2)
    return (split.reshape(batch * num_heads, n, hidden // num_heads),)


def mixed_tokens(X: Tensor, num_heads: int) -> Results:
    return (X.reshape(X.shape[0] * num_heads, X.shape[1], -1),)


def interleaved(X: Tensor, num_heads: int) -> Results:
    batch, n, hidden = X.shape
    split = X.reshape(batch, n, hidden // num_heads, num_heads).permute(0, 3, 1, 2)
    return (split.reshape(batch * num_heads, n, -1),)


def heads_before_batch(X: Tensor, num_heads: int) -> Results:
    batch, n, _ = X.shape
    return (X.reshape(batch, n, num_heads, -1).permute(2, 0, 1, 3).reshape(batch * num_heads, n, -1),)


def not_folded(X: Tensor, num_heads: int) -> Results:
    return (X.reshape(*X.shape[:2], num_heads, -1).transpose(1, 2),)


def axes_swapped(X: Tensor, num_heads: int) -> Results:
    return (split_heads(X, num_heads)[0].transpose(1, 2),)


TASK = Task(
    returns=("result",),
    right=split_heads,
    cases=((normal(2, 4, 6), 3), (normal(3, 5, 8, seed=1), 2)),
    edges=((normal(1, 3, 4, seed=2), 1), (normal(2, 1, 4, seed=3), 4)),
    bugs={
        "mixed-tokens": (mixed_tokens,),
        "interleaved": (interleaved,),
        "heads-before-batch": (heads_before_batch,),
        "not-folded": (not_folded,),
        "axes-swapped": (axes_swapped,),
    },
)
