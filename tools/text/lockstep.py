r"""Hold the three languages in step: `python -m tools.text.lockstep` lists what is missing or behind.

English is the source. A translated cell has the id and the type of its English cell, in the same order. Its
code is the same but for comments and the line that sets the language; its displayed formulas are the same but
for `\text{…}`; and a translated text keeps, in its metadata, the hash of the English it was made from. So
does the note of a section, which whoever presents it sees.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

from book.chapters import (
    LANGUAGES,
    ROOT,
    Cell,
    CourseError,
    Notebook,
    chapters,
    find,
    fingerprint,
    lines,
    note_of,
    path_of,
    read,
    shown,
    source,
    write,
)
from book.stale import LANGUAGE_LINE, code, is_stale, source_hash

TRANSLATIONS = LANGUAGES[1:]
DISPLAYED = re.compile(r"\$\$(.*?)\$\$", re.S)
TEXT_IN_MATH = re.compile(r"\\text(?:rm|bf|it|sf|tt)?\s*\{(?:[^{}]|\{[^{}]*\})*\}")


class Finding(NamedTuple):
    """One thing that keeps a language out of step."""

    language: str
    chapter: str
    cell: str
    what: str

    def __str__(self) -> str:
        return f"{self.language} {self.chapter} {self.cell}: {self.what}"


def formulas(text: str) -> list[str]:
    """Return the displayed formulas of a text without their words and spaces."""
    return [re.sub(r"\s", "", TEXT_IN_MATH.sub("", formula)) for formula in DISPLAYED.findall(text)]


def note_slip(english: Cell, translated: Cell) -> str | None:
    """Say what is wrong with the note of a translated cell."""
    ours, theirs = note_of(english), note_of(translated)
    if bool(ours) != bool(theirs):
        return "note missing" if ours else "has a note, in English none"
    if ours and source_hash(translated, "note_source") != fingerprint(ours):
        return "note behind: the English note changed, or it was never marked as translated"
    return None


def compare(english: Notebook, translated: Notebook) -> list[tuple[str, str]]:
    """Return the cells of a translated notebook that are out of step, each with what is wrong."""
    found = []
    theirs = {cell["id"]: cell for cell in translated["cells"]}
    ours = {cell["id"]: cell for cell in english["cells"]}
    found += [(name, "has no English cell") for name in theirs if name not in ours]
    for name, cell in ours.items():
        other = theirs.get(name)
        if other is None:
            found.append((name, "missing"))
        elif other["cell_type"] != cell["cell_type"]:
            found.append((name, f"is {other['cell_type']}, in English {cell['cell_type']}"))
        elif cell["cell_type"] == "code":
            if code(source(cell)) != code(source(other)):
                found.append((name, "code differs"))
            if cell["metadata"].get("tags") != other["metadata"].get("tags"):
                found.append((name, "tags differ"))
        else:
            if formulas(source(cell)) != formulas(source(other)):
                found.append((name, "displayed formulas differ"))
            if source_hash(other) is None:
                found.append((name, "not marked as translated"))
            elif is_stale(cell, other):
                found.append((name, "behind: the English text changed"))
            if slip := note_slip(cell, other):
                found.append((name, slip))
    common = [name for name in ours if name in theirs]
    order = [name for name in theirs if name in ours]
    if common != order:
        first = next(a for a, b in zip(order, common, strict=True) if a != b)
        found.append((first, "in another place than in English"))
    return found


def check(root: Path = ROOT) -> list[Finding]:
    """Return everything that keeps a language out of step with English."""
    found = []
    english = {name: read(path_of("en", name, root)) for name in chapters("en", root)}
    for language in TRANSLATIONS:
        names = chapters(language, root)
        found += [
            Finding(language, name, "-", "has no English chapter") for name in names if name not in english
        ]
        for name, notebook in english.items():
            if name not in names:
                found.append(Finding(language, name, "-", "chapter missing"))
                continue
            rows = compare(notebook, read(path_of(language, name, root)))
            found += [Finding(language, name, cell, what) for cell, what in rows]
    return found


def copy_code(english: Notebook, translated: Notebook, language: str) -> bool:
    """Bring the code of a translated notebook in step, in place; say whether anything changed.

    Code that is the same keeps its translated comments. A missing cell is inserted in English, its text
    without a hash, so that it is listed until somebody translates it; a cell that English lacks is taken out.
    """
    theirs = {cell["id"]: cell for cell in translated["cells"]}
    cells = []
    for cell in english["cells"]:
        other = theirs.get(cell["id"])
        is_code = cell["cell_type"] == "code"
        if other and other["cell_type"] == cell["cell_type"]:
            if not is_code:
                cells.append(other)
                continue
            if code(source(other)) == code(source(cell)):
                cells.append(other | {"metadata": dict(cell["metadata"])})
                continue
        new: Cell = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": dict(cell["metadata"])}
        text = source(cell)
        if is_code:
            text = LANGUAGE_LINE.sub(rf'\g<1>"{language}"\2', text)
            new |= {"execution_count": None, "outputs": []}
        cells.append(new | {"source": lines(text)})
    changed = cells != translated["cells"]
    translated["cells"] = cells
    return changed


def mark_translated(english: Notebook, translated: Notebook, names: list[str]) -> list[str]:
    """Note in translated texts, in place, that they were made from the English of now; return their ids.

    Args:
        english: the source.
        translated: its translation.
        names: ids of the cells that were brought up to date; empty: all of them.

    Raises:
        CourseError: there is no text with such an id in both.
    """
    ours = {cell["id"]: cell for cell in english["cells"] if cell["cell_type"] == "markdown"}
    theirs = {cell["id"]: cell for cell in translated["cells"] if cell["cell_type"] == "markdown"}
    if unknown := [name for name in names if name not in ours or name not in theirs]:
        raise CourseError(f"{', '.join(unknown)}: no text cell with this id in both languages")
    marked = []
    for name in names or [name for name in theirs if name in ours]:
        mark = theirs[name]["metadata"].setdefault("d2lmini", {})
        new = {"source": fingerprint(source(ours[name]))}
        if note_of(ours[name]) and note_of(theirs[name]):
            new["note_source"] = fingerprint(note_of(ours[name]))
        if new.items() - mark.items():
            mark |= new
            marked.append(name)
    return marked


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser("course.py lockstep", description="List what is missing or behind.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="with --copy-code: these chapters; without: all"
    )
    parser.add_argument(
        "--copy-code", action="store_true", help="copy English code and insert missing cells, then list"
    )
    parser.add_argument(
        "--translated",
        nargs="+",
        metavar=("LANG", "CHAPTER [CELL"),
        help="note that these texts, all of the chapter or of the language, say what the English says now",
    )
    options = parser.parse_args(arguments)
    try:
        if options.translated:
            language, *names = options.translated
            if language not in TRANSLATIONS:
                raise CourseError(f"--translated: got {language!r}; say {' or '.join(TRANSLATIONS)} first")
            for path in find(names[:1], [language], root):
                notebook = read(path)
                for cell in mark_translated(read(path_of("en", path.stem, root)), notebook, names[1:]):
                    print(f"{language} {path.stem} {cell}: marked as translated")
                write(path, notebook)
        elif options.copy_code:
            for path in find(options.names, TRANSLATIONS, root):
                notebook, english = read(path), path_of("en", path.stem, root)
                if english.exists() and copy_code(read(english), notebook, path.parent.name):
                    write(path, notebook)
                    print(
                        f"{shown(path, root)}: code copied; execute it with course.py notebooks {path.stem}"
                    )
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    findings = check(root)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} out of step" if findings else "all languages are in step")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
