"""What a presentation of a chapter has beside its slides: claims of its sections, notes, and its time."""

import re
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from book import katex
from book.chapters import Cell, Notebook, claim_of, note_of, source

# Minutes. A presenter says about what the text says, as fast as people speak, and waits for a show of hands.
SPOKEN = 130  # words a minute
SHOWN = 0.75  # for what a cell computes, a figure or a formula
EXERCISE = 2.0
EXPLORER = 6.0
SECTION = 0.5  # for the heading, what it claims, and questions
HEADING = re.compile(r"#{1,2} ")
FORMULA = re.compile(r"\$\$.*?\$\$", re.DOTALL)


def _formula(_: Any, tokens: Any, index: int, *__: Any) -> str:
    answer = katex.typeset(tokens[index].content, False, "mathml")
    if "error" in answer:
        raise ValueError(f"the claim's formula ${tokens[index].content}$: {answer['error']}")
    return answer["html"]


MARKDOWN = MarkdownIt("zero").enable(["backticks", "emphasis"]).use(dollarmath_plugin)
MARKDOWN.add_render_rule("math_inline", _formula)


def html_of(claim: str) -> str:
    """Return a claim as HTML, its formulas as MathML.

    Raises:
        ValueError: a formula cannot be typeset.
    """
    return MARKDOWN.renderInline(claim)


def minutes_of(cell: Cell) -> float:
    """Return how long a cell takes when a section is presented."""
    text = source(cell)
    if cell["cell_type"] == "markdown":
        prose, formulas = FORMULA.subn(" ", text)
        return len(prose.split()) / SPOKEN + formulas * SHOWN + bool(HEADING.match(text)) * SECTION
    if "d2l.exercise(" in text:
        return EXERCISE
    if "explorer(" in text:
        return EXPLORER
    return SHOWN if cell["outputs"] else 0


def talk(notebook: Notebook, english: Notebook) -> dict[str, Any]:
    """Return what a presentation needs of a chapter.

    Args:
        notebook: the chapter; its headings' cells have claims and notes.
        english: the same in English: it takes as long in every language.

    Returns:
        ``{"minutes": 75, "sections": {id: {"claim": HTML, "note": text, "minutes": 6.5}}}``; nothing of a
        chapter without claims and notes.
    """
    sections: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if claim_of(cell) or note_of(cell):
            sections[cell["id"]] = {"claim": html_of(claim_of(cell)), "note": note_of(cell), "minutes": 0.0}
    now: dict[str, Any] = {}
    for cell in english["cells"] if sections else []:
        now = sections.get(cell["id"], now)
        if now:
            now["minutes"] += minutes_of(cell)
    for section in sections.values():
        section["minutes"] = round(2 * section["minutes"]) / 2
    total = sum(section["minutes"] for section in sections.values())
    return {"minutes": 5 * round(total / 5), "sections": sections} if sections else {}
