"""Which pages the course has, and in which order: `_toc.yml`, the same for every language."""

from pathlib import Path
from typing import Any

import yaml


class BuildError(Exception):
    """The site could not be built; the text says what to mend."""


def configuration(root: Path) -> dict[str, Any]:
    """Return what `_config.yml` says."""
    config: dict[str, Any] = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return config


def base_address(root: Path) -> str:
    """Return the address of the site, as far as `_config.yml` knows it."""
    return (configuration(root).get("html", {}).get("baseurl") or "").rstrip("/")


def table_of_contents(root: Path) -> dict[str, Any]:
    """`_toc.yml` with the English folder taken off: the same for every language."""
    toc: dict[str, Any] = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))

    def relative(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                key: value.removeprefix("chapters/en/") if key in ("file", "root") else relative(value)
                for key, value in node.items()
            }
        return [relative(item) for item in node] if isinstance(node, list) else node

    answer: dict[str, Any] = relative(toc)
    return answer


def page_names(toc: dict[str, Any]) -> list[str]:
    return [name for name, _ in parts(toc)]


def parts(toc: dict[str, Any]) -> list[tuple[str, str]]:
    """The name of each page and of its part; the first page belongs to none."""
    listed = [(toc["root"], "")]
    for part in toc.get("parts", []):
        listed += [(page["file"], part["caption"].lower()) for page in part["chapters"]]
    return listed
