"""The explorers: their numbers are PyTorch's, they work by keyboard, they take no orders from a link."""

import json
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
import torch
from making import asked
from pairing import slow_except

import d2lmini as d2l
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import EXPLORERS

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")


def turns(d, base=10000):
    """The angles by which the pairs turn from position to position."""
    return float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def alike(distance, d, base=10000):
    return (distance * turns(d, base)).cos().sum().item()


@pytest.mark.parametrize("base", [10, 10000, 500000])
def test_wavelengths_and_likeness_are_those_of_the_formula(compute, base):
    page = compute("clock-explorer")
    for d in (4, 8, 16, 32):
        waves = page.evaluate(
            "([d, base]) => Array.from({ length: d / 2 }, (_, j) => numbers.wavelength(j, d, base))",
            [d, base],
        )
        assert waves == pytest.approx((2 * torch.pi / turns(d, base)).tolist(), rel=1e-12)
        near = alike(1, d, base)
        expected = next((c for c in range(2, 61) if alike(c, d, base) >= near), None)
        got = page.evaluate("([d, base]) => numbers.firstAlike(d, base) ?? null", [d, base])
        assert got == expected, d
    most = page.evaluate("(base) => numbers.mostAlike(6, 4, base)", base)
    assert most == max(range(6, 61), key=lambda c: alike(c, 4, base))


@pytest.mark.parametrize("d", [4, 16, 32])
def test_clocks_show_the_encoding_of_the_package(compute, d):
    page = compute("clock-explorer")
    rows = page.evaluate("(d) => Array.from({ length: 73 }, (_, i) => numbers.encoding(i, d))", d)
    P = torch.tensor(rows, dtype=torch.float64)
    i, j = torch.arange(73, dtype=torch.float64)[:, None], torch.arange(0, d, 2, dtype=torch.float64)
    angles = i / 10000 ** (j / d)
    expected = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    torch.testing.assert_close(P, expected, rtol=0, atol=1e-9)
    # and, as exactly as its float32 table allows, the package's own
    table = d2l.PositionalEncoding(d, 0.0, max_len=73).P[0].double()
    torch.testing.assert_close(P, table, rtol=0, atol=1e-5)


def test_a_link_beyond_the_sliders_shows_their_ends(show):
    page = show("clock-explorer", query=asked("clock", position=1e9, shift=-99, dims=-4, pair=50))
    assert page.locator("output").all_inner_texts() == ["60", "−12", "10\u202f000"]
    assert page.locator(".clocks button").count() == 8
    assert page.locator(".clocks [aria-pressed=true]").count() == 1


def test_the_clock_says_the_inner_product_of_the_two_positions(show):
    page = show("clock-explorer")
    P = d2l.PositionalEncoding(16, 0.0).P[0].double()
    assert f"positions 7 and 10 is {P[7] @ P[10]:.3f}" in page.locator(".said").inner_text()
    page.get_by_label("Offset δ").press("Home")
    assert page.locator(".said").inner_text() == "Position −5 would be negative: the first position is 0."


@pytest.mark.parametrize("content", ["same", "previous", "mixed"])
@pytest.mark.parametrize("d", [2, 4, 16, 32])
def test_queries_and_keys_are_turned_as_by_the_package(compute, content, d):
    page = compute("rotary-explorer")
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


def test_sliding_both_keeps_the_score_and_moving_one_changes_it(show):
    page = show("rotary-explorer")
    score = page.locator(".said")
    assert f"distance 4, score {alike(4, 16):.3f}." in score.inner_text()
    both = page.get_by_label("Slide both")
    for key in ("ArrowRight", "ArrowRight", "End", "Home"):
        both.press(key)
        assert f"distance 4, score {alike(4, 16):.3f}." in score.inner_text()
    assert page.locator("output").all_inner_texts() == ["0", "4", "0, 4", "10\u202f000"]
    page.get_by_label("Key at").press("ArrowRight")
    assert f"distance 5, score {alike(5, 16):.3f}." in score.inner_text()
    page.get_by_label("Query at").press("End")
    assert page.locator("output").all_inner_texts()[:3] == ["60", "5", "60, 5"]
    assert f"distance −55, score {alike(55, 16):.3f}." in score.inner_text()


