"""The course's own face inside each page, cut to what the page shows.

So the first paint is in it, without a request, and nothing changes its face afterwards. Later pages pay again
what a file would cost only once; but a file comes after the text, or the text has to wait for it.
"""

import re
from collections.abc import Mapping

from book.ext.assets import SANS, font_face, letters, page_styles, sans
from book.nested import nested_texts
from book.scripts import compact_json
from d2lmini.language import words

FAMILY = "d2lmini Page"  # site.css asks it first, then the whole files
SEMIBOLD = {"b", "strong", "th", "dt", "h1", "h2", "h3", "h4"}
SEMIBOLD_CLASSES = {"brand", "number", "current", "turn", "way-on", "lane-title"}
ITALIC = {"em", "i", "cite", "dfn", "var"}
UNSHOWN = {"script", "style", "title", "desc", "math", "code", "pre"}  # or shown in another face
UNSHOWN_CLASSES = {"katex-mathml", "sig"}
SLOPE = re.compile(r"font-style\s*:\s*(?:italic|oblique)")
GO_ON = re.compile(r'data-go-on="([^"]*)"')  # what the link says on a later visit
WEIGHT = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)")


def _styles(around: frozenset[str], tag: str, attributes: Mapping[str, str]) -> frozenset[str]:
    """Return the styles in force in an element; none: it is not shown."""
    classes = set(attributes.get("class", "").split())
    if not around or tag in UNSHOWN or classes & UNSHOWN_CLASSES:
        return frozenset()
    styles = set(around)
    drawn = ";".join(f"{name}:{value}" for name, value in attributes.items())  # a drawing has them by name
    if tag in SEMIBOLD or classes & SEMIBOLD_CLASSES or "aria-current" in attributes or WEIGHT.search(drawn):
        styles.add("semibold")
    if tag == "dl" and "py" in classes:  # the reference of the package emphasizes otherwise
        styles.add("upright")
    if (tag in ITALIC and "upright" not in styles) or SLOPE.search(drawn):
        styles.add("italic")
    return frozenset(styles)


def characters(page: str, kinds: set[str], language: str) -> dict[str, str]:
    """Style → the characters that a page shows in it, its widgets included.

    A letter that stands in nothing but what its widgets know comes with the whole font, when they wake.
    """
    used: dict[str, set[str]] = {style: set() for style in SANS}
    for styles, text in nested_texts(page, frozenset({"regular"}), _styles):
        for style in used.keys() & styles:
            used[style].update(text)
    used["semibold"].update(*GO_ON.findall(page))
    said = words(language)
    tables = {"exercise": said["exercises"]} | {f"{k}-explorer": t for k, t in said["explorers"].items()}
    shown = [tables[kind] for kind in kinds]
    written = re.findall(r'content:"([^"]+)"', page_styles())
    texts = compact_json([*shown, said["site"]["script"], written])
    used["regular"] |= {*texts} - {*'{}"\\'}  # those are JSON's
    return {style: "".join(sorted(shown & letters(style))) for style, shown in used.items()}


def page_faces(page: str, kinds: set[str], language: str) -> str:
    """The rules, with the fonts inside them, in which a page shows its text."""
    return "".join(
        font_face(FAMILY, SANS[style], sans(style), shown)
        for style, shown in characters(page, kinds, language).items()
        if shown.strip()  # a space alone has no outline to cut
    )
