"""Terms of the glossary, marked where a page first uses them; what the glossary's page says of each."""

import json
import re
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book import katex
from book.ext.doctree import NOT_PROSE, ancestors, is_within
from book.ext.page import chapters
from book.glossary import FILE, PAGE, Finder, address, read

COLON = re.compile(r"[:：]\s*")


def _lines(app: Sphinx, rows: list[dict[str, str]]) -> dict[int, tuple[str, str]]:
    """Return what the glossary's page says of each row that it has a line on, and the anchor of its group."""
    if PAGE not in app.env.found_docs or not rows:
        return {}
    numbers = {row[app.config.d2lmini_language]: number for number, row in enumerate(rows)}
    lines = {}
    for entry in app.env.get_doctree(PAGE).findall(nodes.list_item):
        name = next(entry[0].findall(nodes.strong), None)
        if name is not None and (number := numbers.get(name.astext())) is not None:
            lines[number] = (_meaning(entry[0]), _section(entry))
    return lines


def _meaning(line: nodes.Element) -> str:
    """What a line of the glossary's page says behind its colon, as HTML."""
    parts, begun = [], False
    for node in line.children:
        text = node.astext()
        if not begun:
            _, *rest = COLON.split(text, maxsplit=1)
            begun = bool(rest)
            text = "".join(rest)
        if isinstance(node, nodes.math):
            parts.append(katex.typeset(text, False, "mathml")["html"])
        else:
            parts.append(escape(text.replace("\n", " "), quote=False))
    return "".join(parts).strip()


def _prepare(app: Sphinx, env: Any) -> list[str]:
    """Once all pages are read: what to look for."""
    app.d2lmini_terms = rows = read(Path(app.srcdir).parents[1])  # type: ignore[attr-defined]
    app.d2lmini_lines = _lines(app, rows)  # type: ignore[attr-defined]
    app.d2lmini_finder = Finder(rows, app.config.d2lmini_language)  # type: ignore[attr-defined]
    return []


def _texts(page: nodes.document) -> Iterator[tuple[nodes.Element, list[nodes.Text]]]:
    """The texts of a page in their order: those side by side at once: a line break is a node of its own."""
    for parent in list(page.findall(nodes.TextElement)):
        for is_text, run in groupby(parent.children, lambda node: isinstance(node, nodes.Text)):
            if is_text:
                yield parent, list(run)


def mark(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if not any(entry["doc"] == docname and entry["number"] for entry in chapters(app.env)):
        return
    lines, find = app.d2lmini_lines, app.d2lmini_finder  # type: ignore[attr-defined]
    met: set[int] = set()
    for parent, run in _texts(doctree):
        if is_within(parent, *NOT_PROSE, nodes.table, nodes.emphasis):
            continue  # emphasis: words in another language, titles of works
        here = f"{docname}.html#{_section(parent)}"
        # bold is what is explained here, and a link leads there already
        served = is_within(parent, nodes.strong, nodes.reference)
        text = "".join(run)
        pieces: list[nodes.Node] = []
        done = 0
        for start, end, number in find(text):
            if number in met or number not in lines:
                continue
            met.add(number)
            there = address(app.d2lmini_terms[number], lines[number][1])  # type: ignore[attr-defined]
            if served or there == here:
                continue
            pieces.append(nodes.Text(text[done:start]))
            name = escape(text[start:end], quote=False)
            link = f'<a class="term" data-term="{number}" href="{escape(there)}">{name}</a>'
            pieces.append(nodes.raw("", link, format="html"))
            done = end
        if pieces:
            place = parent.index(run[0])
            parent[place : place + len(run)] = [*pieces, nodes.Text(text[done:])]


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    lines = app.d2lmini_lines  # type: ignore[attr-defined]
    (Path(app.outdir) / "_static" / FILE).write_text(json.dumps(lines), encoding="utf-8")


def _section(node: nodes.Element) -> str:
    around = (part for part in ancestors(node) if isinstance(part, nodes.section))
    return next((str(section["ids"][0]) for section in around if section["ids"]), "")


def setup(app: Sphinx) -> None:
    app.connect("env-updated", _prepare)
    app.connect("doctree-resolved", mark)
    app.connect("build-finished", write)
