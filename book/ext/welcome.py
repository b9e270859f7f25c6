"""What the first page has beyond its notebook: an explorer drawn already, the way on, the map of chapters."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from book import review
from book.chapters import Notebook, source as text_of
from book.ext.page import chapters
from book.templates import template
from d2lmini.language import words

# How long a page takes: a minute for so many words or lines of code, so many minutes for an exercise.
WORDS, LINES, EXERCISE = 100, 4, 3
# Ways through the course, each as far as its pages exist; "everything" is all of them.
PATHS = {
    "afternoon": "self-attention multi-head-attention positional-encoding transformer-block",
    "language_models": "self-attention multi-head-attention writing positional-encoding relative-positions "
    "transformer-block language-model subwords induction since-2017",
    "everything": "",
}
NOT_WORDS = re.compile(r"```.*?```|\]\([^)]*\)", re.DOTALL)
WORD = re.compile(r"\$[^$]+\$|[\w’'-]+")  # a formula counts as one

PICTURES = Path(__file__).parents[1] / "theme" / "welcome"


def first_view(kind: str, language: str) -> str:
    """Return the markup of an explorer as it is drawn first, which `course.py previews` stores, if any."""
    file = PICTURES / f"{kind}.{language}.html"
    return file.read_text(encoding="utf-8").strip() if file.exists() else ""


def reading_minutes(notebook: Notebook, printed: list[str]) -> float:
    """The time for the text of a page and for the code that it prints."""
    prose = [text_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    count = sum(len(WORD.findall(NOT_WORDS.sub(" ", text))) for text in prose)
    lines = [line.strip() for code in printed for line in code.splitlines()]
    return count / WORDS + sum(bool(line) and not line.startswith("#") for line in lines) / LINES


def rounded(minutes: float) -> int:
    """Minutes as one says them: in fives."""
    return max(5, 5 * round(minutes / 5))


def hours(minutes: float) -> str:
    """Hours as one says them: in halves."""
    return f"{max(1, round(minutes / 30)) / 2:g}"


def paths(stations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the ways through these chapters, each with its hours."""
    ways = []
    for key, names in PATHS.items():
        own = [station for station in stations if station["name"] in names.split() or not names]
        practice = EXERCISE * sum(len(station["exercises"]) for station in own)
        reading = sum(station["minutes"] for station in own)
        ways.append({"key": key, "stations": own, "reading": hours(reading), "practice": hours(practice)})
    return ways


def draw_map(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make a map of the list of chapters on the first page, and put a link to the first one before it."""
    section = next((s for s in doctree.findall(nodes.section) if "chapters" in s["ids"]), None)
    if docname != app.config.root_doc or section is None:
        return
    linked = [
        {**entry, "link": app.builder.get_relative_uri(docname, entry["doc"])}
        for entry in chapters(app.env)
        if entry["number"]
    ]
    by_name = {entry["name"]: entry for entry in linked}
    parts = review.parts(Path(app.env.doc2path(docname)))
    if [name for part in parts for name in part["pages"]] != list(by_name):
        raise ExtensionError(
            f"{docname}#chapters: list the chapters of _toc.yml in their order: {', '.join(by_name)}"
        )
    drawn: Any = template("theme/welcome/map.html").make_module(
        {
            "chapters": linked,
            "lanes": [{**part, "stations": [by_name[name] for name in part["pages"]]} for part in parts],
            "paths": paths(linked),
            "practice": lambda chapter: rounded(EXERCISE * len(chapter["exercises"])),
            "rounded": rounded,
            "rule": {"words": WORDS, "lines": LINES, "exercise": EXERCISE},
            "site": words(app.config.d2lmini_language)["site"],
        }
    )
    for listed in section[1:]:
        if isinstance(listed, nodes.paragraph | nodes.enumerated_list):
            section.remove(listed)
    section.append(nodes.raw("", drawn.map(), format="html"))
    section.parent.insert(section.parent.index(section), nodes.raw("", drawn.way_on(), format="html"))


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", draw_map)
