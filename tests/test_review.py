"""The page of questions: five before a part of the course, the same five after it, ten between two parts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from making import ROOT
from playwright.sync_api import Browser, Page, expect

from book import review
from book.contents import page_names, pages, table_of_contents
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.content import exercise_content, exercise_names

CHAPTERS = [name for name, _, number in pages(table_of_contents(ROOT)) if number]
PARTS = review.parts(ROOT / "chapters" / "en" / "index.ipynb")
FIRST = PARTS[0]["pages"][0]


def of_chapter(name: str) -> list[str]:
    return [exercise for exercise in exercise_names() if exercise.split("/")[0] == name]


def shown() -> list[dict[str, Any]]:
    chapters = [{"name": name, "exercises": of_chapter(name)} for name in CHAPTERS]
    return review.shown(ROOT / "chapters" / "en" / "index.ipynb", chapters)


# ---- which questions


def test_each_chapter_is_in_one_part_of_every_language() -> None:
    assert [name for part in PARTS for name in part["pages"]] == CHAPTERS
    for language in LANGUAGES:
        found = review.parts(ROOT / "chapters" / language / "index.ipynb")
        assert [part["pages"] for part in found] == [part["pages"] for part in PARTS]
        assert all(part["title"] for part in found)


def test_five_questions_come_from_every_chapter_of_their_part_and_can_stand_alone() -> None:
    for part in shown():
        assert len(set(part["five"])) == review.FIVE
        assert {name.split("/")[0] for name in part["five"]} == set(part["pages"][: review.FIVE])
        states = [exercise_content(name, "en") for name in part["questions"]]
        assert {state["kind"] for state in states}.isdisjoint({"code", "open", "predict"})
        assert not any("above" in state["question"] for state in states)
        assert sum("variants" in exercise_content(name, "en") for name in part["five"]) >= 2
    assert sum(len(part["questions"]) for part in shown()) >= 40


def test_a_first_page_without_a_list_of_chapters_has_no_parts(tmp_path: Path) -> None:
    path = tmp_path / "index.ipynb"
    path.write_text('{"cells": [{"id": "index", "cell_type": "markdown", "source": ["# Hello"]}]}')
    assert review.parts(path) == []


# ---- on the website


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{address}/en/review.html")
    yield page
    context.close()
    assert complaints == []


WORDS = words("en")["site"]["review"]["script"]


def kept(page: Page, name: str = "d2lmini-review") -> Any:
    return json.loads(page.evaluate("name => localStorage.getItem(name)", name) or "null")


def part(page: Page, key: str = FIRST) -> Any:
    return page.locator(f"[data-part={key}]")


def start(page: Page, kind: str, key: str = FIRST) -> None:
    part(page, key).get_by_role("button", name=WORDS[kind]).click()
    expect(page.locator(".round .d2l-exercise")).to_be_visible()


def current(page: Page) -> str:
    return str(page.locator(".round .d2l-widget").get_attribute("data-id"))


def answer(page: Page, right: bool) -> None:
    """Answer a question with a number, rightly or not."""
    name = current(page)
    state = exercise_content(name, "en")
    shown = page.locator(".round .d2l-question").get_attribute("data-variant")
    variant = state["variants"][int(shown) % len(state["variants"])]
    page.locator(".round .d2l-exercise input").fill(str(variant["answer"]) if right else "-1234.5")
    page.locator(".round .d2l-main").click()


def go_on(page: Page) -> None:
    page.locator(".round > .buttons button").click()


def finish(page: Page, right: bool) -> int:
    """Answer the questions with a number, pass over the others; return how many were answered."""
    count = 0
    while page.locator(".round").count():
        title = page.locator(".round h3").inner_text()
        if "variants" in exercise_content(current(page), "en"):
            answer(page, right)
            count += 1
        if page.locator(".round h3").count() and page.locator(".round h3").inner_text() == title:
            go_on(page)
    return count


def test_before_the_part_nothing_is_given_away_and_after_it_the_gain_is_shown(page: Page) -> None:
    mine = {"answers": {f"{FIRST}/why-scale": {"given": 1, "checked": True, "right": True, "done": True}}}
    page.evaluate("mine => localStorage.setItem('d2lmini', JSON.stringify(mine))", mine)
    start(page, "before")
    assert page.locator(".round .d2l-bar button").filter(visible=True).count() == 1  # no hint
    first = page.locator(".round .d2l-question").inner_text()
    numbers = finish(page, right=False)
    assert numbers >= 2
    score = part(page).locator(".score")
    expect(score).to_be_focused()
    expect(score).to_have_text(WORDS["score_before"].format(right=0, of=5))
    assert part(page).get_by_role("button").all_inner_texts() == [WORDS["after"]]
    # the same five, with other numbers; now a reply, a hint and a solution
    start(page, "after")
    assert page.locator(".round .d2l-question").inner_text() != first
    answer(page, right=False)
    expect(page.locator(".round .d2l-verdict")).to_contain_text("Not yet")
    expect(page.locator(".round .d2l-bar button").nth(1)).to_be_visible()
    answer(page, right=True)  # the first answer counts
    go_on(page)
    finish(page, right=True)
    told = score.inner_text()
    assert WORDS["score_after"].format(right=numbers - 1, of=5) in told
    assert WORDS["more"]["other"].format(count=numbers - 1) in told or numbers == 2
    # the exercises of the chapters are as they were
    assert kept(page, "d2lmini") == mine
    page.reload()
    expect(score).to_have_text(told)


def test_a_round_goes_on_where_it_was_left(page: Page) -> None:
    start(page, "before")
    go_on(page)
    expect(page.locator(".round h3")).to_have_text(WORDS["question"].format(place=2, of=5))
    page.reload()
    part(page).get_by_role("button", name=WORDS["go_on"].format(place=2, of=5)).click()
    expect(page.locator(".round h3")).to_have_text(WORDS["question"].format(place=2, of=5))
    assert len(kept(page)["rounds"][f"{FIRST} before"]["results"]) == 1


def test_ten_come_from_chapters_that_were_read_and_begin_with_those_missed(page: Page) -> None:
    expect(part(page, "ten").locator(".score")).to_have_text(WORDS["nothing_read"])
    missed = [name for name in shown()[0]["questions"] if name.split("/")[0] == FIRST][1]
    answers = {missed: {"tries": 3, "done": True}, f"{FIRST}/code-something": {"done": True}}
    page.evaluate("given => localStorage.setItem('d2lmini', JSON.stringify({answers: given}))", answers)
    page.reload()
    start(page, "ten", "ten")
    assert current(page) == missed
    ids = kept(page)
    go_on(page)
    ids = kept(page)["rounds"]["ten ten"]["ids"]
    assert len(ids) == len(set(ids)) <= 10 and {name.split("/")[0] for name in ids} == {FIRST}


def test_a_question_has_room_and_is_read_out_and_answered_by_keyboard(page: Page) -> None:
    part(page).get_by_role("button").first.focus()
    page.keyboard.press("Enter")
    title = page.locator(".round h3")
    expect(title).to_be_focused()
    expect(title).to_be_in_viewport()
    expect(part(page, PARTS[1]["pages"][0])).to_be_hidden()  # one thing on the screen
    page.keyboard.press("Tab")
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    expect(title).to_have_text(WORDS["question"].format(place=2, of=5))
    expect(title).to_be_focused()
    box = page.locator(".round > .buttons button").bounding_box()
    assert box and box["height"] >= 40
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_to_forget_everything_forgets_the_questions(page: Page) -> None:
    start(page, "before")
    finish(page, right=False)
    page.evaluate("document.querySelector('.to-progress').click()")
    reset = page.locator("#site-progress [data-do=reset]")
    reset.click()
    reset.click()
    assert kept(page) is None
    expect(part(page).get_by_role("button", name=WORDS["before"])).to_have_count(1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_part_leads_to_its_questions_where_it_begins_and_where_it_ends(site: Path, language: str) -> None:
    links = {}
    for name in page_names(table_of_contents(ROOT)):
        text = (site / language / f"{name}.html").read_text(encoding="utf-8")
        links[name] = text.count('href="review.html')
        for one in PARTS:
            expected = [one["pages"][0], one["pages"][-1]].count(name)
            assert text.count(f'href="review.html#{one["pages"][0]}"') == expected
    assert links["index"] == 1 and sum(links.values()) == 1 + 2 * len(PARTS)
    text = (site / language / "review.html").read_text(encoding="utf-8")
    assert all(f'id="{one["pages"][0]}"' in text for one in PARTS)
