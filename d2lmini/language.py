"""The reader's language: one line at the top of a notebook, and every label, message and example follows it.

``words/`` has a file for each language of the course; a language exists because its file does. English is the
source: a test compares the other files with it. Code names the labels of plots by their English text, so that
a cell reads the same in every edition of a chapter.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from d2lmini.errors import nearest, one_of

_FILES = files("d2lmini") / "words"
_codes = (file.name.removesuffix(".toml") for file in _FILES.iterdir() if file.name.endswith(".toml"))
LANGUAGES = tuple(sorted(_codes, key=lambda code: (code != "en", code)))  # English first
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
    _current = _checked(language)


def _checked(language: str) -> str:
    """Return a language of the course as it is; refuse any other."""
    if language not in LANGUAGES:
        raise ValueError(one_of("language", language, LANGUAGES))
    return language


def current_language() -> str:
    """Return the language set by `use_language`: ``"en"`` at the start.

    Example:
        >>> current_language()
        'en'
    """
    return _current


def text(english: str, language: str | None = None, **values: object) -> str:
    """Return a text of the course in the reader's language.

    Args:
        english: the English text, a key of the section ``[plots]``.
        language: another language than the reader's.
        **values: what stands in its places, `{name}`.

    Raises:
        ValueError: there is no such text (the nearest ones are named), or no such language.

    Example:
        >>> text("cats and dogs drink milk").split()
        ['cats', 'and', 'dogs', 'drink', 'milk']
        >>> text("Values from {low} to {high}", low=0, high=1)
        'Values from 0 to 1'
    """
    texts: dict[str, str] = words(_checked(language or _current))["plots"]
    if english not in texts:
        raise ValueError(f"english: the course has no text {english!r}{nearest(english, texts)}")
    return fill(texts[english], **values) if values else texts[english]


def label(english: str) -> str:
    """Return `text(english)` where the course has it, else the label: plots also show readers' own words.

    Example:
        >>> label("my own axis")
        'my own axis'
    """
    texts: dict[str, str] = words(_current)["plots"]
    return texts.get(english, english)


def message(key: str, **values: object) -> str:
    """Return a text of the section ``[messages]`` in the reader's language, filled in.

    Args:
        key: names the text.
        **values: what stands in its places; `count` chooses the form of a plural.

    Example:
        >>> message("progress_taken", count=1), message("progress_taken", count=0)
        ('Took over 1 answer.', 'Took over 0 answers.')
    """
    forms = words(_current)["messages"][key]
    if isinstance(forms, str):
        return fill(forms, **values)
    rules = words(_current)["language"]["plural"]  # form -> condition on n, in Python
    fits = (form for form in rules if form in forms and eval(rules[form], {"n": values["count"]}))
    return fill(forms[next(fits, "other")], **values)


def fill(text: str, **values: object) -> str:
    """Put values into the places of a text, `{name}`.

    Raises:
        KeyError: a place has no value.

    Example:
        >>> fill("{done} of {total}", done=1, total=2)
        '1 of 2'
    """
    try:
        return text.format(**values)
    except KeyError as error:
        raise KeyError(f"{error.args[0]}: give a value for this place of {text!r}") from None


@cache
def words(language: str) -> dict[str, Any]:
    """Return all words of a language, section by section, as its file has them.

    Args:
        language: one of `LANGUAGES`.
    """
    return tomllib.loads((_FILES / f"{language}.toml").read_text(encoding="utf-8"))
