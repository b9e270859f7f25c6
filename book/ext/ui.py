"""The words of the site itself (buttons, labels, notes), one table for the three languages."""

import csv
from functools import cache
from pathlib import Path

LANGUAGES = {
    "en": ("en", "English"),
    "vi": ("vi", "Tiếng Việt"),
    "zh": ("zh-CN", "中文"),
}  # folder: tag, own name
_TABLE = Path(__file__).parents[1] / "locale" / "ui.csv"


def short_language(language: str | None) -> str:
    """`zh_CN` → `zh`: the name of the language's folder."""
    return (language or "en").replace("-", "_").split("_")[0]


@cache
def strings(language: str) -> dict[str, str]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {row["key"]: row[language] for row in csv.DictReader(table)}
