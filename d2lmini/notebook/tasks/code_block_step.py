"""One token through today's block, with a cache: RMSNorm, turned and shared keys, SwiGLU."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from d2lmini.notebook.tasks import Case, Results, Task, normal
from d2lmini.notebook.tasks.code_rms_norm import rms_norm

right_norm = rms_norm()


def norm(X: Tensor, gain: Tensor) -> Tensor:
    return right_norm(X, gain)[0]


def block_step(wrong: str = "") -> Callable[..., Results]:
    """A step through the block, right by default, with one thing at a time that can be done wrong."""

    def step(
        x: Tensor, K: Tensor, V: Tensor, R: Tensor, g1: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor,
        W_o: Tensor, g2: Tensor, W_gate: Tensor, W_up: Tensor, W_down: Tensor,
    ) -> Results:  # fmt: skip
        g, _, w = K.shape
        Y = x if wrong == "first-norm" else norm(x, g1)
        shortcut = Y if wrong == "norm-on-shortcut" else x
        turn = {name: torch.eye(w) if name == wrong else R for name in ("query", "key")}
        old, Q = (K, V), (Y @ W_q).view(-1, 1, w) @ turn["query"]  # (h, 1, w)
        K = torch.cat([K, (Y @ W_k).view(g, 1, w) @ turn["key"]], dim=1)
        V = torch.cat([V, (Y @ W_v).view(g, 1, w) @ (R if wrong == "value" else torch.eye(w))], dim=1)
        keys, values = old if wrong == "early" else (K, V)
        share = len(Q) // g
        if wrong == "in-turn":
            keys, values = (X.repeat(share, 1, 1) for X in (keys, values))
        else:
            keys, values = (X.repeat_interleave(share, dim=0) for X in (keys, values))
        scores = Q @ keys.mT / {"no-scale": 1, "scale-d": x.shape[1] ** 0.5}.get(wrong, w**0.5)
        heard = (scores.softmax(dim=-1) @ values).reshape(1, -1) @ W_o
        x = heard if wrong == "no-shortcut" else shortcut + heard
        Y = x if wrong == "second-norm" else norm(x, g1 if wrong == "same-gain" else g2)
        shortcut = Y if wrong == "norm-on-shortcut" else x
        gate, up = (Y @ W_up, Y @ W_gate) if wrong == "swapped" else (Y @ W_gate, Y @ W_up)
        others: dict[str, Callable[[Tensor], Tensor]] = {"sigmoid": torch.sigmoid, "relu": torch.relu}
        gate = others.get(wrong, F.silu)(gate)
        Y = gate * up @ W_down
        return Y if wrong == "no-shortcut" else shortcut + Y, K, V

    return step


def case(d: int, h: int, g: int, t: int, w: int, f: int, seed: int) -> Case:
    angle = torch.tensor(0.7 + seed)
    R = torch.block_diag(
        *[torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()]).view(2, 2)] * (w // 2)
    )
    shapes = (1, d), (g, t, w), (g, t, w), (d,), (d, h * w), (d, g * w), (d, g * w), (h * w, d), (d,), (d, f)
    x, K, V, *rest = (normal(*shape, seed=seed + i) for i, shape in enumerate((*shapes, (d, f), (f, d))))
    return x, K, V, R, *rest


TASK = Task(
    returns=("x", "K", "V"),
    right=block_step(),
    cases=(case(8, 4, 2, 3, 4, 10, 0), case(6, 6, 2, 4, 2, 5, 20)),
    edges=(case(6, 4, 1, 2, 2, 7, 40), case(6, 4, 2, 0, 4, 3, 60)),
    bugs={
        "asked-too-early": (block_step("early"),),
        "query-not-turned": (block_step("query"),),
        "key-not-turned": (block_step("key"),),
        "value-turned": (block_step("value"),),
        "taken-in-turn": (block_step("in-turn"),),
        "wrong-scale": (block_step("no-scale"), block_step("scale-d")),
        "no-shortcut": (block_step("no-shortcut"),),
        "norm-on-shortcut": (block_step("norm-on-shortcut"),),
        "norm-missing": (block_step("first-norm"), block_step("second-norm"), block_step("same-gain")),
        "gate-swapped": (block_step("swapped"),),
        "no-silu": (block_step("sigmoid"), block_step("relu")),
    },
)
