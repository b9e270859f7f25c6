"""Sentences that several refusals share. Each function returns text; the caller raises the error."""

import difflib
from collections.abc import Iterable


def one_of(name: str, got: object, allowed: Iterable[object]) -> str:
    """Say that an argument must be one of a few values.

    Example:
        >>> one_of("target", "de", ("fr", "vi"))
        "target: got 'de'; choose one of 'fr', 'vi'"
    """
    return f"{name}: got {got!r}; choose one of {_listed(allowed)}"


def nearest(got: object, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Name what is spelled most like `got`, as the end of a sentence; empty if nothing is.

    Example:
        >>> nearest("cuasal", ["causal", "padding"])
        "; the nearest are 'causal'"
    """
    near = difflib.get_close_matches(str(got), list(known), n=3, cutoff=cutoff)
    return f"; the nearest are {_listed(near)}" if near else ""


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(repr, values))
