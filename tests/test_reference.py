"""The reference of the package: complete, written for readers, and on the page of every edition."""

import ast
import re
from html.parser import HTMLParser

import pytest
from sphinx.errors import ExtensionError

import d2lmini as d2l
from book.ext import api
from d2lmini.language import LANGUAGES

NAMES = [(file, name) for file, names in api.exported().items() for name in names]


def definition(file, name):
    return next(node for node in api.definitions(file) if node.name == name)


@pytest.mark.parametrize(("file", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_public_name_is_summed_up_in_a_line_and_shown_at_work(file, name):
    docstring = ast.get_docstring(definition(file, name)) or ""
    assert re.match(r"\S.+[.:]$", docstring.splitlines()[0] if docstring else "")
    assert any(part == "Example" and ">>> " in text for part, text in api.sections(docstring))


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


def test_a_docstring_is_taken_apart():
    parts = dict(api.sections("Sum.\n\nArgs:\n    x: a\n        b.\n    *rest: c.\n\nSource: A,\nB."))
    assert parts["Args"] == "    x: a\n        b.\n    *rest: c."
    assert parts["Source"] == "A,\nB."
    assert [text for name, text in api.sections("Sum.\n\nSource: A.\n\nMore.") if not name][-1] == "More."


def test_prose_of_a_docstring_becomes_markup():
    marked = api._prose("`text` of `X`, $p_n$ and snake_case", {"text": "d2l.text"})
    assert marked == r":py:obj:`text <d2l.text>` of ``X``, :math:`p_n` and snake\_case"


def test_a_signature_is_as_written_without_self():
    method = ast.parse("def forward(self, X: Tensor, offset: int = 0, *, k=1) -> Tensor: ...").body[0]
    assert api.signature(method) == "(X: Tensor, offset: int=0, *, k=1) -> Tensor"
    assert api.signature(ast.parse("def stop(self): ...").body[0]) == "()"


def test_an_argument_without_a_name_is_refused():
    broken = 'def f(x):\n    """Do.\n\n    Args:\n        the thing without a name.\n    """'
    with pytest.raises(ExtensionError, match=r"d2l\.f, Args: “the thing without"):
        api._entry(ast.parse(broken).body[0], "d2l.f", {})


def test_a_function_without_a_docstring_is_refused():
    with pytest.raises(ExtensionError, match=r"d2l\.f: there is no docstring"):
        api._entry(ast.parse("def f(x): ...").body[0], "d2l.f", {})
