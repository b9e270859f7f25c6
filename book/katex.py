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
# JSON out, so that both engines hand back one kind of value
_TYPESET = r"""
function typeset(source, display, output) {
  try {
    return JSON.stringify({html: katex.renderToString(source,
      {displayMode: display, throwOnError: true, strict: "ignore", output: output})})
  } catch (error) { return JSON.stringify({error: String(error.message || error)}) }
}
"""


def _accented() -> str:
    r"""JavaScript by which KaTeX takes accented letters in `\text{…}` from the page's font, with its metrics.

    KaTeX's fonts have none: it would pile accents on a plain letter, two of them far apart.
    """
    font = TTFont(PAGE_FONT)
    outlines, widths, em = font["glyf"], font["hmtx"], font["head"].unitsPerEm / TEXT_SIZE
    metrics = {}
    for letter, name in font.getBestCmap().items():
        if letter >= 0xC0 and unicodedata.category(chr(letter)).startswith("L"):
            low, high = outlines[name].yMin, outlines[name].yMax
            metrics[letter] = [max(0, -low) / em, high / em, 0, 0, widths[name][0] / em]
    return f"""
for (const style of ["Regular", "Bold", "Italic", "BoldItalic"])
  katex.__setFontMetrics("page-" + style, {json.dumps(metrics)});
for (const letter of {json.dumps(list(map(chr, metrics)))})
  katex.__defineSymbol("text", "page", "textord", letter, letter);
"""


@cache
def _engine() -> Callable[[str, bool, str], str]:
    program = (FOLDER / "katex.min.js").read_text(encoding="utf-8") + _accented() + _TYPESET
    return function(program, "typeset")


@lru_cache(maxsize=4096)
def typeset(source: str, display: bool, output: str) -> dict[str, str]:
    """Return {"html": markup} of a formula, or {"error": why KaTeX cannot typeset it}.

    Args:
        source: the formula in TeX.
        display: on a line of its own.
        output: KaTeX's `output`: ``"mathml"`` or ``"htmlAndMathml"``.
    """
    return json.loads(_engine()(source, display, output))
