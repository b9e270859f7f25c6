"""Widgets: one ES module each, hosted by anywidget in Jupyter, Colab and VS Code, by a script on the website.

A cell that shows a widget stores two more forms of it: a line of text, and HTML to read where nothing runs.
"""

import csv
import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from d2lmini.errors import one_of
from d2lmini.language import current_language, words
from d2lmini.notebook.palette import COLORS
from d2lmini.notebook.widgets.bundler import bundle

_FOLDER = files("d2lmini.notebook.widgets")
_CHECKPOINTS = files("d2lmini") / "assets" / "checkpoints"
EXPLORERS = tuple(sorted(file.name[:-3] for file in _FOLDER.iterdir() if file.name.endswith("-explorer.js")))
KINDS = ("exercise", *EXPLORERS)
# held out from training, so that none is known by heart
_OFFERED = (
    "I don't eat fish.",
    "My wife is a doctor.",
    "He's not busy.",
    "She can swim.",
    "I want bread and milk.",
)


def checkpoint(name: str) -> bytes:
    """Return the file of a trained model, ``"en-vi"`` or ``"writer-en"``; no bytes: there is none."""
    known = {file.name.removesuffix(".safetensors"): file for file in _CHECKPOINTS.iterdir()}
    return known[name].read_bytes() if name in known else b""


@cache
def module_source(kind: str, language: str) -> str:
    """Return the ES module of a widget as one self-contained text, as the website and anywidget load it.

    Its words travel in it: a word changes without any notebook being run again.

    Args:
        kind: one of `KINDS`: ``"exercise"`` or an explorer.
        language: one of `LANGUAGES`.

    Raises:
        ValueError: there is no such widget.

    Example:
        >>> "export default" in module_source("exercise", "vi")
        True
    """
    if kind not in KINDS:
        raise ValueError(one_of("kind", kind, KINDS))
    return bundle(_FOLDER, f"{kind}.js", _virtual(kind, language))


def _virtual(kind: str, language: str) -> dict[str, str]:
    """Return the modules that are no files: what a widget says, shows and offers in a language."""
    table = words(language)
    explorers = table["explorers"]
    shown = table["exercises"]
    if kind != "exercise":
        shown = explorers["shared"] | explorers[kind.removesuffix("-explorer")]
    return {
        "course:words": f"export default {_js(shown)};\nexport const language = {_js(table['language'])};",
        "course:palette": f"export default {_js(COLORS)};",
        "course:tokens": f"export default {_js(table['plots']['cats and dogs drink milk'].split())};",
        "course:sentences": f"export default {_js(_sentences())};",
        "course:first": f"export default {_first(kind, language)};",
    }


def _rows() -> list[dict[str, str]]:
    """Return the rows of the corpus; `d2lmini.data` would import torch."""
    lines = (files("d2lmini") / "assets" / "corpus.tsv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def _sentences() -> dict[str, list[str]]:
    """Return the sentences that the translator offers, in all languages of the corpus."""
    rows = {row["en"]: row for row in _rows()}
    languages = ("en", "fr", "vi", "zh")
    return {code: [rows[name][code].partition("|")[0].strip() for name in _OFFERED] for code in languages}


def _first(kind: str, language: str) -> str:
    """Return what an explorer shows before its weights come, as `tools.record` made it, or ``null``."""
    path = files("d2lmini") / "assets" / f"{kind.removesuffix('-explorer')}-first.jsonl"
    if not path.is_file():
        return "null"
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if f'"language":"{language}"' in line), lines[0])


def _js(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fallback(kind: str, name: str, body: str) -> str:
    """Return the stored HTML of a widget: readable where no module runs.

    Args:
        kind: the kind of widget, see `module_source`.
        name: the id under which the website finds its content and keeps the answer.
        body: HTML, only of tags that every notebook viewer keeps (no MathML, no SVG, no script).
    """
    return f'<div class="d2l-widget" data-widget="{kind}" data-id="{html.escape(name)}">{body}</div>'


def stored_widgets(markup: str) -> list[tuple[str, str]]:
    """Return kind and name of each widget that is stored in a piece of HTML, as `fallback` writes it.

    Example:
        >>> stored_widgets(fallback("exercise", "self-attention/why-scale", "<p>What …</p>"))
        [('exercise', 'self-attention/why-scale')]
    """
    return re.findall(r'<div class="d2l-widget" data-widget="([\w-]+)" data-id="([^"]+)"', markup)


@cache
def widget_class(kind: str, language: str) -> Any:
    """Return the anywidget class of a kind in a language.

    Anywidget is imported here, when the first widget is made.

    It keeps to what anywidget 0.9 with ipywidgets 7.7 can do, which is what Colab has.
    """
    import anywidget
    import traitlets

    class CourseWidget(anywidget.AnyWidget):
        """A widget of the course: traits `state` (its content), `answer` (what the reader did), and `kept`.

        The last is the answer that lies in the reader's file: one that differs from it is not safe yet.

        A widget that computes with a trained model asks for it when it is first touched: `asked` names its
        checkpoint, `sent` are the bytes. On the website they come as a file.
        """

        _esm = module_source(kind, language)
        state = traitlets.Dict().tag(sync=True)
        answer = traitlets.Dict().tag(sync=True)
        kept = traitlets.Dict().tag(sync=True)
        asked = traitlets.Dict().tag(sync=True)
        sent = traitlets.Bytes().tag(sync=True)

        @traitlets.observe("asked")
        def _bring(self, change: Any) -> None:
            self.sent = checkpoint(change["new"].get("checkpoint", ""))

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


def make(
    kind: str, name: str, state: dict[str, Any], stored: str, answer: dict[str, Any] | None = None
) -> Any:
    """Return a live widget of a kind; a notebook stores of it this HTML and ``<kind name>``."""
    made = widget_class(kind, current_language())(state=state, answer=answer or {}, kept=answer or {})
    made.plain = f"<{kind} {name}>"
    made.stored = stored
    return made


def explorer(name: str, **options: Any) -> Any:
    """Return an explorer: a picture to play with, on the website and in the notebook alike.

    Args:
        name: an explorer of the course: ``"attention-explorer"``, ``"block-explorer"``, ``"clock-explorer"``,
            ``"listening-explorer"``, ``"path-explorer"``, ``"plane-explorer"``, ``"rotary-explorer"``,
            ``"translator-explorer"`` or ``"writer-explorer"``.
        **options: none so far.

    Raises:
        ValueError: there is no such explorer.
        TypeError: an option is given.

    Example:
        >>> explorer("attention-explorer")
        <attention-explorer attention-explorer>
    """
    if name not in EXPLORERS:
        raise ValueError(one_of("name", name, EXPLORERS))
    if options:
        raise TypeError(f"options: got {', '.join(options)}; an explorer takes none, its controls set all")
    return make(name, name, {}, stored_explorer(name, current_language()))


def stored_explorer(name: str, language: str) -> str:
    """Return the HTML that a notebook stores of an explorer, the same bytes every time."""
    shown_here = html.escape(words(language)["explorers"]["shown_here"], quote=False)
    return fallback(name, name, f"<em>{shown_here}</em>")
