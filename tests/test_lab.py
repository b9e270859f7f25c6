"""course.py lab: copies to write in, which nothing overwrites, and a JupyterLab that opens them."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import URLError

import psutil
import pytest
from making import ROOT, cell, write_notebook
from nbformat.sign import NotebookNotary

import course
from book import lab
from book.chapters import path_of, read, write
from book.lab_contents import LabContents
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import content

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
    assert f"--LabApp.workspaces_dir={here / 'work' / 'vi' / '.workspaces'}" in options  # its own tabs
    assert sorted(path.name for path in (here / "work" / "vi").iterdir()) == ["index.ipynb", "one.ipynb"]
    assert not (here / "work" / "en").exists()
    assert read(here / "work/vi/one.ipynb")["cells"] == read(path_of("vi", "one", here))["cells"]
    assert {path: path.read_bytes() for path in originals} == originals


def test_without_a_name_it_opens_the_first_page_in_the_language_of_the_terminal(
    here: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D2LMINI_LANGUAGE", "vi")
    course.main(["lab"])
    assert {
        f"--ServerApp.root_dir={here / 'work' / 'vi'}",
        "--LabApp.default_url=/lab/tree/00-index.ipynb",
    } <= {*started[0]}
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
    course.main(["lab", "--afresh", "work/en/one.ipynb"])  # nothing was written since
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


def test_the_list_of_files_says_how_to_come_to_another_language() -> None:
    style = (ROOT / "book/lab_settings/custom.css").read_text(encoding="utf-8")
    for language in LANGUAGES:
        name = words(language)["language"]["name"]
        assert re.search(rf"{name}[:：] ?course\.py lab --lang {language}\b", style)


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


# ---- the files as JupyterLab shows them

THREAD = ThreadPoolExecutor(1)  # one for all: signatures lie in SQLite


@pytest.fixture
def contents(tmp_path: Path) -> LabContents:
    """The folder of copies of a course whose chapters have links and a drawing."""
    drawing = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": "<svg/>"}}
    for name in ("index", "multi-head-attention", "self-attention", "api"):
        cells = [cell("markdown", "links", "[a](self-attention.ipynb#b), [c](api.ipynb), /index.ipynb")]
        cells += [cell("code", "draw", "1 + 1", [drawing])]
        write_notebook(path_of("en", name, tmp_path), cells)
    lab.bring("en", tmp_path)
    folder = str(tmp_path / "work" / "en")

    def made() -> LabContents:
        return LabContents(root_dir=folder, notary=NotebookNotary(data_dir=str(tmp_path)))

    return THREAD.submit(made).result()


def awaited(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns; in another thread, since Playwright's loop may run in this one."""
    return THREAD.submit(asyncio.run, coroutine).result()


def is_trusted(contents: LabContents, name: str) -> bool:
    code = awaited(contents.get(name))["content"]["cells"][-1]
    return bool(code["metadata"]["trusted"])


def test_chapters_stand_in_the_order_of_the_course_with_their_numbers(contents: LabContents) -> None:
    numbers = content.chapter_numbers()
    names = [f"{numbers[name]:02}-{name}.ipynb" for name in ("self-attention", "multi-head-attention")]
    listed = awaited(contents.get(""))["content"]
    assert sorted(file["path"] for file in listed) == ["00-index.ipynb", *names, "api.ipynb"]
    assert [file["name"] for file in listed] == [file["path"] for file in listed]


def test_a_copy_keeps_the_name_of_its_file_and_of_its_links(contents: LabContents) -> None:
    folder, number = Path(contents.root_dir), f"{content.chapter_numbers()['self-attention']:02}"
    before = {path.name: path.read_text() for path in folder.iterdir()}
    shown = awaited(contents.get(f"{number}-self-attention.ipynb"))
    links = shown["content"]["cells"][0]["source"]
    assert links == f"[a]({number}-self-attention.ipynb#b), [c](api.ipynb), /index.ipynb"
    shown["content"]["cells"][1]["source"] = "1 + 2"
    awaited(contents.save(shown, f"/{shown['path']}"))
    awaited(contents.create_checkpoint(f"/{shown['path']}"))
    after = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
    assert before.keys() == after.keys()
    changed = [name for name in before if before[name] != after[name]]
    assert changed == ["self-attention.ipynb"]
    assert read(folder / changed[0])["cells"][0]["source"] == [
        "[a](self-attention.ipynb#b), [c](api.ipynb), /index.ipynb"
    ]
    # a chapter may have had another number when its tab was opened, or when it was kept
    assert awaited(contents.get("99-self-attention.ipynb"))["content"]["cells"][1]["source"] == "1 + 2"
    (folder / "self-attention-kept-1.ipynb").write_text(before[changed[0]])
    listed = [file["path"] for file in awaited(contents.get(""))["content"]]
    assert f"{number}-self-attention-kept-1.ipynb" in listed


def test_its_own_copies_are_trusted_and_a_foreign_notebook_is_not(contents: LabContents) -> None:
    folder = Path(contents.root_dir)
    assert is_trusted(contents, "api.ipynb") and is_trusted(contents, "01-self-attention.ipynb")
    foreign = read(folder / "api.ipynb")
    foreign["cells"][1]["outputs"][0]["data"] = {"text/html": "<script>alert(1)</script>"}
    for name in ("foreign", "index"):  # also under the name of a chapter
        write(folder / f"{name}.ipynb", foreign)
        assert not is_trusted(contents, f"{name}.ipynb")


# ---- the process


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no signal can be sent to one process there")
@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_jupyterlab_starts_on_a_free_port_and_ends_with_its_kernels(
    here: Path, tmp_path: Path, told: signal.Signals
) -> None:
    """As `course.py lab` starts it, and as Ctrl-C, a supervisor or a closed terminal ends it."""
    arguments = lab.prepare(["--port", "0", "--no-browser"], course.COMMAND, here)
    start = f"import course; course.module('jupyterlab', {arguments!r}, {sys.executable!r})"
    settings: dict[str, Any] = {f"JUPYTER_{part}_DIR": str(tmp_path / part) for part in ("CONFIG", "RUNTIME")}
    with subprocess.Popen(
        [sys.executable, "-c", start],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        try:
            assert server.stderr
            found = (
                re.search(r"(http://127\.0\.0\.1:\d+)(/\S+)\?(token=\w+)", line) for line in server.stderr
            )
            address = next(filter(None, found))
            assert address[2] == "/lab/tree/00-index.ipynb"
            assert b"jupyter-config-data" in fetched(address[0], server)
            kernel = urllib.request.Request(f"{address[1]}/api/kernels?{address[3]}", b"{}", method="POST")
            urllib.request.urlopen(kernel).close()
            processes = psutil.Process(server.pid).children(recursive=True)
            assert processes
            server.send_signal(told)
            server.communicate(timeout=60)
            assert psutil.wait_procs(processes, timeout=60)[1] == []
        finally:
            server.kill()  # nothing happens where it has ended
    assert server.returncode == 0
