"""What breaks off, and two runs at once: nothing is half written, and the next run ends well."""

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from making import ROOT, make_book
from small_book import PAGES

from book import build, lock, terminal
from book.chapters import store


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page"
    assert store(file, b"old") and not store(file, b"old")

    def refuses(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "replace", refuses)
    with pytest.raises(OSError, match="full"):
        store(file, b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("page", b"old")]


@pytest.mark.skipif(os.name == "nt", reason="Windows has another call")
def test_where_a_file_system_has_no_locks_a_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(*arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", refuses)
    with lock.locked(tmp_path / "lock", "waits"):
        assert capsys.readouterr().out == ""


def test_the_second_run_says_that_it_waits(tmp_path: Path) -> None:
    script = "from book.lock import locked; from pathlib import Path; import sys\n"
    script += "with locked(Path(sys.argv[1]), 'waits'): print('works', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    command = [sys.executable, "-c", script, str(tmp_path / "lock")]
    with subprocess.Popen(command, **pipes) as first:
        assert first.stdout.readline() == "works\n"
        with subprocess.Popen(command, **pipes) as second:
            assert second.stdout.readline() == "waits\n"
            first.kill()  # the system lets go of its lock
            assert second.stdout.readline() == "works\n"
            second.communicate("\n")


@pytest.mark.skipif(os.name == "nt", reason="a lock of Windows stays with its process")
def test_a_language_that_outlives_its_build_keeps_the_next_build_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_book(tmp_path, {"en": PAGES["en"]})
    script = "import sys; from pathlib import Path; from book import build\n"
    script += "build.build(Path(sys.argv[1]), languages=['en'])"
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT) as first:
        while not (tmp_path / "_build" / "en").exists():
            assert first.poll() is None
            time.sleep(0.01)
        first.kill()
    site = build.build(tmp_path, languages=["en"])
    assert terminal.say("site.waits") in capsys.readouterr().out
    assert "First words" in (site / "en" / "basics.html").read_text(encoding="utf-8")


def test_a_build_after_a_kill_is_like_one_from_nothing_whatever_the_clock(tmp_path: Path) -> None:
    make_book(tmp_path, {"en": PAGES["en"]})
    site = build.build(tmp_path, languages=["en"], say=str)
    html, page = tmp_path / "_build" / "en" / "html", tmp_path / "chapters" / "en" / "index.ipynb"

    notebook = json.loads(page.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] += "\n\nAnother sentence."
    page.write_text(json.dumps(notebook), encoding="utf-8")
    os.utime(page, (0, 0))
    build.build(tmp_path, languages=["en"], say=str)
    assert "Another sentence." in (site / "en" / "index.html").read_text(encoding="utf-8")

    # killed: a page half written, and the site between the two steps of the swap
    (html / "basics.html").write_text("")
    (html.parent / "made_from.json").unlink()
    site.rename(site.with_name("site.old"))
    build.build(tmp_path, languages=["en"], say=str)
    assert "First words" in (site / "en" / "basics.html").read_text(encoding="utf-8")
