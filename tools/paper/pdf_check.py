"""What must hold of a printed PDF; each finding says what is wrong, and on which page."""

from collections.abc import Iterable, Iterator
from typing import Any

import pikepdf
from pikepdf import Dictionary, Name, Page, Pdf

from d2lmini.language import words

EMPTY = Dictionary()
A4 = (595, 842)  # points
PAINTING = {"Tj", "TJ", "'", '"', "f", "f*", "S", "s", "B", "B*", "Do", "sh"}
FURNITURE = 6  # operations that paint a running head and a page number


class PdfError(Exception):
    """The PDF is not what it has to be; the text says why."""


def destinations(pdf: Pdf) -> dict[str, Any]:
    """Return the named places of a PDF: ``/name`` → page and position."""
    return dict(pdf.Root.Dests.items()) if "/Dests" in pdf.Root else {}


def pages_of(pdf: Pdf, names: Iterable[str]) -> dict[str, int]:
    """Return the page, from 1, on which each of these named destinations stands.

    Raises:
        PdfError: some have no destination.
    """
    places = destinations(pdf)
    pages = {name: Page(places[f"/{name}"][0]) for name in names if f"/{name}" in places}
    numbers = {name: pdf.pages.index(page) + 1 for name, page in pages.items()}
    if lost := [name for name in names if name not in numbers]:
        raise PdfError(f"not in the PDF: {', '.join(lost)}")
    return numbers


def check(pdf: Pdf, language: str, contents: list[tuple[str, int]]) -> None:
    """Hold a PDF against what was promised of it.

    Args:
        pdf: as it is about to be stored.
        language: whose edition it is.
        contents: the lines of its contents: titles and the pages that they name.

    Raises:
        PdfError: names everything that does not hold.
    """
    wrong = [*_document(pdf, language), *_pages(pdf), *_fonts(pdf), *_links(pdf)]
    if outline(pdf) != contents:
        differ = [f"{a} ≠ {b}" for a, b in zip(outline(pdf), contents, strict=False) if a != b]
        wrong.append(f"the bookmarks are not the contents: {'; '.join(differ[:3]) or 'their number'}")
    if wrong:
        raise PdfError("\n".join(wrong))


def outline(pdf: Pdf) -> list[tuple[str, int]]:
    """Return the titles and pages of the bookmarks, in order."""

    def walk(items: Iterable[Any]) -> Iterator[tuple[str, int]]:
        for item in items:
            yield item.title, pdf.pages.index(Page(item.destination[0])) + 1
            yield from walk(item.children)

    with pdf.open_outline() as marks:
        return list(walk(marks.root))


def _document(pdf: Pdf, language: str) -> Iterator[str]:
    texts = words(language)
    root = pdf.Root
    if str(root.get("/Lang")) != texts["language"]["tag"]:
        yield f"its language is {root.get('/Lang')}, not {texts['language']['tag']}"
    if "/StructTreeRoot" not in root or not root.get("/MarkInfo", EMPTY).get("/Marked"):
        yield "it is not tagged"
    if str(pdf.docinfo.get("/Title")) != texts["site"]["title"]:
        yield f"its title is {pdf.docinfo.get('/Title')!s}"
    if not root.get("/ViewerPreferences", EMPTY).get("/DisplayDocTitle"):
        yield "its window shows the file's name, not the title"


def _pages(pdf: Pdf) -> Iterator[str]:
    for number, page in enumerate(pdf.pages, 1):
        if tuple(round(float(side)) for side in page.mediabox[2:]) != A4:
            yield f"page {number} is not A4"
        painted = sum(str(operation.operator) in PAINTING for operation in pikepdf.parse_content_stream(page))
        if painted <= FURNITURE:
            yield f"page {number} is blank"


def _fonts(pdf: Pdf) -> Iterator[str]:
    for name, font in fonts(pdf).items():
        if font.Subtype == Name.Type3:  # it holds its letters itself
            continue
        bearer = font.DescendantFonts[0] if font.Subtype == Name.Type0 else font
        descriptor = bearer.get("/FontDescriptor", EMPTY)
        if not any(file in descriptor for file in ("/FontFile", "/FontFile2", "/FontFile3")):
            yield f"the font {name} is not embedded"


def fonts(pdf: Pdf) -> dict[str, Any]:
    """Return the fonts of all pages by their names; Type 3 fonts, which have none, by their numbers."""
    fonts_by_name = {}
    for page in pdf.pages:
        for _, font in page.obj.get("/Resources", EMPTY).get("/Font", EMPTY).items():
            fonts_by_name[str(font.get("/BaseFont", font.objgen))] = font
    return fonts_by_name


def _links(pdf: Pdf) -> Iterator[str]:
    places = destinations(pdf)
    for number, page in enumerate(pdf.pages, 1):
        for target in links(page):
            if target.startswith("/"):
                if target not in places:
                    yield f"page {number}: a link to {target[1:]}, which is not in the book"
            elif not target.startswith("https://"):
                yield f"page {number}: a link to {target}"


def links(page: Page) -> Iterator[str]:
    """Yield where the links of a page lead: ``/name`` of a place in the PDF, or an address."""
    for note in page.obj.get("/Annots", ()):
        if note.Subtype == Name.Link:
            action = note.get("/A", note)
            yield str(next(action[key] for key in ("/URI", "/Dest", "/D") if key in action))