def test_hands_of_queries_and_keys_turn_counterclockwise(show):
    """From (1, 0), to the right, upward; the clocks of the encoding start upward and turn to the right."""
    ends = """(root) => [...root.querySelectorAll(".clocks button:nth-child(2) circle")].slice(1)
        .map((tip) => [tip.getAttribute("cx") - 36, 36 - tip.getAttribute("cy")])"""
    page = show("rotary-explorer", query=asked("rotary", m=0, n=2))
    (qx, qy), (kx, ky) = page.locator("#here").evaluate(ends)
    angle = 2 * turns(16)[1].item()
    assert (qx, qy) == pytest.approx((27, 0))
    assert (kx, ky) == pytest.approx(
        (27 * torch.tensor(angle).cos().item(), 27 * torch.tensor(angle).sin().item())
    )
    page = show("clock-explorer", query=asked("clock", position=0, shift=2))
    (tx, ty), (x, y) = page.locator("#here").evaluate(ends)  # the dashed hand is drawn first
    assert (x, y) == pytest.approx((0, 27))
    assert (tx, ty) == pytest.approx((ky, kx))


def test_a_base_is_one_of_five_and_named(show):
    page = show("clock-explorer", query=asked("clock", dims=4, pair=1))
    base = page.get_by_label("Base")
    assert base.get_attribute("aria-valuetext") == "10\u202f000"
    assert page.locator(".clocks span").all_inner_texts()[1].endswith("λ 628")
    assert "At distance 6 two positions are more alike than neighbors" in page.locator(".looks").inner_text()
    base.press("Home")
    assert page.locator(".clocks span").all_inner_texts()[1].endswith("λ 19.9")
    assert page.locator(".looks").inner_text().startswith("At distance 19 ")
    base.press("End")
    assert base.get_attribute("aria-valuetext") == "500\u202f000"
    assert page.locator(".clocks span").all_inner_texts()[1].endswith("λ 4\u202f443")
    page.get_by_label("Dimensions d").select_option("16")
    assert page.locator(".looks").inner_text().startswith("Up to distance 60 no two positions")


# how a reader gets to where each question is answered
TRIED = {
    "clock-explorer": [
        [("Position i", "ArrowRight")],
        [("Offset", "ArrowRight"), ("Offset", "ArrowLeft"), ("Position i", "ArrowRight")],
        [("Dimensions d", "4")],
        [("Base", "Home"), ("Base", "End")],
    ],
    "rotary-explorer": [
        [("Slide both", "ArrowRight"), ("Slide both", "ArrowRight")],
        [("Key at", "Home"), ("Key at", "PageUp"), ("Key at", "PageUp"), ("Key at", "ArrowRight")]
        + [("Key at", "ArrowRight")] * 3,
        [("Contents", "previous")] + [("Key at", "ArrowLeft")] * 5,
        [("Dimensions d", "2"), ("Query at", "Home"), ("Key at", "End")] + [("Key at", "ArrowLeft")] * 16,
        [("Dimensions d", "32"), ("Query at", "Home"), ("Key at", "End"), ("Base", "Home")],
    ],
}


def go(page, where, what):
    if what == "click":
        page.locator(where).click()
        return
    control = page.get_by_label(where).first
    if control.evaluate("(node) => node.tagName") == "SELECT":
        control.select_option(what)
    else:
        control.press(what)


