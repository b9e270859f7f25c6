"""Kill what writes, at random moments, and see that nothing is lost: `python -m tools.interruptions`.

A run is killed as a power cut does it (all its processes) or as a machine without memory (one of them, and
the others live on). What was there must still be there, or what was to replace it, whole; the next run must
end as if nothing had happened. `tools/interrupted.py` has the cases.
"""

import argparse
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

from book.chapters import ROOT, CourseError
from tools.interrupted import READY, Case, cases


def main(arguments: list[str] | None = None, book: Path = ROOT) -> int:
    """Run the command line; return its exit code."""
    every = cases(book)
    parser = argparse.ArgumentParser(
        prog="python -m tools.interruptions", description="Kill what writes and see that nothing is lost."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(every)}; without: all")
    parser.add_argument("--kills", type=int, default=10, help="of each (10)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(every):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; choose of {', '.join(every)}")
    damages = 0
    for name in options.names or every:
        with tempfile.TemporaryDirectory(prefix=f"d2lmini-{name}-") as folder:
            print(f"{name:<12}", end="", flush=True)
            found = interrupt(every[name], name, Path(folder), options.kills, random.Random(options.seed))
        print(f"  {options.kills} kills, {len(found)} damages", *found, sep="\n  ")
        damages += len(found)
    print(f"{len(options.names or every) * options.kills} kills, {damages} damages")
    return int(bool(damages))


def interrupt(case: Case, name: str, folder: Path, kills: int, chance: random.Random) -> list[str]:
    """Kill runs of a case; return what was damaged, a sentence for each."""
    with redirect_stdout(io.StringIO()):
        case.make(folder)
    case.change(folder, 0)
    longest = finish(name, folder)  # seconds of a whole run
    damages, killed, number = [], 0, 0
    while killed < kills:
        number += 1
        case.change(folder, number)
        whole_group, moment = chance.random() < 0.5, chance.uniform(0, longest)
        ended, printed = kill(name, folder, moment, whole_group)
        killed += not ended  # too late is no kill
        how = f"kill {number} after {moment:.2f} s{' of all its processes' if whole_group else ''}"
        if found := damage(case, folder, number, False, printed):
            damages.append(f"{how}: {found}")
        try:
            longest = max(longest, finish(name, folder))
        except subprocess.CalledProcessError as error:
            damages.append(f"{how}: the next run fails: {error.output}")
            continue
        if found := damage(case, folder, number, True, []):
            damages.append(f"{how}, and another run: {found}")
        print("-" if ended else ".", end="", flush=True)
    return damages


def damage(case: Case, folder: Path, number: int, finished: bool, printed: list[str]) -> str:
    """Say what is damaged; what cannot be read is."""
    try:
        return case.damage(folder, number, finished, printed)
    except (OSError, ValueError, LookupError, StopIteration, CourseError) as error:
        return f"{type(error).__name__}: {error}"


def command(name: str, folder: Path) -> list[str]:
    """Return what runs a case once in a process of its own."""
    run = "from tools.interrupted import cases; import sys; from pathlib import Path"
    # spawned processes import this program: it must not run twice
    return [sys.executable, "-c", f"{run}\ncases()[sys.argv[1]].run(Path(sys.argv[2]))", name, str(folder)]


def finish(name: str, folder: Path) -> float:
    """Run a case to its end; return its seconds, those before it was ready apart."""
    with start(name, folder) as process:
        began, output = ready(process), process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, name, output)
    return time.monotonic() - began


def kill(name: str, folder: Path, moment: float, whole_group: bool) -> tuple[bool, list[str]]:
    """Kill a run at this moment; say whether it had ended before, and return the lines that it printed."""
    with start(name, folder) as process:
        ready(process)
        try:
            process.wait(moment)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
            os.killpg(process.pid, signal.SIGKILL) if whole_group else process.kill()
        return ended, process.stdout.read().splitlines() if process.stdout else []


def start(name: str, folder: Path) -> "subprocess.Popen[str]":
    """Start a run in a group of processes of its own."""
    return subprocess.Popen(
        command(name, folder),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )


def ready(process: "subprocess.Popen[str]") -> float:
    """Wait until a run begins to work; return when that was."""
    for line in process.stdout or ():
        if line.strip() == READY:
            break
    return time.monotonic()


if __name__ == "__main__":
    sys.exit(main())
