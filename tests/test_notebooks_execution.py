"""tools.notebooks.execute: what it stores, and what the tests then accept."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from book.chapters import ROOT, CourseError, Notebook, find, path_of, read, write
from tools.notebooks import execute as notebooks


def notebook(*cells: tuple[str, str], tags: tuple[str, ...] = ()) -> Notebook:
    """A notebook of code cells, (id, code) each; the tags go to the last."""
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": name,
            "metadata": {},
            "outputs": [],
            "source": [code],
        }
        for name, code in cells
    ]
    if tags:
        made[-1]["metadata"] = {"tags": list(tags)}
    return {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with an empty English folder."""
    (tmp_path / "chapters" / "en").mkdir(parents=True)
    return tmp_path


def main(arguments: list[str], course: Path) -> int:
    """Run the command in a thread of its own: the browser tests leave an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(notebooks.main, arguments, course).result()


def add(course: Path, name: str, content: Notebook) -> Path:
    path = path_of("en", name, course)
    write(path, content)
    return path


SLIDER = "import ipywidgets; ipywidgets.IntSlider(3)"
SETS = "import time; print('one', flush=True); time.sleep(0.3); print({*'abcdefgh'})"
CLOCK = "import time; print(time.time())"


def test_second_run_stores_the_same_bytes(course: Path) -> None:
    path = add(
        course,
        "one",
        notebook(("sets", SETS), ("slider", SLIDER), ("clock", CLOCK), tags=(notebooks.VARIES,)),
    )
    assert main([], course) == 0
    first = path.read_bytes()
    assert main(["one"], course) == 0
    assert path.read_bytes() == first

    stored = json.loads(first)
    sets, slider, clock = stored["cells"]
    assert stored["metadata"] == notebooks.METADATA
    assert len(sets["outputs"]) == 1  # printed in two pieces, stored as one
    assert len(sets["outputs"][0]["text"]) == 2
    assert list(slider["outputs"][0]["data"]) == ["text/plain"]  # no view of a widget that will be gone
    assert "execution" not in clock["metadata"]
    assert clock["outputs"][0]["text"]
    assert first.endswith(b"}\n") and b"\r" not in first
    assert [other.name for other in path.parent.iterdir()] == ["one.ipynb"]


def test_an_output_that_varies_is_renewed_with_the_code_before_it(course: Path) -> None:
    """A model of the reader's own, trained in another cell: nbval would not notice."""
    cells = ("setup", "import random"), ("seed", "seed = 1"), ("drawn", "print(seed, random.random())")
    path = add(course, "one", notebook(*cells, tags=(notebooks.VARIES,)))
    assert main([], course) == 0
    edited = read(path)
    edited["cells"][1]["source"] = ["seed = 2"]
    write(path, edited)
    printed = []
    for _ in range(2):
        assert main([], course) == 0
        printed += read(path)["cells"][2]["outputs"][0]["text"]
    assert printed[0].startswith("2 ")
    assert printed[0] == printed[1]


def test_failing_cell_is_named_and_nothing_is_written(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = {
        "raises": ("1 / 0", "raises.ipynb#last: ZeroDivisionError: division by zero"),
        "warns": ("import sys; print('oh', file=sys.stderr)", "warns.ipynb#last: writes to stderr:\noh"),
        "dies": ("import os; os._exit(1)", "dies.ipynb#last: the kernel died here"),
    }
    before = {}
    for name, (code, _) in failing.items():
        path = add(course, name, notebook(("first", "print(1)"), ("last", code)))
        before[path] = path.read_bytes()
    assert main([], course) == 1
    told = capsys.readouterr().err
    for _, message in failing.values():
        assert message in told
    assert {path: path.read_bytes() for path in before} == before


def test_unknown_name_says_which_is_near(course: Path) -> None:
    add(course, "self-attention", notebook())
    with pytest.raises(CourseError, match="did you mean self-attention"):
        find(["self-atention"], root=course)


def test_course_without_chapters_has_nothing_to_execute(tmp_path: Path) -> None:
    assert main([], tmp_path) == 0


DRAWING = """
from IPython.display import SVG, display
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><g/>{}</svg>"))
"""


def test_nbval_compares_what_is_printed_and_skips_drawings(course: Path) -> None:
    """The settings of pyproject.toml, on a notebook whose drawing changed and one whose number did."""
    for name, cell, later in (("drawing", DRAWING, "<g/>"), ("number", "print('a{}')", "b")):
        path = add(course, name, notebook(("only", cell.format(""))))
        assert main([name], course) == 0
        stored = read(path)
        stored["cells"][0]["source"] = [cell.format(later)]
        write(path, stored)
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-q"]
    options += ["-p", "conftest"]  # the settings that apply to the notebooks of the course
    command = [sys.executable, "-m", "pytest", *options, str(course / "chapters")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in result.stdout, result.stdout
    assert "FAILED en/number.ipynb" in result.stdout
