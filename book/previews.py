"""The pictures that stand beside links to the pages: `python3 course.py previews` draws them."""

from pathlib import Path

FOLDER = Path(__file__).parent / "previews"
SIZE = (1200, 630)


def path_of(language: str, name: str) -> Path:
    """Return the place of a page's picture, whether it exists or not."""
    return FOLDER / language / f"{name}.png"


def address(base: str, language: str, name: str) -> str:
    """Return where the picture of a page will be; empty as long as there is none, or no address of the site.

    Args:
        base: the address of the site; a link's preview needs the picture's address in full.
        language: the edition of the page.
        name: the page.
    """
    there = base and path_of(language, name).exists()
    return f"{base}/previews/{language}/{name}.png" if there else ""
