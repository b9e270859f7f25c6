"""The Chinese face of the printed edition: the machine's own, for the characters of the book.

Its outlines are of another kind than those of the course's face: a browser would put them into a PDF as
drawings of single letters, without a name. Of a TrueType face it makes a subset, a font like any other.
"""

import os
from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTCollection, TTFont, newTable

from book.ext.assets import keep_only, saved

# Noto Sans CJK is the same design in one file for all regions, or in one for simplified Chinese
NAMES = {
    400: ("NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.otf"),
    600: ("NotoSansCJK-Bold.ttc", "NotoSansCJKsc-Bold.otf", "NotoSansSC-Bold.otf"),
}
FAMILIES = ("Noto Sans CJK SC", "Noto Sans SC")


class FontMissing(Exception):
    """The machine has no Chinese face that may be embedded; the text says what to install."""


def _font_folders() -> list[Path]:
    """Return the folders of this machine that have fonts, on whichever system."""
    home, local = Path.home(), os.environ.get("LOCALAPPDATA", "/nowhere")
    mac = [home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")]
    windows = [Path(local, "Microsoft/Windows/Fonts"), Path(os.environ.get("WINDIR", "/nowhere"), "Fonts")]
    linux = [home / ".local/share/fonts", home / ".fonts", Path("/usr/local/share/fonts")]
    return [folder for folder in (*mac, *windows, *linux, Path("/usr/share/fonts")) if folder.exists()]


def find_chinese(weight: int) -> Path:
    """Return the file of the machine's Chinese face.

    Raises:
        FontMissing: there is none.
    """
    for folder in _font_folders():
        files = {path.name: path for path in folder.rglob("*.[ot]t[cf]")}
        for name in NAMES[weight]:
            if name in files:
                return files[name]
    raise FontMissing(
        f"The text has Chinese characters, and there is no {NAMES[weight][0]} in "
        f"{', '.join(map(str, _font_folders()))}. Install Noto Sans CJK: on Debian and Ubuntu "
        "`sudo apt install fonts-noto-cjk`, elsewhere from https://github.com/notofonts/noto-cjk/releases."
    )


def chinese_face(characters: str, weight: int) -> bytes:
    """Return the machine's Chinese face with these characters alone, as TrueType.

    Raises:
        FontMissing: the machine has no such face, or the face lacks a character.
    """
    path = find_chinese(weight)
    font = _of_simplified_chinese(path)
    if lacking := sorted(set(characters) - {chr(code) for code in font.getBestCmap()}):
        raise FontMissing(f"{path} has no {' '.join(lacking)}; take them out of the text.")
    keep_only(font, characters, layout_features=["*"], name_IDs=["*"], notdef_outline=True)
    if "CFF " in font:
        _to_truetype(font)
    return saved(font)


def chinese_rules(folder: str) -> str:
    """The rules that name them, as ``han-<weight>.ttf`` in `folder`."""
    return "".join(
        f'@font-face{{font-family:"Paper Han";font-weight:{weight};src:url("{folder}/han-{weight}.ttf")}}'
        for weight in NAMES
    )


def _of_simplified_chinese(path: Path) -> TTFont:
    if path.suffix != ".ttc":
        return TTFont(path)
    for font in TTCollection(path, lazy=True).fonts:
        if font["name"].getDebugName(1) in FAMILIES:
            return font
    raise FontMissing(f"{path} has none of {', '.join(FAMILIES)}.")


def _to_truetype(font: TTFont) -> None:
    """Put quadratic curves, off by a thousandth of an em at most, in the place of the cubic ones."""
    outlines = font.getGlyphSet()
    glyphs = {}
    for name in font.getGlyphOrder():
        pen = TTGlyphPen(None)
        outlines[name].draw(Cu2QuPen(pen, font["head"].unitsPerEm / 1000, reverse_direction=True))
        glyphs[name] = pen.glyph()
    for table in ("CFF ", "VORG"):
        if table in font:
            del font[table]
    font["glyf"] = newTable("glyf")
    builder = FontBuilder(font=font)
    builder.setupGlyf(glyphs)
    builder.setupMaxp()
    font["maxp"].maxZones = 1
    font["post"].formatType = 3.0
    font.sfntVersion = "\0\1\0\0"
