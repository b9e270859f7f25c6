"""Formulas on paper: what is seen of each has a name, for readers who do not see it."""

import re
from html import escape

from book.sections import in_one_line

MARK = "\u2061"  # an invisible sign: by it `tools/paper/pdf.py` knows formulas from pictures
FORMULA = re.compile(
    r'<span class="katex"><span class="katex-mathml">(<math.*?</math>)</span>'
    r'<span class="katex-html" aria-hidden="true">',
    re.DOTALL,
)


def name_formulas(markup: str) -> str:
    """Return HTML in which formulas are pictures with names: a browser stores no name of anything else.

    The MathML for screen readers would be printed as well.
    """

    def named(formula: re.Match[str]) -> str:
        name = escape(MARK + in_one_line(formula[1]))
        return f'<span class="katex" role="img" aria-label="{name}"><span class="katex-html">'

    return FORMULA.sub(named, markup)
