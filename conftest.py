"""Settings of the whole test run, the notebooks of chapters/ among it: what runs, and in which order."""

import os
import signal
from collections import Counter
from pathlib import Path

import nbval.kernel
import pytest

from tools.notebooks.kernels import KERNEL_ENVIRONMENT, ThisPython

# Started by `nohup` or with `&` in a script, a process ignores SIGINT, and so do its children: nothing that a
# test interrupts would ever end.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Before anything loads torch, and before nbval starts a kernel.
os.environ.update(KERNEL_ENVIRONMENT)
# Pages are tested as they are published, whatever remote this checkout has.
os.environ["D2LMINI_REPOSITORY"] = "https://github.com/account/d2lmini"
Path(KERNEL_ENVIRONMENT["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)

# The one place that knows how nbval works inside: where it asks which kernel to start.
nbval.kernel.NbvalKernelspecManager = ThisPython


# ---- what runs


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--all` and `--engines`."""
    parser.addoption("--all", action="store_true", help="run the tests marked slow, too")
    parser.addoption("--engines", action="store_true", help="only the scenes in Firefox and WebKit")


def pytest_configure(config: pytest.Config) -> None:
    """Let whatever the command line names, by a path, -k or -m, run even if it is slow."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    config.option.all |= bool(named or config.option.keyword or config.option.markexpr)
    if config.option.engines:
        config.args[:] = ["tests/test_engines.py"]


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Name in the last line which engine is not installed."""
    if report.skipped and "engines" in report.keywords and isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: "), "s", "SKIPPED"
    return None


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that something is left out."""
    return None if config.option.all else "slow tests: left out; --all runs them, too"


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose, group and order the items."""
    if not config.option.engines:
        items[:] = [item for item in items if not item.get_closest_marker("engines")]
    if not config.option.all:
        config.hook.pytest_deselected(items=[item for item in items if _is_slow(item)])
        items[:] = [item for item in items if not _is_slow(item)]
    for item in items:
        if item.path.suffix == ".ipynb":  # its cells depend on each other: they stay in one worker
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    seconds: Counter[str] = Counter()
    for item in items:
        seconds[_unit(item)] += _seconds(item)
    # what takes long starts first, or the last worker goes on alone; within a unit nothing moves
    items.sort(key=lambda item: -seconds[_unit(item)])


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def _unit(item: pytest.Item) -> str:
    """Return the name of what xdist gives to a worker as a whole: a group, or a single test."""
    group = item.get_closest_marker("xdist_group")
    return str(group.args[0]) if group else item.nodeid


def _seconds(item: pytest.Item) -> float:
    """Return how long an item takes, very roughly."""
    if _is_slow(item):
        return 20
    if item.path.suffix == ".ipynb":  # a cell
        return 0.3
    return 2 if "browser" in getattr(item, "fixturenames", ()) else 0.02
