"""Attention in the plane: its numbers are PyTorch's, its tasks judge results, scales hold under the hand."""

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
import torch
from explorer_pages import UNDER_HEADER, site_of, visits
from making import asked
from pairing import WIDE_AND_NARROW
from playwright.sync_api import Browser, Locator, Page, expect
from test_new_language import LEFT_IN_ENGLISH, in_pseudo
from test_seen import DESK, PHONE, overlapping, unseen

import d2lmini as d2l
from d2lmini.attention import scaled_dot_product
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import module_source

X = [[1.0, 0.0], [-0.6, -0.8], [0.96, 0.28], [0.28, 0.96], [0.0, 1.0]]
CATS, AND, DOGS, DRINK, MILK = range(5)
IDENTITY = [[1.0, 0.0], [0.0, 1.0]]
OPPOSITE = [[-1.0, 0.0], [0.0, -1.0]]
SWAP = [[0.0, 1.0], [1.0, 0.0]]
ZERO = [[0.0, 0.0], [0.0, 0.0]]
KIND = "plane-explorer"
WORDS = {
    language: words(language)["explorers"]["shared"] | words(language)["explorers"]["plane"]
    for language in LANGUAGES
}
STILL = "() => { for (const one of document.getAnimations()) one.finish(); }"


def flat(rows: list[list[float]]) -> str:
    return " ".join(f"{x:g}" for row in rows for x in row)


def result(
    page: Page, tokens: Any = X, q: Any = IDENTITY, k: Any = IDENTITY, v: Any = IDENTITY, scale: bool = True
) -> dict:
    call = "([X, W, scale]) => numbers.attend(X, W, scale)"
    return page.evaluate(call, [tokens, {"q": q, "k": k, "v": v}, scale])


def missions(page: Page, asking: int = MILK, tokens: Any = X, **matrices: Any) -> list[str]:
    """The missions that tokens and matrices fulfil."""
    call = """([result, X, asking]) => Object.keys(numbers.MISSIONS)
        .filter((name) => numbers.MISSIONS[name]({ ...result, X, asking, scale: true }))"""
    return page.evaluate(call, [result(page, tokens, **matrices), tokens, asking])


def numbers_in(page: Page, name: str) -> list[str]:
    return [page.get_by_label(f"W_{name}, row {i}, column {j}").input_value() for i in (1, 2) for j in (1, 2)]


def done(page: Page) -> bool:
    return page.locator(".task [role=status]").get_attribute("data-done") == "true"


def to_task(page: Page, number: int) -> None:
    for _ in range(number - 1):
        page.locator(".task button").nth(2).click()


def ring(page: Page, name: str, row: int, language: str = "en") -> Locator:
    return page.get_by_role("slider", name=WORDS[language]["row"].format(matrix=f"W_{name}", i=row))


def write(page: Page, name: str, numbers: list[float], language: str = "en") -> None:
    """Write numbers into a matrix, row after row."""
    for at, number in enumerate(numbers):
        label = WORDS[language]["cell"].format(matrix=f"W_{name}", i=at // 2 + 1, j=at % 2 + 1)
        page.get_by_label(label).fill(f"{number:g}")
        page.keyboard.press("Enter")


def texts(page: Page) -> list[str]:
    """What the pictures and the bars show."""
    return [*page.locator("svg").evaluate_all("(all) => all.map((one) => one.outerHTML)"),
            page.locator(".bars").inner_text()]  # fmt: skip


def place(slider: Locator) -> str | None:
    return slider.get_attribute("aria-valuetext")


def middle(slider: Locator) -> tuple[float, float]:
    box = slider.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# ---- the arithmetic


@pytest.mark.parametrize("scale", [True, False])
def test_every_number_is_that_of_pytorch(compute: Any, scale: bool) -> None:
    page = compute(KIND)
    generator = torch.Generator().manual_seed(1)
    for size in (0.5, 1, 20):
        tokens = torch.randn(5, 2, generator=generator, dtype=torch.float64)
        W_q, W_k, W_v = size * torch.randn(3, 2, 2, generator=generator, dtype=torch.float64)
        got = result(page, tokens.tolist(), W_q.tolist(), W_k.tolist(), W_v.tolist(), scale)
        Q, K, V = tokens @ W_q, tokens @ W_k, tokens @ W_v
        scores = Q @ K.T / (math.sqrt(2) if scale else 1)
        weights = torch.softmax(scores, dim=1)
        expected = {"Q": Q, "K": K, "V": V, "scores": scores, "weights": weights, "outputs": weights @ V}
        for name, value in expected.items():
            torch.testing.assert_close(
                torch.tensor(got[name], dtype=torch.float64), value, atol=1e-9, rtol=1e-9
            )
        if scale:
            fused = torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None])[0]
            torch.testing.assert_close(torch.tensor(got["outputs"], dtype=torch.float64), fused)
        only = page.evaluate("([q, k]) => numbers.product(q, k)", [W_q.tolist(), W_k.tolist()])
        torch.testing.assert_close(torch.tensor(only, dtype=torch.float64), W_q @ W_k.T)


