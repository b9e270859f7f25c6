"""Read what was measured for the pages and is shipped with them: a CSV file an experiment."""

import csv
from collections.abc import Callable
from importlib.resources import files
from typing import Any


def read_rows(name: str, **types: Callable[[str], Any]) -> list[dict[str, Any]]:
    """Return the rows of `assets/<name>.csv`: a column named here is converted by this, others stay text.

    Example:
        >>> read_rows("since", seed=int)[0]["seed"]
        0
    """
    with (files("d2lmini") / "assets" / f"{name}.csv").open(encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [{column: types.get(column, str)(cell) for column, cell in row.items()} for row in rows]


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell that holds several.

    Example:
        >>> numbers("0.5 1.25")
        [0.5, 1.25]
    """
    return [float(number) for number in cell.split()]
