"""Exercises and explorers in a real JupyterLab: shown by anywidget, moved, answered, kept by Python."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

CELLS = {
    "exercise": 'import d2lmini as d2l\nd2l.exercise("self-attention/why-scale")',
    "explorers": "import d2lmini as d2l\n"
    'for name in ("attention-explorer", "path-explorer", "clock-explorer"):\n    display(d2l.explorer(name))',
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A JupyterLab of its own: own settings, own folder, a port that the system chooses."""
    home = tmp_path_factory.mktemp("jupyter")
    work = home / "work"
    work.mkdir()
    for name, code in CELLS.items():
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code, id=name)])
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        nbformat.write(notebook, work / f"{name}.ipynb")
    root = Path(__file__).resolve().parent.parent
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": str(root),
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
    try:
        for line in server.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
                break
        else:
            pytest.fail("JupyterLab did not start")
        # an unread pipe would block the server
        drain = subprocess.Popen(
            [sys.executable, "-c", "import sys; [None for _ in sys.stdin]"], stdin=server.stderr
        )
        yield found[0], work
    finally:
        server.terminate()
        server.wait(20)
        drain.wait(20)


@pytest.fixture
def run(lab: tuple[str, Path], browser: Any) -> Iterator[Callable[[str], Any]]:
    """Open a notebook in JupyterLab and run its cell; errors on the page fail the test."""
    problems: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 1000})

    def opened(name: str) -> Any:
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{lab[0]}lab/workspaces/{name}/tree/{name}.ipynb")  # a workspace each: no tab of another
        page.locator(".jp-CodeCell .cm-content").first.click(timeout=60_000)
        page.locator(".jp-NotebookPanel-toolbar [data-status=idle]").wait_for(timeout=60_000)
        page.keyboard.press("Shift+Enter")
        return page

    yield opened
    context.close()
    assert not problems


def test_exercise_in_jupyterlab(lab: tuple[str, Path], run: Callable[[str], Any]) -> None:
    page, work = run("exercise"), lab[1]
    exercise = page.locator(".d2l-exercise")
    exercise.get_by_role("radio").first.check(timeout=60_000)
    assert exercise.locator("math").count() > 4
    exercise.get_by_role("button", name="Check").click()
    assert "Correct." in exercise.get_by_role("status").inner_text()
    kept = work / "d2lmini-progress.json"
    for _ in range(100):
        if kept.exists():
            break
        page.wait_for_timeout(100)
    answer = json.loads(kept.read_text(encoding="utf-8"))["answers"]["self-attention/why-scale"]
    assert answer["done"] is True and answer["given"] == 0
    # a fresh run of the cell shows the kept answer
    exercise.evaluate("node => node.remove()")
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    exercise.get_by_role("status").get_by_text("Correct.").wait_for(timeout=20_000)
    assert exercise.get_by_role("radio").first.is_checked()


def test_explorers_in_jupyterlab(run: Callable[[str], Any]) -> None:
    page = run("explorers")
    attention, path, clock = (
        page.get_by_role("group", name=f"{kind} explorer", exact=True)
        for kind in ("Attention", "Path", "Clock")
    )
    attention.get_by_role("radio", name="milk").click(timeout=60_000)
    assert attention.locator(".said").inner_text().startswith("milk listens to")
    path.get_by_label("Output").press("Home")
    assert "to output 1:" in path.locator(".said").first.inner_text()
    clock.get_by_label("Offset").press("ArrowRight")  # not JupyterLab's shortcut
    assert "offset 4" in clock.locator(".said").inner_text()
    # only the website keeps the view in the address
    assert "attention=" not in page.url and "path=" not in page.url
