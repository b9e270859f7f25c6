"""The format of exercises: every mistake is named with its line, and what is right is compiled."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pairing import slow_except

from d2lmini.language import current_language, words
from d2lmini.notebook import content, figures
from d2lmini.notebook.content import exercise_content
from d2lmini.notebook.figures import figure_names
from tools.exercises import compile as compiler, format as form
from tools.exercises.numbers import evaluate
from tools.exercises.text import Mistake
from tools.text import prose

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


def compiled(folder: Path, text: str, name: str = "a-question.yaml") -> tuple[dict[str, Any], list[str]]:
    path = folder / "chapter" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    result, mistakes = compiler.compile_file(path)
    return json.loads(result or "{}"), mistakes


def test_compiled_files_are_current() -> None:
    assert compiler.main(["--check"]) == 0


def test_a_good_file_has_no_mistakes(tmp_path: Path) -> None:
    states, mistakes = compiled(tmp_path, CHOICE)
    assert mistakes == []
    assert states["vi"]["question"] == "Cái nào?"
    formula = '<math data-tex="\\sqrt d"><mrow><msqrt><mi>d</mi></msqrt></mrow></math>'
    assert states["zh"]["options"][1]["text"] == formula


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('vi: "Cái nào?", ', "", 2, "question.vi: Field required"),
        ('zh: "哪一个？"', 'zh: ""', 2, "question.zh: String should have at least 1 character"),
        ("    why: {en: Too small., vi: Nhỏ quá., zh: 太小。}\n", "", 7, "options.1.why: Field required"),
        ("    correct: true\n", "", 3, "one of the options must be correct: true; 0 are"),
        (
            "    why: {en: Too",
            "    correct: true\n    why: {en: Too",
            3,
            "one of the options must be correct: true; 2 are",
        ),
        ("kind: choice", "kind: chioce", 1, "unknown kind 'chioce'"),
        ("solution:", "answer: 1\nsolution:", 12, "answer: Extra inputs are not permitted"),
        ("solution:", "kind: choice\nsolution:", 12, 'duplicate key "kind"'),
        ("$\\sqrt d$", "$\\sqr d$", 7, "Undefined control sequence"),
        ("$\\sqrt d$", "this one", 7, "words need the three languages"),
        ("Nó khớp.", unicodedata.normalize("NFD", "Nó khớp."), 6, "NFC"),
        ("vi: Nó khớp.", "fr: Il va.", 6, "options.0.why.fr: Extra inputs are not permitted"),
        ("  - {en: Look., vi: Hãy nhìn., zh: 看看。}\n", "", 9, "hints: List should have at least 2 items"),
        ("zh: 这个。}", 'zh: "{{a}}"}', 12, "only exercises of kind number"),
        ("question: {", "question: [", 2, "not YAML"),
        ('{en: "Which one?"', "Which: one? {", 2, "a text with a colon in it needs quotes"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in CHOICE
    _, mistakes = compiled(tmp_path, CHOICE.replace(old, new, 1))
    assert any(f"a-question.yaml:{line}: " in told and message in told for told in mistakes), mistakes


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("Hãy nhìn lại.", "Hãy nhìn trọng lượng.", "'trọng lượng': the course says 'trọng số'"),
        ("再看看。", "再看看令牌。", "'令牌': the course says '词元'"),
    ],
)
def test_the_prose_check_reads_exercises(tmp_path: Path, old: str, new: str, finding: str) -> None:
    path = tmp_path / "chapters" / "exercises" / "chapter" / "a-question.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(CHOICE.replace(old, new, 1), encoding="utf-8")
    shutil.copy(compiler.ROOT / "chapters" / "glossary.csv", tmp_path / "chapters")
    texts = [text for text in prose.course_texts(tmp_path) if text.where.startswith("chapters/exercises")]
    found = [finding for text in texts for finding in prose.vocabulary(text.text, text.language)]
    assert found == [finding]


def test_file_names_are_ids(tmp_path: Path) -> None:
    assert "words-with-hyphens" in compiled(tmp_path, CHOICE, "A_Question.yaml")[1][0]


@pytest.fixture
def compiling_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The compiler reads and writes in an empty folder."""
    shutil.copy(compiler.ROOT / "_toc.yml", tmp_path)
    monkeypatch.setattr(compiler, "SOURCES", tmp_path)
    monkeypatch.setattr(compiler, "COMPILED", tmp_path / "compiled")
    monkeypatch.setattr(compiler, "ROOT", tmp_path)
    return tmp_path


