"""Settings of the whole test run, the notebooks of chapters/ among it."""

import os
from pathlib import Path
from typing import Any

import nbval.kernel
import pytest

from tools.notebooks.kernels import KERNEL_ENVIRONMENT, ThisPython

# Before anything loads torch, and before nbval starts a kernel.
os.environ.update(KERNEL_ENVIRONMENT)
Path(KERNEL_ENVIRONMENT["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)

# The one place that knows how nbval works inside: where it asks which kernel to start.
nbval.kernel.NbvalKernelspecManager = ThisPython


# ---- the order of the tests: what takes long starts first, or the last process works on alone


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order files by how long they may take: a test in a browser some seconds, a notebook one to start."""
    weights: dict[Path, float] = {}
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        weight = 2 if "browser" in fixtures else 0.1 if item.path.suffix == ".ipynb" else 0.02
        weights[item.path] = weights.get(item.path, 1 if item.path.suffix == ".ipynb" else 0) + weight
    items.sort(key=lambda item: -weights[item.path])  # stable: within a file nothing moves


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile`, give out the pages of the site one by one: no process has to do them all."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if "::test_page[" in nodeid else super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # xdist's order: by the number of tests
    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None
