"""Write where the course is published into what installs it: `course.py notebooks --stamp`.

In the course itself a first cell takes the package that lies beside it and names no address. A stamped one
installs the package from the address, at the tag or commit, that are published: `pages.yml` and
`release.yml` stamp what they publish; nothing of it is committed to the branch that people work on.
"""

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from book import address
from book.chapters import ROOT, CourseError, Notebook, find, lines, read, shown, source, store, write
from d2lmini.language import words

# the part of a first cell that is written here, up to the imports of the page
FIRST = re.compile(
    r"\A#.*\n(?:import sys\n\nsys\.path\.append\(.*"  # as in the course
    r"|import importlib\.util\n\nif .*(?:\n    .*)+)\n"  # stamped
)
INSTALLED = re.compile(r'(?<="d2lmini @ git\+)[^"\s]+(?=")')
BESIDE = """# {comment}
import sys

sys.path.append("../..")
"""
INSTALLS = """# {comment}
import importlib.util

if importlib.util.find_spec("d2lmini") is None:
    %pip install -q "d2lmini @ git+{address}@{ref}"
"""
STATED = {
    "CITATION.cff": {
        r"(?m)^version: .*\n(?:repository-code: .*\n)?": "version: {version}\nrepository-code: {address}\n"
    },
    "d2lmini/__init__.py": {r'(?m)^__version__ = ".*"$': '__version__ = "{version}"'},
}


def version(root: Path = ROOT) -> str:
    """Return the version that pyproject.toml states."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def home_and_ref(root: Path = ROOT) -> tuple[str, str]:
    """Return the address that readers install from, and the tag or commit.

    Raises:
        CourseError: no address is known.
    """
    if home := address.repository(root):
        return home, address.published()[1] or f"v{version(root)}"
    raise CourseError(
        "no address to install from: give this checkout a remote with https or ssh, "
        "or set D2LMINI_REPOSITORY to where the course is published"
    )


def first_cells(notebook: Notebook, language: str, address: str = "", ref: str = "") -> bool:
    """Bring the cells that find or install d2lmini up to date, in place; say whether any changed.

    Args:
        notebook: its content.
        language: of its edition.
        address: where the course is published; nothing: the cell takes the package beside it.
        ref: the tag or commit to install.
    """
    changed, said = False, words(language)["first_cell"]
    new = INSTALLS.format(comment=said["installs"], address=address, ref=ref)
    if not address:
        new = BESIDE.format(comment=said["beside"])
    for cell in notebook["cells"]:
        text = source(cell)
        if cell["cell_type"] == "code" and FIRST.search(text):
            cell["source"] = lines(FIRST.sub(lambda _: new, text))
            changed |= source(cell) != text
    return changed


def stamp(notebooks: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """Bring these notebooks, and the files that state address or version, up to date; return what changed.

    Raises:
        CourseError: no address is known that readers could install from.
    """
    home, ref = home_and_ref(root)
    changed = []
    for path in notebooks:
        if first_cells(notebook := read(path), path.parent.name, home, ref):
            write(path, notebook)
            changed.append(path)
    for name, rules in STATED.items():
        path = root / name
        new = path.read_text(encoding="utf-8")
        for pattern, stated in rules.items():
            new = re.sub(pattern, stated.format(address=home, version=version(root)), new)
        if store(path, new.encode()):
            changed.append(path)
    return changed


def main(notebooks: Iterable[Path] | None = None, root: Path = ROOT) -> int:
    """Stamp these notebooks, or all, and tell of each that changed; return the exit code."""
    try:
        for path in stamp(find(root=root) if notebooks is None else notebooks, root):
            print(f"{shown(path, root)}: brought up to date")
        print("Readers install {}@{}: that commit or tag must be there.".format(*home_and_ref(root)))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
