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
from playwright.sync_api import expect

from d2lmini.language import LANGUAGES, words

NAME = "self-attention/why-scale"


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
        dialog.get_by_label("Progress code").evaluate("(field, code) => { field.value = code }", code)
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
    said = words("en")["site"]["dialogs"]["import_done"]["one" if count == 1 else "other"]
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
