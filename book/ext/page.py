"""What the page template needs: navigation, languages, links, progress, and headings that can be linked."""

import base64
import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

from book import address, licenses, previews, review
from book.ext.assets import ICON
from book.ext.doctree import is_within
from book.scripts import FOLDER, compact_json
from d2lmini import __version__
from d2lmini.language import words
from d2lmini.letters import WIDE
from d2lmini.notebook.widgets.bundler import bundle

OFFLINE = "offline"  # the page about reading without network
CHINESE = re.compile(f"[{WIDE}]")
OWN_SECTIONS = re.compile(r"</a>(<ul>.*</ul>)\s*</li>\s*</ul>\s*$", re.DOTALL)  # without the page's title
SEAM = re.compile(r"([._])(?=\w)")  # where a long name may go on in the next line

# inside the pages, allowed by their hashes; a block, so that other scripts may use the same names
HEAD_SCRIPT, FIND_SITE_SCRIPT = (f"{{{bundle(FOLDER, f'{name}.js', {})}}}" for name in ("head", "find-site"))

# Render ahead the page of a link on which the pointer rests, and the next page when site.js marks it. Fetch
# that of other links that it marks, and of another language: its link gets the place being read when
# it is clicked.
AHEAD = compact_json(json.loads(Path(__file__).with_name("speculation_rules.json").read_text("utf-8")))


