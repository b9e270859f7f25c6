"""What the scripts of the pages must not trip over: odd storage, large codes, browsers that refuse."""

import base64
import json
import random
import re
import string
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from making import ROOT, served
from playwright.sync_api import Page, expect

from book import scripts
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.widgets.bundler import BundleError, bundle

NAME = "self-attention/why-scale"
PASTE = """(field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", text);
    field.value = "";
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
}"""


@pytest.fixture
def page(browser: Any, small_address: str) -> Iterator[Any]:
    """A page of the small site; an error in it fails the test."""
    context = browser.new_context()
    problems: list[str] = []
    context.on("weberror", lambda error: problems.append(str(error.error)))
    shown = context.new_page()
    shown.goto(f"{small_address}/en/basics.html")
    yield shown
    context.close()
    assert problems == []


@pytest.fixture
def take(page: Any) -> Callable[[str], str]:
    """Give a progress code to the dialog; what it says."""
    page.locator(".to-progress").click()
    dialog = page.locator("#site-progress[open]")

    def given(code: str) -> str:
        dialog.locator(".status").evaluate("node => node.replaceChildren()")
        dialog.get_by_label("Progress code").evaluate(PASTE, code)
        dialog.get_by_role("button", name="Load the code").click()
        expect(dialog.locator(".status")).to_have_text(re.compile("."))
        return dialog.locator(".status").inner_text()

    return given


def packed(text: str) -> str:
    return "d2l1." + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def kept(page: Any) -> Any:
    return page.evaluate("JSON.parse(localStorage.getItem('d2lmini') || '{}').answers || {}")


def test_a_long_answer_travels_in_a_code(page: Any, take: Callable[[str], str]) -> None:
    # letters that hardly shrink: the code is longer than what one call takes as arguments
    letters = "".join(random.Random(0).choices(string.ascii_letters + string.digits, k=400_000))
    page.evaluate(
        """async ([name, given]) => {
            const site = await import(document.querySelector("script[type=module]").src);
            site.keepAnswer(name, { given });
        }""",
        [NAME, letters],
    )
    before = kept(page)
    page.get_by_role("button", name="Copy as a code").click()
    field = page.get_by_label("Progress code")
    expect(field).to_have_value(re.compile(r"^d2l1\."))
    code = field.input_value()
    assert len(code) > 300_000
    page.evaluate("localStorage.clear()")
    assert take(code) == "Imported 1 answer."
    assert kept(page) == before


@pytest.mark.parametrize(
    "text",
    [
        '{"d2lmini": 1, "answers": {"a/b": {"given": "' + "x" * (1 << 20) + '"}}}',
        '{"d2lmini": 1, "answers": {"a/b": {"given": ' + "[" * 5000 + "]" * 5000 + "}}}",
        '{"d2lmini": 1, "answers": {"a/b": {"given": ' + '{"a":' * 20 + "1" + "}" * 20 + "}}}",
        '{"d2lmini": 1, "answers": {"a/b": 7}}',
        '{"d2lmini": 2, "answers": {}}',
        "[" * 100_000,
    ],
    ids=["long", "deep list", "deep object", "no answer", "another version", "unclosed"],
)
def test_a_code_that_no_page_made_changes_nothing(page: Any, take: Callable[[str], str], text: str) -> None:
    assert take(packed(json.dumps({"d2lmini": 1, "answers": {NAME: {"done": True}}}))) == "Imported 1 answer."
    assert "no progress code" in take(packed(text))
    assert kept(page) == {NAME: {"done": True}}


def test_a_small_code_that_unpacks_to_much_is_refused_early(page: Any, take: Callable[[str], str]) -> None:
    code = packed('{"d2lmini": 1, "answers": {"a/b": {"given": "' + " " * 100_000_000 + '"}}}')
    assert len(code) < 200_000
    page.evaluate("""() => {
        window.unpacked = 0;
        const Real = DecompressionStream;
        const counted = () => new TransformStream({
            transform(chunk, out) { unpacked += chunk.length; out.enqueue(chunk); },
        });
        window.DecompressionStream = class {
            constructor(format) {
                const real = new Real(format);
                [this.writable, this.readable] = [real.writable, real.readable.pipeThrough(counted())];
            }
        };
    }""")
    assert "no progress code" in take(code)
    assert 0 < page.evaluate("unpacked") < 10_000_000


@pytest.mark.parametrize("count", [0, 1, 2])
def test_counted_words_have_the_form_of_their_number(
    page: Any, take: Callable[[str], str], count: int
) -> None:
    answers = {f"a/{index}": {"done": True} for index in range(count)}
    said = words("en")["site"]["dialogs"]["progress"]["import_done"]["one" if count == 1 else "other"]
    assert take(packed(json.dumps({"d2lmini": 1, "answers": answers}))) == said.format(count=count)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stored", ["pink", "constructor", 7, None, {}, "auto"])
