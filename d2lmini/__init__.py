"""d2lmini: the models, plots and exercises of the course.

Importing this package loads nothing large: each name of `__init__.pyi` is fetched from its file when it is
first used. Exercises load no torch, and models no matplotlib.

Example:
    >>> import torch
    >>> import d2lmini as d2l
    >>> attention = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5)
    >>> X = torch.ones(2, 4, 100)
    >>> attention(X, X, X, torch.tensor([3, 2])).shape
    torch.Size([2, 4, 100])
"""

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
        return fetch(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
