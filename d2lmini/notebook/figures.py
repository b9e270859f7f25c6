"""The drawn figures of the chapters: SVG files whose words follow the reader's language."""

import difflib
import re
from functools import cache
from importlib.resources import files
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from d2lmini.language import current_language, words


class Drawing:
    """A figure that a notebook shows as inline SVG; anywhere else it reads as its title.

    Attributes:
        svg: the drawing, in the language that was set when it was asked for.
        title: what it shows, in a few words.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg
        title = ElementTree.fromstring(svg).find("{http://www.w3.org/2000/svg}title")
        self.title = "" if title is None else " ".join("".join(title.itertext()).split())

    def __repr__(self) -> str:
        return self.title

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.title}


def figure(name: str, language: str | None = None) -> Drawing:
    """Return one of the course's figures.

    Args:
        name: the figure's file name without ``.svg``.
        language: of its words; None: the reader's language.

    Returns:
        What a notebook shows when it is the last line of a cell.

    Raises:
        ValueError: there is no such figure (the nearest names are given), or the figure has a word that the
            course does not know.

    Example:
        >>> figure("no such figure")
        Traceback (most recent call last):
        ...
        ValueError: name: there is no figure 'no such figure'...
    """
    if name not in figure_names():
        near = difflib.get_close_matches(str(name), figure_names(), n=3) or figure_names()[:5]
        hint = f"; the nearest are {', '.join(map(repr, near))}" if near else ""
        raise ValueError(f"name: there is no figure {name!r}{hint}")
    svg = (files("d2lmini") / "assets" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    texts = words(language or current_language())["plots"]

    def word(place: re.Match[str]) -> str:
        english = place[1].strip()
        if english not in texts:
            raise ValueError(f"name: the figure {name!r} has the word {english!r}, which [plots] does not")
        return escape(texts[english])

    return Drawing(re.sub(r"\{\{(.+?)\}\}", word, svg))


@cache
def figure_names() -> list[str]:
    """Return the names that `figure` knows, in alphabetical order.

    Example:
        >>> figure_names() == sorted(figure_names())
        True
    """
    folder = files("d2lmini") / "assets" / "figures"
    if not folder.is_dir():
        return []
    return sorted(file.name.removesuffix(".svg") for file in folder.iterdir() if file.name.endswith(".svg"))
