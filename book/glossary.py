"""The terms of the glossary in the text of the pages: what marks them, and the cards that explain them."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from d2lmini.language import LANGUAGES, words
from d2lmini.letters import HAN

PAGE = "glossary"  # the page that has a line on each term
# rows of the glossary with this note are words of everyday language, too: a mark would often be wrong
EVERYDAY = "everyday word"
# Chinese has no spaces, and these make another word of the one they are joined to: 参数化, 子序列
BEFORE, AFTER = "子超非", "化器性率"
BRACKETS = re.compile(r"\s*[(（]((?:[^()（）]|\([^()]*\))*)[)）]")
SHORT_NAME = re.compile(r"(?:\w*[A-Z]\w*){2,}|\w*[A-Z]\w*[A-Z][\w ]*")
PLURALS = {
    "matrix": "matri(?:x|ces)",
    "y": "(?:y|ies)",
    "weights": "weights?",
    "s": "s(?:es)?",
    "ch": "ch(?:es)?",
    "": "s?",  # of every other name
}
GLOSS = re.compile(r"[(（][ -~\n]*[)）]")  # the English name of what stands before, in a translation


def read(root: Path) -> list[dict[str, str]]:
    """Return the rows of `chapters/glossary.csv`; `section` names the "page#anchor" that explains a term."""
    table = root / "chapters" / "glossary.csv"
    if not table.exists():
        return []
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, restval=""))


def names(field: str) -> list[str]:
    """What a text may call the term in a field of the glossary.

    A bracket explains, unless it has an abbreviation; what parts of a list have in common is said once.

    Example:
        >>> names("rotary position embedding (RoPE)")
        ['rotary position embedding', 'RoPE']
        >>> names("shape (tensor)"), names("training / validation / test set")
        (['shape'], ['training set', 'validation set', 'test set'])
    """
    parts = [part.split() for part in BRACKETS.sub("", field).split("/")]
    longest = max(parts, key=len)
    named = []
    for part in parts:
        if longest is parts[-1]:  # the last says it for all: training / validation / test set
            whole = part + longest[len(part) :]
        else:  # or the first does: gradient triệt tiêu / bùng nổ
            whole = longest[: len(longest) - len(part)] + part
        named.append(" ".join(whole))
    return named + [name for name in BRACKETS.findall(field) if SHORT_NAME.fullmatch(name)]


def _pattern(name: str) -> str:
    """Find a name in a text, however its lines are broken; an English one in the plural, too."""
    exact = SHORT_NAME.fullmatch(name)  # rope is no RoPE
    escaped = re.escape(name).replace(r"\ ", r"\s+")
    if re.search(f"[{HAN}]", name):
        return f"(?<![{BEFORE}]){escaped}(?![{AFTER}])"
    ending = next(filter(name.endswith, PLURALS))
    escaped = escaped.removesuffix(ending) + PLURALS[ending]
    return rf"(?<![\w-]){escaped if exact else f'(?i:{escaped})'}(?![\w-])"


def _is_clear(name: str) -> bool:
    """Say whether a name is long enough to have one reading: no 值, and no single syllable such as `nối`."""
    return len(name) > 1 if re.search(f"[{HAN}]", name) else name.isascii() or " " in name


class Finder:
    """Finds terms in a text of one language: the longest at each place, whole words only."""

    def __init__(self, rows: list[dict[str, str]], language: str) -> None:
        named_rows = [
            (name, number if EVERYDAY not in row["note"] and _is_clear(name) else None)
            for number, row in enumerate(rows)
            for name in names(row.get(language) or "")
        ]
        # those that are not marked take part: a longer one keeps its parts from being found
        named_rows.sort(key=lambda pair: -len(pair[0]))
        self.translated = language != LANGUAGES[0]
        self.numbers = [number for _, number in named_rows]
        self.pattern = re.compile("|".join(f"({_pattern(name)})" for name, _ in named_rows) or r"(?!)")

    def __call__(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Start, end and row of each term in a text."""
        glosses = [gloss.span() for gloss in GLOSS.finditer(text)] if self.translated else []
        for match in self.pattern.finditer(text):
            number = self.numbers[(match.lastindex or 1) - 1]
            if number is not None and not any(start < match.start() < end for start, end in glosses):
                yield match.start(), match.end(), number


def cards(
    language: str, rows: list[dict[str, str]], lines: dict[int, tuple[str, str]], titles: dict[str, str]
) -> dict[str, Any]:
    """Return what the script shows of each term: its names, its meaning, and where it is explained.

    Args:
        language: that of the reader.
        rows: the glossary.
        lines: the meaning of each row that the glossary has a line on, and the anchor of that line's group.
        titles: the title of each "page#anchor" in this language.
    """
    others = [code for code in LANGUAGES if code != language]
    shown = {}
    for number, (meaning, group) in lines.items():
        row = rows[number]
        title = titles.get(row["section"] or f"{PAGE}#{PAGE}", "")
        named = [[words(code)["language"]["tag"], row[code]] for code in others if row.get(code)]
        shown[number] = [row[language], named, meaning, address(row, group), title]
    return {"terms": shown}


def address(row: dict[str, str], group: str) -> str:
    """Return where a term is explained: in a section, or else among its group on the glossary's page."""
    page, anchor = (row["section"] or f"{PAGE}#{group}").split("#")
    return f"{page}.html#{anchor}"
