"""The site in a real browser: every page in three languages, two themes, two widths; what its script does."""

import json
import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from making import until
from pairing import THEMES, WIDTHS, page_rows, slow_except, views
from playwright.sync_api import expect

import d2lmini as d2l
from book import katex, licenses, review
from book.contents import pages, table_of_contents
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import palette, progress

ROOT = Path(__file__).parents[1]
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
# page → its part of the book
PARTS = {name: part for name, part, _ in pages(table_of_contents(ROOT))}
PARTS |= {page: page for page in (licenses.PAGE, review.PAGE)}
PAGES = list(PARTS)
DARK_PAGE = "rgb({}, {}, {})".format(*bytes.fromhex(palette.COLORS["bg"][True].removeprefix("#")))
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"empty-table-header": {"enabled": False}},  # axe sees no text in MathML; screen readers do
}


class Visit:
    """A page in a fresh browser context, with everything that it asked for and complained about."""

    def __init__(self, browser, home: str, **context) -> None:
        self.home = home
        # the content security policy would keep axe out; that it keeps others out has a test of its own
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        self.page = self.context.new_page()
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", self._asked)
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", self._failed)

    def _asked(self, request) -> None:
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.foreign.append(request.url)

    def _failed(self, request) -> None:
        if request.failure != "net::ERR_ABORTED":  # leaving a page breaks off what it was fetching
            self.complaints.append(f"failed: {request.url} ({request.failure})")

    def open(self, path: str) -> "Visit":
        self.page.goto(f"{self.home}/{path}")  # until it has loaded, its scripts have run
        return self

    def resize(self, width: int) -> None:
        """Change the window; what follows from its width is found in quiet moments."""
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.locator(f"html[data-measured='{width}']").wait_for()

    def at_rest(self, reading: str) -> Any:
        """What a function of the page returns once it returns the same in ten frames on end."""
        return self.page.evaluate(
            f"""async () => {{
                let last, frames = 0;
                while (frames < 10) {{
                    await new Promise(requestAnimationFrame);
                    const now = JSON.stringify(({reading})());
                    frames = now === last ? frames + 1 : 0;
                    last = now;
                }}
                return JSON.parse(last);
            }}"""
        )

    def wake_widgets(self) -> None:
        """Scroll through the page, as a reader does, until every widget is alive."""
        self.page.locator("html[data-measured]").wait_for()
        self.page.evaluate(
            """async () => {
                for (const place of document.querySelectorAll('.d2l-widget[data-widget]')) {
                    const late = performance.now() + 5000;
                    while (!('awake' in place.dataset) && performance.now() < late) {
                        place.scrollIntoView({block: 'center', behavior: 'instant'});
                        await new Promise(requestAnimationFrame);
                    }
                }
                scrollTo({top: 0, behavior: 'instant'});
            }"""
        )

    def violations(self) -> list[str]:
        violations = self.page.evaluate(
            """async (rules) => (await axe.run(document, {...rules, resultTypes: ['violations']})).violations
                .flatMap(v => v.nodes.slice(0, 3)
                    .map(n => `${v.id}: ${n.html.slice(0, 160)} ${n.failureSummary}`))""",
            RULES,
        )
        return list(violations)

    def overflow(self) -> int:
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.fixture
def visit(browser, address) -> Iterator[Visit]:
    visit = Visit(browser, address, bypass_csp=True)
    yield visit
    visit.context.close()


@pytest.fixture
def small(browser, small_address) -> Iterator[Visit]:
    visit = Visit(browser, small_address)
    yield visit
    visit.context.close()


# ---- every page ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "language", "views", "axe"), page_rows(PARTS))
def test_page(visit, name, language, views, axe):
    visit.open(f"{language}/{name}.html").wake_widgets()
    asleep = visit.page.eval_on_selector_all(
        ".d2l-widget[data-widget]:not([data-awake])", "places => places.map(place => place.dataset.id)"
    )
    assert asleep == []
    visit.page.evaluate(AXE)
    for scheme, width in views:
        visit.resize(width)
        visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        expect(visit.page.locator("html")).to_have_attribute("data-theme", scheme)
        assert visit.overflow() == 0, f"{width} px: {wide_elements(visit)}"
        assert not axe or visit.violations() == [], f"{width} px, {scheme}"
    assert visit.foreign == []
    assert visit.complaints == []


def wide_elements(visit: Visit) -> list[str]:
    return visit.page.evaluate(
        """[...document.querySelectorAll('body *')]
            .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
            .filter(e => !e.closest('.scroll, pre, .wide, .katex-mathml'))
            .slice(0, 3).map(e => e.outerHTML.slice(0, 200))"""
    )