def test_twice_the_same_id(compiling_here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled(compiling_here, CHOICE, "one.yaml")
    compiled(compiling_here, CHOICE, "one.yml")
    assert compiler.main([]) == 1
    told = capsys.readouterr().err
    assert "one.yml:1: the file name 'one.yml' is the exercise's id: make it words-with-hyphens.yaml" in told


def test_former_names_lead_to_the_exercise(compiling_here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled(compiling_here, CHOICE + "formerly: [old-chapter/old-name]\n")
    assert compiler.main([]) == 0
    table = json.loads((compiling_here / "compiled" / "formerly.json").read_text(encoding="utf-8"))
    assert table == {"old-chapter/old-name": "chapter/a-question"}
    numbers = json.loads((compiling_here / "compiled" / "chapters.json").read_text(encoding="utf-8"))
    assert list(numbers) == ["chapter"]  # in no table of contents yet
    compiled(compiling_here, CHOICE + "formerly: [old-chapter/old-name]\n", "copied.yaml")
    assert compiler.main([]) == 1
    told = capsys.readouterr().err
    assert "copied.yaml:" in told and "old-chapter/old-name is a former name of chapter/a-question" in told
    (compiling_here / "chapter" / "copied.yaml").unlink()
    compiled(compiling_here, CHOICE, "old-name.yaml")
    compiled(compiling_here, CHOICE + "formerly: [chapter/old-name]\n")
    assert compiler.main([]) == 1
    assert "formerly: chapter/old-name is an exercise of now" in capsys.readouterr().err
    assert (
        "formerly.0: String should match pattern"
        in compiled(compiling_here, CHOICE + "formerly: [Old]\n")[1][0]
    )


CODE = """\
kind: code
question: {en: Write it., vi: Hãy viết., zh: 写出来。}
call: d2l.check("chapter/a-question", f)
starter:
  en: "f = ...  # yours\\n"
  vi: "f = ...  # của bạn\\n"
  zh: "f = ...  # 你的\\n"
hints:
  - {en: Look., vi: Hãy nhìn., zh: 看看。}
  - {en: Look again., vi: Hãy nhìn lại., zh: 再看看。}
solution: {en: This., vi: Cái này., zh: 这个。}
solution_code: "f = 1\\n"
bugs: {a: $1$, b: $2$, c: $3$, d: $4$}
"""


def test_comments_of_code_are_in_every_language(tmp_path: Path) -> None:
    result, mistakes = compiled(tmp_path, CODE)
    assert not mistakes
    assert result["vi"]["starter"] == "f = ...  # của bạn\n"
    assert result["zh"]["solution_code"] == "f = 1\n"
    texts = prose.localized({"starter": {"en": "f = 1  # one", "vi": "f = 1  # một", "zh": "f = 1"}}, "")
    assert [text.text for text in texts] == ["one", "một", ""]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('vi: "f = ...', 'vi: "g = ...', "same code in all languages"),
        ('  vi: "f = ...  # của bạn\\n"\n', "", "for each of en, vi, zh"),
        ('zh: "f = ...', 'zh: "f = = ...', "is not Python"),
    ],
)
def test_code_in_every_language_is_the_same(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert CODE.count(old) == 1
    assert message in compiled(tmp_path, CODE.replace(old, new))[1][0]


def test_line_breaks_are_no_spaces_in_chinese(tmp_path: Path) -> None:
    text = CHOICE.replace('zh: "哪一个？"', 'zh: "第一行\n  第二行 $d$ 行"')
    assert compiled(tmp_path, text)[0]["zh"]["question"].startswith("第一行第二行 <math")


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "().__class__",
        "a.b",
        "[1]",
        "'x' * 9",
        "lambda: 1",
        "a if a else b",
        "1 +",
        "1/0",
        "9**9**9",
        "3999999**3999999",
        "10000**10000",
        "min()",
        "sqrt(1,2)",
        "max(a)",
        "(-a)**0.5",
        "1j",
        "1e400",
        "round(number=a)",
        "a in b",
        "a; b",
        "a = 1",
        "not a",
        "x",
        "f(1)",
        "",
        "(" * 99 + "1",
        "1+" * 200 + "1",
    ],
)
def test_expressions_are_arithmetic_only(expression: str) -> None:
    with pytest.raises(Mistake):
        evaluate(expression, {"a": 1.0, "b": 2.0})


