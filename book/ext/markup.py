"""Compact markup: drop what Sphinx and Pygments write and nothing reads."""

import re

from book.ext.assets import code_styles

UNREAD = {
    *("mord", "mbin", "mrel", "mopen", "mclose", "mpunct", "mtight"),  # KaTeX's, which no rule of it names
    *("container", "docutils", "external", "field-even", "field-odd", "internal", "literal", "notranslate"),
    *("reference", "row-even", "row-odd", "simple", "std", "std-doc", "std-ref", "descname", "descclassname"),
    *("sig-param", "xref", "py-obj", "toctree-wrapper", "compound", "myst"),
}
# spans that need not be there: signatures nest, the last ones hold the others
UNWRAPPED = ("pre", "w", "default_value", "sig-return-icon", "n", "sig-return-typehint")
# the classes of an element; a block of code; a token in it and its class
CLASSES = re.compile(r' class="([^"]*)"')
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
TOKEN = re.compile(r'<span(?: class="([^"]*)")?>([^<]*)</span>')
# a browser knows it without being told; the second holds a formula and its TeX together, and there is no TeX
HIDDEN = '<span class="colon">:</span>'
NAMESPACE = re.compile(r' xmlns="http://www\.w3\.org/1998/Math/MathML"|</?semantics>')


def compact_markup(page: str) -> str:
    """Return the page in less markup, which looks and reads the same."""
    styled = set(re.findall(r"\.highlight \.(\w+)", code_styles()))

    def without_unread(classes: re.Match[str]) -> str:
        read = " ".join(name for name in classes[1].split() if name not in UNREAD)
        return f' class="{read}"' if read else ""

    def only_styled(token: re.Match[str]) -> str:
        return token[0] if token[1] in styled and token[2] != "." else token[2]

    page = CLASSES.sub(without_unread, page)
    page = CODE.sub(lambda code: TOKEN.sub(only_styled, code[0]), page)
    page = page.replace(HIDDEN, "")
    for unread in UNWRAPPED:
        page = re.sub(
            rf'<span class="{unread}">((?:[^<]|<wbr>|<span class="[op]">[^<]*</span>)*)</span>', r"\1", page
        )
    return NAMESPACE.sub("", page)
