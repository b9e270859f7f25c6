"""book.prose: each rule catches a bad example and lets the good one pass; and the course keeps them all."""

import re
import subprocess
import sys

import pytest

from book.chapters import ROOT
from tools.text import prose
from tools.text.prose import Text


def slips(language: str, text: str) -> str:
    return "\n".join(finding.what for finding in prose.check([Text("here", language, text)]))


@pytest.mark.parametrize(
    ("language", "good", "bad", "slip"),
    [
        ("en", "A weight.", "A wieght.", "spelling"),
        ("en", "One color.", "One colour.", "spelling"),
        ("en", "```\n:::\n```", ":::{note}", "fence"),
        ("en", "```python\nx\n```", "```{note}\nx\n```", "directive"),
        ("en", "See `{x}`.", "See {eq}`x`.", "role"),
        ("en", "Run `a {name}` now.", "Run `a`, see {eq}`x`.", "role"),
        ("en", "(see) = it", "(see)=\n# It", "target"),
        ("en", "$$x \\tag{1.1}$$", "$$x$$ (eq-x)", "label"),
        ("en", "$$\\begin{aligned}x\\end{aligned}$$", "\\begin{align}x\\end{align}", "without"),
        ("en", "![a](https://example.org/a.png)", "![a](a.png)", "picture"),
        ("en", "It is **so**: $a*b$, 2 * 3.", "It is **so **.", "emphasis"),
        ("zh", "**为什么？** 看图。", "**为什么？**看图。", "emphasis"),
        ("vi", "Chú ý", "Chu\u0301 y\u0301", "NFC"),
        ("vi", "một token", "một mã thông báo", "the course says 'token'"),
        ("vi", "khóa, hòa, thủy, khỏe, quý, già", "khoá", "write 'khóa'"),
        ("vi", "hoàn toàn, khoảng, luyện, chuyển", "tóan", "write 'toán'"),
        ("vi", "huỳnh, quỳnh, ngoài, xoáy, khuỷu", "thuỷ", "write 'thủy'"),
        ("vi", "quá, giá, gìn, giữ, giếng, quyển", "khoẻ", "write 'khỏe'"),
        ("vi", "hỏa", "gía", "write 'giá'"),
        ("vi", "được, người, chuyển, khuya, mùa, gìn, quýt", "đựơc", "write 'được'"),
        ("vi", "thu thập, nghiêng, giếng, quên, xoong", "thu thâp", "'thâp' is no Vietnamese syllable"),
        ("vi", "thông tin, ghế, kể, quyển, yếu, oán", "thôgn tin", "'thôgn' is no"),
        ("vi", "nghỉ, cả, khuếch, quả", "ngỉ", "'ngỉ' is no"),
        ("vi", "các, cạp, lặp lại, tiếc", "cảc", "'cảc' is no"),
        ("vi", "*softmax* của Łukasz, dần dần, song song", "của của nó", "twice: 'của của'"),
        ("en", "It is *the the the*; had it", "It is the the end.", "twice: 'the the'"),
        ("zh", "它的目标，好好看", "它的的目标", "twice: '的的'"),
        ("vi", "hết, rồi", "hết , rồi", "space before"),
        ("vi", "0.5 và (0, 5)", "0,5", "decimal"),
        ("en", "262\u2009144 or 1024, 2048", "262,144 scores", "thin space"),
        ("vi", "262\u2009144 token", "2,048 token", "thin space"),
        ("vi", "40\u2009000 token", "40 000 token", "thin space"),
        ("zh", "262144 个，26 万个", "262\u2009144 个", "write nothing"),
        ("zh", "一个词元", "一个令牌", "the course says '词元'"),
        ("zh", "对，好", "对,好", "half-width punctuation"),
        ("zh", "`a`，好；$x$：是", "$x$: 是", "half-width punctuation"),
        ("zh", "好。", "好.", "full stop"),
        ("zh", "好。", "好。。", "twice"),
        ("zh", "他说“好”", '他说"好"', "straight quote"),
        ("zh", "注意力（attention）与形状 (n, 隐藏单元数)", "权重(注意力)", "half-width brackets"),
        ("zh", "等等……好", "等等...好", "three full stops"),
        ("zh", "好，行", "好， 行", "space beside"),
        ("zh", "说 **“好”** 的", "说 “好”的", "space beside"),
        ("zh", "用 PyTorch 写 3 行", "用PyTorch写", "no space"),
        ("zh", "用 `x` 和 $y$ 写", "用`x`和", "no space"),
        ("zh", "编码器-解码器", "全部用ＡＢＣ", "write"),
    ],
)
def test_rule(language: str, good: str, bad: str, slip: str) -> None:
    assert slips(language, good) == ""
    assert slip in slips(language, bad)


