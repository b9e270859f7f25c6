#!/usr/bin/env python3
"""The one command of the course: `python3 course.py` tells what it can do (`py course.py` on Windows).

Each verb first sets up what it needs in `.venv`, once; afterwards it starts in a moment. This file needs
nothing but Python's standard library, and old Pythons can read it: to be told that they are too old.
It speaks the language of the terminal: `book/terminal.py`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

from book.browser import browser_name, find_browser
from book.terminal import in_words, language, say

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOG = ROOT / "_build" / "setup.log"
WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
COMMAND = "py course.py" if WINDOWS else "python3 course.py"
LOCK = "book/requirements.lock"  # what reading needs, each file by its hash; without torch: some 100 MB
LAB = "book/lab.txt"  # what the notebooks need besides
PAPER = "book/paper/requirements.txt"  # what the PDF needs besides
FRAMEWORKS = "tests/frameworks.txt"  # what one page of the appendix needs besides
COLAB = "tests/colab.txt"  # its widgets are older; a test needs them beside those of .venv
READING = (LOCK,)
WORKING = (LOCK, LAB, "requirements.txt")
PRINTING = (LOCK, PAPER, "requirements.txt")
EVERYTHING = (LOCK, "requirements.txt", FRAMEWORKS, COLAB)
SETS = (READING, WORKING, PRINTING, EVERYTHING)  # each includes the first, the last all
VERBS = (
    "serve",
    "lab",
    "test",
    "site",
    "pdf",
    "notebooks",
    "lockstep",
    "prose",
    "numbers",
    "exercises",
    "checkpoints",
    "previews",
    "bench",
    "lock",
)
MODULES = {
    "site": "book.build",
    "exercises": "tools.exercises.compile",
    "notebooks": "tools.notebooks.execute",
    "lockstep": "tools.text.lockstep",
    "prose": "tools.text.prose",
    "numbers": "tools.text.numbers_in_text",
    "pdf": "tools.paper.pdf",
    "previews": "tools.paper.previews",
    "lock": "tools.requirements",
}  # the others: tools.VERB
NEEDS = {"site": READING, "serve": READING, "exercises": READING, "pdf": PRINTING}  # the others: EVERYTHING


# What pip and apt write, and the reason for it in the words of the course.
SIGNS = {
    "disk": ("No space left on device", "not enough space", "Errno 28"),
    "network": (
        "NewConnectionError",
        "NameResolutionError",
        "Temporary failure resolving",
        "Could not resolve",
        "Connection refused",
        "Network is unreachable",
        "timed out",
        "getaddrinfo failed",
    ),
    "forbidden": ("Permission denied", "Access is denied"),
    "changed": ("DO NOT MATCH THE HASHES",),
    "package": ("No matching distribution found",),
}


class SetUpError(Exception):
    """Something that the person at the keyboard can mend, in a sentence."""


def main(arguments: list[str]) -> int:
    """Run a verb; return the exit code."""
    if sys.version_info < (3, 11):
        mine = platform.python_version()
        print(f"This is Python {mine}; the course needs 3.11 or newer (python.org).", file=sys.stderr)
        return 1
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(say("usage", command=COMMAND) + "\n")
        for verb in VERBS:
            print(f"  {verb:<10} {say('verbs.' + verb)}")
        return 0
    verb, *rest = arguments
    if verb not in VERBS:
        print(say("no_verb", verb=verb, verbs=", ".join(VERBS), command=COMMAND), file=sys.stderr)
        return 2
    try:
        return run_verb(verb, rest)
    except (SetUpError, OSError) as error:
        print(f"\n{in_words(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\n" + say("stopped", command=f"{COMMAND} {verb}"), file=sys.stderr)
        return 130


def run_verb(verb: str, rest: list[str]) -> int:
    """Set up what a verb needs and run it."""
    if verb == "lockstep":
        return module(
            "tools.text.lockstep", rest, python=sys.executable
        )  # needs nothing that is to be installed
    if verb == "serve":
        from book import serve

        # a wrong port is told now, not after minutes of installing
        code = serve.check(rest)
        if code:
            return code
    if verb == "lab":
        return lab(rest)
    set_up(NEEDS.get(verb, EVERYTHING))
    if verb == "pdf":
        install_browser()
    if verb == "serve":
        return module("book.serve", ["--build", *rest])
    if verb == "test":
        return test(rest)
    return module(MODULES.get(verb, f"tools.{verb}"), rest)


def module(name: str, arguments: list[str], python: Path | str = PYTHON) -> int:
    """Run a module from the root of the course; return its exit code."""
    bin_first = os.pathsep.join([str(PYTHON.parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PYTHONUTF8": "1", "PATH": bin_first}
    # oxlint is a program, no module
    start = [str(PYTHON.parent / name)] if name == "oxlint" else [str(python), "-m", name]
    process = subprocess.Popen([*start, *arguments], cwd=ROOT, env=environment)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass  # the terminal told the module too: it ends in its own time, with its own words


def lab(arguments: list[str]) -> int:
    """Open JupyterLab on the reader's copies of the notebooks; they are made before anything is installed."""
    from book import lab as copies  # not by old Pythons
    from book.chapters import chapters

    options = copies.options(arguments, language())
    names = chapters(options.lang, ROOT)
    if options.chapter not in (None, *names):
        raise SetUpError(say("lab.no_chapter", name=options.chapter, chapters=", ".join(names)))
    if options.afresh and not options.chapter:
        raise SetUpError(say("lab.afresh_which", command=f"{COMMAND} lab --afresh"))
    kept = copies.afresh(options.lang, options.chapter, ROOT) if options.afresh else None
    if kept:
        print(say("lab.kept", path=kept))
    brought = copies.bring(options.lang, ROOT)
    opened = copies.copy_of(options.lang, options.chapter or "index", ROOT)
    if brought.made:
        print(say("lab.made", path=opened.parent))
    if brought.renewed:
        print(say("lab.renewed", chapters=", ".join(brought.renewed)))
    for name in brought.behind:
        print(say("lab.behind", name=name, command=f"{COMMAND} lab --lang {options.lang} --afresh {name}"))
    set_up(WORKING)
    print(say("lab.opens"), flush=True)
    return module("jupyterlab", copies.command(opened, options.port, not options.no_browser))


