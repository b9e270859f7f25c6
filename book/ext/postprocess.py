"""Finish each page when it is rendered: what its first paint needs travels inside it, the rest comes later.

Styles go inside, without the formula and code rules that the page has no use for; the fonts of its formulas
too, so that no line moves when they arrive. What the exercises know lies in a file of its own, which they
fetch when they wake.
"""

import hashlib
import html
import re
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from sphinx.application import Sphinx

from book import scripts
from book.ext import assets
from book.ext.css import used_rules
from book.ext.font_subset import page_faces
from book.ext.markup import compact_markup
from book.ext.maths import with_marks
from book.ext.page import allow_only_these_styles
from d2lmini.notebook.content import exercise_state
from d2lmini.notebook.widgets import stored_widgets

STYLES = "<style></style>"  # of the layout, to be filled
PRINTED = re.compile(r'(highlight-myst-ansi"><div class="highlight"><pre)>(.*?)</pre>', re.DOTALL)
SHORT, LONGEST = 33, 84  # letters of what a cell printed that fit into a line of any phone, of the page
THIN = re.compile(r"(?<=\d)\u2009(?=\d)")  # a line may break at it


@cache
def _all_scripts(language: str) -> str:
    return "".join(scripts.script(name, language) for name in sorted(scripts.NAMES, key="{}.js".format))


def _with_states(page: str, folder: Path, static: str, name: str, language: str) -> str:
    """Write what the exercises of a page know to a file; return the page, which then names it."""
    exercises = [exercise for kind, exercise in stored_widgets(page) if kind == "exercise"]
    if not exercises:
        return page
    states = {exercise: exercise_state(exercise, language) for exercise in exercises}
    text = THIN.sub("\u202f", scripts.compact_json(states))
    (folder / "states").mkdir(parents=True, exist_ok=True)
    (folder / "states" / f"{name}.json").write_text(text, encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return page.replace("<body ", f'<body data-states="{static}states/{name}.json?{digest}" ', 1)


def _with_widths(printed: re.Match[str]) -> str:
    """Tell the styles how wide an output is: a phone writes its lines smaller; those of prose are broken."""
    text = html.unescape(re.sub("<[^>]+>", "", printed[2]))
    lines = text.expandtabs(4).split("\n")
    width = max(sum(1 + (east_asian_width(letter) in "WF") for letter in line) for line in lines)
    if width <= SHORT:
        return printed[0]
    style = "white-space:pre-wrap" if width > LONGEST else f"--letters:{width}"
    return f'{printed[1]} style="{style}">{printed[2]}</pre>'


def finish(page: str, folder: Path, static: str, name: str, language: str) -> str:
    """Return the finished page; `folder` is that of the static files, `static` its address from the page."""
    page = with_marks(THIN.sub("\u202f", page))
    formula_fonts = assets.formula_characters(page)
    page = _with_states(page, folder, static, name, language)
    own_fonts = page_faces(page, {kind for kind, _ in stored_widgets(page)}, language)
    page = PRINTED.sub(_with_widths, compact_markup(page))
    site = assets.page_styles().replace('url("fonts/', f'url("{static}fonts/')
    styles = (
        own_fonts
        + used_rules(site, page, _all_scripts(language))
        + used_rules(assets.welcome_styles(), page)
        + used_rules(assets.code_styles(), page)
        + "".join(assets.formula_face(font, shown) for font, shown in formula_fonts.items())
        + used_rules(assets.formula_rules(), page)
    )
    assert STYLES in page, f"{name}: the layout has no place for styles"
    return allow_only_these_styles(page.replace(STYLES, f"<style>{styles}</style>", 1))


def finish_each(app: Sphinx) -> None:
    """Let the builder finish what it renders."""
    if app.builder.name != "html":
        return
    render = app.builder.templates.render

    def finished(template: str, context: dict[str, Any]) -> str:
        static, name = context["pathto"]("_static/", 1), context["d2l"]["page"]["name"]
        folder = Path(app.outdir) / "_static"
        return finish(render(template, context), folder, static, name, app.config.d2lmini_language)

    app.builder.templates.render = finished


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", finish_each)
