"""Stylesheets, formula fonts and widget modules of the finished site."""

import base64
import hashlib
import io
import logging
import re
import shutil
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import fontTools
from fontTools.ttLib import TTFont
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES
from sphinx.application import Sphinx

from book import scripts
from book.chapters import store
from book.ext.css import minify
from book.katex import FOLDER as KATEX
from book.nested import nested_texts
from d2lmini.notebook import palette
from d2lmini.notebook.widgets import KINDS, module_source

BOOK = Path(__file__).parents[1]
STATIC = BOOK / "theme" / "static"
WIDGETS = BOOK.parent / "d2lmini" / "notebook" / "widgets"
ICON = base64.b64encode((STATIC / "icon.svg").read_bytes()).decode()
SANS = {"regular": "font-weight:400", "semibold": "font-weight:600 700", "italic": "font-style:italic"}
# the system's faces that stand in for it, by their names; and their styles
FALLBACKS = ("Arial", "Liberation Sans", "Roboto", "Helvetica Neue")
STYLE_NAMES = {"regular": "", "semibold": " Bold", "italic": " Italic"}
CUT_FONTS = BOOK.parent / "_build" / "fonts"
CHECKPOINTS = BOOK.parent / "d2lmini" / "assets" / "checkpoints"
# it reports every step, and Sphinx shows all logging
logging.getLogger("fontTools").setLevel(logging.WARNING)
# the colors of code in each theme, and the color among them that is the text's
CODE_STYLES = {
    "": ("a11y-high-contrast-light", "080808"),
    '[data-theme="dark"] ': ("github-dark", "e6edf3"),
}
PRINTED = ("go", "gp")  # which only one of the two knows


def formula_characters(page: str) -> dict[str, str]:
    """Return the characters that a page's formulas show, by the name of their font in KaTeX."""

    def font_inside(font: str, tag: str, attributes: Mapping[str, str]) -> str:
        classes = attributes.get("class", "").split()
        if "katex-html" in classes:
            return "Main-Regular"
        # the nearest element that sets a font decides
        return font and next((name for needed, name in formula_fonts() if needed.issubset(classes)), font)

    used: defaultdict[str, set[str]] = defaultdict(set)
    for font, text in nested_texts(page, "", font_inside):
        used[font].update(text)
    return {font: "".join(sorted(shown)) for font, shown in sorted(used.items()) if font and shown}


def cut_font(path: Path, characters: str) -> bytes:
    """Return a font with only these characters, as woff2; kept for later builds, as cutting takes long."""
    made_from = hashlib.sha256(Path(__file__).read_bytes() + fontTools.version.encode() + path.read_bytes())
    made_from.update(characters.encode())
    file = CUT_FONTS / f"{made_from.hexdigest()[:32]}.woff2"
    if not file.exists():
        CUT_FONTS.mkdir(parents=True, exist_ok=True)
        font = TTFont(io.BytesIO(_unpacked(path)), recalcTimestamp=False)
        # without names: the licenses reserve them for the unchanged fonts
        keep_only(font, characters, desubroutinize=True, notdef_outline=False, name_IDs=[])
        store(file, saved(font, "woff2"))
    return file.read_bytes()


def saved(font: TTFont, flavor: str | None = None) -> bytes:
    """Return a font as the bytes of a file."""
    font.flavor = flavor
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


@cache
def _unpacked(path: Path) -> bytes:
    """A font as it is before it is packed: unpacking takes as long as cutting."""
    return saved(TTFont(path, recalcTimestamp=False))


def keep_only(font: TTFont, characters: str, **options: Any) -> None:
    """Take from a font all other characters."""
    from fontTools import subset  # slow to import, and most builds find every font cut

    cutter = subset.Subsetter(subset.Options(hinting=False, **options))
    cutter.options.drop_tables += ["BASE", "STAT"]
    cutter.populate(text=characters)
    cutter.subset(font)


def font_face(family: str, style: str, path: Path, characters: str) -> str:
    """A font, cut and inside its rule: no text changes its face or its width after it is shown."""
    data = base64.b64encode(cut_font(path, characters)).decode()
    return (
        f"@font-face{{font-family:{family};{style};font-display:block;"
        f'src:url("data:font/woff2;base64,{data}") format("woff2")}}'
    )


def sans(style: str) -> Path:
    """The file of the course's own face in a style, a key of `SANS`."""
    return STATIC / "fonts" / f"d2lmini-sans-{style}.woff2"


@cache
def letters(style: str) -> frozenset[str]:
    """The characters that the course's own face has in a style."""
    return frozenset(map(chr, TTFont(sans(style)).getBestCmap()))


