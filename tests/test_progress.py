"""The reader's answers: the file, the code, what happens when the file is damaged or out of reach."""

import base64
import json
import os
import re
import subprocess
import sys
import threading
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import d2lmini as d2l
from book.contents import pages, table_of_contents
from d2lmini.notebook import progress
from d2lmini.notebook.content import current_name, exercise_names

ROOT = Path(__file__).parents[1]
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

    monkeypatch.setattr(Path, "write_bytes", refuse)
    shown = d2l.exercise("self-attention/why-scale")
    shown.answer = {"tries": 1}
    shown.answer = {"tries": 2}
    assert capsys.readouterr().out.count("cannot be written") == 1
    assert list(own_folder.iterdir()) == []


def test_answers_last_as_long_as_the_session_where_nothing_can_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "read-only")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", refuse)
        d2l.exercise(NAMES[0]).answer = {"given": 1}
        assert d2l.exercise(NAMES[0]).answer == {"given": 1}
    progress.keep_answer(NAMES[1], {"given": 2})  # now it can: both are kept
    assert answers_in_file() == {NAMES[0]: {"given": 1}, NAMES[1]: {"given": 2}}


def answers_in_file() -> dict[str, Any]:
    return json.loads(Path(progress.PROGRESS_FILE).read_text(encoding="utf-8"))["answers"]


