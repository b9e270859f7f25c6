"""A chapter in JupyterLab from day to day: run, answered, saved, closed, opened again, in light and dark."""

import os
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import reader
from jupyter import (
    Notebook,
    answer_one_of_each,
    answered_without_a_kernel,
    free_port,
    kind,
    running,
    shown_in,
)

from book.chapters import path_of
from d2lmini.language import LANGUAGES
from d2lmini.notebook import content

NUMBER, SPOT = (f"multi-head-attention/{name}" for name in ("head-parameters", "where-the-mask"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stored_exercise_says_what_was_answered(language: str) -> None:
    for name in content.exercise_names():
        state = content.exercise_content(name, language)
        given: Any = {"order": state.get("shuffled"), "multiple": [0], "matrix": state.get("cells")}.get(
            state["kind"], 0
        )
        if state["kind"] == "bug":
            given = next(index for index, line in enumerate(state["lines"]) if line.get("why"))
        if state["kind"] in ("number", "open"):
            given = "1 < 2"
        answered = content.stored(name, language, {"given": given, "done": True})
        begun = content.stored(name, language).removesuffix("</div>")
        assert answered.startswith(begun) and "✓" in answered
        if state["kind"] != "code":
            assert len(answered) > len(begun) + 50, name
        assert "1 < 2" not in answered
    damaged = {"given": [[]], "variant": 99}
    assert content.stored(NUMBER, language, damaged) == content.stored(NUMBER, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_a_drawing_keep_apart_and_inside(language: str, browser: Any) -> None:
    """Those of the picture that is also an exercise; no frame of it crosses a word."""
    state = content.exercise_content(SPOT, language)
    page = browser.new_page(viewport={"width": 680, "height": 400})
    page.set_content(f'<body style="margin:0;font-family:DejaVu Sans">{state["picture"]}')
    box = "[...document.querySelectorAll('{}')].map((n) => n.getBoundingClientRect().toJSON())"
    words = page.evaluate(box.format("text"))
    (frame,) = page.evaluate(box.format("svg"))
    page.close()
    for place, word in enumerate(words):
        assert frame["left"] <= word["left"] and word["right"] <= frame["right"]
        for other in words[place + 1 :]:
            apart = word["right"] <= other["left"] or other["right"] <= word["left"]
            assert apart or word["bottom"] <= other["top"] + 6 or other["bottom"] <= word["top"] + 6
    for area in state["areas"]:
        percent, down, width, height = area["box"]
        left, right = (frame["width"] * edge / 100 for edge in (percent, percent + width))
        top, bottom = (frame["height"] * edge / 100 for edge in (down, down + height))
        for word in words:
            if word["top"] < bottom and word["bottom"] > top:
                assert not any(word["left"] < edge < word["right"] for edge in (left, right)), area["text"]


# ---- JupyterLab


# the first two chapters that have every kind between them
PAIR = next(
    pair
    for pair in combinations(content.chapter_numbers(), 2)
    if {kind(name) for name in [*shown_in(pair[0]), *shown_in(pair[1])]} == {*reader.KINDS}
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The course with two of its chapters, and the first page."""
    for name in ("index", *PAIR):
        copy = path_of("en", name, tmp_path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path_of("en", name), copy)
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(600)  # on a machine that is busy otherwise
@pytest.mark.skipif(os.name == "nt", reason="nothing can ask a process to end there")
def test_two_chapters_from_day_to_day(course: Path, browser: Any, unused_port: int) -> None:
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    context.set_default_timeout(30_000)
    each: dict[str, str] = {}  # kind -> an exercise
    for name in [*shown_in(PAIR[0]), *shown_in(PAIR[1])]:
        each.setdefault(kind(name), name)
    later = next(n for n in shown_in(PAIR[1]) if kind(n) == "number" and n not in each.values())
    with running(course, unused_port) as address:
        for chapter in PAIR:
            one = Notebook(context, address, course, chapter)
            one.looks_right()  # trusted, without being run
            assert one.page.locator(".lm-TabBar-tab.jp-mod-dirty").count() == 0
            one.run_all()
            one.looks_right()
            assert one.page.locator("[class*=toast] button").count() == 0  # no offer of news
            answer_one_of_each(one, [name for name in each.values() if name.startswith(f"{chapter}/")])
            if chapter == PAIR[1]:
                one.restart()
                answered_without_a_kernel(one, later)
            one.save(one.cell(later).get_by_role("textbox").last if chapter == PAIR[1] else None)
            one.page.close()

    theme = course / "settings" / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
    theme.parent.mkdir(parents=True, exist_ok=True)
    theme.write_text('{"theme": "JupyterLab Dark"}')
    # answers lie beside the notebooks, whatever the port; one that no kernel took waits at its own
    for chapter, port in zip(PAIR, (free_port(), unused_port), strict=True):
        with running(course, port) as address:
            one = Notebook(context, address, course, chapter)
            one.looks_right()
            answered = [name for name in each.values() if name.startswith(f"{chapter}/")]
            for name in answered:
                one.cell(name).get_by_text("✓ done").wait_for()
                if kind(name) != "code":
                    one.cell(name).get_by_text("Your answer", exact=True).wait_for()
            picture = one.page.locator(".jp-RenderedSVG img").first
            assert "invert" in picture.evaluate("node => getComputedStyle(node).filter")
            one.run_all()
            one.looks_right()
            for name in answered + [later] * (chapter == PAIR[1]):
                one.cell(name).locator(".d2l-exercise").get_by_text("✓ done").wait_for()
    assert {*each.values(), later} <= {name for name, answer in one.answers().items() if answer["done"]}
    assert one.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('d2l'))") == []
    context.close()


@pytest.fixture
def unused_port() -> int:
    """A port that is free now: what waits in the browser belongs to an address with its port."""
    return free_port()