def test_the_tokens_are_those_of_the_chapter(compute: Any) -> None:
    page = compute(KIND)
    assert page.evaluate("numbers.TOKENS") == X
    tokens = torch.tensor(X)
    output, weights = scaled_dot_product(tokens, tokens, tokens)
    got = result(page)
    torch.testing.assert_close(torch.tensor(got["outputs"]), output)
    torch.testing.assert_close(torch.tensor(got["weights"]), weights)


@pytest.mark.parametrize("language", LANGUAGES)
def test_their_words_are_those_of_the_chapter(show: Any, language: str) -> None:
    tokens = words(language)["plots"]["cats and dogs drink milk"].split()
    assert show(KIND, language).locator("[role=radio]").all_inner_texts() == tokens


def test_a_foot_times_the_length_of_the_query_is_the_score(compute: Any) -> None:
    page = compute(KIND)
    key, query = [2.0, -1.0], [0.5, 1.5]
    x, y = page.evaluate("(a) => numbers.foot(...a)", [key, query])
    assert x * query[1] == pytest.approx(y * query[0])  # it lies on the query's line
    assert (key[0] - x) * query[0] + (key[1] - y) * query[1] == pytest.approx(0)  # and below the key
    score = key[0] * query[0] + key[1] * query[1]
    assert math.copysign(math.hypot(x, y), x * query[0] + y * query[1]) * math.hypot(*query) == pytest.approx(
        score
    )
    assert page.evaluate("(a) => numbers.foot(...a)", [key, [0, 0]]) is None


def test_a_hull_has_the_corners_and_nothing_else(compute: Any) -> None:
    page = compute(KIND)
    hull = lambda points: page.evaluate("(points) => numbers.hull(points)", points)  # noqa: E731
    square = [[0, 0], [2, 0], [2, 2], [0, 2]]
    assert hull([[1, 1], *square[::-1], [1, 0], [2, 1]]) == square
    assert hull([[0, 0], [1, 1], [3, 3]]) == [[0, 0], [3, 3]]  # all on a line
    assert hull([[1, 1]] * 5) == [[1, 1], [1, 1]]  # there and back