def test_expressions() -> None:
    assert evaluate("sqrt(d) * 2 ** -1 + max(a, 3)", {"d": 64, "a": 1}) == 7


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("answer: a + b", "answer: a.b", 4, "only + - * / // % **"),
        ("answer: a + b", "answer: 10**20", 4, "a real number below 1e+15"),
        ("answer: a * b", "answer: a * c", 7, "unknown name 'c'; known: a, b"),
        ("tolerance: 0.01", "tolerance: -1", 5, "tolerance: Input should be greater than or equal to 0"),
        ("tolerance: 0.01", "tolerance: 0.01\nwhere: a < x", 6, "unknown name 'x'"),
        ("tolerance: 0.01", "tolerance: 0.01\nlet: {c: a + x}", 6, "unknown name 'x'"),
        ("tolerance: 0.01", "tolerance: 0.01\nlet: {a: 3}", 6, "'a' is a parameter already"),
        ("{a: [1, 2, 3, 4]", "{pi: [1, 2, 3, 4]", 3, "'pi' cannot name a number"),
        ("{{a}} and", "{{a:9}} and", 12, "the format must be like .2f or d"),
        ("{{a}} and", "{{a:d}} and {{b:.1f}} and", 0, ""),
    ],
)
def test_a_formula_is_blamed_on_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in NUMBER
    _, mistakes = compiled(tmp_path, NUMBER.replace(old, new, 1))
    assert not mistakes if not message else any(f":{line}: " in one and message in one for one in mistakes)


def test_markdown_becomes_html_and_words_stay_words(tmp_path: Path) -> None:
    text = '*It fits $d$* **and `<b>` &amp;**, $d$: <i>"x"</i>\\n\\nSo $$\\\\frac12$$'
    states, mistakes = compiled(tmp_path, CHOICE.replace("It fits.", '"' + text.replace('"', '\\"') + '"'))
    assert mistakes == []
    markup = states["en"]["options"][0]["why"]
    formula = '<math data-tex="d"><mrow><mi>d</mi></mrow></math>'
    bound = f'<span class="d2l-bound">{formula}:</span>'  # its colon stays on the line of the formula
    assert markup.startswith(
        f"<p><em>It fits {formula}</em> "
        '<strong>and <code class="d2l-bound">&lt;b&gt;</code> &amp;amp;</strong>, '
        f"{bound} &lt;i&gt;&quot;x&quot;&lt;/i&gt;</p><p>So "
    )
    assert markup.endswith("</math></span></p>") and 'class="d2l-display"><math' in markup
    assert content.plain(markup) == 'It fits d and <b> &amp;, d: <i>"x"</i>\nSo \\frac12'


def test_a_figure_is_escaped_stripped_and_in_every_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><title>{{ keys }}</title><text>{{%s}}</text></svg>'
    (tmp_path / "assets" / "figures").mkdir(parents=True)
    monkeypatch.setattr(figures, "files", lambda _: tmp_path)
    figures.figure_names.cache_clear()
    drawing = tmp_path / "assets" / "figures" / "small.svg"
    data = {
        **yaml.safe_load(CHOICE),
        "kind": "spot",
        "picture": "small",
        "areas": [AREA, {**AREA, "correct": False}],
    }
    del data["options"]
    try:
        drawing.write_text(svg % "keys", encoding="utf-8")
        states, mistakes = compiled(tmp_path, yaml.safe_dump(data, allow_unicode=True))
        assert mistakes == [] and "<title>khóa</title><text>khóa</text>" in states["vi"]["picture"]
        for unknown, message in (
            ("Q &amp; K &lt; V", "no text 'Q & K < V'"),
            ("Q & K", "not well-formed XML"),
        ):
            drawing.write_text(svg % unknown, encoding="utf-8")
            _, mistakes = compiled(tmp_path, yaml.safe_dump(data, allow_unicode=True))
            assert len(mistakes) == 1 and re.search(rf"yaml:\d+: .*{message}", mistakes[0])
        assert current_language() == "en"
    finally:
        figures.figure_names.cache_clear()


