"""What the search knows of a page: its sections, each with its words, read from the finished HTML."""

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lxml.etree import HTML, HTMLParser

from d2lmini.letters import HAN
from d2lmini.notebook.content import filled

BLOCKS = {"p", "li", "td", "th", "div", "pre", "dt", "dd", "h1", "h2", "h3", "h4", "ul", "ol"}
HEADINGS = {"h1", "h2", "h3"}
SKIPPED = {"svg", "summary", ".d2l-widget", ".katex-html", ".permalink", ".visually-hidden", ".behind"}
SKIPPED |= {".sig-paren", ".way-on", ".times", ".solved", ".rule"}  # of the reference; of the first page
IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")
SPACE = re.compile(r"\s+")
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")  # signs of MathML that are heard, not seen
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


def in_one_line(markup: str) -> str:
    """Return a formula in MathML, or a text with such formulas, in one line: d_k below a root is √d_k."""
    return _one_line(HTML(f"<body>{markup}</body>")).strip()


def _one_line(element: Any) -> str:
    parts = [_one_line(part) + (part.tail or "") for part in element]
    text = INVISIBLE.sub("", element.text or "")
    whole = ("" if "\n" in text and not text.strip() else SPACE.sub(" ", text)) + "".join(parts)
    match element.tag, parts:
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
        case "p", _:
            whole = f" {whole}"
        case "annotation", _:
            whole = ""
    return whole


def grouped(text: str) -> str:
    return text if re.fullmatch(r"[\w.⊤]*", text.strip()) else f"({text})"


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
    said, unsaid = (tidy(in_one_line(filled(" ".join(texts), numbers))) for texts in (asked, kept_back))
    return said, unsaid, "\n".join(code)


class _Page:
    """Collects the sections of a page."""

    def __init__(self, name: str, exercise: Callable[[str], dict[str, Any]]) -> None:
        self.name, self.exercise = name, exercise
        self.sections: list[Section] = []
        self.summary = False  # of the reference only the first paragraph of each name is kept

    def read(self, element: Any, around: frozenset[str] = frozenset()) -> None:
        """Read an element; `around` has the tags and `.classes` of those around it."""
        own = {element.tag, *(f".{name}" for name in element.get("class", "").split())}
        inside, anchor = around | own, element.get("id", "")
        is_name = ".sig-object" in own and anchor.count(".") == 1  # of the reference, methods apart
        if anchor and (element.tag in HEADINGS or is_name):
            self.sections.append(Section(self.name, anchor))
            self.summary = True
        if element.get("data-widget") == "exercise" and self.sections:
            asked, kept_back, code = exercise_words(self.exercise(element.get("data-id")))
            self.sections[-1].questions.append(asked)
            self.sections[-1].answers += kept_back + " "
            self.sections[-1].code += "\n" + code
        if element.tag == "math":
            self._say(_one_line(element).strip(), inside)
        elif SKIPPED.isdisjoint(own):
            if element.tag == "strong" and self.sections:
                self.sections[-1].terms.append("")
            space = " " if element.tag in BLOCKS else ""
            self._say(space + (element.text or ""), inside)
            for part in element:
                self.read(part, inside)
                self._say(part.tail or "", inside)
            self._say(space, inside)
            if element.tag == "p" and "dd" in around:
                self.summary = False

    def _say(self, data: str, inside: frozenset[str]) -> None:
        if not self.sections or ".cell_output" in inside:  # which may hold an exercise
            return
        section = self.sections[-1]
        if not HEADINGS.isdisjoint(inside):
            section.title += data
        elif ".sig-object" in inside:
            if ".sig-name" in inside and section.anchor.count(".") == 1 and not section.title:
                section.title = data
            elif ".sig-name" in inside or "em" in inside:  # a parameter
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
    reader.read(HTML(page, HTMLParser(huge_tree=True, remove_comments=True)).find(".//article"))
    for one in reader.sections:
        one.title, one.text, one.answers = tidy(one.title), tidy(one.text), tidy(one.answers)
        one.terms = list(dict.fromkeys(term for raw in one.terms if (term := tidy(raw))))
        one.code = " ".join(
            name for name in dict.fromkeys(IDENTIFIER.findall(one.code)) if not keyword.iskeyword(name)
        )
    return [one for one in reader.sections if one.title]
