"""Exercises of the course: questions that answer back.

The content is data (``assets/exercises``, compiled from ``chapters/exercises``); this file shows an exercise
in the reader's language and keeps the answers in ``d2lmini-progress.json`` in the working directory.
"""

import base64
import difflib
import html
import json
import os
import re
import tempfile
import zlib
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from d2lmini.language import current_language, message, words

PROGRESS_FILE = "d2lmini-progress.json"
_CODE = "d2l1."  # how a progress code begins; zlib-compressed JSON in base64url follows
_CODE_LIMIT = 1 << 20  # bytes, unpacked: some hundred times what all exercises need
_ASSETS = files("d2lmini") / "assets"
_shown: "WeakValueDictionary[str, Any]" = WeakValueDictionary()  # the widget that shows an exercise now


def exercise(name: str) -> Any:
    """Show an exercise of the course.

    Args:
        name: ``"<chapter>/<slug>"``, e.g. ``"self-attention/why-scale"``.

    Returns:
        A widget; as the last expression of a cell it shows itself. Its `answer` is kept between sessions.

    Raises:
        ValueError: there is no such exercise; the nearest names are told.

    Example:
        >>> exercise("self-attention/why-scale")
        <exercise self-attention/why-scale>
    """
    from d2lmini.notebook import widgets

    content = exercise_content(name, current_language())
    state = _map(
        content, lambda part: {key: value for key, value in part.items() if key not in ("x", "bugs")}
    )
    made = widgets.make("exercise", name, state, _readable(content), answers().get(name))
    _shown[name] = made
    made.observe(lambda change: keep_answer(name, change["new"]), names="answer")
    return made


def exercise_names() -> list[str]:
    """Return the names of all exercises.

    Example:
        >>> "self-attention/why-scale" in exercise_names()
        True
    """
    chapters = [folder for folder in (_ASSETS / "exercises").iterdir() if folder.is_dir()]
    return sorted(
        f"{folder.name}/{file.name[:-5]}"
        for folder in chapters
        for file in folder.iterdir()
        if file.name.endswith(".json")
    )


def exercise_content(name: str, language: str) -> dict[str, Any]:
    """Return an exercise in one language with the words on its buttons.

    Texts are lists of strings and of parts: ``m`` a formula as MathML with its TeX ``x``, ``c`` code,
    ``b`` and ``i`` emphasis, ``p`` a new paragraph.

    Raises:
        ValueError: there is no such exercise; the nearest names are told.
    """
    if name not in exercise_names():
        near = difflib.get_close_matches(name, exercise_names(), n=3, cutoff=0.3)
        hint = f"; the nearest are {', '.join(map(repr, near))}" if near else ""
        raise ValueError(f"name: there is no exercise {name!r}{hint}")
    content = json.loads((_ASSETS / "exercises" / f"{name}.json").read_text(encoding="utf-8"))[language]
    content["strings"] = words(language)["exercises"]
    return content


