"""What several tests share: the finished site, a small book of tricky pages, a server for each, a browser."""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from book import site as site_builder
from book.serve import server

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"
# quiet: no updates, no sync, no traffic that the pages did not ask for
CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    running = server(folder, 0)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


def cell(kind: str, name: str, source: str, outputs: list[dict] | None = None, **metadata: object) -> dict:
    made: dict = {"cell_type": kind, "id": name, "metadata": metadata, "source": source}
    return made if kind == "markdown" else {**made, "execution_count": None, "outputs": outputs or []}


def write_notebook(path: Path, cells: list[dict]) -> None:
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}),
        encoding="utf-8",
    )


def make_book(root: Path, pages: dict[str, dict[str, list[dict]]]) -> Path:
    """Write a book: language → page name → cells, with the project's own configuration."""
    shutil.copy(ROOT / "_config.yml", root)
    names = [name for name in pages["en"] if name != "index"]
    toc = ["format: jb-book", "root: chapters/en/index"]
    if names:
        toc += ["parts:", "  - caption: Chapters", "    chapters:"]
        toc += [f"      - file: chapters/en/{name}" for name in names]
    (root / "_toc.yml").write_text("\n".join(toc) + "\n", encoding="utf-8")
    for language, chapters in pages.items():
        for name, cells in chapters.items():
            write_notebook(root / "chapters" / language / f"{name}.ipynb", cells)
    return root


@pytest.fixture(scope="session")
def site() -> Path:
    """The course itself, built once however many workers wait for it."""
    work = ROOT / "_build"
    work.mkdir(exist_ok=True)
    with FileLock(work / "tests.lock"):
        return site_builder.build()


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of two pages that hold every feature of the site once, in three languages."""
    from small_book import PAGES

    shared = tmp_path_factory.getbasetemp()
    if shared.name.startswith("popen-gw"):  # xdist: the folder above is common to the workers
        shared = shared.parent
    root = shared / "small-book"
    with FileLock(shared / "small-book.lock"):
        if not root.exists():
            root.mkdir()
            make_book(root, PAGES)
        return site_builder.build(root)


@pytest.fixture(scope="session")
def small_address(small_site: Path) -> Iterator[str]:
    with served(small_site) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    sync_api = pytest.importorskip("playwright.sync_api")
    installed = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
    )
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=installed, args=CHROMIUM)
        yield chromium
        chromium.close()
