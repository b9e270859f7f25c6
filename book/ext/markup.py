"""Compact markup: drop what Sphinx and Pygments write and nothing reads."""

import re

from book.ext.assets import code_styles

UNREAD = {
    *(
        "container",
        "docutils",
        "external",
        "field-even",
        "field-odd",
        "internal",
        "literal",
        "myst",
        "notranslate",
    ),
    *("reference", "row-even", "row-odd", "simple", "std", "std-doc", "std-ref", "descname", "descclassname"),
    *("sig-param", "xref", "py-obj", "toctree-wrapper", "compound"),
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


def _without_classes(part: str) -> str:
    def without_unread(match: re.Match[str]) -> str:
        read = " ".join(name for name in match[1].split() if name not in UNREAD)
        return f' class="{read}"' if read else ""

    return CLASSES.sub(without_unread, part)


def _without_tokens(code: str, styled: set[str]) -> str:
    """Leave only the tokens that have a style of their own."""
    return TOKEN.sub(lambda match: match[0] if match[1] in styled and match[2] != "." else match[2], code)


def _plain_tokens(part: str) -> str:
    styled = set(re.findall(r"\.highlight \.(\w+)", code_styles()))
    part = CODE.sub(lambda code: _without_tokens(code[0], styled), part)
    part = part.replace(HIDDEN, "")
    for unread in UNWRAPPED:
        part = re.sub(
            rf'<span class="{unread}">((?:[^<]|<wbr>|<span class="[op]">[^<]*</span>)*)</span>', r"\1", part
        )
    return part


def compact_markup(page: str) -> str:
    """Return the page in less markup, which looks and reads the same."""
    return NAMESPACE.sub("", _plain_tokens(_without_classes(page)))