def test_an_output_never_leaves_the_hull(compute: Any) -> None:
    """What the last mission asks for is impossible: no corner sees an output on its right."""
    page = compute(KIND)
    generator = torch.Generator().manual_seed(2)
    for _ in range(40):
        tokens, q, k, v = (
            (5 * torch.randn(n, 2, generator=generator, dtype=torch.float64)).tolist() for n in (5, 2, 2, 2)
        )
        got = result(page, tokens, q, k, v)
        corners = page.evaluate("(points) => numbers.hull(points)", got["V"])
        for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
            for x, y in got["outputs"]:
                assert (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= -1e-6


# ---- the missions: whatever leads to the result is a solution


@pytest.mark.parametrize(
    ("mission", "asking", "solution"),
    [
        ("milk", MILK, {"q": SWAP}),
        ("milk", MILK, {"k": SWAP}),
        ("milk", CATS, {"q": [[1, 0], [5, -2]]}),  # about milk, whoever asks
        ("milk", MILK, {"tokens": [[0, 1.4], *X[1:]]}),  # the token itself was moved
        ("away", MILK, {"q": OPPOSITE}),
        ("away", MILK, {"k": OPPOSITE}),
        ("away", MILK, {"q": [[-3, 0], [0, -3]], "k": [[2, 0], [0, 2]]}),
        ("away", MILK, {"q": [[0, 1], [-1, 0]], "k": [[0, -1], [1, 0]]}),  # a quarter turn each
        ("alike", MILK, {"q": ZERO}),
        ("alike", MILK, {"k": ZERO}),
        ("alike", MILK, {"tokens": [[0.3, 0.4]] * 5}),
        ("alike", MILK, {"q": [[0, 1], [0, 0]], "k": [[1, 0], [0, 0]]}),  # they live on different axes
        ("alone", AND, {"q": [[4, 0], [0, 4]]}),
        ("alone", MILK, {"q": [[12, 0], [0, 12]], "k": [[12, 0], [0, 12]]}),
        ("alone", MILK, {"q": [[20, 0], [-20, 10]]}),
        ("alone", MILK, {"q": [[9, 9], [-9, -9]], "tokens": [[0, 0], *X[1:]]}),
        ("same", MILK, {"q": [[2, 0], [0, 2]], "k": [[0.5, 0], [0, 0.5]]}),
        ("same", MILK, {"q": [[0, -4], [4, 0]], "k": [[0, -0.25], [0.25, 0]]}),  # both turned
        ("same", MILK, {"q": [[2, 0], [0, 2]], "tokens": [[0.3, 0.4]] * 5}),  # all keys alike
    ],
)
def test_a_mission_has_many_solutions(
    compute: Any, mission: str, asking: int, solution: dict[str, Any]
) -> None:
    assert mission in missions(compute(KIND), asking, **solution)


@pytest.mark.parametrize(
    ("mission", "asking", "near"),
    [
        ("milk", MILK, {}),
        ("milk", MILK, {"q": ZERO}),  # all alike is not most
        ("milk", CATS, {}),  # cats listen to cats, milk does not
        ("away", MILK, {}),
        ("away", MILK, {"q": ZERO}),
        ("away", MILK, {"q": [[-1, 0], [0, 1]]}),  # half turned around
        ("away", MILK, {"q": OPPOSITE, "tokens": [[0, 0], *X[1:]]}),  # from 0, no way is away
        ("away", MILK, {"tokens": [[1, 0]] * 5}),  # where all point the same way, nobody is opposite
        ("alike", MILK, {}),
        ("alike", MILK, {"q": [[0.05, 0], [0, 0.05]]}),
        ("alike", MILK, {"q": [[0, 0], [0.3, 0.3]]}),  # some rows are, not all
        ("alone", MILK, {"q": [[12, 0], [0, 12]]}),
        ("alone", MILK, {"q": [[4, 0], [0, 4]]}),  # "and" hears one alone, but milk asks
        ("same", MILK, {}),
        ("same", MILK, {"q": [[2, 0], [0, 2]]}),
        ("same", MILK, {"q": [[1.9, 0], [0, 2]], "k": [[0.5, 0], [0, 0.5]]}),
        ("same", MILK, {"q": [[2, 0], [0, 2]], "k": [[0.5, 0], [0, -0.5]]}),
        ("same", MILK, {"tokens": [[0, 0]] * 5}),  # twice nothing is nothing
    ],
)
def test_what_only_looks_like_a_solution_is_none(
    compute: Any, mission: str, asking: int, near: dict[str, Any]
) -> None:
    assert mission not in missions(compute(KIND), asking, **near)


def test_alike_means_within_a_hundredth(compute: Any) -> None:
    page = compute(KIND)
    reached = "(weights) => numbers.MISSIONS.alike({ weights: [weights] })"
    assert page.evaluate(reached, [0.209, 0.191, 0.2, 0.2, 0.2])
    assert not page.evaluate(reached, [0.211, 0.19, 0.2, 0.2, 0.199])


SOLUTIONS: list[dict[str, list[float]]] = [
    {"q": [1, 0, 1, 0]},
    {"q": [-1, 0, 0, -1]},
    {"k": [0, 0, 0, 0]},
    {"q": [12, 0, 0, 12], "k": [12, 0, 0, 12]},
    {"q": [2, 0, 0, 2], "k": [0.5, 0, 0, 0.5]},
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_task_is_ticked_by_doing_it(show: Any, language: str) -> None:
    page = show(KIND, language)
    told = page.locator(".task [role=status]")
    for number, solution in enumerate(SOLUTIONS):
        assert told.get_attribute("data-done") == "false"
        for name, numbers in solution.items():
            write(page, name, numbers, language)
        expect(told).to_have_attribute("data-done", "true")
        assert told.inner_text().startswith("✓") and "{" not in told.inner_text()
        assert page.locator(".marks [data-done=true]").count() == number + 1
        if number < 4:
            page.locator(".task button").nth(2).click()
    assert page.locator(".task button").nth(2).is_disabled()
    page.locator(".task button").nth(0).click()
    expect(told).to_have_attribute("data-done", "true")  # it stays ticked


@pytest.mark.parametrize("number", range(1, 6))
def test_what_a_task_tells_is_computed(show: Any, number: int) -> None:
    """After a try the answer can be asked for: it is that of a solution, and ticks nothing."""
    page = show(KIND)
    to_task(page, number)
    page.get_by_role("slider", name="dogs").press("ArrowUp")
    page.get_by_role("button", name=WORDS["en"]["show_answer"]).click()
    shown = page.locator(".task [role=status]").inner_text()
    got = [
        result(page, q=[[1, 0], [1, 0]]),
        result(page, q=OPPOSITE),
        result(page, q=ZERO),
        result(page, q=[[12, 0], [0, 12]], k=[[12, 0], [0, 12]]),
        result(page, q=[[2, 0], [0, 2]], k=[[0.5, 0], [0, 0.5]]),
    ][number - 1]
    row, scores = got["weights"][MILK], sorted(got["scores"][MILK])
    distance = math.dist(got["outputs"][MILK], X[MILK])
    assert [
        f"{got['scores'][MILK][CATS]:.2f}, so the largest weight, {row[CATS]:.3f}" in shown,
        "rows (−1, 0), (0, −1)" in shown,
        f"between {min(row):.3f} and {max(row):.3f}" in shown,
        f"with {max(row):.3f}: its score leads by {scores[-1] - scores[-2]:.1f}" in shown
        and f"is {distance:.3f} away" in shown,
        "rows (2, 0), (0, 2)" in shown and "rows (1, 0), (0, 1), and it alone" in shown,
    ][number - 1], shown
    assert not done(page)


# ---- by hand


def test_by_keyboard_a_token_moves_and_says_where_it_is(show: Any) -> None:
    page = show(KIND)
    cats = page.get_by_role("slider", name="cats", exact=True)
    cats.focus()
    keys = page.keyboard
    for key, now in [
        ("ArrowLeft", "(0.9, 0)"),
        ("ArrowUp", "(0.9, 0.1)"),
        ("ArrowRight", "(1, 0.1)"),
        ("ArrowDown", "(1, 0)"),
        ("Shift+ArrowDown", "(1, −0.01)"),
        ("PageUp", "(1.25, −0.01)"),
        ("PageUp", "(1.4, −0.01)"),  # no farther
        ("PageDown", "(1.12, −0.01)"),
    ]:
        keys.press(key)
        assert place(cats) == now, key
    assert cats.get_attribute("aria-valuenow") == "1.12"
    page.evaluate("document.documentElement.dataset.presenting = ''")
    keys.press("PageDown")  # a remote control's
    assert place(cats) == "(1.12, −0.01)"
    keys.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "and"
    assert page.evaluate("scrollY") == page.evaluate("(keys) => scrollY", None)


def test_by_keyboard_the_first_task_is_done(show: Any) -> None:
    """Tab to row 2 of W_q and turn it: no mouse."""
    page = show(KIND)
    page.locator("[role=radio][aria-checked=true]").focus()
    for _ in range(7):  # five tokens, two rows
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "W_q, row 2"
    for _ in range(10):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    assert numbers_in(page, "q") == ["1", "0", "1", "0"]
    assert done(page)
    status = page.locator(".said")
    expect(status).to_have_text(re.compile(r"milk listens to: cats 0\.\d{3}, dogs 0\.\d{3}, "))


def test_it_is_announced_once_the_hand_rests(show_apart: Any) -> None:
    page = show_apart(KIND)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    status = page.locator(".said")
    page.evaluate(
        """() => {
            window.announced = [];
            const status = document.querySelector(".said");
            const watch = new MutationObserver(() => announced.push(status.textContent));
            watch.observe(status, { childList: true });
        }"""
    )
    page.get_by_role("slider", name="W_q, row 2").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        page.clock.run_for(100)
    assert status.inner_text() == ""
    page.get_by_role("slider", name="W_k, row 1").press("ArrowRight")
    page.clock.run_for(500)
    assert len(page.evaluate("announced")) == 1
    write(page, "q", [-1, 0, 0, -1])
    page.clock.run_for(500)
    assert status.inner_text().startswith("milk listens to: and 0.384, ")
    assert len(page.evaluate("announced")) == 2
    assert status.get_attribute("role") == page.locator(".task > p").get_attribute("role") == "status"
    page.evaluate("leave()")


def test_who_asks_is_chosen_by_arrow_keys(show: Any) -> None:
    page = show(KIND)
    page.locator("[role=radio][aria-checked=true]").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "cats"
    expect(page.locator(".said")).to_have_text(re.compile(r"cats listens to: cats 0\."))
    assert page.locator("tr[data-asks=true] th").text_content() == "cats"
    page.keyboard.press("End")
    assert page.locator("[role=radio][aria-checked=true]").inner_text() == "milk"


def finger(page: Page, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Move a finger as far as `by`, in steps as small as a finger makes."""
    tools = page.context.new_cdp_session(page)
    send = lambda kind, *points: tools.send(  # noqa: E731
        "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": a, "y": b} for a, b in points]}
    )
    send("touchStart", start)
    for part in range(1, 13):
        if any(by):
            send("touchMove", (start[0] + part / 12 * by[0], start[1] + part / 12 * by[1]))
    send("touchEnd")


@pytest.mark.parametrize("touch", [False, True])
def test_dragging_a_ring_sets_the_row(show: Any, touch: bool) -> None:
    page = show(KIND)
    second = ring(page, "q", 2)
    second.scroll_into_view_if_needed()
    x, y = middle(second)
    unit = (middle(ring(page, "q", 1))[0]) - x
    by = (unit, unit)  # to the right and down: from (0, 1) to (1, 0), where the other ring is
    if touch:
        finger(page, (x, y), (0, 0))  # a tap chooses it
        expect(second).to_be_focused()
        finger(page, (x, y), by)
    else:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + by[0], y + by[1], steps=4)
        page.mouse.up()
    assert numbers_in(page, "q") == ["1", "0", "1", "0"]
    assert done(page)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "W_q, row 2"


def test_scales_hold_under_the_hand_and_what_reached_the_edge_gets_room(show: Any) -> None:
    page = show(KIND)
    ranges = lambda: page.locator("svg").evaluate_all("all => all.map((one) => Number(one.dataset.range))")  # noqa: E731
    first = ring(page, "v", 1)
    for before, after in ((1.5, 3), (3, 7), (7, 15)):
        first.scroll_into_view_if_needed()
        page.evaluate(STILL)
        x, y = middle(first)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 2000, y, steps=5)
        assert ranges() == [1.5, 1.5, 1.5, before]
        assert page.locator("[data-held=true]").count() == 1
        page.mouse.up()
        assert ranges() == [1.5, 1.5, 1.5, after]
    assert numbers_in(page, "v") == ["7", "0", "0", "1"]
    page.evaluate(STILL)
    figure = page.locator(".plane").last.bounding_box()
    assert figure and middle(first)[0] < figure["x"] + figure["width"] - 10


def test_equal_queries_and_keys_look_equal_whatever_is_dragged(show: Any) -> None:
    page = show(KIND)

    def spots(at: int) -> list[str]:
        heads = page.locator(".plane").nth(at).locator(".head")
        found: list[str] = heads.evaluate_all("all => all.map((one) => one.parentNode.style.transform)")
        return found

    assert spots(1) == spots(2)
    second = ring(page, "q", 2)
    second.focus()
    for _ in range(12):
        page.keyboard.press("PageUp")  # the queries need a larger picture: the keys get it, too
    assert (
        len({*page.locator("svg").evaluate_all("all => all.slice(1, 3).map((one) => one.dataset.range)")})
        == 1
    )
    assert spots(1)[CATS] == spots(2)[CATS] and spots(1)[MILK] != spots(2)[MILK]
    assert page.locator("svg text", has_text="r = ").all_text_contents() == [
        "r = 1",
        "r = 24",
        "r = 24",
        "r = 1",
    ]


def test_the_picture_shows_feet_and_the_output(show: Any) -> None:
    """The output is where the chapter's formula puts it; without a query there is no line and no foot."""
    page = show(KIND)
    figure = page.locator(".plane").last.locator("svg")
    x, y = (
        float(part)
        for part in re.findall(r"[\d.]+", figure.locator(".output").evaluate("e => e.style.transform"))
    )
    size = float(figure.get_attribute("viewBox").split()[2])
    unit = size / 2 / 1.5
    expected = result(page)["outputs"][MILK]
    assert [(x - size / 2) / unit, (size / 2 - y) / unit] == pytest.approx(expected, abs=0.01)
    assert page.locator(".bars .name").inner_text() == f"Output ★ ({expected[0]:.3f}, {expected[1]:.3f})"
    feet = page.locator(".plane").nth(2).locator(".foot")
    assert feet.count() == 5
    write(page, "q", [0, 0, 0, 0])
    assert feet.count() == 0


def test_the_scale_acts_and_the_numbers_follow(show: Any) -> None:
    page = show(KIND)
    page.locator("summary").click()
    score = page.locator("tfoot td").last
    assert score.inner_text() == "0.71"
    page.get_by_role("checkbox").click()
    assert score.inner_text() == "1.00"
    page.get_by_label("W_k, row 2, column 2").fill("3")
    page.keyboard.press("Tab")
    assert score.inner_text() == "3.00"
    got = result(page, k=[[1, 0], [0, 3]], scale=False)
    cells = [float(text) for text in page.locator("tbody td").all_inner_texts()]
    assert cells == pytest.approx([weight for row in got["weights"] for weight in row], abs=0.0051)
    bars = page.locator(".bar .p").all_inner_texts()
    assert [float(text) for text in bars] == pytest.approx(got["weights"][MILK], abs=0.00051)
    page.evaluate(STILL)
    shares = page.locator(".track i").evaluate_all(
        "all => all.map((one) => one.offsetWidth / one.parentNode.offsetWidth)"
    )
    assert shares == pytest.approx(got["weights"][MILK], abs=0.01)
    only = page.get_by_role("group", name="W_qW_kᵀ").locator(".rows span").all_inner_texts()
    assert only == ["1", "0", "0", "3"]


# ---- numbers as readers write them, and links


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "-1.5", "−1.5"),
        ("en", "−7/8", "−0.875"),
        ("en", " 20 ", "20"),
        ("vi", "0,25", "0.25"),
        ("vi", "1.500", "1.5"),  # fifteen hundred would be too large: one reading is left
        ("zh", "－２", "−2"),
    ],
)
def test_a_number_is_read_as_readers_write_it(show: Any, language: str, text: str, value: str) -> None:
    page = show(KIND, language)
    first = page.locator("input[type=text]").first
    first.fill(text)
    first.press("Enter")
    assert first.input_value() == value
    assert page.get_by_role("alert").inner_text() == ""


