"""A class on one laptop: thirty readers who open a page at the same moment. Measured, not recorded."""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import torch

from book import build
from book.browser import launch
from book.serve import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

READERS = 30
PAGE = "vi/self-attention.html"


def first_visit(site: Path, browser: "Browser", page: str = PAGE) -> list[str]:
    """Return what a browser fetches when somebody opens a page for the first time, recorded."""
    asked: list[str] = []
    with serving(site) as address:
        tab = browser.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(f"{address}/{page}", wait_until="load")
        tab.mouse.wheel(0, 3000)  # what is below wakes, and is kept for reading without network
        tab.wait_for_timeout(5000)
        tab.wait_for_load_state("networkidle")
        tab.close()
    return [found.split("/", 3)[3] for found in asked if found.startswith("http")]


def come(address: str, paths: list[str], readers: int = READERS) -> tuple[list[float], list[bytes]]:
    """Let readers come at once; return the seconds of each, and what the last one got of each path.

    Raises:
        OSError: one of them got no answer, or another one than 200.
    """

    def read(_: int) -> tuple[float, list[bytes]]:
        began = time.perf_counter()
        bodies = []
        for path in paths:
            with urlopen(f"{address}/{path}", timeout=120) as answer:
                bodies.append(answer.read())
        return time.perf_counter() - began, bodies

    with ThreadPoolExecutor(readers) as pool:
        done = list(pool.map(read, range(readers)))
    return [seconds for seconds, _ in done], done[-1][1]


def run(devices: list[torch.device], record: bool) -> None:
    """Print how long each of them waits for a whole first visit."""
    from playwright.sync_api import sync_playwright

    site = build.build()
    with sync_playwright() as playwright:
        paths = first_visit(site, launch(playwright))
    with serving(site) as address:
        seconds, bodies = come(address, paths)
    size = sum(map(len, bodies)) / 1e6
    print(f"{READERS} readers at once, {len(paths)} files, {size:.1f} MB each: "
          f"median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s")  # fmt: skip
