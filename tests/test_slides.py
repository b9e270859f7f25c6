"""A chapter as slides: turned by keys and swipes, alive, with notes in the presenter's window."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pairing import THEMES, slow_except
from playwright.sync_api import Locator, Page, expect

from book.chapters import chapters, note_of, path_of, read
from book.talk import html_of, talk
from d2lmini.language import LANGUAGES, words

CHAPTER = "self-attention"
TALKS = [name for name in chapters("en") if any(map(note_of, read(path_of("en", name))["cells"]))]
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SIZE = {"width": 1280, "height": 720}
LOADED = 30_000  # milliseconds: the presenter's window holds the chapter three times
MOST = 35  # slides a chapter
# what is wrong with the slide that is shown, but for explorers, which bring their own measures
SLIPS = """async (words) => {
    const article = document.querySelector("article");
    const high = () => article.scrollHeight > article.clientHeight * 1.02;
    for (let frame = 0; frame < 40 && (frame < 2 || high()); frame++) // a widget wakes, and is made to fit
        await new Promise(requestAnimationFrame);
    const shown = [...article.querySelectorAll("[data-part='on'], [data-part='later']")];
    const blocks = shown.filter((node) => !node.matches("h1, h2, h3, ul, ol"));
    const slips = [];
    for (const node of blocks) node.dataset.seen = "";
    if (!blocks.length) slips.push("only a heading");
    if (article.scrollWidth > article.clientWidth + 1) slips.push("too wide");
    for (const tag of article.querySelectorAll("[data-part='on'] .katex-html .tag"))
        if (tag.getBoundingClientRect().right > innerWidth) slips.push(`number cut: ${tag.textContent}`);
    const kinds = article.dataset.kind.split(" ");
    if (kinds.includes("explorer")) return slips;
    const exercise = kinds.includes("exercise") || kinds.includes("mixed");
    if (article.scrollHeight > article.clientHeight * (exercise ? 1.1 : 1.02))
        slips.push(`too high: ${article.scrollHeight} of ${article.clientHeight}`);
    const letters = parseFloat(getComputedStyle(article).fontSize) * article.currentCSSZoom;
    if (!exercise && letters < 22) slips.push(`letters of ${letters} px`);
    for (const node of words ? article.querySelectorAll("*") : []) {
        const texts = [...node.childNodes].filter(({ nodeType, data }) => nodeType === 3 && data.trim()[1]);
        if (!texts.length || !node.checkVisibility() || node.matches("h1[data-part='off']")) continue;
        if (node.closest(".katex, math, sup, sub, .visually-hidden")) continue;
        const matrix = node.getScreenCTM?.() || { a: node.currentCSSZoom, b: 0 };
        const size = parseFloat(getComputedStyle(node).fontSize) * Math.hypot(matrix.a, matrix.b);
        if (size < 15.5) slips.push(`${node.textContent.slice(0, 30)}: ${size.toFixed(1)} px`);
    }
    return slips;
}"""
# what of the page is on no slide, though one would look for it there
UNSEEN = """() => [...document.querySelectorAll("article :is(pre, .d2l-widget, .figure, .formula, td)")]
    .filter((node) => !node.closest("[data-seen], details, .behind, .d2l-widget"))
    .filter((node) => !node.querySelector("[data-seen]")).map((node) => node.outerHTML.slice(0, 80))"""
# how many blocks no slide shows, and how many of them the presenter's window was sent
SAID = """() => {
    const blocks = [...document.querySelectorAll("article [data-part]")]
        .filter((node) => !node.matches("h1, h2, h3, .slides-claim, :has(> [data-part])"));
    return [blocks.filter((node) => !("seen" in node.dataset)).length, said.size];
}"""
LISTEN = """() => {
    globalThis.said = new Set();
    new BroadcastChannel(`d2lmini slides ${location.pathname}`).onmessage =
        ({ data }) => data.said?.forEach((index) => said.add(index));
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


def walk(page: Page, words: bool = False) -> tuple[list[str], list[str]]:
    """Turn to the end; return the sections that were shown, and what was wrong on the way."""
    page.evaluate(LISTEN)
    page.keyboard.press("Home")
    sections: list[str] = []
    slips = []
    for _ in range(500):  # steps: more than there are
        slips += [f"{page.url}: {slip}" for slip in page.evaluate(SLIPS, words)]
        place = page.url.partition("#")[2]
        if place not in sections[-1:]:
            sections.append(place)
        now, total = count(page)
        if now == total and not page.locator("[data-part='later']").count():
            break
        page.keyboard.press("PageDown")
    slips += [f"on no slide: {node}" for node in page.evaluate(UNSEEN)]
    unseen, said = page.evaluate(SAID)
    if unseen != said:
        slips.append(f"of {unseen} paragraphs {said} are told to the presenter")
    if total > MOST:
        slips.append(f"{total} slides")
    return sections, slips


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TALKS)
def test_every_deck_is_short_and_whole(browser: Any, address: str, language: str, name: str) -> None:
    size = {"width": 1366, "height": 768}
    context = browser.new_context(viewport=size, bypass_csp=True, base_url=address, reduced_motion="reduce")
    page = context.new_page()
    present(page, language, name)
    _, slips = walk(page, words=True)
    context.close()
    assert slips == []


