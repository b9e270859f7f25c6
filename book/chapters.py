"""Where the chapters lie and how a notebook is read and stored. Standard library only."""

import difflib
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from d2lmini.language import LANGUAGES

ROOT = Path(__file__).resolve().parent.parent

Notebook = dict[str, Any]
Cell = dict[str, Any]


class CourseError(Exception):
    """What the reader or writer at the keyboard can mend: shown as one message, without a traceback."""


def path_of(language: str, chapter: str, root: Path = ROOT) -> Path:
    """Return the place of a chapter, whether it exists or not."""
    return root / "chapters" / language / f"{chapter}.ipynb"


def chapters(language: str, root: Path = ROOT) -> list[str]:
    """Return the names of the chapters that exist in a language, in alphabetical order."""
    return sorted(path.stem for path in (root / "chapters" / language).glob("*.ipynb"))


def find(names: Iterable[str] = (), languages: Iterable[str] = LANGUAGES, root: Path = ROOT) -> list[Path]:
    """Return the notebooks of these names, or all of them.

    Args:
        names: ``self-attention``, ``self-attention.ipynb`` or ``chapters/vi/self-attention.ipynb``.
        languages: the editions wanted; a name that has none of them is an error, one of them is enough.
        root: the course.

    Raises:
        CourseError: no edition has a chapter of that name; the nearest names are given.
    """
    every = [path_of(language, name, root) for language in languages for name in chapters(language, root)]
    wanted: set[Path] = set()
    for name in names:
        matches = [path for path in every if name in (path.stem, path.name) or Path(name).resolve() == path]
        if not matches:
            known = list(dict.fromkeys(path.stem for path in every))
            near = difflib.get_close_matches(Path(name).stem, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            raise CourseError(f"{name}: no such chapter in {', '.join(languages)}; {hint}")
        wanted.update(matches)
    return [path for path in every if path in wanted] if wanted else every


def read(path: Path) -> Notebook:
    """Read a notebook as it is stored."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise CourseError(f"{shown(path)}: not a notebook (line {error.lineno}: {error.msg})") from None


def write(path: Path, notebook: Notebook) -> bool:
    """Store a notebook; say whether its bytes changed."""
    return store(path, (json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode())


def store(path: Path, data: bytes) -> bool:
    """Write a file in one step, so that nobody ever sees half of it; say whether its bytes changed."""
    if path.exists() and path.read_bytes() == data:
        return False
    # In the same folder, because os.replace is one step only within a file system.
    temporary = path.with_name(f".{path.stem}-{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return True


def sweep(folders: Iterable[Path]) -> None:
    """Remove what `store` left when it was killed; only where no other run is storing."""
    for folder in folders:
        for left in folder.glob(".*.tmp"):
            left.unlink()


def source(cell: Cell) -> str:
    """Return the text of a cell, which nbformat may keep as a string or as lines."""
    return "".join(cell["source"])


def note_of(cell: Cell) -> str:
    """Return the note for the presenter of a section, from the metadata of its heading's cell."""
    return cell.get("metadata", {}).get("d2lmini", {}).get("note", "")


def claim_of(cell: Cell) -> str:
    """Return what a section claims on its first slide, from the metadata of its heading's cell."""
    return cell.get("metadata", {}).get("d2lmini", {}).get("claim", "")


def spoken(cell: Cell) -> str:
    """Return what a slide claims and its presenter is told, from the metadata of a section's heading."""
    return f"{claim_of(cell)}\n\n{note_of(cell)}".strip()


def fingerprint(text: str) -> str:
    """Return the hash of an English text that its translations keep."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def lines(text: str) -> list[str]:
    """Return a text as nbformat stores it."""
    return text.splitlines(keepends=True)


def shown(path: Path, root: Path = ROOT) -> str:
    """Return a path as people write it: from the root of the course, with forward slashes."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
