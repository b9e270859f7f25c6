"""The requirements at the ends of what is promised: `python -m tools.versions lowest FILE`, or `newest`.

requirements.txt names the versions that everything is tested with. The package promises to work from the
lowest ones in pyproject.toml, and readers' machines, Colab's among them, move on by themselves. The workflows
install either end.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
# what the course cannot follow: the newest below this version
BELOW = {"jupyter-book": "2"}  # 2.x reads no _config.yml


def lowest(pins: str, promises: list[str]) -> str:
    """Return requirements with what is promised (``name>=version``) at its lowest version."""
    low = dict(promise.split(">=") for promise in promises)
    return PIN.sub(lambda pin: f"{pin[1]}=={low.get(pin[1], pin[2])}", pins)


def newest(pins: str) -> str:
    """Return requirements that may be newer, but not older: pip takes the newest that go together."""
    return PIN.sub(
        lambda pin: f"{pin[1]}>={pin[2]}" + (f",<{BELOW[pin[1]]}" if pin[1] in BELOW else ""), pins
    )


def main(arguments: list[str] | None = None) -> int:
    """Write one of the two to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.versions", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("which", choices=("lowest", "newest"))
    parser.add_argument("file", type=Path)
    options = parser.parse_args(arguments)
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    made = lowest(pins, project["dependencies"]) if options.which == "lowest" else newest(pins)
    options.file.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
