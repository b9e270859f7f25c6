"""Build the website: three languages, one landing page, into `_build/site`.

`python -m book.build` builds what has changed. Each language is one Sphinx build with warnings as errors; the
site is put together aside and swapped in, so that a failed or interrupted build leaves the old one as it was.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

import yaml

from book import licenses, previews, terminal
from book.lock import locked
from d2lmini.language import LANGUAGES, words

ROOT = Path(__file__).parents[1]


READ_BY = ("search", "sections")  # modules that say what the search knows of a page


class BuildError(Exception):
    """The site could not be built; the text says what to mend."""


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
    return [
        (toc["root"], ""),
        *(
            (page["file"], part["caption"].lower())
            for part in toc.get("parts", [])
            for page in part["chapters"]
        ),
    ]


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _inputs(root: Path) -> list[Path]:
    """Every file that the site is made of."""
    folders = (root / "chapters", ROOT / "book", ROOT / "d2lmini")
    files = [
        p for folder in folders for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts
    ]
    return [*files, *licenses.sources(), root / "_config.yml", root / "_toc.yml", ROOT / "requirements.txt"]


def pdf_of(root: Path, language: str) -> Path:
    """Where the printed edition of these pages is kept: another text, another name."""
    return _pdf(root, language, _digest(_inputs(root)))


def _pdf(root: Path, language: str, inputs: str) -> Path:
    return root / "_build" / "pdf" / f"{language}-{inputs[:12]}.pdf"


def build_language(language: str, root: Path, work: Path, languages: list[str], pdf: str) -> float:
    """One Sphinx build, in a process of its own; returns its seconds.

    Raises:
        BuildError: Sphinx failed or warned.
    """
    start = time.perf_counter()
    sys.path.insert(0, str(ROOT))
    from jupyter_book.sphinx import build_sphinx

    here = work / language
    # what a build left that failed or was killed: half a page looks finished to Sphinx, and a page with a
    # warning as if there were nothing to warn about
    unfinished = here / "unfinished"
    if unfinished.exists():
        shutil.rmtree(here)
    here.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    names = page_names(table_of_contents(root))
    _forget_changed(here, root, language, names)
    toc = here / "_toc.yml"
    text = yaml.safe_dump(table_of_contents(root), sort_keys=False)
    if not toc.exists() or toc.read_text(encoding="utf-8") != text:
        toc.write_text(text, encoding="utf-8")
    result = build_sphinx(
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
        raise BuildError(
            f"{language}: {result if isinstance(result, Exception) else 'see the warnings above'}"
        )
    _finish(here, names, language)
    unfinished.unlink()
    return time.perf_counter() - start


def _forget_changed(here: Path, root: Path, language: str, names: list[str]) -> None:
    """Let Sphinx read what has changed: it compares times, which go wrong when a clock is set back."""
    chapters, known = root / "chapters", here / "sources.json"
    before = json.loads(known.read_text()) if known.exists() else {}
    now = {}
    for name in names:
        # a translation also shows what of the English text has changed since
        shown = {chapters / code / f"{name}.ipynb" for code in (language, "en")}
        now[name] = _digest(filter(Path.exists, shown))
    for name in names:
        if before.get(name) != now[name]:
            (here / "doctrees" / f"{name}.doctree").unlink(missing_ok=True)
    known.write_text(json.dumps(now))


def _end_with_parent() -> None:
    """Let a process of the pool end when the build is killed: it would wait for work for ever."""
    parent = parent_process()
    assert parent, "this runs in a process of the pool"

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _finish(here: Path, names: list[str], language: str) -> None:
    """Read what the search needs, and make the finished copies of the pages, if they have changed."""
    from book import search
    from book.ext.postprocess import postprocess

    html = here / "html"
    made_by = [*(ROOT / "book" / "ext").glob("*.py"), *(ROOT / "book" / f"{name}.py" for name in READ_BY)]
    made_by += (ROOT / "d2lmini" / "assets" / "exercises").rglob("*.json")
    digest = _digest([*made_by, *(p for p in html.rglob("*") if p.is_file() and p.suffix != ".inv")])
    stamp = here / "finished.stamp"
    if stamp.exists() and stamp.read_text() == digest:
        return
    found = search.read_sections(html, names, language)
    (here / "sections.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    postprocess(html, here / "finished", [*names, licenses.PAGE], language)
    stamp.write_text(digest)


def _base(root: Path) -> str:
    """The address of the site, as far as `_config.yml` knows it."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return (config.get("html", {}).get("baseurl") or "").rstrip("/")


