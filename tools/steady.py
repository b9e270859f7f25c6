"""Do the notebooks print the same again and again? `python -m tools.steady [NAME …] [--times 20]`.

Each time nbval runs them as the tests do, and yet otherwise: in another order, with one thread or two, in
another place and language, from a folder whose name has spaces and Chinese letters, while something else
keeps every core busy. The checkout itself is left as it is.

This file is also a plugin of the pytest that it starts, which gives the order and the threads.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from book.chapters import LANGUAGES, ROOT, CourseError, Notebook, find, read, shown
from tools.kernels import KERNEL_ENVIRONMENT

COPIED = ("book", "d2lmini", "tools", "conftest.py", "pyproject.toml", "tests/nbval.cfg")
LOCALES = ("C", "zh_CN.UTF-8")
ZONES = ("UTC", "Asia/Ho_Chi_Minh", "America/St_Johns", "Pacific/Kiritimati")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.ipynb)(?:::Cell (\d+))?", re.MULTILINE)
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**6))"
ORDER = "D2LMINI_STEADY_ORDER"  # seeds the order of the notebooks
THREADS = "D2LMINI_STEADY_THREADS"


# ---- the plugin


def pytest_configure() -> None:
    """Let kernels compute with this many threads: conftest.py has fixed one, for whoever does not ask."""
    KERNEL_ENVIRONMENT["OMP_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ[THREADS]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the notebooks in an order of this time's own; the cells of each stay in theirs."""
    paths = sorted({item.path for item in items})
    random.Random(os.environ[ORDER]).shuffle(paths)
    items.sort(key=lambda item: paths.index(item.path))


# ---- the command


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.steady", description="Run notebooks again and again; name cells that differ."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a chapter; without: all")
    parser.add_argument("--times", type=int, default=20, help="how often (20)")
    parser.add_argument("--lang", choices=LANGUAGES, help="this edition only")
    options = parser.parse_args(arguments)
    if options.times < 1:
        parser.error(f"--times {options.times}: choose 1 or more")
    try:
        paths = find(options.names, [options.lang] if options.lang else LANGUAGES, root)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    failures: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="d2lmini 一 二 ") as folder, load():
        copy = Path(folder) / "the course 课程"
        make_copy(root, copy)
        for number in range(options.times):
            way = ways(number)
            began = time.monotonic()
            failed = run([path.relative_to(root) for path in paths], copy, number, way)
            told = ", ".join(f"{key} {value}" for key, value in way.items())
            seconds = time.monotonic() - began
            outcome = f"{len(failed)} failed" if failed else "the same"
            print(f"{number + 1}/{options.times}  {outcome} in {seconds:.0f} s  ({told})", flush=True)
            for cell in failed:
                failures.setdefault(cell, []).append(told)
    print(f"\n{len(paths)} notebooks, {options.times} times: {len(failures)} cells printed something else")
    for cell, times in sorted(failures.items()):
        print(f"{cell}: {len(times)} of {options.times} times")
        for told, often in Counter(times).most_common():
            print(f"  {often}: {told}")
    return int(bool(failures))


def ways(number: int) -> dict[str, str]:
    """Return what is special this time; over four times each of the threads meets each of the locales."""
    return {
        "threads": str(1 + number % 2),
        "LC_ALL": LOCALES[number // 2 % len(LOCALES)],
        "TZ": ZONES[number % len(ZONES)],
    }


def make_copy(root: Path, copy: Path) -> None:
    """Copy what the notebooks need: those of `root`, and this checkout's code."""
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "chapters", copy / "chapters", ignore=without)
    for name in COPIED:
        (copy / name).parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=without)
        else:
            shutil.copy(ROOT / name, copy / name)


def run(paths: list[Path], copy: Path, number: int, way: dict[str, str]) -> list[str]:
    """Run the notebooks once; return the cells that failed, each with its notebook.

    Raises:
        SystemExit: pytest could not run them at all.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LC_")}
    places = {"PYTHONPATH": str(copy), "LANG": way["LC_ALL"], "LC_ALL": way["LC_ALL"], "TZ": way["TZ"]}
    options = ["-q", "-rfE", "-p", "tools.steady", "-p", "no:cacheprovider", "--tb=no", "--color=no"]
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "pytest", *options, *map(str, paths)],
        cwd=copy,
        env={**kept, **places, ORDER: str(number), THREADS: way["threads"]},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(f"pytest did not run the notebooks:\n{done.stdout}{done.stderr}")
    failed = [named(copy / path, cell, copy) for path, cell in FAILED.findall(done.stdout)]
    return failed or (["?"] if done.returncode else [])


def named(path: Path, number: str, copy: Path) -> str:
    """Return a cell as the course names it, by its id, where nbval counts the code cells."""
    notebook: Notebook = read(path)
    cells = [cell["id"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return f"{shown(path, copy)}#{cells[int(number)]}" if number else shown(path, copy)


@contextmanager
def load() -> Iterator[None]:
    """Keep every core busy with something else while the block runs; it ends with this process, too."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
