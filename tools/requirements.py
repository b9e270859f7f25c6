"""Lock what reading installs, each file by its hash: `python3 course.py lock`.

book/requirements.txt names what the website needs, requirements.txt its versions. What these need in turn is
found here, for every Python and system that the course runs on. It keeps its versions until `--upgrade`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib

from book.chapters import ROOT

LOCK = "book/requirements.lock"


def main(arguments: list[str] | None = None) -> int:
    """Write the lock anew; one that cannot be made leaves the old one as it is."""
    parser = argparse.ArgumentParser(prog="course.py lock", description="Lock what reading installs.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that are allowed")
    options = parser.parse_args(arguments)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    aside = ROOT / f"{LOCK}.new"
    shutil.copy(ROOT / LOCK, aside)  # uv keeps the versions that it finds there
    command = [sys.executable, "-m", "uv", "--quiet", "pip", "compile", "book/requirements.txt"]
    command += ["--constraints", "requirements.txt", "--no-emit-index-url"]
    command += ["--universal", "--generate-hashes"]
    command += ["--python-version", project["requires-python"].removeprefix(">=")]
    command += ["--custom-compile-command", "python3 course.py lock", "--output-file", str(aside)]
    command += ["--upgrade"] * options.upgrade
    try:
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        if code == 0:
            os.replace(aside, ROOT / LOCK)
    finally:
        aside.unlink(missing_ok=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
