"""What the search knows of a page: its sections, each with its words, read from the finished HTML."""

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape, unescape
from html.parser import HTMLParser
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from d2lmini.letters import HAN
from d2lmini.notebook.content import filled

# elements without an end
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
BLOCKS = {"p", "li", "td", "th", "div", "pre", "dt", "dd", "h1", "h2", "h3", "h4", "ul", "ol"}
SKIPPED = {"katex-html", "permalink", "visually-hidden", "behind", "sig-paren"}
SKIPPED |= {"way-on", "times", "solved", "rule"}  # of the first page
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


def one_line(formula: Element) -> str:
    """Return a formula in MathML in one line: the root of d_k over 2 is √d_k/2."""
    parts = [one_line(part) for part in formula]
    text = INVISIBLE.sub("", formula.text or "")
    whole = ("" if "\n" in text and not text.strip() else SPACE.sub(" ", text)) + "".join(parts)
    match formula.tag, parts:
        case "msqrt", _:
            whole = f"√{grouped(whole)}"
        case "mfrac", [above, below]:
            whole = f"{grouped(above)}/{grouped(below)}"
        case (("msub" | "munder"), [base, index]):
            whole = f"{base}_{index}"
        case (("msup" | "mover"), [base, power]) if power not in ("⊤", "′"):
            whole = f"{base}^{grouped(power)}"
        case (("msubsup" | "munderover"), [base, index, power]):
            whole = f"{base}_{index}^{power}"
        case (("mtr" | "mtd" | "mspace"), _):
            whole += " "
        case "annotation", _:
            whole = ""
    return whole


def formulas_as_text(markup: str) -> str:
    """Put plain text in the place of the formulas of a piece of HTML."""

    def as_text(math: re.Match[str]) -> str:
        return escape(one_line(fromstring(NAMESPACE.sub("", math[0]))), quote=False)

    return MATH.sub(as_text, markup)


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


class _Page(HTMLParser):
    def __init__(self, name: str, exercise: Callable[[str], dict[str, Any]]) -> None:
        super().__init__()
        self.name, self.exercise = name, exercise
        self.sections: list[Section] = []
        self.inside = False
        self.stack: list[tuple[str, set[str]]] = []
        self.skip = 0  # depth of the element that is passed over
        self.bold = 0
        self.summary = False  # of the reference only the first paragraph of each name is kept

    @property
    def now(self) -> Section:
        return self.sections[-1]

    def _within(self, *kinds: str) -> bool:
        """Say whether what is read lies in such an element: `h1` a tag, `.sig-name` a class."""
        return any(
            tag in kinds or any(f".{name}" in kinds for name in classes) for tag, classes in self.stack
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "article":
            self.inside = True
        if not self.inside or tag in VOID:
            return
        classes = set(given.get("class", "").split())
        self.stack.append((tag, classes))
        if self.skip:
            return
        anchor = given.get("id", "")
        name = (
            "sig-object" in classes and anchor.count(".") == 1
        )  # of the reference; methods go with their class
        if anchor and (tag in ("h1", "h2", "h3") or name):
            self.sections.append(Section(self.name, anchor))
            self.summary = True
        if classes & SKIPPED or tag in ("svg", "summary"):
            self.skip = len(self.stack)
        elif "d2l-widget" in classes:
            self._widget(given)
            self.skip = len(self.stack)
        if tag == "strong" and self.sections:
            self.bold += 1
            self.now.terms.append("")
        if tag in BLOCKS:
            self._say(" ")

    def handle_endtag(self, tag: str) -> None:
        if not self.inside or tag in VOID:
            return
        if tag == "article":
            self.inside = False
            return
        if self.skip:
            if self.skip == len(self.stack):
                self.skip = 0
        else:
            if tag == "strong" and self.bold:
                self.bold -= 1
            if tag in BLOCKS:
                self._say(" ")
            if tag == "p" and self._within("dd"):
                self.summary = False
        if self.stack:
            self.stack.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside or self.skip or not self.sections:
            return
        self._say(data)

    def _say(self, data: str) -> None:
        if not self.sections:
            return
        if self._within(".cell_output"):
            return
        if self._within("h1", "h2", "h3"):
            self.now.title += data
        elif self._within(".sig-object"):
            if self._within(".sig-name") and self.now.anchor.count(".") == 1 and not self.now.title:
                self.now.title = data
            elif self._within(".sig-name", ".sig-param"):
                self.now.code += f" {data}"
        elif self._within("pre"):
            if not self._within(".py"):
                self.now.code += data
        elif self._within(".py") and not self.summary:
            pass
        else:
            self.now.text += data
            if self.bold:
                self.now.terms[-1] += data

    def _widget(self, given: dict[str, str]) -> None:
        if given.get("data-widget") == "exercise" and self.sections:
            asked, kept, code = exercise_words(self.exercise(given["data-id"]))
            self.now.questions.append(asked)
            self.now.answers += kept + " "
            self.now.code += "\n" + code


def sections(name: str, page: str, exercise: Callable[[str], dict[str, Any]]) -> list[Section]:
    """The sections of a page, in its order; those without a word are left out.

    Args:
        name: of the page.
        page: its HTML.
        exercise: gives the content of an exercise by its name.
    """
    reader = _Page(name, exercise)
    reader.feed(formulas_as_text(page))
    for one in reader.sections:
        one.title, one.text, one.answers = tidy(one.title), tidy(one.text), tidy(one.answers)
        one.terms = list(dict.fromkeys(term for raw in one.terms if (term := tidy(raw))))
        one.code = " ".join(
            name for name in dict.fromkeys(IDENTIFIER.findall(one.code)) if not keyword.iskeyword(name)
        )
    return [one for one in reader.sections if one.title]
