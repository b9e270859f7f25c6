#!/usr/bin/env python3
"""The one command of the course: `python3 course.py` tells what it can do (`py course.py` on Windows).

Each verb first sets up what it needs in `.venv`, once; afterwards it starts in a moment. This file needs
nothing but Python's standard library, and old Pythons can read it: to be told that they are too old.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOG = ROOT / "_build" / "setup.log"
WINDOWS = os.name == "nt"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
COMMAND = "py course.py" if WINDOWS else "python3 course.py"
READING = ("book/requirements.txt",)  # without torch: some 100 MB
EVERYTHING = ("requirements.txt", "book/requirements.txt")
COLAB = "tests/colab.txt"  # its widgets are older; a test needs them beside those of .venv
VERBS = {
    "serve": "build the website and show it at http://127.0.0.1:8000 (--port N for another)",
    "test": "check everything: code, languages, notebooks, website; takes pytest's options (-k attention)",
    "site": "build the website into _build/site (--lang vi: one language)",
    "notebooks": "execute notebooks and store what they print (NAME ...: some; --lang vi: one language)",
    "lockstep": "list what is missing or behind in a language (--copy-code, --translated)",
    "prose": "check spelling, accents, punctuation and vocabulary in the three languages",
    "exercises": "check the exercises and compile them for the website and the notebooks",
    "bench": "measure the models and the website",
}


MODULES = {"site": "book.build", "exercises": "tools.compile_exercises"}  # the others: tools.VERB


class SetUpError(Exception):
    """Something that the person at the keyboard can mend, in a sentence."""


def main(arguments: list[str]) -> int:
    """Run a verb; return the exit code."""
    if sys.version_info < (3, 11):
        mine = platform.python_version()
        print(f"This is Python {mine}; the course needs 3.11 or newer (python.org).", file=sys.stderr)
        return 1
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(f"usage: {COMMAND} VERB [OPTIONS]\n")
        for verb, does in VERBS.items():
            print(f"  {verb:<10} {does}")
        return 0
    verb, *rest = arguments
    if verb not in VERBS:
        print(
            f"{verb}: no such verb; there are {', '.join(VERBS)}. {COMMAND} alone explains them.",
            file=sys.stderr,
        )
        return 2
    try:
        return run_verb(verb, rest)
    except (SetUpError, OSError) as error:
        print(f"\n{in_words(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; {COMMAND} {verb} goes on from here.", file=sys.stderr)
        return 130


def run_verb(verb: str, rest: list[str]) -> int:
    """Set up what a verb needs and run it."""
    if verb == "lockstep":
        return module("tools.lockstep", rest, python=sys.executable)  # needs nothing that is to be installed
    set_up(READING if verb in ("site", "serve", "exercises") else EVERYTHING)
    if verb == "serve":
        return module("book.build", []) or module("book.serve", rest)
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


def test(pytest_arguments: list[str]) -> int:
    """Run all checks; the last line is pytest's, the exit code tells of all."""
    install_browser()
    failed = []
    for tool, *options in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["oxlint"]):
        print(f"{tool} {' '.join(options)}".strip() + ":", flush=True)
        if module(tool, options):
            failed.append(tool)
    if failed:
        print(
            f"{' and '.join(dict.fromkeys(failed))}: not clean; see above. The tests run all the same.",
            flush=True,
        )
    # A file to a process: the cells of a notebook depend on each other.
    processes = str(min(os.cpu_count() or 1, 8))
    code = module("pytest", ["-n", processes, "--dist", "loadfile", *pytest_arguments])
    return code or int(bool(failed))


# ---- set-up


def set_up(files: tuple[str, ...]) -> None:
    """Make `.venv` hold what these requirement files name; do nothing if it does already.

    The stamp is written when all is done and at no other time: what breaks off is taken up by the next run.
    """
    stamp = VENV / "d2lmini.stamp"
    if PYTHON.exists() and stamp.exists() and fingerprint(files) in stamp.read_text().split():
        return
    stamp.unlink(missing_ok=True)
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    if not works([PYTHON, "-m", "pip", "--version"]):
        make_venv()
    if files == EVERYTHING and platform.system() == "Linux" and not shutil.which("nvidia-smi"):
        print("PyTorch for Linux may bring some GB for NVIDIA cards; README.md tells how to leave them out.")
    named = [option for file in files for option in ("-r", file)]
    pip("packages", *named, "-c", "requirements.txt")
    if files == EVERYTHING:
        pip("d2lmini", "--no-deps", "-e", ".")
        pip("the widgets of Colab", "--no-deps", "--upgrade", "--target", str(VENV / "colab"), "-r", COLAB)
    holds = {fingerprint(files), fingerprint(READING)}  # everything includes what reading needs
    stamp.write_text("\n".join(sorted(holds)) + "\n")


