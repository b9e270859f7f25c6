"""The reference of the package: complete, written for readers, and on the page of every edition."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import griffe
import pytest
from sphinx.errors import ExtensionError

import d2lmini as d2l
from book.ext import api
from d2lmini.language import LANGUAGES

NAMES = [(file, name) for file, names in api.exported().items() for name in names]


def definition(file, name):
    return next(thing for thing in api.definitions(file) if thing.name == name)


@pytest.mark.parametrize(("file", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_public_name_is_summed_up_in_a_line_and_shown_at_work(file, name):
    first, *others = api.sections(definition(file, name))
    assert re.match(r"\S.+[.:]$", first.value.splitlines()[0])
    assert any(part.title == "Example" and ">>> " in part.value.contents for part in others)


def test_the_reference_has_every_name_of_the_package():
    assert {name for _, name in NAMES} == set(d2l.__all__) - {"plt"}  # plt is matplotlib's
    for file, name in NAMES:
        assert definition(file, name)


class Signatures(HTMLParser):
    """The anchors of a page's signatures, and the languages that lists of them are marked with."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.languages = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "sig-object" in (given.get("class") or ""):
            self.anchors.append(given["id"])
        if tag == "dl" and (given.get("class") or "").startswith("py"):
            self.languages.add(given.get("lang"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_public_name_is_on_the_page_once(site, language):
    page = Signatures((site / language / "api.html").read_text(encoding="utf-8"))
    assert len(page.anchors) == len(set(page.anchors))
    assert {f"d2l.{name}" for _, name in NAMES} < set(page.anchors)
    assert "d2l.scaled_dot_product" in page.anchors
    assert "d2l.MultiHeadAttention.forward" in page.anchors
    assert page.languages == {"en"}  # so that a screen reader does not read English as Vietnamese


def thing(code):
    return griffe.visit("made_up", Path("made_up.py"), dedent(code))["f"]


def test_a_docstring_becomes_markup():
    f = thing('''
        def f(X: Tensor, *rest: int, value: float = 0) -> Tensor:
            """Do `text` to `X`, $p_n$ and snake_case.

            Args:
                X: a thing
                    of two lines.
                *rest: others.
                value: it.

            Returns:
                Rows: one a thing.

            Raises:
                ValueError: `X` is empty.

            Source: A,
            B.

            More.

            Example:
                Look:

                >>> f(1)
                1
                <BLANKLINE>
            """
        ''')
    assert [
        line.strip() for line in api.entry(f, "d2l.f", {"text": "d2l.text"}).splitlines() if line.strip()
    ] == [
        "````{py:function} d2l.f(X: Tensor, *rest: int, value: float = 0) -> Tensor",
        r"Do {py:obj}`text <d2l.text>` to `X`, $p_n$ and snake\_case.",
        ":Args:",
        "- `X`: a thing of two lines.",
        "- `*rest`: others.",
        "- `value`: it.",
        ":Returns: Rows: one a thing.",
        ":Raises:",
        "- `ValueError`: `X` is empty.",
        ":Source: A, B.",
        "More.",
        ":Example:",
        "Look:",
        "```{raw} html",
        '<template data-needs="from made_up import f"></template>',
        "```",
        "```{code-block} pycon",
        ">>> f(1)",
        "1",
        "```",
        "````",
    ]


def test_a_class_shows_its_public_methods_without_self():
    shown = api.entry(
        thing('''
            class f:
                """A thing."""

                def __init__(self, k: int = 1) -> None: ...

                def stop(self):
                    """Stop."""

                @property
                def size(self) -> int:
                    """How large."""

                def _hidden(self): ...
        '''),
        "d2l.f",
        {},
    )
    assert re.findall(r"py:.*|:type.*", shown) == [
        "py:class} d2l.f(k: int = 1)",
        "py:method} stop()",
        "py:property} size",
        ":type: int",
    ]


@pytest.mark.parametrize(
    ("docstring", "told"),
    [
        ('"""Do.\n\n    Args:\n        the thing without a name.\n    """', "the thing without a name"),
        ('"""Do.\n\n    Args:\n        y: not there.\n    """', "Parameter 'y' does not appear"),
        ("...", r"made_up\.f: there is no docstring"),
    ],
)
def test_a_docstring_with_a_mistake_is_refused(docstring, told):
    with pytest.raises(ExtensionError, match=told):
        api.entry(thing(f"def f(x):\n    {docstring}"), "d2l.f", {})


def test_a_file_that_the_page_does_not_tell_of_is_named():
    app = SimpleNamespace(
        env=SimpleNamespace(doc2path=lambda _: "en/api.ipynb", note_dependency=lambda _: None)
    )
    cells = [
        {"id": file.split(".")[-1].replace("_", "-")} for file in api.exported() if file != "notebook.check"
    ]
    with pytest.raises(ExtensionError, match=r"d2lmini/notebook/check\.py has public names.*the id check"):
        api.insert(app, "api", [json.dumps({"cells": cells})])
