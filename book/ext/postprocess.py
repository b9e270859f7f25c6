"""Finish a copy of each page: what its first paint needs travels inside it, the rest comes later.

Styles go inside, without the formula and code rules that the page has no use for; the fonts of its formulas
too, so that no line moves when they arrive. What the widgets know goes out, to a file of its own that they
fetch when they wake.
"""

import base64
import hashlib
import html
import json
import re
import shutil
from pathlib import Path

from book.ext import assets
from book.ext.css import used_rules
from book.ext.font_subset import page_faces
from book.ext.markup import compact_markup
from book.ext.page import allow_only_these_styles

# the style sheets that the layout links; its icon; the kind of a widget; a widget and its state
SHEETS = re.compile(r'(?:<link rel="stylesheet" href="_static/(?:site|formulas)\.css\?\w+">\s*)+')
ICON = re.compile(r'<link rel="icon" href="_static/icon\.svg"')
KIND = re.compile(r'<div class="d2l-widget" data-widget="([\w-]+)"')
THIN = re.compile(r"(?<=\d)\u2009(?=\d)")  # a line may break at it
STATE = re.compile(r"(<div class=\"d2l-widget\"[^>]*) data-state='([^']*)'")


def _without_states(page: str, static: Path, name: str) -> str:
    """The page without what its widgets know."""
    states: list[object] = []

    def take(match: re.Match[str]) -> str:
        if match[2] == "{}":  # nothing to fetch
            return match[0]
        states.append(json.loads(html.unescape(match[2])))
        return f"{match[1]} data-state='{len(states) - 1}'"

    page = STATE.sub(take, page)
    if not states:
        return page
    text = json.dumps(states, ensure_ascii=False, separators=(",", ":"))
    (static / "states").mkdir(exist_ok=True)
    (static / "states" / f"{name}.json").write_text(text, encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return page.replace("<body ", f'<body data-states="_static/states/{name}.json?{digest}" ', 1)


class Postprocessor:
    """Writes finished copies of the pages of one language, and beside them what they fetch."""

    def __init__(self, source: Path, target: Path, language: str) -> None:
        self.target, self.language = target, language
        self.static = target / "_static"
        # their rules go into the pages
        sheets = shutil.ignore_patterns("*.css")
        shutil.copytree(source / "_static", self.static, ignore=sheets, dirs_exist_ok=True)
        self.icon = base64.b64encode((self.static / "icon.svg").read_bytes()).decode()
        self.site = assets.page_styles().replace('url("fonts/', 'url("_static/fonts/')
        self.scripts = "".join(path.read_text(encoding="utf-8") for path in sorted(self.static.glob("*.js")))

    def write(self, name: str, page: str) -> None:
        """Write the finished copy of a page."""
        page = THIN.sub("\u202f", page)
        formula_fonts = assets.formula_characters(page)
        page = _without_states(page, self.static, name)
        own_fonts = page_faces(page, set(KIND.findall(page)), self.language)
        page, repeated = compact_markup(page)
        styles = (
            own_fonts
            + used_rules(self.site, page, self.scripts)
            + used_rules(assets.welcome_styles(), page)
            + used_rules(assets.code_styles(), page)
            + "".join(assets.formula_face(font, shown) for font, shown in formula_fonts.items())
            + used_rules(assets.formula_rules(), page)
            + repeated
        )
        sheets = SHEETS.search(page)
        assert sheets, f"{name}: the layout links no stylesheet"
        page = f"{page[: sheets.start()]}<style>{styles}</style>\n{page[sheets.end() :]}"
        page = ICON.sub(f'<link rel="icon" href="data:image/svg+xml;base64,{self.icon}"', page)
        (self.target / f"{name}.html").write_text(allow_only_these_styles(page), encoding="utf-8")
