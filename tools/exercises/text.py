"""The texts of exercises: Markdown of one line or some paragraphs, with formulas, to HTML with MathML."""

import re
from functools import cache, lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from book import katex
from d2lmini.letters import CLOSING, WIDE

PLACE = re.compile(r"\{\{(\w+)(?::([^{}]*))?\}\}")  # {{a}}, {{w:.2f}}: a number that differs from try to try
SHORT = 24  # letters of a shape or a name, which is not broken across lines
# a full stop or comma stays on the line of the formula or code before it
CLOSED = re.compile(rf'(<math.*?</math>|<code class="d2l-bound">.*?</code>)([{CLOSING}]*)')
# one element inside <semantics> needs no <semantics>, and HTML no namespace
SURPLUS = re.compile(r"<annotation.*?</annotation>|</?span[^>]*>|</?semantics>| xmlns=\"[^\"]+\"")
FUNCTION = re.compile("<mo>\u2061</mo>(?!<mo[^>]*>\\()")  # the invisible "of" in sin x, but not in sin(x)
LONG_NAME = re.compile(r"<mi>(?=[^<]{2})")  # sin: upright, while a variable is in italics


class Mistake(ValueError):
    """A mistake in an exercise, in words for its author; `where` holds the keys that lead to it, if known."""

    where: tuple[str | int, ...] = ()


@lru_cache(maxsize=4096)
def to_html(text: str, language: str) -> str:
    """Return a text as HTML: of one paragraph what stands in it, of several `<p>` elements.

    Formulas are MathML with their TeX in `data-tex`; places {{name}} survive.

    Raises:
        Mistake: KaTeX cannot typeset a formula.
    """
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        inline = _markdown.renderInline(re.sub(r"\s*\n\s*", " ", paragraph))
        paragraphs.append(CLOSED.sub(_with_its_mark, inline))
    markup = paragraphs[0] if len(paragraphs) == 1 else "".join(f"<p>{part}</p>" for part in paragraphs)
    # a line break in the source is no space between Chinese characters
    return re.sub(rf"(?<=[{WIDE}]) (?=[{WIDE}])", "", markup) if language == "zh" else markup


def _with_its_mark(match: re.Match[str]) -> str:
    return f'<span class="d2l-bound">{match[0]}</span>' if match[2] else match[0]


def _code(_: Any, tokens: Any, index: int, *__: Any) -> str:
    code = tokens[index].content
    bound = ' class="d2l-bound"' if len(code) < SHORT else ""
    return f"<code{bound}>{escape(code, quote=False)}</code>"


def _inline(_: Any, tokens: Any, index: int, *__: Any) -> str:
    return mathml(tokens[index].content)


def _display(_: Any, tokens: Any, index: int, *__: Any) -> str:
    return f'<span class="d2l-display">{mathml(tokens[index].content, display=True)}</span>'


_markdown = MarkdownIt("zero").enable(["backticks", "emphasis", "escape"])
_markdown.use(dollarmath_plugin, double_inline=True)
_markdown.add_render_rule("code_inline", _code)
_markdown.add_render_rule("math_inline", _inline)
_markdown.add_render_rule("math_inline_double", _display)


@cache
def mathml(tex: str, display: bool = False) -> str:
    """Return a formula as MathML, in which places {{name}} survive.

    Raises:
        Mistake: KaTeX cannot typeset it.
    """
    # KaTeX would take {{name}} for letters to multiply; a number of digits stays in one piece
    places: list[str] = []

    def number(match: re.Match[str]) -> str:
        places.append(match[0])
        return str(90070000 + len(places))

    answer = katex.typeset(PLACE.sub(number, tex), display, "mathml")
    if "error" in answer:
        raise Mistake(f"formula ${tex}$: {answer['error']}")
    markup = SURPLUS.sub("", answer["html"])
    markup = LONG_NAME.sub('<mi mathvariant="normal">', markup)
    markup = FUNCTION.sub('<mo rspace="0.17em">\u2061</mo>', markup)
    for index, place in enumerate(places, start=1):
        markup = markup.replace(str(90070000 + index), place)
    return markup.replace("<math", f'<math data-tex="{escape(tex)}"', 1)
