r"""Hold the three languages in step: `python -m tools.text.lockstep` lists what is missing or behind.

English is the source. A translated cell has the id and the type of its English cell, in the same order. Its
code is the same but for comments and the line that sets the language; its displayed formulas are the same but
for `\text{…}`; and a translated text keeps, in its metadata, the hash of the English it was made from. So
does the note of a section, which whoever presents it sees. The hashes of exercises stand in
chapters/exercises/translated.json. Comments of code are translated, too.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
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
    path_of,
    read,
    shown,
    source,
    spoken,
    store,
    write,
)
from book.stale import LANGUAGE_LINE, MAGIC, code, comments_by_row, is_stale, source_hash

TRANSLATIONS = LANGUAGES[1:]
EXERCISES = "chapters/exercises"
LITERAL = re.compile(r"""[rbf]*(["'])(?:\\.|(?!\1).)*\1|(?<!\w)\d[\d_.]*(?:e-?\d+)?""", re.I)
NOTHING = re.compile(r"(?!)")
DISPLAYED = re.compile(r"\$\$(.*?)\$\$", re.S)
TEXT_IN_MATH = re.compile(r"\\text(?:rm|bf|it|sf|tt)?\s*\{(?:[^{}]|\{[^{}]*\})*\}")


def formulas(text: str) -> list[str]:
    """Return the displayed formulas of a text without their words and spaces."""
    return [re.sub(r"\s", "", TEXT_IN_MATH.sub("", formula)) for formula in DISPLAYED.findall(text)]


# ---- comments of code


class Comment(NamedTuple):
    """A comment beside a line of code, or the block of comment lines above one."""

    first: int  # lines, from 0
    last: int
    column: int
    beside: bool
    code: str  # of that line, without spaces
    text: str


def comments(text: str) -> list[Comment]:
    """Return the comments of a code cell; none if the cell is not Python."""
    starts = comments_by_row(MAGIC.sub(r"\1pass", text))
    rows = enumerate(text.split("\n"))
    plain = [re.sub(r"\s", "", row[: starts[i][0]] if i in starts else row) for i, row in rows]
    blocks: list[Comment] = []
    for i, (column, string) in starts.items():
        block = blocks[-1] if blocks and not plain[i] else None
        if block and not block.beside and block.last == i - 1:
            blocks[-1] = block._replace(last=i, text=f"{block.text}\n{string}")
        else:
            below = next(filter(None, plain[i:]), "")
            blocks.append(Comment(i, i, column, bool(plain[i]), below, string))
    return blocks


def carry_comments(english: str, translated: str) -> tuple[str, list[str]]:
    """Return English code with the comments of its translation, and what a person has to look at.

    A comment is carried where the line's code is the same, or changed in nothing but its literals.
    """
    ours, theirs = comments(english), comments(translated)
    matches: dict[Comment, Comment] = {}
    for ignored in (NOTHING, LITERAL):
        left = [comment for comment in ours if comment not in matches]
        right = [comment for comment in theirs if comment not in matches.values()]
        places, others = (
            [(row.beside, ignored.sub("?", row.code)) for row in side] for side in (left, right)
        )
        blocks = SequenceMatcher(None, places, others, autojunk=False).get_matching_blocks()
        matches |= {left[a + i]: right[b + i] for a, b, size in blocks for i in range(size)}
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


def by_id(notebook: Notebook) -> dict[str, Cell]:
    """Return the cells of a notebook by their ids."""
    return {cell["id"]: cell for cell in notebook["cells"]}


def compare(english: Notebook, translated: Notebook) -> list[tuple[str, str]]:
    """Return the cells of a translated notebook that are out of step, each with what is wrong."""
    ours, theirs = by_id(english), by_id(translated)
    slips = [(name, "has no English cell") for name in theirs if name not in ours]
    for name, cell in ours.items():
        slips += [(name, what) for what in cell_slips(cell, theirs.get(name))]
    common, order = [name for name in ours if name in theirs], [name for name in theirs if name in ours]
    moved = [(a, "in another place than in English") for a, b in zip(order, common, strict=True) if a != b]
    return slips + moved[:1]


def cell_slips(english: Cell, translated: Cell | None) -> Iterator[str]:
    """Yield what keeps a translated cell out of step with the English one."""
    if translated is None:
        yield "missing"
        return
    texts = source(english), source(translated)
    if translated["cell_type"] != english["cell_type"]:
        yield f"is {translated['cell_type']}, in English {english['cell_type']}"
    elif english["cell_type"] == "code":
        if code(texts[0]) != code(texts[1]):
            yield "code differs"
        yield from (f"comment in English: {text}" for text in english_comments(*texts))
        if english["metadata"].get("tags") != translated["metadata"].get("tags"):
            yield "tags differ"
    else:
        if formulas(texts[0]) != formulas(texts[1]):
            yield "displayed formulas differ"
        if source_hash(translated) is None:
            yield "not marked as translated"
        elif is_stale(english, translated):
            yield "behind: the English text changed"
        note = spoken(english)
        if bool(note) != bool(spoken(translated)):
            yield "note missing" if note else "has a note, in English none"
        elif note and source_hash(translated, "note_source") != fingerprint(note):
            yield "note behind: the English note changed, or it was never marked as translated"


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
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def stale_exercises(language: str, root: Path) -> dict[str, str]:
    """Return the exercises whose English text changed, or that were never marked, each with its hash now."""
    now, marked = english_exercises(root), marked_exercises(root)
    return {name: now[name] for name in now if marked.get(name, {}).get(language) != now[name]}


def mark_exercises(language: str, wanted: str, root: Path) -> list[str]:
    """Note that an exercise, those of a chapter or all (`""`) say what the English says now; return them."""
    names, marked = english_exercises(root), marked_exercises(root)
    if "/" in wanted and wanted not in names:
        raise CourseError(f"{wanted}: no such exercise")
    stale = stale_exercises(language, root)
    changed = [name for name in stale if wanted in ("", name, name.partition("/")[0])]
    for name in changed:
        marked.setdefault(name, {})[language] = stale[name]
    rows = [f" {json.dumps(name)}: {json.dumps(marked[name])}" for name in names if name in marked]
    if rows:
        store(root / EXERCISES / "translated.json", ("{\n" + ",\n".join(rows) + "\n}\n").encode())
    return changed


# ---- the command


def check(root: Path = ROOT) -> list[str]:
    """Return everything that keeps a language out of step with English."""
    findings = []
    english = {name: read(path_of("en", name, root)) for name in chapters("en", root)}
    for language in TRANSLATIONS:
        translated = {name: read(path_of(language, name, root)) for name in chapters(language, root)}
        extra = sorted(translated.keys() - english)
        findings += [f"{language} {name} -: has no English chapter" for name in extra]
        for name, notebook in english.items():
            slips = compare(notebook, translated[name]) if name in translated else [("-", "chapter missing")]
            findings += [f"{language} {name} {cell}: {what}" for cell, what in slips]
        behind = "exercise: behind: the English exercise changed, or it was never marked"
        findings += [f"{language} {name} {behind}" for name in stale_exercises(language, root)]
    return findings


def copy_code(english: Notebook, translated: Notebook, language: str) -> list[str] | None:
    """Bring the code of a translated notebook in step, in place, with its translated comments.

    A missing cell is inserted in English, its text without a hash, so that it is listed until somebody
    translates it; a cell that English lacks is taken out.

    Returns:
        what a person has to look at, each with its cell; None if nothing changed.
    """
    theirs, cells, remarks = by_id(translated), [], []
    for cell in english["cells"]:
        other, text, is_code = theirs.get(cell["id"]), source(cell), cell["cell_type"] == "code"
        if other and other["cell_type"] != cell["cell_type"]:
            other = None
        if other and (not is_code or code(source(other)) == code(text)):
            cells.append(other | {"metadata": dict(cell["metadata"])} if is_code else other)
            continue
        new: Cell = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": dict(cell["metadata"])}
        if is_code:
            if other:
                text, notes = carry_comments(text, source(other))
                remarks += [f"{cell['id']}: {note}" for note in notes]
            text = LANGUAGE_LINE.sub(rf'\g<1>"{language}"\2', text)
            new |= {"execution_count": None, "outputs": []}
        cells.append(new | {"source": lines(text)})
    stay = {(cell["id"], cell["cell_type"]) for cell in cells}
    gone = [cell for cell in translated["cells"] if (cell["id"], cell["cell_type"]) not in stay]
    remarks += [f"{cell['id']}: cell taken out: {source(cell)!r}" for cell in gone]
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
    ours, theirs = by_id(english), by_id(translated)
    kinds = {name: {ours[name]["cell_type"], theirs[name]["cell_type"]} for name in ours if name in theirs}
    texts = [name for name, pair in kinds.items() if pair == {"markdown"}]
    if unknown := set(names) - set(texts):
        raise CourseError(f"{', '.join(sorted(unknown))}: no text cell with this id in both languages")
    marked = []
    for name in names or texts:
        mark = theirs[name]["metadata"].setdefault("d2lmini", {})
        new = {"source": fingerprint(source(ours[name]))}
        if spoken(ours[name]) and spoken(theirs[name]):
            new["note_source"] = fingerprint(spoken(ours[name]))
        if new.items() - mark.items():
            mark |= new
            marked.append(name)
    return marked


def mark(arguments: list[str], root: Path) -> None:
    """Mark what `--translated` names, and tell of each."""
    language, *names = arguments
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


def copy(names: list[str], root: Path) -> None:
    """Copy the English code into these chapters, or all, and tell what a person has to look at."""
    for path in find(names, TRANSLATIONS, root):
        notebook, english = read(path), path_of("en", path.stem, root)
        if english.exists() and (remarks := copy_code(read(english), notebook, path.parent.name)) is not None:
            write(path, notebook)
            where = shown(path, root)
            print(f"{where}: code copied; execute it with course.py notebooks {path.stem}")
            print(*(f"{where}#{remark}\n" for remark in remarks), sep="", end="")


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser("course.py lockstep", description="List what is missing or behind.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="chapters for --copy-code; without: all")
    parser.add_argument("--copy-code", action="store_true", help="copy English code, insert missing cells")
    about = "note that these texts, or all of the chapter or language, say what the English says now"
    parser.add_argument("--translated", nargs="+", metavar=("LANG", "CHAPTER[/EXERCISE] [CELL"), help=about)
    options = parser.parse_args(arguments)
    try:
        if options.translated:
            mark(options.translated, root)
        elif options.copy_code:
            copy(options.names, root)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    findings = check(root)
    print(*findings, f"{len(findings)} out of step" if findings else "all languages are in step", sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
