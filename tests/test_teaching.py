"""The page for teachers: plans whose minutes add up, and a class's progress codes that become a table."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from making import ROOT
from playwright.sync_api import Browser, Page, expect

from book.chapters import path_of, read, source
from book.contents import pages, table_of_contents
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import progress
from d2lmini.notebook.content import exercise_names

CHAPTERS = [name for name, _, number in pages(table_of_contents(ROOT)) if number]
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
LINK = re.compile(r"\[[^\]]*\]\(([\w-]+)\.ipynb#([\w-]+)\)")


# ---- the plans


def rows(language: str, cell: str) -> list[list[str]]:
    """Return the rows of the table of a section, without its head."""
    text = next(source(one) for one in read(path_of(language, "teaching"))["cells"] if one["id"] == cell)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[part.strip() for part in line.strip("|").split("|")] for line in lines[2:]]


@pytest.fixture(scope="module")
def talks() -> dict[str, Any]:
    from book.talk import talk

    english = {name: read(path_of("en", name)) for name in CHAPTERS}
    return {name: talk(notebook, notebook) for name, notebook in english.items()}


def needed(talks: dict[str, Any], cell: str) -> float:
    """Return the minutes of the sections that a part of a plan links to."""
    return sum(talks[page]["sections"][anchor]["minutes"] for page, anchor in LINK.findall(cell))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lecture_has_ninety_minutes_and_each_row_room_for_its_slides(
    language: str, talks: dict[str, Any]
) -> None:
    plan = rows(language, "ninety")
    assert sum(int(minutes) for minutes, *_ in plan) == 90
    for minutes, _, wall in plan:
        assert needed(talks, wall) <= int(minutes), wall
    assert sum(bool(LINK.search(wall)) for *_, wall in plan) >= 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_four_sessions_and_half_a_semester_have_room_for_their_slides(
    language: str, talks: dict[str, Any]
) -> None:
    assert 10 + 45 + 30 + 5 == 90
    for _, wall, pairs in rows(language, "four-sessions"):
        assert 30 <= needed(talks, wall) <= 45 and LINK.search(pairs), wall
    weeks = [
        page
        for _, *both in rows(language, "half-semester")
        for cell in both
        for page, _ in LINK.findall(cell)
    ]
    assert weeks == [name for name in CHAPTERS if name not in ("cost-in-practice", "long-sequences")]
    assert len(weeks) == 7 * 2
    assert max(one["minutes"] for one in talks.values()) <= 70
    assert (talks["cost-in-practice"]["minutes"], talks["long-sequences"]["minutes"]) == (55, 50)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_minutes_of_decks_are_those_that_the_presenter_sees(language: str, talks: dict[str, Any]) -> None:
    from book import talk

    counts = [sum(name.startswith(f"{page}/") for name in exercise_names()) for page in CHAPTERS]
    shown = [(int(minutes), int(count)) for _, minutes, count in rows(language, "deck-minutes")]
    assert shown == [(talks[page]["minutes"], count) for page, count in zip(CHAPTERS, counts, strict=True)]
    assert (talk.SPOKEN, talk.SHOWN, talk.EXERCISE, talk.EXPLORER, talk.SECTION) == (130, 0.75, 2, 6, 0.5)


def test_plans_lead_to_the_same_sections_in_every_language() -> None:
    links = [
        LINK.findall("".join(map(source, read(path_of(code, "teaching"))["cells"]))) for code in LANGUAGES
    ]
    assert links[0] == links[1] == links[2]
    for page, anchor in links[0]:
        assert anchor in {cell["id"] for cell in read(path_of("en", page))["cells"]}


# ---- how it is found


def test_links_of_plans_open_the_slides_of_their_section(site: Path) -> None:
    for language in LANGUAGES:
        text = (site / language / "teaching.html").read_text(encoding="utf-8")
        assert 'href="multi-head-attention.html?present=1#padding"' in text
        first = (site / language / "index.html").read_text(encoding="utf-8")
        assert 'href="teaching.html#teaching"' in first


@pytest.mark.parametrize(
    ("language", "query"),
    [("en", "homework"), ("en", "lecture"), ("vi", "bài tập về nhà"), ("vi", "giáo án"), ("zh", "作业"),
     ("zh", "教案")],
)  # fmt: skip
def test_the_search_finds_the_page_first(browser: Browser, address: str, language: str, query: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/{language}/index.html")
    page.locator(".to-search").click()
    page.locator("dialog[open] input").fill(query)
    found = page.locator("dialog[open] a").first
    expect(found).to_have_attribute("href", re.compile(r"teaching\.html"))
    context.close()


# ---- the class


@pytest.fixture
def desk(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US", timezone_id="UTC")
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{address}/en/teaching.html")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    yield page
    context.close()
    assert complaints == []
    # what the page itself fetches, the next page ahead, and nothing with a code
    assert [one for one in sent if not re.fullmatch(rf"GET {address}/en/[\w./-]+(\?\w+)?", one)] == []


WORDS = words("en")["site"]["teaching"]["script"]
FIRST = exercise_names()[0]
MASKS = [name for name in exercise_names() if name.startswith("multi-head-attention/")]
EVIL = '<img src=x onerror="window.hacked = 1">'


def code(name: str, made: str, **answers: Any) -> str:
    """Return a code as the website or a notebook makes one; without name or date it is an old one."""
    content = {"d2lmini": 1} | ({"made": made} if made else {}) | ({"name": name} if name else {})
    text = json.dumps(content | {"answers": answers})
    return "d2l1." + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def content_of(given: str) -> dict[str, Any]:
    """Return all that a code holds."""
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(given.removeprefix("d2l1.") + "===")))


def many(solved: int) -> dict[str, Any]:
    return {name: {"done": place < solved, "tries": 1} for place, name in enumerate(MASKS)}


def show(page: Page, text: str) -> None:
    page.get_by_label(WORDS["label"]).fill(text)
    page.get_by_role("button", name=WORDS["show"]).click()
    expect(page.locator(".class-table .status p").first).to_be_visible()


def table(page: Page) -> list[list[str]]:
    trs = page.locator(".class-table table").first.locator("tr").all()
    return [row.locator("th, td").all_text_contents() for row in trs]


def test_thirty_codes_become_a_table(desk: Page) -> None:
    lines = [code(f"Student {place}", "2026-03-01T10:00Z", **many(place % 12)) for place in range(24)]
    lines += [
        code(EVIL, "2026-03-02T10:00Z", **many(1)),
        lines[3][:-9],  # a part of a code
        code("student 1", "2026-03-05T10:00Z", **many(12)),  # newer than that of Student 1
        code("Student 2", "2026-02-01T10:00Z", **many(0)),  # older
        code("", "", **{"self-attention/mask-matrix": {"done": True}}),  # of before, under a former name
        code("", "", **{"self-attention/mask-matrix": {"done": True}}),  # … and once more
    ]
    assert len(lines) == 30
    show(desk, "\n".join(lines))
    head, *people = table(desk)
    assert head == [WORDS["name"], WORDS["made"], WORDS["total"], "2 Masks and heads"]
    assert len(people) == 26
    by_name = {row[0]: row for row in people}
    total = len(exercise_names())
    assert by_name[EVIL][2:] == [f"1/{total}", f"1/{len(MASKS)}"]
    assert by_name["student 1"][3] == f"12/{len(MASKS)}" and "Student 1" not in by_name
    assert "Mar 5, 2026" in by_name["student 1"][1]
    assert by_name["Student 2"][3] == f"2/{len(MASKS)}"
    assert by_name["line 30"][1:] == [WORDS["undated"], f"1/{total}", f"1/{len(MASKS)}"]
    assert [row[0] for row in people if row[0].startswith("Student")][-2:] == ["Student 22", "Student 23"]
    said = desk.locator(".class-table .status p").all_text_contents()
    assert said == [
        WORDS["read"]["other"].format(count=26),
        WORDS["broken"].format(place="line 26"),
        WORDS["doubled"].format(name="student 1", place="line 2"),
        WORDS["doubled"].format(name="Student 2", place="line 28"),
        WORDS["doubled"].format(name="line 30", place="line 29"),
    ]
    assert desk.evaluate("window.hacked") is None and desk.locator(".class-table img").count() == 0
    stuck = desk.locator(".class-table table").nth(1).locator("tbody tr")
    solved = [int(row.locator("td").nth(1).text_content() or "") for row in stuck.all()]
    assert solved == sorted(solved) and len(solved) == 10
    assert stuck.first.locator("th").text_content() == f"2 Masks and heads: {MASKS[-1].split('/')[1]}"
    assert stuck.first.locator("a").get_attribute("href") == "multi-head-attention.html"


def test_whole_mails_are_read(desk: Page) -> None:
    one = code("Lê An", "2026-03-01T10:00Z", **many(3))
    wrapped = "=\n".join(one[place : place + 70] for place in range(0, len(one), 70))
    quoted = "\n".join(f"> {one[place : place + 60]}" for place in range(0, len(one), 60)).replace(
        "Lê An", "x"
    )
    show(
        desk,
        f"From: an@course.test\n\nMy code: {wrapped}\nBest wishes,\nAn\n\nShe wrote:\n{quoted}\n> Thanks!",
    )
    assert [row[0] for row in table(desk)[1:]] == ["Lê An"]
    assert "no progress code" not in (
        desk.locator(".class-table .status").text_content() or ""
    )  # both were whole
    show(desk, "Dear teacher, I have lost it.")
    expect(desk.locator(".class-table .status")).to_contain_text(WORDS["broken"].format(place="line 1"))
    expect(desk.locator(".class-table table")).to_have_count(0)


def test_files_are_dropped_or_chosen(desk: Page, tmp_path: Path) -> None:
    saved = json.dumps({"d2lmini": 1, "made": "2026-03-01T10:00Z", "name": "Chi", "answers": many(2)})
    old = json.dumps({"d2lmini": 1, "answers": many(1)})
    desk.locator(".class-table").evaluate(
        """(box, files) => {
            const dataTransfer = new DataTransfer();
            for (const [name, text] of files) dataTransfer.items.add(new File([text], name));
            box.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        [["chi.json", saved], ["binh.json", old], ["photo.png", "\x89PNG"]],
    )
    expect(desk.locator(".class-table tbody").first.locator("tr")).to_have_count(2)
    assert [row[0] for row in table(desk)[1:]] == ["binh.json", "Chi"]
    expect(desk.locator(".class-table .status")).to_contain_text(WORDS["broken"].format(place="photo.png"))
    path = tmp_path / "dung.txt"
    path.write_text(code("Dũng", "2026-03-01T10:00Z", **many(5)), encoding="utf-8")
    desk.locator(".class-table input[type=file]").set_input_files(path)
    expect(desk.locator(".class-table tbody").first.locator("tr")).to_have_count(3)
    desk.get_by_role("button", name=WORDS["clear"]).click()
    expect(desk.locator(".class-table table")).to_have_count(0)


