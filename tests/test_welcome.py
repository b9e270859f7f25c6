"""The first page: its explorer answers at once, its map shows the way, it leads back to the last place."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest
import torch
from PIL import Image
from playwright.sync_api import expect

import d2lmini as d2l
from book import previews
from book.build import page_names, table_of_contents
from book.chapters import read
from book.ext import welcome
from book.ext.notebook import printed_code
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.content import exercise_names
from d2lmini.notebook.widgets import module_source
from tools.paper.previews import EXPLORER, FIRST_VIEW, said_by, titles

ROOT = Path(__file__).parents[1]
CHAPTERS = [page["file"] for page in table_of_contents(ROOT)["parts"][0]["chapters"]]


# ---- the explorer


def test_the_weights_are_those_of_the_package(show):
    page = show("listening-explorer")
    got = page.evaluate(
        "({ ...numbers.sentenceHead(), X: numbers.tokens.map(numbers.embed), weights: numbers.weights })"
    )
    X, W_q, W_k, weights = (
        torch.tensor(got[name], dtype=torch.float64) for name in ("X", "query", "key", "weights")
    )
    expected = d2l.masked_softmax(((X @ W_q) @ (X @ W_k).T / X.shape[1] ** 0.5)[None], None)[0]
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("language", "pairs"),
    [
        (
            "en",
            {"it": "cat", "its": "cat", "thirsty": "cat", "drank": "cat", "milk": "drank", "cat": "drank"},
        ),
        ("vi", {"nó": "con", "khát": "con", "uống": "con", "sữa": "uống", "mèo": "uống"}),
        ("zh", {"它": "小猫", "渴": "小猫", "喝光": "小猫", "奶": "喝光", "小猫": "喝光"}),
    ],
)
def test_words_listen_to_what_belongs_to_them(show, language, pairs):
    page = show("listening-explorer", language)
    told = words(language)["explorers"]["listening"]
    for word, heard in pairs.items():
        page.locator(f"[data-word='{word}']").first.click()
        before = told["listens"].partition("{list}")[0].format(token=word)
        assert page.locator(".said").inner_text().startswith(f"{before}{heard} 0.")
        # of the lines to the words, the thickest leads to the one that is heard most
        widths = page.locator("svg.wide path").evaluate_all(
            "lines => lines.map(l => +l.getAttribute('stroke-width'))"
        )
        assert widths.index(max(widths)) == page.locator("[data-word]").evaluate_all(
            "(all, heard) => all.findIndex(one => one.dataset.word === heard)", heard
        )
    little = {"en": "the", "vi": "vì", "zh": "因为"}[language]
    page.locator(f"[data-word='{little}']").click()
    assert page.locator(".said").inner_text() == told["evenly"].format(token=little)


def test_the_page_shows_the_explorer_before_any_script_runs(browser, address):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{address}/en/index.html")
    assert page.locator(".d2l-listening .said").inner_text().startswith("“it” listens to cat")
    expect(page.locator(".lines.narrow path").nth(1)).to_be_visible()
    assert page.locator(".station a").count() == len(CHAPTERS)
    context.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_stands_there_before_is_what_the_explorer_draws(browser, language):
    page = browser.new_page()
    drawn = page.evaluate(FIRST_VIEW, module_source(EXPLORER, language))
    page.close()
    stored = welcome.PICTURES / f"{EXPLORER}.{language}.html"
    assert stored.read_text(encoding="utf-8") == drawn, "run: python3 course.py previews"


# ---- the first screen, and the map


def test_the_first_screen_answers_in_every_language(browser, address):
    for width, height in ((390, 844), (1280, 800)):
        context = browser.new_context(viewport={"width": width, "height": height}, has_touch=width < 700)
        page = context.new_page()
        for language in LANGUAGES:
            page.goto(f"{address}/{language}/index.html")
            page.locator(".d2l-widget[data-awake]").wait_for()
            said = page.locator(".said")
            for part in ("h1", ".invite", ".sentence", ".said", ".way-on a"):
                box = page.locator(part).bounding_box()
                assert box["y"] >= 0 and box["y"] + box["height"] <= height, (language, width, part)
            for word in page.get_by_role("radio").all():
                box = word.bounding_box()
                assert box["width"] >= 44 and box["height"] >= 44, (language, width, word.inner_text())
            before = said.inner_text()
            first = page.get_by_role("radio").first
            first.tap() if width < 700 else first.hover()
            assert said.inner_text() != before and page.evaluate("scrollY") == 0
        context.close()


def test_the_map_shows_the_way(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    for language in LANGUAGES:
        page.goto(f"{address}/{language}/index.html")
        stations = page.locator(".map .station")
        links = stations.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert links == [f"{name}.html" for name in CHAPTERS]
        assert stations.locator("b").all_inner_texts() == [str(n + 1) for n in range(len(CHAPTERS))]
        for said in stations.locator(".times").all_inner_texts():
            reading, practice = map(int, re.findall(r"\d+", said))
            assert reading <= 60 and practice <= 40, said
        paths = page.locator(".paths > div")
        assert paths.count() == 3
        afternoon = paths.first.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert afternoon == [f"{name}.html" for name in welcome.PATHS["afternoon"].split()]
        for path in paths.all():
            expect(path.locator(".times")).to_be_visible()
        # no station lies over another
        boxes = stations.evaluate_all(
            "all => all.map(s => s.getBoundingClientRect()).map(b => [b.x, b.y, b.right, b.bottom])"
        )
        for one, other in combinations(boxes, 2):
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert page.locator(".lane-title").count() == 5
    first = page.locator("[data-chapter=complexity]").get_attribute("data-ids").split()[0]
    page.evaluate(
        """id => {
            localStorage.setItem("d2lmini", JSON.stringify({ answers: { [id]: { done: true } } }));
            document.dispatchEvent(new CustomEvent("d2l:answers"));
        }""",
        f"complexity/{first}",
    )
    counts = [text.split(" / ")[0] for text in page.locator(".station .count").all_inner_texts()]
    assert counts == ["1" if name == "complexity" else "0" for name in CHAPTERS]
    context.close()


def test_a_page_takes_a_minute_for_100_words_or_4_lines():
    text = "word " * 100 + "[link](an/address.ipynb) $a + b$\n\n```\nnot prose\n```"
    notebook = {"cells": [{"cell_type": "markdown", "source": text}, {"cell_type": "code", "source": "x"}]}
    code = "x = 1\n\n# why\n" * 4
    assert welcome.reading_minutes(notebook, []) == pytest.approx(102 / 100)
    assert welcome.reading_minutes(notebook, [code]) == pytest.approx(102 / 100 + 1)
    assert [welcome.rounded(minutes) for minutes in (0, 4, 12.4, 12.6, 28)] == [5, 5, 10, 15, 30]
    assert [welcome.hours(minutes) for minutes in (4, 80, 110, 125)] == ["0.5", "1.5", "2", "2"]


def minutes_of(name):
    notebook = read(ROOT / "chapters" / "en" / f"{name}.ipynb")
    exercises = [one for one in exercise_names() if one.split("/")[0] == name]
    return welcome.reading_minutes(notebook, printed_code(notebook)), welcome.EXERCISE * len(exercises)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_takes_no_longer_than_first_page_and_readme_say(name):
    """An hour, as the map rounds it, half an hour or so for the exercises, an hour and a half in all."""
    reading, practice = minutes_of(name)
    assert welcome.rounded(reading) <= 60 and practice <= 36 and reading + practice <= 95


def test_the_hours_of_a_path_are_those_of_its_chapters_as_far_as_they_exist():
    stations = [{"name": name, "minutes": 50, "exercises": ["one"] * 10} for name in CHAPTERS]
    found = {path["key"]: path for path in welcome.paths(stations)}
    assert [station["name"] for station in found["everything"]["stations"]] == CHAPTERS
    for path in found.values():
        count = len(path["stations"])
        assert count >= 3
        assert float(path["reading"]) == pytest.approx(count * 50 / 60, abs=0.25)
        assert float(path["practice"]) == pytest.approx(count * 30 / 60, abs=0.25)
    shorter = welcome.paths([station for station in stations if station["name"] != "writing"])
    assert len(shorter[1]["stations"]) == len(found["language_models"]["stations"]) - 1


# ---- go on where you were


def test_the_first_page_and_the_door_lead_back_to_the_place_that_was_read(browser, small_address):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="fr")
    page = context.new_page()
    way_on = page.locator(".way-on a")
    page.goto(f"{small_address}/en/index.html")
    assert way_on.inner_text() == words("en")["site"]["welcome"]["start"]
    page.goto(f"{small_address}/#choose")
    assert page.locator(".go-on").count() == 0
    page.goto(f"{small_address}/en/basics.html#scores")
    page.locator("html[data-measured]").wait_for()
    page.goto(f"{small_address}/vi/index.html")  # where the section's title is not known
    assert way_on.inner_text() == f"{words('vi')['site']['welcome']['go_on']} Cơ bản"
    assert way_on.get_attribute("href") == "basics.html#scores"
    page.goto(f"{small_address}/en/index.html")
    assert way_on.inner_text() == "Go on: Scores"
    way_on.click()
    page.wait_for_url("**/en/basics.html#scores")
    page.goto(f"{small_address}/#choose")
    page.reload()
    page.locator("li[lang=en] .go-on").click()
    page.wait_for_url("**/en/basics.html#scores")
    context.close()


@pytest.mark.parametrize("place", [7, "x", [], {}, {"page": "gone", "title": "<b>x</b>", "language": "en"}])
def test_a_place_that_is_none_leads_nowhere(browser, small_address, place):
    context = browser.new_context()
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.add_init_script(f"localStorage.setItem('d2lmini-place', JSON.stringify({json.dumps(place)}))")
    page.goto(f"{small_address}/en/index.html")
    assert page.locator(".way-on a").get_attribute("href") == "basics.html"
    assert complaints == []
    context.close()


# ---- the pictures beside links


def arcs(picture: Image.Image) -> int:
    """Count the blue points below the title: those of the line from the word to whom it listens most."""
    below = picture.convert("RGB").crop((0, 340, *picture.size))
    return sum(
        count for count, (red, _, blue) in below.getcolors(below.width * below.height) if blue > red + 60
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_page_has_a_picture_that_says_its_title(language):
    wanted = titles(language)
    assert list(wanted) == page_names(table_of_contents(ROOT))
    drawn = {path.stem: path for path in (previews.FOLDER / language).iterdir()}
    assert drawn.keys() == wanted.keys(), "run: python3 course.py previews"
    for name, said in wanted.items():
        assert said_by(drawn[name]) == said, f"{language}/{name} is behind; run: python3 course.py previews"
        assert Image.open(drawn[name]).size == previews.SIZE
        assert drawn[name].stat().st_size <= 25_000
        assert arcs(Image.open(drawn[name])) > 1000, f"{language}/{name}: the sentence has no arcs"
