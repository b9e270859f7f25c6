"""The course's own face inside each page, cut to what the page shows.

So the first paint is in it, without a request, and nothing changes its face afterwards. Later pages pay again
what a file would cost only once; but a file comes after the text, or the text has to wait for it.
"""

import re

from book.ext.assets import SANS, font_face, letters, page_styles, sans
from book.nested import NestedParser
from book.scripts import compact_json
from d2lmini.language import words

FAMILY = "d2lmini Page"  # site.css asks it first, then the whole files
SEMIBOLD = {"b", "strong", "th", "dt", "h1", "h2", "h3", "h4"}
SEMIBOLD_CLASSES = {"brand", "number", "current", "turn", "way-on", "lane-title"}
ITALIC = {"em", "i", "cite", "dfn", "var"}
UNSHOWN = {"script", "style", "title", "desc", "math", "code", "pre"}  # or shown in another face
UNSHOWN_CLASSES = {"katex-mathml", "sig"}
SLOPE = re.compile(r"font-style\s*:\s*(?:italic|oblique)")
WEIGHT = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)")


class _ShownCharacters(NestedParser[frozenset[str]]):
    """Collects which characters a page shows in which style.

    The value of an element: the styles in force in it; none: it is not shown.
    """

    def __init__(self) -> None:
        super().__init__(frozenset({"regular"}))
        self.used: dict[str, set[str]] = {style: set() for style in SANS}

    def enter(self, tag: str, attributes: dict[str, str]) -> frozenset[str]:
        classes = set(attributes.get("class", "").split())
        styles = set(self.open[-1])
        if not styles:
            return frozenset()
        drawn = ";".join(f"{name}:{value}" for name, value in attributes.items() if name.startswith("font-"))
        drawn += f";{attributes.get('style', '')}"
        bold = tag in SEMIBOLD or classes & SEMIBOLD_CLASSES or WEIGHT.search(drawn)
        if bold or "aria-current" in attributes:
            styles.add("semibold")
        if tag == "dl" and "py" in classes:  # the reference of the package emphasizes otherwise
            styles.add("upright")
        if (tag in ITALIC and "upright" not in styles) or SLOPE.search(drawn):
            styles.add("italic")
        self.used["semibold"].update(attributes.get("data-go-on", ""))  # what the link says on a later visit
        return frozenset(() if tag in UNSHOWN or classes & UNSHOWN_CLASSES else styles)

    def data(self, text: str) -> None:
        for style in self.used.keys() & self.open[-1]:
            self.used[style].update(text)


def characters(page: str, kinds: set[str], language: str) -> dict[str, str]:
    """Style → the characters that a page shows in it, its widgets included.

    A letter that stands in nothing but what its widgets know comes with the whole font, when they wake.
    """
    parser = _ShownCharacters()
    parser.read(page)
    said = words(language)
    tables = {"exercise": said["exercises"]} | {f"{k}-explorer": t for k, t in said["explorers"].items()}
    shown = [tables[kind] for kind in kinds]
    written = re.findall(r'content:"([^"]+)"', page_styles())
    texts = compact_json([*shown, said["site"]["script"], written])
    parser.used["regular"] |= {*texts} - {*'{}"\\'}  # those are JSON's
    return {style: "".join(sorted(used & letters(style))) for style, used in parser.used.items()}


def page_faces(page: str, kinds: set[str], language: str) -> str:
    """The rules, with the fonts inside them, in which a page shows its text."""
    return "".join(
        font_face(FAMILY, SANS[style], sans(style), shown)
        for style, shown in characters(page, kinds, language).items()
        if shown.strip()  # a space alone has no outline to cut
    )
