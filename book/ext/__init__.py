"""The Sphinx side of the course: what turns a stored notebook into a page.

One file a concern: `notebook` prepares a notebook before it is parsed, `anchors` names its sections, `terms`
marks the glossary's, `maths` typesets, `svg` brings figures in, `api` writes the reference, `page` fills the
template, `welcome` makes the first page, `assets` writes styles and widgets.
"""

import hashlib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from book.ext import anchors, api, assets, maths, notebook, page, terms, welcome
from d2lmini.language import words

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "d2lmini"
# what makes a page of a notebook: when any of it changes, all pages are made anew
MADE_BY = (
    *sorted(HERE.glob("*.py")),
    HERE.parent / "stale.py",
    HERE.parent / "katex.py",
    HERE.parent / "glossary.py",
    PACKAGE / "notebook" / "svg.py",
    *(
        PACKAGE / "notebook" / "widgets" / f"{name}.js"
        for name in ("listening-scene", "tiny-attention", "dom")
    ),
    PACKAGE / "notebook" / "palette.py",
    PACKAGE / "assets" / "palette.toml",
    *sorted((PACKAGE / "words").glob("*.toml")),
)


def _settle_config(app: Sphinx, config: Config) -> None:
    """Set what follows from the language, and make every page depend on this extension and on the theme."""
    digest = hashlib.sha256()
    glossary = Path(app.srcdir).parent / "glossary.csv"
    for path in (*MADE_BY, *([glossary] if glossary.exists() else [])):
        digest.update(path.read_bytes())
    config.d2lmini_code = digest.hexdigest()[:12]
    config.d2lmini_assets = assets.version()
    config.nb_code_prompt_show = words(config.d2lmini_language)["site"]["show_code"]


def _no_own_search(app: Sphinx) -> None:
    app.builder.search = False  # type: ignore[attr-defined]  # book/search.py reads the finished pages


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("d2lmini_code", "", "env")
    app.add_config_value("d2lmini_language", "en", "env")  # the folder in chapters/; set by book.build
    # a page names the version of its scripts; where no page changes, Sphinx would not copy them either
    app.add_config_value("d2lmini_assets", "", "html")
    app.add_config_value(
        "d2lmini_languages", [], "html"
    )  # set by book.build: the languages built side by side
    app.add_config_value(
        "d2lmini_pdf", "", "html"
    )  # set by book.build: the size of the printed edition in MB
    app.add_config_value(
        "comments_config", None, "html"
    )  # Jupyter Book sets it for an extension that we leave out
    app.add_html_theme("d2lmini", str(HERE.parent / "theme"))
    app.connect("config-inited", _settle_config)
    app.connect("builder-inited", _no_own_search)
    for part in (api, notebook, anchors, terms, maths, welcome, page, assets):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