def test_numbers_are_fresh_and_repeat(tmp_path: Path) -> None:
    states, mistakes = compiled(tmp_path, NUMBER)
    assert mistakes == []
    variants = states["en"]["variants"]
    assert variants[0] == {"text": {"a": "1", "b": "5"}, "answer": 6, "wrong": [5]}
    assert len({json.dumps(variant) for variant in variants}) == len(variants) >= 4
    assert compiled(tmp_path, NUMBER)[0]["en"]["variants"] == variants
    assert "<mn>{{a}}</mn>" in states["en"]["question"]
    assert "<mn>1</mn>" in content.filled(states["en"]["question"], variants[0]["text"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("answer: a * b", "answer: a + b", "two of its answers are (nearly) the same"),
        (
            "hints:",
            "  - answer: b * a + 0.02\n    why: $x$\nhints:",
            "two of its answers are (nearly) the same",
        ),
        ("answer: a + b", "answer: a + c", "unknown name 'c'"),
        ("[1, 2, 3, 4]", "[1]", "four are the least"),
        ("{{a}} and", "{{x}} and", "no such parameter"),
        ("{{a}} and", "{{a + 1}} and", "a place holds one name"),
        ("tolerance: 0.01", "tolerance: small", "tolerance: Input should be a valid number"),
    ],
)
def test_mistakes_in_numbers(tmp_path: Path, old: str, new: str, message: str) -> None:
    _, mistakes = compiled(tmp_path, NUMBER.replace(old, new, 1))
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
        ("choice", lambda data: data["hints"].append(WORDS), "hints: List should have at most 2 items"),
        ("multiple", lambda data: [one.update(correct=True) for one in data["options"]], "nothing to decide"),
        ("matrix", lambda data: data["wrong"][0].update(cells=data["cells"]), "equals the answer"),
        ("matrix", lambda data: data["cells"][0].pop(), "numbers are needed"),
        ("spot", lambda data: data["spots"][0].update(row=9), "outside the matrix"),
        ("spot", lambda data: undecided(data, "spots"), "no spot is correct"),
        ("spot", lambda data: data["values"][0].pop(), "numbers are needed"),
        ("picture", lambda data: undecided(data, "areas"), "one of the areas must be correct: true; 0 are"),
        ("picture", lambda data: data["areas"].append(AREA), "one of the areas must be correct: true; 2 are"),
        ("picture", lambda data: data["areas"][0]["box"].pop(), "areas.0.box: List should have at least 4"),
        ("picture", lambda data: data.update(picture="nowhere"), "no figure 'nowhere'"),
        ("bug", lambda data: undecided(data, "lines"), "one of the lines must be correct: true; 0 are"),
        ("bug", lambda data: [line.update(correct=True) for line in data["lines"]], "'why' is missing"),
        ("bug", lambda data: [line.pop("why", None) for line in data["lines"]], "at least three lines"),
        ("code", lambda data: data.update(starter="def f(:"), "starter: is not Python"),
        ("code", lambda data: data.update(solution_code="return ("), "solution_code: is not Python"),
        (
            "code",
            lambda data: data["bugs"].popitem() and data["bugs"].popitem(),
            "bugs: Dictionary should have at least 4",
        ),
        ("order", lambda data: data.update(items=data["items"][:2]), "items: List should have at least 3"),
    ],
)
def test_mistakes_in_every_kind(
    tmp_path: Path, kind: str, change: Callable[[dict[str, Any]], object], message: str
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
    assert compiled(tmp_path, text)[1] == []
    change(data)
    _, mistakes = compiled(tmp_path, yaml.safe_dump(data, allow_unicode=True))
    assert any(message in told for told in mistakes), mistakes


def test_a_compiled_file_that_is_behind_or_left_over_is_told(
    compiling_here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled(compiling_here, CHOICE)
    assert compiler.main(["--check"]) == 1
    assert "a-question.json: not current" in capsys.readouterr().err
    assert compiler.main([]) == compiler.main(["--check"]) == 0
    (compiling_here / "chapter" / "a-question.yaml").unlink()
    assert compiler.main(["--check"]) == 1
    assert "its YAML file is gone" in capsys.readouterr().err
    assert compiler.main([]) == 0 and not list((compiling_here / "compiled").glob("*/*"))


def test_the_worked_pair_of_the_chapter() -> None:
    first = exercise_content("self-attention/thinking-machines", "en")["variants"][0]
    assert first["text"]["a"] == "112" and first["text"]["p"] == "14"
    assert round(first["answer"], 2) == 0.88


# ---- what notebooks store


def write_notebook(root: Path, language: str, *html: str) -> Path:
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{index}",
            "execution_count": 1,
            "metadata": {},
            "source": "d2l.x()",
            "outputs": [{"output_type": "execute_result", "metadata": {}, "data": {"text/html": [text]}}],
        }
        for index, text in enumerate(html)
    ]
    path = root / "chapters" / language / "page.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def html_of(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["outputs"][0]["data"]["text/html"]) for cell in cells]


