"""What several tests share: the finished site, a small book of tricky pages, a server for each, a browser."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from making import ROOT, fonts_of_a_machine, make_book, served
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Route, sync_playwright

from book import build as site_builder
from book.browser import launch
from d2lmini.language import use_language
from d2lmini.notebook import progress
from d2lmini.notebook.widgets import module_source

EXPLORER_HOST = "http://explorer.test"
# The module alone, hosted as the website hosts it: in an element of class d2l-widget.
SHOW_EXPLORER = """async (lang) => {
  const module = await import("/module.js");
  const traits = { state: { lang }, answer: {}, checkpoint: (direction) => `/${direction}.safetensors` };
  const model = { get: (name) => traits[name], set() {}, on() {}, off() {}, save_changes() {} };
  window.numbers = module.arithmetic;
  window.leave = module.default.render({ model, el: document.getElementById("here") });
}"""


@pytest.fixture(scope="session")
def site() -> Path:
    """The course itself, built once however many workers wait for it."""
    work = ROOT / "_build"
    work.mkdir(exist_ok=True)
    with FileLock(work / "tests.lock"):
        return site_builder.build()


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of two pages that hold every feature of the site once, in three languages."""
    from small_book import PAGES

    shared = tmp_path_factory.getbasetemp()
    if shared.name.startswith("popen-gw"):  # xdist: the folder above is common to the workers
        shared = shared.parent
    root = shared / "small-book"
    with FileLock(shared / "small-book.lock"):
        if not root.exists():
            root.mkdir()
            make_book(root, PAGES)
        return site_builder.build(root)


@pytest.fixture(scope="session")
def small_address(small_site: Path) -> Iterator[str]:
    with served(small_site) as address:
        yield address


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """An installed Chrome or Chromium, or the browser that D2LMINI_BROWSER names.

    Nothing is kept for reading offline but where a test says `service_workers="allow"`: it is 7 MB each time.
    """
    started = launch(playwright)
    new_context = started.new_context

    def without_worker(service_workers: str = "block", **options: Any) -> BrowserContext:
        context = new_context(**options)
        if service_workers == "block":
            # Playwright's own way writes to the console, which tests hold to be empty
            context.add_init_script("delete Navigator.prototype.serviceWorker")
        return context

    started.new_context = without_worker  # type: ignore[method-assign]
    yield started
    started.close()


@pytest.fixture
def browser_with_fonts(playwright: Playwright, tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    """Starts the browser as on a machine that has these fonts and no others: family → (ascent, descent)."""
    started = []

    def start(faces: dict[str, tuple[int, int]]) -> Browser:
        environment = {**os.environ, "FONTCONFIG_FILE": str(fonts_of_a_machine(tmp_path, faces))}
        started.append(launch(playwright, env=environment))
        return started[-1]

    yield start
    for browser in started:
        browser.close()


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own to work in, where answers are kept; English; nothing left from the test before."""
    monkeypatch.chdir(tmp_path)
    progress._unsaved.clear()
    progress._warn.cache_clear()
    progress._file.cache_clear()
    use_language("en")
    yield tmp_path
    progress._file.cache_clear()
    use_language("en")


def checkpoint_of(route: Route) -> Path:
    return ROOT / "d2lmini" / "assets" / "checkpoints" / route.request.url.rpartition("/")[2]


@pytest.fixture
def show(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an explorer on a page of its own; a message on the console fails the test."""
    context = browser.new_context()
    complaints: list[str] = []

    def opened(
        kind: str,
        lang: str = "en",
        query: str = "",
        theme: str = "light",
        width: int = 760,
        source: str | None = None,
    ) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        colors = {"light": "#ffffff", "dark": "#15181c"}[theme]
        body = (
            f'<!doctype html><html lang="{lang}" data-theme="{theme}"><head><title>x</title></head>'
            f'<body style="background:{colors}"><main><h1>x</h1>'
            '<div class="d2l-widget"><div id="here"></div></div>'
        )
        page.route(f"{EXPLORER_HOST}/**", lambda route: route.fulfill(content_type="text/html", body=body))
        module = source or module_source(kind, lang)
        page.route(
            f"{EXPLORER_HOST}/module.js",
            lambda route: route.fulfill(content_type="text/javascript", body=module),
        )
        page.route(f"{EXPLORER_HOST}/*.safetensors", lambda route: route.fulfill(path=checkpoint_of(route)))
        page.goto(f"{EXPLORER_HOST}/{query}")
        page.evaluate(SHOW_EXPLORER, lang)
        return page

    yield opened
    context.close()
    assert complaints == []
