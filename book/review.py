"""Five questions on each part of the course, before and after it: the page `review`, made of no notebook."""

import re
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from book.chapters import read, source
from book.contents import BuildError
from d2lmini.language import LANGUAGES
from d2lmini.notebook.content import exercise_content

PAGE = "review"
FIVE = 5
# what the page itself can judge; a guess is left out, as it belongs to the experiment that follows it
KINDS = {"number", "choice", "multiple", "matrix", "order", "bug", "spot"}
NEEDS_PAGE = re.compile(r"\b(?:above|below)\b")
FORMULA = re.compile(r"\(\d+\.\d+\)")  # by its number: a question that names one comes late
LISTED = re.compile(r"\[([^\]]*)\]\(([\w-]+)\.ipynb\)[:： ]*(.*)")


def parts(index: Path) -> list[dict[str, Any]]:
    """Return the parts of the course as its first page lists them.

    Returns:
        Of each its title, its pages, and of each of these what it is called and its question.

    Raises:
        BuildError: an entry of the list links to no chapter.
    """
    cells = (source(cell) for cell in read(index)["cells"] if cell["id"] == "chapters")
    listing: list[dict[str, Any]] = [{"title": "", "pages": [], "listed": {}}]
    for line in next(cells, "").splitlines()[1:]:
        number, _, entry = line.partition(". ")
        if listed := LISTED.match(entry):
            called, name, question = listed.groups()
            listing[-1]["pages"].append(name)
            listing[-1]["listed"][name] = (called, re.sub("[*`$]", "", question[:1].upper() + question[1:]))
        elif entry and number.isdecimal():
            raise BuildError(f"index#chapters: {entry!r} links to no chapter")
        elif line:
            listing.append({"title": line.rstrip(":："), "pages": [], "listed": {}})
    return [part for part in listing if part["pages"]]


def questions(exercises: list[str]) -> list[str]:
    """Return those of a chapter's exercises that can stand alone, by turns with fresh numbers and without."""
    asked = [exercise_content(name, LANGUAGES[0]) for name in exercises]
    asked = [one for one in asked if one["kind"] in KINDS and not NEEDS_PAGE.search(one["question"])]
    asked.sort(key=lambda one: bool(FORMULA.search(one["question"])))
    fresh = [one["id"] for one in asked if "variants" in one]
    fixed = [one["id"] for one in asked if "variants" not in one]
    return [name for name in chain.from_iterable(zip_longest(fresh, fixed)) if name]


def shown(index: Path, chapters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts with their chapters and questions; the five come from as many chapters as can be."""
    by_name = {chapter["name"]: chapter for chapter in chapters}
    shown_parts = []
    for part in parts(index):
        own = [by_name[name] for name in part["pages"] if name in by_name]
        turns = zip_longest(*(questions(chapter["exercises"]) for chapter in own))
        asked = [name for name in chain.from_iterable(turns) if name]
        shown_parts.append({**part, "chapters": own, "questions": asked, "five": asked[:FIVE]})
    return shown_parts