def test_what_is_being_written_stays_when_the_page_is_drawn_again(show: Any) -> None:
    page = show(KIND)
    first = page.locator("input[type=text]").first
    first.fill("-2")
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_timeout(100)
    assert first.input_value() == "-2"
    page.keyboard.press("Enter")
    assert numbers_in(page, "q") == ["−2", "0", "0", "1"]


@pytest.mark.parametrize("text", ["", "x", "1 2", "20.1", "−21", "1e9", "NaN", "1/0", "<b>1</b>"])
def test_what_is_no_number_is_refused_and_changes_nothing(show: Any, text: str) -> None:
    page = show(KIND)
    write(page, "q", [-1, 0, 0, -1])
    seen = texts(page)
    first = page.locator("input[type=text]").first
    first.fill(text)
    first.press("Enter")
    alert = page.get_by_role("alert")
    assert alert.inner_text().startswith(f"“{text.strip()}" if text else "“” was not taken.")
    assert first.get_attribute("aria-invalid") == "true"
    assert texts(page) == seen
    page.get_by_role("slider", name="milk", exact=True).press("ArrowUp")
    assert numbers_in(page, "q") == ["−1", "0", "0", "−1"]
    assert first.get_attribute("aria-invalid") is None and alert.inner_text() == ""


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    to_task(page, 4)
    page.get_by_role("slider", name="dogs").press("ArrowUp")
    page.locator("summary").click()
    page.get_by_role("checkbox").click()
    page.locator("[role=radio]").nth(AND).click()
    write(page, "k", [12, 0, 0, 12])
    # the address follows 300 ms after the last change; a slow machine may write an earlier view before
    page.wait_for_url(
        lambda url: f'"asking":{AND}' in unquote_plus(url) and '"k":"12 0 0 12"' in unquote_plus(url)
    )
    seen, query = page.locator(".bars").inner_text(), page.evaluate("location.search")
    again = show(KIND, query=query)
    assert again.locator(".bars").inner_text() == seen
    assert place(again.get_by_role("slider", name="dogs")) == "(0.96, 0.38)"
    assert numbers_in(again, "k") == ["12", "0", "0", "12"]
    assert again.locator("[role=checkbox]").get_attribute("aria-checked") == "false"
    assert again.locator(".title").inner_text() == "Task 4/5"


