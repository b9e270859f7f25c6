"""Exercises, from the YAML file to the stored cell: mistakes, numbers, kept answers, checked code."""

import base64
import json
import re
import subprocess
import sys
import threading
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

import d2lmini as d2l
from d2lmini.notebook import exercises
from d2lmini.notebook.check import TASKS
from d2lmini.notebook.figures import figure_names
from tools import compile_exercises as compiler

LANGUAGES = ("en", "vi", "zh")
NAMES = exercises.exercise_names()
CHOICE = """\
kind: choice
question: {en: "Which one?", vi: "Cái nào?", zh: "哪一个？"}
options:
  - text: {en: this, vi: cái này, zh: 这个}
    correct: true
    why: {en: It fits., vi: Nó khớp., zh: 它合适。}
  - text: $\\sqrt d$
    why: {en: Too small., vi: Nhỏ quá., zh: 太小。}
hints:
  - {en: Look., vi: Hãy nhìn., zh: 看看。}
  - {en: Look again., vi: Hãy nhìn lại., zh: 再看看。}
solution: {en: This one., vi: Cái này., zh: 这个。}
"""
NUMBER = """\
kind: number
question: {en: "What is ${{a}}+{{b}}$?", vi: "Tính ${{a}}+{{b}}$.", zh: "${{a}}+{{b}}$ 等于多少？"}
parameters: {a: [1, 2, 3, 4], b: [5, 6, 7]}
answer: a + b
tolerance: 0.01
wrong:
  - answer: a * b
    why: {en: A product., vi: Đó là tích., zh: 这是乘积。}
hints:
  - {en: Add., vi: Cộng., zh: 相加。}
  - {en: Add again., vi: Cộng lại., zh: 再加一次。}
solution: {en: "{{a}} and {{b}}", vi: "{{a}} và {{b}}", zh: "{{a}} 与 {{b}}"}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Each test in its own folder (answers are kept there) and in English."""
    monkeypatch.chdir(tmp_path)
    exercises._warn_unwritable.cache_clear()
    d2l.use_language("en")
    yield tmp_path
    d2l.use_language("en")


def compiled(folder: Path, text: str, name: str = "a-question.yaml") -> tuple[dict[str, Any], list[str]]:
    path = folder / "chapter" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    result, mistakes = compiler.compile_file(path)
    return json.loads(result or "{}"), mistakes


# --------------------------------------------------------------------------------------------- the compiler


def test_compiled_files_are_current() -> None:
    assert compiler.main(["--check"]) == 0


