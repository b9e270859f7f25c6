"""Measures the finished website as a reader on a slow phone meets it, for `course.py bench --section site`.

A first visit over 1.6 Mbit/s and 150 ms with a processor slowed down four times, then the first touch of
widgets. A fresh browser context each time; medians.
"""

import gzip
import re
import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from book.browser import launch
from book.serve import Handler
from d2lmini.language import LANGUAGES

VISITS = 7
# in each language the heaviest text and the heaviest pictures; the first page; the longest of all
PAGES = (
    *(f"{language}/{name}" for language in LANGUAGES for name in ("self-attention", "what-it-learned")),
    "en/index",
    "vi/api",
)
PICTURE = re.compile(r'<svg[^>]*class="(?:plot|drawing)".*?</svg>|(?<=src=")data:image/[^"]*', re.DOTALL)
PACKED = {".html", ".js", ".css", ".svg", ".json", ".ipynb"}  # as any host of web pages does
NETWORK = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 2e5,
    "uploadThroughput": 9e4,
}  # bytes a second
OBSERVE = """
window.measured = {paint: 0, shift: 0, touch: 0};
const watch = (type, each, more = {}) => new PerformanceObserver((list) => list.getEntries().forEach(each))
    .observe({type, buffered: true, ...more});
watch("largest-contentful-paint", (entry) => (measured.paint = entry.startTime));
watch("layout-shift", (entry) => (measured.shift += entry.hadRecentInput ? 0 : entry.value));
const longer = (entry) => (measured.touch = Math.max(measured.touch, entry.duration));
watch("event", longer, {durationThreshold: 16});
"""
VISIT = """() => {
    const [page] = performance.getEntriesByType("navigation");
    const files = performance.getEntriesByType("resource").filter(({ name }) => name.startsWith("http"));
    const loads = [page, ...files];
    const kilobytes = loads.reduce((sum, entry) => sum + entry.transferSize, 0) / 1000;
    return [kilobytes, loads.length, measured.paint, page.loadEventEnd, measured.shift];
}"""
# widget: its page, what to touch there, and how
TOUCHES = {
    "[data-id='self-attention/why-scale']": ("self-attention", "input", "click"),
    "[data-id='multi-head-attention/mask-matrix']": ("multi-head-attention", "td label", "click"),
    "[data-widget=attention-explorer]": ("multi-head-attention", "[role=radio]", "End"),
    "[data-widget=listening-explorer]": ("index", "[role=radio]", "End"),
    "[data-widget=plane-explorer]": ("self-attention", "[role=slider]", "ArrowRight"),
    "[data-widget=path-explorer]": ("complexity", "[type=range]", "ArrowRight"),
    "[data-widget=clock-explorer]": ("positional-encoding", "[type=range]", "ArrowRight"),
    "[data-widget=rotary-explorer]": ("relative-positions", "[type=range]", "ArrowRight"),
    "[data-widget=block-explorer]": ("transformer", "[aria-current=step]", "ArrowRight"),
    "[data-widget=translator-explorer]": ("translation", ".examples button", "click"),
}


class PackedHandler(Handler):
    """The site as a host on the web sends it: text packed."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in PACKED or not path.exists():
            super().do_GET()
            return
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def served(site: Path) -> Iterator[str]:
    running = ThreadingHTTPServer(("127.0.0.1", 0), partial(PackedHandler, directory=str(site)))
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


@contextmanager
def slow_phone(browser: Any) -> Iterator[Any]:
    """Yield a fresh page on a slow phone."""
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.add_init_script(OBSERVE)
    page.goto("about:blank")
    page.wait_for_timeout(300)  # the start of the browser's process is not the page's
    tools = context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send("Network.emulateNetworkConditions", NETWORK)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    yield page
    context.close()


def pictures(page: Path) -> float:
    """Return the KB that the pictures of a page add to it as it is sent."""
    whole = page.read_text(encoding="utf-8")
    packed = [len(gzip.compress(text.encode(), 6)) for text in (whole, PICTURE.sub("", whole))]
    return (packed[0] - packed[1]) / 1000


def visit(browser: Any, address: str) -> list[float]:
    """Return KB, requests, largest paint and load in ms, and layout shift of a first visit."""
    with slow_phone(browser) as page:
        page.goto(address, wait_until="load", timeout=60_000)
        page.wait_for_timeout(1500)
        figures: list[float] = page.evaluate(VISIT)
        return figures


def touch(browser: Any, address: str, widget: str, what: str, how: str) -> float:
    """Return the milliseconds from the first touch of a widget to the next picture."""
    with slow_phone(browser) as page:
        page.goto(address, timeout=60_000)
        place = page.locator(f".d2l-widget{widget}")
        target = place.locator(what).first
        page.locator("html[data-measured]").wait_for()
        place.scroll_into_view_if_needed()
        place.and_(page.locator("[data-awake]")).wait_for(timeout=60_000)
        target.scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        page.evaluate("measured.touch = 0")
        target.click() if how == "click" else target.press(how)
        page.wait_for_timeout(800)
        return float(page.evaluate("measured.touch"))


def tables(site: Path) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield a table of first visits, then one of first touches: title, header, rows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, served(site) as address:
        browser = launch(playwright)
        browser.new_page().wait_for_timeout(4000)  # the browser has work of its own when it starts
        rows = []
        for page in PAGES:
            visits = [visit(browser, f"{address}/{page}.html") for _ in range(VISITS)]
            kilobytes, *figures, shift = map(statistics.median, zip(*visits, strict=True))
            text = kilobytes - pictures(site / f"{page}.html")
            cells = (f"{figure:.0f}" for figure in (kilobytes, text, *figures))
            rows.append([page, *cells, f"{shift:.3f}"])
        header = ["page", "KB", "KB before pictures", "requests", "largest paint, ms", "load, ms", "shift"]
        yield "first visit: 1.6 Mbit/s, 150 ms, processor ×1/4", header, rows
        rows = []
        for widget, (page, *how) in TOUCHES.items():
            times = [touch(browser, f"{address}/en/{page}.html", widget, *how) for _ in range(3)]
            rows.append([widget, f"{statistics.median(times):.0f}"])
        yield "first touch of a widget, processor ×1/4", ["widget", "ms to the next picture"], rows
        browser.close()
