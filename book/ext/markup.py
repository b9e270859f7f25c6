"""Compact markup: drop what Sphinx and Pygments write and nothing reads, and say repeated styles once."""

import re
from collections import Counter

from book.ext.assets import code_styles

UNREAD = {
    *("container", "docutils", "external", "field-even", "field-odd", "internal", "literal", "notranslate"),
    *("reference", "row-even", "row-odd", "simple", "std", "std-doc", "std-ref", "descname", "descclassname"),
    *("sig-param", "xref", "py-obj", "toctree-wrapper", "compound"),
}
# spans that need not be there: signatures nest, the last ones hold the others
UNWRAPPED = ("pre", "w", "default_value", "sig-return-icon", "n", "sig-return-typehint")
# the classes of an element; a block of code; a token in it and its class; a span with a style
CLASSES = re.compile(r' class="([^"]*)"')
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
TOKEN = re.compile(r'<span(?: class="([^"]*)")?>([^<]*)</span>')
STYLED = re.compile(r'<span(?: class="([^"]*)")? style="([^"]*)">')
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


def compact_markup(page: str) -> tuple[str, str]:
    """Return the page in less markup, which looks and reads the same, and the rules that go with it."""
    page = NAMESPACE.sub("", _plain_tokens(_without_classes(page)))
    times = Counter(style for _, style in STYLED.findall(page))
    repeated = [style for style in times if times[style] > 1]
    name = {style: f"k{number}" for number, style in enumerate(repeated)}

    def by_name(match: re.Match[str]) -> str:
        if match[2] not in name:
            return match[0]
        return f'<span class="{" ".join(filter(None, (match[1], name[match[2]])))}">'

    rules = "".join(f":root .katex .{short}{{{style}}}" for style, short in name.items())
    return STYLED.sub(by_name, page), rules
