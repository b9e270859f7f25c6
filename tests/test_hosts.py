"""The same reader on the website and in a real JupyterLab: every kind of exercise, every explorer."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import nbformat
import pytest
from making import ROOT
from playwright.sync_api import expect
from reader import EACH, Reader, drive

import d2lmini as d2l
from d2lmini.notebook import progress

EXPLORERS = {
    "attention-explorer": "multi-head-attention",
    "block-explorer": "transformer",
    "listening-explorer": "index",
    "path-explorer": "complexity",
    "clock-explorer": "positional-encoding",
    "plane-explorer": "self-attention",
    "rotary-explorer": "relative-positions",
    "translator-explorer": "translation",
    "writer-explorer": "language-model",
}
WITH_SCRIPTS = "self-attention/fixed-weights"
# a machine that runs other tests beside this one may take minutes to start a kernel that imports torch
PATIENCE = 180_000


class Host(Protocol):
    def exercise(self, name: str, fresh: bool = True) -> Reader: ...
    def explorer(self, kind: str) -> Any: ...


class Website:
    """The finished site; answers are kept by the browser."""

    def __init__(self, context: Any, address: str):
        self.page, self.address = context.new_page(), address

    def _answers(self) -> dict[str, Any]:
        return self.page.evaluate("JSON.parse(localStorage.getItem('d2lmini') || '{}').answers || {}")

    def _awake(self, chapter: str, selector: str) -> Any:
        self.page.goto(f"{self.address}/en/{chapter}.html")
        # until then a section above may still grow, and push the place out of view again
        self.page.locator("html[data-measured]").wait_for()
        place = self.page.locator(selector)
        place.scroll_into_view_if_needed()
        self.page.locator(f"{selector}[data-awake]").wait_for()
        return place

    def exercise(self, name: str, fresh: bool = True) -> Reader:
        if fresh:
            self.page.goto(f"{self.address}/en/glossary.html")
            self.page.evaluate("localStorage.clear()")
        here = self._awake(name.split("/", maxsplit=1)[0], f'.d2l-widget[data-id="{name}"]').locator(
            ".d2l-exercise"
        )
        return Reader(here, d2l.exercise(name).state, lambda: self._answers().get(name, {}))

    def explorer(self, kind: str) -> Any:
        return self._awake(EXPLORERS[kind], f'.d2l-widget[data-widget="{kind}"]').get_by_role("group").first


class JupyterLab:
    """One notebook with one cell, run again and again; answers are kept by Python in a file."""

    def __init__(self, context: Any, address: str, work: Path):
        self.page, self.progress = context.new_page(), work / progress.PROGRESS_FILE
        self.page.goto(f"{address}lab/tree/cell.ipynb")
        # a cell that runs before its kernel has come asks for one in a dialog
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=PATIENCE)
        self.run("import d2lmini as d2l")

    def run(self, code: str) -> Any:
        """Replace the cell and run it; its output."""
        prompt = self.page.locator(".jp-CodeCell .jp-InputPrompt").first
        before = prompt.inner_text()
        self.page.locator(".jp-CodeCell .cm-content").first.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("ControlOrMeta+Enter")
        self.page.wait_for_function(
            "([node, before]) => /\\d/.test(node.innerText) && node.innerText !== before",
            arg=[prompt.element_handle(), before],
            timeout=PATIENCE,
        )
        return self.page.locator(".jp-OutputArea-output").first

    def _answers(self) -> dict[str, Any]:
        if not self.progress.exists():
            return {}
        return json.loads(self.progress.read_text(encoding="utf-8"))["answers"]

    def exercise(self, name: str, fresh: bool = True) -> Reader:
        if fresh:
            self.progress.unlink(missing_ok=True)
        here = self.run(f'd2l.exercise("{name}")').locator(".d2l-exercise")
        here.wait_for()
        return Reader(here, d2l.exercise(name).state, lambda: self._answers().get(name, {}))

    def explorer(self, kind: str) -> Any:
        here = self.run(f'd2l.explorer("{kind}")').get_by_role("group").first
        here.wait_for()
        return here


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A JupyterLab of its own: own settings, own folder, a port that the system chooses."""
    home = tmp_path_factory.mktemp("jupyter")
    work = home / "work"
    work.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", id="cell")])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, work / "cell.ipynb")
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": str(ROOT),
    }
    options = ["--no-browser", "--allow-root", "--port=0", "--ip=127.0.0.1", "--IdentityProvider.token="]
    options += [
        f"--ServerApp.root_dir={work}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert server.stderr is not None
    drain = None
    try:
        for line in server.stderr:
            if match := re.search(r"http://127\.0\.0\.1:\d+/", line):
                break
        else:
            pytest.fail("JupyterLab did not start")
        # an unread pipe would block the server
        drain = subprocess.Popen(
            [sys.executable, "-c", "import sys; [None for _ in sys.stdin]"], stdin=server.stderr
        )
        yield match[0], work
    finally:
        server.terminate()
        try:
            server.wait(60)
        finally:
            server.kill()
            if drain:
                drain.kill()


IN_JUPYTERLAB = pytest.param("jupyterlab", marks=[pytest.mark.slow, pytest.mark.xdist_group("jupyterlab")])


@pytest.fixture(scope="module", params=["website", IN_JUPYTERLAB])
def opened(request: pytest.FixtureRequest, browser: Any) -> Iterator[tuple[Host, list[str]]]:
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(30_000)
    problems: list[str] = []
    context.on("weberror", lambda error: problems.append(str(error.error)))
    if request.param == "website":
        host: Host = Website(context, request.getfixturevalue("address"))
    else:
        host = JupyterLab(context, *request.getfixturevalue("lab"))
    yield host, problems
    context.close()


@pytest.fixture
def host(opened: tuple[Host, list[str]]) -> Iterator[Host]:
    """Where the reader is; errors on the page fail the test."""
    shown, problems = opened
    problems.clear()
    yield shown
    assert not problems


@pytest.mark.parametrize("name", EACH)
def test_each_kind_of_exercise(host: Host, name: str) -> None:
    drive(lambda: host.exercise(name))


def test_a_function_to_write_leads_to_where_python_runs(host: Host) -> None:
    """From the website to Colab or to the other places; in a notebook it runs already."""
    here = host.exercise("multi-head-attention/code-attention").here
    link, elsewhere = (
        here.get_by_role("link", name="Run this in Colab"),
        here.get_by_role("button", name="Elsewhere"),
    )
    website = isinstance(host, Website)
    assert (link.count(), elsewhere.count()) == (website, website)
    said = here.get_by_text("d2l.check").locator("..").inner_text()
    assert said.startswith("Write it where Python runs" if website else "Write it in a cell of this notebook")
    if website:
        address = link.get_attribute("href") or ""
        assert address.startswith("https://colab.research.google.com/github/")
        assert address.endswith("/chapters/en/multi-head-attention.ipynb")
        elsewhere.click()
        here.page.get_by_role("link", name="Open in Kaggle").wait_for()
        assert here.page.evaluate("document.activeElement.closest('.places').open")


def test_an_answer_is_there_again(host: Host) -> None:
    reader = host.exercise("self-attention/why-scale")
    assert reader.here.locator("math").count() > 4
    reader.give(0)
    reader.press("Check")
    reader.keeps(done=True, given=0)
    again = host.exercise("self-attention/why-scale", fresh=False)
    again.here.get_by_role("status").get_by_text("Correct.").wait_for()
    assert again.here.get_by_role("radio").first.is_checked()


def test_scripts_of_formulas_are_smaller_than_their_letters(host: Host) -> None:
    formula = host.exercise(WITH_SCRIPTS).here.locator(".d2l-question msub").first
    sizes = formula.evaluate(
        "node => [...node.children].map((part) => parseFloat(getComputedStyle(part).fontSize))"
    )
    assert sizes[1] == pytest.approx(0.7 * sizes[0], rel=0.01)


def said(explorer: Any) -> str:
    return explorer.locator(".said").first.inner_text()


def test_attention_explorer(host: Host) -> None:
    explorer = host.explorer("attention-explorer")
    explorer.locator("[role=radio][aria-checked=true]").focus()
    before = said(explorer)
    explorer.page.keyboard.press("ArrowRight")
    assert explorer.page.evaluate("document.activeElement.dataset.word") == "was"
    assert said(explorer) != before
    explorer.page.keyboard.press("Home")
    assert said(explorer).startswith("the listens to")
    explorer.locator(".map").nth(2).click()
    expect(explorer.locator(".map").nth(2)).to_have_attribute("aria-pressed", "true")


def test_listening_explorer(host: Host) -> None:
    explorer = host.explorer("listening-explorer")
    assert said(explorer).startswith("“it” listens to cat 0.8")
    explorer.locator("[role=radio][aria-checked=true]").press("End")
    assert said(explorer).startswith("“thirsty” listens to cat 0.7")
    explorer.locator("[data-word=drank]").click()
    assert said(explorer).startswith("“drank” listens to cat 0.4")


def test_path_explorer(host: Host) -> None:
    explorer = host.explorer("path-explorer")
    explorer.get_by_role("slider", name="Input").focus()
    for _ in range(4):
        explorer.page.keyboard.press("ArrowRight")  # input 5, output 5
    explorer.get_by_role("slider", name="Output").focus()
    explorer.page.keyboard.press("Home")
    assert said(explorer).endswith("convolution 4 edges, recurrent no path, self-attention 1 edge.")
    assert (explorer.locator("tr:has-text('Recurrent') td").first.text_content() or "").startswith("262")


def test_clock_explorer(host: Host) -> None:
    explorer = host.explorer("clock-explorer")
    explorer.get_by_role("slider", name="Offset").focus()
    explorer.page.keyboard.press("ArrowRight")
    assert "Offset 4" in said(explorer)
    explorer.locator(".clocks button").nth(1).focus()
    explorer.page.keyboard.press("Enter")
    assert explorer.locator(".clocks button").nth(1).get_attribute("aria-pressed") == "true"


def test_plane_explorer(host: Host) -> None:
    explorer = host.explorer("plane-explorer")
    explorer.get_by_role("slider", name="W_q, row 2").focus()
    for _ in range(10):  # JupyterLab has shortcuts for arrow keys of its own
        explorer.page.keyboard.press("ArrowRight")
        explorer.page.keyboard.press("ArrowDown")
    expect(explorer.locator(".said")).to_have_text(re.compile("^milk listens to: cats"))
    assert explorer.locator(".marks [data-done=true]").count() == 1
    number = explorer.get_by_label("W_k, row 1, column 1")
    number.fill("-3")
    number.press("Enter")
    assert number.input_value() == "−3"
    ring = explorer.get_by_role("slider", name="W_k, row 1")
    ring.scroll_into_view_if_needed()
    box = ring.bounding_box()
    explorer.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    explorer.page.mouse.down()
    explorer.page.mouse.move(box["x"] + 300, box["y"] + box["height"] / 2, steps=3)
    explorer.page.mouse.up()
    assert float(number.input_value()) > 0  # it was to the left of 0, and is to the right


def test_block_explorer(host: Host) -> None:
    """It begins with numbers; its weights come with the first step on: as a file, or from the kernel."""
    explorer = host.explorer("block-explorer")
    assert explorer.get_by_role("slider").first.get_attribute("aria-valuetext") == "“the”, column 1: −0.66"
    explorer.locator("[aria-current=step]").focus()
    for place in ("Encoder: + position", "Encoder, block 1: self-attention"):
        explorer.page.keyboard.press("ArrowRight")  # JupyterLab has shortcuts for arrow keys of its own
        explorer.locator(".heading").get_by_text(place, exact=True).wait_for(timeout=PATIENCE)
    explorer.locator("[role=radio][aria-checked=true]").press("ArrowDown")
    assert explorer.locator("[role=radio][aria-checked=true]").inner_text() == "dog"
    expect(explorer.locator(".said [role=status]")).to_contain_text("“dog” looks most at “<eos>”")


def test_translator_explorer(host: Host) -> None:
    """Its weights are a file on the website, and come from the kernel in a notebook."""
    explorer = host.explorer("translator-explorer")
    assert explorer.get_by_role("radio").nth(3).inner_text().startswith("pain")  # before any weights
    field = explorer.get_by_label("A sentence of your own")
    field.fill("I don't eat fish.")
    field.press("Enter")
    explorer.locator(".target").get_by_text("poisson").wait_for(timeout=PATIENCE)
    explorer.locator(".target [aria-checked=true]").press("ArrowRight")  # no shortcut of JupyterLab's
    expect(explorer.locator(".said")).to_contain_text("Step 2 of ")
    explorer.get_by_label("Direction").select_option("en-zh")
    explorer.locator(".target").get_by_text("鱼").wait_for(timeout=PATIENCE)


def test_writer_explorer(host: Host) -> None:
    """Its first result is there at once; its weights come from the kernel when a bar is pressed."""
    explorer = host.explorer("writer-explorer")
    assert explorer.locator(".bar .p").first.inner_text() == "0.498"
    explorer.get_by_role("button", name="gray", exact=False).click()
    explorer.locator("[data-done=true]").first.wait_for(timeout=PATIENCE)
    assert explorer.locator(".bar .token").first.inner_text() == "kite"
    explorer.get_by_role("tab", name="Draw").press("ArrowRight")  # no shortcut of JupyterLab's
    explorer.get_by_role("switch", name="1.3: on").press("Enter")
    explorer.get_by_text("Off: 1.3.").wait_for()
    explorer.get_by_role("textbox").fill("Tom has a blue bell.")
    explorer.get_by_role("textbox").press("Enter")
    expect(explorer.get_by_role("radio")).to_have_count(7)


def test_only_the_website_keeps_the_view_in_the_address(host: Host) -> None:
    explorer = host.explorer("clock-explorer")
    explorer.get_by_role("slider", name="Offset").press("ArrowRight")
    if isinstance(host, Website):
        explorer.page.wait_for_url("**clock=*")
    else:
        # the address waits 300 ms for the view to rest; timers of a page ring in the order of their times
        explorer.page.evaluate("new Promise((ring) => setTimeout(ring, 600))")
        assert "clock=" not in explorer.page.url
