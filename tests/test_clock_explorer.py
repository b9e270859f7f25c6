"""The clocks: their numbers are PyTorch's, a hand can be turned, each task is done in sight."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from explorer_pages import TOO_SMALL, UNDER_HEADER, follow, site_of, visits
from making import asked
from playwright.sync_api import Browser, Page, expect
from test_seen import DESK, PHONE, unseen

import d2lmini as d2l
from d2lmini.language import LANGUAGES, words

KIND = "clock-explorer"
WORDS = {
    language: words(language)["explorers"]["shared"] | words(language)["explorers"]["clock"]
    for language in LANGUAGES
}
LAST = 60


def turns(d: int, base: float = 10000) -> torch.Tensor:
    """The angles by which the pairs turn from position to position."""
    return float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def alike(distance: int, d: int, base: float = 10000) -> float:
    return (distance * turns(d, base)).cos().sum().item()


# ---- the arithmetic


@pytest.mark.parametrize("base", [10, 10000, 500000])
def test_wavelengths_and_likeness_are_those_of_the_formula(compute: Any, base: int) -> None:
    page = compute(KIND)
    for d in (4, 8, 16, 32):
        waves = page.evaluate(
            "([d, base]) => Array.from({ length: d / 2 }, (_, j) => numbers.wavelength(j, d, base))",
            [d, base],
        )
        assert waves == pytest.approx((2 * torch.pi / turns(d, base)).tolist(), rel=1e-12)
        near = alike(1, d, base)
        expected = next((c for c in range(2, LAST + 1) if alike(c, d, base) >= near), None)
        got = page.evaluate("([d, base]) => numbers.firstAlike(d, base) ?? null", [d, base])
        assert got == expected, d
        inner = page.evaluate("([d, base]) => [1, 7, 60].map((c) => numbers.alike(c, d, base))", [d, base])
        assert inner == pytest.approx([alike(c, d, base) for c in (1, 7, 60)], abs=1e-9)


@pytest.mark.parametrize("d", [4, 16, 32])
def test_clocks_show_the_encoding_of_the_package(compute: Any, d: int) -> None:
    page = compute(KIND)
    rows = page.evaluate("(d) => Array.from({ length: 73 }, (_, i) => numbers.encoding(i, d))", d)
    P = torch.tensor(rows, dtype=torch.float64)
    i, j = torch.arange(73, dtype=torch.float64)[:, None], torch.arange(0, d, 2, dtype=torch.float64)
    angles = i / 10000 ** (j / d)
    expected = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    torch.testing.assert_close(P, expected, rtol=0, atol=1e-9)
    # and, as exactly as its float32 table allows, the package's own
    table = d2l.PositionalEncoding(d, 0.0, max_len=73).P[0].double()
    torch.testing.assert_close(P, table, rtol=0, atol=1e-5)


# ---- by hand


def slide(page: Page, label: str, to: int) -> None:
    page.get_by_role("slider", name=label).fill(str(to))


def hands(page: Page, pair: int) -> list[float]:
    """Angles of a clock's hands from straight up, clockwise; the dashed one is drawn first."""
    found = page.locator(".clock").nth(pair).locator(".hand").evaluate_all(
        "(all) => all.map((one) => parseFloat(one.style.transform.slice(7)))"
    )  # fmt: skip
    return list(found)


def test_it_says_the_inner_product_of_the_two_positions(show: Any) -> None:
    page = show(KIND, query=asked("clock", position=7, shift=3))
    P = d2l.PositionalEncoding(16, 0.0).P[0].double()
    said = page.locator(".said")
    expect(said).to_contain_text(f"Inner product of positions 7 and 10: {P[7] @ P[10]:.3f} ")
    expect(said).to_contain_text(f"of neighbors {P[7] @ P[8]:.3f}, of a position with itself 8")
    assert said.get_attribute("role") == "status"
    page.get_by_role("slider", name="Offset δ").press("Home")
    expect(said).to_have_text("Position −5 would be negative: the first position is 0.")


def test_hands_start_upward_and_turn_to_the_right(show: Any) -> None:
    page = show(KIND, query=asked("clock", position=4, shift=2))
    for pair in (0, 1, 7):
        omega = turns(16)[pair].item()
        assert hands(page, pair) == pytest.approx([6 * omega, 4 * omega], abs=1e-3)
    tip = """(node) => {
        const [hand, face] = [node.querySelector(".hand:not(.to) circle"), node.firstChild].map((one) =>
            one.getBoundingClientRect());
        const middle = ({ left, top, width, height }) => [left + width / 2, top + height / 2];
        const [[x, y], [cx, cy]] = [middle(hand), middle(face)];
        return Math.atan2(x - cx, cy - y);
    }"""
    page.evaluate("document.getAnimations().forEach((one) => one.finish())")
    assert page.locator(".clock").nth(1).evaluate(tip) == pytest.approx(4 * turns(16)[1].item(), abs=0.05)


