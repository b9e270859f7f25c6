#!/usr/bin/env python3
"""The one command of the course: `python3 course.py` tells what it can do (`py course.py` on Windows).

Each verb first sets up what it needs in `.venv`, once; afterwards it starts in a moment. This file needs
nothing but Python's standard library, and old Pythons can read it: to be told that they are too old.
It speaks the language of the terminal: `book/terminal.py`.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from book.browser import browser_name, find_browser
from book.terminal import SetUpError, in_words, say

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "d2lmini.stamp"
LOG = ROOT / "_build" / "setup.log"
WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
COMMAND = "py course.py" if WINDOWS else "python3 course.py"

PINS = "requirements.txt"  # the versions of all that follows
LOCK = "book/requirements.lock"  # what reading needs, each file by its hash; without torch: some 100 MB
FRAMEWORKS = "tests/frameworks.txt"  # what one page of the appendix needs besides
TEXT = ("tools/text/requirements.txt",)
READING = (LOCK,)
WORKING = (LOCK, "book/lab.txt")
PRINTING = (LOCK, "book/paper/requirements.txt")
EVERYTHING = (LOCK, PINS, FRAMEWORKS)
SETS = (TEXT, READING, WORKING, PRINTING, EVERYTHING)  # the last includes all
PARTS = {WORKING: "parts.lab", EVERYTHING: "parts.tests"}
# verb: the module that it runs, and what that needs
VERBS = {
    "serve": ("book.serve", READING),
    "lab": ("jupyterlab", WORKING),
    "test": ("pytest", EVERYTHING),
    "site": ("book.build", READING),
    "pdf": ("tools.paper.pdf", PRINTING),
    "notebooks": ("tools.notebooks.execute", EVERYTHING),
    "lockstep": ("tools.text.lockstep", ()),
    "prose": ("tools.text.prose", TEXT),
    "numbers": ("tools.text.numbers_in_text", EVERYTHING),
    "exercises": ("tools.exercises.compile", READING),
    "checkpoints": ("tools.record.checkpoints", EVERYTHING),
    "previews": ("tools.paper.previews", EVERYTHING),
    "bench": ("tools.bench", EVERYTHING),
    "lock": ("tools.requirements", EVERYTHING),
}


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
    """Set up what a verb needs and run it. A mistake in its options is told before minutes of installing."""
    name, needs = VERBS[verb]
    if verb == "test" and {"-h", "--help"} & {*rest}:
        print(say("test_help", command=COMMAND))
        return 0
    if verb == "serve":
        from book import serve  # not by old Pythons

        code = serve.check(rest)
        if code:
            return code
        rest = ["--build", *rest]
    if verb == "lab":
        from book import lab

        rest = lab.prepare(rest, COMMAND, ROOT)
    set_up(needs)
    if verb in ("test", "pdf"):
        install_browser()
    return test(rest) if verb == "test" else module(name, rest, PYTHON if needs else sys.executable)


def module(name: str, arguments: list[str], python: Path | str = PYTHON) -> int:
    """Run a module from the root of the course; return its exit code."""
    bin_first = os.pathsep.join([str(PYTHON.parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PYTHONUTF8": "1", "PATH": bin_first}
    # oxlint is a program, no module
    start = [str(PYTHON.parent / name)] if name == "oxlint" else [str(python), "-m", name]
    if name == "jupyterlab" and not WINDOWS:  # it ends by itself, whatever signal tells it to
        os.chdir(ROOT)
        os.execve(start[0], [*start, *arguments], environment)
    process = subprocess.Popen([*start, *arguments], cwd=ROOT, env=environment)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass  # the terminal told the module too: it ends in its own time, with its own words


def test(pytest_arguments: list[str]) -> int:
    """Run all checks; the last line is pytest's, the exit code tells of all."""
    failed = []
    for tool, *options in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["oxlint"]):
        print(f"{tool} {' '.join(options)}".strip() + ":", flush=True)
        if module(tool, options):
            failed.append(tool)
    if failed:
        print(say("unclean", tools=", ".join(dict.fromkeys(failed))), flush=True)
    # conftest.py says what stays together and what starts first
    spread = ["-n", str(min(os.cpu_count() or 1, 8)), "--dist", "loadgroup", "--no-loadscope-reorder"]
    return module("pytest", [*spread, *pytest_arguments]) or int(bool(failed))