def test_landing_page_and_the_page_for_lost_readers(browser, address):
    visit = Visit(browser, address, bypass_csp=True)
    for path in ("index.html#choose", "no/such/page"):
        visit.page.goto(f"{address}/{path}")
        visit.page.evaluate(AXE)
        assert visit.violations() == []
        assert visit.page.locator("li a").count() == len(LANGUAGES)
    assert visit.foreign == []
    assert [c for c in visit.complaints if "404" not in c] == []
    visit.context.close()


@pytest.mark.parametrize(
    ("locale", "language"), [("vi-VN", "vi"), ("zh-CN", "zh"), ("fr-FR", None), ("en-US", "en")]
)
def test_landing_page_leads_to_the_readers_language(browser, address, locale, language):
    visit = Visit(browser, address, locale=locale).open("")
    expected = f"{address}/{language}/index.html" if language else f"{address}/"
    assert visit.page.url == expected
    visit.context.close()


def test_reading_works_without_scripts(browser, small_address):
    visit = Visit(browser, small_address, java_script_enabled=False)
    visit.open("en/basics.html")
    assert visit.page.locator("#eq-1\\.1 .katex-html").is_visible()
    assert visit.page.locator(".to-search").is_hidden()
    visit.page.set_viewport_size({"width": 375, "height": 800})
    visit.page.locator(".to-chapters").click()
    visit.page.locator("#site-chapters a", has_text="Welcome").click()
    assert visit.page.url.endswith("/en/index.html")
    visit.open("")
    assert visit.page.locator("li a").count() == len(LANGUAGES)
    visit.context.close()


# ---- what the script does, on the small book ------------------------------------------------------------


def test_nothing_breaks_the_content_security_policy(small):
    small.open("en/basics.html").wake_widgets()
    small.page.keyboard.press("/")
    small.page.locator("#site-search input").fill("order")
    small.page.locator("#site-search-results a").first.wait_for()
    assert small.complaints == []
    assert small.foreign == []


def test_a_first_visit_asks_for_little(small):
    asked: list[str] = []
    small.page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[1].split("?")[0]))
    small.open("zh/index.html")
    assert {name for name in asked if "data:" not in name} == {"index.html", "site.js"}


