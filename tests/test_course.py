"""course.py: what each verb does first, and the sentence for each thing that goes wrong."""

import ast
import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import course
from book import browser, terminal
from d2lmini.language import LANGUAGES, words

ROOT = Path(course.__file__).parent


@pytest.fixture(autouse=True)
def in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal is English unless a test says otherwise."""
    for variable in ("D2LMINI_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG", "D2LMINI_BROWSER"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")


@pytest.fixture
def empty_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in an empty folder, with a `.venv` that is made without installing anything."""
    for file in {file for files in course.SETS for file in files}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("nothing\n")
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(course, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(course, "STAMP", tmp_path / ".venv" / "d2lmini.stamp")
    monkeypatch.setattr(course, "LOG", tmp_path / "_build" / "setup.log")
    monkeypatch.setattr(course, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    return tmp_path


@pytest.fixture
def steps(empty_course: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that the set-up takes, none of them really."""
    taken: list[str] = []

    def logged(what: str, command: list[str | Path]) -> None:
        taken.append(what)
        if "venv" in command:
            course.PYTHON.parent.mkdir(parents=True, exist_ok=True)
            course.PYTHON.touch()

    monkeypatch.setattr(course, "logged", logged)
    return taken


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    bare = [argument for argument in arguments if argument == "-S"]  # Python without its packages
    command = [sys.executable, *bare, str(ROOT / "course.py"), *arguments[len(bare) :]]
    return subprocess.run(
        command,
        cwd=ROOT.parent,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_alone_it_prints_help() -> None:
    result = run()
    assert result.returncode == 0
    assert all(f"\n  {verb} " in result.stdout for verb in course.VERBS)


@pytest.mark.parametrize("verb", course.VERBS)
def test_each_verb_runs_a_module_that_exists(verb: str) -> None:
    name, needs = course.VERBS[verb]
    assert importlib.util.find_spec(name)
    assert needs in ((), *course.SETS)


def test_unknown_verb_is_a_sentence() -> None:
    result = run("publish")
    assert result.returncode == 2
    assert result.stderr.startswith("publish: no such verb; there are serve, lab, test")


# ---- the language of the terminal


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"D2LMINI_LANGUAGE": "zh", "LC_ALL": "vi_VN.UTF-8"}, "zh"),
        ({"LC_ALL": "vi_VN.UTF-8", "LANG": "zh_CN.UTF-8"}, "vi"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "vi_VN"}, "zh"),
        ({"LC_ALL": "", "LANG": "vi_VN"}, "vi"),
        ({"LC_ALL": "", "LANG": "vi"}, "vi"),
        ({"LC_ALL": "", "LANG": "zh_TW.Big5"}, "zh"),
        ({"LC_ALL": "C", "LANG": "vi_VN"}, "en"),
        ({"LC_ALL": "POSIX"}, "en"),
        ({"LC_ALL": "ja_JP.UTF-8"}, "en"),
        ({"D2LMINI_LANGUAGE": "klingon"}, "en"),
    ],
)
def test_messages_are_in_the_language_of_the_terminal(settings: dict[str, str], expected: str) -> None:
    said = run("publish", **settings).stderr
    told = words(expected)["setup"]["no_verb"]
    assert said == told.format(verb="publish", verbs=", ".join(course.VERBS), command=course.COMMAND) + "\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Vietnamese_Vietnam", "vi"),
        ("vi_VN", "vi"),
        ("Chinese (Simplified)_China", "zh"),
        ("zh_CN", "zh"),
        ("English_United States", "en"),
        ("Virtual", "en"),
        (None, "en"),
    ],
)
def test_where_no_variable_is_set_the_system_names_the_language(
    monkeypatch: pytest.MonkeyPatch, name: str | None, expected: str
) -> None:
    monkeypatch.delenv("LC_ALL")
    monkeypatch.setattr(terminal.locale, "getlocale", lambda: (name, "cp1258"))
    assert terminal.language() == expected


@pytest.mark.parametrize("code", LANGUAGES)
def test_help_explains_each_verb_in_each_language(code: str) -> None:
    result = run(D2LMINI_LANGUAGE=code)
    verbs = words(code)["setup"]["verbs"]
    assert list(verbs) == list(course.VERBS)
    assert all(f"\n  {verb:<10} {does}\n" in result.stdout for verb, does in verbs.items())


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_terminal_that_lacks_letters_prints_the_others(code: str) -> None:
    result = run(D2LMINI_LANGUAGE=code, PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert "http://127.0.0.1:8000" in result.stdout
    assert ("?" in result.stdout) == (code != "en")


@pytest.mark.parametrize("code", LANGUAGES)
def test_set_up_tells_its_steps_and_its_failures_in_each_language(
    empty_course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    monkeypatch.setenv("D2LMINI_LANGUAGE", code)
    course.LOG.parent.mkdir()
    setup = words(code)["setup"]
    course.logged("x", [sys.executable, "-c", ""])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == setup["installing"].format(what="x")
    assert said[1] in {setup["installed"].format(what="x", seconds=seconds) for seconds in range(60)}
    script = "print('getaddrinfo failed'); raise SystemExit(1)"
    with pytest.raises(course.SetUpError) as error:
        course.logged("x", [sys.executable, "-c", script])
    assert f"{setup['failed'].format(what='x')} {setup['reasons']['network']}" in str(error.value)
    assert setup["log"].format(path=course.LOG) in str(error.value)


@pytest.mark.parametrize("file", [course.__file__, terminal.__file__, browser.__file__])
def test_old_pythons_can_read_what_tells_them_that_they_are_old(file: str) -> None:
    ast.parse(Path(file).read_text(encoding="utf-8"), feature_version=(3, 7))


# ---- set-up


def test_lockstep_needs_no_set_up(empty_course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, object]] = []
    monkeypatch.setattr(course, "module", lambda name, rest, python=None: calls.append((name, python)) or 3)
    assert course.main(["lockstep"]) == 3
    assert calls == [("tools.text.lockstep", sys.executable)]
    assert not (empty_course / ".venv").exists()


def test_old_python_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    monkeypatch.setenv("D2LMINI_LANGUAGE", "vi")  # whose words an old Python cannot read
    assert course.main(["serve", "--port", "0"]) == 1
    assert "needs 3.11 or newer" in capsys.readouterr().err


def test_second_set_up_does_nothing(steps: list[str]) -> None:
    course.set_up(course.READING)
    assert steps == ["a virtual environment", "packages"]
    course.set_up(course.READING)
    assert len(steps) == 2


def test_everything_includes_the_others(steps: list[str]) -> None:
    course.set_up(course.EVERYTHING)
    assert steps[-2:] == ["PyTorch and what the tests need", "d2lmini"]
    before = len(steps)
    for files in course.SETS:
        course.set_up(files)
    assert len(steps) == before


def test_the_pdf_needs_no_torch(steps: list[str]) -> None:
    course.set_up(course.PRINTING)
    assert steps == ["a virtual environment", "packages", "packages"]
    course.set_up(course.READING)
    assert len(steps) == 3


def test_the_language_of_the_course_is_checked_without_what_builds_or_runs_it(
    empty_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def logged(what: str, command: list[str | Path]) -> None:
        commands.append([str(part) for part in command])
        course.PYTHON.parent.mkdir(parents=True, exist_ok=True)
        course.PYTHON.touch()

    monkeypatch.setattr(course, "logged", logged)
    monkeypatch.setattr(course, "module", lambda name, rest, python: 0)
    assert course.main(["prose"]) == 0
    assert ["venv" in command for command in commands] == [True, False]
    assert commands[1][-4:] == ["-c", "requirements.txt", "-r", "tools/text/requirements.txt"]
    # what comes without hashes is no ground for what readers get
    course.set_up(course.READING)
    assert ["venv" in command for command in commands] == [True, False, True, False]


ONLY = """
import sys
names = {"yaml", "_yaml", "markdown_it", "mdurl", "autocorrect_py"} | set(sys.stdlib_module_names)

class Only:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in names | {"book", "d2lmini", "tools"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Only)
import autocorrect_py, tools.text.prose
"""


def test_what_checks_the_language_imports_only_what_it_installs() -> None:
    subprocess.run([sys.executable, "-c", ONLY], cwd=ROOT, check=True)
    lines = (ROOT / course.TEXT[0]).read_text(encoding="utf-8").splitlines()
    assert lines[1:] == ["PyYAML", "markdown-it-py", "typos", "autocorrect-py"]


def test_reading_does_not_include_everything(steps: list[str]) -> None:
    course.set_up(course.READING)
    assert "d2lmini" not in steps
    course.set_up(course.EVERYTHING)
    assert steps[-1] == "d2lmini"
    assert steps.count("a virtual environment") == 1  # what is there serves


def test_working_includes_reading_and_brings_no_tests(steps: list[str]) -> None:
    course.set_up(course.WORKING)
    assert steps == ["a virtual environment", "packages", "PyTorch and JupyterLab", "d2lmini"]
    course.set_up(course.READING)
    assert len(steps) == 4


def test_changed_requirements_are_installed(steps: list[str], empty_course: Path) -> None:
    course.set_up(course.READING)
    (empty_course / course.LOCK).write_text("something\n")
    course.set_up(course.READING)
    assert steps.count("packages") == 2


def test_reading_goes_on_where_only_the_tests_need_something_new(
    steps: list[str], empty_course: Path
) -> None:
    course.set_up(course.EVERYTHING)
    before = len(steps)
    (empty_course / "requirements.txt").write_text("something\n")
    course.set_up(course.READING)
    assert len(steps) == before
    course.set_up(course.EVERYTHING)
    assert len(steps) > before


def test_half_of_another_set_up_is_not_taken_for_the_old_one(
    steps: list[str], empty_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.set_up(course.READING)
    (empty_course / course.LOCK).write_text("something\n")
    with monkeypatch.context() as patched:
        patched.setattr(course, "pip", lambda *arguments: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            course.set_up(course.READING)
    (empty_course / course.LOCK).write_text("nothing\n")
    course.set_up(course.READING)
    assert steps.count("packages") == 2


def test_interrupted_set_up_begins_anew(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(what: str, *arguments: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(course, "module", lambda *arguments: 0)
    assert course.main(["site"]) == 0
    with monkeypatch.context() as patched:
        patched.setattr(course, "pip", interrupted)
        assert course.main(["lab", "--no-browser"]) == 130
    assert course.main(["site"]) == 0
    assert steps == ["a virtual environment", "packages"] * 2


def test_a_moved_folder_is_set_up_anew(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs in its `.venv` name the old place."""
    course.set_up(course.READING)
    monkeypatch.setattr(course, "ROOT", shutil.copytree(course.ROOT, course.ROOT.with_name("moved")))
    course.set_up(course.READING)
    assert steps == ["a virtual environment", "packages"] * 2


@pytest.mark.parametrize("stamp", ["", "\n", "half"])
def test_a_damaged_stamp_is_none(steps: list[str], stamp: str) -> None:
    course.set_up(course.READING)
    course.STAMP.write_text(stamp)
    course.set_up(course.READING)
    assert steps == ["a virtual environment", "packages"] * 2


def test_missing_venv_names_the_package(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "find_spec", lambda name: None)
    monkeypatch.setattr(course, "debian_root", lambda: False)
    with pytest.raises(course.SetUpError, match=rf"sudo apt install python3\.{sys.version_info.minor}-venv"):
        course.set_up(course.READING)
    monkeypatch.setattr(course, "debian_root", lambda: True)
    course.set_up(course.READING)
    assert steps[:2] == ["Python's venv"] * 2


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "disk is full",
        ),
        ("Retrying after connection broken by 'NewConnectionError(…)'", "no network"),
        (
            "Failed to resolve 'host' ([Errno -3] Temporary failure in name resolution): NameResolutionError",
            "no network",
        ),
        ("ERROR: No matching distribution found for torch==2.13.0", "does not exist for Python"),
        ("PermissionError: [Errno 13] Permission denied: 'x'", "may not be written"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "was not installed"),
        ("something else", "Installing it failed."),
    ],
)
def test_failed_step_gives_its_reason_its_end_and_its_log(
    empty_course: Path, output: str, sentence: str
) -> None:
    course.LOG.parent.mkdir()
    script = f"print('begin'); print({output!r}); raise SystemExit(1)"
    with pytest.raises(course.SetUpError) as error:
        course.logged("it", [sys.executable, "-c", script])
    assert sentence in str(error.value)
    assert output in str(error.value)
    assert str(course.LOG) in str(error.value)
    assert course.LOG.read_text(encoding="utf-8").splitlines() == ["begin", output]


