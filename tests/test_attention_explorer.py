"""The attention explorer: its numbers are PyTorch's, all heads answer a query, tasks are done in sight."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import unquote_plus

import pytest
import torch
from explorer_pages import TOO_SMALL, UNDER_HEADER, site_of, swipe, visits
from making import asked
from playwright.sync_api import Browser, Locator, Page, expect
from test_new_language import LEFT_IN_ENGLISH, in_pseudo
from test_seen import DESK, PHONE, unseen

import d2lmini as d2l
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import module_source

KIND = "attention-explorer"
WORDS = {
    language: words(language)["explorers"]["shared"] | words(language)["explorers"]["attention"]
    for language in LANGUAGES
}
SENTENCES = {language: WORDS[language]["sentences"] for language in LANGUAGES}
PRONOUN = {"en": "it", "vi": "nó", "zh": "它"}


# ---- the arithmetic


@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
@pytest.mark.parametrize("scale", [True, False])
def test_attention_weights_are_those_of_the_package(compute: Any, mask: str, scale: bool) -> None:
    page = compute(KIND)
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


def test_a_query_without_keys_gets_zeros(compute: Any) -> None:
    page = compute(KIND)
    weights = page.evaluate(
        "() => numbers.attend(['a', 'b'].map(numbers.embed), numbers.heads()[0], { allowed: () => false })"
    )
    assert weights == [[0, 0], [0, 0]]


def test_heads_do_what_their_names_say(compute: Any) -> None:
    page = compute(KIND)
    favorite = """([sentence, head, word]) => {
      const words = sentence.split(" ");
      const row = numbers.attend(words.map(numbers.embed), numbers.heads()[head])[words.indexOf(word)];
      return words[row.indexOf(Math.max(...row))];
    }"""
    assert page.evaluate(favorite, [SENTENCES["en"][1], 1, "it"]) == "cat"
    assert page.evaluate(favorite, [SENTENCES["vi"][1], 1, "nó"]) in ("con", "mèo")
    assert page.evaluate(favorite, [SENTENCES["zh"][1], 1, "它"]) == "小猫"
    assert page.evaluate(favorite, [SENTENCES["en"][2], 2, "chase"]) in ("mice", "cats")


# ---- by hand


def tokens(page: Page) -> Locator:
    return page.get_by_role("radio")


def control(page: Page, language: str, name: str) -> Locator:
    """Return what moves the picture: a switch, a slider, a button."""
    text = WORDS[language]
    if name == "temperature":
        return page.get_by_role("slider", name=text["temperature"])
    return page.get_by_role("switch" if name == "scale" else "button", name=text[name])


def mask(page: Page, language: str, name: str) -> Locator:
    return page.get_by_role("button", name=WORDS[language]["masks"][name], exact=True)


def go_to(page: Page, number: int) -> Locator:
    for _ in range(number - 1):
        page.locator(".task button").nth(2).click()
    return page.locator(".task [role=status]")


@pytest.mark.parametrize("language", LANGUAGES)
def test_at_first_the_pronoun_asks_and_finds_whom_it_stands_for(show: Any, language: str) -> None:
    page = show(KIND, language)
    asks = page.locator("[role=radio][aria-checked=true]")
    assert asks.get_attribute("data-word") == PRONOUN[language]
    assert page.locator(".map[aria-pressed=true]").inner_text().startswith("2")
    found = page.locator(".said").inner_text()
    assert re.search(
        {"en": r"to: cat 0\.8", "vi": r": con 0\.4.*mèo 0\.4", "zh": r"：小猫 0\.8"}[language], found
    )


def test_a_sentence_begins_with_the_token_that_asks_for_something(show: Any) -> None:
    page = show(KIND)
    page.locator("summary").click()
    for index, asking in ((0, "drink"), (1, "it"), (2, "chase")):
        page.get_by_label("Sentence").select_option(index=index)
        asks = page.locator("[role=radio][aria-checked=true]")
        assert asks.get_attribute("data-word") == asking
    # a head changes nothing about who asks
    tokens(page).first.click()
    page.locator(".map").nth(2).click()
    assert page.locator("[role=radio][aria-checked=true]").get_attribute("data-word") == "mice"


def test_all_heads_stand_side_by_side_for_the_same_query(show: Any) -> None:
    page = show(KIND)
    expected = page.evaluate(
        """(sentence) => numbers.heads().map((head) => {
            const row = numbers.attend(sentence.split(" ").map(numbers.embed), head)[2];
            return [row.indexOf(Math.max(...row)), Math.max(...row).toFixed(3)];
        })""",
        SENTENCES["en"][1],
    )
    tokens(page).nth(2).click()
    names = SENTENCES["en"][1].split()
    best = page.locator(".map .best").all_inner_texts()
    assert best == [f"drank → {names[at]} {weight}" for at, weight in expected]
    opacities = "(all) => all.map((cell) => Number(cell.getAttribute('fill-opacity')).toFixed(3))"
    rows = page.locator(".map").nth(2).locator("rect:not(.around)").evaluate_all(opacities)[18:27]
    assert max(rows) == expected[2][1] and rows.index(max(rows)) == expected[2][0]
    assert (
        page.locator(".map .around").evaluate_all("(all) => all.map((one) => one.getAttribute('y'))")
        == ["2"] * 3
    )
    # what a mask hides is crossed out in each map
    assert page.locator(".map path").count() == 0
    mask(page, "en", "causal").click()
    assert page.locator(".map path").count() == 3 * 36


def test_arcs_go_from_the_token_that_asks_to_all_others(show: Any) -> None:
    ends = """() => {
        const all = (kind) => [...document.querySelectorAll(kind)];
        const chips = all("[role=radio]").map((chip) => chip.getBoundingClientRect());
        return all(".arcs path").map((arc, j) => {
            const inside = (share) => arc.getPointAtLength(share * arc.getTotalLength());
            const at = (share) => inside(share).matrixTransform(arc.getScreenCTM());
            const near = ({ x, y }, box, edge) =>
                Math.abs(x - box.left - box.width / 2) < 21 && Math.abs(y - edge) < 2;
            const [from, to] = [chips[6], chips[j]];
            // above it is the row before, and the arcs of its own row
            return near(at(0), from, to.top > from.top ? from.bottom : from.top) &&
                near(at(1), to, to.top < from.top ? to.bottom : to.top);
        });
    }"""
    for width in (760, 375):  # in one row, and in two
        page = show(KIND, width=width)
        page.wait_for_function("document.querySelectorAll('.arcs path').length === 9")
        assert page.evaluate(ends) == [True] * 9
        wide = page.locator(".arcs path").evaluate_all(
            "(all) => all.map((arc) => Number(arc.style.strokeWidth))"
        )
        assert wide.index(max(wide)) == 1 and max(wide) == pytest.approx(0.6 + 11 * 0.845, abs=0.02)


def test_every_control_of_the_attention_explorer_acts(show: Any) -> None:
    page = show(KIND, query=asked("attention", sentence=SENTENCES["en"][0], head=0, token=0))
    said = page.locator(".said")
    seen = [said.inner_text()]

    def then(act: Callable[[], Any]) -> None:
        act()
        seen.append(said.inner_text())

    then(control(page, "en", "scale").click)
    then(page.locator(".map").nth(1).click)
    then(mask(page, "en", "padding").click)
    then(lambda: control(page, "en", "temperature").press("End"))
    then(control(page, "en", "turn").click)
    page.locator("summary").click()
    then(lambda: page.get_by_label("Sentence").select_option("1"))
    assert len(set(seen)) == 7


def test_turning_a_sentence_around_leaves_the_same_token_asking(show: Any) -> None:
    page = show(KIND)
    tokens(page).nth(1).click()
    control(page, "en", "turn").click()
    assert [one.get_attribute("data-word") for one in tokens(page).all()] == SENTENCES["en"][1].split()[::-1]
    assert page.locator("[role=radio][aria-checked=true]").get_attribute("data-word") == "cat"
    page.locator("summary").click()
    assert page.get_by_label("Sentence").input_value() == "1"


def test_the_steps_of_a_query_add_up_to_its_output(show: Any) -> None:
    page = show(KIND, query=asked("attention", sentence=SENTENCES["en"][1], head=1, token=6))
    cells = """(table) => [...table.querySelectorAll("tr")].slice(1, -1).map((row) =>
        [...row.children].map((cell) =>
            cell.querySelector("[role=img]")?.getAttribute("aria-label") ?? cell.textContent))"""
    rows = page.locator(".steps table").evaluate(cells)
    assert [row[0] for row in rows] == SENTENCES["en"][1].split()
    scores = torch.tensor([float(row[1].replace("−", "-")) for row in rows])
    weights = torch.tensor([float(row[2]) for row in rows])
    V, parts = (
        torch.tensor([json.loads(f"[{row[c][1:-1]}]".replace("−", "-")) for row in rows]) for c in (3, 4)
    )
    torch.testing.assert_close(scores.softmax(0), weights, rtol=0, atol=0.005)
    torch.testing.assert_close(weights[:, None] * V, parts, rtol=0, atol=0.006)
    output = page.locator(".steps .sum [role=img]").get_attribute("aria-label")
    torch.testing.assert_close(torch.tensor(json.loads(f"[{output[1:-1]}]")), weights @ V, rtol=0, atol=0.006)
    assert page.locator(".said").inner_text().endswith(f"output {output}")
    formula = page.locator(".steps .how")
    assert formula.inner_text() == "q·k / √8"
    control(page, "en", "temperature").press("End")
    assert formula.inner_text() == "q·k / (√8 · 4.00)"
    control(page, "en", "scale").click()
    assert formula.inner_text() == "q·k / 4.00"
    mask(page, "en", "padding").click()
    assert page.locator(".steps table").evaluate(cells)[-1][1:3] == ["−∞", "0.000"]


@pytest.mark.parametrize("width", [760, 375])
def test_a_token_stands_above_its_own_numbers(show: Any, width: int) -> None:
    page = show(KIND, width=width)
    if width == 375:
        assert not page.locator(".steps").is_visible()  # folded
        page.locator("summary").click()
        names = page.locator(".steps tr .word").all_inner_texts()
        assert names[1:] == SENTENCES["en"][1].split()
        return
    middle = """(all) => all.map((one) => {
        const { left, width } = one.getBoundingClientRect();
        return left + width / 2;
    })"""
    chips = tokens(page).evaluate_all(middle)
    assert page.locator(".steps .weight").evaluate_all(middle) == pytest.approx(chips, abs=1)


CONTRASTS = """() => {
    const channels = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (rgb) => {
        const [r, g, b] = rgb.map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = channels(getComputedStyle(document.body).backgroundColor).map((part) => part / 255);
    return [...document.querySelectorAll(".weight")].map((cell) => {
        const { backgroundImage, color } = getComputedStyle(cell);
        const [r, g, b, alpha] = channels(backgroundImage.match(/color\\(srgb([^)]*)/)[1]);
        const mixed = [r, g, b].map((part, i) => alpha * part + (1 - alpha) * ground[i]);
        const text = channels(color).map((part) => part / 255);
        const [low, high] = [mixed, text].map(light).sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    });
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_of_the_weights_stand_out_from_their_bars(show: Any, theme: str) -> None:
    contrasts = show(KIND, theme=theme).evaluate(CONTRASTS)
    assert len(contrasts) == 9 and min(contrasts) >= 4.5


def test_by_keyboard_all_can_be_done(show: Any) -> None:
    page = show(KIND)
    page.locator("[role=radio][aria-checked=true]").focus()
    for key, at in (("ArrowLeft", 5), ("Home", 0), ("ArrowRight", 1), ("End", 8)):
        page.keyboard.press(key)
        expect(tokens(page).nth(at)).to_be_focused()
        assert tokens(page).nth(at).get_attribute("aria-checked") == "true"
    page.locator(".map").nth(2).press("Enter")
    assert page.locator(".map").nth(2).get_attribute("aria-pressed") == "true"
    expect(page.locator(".map").nth(2)).to_be_focused()
    control(page, "en", "scale").press("Space")
    assert control(page, "en", "scale").get_attribute("aria-checked") == "false"
    mask(page, "en", "causal").press("Enter")
    assert mask(page, "en", "causal").get_attribute("aria-pressed") == "true"
    control(page, "en", "temperature").press("ArrowRight")
    assert control(page, "en", "temperature").get_attribute("aria-valuetext") == "1.25"


def test_free_text_is_text(show: Any) -> None:
    page = show(KIND)
    page.locator("summary").click()
    field = page.get_by_role("textbox")
    field.fill("<b>bold</b> words")
    assert page.locator("#here b", has_text="bold").count() == 0 and tokens(page).count() == 2
    field.fill("one")
    assert page.locator(".said").inner_text() == "Type two words or more."
    assert tokens(page).count() == page.locator(".map").count() == 0
    field.fill("")
    field.press_sequentially("two words")
    assert tokens(page).count() == 2 and page.locator(".map").count() == 3
    mask(page, "en", "padding").click()
    assert page.locator(".said").inner_text() == "two listens to nobody: all keys are masked"
    field.fill(" ".join("abcdefghijklmno"))
    assert tokens(page).count() == 12


# ---- tasks


def do_task(page: Page, number: int, language: str) -> None:
    """Do a task as its text asks for it."""
    if number == 1:
        verb = {"en": "drank", "vi": "uống", "zh": "喝光"}[language]
        page.locator(f"[data-word='{verb}']").click()
        page.locator(".map").nth(2).click()
    elif number == 2:
        control(page, language, "scale").click()
    elif number == 3:
        mask(page, language, "causal").click()
        tokens(page).first.click()
    elif number == 4:
        control(page, language, "temperature").press("End")
    else:
        control(page, language, "turn").click()


def row_of(page: Page, sentence: str, head: int, at: int, options: str = "{}") -> list[float]:
    row: list[float] = page.evaluate(
        "([sentence, head, at]) => numbers.attend(sentence.split(' ').map(numbers.embed),"
        f" numbers.heads()[head], {options})[at]",
        [sentence, head, at],
    )
    return row


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_task_is_ticked_by_doing_it_and_its_answer_is_true(show: Any, language: str) -> None:
    page = show(KIND, language)
    first, second, third = SENTENCES[language]
    words_of = second.split()
    verb = words_of.index({"en": "drank", "vi": "uống", "zh": "喝光"}[language])
    it = words_of.index(PRONOUN[language])
    nouns = sorted(row_of(page, second, 2, verb))[-2:]
    plain, hard, warm = (
        max(row_of(page, first, 0, 0, options))
        for options in ("{}", "{ scale: false }", "{ temperature: 4 }")
    )
    points = page.evaluate(
        "([s, i]) => numbers.scores(s.split(' ').map(numbers.embed), numbers.heads()[1])[i]", [second, it]
    )
    least = points.index(min(points))
    assert points[least] < -0.5 and hard > plain > warm > 1 / 5
    swapped = " ".join(reversed(third.split()))
    shown = [
        [max(row_of(page, second, 1, verb)), *nouns],
        [plain, hard],
        [row_of(page, second, 1, it)[least]],
        [plain, warm, 1 / len(first.split())],
        [p for sentence in (third, swapped) for p in sorted(row_of(page, sentence, 2, 1))[-2:]],
    ]
    assert shown[-1][:2] == pytest.approx(shown[-1][2:], abs=1e-9) and min(shown[-1]) > 0.45
    told = page.locator(".task [role=status]")
    for number in range(1, 6):
        assert told.get_attribute("data-done") == "false" and not set("{}_") & set(told.inner_text())
        do_task(page, number, language)
        expect(told).to_have_attribute("data-done", "true")
        answer = told.inner_text()
        assert answer.startswith("✓") and not set("{}_") & set(answer)
        assert all(f"{value:.3f}" in answer for value in shown[number - 1]), (number, answer)
        assert page.locator(".marks [data-done=true]").count() == number
        if number == 3:
            assert f"−{-points[least]:.2f}" in answer and words_of[least] in answer
        if number < 5:
            page.locator(".task button").nth(2).click()
    assert page.locator(".task button").nth(2).is_disabled()


def test_a_task_is_not_ticked_by_something_like_it(show: Any) -> None:
    page = show(KIND)
    told = go_to(page, 1)
    page.locator(".map").nth(2).click()  # the pronoun still asks
    page.locator(".map").nth(0).click()
    page.locator("[data-word=drank]").click()
    assert told.get_attribute("data-done") == "false"
    go_to(page, 2)
    control(page, "en", "temperature").press("Home")
    control(page, "en", "scale").click()  # but not that alone
    assert told.get_attribute("data-done") == "false"
    go_to(page, 2)
    tokens(page).first.click()
    mask(page, "en", "padding").click()
    tokens(page).nth(1).click()
    mask(page, "en", "causal").click()
    assert told.get_attribute("data-done") == "false"
    go_to(page, 2)
    tokens(page).nth(1).click()  # its row has no weight so large
    mask(page, "en", "causal").click()
    control(page, "en", "temperature").press("End")
    assert told.get_attribute("data-done") == "false"


def test_who_gives_up_is_told(show: Any) -> None:
    page = show(KIND)
    assert page.get_by_role("button", name="Show what there is to see").count() == 0  # before a try
    tokens(page).first.click()
    page.get_by_role("button", name="Show what there is to see").click()
    told = page.locator(".task [role=status]")
    expect(told).to_contain_text("In head 3: there “drank” asks for nouns")
    assert told.get_attribute("data-done") == "false" and page.locator(".marks [data-done=true]").count() == 0


def test_what_changes_is_announced(show: Any) -> None:
    page = show(KIND)
    statuses = page.locator("p[role=status]")
    assert statuses.count() == 2  # of the picture, and of the task
    said = page.locator(".said")
    before = said.inner_text()
    tokens(page).first.click()
    assert said.inner_text() != before and said.inner_text().startswith("the listens to: ")


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
            assert page.evaluate(LEFT_IN_ENGLISH, [["softmax"], "body"]) == []
            page.locator(".task button").nth(2).click(force=True)


# ---- links


def test_the_address_follows_the_view(show: Any) -> None:
    page = show(KIND)
    page.locator("[role=radio][aria-checked=true]").focus()
    page.keyboard.press("End")
    page.wait_for_url(lambda url: '"token":8' in unquote_plus(url))


def test_a_shared_link_shows_the_view_that_was_shared(show: Any) -> None:
    shared = {
        "sentence": SENTENCES["en"][0],
        "head": 2,
        "scale": False,
        "mask": "causal",
        "temperature": 2,
        "token": 3,
    }
    # `map`, of the heatmap that is no more, is ignored
    page = show(KIND, query=asked("attention", **shared, map="scores"))
    assert page.locator("[role=radio][aria-checked=true]").get_attribute("data-word") == "drink"
    assert page.locator(".map").nth(2).get_attribute("aria-pressed") == "true"
    assert mask(page, "en", "causal").get_attribute("aria-pressed") == "true"
    assert control(page, "en", "temperature").input_value() == "2"
    assert control(page, "en", "scale").get_attribute("aria-checked") == "false"
    page = show(KIND, query=asked("attention", task=3))
    assert page.locator(".title").inner_text() == "Task 4/5"


def test_a_link_beyond_the_sliders_shows_their_ends(show: Any) -> None:
    page = show(KIND, query=asked("attention", temperature=-1, token=1e9, head=7, mask="__proto__", task=44))
    assert page.locator("label", has_text="Temperature").inner_text() == "Temperature = 0.25"
    assert tokens(page).last.get_attribute("aria-checked") == "true"
    assert page.locator(".map").nth(1).get_attribute("aria-pressed") == "true"
    assert mask(page, "en", "none").get_attribute("aria-pressed") == "true"


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
def test_an_explorer_outlives_the_limit_of_changes_of_the_address(show_apart: Any, limit: int) -> None:
    page = show_apart(KIND)
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
    assert tokens(page).nth((6 + 121) % 9).get_attribute("aria-checked") == "true"


# ---- seen


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_of(KIND, tmp_path_factory.mktemp("attention-book")) as address:
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
        control = [] if number == 1 and kind is PHONE else ["control"]  # there the heads themselves are it
        assert looks == ["task", *control, "picture", "picture"]
        do_task(page, number, language)
        expect(page.locator(".task [role=status]")).to_have_attribute("data-done", "true")
        root.evaluate(UNDER_HEADER)
        buttons = page.locator(".control button")
        assert (
            unseen(marked, tokens(page), page.locator(".map"), *([buttons] if buttons.count() else [])) == []
        )
        assert root.evaluate(TOO_SMALL) == []
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        if number < 5:
            page.locator(".task button").nth(2).click()


def test_a_swipe_up_that_begins_on_a_control_or_picture_scrolls_the_page(visit: Callable[..., Page]) -> None:
    page = visit(PHONE, "en")
    go_to(page, 4)
    root = page.locator(f"[data-widget={KIND}]")

    def shown() -> list[str]:
        return [page.locator(part).inner_text() for part in (".said", ".control", ".maps")]

    before = shown()
    for part in (".rail", "[role=radio]", ".map", ".scene", ".task"):
        root.evaluate(UNDER_HEADER)
        assert swipe(page, page.locator(part).first, 4, -160) > 60, part
        assert shown() == before, part
    root.evaluate(UNDER_HEADER)
    swipe(page, page.locator(".rail").first, 60, 4)  # sideways it moves the slider
    expect(page.locator(".control")).not_to_contain_text("Temperature = 1.00")


def test_with_reduced_motion_nothing_moves_by_itself(visit: Callable[..., Page]) -> None:
    moving = "() => document.getAnimations().filter((one) => one.effect.target.closest('.desk')).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = visit(DESK, "en", reduced_motion=motion)
        page.wait_for_timeout(500)
        page.evaluate("() => { document.querySelectorAll('.map')[2].click(); }")
        assert bool(page.evaluate(moving)) is moves, motion
