"""The explorers: their numbers are PyTorch's, they work by keyboard, they take no orders from a link."""

import json
import re
from datetime import datetime
from itertools import product
from pathlib import Path
from urllib.parse import quote, unquote_plus

import pytest
import torch
from making import asked
from pairing import slow_except

import d2lmini as d2l
from d2lmini import complexity
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import EXPLORERS

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SENTENCES = {language: words(language)["explorers"]["attention"]["sentences"] for language in LANGUAGES}


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("scale", [True, False])
def test_attention_weights_are_those_of_the_package(compute, mask, scale):
    page = compute("attention-explorer")
    for head in range(3):
        got = page.evaluate(
            """([sentence, head, mask, scale]) => {
              const { embed, heads, attend, scores, values, shares, total, MASKS } = numbers;
              const X = sentence.split(" ").map(embed);
              const chosen = heads()[head];
              const allowed = MASKS[mask](X.length);
              const options = { scale, temperature: 0.5, allowed };
              const weights = attend(X, chosen, options);
              const V = values(X, chosen);
              const plain = (row) => row.map((s) => (s === -Infinity ? null : s));
              const scored = scores(X, chosen, options).map(plain);
              return { X, ...chosen, scored, weights, V, out: weights.map((row) => total(shares(row, V))) };
            }""",
            [SENTENCES["en"][1], head, mask, scale],
        )
        X, W_q, W_k, W_v = (
            torch.tensor(got[name], dtype=torch.float64) for name in ("X", "query", "key", "value")
        )
        n, d = X.shape
        scores = (X @ W_q) @ (X @ W_k).T / (0.5 * (d**0.5 if scale else 1))
        lengths = {
            "none": torch.full((n,), n),
            "causal": torch.arange(1, n + 1),
            "padding": torch.full((n,), n - 2),
        }
        hidden = torch.arange(n) >= lengths[mask][:, None]
        assert [[s is None for s in row] for row in got["scored"]] == hidden.tolist()
        weights = d2l.masked_softmax(scores[None], lengths[mask][None])[0]
        for computed, expected in (
            (
                [[0.0 if s is None else s for s in row] for row in got["scored"]],
                scores.masked_fill(hidden, 0),
            ),
            (got["weights"], weights),
            (got["V"], X @ W_v),
            (got["out"], weights @ (X @ W_v)),
        ):
            torch.testing.assert_close(
                torch.tensor(computed, dtype=torch.float64), expected, rtol=0, atol=1e-9
            )


def test_a_query_without_keys_gets_zeros(compute):
    page = compute("attention-explorer")
    weights = page.evaluate(
        "() => numbers.attend(['a', 'b'].map(numbers.embed), numbers.heads()[0], { allowed: () => false })"
    )
    assert weights == [[0, 0], [0, 0]]


def test_heads_do_what_their_names_say(compute):
    page = compute("attention-explorer")
    favorite = """([sentence, head, word]) => {
      const words = sentence.split(" ");
      const row = numbers.attend(words.map(numbers.embed), numbers.heads()[head])[words.indexOf(word)];
      return words[row.indexOf(Math.max(...row))];
    }"""
    assert page.evaluate(favorite, [SENTENCES["en"][1], 1, "it"]) == "cat"
    assert page.evaluate(favorite, [SENTENCES["vi"][1], 1, "nó"]) in ("con", "mèo")
    assert page.evaluate(favorite, [SENTENCES["zh"][1], 1, "它"]) == "小猫"
    assert page.evaluate(favorite, [SENTENCES["en"][2], 2, "chase"]) in ("mice", "cats")


@pytest.mark.parametrize("k", [3, 5, 7])
def test_paths_and_costs_are_those_of_the_package(compute, k):
    page = compute("path-explorer")
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


def test_sequential_steps_match_the_dependency_chain(compute):
    page = compute("path-explorer")
    steps = page.evaluate("() => [16, 32].map((n) => numbers.sequentialSteps('recurrent', n))")
    assert steps == [16, 32]
    assert page.evaluate("() => numbers.sequentialSteps('attention', 32)") == 1


def turns(d, base=10000):
    """The angles by which the pairs turn from position to position."""
    return float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def alike(distance, d, base=10000):
    return (distance * turns(d, base)).cos().sum().item()


def test_a_shared_link_shows_the_view_that_was_shared(show):
    page = show(
        "attention-explorer", query=asked("attention", head=1, scale=False, mask="causal", temperature=2)
    )
    assert page.get_by_label("Head").input_value() == "1"
    assert page.get_by_label("Mask").input_value() == "causal"
    assert page.get_by_label("Temperature").input_value() == "1"  # its logarithm
    assert not page.get_by_label("divide by √d").is_checked()
    page = show("path-explorer", query=asked("path", n=1024, d=8, k=5, counting="order"))
    shown = [page.locator("output").nth(i).inner_text() for i in range(5)]
    assert shown == ["1", "5", "5", "1\u202f024", "8"]
    assert page.get_by_role("combobox").input_value() == "order"


