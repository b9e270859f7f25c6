"""Formulas typeset while the site is built: KaTeX itself, in a JavaScript engine inside this process."""

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import SphinxError

KATEX = Path(__file__).parents[1] / "vendor" / "katex"
# JSON out, so that both engines hand back one kind of value
TYPESET = r"""
function typeset(source, display) {
  try {
    return JSON.stringify({html: katex.renderToString(source,
      {displayMode: display, throwOnError: true, strict: "ignore", output: "htmlAndMathml"})})
  } catch (error) { return JSON.stringify({error: String(error.message || error)}) }
}
"""
# the TeX source inside the MathML is read by no screen reader and is a fifth of the markup
ANNOTATION = re.compile(r'<annotation encoding="application/x-tex">.*?</annotation>', re.DOTALL)


class FormulaError(SphinxError):
    """A formula that KaTeX cannot typeset."""

    category = "Formula error"


@cache
def _engine() -> Callable[[str, bool], str]:
    program = (KATEX / "katex.min.js").read_text(encoding="utf-8") + TYPESET
    try:
        import quickjs
    except ImportError:  # an Intel Mac, for which quickjs-ng has no wheel
        from py_mini_racer import MiniRacer

        racer = MiniRacer()
        racer.eval(program)
        return lambda source, display: str(racer.call("typeset", source, display))
    context = quickjs.Context()
    context.eval(program)
    typeset: Callable[[str, bool], str] = context.get("typeset")
    return typeset


@lru_cache(maxsize=4096)
def _typeset(source: str, display: bool) -> dict[str, str]:
    answer: dict[str, str] = json.loads(_engine()(source, display))
    return answer


def render(source: str, *, display: bool, where: str) -> str:
    """HTML and MathML of a formula.

    Raises:
        FormulaError: KaTeX cannot typeset it; names the page (`where`), the formula and the reason.
    """
    answer = _typeset(source.strip(), display)
    if "error" in answer:
        raise FormulaError(f"{where}: ${source.strip()}$: {answer['error']}")
    return ANNOTATION.sub("", answer["html"])


def _where(translator: Any, node: nodes.Element) -> str:
    return str(translator.builder.current_docname)


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(render(node.astext(), display=False, where=_where(self, node)))
    raise nodes.SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    anchor = f' id="{node["anchor"]}"' if "anchor" in node else ""
    formula = render(node.astext(), display=True, where=_where(self, node))
    self.body.append(f'<div class="formula scroll" data-label="formula"{anchor}>{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("d2lmini", inline_renderers=(_inline, None), block_renderers=(_display, None))
