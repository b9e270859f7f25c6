"""The script that shows a page as slides, fetched when a reader asks for it: words and styles lie inside."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from d2lmini.language import words
from d2lmini.notebook.widgets.bundler import bundle

FOLDER = Path(__file__).parent / "theme" / "slides"
DOM = Path(__file__).parents[1] / "d2lmini" / "notebook" / "widgets" / "dom.js"


@cache
def script(language: str) -> str:
    """Return the module in a language, as `_static/slides.js`."""
    shown = words(language)["site"]["slides"]
    virtual = {
        "course:words": f"export default {json.dumps(shown, ensure_ascii=False)};",
        "course:dom": DOM.read_text(encoding="utf-8"),
    }
    return bundle(FOLDER, "slides.js", virtual)


def notes(metadata: dict[str, dict[str, Any]]) -> str:
    """Return what the presenter's window says, as `_static/notes.json`: page → section → note."""
    found = {page: meta["notes"] for page, meta in metadata.items() if meta.get("notes")}
    return json.dumps(found, ensure_ascii=False, sort_keys=True)
