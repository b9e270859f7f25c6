"""An exercise on paper: its question where it is asked, its hints and its solution at the end of the book."""

import string
from collections.abc import Iterable
from html import escape
from typing import Any

from book.ext import maths
from d2lmini.language import words
from d2lmini.notebook.content import exercise_content

TAGS = {"c": "code", "b": "strong", "i": "em"}
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
        variant = content.get("variants", [{}])[0]
        self.numbers, self.answer, self.wrong = (
            variant.get("text", {}),
            variant.get("answer"),
            variant.get("wrong", []),
        )

    # ---- texts

    def fill(self, text: str) -> str:
        for name, number in self.numbers.items():
            text = text.replace("{{" + name + "}}", number)
        return text

    def text(self, parts: Any) -> str:
        """A compiled text as HTML, its formulas typeset like those of the pages."""
        pieces = []
        for part in [parts] if isinstance(parts, str) else parts:
            if isinstance(part, str):
                pieces.append(escape(self.fill(part), quote=False))
            elif "m" in part:
                formula = maths.render(self.fill(part["x"]), display=bool(part.get("d")), where=self.name)
                pieces.append(f'<span class="displayed">{formula}</span>' if part.get("d") else formula)
            elif "p" in part:
                pieces.append("</p><p>")
            else:
                ((key, inner),) = part.items()
                pieces.append(f"<{TAGS[key]}>{self.text(inner)}</{TAGS[key]}>")
        return "".join(pieces)

    def paragraphs(self, parts: Any) -> str:
        return f"<p>{self.text(parts)}</p>"

    def number(self, value: float) -> str:
        """A number as the course writes it: at most three decimals, thousands apart but in Chinese."""
        shown = f"{value:,.3f}".rstrip("0").rstrip(".").replace("-", "−")
        whole, point, decimals = shown.partition(".")
        few = len(whole.lstrip("−").replace(",", "")) < 5
        space = "" if few or self.language == "zh" else "\u2009"
        return whole.replace(",", space) + point + decimals

    # ---- the question

    def question(self) -> str:
        kind = self.content["kind"]
        asked = self.paragraphs(self.content["question"])
        return asked + str(getattr(self, f"_ask_{kind}", self._ask_options)())

    def _ask_options(self) -> str:
        box = BOX if self.content["kind"] == "multiple" else ""
        return self.lettered(box + self.text(option["text"]) for option in self.content["options"])

    def _ask_number(self) -> str:
        return f'<p class="blank">{escape(self.say["your_number"])}<span class="line"></span></p>'

    def _ask_matrix(self) -> str:
        empty = BOX if self.content.get("binary") else ""
        return self.table([[empty] * len(self.content["columns"]) for _ in self.content["rows"]], "to-fill")

    def _ask_order(self) -> str:
        items = (self.text(self.content["items"][index]["text"]) for index in self.content["shuffled"])
        return self.lettered(items) + self._ask_number()

    def _ask_spot(self) -> str:
        if "picture" not in self.content:
            return self.table(self.content["values"], "values")
        marks = []
        for letter, area in zip(string.ascii_lowercase, self.content["areas"], strict=False):
            sides = zip(("left", "top", "width", "height"), area["box"], strict=True)
            place = ";".join(f"{side}:{percent}%" for side, percent in sides)
            marks.append(f'<span class="area" style="{place}"><b>{letter}</b></span>')
        named = self.lettered(self.text(area["text"]) for area in self.content["areas"])
        return f'<div class="picture">{self.content["picture"]}{"".join(marks)}</div>{named}'

    def _ask_bug(self) -> str:
        return self.code("\n".join(line["code"] for line in self.content["lines"]), numbered=True)

    def _ask_code(self) -> str:
        check = f"<p>{self.text(self.say['check_with'])} <code>{escape(self.content['call'])}</code></p>"
        return self.code(self.content["starter"]) + check

    def _ask_open(self) -> str:
        return ""

    # ---- the solution

    def solution(self) -> str:
        kind = self.content["kind"]
        answer = getattr(self, f"_answer_{kind}", self._answer_options)()
        found = answer + self.paragraphs(self.content["solution"])
        if "solution_code" in self.content:
            found += self.code(self.content["solution_code"])
        if "points" in self.content:
            points = "".join(f"<li>{BOX}{self.text(point)}</li>" for point in self.content["points"])
            found += f'<p>{escape(self.say["points"])}</p><ul class="points">{points}</ul>'
        return found

    def _answer_options(self) -> str:
        """The letters that are right, and below the solution nothing: each option's reason stands here."""
        options = self.content["options"]
        right = [string.ascii_lowercase[i] for i, option in enumerate(options) if option.get("correct")]
        return self.stated(", ".join(right)) + self.reasons(options)

    def _answer_number(self) -> str:
        said = self.stated(self.number(self.answer or 0))
        if "why" in self.content:
            said += self.paragraphs(self.content["why"])
        got = []
        for value, wrong in zip(self.wrong, self.content["wrong"], strict=True):
            if value is not None:
                heading = escape(self.pdf["if_you_got"].format(answer=self.number(value)))
                got.append(f"<li><b>{heading}</b> {self.text(wrong['why'])}</li>")
        return said + (f'<ul class="reasons">{"".join(got)}</ul>' if got else "")

    def _answer_matrix(self) -> str:
        cells = self.content["cells"]
        if self.content.get("binary"):
            shown = [["✓" if cell else "" for cell in row] for row in cells]
        else:
            shown = [[self.number(cell) for cell in row] for row in cells]
        why = self.paragraphs(self.content["why"]) if "why" in self.content else ""
        return self.table(shown, "values") + why

    def _answer_order(self) -> str:
        place = {index: string.ascii_lowercase[i] for i, index in enumerate(self.content["shuffled"])}
        letters = ", ".join(place[index] for index in range(len(self.content["items"])))
        dash = self.say["dash"]
        items = "".join(
            f"<li><b>{place[index]}</b> {self.text(item['text'])}{dash}{self.text(item['why'])}</li>"
            for index, item in enumerate(self.content["items"])
        )
        return self.stated(letters) + f'<ol class="reasons">{items}</ol>'

    def _answer_spot(self) -> str:
        if "picture" in self.content:
            return self._answer_areas()
        spot = next(spot for spot in self.content["spots"] if spot.get("correct"))
        row, column = self.content["rows"][spot["row"]], self.content["columns"][spot["column"]]
        where = f"{self.text(row)}, {self.text(column)}"
        return self.stated(where) + self.paragraphs(spot["why"])

    def _answer_areas(self) -> str:
        areas = self.content["areas"]
        right = [string.ascii_lowercase[i] for i, area in enumerate(areas) if area.get("correct")]
        return self.stated(", ".join(right)) + self.reasons(areas)

    def _answer_bug(self) -> str:
        lines = list(enumerate(self.content["lines"], 1))
        right = [number for number, line in lines if line.get("correct")]
        answer = self.stated(", ".join(f"{self.say['line']} {number}" for number in right))
        reasons = "".join(
            f'<li value="{number}" class="{_verdict(line)}">{self.text(line["why"])}</li>'
            for number, line in lines
            if line.get("why")
        )
        return answer + f'<ol class="reasons judged">{reasons}</ol>'

    def _answer_code(self) -> str:
        return ""

    def _answer_open(self) -> str:
        return ""

    # ---- forms

    def stated(self, answer: str) -> str:
        """The answer, in bold; `answer` is HTML."""
        before, after = escape(self.pdf["answer"]).split("{answer}")
        return f'<p class="answer"><b>{before}{answer}{after}</b></p>'

    def lettered(self, items: Iterable[str]) -> str:
        return '<ol type="a" class="letters">' + "".join(f"<li>{item}</li>" for item in items) + "</ol>"

    def reasons(self, options: list[dict[str, Any]]) -> str:
        """Why each option is right or wrong."""
        items = "".join(
            f'<li class="{_verdict(option)}">{self.text(option["why"])}</li>' for option in options
        )
        return f'<ol type="a" class="reasons judged">{items}</ol>'

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
        if not numbered:
            return f"<pre>{chr(10).join(lines)}</pre>"
        wide = len(str(len(lines)))
        return (
            "<pre>"
            + "\n".join(
                f'<span class="line-number">{n:>{wide}}</span>  {line}' for n, line in enumerate(lines, 1)
            )
            + "</pre>"
        )


def _verdict(option: dict[str, Any]) -> str:
    return "right" if option.get("correct") else "wrong"
