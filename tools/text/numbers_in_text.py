"""Is every number in the text computed somewhere? `course.py numbers` names those that are not.

A number in the prose of a chapter, or in an exercise of it, counts as computed if its own section prints it
or has it in code, or if `chapters/numbers/<chapter>.toml` says how to compute it:

    "0.88" = "1 / (1 + math.exp(-2))"
    "3.2e9" = "511 * d2l.multiply_adds(512, 64, 3)['convolution']"
    "0.331" = "cell('averaging-code')"

    [given]
    "35" = "Press et al. 2022, table 1"

    [recap]
    "32" = "cell('batch-table')"

The key is the number as it stands in the text, without spaces between thousands (3.2·10⁹ is 3.2e9); the
expression must round to it. `cell(id)` is the list of numbers that a cell prints or has in its code: of a
list, one must round to it. What is quoted stands under `[given]`, with its source. A table with the name of a
cell or of an exercise serves this one alone.
"""

import json
import math
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from book.chapters import LANGUAGES, ROOT, Cell, CourseError, chapters, path_of, read, shown, source, spoken
from d2lmini.language import words
from d2lmini.notebook.widgets import stored_widgets
from tools.text.prose import CODE, Finding, leaves, read_yaml

SPACES = "\u2009\u202f\u00a0"
SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(
    rf"(?<![\w.])(?P<digits>\d{{1,3}}(?:(?:[{SPACES},]|\{{,\}}|\\,)\d{{3}})+(?!\d)|\d+)(?P<decimals>\.\d+)?"
    r"(?:\s*(?:·|×|\\cdot|\\times)\s*10(?:\^\{?(?P<power>-?\d+)\}?|(?P<raised>[⁻⁰¹²³⁴-⁹]+))|e(?P<e>[-+]?\d+))?"
    r"(?P<after>\s*(?:\\?%|percent|phần trăm|万|亿)?)"
)
# no quantities: links, code, tags and mentions of formulas, years, what is put in while the page runs
NOT_A_QUANTITY = re.compile(
    r"\]\([^)]*\)|https?://\S+|`[^`]*`|```.*?```|\\tag\{[^}]*\}|[(（]\d+\.\d+[)）]|\{\{[^}]*\}\}"
    r"|_\{\d+\}|_\d|\b(?:19|20)\d\d[a-z]?\b(?!\s*[·×])|(?:D2L|PyTorch|torch|Python|version)\s*\d[\d.]*",
    re.S,
)
SMALL = 20  # whole numbers up to here count things, such as heads or steps: they are not checked
NO_TEXT = {"call", "answer", "where", "let", "formerly", "kind"}  # keys of an exercise
PARTS = {"%": 0.01, "percent": 0.01, "phần trăm": 0.01, "万": 1e4, "亿": 1e8}


class Number(NamedTuple):
    """A number as it is written: its value, and half a unit of its last digit."""

    text: str
    value: float
    half: float

    def says(self, value: float) -> bool:
        """Say whether a value, rounded, is this number."""
        return math.isfinite(value) and abs(value - self.value) <= self.half * (1 + 1e-9) + 1e-12 * abs(value)


def numbers(text: str) -> Iterator[Number]:
    """Yield the numbers of a text; the value of a percentage is the share."""
    for match in NUMBER.finditer(text):
        digits = re.sub(r"\D", "", match["digits"])
        decimals = match["decimals"] or ""
        power = int((match["raised"] or match["power"] or match["e"] or "0").translate(SUPERSCRIPT))
        written = f"{digits}{decimals}" + (f"e{power}" if power else "")
        unit = 10.0 ** (power - max(len(decimals) - 1, 0))
        factor = PARTS.get(match["after"].strip(" \\"), 1)
        yield Number(written, float(written) * factor, unit * factor / 2)


def quantities(text: str, least: float = SMALL) -> Iterator[Number]:
    """Yield the numbers of a text that say how much, without the whole ones up to `least`."""
    for number in numbers(NOT_A_QUANTITY.sub(" ", text)):
        if number.value != int(number.value) or number.value > least:
            yield number


def computed(cell: Cell) -> list[float]:
    """Return the numbers that a code cell prints or has in its code."""
    if cell["cell_type"] != "code":
        return []
    texts = [source(cell)]
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if not stored_widgets("".join(data.get("text/html", ""))):
            texts += ["".join(output.get("text", "") or data.get("text/plain", ""))]
    return [number.value for text in texts for number in numbers(re.sub(r"(?<=\d)_(?=\d{3})", "", text))]


