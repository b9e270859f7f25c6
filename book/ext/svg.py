"""Figures as part of the page: they take its fonts, its colors and its theme, and can be read out."""

from html import escape

from sphinx.errors import ExtensionError

from d2lmini.notebook.svg import for_page


def inline(drawing: str, *, prefix: str, alt: str) -> str:
    """An SVG output; its arguments are those of `for_page`."""
    try:
        figure = for_page(drawing, prefix=prefix, alt=alt)
    except ValueError as error:
        raise ExtensionError(
            f"the figure {prefix.rstrip('-')} (cell and number of the output): {error}"
        ) from None
    return f'<div class="figure scroll" data-label="plot">{figure}</div>'


def picture(base64: str, *, alt: str) -> str:
    """A PNG output, with its name."""
    return f'<div class="figure"><img src="data:image/png;base64,{base64}" alt="{escape(alt)}"></div>'
