"""The reader's language: one line at the top of a notebook, and every label, message and example follows it.

``words/`` has a file for each language of the course; a language exists because its file does. English is the
source: the other files have its sections and keys, or `words` says where they differ. Code names the labels
of plots by their English text, so that a cell reads the same in every edition of a chapter.
"""

import gettext
import re
import string
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from d2lmini.errors import nearest, one_of

_FILES = files("d2lmini") / "words"
_found = sorted(file.name.removesuffix(".toml") for file in _FILES.iterdir() if file.name.endswith(".toml"))
LANGUAGES = tuple(sorted(_found, key="en".__ne__))  # English first
_FORMS = {"zero", "one", "two", "few", "many", "other"}  # of a plural, as Unicode's CLDR names them
_current = "en"


class WordsError(ValueError):
    """A file of words is damaged or incomplete; the text says where."""


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
    _current = _known(language)


def _known(language: str) -> str:
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


def text(english: str, language: str | None = None) -> str:
    """Return a text of the course in the reader's language.

    Args:
        english: the English text, a key of the section ``[plots]``.
        language: another language than the reader's.

    Raises:
        ValueError: there is no such text (the nearest ones are named), or no such language.

    Example:
        >>> text("cats and dogs drink milk").split()
        ['cats', 'and', 'dogs', 'drink', 'milk']
    """
    texts: dict[str, str] = words(_known(language or _current))["plots"]
    if english not in texts:
        raise ValueError(f"english: the course has no text {english!r}{nearest(english, texts)}")
    return texts[english]


def label(english: str) -> str:
    """Return `text(english)` where the course has it, else the label: plots also show readers' own words.

    Example:
        >>> label("my own axis")
        'my own axis'
    """
    known: dict[str, str] = words(_current)["plots"]
    return known.get(english, english)


def message(key: str, **values: Any) -> str:
    """Return a text of the section ``[messages]`` in the reader's language, filled in.

    Args:
        key: names the text.
        values: what stands in its places; `count` chooses the form of a plural.

    Example:
        >>> message("progress_taken", count=1), message("progress_taken", count=0)
        ('Took over 1 answer.', 'Took over 0 answers.')
    """
    found = words(_current)["messages"][key]
    if isinstance(found, dict):
        rules = words(_current)["language"]["plural"].items()
        fits = (form for form, rule in rules if form in found and gettext.c2py(rule)(values["count"]))
        found = found[next(fits, "other")]
    filled: str = found.format(**values)
    return filled


@cache
def words(language: str) -> dict[str, Any]:
    """Return all words of a language, section by section, as its file has them.

    Args:
        language: one of `LANGUAGES`.

    Raises:
        WordsError: the file is not TOML, or differs from the English one in its keys or in the places that
            are filled in. Every difference is named with file and line.
    """
    source, found = _read(language)
    if language != "en":
        english_source, english = _read("en")
        wrong = [
            f"d2lmini/words/{name}.toml:{_line(text, path)}: {what}"
            for name, path, what in _differences(english, found, language)
            for text in [english_source if name == "en" else source]
        ]
        if wrong:
            raise WordsError("\n".join(wrong))
    return found


def _read(language: str) -> tuple[str, dict[str, Any]]:
    source = (_FILES / f"{language}.toml").read_text(encoding="utf-8")
    try:
        return source, tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise WordsError(f"d2lmini/words/{language}.toml:{line[1] if line else 1}: {error}") from None


def _differences(
    english: Any, other: Any, language: str, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the file to look at, the key, and what is wrong there."""
    key = ".".join(path)
    if isinstance(english, dict) and english.keys() <= _FORMS:
        if not isinstance(other, dict) or "other" not in other or not other.keys() <= _FORMS:
            yield language, path, f"{key} needs its plural forms, {{other = …}} at the least"
            return
        english, other = english["other"], other["other"]
    if type(english) is not type(other):
        yield language, path, f"{key} is {other!r}; in English it is {english!r}"
    elif isinstance(english, dict):
        for name in sorted(english.keys() | other.keys()):
            inner = (*path, name)
            if name not in other:
                yield "en", inner, f"{'.'.join(inner)} is missing in {language}.toml"
            elif name not in english:
                yield language, inner, f"{'.'.join(inner)} does not exist in en.toml"
            elif inner != ("language", "plural"):
                yield from _differences(english[name], other[name], language, inner)
    elif (isinstance(english, list) and len(english) != len(other)) or (english and not other):
        yield language, path, f"{key} lacks a text that it has in English"
    elif _places(str(english)) != _places(str(other)):
        places = ", ".join(f"{{{place}}}" for place in sorted(_places(str(english)))) or "none"
        yield language, path, f"{key} must have the same places to fill in as in English: {places}"


def _places(text: str) -> set[str]:
    """Return the names in braces; what only looks like one (a formula) counts as itself."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return set(re.findall(r"\{[^{}]*\}", text))


def _line(source: str, path: tuple[str, ...]) -> int:
    """Return the line of a key, which tomllib does not tell: in our files each key begins a line."""
    section: tuple[str, ...] = ()
    for number, line in enumerate(source.splitlines(), 1):
        if head := re.fullmatch(r"\[([\w.]+)\]", line):
            section = tuple(head[1].split("."))
        if section == path:
            return number
        if section and section == path[: len(section)]:
            key = path[len(section)]
            if line.startswith((f"{key} =", f'"{key}" =')):
                return number
    return 1
