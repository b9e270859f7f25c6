"""Draw the pictures beside links to the pages, and those of the README: `python -m tools.paper.previews`.

Each is a page of its own, which the browser draws in the fonts of the course: where it is from, its title,
and the sentence of the first page. It keeps what it says inside, so that a test knows when it is behind. The
two of the README are taken of the built website.
"""

import argparse
import base64
import io
from pathlib import Path
from typing import Any

from jinja2 import Template
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from book import build, previews
from book.browser import launch
from book.chapters import LANGUAGES, ROOT, path_of, read, source, store
from book.contents import pages, table_of_contents
from book.ext import assets, welcome
from book.serve import serving
from d2lmini.language import words
from d2lmini.notebook.widgets import module_source

EXPLORER = "listening-explorer"
SCREEN = {"width": 1200, "height": 760}
COLORS = 48  # a drawing on one ground needs no more
FACES = {400: "d2lmini-sans-regular", 600: "d2lmini-sans-semibold"}
HERE = Path(__file__).parent
_module = (HERE / "first-view.js").read_text(encoding="utf-8")
FIRST_VIEW = _module.partition("export default ")[2].rstrip(";\n")


def titles(language: str) -> dict[str, str]:
    """Return what the picture of each page says, line by line: the course, a chapter's number, the title."""
    lines_by_page = {}
    for name, _, number in pages(table_of_contents(ROOT)):
        heading = source(read(path_of(language, name))["cells"][0]).splitlines()[0].removeprefix("# ")
        lines_by_page[name] = f"{words(language)['site']['title']}\n{number or ''}\n{heading}"
    return lines_by_page


def _picture(page: Any, language: str, said: str) -> bytes:
    course, number, title = said.split("\n")
    fonts = {weight: assets.STATIC / "fonts" / f"{name}.woff2" for weight, name in FACES.items()}
    template = Template((HERE / "preview.html").read_text(encoding="utf-8"), autoescape=True)
    picture = template.render(
        tag=words(language)["language"]["tag"],
        styles=assets.colors() + assets.welcome_styles(),
        faces={weight: base64.b64encode(font.read_bytes()).decode() for weight, font in fonts.items()},
        course=course,
        number=number,
        title=title,
        explorer=welcome.first_view(EXPLORER, language),
    )
    page.set_content(picture)
    page.evaluate("document.fonts.ready.then(() => null)")
    info = PngInfo()
    info.add_itxt("Title", said)
    return _packed(page.screenshot(), info)


def _packed(screenshot: bytes, info: PngInfo | None = None) -> bytes:
    drawn = Image.open(io.BytesIO(screenshot)).convert("RGB")
    packed = io.BytesIO()
    few = drawn.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(packed, "PNG", optimize=True, pnginfo=info)
    return packed.getvalue()


def said_by(path: Path) -> str:
    """Return what a picture says, which was so when it was drawn."""
    with Image.open(path) as picture:
        return str(picture.info.get("Title", ""))


def draw(browser: Any) -> None:
    """Draw the picture of each page in each language."""
    width, height = previews.SIZE
    page = browser.new_page(viewport={"width": width, "height": height})
    for language in LANGUAGES:
        view = page.evaluate(FIRST_VIEW, module_source(EXPLORER, language))
        store(welcome.PICTURES / f"{EXPLORER}.{language}.html", view.encode())
        for name, said in titles(language).items():
            path = previews.path_of(language, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            store(path, _picture(page, language, said))


def show_the_first_screen(browser: Any, site: Path) -> None:
    """Take the README's pictures, light and dark."""
    with serving(site) as address:
        for theme, suffix in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(viewport=SCREEN, color_scheme=theme, reduced_motion="reduce")
            page.goto(f"{address}/en/index.html")
            page.locator("[data-awake]").wait_for()
            page.evaluate("document.fonts.ready.then(() => null)")
            store(ROOT / "book" / f"screenshot{suffix}.png", _packed(page.screenshot()))


def main(arguments: list[str] | None = None) -> int:
    argparse.ArgumentParser(prog="python -m tools.paper.previews", description=__doc__).parse_args(arguments)
    from playwright.sync_api import sync_playwright

    site = build.build()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        draw(browser)
        show_the_first_screen(browser, site)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
