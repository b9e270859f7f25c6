"""Run notebooks as a reader of Colab does: `python -m tools.notebooks.execute --colab [NAME …]`.

Each runs in an empty folder, in an environment that has Colab's versions (tests/colab.txt) but no d2lmini.
Its first cell installs that with the very line that readers run; only git takes the course's address for a
copy of this working tree. Within Colab's own container the packages are those of the system.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterable
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

from book.chapters import ROOT, CourseError, read, shown, source
from tools.notebooks.execute import compared, execute
from tools.notebooks.stamp import INSTALLED, address_and_version

VERSIONS = ROOT / "tests" / "colab.txt"
ENVIRONMENT = ROOT / "_build" / "colab"


class Python(KernelSpecManager):
    """The kernel of one environment."""

    def __init__(self, python: Path) -> None:
        super().__init__()
        self.python = python

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the specification of a kernel in that environment, whatever the name."""
        argv = [str(self.python), "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
        argv += ["-f", "{connection_file}", "--log-level=ERROR"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python")


def publish(folder: Path) -> dict[str, str]:
    """Make a repository of this working tree, tagged with the version; return what lets git find it.

    Git replaces the address from which readers install by this folder, and nothing else changes for them.
    """
    address, version = address_and_version()
    git = [
        "git",
        "-c",
        "core.autocrlf=false",
        "-c",
        "user.name=d2lmini",
        "-c",
        "user.email=d2lmini@localhost",
    ]
    git += [f"--git-dir={folder}", f"--work-tree={ROOT}"]
    commit = ["commit", "--quiet", "--no-gpg-sign", "--no-verify", "-m", version]
    try:
        for step in (["init", "--quiet"], ["add", "--all"], commit, ["tag", f"v{version}"]):
            subprocess.run([*git, *step], cwd=ROOT, check=True)
    except FileNotFoundError:
        raise CourseError(
            "--colab: there is no git here, with which the first cell installs d2lmini"
        ) from None
    rewriting = {"GIT_CONFIG_KEY_0": f"url.{folder.as_uri()}.insteadOf", "GIT_CONFIG_VALUE_0": address}
    return {"GIT_CONFIG_COUNT": "1", **rewriting}


def environment() -> Path:
    """Return the Python of an environment with Colab's packages and no d2lmini; the first call makes it."""
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = ENVIRONMENT / "colab.txt"
    if not stamp.exists() or stamp.read_bytes() != VERSIONS.read_bytes():
        in_colab = sys.prefix == sys.base_prefix  # else a virtual environment runs this
        venv.create(
            ENVIRONMENT, clear=True, with_pip=True, symlinks=os.name != "nt", system_site_packages=in_colab
        )
        if not in_colab:
            _pip(python, "install", "--progress-bar=off", "-r", str(VERSIONS))
        shutil.copy(VERSIONS, stamp)
    _pip(python, "uninstall", "--yes", "d2lmini")
    return python


def _pip(python: Path, *arguments: str) -> None:
    done = subprocess.run(
        [str(python), "-m", "pip", "--quiet", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CourseError(f"--colab: pip {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")


def run(path: Path, work: Path, git: dict[str, str], **settings: str) -> tuple[float, list[str]]:
    """Run a notebook as a reader of Colab does.

    Args:
        path: the notebook, which stays as it is.
        work: an empty folder.
        git: where the course is found, from `publish`.
        **settings: more variables of the environment, such as pip's.

    Returns:
        the seconds that its first code cell took, and what is wrong.
    """
    stored, report, home = read(path), work / "report.json", work / "content"
    home.mkdir()
    # a path to this checkout is nothing that a reader has
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= git | {"PIP_REPORT": str(report), "PIP_DISABLE_PIP_VERSION_CHECK": "1"} | settings
    began: list[float] = []
    first = next(number for number, cell in enumerate(stored["cells"]) if INSTALLED.search(source(cell)))

    def progress(number: int, cell_id: str) -> None:
        if number >= first:
            began.append(time.monotonic())

    try:
        specs = Python(environment())
        done = asyncio.run(execute(home / path.name, stored, progress, specs, variables))
    except CourseError as error:
        return 0.0, [f"{shown(path)}: {error}"]
    seconds = (began[1] if len(began) > 1 else time.monotonic()) - began[0]
    if not report.exists():
        return seconds, [f"{shown(path)}: its first cell installed nothing: this Python has a d2lmini"]
    installed = [one["metadata"]["name"] for one in json.loads(report.read_text(encoding="utf-8"))["install"]]
    wrong = compared(path, stored["cells"][first + 1 :], done["cells"][first + 1 :], "in Colab")
    if installed != ["d2lmini"]:
        named = ", ".join(installed)
        wrong.append(f"{shown(path)}: its first cell installs {named}; it should be d2lmini alone")
    return seconds, wrong


def check(paths: Iterable[Path]) -> bool:
    """Run notebooks one after the other and tell of each; say whether anything is wrong."""
    failed = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        git = publish(Path(folder) / "published")
        for number, path in enumerate(paths):
            if not any(INSTALLED.search(source(cell)) for cell in read(path)["cells"]):
                continue  # a page without code
            work = Path(folder) / str(number)
            work.mkdir()
            seconds, wrong = run(path, work, git)
            print(
                f"{shown(path)}: first cell {seconds:.1f} s, {'FAILED' if wrong else 'as stored'}", flush=True
            )
            print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
            failed |= bool(wrong)
    return failed
