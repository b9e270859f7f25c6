"""The course's own face inside each page, cut to what the page shows.

So the first paint is in it, without a request and without a change of face. Measured on a slow phone, 1.6 Mbit/s:
the three styles of a page are 9 to 17 KB inside it; as files, which later pages would have at hand, they came some
200 ms after the text, and a page that waits for them shows its text later than it now has loaded.
"""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

from book.ext.assets import STATIC, VOID, font_face, page_styles
from d2lmini.language import words

FAMILY = "d2lmini Page"  # site.css asks it first, then the whole files
STYLES = {"regular": "font-weight:400", "semibold": "font-weight:600 700", "italic": "font-style:italic"}
SEMIBOLD = {"b", "strong", "th", "dt", "h1", "h2", "h3", "h4"}
SEMIBOLD_CLASSES = {"brand", "number", "current", "turn"}
ITALIC = {"em", "i", "cite", "dfn", "var"}
UNSHOWN = {"script", "style", "title", "desc", "math", "code", "pre"}  # or shown in another face
UNSHOWN_CLASSES = {"katex-mathml", "sig"}
SLOPE = re.compile(r"font-style\s*:\s*(?:italic|oblique)")
WEIGHT = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)")


class _ShownCharacters(HTMLParser):
    """Collects which characters a page shows in which style."""

    def __init__(self) -> None:
        super().__init__()
        self.used: dict[str, set[str]] = {style: set() for style in STYLES}
        self.open: list[frozenset[str]] = []  # the styles in force for each open element; none: not shown
        self.reference = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        given = {name: value or "" for name, value in attrs}
        classes = set(given.get("class", "").split())
        self.reference |= "py" in classes
        styles = set(self.open[-1] if self.open else {"regular"})
        drawn = ";".join(f"{name}:{value}" for name, value in given.items() if name.startswith("font-"))
        drawn += f";{given.get('style', '')}"
        if tag in SEMIBOLD or classes & SEMIBOLD_CLASSES or "aria-current" in given or WEIGHT.search(drawn):
            styles.add("semibold")
        if (tag in ITALIC and not self.reference) or SLOPE.search(drawn):
            styles.add("italic")
        if tag in UNSHOWN or classes & UNSHOWN_CLASSES:
            styles = set()
        self.open.append(frozenset(styles if self.open and self.open[-1] or not self.open else ()))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        for style in self.open[-1] if self.open else ():
            self.used[style].update(data)


def _texts(node: Any, style: str = "regular") -> Iterator[tuple[str, str]]:
    """The texts of what a widget knows, each with its style; formulas and code have faces of their own."""
    if isinstance(node, str):
        yield style, node
    elif isinstance(node, list):
        for part in node:
            yield from _texts(part, style)
    elif isinstance(node, dict):
        for key, part in node.items():
            if key not in ("m", "c"):
                yield from _texts(part, {"b": "semibold", "i": "italic"}.get(key, style))


def characters(page: str, states: list[Any], kinds: set[str], language: str) -> dict[str, str]:
    """Style → the characters that a page shows in it, its widgets included."""
    parser = _ShownCharacters()
    parser.feed(page)
    known = words(language)
    shown = [known["exercises"] if k == "exercise" else known["explorers"][k.removesuffix("-explorer")] for k in kinds]
    written = re.findall(r'content:"([^"]+)"', page_styles())
    for style, text in _texts([states, *shown, known["site"]["script"], written]):
        parser.used[style].update(text)
    return {
        style: "".join(sorted(found & _known(style))) for style, found in parser.used.items()
    }


@cache
def _known(style: str) -> frozenset[str]:
    from fontTools.ttLib import TTFont
    return frozenset(map(chr, TTFont(STATIC / "fonts" / f"d2lmini-sans-{style}.woff2").getBestCmap()))


def page_faces(page: str, states: list[Any], kinds: set[str], language: str) -> str:
    """The rules, with the fonts inside them, in which a page shows its text."""
    found = characters(page, states, kinds, language)
    return "".join(
        font_face(FAMILY, STYLES[style], STATIC / "fonts" / f"d2lmini-sans-{style}.woff2", shown)
        for style, shown in found.items()
        if shown
    )
