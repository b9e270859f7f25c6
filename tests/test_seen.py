"""What a person should see can be seen: it lies in the window, has room for its words, and nothing covers it.

Each window, dialog and card opens in a fresh profile, where nothing else has brought its styles along.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from explorer_pages import SHOWN
from making import ROOT, served
from playwright.sync_api import Browser, Locator, Page, expect
from test_site_scripts import packed

from book.contents import pages, table_of_contents
from book.offline import explain_files
from d2lmini.language import LANGUAGES, words

WORDS = words("en")["site"]
DESK = {"viewport": {"width": 1366, "height": 768}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LOADED = 30_000  # milliseconds: the presenter's window holds the page three times
# why a person does not see all of an element that ought to be in sight
UNSEEN = """(nodes) => nodes.flatMap((node) => {
    const box = node.getBoundingClientRect();
    const name = `${node.localName}.${node.className} “${node.textContent.trim().slice(0, 30)}”`;
    const why = [];
    if (box.width < 8 || box.height < 8) why.push(`has no room: ${box.width} × ${box.height}`);
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
        why.push(`leaves the window: ${[box.left, box.top, box.right, box.bottom].map(Math.round)}`);
    const { overflowX, overflowY, display } = getComputedStyle(node);
    const cuts = (overflow) => ["hidden", "clip"].includes(overflow);
    if (display !== "inline" && node.scrollHeight > node.clientHeight + 2 && cuts(overflowY))
        why.push(`cuts its words: ${node.scrollHeight} of ${node.clientHeight}`);
    if (display !== "inline" && node.scrollWidth > node.clientWidth + 2 && cuts(overflowX))
        why.push(`cuts its words: ${node.scrollWidth} of ${node.clientWidth}`);
    // the corners a little inside, and the middle
    for (const [x, y] of [[0.5, 0.5], [0.06, 0.2], [0.94, 0.8]]) {
        const top = document.elementFromPoint(box.left + x * box.width, box.top + y * box.height);
        if (!node.contains(top) && !top?.contains(node))
            why.push(`is covered by ${top?.outerHTML.slice(0, 60)}`);
    }
    return why.map((reason) => `${name} ${reason}`);
})"""


def unseen(*shown: Locator) -> list[str]:
    found = []
    for locator in shown:
        expect(locator.first).to_be_visible(timeout=LOADED)
        found += locator.evaluate_all(UNSEEN)
    return found


def overlapping(shown: Locator) -> list[str]:
    """Which of these lie on each other: as if their words ran together."""
    overlaps: list[str] = shown.evaluate_all(
        """(nodes) => nodes.flatMap((one, i) => nodes.slice(i + 1).flatMap((other) => {
            const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
            const across = a.left < b.right - 1 && b.left < a.right - 1;
            const down = a.top < b.bottom - 1 && b.top < a.bottom - 1;
            return !across || !down ? [] : [`${one.textContent} / ${other.textContent}`];
        }))"""
    )
    return overlaps


@pytest.fixture
def visit(browser: Browser, small_address: str) -> Iterator[Callable[..., Page]]:
    contexts = []

    def start(kind: dict[str, Any], path: str = "en/basics.html", **options: Any) -> Page:
        contexts.append(browser.new_context(**kind, bypass_csp=True, reduced_motion="reduce", **options))
        page = contexts[-1].new_page()
        page.goto(f"{small_address}/{path}")
        if "present" not in path:  # slides are measured otherwise
            page.locator("html[data-measured]").wait_for()
        return page

    yield start
    for context in contexts:
        context.close()


both = pytest.mark.parametrize("kind", [DESK, PHONE], ids=["desk", "phone"])


def open_progress(page: Page) -> Locator:
    if page.viewport_size == PHONE["viewport"]:
        page.locator(".to-chapters").click()
    page.locator(".to-progress").click()
    return page.locator("#site-progress")


@both
def test_the_progress_dialog_answers_where_one_looks(
    visit: Callable[..., Page], kind: dict[str, Any]
) -> None:
    page = visit(kind)
    dialog = open_progress(page)
    status, field = dialog.locator(".status"), dialog.locator(".code input")
    title, close = dialog.locator("h2"), dialog.get_by_role("button", name=WORDS["close"])
    assert unseen(dialog, title, close) == []
    assert overlapping(dialog.locator("form:first-of-type > *")) == []
    dialog.get_by_role("button", name=WORDS["code_copy"]).click()
    assert unseen(status) == []
    field.fill("d2l1.nothing")
    dialog.get_by_role("button", name=WORDS["code_take"]).click()
    expect(status).to_have_text(WORDS["dialogs"]["progress"]["code_failed"])
    assert unseen(status) == []
    code = packed('{"d2lmini": 1, "answers": {"self-attention/why-scale": {"done": true}}}')
    field.fill(f"Here it is: {code} Cảm ơn!")
    field.press("Enter")
    expect(status).to_have_text(WORDS["dialogs"]["progress"]["import_done"]["one"].format(count=1))
    expect(dialog.locator("dd").first).to_have_text("1 / 1")
    assert unseen(status, dialog.locator("dd").first) == []
    assert dialog.locator(".code label").inner_text() == WORDS["code_label"]
    name = dialog.locator(".name input")
    name.scroll_into_view_if_needed()
    assert unseen(name, dialog.locator(".name label")) == []
    assert WORDS["code_copy"] in WORDS["code_label"] and "d2l.progress()" in WORDS["code_label"]


@both
def test_the_search_shows_its_field_and_what_it_finds(
    visit: Callable[..., Page], kind: dict[str, Any]
) -> None:
    page = visit(kind)
    page.locator(".to-search").click()
    dialog = page.locator("#site-search")
    field = dialog.locator("input")
    assert unseen(dialog, field, dialog.locator(".tries button")) == []
    field.fill("scores")
    hits = dialog.locator("[role=option]")
    expect(hits.first).to_be_visible()
    assert unseen(dialog, field, hits.first, dialog.locator(".status")) == []
    assert overlapping(dialog.locator("form > *")) == []


@both
@pytest.mark.parametrize("picture", ["svg.plot", "svg.drawing"])
def test_a_large_figure_is_seen_whole_with_its_buttons(
    visit: Callable[..., Page], kind: dict[str, Any], picture: str
) -> None:
    page = visit(kind)
    page.locator(f"article .has-figure:has({picture}) > .to-enlarge").first.click()
    dialog = page.locator("dialog.large-figure")
    buttons = dialog.locator("form button")
    assert unseen(dialog, buttons, dialog.locator(".stage")) == []
    assert overlapping(buttons) == []
    # the buttons stand in one row at the right, and the figure has the rest
    tops = buttons.evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    right = buttons.last.evaluate("e => innerWidth - e.getBoundingClientRect().right")
    assert len(set(tops)) == 1 and right < 60
    stage = dialog.locator(".stage").bounding_box()
    assert stage and stage["height"] > 0.7 * kind["viewport"]["height"]
    shown = dialog.locator(".figure > :is(svg, img):visible").bounding_box()
    assert shown and stage["x"] <= shown["x"] and shown["x"] + shown["width"] <= stage["x"] + stage["width"]
    assert stage["y"] <= shown["y"] and shown["y"] + shown["height"] <= stage["y"] + stage["height"]


@both
@pytest.mark.parametrize("key", ["?", "o"])
def test_dialogs_on_slides(visit: Callable[..., Page], kind: dict[str, Any], key: str) -> None:
    page = visit(kind, "en/basics.html?present=1")
    page.locator(".slides-bar").wait_for()
    page.keyboard.press(key)
    dialog = page.locator("dialog.slides-dialog")
    title, close = dialog.locator("h2"), dialog.locator("form .icon-button")
    assert unseen(dialog, title, close) == []
    # the title and the cross in one row
    row = [dialog.locator(part).bounding_box() for part in ("h2", "form .icon-button")]
    assert row[0] and row[1]
    assert row[0]["x"] + row[0]["width"] <= row[1]["x"] and abs(row[0]["y"] - row[1]["y"]) < row[1]["height"]
    if key == "o":
        labels = dialog.locator("li button").all_inner_texts()
        exercise = labels[-1]
        assert "half of two" not in exercise or " " in exercise
        assert unseen(dialog.locator("li button").first) == []
        for label in labels:
            assert not re.search("[a-z][A-Z]", label), label
        assert unseen(dialog.get_by_role("button", name=WORDS["slides"]["print"])) == []


@pytest.mark.parametrize("size", [(1100, 720), (1366, 768), (1920, 1080)], ids=lambda size: f"{size[0]}")
def test_the_presenter_sees_notes_place_time_and_buttons(
    browser: Browser, small_address: str, size: tuple[int, int]
) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, bypass_csp=True)
    slides, presenter = context.new_page(), context.new_page()
    slides.goto(f"{small_address}/en/basics.html?present=1")
    slides.locator(".slides-bar").wait_for()
    presenter.goto(f"{small_address}/en/basics.html?present=speaker")
    expect(presenter.locator(".slides-speaker footer p")).to_contain_text("1", timeout=LOADED)
    notes = presenter.locator(".slides-text")
    expect(notes).not_to_be_empty()
    footer = presenter.locator(".slides-speaker footer")
    parts = [footer.locator(part) for part in ("button", "p", "span", "time")]
    assert unseen(notes, *parts) == []
    for preview in presenter.locator(".slides-preview").all():  # it cuts its page on purpose
        inside = preview.bounding_box()
        assert inside and inside["width"] > 100 and inside["y"] + inside["height"] <= size[1]
    box = notes.bounding_box()
    assert box and box["height"] > size[1] / 5
    context.close()


@pytest.mark.parametrize("place", range(len(SHOWN) - 1))
def test_an_explorer_on_a_slide_has_picture_control_and_task_on_one_screen(
    browser: Browser, address: str, place: int
) -> None:
    """In the languages by turns: on the desk and on a phone each test of an explorer looks for itself."""
    kind, name = [row for row in SHOWN.items() if row[1] != "index"][place]
    context = browser.new_context(**DESK, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{address}/{LANGUAGES[place % 3]}/{name}.html")
    explorer = page.locator(f"[data-widget={kind}]")
    section = explorer.evaluate("node => node.closest('section').querySelector('[id]').id")
    page.goto(f"{page.url}?present=1#{section}")
    page.locator(".slides-bar").wait_for()
    for _ in range(20):
        if explorer.is_visible():
            break
        page.keyboard.press("PageDown")
    page.locator(f"[data-widget={kind}][data-awake]").wait_for()
    page.wait_for_timeout(300)  # it is made to fit
    for part in ("picture", "control", "task"):
        shown = explorer.locator(f"[data-look~={part}]:visible")
        assert shown.count() and unseen(shown) == [], part
    context.close()


@both
def test_the_card_of_a_term(browser: Browser, address: str, kind: dict[str, Any]) -> None:
    context = browser.new_context(**kind, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}/en/long-sequences.html")
    page.locator("html[data-measured]").wait_for()
    term = page.locator("main a.term").first
    term.scroll_into_view_if_needed()
    term.tap() if kind is PHONE else term.hover()
    card = page.locator(".term-card")
    assert unseen(card, card.locator("p"), card.locator("a"), term) == []
    context.close()


@both
def test_the_copy_button_covers_no_code(visit: Callable[..., Page], kind: dict[str, Any]) -> None:
    page = visit(kind)
    covered = page.locator("article .to-copy").evaluate_all(
        """(buttons) => buttons.filter((button) => {
            const pre = button.parentElement.querySelector("pre");
            if (getComputedStyle(button).opacity === "0" || !pre.checkVisibility()) return false;
            const [a, code] = [button.getBoundingClientRect(), document.createRange()];
            code.selectNodeContents(pre);
            return [...code.getClientRects()].some((b) =>
                a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1);
        }).map((button) => button.parentElement.textContent.slice(0, 60))"""
    )
    assert covered == []
    if kind is PHONE:
        assert page.locator("article .cell_input .to-copy:visible").count() > 0


@both
def test_what_is_kept_offline_is_told_with_its_size(visit: Callable[..., Page], kind: dict[str, Any]) -> None:
    page = visit(kind, service_workers="allow")
    page.evaluate("import(`./_static/offline.js?${document.body.dataset.version}`).then(() => 0)")
    page.locator("html[data-kept]").wait_for(timeout=60_000)
    page.goto(page.url.replace("basics", "offline"))
    keep = page.locator("[data-do=keep]")
    expect(keep).to_contain_text("MB")
    assert unseen(keep, page.locator("[data-when=part]"), page.locator("[data-do=forget]")) == []


@both
def test_an_exercise_that_does_not_load_says_so_and_is_tried_again(
    browser: Browser, small_address: str, kind: dict[str, Any]
) -> None:
    for lost in ("**/widgets.js*", "**/widgets/exercise.js*", "**/states/*"):
        context = browser.new_context(**kind, bypass_csp=True)
        page = context.new_page()
        page.route(lost, lambda route: route.abort())
        page.goto(f"{small_address}/en/basics.html")
        place = page.locator(".d2l-widget")
        place.scroll_into_view_if_needed()
        note = place.get_by_role("alert")
        expect(note).to_contain_text(WORDS["script"]["widget_failed"])
        note.scroll_into_view_if_needed()
        again = note.get_by_role("button", name=WORDS["script"]["retry"])
        assert unseen(note, again) == [], lost
        again.click()  # still lost
        expect(note).to_have_count(1)
        page.unroute(lost)
        page.get_by_role("button", name=WORDS["script"]["retry"]).click()
        expect(place.locator("input").first).to_be_visible()
        expect(note).to_have_count(0)
        context.close()


@both
def test_a_page_opened_as_a_file_says_what_it_lacks(
    browser: Browser, small_site: Path, tmp_path: Path, kind: dict[str, Any]
) -> None:
    for path in (small_site / "en").glob("*.html"):
        (tmp_path / path.name).write_text(
            explain_files(path.read_text(encoding="utf-8"), "en"), encoding="utf-8"
        )
    context = browser.new_context(**kind)
    page = context.new_page()
    page.goto((tmp_path / "basics.html").as_uri())
    expect(page.locator("h1")).to_be_visible()
    assert unseen(page.locator(".as-file")) == []
    expect(page.locator(".as-file")).to_have_text(WORDS["offline"]["as_file"])
    for dead in (".to-slides", ".to-search", ".to-theme", ".to-progress", ".to-run"):
        assert page.locator(dead).count() > 0
        assert page.locator(f"{dead}:visible").count() == 0, dead
    with served(tmp_path) as home:  # the same page from a server has no notice
        page.goto(f"{home}/basics.html")
        expect(page.locator(".as-file")).to_be_hidden()
    context.close()


def test_no_line_begins_with_the_mark_after_a_formula_or_splits_a_number(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(**PHONE)
    page = context.new_page()
    for path in ("zh/self-attention.html", "zh/relative-positions.html", "vi/complexity.html"):
        page.goto(f"{address}/{path}", wait_until="domcontentloaded")
        torn = page.evaluate("""() => [...document.querySelectorAll("article .katex")].flatMap((formula) => {
            const marks = /^[,.;:!?)，。；：！？、）]/;
            const after = formula.nextSibling;
            if (after?.nodeType !== Node.TEXT_NODE || !marks.test(after.data)) return [];
            const mark = document.createRange();
            mark.setStart(after, 0);
            mark.setEnd(after, 1);
            const base = [...formula.querySelectorAll(".base")].at(-1).getBoundingClientRect();
            const { top, height } = mark.getBoundingClientRect();
            return height && top >= base.bottom ? [formula.textContent + after.data.slice(0, 9)] : [];
        })""")
        assert torn == [], path
        assert (
            page.evaluate("/\\\\d\\u2009\\\\d/.test(document.querySelector('article').textContent)") is False
        )
    context.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_phone_shows_formulas_maps_and_what_cells_print_whole(
    browser: Browser, address: str, language: str
) -> None:
    context = browser.new_context(**PHONE)
    page = context.new_page()
    folded = 0
    for name in (name for name, _, number in pages(table_of_contents(ROOT)) if number):
        page.goto(f"{address}/{language}/{name}.html", wait_until="domcontentloaded")
        cut = page.evaluate("""() => {
            const isCut = (e) => e.scrollWidth > e.clientWidth + 1;
            const cut = (all) => [...all].filter(isCut).map((e) => e.textContent);
            const short = (pre) => pre.style.getPropertyValue("--letters") <= 58;
            return [cut(document.querySelectorAll("article .formula")),
                cut([...document.querySelectorAll(".cell_output pre[style*='--letters']")].filter(short))];
        }""")
        assert cut == [[], []], name
        for figure in page.locator("article .figure:has(> .folded)").filter(visible=True).all():
            wide, narrow = figure.locator("> svg").all()
            assert not wide.is_visible() and narrow.is_visible(), name
            assert narrow.get_attribute("aria-label") == wide.get_attribute("aria-label")
            whole = figure.evaluate("(e) => e.scrollWidth <= e.clientWidth && e.clientWidth <= innerWidth")
            assert whole, f"{name}: maps in two rows are wider than a phone"
            folded += 1
    assert folded >= 5  # relative-positions, translation, what-it-learned, induction
    for name in ("complexity", "what-it-learned"):  # the one is wider than the page, the other is in two rows
        page.goto(f"{address}/{language}/{name}.html")
        page.locator(".has-figure:has([style*='min-width']) > .to-enlarge").filter(visible=True).first.click()
        stage = page.locator(".large-figure .stage")
        expect(stage.locator(".figure > svg").filter(visible=True)).to_have_count(1)
        whole = stage.evaluate("(e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight")
        assert whole, f"{name}: a large figure is cut"
    context.close()