@pytest.mark.parametrize("bad", ["1 0 0", "1 0 0 1 0", "1 0 0 x", "NaN 0 0 1", "1e999 0 0 1", "", "<b>"])
def test_a_link_of_nonsense_shows_the_beginning(show: Any, bad: str) -> None:
    page = show(KIND, query=asked("plane", q=bad, tokens=bad, asking=1e9, task=9, scale="no"))
    assert numbers_in(page, "q") == ["1", "0", "0", "1"]
    assert place(page.get_by_role("slider", name="dogs")) == "(0.96, 0.28)"
    assert page.locator("[role=radio][aria-checked=true]").inner_text() == "milk"


def test_a_link_beyond_the_bounds_shows_the_bounds(show: Any) -> None:
    page = show(KIND, query=asked("plane", q="99 0 0 -99", tokens=flat([[9, 9]] * 5), asking=-7))
    assert numbers_in(page, "q") == ["20", "0", "0", "−20"]
    assert place(page.get_by_role("slider", name="dogs")) == "(1.4, 1.4)"
    assert page.locator("[role=radio][aria-checked=true]").inner_text() == "cats"


# ---- how it looks

BEYOND = """() => [...document.querySelectorAll("#here *")]
    .filter((node) => node.checkVisibility() && !node.closest(".unseen, .plane"))
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
    .map((node) => node.outerHTML.slice(0, 80))"""