def test_a_file_that_cannot_be_read_is_never_overwritten(
    own_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {"a/b": {"done": True}, "c/d": {"done": True}}
    keep(before)
    read = Path.read_text

    def locked(path: Path, *arguments: Any, **options: Any) -> str:
        if path.name == progress.PROGRESS_FILE:
            raise PermissionError(13, "another program holds it")
        return read(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", locked)
        shown = d2l.exercise(NAMES[0])
        shown.answer = {"given": 1}
        shown.answer = {"given": 2}
        assert d2l.exercise(NAMES[0]).answer == {"given": 2}, "the session goes on"
        d2l.progress(packed('{"d2lmini": 1, "answers": {"e/f": {"done": true}}}'))
    assert capsys.readouterr().out.count("cannot be read") == 1
    assert answers_in_file() == before
    progress.keep_answer(NAMES[1], {"given": 3})
    kept = {NAMES[0]: {"given": 2}, "e/f": {"done": True}, NAMES[1]: {"given": 3}}
    assert answers_in_file() == before | kept


SAVING = """\
import sys
from d2lmini.notebook import progress
print(flush=True)
sys.stdin.readline()  # both begin at once
for number in range(60):
    progress.keep_answer(f"{sys.argv[1]}/{number}", {"given": number})
"""


def test_two_kernels_that_save_at_once_lose_no_answer(own_folder: Path) -> None:
    command = [sys.executable, "-c", SAVING]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    kernels = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        for name in ("first", "second")
    ]
    try:
        for kernel in kernels:
            assert kernel.stdout and kernel.stdout.readline()
        for kernel in kernels:
            assert kernel.stdin
            kernel.stdin.write(b"go\n")
            kernel.stdin.flush()
        assert [kernel.wait(timeout=120) for kernel in kernels] == [0, 0]
    finally:
        for kernel in kernels:
            kernel.kill()
            kernel.communicate()
    assert len(answers_in_file()) == 120
    assert [file.name for file in own_folder.iterdir()] == [progress.PROGRESS_FILE]


@pytest.mark.parametrize("refusal", [OSError(37, "No locks available"), NotImplementedError("no flock")])
def test_answers_are_saved_where_the_system_has_no_locks(
    monkeypatch: pytest.MonkeyPatch, refusal: Exception
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise refusal

    monkeypatch.setattr(progress.FileLock, "acquire", refuse)
    keep({NAMES[0]: {"given": 1}})
    assert answers_in_file() == {NAMES[0]: {"given": 1}}


def test_an_answer_waits_in_memory_while_another_kernel_holds_the_lock(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)
    released = threading.Event()
    held = threading.Event()

    def hold() -> None:
        with progress._locked():
            held.set()
            released.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert held.wait(60)
        keep({NAMES[0]: {"given": 1}})
    finally:
        released.set()
        other.join()
    assert not Path(progress.PROGRESS_FILE).exists() and "cannot be written" in capsys.readouterr().out
    keep({NAMES[1]: {"given": 2}})
    assert answers_in_file() == {NAMES[0]: {"given": 1}, NAMES[1]: {"given": 2}}


def test_answers_stay_where_the_kernel_first_used_them(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep({NAMES[0]: {"given": 1}})
    (own_folder / "data").mkdir()
    monkeypatch.chdir("data")  # %cd data
    assert progress.answers() == {NAMES[0]: {"given": 1}}
    keep({NAMES[1]: {"given": 2}})
    assert list((own_folder / "data").iterdir()) == []
    monkeypatch.chdir(own_folder)
    assert answers_in_file() == {NAMES[0]: {"given": 1}, NAMES[1]: {"given": 2}}


def test_a_file_of_a_newer_version_is_left_untouched(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = '{"d2lmini": 2, "answers": [["a/b", true]]}'
    (own_folder / "d2lmini-progress.json").write_text(newer, encoding="utf-8")
    keep({NAMES[0]: {"given": 1}})
    assert progress.answers() == {NAMES[0]: {"given": 1}}, "the session goes on"
    assert capsys.readouterr().out.count("newer version of d2lmini") == 1
    assert [file.name for file in own_folder.iterdir()] == ["d2lmini-progress.json"]
    assert (own_folder / "d2lmini-progress.json").read_text(encoding="utf-8") == newer


def test_every_damaged_file_is_kept(own_folder: Path) -> None:
    for text in ("first", "second", "third"):
        (own_folder / "d2lmini-progress.json").write_text(text, encoding="utf-8")
        assert progress.answers() == {}
    names = ("d2lmini-progress.broken.json", "d2lmini-progress.broken1.json", "d2lmini-progress.broken2.json")
    assert [(own_folder / name).read_text(encoding="utf-8") for name in names] == ["first", "second", "third"]


def test_a_damaged_file_that_cannot_be_renamed_stays(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "another program holds it")

    file = own_folder / "d2lmini-progress.json"
    file.write_text("{", encoding="utf-8")
    monkeypatch.setattr(Path, "rename", refuse)
    progress.keep_answer(NAMES[0], {"done": True})
    assert file.read_text(encoding="utf-8") == "{"
    assert progress.answers() == {NAMES[0]: {"done": True}}


DEEP = '{"d2lmini": 1, "answers": {"a": ' + "[" * 100_000 + "]" * 100_000 + "}}"


def test_a_deeply_nested_file_is_damaged(own_folder: Path) -> None:
    (own_folder / "d2lmini-progress.json").write_text(DEEP, encoding="utf-8")
    assert d2l.exercise(NAMES[0]).answer == {}
    assert (own_folder / "d2lmini-progress.broken.json").exists()


def test_half_a_character_does_not_stop_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    keep({NAMES[0]: {"given": "a\ud83d"}})
    assert progress.answers() == {NAMES[0]: {"given": "a?"}}
    assert shown_code(capsys).startswith("d2l1.")


# made by the first version of this code: files and codes that readers have
FIRST_CODE = (
    "d2l1.eNp1jz0OwjAMha9SeU7En1h6m5AYGil1UOICFarEARjZgB0JcQLGnoQuXIMUiQEkBi_2-9573oIZu9KShXwkQFFcY4iQbyGim0vF"
    "jMTW02Bd1DJq5bC_LewKCfKhAOMpbThU2AjQvlw63FiuB9pXxHJWy0KR6REOFpPvWHxgmEyHIGClglXEkE8-ZnPlYu_2U0B7gzIunWVZoDLv"
    "jv_SnaeFNF5XZYLfSsZNyoCyvfjsub9m3e6Q5sShvWVUPO7HbneGr3ea5gXtp2iV"
)
FIRST_ANSWERS = {
    "self-attention/why-scale": {"given": 0, "done": True},
    "complexity/count-by-hand": {"tries": 2, "given": "350", "variant": 3, "done": False},
    "self-attention/code-split-heads": {"done": True},
    "complexity/long-documents": {"text": "mèo 猫 — “trí nhớ”", "done": True},
}


def test_codes_of_the_first_version_still_load() -> None:
    d2l.progress(FIRST_CODE)
    assert progress.answers() == {current_name(name): answer for name, answer in FIRST_ANSWERS.items()}


def test_files_of_the_first_version_still_load(own_folder: Path) -> None:
    text = json.dumps({"d2lmini": 1, "answers": FIRST_ANSWERS}, ensure_ascii=False, indent=1)
    (own_folder / "d2lmini-progress.json").write_text(text, encoding="utf-8")
    assert d2l.exercise("self-attention/why-scale").answer == {"given": 0, "done": True}


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    progress.keep_answer("self-attention/why-scale", {"done": True})
    d2l.progress()
    total = sum(name.startswith("self-attention/") for name in NAMES)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"1 self-attention: 1 of {total} done"
    listed = [line.partition(":")[0] for line in lines if line.endswith(" done")]
    chapters = [page for page, _, number in pages(table_of_contents(ROOT)) if number]
    assert listed == [f"{number} {name}" for number, name in enumerate(chapters, start=1)]


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
    assert re.fullmatch(r"d2l1\.[\w-]+", code) and len(code) < 14 * len(exercise_names())
    (own_folder / "d2lmini-progress.json").unlink()
    wrapped = "\n".join(code[place : place + 70] for place in range(0, len(code), 70))
    d2l.progress(f"Code:\n{wrapped}\n")
    assert f"Took over {len(NAMES)} answers." in capsys.readouterr().out
    assert progress.answers() == answers


@pytest.mark.parametrize("after", ["\nCảm ơn", "  谢谢", " abc", "\nBest wishes,\nAnn", ".", "", "\u00a0ok"])
@pytest.mark.parametrize("length", range(4))  # of the base64, modulo 4
def test_a_code_is_read_with_words_around_it(after: str, length: int) -> None:
    answers = {NAMES[0]: {"given": "x" * length, "done": True}}
    assert progress.unpack(f"My code: {progress.pack(answers)}{after}") == answers


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


def content_of(code: str) -> dict[str, Any]:
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(code.removeprefix("d2l1.") + "===")))


def test_a_code_says_when_it_was_made_and_whose_it_is_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    keep({NAMES[0]: {"done": True}})
    d2l.progress(name=" Lê Thị Hoa ")
    named = content_of(capsys.readouterr().out.splitlines()[-1])
    assert named["name"] == "Lê Thị Hoa" and named["answers"] == {NAMES[0]: {"done": True}}
    made = datetime.strptime(named["made"], "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - made).total_seconds()) < 3600
    assert content_of(shown_code(capsys)).keys() == {"d2lmini", "made", "answers"}


@pytest.mark.parametrize("name", ["x" * 61, 7, None, ["An"]])
def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], name: Any) -> None:
    with pytest.raises(ValueError, match=r"^name: got .*at most 60 letters; shorten it"):
        d2l.progress(FIRST_CODE, name=name)
    assert progress.answers() == {} and capsys.readouterr().out == ""


def packed(text: str) -> str:
    return "d2l1." + base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")


@pytest.mark.parametrize(
    "code",
    ["", "d2l1.", "d2l1.x", "d2l2.eJw", packed("[]"), packed('{"answers": {}}'),
     packed('{"d2lmini": 1, "answers": {"a": 1}}'), packed('{"d2lmini": 1, "answers": {}}')[:-3],
     packed('{"d2lmini": 1, "answers": {"a": {"given": "' + "x" * (1 << 20) + '"}}}'),
     packed('{"d2lmini": 1, "answers": {"a": ' + "[" * 100_000 + "]" * 100_000 + "}}")],
)  # fmt: skip
def test_what_is_no_code_is_refused(own_folder: Path, code: str) -> None:
    progress.keep_answer(NAMES[0], {"done": True})
    before = (own_folder / "d2lmini-progress.json").read_bytes()
    with pytest.raises(ValueError, match=r"^code: got '.*copy all of what progress\(\) or the website shows"):
        d2l.progress(code)
    assert (own_folder / "d2lmini-progress.json").read_bytes() == before


@pytest.mark.parametrize("code", [3, b"d2l1.eJw", ["d2l1."], {}])
def test_a_code_is_a_text(code: Any) -> None:
    with pytest.raises(ValueError, match=r"^code: got .*copy all of what progress\(\)"):
        d2l.progress(code)


OLD, NEW = "self-attention/mask-matrix", "multi-head-attention/mask-matrix"


def test_answers_under_a_former_name_count_for_the_exercise_of_now(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {"d2lmini": 1, "answers": {OLD: {"done": True}}}
    (own_folder / "d2lmini-progress.json").write_text(json.dumps(kept), encoding="utf-8")
    assert progress.answers() == {NEW: {"done": True}}
    assert d2l.exercise(OLD).answer == d2l.exercise(NEW).answer == {"done": True}
    assert progress.unpack(progress.pack(kept["answers"])) == {NEW: {"done": True}}
    d2l.progress()
    assert "multi-head-attention: 1 of" in capsys.readouterr().out


def test_the_answer_of_now_is_not_replaced_by_an_old_one(own_folder: Path) -> None:
    kept = {"d2lmini": 1, "answers": {NEW: {"given": 1}, OLD: {"given": 2, "done": True}}}
    (own_folder / "d2lmini-progress.json").write_text(json.dumps(kept), encoding="utf-8")
    assert progress.answers() == {NEW: {"given": 1}}
