"""The texts of exercises: Markdown of one line or some paragraphs, with formulas, to what a widget shows."""

import re
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from book import katex
from d2lmini.letters import WIDE

PLACE = re.compile(r"\{\{(\w+)(?::([^{}]*))?\}\}")  # {{a}}, {{w:.2f}}: a number that differs from try to try
_MARKS = {"strong_open": "b", "em_open": "i"}

_markdown = MarkdownIt("zero").enable(["backticks", "emphasis", "escape"])
_markdown.use(dollarmath_plugin, double_inline=True)


class Mistake(Exception):
    """A mistake in an exercise, in words for its author; `where` holds the keys that lead to it, if known."""

    where: tuple[str | int, ...] = ()


@lru_cache(maxsize=4096)
def segments(text: str, language: str) -> list[Any]:
    """Return a text as the list that `richText` (widgets/rich-text.js) shows.

    Strings stand for themselves; parts are ``m`` a formula as MathML with its TeX ``x`` (``d``: on a line of
    its own), ``c`` code, ``b`` and ``i`` emphasis, ``p`` a new paragraph.

    Raises:
        Mistake: KaTeX cannot typeset a formula, or emphasis holds more than words.
    """
    parts: list[Any] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if parts:
            parts.append({"p": 1})
        (inline,) = _markdown.parseInline(re.sub(r"\s*\n\s*", " ", paragraph))
        tokens = iter(inline.children or ())
        for token in tokens:
            part = _part(token, tokens)
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part:
                parts.append(part)
    if language == "zh":  # a line break in the source is no space between Chinese characters
        between = re.compile(rf"(?<=[{WIDE}]) (?=[{WIDE}])")
        return [between.sub("", part) if isinstance(part, str) else part for part in parts]
    return parts


def _part(token: Token, following: Any) -> Any:
    if token.type in _MARKS:
        words = ""
        for inner in following:
            if inner.type == token.type.replace("open", "close"):
                return {_MARKS[token.type]: words}
            if inner.type not in ("text", "text_special"):
                raise Mistake("emphasis holds words only: no formula, no code, no other emphasis")
            words += inner.content
    if token.type == "code_inline":
        return {"c": token.content}
    if token.type in ("math_inline", "math_inline_double"):
        display = token.type == "math_inline_double"
        return {"m": mathml(token.content, display), "x": token.content, **({"d": 1} if display else {})}
    return token.content


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
    markup = re.sub(r"<annotation.*?</annotation>", "", answer["html"], flags=re.S)
    found = re.search(r"<math.*</math>", markup, flags=re.S)
    assert found, tex
    # one element inside <semantics> needs no <semantics>; the namespace is put back by the widget
    markup = re.sub(r"</?semantics>| xmlns=\"[^\"]+\"", "", found[0])
    for index, place in enumerate(places, start=1):
        markup = markup.replace(str(90070000 + index), place)
    return markup
