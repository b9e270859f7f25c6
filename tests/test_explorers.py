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
    """From (1, 0), to the right, upward."""
    ends = """(root) => [...root.querySelectorAll(".clocks button:nth-child(2) circle")].slice(1)
        .map((tip) => [tip.getAttribute("cx") - 36, 36 - tip.getAttribute("cy")])"""
    page = show("rotary-explorer", query=asked("rotary", m=0, n=2))
    (qx, qy), (kx, ky) = page.locator("#here").evaluate(ends)
    angle = 2 * turns(16)[1].item()
    assert (qx, qy) == pytest.approx((27, 0))
    assert (kx, ky) == pytest.approx(
        (27 * torch.tensor(angle).cos().item(), 27 * torch.tensor(angle).sin().item())
    )


# how a reader gets to where each question is answered
TRIED = {
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