def _front_pages(site: Path, root: Path, languages: list[str]) -> None:
    """The page that leads to the reader's language, and the one for addresses that lead nowhere."""
    from jinja2 import Environment, FileSystemLoader

    from book.ext.assets import colors
    from book.ext.font_subset import page_faces
    from book.ext.page import HEAD_SCRIPT, allow_only_these_styles, content_security_policy

    base = _base(root)
    theme = ROOT / "book" / "theme"
    template = Environment(loader=FileSystemLoader(theme), autoescape=True).get_template("landing.html")
    landings = [{"code": code, **words(code)["language"], "words": words(code)["site"]} for code in languages]
    for name, missing in (("index.html", False), ("404.html", True)):
        page = template.render(
            languages=landings,
            missing=missing,
            prefix=f"{base}/" if missing else "",
            base=base,
            preview=previews.address(base, languages[0], "index"),
            policy=content_security_policy(),
            head_script=HEAD_SCRIPT,
            colors=colors(),
        )
        page = page.replace("<style>", "<style>" + page_faces(page, set(), languages[0]), 1)
        (site / name).write_text(allow_only_these_styles(page), encoding="utf-8")
    shutil.copy(theme / "landing.js", site / "landing.js")
    (site / ".nojekyll").touch()  # else GitHub Pages leaves out folders that begin with _


def moved(root: Path) -> dict[str, dict[str, str]]:
    """What has another name now: exercises, and sections (`page#anchor`) that stand elsewhere."""
    from d2lmini.notebook.content import former_names

    table = root / "chapters" / "moved.toml"
    pages = tomllib.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
    sections = {
        f"{page}#{anchor}": place for page, anchors in pages.items() for anchor, place in anchors.items()
    }
    return {"exercises": former_names(), "sections": sections}


def _assemble(work: Path, root: Path, out: Path, languages: list[str], pdfs: dict[str, Path]) -> None:
    from book import glossary, offline, search

    aside, old = (out.with_name(out.name + end) for end in (".new", ".old"))
    for leftover in (aside, old):
        shutil.rmtree(leftover, ignore_errors=True)
    toc = table_of_contents(root)
    names = page_names(toc)
    editions = {
        language: json.loads((work / language / "sections.json").read_text(encoding="utf-8"))
        for language in languages
    }
    known_terms = glossary.read(root)
    chapters = {name for name, part in parts(toc) if part == "chapters"}
    places = search.homes(known_terms, editions, chapters)
    for language in languages:
        target = aside / language
        shutil.copytree(work / language / "finished", target)
        for name in names:
            shutil.copy(root / "chapters" / language / f"{name}.ipynb", target)
        known = search.data(language, editions, parts(toc), known_terms)
        search.write(target / "_static" / "search.json", known)
        titles = {f"{one['page']}#{one['anchor']}": one["title"] for one in editions[language]}
        glossary.finish(target, language, known_terms, places, titles)
        (target / "_static" / "moved.json").write_text(json.dumps(moved(root)), encoding="utf-8")
        for name in names:
            if previews.address(_base(root), language, name):
                picture = aside / "previews" / language / f"{name}.png"
                picture.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(previews.path_of(language, name), picture)
    _front_pages(aside, root, languages)
    offline.add(aside, languages, names, front=lambda site, chosen: _front_pages(site, root, chosen))
    for language, pdf in pdfs.items():
        shutil.copy(pdf, aside / f"d2lmini-{language}.pdf")
    if out.exists():
        os.replace(out, old)
    os.replace(aside, out)
    shutil.rmtree(old, ignore_errors=True)


