"""Terms of the glossary in the text: which words are theirs, and where a page marks them."""

import json
import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from making import ROOT

from book.ext import terms
from book.glossary import Finder, read
from d2lmini.language import LANGUAGES

LINK = re.compile(r'<a class="term" data-term="(\d+)" href="([^"]+)">')


def found(language: str, text: str) -> list[str]:
    return [text[start:end] for start, end, _ in Finder(read(ROOT), language)(text)]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "Queries and masks; two Gram matrices, many batches.",
            ["Queries", "masks", "Gram matrices", "batches"],
        ),
        (
            "en",
            "Scaled dot-product\nattention, not attention",
            ["Scaled dot-product\nattention", "attention"],
        ),
        ("en", "inattention, token-wise, an RNN, a rope, RoPE", ["RNN", "RoPE"]),
        ("en", "the training set and vanishing gradients", ["training set", "vanishing gradients"]),
        ("en", "the absolute value of a key", []),  # words of everyday language
        ("vi", "Mặt nạ nhân quả che đi; trọng số chú ý.", ["Mặt nạ nhân quả", "trọng số chú ý"]),
        ("vi", "mã hóa vị trí quay (rotary position embedding, RoPE)", ["mã hóa vị trí quay"]),
        ("vi", "căn bậc hai, nối, số hạng, siêu tham số", ["siêu tham số"]),
        ("zh", "自注意力和多头注意力（multi-head attention）", ["自注意力", "多头注意力"]),
        ("zh", "参数化，子序列，超参数，序列", ["超参数", "序列"]),
        ("zh", "值得一提，平均值", []),
    ],
)
def test_the_longest_term_is_found_and_no_part_of_another_word(language, text, expected):
    assert found(language, text) == expected


@pytest.mark.parametrize(
    ("page", "section", "place", "link"),
    [
        ("a", "before", "a#home", "a.html#home"),
        ("a", "home", "a#home", ""),
        ("b", "home", "a#home", "a.html#home"),
        ("b", "home", "", "glossary.html#terms-attention"),
    ],
)
def test_a_term_is_a_link_to_its_section_but_not_within_it(monkeypatch, page, section, place, link):
    rows = [{"en": "token", "note": "", "section": place}]
    lines = {0: ("meaning", "terms-attention")}
    app = SimpleNamespace(
        env=None, d2lmini_terms=rows, d2lmini_lines=lines, d2lmini_finder=Finder(rows, "en")
    )
    monkeypatch.setattr(terms, "chapters", lambda env: [{"doc": page, "number": 1}])
    document = new_document("page")
    paragraph = nodes.paragraph("", "", nodes.Text("One token <b>"))
    document += nodes.section("", paragraph, ids=[section])
    terms.mark(app, document, page)
    marked = f'<a class="term" data-term="0" href="{link}">token</a>'
    assert [node.astext() for node in document.findall(nodes.raw)] == ([marked] if link else [])
    assert paragraph.astext() == f"One {marked if link else 'token'} <b>"


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_mark_a_term_once_in_running_text_and_its_card_is_there(site, language):
    cards = json.loads((site / language / "_static" / "terms.json").read_text(encoding="utf-8"))["terms"]
    pages = {path.name: path.read_text(encoding="utf-8") for path in (site / language).glob("*.html")}
    count = 0
    for name, page in pages.items():
        assert "data-in=" not in page
        links = LINK.findall(page)
        count += len(links)
        assert len({number for number, _ in links}) == len(links), name
        for number, address in links:
            assert cards[number][3] == address
            target, anchor = address.split("#")
            assert f'id="{anchor}"' in pages[target]
        for other in re.findall(
            r"<(?:h[1-3]|pre|code|table|em)\b[^>]*>.*?</(?:h[1-3]|pre|code|table|em)>", page, re.S
        ):
            assert 'class="term"' not in other
    assert count > 80 and not LINK.search(pages["glossary.html"] + pages["api.html"])
    for term, others, meaning, _, title in cards.values():
        assert term and len(others) == len(LANGUAGES) - 1 and meaning and title and "$" not in meaning
