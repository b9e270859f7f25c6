"""Write the course's address and version wherever they are stated: `course.py notebooks --stamp`.

The address is `repository.url` of _config.yml, the version that of pyproject.toml. The website takes both
from there itself; the first cells of the notebooks, CITATION.cff and the package have to be told.
"""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import yaml

from book.chapters import ROOT, CourseError, Notebook, lines, read, source, store, write
from d2lmini.language import words

INSTALLED = re.compile(r'(?<="d2lmini @ git\+)[^"\s]+(?=")')
COMMENT = re.compile(r"\A#.*\n(?=import importlib\.util\n)")  # what the first cell says of itself
STATED = {
    "CITATION.cff": {
        r"(?m)^version: .*$": "version: {version}",
        r"(?m)^repository-code: .*$": "repository-code: {address}",
    },
    "d2lmini/__init__.py": {r'(?m)^__version__ = ".*"$': '__version__ = "{version}"'},
}


def address_and_version(root: Path = ROOT) -> tuple[str, str]:
    """Return where the course is published, and its version."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    address = config.get("repository", {}).get("url")
    if not address:
        raise CourseError("_config.yml: no repository.url, from which the notebooks install d2lmini")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return address.rstrip("/"), project["version"]


def first_cells(notebook: Notebook, language: str, address: str, version: str) -> bool:
    """Bring the cells that install d2lmini up to date, in place; say whether any changed."""
    changed, comment = False, f"# {words(language)['first_cell']['installs']}\n"
    for cell in notebook["cells"]:
        text = source(cell)
        if cell["cell_type"] == "code" and INSTALLED.search(text):
            cell["source"] = lines(INSTALLED.sub(f"{address}@v{version}", COMMENT.sub(comment, text)))
            changed |= source(cell) != text
    return changed


def stamp(notebooks: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """Bring these notebooks, and the files that state address or version, up to date; return what changed."""
    address, version = address_and_version(root)
    changed = []
    for path in notebooks:
        if first_cells(notebook := read(path), path.parent.name, address, version):
            write(path, notebook)
            changed.append(path)
    for name, rules in STATED.items():
        path = root / name
        new = path.read_text(encoding="utf-8")
        for pattern, stated in rules.items():
            new = re.sub(pattern, stated.format(address=address, version=version), new)
        if store(path, new.encode()):
            changed.append(path)
    return changed
