"""Greedy writing with a cache."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from d2lmini.notebook.tasks import Results, Task

Net = Callable[..., tuple[Tensor, Any]]


class Reader:
    """A model for the checks: the next token follows from all that was read, by its state."""

    def __init__(self, seed: int) -> None:
        self.table = torch.randn(32, 12, generator=torch.Generator().manual_seed(seed))

    def __call__(self, tokens: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Return scores, (1, n, 12), and as state a number of all tokens read so far and their count."""
        total, count = state or (0, 0)
        scores = []
        for token in tokens[0].tolist():
            total, count = (3 * total + token + count) % 32, count + 1
            scores.append(self.table[total])
        return torch.stack(scores)[None], (total, count)


def writing(
    unread: Callable[[Tensor, Tensor], Tensor] = lambda text, new: new,
    keep: bool = True,
    place: int = -1,
    whole: bool = False,
) -> Callable[..., Results]:
    """The loop, right by default, with one thing at a time that can be done wrong."""

    def write(net: Net, start: Tensor, count: int) -> Results:
        text, new, state = start[None], start[None], None
        while text.shape[1] < len(start) + count:
            scores, state = net(new, state)
            token = scores[:, place].argmax(dim=1, keepdim=True)
            text = torch.cat([text, token], dim=1)
            new, state = unread(text, token), state if keep else None
        return (text[0] if whole else text[0, len(start) :],)

    return write


def reads_too_much(write: Callable[..., Any]) -> str | None:
    """Find a function that is right and lets the model read a token twice."""
    read = []
    reader = Reader(0)

    def counting(tokens: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        read.append(tokens.shape[1])
        return reader(tokens, state)

    write(counting, torch.tensor([1, 2, 3]), 5)
    return "read-again" if sum(read) > 7 else None


TASK = Task(
    returns=("text",),
    right=writing(),
    cases=tuple((Reader(seed), torch.tensor([3, 1, 4]), 6) for seed in (0, 1)),
    edges=((Reader(2), torch.tensor([5]), 4), (Reader(3), torch.tensor([2, 7, 1, 8]), 1)),
    bugs={
        "read-again": (
            writing(unread=lambda text, new: text),
            writing(unread=lambda text, new: text, keep=False),
        ),
        "state-lost": (writing(keep=False),),
        "first-place": (writing(place=0),),
        "beginning-returned": (writing(whole=True),),
    },
    caught=reads_too_much,
)
