"""Measures the finished website as a reader on a slow phone meets it, for `course.py bench --section site`.

A first visit over 1.6 Mbit/s and 150 ms with a processor slowed down four times, the way on to the next page,
then the first touch of widgets. A fresh browser context each time; medians.
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
WIDTHS = {"phone": 390, "desk": 1280}
PICTURE = re.compile(r'<svg[^>]*class="(?:plot|drawing)".*?</svg>|(?<=src=")data:image/[^"]*', re.DOTALL)
PACKED = {".html", ".js", ".css", ".svg", ".json", ".ipynb"}  # as any host of web pages does
NETWORK = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1.6e6 / 8,
    "uploadThroughput": 0.75e6 / 8,
}
OBSERVE = """
window.measured = {paint: 0, shift: 0, touch: 0, own: false};
const watch = (type, each, more = {}) => new PerformanceObserver((list) => list.getEntries().forEach(each))
    .observe({type, buffered: true, ...more});
watch("largest-contentful-paint", (entry) => (measured.paint = entry.startTime));
// before each paint: has the first one what it needs to show the page in its own face?
const look = () => {
    const faces = [...document.fonts].filter((face) => face.family.includes("d2lmini Page"));
    measured.own = faces.length > 0 && faces.every((face) => face.status === "loaded");
    if (!performance.getEntriesByName("first-contentful-paint").length) requestAnimationFrame(look);
};
requestAnimationFrame(look);
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
def _slow_phone(browser: Any, width: int = WIDTHS["phone"]) -> Iterator[tuple[Any, dict[str, float]]]:
    """A fresh page on a slow phone, however wide, and the bytes that each of its requests brought."""
    context = browser.new_context(viewport={"width": width, "height": 800})
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


def pictures(page: Path) -> float:
    """Return the KB that the pictures of a page add to it as it is sent."""
    whole = page.read_text(encoding="utf-8")
    packed = [len(gzip.compress(text.encode(), 6)) for text in (whole, PICTURE.sub("", whole))]
    return (packed[0] - packed[1]) / 1000


def visit(browser: Any, address: str, width: int = WIDTHS["phone"]) -> list[float]:
    """Return KB, requests, largest paint and load in ms, layout shift, own face at the first paint or not."""
    with _slow_phone(browser, width) as (page, brought):
        page.goto(address, wait_until="load", timeout=60_000)
        page.wait_for_timeout(1500)
        found = page.evaluate("measured")
        load = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        return [
            sum(brought.values()) / 1000,
            len(brought),
            found["paint"],
            load,
            found["shift"],
            found["own"],
        ]


def turn(browser: Any, address: str, rested: bool) -> float:
    """Return the ms from a click on the link to the next page to its first picture.

    A browser under remote control makes no page ready, it only fetches it: without one it is there sooner.

    Args:
        browser: shows the page.
        address: the page with that link.
        rested: the pointer rests on the link before.
    """
    with _slow_phone(browser, WIDTHS["desk"]) as (page, _):
        page.goto(address, wait_until="load", timeout=60_000)
        link = page.locator(".turn .next")
        page.locator("html[data-measured]").wait_for()
        link.scroll_into_view_if_needed()
        if rested:
            link.hover()
            page.wait_for_timeout(2000)
        here = page.url
        page.evaluate("addEventListener('click', () => (sessionStorage.clicked = Date.now()), true)")
        link.click(no_wait_after=True)
        page.wait_for_url(lambda url: url != here, wait_until="load")
        page.wait_for_timeout(500)
        return float(
            page.evaluate(
                """() => {
                    const [{ startTime }] = performance.getEntriesByName("first-contentful-paint");
                    return performance.timeOrigin + startTime - sessionStorage.clicked;
                }"""
            )
        )


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
            kilobytes, requests, paint, load, shift, _ = map(statistics.median, zip(*visits, strict=True))
            wide = visit(browser, f"{address}/{page}.html", WIDTHS["desk"])
            text = kilobytes - pictures(site / f"{page}.html")
            figures = (f"{figure:.0f}" for figure in (kilobytes, text, requests, paint, load))
            own = sum(one[5] for one in (*visits, wide))
            rows.append([page, *figures, f"{own} of {VISITS + 1}", f"{shift:.3f} {wide[4]:.3f}"])
        header = ["page", "KB", "KB before pictures", "requests", "largest paint, ms", "load, ms"]
        header += [
            "first paint in its own face",
            f"layout shift at {' and '.join(map(str, WIDTHS.values()))} px",
        ]
        yield "first visit: 1.6 Mbit/s, 150 ms, processor ×1/4", header, rows
        rows = []
        for language in LANGUAGES:
            start = f"{address}/{language}/self-attention.html"
            turns = [[turn(browser, start, rested) for _ in range(3)] for rested in (True, False)]
            rows.append([language, *(f"{statistics.median(few):.0f}" for few in turns)])
        yield "from a click to the next page", ["", "pointer rested on the link, ms", "at once, ms"], rows
        rows = []
        for widget, (page, *how) in TOUCHES.items():
            times = [touch(browser, f"{address}/en/{page}.html", *how) for _ in range(3)]
            rows.append([widget, f"{statistics.median(times):.0f}"])
        yield "first touch of a widget, processor ×1/4", ["widget", "ms to the next picture"], rows
        browser.close()
