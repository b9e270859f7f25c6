"""Run notebooks as a reader of Colab does: `python -m tools.portability.colab [NAME …]`.

Each runs in an empty folder, in an environment with Colab's versions (tests/colab.txt) and no d2lmini, or in
Colab's own image. The line of the first cell that installs d2lmini takes the last commit of this checkout.
"""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from book.chapters import ROOT, CourseError, find, read, shown, source
from tools.notebooks.execute import execute
from tools.notebooks.stamp import first_cells
from tools.portability.compare import compared

REQUIREMENTS = ROOT / "tests" / "colab.txt"
ENVIRONMENT = ROOT / "_build" / "colab"
# pip takes no git+file:///…, so git is told that this checkout is there
PUBLISHED = "https://course.test/d2lmini"


def environment() -> Path:
    """Return the Python with Colab's versions; its environment is made when tests/colab.txt is new."""
    if importlib.util.find_spec("google") and importlib.util.find_spec("google.colab"):
        return Path(sys.executable)
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, wanted = ENVIRONMENT / "requirements.txt", REQUIREMENTS.read_text(encoding="utf-8")
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def run(path: Path, python: Path, folder: Path, **settings: str) -> list[str]:
    """Run a notebook in an empty folder; return what is wrong. `settings`: more environment variables."""
    stored, notebook, report = read(path), read(path), folder.parent / f"{folder.name}.json"
    head = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip()
    first_cells(notebook, path.parent.name, PUBLISHED, head)
    cells = notebook["cells"]
    subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "d2lmini"], check=True)
    # a path to this checkout is nothing that a reader has
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"PIP_REPORT": str(report), "PIP_DISABLE_PIP_VERSION_CHECK": "1"} | settings
    variables |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{ROOT.as_uri()}.insteadOf"}
    variables |= {"GIT_CONFIG_VALUE_0": PUBLISHED}
    try:
        done = asyncio.run(execute(folder / path.name, notebook, str(python), variables))
    except CourseError as error:
        return [f"{shown(path)}: {error}"]
    if not report.exists():
        return [f"{shown(path)}: its first cell installed nothing: this Python has a d2lmini"]
    packages = json.loads(report.read_text(encoding="utf-8"))["install"]
    names = ", ".join(package["metadata"]["name"] for package in packages)
    if names != "d2lmini":
        return [f"{shown(path)}: its first cell installs {names}; it should be d2lmini alone"]
    after = next(i for i, cell in enumerate(cells, 1) if PUBLISHED in source(cell))
    return compared(path, stored["cells"][after:], done["cells"][after:], "in Colab")


def main(names: list[str]) -> int:
    """Run notebooks one after the other and tell of each; return 1 if anything is wrong."""
    python, failed = environment(), False
    for path in find(names):
        if any(cell["cell_type"] == "code" for cell in read(path)["cells"]):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                (Path(folder) / "content").mkdir()
                wrong = run(path, python, Path(folder) / "content")
            print(f"{shown(path)}: {'FAILED' if wrong else 'as stored'}", *wrong, sep="\n", flush=True)
            failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
