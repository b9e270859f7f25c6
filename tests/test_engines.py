"""Ten scenes in the engines that Firefox and Safari have: `python3 course.py test --engines`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engines import DESK, ENGINES, Engine, running
from explorer_pages import SHOWN
from making import ROOT, served
from reader import KINDS, WORDS, answers

from book.contents import page_names, table_of_contents
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.content import exercise_state
from d2lmini.notebook.widgets import EXPLORERS

PAGES = page_names(table_of_contents(ROOT))
WAKE = """async (selector) => {
  for (const late = performance.now() + 15000; performance.now() < late; ) {
    const place = document.querySelector(selector);
    if (place && "awake" in place.dataset) return true;
    place?.scrollIntoView({ block: "center", behavior: "instant" });
    await new Promise((frame) => setTimeout(frame, 50));
  }
}"""
BROKEN_OFF = re.compile("status=2152398850|error loading dynamically imported module|NetworkError when")
TEXT = "(selector) => document.querySelector(selector)?.innerText"

pytestmark = pytest.mark.engines


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, id=kind.name, marks=pytest.mark.xdist_group(kind.name)) for kind in ENGINES],
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """One window for all scenes, each of which begins at a page of its own."""
    if missing := request.param.missing():
        pytest.skip(f"{request.param.name} is not installed: {', '.join(missing)}")
    with running(request.param) as engine:
        yield engine


@pytest.fixture
def go(engine: Engine, address: str) -> Any:
    """Open a page of the course on the desk; whatever a page complains about fails the scene."""
    engine.resize(*DESK)

    def drop_broken_off() -> None:
        """Leaving a page breaks off what it was fetching."""
        engine.complaints = [said for said in engine.complaints if not BROKEN_OFF.search(said)]

    def open_page(path: str) -> Engine:
        engine.open(f"{address}/{path}")
        drop_broken_off()
        engine.until("() => 'measured' in document.documentElement.dataset")
        return engine

    yield open_page
    drop_broken_off()
    assert engine.complaints == []


def wake(engine: Engine, selector: str) -> str:
    assert engine.run(WAKE, selector), f"{selector} does not wake"
    return selector


def test_every_page_opens_without_error_and_fits(go: Any) -> None:
    wide = {}
    for language in LANGUAGES:
        for name in PAGES:
            page = go(f"{language}/{name}.html")
            for size in (DESK, page.phone):
                page.resize(*size)
                over = page.run("() => document.documentElement.scrollWidth - innerWidth")
                if over > 0:
                    wide[language, name, size] = over
            page.resize(*DESK)
            assert page.complaints == [], (language, name)
    assert wide == {}


def test_an_exercise_of_each_kind_is_answered(go: Any) -> None:
    """With the mouse and the keys; one that is written elsewhere shows its solution."""
    for kind, name in KINDS.items():
        page, state = go(f"en/{name.split('/')[0]}.html"), exercise_state(name, "en")
        here = wake(page, f'.d2l-widget[data-id="{name}"]')
        if kind == "code":
            for label in ("hint", "stronger_hint", "show_solution"):
                press(page, here, WORDS[label])
            page.until("(at) => document.querySelector(at).innerText.includes('def ')", here)
            continue
        if kind == "open":
            page.click(f"{here} textarea")
            page.press("Because of the mask.")
        else:
            answer(page, here, kind, state)
        press(page, here, WORDS[{"predict": "commit", "open": "compare"}.get(kind, "check")])
        page.until("(at) => /✓/.test(document.querySelector(at).innerText)", here)


def press(page: Engine, here: str, label: str) -> None:
    """Press a button of an exercise."""
    find = """(here, label) => [...document.querySelectorAll(`${here} .d2l-bar button`)]
        .find((one) => one.textContent.trim() === label)?.setAttribute("data-press", label) ?? true"""
    page.until(find, here, label)
    page.click(f'{here} [data-press="{label}"]')


def answer(page: Engine, here: str, kind: str, state: dict[str, Any]) -> None:
    """Give the right answer of a kind."""
    right, _ = answers(state)
    mark = """(at, chosen, index) => {
        document.querySelectorAll(`${at} ${chosen}`)[index].setAttribute("data-take", index);
    }"""
    if kind in ("choice", "predict", "multiple"):
        for index in right if kind == "multiple" else [right]:
            page.run(mark, here, "input", index)
            page.click(f'{here} input[data-take="{index}"]')
    elif kind == "number":
        page.click(f"{here} input")
        page.press(str(right))
    elif kind == "matrix":
        for place, value in enumerate(value for row in right for value in row):
            page.run(mark, here, "td input", place)
            if not state.get("binary"):
                page.run("(at) => document.querySelector(at).select()", f'{here} [data-take="{place}"]')
                page.click(f'{here} [data-take="{place}"]')
                page.run("(at) => document.querySelector(at).select()", f'{here} [data-take="{place}"]')
                page.press(str(value))
            elif value:
                page.click(f'{here} [data-take="{place}"]')
    elif kind == "order":
        for wanted, item in enumerate(state["items"]):
            page.run(
                """async (at, wanted, words) => {
                  const rows = () => [...document.querySelectorAll(`${at} .d2l-order li`)];
                  const plain = new DOMParser().parseFromString(words, "text/html").body.textContent;
                  const isIt = (row) => row.querySelector("button").ariaLabel.endsWith(`: ${plain}`);
                  for (;;) {
                    const now = rows().findIndex(isIt);
                    if (now <= wanted) return;
                    rows()[now].querySelector("button").click();
                    await new Promise(requestAnimationFrame);
                  }
                }""",
                here, wanted, item["text"],
            )  # fmt: skip
    else:
        chosen = {"spot": ".d2l-cell, .d2l-area", "bug": ".d2l-code [aria-pressed]"}[kind]
        if kind == "bug":
            right = [i for i, line in enumerate(state["lines"]) if line.get("why")].index(right)
        parts = ", ".join(f"{here} {one}" for one in chosen.split(", "))
        page.run(
            "(all, index) => document.querySelectorAll(all)[index].setAttribute('data-take', index)",
            parts,
            right,
        )
        page.click(f'{here} [data-take="{right}"]')


def test_each_explorer_wakes_and_can_be_used(go: Any) -> None:
    assert sorted(SHOWN) == sorted(EXPLORERS)
    for kind, name in SHOWN.items():
        for size in ("desk", "phone"):
            page = go(f"vi/{name}.html")
            page.resize(*(DESK if size == "desk" else page.phone))
            # what is far away is measured anew, and moves what is read
            page.until("() => Number(document.documentElement.dataset.measured) === innerWidth")
            here = wake(page, f'[data-widget="{kind}"]')
            box = "(at) => document.querySelector(`${at} [role=group]`).getBoundingClientRect().toJSON()"
            shown = page.run(box, here)
            assert min(shown["width"], shown["height"]) > 40, (kind, size)
            if kind != "listening-explorer":  # the next task, and the one before
                title = f"{here} .task .title"
                first = page.until(TEXT, title)
                page.click(f"{here} .task .head button:last-child")
                page.until("(at, first) => document.querySelector(at).innerText !== first", title, first)
                page.click(f"{here} .task .head button:nth-last-child(2)")
                page.until("(at, first) => document.querySelector(at).innerText === first", title, first)


def test_a_sentence_is_translated(go: Any) -> None:
    page = go("en/translation.html")
    here = wake(page, '[data-widget="translator-explorer"]')
    page.click(f"{here} input[type=text]")
    page.run("(at) => document.querySelector(`${at} input[type=text]`).select()", here)
    page.press("she is a doctor .", "Enter")
    page.until("(at) => /elle est médecin/.test(document.querySelector(at).innerText)", here)


def test_a_story_is_told(go: Any) -> None:
    page = go("vi/language-model.html")
    here = wake(page, '[data-widget="writer-explorer"]')
    count = "(at) => document.querySelectorAll(`${at} [role=radio]`).length"
    before = page.run(count, here)
    page.click(f"{here} .row button:last-child")
    page.until(f"(at, before) => ({count})(at) > before + 1", here, before)


def test_the_search_finds_and_leads_there(go: Any) -> None:
    page = go("zh/index.html")
    page.click(".to-search")
    page.until("() => document.activeElement?.type === 'search'")
    page.press("旋转位置嵌入")
    page.until("() => !!document.querySelector('#site-search-results [role=option]')")
    page.press("Enter")
    page.until("() => location.pathname.endsWith('/zh/relative-positions.html') && location.hash")


def test_the_theme_is_kept_from_page_to_page(go: Any) -> None:
    page = go("en/index.html")
    seen = set()
    for _ in range(3):
        page.click(".to-theme")
        seen.add(page.run("() => document.documentElement.dataset.theme"))
    assert seen == {"light", "dark"}
    while page.run("() => document.documentElement.dataset.theme") != "dark":
        page.click(".to-theme")
    assert go("en/complexity.html").run("() => document.documentElement.dataset.theme") == "dark"
    assert page.run("() => getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"


def test_another_language_opens_at_the_same_place(go: Any) -> None:
    page = go("en/complexity.html")
    section = page.run("() => document.querySelectorAll('article h2')[3].closest('[id]').id")
    page.run("(id) => document.getElementById(id).scrollIntoView({ behavior: 'instant' })", section)
    # a driver scrolls before it clicks
    page.run("() => document.querySelector('.languages [data-language=zh]').click()")
    page.until("() => location.pathname.endsWith('/zh/complexity.html')")
    near = "(id) => Math.abs(document.getElementById(id)?.getBoundingClientRect().top) < innerHeight / 2"
    page.until(near, section)


def test_slides_turn_and_are_left(go: Any) -> None:
    page = go("en/self-attention.html?present=1")
    page.until("() => !!document.querySelector('.slides-bar')")
    for _ in range(3):
        page.press("PageDown")
    page.until("() => new URL(location).searchParams.get('present') !== '1' || location.hash")
    heading = "article h1, article h2[data-part=on]"
    inside = page.run("(at) => document.querySelector(at).getBoundingClientRect().top < innerHeight", heading)
    assert inside
    page.press("Escape")
    page.until("() => !document.querySelector('.slides-bar')?.checkVisibility()")


def test_a_visited_page_opens_without_network(engine: Engine, site: Path) -> None:
    """The service worker keeps what was seen. WebDriver's window of WebKitGTK may have none."""
    engine.resize(*DESK)
    with served(site) as home:
        engine.open(f"{home}/en/complexity.html")
        able = engine.run("() => Boolean(navigator.serviceWorker)")
        if able:
            engine.until("() => 'kept' in document.documentElement.dataset", seconds=60)
    if able:
        engine.open(f"{home}/en/complexity.html")
        title = words("en")["site"]["title"]
        engine.until("(title) => document.title.includes(title)", title)
