"""The course without network: what the browser keeps of each language, and a zip of each to take along.

A page names the version of every file that it fetches. On the finished site that is the digest of the whole
edition, so that an address never means two things, and a page gets the files of its own build or none.
"""

import hashlib
import html
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

from book import scripts
from book.ext import assets
from book.ext.page import OFFLINE, hash_of
from book.front import write_front
from book.templates import render
from d2lmini.language import words
from d2lmini.notebook import palette

# the rest is for download
NEEDED = {".html", ".js", ".json", ".png", ".safetensors", ".svg", ".webp", ".woff2"}
UNVERSIONED = {".html", ".png", ".svg", ".webmanifest", ".webp", ".woff2"}
LIST = "offline.json"
ZIP = "edition.zip"
SHARED = ("index.html", "landing.js")  # of the site, beside the languages
ZIP_SIZE = re.compile('(<span class="zip-size">)[^<]*')
VERSION = re.compile(r'<body [^>]*data-version="(\w+)"')
STATES = "_static/states/"  # what exercises know: each file has a version of its own


def size(count: int) -> str:
    """Bytes as a reader knows them.

    Example:
        >>> size(6_912_345)
        '6.9 MB'
    """
    return f"{count / 1e6:.1f} MB"


def add(site: Path, work: Path, languages: list[str]) -> None:
    """Add to an assembled site the worker, and of each language its zip and a list of files.

    Args:
        site: has a folder for each language.
        work: has one, too, with the zip.
        languages: those of the site.
    """
    shutil.copy(assets.BOOK / "theme" / "worker.js", site)
    for language in languages:
        shutil.copy(work / language / ZIP, site / f"d2lmini-{language}.zip")
        app = render("theme/app.webmanifest", **words(language), background=palette.COLORS["bg"][False])
        (site / language / "app.webmanifest").write_text(app, encoding="utf-8")
        stamp(site, language)


def stamp(site: Path, language: str) -> None:
    """Name the build of a language in its pages, and list its files with their hashes for the browser."""
    folder, digest = site / language, hashlib.sha256()
    for path in _needed(site, folder):
        digest.update(path.relative_to(site).as_posix().encode() + b"\0" + path.read_bytes())
    build = digest.hexdigest()[:8]
    for path in folder.glob("*.html"):
        page = path.read_text(encoding="utf-8")
        version = VERSION.search(page)
        assert version, f"{path.name}: the layout names no version"
        page = re.sub(rf'(\?|data-version="){version[1]}"', rf'\g<1>{build}"', page)
        path.write_text(page, encoding="utf-8")
    files, total = {}, 0
    for path in _needed(site, folder):
        data, own = path.read_bytes(), path.is_relative_to(folder)
        address = path.relative_to(folder).as_posix() if own else f"../{path.name}"
        if address.startswith(STATES):
            address += f"?{hashlib.sha256(data).hexdigest()[:8]}"
        elif own and path.suffix not in UNVERSIONED:
            address += f"?{build}"
        files[address] = hash_of(data)
        total += len(data)
    listed = {"build": build, "size": size(total), "files": files}
    (folder / LIST).write_text(scripts.compact_json(listed), encoding="utf-8")


def _needed(site: Path, folder: Path) -> list[Path]:
    """The files that the browser keeps of a language, those of every page first."""
    own = [path for path in sorted(folder.rglob("*")) if path.suffix in NEEDED and path.name != LIST]
    return sorted(
        [*own, *(site / name for name in SHARED)],
        key=lambda path: (path.suffix == ".safetensors", path.suffix == ".html"),
    )


def remove_other_languages(page: str, language: str) -> str:
    """A page as it stands where the other languages, and the site's own services, are not there.

    Example:
        >>> page = '<p>Old. <a href="../en/a.html#b">Read it</a></p><a href="../vi/a.html">Việt</a>'
        >>> remove_other_languages(page, "vi")
        '<p>Old. </p><a href="../vi/a.html">Việt</a>'
    """
    away = rf'href="\.\./(?!{language}/)\w+/[^"]*"'
    page = re.sub(r'<details class="menu languages">.*?</details>\s*', "", page, flags=re.DOTALL)
    page = re.sub(r'<li><a class="to-(?:offline|pdf)".*?</li>\s*', "", page, flags=re.DOTALL)
    page = re.sub(rf"<link [^>]*{away}[^>]*>\s*", "", page)
    page = re.sub(rf"<li><a [^>]*{away}[^>]*>[^<]*</a></li>\s*", "", page)
    return re.sub(rf"<a [^>]*{away}[^>]*>[^<]*</a>", "", page)


def explain_files(page: str, language: str) -> str:
    """A page that says, where it was opened by a double click, what it then lacks and what to do instead."""
    site = words(language)["site"]
    notice = f'<p class="as-file">{html.escape(site["offline"]["as_file"], quote=False)}</p>'
    rule = (
        ".as-file{padding:.8rem 1rem;border:1px solid var(--d2l-line);border-radius:6px}"
        "[data-mode] .as-file,:root:not([data-mode]) .d2l-widget .to-run{display:none}"
    )
    page = page.replace("style-src 'self' ", f"style-src 'self' '{hash_of(rule.encode())}' ", 1)
    page = page.replace("</head>", f"<style>{rule}</style>\n</head>", 1)
    run = html.escape(words(language)["exercises"]["run_cell"], quote=False)
    page = page.replace(run, f'<span class="to-run">{run}</span>')
    return page.replace("<article>", f"<article>{notice}", 1)


def pack(folder: Path, packed: Path, language: str, root: Path) -> None:
    """Pack the pages of a folder so that any web server can show them; the same files make the same bytes.

    The page about reading without network stays outside, and tells the size of what is packed.
    """
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        write_front(top, root, [language])
        files = {path.name: path.read_bytes() for path in top.iterdir()}
    site = words(language)["site"]
    files["README.txt"] = site["offline"]["readme"].format(title=site["title"]).encode()
    about = folder / f"{OFFLINE}.html"
    for path in folder.rglob("*"):
        if path.is_file() and path != about:
            address = f"{language}/{path.relative_to(folder).as_posix()}"
            files[address] = path.read_bytes()
            if path.suffix == ".html":
                page = remove_other_languages(path.read_text(encoding="utf-8"), language)
                files[address] = explain_files(page, language).encode()
    with zipfile.ZipFile(packed, "w") as archive:
        for address, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"d2lmini-{language}/{address}")  # dated 1980
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    told = ZIP_SIZE.sub(rf"\g<1>{size(packed.stat().st_size)}", about.read_text(encoding="utf-8"))
    about.write_text(told, encoding="utf-8")
