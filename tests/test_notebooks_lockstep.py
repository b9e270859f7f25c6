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


def test_a_comment_left_in_english_is_found() -> None:
    english, translated = pair()
    replace(1, "# một từ", "# a word")(english, translated)
    assert lockstep.compare(english, translated) == [("setup", "comment in English: # a word")]
    for text in ("# (n, hidden) -> (n, n)", "# x: milk", "# n -> d"):  # shapes, and names of the code
        for notebook, old in ((english, "# a word"), (translated, "# a word")):
            copy = deepcopy(notebook)
            replace(1, old, text)({}, copy)
            notebook["cells"][1]["source"] = copy["cells"][1]["source"]
        assert lockstep.compare(english, translated) == []
        replace(1, text, "# a word")({}, english), replace(1, text, "# a word")({}, translated)


ENGLISH_CODE = """\
# first the scores,
# then their softmax
scores = Q @ K.T / 8  # (n, n)
weights = softmax(scores)  # rows sum to 1
show(weights, "en")  # 3 heads
# the end"""
VIETNAMESE_CODE = """\
# trước hết là điểm,
# rồi softmax của chúng
scores = Q @ K.T / 8  # (n, n)
weights = softmax(scores)  # tổng mỗi hàng là 1
show(weights, "en")  # 3 head
# hết"""


def test_copied_code_keeps_translated_comments() -> None:
    now = ENGLISH_CODE.replace("/ 8", "/ 16").replace('"en"', '"all"')
    expected = VIETNAMESE_CODE.replace("/ 8", "/ 16").replace('"en"', '"all"')
    assert lockstep.carry_comments(now, VIETNAMESE_CODE) == (expected, [])
    indented = "if n:\n" + "\n".join(f"    {line}" for line in now.split("\n"))
    expected = "if n:\n" + "\n".join(f"    {line}" for line in expected.split("\n"))
    assert lockstep.carry_comments(indented, VIETNAMESE_CODE) == (expected, [])


def test_a_comment_that_cannot_be_carried_is_named() -> None:
    now = ENGLISH_CODE.replace("softmax(scores)", "scores.exp()").replace("3 heads", "4 heads")
    text, remarks = lockstep.carry_comments(now, VIETNAMESE_CODE)
    assert "weights = scores.exp()  # rows sum to 1" in text
    assert remarks == [
        "compare '# 3 head' with the English '# 4 heads'",
        "comment taken out, its line changed: '# tổng mỗi hàng là 1'",
    ]
    assert "# rồi softmax của chúng\nscores" in text and text.endswith("# hết")
    said = text + "".join(remarks)
    assert all(line.partition("#")[2] in said for line in VIETNAMESE_CODE.split("\n"))  # nothing is lost


def test_lines_that_differ_in_a_number_keep_their_own_comments() -> None:
    english = "x = 0\nx = 1  # one\nx = 2  # two"
    vietnamese = english.replace("one", "một").replace("two", "hai")
    assert lockstep.carry_comments(f"x = 9  # new\n{english}", vietnamese) == (
        f"x = 9  # new\n{vietnamese}",
        [],
    )


def test_copying_code_changes_nothing_else() -> None:
    english, translated = pair()
    before = deepcopy(translated)
    assert lockstep.copy_code(english, translated, "vi") is None
    assert translated == before

    english["cells"][1]["source"].append("\nprint(x)")
    english["cells"].append({"cell_type": "markdown", "id": "end", "metadata": {}, "source": ["Done."]})
    translated["cells"].append({"cell_type": "markdown", "id": "old", "metadata": {}, "source": ["Cũ."]})
    assert lockstep.copy_code(english, translated, "vi") == ["old: cell taken out: 'Cũ.'"]
    assert "".join(translated["cells"][1]["source"]) == VIETNAMESE + "\nprint(x)"
    assert translated["cells"][0] == before["cells"][0]
    assert lockstep.compare(english, translated) == [("end", "not marked as translated")]


EXERCISE = """\
kind: order
question:
  en: |-
    Which is first?

    Say it.
  vi: Cái nào trước?
  zh: 哪个在前？
items:
  - {en: the queries, vi: các truy vấn, zh: 查询}
hints:
  - en: Look
      twice.
    vi: Nhìn hai lần.
    zh: 看两遍。
"""


@pytest.mark.parametrize("part", ["Which is first", "Say it", "the queries", "Look", "twice"])
def test_an_exercise_whose_english_changed_is_listed_until_it_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], part: str
) -> None:
    path = tmp_path / "chapters/exercises/attention/first.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(EXERCISE, encoding="utf-8")
    for language in lockstep.TRANSLATIONS:
        assert lockstep.main([], tmp_path) == 1
        lockstep.main(["--translated", language], tmp_path)
    assert lockstep.main([], tmp_path) == 0
    path.write_text(EXERCISE.replace("Cái nào", "Gì"), encoding="utf-8")
    assert lockstep.main([], tmp_path) == 0
    path.write_text(EXERCISE.replace(part, "Something else"), encoding="utf-8")
    capsys.readouterr()
    assert lockstep.main([], tmp_path) == 1
    assert "vi attention/first exercise: behind: the English exercise changed" in capsys.readouterr().out
    assert lockstep.main(["--translated", "vi", "attention/first"], tmp_path) == 1
    assert "zh attention/first exercise: behind" in capsys.readouterr().out
    assert lockstep.main(["--translated", "zh", "attention/first"], tmp_path) == 0
    assert lockstep.main(["--translated", "zh", "attention/none"], tmp_path) == 1


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
    assert "zh one setup: comment in English: # a word" in capsys.readouterr().out
    chinese = read(path_of("zh", "one", tmp_path))
    replace(1, "# a word", "# 一个词")({}, chinese)
    write(path_of("zh", "one", tmp_path), chinese)
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
