"""Make the fonts of the course from those of their makers: `python -m tools.paper.fonts FONT …`.

FONT is one of

- NotoSansCJK-Regular.ttc 2.004, of Debian's package `fonts-noto-cjk`: makes the Chinese font of the plots.
  With it matplotlib measures text, and every plot has the same layout everywhere; a page shows its own font.
  It has the 3 755 characters of GB 2312 level 1, punctuation, and what the course's texts use beyond them.
- SourceSans3VF-Upright.ttf and SourceSans3VF-Italic.ttf 3.052, of npm's package `source-sans` 3.52.0: make
  the web fonts, a file a style, of the characters in `LETTERS`. Each page carries what it shows of them: one
  weight a file, because of two weights in one, half the bytes would be the other's.

All are under the SIL Open Font License 1.1, which reserves their names for the unchanged fonts.
The same input and fontTools give the same bytes.
"""

import csv
import io
import sys

from fontTools.subset import Options, Subsetter, parse_unicodes
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from book.chapters import ROOT

ASSETS = ROOT / "d2lmini" / "assets"
STATIC = ROOT / "book" / "theme" / "static"
CHINESE = "D2LMini Sans SC"
LATIN = "d2lmini Sans"
# of the web fonts: Latin with Vietnamese, and the signs of the texts; code points and ranges of them
LETTERS = """
    20-7E A0-FF 102-103 107 10D 110-111 11F 128-129 131 141-142 144 152-153 15F-161 168-169 17D-17E
    1A0-1A1 1AF-1B0 300-303 306 309 31B 323 3B4 3C0 1D40 1EA0-1EF9 2009-200B 2013-2015 2018-201A
    201C-201E 2020-2022 2026 202F-2030 2032-2033 2039-203A 2044 20AC 2122 2190-2194 2202 2212 2219-221A
    221E 2248 2260 2264-2265 25CA 2713 2717
"""


def characters() -> set[int]:
    """Level 1 of GB 2312, its punctuation and full-width forms, and what the course's texts need beyond."""
    rows = [0xA1, 0xA3, *range(0xB0, 0xD8)]
    cells = (bytes([row, cell]).decode("gb2312", "ignore") for row in rows for cell in range(0xA1, 0xFF))
    wanted = "".join(cells) + "“”‘’—…·" + "熵阈掩嵌缀噪寄"  # entropy, threshold … in readers' own labels
    for path in (ROOT / "d2lmini" / "words" / "zh.toml", ASSETS / "stories.toml"):
        wanted += path.read_text(encoding="utf-8")
    with (ASSETS / "corpus.tsv").open(encoding="utf-8", newline="") as file:
        wanted += "".join(row["zh"] for row in csv.DictReader(file, delimiter="\t"))
    return {ord(character) for character in wanted if ord(character) >= 0x2000}


def letters() -> set[int]:
    """The characters of the web fonts."""
    return {*parse_unicodes(LETTERS)}


def cut(font: TTFont, points: set[int], features: list[str], names: list[int]) -> None:
    """Leave these characters, features and names of a font, without hints."""
    options = Options(hinting=False, layout_features=features, name_IDs=names)
    options.drop_tables += ["DSIG", "VORG", "vhea", "vmtx"]
    options.drop_tables += [] if features else ["BASE", "GPOS", "GSUB", "GDEF"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=points)
    subsetter.subset(font)
    font["head"].created = font["head"].modified = 0  # the same bytes on every run
    font.recalcTimestamp = False


def name(font: TTFont, family: str, style: str) -> None:
    unique = f"{family.replace(' ', '')}-{style}"
    for number, value in ((1, family), (2, style), (3, unique), (4, family), (6, unique)):
        font["name"].setName(value, number, 3, 1, 0x409)
    for record in font["name"].names:  # names of the weights
        if record.nameID > 255:
            record.string = str(record).replace("SourceSans3VF", family.replace(" ", ""))


def chinese(font: TTFont) -> None:
    cut(font, characters(), [], [0, 1, 2, 3, 4, 5, 6, 13, 14])
    name(font, CHINESE, "Regular")
    cff = font["CFF "].cff
    cff.fontNames = [CHINESE.replace(" ", "")]
    cff[0].FamilyName = cff[0].FullName = CHINESE
    font.save(ASSETS / "fonts" / "D2LMiniSansSC-Regular.otf")


def web(source: str) -> None:
    for style, weight in (("italic", 400),) if "Italic" in source else (("regular", 400), ("semibold", 600)):
        file = f"fonts/d2lmini-sans-{style}.woff2"
        font = instancer.instantiateVariableFont(TTFont(source), {"wght": weight})
        written = io.BytesIO()
        font.save(written)
        font = TTFont(written)  # fontTools cuts what was read from a file, not what was changed since
        features = ["ccmp", "kern", "liga", "locl", "mark", "mkmk"]
        cut(font, letters(), features, [0, 1, 2, 3, 4, 6])
        name(font, LATIN, style.capitalize())
        font.flavor = "woff2"
        font.save(STATIC / file)


def main(sources: list[str]) -> None:
    for source in sources:
        # the third face of the collection is the one for simplified Chinese
        font = TTFont(source, fontNumber=2 if source.endswith(".ttc") else -1)
        made_from = font["name"].getDebugName(1)
        if made_from == "Noto Sans CJK SC":
            chinese(font)
        elif made_from == "SourceSans3VF":
            web(source)
        else:
            raise SystemExit(f"{source}: this is {made_from}; give Noto Sans CJK SC or SourceSans3VF")


if __name__ == "__main__":
    main(sys.argv[1:])
