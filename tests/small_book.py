"""Two pages with one of everything that the site has to get right; built by the fixture `small_site`."""

from making import cell

from book.chapters import fingerprint
from d2lmini.notebook.content import stored

PLOT = """<?xml version="1.0" encoding="utf-8"?><svg xmlns="http://www.w3.org/2000/svg"
 xmlns:xlink="http://www.w3.org/1999/xlink" width="252pt" height="180pt" viewBox="0 0 252 180" version="1.1">
<metadata>made by a machine</metadata><defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
<g id="figure_1"><g id="patch_1"><path d="M0 0h252v180z" style="fill: #ffffff"/></g>
<defs><path id="tick" d="M0 0v3" style="stroke: #000000"/></defs><use xlink:href="#tick" x="9" y="9"/>
<path d="M9 9h200" clip-path="url(#clip)" style="fill: none; stroke: #0067a5"/><clipPath id="clip"/>
<text x="9" y="30" style="fill: #000000">loss</text></g></svg>"""
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 60"><title>Three tokens</title>
<style>.dot { fill: var(--d2l-query, #0067a5) }</style>
<circle id="dot" class="dot" cx="30" cy="30" r="9"/></svg>"""
ACCENTS = r"\hat y + \bar x + \vec v + \overline{ab} + \underbrace{x + y}_z \text{ đơn vị mỗi đầu} \tag{1.3}"
EXERCISE = "self-attention/why-scale"
WIDE = " + ".join(f"x_{{{i}}}" for i in range(40))


def shown(**data: str) -> list[dict]:
    bundle = {name.replace("_", "/").replace("svg", "svg+xml"): text for name, text in data.items()}
    return [{"output_type": "display_data", "data": bundle, "metadata": {}}]


SOURCES = {
    "en": {
        "index": "# Welcome\n\nRead [the basics](basics.ipynb) or [the scores](basics.ipynb#scores).",
        "chapters": "## The way\n\nBegin here:\n\n1. [Basics](basics.ipynb): what is *first*?",
        "progress": "## Progress\n\nOf *each chapter*.",
        "basics": "# The basics\n\nFirst words, with $a^2$.\n\n## Not a cell of its own\n\nText.",
        "scores": "## Scores\n\nBy (1.1) a score is small, `(1.1)` is code; (9.9) is only a number."
        " See [below](#order).",
        "order": "## Order does not matter\n\nRotary position embedding. `RotaryEmbedding` in code."
        "\n\nWide: $\\mathrm{an\\ unbreakable\\ word\\ of\\ a\\ formula\\ in\\ the\\ text}$.",
    },
    "vi": {
        "index": "# Chào bạn\n\nĐọc [phần cơ bản](basics.ipynb) hoặc [điểm chú ý](basics.ipynb#scores).",
        "chapters": "## Đường đi\n\nBắt đầu:\n\n1. [Cơ bản](basics.ipynb): cái gì *đầu tiên*?",
        "progress": "## Tiến độ\n\nCủa *từng chương*.",
        "basics": "# Phần cơ bản\n\nNhững lời đầu, với $a^2$.\n\n## Không phải một ô riêng\n\nVăn bản.",
        "scores": "## Điểm chú ý\n\nTheo (1.1) điểm nhỏ; (9.9) chỉ là một số. Xem [dưới](#order).",
        "order": "## Thứ tự không quan trọng\n\nMã hóa vị trí cho mỗi token.",
    },
    "zh": {
        "index": "# 欢迎\n\n阅读[基础](basics.ipynb)或[分数](basics.ipynb#scores)。",
        "chapters": "## 路线\n\n从这里开始：\n\n1. [基础](basics.ipynb)：*先*学什么？",
        "progress": "## 进度\n\n*每一章*，如 *Basics*。",
        "basics": "# 基础\n\n开头的话，\n含有 $a^2$。\n\n## 不是单独的单元\n\n文字。",
        "scores": "## 分数\n\n由（1.1），分数很小；（9.9）只是一个数。见[下文](#order)。",
        "order": "## 顺序并不重要\n\n旋转位置嵌入让每个词元转一个角度。",
    },
}


def _exercise(language: str) -> str:
    return stored(EXERCISE, language)


def _prose(language: str, name: str, made_from: str | None = None) -> dict:
    """A prose cell; a translated one keeps the hash of the English text that it was made from."""
    mark = {}
    if language != "en":
        mark = {"d2lmini": {"source": fingerprint(made_from or SOURCES["en"][name])}}
    return cell("markdown", name, SOURCES[language][name], **mark)


def _shared(language: str, name: str, text: str) -> dict:
    """A cell without words: the same in every language."""
    mark = {} if language == "en" else {"d2lmini": {"source": fingerprint(text)}}
    return cell("markdown", name, text, **mark)


def _pages(language: str) -> dict[str, list[dict]]:
    return {
        "index": [_prose(language, name) for name in ("index", "chapters", "progress")],
        "basics": [
            _prose(language, "basics"),
            cell("code", "setup", "import torch", tags=["hide-input"]),
            cell("code", "setup-check", "1 + 1", shown(text_plain="2"), tags=["hide-cell"]),
            _prose(language, "scores"),
            _shared(language, "scores-formula", f"$$s = q^\\top k \\tag{{1.1}}$$\n\n$${WIDE} \\tag{{1.2}}$$"),
            _shared(language, "scores-accents", f"$${ACCENTS}$$"),
            # and its code was not copied to Vietnamese
            cell(
                "code",
                "scores-code",
                f"print({'0' if language == 'vi' else '1'})\nx = 1  # " + "wide " * 40,
                shown(text_plain="1 " * 40),
            ),
            _shared(
                language,
                "scores-table",
                "| " + "name | " * 14 + "\n|" + "---|" * 14 + "\n" + "| value " * 14 + "|",
            ),
            cell("code", "scores-plot", "d2l.plot(x)", shown(image_svg=PLOT, text_plain="plot")),
            cell("code", "scores-plot-again", "d2l.plot(y)", shown(image_svg=PLOT, text_plain="plot")),
            # Vietnamese was translated before the English text of this section changed
            _prose(language, "order", made_from="older" if language == "vi" else None),
            cell("code", "order-figure", 'd2l.figure("tokens")', shown(image_svg=DRAWING, text_plain="t")),
            cell(
                "code",
                "ex-why-scale",
                'd2l.exercise("self-attention/why-scale")',
                shown(text_html=_exercise(language)),
            ),
        ],
    }


PAGES = {language: _pages(language) for language in SOURCES}
