"""What is killed while it writes, and two runs at once: nothing is lost, and the next run ends well."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from making import ROOT, make_book
from small_book import PAGES

import course
from book import build
from tools import interruptions
from tools.interrupted import Answers

posix = pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")


@posix
def test_killed_at_random_moments(capsys: pytest.CaptureFixture[str]) -> None:
    assert interruptions.main(["--kills", "2", "answers", "download"]) == 0
    assert "4 kills, 0 damages" in capsys.readouterr().out


@posix
def test_damage_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def loses(name: str, folder: Path, *how: object) -> tuple[bool, list[str]]:
        (folder / "d2lmini-progress.json").write_text("{")
        return False, []

    monkeypatch.setattr(interruptions, "finish", lambda name, folder: 0)
    monkeypatch.setattr(interruptions, "kill", loses)
    (found, _) = interruptions.interrupt(Answers(), "answers", tmp_path, 1, interruptions.random.Random(0))
    assert found.startswith("kill 1 after 0.00 s") and "JSONDecodeError" in found


def test_half_installed_packages_are_installed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "VENV", tmp_path)
    place = tmp_path / ("Lib" if os.name == "nt" else "lib/python3.11") / "site-packages"
    for name in ("pip", "whole", "short", "gone", "unlisted"):
        info = place / f"{name}-1.dist-info"
        info.mkdir(parents=True)
        (place / f"{name}.py").write_text("x = 1")
        (info / "RECORD").write_text(f"{name}.py,sha256=x,5\n{name}.pyc,,\n{info.name}/RECORD,,\n")
    (place / "short.py").write_text("x =")
    (place / "gone.py").unlink()
    (place / "unlisted-1.dist-info" / "RECORD").unlink()
    (place / "~lpha").mkdir()
    assert course.mend()
    assert {path.name for path in place.glob("*-1.dist-info")} == {"pip-1.dist-info", "whole-1.dist-info"}
    assert not (place / "~lpha").exists()
    (place / "pip.py").unlink()
    assert not course.mend()


def test_the_second_run_says_that_it_waits(tmp_path: Path) -> None:
    script = "from book.alone import alone; from pathlib import Path; import sys\n"
    script += "with alone(Path(sys.argv[1]), 'waits'): print('works', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    command = [sys.executable, "-c", script, str(tmp_path / "lock")]
    with subprocess.Popen(command, **pipes) as first:
        assert first.stdout.readline() == "works\n"
        with subprocess.Popen(command, **pipes) as second:
            assert second.stdout.readline() == "waits\n"
            first.kill()  # the system lets go of its lock
            assert second.stdout.readline() == "works\n"
            second.communicate("\n")


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
    (html.parent / "unfinished").touch()
    site.rename(site.with_name("site.old"))
    build.build(tmp_path, languages=["en"], say=str)
    assert "First words" in (site / "en" / "basics.html").read_text(encoding="utf-8")