def test_notebooks_are_renewed_without_being_executed(tmp_path: Path) -> None:
    name = "self-attention/why-scale"
    old = content.stored(name, "en").replace("Question", "Riddle")
    explorer = (
        '<div class="d2l-widget" data-widget="attention-explorer" data-id="attention-explorer">old</div>'
    )
    path = write_notebook(tmp_path, "vi", old, "<b>a table</b>", explorer)
    before = path.read_bytes()
    told = compiler.renew_notebooks(checking=True, root=tmp_path)
    assert [path.read_bytes(), *told] == [
        before,
        "chapters/vi/page.ipynb: what is stored in cell-0, cell-2 is not current",
    ]
    assert compiler.renew_notebooks(checking=False, root=tmp_path) == told
    assert html_of(path)[:2] == [content.stored(name, "vi"), "<b>a table</b>"]
    assert words("vi")["explorers"]["shown_here"] in html_of(path)[2]
    assert compiler.renew_notebooks(checking=True, root=tmp_path) == []


def test_a_notebook_with_an_unknown_exercise_is_named(
    compiling_here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = '<div class="d2l-widget" data-widget="exercise" data-id="self-attention/gone">x</div>'
    write_notebook(compiling_here, "zh", gone)
    assert compiler.main([]) == 1
    assert (
        "chapters/zh/page.ipynb#cell-0: name: there is no exercise 'self-attention/gone'"
        in capsys.readouterr().err
    )


# ---- what the command needs, and what it tells


def test_the_format_is_told_from_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert compiler.main(["--format"]) == 0
    told = capsys.readouterr().out
    for model in [*form.MODELS.values(), form.Picture]:
        assert model.__doc__ and model.__doc__ in told
        for name, field in model.model_fields.items():
            assert re.search(rf"^{name} \([\w ,]+\): {re.escape(str(field.description))}$", told, re.M), name
    for key in ("where", "let", "box", "elsewhere", "binary", "picture"):
        assert re.search(rf"^ *{key} \(", told, re.M)
    assert told.count("chapters/exercises/") == len(form.MODELS) + 1  # an example of each


def test_the_schema_for_editors_takes_every_exercise_and_finds_mistakes() -> None:
    """What `# yaml-language-server: $schema=../schema.json` gives an author while typing."""
    schema = json.loads((compiler.SOURCES / "schema.json").read_text(encoding="utf-8"))
    editor = jsonschema.Draft202012Validator(schema)
    for path, text in REAL.items():
        data = yaml.safe_load(text)
        assert editor.is_valid(data), path
        assert not editor.is_valid({**data, "kind": "riddle"})
        assert not editor.is_valid({**data, "answers": 3})
        assert not editor.is_valid({**data, "question": {**data["question"], "vi": None}})
        assert not editor.is_valid({key: value for key, value in data.items() if key != "solution"})
    described = [definition.get("description") for definition in schema["$defs"].values()]
    assert form.Number.__doc__ in described and form.Picture.__doc__ in described


def test_every_part_of_the_format_is_described() -> None:
    def parts(model: type[form.Part]) -> set[type[form.Part]]:
        return {model}.union(*map(parts, model.__subclasses__()))

    for model in parts(form.Part):
        assert model.__doc__
        assert all(field.description for field in model.model_fields.values())


READING = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "matplotlib", "anywidget", "ipywidgets", "numpy"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocked())
"""


def run_without_torch(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", READING + textwrap.dedent(code)],
        cwd=compiler.ROOT,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(compiler.ROOT), "PYTHONUTF8": "1"},
    )


def test_compiling_needs_no_torch() -> None:
    done = run_without_torch("from tools.exercises import compile as c; sys.exit(c.main(['--check']))")
    assert (done.returncode, done.stderr) == (0, "exercises: all are current\n")


def test_what_reading_imports_needs_no_torch() -> None:
    done = run_without_torch(
        """
        import importlib, pkgutil, book
        for module in pkgutil.walk_packages(book.__path__, "book."):
            importlib.import_module(module.name)
        import tools.text.lockstep, tools.exercises.compile
        """
    )
    assert done.returncode == 0, done.stderr


# ---- no edit of a file ends in a traceback, or never


REAL = {path: path.read_text(encoding="utf-8") for path in sorted(compiler.SOURCES.glob("*/*.yaml"))}
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    3,
    10**30,
    0.5,
    -0.0,
    float("nan"),
    float("inf"),
    "",
    " ",
    "x",
    "{{",
    "{{a}}",
    "{{a:9}}",
    "{{a:.2f}}",
    "$",
    "$x$",
    "$\\frob$",
    "$$",
    "*",
    "**a $x$**",
    "`",
    "\u0301",
    "9**9**9",
    "3999999**3999999",
    "min()",
    "sqrt(1,2)",
    "(" * 300,
    "-" * 190 + "1",
    "a.b",
    "1/0",
    "__import__('os')",
    "def f(:",
    [],
    [None],
    [[]],
    [1, "x"],
    [[[[[[]]]]]],
    {},
    {"en": 1},
    {"en": "a", "vi": None, "zh": []},
    {"en": "a", "vi": "b", "zh": "c", "fr": "d"},
    {"x": {"y": {"z": {}}}},
    {"text": "x"},
    [{"why": 3}],
    "picture",
    "number",
    "../../words/en",
]
SNIPPETS = [
    "kind: 2024-13-45",
    "tolerance: !!int abc",
    "tolerance: !!float x",
    "answer: !frob 3",
    "why: !!python/object:os x",
    "? [a, b]\n: 3",
    "a: &r [*r]",
    "rows: &r {x: *r}",
    "question: *nowhere",
    "cells: " + "[" * 400,
    "x: " + "[" * 60 + "]" * 60,
    "where: 1:30:00",
    "<<: {kind: open}",
    "tolerance: " + "9" * 5000,
    "tolerance: 0x" + "f" * 5000,
    "---\nkind: open",
    "\tkind: open",
    "solution: {en: a: b}",
    "%YAML 9.9",
    "hints: !!set {a, b}",
    "kind: !!binary xx",
    "answer: .nan",
    "a: &a [1,1]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\ne: &e [*d,*d]\nf: [*e,*e,*e,*e]",
    "\x00",
    "\x07",
    "\ufeff",
    "…: …",
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every list or mapping in nested data with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


def wrong_edit(text: str, draw: random.Random) -> bytes:
    """A file with something wrong in it, of the kind that a person or an editor does."""
    if draw.random() < 0.3:
        lines = text.splitlines()
        at = draw.randrange(len(lines))
        match draw.randrange(4):
            case 0:
                lines[at] = draw.choice(SNIPPETS)
            case 1:
                lines[at:at] = [draw.choice(SNIPPETS)]
            case 2:
                lines[at] = " " * draw.randrange(5) + lines[at].strip()
            case 3:
                raw = bytearray("\n".join(lines).encode())
                raw[draw.randrange(len(raw))] = draw.randrange(256)
                return bytes(raw)
        return "\n".join(lines).encode()
    data = yaml.load(text, Loader=yaml.CSafeLoader)
    around, key = draw.choice(places(data))
    match draw.randrange(5):
        case 0 | 1:
            around[key] = draw.choice(ODD)
        case 2:
            del around[key]
        case 3 if isinstance(around, dict):
            around[draw.choice(["x", "correct", "where", "en", 3, "picture"])] = draw.choice(ODD)
        case 3:
            around.insert(key, draw.choice(ODD))
        case 4:
            other, name = draw.choice(places(data))
            around[key] = deepcopy(other[name])
    return yaml.dump(data, Dumper=yaml.CSafeDumper, allow_unicode=True).encode()


@pytest.mark.parametrize("seed", slow_except(range(8), range(2)))  # 250 edits each
def test_wrong_edits_end_in_sentences(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    path = tmp_path / "chapter" / "an-exercise.yaml"
    path.parent.mkdir()
    refused = 0
    for _ in range(250):
        raw = wrong_edit(draw.choice(list(REAL.values())), draw)
        path.write_bytes(raw)
        began = time.process_time()
        text, mistakes = compiler.compile_file(path)
        assert time.process_time() - began < 5
        assert bool(mistakes) != bool(text)
        refused += bool(mistakes)
        for told in mistakes:
            where = re.fullmatch(r".*an-exercise\.yaml:(\d+): (.{12,})", told, re.S)
            assert where, told
            assert 1 <= int(where[1]) <= raw.count(b"\n") + 1, told
            assert len(told) < 600 and "object at 0x" not in told and "pydantic" not in told
    assert refused > 170  # the others happen to be right


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_odd_yaml_is_refused(tmp_path: Path, snippet: str) -> None:
    harmless = {"\ufeff"}
    assert bool(compiled(tmp_path, snippet + "\n" + CHOICE)[1]) != (snippet in harmless)
