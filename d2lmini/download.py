"""Fetch one file, so that a broken or half download never takes the place of a good one.

Written by hand, because courses are read on poor connections: neither `torch.hub.download_url_to_file` nor
pooch continues a download that broke off, and neither stops at a size.
"""

import errno
import hashlib
import http.client
import os
import platform
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

_CHUNK = 1 << 16
_TIMEOUT = 30  # seconds without a byte
# what keeps this machine from writing: no question of the network
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


def cache_folder() -> Path:
    """Return where files that can be fetched again belong on this system; nothing is made.

    Example:
        >>> cache_folder().name
        'd2lmini'
    """
    folder = os.environ.get("LOCALAPPDATA" if platform.system() == "Windows" else "XDG_CACHE_HOME")
    return (Path(folder) if folder else Path.home() / ".cache") / "d2lmini"


def fetch(
    url: str,
    destination: Path,
    *,
    sha1: str | None = None,
    check: Callable[[Path], object] | None = None,
    largest: int = 200_000_000,
) -> Path:
    """Return `destination`, fetched from `url` unless it is there already.

    Bytes go to `<destination>.part`. A download that breaks off is continued where it ended; only a file that
    is complete and passes the checks is moved to `destination`.

    Args:
        url: where the file is.
        destination: where to put it.
        sha1: the file's checksum, if it never changes.
        check: raises ValueError for a file that is not the one wanted, if it does change.
        largest: how many bytes to take at most.

    Returns:
        `destination`.

    Raises:
        ConnectionError: the host refuses, cannot be reached, or breaks off. Call again to continue.
        OSError: the file cannot be written. Make room, and call again to continue.
        ValueError: what came is too large, or fails the checks; nothing of it is kept.

    Example:
        >>> fetch("http://127.0.0.1:9/x.zip", Path("no such folder") / "x.zip")
        Traceback (most recent call last):
        ...
        ConnectionError: cannot fetch http://127.0.0.1:9/x.zip...
    """
    if destination.exists():
        return destination
    part = destination.with_name(destination.name + ".part")
    try:
        _fetch_rest(url, part, largest)
    except urllib.error.HTTPError as error:
        raise ConnectionError(
            f"cannot fetch {url}: the host answers {error.code} {error.reason}. The file may have moved, or "
            "the host be busy: try the address in a browser, or again later"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            raise OSError(
                error.errno,
                f"cannot write what comes from {url}: {error.strerror}. Make room, or choose "
                "another folder. What has arrived is kept: try again to get the rest",
                str(part),
            ) from error
        raise ConnectionError(
            f"cannot fetch {url}: {getattr(error, 'reason', error)}. Is this computer online? What has "
            "arrived is kept: try again to get the rest"
        ) from error
    except ValueError:
        part.unlink(missing_ok=True)
        raise
    try:
        if sha1 is not None and (found := hashlib.sha1(part.read_bytes()).hexdigest()) != sha1:
            raise ValueError(f"its checksum is {found}, not {sha1}")
        if check is not None:
            check(part)
    except ValueError as error:
        part.unlink()
        raise ValueError(f"url: what came from {url} is not the file wanted: {error}. Try again") from None
    os.replace(part, destination)
    return destination


def _fetch_rest(url: str, part: Path, largest: int) -> None:
    """Append to `part` what it lacks of the file at `url`."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "d2lmini", "Accept": "*/*"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # the server has no more than this: let the checks decide
            if error.headers.get("Content-Range") == f"bytes */{have}":
                return
            part.unlink()
            return _fetch_rest(url, part, largest)
        raise
    with response:
        resumed = response.status == 206 and response.headers.get("Content-Range", "").startswith(
            f"bytes {have}-"
        )
        done = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = done + int(length) if length is not None else None
        if total is not None and total > largest:
            raise ValueError(f"url: {url} has {total} bytes; at most {largest} are taken")
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab" if resumed else "wb") as file:
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                if done > largest:  # a host may not say how much it sends
                    raise ValueError(f"url: {url} has more than {largest} bytes, the most that are taken")
                if total:
                    print(f"\r{url}: {done * 100 // total} %", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    if total is not None and done < total:
        raise ConnectionResetError(f"it broke off after {done} of {total} bytes")
