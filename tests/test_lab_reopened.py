"""A chapter in JupyterLab from day to day: run, answered, saved, closed, opened again, in light and dark."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import reader
from making import ROOT
from reader import Reader

from book import lab
from book.chapters import path_of
from d2lmini.language import LANGUAGES
from d2lmini.notebook import content
from d2lmini.notebook.progress import PROGRESS_FILE

NUMBER, SPOT = (f"multi-head-attention/{name}" for name in ("head-parameters", "where-the-mask"))
PATIENCE = 180_000


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
        percent, _, width, _ = area["box"]
        left, right = (frame["width"] * edge / 100 for edge in (percent, percent + width))
        for word in words[:-1]:
            if word["top"] < frame["height"] * 0.2:  # the names of the matrices
                assert not any(word["left"] < edge < word["right"] for edge in (left, right)), area["text"]


# ---- JupyterLab


def shown_in(chapter: str) -> list[str]:
    """The exercises of a chapter, in the order of the page."""
    return re.findall(r'd2l\.exercise\(\\"([^"\\]+)', path_of("en", chapter).read_text(encoding="utf-8"))


def kind(name: str) -> str:
    return content.exercise_content(name, "en")["kind"]


# the first two chapters that have every kind between them
PAIR = next(
    pair
    for pair in combinations(content.chapter_numbers(), 2)
    if {kind(name) for name in [*shown_in(pair[0]), *shown_in(pair[1])]} == {*reader.KINDS}
)
WORDS = reader.WORDS
# what JupyterLab shows in place of something that went wrong
TROUBLE = (
    '[data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"],'
    " .jp-OutputArea-output:has-text('Error displaying'), .jupyter-widgets-error-widget"
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The course with two of its chapters, and the first page."""
    for name in ("index", *PAIR):
        copy = path_of("en", name, tmp_path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path_of("en", name), copy)
    return tmp_path


@contextmanager
def running(root: Path, port: int, chapter: str = "index", **settings: str) -> Iterator[str]:
    """JupyterLab as `course.py lab` starts it, with settings of its own; its address."""
    settings |= {f"JUPYTER_{part}_DIR": str(root / part) for part in ("CONFIG", "RUNTIME", "DATA")}
    settings |= {"JUPYTERLAB_SETTINGS_DIR": str(root / "settings"), "IPYTHONDIR": str(root / "ipython")}
    command = lab.prepare([chapter, "--lang", "en", "--no-browser", "--port", str(port)], "course.py", root)
    with (root / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *command],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
            stdin=subprocess.DEVNULL,
            stderr=log,
        )
    try:
        while not (address := re.search(r"http://127\.0\.0\.1:\d+/\S+", (root / "log").read_text())):
            assert server.poll() is None, (root / "log").read_text()
        yield address[0]
    finally:
        server.terminate()
        try:
            assert server.wait(60) == 0
        finally:
            server.kill()


class Notebook:
    """A chapter in a tab of its own."""

    def __init__(self, context: Any, address: str, root: Path, chapter: str) -> None:
        self.page, self.root, self.chapter = context.new_page(), root, chapter
        start = re.sub(
            r"/tree/[^?]*", f"/workspaces/{chapter}/tree/{lab.numbered(chapter + '.ipynb')}", address
        )
        self.page.goto(start)
        self.idle()

    def idle(self) -> None:
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=PATIENCE)

    def answers(self) -> dict[str, Any]:
        file = self.root / "work" / "en" / PROGRESS_FILE
        return json.loads(file.read_text())["answers"] if file.exists() else {}

    def cell(self, name: str) -> Any:
        return self.page.locator(".jp-CodeCell").filter(has_text=f'd2l.exercise("{name}")').first

    def reader(self, name: str) -> Reader:
        here = self.cell(name).locator(".d2l-exercise")
        here.wait_for()
        return Reader(here, content.exercise_state(name, "en"), lambda: self.answers().get(name, {}))

    def menu(self, title: str, entry: str) -> None:
        self.page.locator(".lm-MenuBar-item").get_by_text(title, exact=True).click()
        self.page.locator(".lm-Menu-item").filter(has_text=re.compile(f"^{entry}")).first.click()

    def run_all(self) -> None:
        self.menu("Run", "Run All Cells")
        last = self.page.locator(".jp-CodeCell").last
        last.locator(".jp-InputPrompt").get_by_text(re.compile(r"\[\d+\]")).wait_for(timeout=PATIENCE)
        self.idle()

    def restart(self) -> None:
        self.menu("Kernel", "Restart Kernel…")
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.idle()

    def save(self, field: Any = None) -> None:
        """Save by the menu, or by keys while a field of an exercise has the focus."""
        if field:
            field.press("ControlOrMeta+s")
        else:
            self.menu("File", "Save Notebook")
        self.page.locator(".lm-TabBar-tab.jp-mod-dirty").wait_for(state="detached")

    def looks_right(self) -> None:
        """Every figure that is stored can be seen, and nothing tells of an error."""
        stored = json.loads(path_of("en", self.chapter).read_text())["cells"]
        pictures = [
            output
            for cell in stored
            for output in cell.get("outputs", [])
            if "image/svg+xml" in output.get("data", {})
        ]
        self.page.wait_for_function(
            """(count) => [...document.querySelectorAll(".jp-RenderedSVG img")]
                .filter((image) => image.naturalWidth > 99 && image.clientWidth > 99).length === count""",
            arg=len(pictures),
        )
        assert self.page.locator(TROUBLE).all_inner_texts() == []


def answer_one_of_each(one: Notebook, names: list[str]) -> None:
    """Answer these exercises rightly, by keyboard."""
    for name in names:
        one_reader = one.reader(name)
        if kind(name) == "code":
            write_the_function(one, name)
            continue
        if kind(name) == "open":
            one_reader.give("Because of the mask.")
        else:
            one_reader.give(reader.answers(one_reader.state)[0])
        one_reader.press(WORDS[{"open": "compare", "predict": "commit"}.get(kind(name), "check")])
        one_reader.keeps(done=True)
        one.cell(name).get_by_text("✓ done").wait_for()


def write_the_function(one: Notebook, name: str) -> None:
    """Begin in a new cell, write the published solution and have it checked."""
    one.cell(name).get_by_role("button", name="Begin in a new cell").click()
    state, editor = (
        content.exercise_content(name, "en"),
        one.page.locator(".jp-CodeCell.jp-mod-active .cm-content"),
    )
    editor.get_by_text(state["call"]).wait_for()
    one.page.keyboard.press("ControlOrMeta+a")
    one.page.keyboard.insert_text(f"{state['solution_code']}\n{state['call']}")
    one.page.keyboard.press("ControlOrMeta+Enter")
    one.cell(name).get_by_text("✓ done").wait_for(timeout=PATIENCE)


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


def answered_without_a_kernel(one: Notebook, name: str) -> None:
    """The kernel has forgotten the widget: its answer waits in the browser, and the page says so."""
    answer = reader.answers(content.exercise_state(name, "en"))[0]
    field = one.cell(name).get_by_role("textbox").last
    field.fill(f"{answer!r} * 1")  # a product is an answer, too
    field.press("Enter")
    one.cell(name).get_by_text("Correct.").wait_for()
    one.cell(name).get_by_text("Not saved yet").wait_for()
    assert one.cell(name).get_by_text("✓ done").count() == 0
    assert name not in one.answers()


@pytest.fixture
def unused_port() -> int:
    """A port that is free now: what waits in the browser belongs to an address with its port."""
    return free_port()


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port
