"""The reader's answers: in the file ``d2lmini-progress.json``, or in a code.

The file lies in the folder in which the kernel works when it needs the file for the first time. Several
kernels may share it.
"""

import base64
import hashlib
import json
import os
import re
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout

from d2lmini.language import message
from d2lmini.notebook.content import chapter_numbers, exercise_names, former_names

PROGRESS_FILE = "d2lmini-progress.json"
_CODE = "d2l1."  # how a progress code begins; zlib-compressed JSON in base64url follows
_NAME_LIMIT = 60  # letters
_CODE_LIMIT = 1 << 20  # bytes, unpacked: some hundred times what all exercises need
_PATIENCE = 10  # seconds to wait for another kernel that saves
# what json.loads and _checked raise for a text that is no progress
_DAMAGED = (ValueError, TypeError, AttributeError, RecursionError)

Answers = dict[str, dict[str, Any]]
_unsaved: Answers = {}  # answers of this session that the file could not take yet
_shown: "WeakValueDictionary[str, Any]" = WeakValueDictionary()  # the widget that shows an exercise now


def progress(code: str | None = None, name: str = "") -> None:
    """Print how many exercises of each chapter are done, and a code that holds the answers.

    Colab forgets its files when it closes. The progress panel of the website accepts this code, and shows one
    of the same form for the way back.

    Args:
        code: a code from here or from the website. Its answers join those that are there already; what is
            done stays done.
        name: whose answers they are, for a teacher: the code then carries the name. Every code says when it
            was made.

    Raises:
        ValueError: `code` is not such a code, or a part of it is missing; `name` is no text, or too long.
            Nothing is changed then.

    Example:
        >>> progress()  # doctest: +ELLIPSIS
        1 self-attention: ... of ... done
        ...
    """
    if not isinstance(name, str) or len(name) > _NAME_LIMIT:
        raise ValueError(f"name: got {name!r}; a name is a text of at most {_NAME_LIMIT} letters; shorten it")
    if code is not None:
        taken, before = unpack(code), answers()
        _save({key: answer for key, answer in taken.items() if _replaces(answer, before.get(key, {}))})
        print(message("progress_taken", count=len(taken)))
    answers_by_name = answers()
    chapters: dict[str, list[bool]] = {}
    for exercise in exercise_names():
        done = bool(answers_by_name.get(exercise, {}).get("done"))
        chapters.setdefault(exercise.split("/")[0], []).append(done)
    for chapter, number in chapter_numbers().items():
        states = chapters[chapter]
        print(message("progress_done", chapter=f"{number} {chapter}", done=sum(states), total=len(states)))
    if answers_by_name:
        print(message("progress_file", file=PROGRESS_FILE))
        print(pack(answers_by_name, name))


def _replaces(answer: dict[str, Any], before: dict[str, Any]) -> bool:
    """Say whether an answer may replace the one before: what is done stays done."""
    return bool(answer.get("done")) or not before.get("done")


# ---- the answers


def answers() -> Answers:
    """Return the answers by exercise: those of the file, and those of this session that it could not take."""
    try:
        return _read() | _unsaved
    except _NotReadable as error:
        _warn(error.key)
        return dict(_unsaved)


def keep_answer(name: str, answer: dict[str, Any]) -> None:
    """Keep an answer, in the file if it can be read and written, else as long as this session lasts."""
    _save({name: answer})


def answered(name: str, answer: dict[str, Any]) -> None:
    """Keep an answer that was given in Python, and show it in the widget of the exercise, if there is one."""
    keep_answer(name, answer)
    if name in _shown:
        _shown[name].answer = answer


def follow(name: str, widget: Any) -> None:
    """Keep what the reader answers in a widget, and say so there; show what is answered in Python."""

    def keep(change: Any) -> None:
        keep_answer(name, change["new"])
        if name not in _unsaved:
            widget.kept = change["new"]

    widget.observe(keep, names="answer")
    _shown[name] = widget


# ---- the file


