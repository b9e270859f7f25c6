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

import yaml

from book.chapters import LANGUAGES, ROOT, Cell, Notebook, chapters, note_of, path_of, read, shown, source
from d2lmini.language import words
from d2lmini.notebook.widgets import stored_widgets
from tools.text.prose import CODE, Finding, leaves

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
    for found in NUMBER.finditer(text):
        digits = re.sub(r"\D", "", found["digits"])
        decimals = found["decimals"] or ""
        power = int((found["raised"] or found["power"] or found["e"] or "0").translate(SUPERSCRIPT))
        written = f"{digits}{decimals}" + (f"e{power}" if power else "")
        unit = 10.0 ** (power - max(len(decimals) - 1, 0))
        factor = PARTS.get(found["after"].strip(" \\"), 1)
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


def sections(notebook: Notebook) -> Iterator[list[Cell]]:
    """Yield the cells of each section: from a heading of the first or second level to the next."""
    cells: list[Cell] = []
    for cell in notebook["cells"]:
        if cells and cell["cell_type"] == "markdown" and re.match("##? ", source(cell)):
            yield cells
            cells = []
        cells.append(cell)
    yield cells


def _said(cell: Cell, language: str) -> Iterator[str]:
    """Yield what a cell tells the reader in words: its text, what a figure shows, what an explorer says."""
    if cell["cell_type"] == "markdown":
        yield source(cell)
        yield note_of(cell)
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

    import d2lmini

    cells: dict[str, list[float]] = {}
    for language in LANGUAGES:
        for cell in read(path_of(language, chapter, root))["cells"]:
            cells.setdefault(cell["id"], []).extend(computed(cell))
    names = {"math": math, "np": numpy, "torch": torch, "d2l": d2lmini, "cell": cells.__getitem__}
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    listed = [("", key) for key in table.pop("given", {})]
    wrong = []
    rows = [("", key, value) for key, value in table.items() if isinstance(value, str)]
    tables = {name: inner for name, inner in table.items() if isinstance(inner, dict)}
    rows += [(name, key, value) for name, inner in tables.items() for key, value in inner.items()]
    for place, key, expression in rows:
        listed.append((place, key))
        number = next(numbers(key), None)
        try:
            value = eval(expression, dict(names))  # our own file, like a test
            results = [float(each) for each in (value if isinstance(value, list) else [value])]
        except Exception as error:  # whatever an expression may raise is a finding
            wrong.append(
                Finding(shown(path, root), f"{key!r}: {expression}: {type(error).__name__}: {error}")
            )
            continue
        if number is None or not any(map(number.says, results)):
            gives = ", ".join(f"{result:.10g}" for result in results)
            wrong.append(Finding(shown(path, root), f"{key!r} is written, {expression} gives {gives}"))
    return listed, wrong


def _texts(data: Any, key: str = "") -> Iterator[str]:
    """Yield the texts of an exercise in all languages, without code."""
    if isinstance(data, dict):
        for name, inner in data.items():
            yield from _texts(inner, key if name in LANGUAGES else name)
    elif isinstance(data, list):
        for inner in data:
            yield from _texts(inner, key)
    elif isinstance(data, str) and key not in CODE | {"call", "answer", "where", "let", "formerly", "kind"}:
        yield data


def _answers(data: Any) -> Iterator[float]:
    """Yield the numbers with which an exercise compares, and those of its code."""
    if isinstance(data, bool):
        return
    if isinstance(data, int | float):
        yield float(data)
    elif isinstance(data, dict):
        for key, inner in data.items():
            if key in CODE and isinstance(inner, str):
                yield from (number.value for number in numbers(inner))
            else:
                yield from _answers(inner)
    elif isinstance(data, list):
        for inner in data:
            yield from _answers(inner)


def check(root: Path = ROOT) -> list[Finding]:
    """Return the numbers that nothing computes, and the entries of `chapters/numbers` without use."""
    return [found for chapter in chapters("en", root) for found in _in_chapter(chapter, root)]


def _in_chapter(chapter: str, root: Path) -> list[Finding]:
    listed, findings = evaluated(chapter, root)
    keys = {(place, number.text): (place, key) for place, key in listed for number in numbers(key)}
    used: set[tuple[str, str]] = set()

    def unknown(texts: Iterable[str], values: list[float], place: str) -> str:
        missing = []
        for number in (number for text in texts for number in quantities(text, least=0)):
            entries = [keys[at, number.text] for at in ("", place) if (at, number.text) in keys]
            used.update(entries)
            is_count = number.value == int(number.value) and number.value <= SMALL
            if not (entries or is_count or any(map(number.says, values))):
                missing.append(number.text)
        return ", ".join(dict.fromkeys(missing))

    of_exercise: dict[str, list[float]] = {}  # the numbers of the sections that show it
    for language in LANGUAGES:
        path = path_of(language, chapter, root)
        for section in sections(read(path)):
            values = [value for cell in section for value in computed(cell)]
            for cell in section:
                if missing := unknown(_said(cell, language), values, cell["id"]):
                    findings.append(
                        Finding(f"{shown(path, root)}#{cell['id']}", f"nothing computes {missing}")
                    )
                for name in re.findall(r'd2l\.exercise\("[\w-]+/([\w-]+)"\)', source(cell)):
                    of_exercise.setdefault(name, []).extend(values)
    for path in sorted(root.glob(f"chapters/exercises/{chapter}/*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        own = list(_answers(data)) + _variants(root, chapter, path.stem)
        used |= {row for row in listed for number in numbers(row[1]) if any(map(number.says, own))}
        if missing := unknown(_texts(data), [*own, *of_exercise.get(path.stem, ())], path.stem):
            findings.append(Finding(shown(path, root), f"nothing computes {missing}"))
    table = shown(root / "chapters" / "numbers" / f"{chapter}.toml", root)
    return findings + [
        Finding(table, f"{key!r} stands in no text") for place, key in listed if (place, key) not in used
    ]


def _variants(root: Path, chapter: str, name: str) -> list[float]:
    """The numbers that a compiled exercise computed itself."""
    path = root / "d2lmini" / "assets" / "exercises" / chapter / f"{name}.json"
    if not path.exists():
        return []
    state = json.loads(path.read_text(encoding="utf-8"))["en"]
    return [number.value for number in numbers(json.dumps(state.get("variants", [])))]


def main() -> int:
    """Print what is found; return 1 if anything is."""
    found = check()
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