def sections(cells: list[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells of each section: from a heading of the first or second level to the next."""
    section: list[Cell] = []
    for cell in cells:
        if section and cell["cell_type"] == "markdown" and re.match("##? ", source(cell)):
            yield section
            section = []
        section.append(cell)
    yield section


def _said(cell: Cell, language: str) -> Iterator[str]:
    """Yield what a cell tells the reader in words: its text, what a figure shows, what an explorer says."""
    if cell["cell_type"] == "markdown":
        yield source(cell)
        yield spoken(cell)
        return
    for output in cell["outputs"] if "d2l.figure(" in source(cell) else ():
        drawing = "".join(output.get("data", {}).get("image/svg+xml", ""))
        yield from re.findall(r"<desc[^>]*>(.*?)</desc>", drawing, re.S)
    for name in re.findall(r'd2l\.explorer\("([\w-]+)-explorer"\)', source(cell)):
        yield from (text for _, text in leaves(words(language)["explorers"][name]))


def evaluated(chapter: str, root: Path = ROOT) -> tuple[list[tuple[str, str]], list[Finding]]:
    """Evaluate `chapters/numbers/<chapter>.toml`.

    Returns:
        its numbers, each with the cell or exercise that it serves ("": all of them); and what is wrong.
    """
    path = root / "chapters" / "numbers" / f"{chapter}.toml"
    if not path.exists():
        return [], []
    import numpy
    import torch

    import d2lmini.checkpoints  # which is not imported by its name alone

    cells: dict[str, list[float]] = {}
    for language in LANGUAGES:
        for cell in read(path_of(language, chapter, root))["cells"]:
            cells.setdefault(cell["id"], []).extend(computed(cell))
    names = {"math": math, "np": numpy, "torch": torch, "d2l": d2lmini, "cell": cells.__getitem__}
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    listed, wrong = [("", key) for key in table.pop("given", {})], []
    for (*place, key), expression in leaves(table):
        listed.append(("".join(place), key))
        number = next(numbers(key), None)
        try:
            value = eval(expression, dict(names))  # our own file, like a test
            results = [float(each) for each in (value if isinstance(value, list) else [value])]
        except Exception as error:  # whatever an expression may raise is a finding
            wrong.append(f"{key!r}: {expression}: {type(error).__name__}: {error}")
            continue
        if number is None or not any(map(number.says, results)):
            gives = ", ".join(f"{result:.10g}" for result in results)
            wrong.append(f"{key!r} is written, {expression} gives {gives}")
    return listed, [Finding(shown(path, root), what) for what in wrong]


def _of_exercise(path: Path, compiled: Path, root: Path) -> tuple[list[str], list[float]]:
    """Return the texts of an exercise in all languages, and its own numbers."""
    texts: list[str] = []
    values: list[float] = []
    for keys, value in leaves(read_yaml(path, root)):
        key = next((name for name in reversed(keys) if name not in LANGUAGES and not name.isdecimal()), "")
        if isinstance(value, str) and key in CODE:
            values += [number.value for number in numbers(value)]
        elif isinstance(value, str) and key not in NO_TEXT:
            texts.append(value)
        elif type(value) in (int, float):
            values.append(float(value))
    state = json.loads(compiled.read_text(encoding="utf-8"))["en"] if compiled.exists() else {}
    return texts, values + [number.value for number in numbers(json.dumps(state.get("variants")))]


def check(root: Path = ROOT) -> list[Finding]:
    """Return the numbers that nothing computes, and the entries of `chapters/numbers` without use."""
    return [found for chapter in chapters("en", root) for found in _in_chapter(chapter, root)]


def _in_chapter(chapter: str, root: Path) -> list[Finding]:
    listed, findings = evaluated(chapter, root)
    keys = {(place, number.text): (place, key) for place, key in listed for number in numbers(key)}
    used: set[tuple[str, str]] = set()

    def compare(where: str, place: str, texts: Iterable[str], values: list[float]) -> None:
        missing = []
        for number in (number for text in texts for number in quantities(text, least=0)):
            entries = [keys[at, number.text] for at in ("", place) if (at, number.text) in keys]
            used.update(entries)
            is_count = number.value == int(number.value) and number.value <= SMALL
            if not (entries or is_count or any(map(number.says, values))):
                missing.append(number.text)
        if missing:
            findings.append(Finding(where, f"nothing computes {', '.join(dict.fromkeys(missing))}"))

    of_exercise: dict[str, list[float]] = {}  # the numbers of the sections that show it
    for language in LANGUAGES:
        path = path_of(language, chapter, root)
        for section in sections(read(path)["cells"]):
            values = [value for cell in section for value in computed(cell)]
            for cell in section:
                compare(f"{shown(path, root)}#{cell['id']}", cell["id"], _said(cell, language), values)
                for name in re.findall(r'd2l\.exercise\("[\w-]+/([\w-]+)"\)', source(cell)):
                    of_exercise.setdefault(name, []).extend(values)
    for path in sorted(root.glob(f"chapters/exercises/{chapter}/*.yaml")):
        compiled = root / "d2lmini" / "assets" / "exercises" / chapter / f"{path.stem}.json"
        texts, values = _of_exercise(path, compiled, root)
        used |= {row for row in listed for number in numbers(row[1]) if any(map(number.says, values))}
        compare(shown(path, root), path.stem, texts, [*values, *of_exercise.get(path.stem, ())])
    table = shown(root / "chapters" / "numbers" / f"{chapter}.toml", root)
    return findings + [Finding(table, f"{row[1]!r} stands in no text") for row in listed if row not in used]


def main() -> int:
    """Print what is found; return 1 if anything is."""
    try:
        findings = check()
    except CourseError as error:
        sys.exit(str(error))
    print(*findings, sep="\n", end="\n" if findings else "")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
