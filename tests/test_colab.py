"""Colab: every widget with its versions of ipywidgets and anywidget, and what a first cell does there."""

import os
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
from tools.portability import colab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("colab"),  # one environment for all
    pytest.mark.timeout(1200),  # which is downloaded the first time
]
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="the first cell installs d2lmini with git")

CALLS = {f'd2l.explorer("{name}")': name for name in EXPLORERS}
CALLS |= {f'd2l.exercise("{name}")': f"exercise {name}" for name in content.exercise_names()}

# pip reads the second as the value of --build-isolation: the setuptools of this Python builds the package
NO_NETWORK = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}


@pytest.fixture(scope="module")
def said() -> list[dict[str, Any]]:
    """What the kernel told when it showed each widget."""
    manager = KernelManager(kernel_spec_manager=colab.Python(colab.environment()))
    manager.start_kernel(env={**os.environ, "PYTHONPATH": str(ROOT)})
    client = manager.client()
    client.start_channels()
    code = "\n".join(
        (
            "import anywidget, ipywidgets, d2lmini as d2l",
            "print(ipywidgets.__version__, anywidget.__version__)",
            *(f"display({call})" for call in CALLS),
            # as the page does when the reader asks for the first translation
            "every = ipywidgets.Widget.widgets.values()",
            "asking = next(one for one in every if 'translator' in getattr(one, 'plain', ''))",
            "asking.asked = {'direction': 'en-zh', 'at': 1}",
        )
    )
    told: list[dict[str, Any]] = []
    try:
        client.wait_for_ready(timeout=60)
        client.execute_interactive(code, timeout=300, output_hook=told.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return told


def test_the_versions_are_those_of_colab(said: list[dict[str, Any]]) -> None:
    assert [one["content"]["text"] for one in said if one["msg_type"] == "stream"] == ["7.7.1 0.9.21\n"]


def test_pytorch_is_the_one_that_pip_has_already() -> None:
    lines = [
        (ROOT / name).read_text(encoding="utf-8").split("\n")
        for name in ("requirements.txt", "tests/colab.txt")
    ]
    torch, again = ([line.split()[0] for line in text if line.startswith("torch==")] for text in lines)
    assert torch == again


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


# ---- the first cell, run as readers run it


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return colab.publish(tmp_path_factory.mktemp("published") / "repository")


def run(*arguments: Any, **settings: str) -> list[str]:
    """What is wrong; from a thread of its own, because browser tests leave an event loop running here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(colab.run, *arguments, **NO_NETWORK, **settings).result()[1]


@needs_git
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_notebook_runs_from_an_empty_folder(
    published: dict[str, str], tmp_path: Path, language: str
) -> None:
    """Its first cell installs d2lmini from the address that it names, and nothing else."""
    assert run(path_of(language, "index"), tmp_path, published) == []


def test_where_the_package_is_the_first_cell_installs_nothing(tmp_path: Path) -> None:
    (told,) = run(path_of("en", "index"), tmp_path, {}, PYTHONPATH=str(ROOT))
    assert "its first cell installed nothing" in told
