"""An exercise on paper: its question where it is asked, its hints and its solution at the end of the book."""

import re
from html import unescape
from string import ascii_lowercase
from typing import Any

from markupsafe import Markup

from book.ext import maths
from book.paper.formulas import name_formulas
from book.templates import template
from d2lmini.language import words
from d2lmini.notebook.content import FORMULA, exercise_content, filled


def on_paper(name: str, language: str) -> dict[str, Any]:
    """Return an exercise as HTML.

    Args:
        name: ``"<chapter>/<slug>"``.
        language: one of `d2lmini.language.LANGUAGES`.

    Returns:
        The name of its kind, its question, a list of hints, and its solution.
    """
    content, say = exercise_content(name, language), words(language)["exercises"]
    for key in ("options", "areas", "lines"):
        for number, choice in enumerate(content.get(key, []), 1):
            choice["number"] = number

    def typeset(formula: re.Match[str]) -> str:
        drawn = maths.render(unescape(formula[1]), display="display" in formula[2], where=name)
        return name_formulas(drawn)

    def text(markup: str) -> Markup:
        """Return a compiled text, its formulas typeset like those of the pages."""
        numbers = content.get("variants", [{"text": {}}])[0]["text"]
        return Markup(FORMULA.sub(typeset, filled(markup, numbers)))

    def paragraphs(markup: str) -> Markup:
        shown = text(markup)
        return shown if shown.startswith("<p>") else Markup("<p>") + shown + Markup("</p>")

    def number_shown(value: float) -> str:
        """Return a number as the course writes it: at most three decimals, thousands apart but in Chinese."""
        shown = f"{value:,.3f}".rstrip("0").rstrip(".").replace("-", "−")
        few = len(shown.partition(".")[0].lstrip("−").replace(",", "")) < 5
        return shown.replace(",", "" if few or language == "zh" else "\u2009")

    def answer() -> str:
        """Return the answer in a word; empty where it is a table or a text."""
        match content:
            case {"options": choices} | {"areas": choices}:
                return ", ".join(ascii_lowercase[i] for i, one in enumerate(choices) if one.get("correct"))
            case {"lines": lines}:
                return f"{say['line']} {next(line['number'] for line in lines if line.get('correct'))}"
            case {"variants": [variant, *_]}:
                return number_shown(variant["answer"])
            case {"items": items, "shuffled": shuffled}:
                return ", ".join(ascii_lowercase[shuffled.index(index)] for index in range(len(items)))
            case {"spots": spots}:
                spot = next(spot for spot in spots if spot.get("correct"))
                return text(f"{content['rows'][spot['row']]}, {content['columns'][spot['column']]}")
        return ""

    forms: Any = template("paper/exercise.html").make_module(
        {
            **content,
            "answer": answer(),
            "in_disorder": [content["items"][index] for index in content.get("shuffled", [])],
            "letters": ascii_lowercase,
            "number": number_shown,
            "paragraphs": paragraphs,
            "pdf": words(language)["site"]["pdf"],
            "say": say,
            "text": text,
        }
    )
    return {
        "kind": say[f"kind_{content['kind']}"],
        "question": forms.asked(),
        "hints": [paragraphs(hint) for hint in content.get("hints", [])],
        "solution": forms.solved(),
    }
