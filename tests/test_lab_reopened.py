"""A chapter in JupyterLab from day to day: run, answered, saved, closed, opened again, in light and dark."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from making import ROOT, cell, write_notebook

from book import lab
from book.chapters import path_of
from d2lmini.language import LANGUAGES
from d2lmini.notebook import content
from d2lmini.notebook.figures import figure
from d2lmini.notebook.progress import PROGRESS_FILE

PREDICT, NUMBER, CODE, SPOT = (
    f"multi-head-attention/{name}"
    for name in ("all-masked", "head-parameters", "code-split-heads", "where-the-mask")
)
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


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of one chapter, as it is stored: nothing in it needs torch."""
    drawing = {
        "output_type": "execute_result",
        "execution_count": 2,
        "metadata": {},
        "data": figure("attention-qkv", "en")._repr_mimebundle_(),
    }
    cells = [cell("code", "setup", 'import d2lmini as d2l\n\nd2l.use_language("en")')]
    cells += [cell("code", "figure", 'd2l.figure("attention-qkv")', [drawing])]
    cells += [cell("code", name[21:], f'd2l.exercise("{name}")') for name in (PREDICT, NUMBER, CODE)]
    cells += [cell("code", "explorer", 'd2l.explorer("listening-explorer")')]
    write_notebook(path_of("en", "one", tmp_path), cells)
    return tmp_path


@contextmanager
def running(root: Path, port: int) -> Iterator[str]:
    """JupyterLab as `course.py lab` starts it, with settings of its own; its address."""
    settings = {f"JUPYTER_{part}_DIR": str(root / part) for part in ("CONFIG", "RUNTIME", "DATA")}
    settings |= {"JUPYTERLAB_SETTINGS_DIR": str(root / "settings"), "IPYTHONDIR": str(root / "ipython")}
    settings |= {"JUPYTERLAB_WORKSPACES_DIR": str(root / "workspaces"), "PYTHONPATH": str(ROOT)}
    command = lab.prepare(["one", "--lang", "en", "--no-browser", "--port", str(port)], "course.py", root)
    with (root / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *command],
            cwd=ROOT,
            env={**os.environ, **settings},
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
    """The chapter in a tab of its own."""

    def __init__(self, context: Any, address: str) -> None:
        self.page = context.new_page()
        self.page.goto(address)
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=PATIENCE)

    def cell(self, name: str) -> Any:
        return self.page.locator(".jp-CodeCell").filter(has_text=f'"{name}"')

    def menu(self, title: str, entry: str) -> None:
        self.page.locator(".lm-MenuBar-item").get_by_text(title, exact=True).click()
        self.page.locator(".lm-Menu-item").filter(has_text=re.compile(f"^{entry}")).first.click()

    def run_all(self) -> None:
        self.menu("Run", "Run All Cells")
        self.cell("listening-explorer").get_by_role("group").first.wait_for(timeout=PATIENCE)

    def restart(self) -> None:
        self.menu("Kernel", "Restart Kernel…")
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=PATIENCE)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="nothing can ask a process to end there")
def test_a_chapter_from_day_to_day(course: Path, browser: Any, unused_port: int) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 3000})
    context.set_default_timeout(30_000)
    answers_file = course / "work" / "en" / PROGRESS_FILE
    with running(course, unused_port) as address:
        one = Notebook(context, address)
        one.cell("attention-qkv").locator(".jp-RenderedSVG img").wait_for()  # trusted, without being run
        assert one.page.locator(".lm-TabBar-tab.jp-mod-dirty").count() == 0
        one.run_all()
        predict = one.cell(PREDICT)
        predict.get_by_role("radio").first.check()
        predict.get_by_role("radio").first.press("Enter")
        predict.get_by_text("✓ done").wait_for()
        one.cell(CODE).get_by_role("button", name="Begin in a new cell").click()
        check = content.exercise_content(CODE, "en")["call"]
        one.page.locator(".jp-CodeCell.jp-mod-active .cm-content").get_by_text(check).wait_for()

        one.restart()
        number = one.cell(NUMBER)
        number.get_by_role("textbox").last.fill("4 * 512 * 512")
        number.get_by_role("textbox").last.press("Enter")
        number.get_by_text("Correct.").wait_for()
        number.get_by_text("Not saved yet").wait_for()
        assert number.get_by_text("✓ done").count() == 0
        assert NUMBER not in json.loads(answers_file.read_text())["answers"]
        one.menu("File", "Save Notebook")
        one.page.locator(".lm-TabBar-tab.jp-mod-dirty").wait_for(state="detached")
        one.page.close()

    theme = course / "settings" / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
    theme.parent.mkdir(parents=True, exist_ok=True)
    theme.write_text('{"theme": "JupyterLab Dark"}')
    with running(course, unused_port) as address:
        one = Notebook(context, address)
        one.cell(PREDICT).get_by_text("Your answer", exact=True).wait_for()
        one.cell(NUMBER).get_by_text("How many parameters").wait_for()
        one.cell("listening-explorer").get_by_text("An explorer stands here").wait_for()
        assert one.page.get_by_text("Error displaying").count() == 0
        drawing = one.cell("attention-qkv").locator(".jp-RenderedSVG img")
        assert "invert" in drawing.evaluate("node => getComputedStyle(node).filter")
        one.run_all()
        for name in (PREDICT, NUMBER):
            one.cell(name).get_by_text("✓ done").wait_for()
        answers = json.loads(answers_file.read_text())["answers"]
        assert answers[NUMBER]["given"] == "4 * 512 * 512" and answers[NUMBER]["done"]
        assert one.page.get_by_text("Error displaying").count() == 0
        assert one.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('d2l'))") == []
        one.page.screenshot(path=str(course / "reopened.png"))
    context.close()


@pytest.fixture
def unused_port() -> int:
    """A port that is free now: what waits in the browser belongs to an address with its port."""
    import socket

    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port
