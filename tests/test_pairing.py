"""What runs by default meets every pair: each page in both themes and widths, each part in each language."""

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

import pytest
from pairing import THEMES, WIDE_AND_NARROW, WIDTHS, page_rows, pairs, pairwise, slow_except
from test_browser import PARTS

from d2lmini.language import LANGUAGES


def rows_by_default(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    return [row.values for row in rows if not row.marks]


@pytest.mark.parametrize(
    "axes", [(LANGUAGES, THEMES, WIDTHS), ("abcdefgh", LANGUAGES, THEMES, WIDTHS), ("ab",), ("ab", "xyz")]
)
def test_any_two_values_meet_in_a_row(axes):
    rows = pairwise(*axes)
    for (i, first), (j, second) in combinations(enumerate(axes), 2):
        assert {(row[i], row[j]) for row in rows} == set(product(first, second))
    assert pairwise(*axes) == rows and len(rows) <= len(list(product(*axes)))
    assert all(pairs(row) for row in rows) or len(axes) == 1


def test_each_page_has_both_themes_and_widths_and_each_part_each_language():
    looked_at, languages, checked = set(), set(), set()
    for name, language, views, axe in rows_by_default(page_rows(PARTS)):
        looked_at |= {(name, value) for view in views for value in view}
        languages.add((PARTS[name], language))
        checked |= {(PARTS[name], value) for view in views for value in view if axe}
    assert looked_at == set(product(PARTS, (*THEMES, *WIDTHS)))
    assert languages == set(product(PARTS.values(), LANGUAGES))
    assert checked == set(product(PARTS.values(), (*THEMES, *WIDTHS)))


def test_all_rows_together_ask_axe_about_every_page_in_every_language_theme_and_width():
    rows = map(values, page_rows(PARTS))
    every = [(name, language, *view) for name, language, views, axe in rows for view in views if axe]
    assert sorted(every) == sorted(product(PARTS, LANGUAGES, THEMES, WIDTHS))


def values(row: Any) -> tuple[Any, ...]:
    return row.values


def test_what_is_not_chosen_is_slow_and_not_gone():
    rows = slow_except(product("ab", "xy"), [("a", "x")])
    assert [row.values for row in rows] == list(product("ab", "xy"))
    assert rows_by_default(rows) == [("a", "x")]
    assert {language for language, _ in rows_by_default(WIDE_AND_NARROW)} == {*LANGUAGES, "pseudo"}
