"""Attention in the plane: its numbers are PyTorch's, its missions judge results, the keyboard does it all."""

import math
import re
from typing import Any
from urllib.parse import unquote_plus

import pytest
import torch
from making import asked
from pairing import WIDE_AND_NARROW
from playwright.sync_api import Locator, Page, expect
from test_new_language import LEFT_IN_ENGLISH, in_pseudo

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
        .filter((name) => numbers.MISSIONS[name]({ ...result, X, asking }))"""
    return page.evaluate(call, [result(page, tokens, **matrices), tokens, asking])


def numbers_in(page: Page, name: str) -> list[str]:
    return [page.get_by_label(f"W_{name}, row {i}, column {j}").input_value() for i in (1, 2) for j in (1, 2)]


def ticks(page: Page) -> list[bool]:
    return [tick.get_attribute("aria-label") == "done" for tick in page.locator(".tick").all()]


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


def test_a_tick_stays_and_the_last_mission_has_none(show: Any) -> None:
    page = show(KIND)
    assert ticks(page) == [False] * 5
    heading = page.locator(".heading")
    for preset, done in (
        ("W_q = −I", 1),
        ("W_q = 0", 2),
        ("W_q = W_k = 12 I", 3),
        ("W_q = W_k = W_v = I", 3),
    ):
        page.locator(".presets button").filter(
            has_text=re.compile(f"^{re.escape(preset.replace('_', ''))}$")
        ).click()
        assert heading.inner_text() == f"Missions: {done} of 4"
    assert ticks(page) == [False, True, True, True, False]
    page.get_by_label("W_q, row 2, column 1").fill("1")
    page.get_by_label("W_q, row 2, column 2").fill("0")
    page.keyboard.press("Enter")
    assert ticks(page) == [True, True, True, True, False]
    page.get_by_role("button", name="start again").click()
    assert ticks(page) == [True, True, True, True, False]
    expect(page.locator(".missions details p").last).to_be_hidden()
    page.locator(".missions summary").last.click()
    expect(page.locator(".missions details p").last).to_contain_text("an average never leaves their hull")


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
    keys.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "and"
    assert page.evaluate("scrollY") == page.evaluate("(keys) => scrollY", None)


def test_by_keyboard_the_first_mission_is_done(show: Any) -> None:
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
    assert ticks(page) == [True, False, False, False, False]
    status = page.get_by_role("status")
    expect(status).to_have_text(re.compile(r"milk listens to: cats 0\.\d{3}, dogs 0\.\d{3}, "))


def test_it_is_announced_once_the_hand_rests(show_apart: Any) -> None:
    page = show_apart(KIND)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    status = page.get_by_role("status")
    page.evaluate(
        """() => {
            window.announced = [];
            const status = document.querySelector("[role=status]");
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
    page.locator(".presets button").nth(1).click()
    page.clock.run_for(500)
    assert status.inner_text().startswith("Mission 2 is done. milk listens to: and 0.384, ")
    page.evaluate("leave()")


def test_who_asks_is_chosen_by_arrow_keys(show: Any) -> None:
    page = show(KIND)
    page.locator("[role=radio][aria-checked=true]").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "cats"
    assert page.locator(".said").inner_text().startswith("cats listens to: cats 0.")
    assert page.locator(".all tr[data-asks] th").inner_text() == "cats"
    page.keyboard.press("End")
    assert page.locator("[role=radio][aria-checked=true]").inner_text() == "milk"
    page.locator(".all tbody tr").nth(AND).click()
    assert page.locator(".row caption").inner_text() == "and asks"


@pytest.mark.parametrize("touch", [False, True])
def test_dragging_a_ring_sets_the_row(show: Any, touch: bool) -> None:
    page = show(KIND, width=375 if touch else 760)
    ring = page.get_by_role("slider", name="W_q, row 2")
    ring.scroll_into_view_if_needed()
    x, y = middle(ring)
    unit = (middle(page.get_by_role("slider", name="W_q, row 1"))[0]) - x
    by = (unit, unit)  # to the right and down: from (0, 1) to (1, 0), where the other ring is
    if touch:
        tools = page.context.new_cdp_session(page)
        send = lambda kind, *points: tools.send(  # noqa: E731
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": a, "y": b} for a, b in points]}
        )
        send("touchStart", (x, y))
        for part in (0.3, 0.7, 1):
            send("touchMove", (x + part * by[0], y + part * by[1]))
        send("touchEnd")
    else:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + by[0], y + by[1], steps=4)
        page.mouse.up()
    assert numbers_in(page, "q") == ["1", "0", "1", "0"]
    assert ticks(page)[0]
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "W_q, row 2"


