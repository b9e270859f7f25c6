"""Predict, then reveal: what gives a prediction away opens with the guess, and never stays shut for good."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import lxml.html
import pytest
from playwright.sync_api import Page, expect

from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.content import exercise_content, exercise_names

PREDICTIONS = [name for name in exercise_names() if exercise_content(name, "en")["kind"] == "predict"]
CARD = "positional-encoding/swap"


@pytest.fixture
def page(browser, address) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/en/positional-encoding.html")
    yield page
    context.close()


def told(page: Page):
    """The output after the card, and the text that tells it."""
    cell = f".cell:has([data-id='{CARD}'])"
    return page.locator(f"{cell} ~ .cell .cell_output").first, page.locator(f"{cell} ~ p:not(.guess)").first


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_prediction_has_something_that_opens(site: Path, browser, address, language: str) -> None:
    marked = {}
    for name in sorted({name.split("/")[0] for name in PREDICTIONS}):
        text = (site / language / f"{name}.html").read_text(encoding="utf-8")
        for card in lxml.html.fromstring(text).xpath('//*[@data-kind="predict"]'):
            marked[card.get("data-id")] = name
        assert 'hidden="until-found"' not in text  # without scripts all is open
    assert sorted(marked) == sorted(PREDICTIONS)
    context = browser.new_context()
    page = context.new_page()
    for name in sorted(set(marked.values())):
        page.goto(f"{address}/{language}/{name}.html")
        ids = [one for one in marked if marked[one] == name]
        hidden = page.evaluate(
            """(ids) => ids.map((id) => {
                const cell = document.querySelector(`.d2l-widget[data-id="${id}"]`).closest(".cell");
                const bar = cell.nextElementSibling;
                let outputs = 0;
                for (let node = bar; node && !node.matches("section"); node = node.nextElementSibling) {
                    if (node !== bar && node.querySelector("[data-widget]")) break;
                    outputs += node.querySelectorAll(".cell_output[hidden=until-found]").length;
                }
                return bar.matches(".guess") && outputs > 0;
            })""",
            ids,
        )
        assert all(hidden), dict(zip(ids, hidden, strict=True))
    context.close()


def test_the_guess_opens_it_for_good(page: Page) -> None:
    output, text = told(page)
    assert not output.is_visible() and not text.is_visible()
    card = page.locator(f".d2l-widget[data-id='{CARD}']")
    card.scroll_into_view_if_needed()
    page.locator(f".d2l-widget[data-id='{CARD}'][data-awake]").wait_for()
    card.locator("input").first.check()
    card.get_by_role("button", name=words("en")["exercises"]["commit"]).click()
    expect(output).to_be_visible()
    assert text.is_visible() and not page.locator(f".cell:has([data-id='{CARD}']) + .guess").count()
    page.reload()
    assert output.is_visible()


def test_it_opens_anyway_if_the_reader_asks_for_it(page: Page) -> None:
    output, text = told(page)
    button = page.locator(f".cell:has([data-id='{CARD}']) + .guess button")
    button.focus()
    page.keyboard.press("Enter")
    assert output.is_visible() and text.is_visible()
    page.reload()
    assert not output.is_visible()  # it was no guess


def test_a_link_that_leads_into_it_and_a_find_open_it(page: Page, address: str) -> None:
    output, text = told(page)
    text.evaluate("node => (node.id = 'inside')")
    page.evaluate("location.hash = '#inside'")
    expect(text).to_be_visible()
    assert output.is_visible() and text.evaluate("node => node.getBoundingClientRect().top < innerHeight")
    page.reload()
    output, text = told(page)
    text.evaluate("node => node.dispatchEvent(new Event('beforematch', { bubbles: true }))")
    assert output.is_visible()


def test_in_print_on_slides_and_without_scripts_it_is_open(page: Page, browser, address: str) -> None:
    output, text = told(page)
    page.emulate_media(media="print")
    assert output.is_visible() and text.is_visible()
    assert not page.locator(".guess").first.is_visible()
    page.emulate_media(media="screen")
    page.evaluate("document.documentElement.dataset.presenting = ''")
    assert output.is_visible()
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(f"{address}/en/positional-encoding.html")
    assert plain.locator(f".cell:has([data-id='{CARD}']) ~ .cell .cell_output").first.is_visible()
    plain.context.close()


def test_notebooks_know_nothing_of_it(site: Path) -> None:
    stored = json.loads((site / "en" / "positional-encoding.ipynb").read_text(encoding="utf-8"))
    assert not re.search("until-found|data-kind", json.dumps(stored))
