"""Widgets: one ES module each, hosted by anywidget in Jupyter, Colab and VS Code, by a script on the website.

A cell that shows a widget stores two more forms of it: a line of text, and HTML to read where nothing runs.
"""

import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

from d2lmini.language import current_language, words

_ASSETS = files("d2lmini.notebook.widgets")


@cache
def module_source(kind: str) -> str:
    """Return the ES module of a widget as one self-contained text, as the website and anywidget load it.

    Args:
        kind: ``"exercise"`` or the name of an explorer, a ``.js`` file of this folder.

    Raises:
        ValueError: there is no such widget.

    Example:
        >>> "export default" in module_source("exercise")
        True
    """
    kinds = sorted(file.name[:-3] for file in _ASSETS.iterdir() if file.name.endswith(".js"))
    kinds.remove("common")
    if kind not in kinds:
        raise ValueError(f"kind: got {kind!r}; choose one of {', '.join(map(repr, kinds))}")
    parts = [(_ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in ("common", kind)]
    return "\n".join(parts)


def fallback(kind: str, name: str, state: dict[str, Any], body: str) -> str:
    """Return the stored HTML of a widget: readable where no module runs, with the state for the website.

    Args:
        kind: the kind of widget, see `module_source`.
        name: the id under which the website keeps the answer.
        state: the widget's content; it must not change from run to run.
        body: HTML, only of tags that every notebook viewer keeps (no MathML, no SVG, no script).
    """
    data = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    # JSON is full of double quotes: in single quotes they need no escape, which halves the text
    data = html.escape(data, quote=False).replace("'", "&#x27;")
    name = html.escape(name)
    head = f'<div class="d2l-widget" data-widget="{kind}" data-id="{name}" data-state=\'{data}\'>'
    return f"{head}{body}</div>"


@cache
def widget_class(kind: str) -> Any:
    """Return the anywidget class of a kind (anywidget is imported here, when the first widget is made).

    It keeps to what anywidget 0.9 with ipywidgets 7.7 can do, which is what Colab has.
    """
    import anywidget
    import traitlets

    class CourseWidget(anywidget.AnyWidget):
        """A widget of the course: traits `state` (its content) and `answer` (what the reader did)."""

        _esm = module_source(kind)
        state = traitlets.Dict().tag(sync=True)
        answer = traitlets.Dict().tag(sync=True)
        # the same line in every run, so that a stored notebook compares equal
        plain = ""
        stored = ""
        # that of ipywidgets 7 would leave out the stored form, and Colab's metadata with it
        _ipython_display_ = None

        def __repr__(self) -> str:
            return self.plain

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            shown = super()._repr_mimebundle_(**kwargs)
            # a (data, metadata) tuple: Colab's metadata rides in it
            data, metadata = shown if isinstance(shown, tuple) else (shown or {}, {})
            return {**data, "text/plain": self.plain, "text/html": self.stored}, metadata

    return CourseWidget


def make(kind: str, name: str, state: dict[str, Any], body: str, answer: dict[str, Any] | None = None) -> Any:
    """Return a live widget of a kind that stores itself as `fallback` HTML and as ``<kind name>``."""
    made = widget_class(kind)(state=state, answer=answer or {})
    made.plain = f"<{kind} {name}>"
    made.stored = fallback(kind, name, state, body)
    return made


def explorer(name: str, **options: Any) -> Any:
    """Return an explorer: a picture to play with, on the website and in the notebook alike.

    Args:
        name: an explorer of the course, e.g. ``"attention-explorer"``.
        **options: what the explorer's module understands; handed to it beside the language.

    Raises:
        ValueError: there is no such explorer; its options are checked by its module.

    Example:
        >>> explorer("attention-explorer")
        <attention-explorer attention-explorer>
    """
    state, body = _explorer_parts(name, current_language())
    return make(name, name, {**state, **options}, body)


def stored_explorer(name: str, language: str) -> str:
    """Return the HTML that a notebook stores of an explorer, the same bytes every time."""
    return fallback(name, name, *_explorer_parts(name, language))


def _explorer_parts(name: str, language: str) -> tuple[dict[str, Any], str]:
    """Return the state of an explorer and what to read where no module runs."""
    module_source(name)
    return {"lang": language}, f"<em>{words(language)['explorers']['shown_here']}</em>"
