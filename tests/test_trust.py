"""What a visitor can trust: nothing foreign runs in a page, and the server gives out nothing but the site."""

import base64
import hashlib
import http.client
import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import segno
from making import ROOT, served
from playwright.sync_api import expect

import course
from book import serve
from book.ext.page import AHEAD, FIND_SITE_SCRIPT, HEAD_SCRIPT
from tools.record import classroom

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def pages_of(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


# ---- the policy of each page


class Inline(HTMLParser):
    """What a page runs and how it is styled, as far as that stands in the page itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {"script": [], "style": []}
        self.handlers: list[str] = []
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.handlers += [
            name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")
        ]
        runs = tag == "style" or (tag == "script" and given.get("type") != "application/json")
        self._open = tag if runs and "src" not in given else ""

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.found[self._open].append(data)


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_each_page_allows_its_own_script_and_styles_by_their_hashes_and_nothing_else(site):
    pages = pages_of(site)
    assert {site / "index.html", site / "404.html", site / "en" / "index.html"} <= set(pages)
    ours = {"'self'", hashed(HEAD_SCRIPT), hashed(AHEAD)}
    for path in pages:
        page = path.read_text(encoding="utf-8")
        (policy,) = POLICY.findall(page)
        rules = {name: set(values) for name, *values in map(str.split, policy.split("; "))}
        inline = Inline(page)
        assert inline.handlers == [], path
        assert rules["default-src"] == {"'self'"} and rules["object-src"] == {"'none'"}, path
        assert {"'self'", *map(hashed, inline.found["script"])} <= rules["script-src"], path
        lost = {hashed(FIND_SITE_SCRIPT)} if path.name == "404.html" else set()  # it alone leads back
        assert rules["script-src"] == ours | lost, path
        assert rules["style-src"] == {"'self'", *map(hashed, inline.found["style"])}, path
        assert inline.found["script"] and inline.found["style"], path
        assert "http" not in policy and "unsafe-eval" not in policy, path


ATTACK = """() => new Promise((tell) => {
    const tried = ["script-src-elem", "script-src-attr", "style-src-elem"];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
        tried.splice(tried.indexOf(effectiveDirective), 1);
        if (!tried.length) tell(window.ran ?? getComputedStyle(document.body).columnCount);
    });
    for (const [name, text] of [["script", "ran = 1"], ["style", "body { column-count: 7 }"]]) {
        const made = document.createElement(name);
        made.textContent = text;
        document.head.append(made);
    }
    document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="ran = 2">');
})"""


def test_a_script_or_a_style_sheet_brought_into_a_page_has_no_effect(small_address, browser):
    page = browser.new_page()
    for path in ("index.html#choose", "404.html", "en/basics.html"):
        page.goto(f"{small_address}/{path}")
        assert page.evaluate(ATTACK) == "auto", path
    page.close()


# ---- words that would like to be markup

SEEN = """() => ({
    ran: typeof evil,
    markup: document.querySelectorAll(".evil").length,
    handlers: [...document.querySelectorAll("*")].flatMap((one) =>
        one.getAttributeNames().filter((name) => !/^[a-z][a-zA-Z:-]*$/.test(name) || name.startsWith("on"))),
    text: document.documentElement.textContent.split(`<b class="evil">&amp;"'</b><script>`).length - 1,
})"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A book of which every word, title, description, table, result and setting ends in markup."""
    root = tmp_path_factory.mktemp("hostile")
    command = [sys.executable, str(ROOT / "tests" / "hostile.py"), str(root)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with served(root / "_build" / "site") as address:
        yield address


def test_no_word_becomes_markup_wherever_it_is_shown(hostile, browser):
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    nothing = {"ran": "undefined", "markup": 0, "handlers": []}
    # how often the attack is shown, at the least: less, and it is dropped instead of shown
    for path, count in (
        ("index.html#choose", 4),
        ("404.html", 4),
        ("en/licenses.html", 60),
        ("en/index.html", 30),
    ):
        page.goto(f"{hostile}/{path}")
        seen = page.evaluate(SEEN)
        assert seen.pop("text") >= count, path
        assert seen == nothing, path

    page.goto(f"{hostile}/en/basics.html")
    page.locator(".d2l-widget").scroll_into_view_if_needed()
    page.locator(".d2l-widget[data-awake] input").first.check()
    page.locator(".d2l-widget[data-awake] button").first.click()
    page.locator(".to-progress").click()
    page.locator("#site-progress dd").wait_for()
    page.locator("#site-progress [value=close], #site-progress .icon-button").first.click()
    page.keyboard.press("/")
    for query in ("basics", "typical score", "no such word <b class='evil'>"):
        page.locator("#site-search input").fill(query)
        page.locator("#site-search .status", has_text='class="evil"').wait_for()
        seen = page.evaluate(SEEN)
        assert seen.pop("text") > 50, query
        assert seen == nothing, query
    assert page.locator('meta[name="description"]').get_attribute("content").count("evil") == 2
    assert [text for text in said if "course.test" not in text] == []
    page.close()


# ---- the server


def ask(address: str, target: str, method: str = "GET", **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """What the server answers to a request written as it stands, which no client would tidy up."""
    port = int(address.rsplit(":", 1)[1])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, target, skip_host=True)
    for name, value in ({"Host": f"127.0.0.1:{port}"} | headers).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    reply = answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
    connection.close()
    return reply


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site with a secret beside it, and a link out of it."""
    site = tmp_path / "site"
    (site / "en" / "_static").mkdir(parents=True)
    (site / "404.html").write_text("not here")
    (site / "en" / "index.html").write_text("the course")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "site-secret.txt").write_text("secret")
    if os.name != "nt":  # where making one takes rights
        (site / "link.txt").symlink_to(tmp_path / "secret.txt")
        (site / "out").symlink_to(tmp_path)
    return site


OUTSIDE = [
    "/../secret.txt",
    "/en/../../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/%252e%252e/secret.txt",
    "/..%5csecret.txt",
    "/..\\secret.txt",
    "/en/..%5c..%5csecret.txt",
    "/C:/secret.txt",
    "/C:secret.txt",
    "/en/index.html::$DATA",
    "/en/index.html%00",
    "/%00",
    "//secret.txt",
    "//127.0.0.1/en/",
    "/en//index.html",
    "/../site-secret.txt",
    "/link.txt",
    "/out/secret.txt",
    "http://elsewhere.test/en",
    "secret.txt",
    "/en/_static/",
    "/en/" + "a/" * 2000,
]


def test_nothing_outside_of_the_site_is_given_out_and_no_folder_is_listed(folder):
    with served(folder) as address:
        assert ask(address, "/en/")[:2] == ask(address, "/en/index.html?x=../..")[:2] == (200, b"the course")
        for target in OUTSIDE:
            assert ask(address, target)[:2] == (404, b"not here"), target


def test_the_server_is_asked_by_the_name_of_this_machine_or_not_at_all(folder):
    with served(folder) as address:
        port = address.rsplit(":", 1)[1]
        for name in ("localhost", "LOCALHOST", "127.0.0.1", "[::1]"):
            assert ask(address, "/en/", Host=f"{name}:{port}")[0] == 200, name
        for host in (
            f"evil.test:{port}",
            "localhost",
            "127.0.0.1:1",
            f"localhost.evil.test:{port}",
            "",
            f"0:{port}",
        ):
            status, body, _ = ask(address, "/en/", Host=host)
            assert status == 421 and b"the course" not in body, host
    running = serve.server(folder, 0)
    assert running.server_address[0] == "127.0.0.1"
    running.server_close()


def test_a_class_reads_by_the_address_that_was_asked_for_and_by_no_other(folder):
    """127.0.0.2 stands for an address in a network: it is this machine by another name."""
    running = serve.server(folder, 0, "127.0.0.2")
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    port = running.server_port

    def status(target: str = "/en/", host: str = f"127.0.0.2:{port}", at: str = "127.0.0.2") -> int:
        connection = http.client.HTTPConnection(at, port, timeout=10)
        connection.request("GET", target, headers={"Host": host})
        return connection.getresponse().status

    try:
        assert status() == 200
        assert status(host=f"evil.test:{port}") == 421
        assert {status(target) for target in OUTSIDE} == {404}
        with pytest.raises(ConnectionRefusedError):
            status(at="127.0.0.1")
    finally:
        running.shutdown()
        running.server_close()


def test_host_prints_the_address_and_its_picture(folder, monkeypatch, capsys):
    monkeypatch.setattr(serve.Server, "serve_forever", lambda self: None)
    (folder / "index.html").write_text("")
    assert serve.main(["--port", "0", "--host", "127.0.0.2", "--site", str(folder)]) == 0
    said = capsys.readouterr().out
    (address,) = re.findall(r"http://127\.0\.0\.2:\d+/", said)
    drawn = io.StringIO()
    segno.make(address).terminal(drawn, compact=True)
    assert said.startswith(drawn.getvalue()) and len(drawn.getvalue().splitlines()) > 10
    assert serve.main(["--port", "0", "--host", "203.0.113.9", "--site", str(folder)]) == 1
    assert "no address “203.0.113.9”" in capsys.readouterr().err


def test_without_https_all_works_but_what_browsers_refuse_and_that_is_not_offered(browser, site):
    """By an address in a network: exercises are answered, code is copied, nothing offers to keep pages."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def answer(route):
        path = unquote(urlsplit(route.request.url).path)
        route.fulfill(path=site / path.lstrip("/"))

    page.route("http://class.test/**", answer)
    page.goto("http://class.test/en/self-attention.html")
    assert page.evaluate("[isSecureContext, 'serviceWorker' in navigator]") == [False, False]
    assert not page.locator(".to-offline").is_visible()
    here = page.locator(".d2l-widget[data-id='self-attention/why-scale']")
    here.scroll_into_view_if_needed()
    page.locator(".d2l-widget[data-id='self-attention/why-scale'][data-awake]").wait_for()
    here.locator("label").first.click()
    here.locator(".d2l-bar button").first.click()
    assert here.get_by_role("status").inner_text()
    cell = page.locator("article .cell_input:visible").first
    cell.hover()
    cell.locator(".to-copy").click()
    expect(cell.locator(".to-copy")).to_have_text("Copied")
    assert complaints == []
    context.close()


def test_thirty_readers_at_once_get_everything_of_a_first_visit(site, browser):
    """What a browser fetched of a page, thirty times at once: nothing fails, memory is bounded."""
    paths = classroom.first_visit(site, browser)
    assert len(paths) > 5 and classroom.PAGE in paths
    program = "import sys; from pathlib import Path; from book.serve import server"
    program += "\ns = server(Path(sys.argv[1]), 0); print(s.server_port, flush=True); s.serve_forever()"
    running = subprocess.Popen(
        [sys.executable, "-c", program, site], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        address = f"http://127.0.0.1:{running.stdout.readline().strip()}"
        _, bodies = classroom.come(address, paths)
        assert bodies == [(site / path.partition("?")[0]).read_bytes() for path in paths]
        if sys.platform == "linux":
            (most,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{running.pid}/status").read_text())
            assert int(most) < 200_000
    finally:
        running.kill()
        running.wait()


def test_the_server_only_reads(folder):
    with served(folder) as address:
        assert ask(address, "/en/", "HEAD")[:2] == (200, b"")
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"):
            assert ask(address, "/en/", method)[0] == 501, method


def test_every_answer_says_how_it_may_be_used(folder):
    with served(folder) as address:
        for target in ("/en/", "/nowhere", "/en"):
            headers = ask(address, target)[2]
            assert headers["x-content-type-options"] == "nosniff", target
            assert headers["content-security-policy"] == "frame-ancestors 'self'", target
            assert headers["cross-origin-resource-policy"] == "same-origin", target


@pytest.mark.parametrize("mistake", [["--prot", "1"], ["--port", "70000"]])
def test_a_mistaken_option_is_told_before_anything_is_set_up(mistake, monkeypatch, capsys):
    monkeypatch.setattr(course, "set_up", lambda _: pytest.fail("something was installed"))
    with pytest.raises(SystemExit) as stopped:
        course.main(["serve", *mistake])
    assert stopped.value.code == 2
    assert mistake[-1] in capsys.readouterr().err


def test_a_port_is_found_taken_before_anything_is_set_up(folder, monkeypatch, capsys):
    monkeypatch.setattr(course, "set_up", lambda _: pytest.fail("something was installed"))
    with served(folder) as address:
        port = address.rsplit(":", 1)[1]
        assert course.main(["serve", "--port", port]) == 1
    assert f"port {port} is taken" in capsys.readouterr().err
