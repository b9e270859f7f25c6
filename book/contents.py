"""Which pages the course has, and in which order: `_toc.yml`, the same for every language."""

from pathlib import Path
from typing import Any

import yaml


class BuildError(Exception):
    """The site could not be built; the text says what to mend."""


def configuration(root: Path) -> dict[str, Any]:
    """Return what `_config.yml` says."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))


def base_address(root: Path) -> str:
    """Return the address of the site, as far as `_config.yml` knows it."""
    return (configuration(root).get("html", {}).get("baseurl") or "").rstrip("/")


def table_of_contents(root: Path) -> dict[str, Any]:
    """Return `_toc.yml` with the English folder taken off: the same for every language."""
    text = (root / "_toc.yml").read_text(encoding="utf-8").replace("chapters/en/", "")
    return yaml.safe_load(text)


def page_names(toc: dict[str, Any]) -> list[str]:
    return [name for name, _, _ in pages(toc)]


def pages(toc: dict[str, Any]) -> list[tuple[str, str, int | None]]:
    """Return the name of each page, its part (the first page has none), and the number of a chapter."""
    listed: list[tuple[str, str, int | None]] = [(toc["root"], "", None)]
    for place, part in enumerate(toc.get("parts", [])):
        for number, page in enumerate(part["chapters"], 1):
            listed.append((page["file"], part["caption"].lower(), None if place else number))
    return listed
