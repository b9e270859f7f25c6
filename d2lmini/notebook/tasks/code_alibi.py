"""Attention with linear biases."""

from collections.abc import Callable

import torch

from d2lmini.notebook.tasks import Results, Task, distances


def alibi(
    sign: float = -1,
    is_signed: bool = False,
    first: int = 1,
    heads: int | None = None,
    base: float = 2,
    steps: bool = True,
) -> Callable[..., Results]:
    """ALiBi, right by default, with one thing at a time that can be done wrong."""

    def alibi(n: int, H: int) -> Results:
        h = first + torch.arange(H) * steps
        slope = base ** (-8.0 * h / (heads or H))
        far = distances(n) if is_signed else distances(n).abs()
        return (sign * slope[:, None, None] * far,)

    return alibi


TASK = Task(
    returns=("bias",),
    right=alibi(),
    cases=((5, 4), (7, 6)),
    edges=((1, 3), (6, 8), (4, 1)),
    bugs={
        "bonus": (alibi(sign=1),),
        "signed": (alibi(is_signed=True), alibi(sign=1, is_signed=True)),
        "from-zero": (alibi(first=0),),
        "always-eight": (alibi(heads=8),),
        "base-e": (alibi(base=torch.e),),
        "no-slope": (alibi(steps=False), lambda n, H: (-distances(n).abs().expand(H, n, n).float(),)),
    },
)
