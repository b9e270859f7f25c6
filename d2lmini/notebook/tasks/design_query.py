"""A query matrix by which `milk` attends to `cats`; many are right."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task

PLANE = torch.tensor([[1.0, 0.0], [-0.6, -0.8], [0.96, 0.28], [0.28, 0.96], [0.0, 1.0]])
CATS, MILK, NOBODY, TRANSPOSED, OTHER_DIRECTION = 0, 4, 5, 6, 7  # the first two are rows of PLANE


def attends_to(X: Tensor, W: Tensor, token: int) -> int:
    """Return the token with the largest score for `token`; NOBODY if there is no single one."""
    scores = X.double() @ (X[token].double() @ W.double())
    best = scores > scores.max() - 1e-4
    return int(scores.argmax()) if best.sum() == 1 else NOBODY


def attended_by_milk(X: Tensor, W: Tensor) -> Results:
    """Return whom `milk` attends to, or which slip explains that it is not `cats`."""
    attended = attends_to(X, W, MILK)
    asks_nothing = float((X[MILK].double() @ W.double()).abs().max()) < 1e-4
    if asks_nothing and attends_to(X, W, CATS) == MILK:
        attended = OTHER_DIRECTION
    elif attended != CATS and attends_to(X, W.T, MILK) == CATS:
        attended = TRANSPOSED
    return (torch.tensor(attended),)


def matrix(*rows: list[float]) -> Callable[..., Results]:
    return lambda X: (torch.tensor(rows),)


TASK = Task(
    returns=("W_q",),
    right=matrix([1.0, 0.0], [1.0, -0.3]),
    cases=((PLANE,),),
    edges=(),
    bugs={
        "itself": (matrix([1.0, 0.0], [0.0, 1.0]),),
        "flat": (matrix([0.0, 0.0], [0.0, 0.0]),),
        "transposed": (matrix([0.0, 1.0], [-1.0, 0.0]),),
        "other-direction": (matrix([0.0, 1.0], [0.0, 0.0]),),
        "dogs": (matrix([1.0, 0.0], [1.0, 0.5]),),
        "drink": (matrix([1.0, 0.0], [0.5, 1.0]),),
        "opposite": (matrix([-1.0, 0.0], [0.0, -1.0]),),
    },
    effect=attended_by_milk,
)
