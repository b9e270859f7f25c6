"""The reader's answers: the file, the code, what happens when the file is damaged or out of reach."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

import d2lmini as d2l
from d2lmini.notebook import progress
from d2lmini.notebook.content import exercise_names

NAMES = exercise_names()
pytestmark = pytest.mark.usefixtures("own_folder")


def test_answers_outlive_the_kernel(own_folder: Path) -> None:
    d2l.exercise("self-attention/why-scale").answer = {"given": 0, "done": True}
    assert d2l.exercise("self-attention/why-scale").answer == {"given": 0, "done": True}
    assert [file.name for file in own_folder.iterdir()] == ["d2lmini-progress.json"]
    assert json.loads((own_folder / "d2lmini-progress.json").read_text(encoding="utf-8"))["d2lmini"] == 1


def test_one_answer_leaves_the_others() -> None:
    for name in NAMES[:2]:
        d2l.exercise(name).answer = {"given": name}
    assert progress.answers() == {name: {"given": name} for name in NAMES[:2]}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"answers": 3}', '{"answers": {"a": 1}}', "\x00"])
def test_a_broken_file_is_set_aside(own_folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (own_folder / "d2lmini-progress.json").write_text(text, encoding="utf-8")
    d2l.exercise("self-attention/why-scale").answer = {"done": True}
    assert (own_folder / "d2lmini-progress.broken.json").read_text(encoding="utf-8") == text
    assert "damaged" in capsys.readouterr().out
    assert progress.answers() == {"self-attention/why-scale": {"done": True}}


def test_a_folder_that_cannot_be_written(
    own_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(progress.tempfile, "mkstemp", refuse)
    shown = d2l.exercise("self-attention/why-scale")
    shown.answer = {"tries": 1}
    shown.answer = {"tries": 2}
    assert capsys.readouterr().out.count("cannot be written") == 1
    assert list(own_folder.iterdir()) == []


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    progress.keep_answer("self-attention/why-scale", {"done": True})
    d2l.progress()
    total = sum(name.startswith("self-attention/") for name in NAMES)
    assert f"self-attention: 1 of {total} done" in capsys.readouterr().out


def keep(answers: dict[str, dict[str, Any]]) -> None:
    for name, answer in answers.items():
        progress.keep_answer(name, answer)


def shown_code(capsys: pytest.CaptureFixture[str]) -> str:
    d2l.progress()
    return capsys.readouterr().out.splitlines()[-1]


def test_a_code_carries_the_answers(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = {name: {"given": "mèo 猫 " * 20, "done": True, "tries": 3} for name in NAMES}
    keep(answers)
    code = shown_code(capsys)
    assert re.fullmatch(r"d2l1\.[\w-]+", code) and len(code) < 2000
    (own_folder / "d2lmini-progress.json").unlink()
    wrapped = "\n".join(code[place : place + 70] for place in range(0, len(code), 70))
    d2l.progress(f"Code:\n{wrapped}\n")
    assert f"Took over {len(NAMES)} answers." in capsys.readouterr().out
    assert progress.answers() == answers


def test_a_code_takes_nothing_away(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = NAMES[:3]
    keep({first: {"done": False, "given": 1}, second: {"done": True, "given": 2}})
    code = shown_code(capsys)
    keep({first: {"done": True, "given": 3}, second: {"given": 4}, third: {"done": True}})
    d2l.progress(code)
    assert progress.answers() == {
        first: {"done": True, "given": 3},
        second: {"done": True, "given": 2},
        third: {"done": True},
    }


def packed(text: str) -> str:
    return "d2l1." + base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")


@pytest.mark.parametrize(
    "code",
    ["", "d2l1.", "d2l1.x", "d2l2.eJw", packed("[]"), packed('{"answers": {}}'),
     packed('{"d2lmini": 1, "answers": {"a": 1}}'), packed('{"d2lmini": 1, "answers": {}}')[:-3],
     packed('{"d2lmini": 1, "answers": {"a": {"given": "' + "x" * (1 << 20) + '"}}}')],
)  # fmt: skip
def test_what_is_no_code_is_refused(own_folder: Path, code: str) -> None:
    progress.keep_answer(NAMES[0], {"done": True})
    before = (own_folder / "d2lmini-progress.json").read_bytes()
    with pytest.raises(ValueError, match=r"^code: got '.*copy all of what progress\(\) or the website shows"):
        d2l.progress(code)
    assert (own_folder / "d2lmini-progress.json").read_bytes() == before
