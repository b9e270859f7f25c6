"""The package from outside: what an import loads, what editors and type checkers know, who imports whom."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

import d2lmini as d2l
from d2lmini import errors

ROOT = Path(__file__).parents[1]

READER = """\
import d2lmini as d2l

reveal_type(d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0))
reveal_type(d2l.bleu("a", "a", 1))
reveal_type(d2l.causal_mask(3))
d2l.bleu(1, 2, "x")
d2l.no_such_name
d2l.TransformerEncoder(20, 8, 8, 8, 8, [8], 8, 16, 2, 1, "much")
"""


def test_an_import_loads_nothing_large():
    code = "import sys, d2lmini; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    large = {"torch", "matplotlib", "numpy", "ipywidgets", "anywidget", "IPython"}
    assert not large & {name.partition(".")[0] for name in run.stdout.split()}


@pytest.mark.slow  # reads all of torch
def test_a_type_checker_knows_the_public_names(tmp_path):
    """As a reader's editor checks a file, under mypy's strictest settings."""
    (tmp_path / "reader.py").write_text(READER)
    cache = [
        "--cache-dir",
        str(ROOT / ".mypy_cache" / "reader"),
    ]  # or torch is read anew, which takes a minute
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *cache]
    run = subprocess.run(
        [*command, "--config-file=", str(tmp_path / "reader.py")],
        cwd=ROOT,  # where d2lmini is
        capture_output=True,
        text=True,
        check=False,
    )
    told = {}
    for line in run.stdout.splitlines():
        place, _, what = line.partition(": ")
        told.setdefault(place.rpartition(":")[2], []).append(what)
    assert 'Revealed type is "d2lmini.attention.MultiHeadAttention"' in told["3"][0]
    assert 'Revealed type is "float"' in told["4"][0].replace("builtins.", "")
    assert 'Revealed type is "torch._tensor.Tensor"' in told["5"][0]
    assert len(told["6"]) == 3 and all("has incompatible type" in what for what in told["6"])
    assert 'Module has no attribute "no_such_name"' in told["7"][0]
    assert 'Argument 11 to "TransformerEncoder" has incompatible type "str"' in told["8"][0]
    assert [place for place in told if place.isdigit()] == ["3", "4", "5", "6", "7", "8"]


@pytest.fixture(scope="module")
def project():
    return jedi.Project(ROOT, smart_sys_path=False, added_sys_path=[str(ROOT)])


def test_an_editor_completes_every_public_name(project):
    offered = {
        name.name for name in jedi.Script("import d2lmini as d2l\nd2l.", project=project).complete(2, 4)
    }
    assert set(d2l.__all__) <= offered


def test_an_editor_shows_signatures_and_finds_definitions(project):
    script = jedi.Script("import d2lmini as d2l\nd2l.MultiHeadAttention(", project=project)
    (signature,) = script.get_signatures(2, 23)
    assert [parameter.name for parameter in signature.params] == [
        "key_size", "query_size", "value_size", "num_hiddens", "num_heads", "dropout", "bias",
        "num_kv_heads", "turn", "qk_norm",
    ]  # fmt: skip
    (found,) = script.goto(2, 10, follow_imports=True)
    assert (found.module_path, found.type) == (ROOT / "d2lmini" / "attention.py", "class")


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'd2lmini' has no attribute 'no_such_name'"):
        _ = d2l.no_such_name
    assert set(d2l.__all__) <= set(dir(d2l))
    assert all(getattr(d2l, name) is not None for name in d2l.__all__)


# ---- rooms: the lower ones know nothing of the higher ones

BOTTOM = {"language", "errors", "letters"}  # of the whole package, without torch
KNOWS = {
    "bottom": {"bottom"},
    "models": {"bottom", "models"},
    "notebook": {"bottom", "models", "notebook"},
    "book": {"bottom", "models", "notebook", "book"},
    "tools": {"bottom", "models", "notebook", "book", "tools"},
}


def room(module: str) -> str | None:
    """Return the room in which a module lies; None for one that is not ours."""
    package, _, name = module.partition(".")
    if package != "d2lmini":
        return package if package in ("book", "tools") else None
    if name.partition(".")[0] == "notebook":
        return "notebook"
    return "bottom" if name.partition(".")[0] in BOTTOM else "models"


def imports(path: Path) -> set[str]:
    """Return every module that a file imports, wherever it does: also inside functions, and for types."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            # `from d2lmini import errors` names a module
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


FILES = sorted(path for folder in ("d2lmini", "book", "tools") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])
def test_no_room_imports_from_a_higher_one(path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    if module == "d2lmini":  # the door, through which all rooms are entered
        return
    mine = room(module)
    for name in imports(path):
        theirs = room(name)
        assert theirs is None or theirs in KNOWS[mine], f"{path}: {mine} imports {name}, of {theirs}"
        if mine == "bottom":
            assert name.partition(".")[0] not in ("torch", "numpy", "matplotlib"), f"{path}: {name}"


# ---- shared sentences


def test_sentences_name_the_argument_and_the_choice():
    assert errors.one_of("k", 3, (1, "a")) == "k: got 3; choose one of 1, 'a'"
    assert errors.nearest("cuasal", ["causal", "local"]) == "; the nearest are 'causal'"
    assert errors.nearest(None, ["causal"]) == errors.nearest("zzz", ["causal"]) == ""


def test_the_map_of_contributing_names_what_there_is() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./<>*-]+/[\w./<>*-]*|[\w-]+\.(?:css|csv|js|md|py|toml|txt|yml))`", text))
    assert len(named) > 40
    places = ("", "*/", "*/*/", "*/*/*/")
    patterns = {name: [place + re.sub("<[^>]*>", "*", name) for place in places] for name in named}
    assert [name for name, some in patterns.items() if not any(map(any, map(ROOT.glob, some)))] == []
