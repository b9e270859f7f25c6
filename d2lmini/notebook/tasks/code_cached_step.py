"""A step of decoding with grouped heads and a cache."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Case, Results, Task, normal


def step(
    append: Callable[[Tensor, Tensor], Tensor] = lambda old, new: torch.cat([old, new], dim=1),
    grouped: Callable[[Tensor, int], Tensor] = lambda Q, g: Q.unflatten(0, (g, -1)),
    scale: Callable[[int, int], float] = lambda d, w: w**-0.5,
    axis: int = -1,
    early: bool = False,
    values: str = "v",
) -> Callable[..., Results]:
    """A cached step, right by default, with one thing at a time that can be done wrong."""

    def cached_step(x: Tensor, K: Tensor, V: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Results:
        g, _, w = K.shape
        old, Q = (K, V), grouped((x @ W_q).view(-1, w), g)  # (g, h / g, w)
        K = append(K, (x @ W_k).view(g, 1, w))
        V = append(V, (x @ (W_k if values == "k appended" else W_v)).view(g, 1, w))
        keys, averaged = old if early else (K, K if values == "k" else V)
        weights = torch.softmax(Q @ keys.transpose(1, 2) * scale(x.shape[1], w), dim=axis)
        return (weights @ averaged).reshape(-1, w), K, V

    return cached_step


def in_turn(x: Tensor, K: Tensor, V: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Results:
    g, _, w = K.shape
    output, K, V = step(grouped=lambda Q, g: Q.unflatten(0, (-1, g)).transpose(0, 1))(x, K, V, W_q, W_k, W_v)
    return output.view(g, -1, w).transpose(0, 1).reshape(-1, w), K, V


def case(d: int, h: int, g: int, t: int, w: int, seed: int) -> Case:
    shapes = (1, d), (g, t, w), (g, t, w), (d, h * w), (d, g * w), (d, g * w)
    return tuple(normal(*shape, seed=seed + i) for i, shape in enumerate(shapes))


TASK = Task(
    returns=("output", "K", "V"),
    right=step(),
    cases=(case(8, 4, 2, 3, 5, 0), case(6, 6, 2, 4, 3, 10)),
    edges=(case(4, 2, 2, 2, 3, 20), case(6, 4, 1, 3, 2, 30), case(6, 4, 2, 0, 2, 40)),
    bugs={
        "asked-too-early": (step(early=True),),
        "at-the-front": (step(append=lambda old, new: torch.cat([new, old], dim=1)),),
        "taken-in-turn": (
            in_turn,
            step(grouped=lambda Q, g: Q.unflatten(0, (-1, g)).transpose(0, 1)),
        ),
        "no-scale": (step(scale=lambda d, w: 1.0),),
        "scaled-by-d": (step(scale=lambda d, w: d**-0.5),),
        "wrong-axis": (step(axis=1), step(axis=0)),
        "keys-for-values": (step(values="k"), step(values="k appended")),
    },
)
