"""The printed edition as a page of its own, which a browser fills from the built pages and prints."""

import json
from functools import cache
from pathlib import Path

from book.address import repository
from book.contents import base_address, configuration, pages, table_of_contents
from book.ext import assets
from book.katex import FOLDER as KATEX
from book.paper.exercises import on_paper
from book.paper.formulas import name_formulas
from book.templates import render
from d2lmini.language import words
from d2lmini.notebook.widgets import stored_widgets

HERE = Path(__file__).parent
ADDRESS = "paper.html"  # beside the pages, for the browser that prints alone


def live_address(root: Path) -> str:
    """Return where the website is published: as it is set, else where GitHub Pages puts it; or nothing."""
    site, _, place = repository(root).partition("://github.com/")
    account, _, name = place.partition("/")
    return base_address(root) or (f"https://{account}.github.io/{name}" if site and name else "")


def document(root: Path, site: Path, language: str) -> str:
    """Return the page; its body is filled by `assemble.js` when it is open.

    Args:
        root: holds `_config.yml` and `_toc.yml`.
        site: the finished website.
        language: of the edition.
    """
    config = configuration(root)
    said = words(language)
    printed = []
    for name, _, number in pages(table_of_contents(root)):
        text = (site / language / f"{name}.html").read_text(encoding="utf-8")
        exercises = {id: on_paper(id, language) for kind, id in stored_widgets(text) if kind == "exercise"}
        printed.append({"name": name, "number": number, "text": name_formulas(text), "exercises": exercises})
    live = live_address(root)
    given = {
        "pages": printed,
        "words": said["site"]["pdf"] | {key: said["exercises"][key] for key in ("hint", "stronger_hint")},
        "language": language,
        "live": live,
    }
    return render(
        "paper/document.html",
        tag=said["language"]["tag"],
        language=language,
        site=said["site"],
        author=config["author"],
        year=config["copyright"],
        live=live,
        given=json.dumps(given, ensure_ascii=False).replace("<", "\\u003c"),
        styles=styles(),
    )


@cache
def styles() -> str:
    """The website's styles, and what paper does otherwise."""
    formulas = (KATEX / "katex.min.css").read_text(encoding="utf-8").replace("url(fonts/", "url(paper/katex/")
    site = assets.page_styles().replace('url("fonts/', 'url("_static/fonts/')
    return formulas + site + assets.code_styles() + (HERE / "paper.css").read_text(encoding="utf-8")


def file(name: str) -> bytes:
    """Return what the page asks for below `paper/`.

    Raises:
        FileNotFoundError: there is no such file.
    """
    folder, _, file_name = name.rpartition("/")
    folders = {"katex": KATEX / "fonts", "widgets": assets.WIDGETS}
    return (folders.get(folder, HERE) / file_name).read_bytes()
