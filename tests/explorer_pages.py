"""What tests of an explorer in sight share: a site with it between two screens of text, and a finger."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from making import cell, make_book, served
from playwright.sync_api import Browser, Locator, Page

from book import build as site_builder
from d2lmini.language import LANGUAGES
from d2lmini.notebook.widgets import stored_explorer

SHOWN = {  # a page of the course that shows it
    "attention-explorer": "multi-head-attention",
    "block-explorer": "transformer",
    "clock-explorer": "positional-encoding",
    "listening-explorer": "index",
    "path-explorer": "complexity",
    "plane-explorer": "self-attention",
    "rotary-explorer": "relative-positions",
    "translator-explorer": "translation",
    "writer-explorer": "language-model",
}
# at the top of the window, right under the site's header
UNDER_HEADER = "e => scrollTo({ top: e.getBoundingClientRect().top + scrollY - 70, behavior: 'instant' })"

# targets that a finger misses, words too small to read, and what scrolls inside
TOO_SMALL = """(root) => {
    const shown = [...root.querySelectorAll("*")].filter((node) => node.checkVisibility());
    const box = (node) => node.getBoundingClientRect();
    const small = (node) => Math.min(box(node).width, box(node).height) < 40;
    const hasWords = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    const tiny = (node) => hasWords(node) && parseFloat(getComputedStyle(node).fontSize) < 11;
    const mayScroll = (node) => /auto|scroll/.test(getComputedStyle(node).overflowY);
    const scrolls = (node) => mayScroll(node) && node.scrollHeight > node.clientHeight;
    const targets = shown.filter((node) => node.matches("button, input:not([type=range]), .rail"));
    const found = [...targets.filter(small), ...shown.filter(tiny), ...shown.filter(scrolls)];
    return found.map((node) => node.outerHTML.slice(0, 90));
}"""


@contextmanager
def site_of(kind: str, root: Path, languages: Sequence[str] = LANGUAGES) -> Iterator[str]:
    """Build and serve a site with an explorer on a page."""
    text = "Some words of a page.\n\n" * 30
    book = {}
    for language in languages:
        output = {"text/html": stored_explorer(kind, language)}
        shown = [{"output_type": "display_data", "data": output, "metadata": {}}]
        book[language] = {
            "index": [cell("markdown", "index", "# Welcome\n\nRead [it](writing.ipynb).")],
            "writing": [
                cell("markdown", "text", f"# A page\n\n{text}"),
                cell("code", "shown", f'd2l.explorer("{kind}")', shown, tags=["hide-input"]),
                cell("markdown", "after", f"## After it\n\n{text}"),
            ],
        }
    with served(site_builder.build(make_book(root, book))) as address:
        yield address


@contextmanager
def visits(browser: Browser, address: str, kind: str) -> Iterator[Callable[..., Page]]:
    """Open the page with the explorer right under the header, each time in a profile of its own."""
    contexts = []

    def visit(window: dict[str, Any], language: str, **options: Any) -> Page:
        contexts.append(browser.new_context(**window, bypass_csp=True, **options))
        page = contexts[-1].new_page()
        page.goto(f"{address}/{language}/writing.html")
        page.locator("html[data-measured]").wait_for()
        explorer = page.locator(f"[data-widget={kind}]")
        explorer.scroll_into_view_if_needed()
        page.locator(f"[data-widget={kind}][data-awake]").wait_for()
        explorer.evaluate(UNDER_HEADER)
        return page

    yield visit
    for context in contexts:
        context.close()


def swipe(page: Page, part: Locator, x: int, y: int) -> float:
    """Move a finger straight from the middle of a part, and return how far the page scrolled."""
    return follow(page, part, [(x * i / 8, y * i / 8) for i in range(9)])


def follow(page: Page, part: Locator, way: Sequence[tuple[float, float]]) -> float:
    """Move a finger along a way around the middle of a part, and return how far the page scrolled."""
    tools = page.context.new_cdp_session(page)
    while scrolls(page):  # to where it was led
        pass
    box, before = part.bounding_box(), page.evaluate("scrollY")
    assert box
    left, top = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for i, (x, y) in enumerate(way):
        touch = {"type": "touchMove" if i else "touchStart", "touchPoints": [{"x": left + x, "y": top + y}]}
        tools.send("Input.dispatchTouchEvent", touch)
    tools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)
    while scrolls(page):  # by itself, after the finger has left it
        pass
    scrolled: float = page.evaluate("scrollY") - before
    return scrolled


def scrolls(page: Page) -> bool:
    """Say whether the page moves within a tenth of a second."""
    before = page.evaluate("scrollY")
    page.wait_for_timeout(100)
    return bool(page.evaluate("scrollY") != before)
