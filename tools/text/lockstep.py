r"""Hold the three languages in step: `python -m tools.text.lockstep` lists what is missing or behind.

English is the source. A translated cell has the id and the type of its English cell, in the same order. Its
code is the same but for comments and the line that sets the language; its displayed formulas are the same but
for `\text{…}`; and a translated text keeps, in its metadata, the hash of the English it was made from. So
does the note of a section, which whoever presents it sees. The hashes of exercises stand in
chapters/exercises/translated.json. Comments of code are translated, too.
"""

import argparse
import io
import json
import re
import sys
import tokenize
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
    store,
    write,
)
from book.stale import LANGUAGE_LINE, MAGIC, code, is_stale, source_hash

TRANSLATIONS = LANGUAGES[1:]
EXERCISES = "chapters/exercises"
LITERAL = re.compile(r"""[rbf]*(["'])(?:\\.|(?!\1).)*\1|(?<!\w)\d[\d_.]*(?:e-?\d+)?""", re.I)
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


# ---- comments of code


class Comment(NamedTuple):
    """A comment beside a line of code, or the block of comment lines above one."""

    first: int  # lines, from 0
    last: int
    column: int
    beside: bool
    code: str  # of that line, without spaces
    text: str

    def place(self, ignored: re.Pattern[str] | None) -> tuple[bool, str]:
        """Return what a comment and its translation have in common."""
        return self.beside, ignored.sub("?", self.code) if ignored else self.code


def comments(text: str) -> list[Comment]:
    """Return the comments of a code cell; none if the cell is not Python."""
    rows = MAGIC.sub(r"\1pass", text).split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(rows)).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    starts = {
        token.start[0] - 1: (token.start[1], token.string)
        for token in tokens
        if token.type == tokenize.COMMENT
    }
    plain = [re.sub(r"\s", "", row[: starts[i][0]] if i in starts else row) for i, row in enumerate(rows)]
    found: list[Comment] = []
    for i, (column, string) in starts.items():
        block = found[-1] if found and not plain[i] else None
        if block and not block.beside and block.last == i - 1:
            found[-1] = block._replace(last=i, text=f"{block.text}\n{string}")
        else:
            below = next(filter(None, plain[i:]), "")
            found.append(Comment(i, i, column, bool(plain[i]), below, string))
    return found


def carry_comments(english: str, translated: str) -> tuple[str, list[str]]:
    """Return English code with the comments of its translation, and what a person has to look at.

    A comment is carried where the line's code is the same, or changed in nothing but its literals.
    """
    ours, theirs = comments(english), comments(translated)
    matches: dict[Comment, Comment] = {}
    for pattern in (None, LITERAL):
        for other in theirs:
            key = other.place(pattern)
            if other not in matches.values():
                own = next((own for own in ours if own not in matches and own.place(pattern) == key), None)
                matches |= {own: other} if own else {}
    rows, remarks = english.split("\n"), []
    for own in reversed(ours):
        if own in matches:
            before, text = rows[own.first][: own.column], matches[own].text
            rows[own.first : own.last + 1] = [
                before + line if i == 0 or own.beside else " " * own.column + line
                for i, line in enumerate(text.split("\n"))
            ]
            if re.findall(r"\d+", own.text) != re.findall(r"\d+", text):
                remarks.append(f"compare {text!r} with the English {own.text!r}")
    lost = [other for other in theirs if other not in matches.values()]
    remarks += [f"comment taken out, its line changed: {other.text!r}" for other in lost]
    return "\n".join(rows), remarks


def english_comments(english: str, translated: str) -> list[str]:
    """Return the comments of a translated cell that are still the English ones; shapes and names may be."""
    ours = {comment.text for comment in comments(english)}
    names = set(re.findall(r"\w+", re.sub("#.*", "", translated)))
    texts = [comment.text for comment in comments(translated) if comment.text in ours]
    return [text for text in texts if set(re.findall(r"[a-z]{3,}", re.sub(r"\(.*?\)", "", text))) - names]


# ---- what is out of step


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
            texts = source(cell), source(other)
            if code(texts[0]) != code(texts[1]):
                found.append((name, "code differs"))
            found += [(name, f"comment in English: {text}") for text in english_comments(*texts)]
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


# ---- exercises


def english_exercises(root: Path) -> dict[str, str]:
    """Return the hash of what each exercise, `chapter/name`, says in English."""
    return {
        f"{path.parent.name}/{path.stem}": fingerprint(_english(path.read_text(encoding="utf-8")))
        for path in sorted(root.glob(f"{EXERCISES}/*/*.yaml"))
    }