def test_what_is_dragged_to_the_edge_gets_room(show: Any) -> None:
    page = show(KIND)
    ring = page.get_by_role("slider", name="W_v, row 1")
    for _ in range(3):
        ring.scroll_into_view_if_needed()
        x, y = middle(ring)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 2000, y)
        page.mouse.up()
    assert numbers_in(page, "v") == ["7", "0", "0", "1"]  # 1.5, 3, 7
    figure = page.locator("figure").last.bounding_box()
    assert figure and middle(ring)[0] < figure["x"] + figure["width"] - 10


def test_the_picture_shows_feet_and_the_output(show: Any) -> None:
    """The output is where the chapter's formula puts it; without a query there is no line and no foot."""
    page = show(KIND)
    figure = page.locator("figure").last.locator("svg")
    x, y = (
        float(part) for part in re.findall(r"[\d.]+", figure.locator(".output").get_attribute("transform"))
    )
    size = float(figure.get_attribute("viewBox").split()[2])
    unit = size / 2 / 1.5
    expected = result(page)["outputs"][MILK]
    assert [(x - size / 2) / unit, (size / 2 - y) / unit] == pytest.approx(expected, abs=0.01)
    feet = page.locator("figure").nth(2).locator("[stroke-dasharray='2 3']")
    assert feet.count() == 5
    page.locator(".presets button").nth(2).click()
    assert feet.count() == 0


def test_the_scale_acts_and_the_numbers_follow(show: Any) -> None:
    page = show(KIND)
    score = page.locator(".row tbody tr").last.locator("td").first
    assert score.inner_text() == "0.71"
    page.get_by_role("checkbox").uncheck()
    assert score.inner_text() == "1.00"
    page.get_by_label("W_k, row 2, column 2").fill("3")
    page.keyboard.press("Tab")
    assert score.inner_text() == "3.00"
    got = result(page, k=[[1, 0], [0, 3]], scale=False)
    cells = [float(text) for text in page.locator(".all tbody td").all_inner_texts()]
    assert cells == pytest.approx([weight for row in got["weights"] for weight in row], abs=0.0051)
    bars = page.locator(".row tbody td:last-child").all_inner_texts()
    assert [float(text) for text in bars] == pytest.approx(got["weights"][MILK], abs=0.00051)
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


@pytest.mark.parametrize("text", ["", "x", "1 2", "20.1", "−21", "1e9", "NaN", "1/0", "<b>1</b>"])
def test_what_is_no_number_is_refused_and_changes_nothing(show: Any, text: str) -> None:
    page = show(KIND)
    page.locator(".presets button").nth(1).click()
    seen = page.locator("svg").evaluate_all("(all) => all.map((one) => one.outerHTML)")
    numbers = page.locator(".numbers").inner_text()
    first = page.locator("input[type=text]").first
    first.fill(text)
    first.press("Enter")
    alert = page.get_by_role("alert")
    assert alert.inner_text().startswith(f"“{text.strip()}" if text else "“” was not taken.")
    assert first.get_attribute("aria-invalid") == "true"
    assert page.locator("svg").evaluate_all("(all) => all.map((one) => one.outerHTML)") == seen
    assert page.locator(".numbers").inner_text() == numbers
    page.get_by_role("slider", name="milk", exact=True).press("ArrowUp")
    assert numbers_in(page, "q") == ["−1", "0", "0", "−1"]
    assert first.get_attribute("aria-invalid") is None and alert.inner_text() == ""


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    page.get_by_role("slider", name="dogs").press("ArrowUp")
    page.get_by_role("checkbox").uncheck()
    page.locator("[role=radio]").nth(AND).click()
    page.locator(".presets button").nth(3).click()
    # the address follows 300 ms after the last change; a slow machine may write an earlier view before
    page.wait_for_url(
        lambda url: f'"asking":{AND}' in unquote_plus(url) and '"k":"12 0 0 12"' in unquote_plus(url)
    )
    said, query = page.locator(".said").inner_text(), page.evaluate("location.search")
    again = show(KIND, query=query)
    assert again.locator(".said").inner_text() == said
    assert place(again.get_by_role("slider", name="dogs")) == "(0.96, 0.38)"
    assert numbers_in(again, "k") == ["12", "0", "0", "12"]
    assert not again.get_by_role("checkbox").is_checked()


