"""What all explorers have in common: they are accessible, and take no orders from a link."""

import json
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from pairing import slow_except

import d2lmini as d2l
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import EXPLORERS

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", EXPLORERS)
def test_a_link_cannot_do_harm(show, kind):
    name = kind.removesuffix("-explorer")
    hostile = {
        "sentence": "<img src=x onerror=alert(1)> </script>",
        "head": 99,
        "mask": "constructor",
        "n": 1e300,
        "dims": -4,
        "position": "7",
        "counting": "__proto__",
        "k": 1e9,
        "temperature": -1,
        "token": 1e9,
        "map": "__proto__",
        "base": 7,
        "content": "constructor",
        "m": 1e300,
    }
    page = show(kind, query=f"?{name}={quote(json.dumps(hostile))}")
    assert page.locator("img").count() == 0


BROKEN = ("{", "null", "[]", "7")


@pytest.mark.parametrize(
    ("kind", "broken"),
    # one module reads the links of all explorers
    slow_except(
        product(EXPLORERS, BROKEN), [*product(EXPLORERS, BROKEN[:1]), *product(EXPLORERS[:1], BROKEN)]
    ),
)
def test_a_broken_link_shows_the_beginning(show, kind, broken):
    page = show(kind, query=f"?{kind.removesuffix('-explorer')}={quote(broken)}")
    assert page.locator("#here > *").count() == 1


VIEWS = [("light", 340), ("dark", 1280)]


@pytest.mark.parametrize("kind", EXPLORERS)
@pytest.mark.parametrize(
    ("lang", "view"), slow_except(product(LANGUAGES, VIEWS), product(LANGUAGES[:1], VIEWS))
)
def test_accessible_in_both_themes_and_widths(show, kind, lang, view):
    theme, width = view
    page = show(kind, lang, theme=theme, width=width)
    page.evaluate(AXE)
    result = page.evaluate("axe.run(document, { rules: { region: { enabled: false } } })")
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in result["violations"]] == []


@pytest.mark.parametrize("kind", EXPLORERS)
@pytest.mark.parametrize(
    ("lang", "width"), slow_except(product(LANGUAGES, [340, 1280]), product(LANGUAGES, [340]))
)
def test_nothing_runs_over_the_edge(show, kind, lang, width):
    page = show(kind, lang, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("kind", EXPLORERS)
def test_leaving_stops_listening(show, kind):
    page = show(kind)
    page.evaluate("leave()")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.locator("#here > *").get_attribute("data-dark") == "0"


# what they tell needs no weights, and no guess of the reader
PRINTED = ("attention-explorer", "clock-explorer", "plane-explorer", "rotary-explorer")


@pytest.mark.parametrize("kind", EXPLORERS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_book_on_paper_gets_the_tasks_and_what_they_tell(show, kind, lang):
    lists = """import("/module.js").then(({ default: widget }) =>
        widget.printed?.().map((list) => [...list.children].map((item) => item.textContent)) ?? null)"""
    found = show(kind, lang).evaluate(lists)
    assert (found is not None) == (kind in PRINTED)
    for texts, name in zip(found or [], ("tasks", "answers"), strict=False):
        asked = words(lang)["explorers"][kind.removesuffix("-explorer")][name]
        assert len(texts) == len(asked)
        for text, template in zip(texts, asked, strict=True):
            assert text.startswith(template.partition("{")[0].replace("_", ""))
            assert not set("{}_") & set(text) and "NaN" not in text and "undefined" not in text


def test_only_explorers_are_explorers():
    offered = ", ".join(f"'{name}'" for name in EXPLORERS)
    with pytest.raises(ValueError, match=f"^name: got 'exercise'; choose one of {offered}$"):
        d2l.explorer("exercise")
    with pytest.raises(TypeError, match="options: got head; an explorer takes none"):
        d2l.explorer("attention-explorer", head=2)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_notebook_gets_the_words_of_its_language(lang):
    d2l.use_language(lang)
    try:
        shown = d2l.explorer("clock-explorer")
    finally:
        d2l.use_language("en")
    assert shown._esm == widgets.module_source("clock-explorer", lang)
    assert words(lang)["explorers"]["shown_here"] in shown.stored
