"""An exercise on paper: its question where it is asked, its hints and its solution at the end of the book."""

import re
import string
from collections.abc import Iterable
from html import escape, unescape
from typing import Any

from book.ext import maths
from d2lmini.language import words
from d2lmini.notebook.content import FORMULA, exercise_content, filled

BOX = '<span class="tick-box"></span>'


def on_paper(name: str, language: str) -> dict[str, Any]:
    """Return an exercise as HTML.

    Args:
        name: ``"<chapter>/<slug>"``.
        language: one of `d2lmini.language.LANGUAGES`.

    Returns:
        The name of its kind, its question, a list of hints, and its solution.
    """
    paper = _Paper(exercise_content(name, language), name, language)
    return {
        "kind": paper.say[f"kind_{paper.content['kind']}"],
        "question": paper.question(),
        "hints": [paper.paragraphs(hint) for hint in paper.content.get("hints", [])],
        "solution": paper.solution(),
    }


class _Paper:
    def __init__(self, content: dict[str, Any], name: str, language: str) -> None:
        self.content, self.name, self.language = content, name, language
        self.say, self.pdf = words(language)["exercises"], words(language)["site"]["pdf"]
        self.variant = content.get("variants", [{"text": {}}])[0]

    # ---- texts

    def text(self, markup: str) -> str:
        """A compiled text, its formulas typeset like those of the pages."""

        def typeset(formula: re.Match[str]) -> str:
            return maths.render(unescape(formula[1]), display="display" in formula[2], where=self.name)

        return FORMULA.sub(typeset, filled(markup, self.variant["text"]))

    def paragraphs(self, markup: str) -> str:
        text = self.text(markup)
        return text if text.startswith("<p>") else f"<p>{text}</p>"

    def number(self, value: float) -> str:
        """A number as the course writes it: at most three decimals, thousands apart but in Chinese."""
        shown = f"{value:,.3f}".rstrip("0").rstrip(".").replace("-", "−")
        whole, point, decimals = shown.partition(".")
        few = len(whole.lstrip("−").replace(",", "")) < 5
        space = "" if few or self.language == "zh" else "\u2009"
        return whole.replace(",", space) + point + decimals

    # ---- the question

    def question(self) -> str:
        return self.paragraphs(self.content["question"]) + self._answered_by()

    def _answered_by(self) -> str:  # noqa: PLR0911  one return, one kind
        """What stands below the question: to choose from, to fill in, or to read."""
        content = self.content
        blank = f'<p class="blank">{escape(self.say["your_number"])}<span class="line"></span></p>'
        box = BOX if content["kind"] == "multiple" or content.get("binary") else ""
        match content:
            case {"options": options}:
                return self.lettered(box + self.text(option["text"]) for option in options)
            case {"variants": _}:
                return blank
            case {"items": items, "shuffled": shuffled}:
                return self.lettered(self.text(items[index]["text"]) for index in shuffled) + blank
            case {"cells": cells}:
                return self.table([[box] * len(row) for row in cells], "to-fill")
            case {"values": values}:
                return self.table(values, "values")
            case {"areas": areas}:
                marks = "".join(map(_area, string.ascii_lowercase, areas))
                named = self.lettered(self.text(area["text"]) for area in areas)
                return f'<div class="picture">{content["picture"]}{marks}</div>{named}'
            case {"lines": lines}:
                return self.code("\n".join(line["code"] for line in lines), numbered=True)
            case {"starter": starter, "call": call}:
                check = f"<p>{escape(self.say['check_with'])} <code>{escape(call)}</code></p>"
                return self.code(starter) + check
        return ""

    # ---- the solution

    def solution(self) -> str:
        parts = [self._right_answer(), self.paragraphs(self.content["solution"])]
        if "solution_code" in self.content:
            parts.append(self.code(self.content["solution_code"]))
        if "points" in self.content:
            points = "".join(f"<li>{BOX}{self.text(point)}</li>" for point in self.content["points"])
            parts.append(f'<p>{escape(self.say["points"])}</p><ul class="points">{points}</ul>')
        return "".join(parts)

    def _right_answer(self) -> str:  # noqa: PLR0911  one return, one kind
        """The answer, and why it is right and others are wrong."""
        content = self.content
        why = self.paragraphs(content["why"]) if "why" in content else ""
        match content:
            case {"options": choices} | {"areas": choices}:
                letters = [string.ascii_lowercase[i] for i, one in enumerate(choices) if one.get("correct")]
                return self.stated(", ".join(letters)) + self.reasons(enumerate(choices, 1), "a")
            case {"lines": lines}:
                numbered = [(number, line) for number, line in enumerate(lines, 1) if line.get("why")]
                right = next(number for number, line in numbered if line.get("correct"))
                return self.stated(f"{self.say['line']} {right}") + self.reasons(numbered, "1")
            case {"variants": _, "wrong": slips}:
                got = [
                    f"<li><b>{escape(self.pdf['if_you_got'].format(answer=self.number(value)))}</b> "
                    f"{self.text(slip['why'])}</li>"
                    for value, slip in zip(self.variant["wrong"], slips, strict=True)
                ]
                answer = self.stated(self.number(self.variant["answer"]))
                return f'{answer}{why}<ul class="reasons">{"".join(got)}</ul>'
            case {"cells": cells, "binary": True}:
                return self.table([["✓" if cell else "" for cell in row] for row in cells], "values") + why
            case {"cells": cells}:
                return self.table([[self.number(cell) for cell in row] for row in cells], "values") + why
            case {"items": items, "shuffled": shuffled}:
                letters = [string.ascii_lowercase[shuffled.index(index)] for index in range(len(items))]
                dash = self.say["dash"]
                steps = "".join(
                    f"<li><b>{letter}</b> {self.text(item['text'])}{dash}{self.text(item['why'])}</li>"
                    for letter, item in zip(letters, items, strict=True)
                )
                return self.stated(", ".join(letters)) + f'<ol class="reasons">{steps}</ol>'
            case {"spots": spots}:
                spot = next(spot for spot in spots if spot.get("correct"))
                place = self.text(f"{content['rows'][spot['row']]}, {content['columns'][spot['column']]}")
                return self.stated(place) + self.paragraphs(spot["why"])
        return ""

    # ---- forms

    def stated(self, answer: str) -> str:
        """The answer, in bold; `answer` is HTML."""
        before, after = escape(self.pdf["answer"]).split("{answer}")
        return f'<p class="answer"><b>{before}{answer}{after}</b></p>'

    def lettered(self, items: Iterable[str]) -> str:
        return '<ol type="a" class="letters">' + "".join(f"<li>{item}</li>" for item in items) + "</ol>"

    def reasons(self, numbered: Iterable[tuple[int, dict[str, Any]]], numerals: str) -> str:
        """Why each of these is right or wrong."""
        items = "".join(
            f'<li value="{number}" class="{"right" if choice.get("correct") else "wrong"}">'
            f"{self.text(choice['why'])}</li>"
            for number, choice in numbered
        )
        return f'<ol type="{numerals}" class="reasons judged">{items}</ol>'

    def table(self, cells: list[list[str]], kind: str) -> str:
        """A table with the names of the exercise's rows and columns; its cells are HTML."""
        head = "".join(f'<th scope="col">{self.text(name)}</th>' for name in self.content["columns"])
        body = "".join(
            f'<tr><th scope="row">{self.text(name)}</th>'
            + "".join(f"<td>{cell}</td>" for cell in row)
            + "</tr>"
            for name, row in zip(self.content["rows"], cells, strict=True)
        )
        return f'<table class="{kind}"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>'

    def code(self, source: str, *, numbered: bool = False) -> str:
        lines = escape(source.rstrip("\n"), quote=False).split("\n")
        if numbered:
            width = len(str(len(lines)))
            lines = [
                f'<span class="line-number">{n:>{width}}</span>  {line}' for n, line in enumerate(lines, 1)
            ]
        return f"<pre>{chr(10).join(lines)}</pre>"


def _area(letter: str, area: dict[str, Any]) -> str:
    sides = zip(("left", "top", "width", "height"), area["box"], strict=True)
    place = ";".join(f"{side}:{percent}%" for side, percent in sides)
    return f'<span class="area" style="{place}"><b>{letter}</b></span>'