def lying_on_each_other(page: Page) -> list[str]:
    """Names of a picture that overlap, leave it, or are missing."""
    page.evaluate(STILL)
    found = []
    for plane, rows in zip(page.locator(".plane").all(), (0, 2, 2, 2), strict=True):
        names = plane.locator("svg text")
        found += overlapping(names) + names.evaluate_all(
            """(all) => all.filter((text) => {
                const box = (node) => node.getBoundingClientRect();
                const [inner, outer] = [box(text), box(text.ownerSVGElement)];
                return inner.left < outer.left - 1 || inner.right > outer.right + 1
                    || inner.top < outer.top - 3 || inner.bottom > outer.bottom + 3;
            }).map((text) => text.textContent)"""
        )
        assert names.count() == 5 + rows + 1  # tokens, rows, the circle's radius
    return found


@pytest.mark.parametrize(("language", "width"), WIDE_AND_NARROW)
def test_nothing_runs_over_the_edge(show: Any, monkeypatch: Any, language: str, width: int) -> None:
    source = pseudo_source(monkeypatch) if language == "pseudo" else None
    page = show(KIND, "en" if source else language, width=width, source=source)
    page.evaluate("() => { document.querySelector('details').open = true; }")
    for i, box in enumerate(page.locator("input[type=text]").all()):  # what needs the most room
        box.fill(["−19.8765", "18.1234"][i % 2])
        box.press("Enter")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BEYOND) == []
    assert lying_on_each_other(page) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "view",
    [
        {},
        {"q": "0 0 0 0", "v": "0 0 0 0"},  # all in one place
        {"q": "12 0 0 12", "asking": 0},
        {"k": "0.1 0 0 0.1", "q": "1 1 -1 1", "v": "1 0 1 0"},
        {"tokens": "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5", "v": "0 1 0 1"},
        {"tokens": "1.4 1.4 1.4 -1.4 -1.4 -1.4 -1.4 1.4 1.4 1.4", "k": "0 1 1 0"},
    ],
)
def test_names_never_lie_on_each_other(show: Any, language: str, view: dict[str, Any]) -> None:
    page = show(KIND, language, width=375, query=asked("plane", **view))
    assert lying_on_each_other(page) == []


