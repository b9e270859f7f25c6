"""What the first page has beyond its notebook: an explorer drawn already, the way on, the map of chapters."""

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from book.chapters import Notebook, source as text_of
from d2lmini.language import words

# How long a page takes: a minute for so many words or lines of code, so many minutes for an exercise.
WORDS, LINES, EXERCISE = 125, 10, 2
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


def _station(item: nodes.Element, entry: dict[str, Any], link: str, site: dict[str, Any]) -> str:
    """A chapter on the map: its name and question as the notebook lists them, its time, what is solved."""
    name = next(iter(item.findall(nodes.reference))).astext()
    question = item.astext().partition(name)[2].lstrip(":： \n")
    question = question[:1].upper() + question[1:]
    total = len(entry["exercises"])
    times = site["welcome"]["times"].format(
        reading=rounded(entry["minutes"]), practice=rounded(total * EXERCISE)
    )
    spoken = site["script"]["answered"].format(done=0, total=total)
    return (
        f'<li class="station" data-progress="{entry["name"]}"><a href="{link}"><b>{entry["number"]}</b> '
        f"<strong>{escape(name)}</strong></a><p>{escape(question)}</p>"
        f'<p class="times">{escape(times)}</p>'
        f'<p class="solved"><span class="count" aria-hidden="true">0 / {total}</span>'
        f'<span class="visually-hidden">{escape(spoken)}</span>'
        f'<progress value="0" max="{total}" aria-hidden="true"></progress></p></li>\n'
    )


def draw_map(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make a map of the list of chapters on the first page, and put a link to the first one before it."""
    from book.ext.page import chapters

    section = next((s for s in doctree.findall(nodes.section) if "chapters" in s["ids"]), None)
    if docname != app.config.root_doc or section is None:
        return
    site = words(app.config.d2lmini_language)["site"]
    entries = {
        app.builder.get_relative_uri(docname, entry["doc"]): entry
        for entry in chapters(app.env)
        if entry["number"]
    }
    lanes, listed = [], []
    title = ""
    for node in list(section.children):
        if isinstance(node, nodes.paragraph):
            title = f'<p class="lane-title">{escape(node.astext().rstrip(":："))}</p>'
        elif isinstance(node, nodes.enumerated_list):
            stations = []
            for item in node:
                link = next((found["refuri"] for found in item.findall(nodes.reference)), "")
                if link not in entries:
                    raise ExtensionError(f"{docname}#chapters: {item.astext()!r} links to no chapter")
                listed.append(entries[link])
                stations.append(_station(item, entries[link], link, site))
            start = listed[-len(stations)]["number"]
            lanes.append(
                f'<div class="lane">{title}<ol role="list" start="{start}">{"".join(stations)}</ol></div>\n'
            )
        else:
            continue
        section.remove(node)
    if listed != list(entries.values()):
        named = ", ".join(entry["name"] for entry in entries.values())
        raise ExtensionError(f"{docname}#chapters: list the chapters of _toc.yml in their order: {named}")
    rule = site["welcome"]["rule"].format(words=WORDS, lines=LINES, exercise=EXERCISE)
    drawn = f'<div class="map"><div class="lanes">{"".join(lanes)}</div></div>\n'
    section.append(nodes.raw("", f'{drawn}<p class="rule">{escape(rule)}</p>\n', format="html"))
    section.parent.insert(section.parent.index(section), nodes.raw("", _way_on(listed, site), format="html"))


def _way_on(listed: list[dict[str, Any]], site: dict[str, Any]) -> str:
    total = site["welcome"]["total"].format(
        chapters=len(listed),
        hours=max(1, round(sum(entry["minutes"] for entry in listed) / 60)),
        exercises=sum(len(entry["exercises"]) for entry in listed),
    )
    start, go_on = escape(site["welcome"]["start"]), escape(site["welcome"]["go_on"])
    return (
        f'<p class="way-on" id="site-way-on">'
        f'<a href="{listed[0]["name"]}.html" data-go-on="{go_on}">{start}</a> '
        f"<span>{escape(total)}</span></p>\n"
    )


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", draw_map)