def test_full_disk_and_forbidden_file_are_sentences() -> None:
    assert "disk is full" in terminal.in_words(OSError(errno.ENOSPC, "no space"))
    assert terminal.in_words(PermissionError(errno.EACCES, "no", "x.log")) == "x.log may not be written."


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[str, list[str]]]]:
    """Let modules end with these codes instead of running; return which ran."""

    def fake(**codes: int) -> list[tuple[str, list[str]]]:
        ran: list[tuple[str, list[str]]] = []

        def module(name: str, arguments: list[str], python: Path | str | None = None) -> int:
            ran.append((name, arguments))
            return codes.get(name, 0)

        monkeypatch.setattr(course, "module", module)
        monkeypatch.setattr(course, "set_up", lambda files: None)
        monkeypatch.setattr(course, "install_browser", lambda: None)
        return ran

    return fake


Modules = Callable[..., list[tuple[str, list[str]]]]


def test_tests_run_once_after_the_linters_with_the_options_given(modules: Modules) -> None:
    ran = modules()
    assert course.main(["test", "-k", "attention"]) == 0
    assert [name for name, _ in ran] == ["ruff", "ruff", "mypy", "oxlint", "pytest"]
    assert ran[-1][1][-2:] == ["-k", "attention"]
    assert ran[-1][1][2:4] == ["--dist", "loadgroup"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_its_help_says_what_all_adds_and_installs_nothing(code: str) -> None:
    told = run("-S", "test", "--help", D2LMINI_LANGUAGE=code)
    assert told.returncode == 0, told.stderr
    assert told.stdout == words(code)["setup"]["test_help"].format(command=course.COMMAND) + "\n"
    assert "--all" in told.stdout and "JupyterLab" in told.stdout and "--engines" in told.stdout


@pytest.mark.parametrize("arguments", [["-S"], ["-S", "lockstep"]])
def test_it_starts_where_nothing_is_installed(arguments: list[str]) -> None:
    assert "Traceback" not in run(*arguments).stderr


@pytest.mark.parametrize("codes", [{"ruff": 1}, {"mypy": 1}, {"oxlint": 1}, {"pytest": 1}])
def test_any_failing_check_fails_and_pytest_is_last(modules: Modules, codes: dict[str, int]) -> None:
    ran = modules(**codes)
    assert course.main(["test"]) == 1
    assert ran[-1][0] == "pytest"


def test_serve_builds_first_and_passes_its_options_on(modules: Modules) -> None:
    ran = modules()
    assert course.main(["serve", "--port", "0"]) == 0
    assert ran == [("book.serve", ["--build", "--port", "0"])]
    modules(**{"book.serve": 1})
    assert course.main(["serve", "--port", "0"]) == 1


def test_browser_comes_from_debian_as_root_else_from_playwright(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course, "find_browser", lambda: None)
    commands: list[list[str]] = []
    monkeypatch.setattr(
        course, "logged", lambda what, command: commands.append([str(part) for part in command])
    )
    monkeypatch.setattr(course, "debian_root", lambda: True)
    course.install_browser()
    assert commands[-1][-2:] == ["chromium-headless-shell", "fonts-noto-cjk"]
    monkeypatch.setattr(course, "debian_root", lambda: False)
    course.install_browser()
    assert commands[-1][-3:] == ["playwright", "install", "chromium"]
    monkeypatch.setattr(course, "find_browser", lambda: "/usr/bin/chromium")
    course.install_browser()
    assert len(commands) == 3


def test_another_browser_comes_from_playwright_even_where_chromium_is_installed(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D2LMINI_BROWSER", "firefox")
    monkeypatch.setattr(course, "debian_root", lambda: True)
    commands: list[list[str]] = []
    monkeypatch.setattr(course, "logged", lambda what, command: commands.append(list(map(str, command))))
    course.install_browser()
    assert [command[-3:] for command in commands] == [["playwright", "install", "firefox"]]
    monkeypatch.setenv("D2LMINI_BROWSER", "mosaic")
    with pytest.raises(ValueError, match="D2LMINI_BROWSER: got 'mosaic'; choose one of chromium, firefox"):
        course.install_browser()


def test_installed_browser_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / ("google-chrome.exe" if os.name == "nt" else "google-chrome")
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find_browser() == str(program)