def test(pytest_arguments: list[str]) -> int:
    """Run all checks; the last line is pytest's, the exit code tells of all."""
    install_browser()
    failed = []
    for tool, *options in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["oxlint"]):
        print(f"{tool} {' '.join(options)}".strip() + ":", flush=True)
        if module(tool, options):
            failed.append(tool)
    if failed:
        print(say("unclean", tools=", ".join(dict.fromkeys(failed))), flush=True)
    # A file to a process: the cells of a notebook depend on each other.
    processes = str(min(os.cpu_count() or 1, 8))
    code = module("pytest", ["-n", processes, "--dist", "loadfile", *pytest_arguments])
    return code or int(bool(failed))


# ---- set-up


def set_up(files: tuple[str, ...]) -> None:
    """Make `.venv` hold what these requirement files name; do nothing if it does already.

    What reading needs is locked, and the tests run with the same. The rest is pinned by version alone:
    PyTorch has other files for other graphics cards.

    The stamp is written when all is done and at no other time: what breaks off is taken up by the next run.
    """
    from book.lock import locked  # not by old Pythons

    if holds(files):
        return
    with locked(LOG.with_name("setup.lock"), say("waits")) as lock:
        os.set_inheritable(lock, True)  # a pip that outlives this process keeps others away
        if not holds(files):
            install(files)


def holds(files: tuple[str, ...]) -> bool:
    """Say whether `.venv` holds what these files name."""
    stamp = VENV / "d2lmini.stamp"
    return PYTHON.exists() and stamp.exists() and fingerprint(files) in stamp.read_text().split()


def install(files: tuple[str, ...]) -> None:
    """Install what these files name."""
    stamp = VENV / "d2lmini.stamp"
    stamp.unlink(missing_ok=True)
    LOG.write_text("")
    whole = mend()
    if not whole or not works([PYTHON, "-m", "pip", "--version"]):
        make_venv()
    if files in (WORKING, EVERYTHING) and platform.system() == "Linux" and not shutil.which("nvidia-smi"):
        print(say("large"))
    pip(say("parts.packages"), "--require-hashes", "-r", LOCK)
    if files == WORKING:
        pip(say("parts.lab"), "-r", LAB, "-c", "requirements.txt")
    if files == PRINTING:
        pip(say("parts.packages"), "-r", PAPER, "-c", "requirements.txt")
    if files == EVERYTHING:
        pip(say("parts.tests"), "-r", "requirements.txt", "-r", FRAMEWORKS)
    if files in (WORKING, EVERYTHING):
        pip("d2lmini", "--no-deps", "-e", ".")
    if files == EVERYTHING:
        pip(say("parts.colab"), "--no-deps", "--upgrade", "--target", str(VENV / "colab"), "-r", COLAB)
    held = map(fingerprint, SETS if files == EVERYTHING else (READING, files))
    stamp.write_text("\n".join(held) + "\n")


def fingerprint(files: tuple[str, ...]) -> str:
    """Return a hash that changes with what is to be installed, and where: a moved folder is set up anew."""
    contents = [(ROOT / file).read_bytes() for file in files]
    return hashlib.sha256(b"\0".join([str((ROOT, files)).encode(), *contents])).hexdigest()


