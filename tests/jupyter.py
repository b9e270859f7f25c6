"""A chapter in JupyterLab and in other Jupyters, driven as a reader does: run, answered, saved."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import reader
from making import ROOT
from reader import Reader

from book import lab
from book.chapters import path_of
from d2lmini.notebook import content
from d2lmini.notebook.progress import PROGRESS_FILE

PATIENCE = 180_000


def shown_in(chapter: str) -> list[str]:
    """The exercises of a chapter, in the order of the page."""
    return re.findall(r'd2l\.exercise\(\\"([^"\\]+)', path_of("en", chapter).read_text(encoding="utf-8"))


def kind(name: str) -> str:
    return content.exercise_content(name, "en")["kind"]


WORDS = reader.WORDS


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


@contextmanager
def running(root: Path, port: int, chapter: str = "index", **settings: str) -> Iterator[str]:
    """JupyterLab as `course.py lab` starts it, with settings of its own; its address."""
    command = lab.prepare([chapter, "--lang", "en", "--no-browser", "--port", str(port)], "course.py", root)
    with served([sys.executable, "-m", "jupyterlab", *command], root, **settings) as address:
        yield address


@contextmanager
def served(command: list[str], root: Path, **settings: str) -> Iterator[str]:
    """A Jupyter with settings of its own; its address."""
    settings |= {f"JUPYTER_{part}_DIR": str(root / part) for part in ("CONFIG", "RUNTIME", "DATA")}
    settings |= {"JUPYTERLAB_SETTINGS_DIR": str(root / "settings"), "IPYTHONDIR": str(root / "ipython")}
    with (root / "log").open("w") as log:
        server = subprocess.Popen(
            command,
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
    """A chapter in a tab of its own, in JupyterLab."""

    CELL, EDITOR = ".jp-CodeCell", ".jp-CodeCell.jp-mod-active .cm-content"
    LOST = ".jp-OutputArea-output:has-text('Error displaying')"
    TROUBLE = (
        '[data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"],'
        f" {LOST}, .jupyter-widgets-error-widget"
    )

    def __init__(self, context: Any, address: str, root: Path, chapter: str) -> None:
        self.page, self.root, self.chapter = context.new_page(), root, chapter
        self.page.goto(re.sub(r"(?<=\d)/[^?]*", self.place(), address, count=1))
        self.idle()

    def place(self) -> str:
        return f"/lab/workspaces/{self.chapter}/tree/{lab.numbered(self.chapter + '.ipynb')}"

    def idle(self) -> None:
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=PATIENCE)

    def answers(self) -> dict[str, Any]:
        file = self.root / "work" / "en" / PROGRESS_FILE
        return json.loads(file.read_text())["answers"] if file.exists() else {}

    def cell(self, name: str) -> Any:
        return self.page.locator(self.CELL).filter(has_text=f'd2l.exercise("{name}")').first

    def reader(self, name: str) -> Reader:
        here = self.cell(name).locator(".d2l-exercise")
        here.wait_for()
        return Reader(here, content.exercise_state(name, "en"), lambda: self.answers().get(name, {}))

    def begin(self, name: str) -> None:
        """Have the starting point of a function in a new cell below its exercise."""
        self.cell(name).get_by_role("button", name="Begin in a new cell").click()

    def menu(self, title: str, entry: str) -> None:
        self.page.locator(".lm-MenuBar-item").get_by_text(title, exact=True).click()
        self.page.locator(".lm-Menu-item").filter(has_text=re.compile(f"^{entry}")).first.click()

    def run_all(self) -> None:
        self.menu("Run", "Run All Cells")
        last = self.page.locator(self.CELL).last
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
        assert self.trouble() == []

    def trouble(self) -> list[str]:
        """What is shown in place of something that went wrong."""
        texts: list[str] = self.page.locator(self.TROUBLE).all_inner_texts()
        return texts


class Elsewhere(Notebook):
    """A chapter in a Jupyter that knows nothing of the course."""

    def place(self) -> str:
        return f"/notebooks/{self.chapter}.ipynb"

    def begin(self, name: str) -> None:
        self.cell(name).get_by_role("button", name="Copy the starting point").click()
        self.cell(name).get_by_role("button", name="Copied").wait_for()
        for key in ("b", "Enter", "ControlOrMeta+v"):  # the focus is the notebook's again
            self.page.keyboard.press(key)

    def save(self, field: Any = None) -> None:
        file = self.root / "work" / "en" / f"{self.chapter}.ipynb"
        before = file.stat().st_mtime_ns
        self.menu("File", self.SAVE)
        while file.stat().st_mtime_ns == before:
            self.page.wait_for_timeout(100)

    def done(self, names: list[str]) -> None:
        """Wait until the widgets of these exercises say that they are done."""
        for name in names:
            self.cell(name).locator(".d2l-exercise").get_by_text("✓ done").wait_for()

    def keep_widgets(self) -> None:
        """Let what is saved hold the widgets themselves."""
        self.menu(*self.KEEP)


class Notebook7(Elsewhere):
    """Notebook 7, which is made of JupyterLab's parts."""

    SAVE, KEEP = "Save Notebook", ("Settings", "Save Widget State Automatically")

    def idle(self) -> None:
        ready = self.page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        ready.wait_for(state="attached", timeout=PATIENCE)


class Classic(Elsewhere):
    """The notebook before JupyterLab, with the widgets of that time."""

    CELL, EDITOR = ".code_cell", ".code_cell.selected .CodeMirror"
    SAVE, KEEP = "Save and Checkpoint", ("Widgets", "Save Notebook Widget State")
    LOST = ".output_area:has-text('could not be displayed')"
    TROUBLE = f".output_error, .output_stderr, {LOST}"

    def idle(self) -> None:
        self.page.wait_for_function(
            "globalThis.Jupyter?.notebook?.kernel?.is_connected() && !Jupyter.notebook.kernel_busy"
        )

    def run_all(self) -> None:
        self.menu("Cell", "Run All")
        self.page.wait_for_function(
            """[...document.querySelectorAll(".code_cell .input_prompt")]
                .every((prompt) => /\\[\\d+\\]/.test(prompt.textContent))""",
            timeout=PATIENCE,
        )
        self.idle()

    def menu(self, title: str, entry: str) -> None:
        for name in (title, entry):
            self.page.locator("#menus a:visible").filter(has_text=name).first.click()


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
    state = content.exercise_content(name, "en")
    one.begin(name)
    one.page.locator(one.EDITOR).get_by_text(state["call"]).wait_for()
    one.page.keyboard.press("ControlOrMeta+a")
    one.page.keyboard.insert_text(f"{state['solution_code']}\n{state['call']}")
    one.page.keyboard.press("ControlOrMeta+Enter")
    one.cell(name).get_by_text("✓ done").wait_for(timeout=PATIENCE)


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