def build(
    root: Path = ROOT,
    work: Path | None = None,
    out: Path | None = None,
    languages: Iterable[str] | None = None,
    say: Any = print,
) -> Path:
    """Build the site and return its folder.

    Args:
        root: holds `_config.yml`, `_toc.yml` and `chapters/`.
        work: where Sphinx keeps its state between builds.
        out: the finished site.
        languages: folders of `chapters/` to build; all by default.
        say: told what is happening, a line at a time.

    Raises:
        BuildError: a page is missing, Sphinx warned, or a formula cannot be typeset.
    """
    work = work or root / "_build"
    out = out or work / "site"
    chosen = [code for code in LANGUAGES if code in (languages or LANGUAGES)]
    pages = [
        f"chapters/{code}/{name}.ipynb" for code in chosen for name in page_names(table_of_contents(root))
    ]
    if missing := [page for page in pages if not (root / page).exists()]:
        raise BuildError(
            f"_toc.yml names what is not there: {', '.join(missing)}. "
            "Write it, take it out of _toc.yml, or name the languages to build with --lang."
        )
    state, _ = _state(root, out, chosen)
    if not _is_current(work, out, state):  # a finished site is shown even where nothing may be written
        with locked(work / "build.lock", terminal.say("site.waits")):
            state, pdfs = _state(root, out, chosen)
            if not _is_current(work, out, state):
                _build(root, work, out, pdfs, chosen, say)
                (work / "site.stamp").write_text(state)
                say(f"site: {out}")
                return out
    say(terminal.say("site.unchanged"))
    return out


def _state(root: Path, out: Path, chosen: list[str]) -> tuple[str, dict[str, Path]]:
    """What the site is made of now, and the printed editions that were made from just that."""
    inputs = _digest(_inputs(root))
    pdfs = {code: pdf for code in chosen if (pdf := _pdf(root, code, inputs)).exists()}
    return json.dumps([inputs, chosen, str(out), _digest(pdfs.values())]), pdfs


def _is_current(work: Path, out: Path, state: str) -> bool:
    stamp = work / "site.stamp"
    return out.exists() and stamp.exists() and stamp.read_text() == state


def _build(
    root: Path, work: Path, out: Path, pdfs: dict[str, Path], chosen: list[str], say: Callable[[str], None]
) -> None:
    old = out.with_name(out.name + ".old")
    (work / "site.stamp").unlink(missing_ok=True)
    if old.exists() and not out.exists():  # killed between the two steps of the swap
        os.replace(old, out)
    say(terminal.say("site.building", languages=", ".join(chosen)))
    sizes = {code: f"{pdf.stat().st_size / 1e6:.1f}" for code, pdf in pdfs.items()}
    failures = []
    # Sphinx patches docutils while it runs: a process each, not threads
    with ProcessPoolExecutor(2, get_context("spawn"), _end_with_parent) as pool:
        jobs = {
            pool.submit(build_language, code, root, work, chosen, sizes.get(code, "")): code
            for code in chosen
        }
        for job in as_completed(jobs):
            try:
                say(terminal.say("site.built", language=jobs[job], seconds=f"{job.result():.1f}"))
            except BuildError as error:
                failures.append(str(error))
    if failures:
        raise BuildError("\n".join(sorted(failures)))
    _assemble(work, root, out, chosen, pdfs)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.build", description="Build the website.")
    parser.add_argument(
        "--lang", action="append", choices=list(LANGUAGES), help="build only this language (repeatable)"
    )
    parser.add_argument("--out", type=Path, help="folder of the finished site (default: _build/site)")
    options = parser.parse_args(arguments)
    try:
        build(out=options.out and options.out.resolve(), languages=options.lang)
    except (BuildError, OSError) as error:  # OSError: the disk is full, or may not be written
        print(f"{terminal.say('site.failed')}\n{terminal.in_words(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\n" + terminal.say("site.stopped"), file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