@pytest.mark.parametrize(
    ("name", "language", "width"),
    slow_except(
        product(["index", "complexity"], LANGUAGES, [390, 1280]),
        [("index", "vi", 390), ("complexity", "en", 1280)],
    ),
)
def test_nothing_moves_while_a_page_loads(visit, name, language, width):
    """On a slow phone, where the first paint comes before the end of the page is there."""
    visit.page.set_viewport_size({"width": width, "height": 900})
    session = visit.context.new_cdp_session(visit.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    line = {"latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 90_000, "offline": False}
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", line)
    visit.page.add_init_script(
        """window.shifts = [];
        new PerformanceObserver((list) => {
            for (const { value, sources } of list.getEntries())
                shifts.push([value, ...sources.map(({ node }) => node?.outerHTML ?? node?.data)]);
        }).observe({ type: "layout-shift", buffered: true })"""
    )
    visit.page.goto(f"{visit.home}/{language}/{name}.html")
    visit.page.locator("html[data-measured]").wait_for()
    assert visit.page.evaluate("shifts") == []


def test_accents_stand_where_katexs_own_style_sheet_puts_them(small):
    small.open("en/basics.html")
    places = small.page.locator("#eq-1\\.3 .katex-html")
    read = """(formula) => [...formula.querySelectorAll(".base *")].map((node) => {
        const { x, y, width, height } = node.getBoundingClientRect();
        return [node.className.baseVal ?? node.className, x, y, width, height];
    })"""
    placed = places.evaluate(read)
    assert any("accent-body" in name and width == 0 for name, _, _, width, _ in placed)
    everything = (katex.FOLDER / "katex.min.css").read_text(encoding="utf-8")
    small.page.evaluate(
        """(rules) => {
            const sheet = new CSSStyleSheet(); // the page allows no further style element
            sheet.replaceSync(rules);
            const [first] = document.styleSheets;
            for (const { cssText } of [...sheet.cssRules].reverse()) first.insertRule(cssText, 0);
        }""",
        re.sub(r"@font-face\{[^}]*\}", "", everything),
    )
    assert places.evaluate(read) == placed


def test_words_in_a_formula_that_katex_cannot_write_are_in_the_font_of_the_text(small):
    small.open("vi/basics.html")
    words = small.page.locator("#eq-1\\.3 .base .text")
    assert words.inner_text().replace("\xa0", " ") == " đơn vị mỗi đầu"
    assert words.locator(".accent").count() == 0  # KaTeX would pile accents on plain letters
    style = "e => (({fontFamily, fontSize}) => [fontFamily, parseFloat(fontSize)])(getComputedStyle(e))"
    family, size = words.evaluate(style)
    around, text_size = small.page.locator("#basics ~ p").first.evaluate(style)
    assert family == around and abs(size - text_size) < 0.1


def test_a_formula_too_wide_for_its_line_scrolls_by_itself(small):
    small.page.set_viewport_size({"width": 375, "height": 800})
    small.open("en/basics.html")
    formula = small.page.locator("#order ~ p .katex")
    formula.scroll_into_view_if_needed()
    small.page.locator("#order ~ p .katex.wide").wait_for()
    small.page.set_viewport_size({"width": 1280, "height": 800})
    small.page.locator("#order ~ p .katex:not(.wide)").wait_for()


def test_a_reload_and_the_way_back_lead_to_the_same_line(visit):
    visit.page.set_viewport_size({"width": 375, "height": 800})
    visit.open("en/self-attention.html")
    reading = """() => {
        const lines = [...document.querySelectorAll("article :is(p, pre)")];
        const line = lines.find((one) => one.getBoundingClientRect().top > 60);
        return [line.textContent, Math.round(line.getBoundingClientRect().top)];
    }"""
    visit.page.locator("html[data-measured]").wait_for()
    visit.page.evaluate(
        """new Promise((done) => {
            addEventListener("scrollend", done);
            scrollBy(0, document.querySelector("#worked-pair").getBoundingClientRect().top + 300);
        })"""
    )
    # the page has kept where a line stands, and it stands there still
    until(
        visit.page,
        """() => [...document.querySelectorAll("article :is(h1, h2, h3, p, li, pre, table)")].some(
            (line) => Math.abs(line.getBoundingClientRect().top - history.state?.top) < 1)""",
    )
    text, top = visit.at_rest(reading)
    visit.page.reload()
    visit.page.locator("html[data-measured]").wait_for()
    again, there = visit.at_rest(reading)
    assert again == text and abs(there - top) <= 1

    visit.page.evaluate("location.hash = 'recap'")
    assert visit.at_rest(reading)[0] != text
    visit.page.go_back()
    until(visit.page, f"text => ({reading})()[0] === text", text)
    assert abs(visit.at_rest(reading)[1] - top) <= 1


def test_a_link_into_the_page_leads_under_the_header(visit):
    visit.open("en/multi-head-attention.html#heads")
    for when in ("at first", "after a reload"):
        if when == "after a reload":
            visit.page.reload()
        visit.page.locator("html[data-measured]").wait_for()
        top = visit.page.locator("#heads").evaluate("node => node.getBoundingClientRect().top")
        assert 60 < top < 110, when


def test_old_links_and_answers_lead_to_where_things_are_now(visit):
    visit.open("vi/index.html")
    saved = {"self-attention/mask-matrix": {"done": True}, "self-attention/why-scale": {"given": 0}}
    visit.page.evaluate("answers => localStorage.setItem('d2lmini', JSON.stringify({answers}))", saved)
    visit.open("vi/self-attention.html#padding")
    visit.page.wait_for_url("**/vi/multi-head-attention.html#padding")
    visit.page.locator("html[data-measured]").wait_for()
    assert 0 < visit.page.locator("#padding").evaluate("node => node.getBoundingClientRect().top") < 110
    count = visit.page.locator("[data-chapter=multi-head-attention] .count")
    expect(count).to_have_text(re.compile("^1/"))
    answers = visit.page.evaluate("JSON.parse(localStorage.getItem('d2lmini')).answers")
    saved["multi-head-attention/mask-matrix"] = saved.pop("self-attention/mask-matrix")
    assert answers == saved
    visit.page.evaluate("location.hash = 'no-such-place'")  # nothing known: the page stays
    visit.page.evaluate("location.hash = 'heads'")
    assert visit.page.url.endswith("vi/multi-head-attention.html#heads")
    assert visit.complaints == []


def test_paper_shows_every_section(visit):
    visit.open("en/self-attention.html")
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate(
        """[...document.querySelectorAll("article p")].every((text) =>
            text.checkVisibility({contentVisibilityAuto: true}) ||
            text.closest("details, .d2l-widget, .guess, .drag-hint"))"""
    )


def test_language_menu_keeps_page_and_section(small):
    small.open("en/basics.html#order")
    small.page.locator(".languages summary").click()
    assert small.page.locator(".languages [aria-current]").inner_text() == "English"
    small.page.locator(".languages a[data-language=vi]").click()
    small.page.wait_for_url("**/vi/basics.html#order")
    # the jump to the section comes after the load
    expect(small.page.locator("#order")).to_be_in_viewport()
    # and the landing page leads there from now on
    small.open("")
    assert small.page.url.endswith("/vi/index.html")


def test_another_language_opens_at_the_same_cell(visit):
    visit.open("en/self-attention.html")
    visit.page.locator("html[data-measured]").wait_for()
    top = "(cell) => cell.getBoundingClientRect().top"
    cells = f"() => [...document.querySelectorAll('article .cell')].map({top})"
    wanted = 7
    visit.page.evaluate(f"scrollBy({{ top: ({cells})()[{wanted}] - 300, behavior: 'instant' }})")
    before = visit.at_rest(cells)[wanted]
    for language in ("vi", "zh"):
        for part in (".languages summary", f".languages a[data-language={language}]"):
            box = visit.page.locator(part).bounding_box()
            visit.page.mouse.click(box["x"] + 9, box["y"] + 9)  # `click` would scroll first
        visit.page.wait_for_url(f"**/{language}/self-attention.html#*")
        visit.page.locator("html[data-measured]").wait_for()
        assert abs(visit.at_rest(cells)[wanted] - before) <= 2, language
    visit.open("en/self-attention.html")  # a visit of its own begins at the top
    assert visit.at_rest("() => scrollY") == 0


def test_theme_goes_round_and_is_remembered(small):
    small.page.emulate_media(color_scheme="light")
    small.open("en/index.html")
    root, button = small.page.locator("html"), small.page.locator(".to-theme")
    seen = []
    for _ in range(3):
        seen.append((root.get_attribute("data-mode"), root.get_attribute("data-theme")))
        button.click()
    assert seen == [("auto", "light"), ("light", "light"), ("dark", "dark")]
    button.click()
    button.click()
    small.page.reload()
    assert root.get_attribute("data-theme") == "dark"
    assert button.get_attribute("aria-label") == "Theme: dark"
    assert small.page.evaluate("getComputedStyle(document.body).backgroundColor") == DARK_PAGE
    small.page.goto(f"{small.home}/index.html#choose")
    assert root.get_attribute("data-theme") == "dark"
    assert small.page.evaluate("getComputedStyle(document.body).backgroundColor") == DARK_PAGE


def test_a_theme_that_does_not_exist_is_the_systems(small):
    small.page.emulate_media(color_scheme="light")
    small.page.add_init_script("localStorage.setItem('d2lmini-theme', '\"sepia\"')")
    small.open("en/index.html")
    expect(small.page.locator("html")).to_have_attribute("data-mode", "auto")
    expect(small.page.locator("html")).to_have_attribute("data-theme", "light")
    expect(small.page.locator(".to-theme")).to_have_attribute("aria-label", "Theme: as the system")


def test_the_theme_follows_the_system_until_one_is_chosen(small):
    small.page.emulate_media(color_scheme="light")
    small.open("en/index.html")
    root = small.page.locator("html")
    small.page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "dark")
    small.page.locator(".to-theme").click()
    expect(root).to_have_attribute("data-theme", "light")
    small.page.emulate_media(color_scheme="light")
    small.page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize("name", ["languages", "places"])
def test_a_menu_closes_by_escape_and_by_a_press_beside_it(small, name):
    small.open("en/basics.html")
    menu, summary = small.page.locator(f".{name}"), small.page.locator(f".{name} summary")
    # the left end of the foot: no menu reaches down to it
    beside = {"position": {"x": 2, "y": 2}}
    for close in (
        lambda: small.page.keyboard.press("Escape"),
        lambda: small.page.locator(".foot").click(**beside),
    ):
        summary.click()
        menu.locator("a").first.focus()
        close()
        expect(menu).not_to_have_attribute("open", "")
    summary.click()
    menu.locator("a").first.focus()
    small.page.keyboard.press("Escape")
    expect(summary).to_be_focused()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_other_places_are_offered_on_every_screen(visit, language):
    """The menu, open: within the screen, and each command is copied as it stands."""
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open(f"{language}/references.html")
    visit.page.locator(".places summary").press("Enter")
    for width in WIDTHS:
        visit.resize(width)
        box = visit.page.locator(".places ul").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width and visit.overflow() <= 0
    command = visit.page.locator(".places .typed").first
    command.get_by_role("button").click()
    expect(command.get_by_role("button")).to_have_text(words(language)["site"]["script"]["copied"])
    copied = visit.page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[-1] == f"python3 course.py lab references --lang {language}"


@pytest.mark.parametrize(
    ("language", "view"),
    slow_except(product(LANGUAGES, product(THEMES, WIDTHS)), [("en", view) for view in views(0)]),
)
def test_the_menu_of_other_places_passes_axe(visit, language, view):
    scheme, width = view
    visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    visit.open(f"{language}/references.html")
    visit.page.evaluate(AXE)
    visit.resize(width)
    visit.page.locator(".places summary").press("Enter")
    assert visit.violations() == []


def test_a_slash_in_a_field_is_a_slash(small):
    small.open("en/index.html")
    small.page.locator(".to-progress").click()
    small.page.locator("#site-progress[open]").wait_for()
    field = small.page.get_by_label("Progress code")
    field.press("/")
    expect(field).to_have_value("/")
    assert not small.page.locator("#site-search").is_visible()


def test_the_section_being_read_is_marked_in_the_contents(small):
    small.open("en/basics.html")
    small.page.locator("#order").evaluate("e => e.scrollIntoView({behavior: 'instant'})")
    current = small.page.locator(".contents [aria-current]")
    current.and_(small.page.locator("[href='#order']")).wait_for()
    assert current.count() == 1


def test_wide_things_scroll_in_their_own_box_by_keyboard(small):
    small.open("en/basics.html")
    small.resize(375)  # and none of them has come into view yet
    assert small.overflow() == 0
    formula = small.page.locator("#eq-1\\.2")
    assert formula.evaluate("e => e.scrollWidth <= e.clientWidth")  # it is broken; one that cannot be scrolls
    formula.evaluate("e => (e.style.cssText = '--wrap: nowrap; --least: max-content')")
    expect(formula).to_have_attribute("tabindex", "0")
    for box, label in (
        ("#eq-1\\.2", "formula"),
        (".table", "table"),
        ("pre:has-text('wide wide')", "code"),
        (".cell_output pre:has-text('1 1')", "output"),
    ):
        reached = small.page.locator(f"article {box}").first
        assert reached.evaluate("e => e.scrollWidth > e.clientWidth")
        assert reached.get_attribute("tabindex") == "0"
        assert reached.get_attribute("aria-label") == words("en")["site"]["script"][label]


def test_chapters_open_and_close_by_keyboard_on_a_phone(small):
    small.page.set_viewport_size({"width": 375, "height": 800})
    small.open("en/index.html")
    chapters = small.page.locator("#site-chapters")
    assert not chapters.is_visible()
    small.page.locator(".to-chapters").focus()
    small.page.keyboard.press("Enter")
    assert chapters.is_visible()
    small.page.keyboard.press("Escape")
    assert not chapters.is_visible()
    small.page.keyboard.press("Enter")
    chapters.locator("a[href='basics.html']").press("Enter")
    small.page.wait_for_url("**/en/basics.html")


def test_the_map_shows_what_is_solved_and_the_dialog_opens(small):
    small.open("en/index.html")
    row = small.page.locator(".station")
    assert row.locator(".count").inner_text().startswith("0 / 1")
    small.page.evaluate(KEEP_ANSWER)
    assert row.locator(".count").inner_text().startswith("1 / 1")
    assert row.locator("progress").evaluate("bar => bar.position") == 1
    assert row.locator(".visually-hidden").inner_text() == "1 of 1 exercises solved"
    small.page.locator("#progress ~ .buttons button").click()
    small.page.locator("#site-progress").wait_for()


# ---- on machines with other fonts: only where fontconfig rules, but what holds there is a matter of styles

PLAIN = {"Plain": (900, 200)}
MACHINES = {
    "one face for everything": PLAIN,
    "a brush face that stands high": {**PLAIN, "Microsoft YaHei": (1060, 260), "KaiTi": (1400, 100)},
    "a brush face that hangs low": {**PLAIN, "PingFang SC": (1060, 340), "STKaiti": (200, 900)},
    "code that stands high, text like Arial": {**PLAIN, "Menlo": (1500, 500), "Arial": (905, 212)},
}


@pytest.mark.skipif(sys.platform != "linux", reason="fontconfig decides on Linux")
@pytest.mark.parametrize("machine", slow_except(MACHINES, list(MACHINES)[1:3]))
def test_a_line_is_as_high_with_emphasis_code_or_a_formula_as_without(
    browser_with_fonts, small_address, machine
):
    visit = Visit(browser_with_fonts(MACHINES[machine]), small_address)
    for language in LANGUAGES:
        lines_are_alike(visit.open(f"{language}/basics.html"))


def lines_are_alike(visit: Visit) -> None:
    visit.page.locator("html[data-measured]").wait_for()  # the fonts of formulas are there, too
    heights = visit.page.evaluate(
        """async (tags) => {
            const text = {en: "the score of a token ", vi: "điểm của một token ", zh: "一个词元的分数，"};
            const words = text[document.documentElement.lang.slice(0, 2)].repeat(20);
            const formula = document.querySelector("article p .katex");
            const paragraphs = tags.map((nested) => {
                const paragraph = document.createElement("p");
                paragraph.append(words);
                let inner = paragraph;
                for (const tag of nested.split(" "))
                {
                    const node = tag === "formula" ? formula.cloneNode(true) : document.createElement(tag);
                    inner.append(node);
                    inner = node;
                }
                if (nested !== "formula") inner.append(words);
                paragraph.append(words);
                document.querySelector("article").append(paragraph);
                return paragraph;
            });
            paragraphs[0].getBoundingClientRect(); // asks for the faces that these words need
            await document.fonts.ready;
            return paragraphs.map((paragraph) => paragraph.getBoundingClientRect().height);
        }""",
        ["span", "em", "strong", "code", "a code", "em strong", "sup", "sub", "formula"],
    )
    leading = visit.page.locator("article p").last.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)")
    line = heights[0] / round(heights[0] / leading)
    assert abs(line - leading) < 0.02 and heights[0] > 3 * line
    assert [abs(height - line * round(height / line)) < 0.1 for height in heights] == [True] * len(heights), (
        heights
    )


