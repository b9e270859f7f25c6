"""Colab: every widget with its versions of ipywidgets and anywidget, and what a first cell does there."""

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager
from making import ROOT

from book.chapters import path_of
from d2lmini.language import LANGUAGES
from d2lmini.notebook import content
from d2lmini.notebook.widgets import EXPLORERS, KINDS, checkpoint, module_source
from tools.notebooks.kernels import ThisPython
from tools.portability import colab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("colab"),  # one environment for all
    pytest.mark.timeout(1200),  # which is downloaded the first time
]
needs_git = pytest.mark.skipif(
    not (shutil.which("git") and (ROOT / ".git").exists()),
    reason="the first cell installs d2lmini out of this checkout's last commit: there is no git here",
)

CALLS = {f'd2l.explorer("{name}")': name for name in EXPLORERS}
CALLS |= {f'd2l.exercise("{name}")': f"exercise {name}" for name in content.exercise_names()}


@pytest.fixture(scope="module")
def python() -> Path:
    """The Python with Colab's versions."""
    return colab.environment()


@pytest.fixture(scope="module")
def said(python: Path) -> list[dict[str, Any]]:
    """What the kernel told when it showed each widget."""
    manager = KernelManager(kernel_spec_manager=ThisPython(other=str(python)))
    manager.start_kernel(env={**os.environ, "PYTHONPATH": str(ROOT)})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    code = "\n".join(
        (
            "import anywidget, ipywidgets, d2lmini as d2l",
            "print(ipywidgets.__version__, anywidget.__version__)",
            *(f"display({call})" for call in CALLS),
            # as the page does when the reader asks for the first translation
            "every = ipywidgets.Widget.widgets.values()",
            "asking = next(one for one in every if 'translator' in getattr(one, 'plain', ''))",
            "asking.asked = {'checkpoint': 'en-zh', 'at': 1}",
        )
    )
    told: list[dict[str, Any]] = []
    try:
        client.execute_interactive(code, timeout=300, output_hook=told.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return told


def test_the_versions_are_those_of_colab(said: list[dict[str, Any]]) -> None:
    assert [one["content"]["text"] for one in said if one["msg_type"] == "stream"] == ["7.7.1 0.9.21\n"]


def test_every_widget_is_made_and_stored_alike(said: list[dict[str, Any]]) -> None:
    assert not [one["content"] for one in said if one["msg_type"] == "error"]
    opened = [one["content"]["data"]["state"] for one in said if one["msg_type"] == "comm_open"]
    sources = [state["_esm"] for state in opened if "_esm" in state]
    assert len(sources) == len(CALLS)
    assert set(sources) == {module_source(kind, "en") for kind in KINDS}
    shown = [one["content"]["data"] for one in said if one["msg_type"] == "display_data"]
    for data, name in zip(shown, CALLS.values(), strict=True):
        assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/plain", "text/html"}
        assert name in data["text/plain"] and 'class="d2l-widget"' in data["text/html"]


def test_the_weights_of_a_model_come_as_bytes(said: list[dict[str, Any]]) -> None:
    updates = [
        one for one in said if one["msg_type"] == "comm_msg" and one["content"]["data"].get("buffer_paths")
    ]
    (sent,) = [one for one in updates if one["content"]["data"]["buffer_paths"] == [["sent"]]]
    assert [bytes(part) for part in sent["buffers"]] == [checkpoint("en-zh")]


def test_pytorch_is_the_one_that_pip_has_already() -> None:
    pinned, again = (
        re.findall(r"^torch==\S+", (ROOT / name).read_text(encoding="utf-8"), re.M)
        for name in ("requirements.txt", "tests/colab.txt")
    )
    assert pinned == again


# ---- the first cell, run as readers run it


def run(*arguments: Any, **settings: str) -> list[str]:
    """What is wrong; from a thread of its own, because browser tests leave an event loop running here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(colab.run, *arguments, **settings).result()


@needs_git
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_notebook_runs_from_an_empty_folder(python: Path, tmp_path: Path, language: str) -> None:
    """Its first cell installs d2lmini by the line that readers run, and nothing else."""
    (tmp_path / "content").mkdir()
    assert run(path_of(language, "index"), python, tmp_path / "content") == []


def test_where_the_package_is_the_first_cell_installs_nothing(python: Path, tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (told,) = run(path_of("en", "index"), python, tmp_path / "content", PYTHONPATH=str(ROOT))
    assert "its first cell installed nothing" in told
