"""Measures the finished website as a reader on a slow phone meets it, for `course.py bench --section site`.

A first visit over 1.6 Mbit/s and 150 ms with a processor slowed down four times, then the first touch of
an exercise. A fresh browser context each time; medians.
"""

import gzip
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from book.browser import launch
from book.serve import Handler, serving

# the heaviest text and the heaviest pictures; the first page; the longest of all
PAGES = ("zh/self-attention", "vi/what-it-learned", "en/index", "vi/api")
PACKED = {".html", ".js", ".css", ".svg", ".json", ".ipynb"}  # as any host of web pages does
# milliseconds, and bytes a second
NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 9e4}
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
    const bytes = files.reduce((sum, entry) => sum + entry.transferSize, page.transferSize);
    return [bytes / 1000, files.length + 1, measured.paint, page.loadEventEnd, measured.shift];
}"""
EXERCISE = ".d2l-widget[data-id='self-attention/why-scale']"


class PackedHandler(Handler):
    """The site as a host on the web sends it: text packed."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in PACKED or not path.exists():
            super().do_GET()
            return
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        headers = {"Content-Type": self.guess_type(str(path)), "Content-Encoding": "gzip"}
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def slow_phone(browser: Any) -> Any:
    """Return a fresh page on a slow phone."""
    page = browser.new_page(viewport={"width": 390, "height": 800})  # in a context of its own
    page.add_init_script(OBSERVE)
    page.wait_for_timeout(300)  # the start of the browser's process is not the page's
    tools = page.context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send("Network.emulateNetworkConditions", NETWORK)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    return page


def visit(browser: Any, address: str) -> list[float]:
    """Return KB, requests, largest paint and load in ms, and layout shift of a first visit."""
    with slow_phone(browser) as page:
        page.goto(address, wait_until="load", timeout=60_000)
        page.wait_for_timeout(1500)
        return list(page.evaluate(VISIT))


def touch(browser: Any, address: str) -> float:
    """Return the milliseconds from the first choice in an exercise to the next picture."""
    with slow_phone(browser) as page:
        page.goto(f"{address}/en/self-attention.html", timeout=60_000)
        page.locator("html[data-measured]").wait_for()
        page.locator(EXERCISE).scroll_into_view_if_needed()
        page.locator(f"{EXERCISE}[data-awake]").wait_for(timeout=60_000)
        page.wait_for_timeout(500)
        page.evaluate("measured.touch = 0")
        page.locator(f"{EXERCISE} input").first.click()
        page.wait_for_timeout(800)
        return float(page.evaluate("measured.touch"))


def tables(site: Path) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield a table of first visits, then one of the first touch: title, header, rows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, serving(site) as address:
        browser = launch(playwright)
        browser.new_page().wait_for_timeout(4000)  # the browser has work of its own when it starts
        rows = []
        for page in PAGES:
            visits = (visit(browser, f"{address}/{page}.html") for _ in range(7))
            *figures, shift = map(statistics.median, zip(*visits, strict=True))
            rows.append([page, *(f"{figure:.0f}" for figure in figures), f"{shift:.3f}"])
        header = ["page", "KB", "requests", "largest paint, ms", "load, ms", "shift"]
        yield "first visit: 1.6 Mbit/s, 150 ms, processor ×1/4", header, rows
        touches = statistics.median(touch(browser, address) for _ in range(3))
        yield "first touch of an exercise, processor ×1/4", ["ms to the next picture"], [[f"{touches:.0f}"]]