@pytest.mark.skipif(sys.platform != "linux", reason="fontconfig decides on Linux")
def test_chinese_emphasis_changes_to_the_brush_face_and_does_not_slant(browser_with_fonts, small_address):
    faces = {**PLAIN, "KaiTi": (900, 200)}
    visit = Visit(browser_with_fonts(faces), small_address).open("zh/index.html")
    chinese, latin = visit.page.locator("article em").all()
    assert chinese.inner_text() == "每一章" and latin.inner_text() == "Basics"
    session = visit.context.new_cdp_session(visit.page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": "article em"})["nodeId"]
    used = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    assert {font["familyName"] for font in used} == {"KaiTi"}
    for emphasis in (chinese, latin):
        assert emphasis.evaluate("e => getComputedStyle(e).fontSynthesisStyle") == "none"


def test_skip_link_leads_to_the_text(small):
    small.open("en/basics.html")
    small.page.keyboard.press("Tab")
    assert small.page.evaluate("document.activeElement.className") == "skip"
    small.page.keyboard.press("Enter")
    assert small.page.evaluate("document.activeElement.id") == "site-text"


def test_code_is_copied_without_its_button(small):
    small.context.grant_permissions(["clipboard-read", "clipboard-write"])
    small.open("en/basics.html")
    block = small.page.locator(".cell_input").last
    block.hover()
    block.locator(".to-copy").click()
    assert small.page.evaluate("navigator.clipboard.readText()") == "d2l.plot(y)"


@pytest.mark.parametrize(
    ("language", "query", "anchor"),
    [
        ("en", "rotary", "order"),
        ("vi", "ma hoa vi tri", "order"),
        ("vi", "điểm chú ý", "scores"),
        ("zh", "旋转位置嵌入", "order"),
        ("zh", "分数", "scores"),
    ],
)
def test_search_finds_the_section(small, language, query, anchor):
    small.open(f"{language}/index.html")
    small.page.keyboard.press("Control+k")
    small.page.locator("#site-search input").fill(query)
    results = small.page.locator("#site-search-results a")
    results.and_(small.page.locator(f"[href$='basics.html#{anchor}']")).first.wait_for()
    addresses = results.evaluate_all("all => all.map(one => one.getAttribute('href'))")
    place = next(index for index, address in enumerate(addresses) if address.endswith(f"#{anchor}"))
    for _ in range(place):
        small.page.keyboard.press("ArrowDown")
    assert results.nth(place).get_attribute("aria-selected") == "true"
    small.page.keyboard.press("Enter")
    small.page.wait_for_url(f"**/{language}/basics.html#{anchor}")
    assert small.complaints == []


def test_arrow_up_leads_from_the_first_result_to_the_last(small):
    small.open("en/index.html")
    small.page.keyboard.press("/")
    small.page.locator("#site-search input").fill("code")
    results = small.page.locator("#site-search-results a")
    results.nth(1).wait_for()
    small.page.keyboard.press("ArrowUp")
    expect(results.last).to_have_attribute("aria-selected", "true")
    small.page.keyboard.press("ArrowUp")
    expect(results.nth(results.count() - 2)).to_have_attribute("aria-selected", "true")


def test_search_says_when_there_is_nothing_and_closes(small):
    small.open("en/index.html")
    small.page.keyboard.press("/")
    dialog = small.page.locator("#site-search")
    dialog.locator("input").fill("zebrafish")
    dialog.locator(".status", has_text="zebrafish").wait_for()
    expect(dialog.get_by_role("option")).to_have_count(0)
    dialog.get_by_role("button", name="RoPE").wait_for()  # what one may try instead
    small.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_search_suggests_before_the_first_letter(small):
    small.open("en/index.html")
    small.page.locator(".to-search").click()
    dialog = small.page.locator("#site-search")
    dialog.get_by_role("button", name="positional encoding").click()
    expect(dialog.locator("input")).to_have_value("positional encoding")
    expect(dialog.locator("input")).to_be_focused()
    dialog.locator("input").fill("scores")
    expect(dialog.locator(".tries")).to_be_hidden()
    dialog.locator("input").fill("")
    expect(dialog.locator(".tries")).to_be_visible()
    expect(dialog.get_by_role("listbox")).to_be_hidden()


def test_search_names_the_page_and_marks_what_it_found(small):
    small.open("en/index.html")
    small.page.keyboard.press("/")
    dialog = small.page.locator("#site-search")
    field = dialog.get_by_role("combobox")
    field.fill("rotary embeding")
    group = dialog.get_by_role("group", name="1 · The basics")
    hit = group.get_by_role("option", name="Order does not matter", selected=True)
    expect(hit.locator("mark").first).to_have_text("Rotary")
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(field).to_have_attribute("aria-activedescendant", hit.get_attribute("id"))
    assert "1 result" in dialog.get_by_role("status").inner_text()
    field.fill("rotary zebrafish")
    expect(dialog.get_by_role("status")).to_contain_text("nearest")
    # what is kept back until the exercise is answered is not shown
    field.fill("square root of the variance")
    expect(dialog.locator("p em", has_text="Answered in an exercise:")).to_be_visible()
    assert small.complaints == []


@pytest.mark.parametrize(
    ("query", "scheme"),
    slow_except(product(["", "掩码", "zebrafish"], THEMES), [("", "light"), ("掩码", "dark")]),
)
def test_the_search_dialog_passes_axe_on_a_phone(visit, query, scheme):
    visit.page.set_viewport_size({"width": 375, "height": 800})
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.add_init_script(AXE)
    visit.open("zh/long-sequences.html")
    visit.page.locator(".to-search").click()
    dialog = visit.page.locator("#site-search")
    dialog.locator("input").fill(query)
    dialog.locator("[role=option]:visible, .tries button:visible").first.wait_for()
    assert visit.violations() == []
    assert dialog.evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    assert visit.overflow() <= 0


def test_enter_before_the_index_is_there_opens_the_first_result(small):
    held = []
    small.page.route("**/search.json*", lambda route: held.append(route))  # noqa: PLW0108  a bound method cannot be wrapped
    small.open("en/index.html")
    small.page.keyboard.press("/")
    field = small.page.locator("#site-search input")
    field.fill("scores")
    expect(small.page.locator("#site-search .status")).to_have_text("Loading …")
    small.page.keyboard.press("Enter")
    while not held:  # the page says that it loads before Playwright hears of the request
        small.page.wait_for_timeout(20)
    held[0].continue_()
    small.page.wait_for_url("**/en/basics.html#scores")


def test_search_says_when_its_index_does_not_come_and_asks_again(small):
    small.page.route("**/search.json*", lambda route: route.abort())
    small.open("en/index.html")
    small.page.keyboard.press("/")
    status = small.page.locator("#site-search .status")
    expect(status).to_have_text("The search index could not be loaded.")
    small.page.keyboard.press("Escape")
    expect(small.page.locator("#site-search")).to_be_hidden()
    small.page.unroute("**/search.json*")
    small.page.locator(".to-search").click()
    small.page.locator("#site-search input").fill("scores")
    small.page.get_by_role("option").first.wait_for()
    small.complaints.clear()


def test_nothing_of_the_search_is_fetched_before_it_is_opened(small):
    asked = []
    small.page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[1].split("?")[0]))
    small.open("en/basics.html").wake_widgets()
    assert not {name for name in asked if name.startswith("search")}
    small.page.keyboard.press("/")
    small.page.locator("#site-search .tries").wait_for()
    small.page.keyboard.type("a")
    small.page.get_by_role("option").first.wait_for()
    assert sorted(name for name in asked if name.startswith("search")) == ["search.js", "search.json"]


