"""KaTeX itself, in a JavaScript engine inside this process: formulas of the pages and of the exercises."""

import json
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from fontTools.ttLib import TTFont

from book.javascript import function

FOLDER = Path(__file__).parent / "vendor" / "katex"
PAGE_FONT = Path(__file__).parent / "theme" / "static" / "fonts" / "d2lmini-sans-regular.woff2"
TEXT_SIZE = 0.94  # of the page's font inside a formula, as in site.css: there it is as large as around it


def _accented() -> dict[int, list[float]]:
    """Return the metrics of the accented letters of the page's font, as KaTeX knows them."""
    font = TTFont(PAGE_FONT)
    outlines, widths, em = font["glyf"], font["hmtx"], font["head"].unitsPerEm / TEXT_SIZE
    metrics = {}
    for letter, name in font.getBestCmap().items():
        if letter >= 0xC0 and unicodedata.category(chr(letter)).startswith("L"):
            low, high = outlines[name].yMin, outlines[name].yMax
            metrics[letter] = [max(0, -low) / em, high / em, 0, 0, widths[name][0] / em]
    return metrics


@cache
def _engine() -> Callable[[str, bool, str], str]:
    files = (FOLDER / "katex.min.js", Path(__file__).with_suffix(".js"))
    program = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return function(f"{program}\ntakeLetters({json.dumps(_accented())})", "typeset")


@lru_cache(maxsize=4096)
def typeset(source: str, display: bool, output: str) -> dict[str, str]:
    """Return {"html": markup} of a formula, or {"error": why KaTeX cannot typeset it}.

    Args:
        source: the formula in TeX.
        display: on a line of its own.
        output: KaTeX's `output`: ``"mathml"`` or ``"htmlAndMathml"``.
    """
    return json.loads(_engine()(source, display, output))
