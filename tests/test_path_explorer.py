"""The path explorer: its numbers are the package's, edges are guessed first, tasks are done in sight."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote_plus

import pytest
from explorer_pages import TOO_SMALL, UNDER_HEADER, site_of, swipe, visits
from making import asked
from playwright.sync_api import Browser, Locator, Page, expect
from test_new_language import LEFT_IN_ENGLISH, in_pseudo
from test_seen import DESK, PHONE, unseen

from d2lmini import complexity
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import module_source

KIND = "path-explorer"
WORDS = {
    language: words(language)["explorers"]["shared"] | words(language)["explorers"]["path"]
    for language in LANGUAGES
}


# ---- the arithmetic


@pytest.mark.parametrize("k", [3, 5, 7])
def test_paths_and_costs_are_those_of_the_package(compute: Any, k: int) -> None:
    page = compute(KIND)
    n = 7
    for kind in complexity.ARCHITECTURES:
        ends = [(a, b) for a in range(1, n + 1) for b in range(1, n + 1)]
        paths = page.evaluate(
            "([kind, ends, k]) => ends.map(([a, b]) => numbers.shortestPath(kind, a, b, k))", [kind, ends, k]
        )
        for (a, b), path in zip(ends, paths, strict=True):
            expected = complexity.shortest_path(kind, n, a, b, k)
            assert (path and len(path)) == (expected and len(expected)), (kind, a, b)
        for length in (1, 2, 7, 33):
            longest = page.evaluate("([kind, n, k]) => numbers.longestPath(kind, n, k)", [kind, length, k])
            assert longest == complexity.maximum_path_length(kind, length, k), (kind, length)
    for convention in complexity.CONVENTIONS:
        for n, d in ((32, 64), (4096, 512)):
            got = page.evaluate("(a) => numbers.multiplyAdds(...a)", [n, d, k, convention])
            assert got == complexity.multiply_adds(n, d, k, convention)


def test_sequential_steps_match_the_dependency_chain(compute: Any) -> None:
    page = compute(KIND)
    steps = page.evaluate("() => [16, 32].map((n) => numbers.sequentialSteps('recurrent', n))")
    assert steps == [16, 32]
    assert page.evaluate("() => numbers.sequentialSteps('attention', 32)") == 1


# ---- by hand


def slider(page: Page, language: str, name: str) -> Locator:
    return page.get_by_role("slider", name=WORDS[language][name], exact=True)


def unfold(page: Page) -> None:
    page.locator("summary").click()


def go_to(page: Page, number: int) -> Locator:
    for _ in range(number - 1):
        page.locator(".task button").nth(2).click()
    return page.locator(".task [role=status]")


def captions(page: Page) -> list[str]:
    return page.locator("figcaption > span").all_inner_texts()


def test_at_first_all_three_paths_are_seen(show: Any) -> None:
    page = show(KIND)
    assert captions(page) == ["4 edges", "5 edges", "1 edge"] and page.locator(".lit").count() == 3
    said = "From input 1 to output 5: convolution 4 edges, recurrent 5 edges, self-attention 1 edge."
    assert page.locator(".said").inner_text() == said
    assert page.locator("figure svg").first.get_attribute("aria-label") == "Convolution: 4 edges"


def test_a_touch_in_the_picture_chooses_input_and_output(show: Any) -> None:
    page = show(KIND)
    for place, (above, below) in enumerate([(7, 2), (3, 6), (1, 1)]):
        picture = page.locator("figure svg").nth(place)
        box = picture.bounding_box()
        for position, y in ((above, 0.2), (below, 0.8)):
            picture.click(position={"x": box["width"] * (position - 0.5) / 7, "y": box["height"] * y})
        assert f"From input {below} to output {above}:" in page.locator(".said").inner_text()
    picture.click(position={"x": 1, "y": box["height"] - 1})
    assert slider(page, "en", "from").get_attribute("aria-valuetext") == "1"


def test_what_is_lit_is_the_path(show: Any) -> None:
    page = show(KIND, query=asked("path", **{"from": 2, "to": 7, "k": 5}))
    expect(page.locator(".said")).to_contain_text("convolution 3 edges, recurrent 6 edges")
    lit = "(all) => all.map((one) => one.getAttribute('d').match(/M/g).length)"
    assert page.locator(".lit").evaluate_all(lit) == [3, 6, 1]
    counts = page.locator("figure").evaluate_all(
        "all => all.map(f => f.querySelectorAll('[data-lit=true]').length)"
    )
    assert counts == [4, 7, 2]
    slider(page, "en", "to").press("Home")  # back to 1: the recurrent layer has none
    assert captions(page) == ["1 edge", "no path", "1 edge"] and page.locator(".lit").count() == 2


def test_by_keyboard_all_can_be_done(show: Any) -> None:
    page = show(KIND)
    slider(page, "en", "from").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    slider(page, "en", "to").press("Home")
    assert (
        page.locator(".said")
        .inner_text()
        .endswith("convolution 4 edges, recurrent no path, self-attention 1 edge.")
    )
    unfold(page)
    for name, key, shown in (("k", "End", "7"), ("n", "ArrowRight", "48"), ("d", "ArrowLeft", "32")):
        slider(page, "en", name).press(key)
        assert slider(page, "en", name).get_attribute("aria-valuetext") == shown
    assert captions(page)[0] == "2 edges"


def test_large_numbers_are_written_as_the_language_writes_them(show: Any) -> None:
    for lang, mark in (("en", "\u202f"), ("vi", "\u202f"), ("zh", "")):
        page = show(KIND, lang)
        first = page.locator("tbody td").first.inner_text().partition("\n")[0]
        count = complexity.multiply_adds(32, 64, 3, "projections")["convolution"]
        assert first == f"{count:,}".replace(",", mark)


def test_the_table_of_costs_names_the_cheapest(show: Any) -> None:
    page = show(KIND)
    go_to(page, 5)
    unfold(page)
    slider(page, "en", "n").press("ArrowLeft")
    costs = complexity.multiply_adds(48, 64, 7, "projections")
    rows = page.locator("tbody tr")
    for row, kind in zip(rows.all(), complexity.ARCHITECTURES, strict=True):
        cells = row.locator("td").all_inner_texts()
        count, _, cheapest = cells[0].partition("\n")
        assert int(count.replace("\u202f", "")) == costs[kind]
        assert bool(cheapest) == (costs[kind] == min(costs.values()))
    assert page.get_by_text("With n = 48, d = 64, k = 7, the least arithmetic: Recurrent.").count() == 1


def test_n_doubles_in_two_steps(show: Any) -> None:
    page = show(KIND)
    unfold(page)
    n = slider(page, "en", "n")
    n.press("Home")
    sizes = []
    for _ in range(29):
        sizes.append(int((n.get_attribute("aria-valuetext") or "").replace("\u202f", "")))
        n.press("ArrowRight")
    assert sizes == [x for p in range(2, 16) for x in (2**p, 3 * 2 ** (p - 1))] + [65536]


# ---- tasks


def guess(page: Page, place: int, edges: int) -> None:
    page.locator("figcaption select").nth(place).select_option(str(edges))


def do_task(page: Page, number: int, language: str) -> None:
    """Do a task as its text asks for it."""
    if number == 1:
        slider(page, language, "from").press("End")
    elif number == 2:
        for edges in (3, 5, 1):  # the second is a wrong guess
            guess(page, 0, edges)
    elif number == 3:
        slider(page, language, "k").press("End")
    elif number == 4:
        page.locator(".control select").select_option("projections")
    else:
        slider(page, language, "n").press("ArrowRight")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_task_is_ticked_by_doing_it_and_its_answer_is_true(show: Any, language: str) -> None:
    page = show(KIND, language)
    told = page.locator(".task [role=status]")
    mark = "" if language == "zh" else "\u202f"
    names = WORDS[language]["names"]
    narrow, wide = (complexity.multiply_adds(32, 64, k, "projections")["convolution"] for k in (3, 7))
    kinds = complexity.ARCHITECTURES
    least = {
        convention: names[kinds.index(min(costs, key=costs.get))]
        for convention in ("order", "mixing", "projections")
        if (costs := complexity.multiply_adds(32, 64, 3, convention))
    }
    assert least["order"] == least["mixing"] == names[2] and least["projections"] == names[1]
    tie = complexity.multiply_adds(96, 64, 7, "projections")
    assert tie["attention"] == tie["convolution"] and wide * 3 == narrow * 7
    edges = [len(complexity.shortest_path(kind, 7, 1, 6, 5)) - 1 for kind in kinds]
    forms = WORDS[language]["edges"]
    shown = [
        [],
        ["2", "3", *(forms["one" if e == 1 and "one" in forms else "other"].format(e=e) for e in edges)],
        ["7/3", f"{narrow:,}".replace(",", mark), f"{wide:,}".replace(",", mark)],
        [names[1]],
        ["96"],
    ]
    for number in range(1, 6):
        assert told.get_attribute("data-done") == "false" and not set("{}_") & set(told.inner_text())
        do_task(page, number, language)
        expect(told).to_have_attribute("data-done", "true")
        answer = told.inner_text()
        assert answer.startswith("✓") and not set("{}_") & set(answer)
        assert all(part in answer for part in shown[number - 1]), (number, answer)
        assert page.locator(".marks [data-done=true]").count() == number
        if number < 5:
            page.locator(".task button").nth(2).click()


def test_edges_are_seen_after_they_are_guessed(show: Any) -> None:
    page = show(KIND)
    told = go_to(page, 2)
    assert page.locator(".lit").count() == 0 and captions(page) == []
    assert page.locator(".said").inner_text() == ""
    assert page.locator("figure svg").first.get_attribute("aria-label") == "Convolution: ?"
    page.locator("figure svg").first.click()  # the pair stays
    guess(page, 0, 3)
    assert captions(page) == ["3 edges ✓"] and page.locator(".lit").count() == 1
    guess(page, 0, 5)
    assert captions(page) == ["3 edges ✓", "6 edges ✗ 5"] and told.get_attribute("data-done") == "false"
    guess(page, 0, 0)
    assert captions(page)[2] == "1 edge ✗ 0" and told.get_attribute("data-done") == "true"
    assert told.inner_text().startswith("✓ 1 of 3 right.")
    assert page.locator(".said").inner_text().startswith("From input 1 to output 6: convolution 3 edges")


def test_a_task_is_not_ticked_by_something_like_it(show: Any) -> None:
    page = show(KIND)
    told = go_to(page, 1)
    slider(page, "en", "from").press("ArrowRight")
    slider(page, "en", "to").press("End")
    assert told.get_attribute("data-done") == "false"
    go_to(page, 3)
    slider(page, "en", "k").press("ArrowRight")  # 3 edges
    unfold(page)
    slider(page, "en", "from").press("ArrowRight")
    slider(page, "en", "from").press("ArrowRight")  # 2 edges, but from 3
    assert captions(page)[0] == "2 edges" and told.get_attribute("data-done") == "false"
    go_to(page, 2)
    page.locator(".control select").select_option("mixing")
    assert told.get_attribute("data-done") == "false"
    slider(page, "en", "n").press("End")  # another n, another winner
    page.locator(".control select").select_option("projections")
    assert told.get_attribute("data-done") == "false"
    go_to(page, 2)
    slider(page, "en", "d").press("ArrowRight")  # n = 96 is where they tie at d = 64
    slider(page, "en", "n").press("ArrowRight")
    assert told.get_attribute("data-done") == "false"


def test_what_changes_is_announced_once(show: Any) -> None:
    page = show(KIND)
    assert page.locator("p[role=status]").count() == 2  # of the picture, and of the task
    go_to(page, 4)
    assert page.locator(".said").inner_text() == (
        "With n = 32, d = 64, k = 3, the least arithmetic: Self-attention."
    )


def test_no_word_is_left_in_english(show: Any, monkeypatch: Any) -> None:
    english = words("en")
    changed = {**english, **{name: in_pseudo(english[name]) for name in ("plots", "explorers")}}
    changed["language"] = {**english["language"], "tag": "en-XA"}
    monkeypatch.setattr(widgets, "words", lambda language: changed)
    source = module_source.__wrapped__(KIND, "en")
    for width in (760, 375):
        page = show(KIND, "en-XA", width=width, source=source)
        page.locator("summary").click()
        for _ in range(5):
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []
            page.locator(".task button").nth(2).click(force=True)


# ---- links


def test_a_shared_link_shows_the_view_that_was_shared(show: Any) -> None:
    page = show(KIND, query=asked("path", n=1024, d=8, k=5, counting="order"))
    unfold(page)
    shown = {
        name: slider(page, "en", name).get_attribute("aria-valuetext")
        for name in ("from", "to", "k", "n", "d")
    }
    assert shown == {"from": "1", "to": "5", "k": "5", "n": "1\u202f024", "d": "8"}
    assert page.get_by_role("combobox").input_value() == "order"
    slider(page, "en", "to").press("End")
    page.wait_for_url(lambda url: '"to":7' in unquote_plus(url) and '"n":1024' in unquote_plus(url))


def test_a_link_beyond_the_sliders_shows_their_ends(show: Any) -> None:
    page = show(
        KIND, query=asked("path", **{"from": -3, "to": 99, "n": 1e300, "d": 0, "k": 4, "counting": "x"})
    )
    unfold(page)
    shown = [
        slider(page, "en", name).get_attribute("aria-valuetext") for name in ("from", "to", "k", "n", "d")
    ]
    assert shown == ["1", "7", "3", "65\u202f536", "8"]
    assert page.get_by_role("combobox").input_value() == "projections"


# ---- seen


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_of(KIND, tmp_path_factory.mktemp("path-book")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    with visits(browser, pages, KIND) as visit:
        yield visit


@pytest.mark.parametrize("kind", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_picture_control_and_task_are_in_view_together(
    visit: Callable[..., Page], kind: dict[str, Any], language: str
) -> None:
    page = visit(kind, language, reduced_motion="reduce")
    root = page.locator(f"[data-widget={KIND}]")
    marked = root.locator("[data-look]")
    for number in range(1, 6):
        looks = marked.evaluate_all("all => all.map((one) => one.dataset.look)")
        assert looks == [
            "task",
            *([] if number == 2 else ["control"]),
            "picture",
        ]  # 2: guesses stand in the picture
        if number == 2:
            assert unseen(page.locator("figcaption select")) == []
            assert root.evaluate(TOO_SMALL) == []
        do_task(page, number, language)
        expect(page.locator(".task [role=status]")).to_have_attribute("data-done", "true")
        root.evaluate(UNDER_HEADER)
        picture = ["figcaption"] if number < 4 else ["tbody td"]
        assert unseen(marked, *(page.locator(part) for part in picture)) == []
        assert root.evaluate(TOO_SMALL) == []
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        if number < 5:
            page.locator(".task button").nth(2).click()


def test_a_swipe_up_that_begins_on_a_control_or_picture_scrolls_the_page(visit: Callable[..., Page]) -> None:
    page = visit(PHONE, "en")
    root = page.locator(f"[data-widget={KIND}]")
    before = page.locator(".said").inner_text()
    for part in (".rail", "figure svg", "figcaption", ".task"):
        root.evaluate(UNDER_HEADER)
        assert swipe(page, page.locator(part).first, 4, -160) > 60, part
        assert page.locator(".said").inner_text() == before, part
    root.evaluate(UNDER_HEADER)
    swipe(page, page.locator(".rail").first, -90, 4)  # sideways it moves the slider
    expect(page.locator(".said")).not_to_have_text(before)


def test_with_reduced_motion_nothing_moves_by_itself(visit: Callable[..., Page]) -> None:
    moving = "() => document.getAnimations().filter((one) => one.effect.target.closest('.desk')).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = visit(DESK, "en", reduced_motion=motion)
        page.wait_for_timeout(500)
        slider(page, "en", "to").press("End")
        assert bool(page.evaluate(moving)) is moves, motion