def test_an_unknown_theme_is_that_of_the_system(page: Any, language: str, stored: Any) -> None:
    page.evaluate("stored => localStorage.setItem('d2lmini-theme', JSON.stringify(stored))", stored)
    page.goto(page.url.replace("/en/", f"/{language}/"))
    button = page.locator(".to-theme")
    said = words(language)["site"]["script"]
    expect(button).to_have_attribute("aria-label", said["theme_auto"])
    assert page.evaluate("({...document.documentElement.dataset}).theme") == "light"
    button.click()
    expect(button).to_have_attribute("aria-label", said["theme_light"])
    assert page.evaluate("localStorage.getItem('d2lmini-theme')") == '"light"'


def test_the_line_that_is_read_is_kept_when_the_page_rests(page: Any) -> None:
    """As Safari does, the address is not to be changed often: here never."""
    page.locator("html[data-measured]").wait_for()
    page.clock.install(time=datetime(2030, 1, 1))
    page.clock.pause_at(datetime(2030, 1, 2))
    page.evaluate("""() => {
        window.changes = 0;
        history.replaceState = () => { changes++; throw new DOMException("too many", "SecurityError"); };
        for (let i = 0; i < 120; i++) dispatchEvent(new Event("scrollend"));
    }""")
    assert page.evaluate("changes") == 0
    page.clock.run_for(1000)
    assert page.evaluate("changes") == 1
    page.evaluate("dispatchEvent(new Event('scrollend')); document.querySelector('h1').click()")
    assert page.evaluate("changes") == 2  # a click may lead elsewhere


# ---- words and codes


@pytest.mark.parametrize("around", ["{}\nCảm ơn", "{}  谢谢", "{} abc", "code: {} ok thanks", "{}"])
@pytest.mark.parametrize("lines", [False, True])
def test_a_code_with_words_around_it_is_read(
    page: Any, take: Callable[[str], str], around: str, lines: bool
) -> None:
    code = packed(json.dumps({"d2lmini": 1, "answers": {NAME: {"done": True, "given": "n" + "0123" * 30}}}))
    if lines:
        code = code[:30] + "\n" + code[30:]
    assert take(around.format(code)) == "Imported 1 answer."
    assert kept(page)[NAME]["done"] is True


def test_an_answer_of_an_odd_name_is_not_renamed(page: Any, take: Callable[[str], str]) -> None:
    answers = {"constructor": {"done": True}, "toString": {"done": True}}
    take(packed(json.dumps({"d2lmini": 1, "answers": answers})))
    page.reload()
    page.locator("html[data-measured]").wait_for()
    assert kept(page) == answers


def test_text_js_refuses_a_missing_value(page: Any) -> None:
    widgets = ROOT / "d2lmini" / "notebook" / "widgets"
    text = bundle(widgets, "text.js", {"course:words": 'export const language = {"tag": "en"};'})
    call = """async ([source, text, values]) => {
        const { fill } = await import("data:text/javascript;charset=utf-8," + encodeURIComponent(source));
        try { return fill(text, values); } catch (error) { return error.message; }
    }"""
    blank = page.context.new_page()
    assert blank.evaluate(call, [text, "{a} of {b}", {"a": 0, "b": ""}]) == "0 of "
    assert blank.evaluate(call, [text, "{a} of {toString}", {"a": 0}]).startswith("no value for {toString}")


# ---- one file out of several


def joined(tmp_path: Any, text: str) -> str:
    (tmp_path / "m.js").write_text(text, encoding="utf-8")
    return bundle(tmp_path, "m.js", {})


def test_the_bundler_leaves_strings_and_regular_expressions_alone(page: Any, tmp_path: Any) -> None:
    source = """// gone
const one = "see // here"; // gone
const two = /a[ // ]b/.test("a/b"); /* gone */
const three = `http://${two ? `x // ${1 / 2}` : "}"} // z`;
  /** gone */
export const all = [one, two, three, "a b".split(/ ?\\/ ?/), 6 / 2 / 1];
"""
    text = joined(tmp_path, source)
    assert "gone" not in text
    call = "source => import('data:text/javascript,' + encodeURIComponent(source)).then((m) => m.all)"
    blank = page.context.new_page()
    assert blank.evaluate(call, text) == ["see // here", True, "http://x // 0.5 // z", ["a b"], 3]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('const m = await import("./x.js");', "a file is imported at the top of a module"),
        ("const t = `a\nb`;", "a string in backquotes must end in its line"),
        ("if (x) /re/.test(y);", "a division has a space after /"),
    ],
)
def test_the_bundler_refuses_what_it_would_break(tmp_path: Any, line: str, reason: str) -> None:
    with pytest.raises(BundleError, match=rf"m\.js:2: {re.escape(reason)}"):
        joined(tmp_path, f"const a = 1;\n{line}\n")


