"""Exercises in a notebook: the widget, and what a cell stores of it."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import d2lmini as d2l
from d2lmini.language import LANGUAGES
from d2lmini.notebook import content

NAMES = content.exercise_names()
pytestmark = pytest.mark.usefixtures("own_folder")


# what every notebook viewer keeps
TAGS = {"div", "p", "span", "strong", "em", "b", "i", "code", "pre", "ul", "ol", "li", "blockquote", "a"}


class Fallback(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.words += data


def asked(state: dict[str, Any]) -> list[str]:
    """All that a reader has to see of an exercise before answering it, formulas in TeX."""
    entries = [entry for part in ("options", "items", "areas") for entry in state.get(part, [])]
    texts = [state["question"], *(entry["text"] for entry in entries)]
    texts += state.get("rows", []) + state.get("columns", [])
    numbers = state.get("variants", [{}])[0].get("text", {})
    code = [line["code"] for line in state.get("lines", [])]
    code += [value for row in state.get("values", []) for value in row]
    code += [state[part] for part in ("starter", "call") if part in state]
    return [content.plain(content.filled(text, numbers)) for text in texts] + code


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_cell_stores(name: str, language: str) -> None:
    d2l.use_language(language)
    shown = d2l.exercise(name)
    data, metadata = shown._repr_mimebundle_()
    assert isinstance(metadata, dict)
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(shown) == f"<exercise {name}>"
    stored = Fallback(data["text/html"])
    assert stored.tags <= TAGS
    assert stored.attributes <= {"class", "data-widget", "data-id"}  # the state stands elsewhere
    assert "{{" not in stored.words and len(stored.words) > 40
    said = "".join(stored.words.replace("$", "").replace("\\sqrt ", "√").split())
    for text in asked(shown.state):
        assert "".join(text.split()) in said, text
    # the same bytes without a widget: no id, no address
    assert content.stored(name, language) == data["text/html"]


def test_unknown_exercises_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"no exercise 'self-attention/why-scales'.*'self-attention/why-scale'"
    ):
        d2l.exercise("self-attention/why-scales")


@pytest.mark.parametrize("wrong", [None, 3, ["a"], "", "self-attention", "../words/en"])
def test_what_is_no_name_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^name: there is no exercise "):
        d2l.exercise(wrong)


def test_importing_the_package_imports_no_widgets() -> None:
    large = "{'anywidget', 'ipywidgets', 'matplotlib'}"
    code = f"import sys, d2lmini; d2lmini.exercise; print({large} & {{*sys.modules}})"
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
