"""Make D2LMiniSansSC-Regular.otf from Noto Sans CJK; see README.md beside this file."""

import csv
import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

HERE = Path(__file__).parent
FAMILY = "D2LMini Sans SC"  # a name of its own: an installed Noto must not be taken in its place


def characters() -> set[str]:
    """Level 1 of GB 2312, its punctuation and full-width forms, and what the course's texts need beyond."""
    rows = [0xA1, 0xA3, *range(0xB0, 0xD8)]
    cells = (bytes([row, cell]).decode("gb2312", "ignore") for row in rows for cell in range(0xA1, 0xFF))
    wanted = {c for c in cells if c} | set("“”‘’—…·")
    for table in ("catalogue.csv", "corpus.tsv"):
        path = HERE.parent / table
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","):
                    wanted |= set(row["zh"])
    wanted |= set("熵阈掩嵌缀噪寄")  # entropy, threshold … in readers' own labels
    return {c for c in wanted if ord(c) >= 0x2000}


def main(source: str) -> None:
    font = TTFont(source, fontNumber=2)  # the third face of the collection is the one for simplified Chinese
    if font["name"].getDebugName(1) != "Noto Sans CJK SC":
        raise SystemExit(f"{source}: face 2 is {font['name'].getDebugName(1)}, not Noto Sans CJK SC")
    options = Options()
    options.hinting = False
    options.layout_features = []
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.drop_tables += ["BASE", "VORG", "vhea", "vmtx", "GPOS", "GSUB", "GDEF"]
    subsetter = Subsetter(options)
    subsetter.populate(text="".join(characters()))
    subsetter.subset(font)
    for number, value in ((1, FAMILY), (3, FAMILY), (4, FAMILY), (6, FAMILY.replace(" ", ""))):
        font["name"].setName(value, number, 3, 1, 0x409)
    cff = font["CFF "].cff
    cff.fontNames = [FAMILY.replace(" ", "")]
    cff[0].FamilyName = cff[0].FullName = FAMILY
    font["head"].created = font["head"].modified = 0  # the same bytes on every run
    font.recalcTimestamp = False
    font.save(HERE / "D2LMiniSansSC-Regular.otf")


if __name__ == "__main__":
    main(sys.argv[1])
