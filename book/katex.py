"""KaTeX itself, in a JavaScript engine inside this process: formulas of the pages and of the exercises."""

import json
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent / "vendor" / "katex"
# JSON out, so that both engines hand back one kind of value
_TYPESET = r"""
function typeset(source, display, output) {
  try {
    return JSON.stringify({html: katex.renderToString(source,
      {displayMode: display, throwOnError: true, strict: "ignore", output: output})})
  } catch (error) { return JSON.stringify({error: String(error.message || error)}) }
}
"""


@cache
def _engine() -> Callable[[str, bool, str], str]:
    program = (FOLDER / "katex.min.js").read_text(encoding="utf-8") + _TYPESET
    try:
        import quickjs
    except ImportError:  # an Intel Mac, for which quickjs-ng has no wheel
        from py_mini_racer import MiniRacer

        racer = MiniRacer()
        racer.eval(program)
        return lambda source, display, output: str(racer.call("typeset", source, display, output))
    context = quickjs.Context()
    context.eval(program)
    typeset: Callable[[str, bool, str], str] = context.get("typeset")
    return typeset


@lru_cache(maxsize=4096)
def typeset(source: str, display: bool, output: str) -> dict[str, str]:
    """Return {"html": markup} of a formula, or {"error": why KaTeX cannot typeset it}.

    Args:
        source: the formula in TeX.
        display: on a line of its own.
        output: KaTeX's `output`: ``"mathml"`` or ``"htmlAndMathml"``.
    """
    answer: dict[str, str] = json.loads(_engine()(source, display, output))
    return answer
