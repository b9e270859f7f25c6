"""The probabilities to draw from, after temperature and top-p."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Case, Results, Task, normal


def sampler(
    divide: Callable[[Tensor, float], Tensor] = lambda scores, T: scores / T,
    stays: Callable[[Tensor, Tensor, float], Tensor] = lambda ranked, before, p: before < p,
    scatter: bool = True,
    scale: bool = True,
    after: bool = False,
) -> Callable[..., Results]:
    """A sampler, right by default, with one thing at a time that can be done wrong."""

    def choose(scores: Tensor, T: float, p: float) -> Results:
        probabilities = torch.softmax(scores if after else divide(scores, T), dim=-1)
        ranked, order = probabilities.sort(descending=True)
        before = ranked.cumsum(0) - ranked
        ranked = torch.where(stays(ranked, before, p), ranked, 0.0)
        if after:
            ranked = ranked ** (1 / T)
        if scatter:
            ranked = torch.zeros_like(ranked).scatter(0, order, ranked)
        return (ranked / ranked.sum() if scale else ranked,)

    return choose


def case(size: int, T: float, p: float, seed: int) -> Case:
    return 1.5 * normal(size, seed=seed), T, p


TASK = Task(
    returns=("probabilities",),
    right=sampler(),
    cases=(case(6, 0.5, 0.8, 0), case(7, 2.0, 0.7, 1), case(5, 0.7, 0.9, 5)),
    edges=(case(4, 1.0, 1.0, 3), case(6, 1.0, 0.05, 4)),
    bugs={
        "times-temperature": (sampler(divide=lambda scores, T: scores * T),),
        "too-few": (sampler(stays=lambda ranked, before, p: before + ranked <= p),),
        "not-scaled": (sampler(scale=False),),
        "in-order-of-rank": (sampler(scatter=False),),
        "threshold": (sampler(stays=lambda ranked, before, p: ranked >= p),),
        "temperature-after": (sampler(after=True),),
    },
)
