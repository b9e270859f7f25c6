"""One at a time: what two runs in one checkout must not do at once. Standard library only.

The system itself lets go of a lock when the process that holds it ends, however it ends: nothing is left to
clear away, and no clock is asked.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextmanager
def alone(lock: Path, waits: str) -> Iterator[int]:
    """Hold a lock while the block runs; print the sentence `waits` if another process holds it.

    Yields:
        The file's descriptor: a process that inherits it holds the lock too.

    Raises:
        OSError: the file cannot be opened to write.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    # never removed: who waits for a removed file would not meet who makes a new one
    with lock.open("a") as file:
        if not _taken(file.fileno()):
            print(waits, flush=True)
            while not _taken(file.fileno()):
                time.sleep(0.2)
        yield file.fileno()


def _taken(descriptor: int) -> bool:
    """Try to take the lock; say whether it is ours now."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # how Linux says it, how Windows does
        return False
    return True
