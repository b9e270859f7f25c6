"""Address and version: stated in one place each, and the same wherever they are repeated."""

from pathlib import Path

import pytest
import yaml
from making import ROOT, cell, write_notebook

from book.chapters import LANGUAGES, find, path_of, read, source
from d2lmini.language import words
from tools.notebooks import execute as notebooks
from tools.notebooks.stamp import INSTALLED, STATED, address_and_version, first_cells, stamp

FIRST = """# an older comment
import importlib.util

if importlib.util.find_spec("d2lmini") is None:
    %pip install -q "d2lmini @ git+https://example.org/you/d2lmini@v0"
"""


@pytest.fixture
def forked(tmp_path: Path) -> Path:
    """A course of another name and version, whose files still state those of before."""
    (tmp_path / "_config.yml").write_text("repository:\n  url: https://example.org/me/d2lmini/\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    for name in STATED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for language in LANGUAGES:
        cells = [cell("code", "setup", FIRST), cell("code", "other", "# an older comment\nprint(1)")]
        write_notebook(path_of(language, "one", tmp_path), cells)
    return tmp_path


def test_a_fork_is_stamped_by_one_command(forked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert notebooks.main(["--stamp"], forked) == 0
    assert "https://example.org/me/d2lmini@v1.2.3: tag the commit v1.2.3" in capsys.readouterr().out
    for language in LANGUAGES:
        first, other = read(path_of(language, "one", forked))["cells"]
        said, *code, line = source(first).splitlines()
        assert said == f"# {words(language)['first_cell']['installs']}"
        assert code == FIRST.splitlines()[1:-1]
        assert line == '    %pip install -q "d2lmini @ git+https://example.org/me/d2lmini@v1.2.3"'
        assert source(other) == "# an older comment\nprint(1)"
    citation = yaml.safe_load((forked / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == "1.2.3"
    assert citation["repository-code"] == "https://example.org/me/d2lmini"
    assert '__version__ = "1.2.3"' in (forked / "d2lmini/__init__.py").read_text(encoding="utf-8")
    assert stamp(find(root=forked), forked) == []


def test_the_course_itself_is_stamped() -> None:
    """Install lines, comments, CITATION.cff and the package say what _config.yml and pyproject.toml say."""
    address, version = address_and_version()
    for path in find():
        changed = first_cells(read(path), path.parent.name, address, version)
        assert not changed, f"{path}: run python3 course.py notebooks --stamp"
    for name, rules in STATED.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for stated in rules.values():
            assert stated.format(address=address, version=version) in text.splitlines(), name


def test_every_page_with_code_installs_the_package() -> None:
    for path in find():
        cells = [source(cell) for cell in read(path)["cells"] if cell["cell_type"] == "code"]
        assert [bool(INSTALLED.search(text)) for text in cells] == [True] * bool(cells) + [False] * len(
            cells[1:]
        )


def test_no_other_file_states_the_address() -> None:
    address, _ = address_and_version()
    folders = (".github", "book", "chapters", "d2lmini", "tests", "tools")
    files = [*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))]
    stating = {path for path in files if path.is_file() and address.encode() in path.read_bytes()}
    pages_with_code = {
        path for path in find() if any(one["cell_type"] == "code" for one in read(path)["cells"])
    }
    assert stating == pages_with_code | {ROOT / "CITATION.cff", ROOT / "_config.yml"}
