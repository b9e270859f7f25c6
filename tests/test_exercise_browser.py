"""The exercise module in a browser, on a bare page: every exercise by keyboard, its verdicts, axe."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from making import served
from pairing import THEMES, WIDTHS, slow_except
from reader import EACH, KINDS, WORDS, Reader, answers, drive, plain

import d2lmini as d2l
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import content, widgets
from tools.exercises.format import MODELS
from tools.exercises.text import to_html

NAMES = content.exercise_names()
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
# the least a host must do: what anywidget and the website give a module
HOST = """
import widget from "./exercise-{lang}.js";
window.start = (state, answer = {}, beside = false) => {
  const values = {state, answer}, listeners = [];
  window.model = {
    get: (name) => values[name],
    set: (name, value) => (values[name] = value),
    on: (_, call) => listeners.push(call),
    off: (_, call) => listeners.splice(listeners.indexOf(call), 1),
    save_changes: () => (window.saves = [...(window.saves ?? []), values.answer]),
    tell: (answer) => { values.answer = answer; listeners.forEach((call) => call()); },
    listeners,
  };
  const box = document.createElement("div");
  document.querySelector("main")[beside ? "append" : "replaceChildren"](box);
  return (window.stop = widget.render({model: window.model, el: box})) && true;
};
window.ready = true;
"""
PAGE = """<!doctype html><html lang="{lang}" data-theme="{theme}"><meta charset="utf-8">
<title>Exercises</title><link rel="stylesheet" href="page.css"><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="script-src 'self' 'unsafe-eval'">
<meta name="viewport" content="width=device-width"><h1>Exercises</h1><main></main>
<script type="module" src="host-{lang}.js"></script></html>"""
STYLE = """body{font:17px/1.65 sans-serif;margin:0 auto;padding:16px;max-width:42rem}
[data-theme=dark] body{background:#15181c;color:#e6e9ec}
[data-theme=light] body{background:#fff;color:#1c2126}"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("host")
    (folder / "page.css").write_text(STYLE, encoding="utf-8")
    for lang in LANGUAGES:
        module = widgets.module_source("exercise", lang)
        (folder / f"exercise-{lang}.js").write_text(module, encoding="utf-8")
        (folder / f"host-{lang}.js").write_text(HOST.replace("{lang}", lang), encoding="utf-8")
        for theme in ("light", "dark"):
            page = PAGE.format(lang=lang, theme=theme)
            (folder / f"{lang}-{theme}.html").write_text(page, encoding="utf-8")
    with served(folder) as address:
        yield address


class Sheet(Reader):
    """A page that shows one exercise after the other."""

    def __init__(self, page: Any):
        super().__init__(page.locator("main"), {}, lambda: page.evaluate("model.get('answer')"))
        self.problems: list[str] = []
        for event in ("console", "pageerror"):
            page.on(event, lambda told: self.problems.append(str(getattr(told, "text", told))))

    def start(self, state: dict[str, Any], answer: dict[str, Any] | None = None) -> "Sheet":
        self.state = state
        self.page.evaluate("([state, answer]) => start(state, answer)", [state, answer or {}])
        return self

    def open(self, name: str, language: str = "en", answer: dict[str, Any] | None = None) -> "Sheet":
        d2l.use_language(language)
        shown = d2l.exercise(name)
        d2l.use_language("en")
        return self.start(shown.state, answer)


@pytest.fixture(scope="module")
def bare_page(browser: Any, host: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.goto(f"{host}/en-light.html")
    page.wait_for_function("window.ready")
    yield page
    context.close()


@pytest.fixture
def sheet(bare_page: Any) -> Iterator[Sheet]:
    shown = Sheet(bare_page)
    yield shown
    assert not shown.problems


@pytest.mark.parametrize("name", slow_except(NAMES, EACH))
def test_every_exercise_by_keyboard(sheet: Sheet, name: str) -> None:
    drive(lambda: sheet.open(name))


def test_nothing_chosen_yet(sheet: Sheet) -> None:
    sheet.open("self-attention/why-scale").press("Check")
    assert sheet.verdict == "Choose an answer first."
    assert sheet.page.evaluate("document.activeElement.type") == "radio"
    assert sheet.answer == {}


def test_help_comes_in_steps(sheet: Sheet) -> None:
    sheet.open("self-attention/why-scale")
    hints = [plain(hint) for hint in sheet.state["hints"]]
    assert sheet.page.locator(".d2l-help").get_attribute("aria-live") == "polite"
    sheet.press("Hint")
    assert hints[0] in sheet.help and hints[1] not in sheet.help
    sheet.press("Stronger hint")
    assert hints[1] in sheet.help and sheet.answer["hints"] == 2
    sheet.press("Show the solution")
    assert plain(sheet.state["solution"]) in sheet.help
    # the pressed button is gone: the focus is with what it brought
    assert sheet.focused.startswith("Solution")
    assert not sheet.answer.get("done")


def test_another_try_has_fresh_numbers(sheet: Sheet) -> None:
    sheet.open("self-attention/thinking-machines")
    question = sheet.page.locator(".d2l-question")
    seen = [question.inner_text()]
    for variant in sheet.state["variants"]:
        sheet.give(round(variant["answer"], 4))
        sheet.press("Check")
        assert "Correct." in sheet.verdict
        sheet.press("Try another")
        assert sheet.verdict == "" and sheet.page.locator("input").input_value() == ""
        assert sheet.page.evaluate("document.activeElement.tagName") == "INPUT"
        seen.append(question.inner_text())
    assert seen[-1] == seen[0] and len(set(seen)) == len(sheet.state["variants"])


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        ("0.88", "Correct"), ("0,88", "Correct"), (".88", "Correct"), ("88/100", "Correct"),
        ("７/８", "Not yet"), ("−0.88", "Not yet"),
        ("0.88.1", "does not read"), ("88 %", "does not read"), ("1/2/3", "does not read"),
        ("1 1/2", "does not read"), ("16 GiB", "does not read"), ("10³", "does not read"),
    ],
)  # fmt: skip
def test_how_numbers_are_written(sheet: Sheet, written: str, verdict: str) -> None:
    sheet.open("self-attention/thinking-machines").give(written)
    sheet.page.keyboard.press("Enter")
    assert verdict in sheet.verdict


@pytest.fixture(scope="module")
def vietnamese_page(browser: Any, host: str) -> Iterator[Any]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{host}/vi-light.html")
    page.wait_for_function("window.ready")
    yield page
    context.close()


def test_a_number_with_two_readings_is_asked_about(vietnamese_page: Any) -> None:
    sheet = Sheet(vietnamese_page).open("self-attention/thinking-machines", "vi")
    said = words("vi")["exercises"]
    for written, whole, decimal in (("2,400", "2400", "2.4"), ("1.234", "1234", "1.2340")):
        sheet.give(written)
        sheet.press(said["check"])
        assert sheet.verdict == said["ambiguous_number"].format(text=written, whole=whole, decimal=decimal)
        assert not sheet.answer.get("checked")
    sheet.give("0,88")
    sheet.press(said["check"])
    assert said["correct"] in sheet.verdict


def test_a_cell_with_two_readings_is_asked_about(vietnamese_page: Any) -> None:
    name = next(name for name in NAMES if has_numbers_to_fill(name))
    sheet = Sheet(vietnamese_page).open(name, "vi")
    sheet.give([["1,250" for _ in row] for row in sheet.state["cells"]])
    sheet.press(words("vi")["exercises"]["check"])
    assert "1,250" in sheet.verdict and "1250" in sheet.verdict


def has_numbers_to_fill(name: str) -> bool:
    exercise = content.exercise_content(name, "vi")
    return exercise["kind"] == "matrix" and not exercise.get("binary")


def test_scripts_of_formulas_are_smaller_than_their_letters(sheet: Sheet) -> None:
    sheet.open("self-attention/why-scale")
    sheet.start({**sheet.state, "question": "<math><msub><mi>x</mi><mn>2</mn></msub></math>"})
    sizes = sheet.page.evaluate(
        "['mi', 'mn'].map((tag) => parseFloat(getComputedStyle(document.querySelector(tag)).fontSize))"
    )
    assert sizes[1] == pytest.approx(0.7 * sizes[0], rel=0.01)


def test_a_changed_answer_takes_the_verdict_away(sheet: Sheet) -> None:
    sheet.open("self-attention/why-scale").give(1)
    sheet.press("Check")
    assert "Not yet." in sheet.verdict
    sheet.give(2)
    assert sheet.verdict == "" and sheet.answer["checked"] is False


def test_what_is_done_stays_done(sheet: Sheet) -> None:
    sheet.open("self-attention/why-scale").give(0)
    sheet.press("Check")
    sheet.press(WORDS["again"])
    sheet.give(1)
    sheet.press("Check")
    assert "Not yet." in sheet.verdict and sheet.answer["done"] is True
    kicker = sheet.here.locator(".d2l-kicker")
    assert "✓ solved before" in kicker.inner_text() and "✓ done" not in kicker.inner_text()
    assert seen(kicker.locator(".d2l-solved"))
    sheet.give(0)
    sheet.press("Check")
    assert "✓ done" in kicker.inner_text()


def seen(node: Any) -> bool:
    """Say whether a person sees it: it has room, lies in the window, and nothing covers it."""
    node.scroll_into_view_if_needed()
    return node.evaluate("""node => {
        const { left, top, width, height } = node.getBoundingClientRect();
        const there = document.elementFromPoint(left + width / 2, top + height / 2);
        return width > 1 && height > 1 && left >= 0 && top >= 0 && left + width <= innerWidth
            && top + height <= innerHeight && node.contains(there);
    }""")


def test_a_wrong_number_is_told_where_help_is(sheet: Sheet) -> None:
    sheet.open("self-attention/thinking-machines")
    for button in ("Hint", "Stronger hint", "Show the solution"):
        sheet.give(0.4321)
        sheet.press("Check")
        assert "Not yet." in sheet.verdict and f"“{button}” above" in sheet.verdict
        note = sheet.here.locator(".d2l-note")
        named = sheet.here.get_by_role("button", name=button, exact=True)
        assert seen(note) and named.bounding_box()["y"] < note.bounding_box()["y"]
        sheet.press(button)
    assert "above" not in sheet.verdict


def test_the_chosen_prediction_is_marked_as_right_or_wrong(sheet: Sheet) -> None:
    right, wrong = answers(sheet.open(KINDS["predict"]).state)
    for given, mark, verdict in (
        (wrong[0][0], "✗", "✗ It turns out"),
        (right, "✓", "✓ Your guess was right"),
    ):
        sheet.open(KINDS["predict"]).give(given)
        sheet.press("That is my guess")
        assert verdict in sheet.verdict
        why = sheet.here.locator(".d2l-options > div").nth(given).locator(".d2l-why")
        assert why.get_attribute("data-mark") == mark and "your choice" in why.inner_text()
        assert seen(why)


# ---- what is typed is saved now and then, and lost never


@pytest.mark.parametrize("kind", ["number", "open", "matrix"])
def test_typing_saves_at_most_once_a_second(sheet: Sheet, kind: str) -> None:
    names = [name for name in NAMES if content.exercise_content(name, "en")["kind"] == kind]
    sheet.open(next(name for name in names if kind != "matrix" or has_numbers_to_fill(name)))
    sheet.to("input, textarea")
    sheet.page.evaluate("window.saves = []")
    sheet.page.keyboard.type("0." + "1" * 60, delay=30)
    assert 1 <= sheet.page.evaluate("saves.length") <= 4
    sheet.page.keyboard.type("2")
    sheet.page.keyboard.press("Tab")  # the field is left
    last = sheet.page.evaluate("saves.at(-1).given")
    assert (last[0][0] if kind == "matrix" else last) == "0." + "1" * 60 + "2"
    count = sheet.page.evaluate("saves.length")
    sheet.page.wait_for_timeout(1200)
    assert sheet.page.evaluate("saves.length") == count


@pytest.mark.parametrize("leaves", ["dispatchEvent(new Event('pagehide'))", "stop()"])
def test_what_was_typed_is_saved_when_the_page_or_the_widget_goes(sheet: Sheet, leaves: str) -> None:
    sheet.open(KINDS["open"]).give("Because")
    sheet.page.evaluate(leaves)
    assert sheet.answer["given"] == "Because"
    saved = sheet.page.evaluate("saves.length")
    sheet.page.evaluate("dispatchEvent(new Event('pagehide'))")  # there is nothing left to save
    assert sheet.page.evaluate("saves.length") == saved


def test_the_keys_that_save_reach_the_notebook(sheet: Sheet) -> None:
    """JupyterLab takes no key from a widget: Control+S would save the page, not the notebook."""
    sheet.open(KINDS["open"])
    sheet.page.evaluate("""() => {
        const main = document.querySelector("main");
        window.heard = [];
        main.className = "jp-Notebook";
        main.onkeydown = ({ target, code, ctrlKey }) => {
            if (target === main) heard.push([code, ctrlKey]);
        };
    }""")
    sheet.give("s")
    sheet.page.keyboard.press("Control+s")
    assert sheet.page.evaluate("heard") == [["KeyS", True]]
    assert sheet.answer["given"] == "s" and sheet.page.evaluate("saves.at(-1).given") == "s"
    sheet.page.evaluate("Object.assign(document.querySelector('main'), {className: '', onkeydown: null})")


def test_what_is_being_typed_is_newer_than_what_the_host_tells(sheet: Sheet) -> None:
    sheet.open(KINDS["open"]).give("Because of the mask")
    sheet.page.evaluate("model.tell({given: 'Because'})")
    assert sheet.here.locator("textarea").input_value() == "Because of the mask"
    sheet.keeps(given="Because of the mask")


def test_an_open_answer_is_kept_while_it_is_written(sheet: Sheet) -> None:
    sheet.open(KINDS["open"]).give("Because")
    sheet.keeps(given="Because")


def test_every_kind_is_used() -> None:
    assert set(KINDS) == set(MODELS)


@pytest.mark.parametrize("name", EACH)
def test_an_answer_is_restored(sheet: Sheet, name: str) -> None:
    sheet.open(name)
    if sheet.state["kind"] == "code":
        sheet.open(name, answer={"done": True})
        assert "✓ done" in sheet.page.locator(".d2l-kicker").inner_text()
        return
    sheet.give("text" if sheet.state["kind"] == "open" else answers(sheet.state)[0])
    sheet.page.locator(".d2l-main").click()
    # what was announced on the way is not part of the picture
    sheet.page.evaluate("document.querySelector('.d2l-unseen[aria-live]')?.replaceChildren()")
    shown, kept = sheet.page.locator("main").inner_text(), sheet.answer
    sheet.open(name, answer=kept)
    assert sheet.page.locator("main").inner_text() == shown


def unfitting(state: dict[str, Any]) -> list[Any]:
    """What no reader could have given: of another kind, of another version, or made by hand."""
    never: list[Any] = [{"a": 1}, [[7]], [99], 99, -1, 0.5, True, [], [0, 0], [None], {"length": 1}]
    kind = state["kind"]
    if kind in ("number", "open"):
        return [*never, 0]
    if kind == "matrix":
        cells = [["0" if not state.get("binary") else 0 for _ in row] for row in state["cells"]]
        return [
            *never,
            "x",
            cells[:-1],
            [row[:-1] for row in cells],
            [*cells[:-1], None],
            [[{}] * len(cells[0])],
        ]
    if kind == "order":
        count = len(state["items"])
        return [*never, "x", list(range(count - 1)), [0] * count, list(range(1, count + 1)), "0" * count]
    if kind == "bug":
        return [*never, "x", next(i for i, line in enumerate(state["lines"]) if not line.get("why"))]
    return [*never, "x", "0"]


# what an exercise says of each kept answer, all at once: the texts of the question, the verdict and the top
SAID_OF = """([state, answers]) => answers.map((answer) => {
  start(state, answer);
  return [".d2l-question", "[role=status]", ".d2l-kicker"].map((part) =>
    document.querySelector(`main ${part}`).innerText);
})"""


@pytest.mark.parametrize("name", EACH)
def test_a_kept_answer_that_does_not_fit_is_not_shown(sheet: Sheet, name: str) -> None:
    sheet.open(name)
    untouched = sheet.here.inner_text()
    kept = [
        {"given": given, "checked": True, "right": True, "variant": variant}
        for given in unfitting(sheet.state)
        for variant in (0, -1, "x")
    ]
    shown = sheet.page.evaluate(SAID_OF, [sheet.state, kept])
    for answer, (question, verdict, kicker) in zip(kept, shown, strict=True):
        assert question.strip() in untouched, answer
        assert verdict == "" and "done" not in kicker, answer


@pytest.mark.parametrize(("name", "count"), slow_except(product(EACH, (1, None)), product(EACH, (1,))))
def test_after_a_kept_answer_that_does_not_fit_the_right_one_is_taken(
    sheet: Sheet, name: str, count: int | None
) -> None:
    sheet.open(name)
    if sheet.state["kind"] in ("code", "open"):
        return
    for given in unfitting(sheet.state)[:count]:
        sheet.open(name, answer={"given": given})  # what was never checked is no answer, either
        if sheet.state["kind"] not in ("order", "matrix"):
            sheet.press(WORDS["commit" if sheet.state["kind"] == "predict" else "check"])
            assert not sheet.answer.get("done") and "first" in sheet.verdict
        sheet.give(answers(sheet.state)[0])
        sheet.press(WORDS["commit" if sheet.state["kind"] == "predict" else "check"])
        assert sheet.answer["done"] is True


def test_the_host_may_change_the_answer(sheet: Sheet) -> None:
    sheet.open("self-attention/why-scale")
    sheet.page.evaluate("model.tell({given: 0, checked: true, right: true, done: true})")
    assert "Correct." in sheet.verdict and sheet.page.locator("input").first.is_checked()
    sheet.page.evaluate("stop()")
    assert sheet.page.evaluate("model.listeners.length") == 0


def test_moving_an_item_keeps_the_focus_and_is_announced(sheet: Sheet) -> None:
    sheet.open("multi-head-attention/head-shapes")
    sheet.to(".d2l-order button", 1)
    label = sheet.focused
    sheet.page.keyboard.press("Enter")
    assert sheet.focused == label
    assert sheet.page.locator("[aria-live] >> text=2 / 8").count() == 1


def test_the_ends_of_an_order_are_ends(sheet: Sheet) -> None:
    sheet.open("multi-head-attention/head-shapes")
    before = sheet.order()
    for button in (0, 2 * len(before) - 1):
        sheet.to(".d2l-order button", button)
        assert sheet.here.locator(":focus").get_attribute("aria-disabled") == "true"
        sheet.page.keyboard.press("Enter")
        assert sheet.order() == before


def test_what_can_be_pressed_says_where_it_is(sheet: Sheet) -> None:
    sheet.open(KINDS["bug"]).to(".d2l-code [aria-pressed]")
    assert sheet.focused == "Line 2: d = Q.shape[-1]"
    sheet.open("multi-head-attention/leaking-weight").to(".d2l-cell")
    name = f"{plain(sheet.state['rows'][0])}, {plain(sheet.state['columns'][0])}: "
    assert sheet.focused == name + sheet.state["values"][0][0]


def test_zero_and_one_are_the_keys_of_a_matrix_of_zeros_and_ones(sheet: Sheet) -> None:
    binary = [name for name in NAMES if content.exercise_content(name, "en").get("binary")]
    sheet.open(binary[0])
    cell = sheet.page.locator("td input").first
    cell.focus()
    for key, ticked in ("1", True), ("1", True), ("0", False), ("0", False), ("Space", True):
        sheet.page.keyboard.press(key)
        assert cell.is_checked() == ticked, key
        assert sheet.answer["given"][0][0] == ticked, key
    sheet.page.keyboard.press("2")
    assert cell.is_checked()


@pytest.mark.parametrize("kind", ["choice", "predict", "multiple"])
def test_enter_on_an_option_checks(sheet: Sheet, kind: str) -> None:
    sheet.open(KINDS[kind])
    sheet.give(answers(sheet.state)[0])
    sheet.page.locator("input:checked").first.press("Enter")
    assert sheet.answer["right"]
    assert WORDS["guessed_right" if kind == "predict" else "correct"] in sheet.verdict


@pytest.mark.parametrize("name", [name for kind, name in KINDS.items() if kind != "code"])
def test_after_a_right_answer_the_focus_stays_in_the_exercise(sheet: Sheet, name: str) -> None:
    """The pressed button is gone; a keyboard that is nowhere would begin at the head of the page."""
    sheet.open(name)
    sheet.give("Because." if sheet.state["kind"] == "open" else answers(sheet.state)[0])
    sheet.page.locator(".d2l-main").focus()
    sheet.page.keyboard.press("Enter")
    assert sheet.answer["done"]
    assert sheet.page.locator(":focus").evaluate("node => !!node.closest('.d2l-exercise')")
    if sheet.page.locator(".d2l-main:visible").count() == 0:
        assert sheet.page.locator(".d2l-solution:focus, .d2l-bar button:focus").count() == 1


@pytest.mark.parametrize("name", [name for kind, name in KINDS.items() if kind not in ("code", "open")])
def test_a_right_answer_stands_until_another_try(sheet: Sheet, name: str) -> None:
    sheet.open(name)
    right, wrong = answers(sheet.state)
    sheet.give(right)
    sheet.page.locator(".d2l-main").press("Enter")
    settled = sheet.answer
    assert settled["right"]
    if sheet.state["kind"] == "order":
        sheet.page.locator(".d2l-move button").nth(1).press("Enter")
        sheet.page.locator(".d2l-move button").nth(2).press("Enter")
        assert sheet.order() == right
    else:
        sheet.give(wrong[0][0])
    if sheet.state["kind"] in ("number", "matrix"):
        sheet.page.locator("input").first.press("Enter")
    assert sheet.answer == settled
    assert WORDS["guessed_right" if sheet.state["kind"] == "predict" else "correct"] in sheet.verdict


def test_arrow_keys_walk_through_a_matrix(sheet: Sheet) -> None:
    sheet.open("multi-head-attention/mask-matrix").to("td input")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"):
        sheet.page.keyboard.press(key)
    assert sheet.focused == "milk, dogs"


def test_hostile_words_stay_words(sheet: Sheet) -> None:
    """What an author writes, what fills a place, and what a reader types."""
    sheet.open("self-attention/thinking-machines")
    bad = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
    state = json.loads(json.dumps(sheet.state))
    state["question"] = to_html(f"{bad} **{bad}** *{bad}* `{bad}`", "en") + "{{a}}"
    state["solution"] = state["why"] = to_html(bad, "en")
    state["hints"] = [state["solution"], "{{a}}"]
    state["variants"] = [{**state["variants"][0], "text": {"a": bad}}]
    sheet.start(state)
    assert sheet.page.locator(".d2l-question").inner_text().count(bad) == 5
    sheet.give(bad)
    for _ in range(3):  # hint, stronger hint, solution
        sheet.page.locator(".d2l-bar button:visible").last.click()
    assert sheet.help.count(bad) == 3
    sheet.page.locator(".d2l-main").click()
    sheet.give(0.88)
    sheet.page.locator(".d2l-main").click()
    assert bad in sheet.verdict
    assert sheet.page.locator("main img, main script").count() == 0
    assert sheet.page.evaluate("window.hacked") is None


def test_dark_follows_the_page(sheet: Sheet) -> None:
    sheet.open("self-attention/why-scale")
    color = "getComputedStyle(document.querySelector('.d2l-main')).backgroundColor"
    light = sheet.page.evaluate(color)
    sheet.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    sheet.page.wait_for_function(f"{color} === 'rgb(108, 184, 240)'")
    sheet.page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert light == "rgb(0, 103, 165)"


@pytest.mark.parametrize("language", slow_except(LANGUAGES, ["vi"]))
def test_every_exercise_fits_on_a_phone(browser: Any, host: str, language: str) -> None:
    """Formulas have no place to break: a long one is written as two."""
    context = browser.new_context(viewport={"width": 375, "height": 900})
    page = context.new_page()
    page.goto(f"{host}/{language}-light.html")
    page.wait_for_function("window.ready")
    sheet, wide = Sheet(page), []
    for name, answer in product(NAMES, ({}, {"hints": 2, "revealed": True})):
        sheet.open(name, language, answer)
        if page.evaluate("document.documentElement.scrollWidth") > 375:
            wide.append(name)
    context.close()
    assert wide == []


@pytest.mark.parametrize(
    ("language", "theme", "width"),
    slow_except(
        product(LANGUAGES, THEMES, WIDTHS), [("en", "light", 1280), ("vi", "dark", 375), ("zh", "light", 375)]
    ),
)
def test_axe_and_width(browser: Any, host: str, language: str, theme: str, width: int) -> None:
    """No violation, no sideways scrolling: an exercise of each kind, untouched, right, wrong and revealed."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.goto(f"{host}/{language}-{theme}.html")
    page.wait_for_function("window.ready")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    d2l.use_language(language)
    for name in EACH:
        state = d2l.exercise(name).state
        given: list[Any] = []
        if state["kind"] not in ("code", "open"):
            right, wrong = answers(state)
            given = [{"given": right, "right": True, "done": True}, {"given": wrong[0][0], "hints": 2}]
        if state["kind"] == "open":
            given = [{"given": "text", "done": True}]
        if state["kind"] == "number":
            given = [one | {"given": str(one["given"])} for one in given]
        kept = [{}, *({"checked": True} | one for one in given), {"hints": 2, "revealed": True}]
        page.evaluate("([state, kept]) => { for (const one of kept) start(state, one, true) }", [state, kept])
    d2l.use_language("en")
    assert page.locator(".d2l-exercise").count() > 3 * len(EACH)
    found = page.evaluate("axe.run('main').then((result) => result.violations)")
    assert not found, [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
