"""What is killed while it writes, case by case: `tools/interruptions.py` does it.

Each works in a folder of its own and says what is damaged there.
"""

import hashlib
import http.server
import json
import os
import random
import shutil
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from book.build import build
from book.chapters import LANGUAGES, ROOT, Cell, read, source, write

READY = "ready"  # what a run prints when it begins to work; before it, nothing can happen


class Case:
    """Something that writes: `make` the state before, `change` what the next run finds, `run` it."""

    def make(self, folder: Path) -> None: ...
    def change(self, folder: Path, number: int) -> None: ...
    def run(self, folder: Path) -> None: ...

    def damage(self, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
        """Say what is damaged after a kill, or after the run that follows it and has finished."""
        return ""


class Answers(Case):
    """A reader's answers, from a kernel."""

    def change(self, folder: Path, number: int) -> None:
        (folder / "number").write_text(str(number))

    def run(self, folder: Path) -> None:
        from d2lmini.notebook.progress import keep_answer

        os.chdir(folder)
        number = Path("number").read_text()
        print(READY, flush=True)
        for each in range(500):
            keep_answer(f"a chapter/{number}-{each}", {"done": True, "text": "x" * 200})
            print(f"a chapter/{number}-{each}", flush=True)

    def damage(self, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
        with (folder / "kept").open("a") as kept:
            kept.writelines(f"{name}\n" for name in printed)
        file = folder / "d2lmini-progress.json"
        there = json.loads(file.read_text())["answers"] if file.exists() else {}
        lost = set((folder / "kept").read_text().splitlines()) - set(there)
        return f"{len(lost)} answers are lost" if lost else ""


class Download(Case):
    """A file from a slow host that continues where a download broke off."""

    def make(self, folder: Path) -> None:
        self.content = random.Random(0).randbytes(2_000_000)
        handler = type("Handler", (SlowHost,), {"content": self.content})
        self.host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.host.serve_forever, daemon=True).start()
        (folder / "url").write_text(f"http://127.0.0.1:{self.host.server_port}/file")
        (folder / "sha1").write_text(hashlib.sha1(self.content).hexdigest())

    def change(self, folder: Path, number: int) -> None:
        (folder / "file").unlink(missing_ok=True)

    def run(self, folder: Path) -> None:
        from d2lmini.download import fetch

        print(READY, flush=True)
        fetch((folder / "url").read_text(), folder / "file", sha1=(folder / "sha1").read_text())

    def damage(self, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
        file = folder / "file"
        if file.exists():
            return "" if file.read_bytes() == self.content else "half a file"
        return "no file" if finished else ""


class SlowHost(http.server.BaseHTTPRequestHandler):
    """Gives out a file from any byte on, some kilobytes at a time."""

    content = b""

    def do_GET(self) -> None:
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        rest = self.content[begin:]
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("Content-Range", f"bytes {begin}-{len(self.content) - 1}/{len(self.content)}")
        self.end_headers()
        try:
            for at in range(0, len(rest), 20_000):
                self.wfile.write(rest[at : at + 20_000])
                time.sleep(0.002)
        except OSError:
            pass  # who asked was killed

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Checkpoints(Case):
    """A checkpoint after the other in place of the same file; what takes minutes before it writes nothing."""

    def contents(self, folder: Path) -> Iterator[bytes]:
        from d2lmini.checkpoints import load_translator
        from tools import checkpoints

        translator = load_translator("en", "vi")
        print(READY, flush=True)
        for bleu in range(20):
            path = folder / "assets" / "en-vi.safetensors"
            checkpoints.write(path, translator, {"bleu": bleu % 2})
            yield path.read_bytes()

    def make(self, folder: Path) -> None:
        (folder / "assets").mkdir()
        both = self.contents(folder)
        self.both = {next(both), next(both)}

    def run(self, folder: Path) -> None:
        from tools import checkpoints

        checkpoints.ASSETS = folder / "assets"
        checkpoints.sweep([checkpoints.ASSETS])
        list(self.contents(folder))

    def damage(self, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
        if (folder / "assets" / "en-vi.safetensors").read_bytes() not in self.both:
            return "half a checkpoint"
        return "a file is left over" if finished and len(os.listdir(folder / "assets")) > 1 else ""


class Notebooks(Case):
    """A notebook that is executed and stored."""

    def make(self, folder: Path) -> None:
        metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        self.path = folder / "chapters" / "en" / "one.ipynb"
        self.path.parent.mkdir(parents=True)
        code: Cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
        write(
            self.path,
            {"cells": [code | {"source": ""}], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5},
        )

    def change(self, folder: Path, number: int) -> None:
        notebook = read(self.path)
        notebook["cells"][0]["source"] = [f"print('x' * 100_000, {number})"]
        write(self.path, notebook)
        self.before = self.path.read_bytes()

    def run(self, folder: Path) -> None:
        from tools import notebooks

        print(READY, flush=True)
        if code := notebooks.main([], folder):
            sys.exit(code)

    def damage(self, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
        cell = read(self.path)["cells"][0]
        new = bool(cell["outputs"]) and "".join(cell["outputs"][0]["text"]).endswith(f"x {number}\n")
        if not new and (finished or self.path.read_bytes() != self.before):
            return "the notebook is neither as before nor as executed"
        if source(cell) != f"print('x' * 100_000, {number})":
            return "the text of the notebook is another"
        return "a file is left over" if finished and len(os.listdir(self.path.parent)) > 1 else ""


class Site(Case):
    """The website, of which a page changes to and fro."""

    def __init__(self, book: Path) -> None:
        self.book = book

    def make(self, folder: Path) -> None:
        for name in ("_config.yml", "_toc.yml"):
            shutil.copy(self.book / name, folder)
        shutil.copytree(self.book / "chapters", folder / "chapters")
        self.page = folder / "chapters" / "en" / "index.ipynb"
        self.both = []
        for number in (0, 1):  # from nothing: how the site is to be
            self.change(folder, number)
            shutil.rmtree(folder / "_build", ignore_errors=True)
            self.run(folder)
            self.both.append(digest(folder / "_build" / "site"))

    def change(self, folder: Path, number: int) -> None:
        notebook = read(self.page)
        text = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"][-1]
        text["source"] = [source(text).removesuffix("\n\nChanged.") + "\n\nChanged." * (number % 2)]
        write(self.page, notebook)
        os.utime(self.page, (0, 0))  # as if the clock had been set back

    def run(self, folder: Path) -> None:
        print(READY, flush=True)
        build(folder, languages=[code for code in LANGUAGES if (folder / "chapters" / code).exists()])

    def damage(self, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
        site, old = folder / "_build" / "site", folder / "_build" / "site.old"
        if finished:
            return (
                "" if digest(site) == self.both[number % 2] else "the site is another than one from nothing"
            )
        return "" if digest(site if site.exists() else old) in self.both else "half a site"


class SetUp(Case):
    """A `.venv` for what a lock names: made from nothing, or brought to other versions."""

    def make(self, folder: Path) -> None:
        (folder / "book").mkdir()
        (folder / "_build").mkdir()
        for name in ("alpha", "beta", "gamma"):
            for version in (0, 1):
                wheel(folder / "wheels", name, version)

    def change(self, folder: Path, number: int) -> None:
        if number % 3 == 0:
            shutil.rmtree(folder / ".venv", ignore_errors=True)
        wheels = sorted((folder / "wheels").glob(f"*-{number % 2}-*"))
        lock = [f"{path.name.split('-')[0]}=={number % 2} --hash=sha256:{digest(path)}\n" for path in wheels]
        (folder / "book" / "requirements.lock").write_text("".join(lock))

    def run(self, folder: Path) -> None:
        import course

        os.environ |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "wheels")}
        python = course.PYTHON.relative_to(course.VENV)
        course.ROOT, course.VENV, course.LOG = folder, folder / ".venv", folder / "_build" / "setup.log"
        course.PYTHON = course.VENV / python
        print(READY, flush=True)
        course.set_up(course.READING)

    def damage(self, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
        if not finished:
            return ""
        place = next((folder / ".venv").rglob("site-packages"))
        for path in (folder / "wheels").glob(f"*-{number % 2}-*"):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    whole = name.endswith("RECORD") or (place / name).read_bytes() == archive.read(name)
                    if not whole:
                        return f"{name} is another than in {path.name}"
        left = [path.name for path in place.glob("*") if path.name.startswith("~")]
        return f"left over: {', '.join(left)}" if left else ""


def wheel(folder: Path, name: str, version: int) -> None:
    """Make a package of 300 files."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {f"{name}/module_{number}.py": f"x = {version}\n" * 50 for number in range(300)}
    files |= {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)


def digest(path: Path) -> str:
    """Return the hash of a file, or of all files of a folder."""
    found = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            found.update(b"" if file == path else str(file.relative_to(path)).encode())
            found.update(file.read_bytes())
    return found.hexdigest()


def cases(book: Path = ROOT) -> dict[str, Case]:
    """Return all cases by name; `book` is the course whose site is built."""
    return {
        "answers": Answers(),
        "download": Download(),
        "checkpoints": Checkpoints(),
        "notebooks": Notebooks(),
        "site": Site(book),
        "set-up": SetUp(),
    }
