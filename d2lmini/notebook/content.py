"""What the exercises say: their names, their content, and the HTML that a notebook stores of them.

The content is data (``assets/exercises``, compiled from ``chapters/exercises``). Nothing here needs torch,
a widget or a kernel: the website and the author's tools use it as well.
"""

import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

from d2lmini.errors import nearest, one_of
from d2lmini.language import words
from d2lmini.notebook import widgets

_EXERCISES = files("d2lmini") / "assets" / "exercises"
_TAGS = {"c": "code", "b": "strong", "i": "em"}


def exercise_names() -> list[str]:
    """Return the names of all exercises.

    Example:
        >>> "self-attention/why-scale" in exercise_names()
        True
    """
    chapters = [folder for folder in _EXERCISES.iterdir() if folder.is_dir()]
    return sorted(
        f"{folder.name}/{file.name[:-5]}"
        for folder in chapters
        for file in folder.iterdir()
        if file.name.endswith(".json")
    )


@cache
def former_names() -> dict[str, str]:
    """Return the names that exercises had, each with the one that it has now."""
    found: dict[str, str] = json.loads((_EXERCISES / "formerly.json").read_text(encoding="utf-8"))
    return found


def current_name(name: str) -> str:
    """Return the name that an exercise has now, whichever it is called by.

    Example:
        >>> current_name("self-attention/why-scale")
        'self-attention/why-scale'
    """
    return former_names().get(name, name) if isinstance(name, str) else name


def exercise_content(name: str, language: str) -> dict[str, Any]:
    """Return an exercise in one language.

    Texts are lists of strings and of parts: ``m`` a formula as MathML with its TeX ``x``, ``c`` code,
    ``b`` and ``i`` emphasis, ``p`` a new paragraph.

    Args:
        name: ``"<chapter>/<slug>"``, of now or of former times.
        language: one of `d2lmini.language.LANGUAGES`.

    Raises:
        ValueError: there is no such exercise (the nearest names are given), or no such language.
    """
    name = current_name(name)
    if name not in (names := exercise_names()):
        raise ValueError(f"name: there is no exercise {name!r}{nearest(name, names, cutoff=0.3)}")
    editions: dict[str, Any] = json.loads((_EXERCISES / f"{name}.json").read_text(encoding="utf-8"))
    if language not in editions:
        raise ValueError(one_of("language", language, editions))
    content: dict[str, Any] = editions[language]
    return content


def exercise_state(name: str, language: str) -> dict[str, Any]:
    """Return what the widget shows: the content without TeX and without the known bugs of code."""
    state: dict[str, Any] = _without(exercise_content(name, language), {"x", "bugs"})
    return state


def stored(name: str, language: str) -> str:
    """Return the HTML that a notebook stores of an exercise, the same bytes every time.

    Args:
        name: ``"<chapter>/<slug>"``.
        language: one of `d2lmini.language.LANGUAGES`.

    Raises:
        ValueError: there is no such exercise or language.

    Example:
        >>> stored("self-attention/why-scale", "vi")[:50]
        '<div class="d2l-widget" data-widget="exercise" dat'
    """
    return widgets.fallback("exercise", name, exercise_state(name, language), readable(name, language))


def readable(name: str, language: str) -> str:
    """Return an exercise as plain HTML, for a page on which no widget runs."""
    content, labels = exercise_content(name, language), words(language)["exercises"]
    numbers = content.get("variants", [{}])[0].get("text", {})

    def listed(texts: Any) -> str:
        return "<ul>" + "".join(f"<li>{_html(text, numbers)}</li>" for text in texts) + "</ul>"

    parts = [f"<div><strong>{html.escape(labels['kind_' + content['kind']])}</strong></div>"]
    parts.append(f"<div>{_html(content['question'], numbers)}</div>")
    if "options" in content:
        parts.append(listed(option["text"] for option in content["options"]))
    if "items" in content:
        parts.append(listed(content["items"][index]["text"] for index in content["shuffled"]))
    if "lines" in content:
        code = "\n".join(
            f"{number:2}  {line['code']}" for number, line in enumerate(content["lines"], start=1)
        )
        parts.append(f"<pre>{html.escape(code, quote=False)}</pre>")
    if "values" in content:
        rows = "\n".join("  ".join(row) for row in content["values"])
        parts.append(f"<pre>{html.escape(rows, quote=False)}</pre>")
    if "areas" in content:
        parts.append(listed(area["text"] for area in content["areas"]))
    if "starter" in content:
        parts.append(f"<pre>{html.escape(content['starter'], quote=False)}</pre>")
        call = html.escape(content["call"])
        parts.append(f"<div>{_html(labels['check_with'], {})} <code>{call}</code></div>")
    else:
        parts.append(f"<div><em>{html.escape(labels['run_cell'])}</em></div>")
    return "".join(parts)


def _html(text: Any, numbers: dict[str, str]) -> str:
    """Return a compiled text as HTML; formulas as $...$, which notebook viewers typeset themselves."""
    pieces = []
    for part in [text] if isinstance(text, str) else text:
        if isinstance(part, str):
            piece = html.escape(part, quote=False)
        elif "m" in part:
            piece = html.escape(f"$${part['x']}$$" if part.get("d") else f"${part['x']}$", quote=False)
        elif "p" in part:
            piece = "</div><div>"
        else:
            ((key, inner),) = part.items()
            piece = f"<{_TAGS[key]}>{html.escape(inner, quote=False)}</{_TAGS[key]}>"
        for name, number in numbers.items():
            piece = piece.replace("{{" + name + "}}", html.escape(number, quote=False))
        pieces.append(piece)
    return "".join(pieces)


def _without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(inner, keys) for key, inner in value.items() if key not in keys}
    return [_without(inner, keys) for inner in value] if isinstance(value, list) else value
