"""The first visit is light and in the course's own face; the next page is there before it is asked for."""

import base64
import gzip
import io
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import small_book
from fontTools.ttLib import TTFont
from making import ROOT, make_book

from book import licenses, review
from book.browser import browser_name
from book.ext import assets, markup
from book.ext.page import OFFLINE
from d2lmini.language import LANGUAGES

HEADERS = 0.5  # KB, of the two answers together
# KB: the reference is as long as five chapters, and nobody's first page; chapter 1 in Vietnamese weighs 73.7,
# with the most letters that have accents; 70 for all others
LIMITS = {"api": 90, "self-attention": 74}
UNWRITTEN = (licenses.PAGE, review.PAGE, OFFLINE)  # by Sphinx: they are templates alone
FOLDED = r'<svg class="drawing folded".*?</svg></svg>'  # the same once more, in two rows
PICTURE = re.compile(
    rf'{FOLDED}|<svg[^>]*class="(?:plot|drawing)".*?</svg>|(?<=src=")data:image/[^"]*', re.DOTALL
)
INLINED = r'@font-face\{font-family:d2lmini Page;([\w :-]+);[^}]*base64,([^"]+)'
STYLED = {"span": "regular", "strong": "semibold", "em": "italic"}
# the letters that a page shows in the course's own face, by style
SHOWN = """() => {
    const shown = {regular: "", semibold: "", italic: ""};
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement.closest("script, style, title, desc")) continue;
        const { fontFamily, fontStyle, fontWeight } = getComputedStyle(node.parentElement);
        const style = fontStyle === "italic" ? "italic" : fontWeight >= 600 ? "semibold" : "regular";
        if (fontFamily.startsWith('"d2lmini Page"')) shown[style] += node.data;
    }
    return shown;
}"""


def pictures(page: Path) -> float:
    """Return the KB that the pictures of a page add to it as it is sent."""
    whole = page.read_text(encoding="utf-8")
    packed = [len(gzip.compress(text.encode(), 6)) for text in (whole, PICTURE.sub("", whole))]
    return (packed[0] - packed[1]) / 1000


def letters_inside(page: Path) -> dict[str, set[str]]:
    """Style → the letters that the page's own face has."""
    named = {rule: style for style, rule in assets.SANS.items()}
    fonts_inside = re.findall(INLINED, page.read_text(encoding="utf-8"))
    fonts = {named[rule]: TTFont(io.BytesIO(base64.b64decode(data))) for rule, data in fonts_inside}
    return {style: set(map(chr, font.getBestCmap())) for style, font in fonts.items()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_weighs_little_before_its_pictures(site, language):
    script = len(gzip.compress((site / language / "_static" / "site.js").read_bytes(), 6)) / 1000
    weights = {}
    for page in sorted((site / language).glob("*.html")):
        whole = len(gzip.compress(page.read_bytes(), 6)) / 1000
        weights[page.stem] = round(whole - pictures(page) + script + HEADERS, 1)
    assert {name: weight for name, weight in weights.items() if weight > LIMITS.get(name, 70)} == {}


def test_pictures_are_weighed_apart(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>text</p>" * 9)
    assert pictures(page) == 0
    drawing = "".join(f'<path d="M{i * i % 997} {i * 7 % 911}"/>' for i in range(500))
    page.write_text(f'<p>text</p><svg role="img" class="plot" viewBox="0 0 9 9">{drawing}</svg><p>text</p>')
    assert 2 < pictures(page) < 4


@pytest.mark.parametrize(
    "turn", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_every_letter_of_every_page_is_in_the_face_that_the_page_carries(browser, address, site, turn):
    """Each page in one language, the languages in turn; three turns are all of them."""
    context = browser.new_context()
    context.add_init_script("localStorage.clear()")  # else the first page names a section that was read
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for place, name in enumerate(sorted(path.name for path in (site / "en").glob("*.html"))):
        language = LANGUAGES[(place + turn) % len(LANGUAGES)]
        page.goto(f"{address}/{language}/{name}", wait_until="domcontentloaded")
        has = letters_inside(site / language / name)
        for style, text in page.evaluate(SHOWN).items():
            missing = set(text) & assets.letters(style) - has.get(style, set()) - {" "}
            assert not missing, (language, name, style, missing)
    assert [url for url in asked if url.endswith(".woff2")] == []
    context.close()


@pytest.mark.skipif(browser_name() != "chromium", reason="asks Chromium which fonts it used")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_paint_is_in_the_courses_own_face(browser, address, language):
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: request.url.startswith("data:") or asked.append(request.url))
    page.add_init_script(
        """const look = () => {
            const own = [...document.fonts].filter((face) => face.family.includes("d2lmini Page"));
            window.painted = own.length > 0 && own.every((face) => face.status === "loaded");
            if (!performance.getEntriesByName("first-contentful-paint").length) requestAnimationFrame(look);
        };
        requestAnimationFrame(look);"""
    )
    page.goto(f"{address}/{language}/relative-positions.html")
    page.evaluate(
        """() => new Promise((painted) => {
            const seen = (list) => list.getEntriesByName("first-contentful-paint").length && painted();
            new PerformanceObserver(seen).observe({ type: "paint", buffered: true });
        })"""  # not wait_for_function: what it evaluates again the policy of the page refuses
    )
    assert page.evaluate("painted")
    # the page and one script: a widget further down waits for the first scroll
    assert [url.rsplit("/", 1)[1].split("?")[0] for url in asked] == ["relative-positions.html", "site.js"]
    here = page.locator("article p").first
    for tag, style in STYLED.items():
        letters = "".join(sorted(c for c in page.evaluate(SHOWN)[style] if c.isascii() and c.isalpha())[:9])
        here.evaluate(
            """(here, [tag, letters]) => {
                const node = document.createElement(tag);
                node.id = `${tag}-here`;
                node.textContent = letters;
                here.append(node);
            }""",
            [tag, letters],
        )
    tools = context.new_cdp_session(page)
    tools.send("DOM.enable")
    tools.send("CSS.enable")
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    for tag in STYLED:
        node = tools.send("DOM.querySelector", {"nodeId": root, "selector": f"#{tag}-here"})["nodeId"]
        used = tools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        # a Chinese page emphasizes hardly a Latin letter
        assert [font["isCustomFont"] for font in used] == [True] or (language, tag) == ("zh", "em"), tag
    page.mouse.wheel(0, 200)
    page.wait_for_event("requestfinished", lambda request: "widgets/" in request.url)
    context.close()


@pytest.mark.skipif(browser_name() != "chromium", reason="only Chromium follows speculation rules")
def test_the_next_page_is_fetched_before_it_is_asked_for(browser, small_address):
    context = browser.new_context()
    context.add_init_script("localStorage.clear()")  # else the first page names a section that was read
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[1].split("?")[0]))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{small_address}/en/index.html")
    page.locator(".permalink").first.hover(force=True)  # within the page: nothing to fetch
    link = page.locator(".turn .next")
    with page.expect_event("requestfinished", lambda request: request.url.endswith("basics.html")):
        link.hover()
    assert asked == ["index.html", "site.js", "basics.html"]
    link.click()
    page.wait_for_url("**/basics.html")
    how = page.evaluate("(({ deliveryType }) => deliveryType)(performance.getEntriesByType('navigation')[0])")
    assert how == "navigational-prefetch"
    assert complaints == []
    context.close()


