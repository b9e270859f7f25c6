"""How the tests themselves run: which, in what order, and that they end (conftest.py at the root)."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from making import ROOT

# ---- the order


class Item(SimpleNamespace):
    """What conftest.py asks of a test."""

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks[mark.name] = mark.mark

    def get_closest_marker(self, name: str) -> Any:
        return self.marks.get(name)


def item(nodeid: str, *fixtures: str, **marks: pytest.MarkDecorator) -> Item:
    return Item(
        nodeid=nodeid,
        path=Path(nodeid.partition("::")[0]),
        fixturenames=fixtures,
        marks={name: mark.mark for name, mark in marks.items()},
    )


@pytest.fixture
def conftest(pytestconfig: pytest.Config) -> Any:
    """The module conftest.py of the root."""
    plugins = pytestconfig.pluginmanager.get_plugins()
    return next(one for one in plugins if getattr(one, "__file__", None) == str(ROOT / "conftest.py"))


@pytest.fixture
def arranged(conftest: Any) -> Callable[..., tuple[list[str], list[str]]]:
    """Hand items to conftest.py; return the ids of those that run, in their order, and of those left out."""

    def arrange(items: list[Item], everything: bool, engines: bool = False) -> tuple[list[str], list[str]]:
        left_out: list[Item] = []
        hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))  # noqa: PLW0108  called by name
        config = SimpleNamespace(option=SimpleNamespace(all=everything, engines=engines), hook=hook)
        conftest.pytest_collection_modifyitems(config, items)
        return [one.nodeid for one in items], [one.nodeid for one in left_out]

    return arrange


def suite() -> list[Item]:
    group = pytest.mark.xdist_group("printed")
    return [
        item("tests/test_quick.py::test_a"),
        item("chapters/en/short.ipynb::Cell 0"),
        *(item(f"chapters/en/long.ipynb::Cell {number}") for number in range(20)),
        item("tests/test_pages.py::test_page", "browser"),
        item("tests/test_printed.py::test_first", slow=pytest.mark.slow, xdist_group=group),
        item("tests/test_ported.py::test_slow", slow=pytest.mark.slow),
        item("tests/test_printed.py::test_second", slow=pytest.mark.slow, xdist_group=group),
    ]


def test_what_takes_long_starts_first_and_a_notebook_stays_together(arranged: Any) -> None:
    """A group counts with all its tests; the cells of a notebook keep their order."""
    items = suite()
    order, left_out = arranged(items, everything=True)
    assert left_out == []
    long = [f"chapters/en/long.ipynb::Cell {number}" for number in range(20)]
    assert order == [
        *("tests/test_printed.py::test_first", "tests/test_printed.py::test_second"),
        "tests/test_ported.py::test_slow",
        *long,
        "tests/test_pages.py::test_page",
        "chapters/en/short.ipynb::Cell 0",
        "tests/test_quick.py::test_a",
    ]
    groups = {one.get_closest_marker("xdist_group").args[0] for one in items if one.nodeid in long}
    assert groups == {"chapters/en/long.ipynb"}


def test_what_is_slow_waits_for_all(arranged: Any) -> None:
    order, left_out = arranged(suite(), everything=False)
    assert sorted(left_out) == [
        "tests/test_ported.py::test_slow",
        "tests/test_printed.py::test_first",
        "tests/test_printed.py::test_second",
    ]
    assert len(order) == len(suite()) - 3 and not {*order} & {*left_out}


def test_scenes_in_other_engines_run_by_themselves(conftest: Any, arranged: Any) -> None:
    scene = item("tests/test_engines.py::test_x[firefox-esr]", engines=pytest.mark.engines)
    other = item("tests/test_quick.py::test_a")
    assert arranged([scene, other], everything=True)[0] == [other.nodeid]
    assert arranged([scene], everything=False, engines=True)[0] == [scene.nodeid]
    option = SimpleNamespace(all=False, keyword="", markexpr="", engines=True)
    config = SimpleNamespace(
        args_source=pytest.Config.ArgsSource.TESTPATHS, option=option, args=["tests", "d2lmini"]
    )
    conftest.pytest_configure(config)
    assert config.args == ["tests/test_engines.py"]
    skipped = SimpleNamespace(
        skipped=True, keywords={"engines": 1}, longrepr=("", 0, "Skipped: x is not installed")
    )
    assert conftest.pytest_report_teststatus(skipped)[0] == "x is not installed"


@pytest.mark.parametrize(
    ("command", "everything"),
    [
        ([], False),
        (["-q"], False),
        (["--all"], True),
        (["-k", "x"], True),
        (["-m", "x"], True),
        (["tests"], True),
    ],
)
def test_all_runs_if_asked_for_or_if_anything_is_named(
    conftest: Any, command: list[str], everything: bool
) -> None:
    source = pytest.Config.ArgsSource.ARGS if command == ["tests"] else pytest.Config.ArgsSource.TESTPATHS
    keyword, expression = ("x" if name in command else "" for name in ("-k", "-m"))
    option = SimpleNamespace(all="--all" in command, keyword=keyword, markexpr=expression, engines=False)
    config = SimpleNamespace(args_source=source, option=option)
    conftest.pytest_configure(config)
    assert config.option.all is everything
    assert bool(conftest.pytest_report_header(config)) is not everything


# ---- a run of its own

TESTS = """
import signal, threading, time, pytest

def test_an_interruption_arrives():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        time.sleep(5)

@pytest.mark.timeout(0.1)
def test_nothing_waits_for_ever():
    threading.Event().wait()

@pytest.mark.slow
def test_named_by_its_path():
    pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, no signal is inherited")
def test_it_ends_where_ctrl_c_is_ignored(tmp_path: Path) -> None:
    """As under `nohup`, or after `&` in a script."""

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    (tmp_path / "test_three.py").write_text(TESTS)
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *settings, "-p", "conftest", "-n", "1", str(tmp_path)]
    told = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=ignore
    ).stdout
    assert "Timeout (>0.1s)" in told
    assert "1 failed, 2 passed" in told, told
