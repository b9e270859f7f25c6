"""A chapter in Notebook 7, and in the classic notebook with Colab's versions of the widgets."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from jupyter import (
    Classic,
    Elsewhere,
    Notebook7,
    answer_one_of_each,
    answered_without_a_kernel,
    free_port,
    kind,
    served,
    shown_in,
)

from book.chapters import path_of
from tools.portability import colab

CHAPTER = "multi-head-attention"  # it has exercises of eight kinds
JUPYTERS = {"Notebook 7": Notebook7, "classic": Classic}
PLAIN = ("--no-browser", "--allow-root", "--ip=127.0.0.1")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("colab"),  # its environment is one of the two
    pytest.mark.timeout(1200),  # which is downloaded the first time
    pytest.mark.skipif(os.name == "nt", reason="nothing can ask a process to end there"),
]


@pytest.fixture(scope="module")
def notebook7(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that adds Notebook 7 to this one."""
    made = tmp_path_factory.mktemp("notebook7")
    venv.create(made, symlinks=True)
    python, here = made / "bin" / "python", next(path for path in sys.path if path.endswith("site-packages"))
    (folder,) = made.glob("lib/*/site-packages")
    (folder / "here.pth").write_text(here)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "notebook>=7"]
    subprocess.run(pip, check=True)
    for part in ("themes", "schemas/@jupyterlab"):  # JupyterLab looks for them beside its Python
        (made / "share/jupyter/lab" / part).symlink_to(Path(sys.prefix, "share/jupyter/lab", part))
    return python


@pytest.mark.parametrize("name", JUPYTERS)
def test_a_chapter_outside_of_lab(
    name: str, tmp_path: Path, browser: Any, request: pytest.FixtureRequest
) -> None:
    """What the README says of them: an error until the cells run again, or widgets kept by a setting."""
    python = request.getfixturevalue("notebook7") if name == "Notebook 7" else colab.environment()
    work = tmp_path / "work" / "en"
    work.mkdir(parents=True)
    shutil.copy(path_of("en", CHAPTER), work)
    context = browser.new_context(
        viewport={"width": 1366, "height": 768}, permissions=["clipboard-read", "clipboard-write"]
    )
    context.set_default_timeout(30_000)
    port, exercises = free_port(), shown_in(CHAPTER)
    each = {kind(exercise): exercise for exercise in reversed(exercises)}
    later = each.pop("number")

    def opened() -> Any:
        command = [str(python), "-m", "notebook", *PLAIN, f"--port={port}", f"--notebook-dir={work}"]
        return served(command, tmp_path, JUPYTER_PATH=str(Path(sys.prefix, "share/jupyter")))

    def show(address: str) -> Elsewhere:
        return JUPYTERS[name](context, address, tmp_path, CHAPTER)

    with opened() as address:
        one = show(address)
        for exercise in exercises:  # readable before anything runs
            one.cell(exercise).locator(".d2l-widget").wait_for()
        one.run_all()
        answer_one_of_each(one, [*each.values()])
        one.save()
        assert one.trouble() == []
        one.page.close()
    with opened() as address:
        one = show(address)
        one.cell(later).locator(one.LOST).wait_for()
        one.run_all()
        one.done([*each.values()])
        one.keep_widgets()
        one.save()
        one.page.close()
    with opened() as address:
        one = show(address)
        one.done([*each.values()])
        assert one.page.locator(".d2l-exercise").count() == len(exercises)
        answered_without_a_kernel(one, later)
        one.run_all()
        one.done([later])
        assert one.answers()[later]["done"]
        assert one.trouble() == []
    context.close()
