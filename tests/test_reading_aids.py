"""What helps while reading: cards of terms, large figures, copied code, the report of a mistake."""

import json
import re
import subprocess
import sys
from doctest import DocTestParser
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import expect
from test_browser import AXE, Visit

from book.ext import api
from d2lmini import __version__
from d2lmini.language import LANGUAGES, words

BOX = "e => { const {top, bottom} = e.getBoundingClientRect(); return [top, bottom] }"


@pytest.fixture
def reading(browser, address):
    visits = []

    def start(path: str, home: str = address, **context) -> Visit:
        visits.append(Visit(browser, home, bypass_csp=True, **context).open(path))
        visits[-1].page.locator("html[data-measured]").wait_for()
        return visits[-1]

    yield start
    for visit in visits:
        assert not visit.foreign and not visit.complaints
        visit.context.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_shows_its_card_to_pointer_and_keyboard(reading, language):
    visit = reading(f"{language}/long-sequences.html")
    page, card = visit.page, visit.page.locator(".term-card")
    term = page.locator("main a.term").first
    term.hover()
    expect(card).to_be_visible()
    expect(card.locator("b")).not_to_be_empty()
    assert card.locator(".others span").evaluate_all("all => all.map(one => one.lang)") == [
        words(code)["language"]["tag"] for code in LANGUAGES if code != language
    ]
    card.hover()  # it stays while it is read
    page.wait_for_timeout(400)
    expect(card).to_be_visible()
    page.add_script_tag(content=AXE)
    assert not visit.violations()
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    page.mouse.move(0, 0)
    # the keyboard: the term, then the link of its card
    term.focus()
    expect(card).to_be_visible()
    assert term.get_attribute("aria-describedby") == "site-term-meaning"
    page.keyboard.press("Tab")
    link = card.locator("a")
    expect(link).to_be_focused()
    assert link.evaluate("e => e.href") == term.evaluate("e => e.href")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)


