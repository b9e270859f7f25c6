"""course.py lab: copies to write in, which nothing overwrites, and a JupyterLab that opens them."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from making import ROOT, cell, write_notebook

import course
from book import lab
from book.chapters import path_of, read, write

pytestmark = pytest.mark.usefixtures("in_english")


@pytest.fixture
def in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("D2LMINI_LANGUAGE", "en")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of two chapters in two languages; nothing is installed, and no server started."""
    for language in ("en", "vi"):
        for name in ("index", "one"):
            write_notebook(path_of(language, name, tmp_path), [cell("code", "sum", "1 + 1")])
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(course, "set_up", lambda files: None)
    return tmp_path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines with which JupyterLab would be started."""
    lines: list[list[str]] = []
    monkeypatch.setattr(course, "module", lambda name, arguments, _: lines.append([name, *arguments]) or 0)
    return lines


def change(path: Path, code: str) -> bytes:
    """Write other code into a notebook, as JupyterLab saves it; return its bytes."""
    notebook = read(path)
    notebook["cells"][0]["source"] = code
    write(path, notebook)
    return path.read_bytes()


def test_lab_opens_a_copy_in_the_language_asked_for(here: Path, started: list[list[str]]) -> None:
    originals = {path: path.read_bytes() for path in here.rglob("chapters/*/*.ipynb")}
    assert course.main(["lab", "one", "--lang", "vi", "--port", "0", "--no-browser"]) == 0
    ((name, *options),) = started
    assert name == "jupyterlab"
    assert f"--ServerApp.root_dir={here / 'work' / 'vi'}" in options
    assert "--LabApp.default_url=/lab/tree/one.ipynb" in options
    assert {"--ServerApp.port=0", "--no-browser"} <= set(options)
    assert sorted(path.name for path in (here / "work" / "vi").iterdir()) == ["index.ipynb", "one.ipynb"]
    assert not (here / "work" / "en").exists()
    assert read(here / "work/vi/one.ipynb")["cells"] == read(path_of("vi", "one", here))["cells"]
    assert {path: path.read_bytes() for path in originals} == originals


def test_without_a_name_it_opens_the_first_page_in_the_language_of_the_terminal(
    here: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D2LMINI_LANGUAGE", "vi")
    course.main(["lab"])
    assert started[0][1:3] == [
        f"--ServerApp.root_dir={here / 'work' / 'vi'}",
        "--LabApp.default_url=/lab/tree/index.ipynb",
    ]
    assert not any("port" in option or "no-browser" in option for option in started[0])


def test_what_the_reader_wrote_stays_and_what_only_ran_is_renewed(
    here: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    course.main(["lab", "one"])
    assert "Your copies of the notebooks are in" in capsys.readouterr().out
    written = change(here / "work/en/one.ipynb", "1 + 2")
    ran = read(here / "work/en/index.ipynb")
    ran["cells"][0] |= {"execution_count": 1, "outputs": [{"output_type": "stream", "name": "stdout"}]}
    write(here / "work/en/index.ipynb", ran)
    course.main(["lab", "one"])
    assert capsys.readouterr().out == "JupyterLab opens in the browser; Ctrl-C ends it.\n"
    assert read(here / "work/en/index.ipynb") == ran

    for name in ("one", "index"):
        change(path_of("en", name, here), "2 + 2")
    course.main(["lab", "one"])
    told = capsys.readouterr().out
    assert (here / "work/en/one.ipynb").read_bytes() == written
    assert "one: the original has changed. Your copy stays as it is; the new one comes with:" in told
    assert f"{course.COMMAND} lab --lang en --afresh one" in told
    assert read(here / "work/en/index.ipynb")["cells"][0]["source"] == "2 + 2"
    assert "you had written nothing in your copy: index." in told


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"metadata": {}}', '{"cells": 1, "metadata": {}}'])
def test_a_file_that_is_no_copy_is_the_readers(here: Path, started: list[list[str]], damage: str) -> None:
    mine = here / "work/en/one.ipynb"
    mine.parent.mkdir(parents=True)
    mine.write_text(damage)
    course.main(["lab"])
    assert mine.read_text() == damage
    course.main(["lab", "--afresh", "one"])
    assert mine.with_name("one-kept-1.ipynb").read_text() == damage


def test_afresh_brings_the_original_back_and_keeps_what_was_written(
    here: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    mine = here / "work/en/one.ipynb"
    course.main(["lab"])
    for number in (1, 2):
        written = change(mine, f"{number} + 3")
        capsys.readouterr()
        course.main(["lab", "--afresh", "one"])
        kept = mine.with_name(f"one-kept-{number}.ipynb")
        assert kept.read_bytes() == written
        assert f"What you had written is kept in {kept}." in capsys.readouterr().out
        assert read(mine)["cells"] == read(path_of("en", "one", here))["cells"]
    course.main(["lab", "--afresh", "one.ipynb"])  # nothing was written since
    assert len(list(mine.parent.glob("one*"))) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["two"], "two: no such chapter; there are index, one."),
        (["--afresh"], "Which chapter?"),
        (["--afresh", "two"], "two: no such chapter"),
    ],
)
def test_a_mistake_is_told_before_anything_is_done(
    here: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert course.main(["lab", *arguments]) == 1
    assert said in capsys.readouterr().err
    assert not started and not (here / "work").exists()


def test_git_ignores_the_copies() -> None:
    assert "/work/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def fetched(address: str, server: subprocess.Popen[str]) -> bytes:
    """What the server answers; it tells its address a moment before it listens there."""
    while server.poll() is None:
        try:
            with urllib.request.urlopen(address) as answer:
                return answer.read()
        except URLError:
            time.sleep(0.1)
    return b"it ended"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no Ctrl-C can be sent to one process there")
def test_jupyterlab_starts_on_a_free_port_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    shutil.copy(path_of("en", "index"), tmp_path)
    command = lab.command(tmp_path / "index.ipynb", port=0, browser=False)
    settings: dict[str, Any] = {f"JUPYTER_{part}_DIR": str(tmp_path / part) for part in ("CONFIG", "RUNTIME")}
    with subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *command],
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        try:
            assert server.stderr
            found = (re.search(r"http://127\.0\.0\.1:\d+(/\S+)\?token=\w+", line) for line in server.stderr)
            address = next(filter(None, found))
            assert address[1] == "/lab/tree/index.ipynb"
            assert b"jupyter-config-data" in fetched(address[0], server)
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)
        finally:
            server.kill()  # nothing happens where it has ended
    assert server.returncode == 0