def test_the_bundler_leaves_out_what_no_module_uses(tmp_path: Any) -> None:
    (tmp_path / "b.js").write_text(
        "const secret = () => 1;\nexport const unused = () => secret();\nexport const used = () => 2;\n"
    )
    text = joined(tmp_path, 'import { used } from "./b.js";\nexport const all = used();\n')
    assert "used()" in text and "unused" not in text and "secret" not in text


# ---- what the browser remembers, and who learns of it


def test_two_projects_of_one_host_share_nothing_and_old_answers_stay(browser: Any, small_site: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    script = "import(document.querySelector('script[type=module]').src)"
    answer = f"{script}.then((m) => m.keepAnswer('x/y', {{given: 7}}))"
    with served(small_site.parent) as home:
        site = f"{home}/{small_site.name}"
        page.goto(f"{site}/en/basics.html")
        page.evaluate(
            """() => {
                localStorage.setItem("d2lmini", '{"answers": {"self-attention/why-scale": {"done": true}}}');
                localStorage.setItem("d2lmini-theme", '"dark"');
            }"""
        )
        page.reload()
        assert page.locator("html").get_attribute("data-theme") == "dark"
        assert page.locator("[data-chapter=basics] .count").text_content() == "1/1"
        page.evaluate(answer)
        page.locator(".to-theme").click()
        keys = page.evaluate("Object.keys(localStorage).sort()")
        path = f"/{small_site.name}/"
        assert f"d2lmini {path}" in keys and f"d2lmini-theme {path}" in keys
        stored = page.evaluate("path => JSON.parse(localStorage.getItem(`d2lmini ${path}`)).answers", path)
        assert stored == {"self-attention/why-scale": {"done": True}, "x/y": {"given": 7}}
        # what another project would read is as it was
        assert page.evaluate("localStorage.d2lmini").count("x/y") == 0
        page.reload()
        assert page.locator("html").get_attribute("data-mode") == "auto"
    context.close()


def test_copying_works_without_https_and_says_where_it_does_not(page: Any) -> None:
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate(
        """document.execCommand = (name) => {
            window.copied = [name, document.activeElement.value];
            return true;
        }"""
    )
    button = page.locator("article .cell_input .to-copy").last
    button.evaluate("node => node.click()")
    expect(button).to_have_text(words("en")["site"]["script"]["copied"])
    assert page.evaluate("copied") == ["copy", "d2l.plot(y)"]
    page.evaluate("document.execCommand = () => false")
    button.evaluate("node => node.click()")
    expect(button).to_have_text(words("en")["site"]["script"]["copy_failed"])
    page.wait_for_timeout(1100)  # a second later nobody waits for an answer, and nothing is thrown


OWN = "my secret sentence"


def test_a_sentence_that_was_typed_enters_the_address_by_the_button_alone(show: Callable[..., Page]) -> None:
    page = show("attention-explorer")
    page.locator("summary").click()
    page.locator("input[type=text]").fill(OWN)
    page.wait_for_timeout(600)  # a view enters the address after 300 ms at rest
    assert page.evaluate("location.search") == ""
    page.get_by_role("button", name=words("en")["explorers"]["shared"]["copy_link"]).click()
    assert "secret" in page.evaluate("location.search")
    again = show("attention-explorer", query=page.evaluate("location.search"))
    expect(again.locator("input[type=text]")).to_have_value(OWN)


def test_the_translator_keeps_a_typed_sentence_when_the_direction_changes(show: Callable[..., Page]) -> None:
    page = show("translator-explorer")
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/*.safetensors", hold)
    field = page.get_by_label(words("en")["explorers"]["translator"]["own"])
    field.fill("she can swim fast")
    page.get_by_role("button", name=words("en")["explorers"]["translator"]["translate"], exact=True).click()
    page.wait_for_timeout(200)
    page.get_by_label("Direction").select_option("en-vi")
    expect(field).to_have_value("she can swim fast")
    page.unroute("**/*.safetensors")
    page.route(
        "**/*.safetensors",
        lambda route: route.fulfill(
            path=ROOT / "d2lmini" / "assets" / "checkpoints" / route.request.url.rpartition("/")[2]
        ),
    )
    for route in held:
        route.fulfill(path=ROOT / "d2lmini" / "assets" / "checkpoints" / route.request.url.rpartition("/")[2])
    expect(page.get_by_label("Direction")).to_have_value("en-vi")
    expect(page.get_by_role("alert")).to_contain_text("fast")  # a word that this model does not know
    expect(field).to_have_value("she can swim fast")
    assert page.evaluate("location.search") == ""


@pytest.mark.parametrize("name", scripts.NAMES)
def test_every_word_that_a_script_says_comes_with_it(name: str) -> None:
    source = (scripts.FOLDER / f"{name}.js").read_text(encoding="utf-8")
    if re.search(r"import words", source):
        assert {*re.findall(r"(?<![.\w])words\.(\w+)", source)} <= {*scripts.said(name, "en")}
