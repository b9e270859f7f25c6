"""Cell ids as section anchors, numbered formulas as link targets, and notes on sections that are behind."""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from book.ext.doctree import NOT_PROSE, is_within, replace_parts
from d2lmini.language import words
from d2lmini.letters import WIDE

TAG = re.compile(r"\\tag\{([^}]+)\}")
CHINESE = re.compile(f"[{WIDE}“”‘’…—]")
MENTION = re.compile(r"[(（](\d+\.\d+)[)）]")


def cell_of(line: int | None, cell_ids: list[str]) -> str | None:
    """The id of the cell that a source line is from; myst-nb counts (cell index + 1) * 10000 + line."""
    index = (line or 0) // 10000 - 1
    return cell_ids[index] if 0 <= index < len(cell_ids) else None


class NameSections(SphinxTransform):
    """Give the first section of each cell the cell's id, so that an anchor is the same in every language."""

    default_priority = 300

    def apply(self, **kwargs: Any) -> None:
        meta = self.env.metadata[self.env.docname]
        cell_ids = meta.get("cell_ids", [])
        slugs: dict[str, Any] = {}
        for section in self.document.findall(nodes.section):
            cell_id = cell_of(section.line, cell_ids)
            if cell_id is None or cell_id in slugs:
                continue
            section["ids"] = [cell_id]
            self.document.ids[cell_id] = section
            slugs[cell_id] = (section.line, cell_id, section[0].astext())
        # where MyST looks for the targets of #cell-id and other.ipynb#cell-id; as names of the whole project
        # they would collide, for each chapter has its `exercises`
        self.document.myst_slugs = slugs
        meta["myst_slugs"] = slugs
        self._mark_behind(meta.get("behind", []), cell_ids, slugs)

    def _mark_behind(self, behind: list[str], cell_ids: list[str], slugs: dict[str, Any]) -> None:
        """Put a note at the head of each section of which some cell is older than its English source."""
        position = {cell_id: index for index, cell_id in enumerate(cell_ids)}
        marked = set()
        for cell_id in behind:
            before = [head for head in slugs if position[head] <= position[cell_id]]
            marked.update(before[-1:])  # sections lie in the order of their cells
        page, site = self.env.docname, words(self.config.d2lmini_language)["site"]
        for anchor in marked:
            there = f'<a href="../en/{page}.html#{anchor}" hreflang="en">{escape(site["behind_link"])}</a>'
            note = f'<p class="behind">{escape(site["behind"])} {there}</p>\n'
            self.document.ids[anchor].insert(1, nodes.raw("", note, format="html"))


def join_chinese_lines(app: Sphinx, doctree: nodes.document) -> None:
    """A line break in the source between Chinese characters is not a space."""
    if app.config.d2lmini_language != "zh":
        return
    line_breaks = [text for text in doctree.findall(nodes.Text) if text == "\n"]  # MyST's own node
    for line_break in line_breaks:
        siblings = line_break.parent
        place = siblings.index(line_break)
        before, after = (siblings[near].astext() for near in (place - 1, place + 1))
        if CHINESE.fullmatch(before[-1:]) or CHINESE.fullmatch(after[:1]):
            siblings.remove(line_break)


def number_formulas(app: Sphinx, doctree: nodes.document) -> None:
    r"""Note the `\tag{…}` of each formula, for `(1.2)` in the prose of any page."""
    tags: list[str] = []
    app.env.metadata[app.env.docname]["formulas"] = tags
    for formula in doctree.findall(nodes.math_block):
        if tag := TAG.search(formula.astext()):
            formula["anchor"] = f"eq-{tag[1]}"
            tags.append(tag[1])


def link_mentions(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn `(1.2)` in prose into a link to the formula of that number, where there is one."""
    pages = {tag: page for page, meta in app.env.metadata.items() for tag in meta.get("formulas", [])}
    for text in list(doctree.findall(nodes.Text)):
        links: list[tuple[int, int, nodes.Node]] = []
        for mention in MENTION.finditer(text):
            there = pages.get(mention[1])
            if there and not is_within(text, *NOT_PROSE, nodes.reference):
                page = "" if there == docname else app.builder.get_relative_uri(docname, there)
                address = f"{page}#eq-{mention[1]}"
                link = nodes.reference("", mention[0], refuri=address, internal=True)
                links.append((*mention.span(), link))
        if links:
            replace_parts([text], links)


def setup(app: Sphinx) -> None:
    app.add_transform(NameSections)
    app.connect("doctree-read", join_chinese_lines)
    app.connect("doctree-read", number_formulas)
    app.connect("doctree-resolved", link_mentions)
