"""The printed edition: what stands on paper, how the PDF is made, and what its check finds."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pikepdf
import pytest
from making import cell, make_book
from pikepdf import Name, Pdf
from playwright.sync_api import Browser
from small_book import EXERCISE, PAGES, shown

from book import build
from book.paper import fonts
from book.paper.exercises import on_paper
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.content import exercise_content, exercise_names
from d2lmini.notebook.widgets import stored_explorer
from tools.paper import pdf as printing
from tools.paper.pdf_check import PdfError, check, destinations, fonts as fonts_of, outline

# printed once
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pdf"), pytest.mark.timeout(900)]

# ---- reading a PDF


def _letters(font: pikepdf.Object) -> dict[int, str]:
    """What the codes of a font mean, from the table that it brings along for copying."""
    table = font.ToUnicode.read_bytes().decode("ascii", errors="replace")
    meant = {}
    for block in re.findall(r"beginbfchar(.*?)endbfchar", table, re.S):
        for code, text in re.findall(r"<(\w+)>\s*<(\w+)>", block):
            meant[int(code, 16)] = bytes.fromhex(text).decode("utf-16-be")
    for block in re.findall(r"beginbfrange(.*?)endbfrange", table, re.S):
        for first, last, text in re.findall(r"<(\w+)>\s*<(\w+)>\s*<(\w+)>", block):
            for code in range(int(first, 16), int(last, 16) + 1):
                meant[code] = chr(int(text, 16) + code - int(first, 16))
    return meant


def text_of(page: pikepdf.Page) -> str:
    """The letters of a page in the order in which they are painted."""
    tables = {name: _letters(font) for name, font in page.Resources.Font.items() if "/ToUnicode" in font}
    wide = {name: font.Subtype == Name.Type0 for name, font in page.Resources.Font.items()}
    found, now = [], ""
    for operands, operator in pikepdf.parse_content_stream(page):
        if str(operator) == "Tf":
            now = str(operands[0])
        elif str(operator) in ("Tj", "TJ"):
            for part in operands[0] if str(operator) == "TJ" else operands:
                if isinstance(part, pikepdf.String):
                    data, step = bytes(part), 2 if wide[now] else 1
                    codes = (int.from_bytes(data[i : i + step]) for i in range(0, len(data), step))
                    found += [tables[now].get(code, "") for code in codes]
    return "".join(found)


def sizes_of(page: pikepdf.Page) -> set[float]:
    """The sizes of the letters of a page in points, rounded down to a tenth."""
    now, kept, found, size = pikepdf.Matrix(), [], set(), 0.0
    for operands, operator in pikepdf.parse_content_stream(page):
        if str(operator) == "q":
            kept.append(now)
        elif str(operator) == "Q":
            now = kept.pop()
        elif str(operator) == "cm":
            now = pikepdf.Matrix(*operands) @ now
        elif str(operator) == "Tf":
            size = float(operands[1])
        elif str(operator) in ("Tj", "TJ"):
            found.add(int(abs(now.a) * size * 10) / 10)
    return found


# ---- two small books: every feature once, in Chinese; explorers and two chapters, in English


@pytest.fixture(scope="module")
def chinese(small_site: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pdf]:
    file = tmp_path_factory.mktemp("pdf") / "zh.pdf"
    printing.print_language(browser, small_site.parents[1], small_site, "zh", file)
    with pikepdf.open(file) as pdf:
        yield pdf


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two chapters of which one is shown by an explorer and links to the other."""
    root = tmp_path_factory.mktemp("book")
    turning = [
        cell(
            "markdown", "turning", "# Turning\n\n## See it turn\n\nAs in [the scores](basics.ipynb#scores)."
        ),
        cell("code", "turn", "d2l.explorer('rotary-explorer')", shown(text_html=EXPLORER)),
    ]
    english = PAGES["en"] | {
        "index": [cell("markdown", "index", "# Welcome\n\nTo both.")],
        "turning": turning,
    }
    return make_book(root, {"en": english})


EXPLORER = stored_explorer("rotary-explorer", "en")


@pytest.fixture(scope="module")
def english(book: Path, browser: Browser) -> Iterator[Pdf]:
    site = build.build(book, languages=["en"], say=lambda line: None)
    file = build.pdf_of(book, "en")
    printing.print_language(browser, book, site, "en", file)
    with pikepdf.open(file) as pdf:
        yield pdf


def page_of(pdf: Pdf, title: str) -> int:
    """The page of the first bookmark of this title."""
    return next(page for name, page in outline(pdf) if name == title)


