"""Finish a copy of each page: what its first paint needs travels inside it, the rest comes later.

Styles go inside, without the formula and code rules that the page has no use for; the fonts of its formulas
too, so that no line moves when they arrive. What the exercises know lies in a file of its own, which they
fetch when they wake.
"""

import base64
import hashlib
import re
import shutil
from pathlib import Path

from book.ext import assets
from book.ext.css import used_rules
from book.ext.font_subset import page_faces
from book.ext.markup import compact_markup
from book.ext.page import allow_only_these_styles
from book.scripts import compact_json
from d2lmini.notebook.content import exercise_state
from d2lmini.notebook.widgets import stored_widgets

# the style sheets that the layout links; its icon
SHEETS = re.compile(r'(?:<link rel="stylesheet" href="_static/(?:site|formulas)\.css\?\w+">\s*)+')
ICON = re.compile(r'<link rel="icon" href="_static/icon\.svg"')
THIN = re.compile(r"(?<=\d)\u2009(?=\d)")  # a line may break at it


def _with_states(page: str, static: Path, name: str, language: str) -> str:
    """Write what the exercises of a page know to a file; return the page, which then names it."""
    exercises = [exercise for kind, exercise in stored_widgets(page) if kind == "exercise"]
    if not exercises:
        return page
    text = compact_json({exercise: exercise_state(exercise, language) for exercise in exercises})
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
        page = _with_states(page, self.static, name, self.language)
        own_fonts = page_faces(page, {kind for kind, _ in stored_widgets(page)}, self.language)
        page = compact_markup(page)
        styles = (
            own_fonts
            + used_rules(self.site, page, self.scripts)
            + used_rules(assets.welcome_styles(), page)
            + used_rules(assets.code_styles(), page)
            + "".join(assets.formula_face(font, shown) for font, shown in formula_fonts.items())
            + used_rules(assets.formula_rules(), page)
        )
        sheets = SHEETS.search(page)
        assert sheets, f"{name}: the layout links no stylesheet"
        page = f"{page[: sheets.start()]}<style>{styles}</style>\n{page[sheets.end() :]}"
        page = ICON.sub(f'<link rel="icon" href="data:image/svg+xml;base64,{self.icon}"', page)
        (self.target / f"{name}.html").write_text(allow_only_these_styles(page), encoding="utf-8")
