"""What several tests share: the finished site, a small book of tricky pages, a server for each, a browser."""

# Which tests run by default, and which are `slow` (they run with `--all`):
# - What one template or one module makes is held once by default: one page of a kind, one exercise of a kind.
# - What varies over language, theme and width is held pairwise, by pairing.py; other combinations are slow.
# - What needs a throttled network, a second server or a browser of its own is slow, but for one example.
# A test is never left out: mark it, or one of its parameters, with `pytest.mark.slow`.

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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
        return site_builder.build(out=work / "tests-site")  # not what the author looks at


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


class ExplorerPage:
    """The page of a worker that shows one explorer after the other: a new page takes longer than a test."""

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.computing: str | None = None  # the explorer whose arithmetic is there, untouched
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route(f"{EXPLORER_HOST}/**", self._answer)
        self._body = self._module = ""

    def _answer(self, route: Route) -> None:
        name = urlsplit(route.request.url).path[1:]
        if name.endswith(".safetensors"):
            route.fulfill(path=ROOT / "d2lmini" / "assets" / "checkpoints" / name)
        elif name == "module.js":
            route.fulfill(content_type="text/javascript", body=self._module)
        else:
            route.fulfill(content_type="text/html", body=self._body)

    def show(  # what a person may choose, and the text of another module
        self,
        kind: str,
        lang: str = "en",
        query: str = "",
        theme: str = "light",
        width: int = 760,
        source: str | None = None,
    ) -> Page:
        colors = {"light": "#ffffff", "dark": "#15181c"}[theme]
        self._body = (
            f'<!doctype html><html lang="{lang}" data-theme="{theme}"><head><title>x</title></head>'
            f'<body style="background:{colors}"><main><h1>x</h1>'
            '<div class="d2l-widget"><div id="here"></div></div>'
        )
        self._module = source or module_source(kind, lang)
        self.computing = None
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto(f"{EXPLORER_HOST}/{query}")
        self.page.evaluate(SHOW_EXPLORER, lang)
        return self.page

    def close(self) -> list[str]:
        """Close the page and return what was complained about."""
        self.context.close()
        return self.complaints


@pytest.fixture(scope="session")
def explorer_pages(browser: Browser) -> Iterator[list[ExplorerPage]]:
    """The page that explorers share, alone in a list: after a failed test another one takes its place."""
    pages = [ExplorerPage(browser)]
    yield pages
    pages[0].close()


@pytest.fixture
def explorer_page(
    browser: Browser, explorer_pages: list[ExplorerPage], request: pytest.FixtureRequest
) -> Iterator[ExplorerPage]:
    """The page that explorers share; a message on the console fails the test."""
    failures = request.session.testsfailed
    explorer_page = explorer_pages[0]
    yield explorer_page
    failed = request.session.testsfailed > failures
    if not failed:
        explorer_page.page.evaluate("localStorage.clear()")  # and what was said before arrives
    if failed or explorer_page.complaints:
        explorer_pages[0] = ExplorerPage(browser)
        explorer_page.close()
    assert explorer_page.complaints == []


@pytest.fixture
def show(explorer_page: ExplorerPage) -> Callable[..., Page]:
    """Open an explorer on the page that explorers share; what the page showed before is gone."""
    return explorer_page.show


@pytest.fixture
def show_apart(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an explorer on a page of its own: for a test that changes its clock, processor or media."""
    apart = ExplorerPage(browser)
    yield apart.show
    assert apart.close() == []


@pytest.fixture
def compute(explorer_page: ExplorerPage) -> Callable[[str], Page]:
    """Return a page with the arithmetic of an explorer, `numbers`: that of the test before, if it has it."""

    def page_of(kind: str) -> Page:
        if explorer_page.computing != kind:
            explorer_page.show(kind)
            explorer_page.computing = kind
        return explorer_page.page

    return page_of