def test_a_good_file_has_no_mistakes(here: Path) -> None:
    states, mistakes = compiled(here, CHOICE)
    assert mistakes == []
    assert states["vi"]["question"] == ["Cái nào?"]
    assert "<msqrt><mi>d</mi></msqrt>" in states["zh"]["options"][1]["text"][0]["m"]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('vi: "Cái nào?", ', "", 2, "the vi text is missing"),
        ('zh: "哪一个？"', 'zh: ""', 2, "the zh text is missing"),
        ("    why: {en: Too small., vi: Nhỏ quá., zh: 太小。}\n", "", 7, "'why' is missing"),
        ("    correct: true\n", "", 3, "no option is correct"),
        ("    why: {en: Too", "    correct: true\n    why: {en: Too", 3, "2 options are correct"),
        ("kind: choice", "kind: chioce", 1, "unknown kind 'chioce'"),
        ("solution:", "answer: 1\nsolution:", 12, "unknown key 'answer'"),
        ("solution:", "kind: choice\nsolution:", 1, "the key 'kind' is given twice"),
        ("Hãy nhìn lại.", "Hãy nhìn trọng lượng.", 11, "the glossary says 'trọng số'"),
        ("再看看。", "再看看令牌。", 11, "the glossary says '词元'"),
        ("$\\sqrt d$", "$\\sqr d$", 7, "Undefined control sequence"),
        ("$\\sqrt d$", "this one", 7, "words need the three languages"),
        ("Nó khớp.", unicodedata.normalize("NFD", "Nó khớp."), 6, "NFC"),
        ("vi: Nó khớp.", "fr: Il va.", 6, "unknown language 'fr'"),
        ("  - {en: Look., vi: Hãy nhìn., zh: 看看。}\n", "", 9, "'hints' must be a list of at least 2"),
        ("zh: 这个。}", 'zh: "{{a}}"}', 1, "only exercises of kind number"),
        ("question: {", "question: [", 2, "not YAML"),
        ('{en: "Which one?"', "Which: one? {", 2, "a text with a colon in it needs quotes"),
    ],
)
def test_a_mistake_is_told_with_its_line(here: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in CHOICE
    _, mistakes = compiled(here, CHOICE.replace(old, new, 1))
    assert any(f"a-question.yaml:{line}: " in told and message in told for told in mistakes), mistakes


def test_file_names_are_ids(here: Path) -> None:
    assert "words-with-hyphens" in compiled(here, CHOICE, "A_Question.yaml")[1][0]


@pytest.fixture
def compiling_here(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The compiler reads and writes in an empty folder."""
    monkeypatch.setattr(compiler, "SOURCES", here)
    monkeypatch.setattr(compiler, "COMPILED", here / "compiled")
    monkeypatch.setattr(compiler, "ROOT", here)
    return here


def test_twice_the_same_id(compiling_here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = compiling_here
    compiled(here, CHOICE, "one.yaml")
    compiled(here, CHOICE, "one.yml")
    assert compiler.main([]) == 1
    assert "chapter/one is already in" in capsys.readouterr().err


def test_line_breaks_are_no_spaces_in_chinese(here: Path) -> None:
    text = CHOICE.replace('zh: "哪一个？"', 'zh: "第一行\n  第二行 $d$ 行"')
    assert compiled(here, text)[0]["zh"]["question"][0] == "第一行第二行 "


@pytest.mark.parametrize(
    "expression",
    ["__import__('os')", "().__class__", "a.b", "[1]", "'x' * 9", "lambda: 1", "a if a else b", "1 +", "1/0"],
)
def test_expressions_are_arithmetic_only(expression: str) -> None:
    with pytest.raises(compiler.Mistake):
        compiler.evaluate(expression, {"a": 1.0, "b": 2.0})


def test_expressions() -> None:
    assert compiler.evaluate("sqrt(d) * 2 ** -1 + max(a, 3)", {"d": 64, "a": 1}) == 7


def test_numbers_are_fresh_and_repeat(here: Path) -> None:
    states, mistakes = compiled(here, NUMBER)
    assert mistakes == []
    variants = states["en"]["variants"]
    assert variants[0] == {"text": {"a": "1", "b": "5"}, "answer": 6, "wrong": [5]}
    assert len({json.dumps(variant) for variant in variants}) == len(variants) >= 4
    assert compiled(here, NUMBER)[0]["en"]["variants"] == variants
    assert "<mn>{{a}}</mn>" in states["en"]["question"][1]["m"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("answer: a * b", "answer: a + b", "wrong answers is (nearly) right"),
        ("answer: a + b", "answer: a + c", "unknown name 'c'"),
        ("[1, 2, 3, 4]", "[1]", "four are the least"),
        ("{{a}} and", "{{x}} and", "no such parameter"),
        ("tolerance: 0.01", "tolerance: small", "the tolerance is a number"),
    ],
)
def test_mistakes_in_numbers(here: Path, old: str, new: str, message: str) -> None:
    _, mistakes = compiled(here, NUMBER.replace(old, new, 1))
    assert any(message in told for told in mistakes), mistakes


WORDS = {"en": "Look.", "vi": "Hãy nhìn.", "zh": "看看。"}
AREA = {"box": [0, 0, 9, 9], "text": WORDS, "why": WORDS, "correct": True}


def undecided(data: dict[str, Any], *parts: str) -> None:
    for part in parts:
        for entry in data[part]:
            entry.pop("correct", None)


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("choice", lambda data: data["hints"].append(WORDS), "two hints"),
        ("multiple", lambda data: [one.update(correct=True) for one in data["options"]], "nothing to decide"),
        ("matrix", lambda data: data["wrong"][0].update(cells=data["cells"]), "equals the answer"),
        ("matrix", lambda data: data["cells"][0].pop(), "numbers are needed"),
        ("spot", lambda data: data["spots"][0].update(row=9), "outside the matrix"),
        ("spot", lambda data: undecided(data, "spots"), "no spot is correct"),
        ("spot", lambda data: data["values"][0].pop(), "numbers are needed"),
        ("picture", lambda data: undecided(data, "areas"), "one area must be correct: true; 0 are"),
        ("picture", lambda data: data["areas"].append(AREA), "one area must be correct: true; 2 are"),
        ("picture", lambda data: data["areas"][0]["box"].pop(), "left, top, width, height"),
        ("picture", lambda data: data.update(picture="nowhere"), "no figure 'nowhere'"),
        ("bug", lambda data: undecided(data, "lines"), "the buggy one); 0 are"),
        ("bug", lambda data: [line.update(correct=True) for line in data["lines"]], "'why' is missing"),
        ("bug", lambda data: [line.pop("why", None) for line in data["lines"]], "at least three lines"),
        ("code", lambda data: data.update(starter="def f(:"), "starter is not Python"),
        ("code", lambda data: data.update(solution_code="return ("), "solution_code is not Python"),
        ("code", lambda data: data["bugs"].popitem() and data["bugs"].popitem(), "at least four known-wrong"),
        ("order", lambda data: data.update(items=data["items"][:2]), "a list of at least 3"),
    ],
)
def test_mistakes_in_every_kind(
    here: Path, kind: str, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    """An exercise of the course with one thing wrong."""
    every = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in compiler.SOURCES.glob("*/*.yaml"))
    data = next(one for one in every if one["kind"] == ("spot" if kind == "picture" else kind))
    if kind == "code":
        data["bugs"] = dict(list(data["bugs"].items())[:5])
    if kind == "picture":
        data = {key: data[key] for key in ("kind", "question", "hints", "solution")}
        data |= {"picture": figure_names()[0], "areas": deepcopy([AREA, {**AREA, "correct": False}])}
    text = yaml.safe_dump(data, allow_unicode=True)
    assert compiled(here, text)[1] == []
    change(data)
    _, mistakes = compiled(here, yaml.safe_dump(data, allow_unicode=True))
    assert any(message in told for told in mistakes), mistakes


def test_a_compiled_file_that_is_behind_or_left_over_is_told(
    compiling_here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = compiling_here
    compiled(here, CHOICE)
    assert compiler.main(["--check"]) == 1
    assert "a-question.json: not current" in capsys.readouterr().err
    assert compiler.main([]) == compiler.main(["--check"]) == 0
    (here / "chapter" / "a-question.yaml").unlink()
    assert compiler.main(["--check"]) == 1
    assert "its YAML file is gone" in capsys.readouterr().err
    assert compiler.main([]) == 0 and not list((here / "compiled").glob("*/*"))


def test_the_worked_pair_of_the_chapter() -> None:
    first = exercises.exercise_content("self-attention/thinking-machines", "en")["variants"][0]
    assert first["text"]["a"] == "112" and first["text"]["p"] == "14"
    assert round(first["answer"], 2) == 0.88


# -------------------------------------------------------------------------------------------- in a notebook


# what every notebook viewer keeps
TAGS = {"div", "span", "strong", "em", "b", "i", "code", "pre", "ul", "ol", "li", "blockquote", "a"}


class Fallback(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.state: dict[str, Any] = {}
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if state := dict(attributes).get("data-state"):
            self.state = json.loads(state)

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_cell_stores(name: str, language: str) -> None:
    d2l.use_language(language)
    shown = d2l.exercise(name)
    data, metadata = shown._repr_mimebundle_()
    assert isinstance(metadata, dict)
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(shown) == f"<exercise {name}>"
    stored = Fallback(data["text/html"])
    assert stored.tags <= TAGS
    assert stored.state == shown.state and stored.state["lang"] == language
    assert "{{" not in stored.words and len(stored.words) > 40
    # the same bytes from another widget: no id, no address
    assert d2l.exercise(name)._repr_mimebundle_()[0]["text/html"] == data["text/html"]


def test_unknown_exercises_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"no exercise 'self-attention/why-scales'.*'self-attention/why-scale'"
    ):
        d2l.exercise("self-attention/why-scales")


def test_importing_the_package_imports_no_widgets() -> None:
    large = "{'anywidget', 'ipywidgets', 'matplotlib'}"
    code = f"import sys, d2lmini; d2lmini.exercise; print({large} & {{*sys.modules}})"
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# -------------------------------------------------------------------------------------------------- answers


def test_answers_outlive_the_kernel(here: Path) -> None:
    d2l.exercise("self-attention/why-scale").answer = {"given": 0, "done": True}
    assert d2l.exercise("self-attention/why-scale").answer == {"given": 0, "done": True}
    assert [file.name for file in here.iterdir()] == ["d2lmini-progress.json"]
    assert json.loads((here / "d2lmini-progress.json").read_text(encoding="utf-8"))["d2lmini"] == 1


def test_one_answer_leaves_the_others() -> None:
    for name in NAMES[:2]:
        d2l.exercise(name).answer = {"given": name}
    assert exercises.answers() == {name: {"given": name} for name in NAMES[:2]}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"answers": 3}', '{"answers": {"a": 1}}', "\x00"])
def test_a_broken_file_is_set_aside(here: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (here / "d2lmini-progress.json").write_text(text, encoding="utf-8")
    d2l.exercise("self-attention/why-scale").answer = {"done": True}
    assert (here / "d2lmini-progress.broken.json").read_text(encoding="utf-8") == text
    assert "damaged" in capsys.readouterr().out
    assert exercises.answers() == {"self-attention/why-scale": {"done": True}}


def test_a_folder_that_cannot_be_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(exercises.tempfile, "mkstemp", refuse)
    shown = d2l.exercise("self-attention/why-scale")
    shown.answer = {"tries": 1}
    shown.answer = {"tries": 2}
    assert capsys.readouterr().out.count("cannot be written") == 1
    assert list(here.iterdir()) == []


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    exercises.keep_answer("self-attention/why-scale", {"done": True})
    d2l.progress()
    total = sum(name.startswith("self-attention/") for name in NAMES)
    assert f"self-attention: 1 of {total} done" in capsys.readouterr().out


def shown_code(capsys: pytest.CaptureFixture[str]) -> str:
    d2l.progress()
    return capsys.readouterr().out.splitlines()[-1]


def test_a_code_carries_the_answers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = {name: {"given": "mèo 猫 " * 20, "done": True, "tries": 3} for name in NAMES}
    exercises._write(answers)
    code = shown_code(capsys)
    assert re.fullmatch(r"d2l1\.[\w-]+", code) and len(code) < 2000
    (here / "d2lmini-progress.json").unlink()
    wrapped = "\n".join(code[place : place + 70] for place in range(0, len(code), 70))
    d2l.progress(f"Code:\n{wrapped}\n")
    assert f"Took over {len(NAMES)} answers." in capsys.readouterr().out
    assert exercises.answers() == answers


def test_a_code_takes_nothing_away(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = NAMES[:3]
    exercises._write({first: {"done": False, "given": 1}, second: {"done": True, "given": 2}})
    code = shown_code(capsys)
    exercises._write({first: {"done": True, "given": 3}, second: {"given": 4}, third: {"done": True}})
    d2l.progress(code)
    assert exercises.answers() == {
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
def test_what_is_no_code_is_refused(here: Path, code: str) -> None:
    exercises.keep_answer(NAMES[0], {"done": True})
    before = (here / "d2lmini-progress.json").read_bytes()
    with pytest.raises(ValueError, match=r"^code: got '.*copy all of what progress\(\) or the website shows"):
        d2l.progress(code)
    assert (here / "d2lmini-progress.json").read_bytes() == before


# ------------------------------------------------------------------------------------------- code exercises


def solution_code(name: str) -> str:
    path = compiler.SOURCES / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))["solution_code"]


def written(source: str) -> Callable[..., Any]:
    # what the first cell of every chapter imports
    names: dict[str, Any] = {}
    exec(compile("import torch\nfrom torch import nn\n" + source, "<reader>", "exec"), names)
    return next(value for value in names.values() if hasattr(value, "__code__"))


def told(capsys: pytest.CaptureFixture[str], name: str, function: Any, **options: Any) -> str:
    d2l.check(name, function, **options)
    return capsys.readouterr().out


LOCAL = "complexity/code-local-mask"
LINEAR = "complexity/code-linear-attention"
SINES = "positional-encoding/code-sinusoids"
ROTATE = "positional-encoding/code-rotate"
ATTENTION = "self-attention/code-attention"
SPLIT = "self-attention/code-split-heads"
SINUSOIDS = "positional-encoding/code-sinusoids"
ROTATE = "positional-encoding/code-rotate"


@pytest.mark.parametrize("name", TASKS)
def test_the_published_solution_passes(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert "Correct." in told(capsys, name, written(solution_code(name)))
    assert exercises.answers()[name] == {"done": True}


@pytest.mark.parametrize("name", TASKS)
def test_the_starting_point_is_not_written_yet(capsys: pytest.CaptureFixture[str], name: str) -> None:
    starter = exercises.exercise_content(name, "en")["starter"]
    if name == ATTENTION:
        assert "Not written yet" in told(capsys, name, written(starter))
    assert "Not written yet" in told(capsys, name, lambda *_: None)
    assert exercises.answers() == {}


def attention_in_another_style(Q: Any, K: Any, V: Any, mask: Any = None) -> Any:
    import torch

    raised = torch.einsum("...nd,...md->...nm", Q / Q.size(-1) ** 0.25, K / K.size(-1) ** 0.25).exp()
    if mask is not None:
        raised = raised * mask
    weights = raised / raised.sum(-1, keepdim=True).clamp_min(1e-30)
    return [torch.einsum("...nm,...mv->...nv", weights, V), weights]


def split_in_another_style(X: Any, num_heads: int) -> Any:
    import torch

    return torch.stack(X.chunk(num_heads, dim=-1), dim=1).flatten(0, 1)


@pytest.mark.parametrize(
    ("name", "function"), [(ATTENTION, attention_in_another_style), (SPLIT, split_in_another_style)]
)
def test_another_style_passes(capsys: pytest.CaptureFixture[str], name: str, function: Any) -> None:
    assert "Correct." in told(capsys, name, function)


# what a reader may write: the published solution with something changed -> the bug that must be named
SCALE = " / Q.shape[-1] ** 0.5"
MASK = "scores = scores.masked_fill(~mask, float"
ZERO_ROWS = "weights = weights.masked_fill(~mask"
RETURN = "return weights @ V, weights"
MOVE = "X = X.transpose(1, 2)"
PHI = "nn.functional.elu(Q) + 1, nn.functional.elu(K) + 1"
CUT = "X = X.reshape(batch, n, num_heads, hidden // num_heads)"
FOLD = "return X.reshape(batch * num_heads, n, hidden // num_heads)"
KNOWN_WRONG = [
    (ATTENTION, {SCALE: ""}, "missing-scale"),
    (ATTENTION, {SCALE: "", "dim=-1)": "dim=-1) / Q.shape[-1] ** 0.5"}, "scale-after-softmax"),
    (ATTENTION, {SCALE: " / Q.shape[-1]"}, "scale-by-d"),
    (ATTENTION, {SCALE: " / V.shape[-1] ** 0.5"}, "scale-by-values"),
    (ATTENTION, {"dim=-1": "dim=-2"}, "wrong-axis"),
    (ATTENTION, {"dim=-1": "dim=-2", ZERO_ROWS: ZERO_ROWS[10:]}, "wrong-axis"),
    (ATTENTION, {MASK: MASK.replace("~", "")}, "mask-inverted"),
    (ATTENTION, {MASK: MASK.replace("~", ""), ZERO_ROWS: ZERO_ROWS.replace("~", "")}, "mask-inverted"),
    (ATTENTION, {MASK: MASK[9:], ZERO_ROWS: ZERO_ROWS[10:]}, "mask-ignored"),
    (ATTENTION, {MASK: MASK[9:]}, "mask-after-softmax"),
    (ATTENTION, {RETURN: "return weights @ V"}, "only-output"),
    (ATTENTION, {RETURN: "return weights, weights @ V"}, "swapped"),
    (ATTENTION, {ZERO_ROWS: ZERO_ROWS[10:]}, "empty-row-nan"),
    (ATTENTION, {ZERO_ROWS: ZERO_ROWS[10:], 'float("-inf")': "-1e6"}, "empty-row-uniform"),
    (SPLIT, {MOVE: "pass"}, "mixed-tokens"),
    (
        SPLIT,
        {CUT: "X = X.reshape(batch, n, -1, num_heads)", MOVE: "X = X.permute(0, 3, 1, 2)"},
        "interleaved",
    ),
    (SPLIT, {MOVE: "X = X.permute(2, 0, 1, 3)"}, "heads-before-batch"),
    (SPLIT, {FOLD: "return X"}, "not-folded"),
    (SPLIT, {MOVE: "X = X.permute(0, 2, 3, 1)", FOLD: "return X.flatten(0, 1)"}, "axes-swapped"),
    (LOCAL, {"r // 2": "r"}, "too-wide"),
    (LOCAL, {"<=": "<"}, "too-narrow"),
    (LOCAL, {".abs()": ""}, "one-sided"),
    (LOCAL, {"<=": ">"}, "inverted"),
    (LOCAL, {".abs()": "", "distance <= r // 2": "(distance >= 0) & (distance < r)"}, "backward"),
    (LINEAR, {" / total[:, None]": ""}, "no-total"),
    (LINEAR, {"nn.functional.elu(K) + 1": "K"}, "features-of-queries-only"),
    (LINEAR, {PHI: "Q, K"}, "no-features"),
    (LINEAR, {PHI: "nn.functional.elu(Q), nn.functional.elu(K)"}, "elu-without-one"),
    (LINEAR, {"total[:, None]": "K.shape[0]"}, "divided-by-count"),
    (
        LINEAR,
        {PHI: "Q, K", "mixed / total[:, None]": "(Q @ K.T / Q.shape[-1] ** 0.5).softmax(-1) @ V"},
        "softmax",
    ),
    (
        SINUSOIDS,
        {
            "P[:, 0::2] = torch.sin": "P[:, 0::2] = torch.cos",
            "] = torch.cos(i * omega[": "] = torch.sin(i * omega[",
        },
        "swapped",
    ),
    (SINUSOIDS, {"P[:, 0::2]": "P[:, : d - d // 2]", "P[:, 1::2]": "P[:, d - d // 2 :]"}, "halves"),
    (SINUSOIDS, {"omega[: d // 2]": "10000 ** (-torch.arange(1, d, 2) / d)"}, "own-speeds"),
    (SINUSOIDS, {"0, d, 2) / d": "0, d, 2) / 2 / d"}, "exponent-halved"),
    (SINUSOIDS, {"torch.arange(n)": "torch.arange(1, n + 1)"}, "from-one"),
    (SINUSOIDS, {"return P": "return P.T"}, "transposed"),
    (ROTATE, {"- b * angle.sin(), a *": "+ b * angle.sin(), -a *"}, "clockwise"),
    (
        ROTATE,
        {
            "X[:, 0::2], X[:, 1::2]": "X.chunk(2, dim=1)",
            "torch.stack(turned, dim=-1).flatten(1)": "torch.cat(turned, dim=1)",
        },
        "half-pairs",
    ),
    (ROTATE, {"turned = [a": "turned = [a := a"}, "one-after-the-other"),
    (ROTATE, {"torch.stack(turned, dim=-1).flatten(1)": "torch.cat(turned, dim=1)"}, "not-woven"),
    (ROTATE, {" * 10000 ** (-torch.arange(0, d, 2) / d)": ""}, "one-angle"),
    (ROTATE, {"i[:, None]": "torch.arange(len(X))[:, None]"}, "row-numbers"),
]


@pytest.mark.parametrize(("name", "changes", "bug"), KNOWN_WRONG)
def test_a_known_bug_is_named(
    capsys: pytest.CaptureFixture[str], name: str, changes: dict[str, str], bug: str
) -> None:
    source = solution_code(name)
    for old, new in changes.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    content = exercises.exercise_content(name, "en")
    first = next(part for part in content["bugs"][bug] if isinstance(part, str))
    assert told(capsys, name, written(source)).startswith(f"Not yet. {first}")
    assert exercises.answers() == {}


@pytest.mark.parametrize("name", TASKS)
def test_every_bug_has_words_and_a_test(name: str) -> None:
    assert set(TASKS[name].bugs) == set(exercises.exercise_content(name, "en")["bugs"])
    assert set(TASKS[name].bugs) == {bug for task, _, bug in KNOWN_WRONG if task == name}


def test_a_loop_that_never_ends(capsys: pytest.CaptureFixture[str]) -> None:
    def endless(*_: Any) -> None:
        while True:
            with suppress(Exception):
                sum(range(10))

    before = threading.active_count()
    assert "did not finish" in told(capsys, SPLIT, endless, seconds=0.3)
    assert threading.active_count() == before, "it still runs"


def test_a_checked_function_is_done_in_the_exercise_above(capsys: pytest.CaptureFixture[str]) -> None:
    shown = d2l.exercise(SPLIT)
    told(capsys, SPLIT, split_in_another_style)
    assert shown.answer == {"done": True}


def test_nearly_right_is_not_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert "should be" in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h) + 0.01)


def test_other_troubles_are_told_kindly(capsys: pytest.CaptureFixture[str]) -> None:
    def changes_its_input(X: Any, num_heads: int) -> Any:
        result = split_in_another_style(X, num_heads)
        X.zero_()
        return result

    import torch

    assert "ZeroDivisionError" in told(capsys, SPLIT, lambda X, num_heads: 1 / 0)
    assert "takes 1 positional argument" in told(capsys, SPLIT, lambda X: X)
    assert "it returned int" in told(capsys, SPLIT, lambda X, num_heads: 3)
    assert "should have the shape (6, 4, 2); it has (2, 4, 6)" in told(capsys, SPLIT, lambda X, num_heads: X)
    assert "contains NaN" in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h) * torch.nan)
    assert "result[0, 0, 0] should be" in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h) + 1)
    assert "changes its inputs" in told(capsys, SPLIT, changes_its_input)
    assert "without calling it" in told(capsys, SPLIT, torch.ones(2))
    with pytest.raises(ValueError, match="choose one of 'self-attention/code-attention'"):
        d2l.check("self-attention/why-scale", split_in_another_style)