def test_a_link_beyond_the_sliders_shows_their_ends(show):
    page = show("attention-explorer", query=asked("attention", temperature=-1, token=1e9))
    assert page.locator("label", has_text="Temperature").inner_text() == "Temperature 0.25"
    assert page.locator("[role=radio]").last.get_attribute("aria-checked") == "true"
    page = show("path-explorer", query=asked("path", **{"from": -3, "to": 99, "n": 1e300, "d": 0, "k": 4}))
    shown = [page.locator("output").nth(i).inner_text() for i in range(5)]
    assert shown == ["1", "7", "3", "65\u202f536", "8"]


def test_every_control_of_the_attention_explorer_acts(show):
    page = show("attention-explorer")
    said = page.locator(".said")
    seen = [said.inner_text()]
    page.get_by_label("divide by √d").uncheck()
    seen.append(said.inner_text())
    page.get_by_label("Head").select_option("1")
    seen.append(said.inner_text())
    page.get_by_label("Mask").select_option("padding")
    seen.append(said.inner_text())
    page.get_by_label("Temperature").press("End")
    seen.append(said.inner_text())
    page.get_by_label("Sentence").select_option("1")
    seen.append(said.inner_text())
    assert len(set(seen)) == 6


def test_large_numbers_are_written_as_the_language_writes_them(show):
    for lang, mark in (("en", "\u202f"), ("vi", "\u202f"), ("zh", "")):
        page = show("path-explorer", lang)
        first = page.locator("tbody td").first.inner_text().partition("\n")[0]
        count = complexity.multiply_adds(32, 64, 3, "projections")["convolution"]
        assert first == f"{count:,}".replace(",", mark)


def test_the_table_of_costs_names_the_cheapest(show):
    page = show("path-explorer")
    page.get_by_label("Tokens n").press("ArrowRight")
    page.get_by_label("Kernel k").press("End")
    costs = complexity.multiply_adds(64, 64, 7, "projections")
    rows = page.locator("tbody tr")
    for row, kind in zip(rows.all(), complexity.ARCHITECTURES, strict=True):
        cells = row.locator("td").all_inner_texts()
        count, _, cheapest = cells[0].partition("\n")
        assert int(count.replace("\u202f", "")) == costs[kind]
        assert bool(cheapest) == (costs[kind] == min(costs.values()))
    assert page.get_by_text("With n = 64, d = 64, k = 7, the least arithmetic: Recurrent.").count() == 1


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


def test_the_steps_of_a_query_add_up_to_its_output(show):
    page = show("attention-explorer", query=asked("attention", sentence=SENTENCES["en"][1], head=1, token=6))
    cells = """(table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) =>
        cell.querySelector("svg")?.getAttribute("aria-label") ?? cell.textContent))"""
    rows = page.locator(".steps").evaluate(cells)
    scores = torch.tensor([float(row[1].replace("−", "-")) for row in rows])
    weights = torch.tensor([float(row[2]) for row in rows])
    V, parts = (torch.tensor([json.loads(f"[{row[c][1:-1]}]") for row in rows]) for c in (3, 4))
    torch.testing.assert_close(scores.softmax(0), weights, rtol=0, atol=0.005)
    torch.testing.assert_close(weights[:, None] * V, parts, rtol=0, atol=0.006)
    output = page.locator(".steps tfoot svg").get_attribute("aria-label")
    torch.testing.assert_close(torch.tensor(json.loads(f"[{output[1:-1]}]")), weights @ V, rtol=0, atol=0.006)
    assert page.locator(".said").inner_text().endswith(f"output {output}")
    formula = page.locator(".steps .how").nth(1)
    assert formula.inner_text() == "q·k / √8"
    page.get_by_label("Temperature").press("End")
    assert formula.inner_text() == "q·k / (√8 · 4.00)"
    page.get_by_label("divide by √d").uncheck()
    assert formula.inner_text() == "q·k / 4.00"
    page.get_by_label("Mask").select_option("padding")
    assert page.locator(".steps").evaluate(cells)[-1][1:3] == ["−∞", "0.000"]


def test_the_heatmap_shows_weights_or_signed_scores(show):
    page = show("attention-explorer", query=asked("attention", sentence="mice chase cats", head=2, token=1))
    grid = page.locator("svg[role=img]").last
    scale = "(svg) => [...svg.querySelectorAll('text')].slice(-4).map((text) => text.textContent)"
    assert grid.evaluate(scale) == ["0", "0.5", "1", "weights"]
    page.get_by_label("Heatmap").select_option("scores")
    low, zero, high, name = grid.evaluate(scale)
    assert (zero, name) == ("0", "scores") and low == f"−{high}" and float(high) > 1
    assert grid.get_attribute("aria-label").startswith("scores: ")
    signs = "(svg) => svg.outerHTML.includes('--w-key)\" fill-opacity')"
    assert grid.evaluate(signs)
    hatched = "(svg) => svg.querySelectorAll('rect[fill^=url]').length"
    assert grid.evaluate(hatched) == 0
    page.get_by_label("Mask").select_option("causal")
    assert grid.evaluate(hatched) == 3


