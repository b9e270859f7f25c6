"""The built site: anchors, formulas, figures, languages, and builds that must fail."""

import errno
import hashlib
import html
import importlib
import io
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
import unicodedata
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import lxml.html
import pytest
from fontTools.ttLib import TTFont
from jinja2 import Environment, FileSystemLoader
from making import ROOT, cell, make_book, served
from small_book import PAGES, shown as outputs

from book import build as site_builder, inputs, katex, previews, serve, terminal
from book.chapters import find, fingerprint, read
from book.ext import anchors, assets, css, maths, notebook
from book.ext.page import content_security_policy
from book.stale import VARIES, old_outputs, stale_cells, stamp_outputs
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import palette
from d2lmini.notebook.content import exercise_names, exercise_state
from tools.paper import fonts


class Page(HTMLParser):
    """Ids, links and headings of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[str] = []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(str(given["id"]))
            if re.fullmatch("h[1-6]", tag):
                self.headings.append(str(given["id"]))
        for name in ("href", "src"):
            if given.get(name):
                self.links.append(str(given[name]))


def pages_of(site: Path) -> list[Path]:
    return sorted(path for code in LANGUAGES for path in (site / code).glob("*.html"))


def broken_links(site: Path) -> list[str]:
    pages = {path: Page(path) for path in [*pages_of(site), site / "index.html"]}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"(https?|data|mailto):", link):
                continue
            address, anchor = urldefrag(re.sub(r"\?[^#]*", "", link))  # ?present=1#section: a section, too
            target = (path.parent / unquote(address)).resolve() if address else path
            lost = anchor and target in pages and unquote(anchor) not in pages[target].ids
            if lost or not target.exists():
                broken.append(f"{path.name}: {link}")
    return broken


def small(site: Path, language: str = "en", name: str = "basics") -> Page:
    return Page(site / language / f"{name}.html")


# ---- the small book: every feature once -----------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_heading_has_the_id_of_its_cell_in_every_language(small_site, language):
    headings = small(small_site, language).headings
    assert [h for h in headings if h in ("basics", "scores", "order")] == ["basics", "scores", "order"]


def test_the_line_numbers_of_myst_nb_still_tell_the_cell():
    assert anchors.cell_of(10001, ["a", "b"]) == "a"
    assert anchors.cell_of(29999, ["a", "b"]) == "b"
    assert anchors.cell_of(40000, ["a", "b"]) is None
    assert anchors.cell_of(None, ["a", "b"]) is None


def test_links_reach_sections_of_the_same_and_of_other_pages(small_site):
    assert "basics.html#scores" in small(small_site, name="index").links
    assert "#order" in small(small_site).links
    assert broken_links(small_site) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_in_prose_links_to_the_formula_that_has_it(small_site, language):
    page = small(small_site, language)
    assert "eq-1.1" in page.ids
    assert page.links.count("#eq-1.1") == 1
    assert not any("9.9" in link for link in page.links)


def test_formulas_are_typeset_and_can_be_read_out(small_site):
    page = small(small_site).text
    assert 'class="katex-html" aria-hidden="true"' in page
    assert "<math" in page
    assert "annotation" not in page
    assert "$" not in re.sub(r"<pre.*?</pre>|<script.*?</script>", "", page, flags=re.DOTALL)


def test_formula_fonts_hold_only_what_the_pages_show(small_site):
    characters = assets.formula_characters(small(small_site).text)
    assert set("askqx") <= set(characters["Math-Italic"])
    assert "⊤" in characters["Main-Regular"]
    assert "s" not in characters["Main-Regular"]
    page = small(small_site).text
    assert "@font-face{font-family:KaTeX_Math" in page
    assert "@font-face{font-family:KaTeX_Fraktur" not in page
    assert len(assets.cut_font(assets.KATEX / "fonts" / "KaTeX_Math-Italic.woff2", "ask")) < 3_000


def test_a_page_brings_the_styles_of_its_first_paint_and_no_others(small_site):
    page, plain = small(small_site), small(small_site, name="index").text
    assert not any(".css" in link for link in page.links)
    assert ".katex .mathnormal{" in page.text
    assert ".mathfrak" not in page.text
    assert ".katex .mathnormal{" not in plain
    assert not list((small_site / "en").rglob("*.css"))
    fonts = re.findall(r'url\("(_static/[^"]+)"\)', page.text)
    assert fonts
    assert all((small_site / "en" / font).exists() for font in fonts)


def test_unused_rules_are_left_out():
    sheet = '.a{x:1}.b,.a .c{x:2}.d{x:3}[data-theme="dark"] .a{x:4}p{x:5}'
    left = '.a{x:1}.a .c{x:2}[data-theme="dark"] .a{x:4}p{x:5}'
    assert css.used_rules(sheet, '<p class="a c">') == left


@pytest.mark.parametrize(
    ("sheet", "left"),
    [
        (".a:not(.b){x:1}", ".a:not(.b){x:1}"),
        (".a:is(.b,.c) i{x:1}.d:is(.a,.b){x:1}", ".a:is(.b,.c) i{x:1}"),
        ("@media print{.a{x:1}.b{x:2}}.b{x:3}", "@media print{.a{x:1}}"),
        ("@media print{.b{x:2}}@font-face{font-family:b}", "@font-face{font-family:b}"),
        ('.a[title=".b,.c{}"]{content:"} .b{"}', '.a[title=".b,.c{}"]{content:"} .b{"}'),
    ],
)
def test_a_rule_is_left_out_only_where_it_cannot_apply(sheet, left):
    assert css.used_rules(sheet, '<p class="a">') == left


def test_a_squeezed_sheet_keeps_its_strings_and_its_meaning():
    sheet = """
      /* a comment */
      .a > .b , .c :is(.d, .e) { content: " ; } , /* no comment */ "; margin: 0 calc(1px + 2px) ; }
      @media print { p { margin: 0; } }
    """
    assert css.minify(sheet) == (
        '.a>.b,.c :is(.d, .e){content:" ; } , /* no comment */ ";margin:0 calc(1px + 2px)}'
        "@media print{p{margin:0}}"
    )


def test_the_style_sheet_can_be_read_and_has_no_colors_of_its_own(small_site):
    sheet = (ROOT / "book" / "theme" / "static" / "site.css").read_text(encoding="utf-8")
    assert [line for line in sheet.splitlines() if len(line) > 120] == []
    own = re.compile(r"[:\s(]#[0-9a-fA-F]{3,8}\b")
    assert not own.search(sheet)
    assert not own.search((ROOT / "book" / "theme" / "landing.html").read_text(encoding="utf-8"))
    pages = [small(small_site).text, (small_site / "index.html").read_text(encoding="utf-8")]
    for shown in pages:
        style = re.search("<style>(.*?)</style>", shown, re.DOTALL)[1]
        assert {name for name, _ in re.findall(r"(--d2l-[\w-]+):\s*(#\w+)", style)} == {
            f"--d2l-{name}" for name in palette.COLORS
        }
        # and no name that the palette lacks is used
        used = set(re.findall(r"var\((--d2l-[\w-]+)\)", style))
        assert used <= {f"--d2l-{name}" for name in palette.COLORS}


def test_the_trained_models_lie_beside_the_widgets(small_site):
    """Nobody fetches one before a widget is touched: test_translator_explorer.py."""
    shipped = {path.name: path.read_bytes() for path in assets.CHECKPOINTS.glob("*.safetensors")}
    assert len(shipped) == 9  # six translators, three writers
    for language in LANGUAGES:
        served = (small_site / language / "_static" / "checkpoints").iterdir()
        assert {path.name: path.read_bytes() for path in served} == shipped


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_widget_knows_waits_in_a_file_of_its_own(small_site, language):
    page = small(small_site, language).text
    assert "data-state=" not in page
    address = re.search(r'data-states="([^"?]+)\?\w+"', page)[1]
    states = json.loads((small_site / language / address).read_text(encoding="utf-8"))
    assert states == {name: exercise_state(name, language) for name in ["self-attention/why-scale"]}
    # the address changes with what is there: no browser shows an old exercise
    digest = hashlib.sha256((small_site / language / address).read_bytes()).hexdigest()[:8]
    assert f"{address}?{digest}" in page


def test_each_style_of_the_page_font_has_vietnamese_and_is_fetched_for_its_letters_alone():
    faces = re.findall(r'url\("fonts/([^"]+)"\)[^}]*?unicode-range:([^;}]+)', assets.page_styles())
    assert [file for file, _ in faces] == [f"d2lmini-sans-{style}.woff2" for style in assets.SANS]
    marks = ["", *map(chr, (0x300, 0x301, 0x303, 0x309, 0x323))]
    vietnamese = {ord(unicodedata.normalize("NFC", v + m)) for v in "aăâeêioôơuưyAĂÂEÊIOÔƠUƯY" for m in marks}
    for file, ranges in faces:
        named: set[int] = set()
        for part in ranges.split(","):
            first, _, last = part.removeprefix("U+").partition("-")
            named |= set(range(int(first, 16), int(last or first, 16) + 1))
        assert named == set(TTFont(assets.STATIC / "fonts" / file).getBestCmap()) == fonts.letters(), file
        assert vietnamese | set(map(ord, "đĐ")) <= named, file


def test_code_in_a_table_breaks_between_its_names(site):
    page = (site / "en" / "frameworks.html").read_text(encoding="utf-8")
    assert "<code>tf.<wbr>keras.<wbr>layers.<wbr>Dense(n)</code>" in page
    assert "<wbr>" not in re.sub("<table.*?</table>", "", page, flags=re.DOTALL)


def test_two_plots_on_a_page_share_no_id(small_site):
    for path in pages_of(small_site):
        doubled = [name for name, count in Counter(Page(path).ids).items() if count > 1]
        assert doubled == [], path


def test_the_policy_of_a_page_lets_no_inline_or_foreign_script_run():
    policy = content_security_policy()
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'self'" and "http" not in policy
    assert set(re.findall("'[a-z-]+'", rules["script-src"])) == {"'self'"}


def test_a_picture_has_a_name():
    for metadata, name in (({}, "Plot"), ({"alt": "Loss"}, "Loss")):
        output = {"data": {"image/png": "AAAA"}, "metadata": metadata}
        notebook._prepare_output(output, "p-", "Plot")
        assert f'alt="{name}"' in output["data"]["text/html"]


def test_a_page_tells_what_it_is_about_and_names_its_links_to_sections(small_site):
    for language, said in (("en", "First words"), ("vi", "Những lời đầu"), ("zh", "开头的话")):
        page = small(small_site, language).text
        assert f'<meta name="description" content="{said}' in page
        assert f'href="#scores" aria-label="{words(language)["site"]["permalink"]}"' in page


def test_a_call_that_only_shows_its_output_is_not_printed(small_site):
    page = small(small_site).text
    assert "self-attention/why-scale" in page
    assert "d2l.exercise(" not in re.sub(r"<[^>]+>", "", page)
    assert "d2l.figure(" not in re.sub(r"<[^>]+>", "", page)


@pytest.mark.parametrize(
    ("code", "hidden"),
    [
        ('d2l.exercise("a/b")', True),
        ('d2l.explorer(\n    "path",\n)\n', True),
        ('d2l.exercise("a"); x = (1)', False),
        ('d2l.figure("qkv")  # read me (twice)', False),
        ('x = d2l.exercise("a")', False),
        ("d2l.plot(x)", False),
        ("%pip install d2lmini", False),
    ],
)
def test_only_a_call_that_is_all_of_its_cell_goes_unprinted(code, hidden):
    assert notebook.only_shows(code) is hidden


def test_hidden_code_opens_with_words_of_the_language(small_site):
    for language in LANGUAGES:
        page, site = small(small_site, language).text, words(language)["site"]
        assert page.count(f"<summary>{site['show_code']}</summary>") == 1
        assert page.count(f"<summary>{site['show_code_and_result']}</summary>") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_map_lists_every_chapter_with_its_question_its_time_and_what_is_solved(small_site, language):
    page = small(small_site, language, "index").text
    assert page.count("<progress") == 1
    assert '<li class="station" data-progress="basics"><a href="basics.html"><b>1</b> ' in page
    question = {"en": "What is first?", "vi": "Cái gì đầu tiên?", "zh": "先学什么？"}[language]
    assert f"</a><p>{question}</p>" in page
    site = words(language)["site"]["welcome"]
    assert site["times"].format(reading=5, practice=5) in page and site["start"] in page
    assert "0 / 1" in page
    assert words(language)["site"]["script"]["answered"].format(done=0, total=1) in page
    assert "<progress" not in small(small_site, language).text


def test_a_section_behind_its_source_says_so(small_site):
    assert 'class="behind"' not in small(small_site, "en").text
    assert 'class="behind"' not in small(small_site, "zh").text
    page = small(small_site, "vi")
    # a text that changed, and code (with what it prints) that was not copied
    notes = re.findall(r'id="(\w+)">[^\n]*\n<p class="behind">.*?href="([^"]*)"', page.text)
    assert notes == [(name, f"../en/basics.html#{name}") for name in ("scores", "order")]
    assert page.text.count('class="behind"') == 2


def test_a_page_is_behind_where_its_text_code_or_cells_are_not_those_of_the_english_one():
    def book(*cells):
        return {"cells": list(cells)}

    def prose(name, text, made_from=None):
        mark = {"d2lmini": {"source": fingerprint(made_from)}} if made_from else {}
        return cell("markdown", name, text, **mark)

    english = book(
        prose("a", "One."), cell("code", "b", "x = 1"), prose("c", "Two."), cell("code", "d", "d2l.use(1)")
    )
    same = [prose("a", "Một.", "One."), cell("code", "b", "x = 1  # một"), prose("c", "Hai.", "Two.")]
    last = cell("code", "d", "d2l.use(1)")
    assert stale_cells(english, book(*same, last)) == []
    assert stale_cells(english, book(prose("a", "Một.", "Older."), *same[1:], last)) == ["a"]
    assert stale_cells(english, book(prose("a", "One."), *same[1:], last)) == ["a"], "copied, not translated"
    assert stale_cells(english, book(same[0], cell("code", "b", "x = 2"), same[2], last)) == ["b"]
    assert stale_cells(english, book(same[0], same[2], last)) == ["a"], "a cell is missing below"
    assert stale_cells(english, book(*same)) == ["c"]


def test_a_line_break_between_chinese_characters_is_no_space(small_site):
    assert "开头的话，含有" in small(small_site, "zh").text


def test_every_page_offers_its_other_languages(small_site):
    tags = {language: words(language)["language"]["tag"] for language in LANGUAGES}
    for language, tag in tags.items():
        page = small(small_site, language).text
        assert f'<html lang="{tag}" data-site="../">' in page
        for other, other_tag in tags.items():
            assert f'hreflang="{other_tag}" href="../{other}/basics.html"' in page


def test_each_page_leads_to_every_place_that_runs_it(small_site):
    """Colab, Kaggle, this machine, any Jupyter: in the language and of the chapter that is read."""
    for language in LANGUAGES:
        page, notebook = small(small_site, language), f"chapters/{language}/basics.ipynb"
        stamped = f"account/d2lmini/blob/notebooks/{notebook}"
        assert f"https://colab.research.google.com/github/{stamped}" in page.links
        assert f"https://www.kaggle.com/kernels/welcome?src=https://github.com/{stamped}" in page.links
        assert f"https://github.com/account/d2lmini/blob/HEAD/{notebook}" in page.links
        assert "basics.ipynb" in page.links and (small_site / language / "basics.ipynb").exists()
        at_home, anywhere = re.findall(r'<div class="typed"><pre>(.*?)</pre>', page.text, re.S)
        clone, enter, *start = at_home.splitlines()
        assert (clone, enter) == ("git clone https://github.com/account/d2lmini", "cd d2lmini")
        assert start == [f"python3 course.py lab basics --lang {language}"]
        assert anywhere.splitlines()[-1] == "jupyter/bin/jupyter lab basics.ipynb"


@pytest.mark.parametrize("home", ["", "https://git.example.org/account/d2lmini"])
def test_a_site_that_was_not_published_offers_only_what_works(tmp_path, home):
    environment = {name: text for name, text in os.environ.items() if name != "D2LMINI_REPOSITORY"}
    make_book(
        tmp_path, {"en": {"index": [cell("markdown", "one", "# One")], "basics": [cell("code", "x", "1")]}}
    )
    code = f"""if True:
        from pathlib import Path
        from book import address, edition
        address.repository = lambda: {home!r}
        edition.build_language("en", Path({str(tmp_path)!r}), Path({str(tmp_path / "_build")!r}), ["en"], "")
    """
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
    text = (tmp_path / "_build" / "en" / "finished" / "basics.html").read_text(encoding="utf-8")
    assert not re.search("colab|kaggle|site-report" if not home else "colab|kaggle", text)
    assert ("git clone" in text) == (f"{home}/blob/HEAD/chapters/en/basics.ipynb" in text) == bool(home)
    assert "python3 course.py lab basics --lang en" in text and 'href="basics.ipynb" download' in text


def test_quotes_and_angles_in_the_words_stay_words_in_text_and_in_attributes():
    said = "Say \"<hi>\" & 'so'"

    class Words(dict):
        def __missing__(self, key):
            return Words() if key == "script" else said

    entry = {
        "title": said,
        "link": "x.html",
        "part": "chapters",
        "doc": "x",
        "name": "x",
        "number": 1,
        "short": said,
    }
    sibling = {"name": said, "code": "vi", "tag": "vi"}
    shown = {"words": Words(), "pages": [entry], "page": entry, "language": "en", "description": said}
    shown |= {"siblings": [sibling, {**sibling, "code": "en"}]}
    shown |= {"report": {"link": said, "place": said}, "repository": said, "path": said, "stamped": said}
    beside = {"link": "x.html", "title": html.escape(said)}  # HTML, as Sphinx makes it of a title
    theme = Environment(loader=FileSystemLoader(ROOT / "book" / "theme"))
    rendered = theme.get_template("layout.html").render(
        d2l={**shown, "contents": "<p>"}, docstitle="T", pathto=lambda *_: "x", prev=beside, next=beside
    )

    class Seen(HTMLParser):
        def __init__(self):
            super().__init__()
            self.texts, self.attributes = 0, 0
            self.feed(rendered)

        def handle_starttag(self, tag, attrs):
            assert tag != "hi"
            for name, value in attrs:
                assert re.fullmatch(r"[a-z-]+", name), (tag, name)
                self.attributes += said in (value or "")

        def handle_data(self, data):
            self.texts += said in data

    seen = Seen()
    assert seen.texts > 20 and seen.attributes > 8


# ---- builds ------------------------------------------------------------------------------------------------


def one_page(root: Path, text: str) -> Path:
    return make_book(root, {"en": {"index": [cell("markdown", "index", f"# Welcome\n\n{text}")]}})


def test_a_failed_build_names_the_fault_and_leaves_the_old_site(tmp_path, capfd):
    old = tmp_path / "_build" / "site" / "index.html"
    old.parent.mkdir(parents=True)
    old.write_text("the old site")

    one_page(tmp_path, r"Broken: $\frac{1}$.")
    with pytest.raises(site_builder.BuildError, match="en"):
        site_builder.build(tmp_path, languages=["en"])
    complaint = capfd.readouterr().err
    assert "index" in complaint
    assert r"\frac{1}" in complaint

    one_page(tmp_path, "See [nowhere](#nowhere).")
    for _ in range(2):  # a warning must not be forgotten by the incremental build that follows it
        with pytest.raises(site_builder.BuildError):
            site_builder.build(tmp_path, languages=["en"])
        assert "nowhere" in capfd.readouterr().err
    assert old.read_text() == "the old site"

    one_page(tmp_path, "Mended.")
    assert "Mended" in (site_builder.build(tmp_path, languages=["en"]) / "en" / "index.html").read_text()
    said: list[str] = []
    site_builder.build(tmp_path, languages=["en"], say=said.append)
    assert said == [terminal.say("site.unchanged")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_full_disk_is_told_in_the_readers_words(monkeypatch, capsys, tmp_path, language):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("D2LMINI_LANGUAGE", language)
    monkeypatch.setattr(site_builder, "_build", full)
    assert site_builder.main(["--out", str(tmp_path / "site")]) == 1
    told = words(language)["setup"]
    expected = f"{told['site']['failed']}\n{told['reasons']['disk']}\n"
    assert capsys.readouterr().err == expected


def test_with_an_address_each_language_is_the_canonical_one_of_its_pages(tmp_path):
    index = [cell("markdown", "index", "# Welcome\n\nHere.")]
    config = make_book(tmp_path, {"en": {"index": index}, "vi": {"index": index}}) / "_config.yml"
    config.write_text(config.read_text().replace('baseurl: ""', 'baseurl: "https://course.test/"'))
    built = site_builder.build(tmp_path, languages=["en", "vi"])
    for language in ("en", "vi"):
        page = (built / language / "index.html").read_text()
        assert f'<link rel="canonical" href="https://course.test/{language}/index.html">' in page
        picture = f"previews/{language}/index.png"
        assert f'<meta property="og:image" content="https://course.test/{picture}">' in page
        assert (built / picture).read_bytes() == previews.path_of(language, "index").read_bytes()
    assert "https://course.test/previews/en/index.png" in (built / "index.html").read_text()


def test_without_an_address_a_link_to_a_page_has_words_but_no_picture(small_site):
    page = small(small_site, "vi").text
    assert '<meta property="og:title" content="Phần cơ bản">' in page
    assert '<meta property="og:description" content="Những lời đầu' in page
    for shown in (page, (small_site / "index.html").read_text(encoding="utf-8")):
        assert "og:title" in shown and "og:image" not in shown and "og:url" not in shown
    assert not (small_site / "previews").exists()


@pytest.mark.parametrize(
    ("chapters", "complaint"),
    [
        ("1. [One](one.ipynb): why?", "list the chapters of _toc.yml in their order: one, two"),
        ("1. [One](one.ipynb): why?\n2. Two: when?", "'Two: when\\?' links to no chapter"),
    ],
)
def test_the_map_must_have_every_chapter(tmp_path, capfd, chapters, complaint):
    pages = {
        "index": [
            cell("markdown", "index", "# Welcome"),
            cell("markdown", "chapters", f"## Way\n\nHere:\n\n{chapters}"),
        ]
    }
    pages |= {name: [cell("markdown", name, f"# {name}")] for name in ("one", "two")}
    with pytest.raises(site_builder.BuildError, match=complaint):
        site_builder.build(make_book(tmp_path, {"en": pages}), languages=["en"])


def test_a_missing_language_is_named(tmp_path):
    one_page(tmp_path, "Fine.")
    with pytest.raises(site_builder.BuildError, match=r"chapters/vi/index\.ipynb"):
        site_builder.build(tmp_path)


def test_a_formula_is_as_high_as_its_accented_letters():
    def height(text: str) -> float:
        markup = maths.render(rf"\text{{{text}}}", display=False, where="here")
        return float(re.search(r'class="strut" style="height:([\d.]+)em', markup)[1])

    assert height("a") < height("ấ") < height("Ẫ") < 1.3
    assert "đầu" in re.sub("<[^>]+>", "", maths.render(r"\text{đầu}", display=False, where="here"))


def test_a_formula_error_names_page_and_formula():
    with pytest.raises(maths.FormulaError, match=r"chapter: \$\\nonsense\$"):
        maths.render(r"\nonsense", display=False, where="chapter")


def test_jupyter_book_alone_builds_the_english_book_without_warnings(tmp_path):
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, tmp_path)
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "book", tmp_path / "book", ignore=skipped)
    for name in ("LICENSE", "LICENSE-TEXT", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    shutil.copytree(ROOT / "d2lmini", tmp_path / "d2lmini", ignore=skipped)
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "--keep-going"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    assert (tmp_path / "_build" / "html" / "chapters" / "en" / "index.html").exists()
    assert (tmp_path / "_build" / "html" / "index.html").exists()


# ---- fonts -------------------------------------------------------------------------------------------------


def test_a_cut_font_has_the_date_of_the_whole_one_and_so_the_same_bytes_in_every_build():
    path = assets.KATEX / "fonts" / "KaTeX_Main-Regular.woff2"
    cut = TTFont(io.BytesIO(assets.cut_font(path, "abc")))
    assert cut["head"].modified == TTFont(path)["head"].modified


def test_a_cut_font_does_not_bear_the_name_that_its_license_reserves():
    for path in (
        assets.KATEX / "fonts" / "KaTeX_Main-Regular.woff2",
        assets.STATIC / "fonts" / "d2lmini-sans-regular.woff2",
    ):
        font = TTFont(io.BytesIO(assets.cut_font(path, "abc")))
        assert not any(re.search("KaTeX|Source", str(record)) for record in font["name"].names)


# ---- the package -------------------------------------------------------------------------------------------


def test_the_wheel_carries_its_licenses_and_no_scripts(tmp_path):
    source = tmp_path / "source"
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "d2lmini", source / "d2lmini", ignore=skipped)
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*command, "-w", str(tmp_path), str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        metadata = wheel.read(next(n for n in names if n.endswith("dist-info/METADATA"))).decode()
    assert "License-Expression: MIT AND CC-BY-4.0 AND OFL-1.1 AND CC0-1.0" in metadata
    carried = {name.split("licenses/", 1)[1] for name in names if "dist-info/licenses/" in name}
    fonts, corpus = "d2lmini/assets/fonts/OFL.txt", "d2lmini/assets/corpus.LICENSE.txt"
    assert carried == {"LICENSE", "LICENSE-TEXT", fonts, corpus}
    assert carried == set(re.findall("License-File: (.*)", metadata))
    # what is there: modules, data, and nothing to be run by hand
    assert "d2lmini/words/vi.toml" in names and "d2lmini/notebook/widgets/exercise.js" in names
    assert not [n for n in names if n.startswith("d2lmini/assets/") and n.endswith((".py", ".sh"))]


# ---- the course itself ------------------------------------------------------------------------------------


def test_no_link_of_the_course_leads_nowhere(site):
    assert broken_links(site) == []


def test_what_has_moved_stands_where_old_links_are_led(site):
    table = json.loads((site / "vi" / "_static" / "moved.json").read_text(encoding="utf-8"))
    assert "self-attention#padding" in table["sections"]
    for code in LANGUAGES:
        ids = {path.stem: set(Page(path).ids) for path in (site / code).glob("*.html")}
        for old, new in table["sections"].items():
            (page, anchor), (now, there) = old.split("#"), new.split("#")
            assert anchor not in ids[page], f"{code}: {old} stands where it stood"
            assert there in ids[now], f"{code}: {new} does not exist"
    assert set(table["exercises"].values()) <= set(exercise_names())


def test_the_course_has_the_same_anchors_in_every_language(site):
    for path in sorted((site / "en").glob("*.html")):
        english = Page(path).headings
        for language in LANGUAGES:
            assert Page(site / language / path.name).headings == english, (language, path.name)


def test_every_header_cell_of_a_table_says_something(site):
    for path in pages_of(site):
        cells = lxml.html.fromstring(path.read_text(encoding="utf-8")).iter("th")
        assert all(cell.text_content().strip() for cell in cells), path  # axe does not read formulas


def test_ids_of_the_course_are_unique_on_each_page(site):
    for path in pages_of(site):
        doubled = [name for name, count in Counter(Page(path).ids).items() if count > 1]
        assert doubled == [], path


# ---- serving -----------------------------------------------------------------------------------------------


def test_a_port_in_use_is_said_in_one_sentence(small_site, capsys):
    with served(small_site) as address:
        port = address.rsplit(":", 1)[1]
        assert serve.main(["--port", port, "--site", str(small_site)]) == 1
    assert f"port {port} is taken" in capsys.readouterr().err


def test_a_port_that_may_not_be_used_is_told_so(small_site, capsys, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(serve, "server", refused)
    assert serve.main(["--port", "80", "--site", str(small_site)]) == 1
    assert "port 80 may not be used by you" in capsys.readouterr().err


@pytest.mark.parametrize("mistake", [["--port", "70000"], ["--port", "http"], ["--prot", "8001"]])
def test_a_mistaken_option_is_told_before_anything_is_built(mistake, capsys, monkeypatch):
    monkeypatch.setattr(site_builder, "main", lambda _: pytest.fail("the site was built"))
    with pytest.raises(SystemExit) as stopped:
        serve.main(["--build", *mistake])
    assert stopped.value.code == 2
    assert mistake[-1] in capsys.readouterr().err


def test_a_port_is_found_taken_before_anything_is_built(small_site, monkeypatch):
    monkeypatch.setattr(site_builder, "main", lambda _: pytest.fail("the site was built"))
    with served(small_site) as address:
        assert serve.main(["--build", "--port", address.rsplit(":", 1)[1]]) == 1


def test_a_build_that_fails_is_not_served(small_site, monkeypatch):
    monkeypatch.setattr(site_builder, "main", lambda _: 3)
    assert serve.main(["--build", "--port", "0", "--site", str(small_site)]) == 3


def test_what_is_not_there_is_404_with_our_own_page_and_nothing_is_kept_unasked(small_site):
    with served(small_site) as address:
        with urllib.request.urlopen(f"{address}/en/basics.html") as answer:
            assert answer.status == 200 and answer.headers["Cache-Control"] == "no-cache"
        # a page that is not there; a folder; what lies outside of the site
        for path in ("no/such/page", "en/_static/", "../small-book.lock", "%2e%2e/_toc.yml", "..%2f_toc.yml"):
            with pytest.raises(urllib.error.HTTPError) as lost:
                urllib.request.urlopen(f"{address}/{path}")
            assert lost.value.code == 404
            assert lost.value.read() == (small_site / "404.html").read_bytes()


def test_serving_without_a_site_says_how_to_build_it(tmp_path, capsys):
    assert serve.main(["--site", str(tmp_path), "--port", "0"]) == 1
    assert "python -m book.build" in capsys.readouterr().err


def test_whatever_the_site_is_made_of_decides_whether_it_is_made_anew():
    others = {path.relative_to(ROOT).as_posix() for path in inputs.others(ROOT)}
    assert others >= {
        "_config.yml",
        "book/ext/css.py",
        "book/vendor/katex/katex.min.css",
        "book/theme/scripts/site.js",
        "chapters/glossary.csv",
        "d2lmini/assets/palette.toml",
        "d2lmini/notebook/widgets/text.js",
        "d2lmini/words/vi.toml",
    }
    assert not any(name.endswith(".ipynb") or "__pycache__" in name for name in others)


def test_an_edited_page_alone_is_made_anew_and_found(tmp_path):
    make_book(tmp_path, PAGES)
    site = site_builder.build(tmp_path, languages=["en", "vi"], say=str)
    work, page = tmp_path / "_build", tmp_path / "chapters" / "vi" / "basics.ipynb"
    files = [*work.glob("*/html/*.html"), *work.glob("*/finished/*.html"), *work.glob("*/html/_static/*.js")]
    before = {path: path.stat().st_mtime_ns for path in files}
    notebook = json.loads(page.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] += "\n\nNgựa vằn."
    page.write_text(json.dumps(notebook), encoding="utf-8")
    said = []
    site_builder.build(tmp_path, languages=["en", "vi"], say=said.append)
    again = {path.relative_to(work).as_posix() for path in files if path.stat().st_mtime_ns != before[path]}
    assert (
        {"vi/html/basics.html", "vi/finished/basics.html"}
        <= again
        <= {
            "vi/html/basics.html",
            "vi/finished/basics.html",
            "vi/html/index.html",
            "vi/html/licenses.html",
            "vi/html/review.html",
            "vi/html/offline.html",
            "vi/finished/offline.html",
        }
    )
    assert not any("en built" in line for line in said)
    assert "Ngựa vằn" in (site / "vi" / "basics.html").read_text(encoding="utf-8")
    assert "Ngựa vằn" in (site / "vi" / "_static" / "search.json").read_text(encoding="utf-8")


def test_a_build_begins_without_the_database_of_executed_notebooks():
    """SQLAlchemy, which jupyter-cache would import, takes as long as a page."""
    code = "import sys, book.edition; sys.exit('sqlalchemy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_an_output_older_than_its_code_is_named(tmp_path):
    shown = outputs(text_plain="1")
    setup, before, same, edited, _ = cells = [
        cell("code", "setup", "import sys"),
        cell("code", "before", "n = 1"),
        cell("code", "same", "print(1)  # once", shown),
        cell("code", "edited", "print(1)", shown),
        cell("code", "varies", "print(n)", shown, tags=[VARIES]),
    ]
    stamp_outputs({"cells": cells})
    same["source"] = "# said otherwise\nprint(1)"
    setup["source"] = "%pip install what-is-published"  # as where the course is published
    assert old_outputs({"cells": cells}) == []
    edited["source"] = "print(2)"
    assert old_outputs({"cells": cells}) == ["edited", "varies"]  # nobody compares the second
    edited["source"] = "print(1)"
    before["source"] = "n = 2"
    pages = {"index": [*PAGES["en"]["index"], *cells]}
    make_book(tmp_path, {"en": pages})
    said = []
    with pytest.raises(site_builder.BuildError):  # the list of chapters leads to none
        site_builder.build(tmp_path, languages=["en"], say=said.append)
    assert [line for line in said if "older" in line] == [
        words("en")["setup"]["site"]["old_output"].format(cell="chapters/en/index.ipynb#varies", name="index")
    ]


@pytest.mark.parametrize("path", find(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_stored_output_is_older_than_its_code(path):
    notebook = read(path)
    assert all("ran" in c["metadata"]["d2lmini"] for c in notebook["cells"] if c.get("outputs"))
    assert old_outputs(notebook) == []


@pytest.mark.parametrize("below", ["", "project/"])
def test_the_page_for_lost_addresses_finds_the_site_wherever_it_lies(small_site, tmp_path, browser, below):
    """As on GitHub Pages: `name.github.io/project/`, and nothing told in `_config.yml`."""
    shutil.copytree(small_site, tmp_path / below, dirs_exist_ok=True)
    if below:
        shutil.copy(small_site / "404.html", tmp_path)  # the host gives the project's page for lost addresses
    with served(tmp_path) as address:
        page = browser.new_page()
        for lost in ("lost", "no/such/page"):
            page.goto(f"{address}/{below}{lost}")
            for language in LANGUAGES:
                page.locator(f"[data-language={language}][href='/{below}{language}/index.html']").wait_for()
            page.locator("[data-language=vi]").click()
            page.wait_for_url(f"{address}/{below}vi/index.html")
            page.locator("h1").wait_for()
        page.close()


def test_a_browser_that_leaves_is_no_news(small_site, capfd):
    big = max(small_site.rglob("*.safetensors"), key=lambda path: path.stat().st_size)
    with served(small_site) as address:
        host, port = address.removeprefix("http://").split(":")
        for _ in range(3):
            with socket.create_connection((host, int(port))) as connection:
                # a reset: the server's next write fails
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                name = big.relative_to(small_site).as_posix()
                connection.sendall(f"GET /{name} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        time.sleep(0.5)
    assert capfd.readouterr().err == ""


def test_two_servers_never_share_a_port_on_windows(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert importlib.reload(serve).Server.allow_reuse_address is False
    monkeypatch.undo()
    assert importlib.reload(serve).Server.allow_reuse_address is True


def test_parts_of_a_formula_may_stand_below_each_other_but_rows_stay_rows():
    parted = katex.typeset(r"a \qquad b", True, "htmlAndMathml")["html"]
    assert 'class="mspace newline"' in parted
    rows = katex.typeset(r"\begin{aligned} a &= b \qquad c \\ d &= e \end{aligned}", True, "htmlAndMathml")[
        "html"
    ]
    assert "newline" not in rows and rows.count("<mtr>") == 2
