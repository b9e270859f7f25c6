"""How much weight each head has right behind earlier equal tokens."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task, normal


def causal_weights(heads: int, n: int, seed: int) -> Tensor:
    scores = 2 * normal(heads, n, n, seed=seed)
    return torch.softmax(scores.masked_fill(torch.ones(n, n).triu(1) > 0, float("-inf")), dim=-1)


def earlier(equal: Tensor) -> Tensor:
    return equal.tril(-1)


def latest(equal: Tensor) -> Tensor:
    place = torch.arange(len(equal))
    return equal & (place == torch.where(equal, place, -1).amax(dim=1, keepdim=True))


def score(
    keep: Callable[[Tensor], Tensor] = earlier,
    move: int = 1,
    only: Callable[[Tensor], Tensor] = lambda equal: equal,
    counts: Callable[[Tensor], Tensor] = lambda equal: equal.any(dim=1),
    found: Callable[[Tensor, Tensor], Tensor] = lambda weights, behind: (weights * behind).sum(dim=-1),
    over: int | None = -1,
) -> Callable[..., Results]:
    """Return the scores of heads, right by default, with one thing at a time that can be done wrong."""

    def induction_score(weights: Tensor, tokens: Tensor) -> Results:
        equal = keep(tokens[:, None] == tokens)
        behind = only(equal).roll(move, dims=1)
        return (found(weights, behind)[:, counts(equal)].mean(dim=over),)

    return induction_score


def not_itself(equal: Tensor) -> Tensor:
    return equal & ~torch.eye(len(equal), dtype=torch.bool)


def largest(weights: Tensor, behind: Tensor) -> Tensor:
    top = weights.argmax(dim=-1, keepdim=True)
    return behind.expand_as(weights).gather(-1, top)[..., 0].to(weights)


TASK = Task(
    returns=("score",),
    right=score(),
    cases=(
        (causal_weights(3, 8, seed=0), torch.tensor([4, 1, 7, 4, 2, 1, 4, 3])),
        (causal_weights(2, 6, seed=1), torch.tensor([5, 6, 5, 6, 0, 5])),
        (causal_weights(4, 9, seed=2), torch.tensor([0, 3, 1, 0, 2, 0, 3, 0, 8])),
    ),
    edges=((causal_weights(2, 3, seed=3), torch.tensor([2, 2, 2])),),
    bugs={
        "same-token": (score(move=0),),
        "wrong-side": (score(move=-1),),
        "all-queries": (
            score(counts=lambda equal: torch.ones(len(equal), dtype=torch.bool)),
            score(keep=lambda equal: equal.tril()),
        ),
        "future": (score(keep=not_itself),),
        "latest-only": (score(only=latest), score(only=lambda equal: equal & (equal.cumsum(dim=1) == 1))),
        "largest": (score(found=largest),),
        "over-all-heads": (score(over=None),),
    },
)
