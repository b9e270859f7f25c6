"""A chapter as slides: turned by keys and swipes, alive, with notes in the presenter's window."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pairing import THEMES, slow_except
from playwright.sync_api import Locator, Page, expect

from book.chapters import note_of, path_of, read
from d2lmini.language import LANGUAGES, words

CHAPTER = "self-attention"
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SIZE = {"width": 1280, "height": 720}
LOADED = 30_000  # milliseconds: the presenter's window holds the chapter three times
# what is wrong with the slide that is shown
SLIPS = """() => {
    const article = document.querySelector("article");
    const shown = [...article.querySelectorAll("[data-part='on'], [data-part='later']")];
    const blocks = shown.filter((node) => !node.matches("h1, h2, h3, ul, ol, .table"));
    const slips = [];
    if (!blocks.length) slips.push("only a heading");
    if (article.scrollWidth > article.clientWidth + 1) slips.push("too wide");
    // explorers may be higher: they scroll
    if (article.dataset.kind !== "widget" && article.scrollHeight > article.clientHeight * 1.02)
        slips.push(`too high: ${article.scrollHeight} of ${article.clientHeight}`);
    const letters = parseFloat(getComputedStyle(article).fontSize) * article.currentCSSZoom;
    if (article.dataset.kind !== "widget" && letters < 22) slips.push(`letters of ${letters} px`);
    for (const node of blocks) node.dataset.seen = "";
    return slips;
}"""


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Page]:
    """A window whose console stays silent."""
    context = browser.new_context(viewport=SIZE, bypass_csp=True, base_url=address, reduced_motion="reduce")
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(message.text))
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    yield context.new_page()
    context.close()
    assert complaints == []


def present(page: Page, language: str = "en", name: str = CHAPTER, place: str = "?present=1") -> None:
    page.goto(f"/{language}/{name}.html{place}")
    page.locator(".slides-bar").wait_for()


def count(page: Page) -> tuple[int, int]:
    """Which slide is shown, and of how many."""
    now, total = page.locator(".slides-list").inner_text().split(" / ")
    return int(now), int(total)


@pytest.mark.parametrize(("language", "name"), [("en", CHAPTER), ("vi", "transformer"), ("zh", "complexity")])
def test_keys_lead_through_every_section_and_back_to_the_page(page: Page, language: str, name: str) -> None:
    page.goto(f"/{language}/{name}.html")
    page.locator("html[data-measured]").wait_for()
    page.locator(".to-slides").press("Enter")
    page.locator(".slides-bar").wait_for()
    sections: list[str] = []
    slips = []
    for _ in range(500):  # steps: more than there are
        slips += [f"{page.url}: {slip}" for slip in page.evaluate(SLIPS)]
        place = page.url.partition("#")[2]
        if place not in sections[-1:]:
            sections.append(place)
        now, total = count(page)
        if now == total and not page.locator("[data-part='later']").count():
            break
        page.keyboard.press("PageDown")
    assert slips == []
    headings = page.locator("article :is(h1, h2)")
    assert sections == headings.evaluate_all("nodes => nodes.map((node) => node.id)")
    unseen = """() => [...document.querySelectorAll("article :is(p, li, pre, .d2l-widget, .figure)")]
        .filter((node) => !node.closest("[data-seen], details, thead, .behind, .d2l-widget"))
        .filter((node) => !node.querySelector("[data-seen]")).map((node) => node.outerHTML.slice(0, 80))"""
    assert page.evaluate(unseen) == []
    # a reload stays, Back and Escape lead to the page
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("PageUp")
    before, url = count(page), page.url
    page.reload()
    page.locator(".slides-bar").wait_for()
    assert (count(page), page.url) == (before, url)
    heading = page.locator(f"[id='{url.partition('#')[2]}']")
    page.keyboard.press("Escape")
    expect(page.locator(".slides-bar")).to_have_count(0)
    assert "present" not in page.url and page.url.endswith(url.partition("#")[2])
    expect(heading).to_be_focused()
    expect(page.locator("article p").first).to_be_visible()
    page.go_back()
    assert "#" not in page.url


def test_links_lists_and_the_black_screen(page: Page) -> None:
    present(page, place="?present=2#averaging")
    page.keyboard.press("o")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("[aria-current]")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.url.endswith("?present=3#averaging")
    expect(dialog).to_have_count(0)
    page.keyboard.press("?")
    expect(dialog).to_contain_text(words("en")["site"]["slides"]["black"])
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    expect(page.locator("html[data-black]")).to_have_count(1)
    page.keyboard.press("ArrowRight")  # lights up, and does not turn
    expect(page.locator("html[data-black]")).to_have_count(0)
    assert page.url.endswith("?present=3#averaging")
    present(page, place="?present=1#queries-keys-values")
    page.locator("a[href='#eq-1.1']:visible").first.click()
    expect(page.locator("[id='eq-1.1']")).to_be_visible()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert page.url.endswith(f"?present=1#{CHAPTER}")
    expect(page.locator("nav.slides-bar [role='status']")).to_have_text(re.compile("1 .* Self-attention"))


def turn_to(page: Page, selector: str) -> Locator:
    """Turn until something is shown."""
    while not page.locator(f"[data-part='on'] {selector}").count():
        now, total = count(page)
        assert now < total, f"no {selector} up to the last slide"
        page.keyboard.press("PageDown")
    return page.locator(f"[data-part='on'] {selector}")


def test_widgets_live_on_slides_and_keep_their_keys(page: Page) -> None:
    present(page, name="multi-head-attention", place="?present=1#explorer")
    slider = turn_to(page, "[data-widget='attention-explorer']").locator("input[type='range']").first
    slider.focus()
    place, value = count(page), slider.input_value()
    page.keyboard.press("ArrowLeft")
    assert slider.input_value() != value
    assert count(page) == place
    present(page, place="?present=1#averaging")
    exercise = turn_to(page, "[data-widget='exercise']")
    name, place = exercise.get_attribute("data-id"), count(page)
    exercise.locator("input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(exercise.locator("input").nth(1)).to_be_checked()
    exercise.locator(".d2l-main").focus()
    page.keyboard.press("Space")
    expect(exercise.get_by_role("status")).not_to_be_empty()
    assert count(page) == place
    exercise.locator("button").first.focus()
    for _ in range(9):  # what a remote control sends turns it all the same, once its end is in view
        page.keyboard.press("PageDown")
    assert count(page) > place
    page.keyboard.press("Escape")
    expect(page.locator(f"[data-id='{name}'] input").nth(1)).to_be_checked()


@pytest.mark.parametrize("language", LANGUAGES)
def test_notes_reach_the_presenter(page: Page, language: str) -> None:
    notes = {cell["id"]: note_of(cell) for cell in read(path_of(language, CHAPTER))["cells"]}
    present(page, language)
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    presenter = opened.value
    shown = presenter.locator(".slides-text")
    expect(shown).to_have_text(notes[CHAPTER].replace("\n\n", ""), timeout=LOADED)
    now, coming = (presenter.frame_locator("iframe").nth(i).locator("article") for i in (0, 1))
    question = page.locator("article p").first.inner_text()
    expect(now.locator("p[data-part='on']")).to_have_text(question, timeout=LOADED)
    expect(coming.locator("p[data-part='on']")).not_to_have_text(question, timeout=LOADED)
    presenter.evaluate(AXE)
    assert violations(presenter) == []
    presenter.keyboard.press("End")  # its keys turn the slides of the other window
    page.wait_for_url("**#recap")
    expect(shown).to_have_text(notes["recap"].replace("\n\n", ""))
    title = page.locator("#recap").inner_text()
    expect(presenter.locator("footer [role='status']")).to_contain_text(title)
    expect(now.locator("h2[data-part='on']")).to_have_text(title)


def violations(page: Page) -> list[str]:
    return page.evaluate(
        """async () => (await axe.run(document, {resultTypes: ["violations"], iframes: false,
            runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})).violations
            .flatMap((v) => v.nodes.slice(0, 3).map((n) => `${v.id}: ${n.html.slice(0, 160)}`))"""
    )


@pytest.mark.parametrize("scheme", slow_except(THEMES, ["dark"]))
def test_slides_are_accessible(page: Page, scheme: str) -> None:
    present(page)
    page.evaluate(AXE)
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    for key in ("Home", "PageDown", "PageDown", "PageDown", "PageDown", "o", "Escape", "?", "Escape"):
        page.keyboard.press(key)
        assert violations(page) == [], key


def test_a_swipe_turns(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, base_url=address)
    page = context.new_page()
    present(page)
    swipe = """([selector, from, to]) => {
        const node = document.querySelector(selector);
        const touch = (name, key, x) => node.dispatchEvent(
            Object.assign(new Event(name, { bubbles: true }), { [key]: [{ clientX: x, clientY: 400 }] }));
        touch("touchstart", "touches", from);
        touch("touchend", "changedTouches", to);
    }"""
    page.evaluate(swipe, ["article p", 300, 100])
    assert count(page)[0] == 2
    page.evaluate(swipe, ["article p", 100, 300])
    assert count(page)[0] == 1
    page.evaluate(swipe, ["article p", 300, 280])  # a tap that slips
    assert count(page)[0] == 1
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    context.close()


def test_a_first_visit_fetches_nothing_for_slides(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/en/{CHAPTER}.html")
    page.locator("html[data-measured]").wait_for()
    assert not any("slides" in url or "notes" in url for url in asked)