class _NotReadable(Exception):
    """The file is out of reach or of a newer version: do not overwrite it. `key` names the message."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@cache
def _file() -> Path:
    """Return where answers are kept: in the working directory of the first use, whatever %cd does later."""
    return Path(PROGRESS_FILE).absolute()


@contextmanager
def _locked() -> Iterator[None]:
    """Keep other kernels from saving meanwhile; go on without where the system has no locks.

    The lock lies among the temporary files: no file of ours appears beside the reader's, and a folder on a
    network drive needs no locks of its own.

    Raises:
        Timeout: another kernel has held the lock for long.
    """
    owner = f"{os.path.expanduser('~')} {_file()}"  # a lock for each user: temporary files may be shared
    name = f"d2lmini-{hashlib.sha256(owner.encode(errors='replace')).hexdigest()[:16]}.lock"
    with ExitStack() as stack:
        try:
            stack.enter_context(FileLock(Path(tempfile.gettempdir()) / name, timeout=_PATIENCE))
        except Timeout:
            raise
        except (OSError, NotImplementedError):
            pass
        yield


def _read() -> Answers:
    """Return what the file holds; a damaged one is renamed first.

    Raises:
        _NotReadable: it cannot be read or renamed, or a newer version of the course wrote it.
    """
    try:
        path = _file()
        return _checked(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except OSError:
        raise _NotReadable("progress_unreadable") from None
    except _DAMAGED:
        pass
    names = (f"{path.stem}.broken{number or ''}.json" for number in count())
    aside = next(free for free in map(path.with_name, names) if not os.path.lexists(free))
    try:
        path.rename(aside)
    except OSError:
        raise _NotReadable("progress_unreadable") from None
    print(message("progress_broken", file=PROGRESS_FILE, aside=aside.name))
    return {}


def _save(new: Answers) -> None:
    """Add answers to the file; those that it cannot take now are added with the next ones."""
    _unsaved.update(new)
    try:
        with _locked():
            _write(_read() | _unsaved)
    except _NotReadable as error:
        _warn(error.key)
    except OSError:
        _warn("progress_unwritable")
    else:
        _unsaved.clear()


def _write(answers_by_name: Answers) -> None:
    """Write a new file and move it into place, so that no reader ever sees half of it."""
    text = json.dumps({"d2lmini": 1, "answers": answers_by_name}, ensure_ascii=False, indent=1)
    temporary = _file().with_name(f".d2lmini-{os.getpid()}.json")
    try:
        temporary.write_bytes(text.encode(errors="replace"))  # half a character, as a browser may cut one
        os.replace(temporary, _file())
    finally:
        with suppress(OSError):
            temporary.unlink()


@cache
def _warn(key: str) -> None:
    """Print a message about the file once, not at every answer."""
    print(message(key, file=PROGRESS_FILE))


# ---- the code


def pack(answers_by_name: Answers, name: str = "") -> str:
    """Return answers as a code, which the website and `progress` accept; it says when it was made."""
    made = {"made": f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}"} | ({"name": name.strip()} if name.strip() else {})
    content = {"d2lmini": 1, **made, "answers": answers_by_name}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(errors="replace"), 9))
    return _CODE + packed.decode().rstrip("=")


def unpack(code: str) -> Answers:
    """Return the answers of a code, whatever stands around it.

    Raises:
        ValueError: there is no code in the text, or only a part of one.
    """
    try:
        match = re.search(re.escape(_CODE) + r"([A-Za-z0-9_-]+)", re.sub(r"\s", "", code))
        if not match:
            raise ValueError("no such beginning")
        # words after the code are read as part of it: its bytes come first, and zlib knows their end
        packed = base64.urlsafe_b64decode(match[1] + "A" * (-len(match[1]) % 4))
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(packed, _CODE_LIMIT)
        if not unpacking.eof:  # cut off, or far too long
            raise ValueError("incomplete")
        return _checked(json.loads(text))
    except (*_DAMAGED, zlib.error, _NotReadable):
        shown = f"{code[:20]}…" if isinstance(code, str) and len(code) > 20 else code
        raise ValueError(
            f"code: got {shown!r}, which is no progress code or only a part of one; copy all of what "
            f'progress() or the website shows, from "{_CODE}" to its end'
        ) from None


def _checked(progress: Any) -> Answers:
    """Return the answers of a progress file or code, if it has its form.

    Raises:
        _NotReadable: a newer version of the course wrote it.
    """
    version, by_name = progress.get("d2lmini"), progress.get("answers")
    if isinstance(version, int) and version > 1:
        raise _NotReadable("progress_newer")
    if version != 1 or not all(isinstance(answer, dict) for answer in by_name.values()):
        raise TypeError("this is not the form of version 1")
    moved = former_names()
    # an answer under a former name counts for the exercise of now, unless that is answered itself
    return {moved[name]: answer for name, answer in by_name.items() if name in moved} | {
        name: answer for name, answer in by_name.items() if name not in moved
    }