def _map(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {key: _map(inner, change) for key, inner in change(value).items()}
    return [_map(inner, change) for inner in value] if isinstance(value, list) else value


# ------------------------------------------------------- the stored form: readable, and the same every time


def _html(text: Any, places: dict[str, str]) -> str:
    """A compiled text as HTML; formulas as $...$, which notebook viewers set themselves."""
    marks = {"c": "code", "b": "strong", "i": "em"}
    done = []
    for part in [text] if isinstance(text, str) else text:
        if isinstance(part, str):
            piece = html.escape(part, quote=False)
        elif "m" in part:
            piece = html.escape(f"$${part['x']}$$" if part.get("d") else f"${part['x']}$", quote=False)
        elif "p" in part:
            piece = "</div><div>"
        else:
            ((key, words),) = part.items()
            piece = f"<{marks[key]}>{html.escape(words, quote=False)}</{marks[key]}>"
        for name, number in places.items():
            piece = piece.replace("{{" + name + "}}", number)
        done.append(piece)
    return "".join(done)


def _readable(content: dict[str, Any]) -> str:
    strings = content["strings"]
    places = content.get("variants", [{}])[0].get("text", {})

    def listed(texts: Any, tag: str = "ul") -> str:
        return f"<{tag}>" + "".join(f"<li>{_html(text, places)}</li>" for text in texts) + f"</{tag}>"

    parts = [f"<div><strong>{html.escape(strings['kind_' + content['kind']])}</strong></div>"]
    parts.append(f"<div>{_html(content['question'], places)}</div>")
    if "options" in content:
        parts.append(listed(option["text"] for option in content["options"]))
    if "items" in content:
        parts.append(listed(content["items"][index]["text"] for index in content["shuffled"]))
    if "lines" in content:
        code = "\n".join(
            f"{number:2}  {line['code']}" for number, line in enumerate(content["lines"], start=1)
        )
        parts.append(f"<pre>{html.escape(code, quote=False)}</pre>")
    if "values" in content:
        parts.append("<pre>" + "\n".join("  ".join(row) for row in content["values"]) + "</pre>")
    if "areas" in content:
        parts.append(listed(area["text"] for area in content["areas"]))
    if "starter" in content:
        parts.append(f"<pre>{html.escape(content['starter'], quote=False)}</pre>")
        parts.append(
            f"<div>{_html(strings['check_with'], {})} <code>{html.escape(content['call'])}</code></div>"
        )
    else:
        parts.append(f"<div><em>{html.escape(strings['run_cell'])}</em></div>")
    return "".join(parts)


# ------------------------------------------------------------------------------------------ what was answered


def answers() -> dict[str, dict[str, Any]]:
    """Return the kept answers by exercise. A file that cannot be read is set aside, never overwritten."""
    path = Path(PROGRESS_FILE)
    try:
        return _checked(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except OSError:
        print(message("progress_unreadable", file=PROGRESS_FILE))
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        aside = path.with_suffix(".broken.json")
        with suppress(OSError):
            path.replace(aside)
            print(message("progress_broken", file=PROGRESS_FILE, aside=aside.name))
        return {}


def keep_answer(name: str, answer: dict[str, Any]) -> None:
    """Keep an answer in the progress file."""
    _write(answers() | {name: answer})


def _write(kept: dict[str, dict[str, Any]]) -> None:
    """Write the progress file beside itself and move it into place: never half a file."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=".", prefix=".d2lmini-", suffix=".json")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"d2lmini": 1, "answers": kept}, file, ensure_ascii=False, indent=1)
        os.replace(temporary, PROGRESS_FILE)
    except OSError:
        if temporary:
            os.unlink(temporary)
        _warn_unwritable()


@cache
def _warn_unwritable() -> None:
    """Say it once, not at every answer."""
    print(message("progress_unwritable", file=PROGRESS_FILE))


def answered(name: str, answer: dict[str, Any]) -> None:
    """Keep an answer that was given in Python, and show it in the exercise above, if it is on the page."""
    keep_answer(name, answer)
    if name in _shown:
        _shown[name].answer = answer


def progress(code: str | None = None) -> None:
    """Print how many exercises of each chapter are done, and a code that holds the answers.

    Colab forgets its files when it closes. The progress panel of the website takes the code over; it shows
    one of the same form, for the way back.

    Args:
        code: a code from here or from the website. Its answers are kept beside those that are there already;
            what is done once stays done.

    Raises:
        ValueError: `code` is not such a code, or a part of it is missing. Nothing is changed then.

    Example:
        >>> progress()  # doctest: +ELLIPSIS
        complexity: ... of 15 done
        ...
    """
    kept = answers()
    if code is not None:
        given = _unpack(code)
        kept |= {name: answer for name, answer in given.items() if _more(answer, kept.get(name, {}))}
        _write(kept)
        print(message("progress_taken", count=len(given)))
    chapters: dict[str, list[bool]] = {}
    for name in exercise_names():
        chapters.setdefault(name.split("/")[0], []).append(bool(kept.get(name, {}).get("done")))
    for chapter, done in chapters.items():
        print(message("progress_done", chapter=chapter, done=sum(done), total=len(done)))
    if kept:
        print(message("progress_file", file=PROGRESS_FILE))
        print(_pack(kept))


def _more(answer: dict[str, Any], known: dict[str, Any]) -> bool:
    """Say whether an answer may replace the one that is known: what is done stays done."""
    return bool(answer.get("done")) or not known.get("done")


def _pack(kept: dict[str, dict[str, Any]]) -> str:
    text = json.dumps({"d2lmini": 1, "answers": kept}, ensure_ascii=False, separators=(",", ":"))
    return _CODE + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def _unpack(code: str) -> dict[str, dict[str, Any]]:
    found = re.search(re.escape(_CODE) + r"([\w-]+)", re.sub(r"\s", "", code))
    try:
        if not found:
            raise ValueError("no such beginning")
        packed = base64.urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4))
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(packed, _CODE_LIMIT)
        if not unpacking.eof:  # cut off, or far too much
            raise ValueError("incomplete")
        return _checked(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error):
        shown = f"{code[:20]}…" if len(code) > 20 else code
        raise ValueError(
            f"code: got {shown!r}, which is no progress code or only a part of one; copy all of what "
            f'progress() or the website shows, from "{_CODE}" to its end'
        ) from None


def _checked(progress: Any) -> dict[str, dict[str, Any]]:
    """Return the answers of a progress file or code, if it has its form."""
    kept = progress["answers"]
    if progress.get("d2lmini") != 1 or not all(isinstance(answer, dict) for answer in kept.values()):
        raise TypeError("this is not the form of version 1")
    return kept
