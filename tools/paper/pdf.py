"""Print the course as one PDF a language: `python3 course.py pdf`.

The browser lays out what `book.paper` puts together, twice: the first printing tells on which page everything
stands, the second has these numbers in its contents and references. What was printed is checked before it is
kept; then the website is built anew, which offers it.
"""

import argparse
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import pikepdf
from playwright.sync_api import Browser, Error as BrowserError, Page, Route, sync_playwright

from book import build
from book.browser import browser_name, launch
from book.chapters import ROOT, store
from book.contents import configuration
from book.paper import document, fonts
from book.paper.formulas import MARK
from book.serve import serving
from d2lmini.language import LANGUAGES, words
from tools.paper.pdf_check import PdfError, check, destinations, pages_of

TYPES = {".js": "text/javascript", ".ttf": "font/ttf", ".woff2": "font/woff2"}
PRINTINGS = 4  # the second has the numbers of the first; more only if these moved something
WIDTH = 605  # of the text on A4 in CSS pixels: explorers lay themselves out by it


def _open(browser: Browser, address: str, root: Path, site: Path, language: str) -> Page:
    """Open the printed edition of a language, its Chinese face included, ready to be printed."""
    # its scripts are called from here, and it is no page of the website: its policy does not hold
    page = browser.new_page(bypass_csp=True, viewport={"width": WIDTH, "height": 900})
    page.emulate_media(media="print", color_scheme="light")
    base = f"{address}/{language}/"
    text = document.document(root, site, language)
    chinese: dict[str, bytes] = {}

    def answer(route: Route) -> None:
        name = route.request.url.partition("/paper/")[2]
        body = chinese[name] if name in chinese else document.file(name)
        route.fulfill(content_type=TYPES[Path(name).suffix], body=body)

    html = "text/html; charset=utf-8"
    page.route(f"{base}paper/**", answer)
    page.route(base + document.ADDRESS, lambda route: route.fulfill(content_type=html, body=text))
    page.goto(base + document.ADDRESS)
    page.evaluate("paper.assemble()")
    if letters := page.evaluate("paper.letters()"):
        chinese |= {f"han-{weight}.ttf": fonts.chinese_face(letters, weight) for weight in fonts.NAMES}
        page.add_style_tag(content=fonts.chinese_rules("paper"))
    if wide := page.evaluate("paper.fit()"):
        raise PdfError("wider than the paper: " + "; ".join(wide[:5]))
    if dead := page.evaluate("paper.deadLinks()"):
        raise PdfError(f"links to places that are not in the book: {', '.join(sorted(set(dead)))}")
    return page


def print_language(browser: Browser, root: Path, site: Path, language: str, out: Path) -> int:
    """Print one language into a file, check it, and return the number of its pages.

    Args:
        browser: Chromium; no other browser prints PDFs.
        root: holds `_config.yml` and `_toc.yml`.
        site: the finished website.
        language: folder of the site.
        out: the PDF; written in one step, when it is complete and right.

    Raises:
        PdfError: something does not fit on paper, or the PDF is not what it has to be; `out` is untouched.
        FontMissing: there is no Chinese face to embed.
    """
    with serving(site) as address, tempfile.TemporaryDirectory() as folder:
        page = _open(browser, address, root, site, language)
        asked = page.evaluate("paper.references()")
        numbers: dict[str, int] = {}
        for printing in range(PRINTINGS):
            file = Path(folder) / f"{printing}.pdf"
            page.pdf(path=file, tagged=True, prefer_css_page_size=True, print_background=True)
            with pikepdf.open(file) as pdf:
                now = pages_of(pdf, asked)
            if now == numbers:
                break
            numbers = now
            page.evaluate("numbers => paper.setNumbers(numbers)", numbers)
        else:
            raise PdfError(f"the page numbers still move after {PRINTINGS} printings")
        lines = page.evaluate("paper.lines()")
        page.close()
        with pikepdf.open(file) as pdf:
            _finish(pdf, language, root)
            _bookmark(pdf, lines)
            _tag_formulas(pdf)
            check(pdf, language, [(line["title"], numbers[line["id"]]) for line in lines])
            # the tags of so many formulas are many small objects: together they pack to a third
            packed = io.BytesIO()
            pdf.save(packed, object_stream_mode=pikepdf.ObjectStreamMode.generate, linearize=True)
            out.parent.mkdir(parents=True, exist_ok=True)
            store(out, packed.getvalue())
            return len(pdf.pages)


def _finish(pdf: pikepdf.Pdf, language: str, root: Path) -> None:
    """Say what the document is, and not which browser made it."""
    texts = words(language)
    config = configuration(root)
    with pdf.open_metadata(set_pikepdf_as_editor=False) as metadata:
        metadata["dc:title"] = texts["site"]["title"]
        metadata["dc:creator"] = [config["author"]]
        metadata["dc:description"] = texts["site"]["tagline"]
        metadata["dc:language"] = [texts["language"]["tag"]]
        metadata["dc:rights"] = texts["site"]["licence"]
        metadata["xmp:CreatorTool"] = "d2lmini"


def _tag_formulas(pdf: pikepdf.Pdf) -> None:
    """Tell formulas from pictures, by the mark that `book.paper.formulas` puts before their names."""
    for tag in pdf.objects:
        if isinstance(tag, pikepdf.Dictionary) and "/Alt" in tag and str(tag.Alt).startswith(MARK):
            tag.S = pikepdf.Name.Formula
            tag.Alt = pikepdf.String(str(tag.Alt).removeprefix(MARK))


def _bookmark(pdf: pikepdf.Pdf, lines: list[dict[str, Any]]) -> None:
    """Make the contents the bookmarks: those of the browser repeat a title that begins a page."""
    with pdf.open_outline() as outline:
        for line in lines:
            marks = outline.root[-1].children if line["level"] == 2 else outline.root
            place = destinations(pdf)[f"/{line['id']}"]
            marks.append(pikepdf.OutlineItem(line["title"], place))
    pdf.Root.PageMode = pikepdf.Name.UseOutlines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course.py pdf", description="Print the course, a PDF a language.")
    parser.add_argument("--lang", action="append", choices=LANGUAGES, help="only this one (repeatable)")
    options = parser.parse_args(arguments)
    if browser_name() != "chromium":
        print(f"D2LMINI_BROWSER: got {browser_name()!r}; only chromium prints PDFs.", file=sys.stderr)
        return 2
    failed = []
    try:
        site = build.build()
        files = {language: build.pdf_of(ROOT, language) for language in options.lang or LANGUAGES}
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for language, file in files.items():
                print(f"pdf: {language}: being printed, twice", flush=True)
                try:
                    count = print_language(browser, ROOT, site, language, file)
                except (PdfError, fonts.FontMissing, BrowserError) as error:
                    failed.append(f"pdf: {language}: not made.\n{error}")
                    continue
                print(f"pdf: {language}: {count} pages, {file.stat().st_size / 1e6:.1f} MB", flush=True)
                for old in {*file.parent.glob(f"{language}-*.pdf")} - {file}:
                    old.unlink()  # of other pages
        build.build()  # which offers what is there
    except (build.BuildError, BrowserError) as error:
        failed.append(f"pdf: not made.\n{error}")
    except KeyboardInterrupt:
        print("\npdf: stopped.", file=sys.stderr)
        return 130
    print("\n".join(failed), file=sys.stderr, end="\n" if failed else "")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
