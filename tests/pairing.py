"""Which combinations of language, theme and width a test runs by default: all pairs, not all products."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import pytest

from d2lmini.language import LANGUAGES

THEMES = ("light", "dark")
WIDTHS = (1280, 375)


def pairwise(*axes: Sequence[Hashable]) -> list[tuple[Any, ...]]:
    """Return few rows with one value of each axis in which any two values of two axes meet; always the same.

    Example:
        >>> len(pairwise("abc", "xy", "12")), len(pairwise("ab", "xy", "12"))
        (6, 4)
    """
    rows: list[tuple[Any, ...]] = []
    missing = {pair for row in product(*axes) for pair in pairs(row)}
    while missing:
        row = max(product(*axes), key=lambda row: len(missing & pairs(row)))  # the first of the best
        rows.append(row)
        missing -= pairs(row)
    return rows


def pairs(row: Sequence[Hashable]) -> set[Any]:
    """Return the pairs of a row: the places of two axes, and the values there."""
    return set(combinations(enumerate(row), 2))


def slow_except(rows: Iterable[Any], default: Iterable[Any]) -> list[Any]:
    """Return the rows as parameters of a test, slow but for those that are to run by default."""
    rows, chosen = list(rows), list(default)
    assert all(row in rows for row in chosen), "a row by default that is none"
    return [
        pytest.param(
            *(row if isinstance(row, tuple) else [row]), marks=() if row in chosen else pytest.mark.slow
        )
        for row in rows
    ]


# where something may run over the edge: on a phone in each language, on a wide screen in the longest words
WIDE_AND_NARROW = slow_except(
    product((*LANGUAGES, "pseudo"), (340, 760)), [*product((*LANGUAGES, "pseudo"), (340,)), ("pseudo", 760)]
)


def views(place: int) -> list[tuple[str, int]]:
    """Return two views of a page, theme and width, by its place in the book: both themes, both widths.

    Example:
        >>> views(0), views(1)
        ([('light', 1280), ('dark', 375)], [('light', 375), ('dark', 1280)])
    """
    return list(zip(THEMES, WIDTHS if place % 2 == 0 else WIDTHS[::-1], strict=True))


def page_rows(parts: Mapping[str, str]) -> list[Any]:
    """Return name, language, views and whether to ask axe for every page: few rows by default, the rest slow.

    By default a page has one language, in turn, and two views; a page that is alone in its part of the book
    has all languages. Axe is asked about the first page of each part, in one language: one template.

    Args:
        parts: the part of the book to which each page belongs.
    """
    names: dict[str, list[str]] = {}
    for name, part in parts.items():
        names.setdefault(part, []).append(name)
    rows = []
    for place, (name, part) in enumerate(parts.items()):
        turn = place % len(LANGUAGES)
        for i, language in enumerate(LANGUAGES):
            by_default = views(place + i) if i == turn or len(names[part]) == 1 else []
            axe = i == turn and name == names[part][0]
            rest = [view for view in product(THEMES, WIDTHS) if not axe or view not in by_default]
            page = f"{name}-{language}"
            if by_default:
                rows.append(pytest.param(name, language, by_default, axe, id=page))
            rows.append(pytest.param(name, language, rest, True, id=f"{page}-rest", marks=pytest.mark.slow))
    return rows
