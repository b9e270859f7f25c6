"""Linear attention with the feature map elu + 1."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from d2lmini.notebook.tasks import Results, Task, normal


def linear(
    features_of_queries: Callable[[Tensor], Tensor] = lambda X: torch.nn.functional.elu(X) + 1,
    features_of_keys: Callable[[Tensor], Tensor] = lambda X: torch.nn.functional.elu(X) + 1,
    total: Callable[[Tensor, Tensor], Tensor] = lambda Q, K: (Q @ K.sum(dim=0))[:, None],
) -> Callable[..., Results]:
    """Linear attention, right by default, with one thing at a time that can be done wrong."""

    def attention(Q: Tensor, K: Tensor, V: Tensor) -> Results:
        Q, K = features_of_queries(Q), features_of_keys(K)
        return (Q @ (K.T @ V) / total(Q, K),)

    return attention


class Shapes(TorchFunctionMode):
    """Notes the shapes of all tensors that are made."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[int, ...]] = []

    def __torch_function__(self, operation: Any, types: Any, given: Any = (), options: Any = None) -> Any:
        result = operation(*given, **(options or {}))
        self.made += [tuple(result.shape)] if isinstance(result, Tensor) else []
        return result


def square(linear_attention: Callable[..., Any]) -> str | None:
    """Look for a matrix of queries by keys; their numbers, 3 and 4, are no widths of this case."""
    Q, K, V = (value.clone() for value in TASK.cases[0])
    with Shapes() as shapes:
        linear_attention(Q, K, V)
    return "square" if any({len(Q), len(K)} <= {*shape} for shape in shapes.made) else None


def by_way_of_a_square(Q: Tensor, K: Tensor, V: Tensor) -> Results:
    Q, K = (torch.nn.functional.elu(X) + 1 for X in (Q, K))
    weights = Q @ K.T
    return (weights @ V / weights.sum(dim=1, keepdim=True),)


TASK = Task(
    returns=("output",),
    right=linear(),
    cases=(
        (normal(3, 8), normal(4, 8, seed=1), normal(4, 5, seed=2)),
        (normal(6, 4, seed=3), normal(6, 4, seed=4), normal(6, 4, seed=5)),
    ),
    edges=((normal(1, 2, seed=6), normal(1, 2, seed=7), normal(1, 3, seed=8)),),
    bugs={
        "no-total": (linear(total=lambda Q, K: torch.ones(1)),),
        "features-of-queries-only": (linear(features_of_keys=lambda X: X),),
        "no-features": (linear(features_of_queries=lambda X: X, features_of_keys=lambda X: X),),
        "elu-without-one": (linear(torch.nn.functional.elu, torch.nn.functional.elu),),
        "divided-by-count": (linear(total=lambda Q, K: torch.tensor(float(len(K)))),),
        "softmax": (lambda Q, K, V: (torch.softmax(Q @ K.T / Q.shape[-1] ** 0.5, dim=-1) @ V,),),
        "square": (by_way_of_a_square,),
    },
    caught=square,
)