def test_the_table_is_made_by_keyboard_and_goes_to_a_spreadsheet(desk: Page) -> None:
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    field = desk.get_by_label(WORDS["label"])
    field.focus()
    formula = '=HYPERLINK("x"),1'
    desk.keyboard.insert_text(code(formula, "2026-03-01T10:00Z", **many(5)))
    desk.keyboard.press("Tab")
    expect(desk.get_by_role("button", name=WORDS["show"])).to_be_focused()
    desk.keyboard.press("Enter")
    expect(desk.locator(".class-table tbody").first.locator("th")).to_have_text(formula)
    wanted = [f"'{formula}", "2026-03-01T10:00Z", f"5/{len(exercise_names())}", f"5/{len(MASKS)}"]
    desk.get_by_role("button", name=WORDS["sheet"]).click()
    expect(desk.locator(".class-table .status")).to_have_text(words("en")["site"]["script"]["copied"])
    assert desk.evaluate("navigator.clipboard.readText()").split("\n")[1].split("\t") == wanted


@pytest.mark.parametrize(("language", "scheme"), [("en", "dark"), ("vi", "light"), ("zh", "dark")])
def test_the_table_has_room_on_a_phone(browser: Browser, address: str, language: str, scheme: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}/{language}/teaching.html#class-table")
    said = words(language)["site"]["teaching"]["script"]
    page.get_by_label(said["label"]).fill(code("An " * 20, "2026-03-01T10:00Z", **many(5)))
    page.get_by_role("button", name=said["show"]).click()
    expect(page.locator(".class-table table").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(AXE)
    found = page.evaluate("axe.run('.class-table').then((found) => found.violations)")
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
    for control in page.locator(".class-table button").all():
        box = control.bounding_box()
        assert box and box["height"] >= 40
    context.close()


def test_without_scripts_the_page_says_what_the_table_needs(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/en/teaching.html")
    expect(page.locator(".class-table")).to_have_text(words("en")["site"]["teaching"]["needs"])
    context.close()


# ---- a student's name


def test_a_name_stays_on_the_device_and_goes_into_the_code(browser: Browser, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/en/self-attention.html")
    page.evaluate(
        "name => localStorage.setItem('d2lmini', JSON.stringify({answers: {[name]: {done: true}}}))", FIRST
    )
    name, field = page.locator("#site-progress .name input"), page.locator("#site-progress .code input")
    for _ in range(2):
        page.locator(".to-progress").click()
        if not name.input_value():
            name.fill("Nguyễn Thị Hoa")
        page.get_by_role("button", name=words("en")["site"]["code_copy"]).click()
        expect(field).to_have_value(re.compile(r"^d2l1\."))
        content = content_of(field.input_value())
        assert content["name"] == "Nguyễn Thị Hoa" and re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", content["made"]
        )
        assert progress.unpack(field.input_value()) == {FIRST: {"done": True}}
        page.reload()  # it is remembered
    page.locator(".to-progress").click()
    for _ in range(2):
        page.locator("#site-progress [data-do=reset]").click()
    assert (
        name.input_value() == "" and page.evaluate("JSON.parse(localStorage.getItem('d2lmini-name'))") is None
    )
    context.close()
