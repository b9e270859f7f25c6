"""The notebooks to work in on this machine: the reader's own copies, and how JupyterLab is started on them.

A copy keeps in its metadata the fingerprint of the original that it was made from. So it is known of each
whether the reader wrote something in it, and whether the original has changed since; outputs do not count.
Standard library only, because `course.py lab` looks at the copies before it installs anything.
"""

import argparse
import json
import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from book.chapters import ROOT, Notebook, chapters, fingerprint, path_of, read, source, write
from book.serve import port_number
from book.terminal import SetUpError, language, say
from d2lmini.language import LANGUAGES

STYLE = ROOT / "book" / "lab_style"


class Copies(NamedTuple):
    """What became of the copies, chapter by chapter."""

    made: list[str]
    renewed: list[str]  # the original was newer, and the reader had written nothing
    behind: list[str]  # the original is newer, and the reader's copy stays


def options(arguments: list[str], default: str) -> argparse.Namespace:
    """Read the command line of `course.py lab`; `default` is the language unless it names another."""
    parser = argparse.ArgumentParser(
        prog="course.py lab", description="Open JupyterLab on your own copies of the notebooks."
    )
    parser.add_argument("chapter", nargs="?", metavar="CHAPTER", help="such as self-attention")
    parser.add_argument("--lang", choices=LANGUAGES, default=default, help=f"now: {default}")
    parser.add_argument(
        "--afresh", action="store_true", help="begin CHAPTER anew; your copy of it is kept under another name"
    )
    parser.add_argument("--port", type=port_number, help="8888 or the next that is free by default")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    chosen = parser.parse_args(arguments)
    if chosen.chapter:
        chosen.chapter = Path(chosen.chapter).name.removesuffix(".ipynb")
    return chosen


def prepare(arguments: list[str], course: str, root: Path = ROOT) -> list[str]:
    """Bring the reader's copies up to date and say what became of them; return JupyterLab's arguments.

    Args:
        arguments: the command line of `course.py lab`.
        course: how `course.py` is called here.
        root: the folder of the course.

    Raises:
        SetUpError: the command line names no chapter, or one that there is not.
    """
    chosen = options(arguments, language())
    names = chapters(chosen.lang, root)
    if chosen.chapter not in (None, *names):
        raise SetUpError(say("lab.no_chapter", name=chosen.chapter, chapters=", ".join(names)))
    if chosen.afresh and not chosen.chapter:
        raise SetUpError(say("lab.afresh_which", command=f"{course} lab --afresh"))
    if chosen.afresh and (kept := afresh(chosen.lang, chosen.chapter, root)):
        print(say("lab.kept", path=kept))
    copies = bring(chosen.lang, root)
    notebook = copy_of(chosen.lang, chosen.chapter or "index", root)
    if copies.made:
        print(say("lab.made", path=notebook.parent))
    if copies.renewed:
        print(say("lab.renewed", chapters=", ".join(copies.renewed)))
    for name in copies.behind:
        print(say("lab.behind", name=name, command=f"{course} lab --lang {chosen.lang} --afresh {name}"))
    print(say("lab.opens"), flush=True)
    return command(notebook, chosen.port, not chosen.no_browser)


def copy_of(language: str, chapter: str, root: Path = ROOT) -> Path:
    """Return the place of the reader's copy, whether it exists or not."""
    return root / "work" / language / f"{chapter}.ipynb"


def bring(language: str, root: Path = ROOT) -> Copies:
    """Copy what the reader has no copy of, and what is newer where the reader has written nothing."""
    copies = Copies([], [], [])
    for chapter in chapters(language, root):
        original, mine = read(path_of(language, chapter, root)), copy_of(language, chapter, root)
        if not mine.exists():
            copies.made.append(chapter)
        elif _fingerprints(mine)[0] == _written(original):
            continue
        elif _untouched(mine):
            copies.renewed.append(chapter)
        else:
            copies.behind.append(chapter)
            continue
        _copy(original, mine)
    return copies


def afresh(language: str, chapter: str, root: Path = ROOT) -> Path | None:
    """Begin a chapter anew; return where the reader's copy is kept if something was written in it."""
    mine, kept = copy_of(language, chapter, root), None
    if mine.exists() and not _untouched(mine):
        names = (mine.with_name(f"{chapter}-kept-{number}.ipynb") for number in count(1))
        kept = next(name for name in names if not name.exists())
        os.replace(mine, kept)
    _copy(read(path_of(language, chapter, root)), mine)
    return kept


def command(notebook: Path, port: int | None = None, browser: bool = True) -> list[str]:
    """Return the arguments with which the module `jupyterlab` opens a notebook in its folder."""
    arguments = [
        f"--ServerApp.root_dir={notebook.parent}",
        f"--LabApp.default_url=/lab/tree/{notebook.name}",
        "--ServerApp.contents_manager_class=book.lab_contents.LabContents",
        "--LabApp.expose_app_in_browser=True",  # an exercise begins in a new cell
        "--LabApp.custom_css=True",
        f"--ServerApp.tornado_settings={ {'static_custom_path': [str(STYLE)]} }",
        "--ServerApp.answer_yes=True",  # Ctrl-C ends it at once
        "--Application.log_level=ERROR",
        "--LabApp.news_url=None",  # it asks nobody for news
        "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    ]
    if port is not None:
        arguments += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        arguments.append("--no-browser")
    if getattr(os, "geteuid", lambda: 1)() == 0:  # as in a container
        arguments.append("--allow-root")
    return arguments


def _written(notebook: Notebook) -> str:
    """Return the fingerprint of what people write in a notebook: text and code, in their order."""
    return fingerprint(json.dumps([[cell["cell_type"], source(cell)] for cell in notebook["cells"]]))


def _fingerprints(copy: Path) -> tuple[str | None, str | None]:
    """Return those of a copy's original and of what stands in it, None where it cannot be told."""
    original = None
    with suppress(ValueError, KeyError, TypeError):  # the reader's own notebook, or half of one
        notebook = json.loads(copy.read_text(encoding="utf-8"))
        original = str(notebook["metadata"]["d2lmini"]["original"])
        return original, _written(notebook)
    return original, None


def _untouched(copy: Path) -> bool:
    """Say whether the reader has written nothing in a copy; of what cannot be read, the reader has."""
    original, written = _fingerprints(copy)
    return original is not None and original == written


def _copy(original: Notebook, mine: Path) -> None:
    """Write a copy that knows where it comes from."""
    mine.parent.mkdir(parents=True, exist_ok=True)
    metadata = original["metadata"] | {"d2lmini": {"original": _written(original)}}
    write(mine, original | {"metadata": metadata})
