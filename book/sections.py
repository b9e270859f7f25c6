"""What the search knows of a page: its sections, each with its words, read from the finished HTML."""

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from book.nested import NestedParser
from d2lmini.letters import HAN
from d2lmini.notebook.content import filled

BLOCKS = {"p", "li", "td", "th", "div", "pre", "dt", "dd", "h1", "h2", "h3", "h4", "ul", "ol"}
HEADINGS = {"h1", "h2", "h3"}
SKIPPED = {"svg", "summary", ".d2l-widget", ".katex-html", ".permalink", ".visually-hidden", ".behind"}
SKIPPED |= {".sig-paren", ".way-on", ".times", ".solved", ".rule"}  # of the reference; of the first page
UNREAD = SKIPPED | {".cell_output"}  # which may hold an exercise
IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")
SPACE = re.compile(r"\s+")
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")  # signs of MathML that are heard, not seen
MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
NAMESPACE = re.compile(r' xmlns="[^"]*"')
# a line of the source ends between two Chinese letters, which no space parts
BROKEN = re.compile(rf"(?<=[{HAN}，。；：、）]) (?=[{HAN}（])")


@dataclass
class Section:
    """A heading, or a name of the reference, and what stands below it up to the next."""

    page: str
    anchor: str
    title: str = ""
    text: str = ""
    terms: list[str] = field(default_factory=list)  # set in bold: what the section introduces
    code: str = ""
    questions: list[str] = field(default_factory=list)
    answers: str = ""  # hints, replies and solutions: to be found, not to be shown


def tidy(text: str) -> str:
    return BROKEN.sub("", SPACE.sub(" ", text).strip())


def in_one_line(math: str) -> str:
    """Return a formula in MathML in one line: the root of d_k over 2 is √d_k/2."""
    return _one_line(fromstring(NAMESPACE.sub("", math))).strip()


def _one_line(formula: Element) -> str:
    parts = [_one_line(part) for part in formula]
    text = INVISIBLE.sub("", formula.text or "")
    whole = ("" if "\n" in text and not text.strip() else SPACE.sub(" ", text)) + "".join(parts)
    match formula.tag, parts:
        case "msqrt", _:
            whole = f"√{grouped(whole)}"
        case "mfrac", [above, below]:
            whole = f"{grouped(above)}/{grouped(below)}"
        case (("msub" | "munder"), [base, index]):
            whole = f"{base}_{grouped(index)}"
        case (("msup" | "mover"), [base, power]) if power not in ("⊤", "′"):
            whole = f"{base}^{grouped(power)}"
        case (("msubsup" | "munderover"), [base, index, power]):
            whole = f"{base}_{grouped(index)}^{grouped(power)}"
        case (("mtr" | "mtd" | "mspace"), _):
            whole += " "
        case "annotation", _:
            whole = ""
    return whole


def formulas_as_text(markup: str) -> str:
    """Put plain text in the place of the formulas of a piece of HTML."""
    return MATH.sub(lambda math: escape(in_one_line(math[0]), quote=False), markup)


def grouped(text: str) -> str:
    return text if re.fullmatch(r"[\w.⊤]*", text.strip()) else f"({text})"


def _words(markup: str) -> str:
    """Return a compiled text as plain words."""
    return tidy(unescape(re.sub(r"<[^>]*>", "", formulas_as_text(markup.replace("<p>", " ")))))


def exercise_words(state: dict[str, Any]) -> tuple[str, str, str]:
    """What an exercise asks, what it keeps back until it is answered, and its code."""
    kinds = ("options", "items", "areas", "lines", "spots", "wrong")
    entries = [entry for kind in kinds for entry in state.get(kind, [])]
    asked = [state["question"], *(entry.get("text", "") for entry in entries)]
    kept_back = [entry.get("why", "") for entry in entries] + state.get("hints", [])
    kept_back += [state.get("why", ""), state.get("solution", ""), *state.get("points", [])]
    code = [state.get("starter", ""), state.get("solution_code", "")]
    code += [line.get("code", "") for line in state.get("lines", [])]
    numbers = state.get("variants", [{}])[0].get("text", {})
    said, unsaid = (_words(filled(" ".join(texts), numbers)) for texts in (asked, kept_back))
    return said, unsaid, "\n".join(code)


class _Page(NestedParser[frozenset[str]]):
    """Collects the sections of a page; an element's value: the tags and `.classes` of it and around it."""

    def __init__(self, name: str, exercise: Callable[[str], dict[str, Any]]) -> None:
        super().__init__(frozenset())
        self.name, self.exercise = name, exercise
        self.sections: list[Section] = []
        self.summary = False  # of the reference only the first paragraph of each name is kept

    def enter(self, tag: str, attributes: dict[str, str]) -> frozenset[str]:
        own = {tag, *(f".{name}" for name in attributes.get("class", "").split())}
        inside = self.open[-1] | own
        if "article" not in inside or not SKIPPED.isdisjoint(self.open[-1]):
            return inside
        anchor = attributes.get("id", "")
        is_name = ".sig-object" in own and anchor.count(".") == 1  # of the reference, methods apart
        if anchor and (tag in HEADINGS or is_name):
            self.sections.append(Section(self.name, anchor))
            self.summary = True
        if self.sections:
            section = self.sections[-1]
            if attributes.get("data-widget") == "exercise":
                asked, kept_back, code = exercise_words(self.exercise(attributes["data-id"]))
                section.questions.append(asked)
                section.answers += kept_back + " "
                section.code += "\n" + code
            if tag == "strong":
                section.terms.append("")
            if tag in BLOCKS:
                self._say(" ", inside)
        return inside

    def end(self, tag: str) -> None:
        if tag in BLOCKS:
            self._say(" ", self.open[-1])
        if tag == "p" and "dd" in self.open[-1]:
            self.summary = False
        super().end(tag)

    def data(self, text: str) -> None:
        self._say(text, self.open[-1])

    def _say(self, data: str, inside: frozenset[str]) -> None:
        if not self.sections or "article" not in inside or not UNREAD.isdisjoint(inside):
            return
        section = self.sections[-1]
        if not HEADINGS.isdisjoint(inside):
            section.title += data
        elif ".sig-object" in inside:
            if ".sig-name" in inside and section.anchor.count(".") == 1 and not section.title:
                section.title = data
            elif ".sig-name" in inside or ".sig-param" in inside:
                section.code += f" {data}"
        elif "pre" in inside:
            if ".py" not in inside:
                section.code += data
        elif ".py" not in inside or self.summary:
            section.text += data
            if "strong" in inside:
                section.terms[-1] += data


def sections(name: str, page: str, exercise: Callable[[str], dict[str, Any]]) -> list[Section]:
    """The sections of a page, in its order; those without a word are left out.

    Args:
        name: of the page.
        page: its HTML.
        exercise: gives the content of an exercise by its name.
    """
    reader = _Page(name, exercise)
    reader.read(formulas_as_text(page))
    for one in reader.sections:
        one.title, one.text, one.answers = tidy(one.title), tidy(one.text), tidy(one.answers)
        one.terms = list(dict.fromkeys(term for raw in one.terms if (term := tidy(raw))))
        one.code = " ".join(
            name for name in dict.fromkeys(IDENTIFIER.findall(one.code)) if not keyword.iskeyword(name)
        )
    return [one for one in reader.sections if one.title]