@pytest.mark.parametrize("bad", ["1 0 0", "1 0 0 1 0", "1 0 0 x", "NaN 0 0 1", "1e999 0 0 1", "", "<b>"])
def test_a_link_of_nonsense_shows_the_beginning(show: Any, bad: str) -> None:
    page = show(KIND, query=asked("plane", q=bad, tokens=bad, asking=1e9))
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
    .filter((node) => node.checkVisibility() && !node.closest(".unseen"))
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
    .map((node) => node.outerHTML.slice(0, 80))"""


def at_extremes(page: Page) -> None:
    """Long numbers everywhere: what needs the most room."""
    for i, box in enumerate(page.locator("input[type=text]").all()):
        box.fill(["−19.8765", "18.1234"][i % 2])
        box.press("Enter")
    for details in page.locator("details").all():
        details.evaluate("node => { node.open = true; }")


@pytest.mark.parametrize(("language", "width"), WIDE_AND_NARROW)
def test_nothing_runs_over_the_edge(show: Any, monkeypatch: Any, language: str, width: int) -> None:
    source = pseudo_source(monkeypatch) if language == "pseudo" else None
    page = show(KIND, "en" if source else language, width=width, source=source)
    at_extremes(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BEYOND) == []
    labels = page.locator("svg text").evaluate_all(
        """(all) => all.filter((text) => {
            const [inner, outer] = [text, text.ownerSVGElement].map((node) => node.getBoundingClientRect());
            return inner.left < outer.left - 1 || inner.right > outer.right + 1;
        }).map((text) => text.textContent)"""
    )
    assert [text for text in labels if not text.startswith("r =")] == []


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
    assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []
    page.locator(".presets button").nth(1).click()
    expect(page.get_by_role("status")).not_to_be_empty()
    assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []


def test_marks_differ_in_more_than_color(show: Any) -> None:
    page = show(KIND)
    kinds = "(svg) => [...svg.querySelectorAll('[fill-opacity][transform]')].map((node) => node.outerHTML)"
    heads = [svg.evaluate(kinds) for svg in page.locator("figure svg").all()]
    shapes = {re.sub(r"(fill|fill-opacity|transform)=\"[^\"]*\"", "", one[0]) for one in heads}
    assert [len(one) for one in heads] == [5, 5, 5, 5]
    assert len(shapes) == 4


def test_nothing_moves_by_itself(show: Any) -> None:
    page = show(KIND)
    page.locator(".presets button").nth(1).click()
    assert page.evaluate("document.getAnimations().length") == 0
    assert "transition" not in module_source(KIND, "en") and "animation" not in module_source(KIND, "en")


def test_leaving_says_nothing_more(show_apart: Any) -> None:
    page = show_apart(KIND)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.locator(".presets button").nth(1).click()
    page.evaluate("leave()")
    page.clock.run_for(5000)
    assert page.get_by_role("status").inner_text() == ""


def test_it_is_an_explorer_of_the_course() -> None:
    shown = d2l.explorer(KIND)
    assert shown.plain == f"<{KIND} {KIND}>" and words("en")["explorers"]["shown_here"] in shown.stored
