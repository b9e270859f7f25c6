"""The search finds the right section first, in each language, with what the site serves."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from making import ROOT
from playwright.sync_api import Browser

from book import scripts, search
from book.contents import page_names, pages, table_of_contents
from book.glossary import names as names_of, read as read_glossary
from book.sections import exercise_words, sections
from d2lmini.language import LANGUAGES, words

PAGES = set(page_names(table_of_contents(ROOT)))
# the dialog with its words and styles is 14 KB of it, the rest is the text of all pages: 13 KB a chapter
LIMIT = 14_000 + 16 * 13_000

# query: the section to find first; where its page is not in the course, the next one that is. Without any,
# the query is not asked.
EVERYWHERE = {
    "rope": ["relative-positions#rope"],
    "alibi": ["relative-positions#alibi"],
    "flash attention": ["cost-in-practice#online-softmax"],
    "causal mask": ["multi-head-attention#padding"],
    "softmax": ["self-attention#averaging"],
    "kv cache": ["writing#cache"],
    "masked_softmax": ["api#d2l.masked_softmax"],
    "d2l.MultiHeadAttention": ["api#d2l.MultiHeadAttention"],
    "beam search": ["translation#beam-search", "api#d2l.beam_search"],
    "teacher forcing": ["translation#teacher-forcing"],
    "bleu": ["translation#bleu", "api#d2l.bleu"],
    "layer norm": ["transformer-block#layer-norm"],
    "n²": ["cost-in-practice#memory"],
    # one wrong letter, two letters the other way round
    "causl mask": ["multi-head-attention#padding"],
    "masked_sofmax": ["api#d2l.masked_softmax"],
    "flash atention": ["cost-in-practice#online-softmax"],
    "rotray position embedding": ["relative-positions#rope"],
    # the other languages
    "因果掩码": ["multi-head-attention#padding"],
    "mặt nạ nhân quả": ["multi-head-attention#padding"],
    "旋转位置编码": ["relative-positions#rope"],
    "mã hóa vị trí": ["positional-encoding#positional-encoding"],
    "positional encoding": ["positional-encoding#positional-encoding"],
    # other names, in English typed by everybody
    "skip connection": ["transformer-block#add-norm"],
    "LayerNorm": ["transformer-block#layer-norm"],
    "GQA": ["writing#shared-keys"],
}
ONLY_IN_A_SOLUTION = {"en": "heartbeats", "vi": "nhịp tim", "zh": "心跳"}
GOLDEN = {
    "en": EVERYWHERE
    | {
        "self-attention": ["self-attention#self-attention"],
        "multi-head attention": ["multi-head-attention#multi-head-attention"],
        "attention weights": ["self-attention#averaging"],
        "query": ["self-attention#queries-keys-values"],
        "mask": ["multi-head-attention#padding"],
        "permutation equivariance": ["multi-head-attention#order"],
        "why sqrt d": ["self-attention#scaling"],
        "Why divide by √d": ["self-attention#scaling"],
        "linear attention": ["long-sequences#linear-attention"],
        "gram matrix": ["self-attention#averaging"],
        "relative bias": ["relative-positions#relative"],
        "path length": ["complexity#path-length"],
        "what is a causal mask?": ["multi-head-attention#padding"],
        "residual connection": ["transformer-block#add-norm"],
        "additive attention": ["what-it-learned#additive"],
        "rotary": ["relative-positions#rope"],
        "positional_encoding": ["api#d2l.PositionalEncoding"],
        "multi-headed attention": ["multi-head-attention#multi-head-attention"],
        "position embedding": ["positional-encoding#positional-encoding"],
        "look-ahead mask": ["multi-head-attention#padding"],
        "sliding window": ["long-sequences#ways-out"],
        # while it is typed
        "posit": ["positional-encoding#positional-encoding"],
        "multi-he": ["multi-head-attention#multi-head-attention"],
        "causal m": ["multi-head-attention#padding"],
        "equivar": ["multi-head-attention#order"],
    },
    "vi": EVERYWHERE
    | {
        "ma hoa vi tri": ["positional-encoding#positional-encoding"],
        "chu y da dau": ["multi-head-attention#multi-head-attention"],
        "mat na nhan qua": ["multi-head-attention#padding"],
        "tự chú ý": ["self-attention#self-attention"],
        "tu chu y": ["self-attention#self-attention"],
        "chú ý đa đầu": ["multi-head-attention#multi-head-attention"],
        "điểm chú ý": ["self-attention#averaging"],
        "trọng số chú ý": ["self-attention#averaging"],
        "mặt nạ": ["multi-head-attention#padding"],
        "chú ý tuyến tính": ["long-sequences#linear-attention"],
        "đẳng biến hoán vị": ["multi-head-attention#order"],
        "bộ nhớ đệm khóa - giá trị": ["writing#cache"],
        "độ lệch tương đối": ["relative-positions#relative"],
        "chia cho √d": ["self-attention#scaling"],
        "kết nối phần dư": ["transformer-block#add-norm"],
        "tìm kiếm chùm": ["translation#beam-search"],
        # other names, those of other books and wrong ones; tones as they are also written
        "chuẩn hóa lớp": ["transformer-block#layer-norm"],
        "chuẩn hóa theo lớp": ["transformer-block#layer-norm"],
        "lớp chuẩn hóa": ["transformer-block#layer-norm"],
        "chuan hoa lop": ["transformer-block#layer-norm"],
        "chuẩn hoá lớp": ["transformer-block#layer-norm"],
        "mã hoá vị trí": ["positional-encoding#positional-encoding"],
        "biểu diễn vị trí": ["positional-encoding#positional-encoding"],
        "tự tập trung": ["self-attention#self-attention"],
        "tập trung đa đầu": ["multi-head-attention#multi-head-attention"],
        "nhúng vị trí xoay": ["relative-positions#rope"],
        "máy biến áp": ["transformer#transformer"],
        "kết nối tắt": ["transformer-block#add-norm"],
        "mat na": ["multi-head-attention#padding"],
        # while it is typed
        "mat na nh": ["multi-head-attention#padding"],
        "mã hóa vị": ["positional-encoding#positional-encoding"],
    },
    "zh": EVERYWHERE
    | {
        "掩码": ["multi-head-attention#padding"],
        "多头注意力": ["multi-head-attention#multi-head-attention"],
        "残差": ["transformer-block#add-norm", "glossary#terms-architecture"],
        "残差连接": ["transformer-block#add-norm", "glossary#terms-architecture"],
        "自注意力": ["self-attention#self-attention"],
        "位置编码": ["positional-encoding#positional-encoding"],
        "注意力权重": ["self-attention#averaging"],
        "线性注意力": ["long-sequences#linear-attention"],
        "置换等变性": ["multi-head-attention#order"],
        "键值缓存": ["writing#cache"],
        "相对偏置": ["relative-positions#relative"],
        "束搜索": ["translation#beam-search"],
        "键": ["self-attention#queries-keys-values"],
        "为什么除以根号d": ["self-attention#scaling"],
        "扩散模型": ["relative-positions#practice"],
        # other names, those of other books and wrong ones
        "旋转位置嵌入": ["relative-positions#rope"],
        "层规范化": ["transformer-block#layer-norm"],
        "基于位置的前馈网络": ["transformer-block#feed-forward"],
        "掩蔽": ["multi-head-attention#padding"],
        "强制教学": ["translation#teacher-forcing"],
        "集束搜索": ["translation#beam-search"],
        "变压器": ["transformer#transformer"],
        "滑动窗口": ["long-sequences#ways-out"],
        # while it is typed
        "多头注": ["multi-head-attention#multi-head-attention"],
        "旋转位": ["relative-positions#rope"],
        "因果掩": ["multi-head-attention#padding"],
    },
}  # fmt: skip
for code, query in ONLY_IN_A_SOLUTION.items():
    GOLDEN[code][query] = ["relative-positions#practice"]
Find = Callable[[str, str], dict[str, Any]]


def golden(language: str) -> dict[str, str]:
    there = {
        query: [place for place in places if place.split("#")[0] in PAGES]
        for query, places in GOLDEN[language].items()
    }
    return {query: places[0] for query, places in there.items() if places}


def data_of(site: Path, language: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        (site / language / "_static" / "search.json").read_text(encoding="utf-8")
    )
    return data


# a worker that asks about an edition has its engine open: the others need not open it, too
EDITIONS = [
    pytest.param(language, marks=pytest.mark.xdist_group(f"search-{language}")) for language in LANGUAGES
]


@pytest.fixture(scope="module")
def find(browser: Browser, address: str) -> Iterator[Find]:
    """Ask the engine of an edition, in a page of it."""
    context = browser.new_context()
    pages: dict[str, Any] = {}

    def asked(language: str, query: str) -> dict[str, Any]:
        if language not in pages:
            pages[language] = page = context.new_page()
            page.goto(f"{address}/{language}/glossary.html")
            page.evaluate("""async () => {
                const { searchEngine } = await import(new URL("_static/search.js", location.href));
                window.engine = searchEngine(await (await fetch("_static/search.json")).json());
                engine.add();
            }""")
        found: dict[str, Any] = pages[language].evaluate("query => engine.search(query)", query)
        return found

    yield asked
    context.close()


def places(answer: dict[str, Any]) -> list[str]:
    return [f"{hit['page']}#{hit['anchor']}" for hit in answer["hits"]]


@pytest.mark.parametrize("language", EDITIONS)
def test_the_right_section_comes_first(find: Find, language: str) -> None:
    wrong = []
    for query, wanted in golden(language).items():
        hits = places(find(language, query))
        if hits[:1] != [wanted]:
            wrong.append(f"{query}: {wanted}, not {hits[:3]}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(("query", "other"), [("mặt nạ", "mất"), ("năm", "nằm"), ("mất mát", "mặt")])
@pytest.mark.xdist_group("search-vi")
def test_marks_that_are_typed_count(find: Find, site: Path, query: str, other: str) -> None:
    """A section that has the words with other marks alone is not found, nor is such a word shown as found."""
    data = data_of(site, "vi")
    said = {
        f"{data['pages'][one[0]][0]}#{one[1]}": json.dumps(one, ensure_ascii=False).lower()
        for one in data["sections"]
    }
    answer = find("vi", query)
    assert len(answer["hits"]) > 2
    for place, hit in zip(places(answer), answer["hits"], strict=True):
        assert all(re.search(rf"\b{word}", said[place]) for word in query.split()), place
        shown = [text.lower() for text, found in [*hit["title"], *hit["pieces"]] if found]
        assert not any(re.search(rf"\b{other}", text) for text in shown), (place, shown)


def test_the_sections_of_the_table_exist(site: Path) -> None:
    for language in LANGUAGES:
        data = data_of(site, language)
        there = {f"{data['pages'][one[0]][0]}#{one[1]}" for one in data["sections"]}
        assert set(golden(language).values()) <= there


@pytest.mark.parametrize("language", EDITIONS)
def test_a_term_of_the_glossary_finds_its_section_whatever_its_language(
    find: Find, site: Path, language: str
) -> None:
    data = data_of(site, language)
    missed, count = [], 0
    for page, anchor, _, _, terms, *_ in data["sections"]:
        place = f"{data['pages'][page][0]}#{anchor}"
        for names in terms:
            for name in names if len(names) > 1 else ():
                count += 1
                hits = places(find(language, name))
                # a word of many meanings (键, giá trị) may stand in the heading of another section
                if place not in hits[: 1 if len(name.split()) > 1 and name.isascii() else 3]:
                    missed.append(f"{name}: {place}, not {hits[:3]}")
    assert count > 90
    assert not missed, "\n" + "\n".join(missed)


def test_sections_named_by_the_glossary_exist_and_have_the_term(site: Path) -> None:
    explained = [row for row in read_glossary(ROOT) if row["section"]]
    assert len(explained) > 80
    missing = {row["en"] for row in explained}
    for language in LANGUAGES:
        data = data_of(site, language)
        said = {f"{data['pages'][one[0]][0]}#{one[1]}": one[2] + one[3] for one in data["sections"]}
        for row in explained:
            if any(name.lower() in said[row["section"]].lower() for name in names_of(row[language])):
                missing.discard(row["en"])
    assert missing == set()


@pytest.mark.parametrize("language", EDITIONS)
def test_a_snippet_shows_why(find: Find, language: str) -> None:
    def shown(query: str) -> tuple[str, str, list[str]]:
        hit = find(language, query)["hits"][0]
        marks = [text for text, found in hit["pieces"] if found]
        return hit["kind"], "".join(text for text, _ in hit["pieces"]), marks

    assert shown("FlashAttention")[2] == ["FlashAttention"]
    kind, text, marks = shown({"en": "因果掩码", "vi": "因果掩码", "zh": "mặt nạ nhân quả"}[language])
    own = {"en": "causal mask", "vi": "mặt nạ nhân quả", "zh": "因果掩码"}[language]
    assert kind == "term" and marks and text.startswith(f"{marks[0]} = {own}: ")
    # what an exercise keeps back is named, not shown
    kind, text, marks = shown(ONLY_IN_A_SOLUTION[language])
    assert kind == "answer" and marks == [] and ONLY_IN_A_SOLUTION[language] not in text
    for query in golden(language):
        kind, text, marks = shown(query)
        heading = find(language, query)["hits"][0]["title"]
        assert marks or any(found for _, found in heading) or kind == "answer", query
        assert len(text) < 400


@pytest.mark.parametrize("language", EDITIONS)
def test_examples_that_the_dialog_offers_find_something(find: Find, language: str) -> None:
    for query in words(language)["site"]["dialogs"]["search"]["search_examples"]:
        assert not find(language, query)["near"] and find(language, query)["hits"], query


@pytest.mark.parametrize(
    "query", ["", " ", "???", "<script>", "\\", "(", "zzzzqqqq", "。", "🙂", "a" * 5000, "d2l."]
)
@pytest.mark.xdist_group("search-zh")
def test_no_query_breaks_the_search(find: Find, query: str) -> None:
    assert isinstance(find("zh", query)["hits"], list)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_search_fetches_little(site: Path, language: str) -> None:
    static = site / language / "_static"
    files = [static / "search.js", static / "search.json"]
    assert sum(len(gzip.compress(file.read_bytes(), 6)) for file in files) <= LIMIT


# ---- what is read from a page ---------------------------------------------------------------------------

PAGE = """<body><h2 id="outside">No</h2><article><section><h1 id="top">Top<a class="permalink">#</a></h1>
<p>Take <strong>two
words</strong> of <code class="docutils"><span class="pre">code_here</span></code>.</p>
<section><h2 id="root">Divide by <span class="katex"><span class="katex-mathml"><math><semantics><mrow>
<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mrow></semantics></math></span>
<span class="katex-html">dk</span></span></h2>
<details class="hidden-code"><summary>Show</summary><div class="cell_input"><pre>import torch
soft = <b>torch.softmax</b>(scores)</pre></div></details><div class="cell_output"><pre>tensor(1)</pre></div>
<div class="cell_output">
<div class="d2l-widget" data-widget="exercise" data-id="page/cake"><div>no</div></div>
</div>
<p>第一行
第二行。</p><svg><text>drawn</text></svg><p>End.</p></section></section></article><p>No</p></body>"""
EXERCISE = {
    "question": "How large is <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of <strong>{{n}}</strong>?",
    "variants": [{"text": {"n": "8"}}],
    "options": [{"text": "Four &amp; more", "why": "It is half.", "correct": True}],
    "hints": ["Think of a cake."],
    "solution": "<p>8/2.</p><p>So <em>four</em>.</p>",
    "solution_code": "answer = 4",
}


def test_a_page_is_read_section_by_section() -> None:
    top, root = sections("page", PAGE, {"page/cake": EXERCISE}.__getitem__)
    assert (top.anchor, top.title, top.text) == ("top", "Top", "Take two words of code_here.")
    assert top.terms == ["two words"]
    assert (root.anchor, root.title, root.text) == ("root", "Divide by √d_k", "第一行第二行。 End.")
    assert root.questions == ["How large is 1/2 of 8? Four & more"]
    assert root.answers == "It is half. Think of a cake. 8/2. So four."
    assert root.code.split() == ["torch", "soft", "softmax", "scores", "answer"]


def test_an_exercise_without_variants_keeps_its_words() -> None:
    asked, kept, code = exercise_words({"question": "What?", "lines": [{"code": "x = 1", "why": "No."}]})
    assert (asked, kept, code.strip()) == ("What?", "No.", "x = 1")


def test_the_script_is_one_module_without_comments_of_the_library() -> None:
    script = scripts.script("search", "en")
    assert not re.search(r"^import ", script, re.M)
    assert script.count("export ") == 2 and "MIT License" in script.splitlines()[0]
    assert "@param" not in script


def test_every_page_has_a_weight() -> None:
    assert {part for _, part, _ in pages(table_of_contents(ROOT))} <= set(search.WEIGHTS)
