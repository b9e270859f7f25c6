"""What the website is made of and under which terms: licenses.toml, as the page `licenses` shows it."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from d2lmini.language import words

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE = "licenses"


@cache
def parts() -> dict[str, dict[str, Any]]:
    """Return the parts by their keys, as licenses.toml has them."""
    return tomllib.loads((HERE / "licenses.toml").read_text(encoding="utf-8"))


def sources() -> list[Path]:
    """Return the files that the page is made of."""
    return [HERE / "licenses.toml", *(ROOT / file for part in parts().values() for file in part["terms"])]


def shown(language: str) -> list[dict[str, Any]]:
    """Return the parts in the words of a language, each with its terms in full."""
    said = words(language)["site"]["licensed"]
    return [
        {
            **part,
            "key": key,
            "name": part.get("name") or said[key]["name"],
            "about": said[key]["about"],
            "terms": [(ROOT / file).read_text(encoding="utf-8").strip() for file in part["terms"]],
        }
        for key, part in parts().items()
    ]