@pytest.mark.parametrize(("language", "name"), [("en", CHAPTER), ("vi", "transformer"), ("zh", "complexity")])
def test_keys_lead_through_every_section_and_back_to_the_page(page: Page, language: str, name: str) -> None:
    page.goto(f"/{language}/{name}.html")
    page.locator("html[data-measured]").wait_for()
    page.locator(".to-slides").press("Enter")
    page.locator(".slides-bar").wait_for()
    sections, slips = walk(page)
    assert slips == []
    headings = page.locator("article :is(h1, h2)")
    assert sections == headings.evaluate_all("nodes => nodes.map((node) => node.id)")
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
    present(page, name="transformer", place="?present=1#architecture")
    page.locator("article .figure a[href='#decoder']:visible").first.click()
    assert page.url.endswith("?present=1#decoder")
    present(page)
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
    # the bar says how one gets out of it: Escape leads back to the slide, and only then to the page
    note = page.locator(".slides-note")
    expect(note).to_have_text(words("en")["site"]["slides"]["inside"])
    page.keyboard.press("Escape")
    expect(page.locator("article")).to_be_focused()
    expect(note).to_be_empty()
    page.keyboard.press("ArrowLeft")
    assert count(page)[0] == place[0] - 1
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
    shown, said = presenter.locator(".slides-text > p"), presenter.locator(".slides-text .said p")
    expect(shown).to_have_text(notes[CHAPTER].split("\n\n"), timeout=LOADED)
    # below them the text of the page that is on no slide
    question = page.locator("article p").first
    expect(question).to_be_hidden()
    expect(said.first).to_have_text(question.text_content() or "")
    now, coming = (presenter.frame_locator("iframe").nth(i).locator("article") for i in (0, 1))
    title = page.locator("h1").inner_text()
    expect(now.locator("h1[data-part='on']")).to_have_text(title, timeout=LOADED)
    expect(coming.locator("h2[data-part='on']")).to_be_visible(timeout=LOADED)
    expect(presenter.locator(".slides-speaker footer")).to_contain_text(str(talk_of(language)["minutes"]))
    presenter.evaluate(AXE)
    assert violations(presenter) == []
    presenter.keyboard.press("End")  # its keys turn the slides of the other window
    page.wait_for_url("**#recap")
    expect(shown).to_have_text(notes["recap"].split("\n\n"))
    title = page.locator("#recap").inner_text()
    expect(presenter.locator("footer [role='status']")).to_contain_text(title)
    expect(now.locator("h2[data-part='on']")).to_have_text(title)
    ending = presenter.frame_locator("iframe").nth(1).locator("html")
    expect(ending).not_to_have_attribute("data-black", "")
    for _ in range(9):
        presenter.keyboard.press("ArrowRight")
    expect(ending).to_have_attribute("data-black", "")  # nothing comes any more
    for key in ("1", "2", "Enter"):
        presenter.keyboard.press(key)
    expect(page.locator(".slides-list")).to_contain_text("12 / ")
    expect(ending).not_to_have_attribute("data-black", "")


def talk_of(language: str, name: str = CHAPTER) -> dict[str, Any]:
    return talk(read(path_of(language, name)), read(path_of("en", name)))