def test_what_did_not_come_is_asked_for_again(browser, address):
    """The cards of terms, and where an old address leads: one lost packet must not last until a reload."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.route("**/terms.json*", lambda route: route.abort())
    page.route("**/moved.json*", lambda route: route.abort())
    page.goto(f"{address}/en/long-sequences.html")
    page.locator("html[data-measured]").wait_for()
    term, card = page.locator("main a.term").first, page.locator(".term-card")
    with page.expect_event("requestfailed", lambda request: "terms.json" in request.url):
        term.hover()
    expect(card).to_have_count(0)
    page.unroute("**/terms.json*")
    page.mouse.move(0, 0)
    term.hover()
    expect(card).to_be_visible()
    page.goto(f"{address}/en/self-attention.html")
    page.locator("html[data-measured]").wait_for()
    with page.expect_event("requestfailed", lambda request: "moved.json" in request.url):
        page.evaluate("location.hash = '#padding'")
    page.unroute("**/moved.json*")
    page.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")
    page.wait_for_url(lambda there: "self-attention" not in there)
    context.close()


def test_a_finger_opens_the_card_beside_its_term(reading):
    visit = reading(
        "vi/long-sequences.html", viewport={"width": 375, "height": 700}, has_touch=True, is_mobile=True
    )
    page, card = visit.page, visit.page.locator(".term-card")
    for place in ("start", "end"):
        term = page.locator("main a.term").nth(1)
        term.evaluate("(e, block) => e.scrollIntoView({block, behavior: 'instant'})", place)
        page.evaluate("scrollBy({top: -100, behavior: 'instant'})") if place == "start" else None
        term.tap()
        expect(card).to_be_visible()
        top, bottom = term.evaluate(BOX)
        above, below = card.evaluate(BOX)
        assert 0 < top - below < 20 or 0 < above - bottom < 20
        left, right = card.evaluate("e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]")
        assert left > 0 and right < 375
        page.locator("h1").tap(force=True) if place == "start" else page.keyboard.press("Escape")
        expect(card).to_have_count(0)
    assert page.url.endswith("long-sequences.html")


def test_a_figure_opens_large_and_goes_back(reading, small_address):
    visit = reading("en/basics.html", home=small_address)
    page, dialog = visit.page, visit.page.locator("dialog.large-figure")
    figures = page.locator("article .figure")
    assert figures.count() == page.locator(".to-enlarge").count() == 3
    parents = page.locator(".has-figure")
    inner = parents.last.inner_html()
    before = figures.last.bounding_box()
    figures.last.click()
    expect(dialog).to_be_visible()
    expect(dialog).to_have_accessible_name("Three tokens")
    picture = dialog.locator("svg.drawing")
    assert picture.bounding_box()["width"] > before["width"]
    page.add_script_tag(content=AXE)
    assert not visit.violations()
    whole = picture.bounding_box()["width"]
    page.keyboard.press("+")
    assert picture.bounding_box()["width"] == pytest.approx(1.5 * whole, abs=1)
    dialog.get_by_role("button", name=words("en")["site"]["figure"]["smaller"]).click()
    assert picture.bounding_box()["width"] == pytest.approx(whole, abs=1)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(".to-enlarge").last).to_be_focused()
    assert parents.last.inner_html().replace(' style=""', "") == inner
    # the keyboard has a button for it
    page.locator(".to-enlarge").first.focus()
    page.keyboard.press("Enter")
    expect(dialog.locator("svg.plot")).to_be_visible()


def test_what_is_copied_from_the_reference_runs_where_it_is_pasted(reading, tmp_path):
    page = reading("vi/api.html").page
    copied = page.evaluate(
        """async () => {
            const all = [];
            navigator.clipboard.writeText = async (text) => all.push(text);
            for (const button of document.querySelectorAll(".highlight-pycon > .to-copy")) button.click();
            await new Promise(requestAnimationFrame);
            return all;
        }"""
    )
    examples = [
        "".join(one.source for one in found)
        for file in api.exported()
        for thing in api.definitions(file)
        for part in [thing, *thing.members.values()]
        if part.docstring and (part is thing or not part.name.startswith("_"))
        for section in api.sections(part)
        if section.kind.value == "admonition"
        and (found := DocTestParser().get_examples(section.value.contents))
    ]
    assert len(copied) >= len(examples) > 80
    for example in examples:
        shown = re.sub(r" *# doctest:.*", "", example).rstrip()  # Sphinx takes its flags out
        assert any(code.rstrip().endswith(shown) for code in copied), example
    mask = next(code for code in copied if code.endswith("causal_mask(3)"))
    assert mask == "from d2lmini import causal_mask\ncausal_mask(3)"
    pasted = next(code for code in copied if "AddNorm([3, 4]" in code)
    subprocess.run([sys.executable, "-c", pasted], check=True, cwd=tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_report_of_a_mistake_says_where_and_of_which_version(reading, small_address, language):
    typed = quote(json.dumps({"sentence": "my secret"}))
    page = reading(f"{language}/basics.html?attention={typed}", home=small_address).page
    report = page.locator("#site-report")
    assert page.locator(".chapters .to-report").get_attribute("href") == "#site-report"

    def written() -> dict[str, str]:
        return {
            name: value for name, (value,) in parse_qs(urlsplit(report.get_attribute("href")).query).items()
        }

    form = words(language)["site"]["mistake"]
    assert written()["title"] == form["title"].format(title=page.locator("h1").inner_text())
    assert f"{language}/basics.html" in written()["body"] and f"d2lmini {__version__}" in written()["body"]
    report.evaluate("e => e.addEventListener('click', (event) => event.preventDefault())")
    for anchor in ("scores", "order"):
        page.locator(f"#{anchor}").evaluate("e => e.scrollIntoView({block: 'start', behavior: 'instant'})")
        report.evaluate("e => e.click()")
        heading = page.locator(f"#{anchor}").inner_text().strip()
        assert f"{small_address}/{language}/basics.html#{anchor} ({heading})" in written()["body"]
        assert written()["body"].count("basics.html") == 1
        assert "secret" not in report.get_attribute("href")