LONG = "Each of the products has variance one, and the variances of independent numbers add up."


def test_paragraphs_left_in_english_are_found() -> None:
    short = "Softmax never says no here."
    both = [Text("en", "en", short), Text("vi", "vi", short), Text("zh", "zh", LONG)]
    assert [(finding.where, finding.what[:15]) for finding in prose.check(both)] == [
        ("vi", "left in English"),
        ("zh", "left in English"),
    ]
    assert slips("zh", f"{LONG} https://example.org") == ""
    assert slips("vi", f"```\n{LONG}\n```") == ""


def test_extract_drops_what_is_not_read() -> None:
    text = (
        "A **bold** [link](x.ipynb#here) and `code`, $x$.\n\n$$y$$\n\n```python\nz = 1\n```\n<span>end</span>"
    )
    assert prose.prose(text).split() == ["A", "bold", "link", "and", "X,", "X.", "end"]


def test_comments_of_code_are_read_and_strings_are_not() -> None:
    assert prose.comments('x = "# no"  # yes\n%pip install y\n# and this') == "yes\nand this"


def test_sentences_printed_in_english_are_found() -> None:
    for printed, found in (("rows of the right one sum to 1", 1), ("n = 4, every one of 3, not 2", 0)):
        outputs = [{"name": "stdout", "output_type": "stream", "text": [printed]}]
        notebook = {"cells": [{"cell_type": "code", "id": "a", "source": ["f()"], "outputs": outputs}]}
        texts = list(prose.notebook_texts(notebook, "vi.ipynb", "vi"))
        assert len(prose.check(texts)) == found
        assert not list(prose.notebook_texts(notebook, "en.ipynb", "en"))


def test_texts_come_from_everywhere() -> None:
    files = {text.where.split("#")[0] for text in prose.course_texts()}
    assert {"README.md", "CONTRIBUTING.md", "d2lmini/words/vi.toml", "chapters/glossary.csv"} <= files
    assert any(name.endswith(".ipynb") for name in files)
    assert any(name.endswith(".yaml") for name in files)


def test_the_exit_code_tells_of_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, code in (("A color.", 0), ("A colour.", 1)):
        monkeypatch.setattr(prose, "course_texts", lambda text=text: [prose.Text("here", "en", text)])
        assert prose.main() == code


def test_course_reads_well() -> None:
    assert [str(finding) for finding in prose.check(list(prose.course_texts()))] == []


def test_the_check_needs_neither_torch_nor_widgets() -> None:
    """It is the smallest contributor's, and should not install gigabytes."""
    code = """
import sys
for name in ("torch", "numpy", "matplotlib", "ipywidgets", "anywidget", "IPython"):
    sys.modules[name] = None
from tools.text import prose
sys.exit(any(map(str, prose.check(list(prose.course_texts())[:400]))))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# a large weight is dark on light paper, and light on a dark page
SHADES = {
    "en": r"\b(?:darkest|darker|dark cells?|deep blue|pale)\b",
    "vi": r"\bô (?:đậm|sẫm|nhạt)|xanh (?:đậm|nhạt)|đậm nhất|đậm suốt",
    "zh": r"深蓝|浅蓝|深色的?格|颜色最?深|最深的|都深",
}


@pytest.mark.parametrize(("language", "pattern"), SHADES.items())
def test_what_a_heatmap_shows_is_said_without_its_shade(language: str, pattern: str) -> None:
    shade = re.compile(pattern, re.I)
    said = [text for text in prose.course_texts() if text.language == language]
    assert len(said) > 1000
    assert [(text.where, text.text) for text in said if shade.search(text.text)] == []
