"""The pages of one language: written by Sphinx, finished, and read for the search."""

import json
import shutil
import signal
import sys
import time
import tomllib
from dataclasses import asdict
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import yaml

from book import glossary, inputs, offline, scripts, search, terminal
from book.chapters import store
from book.contents import BuildError, page_names, pages, table_of_contents
from book.sections import sections
from d2lmini.language import words
from d2lmini.notebook.content import exercise_content, former_names

# what nothing here needs and is long to import: jsonschema does without the grammars of addresses, and the
# database of executed notebooks (SQLAlchemy) is not asked, as the build executes none
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
sys.modules.setdefault("jupyter_cache.cache.db", Mock())
import jupyter_book.sphinx  # noqa: E402


def build_language(language: str, root: Path, work: Path, languages: list[str], pdf: str) -> float:
    """Build the pages of one language that changed, in a process of its own; return its seconds.

    What a finished build was made from is told by a stamp: without one, or when anything but the notebooks is
    another, all begins from nothing. Half a page looks finished to Sphinx.

    Raises:
        BuildError: Sphinx failed or warned.
    """
    start = time.perf_counter()
    here = work / language
    stamp = here / inputs.STAMP
    before = json.loads(stamp.read_text(encoding="utf-8")) if stamp.exists() else []
    made_from = inputs.edition(root, language, languages, pdf)
    if before[:-1] != made_from[:-1]:
        shutil.rmtree(here, ignore_errors=True)
    here.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    _run_sphinx(language, root, here, languages, pdf)
    _finish(here, root, language)
    offline.pack(here / "finished", here / offline.ZIP, language, root)
    stamp.write_text(json.dumps(made_from), encoding="utf-8")
    return time.perf_counter() - start


def _run_sphinx(language: str, root: Path, here: Path, languages: list[str], pdf: str) -> None:
    toc = here / "_toc.yml"
    toc.write_text(yaml.safe_dump(table_of_contents(root), sort_keys=False), encoding="utf-8")
    result = jupyter_book.sphinx.build_sphinx(
        root / "chapters" / language,
        here / "html",
        path_config=root / "_config.yml",
        noconfig=True,
        confoverrides={
            "latex_individualpages": False,  # Jupyter Book takes it out again; it must be there
            "language": words(language)["language"]["sphinx"],
            "d2lmini_language": language,
            "external_toc_path": str(toc),
            "html_title": words(language)["site"]["title"],
            "d2lmini_languages": languages,
            "d2lmini_pdf": pdf,
        },
        doctreedir=here / "doctrees",
        quiet=True,
        warningiserror=True,
        keep_going=True,
    )
    if result:
        why = result if isinstance(result, Exception) else "see the warnings above"
        raise BuildError(f"{language}: {why}")


def _finish(here: Path, root: Path, language: str) -> None:
    """Copy the pages that Sphinx wrote, and what they fetch; add what is made of all of them."""
    toc, finished = table_of_contents(root), here / "finished"

    def copy_changed(source: str, target: str) -> None:
        store(Path(target), Path(source).read_bytes())

    unread = shutil.ignore_patterns("*.css", "*.inv", ".buildinfo")
    shutil.copytree(here / "html", finished, ignore=unread, copy_function=copy_changed, dirs_exist_ok=True)
    listed = []
    for name in page_names(toc):
        shutil.copy(root / "chapters" / language / f"{name}.ipynb", finished)
        page = (finished / f"{name}.html").read_text(encoding="utf-8")
        listed += sections(name, page, partial(exercise_content, language=language))
    found = search.data(language, [asdict(section) for section in listed], pages(toc), glossary.read(root))
    for fetched, content in (("search.json", found), ("moved.json", moved(root))):
        (finished / "_static" / fetched).write_text(scripts.compact_json(content), encoding="utf-8")


def moved(root: Path) -> dict[str, dict[str, str]]:
    """Return what has another name now: exercises, and sections (`page#anchor`) that stand elsewhere."""
    table = root / "chapters" / "moved.toml"
    pages = tomllib.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
    sections = {
        f"{page}#{anchor}": place for page, anchors in pages.items() for anchor, place in anchors.items()
    }
    return {"exercises": former_names(), "sections": sections}


def main(language: str, root: str, work: str, languages: str, pdf: str) -> None:
    """Build a language and print its seconds, or what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the build that started this one tells of an interruption
    try:
        seconds = build_language(language, Path(root), Path(work), languages.split(","), pdf)
    except (BuildError, OSError) as error:
        print(terminal.in_words(error))
        sys.exit(1)
    print(f"{seconds:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
