"""A whole block with the norms in the branches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from d2lmini.notebook.tasks import Case, Results, Task, normal

Function = Callable[..., Tensor]


@dataclass
class Part:
    """A made-up part of a block, called like the argument that it stands for."""

    name: str
    function: Function

    def __call__(self, *args: Any, **names: Any) -> Tensor:
        return self.function(*args, **names)

    def __str__(self) -> str:
        return self.name


def case(n: int, d: int, seed: int) -> Case:
    """Return tokens, and attention, feed-forward network and two norms for them."""
    mix, W1, W2, gains = (
        normal(*shape, seed=seed + k) for k, shape in enumerate(((n, n), (d, d), (d, d), (2, d)))
    )

    def norm(k: int) -> Function:
        return lambda X: gains[k] * nn.functional.layer_norm(X, (d,)) + gains[1 - k]

    return (
        3 * normal(n, d, seed=seed + 4),
        Part("attention", lambda X: torch.softmax(mix, dim=-1) @ X @ W1),
        Part("ffn", lambda X: torch.relu(X @ W1) @ W2),
        Part("norm1", norm(0)),
        Part("norm2", norm(1)),
    )


def block(first: Callable[..., Tensor], second: Callable[..., Tensor]) -> Callable[..., Results]:
    """Return a block from its two sums; the second takes the first and all that the block was given."""

    def pre_norm_block(X: Tensor, a: Function, f: Function, norm1: Function, norm2: Function) -> Results:
        Y = first(X, a, norm1, norm2)
        return (second(Y, X, f, norm1, norm2),)

    return pre_norm_block


def sum1(X: Tensor, a: Function, p: Function, q: Function) -> Tensor:
    return X + a(p(X))


def sum2(Y: Tensor, X: Tensor, f: Function, p: Function, q: Function) -> Tensor:
    return Y + f(q(Y))


TASK = Task(
    returns=("result",),
    right=block(sum1, sum2),
    cases=(case(4, 6, 0), case(5, 3, 10)),
    edges=(case(1, 4, 20),),
    bugs={
        "post-norm": (block(lambda X, a, p, q: p(X + a(X)), lambda Y, X, f, p, q: q(Y + f(Y))),),
        "norm-on-shortcut": (
            block(lambda X, a, p, q: p(X) + a(p(X)), sum2),
            block(lambda X, a, p, q: p(X) + a(p(X)), lambda Y, X, f, p, q: q(Y) + f(q(Y))),
            block(sum1, lambda Y, X, f, p, q: q(Y) + f(q(Y))),
        ),
        "no-shortcut": (
            block(lambda X, a, p, q: a(p(X)), lambda Y, X, f, p, q: f(q(Y))),
            block(lambda X, a, p, q: a(p(X)), sum2),
            block(sum1, lambda Y, X, f, p, q: f(q(Y))),
        ),
        "old-token": (block(sum1, lambda Y, X, f, p, q: X + f(q(Y))),),
        "parallel": (block(sum1, lambda Y, X, f, p, q: Y + f(q(X))),),
        "missing-norm": (
            block(sum1, lambda Y, X, f, p, q: Y + f(Y)),
            block(lambda X, a, p, q: X + a(X), sum2),
        ),
        "same-norm": (
            block(sum1, lambda Y, X, f, p, q: Y + f(p(Y))),
            block(lambda X, a, p, q: X + a(q(X)), lambda Y, X, f, p, q: Y + f(p(Y))),
        ),
        "norm-at-the-end": (block(sum1, lambda Y, X, f, p, q: q(sum2(Y, X, f, p, q))),),
    },
)