def fingerprint(files: tuple[str, ...]) -> str:
    """Return a hash that changes with what is to be installed, and where: a moved folder is set up anew."""
    contents = [
        (ROOT / file).read_bytes() for file in (*EVERYTHING, COLAB)
    ]  # versions may stand in any of them
    return hashlib.sha256(b"\0".join([str((ROOT, files)).encode(), *contents])).hexdigest()


def make_venv() -> None:
    """Make `.venv`, in place of what an interrupted attempt may have left there."""
    if not works([sys.executable, "-c", "import ensurepip, venv"]):
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        if not debian_root():
            raise SetUpError(
                f"This Python cannot make virtual environments: its package {package} is missing.\n"
                f"On Debian and Ubuntu: sudo apt install {package}"
            )
        logged("Python's venv", ["apt-get", "update"])
        logged("Python's venv", ["apt-get", "install", "-y", "--no-install-recommends", package])
    logged("a virtual environment", [sys.executable, "-m", "venv", "--clear", VENV])


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
    print(f"installing {what}", end="" if live else "\n", flush=True)
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
        )
        with process:
            for line in process.stdout or ():
                log.write(line)
                log.flush()
                output.append(line.rstrip())
                if live:
                    width = shutil.get_terminal_size().columns
                    now = f"installing {what}: {line.strip()}"[: width - 1]
                    print(f"\r\x1b[K{now}", end="", flush=True)
    if live:
        print("\r\x1b[K", end="")
    if process.returncode:
        tail = "\n".join(f"  {line}" for line in output[-12:])
        raise SetUpError(f"{tail}\n\n{reason(what, output)}\nAll of it: {LOG}")
    print(f"installed {what} ({time.monotonic() - began:.0f} s)", flush=True)


def reason(what: str, output: list[str]) -> str:
    """Say in a sentence why a step of the set-up failed, as far as its output tells."""
    text = "\n".join(output)
    for signs, sentence in (
        (
            ("No space left on device", "not enough space", "Errno 28"),
            "The disk is full: free some GB and try again.",
        ),
        (
            (
                "NewConnectionError",
                "NameResolutionError",
                "Temporary failure resolving",
                "Could not resolve",
                "Connection refused",
                "Network is unreachable",
                "timed out",
                "getaddrinfo failed",
            ),
            "There seems to be no network: the first run needs one.",
        ),
        (("Permission denied", "Access is denied"), f"Some file under {ROOT} may not be written."),
        (
            ("No matching distribution found",),
            f"A package does not exist for Python {platform.python_version()} here.",
        ),
    ):
        if any(sign in text for sign in signs):
            return f"Installing {what} failed. {sentence}"
    return f"Installing {what} failed."


def in_words(error: Exception) -> str:
    """Say what went wrong, or what the operating system refused."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The disk is full: free some GB and try again."
    if isinstance(error, PermissionError):
        return f"{error.filename} may not be written."
    return str(error)


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


# ---- the browser of the tests


def find_browser() -> str | None:
    """Return an installed Chrome or Chromium; None: Playwright's own is to be used."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    places = [Path(found) for found in map(shutil.which, names) if found]
    places += [Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")]
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        places.append(Path(os.environ.get(variable, "/nowhere")) / "Google/Chrome/Application/chrome.exe")
    return next((str(place) for place in places if place.exists()), None)


def install_browser() -> None:
    """Make sure that the tests find a browser."""
    if find_browser():
        return
    LOG.parent.mkdir(exist_ok=True)
    if debian_root():
        logged("a browser", ["apt-get", "update"])
        logged(
            "a browser", ["apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-noto-cjk"]
        )
    else:  # says so and does nothing when it is there
        logged("a browser", [PYTHON, "-m", "playwright", "install", "chromium"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
