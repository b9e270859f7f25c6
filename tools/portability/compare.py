"""What a notebook prints elsewhere, beside what is stored."""

from collections.abc import Iterator
from difflib import ndiff
from pathlib import Path

from book.chapters import Cell, shown
from book.stale import VARIES


def compared(path: Path, stored: list[Cell], done: list[Cell], way: str) -> list[str]:
    """Return the cells that print something else than is stored, each with what; `way` says when they do."""
    findings = []
    for before, after in zip(stored, done, strict=True):
        if VARIES in before["metadata"].get("tags", ()):
            continue
        expected, printed = (list(_printed(cell)) for cell in (before, after))
        if expected != printed:
            changed = [line for line in ndiff(expected, printed) if line[0] in "+-"]
            findings.append("\n  ".join([f"{shown(path)}#{before['id']}: {way} it prints", *changed]))
    return findings


def _printed(cell: Cell) -> Iterator[str]:
    """Yield the lines that a cell printed; of pictures and drawings only that there is one."""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if text := output.get("text") or data.get("text/html") or data.get("text/plain"):
            drawing = "".join(text).lstrip().startswith(("<svg", "<?xml"))
            yield from ["a drawing"] if drawing else "".join(text).splitlines()
        else:
            yield from sorted(data)