def test_questions_come_first_and_solutions_last(english: Pdf) -> None:
    pages = [text_of(page) for page in english.pages]
    question, hints, solution = (
        next(number for number, text in enumerate(pages, 1) if sentence in text)
        for sentence in (_start("question"), _start("hints", 0), _start("solution"))
    )
    first, then, last = (page_of(english, title) for title in ("1 The basics", "Hints", "Solutions"))
    assert first <= question < then <= hints < last <= solution
    # and each names the page of the other
    assert f"Solution: page {solution}" in pages[question - 1]
    assert f"Question: page {question}" in pages[solution - 1]


def _start(*keys: object) -> str:
    """The first words of a text of the exercise."""
    text = exercise_content(EXERCISE, "en")
    for key in keys:
        text = text[key]
    return str(text).partition("<")[0][:30]


def test_the_contents_name_the_pages_on_which_things_are(english: Pdf) -> None:
    contents = text_of(english.pages[1])
    for title, page in outline(english):
        assert f"{title.replace(' ', '')}{page}" in contents.replace(" ", "")
        assert title.split(" ")[-1] in text_of(english.pages[page - 1])
    assert [title for title, _ in outline(english)][:2] == ["Welcome", "1 The basics"]


def test_an_explorer_is_its_picture_without_controls(english: Pdf) -> None:
    page = page_of(english, "2 Turning")
    text = text_of(english.pages[page - 1])
    said = words("en")["explorers"]["rotary"]
    assert "Query at position 8, key at position 12" in text  # what the picture says of itself
    assert said["hint"][:20] not in text and said["more"][:20] not in text
    assert words("en")["explorers"]["shared"]["task"].partition(" ")[0] + " 1/" not in text
    assert "account.github.io/d2lmini/en/turning.html" in text
    # tasks below it, their answers among the solutions
    solutions = text_of(english.pages[-1])
    for task, answer in zip(said["tasks"], said["answers"], strict=True):
        assert task.partition("{")[0][:30] in text and answer.partition("{")[0][:30] in solutions
    assert "stays 5.560." in solutions  # computed, as where the task is done


def test_running_heads_and_page_numbers(english: Pdf) -> None:
    page = page_of(english, "2 Turning")
    assert re.match(rf"2.?Turning{page}", text_of(english.pages[page - 1]))


def test_the_tags_tell_headings_tables_and_formulas(english: Pdf) -> None:
    kinds, names = set(), []
    waiting = [english.Root.StructTreeRoot]
    while waiting:
        node = waiting.pop()
        if isinstance(node, pikepdf.Array):
            waiting += list(node)
        elif isinstance(node, pikepdf.Dictionary):
            kinds.add(str(node.get("/S", "")))
            names += [str(node.Alt)] if "/Alt" in node else []
            waiting += [node.K] if "/K" in node else []
    assert {"/H1", "/H2", "/P", "/L", "/LI", "/Table", "/TH", "/TD", "/Link", "/Figure", "/Formula"} <= kinds
    assert "Three tokens" in names  # a drawing
    assert "a^2" in names  # a formula


def test_chinese_is_embedded_under_its_name_and_can_be_copied(chinese: Pdf) -> None:
    assert any("NotoSans" in name for name in fonts_of(chinese))
    everything = "".join(text_of(page) for page in chinese.pages)
    assert "旋转位置嵌入让每个词元转一个角度" in everything
    assert words("zh")["site"]["title"] in everything
    assert str(chinese.Root.Lang) == "zh-CN"


def test_a_wide_formula_and_a_wide_table_fit_on_paper(chinese: Pdf) -> None:
    """The browser would make the whole book smaller for one of them."""
    assert 10.2 in {size for page in chinese.pages for size in sizes_of(page)}


# ---- what the check finds


def _untagged(pdf: Pdf) -> None:
    del pdf.Root.StructTreeRoot


def _another_language(pdf: Pdf) -> None:
    pdf.Root.Lang = pikepdf.String("en")


def _without_title(pdf: Pdf) -> None:
    del pdf.docinfo["/Title"]


def _a_blank_page(pdf: Pdf) -> None:
    pdf.add_blank_page(page_size=(595, 842))


def _a_small_page(pdf: Pdf) -> None:
    pdf.pages[1].mediabox = [0, 0, 420, 595]


def _a_font_left_out(pdf: Pdf) -> None:
    font = next(font for font in fonts_of(pdf).values() if font.Subtype == Name.Type0)
    descriptor = font.DescendantFonts[0].FontDescriptor
    for key in ("/FontFile2", "/FontFile3"):
        if key in descriptor:
            del descriptor[key]


