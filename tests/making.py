"""Helpers of the site's tests: make a small book, serve a folder, put together the fonts of a machine."""

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from playwright.sync_api import Page

from book.serve import serving

ROOT = Path(__file__).parents[1]
served = serving


def asked(name: str, **view: object) -> str:
    """The query of a link to a view of an explorer."""
    return f"?{name}={quote(json.dumps(view))}"


def cell(kind: str, name: str, source: str, outputs: list[dict] | None = None, **metadata: object) -> dict:
    made: dict = {"cell_type": kind, "id": name, "metadata": metadata, "source": source}
    return made if kind == "markdown" else {**made, "execution_count": None, "outputs": outputs or []}


def write_notebook(path: Path, cells: list[dict]) -> None:
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}),
        encoding="utf-8",
    )


def make_book(root: Path, pages: dict[str, dict[str, list[dict]]]) -> Path:
    """Write a book: language → page name → cells, with the project's own configuration."""
    shutil.copy(ROOT / "_config.yml", root)
    names = [name for name in pages["en"] if name != "index"]
    toc = ["format: jb-book", "root: chapters/en/index"]
    if names:
        toc += ["parts:", "  - caption: Chapters", "    chapters:"]
        toc += [f"      - file: chapters/en/{name}" for name in names]
    (root / "_toc.yml").write_text("\n".join(toc) + "\n", encoding="utf-8")
    for language, chapters in pages.items():
        for name, cells in chapters.items():
            write_notebook(root / "chapters" / language / f"{name}.ipynb", cells)
    return root


def make_font(file: Path, family: str, ascent: int, descent: int) -> None:
    """Write a font in which every letter of the course, Chinese ones included, is a box; 1000 units an em."""
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 600), (800, 600), (800, 0)):
        pen.lineTo(corner)
    pen.closePath()
    box = pen.glyph()
    letters = (*range(0x20, 0x250), *range(0x1EA0, 0x1F00), *range(0x2000, 0x2300), *range(0x3000, 0xA000))
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder([".notdef", "box"])
    font.setupCharacterMap(dict.fromkeys((*letters, *range(0xFF00, 0xFF60)), "box"))
    font.setupGlyf({".notdef": box, "box": box})
    font.setupHorizontalMetrics({".notdef": (1000, 0), "box": (1000, 0)})
    font.setupHorizontalHeader(ascent=ascent, descent=-descent)
    font.setupNameTable({"familyName": family, "styleName": "Regular"})
    font.setupOS2(sTypoAscender=ascent, sTypoDescender=-descent, usWinAscent=ascent, usWinDescent=descent)
    font.setupPost()
    font.save(file)


def fonts_of_a_machine(folder: Path, faces: dict[str, tuple[int, int]]) -> Path:
    """Write these fonts, family → (ascent, descent), and return the fontconfig file that knows no others.

    The first is the machine's own face: what shows a text until the page's font comes.
    """
    for family, (ascent, descent) in faces.items():
        make_font(folder / f"{family}.ttf", family, ascent, descent)
    config = folder / "fonts.conf"
    folders = f"<dir>{folder}</dir><cachedir>{folder / 'cache'}</cachedir>"
    own = f"<string>{next(iter(faces))}</string>"
    last = f"<edit name='family' mode='append_last' binding='strong'>{own}</edit>"
    config.write_text(f"<fontconfig>{folders}<match>{last}</match></fontconfig>")
    return config


def until(page: Page, condition: str, argument: Any = None) -> None:
    """Wait until a function of the page returns true.

    Playwright's wait_for_function evaluates a string again and again, which the site's policy forbids.
    """
    page.evaluate(
        f"""async (argument) => {{
            const late = performance.now() + 30_000;
            while (!(await ({condition})(argument))) {{
                if (performance.now() > late) throw new Error("waited 30 s in vain");
                await new Promise((later) => setTimeout(later, 20));
            }}
        }}""",
        argument,
    )
