"""Greedy decoding."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from d2lmini.notebook.tasks import Results, Task, normal


class ToyDecoder:
    """A made-up decoder of six tokens, <eos> the last: a row of scores depends on all tokens up to it."""

    eos = 5

    def __init__(self, seed: int, eager: float) -> None:
        self.tokens, self.places = normal(6, 6, seed=seed), normal(12, 6, seed=seed + 1)
        self.end = eager * torch.arange(12.0)[:, None] * nn.functional.one_hot(torch.tensor(self.eos), 6)

    def __call__(self, tokens: Tensor) -> Tensor:
        n = len(tokens)
        return self.tokens[tokens].cumsum(dim=0) + self.places[:n] + self.end[:n]

    def __str__(self) -> str:
        return "model"


def greedy(
    heard: slice = slice(None), row: int = -1, ends: bool = True, first: int = 1, keeps: bool = False
) -> Callable[..., Results]:
    """Greedy decoding, right by default, with one thing at a time that can be done wrong."""

    def greedy(model: Callable[[Tensor], Tensor], bos: int, eos: int, num_steps: int) -> Results:
        tokens = torch.tensor([bos])
        for _ in range(num_steps):
            word = model(tokens[heard])[row].argmax()
            if ends and word == eos and not keeps:
                break
            tokens = torch.cat([tokens, word[None]])
            if ends and word == eos:
                break
        return (tokens[first:],)

    return greedy


TASK = Task(
    returns=("tokens",),
    right=greedy(),
    cases=tuple((ToyDecoder(seed, eager), 0, 5, 8) for seed, eager in ((3, 0.5), (6, 0.5), (9, 1.0))),
    edges=((ToyDecoder(2, -9.0), 1, 5, 6), (ToyDecoder(3, 0.5), 0, 5, 1)),
    bugs={
        "keeps-eos": (greedy(keeps=True),),
        "never-ends": (greedy(ends=False),),
        "with-bos": (greedy(first=0),),
        "first-row": (greedy(row=0),),
        "forgets": (greedy(heard=slice(-1, None)),),
    },
)
