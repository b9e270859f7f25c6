"""The links out of the course, as far as they can be judged without a network; links.yml follows them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from making import ROOT
from markdown_it import MarkdownIt
from markdown_it.token import Token

from book import licenses
from d2lmini.language import LANGUAGES

MARKDOWN = MarkdownIt("commonmark").enable("table")


def flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from flat(token.children or [])


def links(text: str) -> list[str]:
    """Where the links of a text lead that leave the course."""
    found = [str(token.attrs.get("href", "")) for token in flat(MARKDOWN.parse(text))]
    return [link for link in found if ":" in link and not link.startswith("http://127.0.0.1")]


def of_chapter(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return [link for text in prose for link in links(text)]


CHAPTERS = {path: of_chapter(path) for path in sorted((ROOT / "chapters").glob("*/*.ipynb"))}
ALL = {
    **CHAPTERS,
    **{path: links(path.read_text(encoding="utf-8")) for path in ROOT.glob("*.md")},
    ROOT / "book" / "licenses.toml": [
        part["source"] for part in licenses.parts().values() if "source" in part
    ],
}


def test_a_link_out_of_the_course_is_a_whole_and_safe_address():
    assert sum(map(len, ALL.values())) > 100
    for path, found in ALL.items():
        for link in found:
            parts = urlsplit(link)
            assert parts.scheme == "https", f"{path.name}: {link}"
            assert re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", parts.netloc), f"{path.name}: {link}"
            # no space or quote, no full stop of the sentence around it, nothing that follows the reader
            assert re.fullmatch(r"[\w./:#?=&%@~+-]*[\w/]", link), f"{path.name}: {link}"
            assert not re.search(r"utm_|fbclid|gclid", link), f"{path.name}: {link}"


def test_a_page_elsewhere_has_one_address_in_the_whole_course():
    spelled: dict[str, set[str]] = {}
    for link in (link for found in ALL.values() for link in found):
        page = re.sub(r"^www\.|/$", "", urlsplit(link).netloc + urlsplit(link).path).lower()
        page = re.sub(r"^arxiv\.org/(abs|pdf)/(\d+\.\d+)(v\d+|\.pdf)*$", r"arxiv.org/\2", page)
        spelled.setdefault(page, set()).add(link)
    assert {page: links for page, links in spelled.items() if len(links) > 1} == {}


def test_an_edition_leads_where_the_english_one_does():
    for path, found in CHAPTERS.items():
        english = CHAPTERS[ROOT / "chapters" / "en" / path.name]
        assert sorted(found) == sorted(english), path.relative_to(ROOT)
    assert {path.parent.name for path in CHAPTERS} == set(LANGUAGES)