def test_a_base_is_one_of_five_and_named(show: Any) -> None:
    page = show(KIND, query=asked("clock", dims=4, pair=1))
    base = page.get_by_label("Base")
    assert base.locator("option").all_inner_texts() == [
        "10", "100", "1\u202f000", "10\u202f000", "500\u202f000",
    ]  # fmt: skip
    second = page.locator(".clock").nth(1)
    for value, wave in (("10000", "λ 628"), ("10", "λ 19.9"), ("500000", "λ 4\u202f443")):
        base.select_option(value)
        expect(second).to_contain_text(wave)
    page.get_by_label("Dimensions d").select_option("16")
    expect(page.locator(".clock")).to_have_count(8)


def test_turning_a_hand_moves_the_position(show: Any) -> None:
    page = show(KIND, query=asked("clock", position=7))
    box = page.locator(".clock svg").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y - 25)
    page.mouse.down()
    page.mouse.move(x + 18, y - 18)
    page.mouse.move(x + 25, y)  # a quarter turn clockwise, π/2 at 0.316 a step: five positions
    page.mouse.up()
    assert page.get_by_role("slider", name="Position i").input_value() == "12"
    assert page.locator(".clock").nth(1).get_attribute("aria-pressed") == "true"
    page.mouse.move(x, y - 25)
    page.mouse.down()
    for dx, dy in [(-25, 0), (0, 25), (25, 0), (0, -25)] * 2:  # back by 40 positions: it stops at the first
        page.mouse.move(x + dx, y + dy)
    page.mouse.up()
    assert page.locator("output").first.inner_text() == "0"


def test_a_clock_is_chosen_by_the_keyboard(show: Any) -> None:
    page = show(KIND)
    page.locator(".clock").nth(5).press("Enter")
    assert page.locator(".clock").nth(5).get_attribute("aria-pressed") == "true"
    assert page.locator(".wave").get_attribute("aria-label") == "Pair 5: dimensions 10 and 11"
    page.get_by_label("Dimensions d").select_option("4")
    assert page.locator(".clock[aria-pressed=true]").count() == 1


# ---- links


def test_a_link_beyond_the_sliders_shows_their_ends(show: Any) -> None:
    page = show(KIND, query=asked("clock", position=1e9, shift=-99, dims=-4, pair=50))
    assert page.locator("output").all_inner_texts() == ["60", "-12"]
    assert page.get_by_label("Base").input_value() == "10000"
    assert page.locator(".clock").count() == 8
    assert page.locator(".clock[aria-pressed=true]").count() == 1


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    slide(page, "Position", 20)
    page.get_by_label("Base").select_option("100")
    page.locator(".clock").nth(2).click()
    page.wait_for_url(lambda url: "clock=" in url)
    page.wait_for_timeout(500)
    seen, query = page.locator(".said").inner_text(), page.evaluate("location.search")
    page = show(KIND, query=query)
    assert page.locator(".said").inner_text() == seen
    assert page.locator(".clock").nth(2).get_attribute("aria-pressed") == "true"


# ---- tasks


def do_task(page: Page, number: int, language: str) -> None:
    """Do a task as its text asks for it."""
    shared = WORDS[language]
    if number == 1:
        box = page.locator(".clock svg").first.bounding_box()
        assert box
        x, y, r = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 3
        page.mouse.move(x, y - r)
        page.mouse.down()
        for step in range(1, 13):
            page.mouse.move(x + r * math.sin(step * math.pi / 6), y - r * math.cos(step * math.pi / 6))
        page.mouse.up()
    elif number == 2:
        page.locator(".clock").nth(4).press("Enter")
    elif number == 3:
        slide(page, shared["position"], 20)
    elif number == 4:
        slide(page, shared["shift"], -6)
    else:
        page.get_by_label(shared["base"]).select_option("10")


