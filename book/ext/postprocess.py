"""The last touches to a copy of each page: what its first paint needs travels inside it, the rest later.

Styles go inside, without the formula and code rules that the page has no use for; the fonts of its formulas
too, so that no line moves when they arrive. What the exercises know lies in a file of its own, which they
fetch when they wake.
"""

import base64
import hashlib
import json
import re
import shutil
from pathlib import Path

from book.ext import assets
from book.ext.css import used_rules
from book.ext.font_subset import page_faces
from book.ext.markup import small, small_script
from book.ext.page import allow_only_these_styles
from d2lmini.notebook.content import exercise_state
from d2lmini.notebook.widgets import stored_widgets

SHEETS = re.compile(r'(?:<link rel="stylesheet" href="_static/(?:site|formulas)\.css\?\w+">\s*)+')
ICON = re.compile(r'<link rel="icon" href="_static/icon\.svg"')


def _with_states(page: str, static: Path, name: str, language: str) -> str:
    """Write what the exercises of a page know to a file; return the page, which then names it."""
    exercises = [exercise for kind, exercise in stored_widgets(page) if kind == "exercise"]
    if not exercises:
        return page
    states = {exercise: exercise_state(exercise, language) for exercise in exercises}
    text = json.dumps(states, ensure_ascii=False, separators=(",", ":"))
    (static / "states").mkdir(exist_ok=True)
    (static / "states" / f"{name}.json").write_text(text, encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return page.replace("<body ", f'<body data-states="_static/states/{name}.json?{digest}" ', 1)


def postprocess(source: Path, target: Path, names: list[str], language: str) -> None:
    """Write finished copies of these pages of one language, and what they need, to `target`."""
    shutil.rmtree(target, ignore_errors=True)
    static = target / "_static"
    shutil.copytree(source / "_static", static, ignore=shutil.ignore_patterns("*.css"))
    site = assets.page_styles().replace('url("fonts/', 'url("_static/fonts/')
    scripts = "".join(path.read_text(encoding="utf-8") for path in sorted(static.glob("*.js")))
    for path in assets.STATIC.glob("*.js"):
        (static / path.name).write_text(small_script(path.read_text(encoding="utf-8")), encoding="utf-8")
    welcome, code, formulas = assets.welcome_styles(), assets.code_styles(), assets.formula_rules()
    icon = base64.b64encode((static / "icon.svg").read_bytes()).decode()
    for name in names:
        page = (source / f"{name}.html").read_text(encoding="utf-8")
        characters = assets.formula_characters([source / f"{name}.html"])
        faces = "".join(assets.formula_face(font, shown) for font, shown in characters.items())
        page = _with_states(page, static, name, language)
        own = page_faces(page, {kind for kind, _ in stored_widgets(page)}, language)
        page, repeated = small(page)
        styles = (
            own
            + used_rules(site, page, scripts)
            + used_rules(welcome, page)
            + used_rules(code, page)
            + faces
            + used_rules(formulas, page)
            + repeated
        )
        sheets = SHEETS.search(page)
        assert sheets, f"{name}: the layout links no stylesheet"
        page = f"{page[: sheets.start()]}<style>{styles}</style>\n{page[sheets.end() :]}"
        page = ICON.sub(f'<link rel="icon" href="data:image/svg+xml;base64,{icon}"', page)
        page = allow_only_these_styles(page)
        (target / f"{name}.html").write_text(page, encoding="utf-8")
