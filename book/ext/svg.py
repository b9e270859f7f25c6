"""Figures as part of the page: they take its fonts, its colors and its theme, and can be read out."""

from html import escape

from d2lmini.notebook.svg import for_page


def inline(drawing: str, *, prefix: str, alt: str) -> str:
    """An SVG output; its arguments are those of `for_page`."""
    return f'<div class="figure scroll" data-label="plot">{for_page(drawing, prefix=prefix, alt=alt)}</div>'


def picture(base64: str, *, alt: str) -> str:
    """A PNG output, with its name."""
    return f'<div class="figure"><img src="data:image/png;base64,{base64}" alt="{escape(alt)}"></div>'
