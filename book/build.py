"""Build the website: three languages, one landing page, into `_build/site`.

`python -m book.build` builds what has changed. Each language is one Sphinx build with warnings as errors; the
site is put together aside and swapped in, so that a failed or interrupted build leaves the old one as it was.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
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
    if not _is_current(root, out, chosen):  # a finished site is shown even where nothing may be written
        with locked(work / "build.lock", terminal.say("site.waits")) as lock:
            os.set_inheritable(lock, True)
            if not _is_current(root, out, chosen):
                _build(root, work, out, chosen, say)
                say(f"site: {out}")
                return out
    say(terminal.say("site.unchanged"))
    return out


def _pdfs(root: Path, chosen: list[str]) -> dict[str, Path]:
    """Return the printed editions that were made from just what the site is made of now."""
    state = inputs.digest(inputs.all_files(root))
    return {code: pdf for code in chosen if (pdf := pdf_of(root, code, state)).exists()}


def _made_from(root: Path, out: Path, chosen: list[str]) -> str:
    files = [*inputs.all_files(root), *_pdfs(root, chosen).values()]
    return json.dumps([inputs.digest(files), chosen, str(out)])


def _is_current(root: Path, out: Path, chosen: list[str]) -> bool:
    stamp = root / "_build" / "site.stamp"
    return out.exists() and stamp.exists() and stamp.read_text() == _made_from(root, out, chosen)


def _build(root: Path, work: Path, out: Path, chosen: list[str], say: Callable[[str], None]) -> None:
    made_from, pdfs = _made_from(root, out, chosen), _pdfs(root, chosen)
    old = out.with_name(out.name + ".old")
    (work / "site.stamp").unlink(missing_ok=True)
    if old.exists() and not out.exists():  # killed between the two steps of the swap
        os.replace(old, out)
    say(terminal.say("site.building", languages=", ".join(chosen)))
    builds = {}
    for code in chosen:
        size = f"{pdfs[code].stat().st_size / 1e6:.1f}" if code in pdfs else ""
        made = work / code / inputs.STAMP
        if made.exists() and json.loads(made.read_text()) == inputs.edition(root, code, chosen, size):
            continue
        command = [sys.executable, "-m", "book.edition", code, str(root), str(work), ",".join(chosen), size]
        # with the lock: one that outlives this process keeps other builds away
        builds[code] = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", close_fds=False
        )
    import book.offline  # noqa: F401  for what follows: long to import, and the others work meanwhile

    failures = []
    for code, process in builds.items():
        told, _ = process.communicate()
        if process.returncode:
            failures.append(told.strip())
        else:
            say(terminal.say("site.built", language=code, seconds=told.strip()))
    if failures:
        raise BuildError("\n".join(failures))
    _assemble(work, root, out, chosen, pdfs)
    (work / "site.stamp").write_text(made_from)


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
