"""The notebooks to work in on this machine: the reader's own copies, and how JupyterLab is started on them.

A copy keeps in its metadata the fingerprint of the original that it was made from. So it is known of each
whether the reader wrote something in it, and whether the original has changed since; outputs do not count.
Standard library only, because `course.py lab` looks at the copies before it installs anything.
"""

import argparse
import json
import os
import re
from itertools import count
from pathlib import Path
from typing import NamedTuple

from book.chapters import ROOT, Notebook, chapters, fingerprint, path_of, read, source, write
from book.serve import port_number
from book.terminal import SetUpError, language, say
from d2lmini.language import LANGUAGES
from d2lmini.notebook.content import chapter_numbers

NUMBERS = {"index": 0} | chapter_numbers()
# the name of a page's copy, or of one that is kept, alone or in a link; in an address it is another's
_PAGE = re.compile(rf"(?<![\w/-])(?:\d\d-)?({'|'.join(NUMBERS)})(?=(?:-kept-\d+)?\.ipynb)")


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
    parser.add_argument("chapter", nargs="?", metavar="CHAPTER", type=_name, help="such as self-attention")
    parser.add_argument("--lang", choices=LANGUAGES, default=default, help=f"now: {default}")
    parser.add_argument(
        "--afresh", action="store_true", help="begin CHAPTER anew; your copy of it is kept under another name"
    )
    parser.add_argument("--port", type=port_number, help="8888 or the next that is free by default")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    return parser.parse_args(arguments)


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
        if _fingerprints(mine)[0] == _written(original):
            continue
        if mine.exists() and not _untouched(mine):
            copies.behind.append(chapter)
            continue
        (copies.renewed if mine.exists() else copies.made).append(chapter)
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


def numbered(text: str) -> str:
    """Return a text with the names of copies as JupyterLab shows them: in the order of the course.

    Their files have no numbers: a chapter's may change.

    Example:
        >>> numbered("[1](self-attention.ipynb), [a](api.ipynb)")
        '[1](01-self-attention.ipynb), [a](api.ipynb)'
    """
    return _PAGE.sub(lambda page: f"{NUMBERS[page[1]]:02}-{page[1]}", text)


def unnumbered(text: str) -> str:
    """Return a text with the names of copies as their files have them."""
    return _PAGE.sub(r"\1", text)


def command(notebook: Path, port: int | None = None, browser: bool = True) -> list[str]:
    """Return the arguments with which the module `jupyterlab` opens a notebook in its folder."""
    arguments = [
        f"--config={ROOT / 'book' / 'lab_settings' / 'server.json'}",
        f"--ServerApp.root_dir={notebook.parent}",
        f"--LabApp.default_url=/lab/tree/{numbered(notebook.name)}",
        f"--LabApp.workspaces_dir={notebook.parent / '.workspaces'}",  # no tabs of another language
    ]
    if port is not None:
        arguments += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        arguments.append("--no-browser")
    return arguments


def _name(chapter: str) -> str:
    """Return the name of a chapter that is called by its file, or as JupyterLab shows it."""
    return unnumbered(Path(chapter).name).removesuffix(".ipynb")


def _written(notebook: Notebook) -> str:
    """Return the fingerprint of what people write in a notebook: text and code, in their order."""
    return fingerprint(json.dumps([[cell["cell_type"], source(cell)] for cell in notebook["cells"]]))


def _fingerprints(copy: Path) -> tuple[str | None, str]:
    """Return those of a copy's original, None where it cannot be told, and of what stands in the copy."""
    try:
        notebook = json.loads(copy.read_text(encoding="utf-8"))
        return notebook["metadata"]["d2lmini"]["original"], _written(notebook)
    except (OSError, ValueError, KeyError, TypeError):  # none, the reader's own notebook, or half of one
        return None, ""


def _untouched(copy: Path) -> bool:
    """Say whether the reader has written nothing in a copy; of what cannot be read, the reader has."""
    original, written = _fingerprints(copy)
    return original == written


def _copy(original: Notebook, mine: Path) -> None:
    """Write a copy that knows where it comes from."""
    mine.parent.mkdir(parents=True, exist_ok=True)
    metadata = original["metadata"] | {"d2lmini": {"original": _written(original)}}
    write(mine, original | {"metadata": metadata})
