"""Scaled dot-product attention without a mask, for the first chapter."""

from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal
from d2lmini.notebook.tasks.code_attention import TASK as WITH_MASK, right_attention


def without_softmax(Q: Tensor, K: Tensor, V: Tensor) -> Results:
    scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
    return scores @ V, scores


def without_softmax_and_scale(Q: Tensor, K: Tensor, V: Tensor) -> Results:
    scores = Q @ K.transpose(-2, -1)
    return scores @ V, scores


TASK = Task(
    returns=("output", "weights"),
    right=right_attention,
    cases=(
        (normal(3, 8), normal(4, 8, seed=1), normal(4, 5, seed=2)),
        (normal(2, 3, 16, seed=3), normal(2, 5, 16, seed=4), normal(2, 5, 4, seed=5)),
    ),
    edges=((normal(1, 2, seed=6), normal(1, 2, seed=7), normal(1, 3, seed=8)),),
    bugs={
        name: WITH_MASK.bugs[name]
        for name in (
            "missing-scale",
            "scale-after-softmax",
            "scale-by-d",
            "scale-by-values",
            "wrong-axis",
            "from-the-front",
            "only-output",
            "swapped",
        )
    }
    | {"no-softmax": (without_softmax, without_softmax_and_scale)},
)
