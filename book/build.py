"""Build the website: three languages, one landing page, into `_build/site`.

`python -m book.build` builds what has changed. Each language is one Sphinx build with warnings as errors; the
site is put together aside and swapped in, so that a failed or interrupted build leaves the old one as it was.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.context import BaseContext
from pathlib import Path
from threading import Thread
from typing import Any

from book import inputs, previews, terminal
from book.chapters import read
from book.contents import BuildError, base_address, page_names, table_of_contents
from book.inputs import ROOT
from book.lock import locked
from book.stale import old_outputs
from d2lmini.language import LANGUAGES


def pdf_of(root: Path, language: str, state: str = "") -> Path:
    """Return where the printed edition of these pages, or of those of `state`, is kept."""
    state = state or inputs.digest(inputs.all_files(root))
    return root / "_build" / "pdf" / f"{language}-{state[:12]}.pdf"


def _build_language(language: str, root: Path, work: Path, languages: list[str], pdf: str) -> float | None:
    from book.edition import build_language

    return build_language(language, root, work, languages, pdf)


def _processes() -> BaseContext:
    """Return how processes begin: where the system can, as copies of one that has imported all."""
    if "forkserver" not in get_all_start_methods():  # Windows
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["book.edition"])
    return context


def _end_with_parent() -> None:
    """Let a process of the pool end when the build is killed: it would wait for work for ever."""
    parent = parent_process()
    assert parent, "this runs in a process of the pool"

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _assemble(work: Path, root: Path, out: Path, languages: list[str], pdfs: dict[str, Path]) -> None:
    """Put the site together aside, and swap it in."""
    from book import front, offline

    aside, old = (out.with_name(out.name + end) for end in (".new", ".old"))
    for leftover in (aside, old):
        shutil.rmtree(leftover, ignore_errors=True)
    for language in languages:
        shutil.copytree(work / language / "finished", aside / language)
        if base_address(root) and (pictures := previews.FOLDER / language).exists():
            shutil.copytree(pictures, aside / "previews" / language)
    front.write_front(aside, root, languages)
    offline.add(aside, work, languages)
    for language, pdf in pdfs.items():
        shutil.copy(pdf, aside / f"d2lmini-{language}.pdf")
    if out.exists():
        os.replace(out, old)
    os.replace(aside, out)
    shutil.rmtree(old, ignore_errors=True)


def build(
    root: Path = ROOT, out: Path | None = None, languages: Iterable[str] | None = None, say: Any = print
) -> Path:
    """Build the site and return its folder.

    Args:
        root: holds `_config.yml`, `_toc.yml` and `chapters/`.
        out: the finished site.
        languages: folders of `chapters/` to build; all by default.
        say: told what is happening, a line at a time.

    Raises:
        BuildError: a page is missing, Sphinx warned, or a formula cannot be typeset.
    """
    work = root / "_build"
    out = out or work / "site"
    chosen = [code for code in LANGUAGES if code in (languages or LANGUAGES)]
    names = page_names(table_of_contents(root))
    pages = [f"chapters/{code}/{name}.ipynb" for code in chosen for name in names]
    if missing := [page for page in pages if not (root / page).exists()]:
        raise BuildError(
            f"_toc.yml names what is not there: {', '.join(missing)}. "
            "Write it, take it out of _toc.yml, or name the languages to build with --lang."
        )
    for page in pages:
        for cell in old_outputs(read(root / page)):
            say(terminal.say("site.old_output", cell=f"{page}#{cell}", name=Path(page).stem))
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
    """Return what the site is made of now, and the printed editions that were made from just that."""
    state = inputs.digest(inputs.all_files(root))
    pdfs = {code: pdf for code in chosen if (pdf := pdf_of(root, code, state)).exists()}
    return json.dumps([state, chosen, str(out), inputs.digest(pdfs.values())]), pdfs


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
    with ProcessPoolExecutor(len(chosen), _processes(), _end_with_parent) as pool:
        jobs = {
            pool.submit(_build_language, code, root, work, chosen, sizes.get(code, "")): code
            for code in chosen
        }
        for job in as_completed(jobs):
            try:
                if seconds := job.result():
                    say(terminal.say("site.built", language=jobs[job], seconds=f"{seconds:.1f}"))
            except BuildError as error:
                failures.append(str(error))
        if failures:
            raise BuildError("\n".join(sorted(failures)))
        pool.submit(_assemble, work, root, out, chosen, pdfs).result()  # where everything is imported


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
