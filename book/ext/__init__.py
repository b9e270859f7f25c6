"""The Sphinx side of the course: what turns a stored notebook into a page.

One file a concern: `notebook` prepares a notebook before it is parsed, `anchors` names its sections, `terms`
marks the glossary's, `maths` typesets, `api` writes the reference, `page` fills the
template, `welcome` makes the first page, `postprocess` puts styles and fonts into each page, `assets` writes
scripts and widgets.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from book import inputs
from book.ext import anchors, api, assets, maths, notebook, page, postprocess, terms, welcome
from d2lmini.language import words


def _complete_config(app: Sphinx, config: Config) -> None:
    """Set what follows from the language, and make every page depend on all inputs but the notebooks."""
    source = Path(app.srcdir)  # of a language; of Jupyter Book alone the whole course
    root = next(folder for folder in (source, *source.parents) if (folder / "_toc.yml").exists())
    config.d2lmini_version = inputs.version(root)
    config.nb_code_prompt_show = words(config.d2lmini_language)["site"]["show_code"]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("d2lmini_version", "", "env")
    # set by book.build: the folder in chapters/, the languages built side by side, the size of the PDF in MB
    app.add_config_value("d2lmini_language", "en", "env")
    app.add_config_value("d2lmini_languages", [], "html")
    app.add_config_value("d2lmini_pdf", "", "html")
    # Jupyter Book sets it for an extension that we leave out
    app.add_config_value("comments_config", None, "html")
    app.add_html_theme("d2lmini", str(assets.BOOK / "theme"))
    app.connect("config-inited", _complete_config)
    # book/search.py reads the finished pages
    app.connect("builder-inited", lambda app: setattr(app.builder, "search", False))
    for part in (api, notebook, anchors, terms, maths, welcome, page, postprocess, assets):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
