"""A decoder block with all places at once."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from d2lmini.notebook.tasks import Case, Results, Task, normal
from d2lmini.notebook.tasks.code_pre_norm import Part

Block = Callable[..., Tensor]


class Norms(tuple[Part, ...]):
    def __str__(self) -> str:
        return "norms"


def case(n: int, m: int, d: int, seed: int) -> Case:
    """Return target and source, two attentions, a feed-forward network and three norms for them."""
    W = normal(5, d, d, seed=seed)
    gains = normal(3, 2, d, seed=seed + 1)

    def attention(k: int) -> Callable[..., Tensor]:
        def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
            scores = queries @ W[k] @ keys.mT
            scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
            return torch.softmax(scores, dim=-1) @ values @ W[k + 1]

        return attend

    def norm(k: int) -> Callable[[Tensor], Tensor]:
        return lambda X: gains[k, 0] * nn.functional.layer_norm(X, (d,)) + gains[k, 1]

    parts = Part("attention1", attention(0)), Part("attention2", attention(2))
    ffn = Part("ffn", lambda X: torch.relu(X @ W[4]))
    norms = Norms(Part("norm", norm(k)) for k in range(3))
    return normal(n, d, seed=seed + 2), normal(m, d, seed=seed + 3), *parts, ffn, norms


def causal(n: int) -> Tensor:
    return torch.ones(n, n).tril().bool()


def block(
    mask: Callable[[int], Tensor | None] = causal,
    first: Block = lambda X, a, mask: X + a(X, X, X, mask),
    second: Block = lambda Y, X, source, a: Y + a(Y, source, source),
    third: Block = lambda Z, f: Z + f(Z),
) -> Callable[..., Results]:
    """A decoder block, right by default, with one thing at a time done wrong."""

    def decoder_block(X: Tensor, source: Tensor, a1: Any, a2: Any, f: Any, norms: Any) -> Results:
        Y = norms[0](first(X, a1, mask(len(X))))
        Z = norms[1](second(Y, X, source, a2))
        return (norms[2](third(Z, f)),)

    return decoder_block


def pre_norm(X: Tensor, source: Tensor, a1: Any, a2: Any, f: Any, norms: Any) -> Results:
    Y = norms[0](X)
    X = X + a1(Y, Y, Y, causal(len(X)))
    X = X + a2(norms[1](X), source, source)
    return (X + f(norms[2](X)),)


def cross_first(X: Tensor, source: Tensor, a1: Any, a2: Any, f: Any, norms: Any) -> Results:
    X = norms[0](X + a2(X, source, source))
    X = norms[1](X + a1(X, X, X, causal(len(X))))
    return (norms[2](X + f(X)),)


TASK = Task(
    returns=("result",),
    right=block(),
    cases=(case(4, 4, 6, 0), case(5, 5, 3, 10)),
    edges=(case(3, 5, 4, 20), case(1, 2, 4, 30)),
    bugs={
        "no-mask": (block(mask=lambda n: None),),
        "mask-turned": (block(mask=lambda n: causal(n).mT), block(mask=lambda n: ~causal(n))),
        "own-place-hidden": (block(mask=lambda n: torch.ones(n, n).tril(-1).bool()),),
        "roles-swapped": (block(second=lambda Y, X, source, a: Y + a(source, Y, Y)[: len(Y)]),),
        "asks-with-x": (block(second=lambda Y, X, source, a: Y + a(X, source, source)),),
        "cross-first": (cross_first,),
        "no-shortcut": (
            block(first=lambda X, a, mask: a(X, X, X, mask)),
            block(second=lambda Y, X, source, a: a(Y, source, source)),
            block(third=lambda Z, f: f(Z)),
            block(
                causal,
                lambda X, a, mask: a(X, X, X, mask),
                lambda Y, X, source, a: a(Y, source, source),
                lambda Z, f: f(Z),
            ),
        ),
        "pre-norm": (pre_norm,),
    },
)
