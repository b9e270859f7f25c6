"""Cell ids as section anchors, numbered formulas as link targets, and notes on sections that are behind."""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from book.ext.doctree import NOT_PROSE, is_within
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


class JoinChineseLines(SphinxTransform):
    """A line break in the source between Chinese characters is not a space."""

    default_priority = 320

    def apply(self, **kwargs: Any) -> None:
        if self.config.d2lmini_language != "zh":
            return
        line_breaks = [text for text in self.document.findall(nodes.Text) if text == "\n"]  # MyST's own node
        for line_break in line_breaks:
            siblings = line_break.parent.children
            place = siblings.index(line_break)
            around = [
                node.astext() for node in siblings[max(place - 1, 0) : place + 2] if node is not line_break
            ]
            if CHINESE.fullmatch(around[0][-1:]) or CHINESE.fullmatch(around[-1][:1]):
                line_break.parent.remove(line_break)


class NumberFormulas(SphinxTransform):
    r"""Note the `\tag{…}` of each formula, for `(1.2)` in the prose of any page."""

    default_priority = 310

    def apply(self, **kwargs: Any) -> None:
        tags: list[str] = []
        self.env.metadata[self.env.docname]["formulas"] = tags
        for formula in self.document.findall(nodes.math_block):
            if tag := TAG.search(formula.astext()):
                formula["anchor"] = f"eq-{tag[1]}"
                tags.append(tag[1])


def link_mentions(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn `(1.2)` in prose into a link to the formula of that number, where there is one."""
    pages = {tag: page for page, meta in app.env.metadata.items() for tag in meta.get("formulas", [])}
    for text in list(doctree.findall(nodes.Text)):
        if is_within(text, *NOT_PROSE, nodes.reference):
            continue
        pieces: list[nodes.Node] = []
        start = 0
        for mention in MENTION.finditer(text):
            if mention[1] not in pages:
                continue
            pieces.append(nodes.Text(text[start : mention.start()]))
            there = pages[mention[1]]
            page = "" if there == docname else app.builder.get_relative_uri(docname, there)
            pieces.append(nodes.reference("", mention[0], refuri=f"{page}#eq-{mention[1]}", internal=True))
            start = mention.end()
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text[start:])])


def setup(app: Sphinx) -> None:
    app.add_transform(NameSections)
    app.add_transform(JoinChineseLines)
    app.add_transform(NumberFormulas)
    app.connect("doctree-resolved", link_mentions)