@pytest.mark.parametrize("section", ["order", "explorer"])
def test_a_claim_waits_for_what_is_asked_or_tried_first(page: Page, section: str) -> None:
    """Its place is kept: nothing moves when it comes."""
    present(page, name="multi-head-attention", place=f"?present=1#{section}")
    claim, first = page.locator(f"#{section} + .slides-claim"), page.locator("article [data-widget]:visible")
    expect(claim).to_have_attribute("data-part", "later")
    expect(claim).to_be_hidden()
    apart = claim.bounding_box(), first.bounding_box()
    for _ in range(3):  # a low window scrolls first
        if not claim.is_visible():
            page.keyboard.press("PageDown")
            page.wait_for_timeout(300)
    expect(claim).to_be_visible()
    tops = [box["y"] for box in (*apart, claim.bounding_box(), first.bounding_box()) if box]
    assert tops[1] - tops[0] == pytest.approx(tops[3] - tops[2])
    assert page.url.endswith(f"#{section}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_claims_stand_under_their_headings(page: Page, language: str) -> None:
    """In the list of slides, too; a formula in them is typeset."""
    sections = talk_of(language)["sections"]
    present(page, language, place="?present=1#projections")
    shown = page.locator("article h2[data-part='on'] + .slides-claim[data-part='on']")
    for _ in range(30):  # after the guess
        if shown.count():
            break
        page.keyboard.press("PageDown")
    assert page.url.endswith("#projections")
    assert shown.locator("math").count() == sections["projections"]["claim"].count("<math") > 0
    assert shown.locator("math").first.bounding_box()
    page.keyboard.press("o")
    listed = page.locator(".slides-dialog li i")
    assert listed.count() == sum(bool(section["claim"]) for section in sections.values())
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator(".slides-bar")).to_have_count(0)
    expect(page.locator(".slides-claim").first).to_be_hidden()


def test_a_claim_waits_until_a_prediction_was_asked_for(page: Page) -> None:
    """Else it would answer the card that stands below it."""
    present(page)
    reading = """() => {
        const shown = (at) => [...document.querySelectorAll(at)].some((node) => node.checkVisibility(
            { visibilityProperty: true }));
        const heading = document.querySelector(":is(h1, h2, h3)[data-part=on]");
        return [heading.textContent, shown("[data-kind=predict]"), shown(".slides-claim[data-part=on]")];
    }"""
    asked, told = [], []
    for _ in range(120):  # steps: more than there are
        heading, asks, claims = page.evaluate(reading)
        if asks and heading not in asked:
            assert not claims and heading not in told
            asked.append(heading)
        if claims:
            told.append(heading)
        page.keyboard.press("PageDown")
    assert count(page)[0] == count(page)[1]
    assert asked and set(asked) < set(told)


def test_a_number_and_enter_jump(page: Page) -> None:
    present(page)
    for typed, slide in (("12", 12), ("3", 3), ("999", count(page)[1])):
        for key in (*typed, "Enter"):
            page.keyboard.press(key)
        assert count(page)[0] == slide
    page.keyboard.press("Enter")  # without a number
    assert count(page)[0] == count(page)[1]


def test_the_deck_prints_whole_and_the_list_as_a_handout(page: Page) -> None:
    present(page, place="?present=1#projections")
    before, (_, slides) = page.url, count(page)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    pages = page.locator(".slides-print > article")
    heights = pages.evaluate_all("all => all.map((one) => Math.round(one.getBoundingClientRect().height))")
    assert len(heights) >= slides and set(heights) == {SIZE["height"]}
    assert (
        pages.evaluate_all("all => all.filter((one) => one.scrollHeight > one.clientHeight + 9).length") <= 1
    )
    assert page.locator("body > :not(.slides-print)").evaluate_all(
        "all => all.every((node) => !node.checkVisibility())"
    )
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(pages).to_have_count(0)
    assert (page.url, count(page)[1]) == (before, slides)
    page.keyboard.press("o")
    expect(page.get_by_role("button", name=words("en")["site"]["slides"]["print"])).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    rows = page.locator(".slides-print.handout li")
    assert rows.count() == slides
    assert rows.first.is_visible() and not page.locator(".slides-dialog").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")


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


def test_what_a_claim_may_hold() -> None:
    assert html_of("1 < 2, *never* `x & y`") == "1 &lt; 2, <em>never</em> <code>x &amp; y</code>"
    assert html_of("so $W_q$!").startswith("so <span") and "<math" in html_of("so $W_q$!")
    with pytest.raises(ValueError, match="the claim"):
        html_of(r"so $\frac{$")


@pytest.mark.parametrize("name", TALKS)
def test_a_chapter_fits_an_hour_and_a_half(name: str) -> None:
    """As long in every language; its sections add up."""
    talks = [talk_of(language, name) for language in LANGUAGES]
    minutes = [[section["minutes"] for section in one["sections"].values()] for one in talks]
    assert minutes[0] == minutes[1] == minutes[2]
    assert 30 <= talks[0]["minutes"] <= 90 and abs(sum(minutes[0]) - talks[0]["minutes"]) <= 2.5
