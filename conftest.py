"""Settings of the whole test run, the notebooks of chapters/ among it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from book.notebooks import KERNEL_ENVIRONMENT
from course import find_browser

# Before anything loads torch, and before nbval starts a kernel.
os.environ.update(KERNEL_ENVIRONMENT)
Path(KERNEL_ENVIRONMENT["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """An installed Chrome or Chromium, else Playwright's own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=find_browser())
        yield running
        running.close()
