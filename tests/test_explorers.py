"""The explorers: their numbers are PyTorch's, they work by keyboard, they take no orders from a link."""

import json
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import pytest
import torch
from making import asked

import d2lmini as d2l
from d2lmini import complexity
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import EXPLORERS

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SENTENCES = {language: words(language)["explorers"]["attention"]["sentences"] for language in LANGUAGES}


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("scale", [True, False])
def test_attention_weights_are_those_of_the_package(show, mask, scale):
    page = show("attention-explorer")
    for head in range(3):
        got = page.evaluate(
            """([sentence, head, mask, scale]) => {
              const { embed, heads, attend, MASKS } = numbers;
              const X = sentence.split(" ").map(embed);
              const chosen = heads()[head];
              const allowed = MASKS[mask](X.length);
              return { X, ...chosen, weights: attend(X, chosen, { scale, temperature: 0.5, allowed }) };
            }""",
            [SENTENCES["en"][1], head, mask, scale],
        )
        X, W_q, W_k = (torch.tensor(got[name], dtype=torch.float64) for name in ("X", "query", "key"))
        n, d = X.shape
        scores = (X @ W_q) @ (X @ W_k).T / (0.5 * (d**0.5 if scale else 1))
        lengths = {
            "none": torch.full((n,), n),
            "causal": torch.arange(1, n + 1),
            "padding": torch.full((n,), n - 2),
        }
        expected = d2l.masked_softmax(scores[None], lengths[mask][None])[0]
        torch.testing.assert_close(
            torch.tensor(got["weights"], dtype=torch.float64), expected, rtol=0, atol=1e-9
        )


def test_a_query_without_keys_gets_zeros(show):
    page = show("attention-explorer")
    weights = page.evaluate(
        "() => numbers.attend(['a', 'b'].map(numbers.embed), numbers.heads()[0], { allowed: () => false })"
    )
    assert weights == [[0, 0], [0, 0]]


def test_heads_do_what_their_names_say(show):
    page = show("attention-explorer")
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
def test_paths_and_costs_are_those_of_the_package(show, k):
    page = show("path-explorer")
    n = 7
    for kind in complexity.ARCHITECTURES:
        for a in range(1, n + 1):
            for b in range(1, n + 1):
                got = page.evaluate(
                    "([kind, a, b, k]) => numbers.shortestPath(kind, a, b, k)", [kind, a, b, k]
                )
                expected = complexity.shortest_path(kind, n, a, b, k)
                assert (got and len(got)) == (expected and len(expected)), (kind, a, b)
        for length in (1, 2, 7, 33):
            longest = page.evaluate("([kind, n, k]) => numbers.longestPath(kind, n, k)", [kind, length, k])
            assert longest == complexity.maximum_path_length(kind, length, k), (kind, length)
    for convention in complexity.CONVENTIONS:
        for n, d in ((32, 64), (4096, 512)):
            got = page.evaluate("(a) => numbers.multiplyAdds(...a)", [n, d, k, convention])
            assert got == complexity.multiply_adds(n, d, k, convention)


def test_sequential_steps_match_the_dependency_chain(show):
    page = show("path-explorer")
    steps = page.evaluate("() => [16, 32].map((n) => numbers.sequentialSteps('recurrent', n))")
    assert steps == [16, 32]
    assert page.evaluate("() => numbers.sequentialSteps('attention', 32)") == 1


@pytest.mark.parametrize("d", [4, 16, 32])
def test_clocks_show_the_encoding_of_the_package(show, d):
    page = show("clock-explorer")
    rows = page.evaluate("(d) => Array.from({ length: 73 }, (_, i) => numbers.encoding(i, d))", d)
    P = torch.tensor(rows, dtype=torch.float64)
    i, j = torch.arange(73, dtype=torch.float64)[:, None], torch.arange(0, d, 2, dtype=torch.float64)
    angles = i / 10000 ** (j / d)
    expected = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    torch.testing.assert_close(P, expected, rtol=0, atol=1e-9)
    # and, as exactly as its float32 table allows, the package's own
    table = d2l.PositionalEncoding(d, 0.0, max_len=73).P[0].double()
    torch.testing.assert_close(P, table, rtol=0, atol=1e-5)


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
    assert shown == ["1", "5", "5", "1 024", "8"]
    assert page.get_by_role("combobox").input_value() == "order"


def test_a_link_beyond_the_sliders_shows_their_ends(show):
    page = show("attention-explorer", query=asked("attention", temperature=-1, token=1e9))
    assert page.locator("label", has_text="Temperature").inner_text() == "Temperature 0.25"
    assert page.locator("[role=radio]").last.get_attribute("aria-checked") == "true"
    page = show("path-explorer", query=asked("path", **{"from": -3, "to": 99, "n": 1e300, "d": 0, "k": 4}))
    shown = [page.locator("output").nth(i).inner_text() for i in range(5)]
    assert shown == ["1", "7", "3", "65 536", "8"]
    page = show("clock-explorer", query=asked("clock", position=1e9, shift=-99, dims=-4, pair=50))
    assert page.locator("output").all_inner_texts() == ["60", "−12"]
    assert page.locator(".clocks button").count() == 8
    assert page.locator(".clocks [aria-pressed=true]").count() == 1


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


def test_the_clock_says_the_inner_product_of_the_two_positions(show):
    page = show("clock-explorer")
    P = d2l.PositionalEncoding(16, 0.0).P[0].double()
    assert f"positions 7 and 10 is {P[7] @ P[10]:.3f}" in page.locator(".said").inner_text()
    page.get_by_label("Offset δ").press("Home")
    assert page.locator(".said").inner_text() == "Position −5 would be negative: the first position is 0."


def test_the_address_follows_the_view(show):
    page = show("attention-explorer")
    page.locator("[role=radio][aria-checked=true]").focus()
    page.keyboard.press("End")
    page.wait_for_url(lambda url: "attention=" in url)
    assert json.loads(page.evaluate("new URLSearchParams(location.search).get('attention')"))["token"] == 4


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
def test_an_explorer_outlives_the_limit_of_changes_of_the_address(show, limit):
    page = show("attention-explorer")
    page.clock.install(time=datetime(2030, 1, 1))
    page.clock.pause_at(datetime(2030, 1, 2))
    page.evaluate(WEBKIT, limit)
    page.locator("[role=radio][aria-checked=true]").focus()
    for _ in range(121):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.getAttribute('aria-checked')") == "true"
    page.clock.run_for(1000)
    assert page.evaluate("changes") == 1
    assert page.locator("[role=radio]").nth(121 % 5).get_attribute("aria-checked") == "true"


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
    }
    page = show(kind, query=f"?{name}={quote(json.dumps(hostile))}")
    assert page.locator("img").count() == 0
    for broken in ("{", "null", "[]", "7"):
        page = show(kind, query=f"?{name}={quote(broken)}")
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


@pytest.mark.parametrize("kind", EXPLORERS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_accessible_in_both_themes_and_widths(show, kind, lang):
    for theme, width in (("light", 375), ("dark", 1280)):
        page = show(kind, lang, theme=theme, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(AXE)
        found = page.evaluate("axe.run(document, { rules: { region: { enabled: false } } })")
        assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in found["violations"]] == []


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
