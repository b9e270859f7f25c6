"""A lock between processes: what two runs in one checkout must not do at once. Standard library only.

The system itself lets go of a lock when the process that holds it ends, however it ends: nothing is left to
clear away, and no clock is asked.
"""

import errno
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
def locked(file: Path, waits: str) -> Iterator[int]:
    """Hold a lock on a file while the block runs; print the sentence `waits` if another process holds it.

    Yields:
        The file's descriptor: a process that inherits it holds the lock too.

    Raises:
        OSError: the file cannot be opened to write.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    # never removed: a process waiting for a removed file would not meet one that makes a new file
    with file.open("a") as opened:
        if not _acquire(opened.fileno()):
            print(waits, flush=True)
            while not _acquire(opened.fileno()):
                time.sleep(0.2)
        yield opened.fileno()


def _acquire(descriptor: int) -> bool:
    """Try to take the lock; say whether it is ours now."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # how Linux says it, how Windows does
        return False
    except OSError as error:
        # a file system without locks (some NFS homes): run unlocked rather than not at all
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):
            raise
    return True