def _a_place_lost(pdf: Pdf) -> None:
    del pdf.Root.Dests[next(iter(destinations(pdf)))]


def _a_local_link(pdf: Pdf) -> None:
    note = next(note for page in pdf.pages if "/Annots" in page for note in page.Annots if "/A" in note)
    note.A = pikepdf.Dictionary(S=Name.URI, URI=pikepdf.String("http://127.0.0.1:8000/zh/"))


def _a_bookmark_lost(pdf: Pdf) -> None:
    with pdf.open_outline() as marks:
        del marks.root[-1]


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (_untagged, "it is not tagged"),
        (_another_language, "its language is en, not zh-CN"),
        (_without_title, "its title is"),
        (_a_blank_page, r"page \d+ is blank"),
        (_a_small_page, "page 2 is not A4"),
        (_a_font_left_out, "the font .* is not embedded"),
        (_a_place_lost, r"page \d+: a link to .*, which is not in the book"),
        (_a_local_link, r"page \d+: a link to http://127\.0\.0\.1"),
        (_a_bookmark_lost, "the bookmarks are not the contents"),
    ],
)
def test_the_check_finds_each_defect(
    chinese: Pdf, spoil: Callable[[Pdf], None], found: str, tmp_path: Path
) -> None:
    contents = outline(chinese)
    chinese.save(tmp_path / "copy.pdf")
    with pikepdf.open(tmp_path / "copy.pdf") as pdf:
        check(pdf, "zh", contents)
        spoil(pdf)
        with pytest.raises(PdfError, match=found):
            check(pdf, "zh", contents)


# ---- exercises and fonts


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_exercise_has_its_form_on_paper(language: str) -> None:
    for name in exercise_names():
        content, paper = exercise_content(name, language), on_paper(name, language)
        everything = paper["question"] + "".join(paper["hints"]) + paper["solution"]
        assert "{{" not in re.sub(r"<pre>.*?</pre>", "", everything, flags=re.S), name
        assert len(paper["hints"]) == len(content.get("hints", []))
        if content["kind"] in ("choice", "predict", "multiple"):
            right = ["abcdefgh"[i] for i, option in enumerate(content["options"]) if option.get("correct")]
            assert (
                words(language)["site"]["pdf"]["answer"].format(answer=", ".join(right)) in paper["solution"]
            )
            assert paper["question"].count("<li>") == len(content["options"])
        if content["kind"] == "matrix":
            assert paper["question"].count("<td>") == 1 + sum(map(len, content["cells"]))
        if content["kind"] == "code":
            assert "..." in paper["question"] and "<pre>" in paper["solution"]


def test_the_order_that_is_right_is_given_by_the_letters_of_the_question() -> None:
    name = next(name for name in exercise_names() if exercise_content(name, "en")["kind"] == "order")
    content, paper = exercise_content(name, "en"), on_paper(name, "en")
    asked = re.findall(r"<li>(.*?)</li>", paper["question"])
    letters = re.search(r"Answer: ([a-z, ]+)", paper["solution"])
    assert letters
    in_order = [asked["abcdefghij".index(letter)] for letter in letters[1].split(", ")]
    assert [text[:12] for text in in_order] == [item["text"][:12] for item in content["items"]]


def test_without_a_chinese_face_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_font_folders", lambda: [Path("/nowhere")])
    with pytest.raises(fonts.FontMissing, match="sudo apt install fonts-noto-cjk"):
        fonts.chinese_face("猫", 400)


def test_a_character_that_the_face_lacks_is_named() -> None:
    with pytest.raises(fonts.FontMissing, match="\ue123"):
        fonts.chinese_face("猫\ue123", 400)


# ---- the website offers it


def test_the_website_offers_the_pdf_of_its_own_text_and_no_other(english: Pdf, book: Path) -> None:
    offered = words("en")["site"]["pdf"]["offer"].partition("{")[0]
    site = build.build(book, languages=["en"], say=lambda line: None)
    page = (site / "en" / "basics.html").read_text(encoding="utf-8")
    assert offered in page and 'href="../d2lmini-en.pdf"' in page
    assert (site / "d2lmini-en.pdf").read_bytes() == build.pdf_of(book, "en").read_bytes()

    notebook = book / "chapters" / "en" / "turning.ipynb"
    notebook.write_text(notebook.read_text(encoding="utf-8").replace("As in", "As with"), encoding="utf-8")
    site = build.build(book, languages=["en"], say=lambda line: None)
    assert offered not in (site / "en" / "basics.html").read_text(encoding="utf-8")
    assert not (site / "d2lmini-en.pdf").exists()