def sans_faces() -> str:
    """The rules of the whole files; each names its letters, so that no page fetches it for another one."""
    rules = ""
    for style, rule in SANS.items():
        points = enumerate(sorted(map(ord, letters(style))))
        # among letters that follow each other, a code point stays as far ahead of its place
        runs = [[point for _, point in run] for _, run in groupby(points, lambda pair: pair[1] - pair[0])]
        ranges = ",".join("U+" + "-".join(f"{end:X}" for end in sorted({run[0], run[-1]})) for run in runs)
        rules += (
            f"@font-face{{font-family:d2lmini Sans;{rule};font-display:swap;"
            f'src:url("fonts/{sans(style).name}") format("woff2");unicode-range:{ranges}}}'
        )
        # at the width and height of ours: nothing moves if ours comes late
        local = ",".join(f'local("{name}{STYLE_NAMES[style]}")' for name in FALLBACKS)
        rules += (
            f'@font-face{{font-family:"d2lmini fallback";{rule};src:{local};size-adjust:93%;'
            "ascent-override:107%;descent-override:35%;line-gap-override:0%}"
        )
    return rules


def formula_face(name: str, characters: str) -> str:
    """One of KaTeX's fonts, cut and inside its rule."""
    family, _, style = name.partition("-")
    weight = 700 if "Bold" in style else 400
    slope = "italic" if "Italic" in style else "normal"
    path = KATEX / "fonts" / f"KaTeX_{name}.woff2"
    return font_face(f"KaTeX_{family}", f"font-style:{slope};font-weight:{weight}", path, characters)


@cache
def formula_rules() -> str:
    """KaTeX's rules without its fonts."""
    rules = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    return minify(re.sub(r"@font-face\{[^}]*\}", "", rules))


@cache
def formula_fonts() -> list[tuple[set[str], str]]:
    """Classes that together set a font, as KaTeX's rules have them, and the name of that font."""
    fonts = []
    for selectors, rule in re.findall(r"([^{}]+)\{([^{}]*)\}", formula_rules()):
        if font := re.search(r"font-(?:family:KaTeX_(\w+)|weight:700|style:italic)", rule):
            style = "Bold" * ("weight:700" in rule) + "Italic" * ("style:italic" in rule) or "Regular"
            for selector in selectors.split(","):
                needed = selector.split()[-1].removesuffix(">span").split(".")[1:]
                fonts.append((set(needed), f"{font[1] or 'Main'}-{style}"))
    return fonts


def colors() -> str:
    """The colors of the course as rules for the two themes of a page."""
    return (
        f":root{{color-scheme:light;{palette.css(dark=False)}}}"
        f':root[data-theme="dark"]{{color-scheme:dark;{palette.css(dark=True)}}}'
    )


@cache
def page_styles() -> str:
    """The theme's stylesheet."""
    return minify(colors() + sans_faces() + (STATIC / "site.css").read_text(encoding="utf-8"))


@cache
def welcome_styles() -> str:
    """Those of the first page alone: its map, and its explorer before the explorer's own styles are there."""
    explorer = (WIDGETS / "listening-explorer.css").read_text(encoding="utf-8").replace("--w-", "--d2l-")
    return minify((STATIC / "welcome.css").read_text(encoding="utf-8") + explorer)


@cache
def code_styles() -> str:
    """The colors of code in both themes; the text's needs no rule, but where the light theme has another."""
    rules: dict[tuple[str, str], str] = {}
    for theme, (style, plain) in CODE_STYLES.items():
        for token, look in get_style_by_name(style):
            name = STANDARD_TYPES.get(token)
            if name and name not in PRINTED and (look["color"] not in (None, plain) or ("", name) in rules):
                slope = ";font-style:italic" if look["italic"] else ""
                rules[theme, name] = f"{theme}.highlight .{name}{{color:#{look['color']}{slope}}}"
    return "".join(rules.values())


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    static, language = Path(app.builder.outdir) / "_static", app.config.d2lmini_language
    (static / "notes.json").write_text(scripts.notes(app.env.metadata), encoding="utf-8")
    if app.config.d2lmini_languages and (static / "checkpoints").exists():
        return  # a folder of `book.build` begins empty when anything but a notebook changes
    shutil.copytree(
        CHECKPOINTS, static / "checkpoints", ignore=shutil.ignore_patterns("*.md"), dirs_exist_ok=True
    )
    (static / "widgets").mkdir(exist_ok=True)
    modules = {name: scripts.script(name, language) for name in scripts.NAMES}
    modules |= {f"widgets/{kind}": module_source(kind, language) for kind in KINDS}
    for name, text in modules.items():
        (static / f"{name}.js").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write)
