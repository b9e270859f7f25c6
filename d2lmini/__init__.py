"""d2lmini: the models, plots and exercises of the course.

Importing this package loads nothing large: each name of `__init__.pyi` is fetched from its file when it is
first used. Exercises load no torch, and models no matplotlib.

Torch computes on one thread as soon as a name of this package is used, in a page's own training loops too:
these models are so small that several threads mostly wait for each other, and for minutes while another
program is busy. Set another number with `torch.set_num_threads` after that, or in the environment variable
`OMP_NUM_THREADS` before Python starts: either stays.

Example:
    >>> import torch
    >>> import d2lmini as d2l
    >>> attention = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5)
    >>> X = torch.ones(2, 4, 100)
    >>> attention(X, X, X, torch.tensor([3, 2])).shape
    torch.Size([2, 4, 100])
"""

import os
import sys
from functools import cache
from typing import Any

__version__ = "0.3.0"


@cache
def _exports() -> Any:
    """Return what fetches a public name, what lists them, and the names: those of `__init__.pyi`.

    The library is imported here and not above, because course.py reads words before anything is installed.
    """
    import lazy_loader

    return lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "plt":
        import matplotlib.pyplot

        return matplotlib.pyplot
    fetch, _, names = _exports()
    if name == "__all__":
        return sorted([*names, "plt"])
    if name in names:
        value = fetch(name)
        if "torch" in sys.modules:
            _compute_on_one_thread()
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache  # once: a number that is set later stays
def _compute_on_one_thread() -> None:
    """Keep torch to one thread, unless the environment names a number.

    Also the sums are the same then, to the last digit, as those that the pages show.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(1)


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