def _english(text: str) -> str:
    """Return what stands under `en:` in the file of an exercise; read without a YAML library."""
    parts, column = [], -1
    for line in text.splitlines():
        if column >= 0 and (not line.strip() or len(line) - len(line.lstrip()) > column):
            parts.append(line.strip())
        elif block := re.match(r"([ -]*)en:(.*)", line):
            parts.append(block[2].strip())
            column = len(block[1])
        else:
            parts += re.findall(rf"\{{en:(.*?), (?:{'|'.join(TRANSLATIONS)}):", line)
            column = -1
    return "\n".join(filter(None, parts))


def marked_exercises(root: Path) -> dict[str, dict[str, str]]:
    """Return, for each exercise and language, the hash of the English that it was translated from."""
    path = root / EXERCISES / "translated.json"
    marked: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return marked


def stale_exercises(language: str, root: Path) -> list[Finding]:
    """Return the exercises of a language whose English text changed, or that were never marked."""
    marked = marked_exercises(root)
    return [
        Finding(language, name, "exercise", "behind: the English exercise changed, or it was never marked")
        for name, now in english_exercises(root).items()
        if marked.get(name, {}).get(language) != now
    ]


def mark_exercises(language: str, wanted: str, root: Path) -> list[str]:
    """Note that an exercise, those of a chapter or all (`""`) say what the English says now; return them."""
    now, marked = english_exercises(root), marked_exercises(root)
    names = [name for name in now if wanted in ("", name, name.partition("/")[0])]
    if "/" in wanted and not names:
        raise CourseError(f"{wanted}: no such exercise")
    changed = [name for name in names if marked.get(name, {}).get(language) != now[name]]
    for name in changed:
        marked.setdefault(name, {})[language] = now[name]
    rows = [f" {json.dumps(name)}: {json.dumps(marked[name])}" for name in now if name in marked]
    if rows:
        store(root / EXERCISES / "translated.json", ("{\n" + ",\n".join(rows) + "\n}\n").encode())
    return changed


# ---- the command


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
        found += stale_exercises(language, root)
    return found


def copy_code(english: Notebook, translated: Notebook, language: str) -> list[str] | None:
    """Bring the code of a translated notebook in step, in place, with its translated comments.

    A missing cell is inserted in English, its text without a hash, so that it is listed until somebody
    translates it; a cell that English lacks is taken out.

    Returns:
        what a person has to look at, each with its cell; None if nothing changed.
    """
    theirs = {cell["id"]: cell for cell in translated["cells"]}
    cells, remarks = [], []
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
            if other:
                text, notes = carry_comments(text, source(other))
                remarks += [f"{cell['id']}: {note}" for note in notes]
            text = LANGUAGE_LINE.sub(rf'\g<1>"{language}"\2', text)
            new |= {"execution_count": None, "outputs": []}
        cells.append(new | {"source": lines(text)})
    stay = {(cell["id"], cell["cell_type"]) for cell in cells}
    for cell in translated["cells"]:
        if (cell["id"], cell["cell_type"]) not in stay:
            remarks.append(f"{cell['id']}: cell taken out: {source(cell)!r}")
    if cells == translated["cells"]:
        return None
    translated["cells"] = cells
    return remarks


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
        help="note that these texts, all of the chapter or of the language, say what the English says now; "
        "CHAPTER/EXERCISE: this exercise",
    )
    options = parser.parse_args(arguments)
    try:
        if options.translated:
            language, *names = options.translated
            if language not in TRANSLATIONS:
                raise CourseError(f"--translated: got {language!r}; say {' or '.join(TRANSLATIONS)} first")
            chapter, *cells = names or [""]
            for path in find(names[:1], [language], root) if "/" not in chapter else ():
                notebook = read(path)
                for cell in mark_translated(read(path_of("en", path.stem, root)), notebook, cells):
                    print(f"{language} {path.stem} {cell}: marked as translated")
                write(path, notebook)
            for name in [] if cells else mark_exercises(language, chapter, root):
                print(f"{language} {name}: marked as translated")
        elif options.copy_code:
            for path in find(options.names, TRANSLATIONS, root):
                notebook, english = read(path), path_of("en", path.stem, root)
                if not english.exists():
                    continue
                remarks = copy_code(read(english), notebook, path.parent.name)
                if remarks is not None:
                    write(path, notebook)
                    where = shown(path, root)
                    print(f"{where}: code copied; execute it with course.py notebooks {path.stem}")
                    print(*(f"{where}#{remark}\n" for remark in remarks), sep="", end="")
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
