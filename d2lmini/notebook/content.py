"""What the exercises say: their names, their content, and the HTML that a notebook stores of them.

The content is data (``assets/exercises``, compiled from ``chapters/exercises``). Nothing here needs torch,
a widget or a kernel: the website and the author's tools use it as well.
"""

import hashlib
import html
import json
import re
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

from d2lmini.errors import nearest, one_of
from d2lmini.language import words
from d2lmini.notebook import widgets

# of a compiled text: its TeX, its display
FORMULA = re.compile(r'<math data-tex="([^"]*)"([^>]*)>.*?</math>')
_EXERCISES = files("d2lmini") / "assets" / "exercises"


def exercise_names() -> list[str]:
    """Return the names of all exercises, chapter by chapter.

    Example:
        >>> "self-attention/why-scale" in exercise_names()
        True
    """
    return [
        f"{chapter}/{name}"
        for chapter in chapter_numbers()
        for name in sorted(file.name[:-5] for file in (_EXERCISES / chapter).iterdir())
    ]


@cache
def chapter_numbers() -> dict[str, int]:
    """Return the chapters that have exercises, in the order of the course, each with its number."""
    numbers: dict[str, int] = json.loads((_EXERCISES / "chapters.json").read_text(encoding="utf-8"))
    return numbers


@cache
def former_names() -> dict[str, str]:
    """Return the names that exercises had, each with the one that it has now."""
    names: dict[str, str] = json.loads((_EXERCISES / "formerly.json").read_text(encoding="utf-8"))
    return names


def current_name(name: str) -> str:
    """Return the name that an exercise has now, whichever it is called by.

    Example:
        >>> current_name("self-attention/why-scale")
        'self-attention/why-scale'
    """
    return former_names().get(name, name) if isinstance(name, str) else name


def exercise_content(name: str, language: str) -> dict[str, Any]:
    """Return an exercise in one language.

    Texts are HTML with MathML, the TeX of each formula in its attribute ``data-tex``; {{name}} stands for a
    number that differs from try to try (`filled`).

    Args:
        name: ``"<chapter>/<slug>"``, of now or of former times.
        language: one of `d2lmini.language.LANGUAGES`.

    Raises:
        ValueError: there is no such exercise (the nearest names are given), or no such language.
    """
    name = current_name(name)
    if name not in (names := exercise_names()):
        raise ValueError(f"name: there is no exercise {name!r}{nearest(name, names, cutoff=0.3)}")
    text = (_EXERCISES / f"{name}.json").read_text(encoding="utf-8")
    editions: dict[str, dict[str, Any]] = json.loads(text)
    if language not in editions:
        raise ValueError(one_of("language", language, editions))
    return editions[language]


def exercise_state(name: str, language: str) -> dict[str, Any]:
    """Return what the widget shows: the content without what only the check of code needs."""
    content = exercise_content(name, language)
    return {key: value for key, value in content.items() if key not in ("bugs", "page")}


def cell_fingerprint(source: str) -> str:
    """Return the hash by which a cell of a page is known when it has been run."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:12]


def stored(name: str, language: str, answer: dict[str, Any] | None = None) -> str:
    """Return the HTML that a notebook stores of an exercise, the same bytes every time.

    Its formulas are $...$, which notebook viewers typeset themselves; some would take MathML away.

    Args:
        name: ``"<chapter>/<slug>"``.
        language: one of `d2lmini.language.LANGUAGES`.
        answer: what the reader did, as the widget keeps it, to be shown below the question.

    Raises:
        ValueError: there is no such exercise or language.

    Example:
        >>> stored("self-attention/why-scale", "vi")[:50]
        '<div class="d2l-widget" data-widget="exercise" dat'
    """
    return widgets.fallback("exercise", name, _formulas_in_tex(readable(name, language, answer), "$"))


def readable(name: str, language: str, answer: dict[str, Any] | None = None) -> str:
    """Return the whole question as HTML with MathML, for a page on which no widget runs."""
    content, labels = exercise_content(name, language), words(language)["exercises"]
    items = [entry["text"] for entry in content.get("options", content.get("areas", ()))]
    items += [content["items"][index]["text"] for index in content.get("shuffled", ())]
    if "columns" in content:
        blank = ["…"] * len(content["columns"])
        rows = zip(content["rows"], content.get("values", [blank] * len(content["rows"])), strict=True)
        items += [" | ".join(("", *content["columns"]))]
        items += [" | ".join((f"<strong>{row}</strong>", *cells)) for row, cells in rows]
    lines = [f"{number:2}  {line['code']}" for number, line in enumerate(content.get("lines", ()), start=1)]
    code = "\n".join(lines) or content.get("starter", "")
    parts = [
        f"<div><strong>{html.escape(labels['kind_' + content['kind']])}</strong></div>",
        f"<div>{content['question']}</div>",
        f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else "",
        f"<pre>{html.escape(code, quote=False)}</pre>" if code else "",
        f"<div>{html.escape(labels['check_with'])} <code>{html.escape(content['call'])}</code></div>"
        if "call" in content
        else f"<div><em>{html.escape(labels['run_cell'])}</em></div>",
    ]
    answer = answer or {}
    if given := _given(content, answer.get("given")):
        parts.append(f"<div><strong>{html.escape(labels['your_answer'])}</strong> {given}</div>")
    if answer.get("done"):
        parts.append(f"<div>✓ {html.escape(labels['done'])}</div>")
    variants = content.get("variants", [{}])
    with suppress(LookupError, TypeError):
        variants = [variants[answer["variant"]]]
    return filled("".join(parts), variants[0].get("text", {}))


def _given(content: dict[str, Any], given: Any) -> str:
    """Return an answer in words, as HTML; "" if there is none, or none that fits the exercise of now."""
    texts = content.get("options") or content.get("items") or content.get("areas")
    try:
        if texts:
            chosen = given if isinstance(given, list) else [given]
            return " · ".join(texts[index]["text"] for index in chosen)
        if "lines" in content:
            return f"<code>{html.escape(content['lines'][given]['code'].strip())}</code>"
        if "values" in content:
            row, column = divmod(given, len(content["columns"]))
            return f"{content['rows'][row]}, {content['columns'][column]}"
        if "columns" in content:
            return "; ".join(html.escape(", ".join(map(str, row))) for row in given)
    except (LookupError, TypeError):
        return ""
    return html.escape(given) if isinstance(given, str) else ""


def filled(markup: str, numbers: dict[str, str]) -> str:
    """Return a compiled text with numbers in the places of their names."""
    for name, number in numbers.items():
        markup = markup.replace("{{" + name + "}}", html.escape(number))
    return markup


def plain(markup: str) -> str:
    r"""Return a compiled text for print(): formulas in TeX, roots as √.

    Example:
        >>> plain(r'Divide by <em>the</em> <math data-tex="\sqrt d"><msqrt><mi>d</mi></msqrt></math>.')
        'Divide by the √d.'
    """
    text = re.sub(r"<[^>]*>", "", _formulas_in_tex(markup.replace("</p><p>", "\n")))
    return html.unescape(text).replace("\\sqrt ", "√")


def _formulas_in_tex(markup: str, sign: str = "") -> str:
    """Replace the MathML by its TeX, between dollar signs if one is given: two for a displayed formula."""

    def tex(match: re.Match[str]) -> str:
        around = sign * 2 if "display" in match[2] else sign
        return f"{around}{match[1]}{around}"

    return FORMULA.sub(tex, markup)