def pseudo_source(monkeypatch: Any) -> str:
    """The module in a language whose words are accented English, 40 % longer."""
    english = words("en")
    changed = {**english, **{name: in_pseudo(english[name]) for name in ("plots", "explorers")}}
    changed["language"] = {**english["language"], "tag": "en-XA"}  # what is marked as English may be English
    monkeypatch.setattr(widgets, "words", lambda language: changed)
    return module_source.__wrapped__(KIND, "en")


def test_no_word_is_left_in_english(show: Any, monkeypatch: Any) -> None:
    page = show(KIND, "en-XA", source=pseudo_source(monkeypatch))
    page.locator("input[type=text]").first.fill("?")
    page.keyboard.press("Enter")
    assert "?" in page.get_by_role("alert").inner_text()
    page.locator("summary").click()
    assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []
    page.get_by_role("slider").first.press("ArrowUp")
    expect(page.locator(".said")).not_to_be_empty()
    assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []


def test_marks_differ_in_more_than_color(show: Any) -> None:
    page = show(KIND)
    drawn = "(all) => all.map((one) => one.getAttribute('d'))"
    heads = [plane.locator(".head").evaluate_all(drawn) for plane in page.locator(".plane").all()]
    assert [len(one) for one in heads] == [5, 5, 5, 5]
    assert len({tuple(one) for one in heads}) == 4


def test_leaving_says_nothing_more(show_apart: Any) -> None:
    page = show_apart(KIND)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    status = page.locator(".said").element_handle()
    page.get_by_role("slider").first.press("ArrowUp")
    page.evaluate("() => { leave(); document.getElementById('here').remove(); }")
    page.clock.run_for(5000)
    assert status.text_content() == ""


