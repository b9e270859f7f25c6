"""Address and version: from the job that publishes or a public remote, written into what installs."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from making import ROOT, cell, served, write_notebook

from book import address
from book.chapters import LANGUAGES, find, path_of, read, source
from d2lmini.language import words
from tools.notebooks import execute as notebooks, stamp

HOME = "https://git.example.org/me/course"


@pytest.fixture(autouse=True)
def unpublished(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("D2LMINI_REPOSITORY", "D2LMINI_REF"):
        monkeypatch.delenv(name, raising=False)
    address.repository.cache_clear()
    yield
    address.repository.cache_clear()


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# ---- the address


@pytest.mark.parametrize(
    ("remote", "known"),
    {
        "https://git.example.org/me/course": HOME,
        "https://git.example.org/me/course.git": HOME,
        "https://me:s3cret@git.example.org/me/course.git": HOME,
        "https://s3cret@git.example.org/me/course/?token=s3cret#s3cret": HOME,
        "git@git.example.org:me/course.git": HOME,
        "ssh://git@git.example.org:22/me/course.git": HOME,
        "https://git.example.org:8443/me/course": "https://git.example.org:8443/me/course",
        "/home/me/course": "",
        "../course": "",
        "C:\\Users\\me\\course": "",
        "C:/Users/me/course": "",
        "file:///home/me/course": "",
        "http://git.example.org/me/course": "",
        "https://git.example.org": "",
        'https://git.example.org/me/"><script>': "",
        "": "",
    }.items(),
)
def test_a_remote_gives_an_address_that_others_can_open_and_no_secret(
    tmp_path: Path, remote: str, known: str
) -> None:
    git(tmp_path, "init", "-q")
    if remote:
        git(tmp_path, "config", "remote.origin.url", remote)
    assert address.repository(tmp_path) == known


def test_a_folder_without_git_has_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert address.repository(tmp_path) == ""


def test_what_is_published_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address.stamped() == ""
    monkeypatch.setenv("D2LMINI_REPOSITORY", "https://github.com/me/course/")
    assert address.repository() == "https://github.com/me/course"
    assert address.stamped() == "me/course/blob/notebooks"
    monkeypatch.setenv("D2LMINI_REPOSITORY", HOME)  # where Colab cannot fetch notebooks
    assert address.stamped() == ""


# ---- first cells


def checkout(folder: Path, remote: str = "") -> Path:
    """A course of another name and version, its first cells as they are in the course."""
    (folder / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    for name in stamp.STATED:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    for language in LANGUAGES:
        first = stamp.BESIDE.format(comment="…") + "\nimport torch\n\nimport d2lmini as d2l"
        cells = [cell("code", "setup", first), cell("code", "other", "# …\nprint(1)")]
        write_notebook(path_of(language, "one", folder), cells)
    git(folder, "init", "-q")
    git(folder, "config", "remote.origin.url", remote)
    return folder


def test_a_fork_is_stamped_by_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fork = checkout(tmp_path, "https://me:s3cret@git.example.org/me/course.git")
    assert notebooks.main(["--stamp"], fork) == 0
    assert f"{HOME}@v1.2.3" in capsys.readouterr().out
    for language in LANGUAGES:
        first, other = read(path_of(language, "one", fork))["cells"]
        comment = words(language)["first_cell"]["installs"]
        installs = stamp.INSTALLS.format(comment=comment, address=HOME, ref="v1.2.3")
        assert source(first) == installs + "\nimport torch\n\nimport d2lmini as d2l"
        assert source(other) == "# …\nprint(1)"
    citation = yaml.safe_load((fork / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["repository-code"]) == ("1.2.3", HOME)
    assert '__version__ = "1.2.3"' in (fork / "d2lmini/__init__.py").read_text(encoding="utf-8")
    assert stamp.stamp(find(root=fork), fork) == []


def test_only_what_is_named_is_stamped(tmp_path: Path) -> None:
    fork = checkout(tmp_path, HOME)
    assert notebooks.main(["--stamp", "one", "--lang", "vi"], fork) == 0
    stamped = {
        language: "git+" in path_of(language, "one", fork).read_text("utf-8") for language in LANGUAGES
    }
    assert stamped == {language: language == "vi" for language in LANGUAGES}


def test_without_an_address_nothing_is_stamped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fork = checkout(tmp_path, "/home/me/course")
    before = {path: path.read_bytes() for path in fork.rglob("*.*") if path.is_file()}
    assert notebooks.main(["--stamp"], fork) == 1
    assert "no address to install from" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in fork.rglob("*.*") if path.is_file()}


def test_no_first_cell_of_the_course_names_an_address() -> None:
    for path in find():
        notebook = read(path)
        codes = [source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert not stamp.first_cells(notebook, path.parent.name), f"{path}: its first cell is another"
        assert [bool(stamp.FIRST.search(code)) for code in codes] == [True] * bool(codes) + [False] * len(
            codes[1:]
        )
        assert not any("git+" in code for code in codes)
    for name in stamp.STATED:
        assert f"{stamp.version()}" in (ROOT / name).read_text(encoding="utf-8")


def test_a_first_cell_takes_the_package_beside_its_notebook(tmp_path: Path) -> None:
    """In a folder that holds the course, without d2lmini being installed; elsewhere it is missed by name."""
    (tmp_path / "d2lmini").mkdir()
    (tmp_path / "d2lmini" / "__init__.py").write_text("found = __file__")
    here = tmp_path / "chapters" / "en"
    here.mkdir(parents=True)
    code = (
        stamp.BESIDE.format(comment="…")
        + "\nimport d2lmini\nimport os\nprint(os.path.abspath(d2lmini.found))"
    )
    # isolated: neither this checkout nor what is installed beside it
    command = [sys.executable, "-I", "-S", "-c", code]
    found = subprocess.run(command, check=True, cwd=here, capture_output=True, text=True)
    assert Path(found.stdout.strip()).resolve() == (tmp_path / "d2lmini" / "__init__.py").resolve()
    alone = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert "No module named 'd2lmini'" in alone.stderr


@pytest.mark.slow
def test_a_tag_installs_from_a_server_of_git_as_a_first_cell_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork with a tag, served; pip installs it, and a stamped notebook runs in another environment."""
    fork, site, python = tmp_path / "fork", tmp_path / "site", tmp_path / "env" / "bin" / "python"
    git(ROOT, "clone", "-q", str(ROOT), str(fork))
    version = stamp.version(fork)
    git(fork, "tag", f"v{version}")
    site.mkdir()
    git(fork, "clone", "-q", "--bare", str(fork), str(site / "course.git"))
    git(site / "course.git", "update-server-info")
    # PyTorch and what else the package needs is there, d2lmini is not
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    (here,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    others = [folder for folder in sys.path if folder.endswith("site-packages")]
    (here / "others.pth").write_text("\n".join(others))
    variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    # "false" is how pip is told so: build with the setuptools that is there
    variables |= {"PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    with served(site) as home:
        monkeypatch.setenv("D2LMINI_REPOSITORY", f"{home}/course.git")
        page = path_of("vi", "complexity", fork)
        stamp.stamp([page], fork)
        assert stamp.INSTALLED.findall(page.read_text("utf-8").replace("\\", "")) == [
            f"{home}/course.git@v{version}"
        ]
        asyncio.run(notebooks.execute(tmp_path / page.name, read(page), str(python), variables))
    assert (here / "d2lmini" / "__init__.py").exists()
