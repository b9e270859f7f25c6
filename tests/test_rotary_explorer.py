"""The rotary explorer: its numbers are PyTorch's, hands can be turned, each task is done in sight."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from explorer_pages import UNDER_HEADER, site_of, visits
from making import asked
from playwright.sync_api import Browser, Locator, Page, expect
from test_seen import DESK, PHONE, unseen
from test_writer_explorer import TOO_SMALL

import d2lmini as d2l
from d2lmini.language import LANGUAGES, words

KIND = "rotary-explorer"
WORDS = {
    language: words(language)["explorers"]["shared"] | words(language)["explorers"]["rotary"]
    for language in LANGUAGES
}
LAST = 60


def turns(d: int, base: float = 10000) -> torch.Tensor:
    """The angles by which the pairs turn from position to position."""
    return float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def score(distance: float, d: int = 16, base: float = 10000, ahead: int = 0) -> float:
    """The score of q = k = (1, 0) in each pair, the key turned on by so many positions."""
    return ((distance + ahead) * turns(d, base)).cos().sum().item()


# ---- the arithmetic


@pytest.mark.parametrize("content", ["same", "previous", "mixed"])
@pytest.mark.parametrize("d", [2, 4, 16, 32])
def test_queries_and_keys_are_turned_as_by_the_package(compute: Any, content: str, d: int) -> None:
    page = compute(KIND)
    rotary = d2l.RotaryEmbedding(d, max_len=61)
    for m, n in ((0, 0), (8, 12), (60, 3)):
        got = page.evaluate(
            """([m, n, dims, content]) => {
              const view = { m, n, dims, content, base: 10000 };
              const pairs = numbers.hands(view);
              const plain = numbers.hands({ ...view, m: 0, n: 0 });
              const flat = (list, name) => list.flatMap((pair) => pair[name]);
              return {
                q: flat(plain, "q"), k: flat(plain, "k"), q_m: flat(pairs, "q"), k_n: flat(pairs, "k"),
                score: numbers.score(pairs), distance: numbers.scoreAt(n - m, view),
                cosines: pairs.map(numbers.cosine),
              };
            }""",
            [m, n, d, content],
        )
        q, k = (torch.tensor([got[name]], dtype=torch.float64) for name in "qk")
        q_m, k_n = rotary(q, offset=m)[0], rotary(k, offset=n)[0]
        # its table of sines and cosines is float32
        assert got["q_m"] == pytest.approx(q_m.tolist(), abs=1e-5)
        assert got["k_n"] == pytest.approx(k_n.tolist(), abs=1e-5)
        assert got["score"] == pytest.approx((q_m @ k_n).item(), abs=1e-5)
        assert got["distance"] == pytest.approx(got["score"], abs=1e-9)
        pairs = q_m.view(-1, 2), k_n.view(-1, 2)
        assert got["cosines"] == pytest.approx(torch.cosine_similarity(*pairs).tolist(), abs=1e-4)
        if content == "same":  # the spectrum: the inner product of two rows of the sinusoids
            P = d2l.sinusoids(61, d)
            assert got["score"] == pytest.approx((P[m] @ P[n]).item(), abs=1e-4)


# ---- by hand


def slide(page: Page, label: str, to: int) -> None:
    page.get_by_role("slider", name=label).fill(str(to))


def places(page: Page) -> list[str]:
    return page.locator("output").all_inner_texts()


def tip(page: Page, name: str, pair: int | None = None, part: str = "circle") -> tuple[float, float]:
    """The end of a hand, of the large face or a small clock: its angle from the right, and its length."""
    page.evaluate("document.getAnimations().forEach((one) => one.finish())")
    face = page.locator(".face") if pair is None else page.locator(".clock svg").nth(pair)
    angle, length = face.evaluate(
        """(svg, part) => {
            const middle = (node) => {
                const { left, top, width, height } = node.getBoundingClientRect();
                return [left + width / 2, top + height / 2, width / 2];
            };
            const [x, y] = middle(svg.querySelector(part));
            const [cx, cy, reach] = middle(svg.querySelector(".dial"));
            return [Math.atan2(cy - y, x - cx), Math.hypot(x - cx, y - cy) / reach];
        }""",
        f".hand.{name} {part}",
    )
    return angle, length


def turn(page: Page, begin: float, by: float) -> None:
    """Take the large face with the mouse at an angle from the right, and turn it counterclockwise."""
    box = page.locator(".face .dial").first.bounding_box()
    assert box
    x, y, r = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 3
    steps = max(2, math.ceil(abs(by) / 0.5))
    for i in range(steps + 1):
        angle = begin + by * i / steps
        page.mouse.move(x + r * math.cos(angle), y - r * math.sin(angle))
        if not i:
            page.mouse.down()
    page.mouse.up()


def near(angle: float, expected: float, by: float = 0.03) -> bool:
    return abs(math.remainder(angle - expected, 2 * math.pi)) < by


def test_sliding_both_keeps_the_score_and_moving_one_changes_it(show: Any) -> None:
    page = show(KIND)
    said = page.locator(".said")
    assert said.get_attribute("role") == "status"
    expect(said).to_contain_text(f"distance 4, score {score(4):.3f}.")
    both = page.get_by_role("slider", name="Both")
    for key in ("ArrowRight", "ArrowRight", "End", "Home"):
        both.press(key)
        expect(said).to_contain_text(f"distance 4, score {score(4):.3f}.")
    assert places(page) == ["0", "4", "0, 4"]
    page.get_by_role("slider", name="Key").press("ArrowRight")
    expect(said).to_contain_text(f"distance 5, score {score(5):.3f}.")
    page.get_by_role("slider", name="Query").press("End")
    assert places(page) == ["60", "5", "60, 5"]
    expect(said).to_contain_text(f"distance −55, score {score(55):.3f}.")


def test_hands_of_queries_and_keys_turn_counterclockwise(show: Any) -> None:
    """From (1, 0), to the right, upward; in the small clocks as in the large face."""
    page = show(KIND, query=asked("rotary", m=0, n=2, pair=1))
    for pair in (None, 1):
        angle, length = tip(page, "q", pair)
        assert near(angle, 0)
        assert near(tip(page, "k", pair)[0], 2 * turns(16)[1].item())
        assert length == pytest.approx(1 if pair is None else 27 / 32, abs=0.03)
    assert near(tip(page, "q", part="text")[0], 0, 0.1)  # its name stands at its end
    assert near(tip(page, "k", part="text")[0], 2 * turns(16)[1].item(), 0.1)


def test_hands_are_as_long_as_their_pairs(show: Any, compute: Any) -> None:
    page = show(KIND, query=asked("rotary", m=3, n=7, content="mixed", pair=2))
    q, k = compute(KIND).evaluate("() => Object.values(numbers.CONTENTS.mixed(2))")
    page = show(KIND, query=asked("rotary", m=3, n=7, content="mixed", pair=2))
    for name, vector, place in (("q", q, 3), ("k", k, 7)):
        angle, length = tip(page, name)
        assert length == pytest.approx(math.hypot(*vector), abs=0.02)
        assert near(angle, math.atan2(vector[1], vector[0]) + place * turns(16)[2].item(), 0.05)


def test_a_hand_that_is_turned_takes_its_position_along(show: Any) -> None:
    page = show(KIND, query=asked("rotary", m=8, n=12))
    turn(page, 12.0, 3.1)  # the key
    assert places(page)[:2] == ["8", "15"]
    turn(page, 8.0, -2.1)  # the query
    assert places(page)[:2] == ["6", "15"]
    turn(page, (6 + 15) / 2 + math.pi, 4.2)  # between the two: both
    assert places(page) == ["10", "19", "10, 19"]
    turn(page, 10.0 + 4.5, -30)  # back: both stop when the first of them has come to the beginning
    assert places(page) == ["0", "9", "0, 9"]
    slide(page, "Key", 58)
    turn(page, 58.0, 20)
    assert places(page)[:2] == ["0", "60"]


def test_the_curve_marks_the_score_of_now(show: Any) -> None:
    page = show(KIND, query=asked("rotary", m=20, n=50))
    shown = """(svg) => ({
        dot: svg.querySelector(".dot").style.transform.match(/[\\d.]+(?=px)/g).map(Number),
        line: svg.querySelector(".line").getAttribute("d").slice(1).split("L")
            .map((point) => point.split(" ").map(Number)),
        rules: [...svg.querySelectorAll(".rule")]
            .map((rule) => Number(rule.getAttribute("d").split(/[ H]/)[1])),
    })"""
    for distance, m, n in ((30, 20, 50), (0, 20, 20), (-30, 50, 20)):
        slide(page, "Query", m)
        slide(page, "Key", n)
        found = page.locator(".curve").evaluate(shown)
        top, zero, _ = found["rules"]
        heights = [(zero - y) / (zero - top) * 8 for _, y in found["line"]]
        assert heights == pytest.approx([score(t / 2 - LAST) for t in range(4 * LAST + 1)], abs=0.02)
        assert found["dot"] == pytest.approx(found["line"][2 * (distance + LAST)], abs=0.11)


def test_a_clock_is_chosen_by_the_keyboard(show: Any) -> None:
    page = show(KIND)
    page.locator(".clock").nth(5).press("Enter")
    assert page.locator(".clock").nth(5).get_attribute("aria-pressed") == "true"
    assert page.locator(".face").get_attribute("aria-label") == "Pair 5: dimensions 10 and 11"
    page.locator("summary").click()
    page.get_by_label("Dimensions d").select_option("4")
    assert page.locator(".clock").count() == 2
    assert page.locator(".clock[aria-pressed=true]").count() == 1
    page.get_by_label("Contents").select_option("previous")
    slide(page, "Key", 7)
    expect(page.locator(".said")).to_contain_text("distance −1, score 2.000.")


# ---- links


def test_a_link_beyond_the_sliders_shows_their_ends(show: Any) -> None:
    page = show(KIND, query=asked("rotary", m=1e300, n=-4, dims=7, base=12, content="constructor", pair=99))
    assert places(page) == ["60", "0", "60, 0"]
    assert page.get_by_label("Base").input_value() == "10000"
    assert page.locator(".clock").count() == 8
    assert page.locator(".clock").nth(7).get_attribute("aria-pressed") == "true"
    expect(page.locator(".said")).to_contain_text(f"score {score(60):.3f}.")  # q = k


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    slide(page, "Key", 40)
    page.get_by_label("Base").select_option("100")
    page.locator("summary").click()
    page.get_by_label("Contents").select_option("mixed")
    page.locator(".clock").nth(2).click()
    page.wait_for_url(lambda url: "rotary=" in url)
    page.wait_for_timeout(500)
    seen, query = page.locator(".said").inner_text(), page.evaluate("location.search")
    page = show(KIND, query=query)
    assert page.locator(".said").inner_text() == seen
    assert page.locator(".clock").nth(2).get_attribute("aria-pressed") == "true"


# ---- tasks


def do_task(page: Page, number: int, language: str) -> None:
    """Do a task as its text asks for it: by the mouse, by the keyboard."""
    said = WORDS[language]
    if number == 1:
        turn(page, 10 + math.pi, 6.1)
    elif number == 2:
        slide(page, said["key"], 15)
    elif number == 3:
        for _ in range(4):
            page.get_by_role("slider", name=said["key"]).press("ArrowLeft")
    elif number == 4:
        slide(page, said["key"], 54)
    else:
        page.get_by_label(said["base"]).select_option("500000")


def told_numbers() -> list[list[str]]:
    """What the answers have to say, from the formula."""
    best = max(range(-LAST, LAST + 1), key=lambda c: score(c, ahead=1))
    assert (best, score(best, ahead=1)) == (-1, 8)
    far = [f"{score(LAST, 32, base):.2f}".replace("-", "−") for base in (10, 10000, 500000)]
    return [
        [f"{score(4):.3f}", f"{math.degrees(4):.0f}°"],
        [f"{score(5):.3f}", "8"],
        ["−1", "8"],
        ["44", f"{math.cos(44):.3f}", f"{math.degrees(44):.0f}°", "7 × 360°"],
        far,
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_task_is_ticked_by_doing_it(show: Any, language: str) -> None:
    page = show(KIND, language)
    told = page.locator(".task [role=status]")
    values = [
        {}, {"five": f"{score(5):.3f}"}, {}, {"near": f"{math.cos(1):.3f}"},
        {"last": "60", "most": "16", "score": f"{score(60, 32):.2f}"},
    ]  # fmt: skip
    for number, numbers in enumerate(told_numbers(), 1):
        expect(told).to_have_text(WORDS[language]["tasks"][number - 1].format(**values[number - 1]))
        do_task(page, number, language)
        expect(told).to_have_attribute("data-done", "true")
        text = told.inner_text()
        assert text.startswith("✓") and "{" not in text and "_" not in text
        for value in numbers:
            assert value in text, (number, value, text)
        assert page.locator(".marks [data-done=true]").count() == number
        if number < 5:
            page.locator(".task button").nth(2).click()
    assert page.locator(".task button").nth(2).is_disabled()


def test_an_answer_opens_after_a_try_and_ticks_nothing(show: Any) -> None:
    page = show(KIND)
    for number in range(1, 6):
        assert page.locator(".tell").count() == 0
        page.locator(".clock").first.click()
        page.locator(".tell").click()
        expect(page.locator(".task [role=status]")).not_to_contain_text("{")
        assert page.locator(".marks [data-done=true]").count() == 0
        if number < 5:
            page.locator(".task button").nth(2).click()
    page.locator(".task button").nth(1).click()
    page.locator(".clock").first.click()
    expect(page.locator(".task")).to_contain_text(f"At distance 6 the score is {math.cos(6):.3f}")


def test_a_task_is_not_ticked_by_something_like_it(show: Any) -> None:
    page = show(KIND)
    told = page.locator(".task [role=status]")

    def not_done() -> None:
        expect(page.locator(".tell")).to_be_visible()
        assert told.get_attribute("data-done") == "false"

    slide(page, "Both", 12)  # by four
    not_done()
    slide(page, "Key", 18)  # another distance
    not_done()
    page.locator(".task button").nth(2).click()
    slide(page, "Key", 14)  # one too far
    not_done()
    page.locator("summary").click()
    page.get_by_label("Contents").select_option("previous")
    slide(page, "Key", 15)  # with other contents
    not_done()
    page.locator(".task button").nth(2).click()
    slide(page, "Key", 20)  # where it would be with q = k
    not_done()
    page.locator(".task button").nth(2).click()
    slide(page, "Key", 10)  # the same place
    not_done()
    slide(page, "Key", 23)  # cos 13 = 0.907
    not_done()
    page.locator(".task button").nth(2).click()
    page.get_by_label("Base").select_option("1000")  # lower
    not_done()


# ---- seen


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_of(KIND, tmp_path_factory.mktemp("rotary-book")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    with visits(browser, pages, KIND) as opened:
        yield opened


def where(page: Page) -> float:
    """How far below the top of the explorer its face stands."""
    top = "e => e.querySelector('.face').getBoundingClientRect().top - e.getBoundingClientRect().top"
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
        "task", "control", "picture", "picture",
    ]  # fmt: skip
    for number in range(1, 6):
        stood = [where(page)]
        slide(page, WORDS[language]["key"], 30)  # a try
        page.locator(".task .tell").wait_for()
        stood.append(where(page))
        page.locator(".task button").first.click()
        do_task(page, number, language)
        expect(page.locator(".task [role=status]")).to_have_attribute("data-done", "true")
        stood.append(where(page))
        assert max(stood) - min(stood) <= 1, (number, stood)  # or a hand moves away under the finger
        root.evaluate(UNDER_HEADER)
        assert (
            unseen(marked, page.locator(".said"), page.locator(".rail"), page.locator(".control select"))
            == []
        )
        assert root.evaluate(TOO_SMALL) == []
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        if number < 5:
            page.locator(".task button").nth(2).click()
    page.locator("summary").last.click()
    assert root.evaluate(TOO_SMALL) == []


def test_a_finger_turns_a_hand_sideways_first_and_scrolls_up_or_down(visit: Callable[..., Page]) -> None:
    page = visit(PHONE, "en")
    tools = page.context.new_cdp_session(page)
    root = page.locator(f"[data-widget={KIND}]")

    def swipe(part: Locator, way: list[tuple[float, float]]) -> float:
        """Move a finger along a way around the middle of a part, and return how far the page scrolled."""
        box, before = part.bounding_box(), page.evaluate("scrollY")
        assert box
        left, top = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for i, (x, y) in enumerate(way):
            send = {
                "type": "touchMove" if i else "touchStart",
                "touchPoints": [{"x": left + x, "y": top + y}],
            }
            tools.send("Input.dispatchTouchEvent", send)
        tools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(300)
        return page.evaluate("scrollY") - before

    slide(page, "Query", 0)
    slide(page, "Key", 14)  # 14 rad: the key points up to the right, 82° from the query
    around = [(50 * math.cos(1.7 + a * 0.25), -50 * math.sin(1.7 + a * 0.25)) for a in range(14)]
    assert swipe(page.locator(".face .dial").first, around) == 0
    assert places(page)[0] == "0" and places(page)[1] in ("16", "17")
    before = page.locator(".said").inner_text()
    upward = [(i / 2, -20.0 * i) for i in range(9)]
    for part in (".face", ".curve", ".rail", ".task"):
        assert swipe(page.locator(part).first, upward) > 60, part
        assert page.locator(".said").inner_text() == before, part
        root.evaluate(UNDER_HEADER)


def test_with_reduced_motion_nothing_moves_by_itself(visit: Callable[..., Page]) -> None:
    moving = "() => document.getAnimations().filter((one) => one.effect.target.closest('.d2l-rotary')).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = visit(DESK, "en", reduced_motion=motion)
        slide(page, "Key", 30)
        assert bool(page.evaluate(moving)) is moves, motion