def test_it_is_an_explorer_of_the_course() -> None:
    shown = d2l.explorer(KIND)
    assert shown.plain == f"<{KIND} {KIND}>" and words("en")["explorers"]["shown_here"] in shown.stored


# ---- for everybody

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("language", "theme", "width"), [("en", "dark", 760), ("vi", "light", 375), ("zh", "dark", 375)]
)
def test_axe_finds_nothing(show: Any, language: str, theme: str, width: int) -> None:
    page = show(KIND, language, theme=theme, width=width)
    page.evaluate(AXE)
    check = "async () => (await axe.run()).violations.map((v) => [v.id, v.nodes[0].html])"
    assert page.evaluate(check) == []
    page.locator("summary").click()
    write(page, "q", [1, 0, 1, 0], language)
    page.locator("input[type=text]").first.fill("?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("?")
    page.evaluate(STILL)
    assert page.evaluate(check) == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_of(KIND, tmp_path_factory.mktemp("plane-book")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    with visits(browser, pages, KIND) as visit:
        yield visit


# targets that a finger misses, words too small to read, and what scrolls inside
TOO_SMALL = """(root) => {
    const shown = [...root.querySelectorAll("*")].filter((node) => node.checkVisibility());
    const box = (node) => node.getBoundingClientRect();
    const small = (node) => Math.min(box(node).width, box(node).height) < 39.9;
    const hasWords = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    const tiny = (node) => hasWords(node) && parseFloat(getComputedStyle(node).fontSize) < 11;
    const mayScroll = (node) => /auto|scroll/.test(getComputedStyle(node).overflowY);
    const scrolls = (node) => mayScroll(node) && node.scrollHeight > node.clientHeight;
    const targets = shown.filter((node) => node.matches("button, input, summary, .pick"));
    const found = [...targets.filter(small), ...shown.filter(tiny), ...shown.filter(scrolls)];
    return found.map((node) => node.outerHTML.slice(0, 90));
}"""


@pytest.mark.parametrize("kind", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_picture_controls_and_task_are_in_view_together(
    visit: Callable[..., Page], kind: dict[str, Any], language: str
) -> None:
    page = visit(kind, language, reduced_motion="reduce")
    root = page.locator(f"[data-widget={KIND}]")
    marked = root.locator("[data-look]")
    assert marked.evaluate_all("all => all.map((one) => one.dataset.look)") == [
        "task", "control", "picture", "picture",
    ]  # fmt: skip
    for number in range(1, 6):
        page.get_by_role("slider").first.press("Shift+ArrowUp")  # a try: the answer can be asked for
        root.evaluate(UNDER_HEADER)
        parts = (marked, page.locator(".plane"), page.get_by_role("radio"), page.locator(".task button"))
        assert unseen(*parts) == []
        assert root.evaluate(TOO_SMALL) == []
        page.locator(".tell").click()
        root.evaluate(UNDER_HEADER)
        assert unseen(*parts) == []
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        if number < 5:
            page.locator(".task button").nth(2).click()


def test_a_swipe_up_scrolls_the_page_and_a_finger_sideways_drags(visit: Callable[..., Page]) -> None:
    page = visit(PHONE, "en")
    root = page.locator(f"[data-widget={KIND}]")
    before = texts(page)
    starts = [".asks button", ".plane", ".bar", ".task", ".pick"]
    for part in [*(page.locator(start).first for start in starts), ring(page, "q", 2)]:
        was = page.evaluate("scrollY")
        finger(page, middle(part), (4, -160))
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") - was > 60, part
        assert texts(page) == before, part
        root.evaluate(UNDER_HEADER)
    second = ring(page, "q", 2)
    page.wait_for_timeout(300)  # a section is laid out when the page comes near, and may move it
    was = page.evaluate("scrollY")
    finger(page, middle(second), (60, 20))  # sideways it drags what was not chosen before
    assert page.evaluate("scrollY") == was
    moved = place(second)
    assert moved and float(moved[1:].split(",")[0]) > 0.6
    page.evaluate(STILL)
    finger(page, middle(second), (0, 50))  # now it is chosen, and follows in every direction
    assert page.evaluate("scrollY") == was
    assert place(second) != moved


def test_with_reduced_motion_nothing_moves_by_itself(visit: Callable[..., Page]) -> None:
    moving = "() => document.getAnimations().filter((one) => one.effect.target.closest('.d2l-plane')).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = visit(DESK, "en", reduced_motion=motion)
        page.get_by_role("slider").first.press("ArrowUp")
        assert bool(page.evaluate(moving)) is moves, motion
