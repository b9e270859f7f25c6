"""Terms of the glossary, marked where a page first uses them; what the glossary's page says of each."""

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book import katex
from book.ext.doctree import NOT_PROSE, ancestors, is_within, replace_parts
from book.ext.page import chapters
from book.glossary import PAGE, Finder, address, cards, read
from book.scripts import compact_json

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
    parts = [
        katex.typeset(node.astext(), False, "mathml")["html"]
        if isinstance(node, nodes.math)
        else escape(node.astext().replace("\n", " "), quote=False)
        for node in line.children
    ]
    return COLON.split("".join(parts), maxsplit=1)[-1].strip()


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
        links: list[tuple[int, int, nodes.Node]] = []
        for start, end, number in find(text):
            if number in met or number not in lines:
                continue
            met.add(number)
            there = address(app.d2lmini_terms[number], lines[number][1])  # type: ignore[attr-defined]
            if served or there == here:
                continue
            name = escape(text[start:end], quote=False)
            link = f'<a class="term" data-term="{number}" href="{escape(there)}">{name}</a>'
            links.append((start, end, nodes.raw("", link, format="html")))
        if links:
            replace_parts(run, links)


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    slugs = {page: meta.get("myst_slugs", {}).values() for page, meta in app.env.metadata.items()}
    titles = {f"{page}#{anchor}": title for page, own in slugs.items() for _, anchor, title in own}
    rows, lines = app.d2lmini_terms, app.d2lmini_lines  # type: ignore[attr-defined]
    shown = compact_json(cards(app.config.d2lmini_language, rows, lines, titles))
    (Path(app.outdir) / "_static" / "terms.json").write_text(shown, encoding="utf-8")


def _section(node: nodes.Element) -> str:
    around = (part for part in ancestors(node) if isinstance(part, nodes.section))
    return next((str(section["ids"][0]) for section in around if section["ids"]), "")


def setup(app: Sphinx) -> None:
    app.connect("env-updated", _prepare)
    app.connect("doctree-resolved", mark)
    app.connect("build-finished", write)