@pytest.mark.parametrize("kind", TRIED)
def test_a_question_is_marked_when_the_picture_shows_its_answer(show, kind):
    for number, steps in enumerate(TRIED[kind]):
        page = show(kind)
        mark = page.locator(".d2l-tries .mark").nth(number)
        for step in steps:
            assert mark.inner_text() == ""
            go(page, *step)
        assert mark.inner_text().strip() == "✓ tried", (number, page.locator(".said").first.inner_text())
        said = page.locator(".d2l-tries [role=status]").inner_text()
        assert str(number + 1) in said.removesuffix(": tried").split(" + ")


def answers_of(page):
    page.evaluate("document.querySelectorAll('.d2l-tries details').forEach((one) => (one.open = true))")
    return page.locator(".d2l-tries details p").all_inner_texts()


@pytest.mark.parametrize("kind", TRIED)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_question_has_its_answer_behind_it(show, kind, lang):
    page = show(kind, lang)
    texts = words(lang)["explorers"][kind.removesuffix("-explorer")]
    asks = page.locator(".d2l-tries summary")
    assert asks.count() == len(texts["questions"]) == len(texts["answers"]) == len(TRIED[kind])
    answer = page.locator(".d2l-tries details p").first
    assert not answer.is_visible()
    asks.first.press("Enter")
    assert answer.is_visible()
    for text in [*asks.all_inner_texts(), *answers_of(page)]:
        assert text and not set("{}_") & set(text) and "NaN" not in text and "undefined" not in text


def test_the_answers_of_the_clock_explorer_are_true(show):
    texts = answers_of(show("clock-explorer"))
    degrees = torch.rad2deg(turns(16)).tolist()
    assert "{:.0f}°, {:.0f}° and {:.0f}°".format(*degrees[:3]) in texts[0] and degrees[3] > 1 > degrees[4]
    assert f"({degrees[4]:.2f}°)" in texts[0]
    assert f"({3 * degrees[0]:.0f}° in the first pair, {3 * degrees[1]:.0f}° in the second" in texts[1]
    assert f"{alike(3, 16):.3f}, from wherever" in texts[1]
    first = next(c for c in range(2, 61) if alike(c, 4) >= alike(1, 4))
    most = max(range(first, 61), key=lambda c: alike(c, 4))
    assert (
        f"From about position {first} on" in texts[2]
        and f"positions 0 and {first} is {alike(first, 4):.3f}" in texts[2]
    )
    assert (
        f"neighbors is only {alike(1, 4):.3f}" in texts[2]
        and f"Positions 0 and {most} are even more alike: {alike(most, 4):.3f}" in texts[2]
    )
    waves = [2 * torch.pi / turns(16, base)[-1].item() for base in (10, 10000, 500000)]
    a, b, c = (f"{wave:,.0f}".replace(",", "\u202f") for wave in waves)
    assert f"needs {a} positions at base 10, {b} at 10\u202f000, {c} at 500\u202f000" in texts[3]
    assert waves[0] < 60 and f"{60 * 360 / waves[2]:.2f}°" in texts[3]


def test_the_answers_of_the_rotary_explorer_are_true(show):
    page = show("rotary-explorer")
    texts = answers_of(page)
    assert f"stays {alike(4, 16):.3f} " in texts[0]
    assert f"both get {alike(5, 16):.3f}." in texts[1]
    shifted = {c: (turns(16) * (c + 1)).cos().sum().item() for c in range(-60, 61)}
    assert max(shifted, key=shifted.get) == -1 and shifted[-1] == 8
    view = {"dims": 16, "base": 10000, "content": "previous"}
    got = page.evaluate("([c, view]) => numbers.scoreAt(c, view)", [-1, view])
    assert got == pytest.approx(8, abs=1e-9)
    assert "j − i = −1 the score is d/2 = 8 " in texts[2]
    assert (
        f"At 6 it is {alike(6, 2):.3f} (at 1: {alike(1, 2):.3f}), at 44 even {alike(44, 2):.4f}" in texts[3]
    )
    far = [f"{alike(60, 32, base):.2f}".replace("-", "−") for base in (10, 10000, 500000)]
    assert "{} at base 10, {} at 10\u202f000, {} at 500\u202f000".format(*far) in texts[4]


