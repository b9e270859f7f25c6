"""What the site is made of. A page is made anew when its notebook changes, everything with anything else."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from book import address, licenses

ROOT = Path(__file__).parents[1]
STAMP = "made_from.json"  # in the folder of a language that is built


def notebooks(root: Path) -> list[Path]:
    """Return the pages of all languages."""
    return sorted((root / "chapters").glob("*/*.ipynb"))


def others(root: Path) -> list[Path]:
    """Return all other files that the site is made of: code, styles, words, vendored parts, settings."""
    files = {
        path
        for folder in (root / "chapters", ROOT / "book", ROOT / "d2lmini")
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    files |= {*licenses.sources(), root / "_config.yml", root / "_toc.yml", ROOT / "requirements.txt"}
    return sorted(files - set(notebooks(root)))


def all_files(root: Path) -> list[Path]:
    """Return every file that the site is made of."""
    return [*notebooks(root), *others(root)]


def digest(paths: Iterable[Path]) -> str:
    """Return the hash of these files, their names included, and of where the course is published."""
    hashed = hashlib.sha256(repr((address.repository(), address.published())).encode())
    for path in sorted(paths):
        hashed.update(str(path).encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


def version(root: Path) -> str:
    """Return what changes with any input but the notebooks."""
    return digest(others(root))[:8]


def edition(root: Path, language: str, languages: list[str], pdf: str) -> list[Any]:
    """Return what the pages of a language are made of: all but the notebooks, and last these."""
    # a translation also shows what of the English text has changed since
    shown = [path for path in notebooks(root) if path.parent.name in (language, "en")]
    return [version(root), languages, pdf, digest(shown)]
