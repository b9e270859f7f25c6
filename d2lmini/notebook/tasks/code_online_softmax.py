"""Merge the sums of two blocks of keys."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Case, Results, Task, normal


def merge(
    shrink_total: bool = True,
    shrink_output: bool = True,
    shrink_second: bool = True,
    sign: float = 1.0,
    best_of: Callable[[Tensor, Tensor], Tensor] = torch.maximum,
    divided: bool = False,
) -> Callable[..., Results]:
    """The sums of two halves of the keys made one, right by default, with one thing at a time done wrong."""

    def merge(best_a: Tensor, total_a: Tensor, output_a: Tensor, *second: Tensor) -> Results:
        best_b, total_b, output_b = second
        best = best_of(best_a, best_b)
        a = torch.exp(sign * (best_a - best))
        b = torch.exp(sign * (best_b - best)) if shrink_second else torch.ones(())
        total = a * total_a + b * total_b if shrink_total else total_a + total_b
        output = a * output_a + b * output_b if shrink_output else output_a + output_b
        return best, total, output / total if divided else output

    return merge


def block_sums(n: int, d: int, seed: int) -> Case:
    """Return what one processor hands over: the largest score, the total, the sum of the values."""
    scores, values = normal(n, 4, seed=seed), normal(4, d, seed=seed + 1)
    best = scores.max(dim=1, keepdim=True).values
    weights = torch.exp(scores - best)
    return best, weights.sum(dim=1, keepdim=True), weights @ values


def raised(sums: Case) -> Case:
    """Return the same block with larger scores."""
    return sums[0] + 200, *sums[1:]


TASK = Task(
    returns=("best", "total", "output"),
    right=merge(),
    cases=((*block_sums(6, 3, 0), *block_sums(6, 3, 2)), (*block_sums(4, 2, 4), *block_sums(4, 2, 6))),
    edges=(
        (*raised(block_sums(3, 2, 8)), *block_sums(3, 2, 10)),
        (torch.full((3, 1), -torch.inf), torch.zeros(3, 1), torch.zeros(3, 2), *block_sums(3, 2, 12)),
    ),
    bugs={
        "nothing-rescaled": (merge(shrink_total=False, shrink_output=False),),
        "total-not-rescaled": (merge(shrink_total=False),),
        "output-not-rescaled": (merge(shrink_output=False),),
        "wrong-sign": (merge(sign=-1),),
        "second-not-rescaled": (merge(shrink_second=False),),
        "block-only": (merge(best_of=lambda a, b: b),),
        "already-divided": (merge(divided=True),),
    },
)