def test_dragging_a_hand_moves_the_position(show):
    page = show("clock-explorer")
    box = page.locator(".clocks button svg").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y - 25)
    page.mouse.down()
    page.mouse.move(x + 18, y - 18)
    page.mouse.move(x + 25, y)  # a quarter turn clockwise, π/2 at 0.316 a step: five positions
    page.mouse.up()
    assert page.get_by_label("Position i").input_value() == "12"
    page.mouse.move(x, y - 25)
    page.mouse.down()
    for dx, dy in [(-25, 0), (0, 25), (25, 0), (0, -25)] * 2:  # back by 40 positions: it stops at the first
        page.mouse.move(x + dx, y + dy)
    page.mouse.up()
    assert page.locator("output").first.inner_text() == "0"


@pytest.mark.parametrize("kind", EXPLORERS)
def test_a_link_cannot_do_harm(show, kind):
    name = kind.removesuffix("-explorer")
    hostile = {
        "sentence": "<img src=x onerror=alert(1)> </script>",
        "head": 99,
        "mask": "constructor",
        "n": 1e300,
        "dims": -4,
        "position": "7",
        "counting": "__proto__",
        "k": 1e9,
        "temperature": -1,
        "token": 1e9,
        "map": "__proto__",
        "base": 7,
        "content": "constructor",
        "m": 1e300,
    }
    page = show(kind, query=f"?{name}={quote(json.dumps(hostile))}")
    assert page.locator("img").count() == 0


BROKEN = ("{", "null", "[]", "7")


@pytest.mark.parametrize(
    ("kind", "broken"),
    # one module reads the links of all explorers
    slow_except(
        product(EXPLORERS, BROKEN), [*product(EXPLORERS, BROKEN[:1]), *product(EXPLORERS[:1], BROKEN)]
    ),
)
def test_a_broken_link_shows_the_beginning(show, kind, broken):
    page = show(kind, query=f"?{kind.removesuffix('-explorer')}={quote(broken)}")
    assert page.locator("#here > *").count() == 1


VIEWS = [("light", 340), ("dark", 1280)]


@pytest.mark.parametrize("kind", EXPLORERS)
@pytest.mark.parametrize(
    ("lang", "view"), slow_except(product(LANGUAGES, VIEWS), product(LANGUAGES[:1], VIEWS))
)
def test_accessible_in_both_themes_and_widths(show, kind, lang, view):
    theme, width = view
    page = show(kind, lang, theme=theme, width=width)
    page.evaluate(AXE)
    result = page.evaluate("axe.run(document, { rules: { region: { enabled: false } } })")
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in result["violations"]] == []


@pytest.mark.parametrize("kind", EXPLORERS)
@pytest.mark.parametrize(
    ("lang", "width"), slow_except(product(LANGUAGES, [340, 1280]), product(LANGUAGES, [340]))
)
def test_nothing_runs_over_the_edge(show, kind, lang, width):
    page = show(kind, lang, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("kind", EXPLORERS)
def test_leaving_stops_listening(show, kind):
    page = show(kind)
    page.evaluate("leave()")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.locator("#here > *").get_attribute("data-dark") == "0"


def test_only_explorers_are_explorers():
    offered = ", ".join(f"'{name}'" for name in EXPLORERS)
    with pytest.raises(ValueError, match=f"^name: got 'exercise'; choose one of {offered}$"):
        d2l.explorer("exercise")
    with pytest.raises(TypeError, match="options: got head; an explorer takes none"):
        d2l.explorer("attention-explorer", head=2)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_notebook_gets_the_words_of_its_language(lang):
    d2l.use_language(lang)
    try:
        shown = d2l.explorer("clock-explorer")
    finally:
        d2l.use_language("en")
    assert shown._esm == widgets.module_source("clock-explorer", lang)
    assert words(lang)["explorers"]["shown_here"] in shown.stored