def test_what_the_keyboard_rests_on_is_fetched_and_the_end_of_a_page_marks_the_next(browser, small_address):
    context = browser.new_context(viewport={"width": 390, "height": 400})
    page = context.new_page()
    page.goto(f"{small_address}/en/index.html")
    other = page.locator(".chapters li a").last
    page.evaluate("document.getElementById('site-chapters').showPopover()")
    other.focus()
    page.locator(".chapters a.ahead").wait_for()
    assert page.locator(".next.ahead").count() == 0
    page.keyboard.press("Escape")
    page.locator(".turn .next").scroll_into_view_if_needed()
    page.locator(".next.ahead").wait_for()
    context.close()


def test_a_page_that_comes_back_as_it_was_left_catches_up(browser, small_address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{small_address}/en/basics.html")
    page.evaluate(
        """() => {
            localStorage.setItem("d2lmini-theme", '"dark"');
            localStorage.setItem("d2lmini", '{"answers": {"self-attention/why-scale": {"done": true}}}');
            dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
        }"""
    )
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.locator("[data-chapter=basics] .count").text_content() == "1/1"
    context.close()


# ---- markup


class Text(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.text += data


COMPARED = """
import sys
from pathlib import Path
from book import edition
from book.ext import postprocess
from test_speed import compared
postprocess.compact_markup = compared
root, *languages = sys.argv[1:]
for language in languages:
    edition.build_language(language, Path(root), Path(root) / "_build", languages, pdf="")
"""


def compared(page):
    """Stand in for `compact_markup`: a page of which something is lost ends the build."""
    less = markup.compact_markup(page)
    assert Text(less).text == Text(page.replace(markup.HIDDEN, "")).text
    assert len(less) < len(page) or any(f'data-page="{name}"' in page for name in UNWRITTEN)
    (Path(sys.argv[1]) / "compared").open("a").write(re.search('data-page="([^"]+)"', page)[1] + "\n")
    return less


def test_less_markup_says_the_same(tmp_path):
    make_book(tmp_path, small_book.PAGES)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    command = [sys.executable, "-c", COMPARED, str(tmp_path), *LANGUAGES]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    names = (tmp_path / "compared").read_text().split()
    assert sorted(names) == sorted(["index", "basics", *UNWRITTEN] * len(LANGUAGES))


def test_only_what_nothing_reads_is_left_out():
    code = '<pre><span class="n">x</span><span class="o">.</span><span class="mi">3</span></pre>'
    assert markup.compact_markup(code) == '<pre>x.<span class="mi">3</span></pre>'
    classes = '<p class="docutils">a <b class="docutils d">b</b></p>'
    assert markup.compact_markup(classes) == '<p>a <b class="d">b</b></p>'
    formulas = (assets.KATEX / "katex.min.css").read_text(encoding="utf-8")  # whose classes are read
    assert markup.UNREAD.union(markup.UNWRAPPED).isdisjoint(re.findall(r"\.([a-z][\w-]*)", formulas))
