"""Which translated cells are older than their source, and which outputs than their code."""

import io
import re
import tokenize
from collections.abc import Iterator

from book.chapters import Cell, Notebook, fingerprint, source

LANGUAGE_LINE = re.compile(r"^(\s*d2l\.use_language\()[^)]*(\).*)$", re.M)
VARIES = "nbval-ignore-output"  # the tag of a cell that prints times, or what a training of its own brings
MAGIC = re.compile(r"^(\s*)[%!].*$", re.M)


def source_hash(cell: Cell, key: str = "source") -> str | None:
    """Return the hash of the English text that a cell, or its note, was translated from."""
    return cell["metadata"].get("d2lmini", {}).get(key)


def comments_by_row(text: str) -> dict[int, tuple[int, str]]:
    """Return the comments of code by their rows, from 0, each with its column; none if it is not Python."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError):
        return {}
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    return {token.start[0] - 1: (token.start[1], token.string) for token in comments}


def code(text: str) -> str:
    r"""Return what of code is the same in every language: no comments, no blank lines, no language.

    Example:
        >>> code("x = 1") == code("# one\n\nx = 1  # and no more") != code("x = 2")
        True
    """
    # a magic keeps its place as an expression, so that a cell with other magics is other code
    plain = LANGUAGE_LINE.sub(r"\1\2", MAGIC.sub(lambda magic: f"{magic[1]}{magic[0].strip()!r}", text))
    lines = plain.split("\n")
    for row, (column, _) in comments_by_row(plain).items():
        lines[row] = lines[row][:column]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def is_stale(english: Cell, translated: Cell) -> bool:
    """Say whether the English text of a cell changed after it was translated."""
    return translated["cell_type"] == "markdown" and source_hash(translated) != fingerprint(source(english))


def stale_cells(english: Notebook, translated: Notebook) -> list[str]:
    """Return the ids of the translated cells that do not show what the English page shows now.

    Their text is older or not translated yet, their code and so their output is another, or they stand where
    an English cell follows that the translation lacks.
    """
    theirs = {cell["id"]: cell for cell in translated["cells"]}
    stale: dict[str, None] = {}
    before = next(iter(theirs), None)
    for cell in english["cells"]:
        same = False
        if other := theirs.get(cell["id"]):
            before = cell["id"]
            is_code = cell["cell_type"] == other["cell_type"] == "code"
            same = code(source(cell)) == code(source(other)) if is_code else not is_stale(cell, other)
        if before is not None and not same:
            stale[before] = None
    return list(stale)


def _ran(notebook: Notebook) -> Iterator[tuple[Cell, str]]:
    """Yield each cell that has outputs, and the hash of the code that they are of.

    Outputs that may vary are compared with no other run. So they are of all code up to their cell, apart from
    the first, where the address of the package is put when a page is published.
    """
    codes = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            codes.append(code(source(cell)))
            if cell.get("outputs"):
                varies = VARIES in cell["metadata"].get("tags", ())
                yield cell, fingerprint("\n".join(codes[1:] if varies else codes[-1:]))


def stamp_outputs(notebook: Notebook) -> None:
    """Note with the outputs of each cell, in place, which code they are of."""
    for cell, ran in _ran(notebook):
        cell["metadata"].setdefault("d2lmini", {})["ran"] = ran


def old_outputs(notebook: Notebook) -> list[str]:
    """Return the ids of the cells whose outputs are of other code than stands in them."""
    return [cell["id"] for cell, ran in _ran(notebook) if source_hash(cell, "ran") not in (None, ran)]
