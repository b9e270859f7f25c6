"""Draw the pictures beside links to the pages, and those of the README: `python -m tools.paper.previews`.

Each is a page of its own, which the browser draws in the fonts of the course: where it is from, its title,
and the sentence of the first page. It keeps what it says inside, so that a test knows when it is behind. The
two of the README are taken of the built website.
"""

import argparse
import base64
import html
import io
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from book import build, previews
from book.browser import launch
from book.chapters import LANGUAGES, ROOT, path_of, read, source, store
from book.ext import assets, welcome
from d2lmini.language import words
from d2lmini.notebook.widgets import module_source
from tools.bench_site import served

EXPLORER = "listening-explorer"
SCREEN = {"width": 1200, "height": 760}
COLORS = 48  # a drawing on one ground needs no more
FACES = {400: "d2lmini-sans-regular", 600: "d2lmini-sans-semibold"}
# Chinese faces by name: the first that has a letter draws it, which may else be a Japanese one
STYLES = """
body { width: 1200px; height: 630px; margin: 0; padding: 52px 70px 0; box-sizing: border-box;
  overflow: hidden; background: var(--d2l-bg); color: var(--d2l-text);
  font: 26px/1.3 "d2lmini Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC",
    sans-serif }
header { display: flex; align-items: center; gap: 20px; color: var(--d2l-muted) }
header svg { width: 64px; fill: none; stroke: var(--d2l-line); stroke-width: 1.5; overflow: visible }
circle { stroke: none; fill: var(--d2l-query) } circle + circle { fill: var(--d2l-key) }
circle + circle + circle { fill: var(--d2l-value) }
h1 { display: flex; align-items: center; height: 236px; margin: 8px 0 0; font-size: 68px;
  font-weight: 600; line-height: 1.16; letter-spacing: -.02em; text-wrap: balance }
h1:lang(vi) { line-height: 1.25 }
h1:lang(zh) { letter-spacing: 0; word-break: keep-all; overflow-wrap: anywhere }
h1 b { margin-right: 36px; color: var(--d2l-accent) }
.d2l-listening { font-size: 22px }
.d2l-listening :is(.invite, .said, .note) { display: none }
"""
# the explorer of the first page as it is drawn first, of elements that cannot be touched
FIRST_VIEW = """async (source) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const el = document.createElement("div");
  document.body.append(el);
  (await import(address)).default.render({ el });
  const root = el.querySelector(".d2l-listening");
  for (const name of ["data-dark", "style"]) root.removeAttribute(name);
  for (const node of [root, ...root.querySelectorAll("*:not(svg)")])
    for (const name of ["aria-checked", "aria-label", "aria-live", "lang", "role", "tabindex", "type"])
      node.removeAttribute(name);
  const markup = root.outerHTML.replaceAll("<button", "<span").replaceAll("</button>", "</span>");
  el.remove();
  return markup + "\\n";
}"""
MARK = (
    '<svg viewBox="0 0 28 20"><path d="M4 14Q14-1 24 14M4 14q5-7 10 0"/><circle cx="4" cy="14" r="3"/>'
    '<circle cx="14" cy="14" r="3"/><circle cx="24" cy="14" r="3"/></svg>'
)


def titles(language: str) -> dict[str, str]:
    """Return what the picture of each page says, line by line: the course, a chapter's number, the title."""
    toc = build.table_of_contents(ROOT)
    chapters = [page["file"] for page in toc["parts"][0]["chapters"]]
    found = {}
    for name in build.page_names(toc):
        heading = source(read(path_of(language, name))["cells"][0]).splitlines()[0]
        number = str(chapters.index(name) + 1) if name in chapters else ""
        found[name] = "\n".join([words(language)["site"]["title"], number, heading.removeprefix("# ")])
    return found


@cache
def _styles() -> str:
    """All that the picture needs, fonts too: it is drawn without a website."""
    rules = [assets.colors(), assets.welcome_styles(), STYLES]
    for weight, name in FACES.items():
        data = base64.b64encode((assets.STATIC / "fonts" / f"{name}.woff2").read_bytes()).decode()
        address = f"data:font/woff2;base64,{data}"
        rules.append(
            f'@font-face {{ font-family: "d2lmini Sans"; font-weight: {weight}; src: url("{address}") }}'
        )
    return "".join(rules)


def _picture(page: Any, language: str, said: str) -> bytes:
    course, number, title = map(html.escape, said.split("\n"))
    numbered = f"<b>{number}</b>" if number else ""
    page.set_content(
        f'<!doctype html><html lang="{words(language)["language"]["tag"]}" data-theme="light">'
        f"<style>{_styles()}</style><header>{MARK}{course}</header><h1>{numbered}<span>{title}</span></h1>"
        f"{welcome.first_view(EXPLORER, language)}"
    )
    page.evaluate("document.fonts.ready.then(() => null)")
    kept = PngInfo()
    kept.add_itxt("Title", said)
    return _packed(page.screenshot(), kept)


def _packed(screenshot: bytes, kept: PngInfo | None = None) -> bytes:
    drawn = Image.open(io.BytesIO(screenshot)).convert("RGB")
    packed = io.BytesIO()
    few = drawn.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(packed, "PNG", optimize=True, pnginfo=kept)
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
    with served(site) as address:
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
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