def told_numbers() -> list[list[str]]:
    """What the answers have to say, from the formula."""
    degrees = torch.rad2deg(turns(16)).tolist()
    waves = [2 * torch.pi / turns(16, base)[-1].item() for base in (10, 10000, 500000)]
    assert waves[0] < LAST and degrees[3] > 1 > degrees[4]
    return [
        [f"{360 - 6 * degrees[0]:.0f}°", f"{6 * degrees[1]:.0f}°", "6.3"],
        ["{:.0f}°, {:.0f}°".format(*degrees), f"{degrees[4]:.2f}°", f"{360 / degrees[4]:.0f}"],
        [f"{3 * degrees[0]:.0f}°", f"{3 * degrees[1]:.0f}°", f"{alike(3, 16):.3f}"],
        ["6", f"{alike(6, 4):.3f}", f"{alike(1, 4):.3f}", "628"],
        [
            f"{waves[0]:.1f}",
            f"{waves[1]:,.0f}".replace(",", "\u202f"),
            f"{waves[2]:,.0f}".replace(",", "\u202f"),
        ],
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_task_is_ticked_by_doing_it(show: Any, language: str) -> None:
    page = show(KIND, language)
    told = page.locator(".task [role=status]")
    for number, numbers in enumerate(told_numbers(), 1):
        expect(told).to_have_text(WORDS[language]["tasks"][number - 1].replace("{last}", "60"))
        do_task(page, number, language)
        expect(told).to_have_attribute("data-done", "true")
        text = told.inner_text()
        assert text.startswith("✓") and "{" not in text
        for value in numbers:
            parts = value.replace("°, ", "°、") if language == "zh" else value
            assert (parts.replace("\u202f", "") if language == "zh" else parts) in text, (number, value, text)
        assert page.locator(".marks [data-done=true]").count() == number
        if number < 5:
            page.locator(".task button").nth(2).click()
    assert page.locator(".task button").nth(2).is_disabled()


def test_an_answer_opens_after_a_try_and_ticks_nothing(show: Any) -> None:
    page = show(KIND)
    for number in range(1, 6):
        assert page.locator(".tell").count() == 0
        page.locator(".clock").nth(1 if number < 4 else 0).click()
        page.locator(".tell").click()
        expect(page.locator(".task [role=status]")).not_to_contain_text("{")
        assert page.locator(".marks [data-done=true]").count() == 0
        if number < 5:
            page.locator(".task button").nth(2).click()


def test_a_task_is_not_ticked_by_something_like_it(show: Any) -> None:
    page = show(KIND)
    told = page.locator(".task [role=status]")
    slide(page, "Position", 5)
    assert told.get_attribute("data-done") == "false"
    page.locator(".task button").nth(2).click()
    page.locator(".clock").nth(5).click()
    assert told.get_attribute("data-done") == "false"
    page.locator(".task button").nth(2).click()
    slide(page, "Offset", 4)
    slide(page, "Position", 30)
    assert told.get_attribute("data-done") == "false"
    page.locator(".task button").nth(2).click()
    slide(page, "Offset", 5)
    assert told.get_attribute("data-done") == "false"
    page.locator(".task button").nth(2).click()
    page.get_by_label("Base").select_option("100")
    assert told.get_attribute("data-done") == "false"


# ---- seen


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_of(KIND, tmp_path_factory.mktemp("clock-book")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    with visits(browser, pages, KIND) as visit:
        yield visit


def where(page: Page) -> float:
    """How far below the top of the explorer its clocks stand."""
    top = "e => e.querySelector('.clocks').getBoundingClientRect().top - e.getBoundingClientRect().top"
    found: float = page.locator(f"[data-widget={KIND}]").evaluate(top)
    return found


@pytest.mark.parametrize("kind", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_picture_controls_and_task_are_in_view_together(
    visit: Callable[..., Page], kind: dict[str, Any], language: str
) -> None:
    page = visit(kind, language)
    root = page.locator(f"[data-widget={KIND}]")
    marked = root.locator("[data-look]")
    assert marked.evaluate_all("all => all.map((one) => one.dataset.look)") == [
        "task", "picture", "picture", "control",
    ]  # fmt: skip
    for number in range(1, 6):
        stood = [where(page)]
        slide(page, WORDS[language]["shift"], 2)  # a try
        page.locator(".task .tell").wait_for()
        stood.append(where(page))
        page.locator(".task button").first.click()
        do_task(page, number, language)
        expect(page.locator(".task [role=status]")).to_have_attribute("data-done", "true")
        stood.append(where(page))
        assert max(stood) - min(stood) <= 1, (number, stood)  # or a hand moves away under the finger
        root.evaluate(UNDER_HEADER)
        assert unseen(marked, page.locator(".clock"), page.locator(".rail"), page.locator("select")) == []
        assert root.evaluate(TOO_SMALL) == []
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        if number < 5:
            page.locator(".task button").nth(2).click()


def test_a_finger_turns_a_hand_sideways_first_and_scrolls_up_or_down(visit: Callable[..., Page]) -> None:
    page = visit(PHONE, "en")
    root, said = page.locator(f"[data-widget={KIND}]"), page.locator(".said")
    around = [(20 * math.sin(a * math.pi / 12), -20 * math.cos(a * math.pi / 12)) for a in range(26)]
    assert follow(page, page.locator(".clock svg").first, around) == 0
    expect(said).to_contain_text("Position 6:")
    before = said.inner_text()
    upward = [(i / 2, -20.0 * i) for i in range(9)]
    for part in (".clock svg", ".wave", ".rail", ".task"):
        assert follow(page, page.locator(part).first, upward) > 60, part
        assert said.inner_text() == before, part
        root.evaluate(UNDER_HEADER)


def test_with_reduced_motion_nothing_moves_by_itself(visit: Callable[..., Page]) -> None:
    moving = "() => document.getAnimations().filter((one) => one.effect.target.closest('.d2l-clock')).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = visit(DESK, "en", reduced_motion=motion)
        slide(page, "Position", 30)
        assert bool(page.evaluate(moving)) is moves, motion
