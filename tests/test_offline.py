"""Without network: what a browser keeps, a new build beside an old one, and the zip that is taken along."""

import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest
from making import served, until
from pairing import THEMES, WIDTHS, pairwise, slow_except
from playwright.sync_api import Browser, BrowserContext, Page, expect
from test_browser import AXE, PAGES, Visit
from test_site import broken_links

from book import offline, serve
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.widgets import KINDS

WORDS = words("en")["site"]["offline"]
KEPT = WORDS["script"]["kept"].partition("(")[0]
# waited for before a page is left: a request that is broken off would count as failed
FONTS = "document.fonts.ready.then(() => 0)"


@contextmanager
def on_the_web(folder: Path) -> Iterator[str]:
    """Serve a folder under a name that is not this machine's own: there what is kept comes first."""
    host = "course.localhost"
    with patch.object(serve, "NAMES", (*serve.NAMES, host)), served(folder) as address:
        yield address.replace("127.0.0.1", host)


@pytest.fixture
def reader(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(service_workers="allow")
    yield context
    context.close()


@pytest.fixture
def course(small_site: Path, tmp_path: Path) -> Path:
    """A site of its own, to be changed, in a folder of its host as on GitHub Pages."""
    return Path(shutil.copytree(small_site, tmp_path / "host" / "course"))


def start_keeping(page: Page) -> None:
    """What a page does by itself some seconds after it has loaded."""
    page.evaluate("import(`./_static/offline.js?${document.body.dataset.version}`).then(() => 0)")


def stay(page: Page, address: str) -> None:
    """Open a page, where the reader has asked for the whole course, and stay until it is kept."""
    page.goto(address)
    page.evaluate(
        """() => {
            const { pathname } = new URL(document.documentElement.dataset.site, location.href);
            const name = pathname === "/" ? "d2lmini-offline" : `d2lmini-offline ${pathname}`;
            localStorage.setItem(name, '"whole"');
        }"""
    )
    start_keeping(page)
    page.locator(".to-offline", has_text=KEPT).wait_for(timeout=60_000)


def settled(page: Page) -> None:
    """Wait until the page has kept what it can."""
    page.locator("html[data-kept]").wait_for(timeout=60_000)


def kept(page: Page) -> dict[str, set[str]]:
    """The builds in the caches, by language and digest, each with the paths of its files."""
    found = page.evaluate("""async () => {
        const found = {};
        for (const name of await caches.keys())
            found[name] = (await (await caches.open(name)).keys()).map(({ url }) => url);
        return found;
    }""")
    return {
        " ".join(name.split(" ")[2:]): {re.sub(r"^\w+://[^/]+", "", url) for url in urls}
        for name, urls in found.items()
        if len(name.split(" ")) > 2
    }


def rebuild(site: Path, old: str, new: str) -> None:
    """Change a text of the English edition in place, as a build would leave it."""
    for path in (site / "en" / "basics.html", site / "en" / "_static" / "search.json"):
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    offline.stamp(site, "en")


def test_every_page_widget_and_search_work_once_the_server_is_gone(reader, site):
    page = reader.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    with on_the_web(site) as home:
        stay(page, f"{home}/en/index.html")
    page.on(
        "requestfailed",  # leaving a page breaks off what it was fetching
        lambda request: request.failure == "net::ERR_ABORTED" or complaints.append(request.url),
    )
    woken = set()
    for name in PAGES:
        answer = page.goto(f"{home}/en/{name}.html")
        assert answer.from_service_worker
        page.locator("html[data-measured]").wait_for()
        for kind in KINDS:
            place = page.locator(f".d2l-widget[data-widget={kind}]").first
            if kind not in woken and place.count():
                place.scroll_into_view_if_needed()
                place.and_(page.locator("[data-awake]")).wait_for()
                woken.add(kind)
        if name == "translation":
            translator = page.locator("[data-widget=translator-explorer]").first
            translator.get_by_role("combobox", name="Sentence", exact=True).select_option("I don't eat fish.")
            expect(translator.locator(".target")).to_contain_text("poisson")
        page.evaluate(FONTS)
    assert woken == set(KINDS)
    models = page.evaluate(
        """async (names) => {
            const { version } = document.body.dataset;
            const asked = names.map((name) => fetch(`_static/checkpoints/${name}?${version}`));
            return (await Promise.all(asked)).map(({ status }) => status);
        }""",
        [path.name for path in (site / "en" / "_static" / "checkpoints").iterdir()],
    )
    assert models == [200] * 9
    page.keyboard.press("/")
    page.locator("#site-search input").fill("causal mask")
    page.locator("#site-search-results a").first.wait_for()
    for address in ("", "en/", "en/index"):  # the door leads to the reader's language
        page.goto(f"{home}/{address}")
        expect(page.locator("h1")).to_have_text(page_title(site, "index"))
    assert [one for one in complaints if not one.endswith("/offline.json")] == []


def page_title(site: Path, name: str) -> str:
    title = re.search(r"<h1[^>]*>([^<]*)", (site / "en" / f"{name}.html").read_text(encoding="utf-8"))
    assert title
    return title[1]


def test_a_page_that_is_not_kept_says_so_and_offers_those_that_are(reader, course):
    page = reader.new_page()
    with on_the_web(course.parent) as home:
        stay(page, f"{home}/course/en/basics.html")
    page.goto(f"{home}/course/vi/basics.html?view=1")
    expect(page.locator("h1:visible")).to_have_text(WORDS["missing_title"])
    expect(page).to_have_title(WORDS["missing_title"])
    expect(page.locator("[data-again]")).to_have_attribute("href", "/course/vi/basics.html")
    page.locator(".pages a:visible", has_text="The basics").click()
    page.wait_for_url("**/en/basics.html")
    # an address of another host is none to try again
    page.goto(f"{home}/course/en/offline.html?wanted=//evil.test/x")
    expect(page.locator("[data-again]")).to_have_attribute("href", "index.html")


def test_a_new_build_takes_its_place_whole_and_an_open_page_keeps_its_own(reader, course):
    old, other = reader.new_page(), reader.new_page()
    searched = "fetch(`_static/search.json?${document.body.dataset.version}`).then((answer) => answer.text())"
    with on_the_web(course.parent) as home:
        address = f"{home}/course/en/basics.html"
        stay(old, address)
        old.locator(".d2l-widget").scroll_into_view_if_needed()
        old.locator(".d2l-widget input").first.focus()
        old.keyboard.press("Space")  # chosen, and not checked
        answer = old.evaluate("localStorage.getItem('d2lmini /course/')")
        assert '"given":0' in answer
        rebuild(course, "First words", "New first words")
        other.goto(address)  # still of the build that is kept whole
        assert "New first words" not in other.locator("article").inner_text()
        first = other.evaluate("document.body.dataset.version")
        start_keeping(other)
        for page in (other, old):
            expect(page.locator(".news")).to_contain_text(WORDS["script"]["news"])
        builds = kept(old)
        assert len(builds) == 2
        # the old page still gets its own files, and loses nothing
        assert "New first words" not in old.evaluate(searched)
        assert old.evaluate("document.body.dataset.version") == first
        old.get_by_role("button", name=WORDS["script"]["later"]).click()
        expect(old.locator(".news")).to_have_count(0)
        other.get_by_role("button", name=WORDS["script"]["reload"]).click()
        expect(other.locator("article")).to_contain_text("New first words")
        assert "New first words" in other.evaluate(searched)
        second = other.evaluate("document.body.dataset.version")
        assert {f"en {first}", f"en {second}"} == set(builds)
        start_keeping(other)
        settled(other)
        assert len(kept(other)) == 2  # as a page of the old build is open
        old.reload()
        assert old.evaluate("document.body.dataset.version") == second
        assert old.evaluate("localStorage.getItem('d2lmini /course/')") == answer
        other.close()
        start_keeping(old)
        settled(old)
        expect(old.locator(".news")).to_have_count(0)
        until(
            old,
            """(version) => caches.keys().then((names) => names.every(
                (name) => name.split(" ").length < 3 || name.endsWith(version)))""",
            second,
        )
        assert set(kept(old)) == {f"en {second}"}


def test_what_is_broken_off_or_damaged_is_taken_up_again(reader, course, monkeypatch):
    asked: list[str] = []
    send_head = serve.Handler.send_head
    monkeypatch.setattr(
        serve.Handler, "send_head", lambda handler: (asked.append(handler.path), send_head(handler))[1]
    )
    page = reader.new_page()
    model = course / "en" / "_static" / "checkpoints" / "en-vi.safetensors"
    good = model.read_bytes()
    with on_the_web(course.parent) as home:
        for damage in (good[:-1] + b"x", None):
            model.write_bytes(damage) if damage else model.unlink()
            page.goto(f"{home}/course/en/basics.html")
            page.evaluate("localStorage.setItem('d2lmini-offline /course/', '\"whole\"')")
            start_keeping(page)
            settled(page)
            assert page.locator(".to-offline").inner_text() == WORDS["link"]
            ((_, files),) = kept(page).items()
            assert "/course/en/index.html" in files
            assert not any("en-vi" in path for path in files)
        model.write_bytes(good)
        asked.clear()
        stay(page, f"{home}/course/en/index.html")
        ((_, now),) = kept(page).items()
        assert files < now
        assert [path for path in asked if path in files and "?" in path] == []


def test_without_being_asked_only_what_was_seen_is_kept(reader, course):
    page = reader.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with on_the_web(course.parent) as home:
        page.goto(f"{home}/course/en/basics.html")
        start_keeping(page)
        settled(page)
        assert page.locator(".to-offline").inner_text() == WORDS["link"]
    ((_, files),) = kept(page).items()
    assert not any("checkpoints" in path or "search" in path for path in files)
    assert not any("index.html" in path or "checkpoints" in path for path in [*files, *asked])
    page.reload()
    assert page.locator("h1").inner_text() == "The basics"
    page.goto(f"{home}/course/en/index.html")
    expect(page.locator("h1:visible")).to_have_text(WORDS["missing_title"])
    assert page.locator(".pages a:visible").all_inner_texts() == ["The basics"]


def test_on_the_own_machine_a_reload_shows_the_new_build_at_once(reader, course):
    page = reader.new_page()
    with served(course) as home:
        stay(page, f"{home}/en/basics.html")
        rebuild(course, "First words", "New first words")
        page.reload()
        expect(page.locator("article")).to_contain_text("New first words")
        start_keeping(page)
        settled(page)
        expect(page.locator(".news")).to_have_count(0)
    page.reload()
    expect(page.locator("article")).to_contain_text("New first words")


def test_what_is_kept_can_be_deleted_and_stays_away_until_it_is_asked_for(reader, course):
    page = reader.new_page()
    with on_the_web(course.parent) as home:
        stay(page, f"{home}/course/en/basics.html")
        page.goto(f"{home}/course/en/offline.html")
        page.get_by_role("button", name=WORDS["forget"]).click()
        expect(page.locator("[data-when=nothing]").first).to_be_visible()
        assert kept(page) == {}
        page.goto(f"{home}/course/en/basics.html")
        start_keeping(page)
        assert kept(page) == {}
        assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
        page.goto(f"{home}/course/en/offline.html")
        page.get_by_role("button", name=WORDS["keep"].partition(" (")[0]).click()
        expect(page.locator("[data-when=whole]")).to_be_visible(timeout=60_000)


def test_where_nothing_can_be_kept_the_page_works_as_before(reader, course):
    reader.add_init_script(
        "CacheStorage.prototype.open = () => Promise.reject(new DOMException('no', 'SecurityError'))"
    )
    reader.add_init_script("CacheStorage.prototype.has = CacheStorage.prototype.open")
    page = reader.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    with on_the_web(course.parent) as home:
        page.goto(f"{home}/course/en/basics.html")
        start_keeping(page)
        settled(page)
        assert page.locator(".to-offline").inner_text() == WORDS["link"]
        page.goto(f"{home}/course/en/offline.html")
        expect(page.locator("[data-when=unable]")).to_be_visible()
    assert complaints == []


@pytest.mark.parametrize(
    ("language", "scheme", "width"),
    slow_except(product(LANGUAGES, THEMES, WIDTHS), pairwise(LANGUAGES, THEMES, WIDTHS)),
)
def test_the_page_about_it_passes_axe(browser, small_address, language, scheme, width):
    visit = Visit(
        browser,
        small_address,
        bypass_csp=True,
        service_workers="allow",
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    for address in ("offline.html", f"offline.html?wanted=/{language}/basics.html"):
        visit.open(f"{language}/{address}")
        visit.page.locator("[data-when]:visible").first.wait_for()
        visit.page.evaluate(AXE)
        assert visit.violations() == []
        assert visit.overflow() == 0
    assert visit.foreign == []
    visit.context.close()


# ---- the zip -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unpacked(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zip")
    for language in LANGUAGES:
        with zipfile.ZipFile(site / f"d2lmini-{language}.zip") as archive:
            archive.extractall(folder)
    return folder


@contextmanager
def shown_by_python(folder: Path) -> Iterator[str]:
    """What the README of the zip says to type."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.xdist_group("zip")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_zip_has_everything_that_it_links_to(unpacked, language):
    folder = unpacked / f"d2lmini-{language}"
    assert (folder / language / "licenses.html").exists()
    assert {path.name for path in folder.iterdir()} >= {"README.txt", "index.html", language}
    assert "python3 -m http.server" in (folder / "README.txt").read_text(encoding="utf-8")
    assert {path.stem for path in (folder / language).glob("*.html")} == set(PAGES)
    assert {path.stem for path in (folder / language).glob("*.ipynb")} == set(PAGES) - {"licenses", "review"}
    assert broken_links(folder) == []


@pytest.mark.xdist_group("zip")
def test_the_zip_is_read_with_pythons_own_server(unpacked, browser):
    with shown_by_python(unpacked / "d2lmini-vi") as home:
        visit = Visit(browser, home, bypass_csp=True, locale="vi-VN", service_workers="allow").open("")
        visit.page.wait_for_url("**/vi/index.html")
        for name in ("index", "self-attention", "translation"):
            visit.open(f"vi/{name}.html").wake_widgets()
            assert visit.page.locator(".d2l-widget[data-widget]:not([data-awake])").count() == 0
            visit.page.evaluate(AXE)
            assert visit.violations() == []
            visit.page.evaluate(FONTS)
        visit.page.keyboard.press("/")
        visit.page.locator("#site-search input").fill("mặt nạ nhân quả")
        visit.page.locator("#site-search-results a").first.wait_for()
        assert visit.page.locator(".languages, .to-offline").count() == 0
        assert visit.foreign == []
        assert visit.complaints == []
        visit.context.close()
