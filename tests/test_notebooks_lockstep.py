"""book.lockstep: every way for a language to be out of step is found, and mended where a tool can mend it."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest

from book.chapters import Notebook, fingerprint, path_of, read, write
from tools.text import lockstep

ENGLISH = 'x = "milk"  # a word\nd2l.use_language("en")'
VIETNAMESE = 'x = "milk"  # một từ\nd2l.use_language("vi")'
TITLE = "# Attention\n\n$$y = x \\quad\\text{output} \\tag{1.1}$$"
TITLE_VI = "# Chú ý\n\n$$y = x \\quad \\text{đầu ra {x}} \\tag{1.1}$$"


def pair() -> tuple[Notebook, Notebook]:
    """An English notebook and its translation, in step."""

    def notebook(title: str, code: str, **kept: str) -> Notebook:
        text = {
            "cell_type": "markdown",
            "id": "title",
            "metadata": {"d2lmini": kept} if kept else {},
            "source": [title],
        }
        run = {
            "cell_type": "code",
            "execution_count": 1,
            "id": "setup",
            "metadata": {},
            "outputs": [],
            "source": code.splitlines(keepends=True),
        }
        return {"cells": [text, run], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}

    return notebook(TITLE, ENGLISH), notebook(TITLE_VI, VIETNAMESE, source=fingerprint(TITLE))


def test_pair_is_in_step() -> None:
    assert lockstep.compare(*pair()) == []


def replace(cell: int, old: str, new: str) -> Callable[[Notebook, Notebook], None]:
    def change(_: Notebook, translated: Notebook) -> None:
        text = "".join(translated["cells"][cell]["source"])
        assert old in text
        translated["cells"][cell]["source"] = [text.replace(old, new)]

    return change


def english_grew(english: Notebook, _: Notebook) -> None:
    english["cells"][0]["source"].append("\nMore.")


@pytest.mark.parametrize(
    ("change", "cell", "what"),
    [
        (replace(1, '"milk"', '"sữa"'), "setup", "code differs"),
        (replace(1, 'd2l.use_language("vi")', "pass"), "setup", "code differs"),
        (replace(0, "y = x", "y = 2x"), "title", "displayed formulas differ"),
        (replace(0, "1.1", "1.2"), "title", "displayed formulas differ"),
        (english_grew, "title", "behind: the English text changed"),
        (lambda _, vi: vi["cells"][0]["metadata"].clear(), "title", "not marked as translated"),
        (lambda _, vi: vi["cells"].pop(0), "title", "missing"),
        (lambda _, vi: vi["cells"][0].update(id="other"), "other", "has no English cell"),
        (lambda _, vi: vi["cells"].reverse(), "setup", "in another place than in English"),
        (lambda _, vi: vi["cells"][0].update(cell_type="raw"), "title", "is raw, in English markdown"),
        (lambda en, _: en["cells"][1]["metadata"].update(tags=["hide-input"]), "setup", "tags differ"),
    ],
)
def test_drift_is_found(change: Callable[[Notebook, Notebook], None], cell: str, what: str) -> None:
    english, translated = pair()
    change(english, translated)
    assert (cell, what) in lockstep.compare(english, translated)


def test_copied_code_keeps_translated_comments_where_it_is_the_same() -> None:
    english, translated = pair()
    before = deepcopy(translated)
    assert not lockstep.copy_code(english, translated, "vi")
    assert translated == before

    english["cells"][1]["source"].append("\nprint(x)")
    english["cells"].append({"cell_type": "markdown", "id": "end", "metadata": {}, "source": ["Done."]})
    assert lockstep.copy_code(english, translated, "vi")
    assert "".join(translated["cells"][1]["source"]) == ENGLISH.replace('"en"', '"vi"') + "\nprint(x)"
    assert translated["cells"][0] == before["cells"][0]
    assert lockstep.compare(english, translated) == [("end", "not marked as translated")]


def test_command_lists_copies_and_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    english, translated = pair()
    english["cells"][0]["source"] = [TITLE + "\nMore."]
    english["cells"][1]["source"] = [ENGLISH + "\nprint(x)"]
    for language, content in (("en", english), ("vi", translated), ("zh", english)):
        path_of(language, "one", tmp_path).parent.mkdir(parents=True)
        write(path_of(language, "one", tmp_path), content)
    write(path_of("en", "two", tmp_path), english)

    assert lockstep.main([], tmp_path) == 1
    listed = capsys.readouterr().out
    assert "vi one setup: code differs" in listed
    assert "vi one title: behind" in listed
    assert "zh one title: not marked" in listed
    assert "zh two -: chapter missing" in listed

    assert lockstep.main(["--copy-code"], tmp_path) == 1
    assert lockstep.main(["--translated", "vi", "one"], tmp_path) == 1
    assert lockstep.main(["--translated", "zh", "one", "title"], tmp_path) == 1
    path_of("en", "two", tmp_path).unlink()
    assert lockstep.main([], tmp_path) == 0
    assert 'use_language("zh")' not in "".join(read(path_of("zh", "one", tmp_path))["cells"][1]["source"])
    assert lockstep.main(["--translated", "zh", "one", "nowhere"], tmp_path) == 1
    assert lockstep.main(["--translated", "one"], tmp_path) == 1


def test_magics_count_as_code() -> None:
    assert lockstep.code("%pip install a\nx") == lockstep.code("%pip install a  \nx  # later")
    assert lockstep.code("if x:\n    %pip install a") != lockstep.code("if x:\n    %pip install b")


def test_course_is_in_step() -> None:
    assert lockstep.check() == []


def test_notes_are_held_in_step_as_texts_are() -> None:
    english, translated = pair()
    ours, theirs = (notebook["cells"][0]["metadata"] for notebook in (english, translated))
    ours["d2lmini"] = {"note": "Ask first."}
    assert lockstep.compare(english, translated) == [("title", "note missing")]
    theirs["d2lmini"]["note"] = "Hãy hỏi trước."
    [(_, what)] = lockstep.compare(english, translated)
    assert what.startswith("note behind")
    assert lockstep.mark_translated(english, translated, []) == ["title"]
    assert lockstep.compare(english, translated) == []
    ours["d2lmini"]["note"] = "Ask first, and wait."
    [(_, what)] = lockstep.compare(english, translated)
    assert what.startswith("note behind")
    del ours["d2lmini"]
    assert lockstep.compare(english, translated) == [("title", "has a note, in English none")]