def test_answers_are_kept_shown_exported_imported_and_forgotten(small, tmp_path):
    small.open("en/basics.html")
    small.page.evaluate(KEEP_ANSWER)
    chapter = small.page.locator("[data-chapter=basics]")
    assert chapter.locator(".count").text_content() == "1/1"
    assert chapter.locator(".visually-hidden").inner_text() == "1 of 1 exercises solved"
    small.page.reload()
    assert chapter.locator(".count").text_content() == "1/1"

    dialog = small.page.locator("#site-progress")
    small.page.locator(".to-progress").click()
    assert dialog.locator("dd").inner_text() == "1 / 1"
    with small.page.expect_download() as download:
        dialog.locator("[data-do=export]").click()
    saved = tmp_path / "progress.json"
    download.value.save_as(saved)
    kept = json.loads(saved.read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", kept.pop("made"))
    assert kept == {
        "d2lmini": 1,
        "answers": {"self-attention/why-scale": {"done": True, "choice": 1}},
    }

    dialog.locator("[data-do=reset]").click()
    assert chapter.locator(".count").text_content() == "1/1"  # it asks first
    dialog.locator("[data-do=reset]").click()
    assert chapter.locator(".count").text_content() == "0/1"

    # by its bytes: in a bare locale a browser finds no file in a folder with accents
    other = {"name": "other.json", "mimeType": "application/json", "buffer": AXE_FILE.read_bytes()}
    for file, says in ((saved, "Imported 1"), (other, "holds no")):
        with small.page.expect_file_chooser() as chooser:
            dialog.locator("[data-do=import]").click()
        chooser.value.set_files(file)
        dialog.locator(".status", has_text=re.compile(says)).wait_for()
    assert chapter.locator(".count").text_content() == "1/1"


def test_a_code_carries_the_answers_to_jupyter_and_back(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "self-attention/why-scale"
    small.open("en/basics.html")
    exercise = small.page.locator(f".d2l-widget[data-id='{name}']")
    exercise.scroll_into_view_if_needed()
    exercise.get_by_role("radio").first.check()
    exercise.get_by_role("button", name="Check").click()
    small.page.locator(".to-progress").click()
    dialog = small.page.locator("#site-progress")
    field = dialog.get_by_label("Progress code")
    dialog.get_by_role("button", name="Copy as a code").click()
    expect(field).to_have_value(re.compile(r"d2l1\."))
    d2l.progress(field.input_value())
    assert progress.answers()[name]["done"] is True
    from_python = capsys.readouterr().out.splitlines()[-1]

    # the exercise on the page follows what the dialog does
    for _ in range(2):
        dialog.locator("[data-do=reset]").click()
    assert (
        exercise.get_by_role("status").inner_text() == ""
        and not exercise.get_by_role("radio").first.is_checked()
    )
    field.fill(from_python[:-9])
    field.press("Enter")
    dialog.locator(".status", has_text="only a part of one").wait_for()
    assert field.input_value() == from_python[:-9]
    field.fill(from_python)
    field.press("Enter")
    dialog.locator(".status", has_text="Imported 1 answer.").wait_for()
    assert field.input_value() == ""
    assert small.page.locator("[data-chapter=basics] .count").text_content() == "1/1"
    assert "Correct." in exercise.get_by_role("status").inner_text()


def test_an_answer_that_is_wrong_is_not_solved(small):
    small.open("en/basics.html")
    small.page.evaluate(KEEP_ANSWER.replace("true", "false"))
    assert small.page.locator("[data-chapter=basics] .count").text_content() == "0/1"
    assert small.page.evaluate("localStorage.d2lmini").count("false") == 1


def test_another_tab_shows_the_answer_too(small):
    small.open("en/basics.html")
    small.wake_widgets()
    other = small.context.new_page()
    other.goto(small.page.url)
    other.evaluate(KEEP_ANSWER.replace("choice: 1", "checked: true, right: true, given: 0"))
    expect(small.page.locator("[data-chapter=basics] .count")).to_have_text("1/1")
    expect(small.page.locator(".d2l-exercise .d2l-verdict")).to_contain_text("Correct.")


def test_a_code_takes_nothing_away(small):
    name = "self-attention/why-scale"
    small.open("en/basics.html")
    small.page.evaluate(KEEP_ANSWER)
    small.page.locator(".to-progress").click()
    field = small.page.get_by_label("Progress code")
    for given, expected in (
        ({name: {"given": 2}}, {name: {"done": True, "choice": 1}}),
        ({"a/b": {"done": True}}, {name: {"done": True, "choice": 1}, "a/b": {"done": True}}),
    ):
        field.fill(progress.pack(given))
        field.press("Enter")
        expect(field).to_have_value("")
        assert small.page.evaluate("JSON.parse(localStorage.d2lmini).answers") == expected


def test_a_widget_that_fails_leaves_its_text(small):
    broken = "export default { render() { throw new Error('broken'); } };"
    small.page.route(
        "**/widgets/exercise.js*", lambda route: route.fulfill(content_type="text/javascript", body=broken)
    )
    small.open("en/basics.html")
    place = small.page.locator(".d2l-widget[data-widget]")
    place.scroll_into_view_if_needed()
    place.get_by_role("alert").wait_for()
    assert "What happens to a typical score" in place.inner_text()


KEEP_ANSWER = """async () => (await import(document.querySelector('script[type=module]').src))
    .keepAnswer('self-attention/why-scale', {done: true, choice: 1})"""
AXE_FILE = Path(__file__).parent / "vendor" / "axe-LICENSE"
