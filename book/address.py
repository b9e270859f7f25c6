"""Where the course is published: told by the job that publishes it, else a public remote."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
_SCP = re.compile(r"(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!/)(.+)")  # git@host.org:account/name.git


def public(remote: str) -> str:
    """Return the address that a browser opens for a remote of git; nothing for one that others do not have.

    User, password and query go: they may be a secret.

    Example:
        >>> public("git@github.com:account/name.git"), public("/home/me/name"), public("https://me:token@a.org/b/c")
        ('https://github.com/account/name', '', 'https://a.org/b/c')
    """
    if short := _SCP.fullmatch(remote):
        remote = f"ssh://{short[1]}/{short[2]}"
    parts = urlsplit(remote)
    path = parts.path.strip("/").removesuffix(".git")
    if parts.scheme not in ("https", "ssh") or not parts.hostname or not re.fullmatch(r"[\w.~/-]+", path):
        return ""
    port = f":{parts.port}" if parts.scheme == "https" and parts.port else ""
    return f"https://{parts.hostname}{port}/{path}"


def published() -> tuple[str, str]:
    """Return address and commit or tag of what `pages.yml` publishes now; else nothing twice."""
    return os.environ.get("D2LMINI_REPOSITORY", "").rstrip("/"), os.environ.get("D2LMINI_REF", "")


@cache
def repository(root: Path = ROOT) -> str:
    """Return the address of the course's repository; nothing: there is none that others can open."""
    command = ["git", "-C", str(root), "config", "--get", "remote.origin.url"]
    try:
        remote = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # a zip, on a machine without git
        remote = ""
    return published()[0] or public(remote)


def stamped() -> str:
    """Return where GitHub shows the copies that install the course: `account/name/blob/notebooks`.

    `pages.yml` alone writes that branch; where nothing was published from, there is none.
    """
    site, _, place = published()[0].partition("://github.com/")
    return f"{place}/blob/notebooks" if site and place else ""
