"""The tasks of code exercises: a file each, called like the exercise, with its cases and wrong solutions.

A bug is a wrong solution kept on purpose. A reader's function that agrees with it on every case, where the
right answer does not, has that bug, and is told so; the sentences stand in the exercise's YAML file, under
the same names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

Case = tuple[Any, ...]
Results = tuple[Tensor, ...]

NAMES = (
    "self-attention/code-scaled-attention",
    "self-attention/design-query",
    "multi-head-attention/code-attention",
    "multi-head-attention/code-split-heads",
    "complexity/code-path-lengths",
    "cost-in-practice/code-online-softmax",
    "writing/code-cached-step",
    "long-sequences/code-linear-attention",
    "long-sequences/code-local-mask",
    "positional-encoding/code-sinusoids",
    "relative-positions/code-rotate",
    "relative-positions/code-alibi",
    "transformer-block/code-add-norm",
    "transformer-block/code-pre-norm",
    "transformer/code-multi-head",
    "transformer/code-decoder-block",
    "translation/code-greedy",
    "translation/code-bleu",
    "what-it-learned/code-share",
    "language-model/code-sampler",
    "language-model/code-generate",
    "subwords/code-merge",
    "induction/code-induction-score",
    "since-2017/code-rms-norm",
    "since-2017/code-block-step",
)


@dataclass(frozen=True)
class Task:
    """A function to be written.

    Attributes:
        returns: the names of its results.
        right: the right answer.
        cases: the ordinary inputs: here a bug is looked for first.
        edges: inputs looked at when the ordinary ones are right.
        bugs: by name in the YAML file, the wrong solutions; each in its common spellings.
        effect: where many answers are right: what an answer does, given the inputs too. This is compared
            instead.
        caught: runs a function whose numbers are right and returns the name of the bug that it still has.
    """

    returns: tuple[str, ...]
    right: Callable[..., Results]
    cases: tuple[Case, ...]
    edges: tuple[Case, ...]
    bugs: dict[str, tuple[Callable[..., Results], ...]]
    effect: Callable[..., Results] | None = None
    caught: Callable[[Callable[..., Any]], str | None] = lambda function: None


def load_task(name: str) -> Task:
    """Return the task of an exercise, one of `NAMES`.

    Example:
        >>> load_task("complexity/code-path-lengths").returns
        ('layers',)
    """
    slug = name.partition("/")[2].replace("-", "_")
    task: Task = import_module(f"{__name__}.{slug}").TASK
    return task


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Return normal numbers, the same at every call."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def distances(n: int) -> Tensor:
    """Return the position of each query minus that of each key, shape (n, n)."""
    position = torch.arange(n)
    return position[:, None] - position
