"""The drawings of the chapters, with the reader's words; the files in `assets/figures` are the source."""

from functools import cache
from importlib.resources import files

from d2lmini.errors import nearest
from d2lmini.language import text
from d2lmini.notebook import svg


class Drawing:
    """A figure that a notebook shows as inline SVG; anywhere else it reads as its title.

    Attributes:
        svg: the drawing, in the language that was set when it was asked for.
        title: what it shows, in a few words.
    """

    def __init__(self, drawing: str) -> None:
        # ink on paper, also where the page around it is dark
        self.svg = drawing.replace("<svg ", '<svg style="background:var(--d2l-bg,#fff)" ', 1)
        self.title = svg.title_of(drawing)

    def __repr__(self) -> str:
        return self.title

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        shown = self.svg.replace('"inherit"', '"sans-serif"', 1)  # in JupyterLab it is an <img>
        return {"image/svg+xml": shown, "text/plain": self.title}


def figure(name: str, language: str | None = None) -> Drawing:
    """Return one of the course's figures, with its words in the reader's language.

    Args:
        name: the figure's file name without ``.svg``.
        language: another language than the reader's, whose setting stays as it is.

    Returns:
        What a notebook shows when it is the last line of a cell.

    Raises:
        ValueError: there is no such figure (the nearest names are given), or no such language.

    Example:
        >>> figure("no such figure")
        Traceback (most recent call last):
        ...
        ValueError: name: there is no figure 'no such figure'...
    """
    if name not in figure_names():
        raise ValueError(f"name: there is no figure {name!r}{nearest(name, figure_names(), cutoff=0)}")
    drawing = (files("d2lmini") / "assets" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    return Drawing(svg.from_drawing(drawing, lambda english: text(english, language)))


@cache
def figure_names() -> list[str]:
    """Return the names that `figure` knows, in alphabetical order.

    Example:
        >>> figure_names() == sorted(figure_names())
        True
    """
    folder = files("d2lmini") / "assets" / "figures"
    return sorted(file.name.removesuffix(".svg") for file in folder.iterdir() if file.name.endswith(".svg"))
