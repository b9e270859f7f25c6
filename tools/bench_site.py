"""Measures the finished website as a reader on a slow phone meets it, for `course.py bench --section site`.

A first visit over 1.6 Mbit/s and 150 ms with a processor slowed down four times, then the first touch of
widgets. A fresh browser context each time; medians.
"""

import gzip
import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from book.serve import Handler
from tools.browser import launch

VISITS = 5
PAGES = ("en/self-attention", "vi/self-attention", "zh/self-attention", "en/complexity", "en/index")
PACKED = {".html", ".js", ".css", ".svg", ".json", ".ipynb"}  # as any host of web pages does
NETWORK = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1.6e6 / 8,
    "uploadThroughput": 0.75e6 / 8,
}
OBSERVE = """
window.measured = {paint: 0, shift: 0, touch: 0};
const watch = (type, each, more = {}) => new PerformanceObserver((list) => list.getEntries().forEach(each))
    .observe({type, buffered: true, ...more});
watch("largest-contentful-paint", (entry) => (measured.paint = entry.startTime));
watch("layout-shift", (entry) => (measured.shift += entry.hadRecentInput ? 0 : entry.value));
const longer = (entry) => (measured.touch = Math.max(measured.touch, entry.duration));
watch("event", longer, {durationThreshold: 16});
"""
# widget: its page, its place there, what to touch, and how
TOUCHES = {
    "choice": ("self-attention", "[data-id='self-attention/why-scale']", "input", "click"),
    "multiple": ("complexity", "[data-id='complexity/sequential-claims']", "input", "click"),
    "matrix": ("multi-head-attention", "[data-id='multi-head-attention/mask-matrix']", "td label", "click"),
    "order": (
        "multi-head-attention",
        "[data-id='multi-head-attention/head-shapes']",
        ".d2l-move [aria-disabled=false]",
        "click",
    ),
    "attention explorer": ("multi-head-attention", "[data-widget=attention-explorer]", "[role=radio]", "End"),
    "listening explorer": ("index", "[data-widget=listening-explorer]", "[role=radio]", "End"),
    "plane explorer": ("self-attention", "[data-widget=plane-explorer]", "[role=slider]", "ArrowRight"),
    "path explorer": ("complexity", "[data-widget=path-explorer]", "[type=range]", "ArrowRight"),
    "clock explorer": ("positional-encoding", "[data-widget=clock-explorer]", "[type=range]", "ArrowRight"),
    "rotary explorer": ("relative-positions", "[data-widget=rotary-explorer]", "[type=range]", "ArrowRight"),
    "block explorer": ("transformer", "[data-widget=block-explorer]", "[aria-current=step]", "ArrowRight"),
    "translator explorer": ("translation", "[data-widget=translator-explorer]", ".examples button", "click"),
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
def _slow_phone(browser: Any) -> Iterator[tuple[Any, dict[str, float]]]:
    """A fresh page on a slow phone, and the bytes that each of its requests brought."""
    context = browser.new_context(viewport={"width": 375, "height": 800})
    page = context.new_page()
    page.add_init_script(OBSERVE)
    page.goto("about:blank")
    page.wait_for_timeout(300)  # the start of the browser's process is not the page's
    tools = context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send("Network.emulateNetworkConditions", NETWORK)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    asked: set[str] = set()
    brought: dict[str, float] = {}

    def ask(event: dict[str, Any]) -> None:
        if not event["request"]["url"].startswith(("data:", "blob:")):
            asked.add(event["requestId"])

    def bring(event: dict[str, Any]) -> None:
        if event["requestId"] in asked:
            brought[event["requestId"]] = event["encodedDataLength"]

    tools.on("Network.requestWillBeSent", ask)
    tools.on("Network.loadingFinished", bring)
    yield page, brought
    context.close()


def visit(browser: Any, address: str) -> list[float]:
    """Return KB, requests, largest paint in ms, load in ms and layout shift of a first visit."""
    with _slow_phone(browser) as (page, brought):
        page.goto(address, wait_until="load", timeout=60_000)
        page.wait_for_timeout(1500)
        found = page.evaluate("measured")
        load = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        return [sum(brought.values()) / 1000, len(brought), found["paint"], load, found["shift"]]


def touch(browser: Any, address: str, where: str, what: str, how: str) -> float:
    """Return the milliseconds from the first touch of a widget to the next picture."""
    with _slow_phone(browser) as (page, _):
        page.goto(address, timeout=60_000)
        place = page.locator(f".d2l-widget{where}")
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
            kilobytes, requests, paint, load, shift = map(statistics.median, zip(*visits, strict=True))
            rows.append(
                [page, f"{kilobytes:.0f}", f"{requests:.0f}", f"{paint:.0f}", f"{load:.0f}", f"{shift:.3f}"]
            )
        header = ["page", "KB", "requests", "largest paint, ms", "load, ms", "layout shift"]
        yield "first visit: 1.6 Mbit/s, 150 ms, processor ×1/4", header, rows
        rows = []
        for widget, (page, *how) in TOUCHES.items():
            times = [touch(browser, f"{address}/en/{page}.html", *how) for _ in range(3)]
            rows.append([widget, f"{statistics.median(times):.0f}"])
        yield "first touch of a widget, processor ×1/4", ["widget", "ms to the next picture"], rows
        browser.close()