INLINE_STYLES = "style-src 'self' 'unsafe-inline'"
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def content_security_policy(*scripts: str) -> str:
    """Allow nothing from another host; scripts as files, and those in the head by their hashes."""
    allowed = " ".join(f"'{hash_of(script.encode())}'" for script in (HEAD_SCRIPT, AHEAD, *scripts))
    return (
        f"default-src 'self'; script-src 'self' {allowed}; "
        f"{INLINE_STYLES}; img-src 'self' data:; font-src 'self' data:; object-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def hash_of(data: bytes) -> str:
    """How browsers name a script, a style sheet or a file by its contents."""
    return f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"


def allow_only_these_styles(page: str) -> str:
    """A finished page with a policy that allows its own style sheets, by their hashes, and no other.

    Attributes may have styles: KaTeX and the drawings place what they show by them.
    """
    sheets = " ".join(f"'{hash_of(sheet.encode())}'" for sheet in STYLE.findall(page))
    return page.replace(INLINE_STYLES, f"style-src 'self' {sheets}; style-src-attr 'unsafe-inline'", 1)


def _is_far(section: nodes.Element) -> bool:
    """Say whether a section of the page begins below any screen, so that it may be laid out later."""
    page = section.parent
    if not isinstance(page, nodes.section) or not isinstance(page.parent, nodes.document):
        return False
    before = page.children[: page.index(section)]
    texts = [text for part in before for text in part.findall(nodes.Text)]
    letters = "".join(text for text in texts if not isinstance(text.parent, nodes.raw))  # raw: a drawing
    # 3 000 letters, or half as many of the wider Chinese ones, fill more than a tall window
    return len(letters) + len(CHINESE.findall(letters)) > 3000


class Translator(HTML5Translator):
    """Sections carry no id of their own: the heading does, so that search results and links land on it."""

    def visit_section(self, node: nodes.Element) -> None:
        self.section_level += 1
        self.body.append('<section class="far">\n' if _is_far(node) else "<section>\n")

    def depart_section(self, node: nodes.Element) -> None:
        self.section_level -= 1
        if "progress" in node["ids"]:
            label = escape(words(self.config.d2lmini_language)["site"]["progress_manage"])
            button = f'<button data-opens="progress" aria-haspopup="dialog">{label}</button>'
            self.body.append(f'<p class="buttons">{button}</p>\n')
        if "class-table" in node["ids"]:
            needs = escape(words(self.config.d2lmini_language)["site"]["teaching"]["needs"])
            self.body.append(f'<div class="class-table"><p>{needs}</p></div>\n')
        self.body.append("</section>\n")

    def visit_reference(self, node: nodes.Element) -> None:
        if self.builder.current_docname == "teaching" and is_within(node, nodes.entry):  # to slides
            node["refuri"] = node.get("refuri", "").replace(".html#", ".html?present=1#")
        super().visit_reference(node)

    def visit_title(self, node: nodes.Element) -> None:
        if not isinstance(node.parent, nodes.section):
            super().visit_title(node)
            return
        level = min(self.section_level, 6)
        anchor = escape(next(iter(node.parent["ids"]), ""), quote=True)
        label = escape(words(self.config.d2lmini_language)["site"]["permalink"])
        link = f'<a class="permalink" href="#{anchor}" aria-label="{label}"></a>'
        self.body.append(f'<h{level} id="{anchor}">')
        self.context.append(f"{link if level > 1 and anchor else ''}</h{level}>\n")

    def visit_desc(self, node: nodes.Element) -> None:
        self.body.append(self.starttag(node, "dl", LANG="en"))  # docstrings are English in every edition

    def visit_Text(self, node: nodes.Text) -> None:
        begin = len(self.body)
        super().visit_Text(node)
        # code in a narrow column breaks between its names
        if self.protect_literal_text and is_within(node, nodes.entry):
            self.body[begin:] = [SEAM.sub(r"\1<wbr>", part) for part in self.body[begin:]]

    def visit_table(self, node: nodes.Element) -> None:
        self.body.append('<div class="scroll table" data-label="table">')
        super().visit_table(node)

    def depart_table(self, node: nodes.Element) -> None:
        super().depart_table(node)
        self.body.append("</div>\n")


def _hidden_cell(self: Any, node: nodes.Element) -> None:
    site = words(self.config.d2lmini_language)["site"]
    shows_result = node.children[-1].get("nb_element") == "cell_code_output"
    prompt = site["show_code_and_result"] if shows_result else node["prompt_show"]
    self.body.append(f'<details class="hidden-code"><summary>{escape(prompt)}</summary>\n')


def _hidden_cell_end(self: Any, node: nodes.Element) -> None:
    self.body.append("</details>\n")


def chapters(env: BuildEnvironment) -> list[dict[str, Any]]:
    """Every page in the order of the table of contents, and which part of the course it begins or ends."""
    site_map = env.external_site_map  # type: ignore[attr-defined]
    listed: list[tuple[str, str, int | None]] = [(site_map.root.docname, "", None)]
    for tree_index, tree in enumerate(site_map.root.subtrees):
        part = (tree.caption or "").lower()
        listed += [(str(d), part, None if tree_index else n) for n, d in enumerate(tree.items, 1)]
    parts = review.parts(Path(env.doc2path(site_map.root.docname)))
    on_first_page = {name: told for part in parts for name, told in part["listed"].items()}
    entries = []
    for doc, part, number in listed:
        meta, name = env.metadata.get(doc, {}), doc.rpartition("/")[2]
        title = env.titles[doc].astext() if doc in env.titles else doc
        called, question = on_first_page.get(name, (title, ""))
        entries.append(
            {
                "doc": doc,
                "name": name,
                "part": part,
                "number": number,
                "title": title,
                "called": called,
                "question": question,
                "short": called.partition(" (")[0],  # for the navigation: without the term in English
                "exercises": meta.get("exercises", []),
                "minutes": meta.get("minutes", 0),
                "begins": any(name == part["pages"][0] for part in parts),
                "ends": next((part["pages"][0] for part in parts if part["pages"][-1] == name), ""),
            }
        )
    return entries


def _pages_to_write_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name all pages when something changed that pages show of others; the first has every chapter's time."""
    # sorted: a page that is read again moves to the end of the metadata
    targets = sorted(
        (name, [slug[1:] for slug in meta.get("myst_slugs", {}).values()], meta.get("formulas"))
        for name, meta in env.metadata.items()
    )
    groups = sorted((number, group) for number, (_, group) in app.d2lmini_lines.items())  # type: ignore[attr-defined]
    shown = json.dumps([[{**entry, "minutes": None} for entry in chapters(env)], targets, groups])
    if getattr(env, "d2lmini_shown", None) == shown:
        return [app.config.root_doc]
    env.d2lmini_shown = shown  # type: ignore[attr-defined]
    return list(env.found_docs)


def _report(app: Sphinx, pagename: str, title: str, place: str) -> dict[str, str]:
    """The address that begins the report of a mistake in a page, and what it says of the place."""
    language = app.config.d2lmini_language
    form = words(language)["site"]["mistake"]
    text = Path(app.env.doc2path(pagename))
    said = {
        "title": title,
        "place": place,
        "language": words(language)["language"]["name"],
        "version": __version__,
        "site": app.config.d2lmini_version,
        "text": _blob(text if text.exists() else licenses.HERE / "licenses.toml"),
    }
    fields = {name: form[name].format(**said) for name in ("title", "body")}
    link = f"{address.repository()}/issues/new?{urlencode(fields, quote_via=quote)}"
    return {"link": link, "place": place}


def _blob(path: Path) -> str:
    """How git names this state of a file: `git log --find-object` tells the commit that had it."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()[:10]


def fill(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    config, language = app.config, app.config.d2lmini_language
    site, base = words(language)["site"], (config.html_baseurl or "").rstrip("/")
    pages = [
        {**entry, "link": app.builder.get_relative_uri(pagename, entry["doc"])} for entry in chapters(app.env)
    ]
    name = pagename.rpartition("/")[2]
    listed = next((entry for entry in pages if entry["doc"] == pagename), None)
    page = listed or {"name": name, "title": context.get("title", "")}
    path = f"chapters/{language}/{name}.ipynb" if listed else ""
    there = f"{language}/{name}.html"
    welcome = pagename == config.root_doc  # its map is its contents
    contents = OWN_SECTIONS.search(context.get("toc", ""))
    context["d2l"] = {
        "tag": words(language)["language"]["tag"],
        "language": language,
        "words": site,
        "pages": pages,
        "page": page,
        "contents": contents[1] if contents and not welcome else "",
        "welcome": welcome,
        "siblings": [{"code": code, **words(code)["language"]} for code in config.d2lmini_languages],
        "base": base,
        "canonical": f"{base}/{there}" if base else "",
        "preview": previews.address(base, language, name),
        "policy": content_security_policy(),
        "head_script": HEAD_SCRIPT,
        "ahead": AHEAD,
        "icon": ICON,
        "description": app.env.metadata.get(pagename, {}).get("description") or site["tagline"],
        "path": path,
        "stamped": f"{stamped}/{path}" if path and (stamped := address.stamped()) else "",
        "report": _report(app, pagename, page["title"], f"{base}/{there}".lstrip("/")),
        "repository": address.repository(),
        "pdf": config.d2lmini_pdf,
        "version": config.d2lmini_version,
    }


def _other_pages(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """The pages that are made of no notebook."""
    language = app.config.d2lmini_language
    site = words(language)["site"]
    asked = review.shown(Path(app.env.doc2path(app.config.root_doc)), chapters(app.env))
    made: list[tuple[str, str, Any]] = [
        (licenses.PAGE, site["licenses"], licenses.shown(language)),
        (review.PAGE, site["review"]["title"], asked),
        (OFFLINE, site["offline"]["title"], []),
    ]
    return [(name, {"title": escape(title), "parts": parts}, f"{name}.html") for name, title, parts in made]


def setup(app: Sphinx) -> None:
    from myst_nb.sphinx_ import HideCodeCellNode

    app.set_translator("html", Translator)
    app.add_node(HideCodeCellNode, override=True, html=(_hidden_cell, _hidden_cell_end))
    app.connect("env-updated", _pages_to_write_again)
    app.connect("html-collect-pages", _other_pages)
    app.connect("html-page-context", fill)