# how a reader gets to where each question is answered
TRIED = {
    "attention-explorer": [
        [("Sentence", "1"), ("Head", "1"), ("[role=radio][data-word=it]", "click")],
        [("divide by √d", "Space")],
        [("[role=radio] >> nth=2", "click"), ("Mask", "causal"), ("[role=radio] >> nth=0", "click")],
        [("Temperature", "End")],
        [("Heatmap", "scores")],
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


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_answers_of_the_attention_explorer_are_true(show, lang):
    page = show("attention-explorer", lang)
    texts = answers_of(page)
    first, second = (
        page.evaluate(
            "([s, h]) => { const X = s.split(' ').map(numbers.embed); const head = numbers.heads()[h];"
            "return [true, false, 4].map((o) => numbers.attend(X, head,"
            "o === 4 ? { temperature: 4 } : { scale: o })); }",
            [SENTENCES[lang][i], i],
        )
        for i in (0, 1)
    )
    largest = [max(weights[0]) for weights in first]
    assert largest[1] > largest[0] > largest[2] > 1 / len(first[0])
    for text, shown in ((texts[1], largest[:2]), (texts[3], [largest[0], largest[2], 1 / len(first[0])])):
        assert all(f"{value:.3f}" in text for value in shown)
    tokens = SENTENCES[lang][1].split()
    row = second[0][tokens.index({"en": "it", "vi": "nó", "zh": "它"}[lang])]
    top = tokens[row.index(max(row))]
    assert top in {"cat", "mèo", "con", "小猫"} and f"{top} {max(row):.3f}" in texts[0]
    negative = re.search(r"−(\d\.\d\d)\D+(\d\.\d\d\d)", texts[4])
    assert negative and float(negative[1]) > 0 and 0 < float(negative[2]) < 0.05


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


def test_the_address_follows_the_view(show):
    page = show("attention-explorer")
    page.locator("[role=radio][aria-checked=true]").focus()
    page.keyboard.press("End")
    page.wait_for_url(lambda url: '"token":4' in unquote_plus(url))


# Safari's: more than 100 changes of the address in 30 s are refused
WEBKIT = """(limit) => {
  const real = history.replaceState.bind(history);
  window.changes = 0;
  history.replaceState = (...change) => {
    if (++changes > limit) throw new DOMException("too many changes of the address", "SecurityError");
    real(...change);
  };
}"""


@pytest.mark.parametrize("limit", [100, 0])
def test_an_explorer_outlives_the_limit_of_changes_of_the_address(show_apart, limit):
    page = show_apart("attention-explorer")
    page.clock.install(time=datetime(2030, 1, 1))
    page.clock.pause_at(datetime(2030, 1, 2))
    page.evaluate(WEBKIT, limit)
    page.locator("[role=radio][aria-checked=true]").focus()
    page.evaluate(
        """() => {
            window.checked = [];
            document.addEventListener("keyup", () =>
                checked.push(document.activeElement.getAttribute("aria-checked")));
        }"""
    )
    for _ in range(121):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("checked") == ["true"] * 121
    page.clock.run_for(1000)
    assert page.evaluate("changes") == 1
    assert page.locator("[role=radio]").nth(121 % 5).get_attribute("aria-checked") == "true"


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


def test_free_text_is_text(show):
    page = show("attention-explorer")
    page.get_by_label("Sentence").select_option(index=3)
    page.keyboard.press("Control+A")
    page.keyboard.type("<b>bold</b> words")
    assert page.locator("b").count() == 0
    assert page.locator("[role=radio]").count() == 2
    page.keyboard.press("Control+A")
    page.keyboard.type("one")
    assert page.locator(".said").inner_text() == "Type two words or more."


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


CONTRASTS = """() => {
    const channels = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const light = (rgb) => {
        const [r, g, b] = rgb.map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const map = [...document.querySelectorAll("#here svg")].at(-1);
    const ground = channels(getComputedStyle(map.querySelector("path")).fill);
    const cells = [...map.querySelectorAll("rect[fill-opacity] + text")].filter(
        (text) => text.previousElementSibling.getBoundingClientRect().width > 20); // not those of the scale
    return cells.map((text) => {
        const { fill, fillOpacity } = getComputedStyle(text.previousElementSibling);
        const mixed = channels(fill).map((part, i) => fillOpacity * part + (1 - fillOpacity) * ground[i]);
        const [low, high] = [mixed, channels(getComputedStyle(text).fill)].map(light).sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    });
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_of_the_heatmap_stand_out_from_every_color(show, theme):
    page = show("attention-explorer", theme=theme)
    page.locator("select").nth(2).select_option(index=1)  # the causal mask: a weight of 1
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) >= 9 and min(contrasts) >= 4.5