# ---- set-up


def set_up(files: tuple[str, ...]) -> None:
    """Make `.venv` hold what these requirement files name; do nothing if it does already.

    What reading needs is locked, and the tests run with the same. The rest is pinned by version alone:
    PyTorch has other files for other graphics cards.
    """
    from book.lock import locked  # not by old Pythons

    if not files or fingerprint(files) in installed():
        return
    with locked(LOG.with_name("setup.lock"), say("waits")) as lock:
        os.set_inheritable(lock, True)  # a pip that outlives this process keeps others away
        if fingerprint(files) not in installed():
            install(files)


def installed() -> list[str]:
    """Return the fingerprints of what `.venv` holds: none after an interruption, or in a moved folder."""
    if not (PYTHON.exists() and STAMP.exists()):
        return []
    root, *fingerprints = STAMP.read_text(encoding="utf-8").splitlines() or [""]
    return fingerprints if root == str(ROOT) else []


def install(files: tuple[str, ...]) -> None:
    """Install what these files name, into a new `.venv` unless one was completed before.

    The stamp is written when all is done and at no other time: after an interruption all begins anew, out
    of pip's cache. So it does where only TEXT is installed, which no hash guards.
    """
    before = installed()
    STAMP.unlink(missing_ok=True)
    LOG.write_text("", encoding="utf-8")
    if not any(LOCK in complete for complete in before):
        make_venv()
    if files in (WORKING, EVERYTHING) and platform.system() == "Linux" and not shutil.which("nvidia-smi"):
        print(say("large"))
    if LOCK in files:
        pip(say("parts.packages"), "--require-hashes", "-r", LOCK)
    others = [option for file in files if file != LOCK for option in ("-r", file)]
    if others:
        pip(say(PARTS.get(files, "parts.packages")), "-c", PINS, *others)
    if files in (WORKING, EVERYTHING):
        pip("d2lmini", "--no-deps", "-e", ".")
    held = SETS if files == EVERYTHING else (files, READING) if LOCK in files else (files,)
    STAMP.write_text("\n".join([str(ROOT), *map(fingerprint, held)]) + "\n", encoding="utf-8")


def fingerprint(files: tuple[str, ...]) -> str:
    """Return the files' names and a hash that changes with what is to be installed."""
    read = files if files == READING else (*files, PINS)
    contents = b"\0".join((ROOT / file).read_bytes() for file in read)
    return f"{' '.join(files)} {hashlib.sha256(contents).hexdigest()}"


def make_venv() -> None:
    """Make `.venv`, in place of what an interrupted attempt may have left there."""
    if not find_spec("ensurepip"):  # which Debian packs apart
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
                    room = shutil.get_terminal_size().columns - wide - 1
                    print("\r\x1b[K" + f"{installing}: {line.strip()}"[:room], end="", flush=True)
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


def debian_root() -> bool:
    """Say whether this is Debian, as root. Not Ubuntu: its chromium only points at another installer."""
    if not shutil.which("apt-get") or getattr(os, "geteuid", lambda: 1)():
        return False
    release = Path("/etc/os-release")
    return release.exists() and "ID=debian" in release.read_text(encoding="utf-8").splitlines()


# ---- the browser of the tests and of the PDF


def install_browser() -> None:
    """Make sure that there is a browser."""
    if find_browser():
        return
    LOG.parent.mkdir(exist_ok=True)
    if browser_name() == "chromium" and debian_root():
        logged(say("parts.browser"), ["apt-get", "update"])
        packages = ("chromium-headless-shell", "fonts-noto-cjk")
        logged(say("parts.browser"), ["apt-get", "install", "-y", "--no-install-recommends", *packages])
    else:  # says so and does nothing when it is there
        logged(say("parts.browser"), [PYTHON, "-m", "playwright", "install", browser_name()])


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # the terminal may lack a letter
    sys.exit(main(sys.argv[1:]))
