"""The reader's language: one line at the top of a notebook, and every label, message and example follows it.

The catalogue (``assets/catalogue.csv``) has a row for each English text, Vietnamese and Chinese beside it.
Code names a text by its English form, so that a cell reads the same in the three editions of a chapter.
"""

import csv
import difflib
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "vi", "zh")
_current = "en"


def use_language(language: str) -> None:
    """Show plots, exercises and messages in this language from now on.

    Args:
        language: ``"en"``, ``"vi"`` or ``"zh"``.

    Raises:
        ValueError: for any other language.

    Example:
        >>> use_language("vi")
        >>> text("training step")
        'bước huấn luyện'
        >>> use_language("en")
    """
    global _current  # noqa: PLW0603  the one setting of a notebook, as in matplotlib's rcParams
    if language not in LANGUAGES:
        raise ValueError(f"language: got {language!r}; choose one of {', '.join(map(repr, LANGUAGES))}")
    _current = language


def current_language() -> str:
    """Return the language set by `use_language`: ``"en"`` at the start.

    Example:
        >>> current_language()
        'en'
    """
    return _current


def text(english: str) -> str:
    """Return a text of the course in the reader's language.

    Args:
        english: the English text, a key of the catalogue.

    Raises:
        KeyError: the catalogue has no such text; the nearest ones are named.

    Example:
        >>> text("cats and dogs drink milk").split()
        ['cats', 'and', 'dogs', 'drink', 'milk']
    """
    row = _catalogue().get(english)
    if row is None:
        near = difflib.get_close_matches(english, _catalogue(), n=3)
        hint = f"; the nearest are {', '.join(map(repr, near))}" if near else ""
        raise KeyError(f"english: the catalogue has no text {english!r}{hint}")
    return row[_current]


def label(english: str) -> str:
    """Return `text(english)` where the catalogue has it, else the label: plots also show readers' own words.

    Example:
        >>> label("my own axis")
        'my own axis'
    """
    return text(english) if english in _catalogue() else english


@cache
def _catalogue() -> dict[str, dict[str, str]]:
    table = (files("d2lmini") / "assets" / "catalogue.csv").read_text(encoding="utf-8")
    return {row["en"]: row for row in csv.DictReader(table.splitlines())}
