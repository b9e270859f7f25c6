"""The scripts of the pages: one file each, with its words, styles and markup inside; presenters' notes."""

import json
import re
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from book.templates import render
from d2lmini.language import words
from d2lmini.notebook.widgets.bundler import bundle

FOLDER = Path(__file__).parent / "theme" / "scripts"
WIDGETS = Path(__file__).parents[1] / "d2lmini" / "notebook" / "widgets"
MINISEARCH = Path(__file__).parent / "vendor" / "minisearch" / "minisearch.js"
# script → the tables of the site's words that it says; every page has the first, the others come when needed
NAMES = {
    "site": ("script",),
    "drag": ("drag",),
    "figure": ("figure",),
    "offline": ("offline.script",),
    "offline-page": ("offline.script",),
    "progress": ("dialogs.progress", "script"),
    "review": ("review.script",),
    "search": ("dialogs.search",),
    "slides": ("slides",),
    "teaching": ("teaching.script", "script"),
    "terms": ("terms",),
    "widgets": ("script",),
}
SHARED = ("copy", "dom", "spread", "text")  # modules of the widgets that the pages use, too


def said(name: str, language: str) -> dict[str, Any]:
    """Return the words of a script."""
    site = words(language)["site"]
    tables = [reduce(getitem, path.split("."), site) for path in NAMES[name]]
    return {key: text for table in tables for key, text in table.items()}


@cache
def script(name: str, language: str) -> str:
    """Return a script in a language, as `_static/NAME.js`.

    Args:
        name: a key of `NAMES`.
        language: one of `LANGUAGES`.
    """
    table = words(language)
    virtual = {f"course:{part}": (WIDGETS / f"{part}.js").read_text(encoding="utf-8") for part in SHARED}
    virtual |= {
        "course:words": f"export default {compact_json(said(name, language))};\n"
        f"export const language = {compact_json({'tag': table['language']['tag']})};",
        "course:markup": f"export default {compact_json(_markup(name, table['site']))};",
        "course:minisearch": MINISEARCH.read_text(encoding="utf-8").replace(
            "export { MiniSearch as default };", "export default MiniSearch;"
        ),
    }
    text = bundle(FOLDER, f"{name}.js", virtual)
    if "MiniSearch" in text:
        return f"// MiniSearch 7.2.0, (c) 2022 Luca Ongaro, MIT License: see licenses.html\n{text}"
    return text


def _markup(name: str, site: dict[str, Any]) -> str:
    """Return the dialog of a script, if it has one."""
    if not (FOLDER / f"{name}.html").exists():
        return ""
    return re.sub(r"\n\s*", "", render(f"theme/scripts/{name}.html", words=site))


def compact_json(value: Any) -> str:
    """Return JSON as browsers fetch it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def notes(metadata: dict[str, dict[str, Any]]) -> str:
    """Return what a presentation needs beside the pages, as `_static/notes.json`: page → its talk."""
    talks = {page: meta["talk"] for page, meta in metadata.items() if meta.get("talk")}
    return json.dumps(talks, ensure_ascii=False, sort_keys=True)
