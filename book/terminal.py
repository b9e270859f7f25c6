"""What the commands say to their reader: in the language of the terminal, from `[setup]` of `d2lmini/words/`.

Old Pythons can read this file: course.py tells them that they are too old.
"""

from __future__ import annotations

import errno
import locale
import os
import re


class SetUpError(Exception):
    """Something that the person at the keyboard can mend, in a sentence."""


def say(key: str, **values: object) -> str:
    """Return a text of the section `[setup]` in the reader's language, filled in."""
    from d2lmini.language import fill, words  # not by old Pythons

    text = words(language())["setup"]
    for name in key.split("."):
        text = text[name]
    return fill(text, **values)


def language() -> str:
    """Return the reader's language, as far as the system tells and the course has it; else English."""
    from d2lmini.language import LANGUAGES, words

    settings = map(os.environ.get, ("D2LMINI_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
    # vi_VN.UTF-8; on Windows also Vietnamese_Vietnam
    named = next(filter(None, settings), None) or locale.getlocale()[0] or ""
    first = re.split("[^a-z]", named.lower())[0]
    return next(
        (code for code in LANGUAGES if first in (code, words(code)["language"]["english"].lower())), "en"
    )


def in_words(error: Exception) -> str:
    """Say what went wrong, or what the operating system refused."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return say("reasons.disk")
    if isinstance(error, PermissionError) or (isinstance(error, OSError) and error.errno == errno.EROFS):
        return say("reasons.forbidden", path=error.filename)
    return str(error)