def mend() -> bool:
    """Let pip install anew what it left half when it was killed; say whether pip itself is whole.

    It would take a package for installed as soon as the package's description is there.
    """
    places = list(VENV.glob("Lib/site-packages" if WINDOWS else "lib/python3*/site-packages"))
    described = [info for place in places for info in place.glob("*.dist-info")]
    halves = [info for info in described if not is_whole(info)]
    for info in halves:
        shutil.rmtree(info)
    for place in places:
        for aside in place.glob("~*"):  # where pip puts what it replaces
            shutil.rmtree(aside, ignore_errors=True)
    return any(info.name.startswith("pip-") for info in set(described) - set(halves))


def is_whole(info: Path) -> bool:
    """Say whether all that a package's list names, which pip writes last, is there in its size."""
    try:
        with (info / "RECORD").open(encoding="utf-8", newline="") as record:
            for name, _, size in csv.reader(record):
                there = (info.parent / name).stat().st_size if not name.endswith(".pyc") else size
                if size and there != int(size):
                    return False
    except (OSError, ValueError):
        return False
    return True


def make_venv() -> None:
    """Make `.venv`, in place of what an interrupted attempt may have left there."""
    if not works([sys.executable, "-c", "import ensurepip, venv"]):
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        if not debian_root():
            raise SetUpError(say("no_venv", package=package))
        logged(say("parts.venv_package"), ["apt-get", "update"])
        logged(say("parts.venv_package"), ["apt-get", "install", "-y", "--no-install-recommends", package])
    logged(say("parts.venv"), [sys.executable, "-m", "venv", "--clear", VENV])


def pip(what: str, *arguments: str) -> None:
    """Install with the pip of `.venv`."""
    quiet = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")
    logged(what, [PYTHON, "-m", "pip", "install", *quiet, *arguments])


def logged(what: str, command: list[str | Path]) -> None:
    """Run one step of the set-up with its output in the log and a line of progress here.

    Raises:
        SetUpError: it failed; the message holds the likely reason and the end of its output.
    """
    began, live = time.monotonic(), sys.stdout.isatty() and not WINDOWS
    installing = say("installing", what=what)
    print(installing, end="" if live else "\n", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "PYTHONUTF8": "1"}
    output: list[str] = []
    with LOG.open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            close_fds=False,  # the lock goes with it
        )
        with process:
            for line in process.stdout or ():
                log.write(line)
                log.flush()
                output.append(line.rstrip())
                if live:
                    wide = sum(letter > "\u2e80" for letter in installing)  # Chinese: two columns each
                    width = shutil.get_terminal_size().columns - wide
                    now = f"{installing}: {line.strip()}"[: width - 1]
                    print(f"\r\x1b[K{now}", end="", flush=True)
    if live:
        print("\r\x1b[K", end="")
    if process.returncode:
        tail = "\n".join(f"  {line}" for line in output[-12:])
        raise SetUpError(f"{tail}\n\n{reason(what, output)}\n{say('log', path=LOG)}")
    print(say("installed", what=what, seconds=round(time.monotonic() - began)), flush=True)


def reason(what: str, output: list[str]) -> str:
    """Say in a sentence why a step of the set-up failed, as far as its output tells."""
    text, failed = "\n".join(output), say("failed", what=what)
    here = {"path": ROOT / "…", "version": platform.python_version()}
    for name, signs in SIGNS.items():
        if any(sign in text for sign in signs):
            return f"{failed} {say('reasons.' + name, **here)}"
    return failed


def works(command: list[str | Path]) -> bool:
    """Say whether a command exists and succeeds."""
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def debian_root() -> bool:
    """Say whether this is Debian, as root. Not Ubuntu: its chromium only points at another installer."""
    release = Path("/etc/os-release")
    return (
        bool(shutil.which("apt-get"))
        and getattr(os, "geteuid", lambda: 1)() == 0
        and release.exists()
        and "ID=debian" in release.read_text().splitlines()
    )


# ---- the browser of the tests and of the PDF


def install_browser() -> None:
    """Make sure that there is a browser."""
    if find_browser():
        return
    LOG.parent.mkdir(exist_ok=True)
    if browser_name() == "chromium" and debian_root():
        logged(say("parts.browser"), ["apt-get", "update"])
        packages = ("chromium", "fonts-noto-cjk")
        logged(say("parts.browser"), ["apt-get", "install", "-y", "--no-install-recommends", *packages])
    else:  # says so and does nothing when it is there
        logged(say("parts.browser"), [PYTHON, "-m", "playwright", "install", browser_name()])


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # the terminal may lack a letter
    sys.exit(main(sys.argv[1:]))
