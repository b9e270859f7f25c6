"""Formulas typeset while the site is built, each once, as HTML for the eye and MathML for screen readers."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from book import katex
from d2lmini.letters import CLOSING

SEAM = "\u2060"
SHORT = 48  # letters of a formula in TeX that any line has room for
MARKED = re.compile(f"{SEAM}</span>([{CLOSING}]+)")
# the TeX source inside the MathML is read by no screen reader and is a fifth of the markup
ANNOTATION = re.compile(r'<annotation encoding="application/x-tex">.*?</annotation>', re.DOTALL)


class FormulaError(SphinxError):
    """A formula that KaTeX cannot typeset."""

    category = "Formula error"


def render(source: str, *, display: bool, where: str) -> str:
    """HTML and MathML of a formula.

    Raises:
        FormulaError: KaTeX cannot typeset it; names the page (`where`), the formula and the reason.
    """
    answer = katex.typeset(source.strip(), display, "htmlAndMathml")
    if "error" in answer:
        raise FormulaError(f"{where}: ${source.strip()}$: {answer['error']}")
    return ANNOTATION.sub("", answer["html"])


def _inline(self: Any, node: nodes.math) -> None:
    formula = render(node.astext(), display=False, where=self.builder.current_docname)
    after = node.next_node(descend=False, siblings=True)
    if isinstance(after, nodes.Text) and re.match(f"[{CLOSING}]", after) and len(node.astext()) < SHORT:
        formula = f'<span class="d2l-bound">{formula}{SEAM}</span>'  # no line may begin with the mark
    self.body.append(formula)
    raise nodes.SkipNode


def with_marks(page: str) -> str:
    """Let no line begin with the mark behind a formula: move the mark into what is kept whole."""
    return MARKED.sub(r"\1</span>", page)


def _display(self: Any, node: nodes.math_block) -> None:
    anchor = f' id="{node["anchor"]}"' if "anchor" in node else ""
    formula = render(node.astext(), display=True, where=self.builder.current_docname)
    self.body.append(f'<div class="formula scroll" data-label="formula"{anchor}>{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("d2lmini", inline_renderers=(_inline, None), block_renderers=(_display, None))
