"""The exercise module in a browser, on a bare page: every exercise by keyboard, its verdicts, axe."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import d2lmini as d2l
from book import exercises as compiler
from conftest import served
from d2lmini import exercises, widgets

NAMES = exercises.exercise_names()
KINDS: dict[str, str] = {}  # kind -> the first exercise of it
for _name in NAMES:
    KINDS.setdefault(exercises.exercise_content(_name, "en")["kind"], _name)
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
# the least a host must do: what anywidget and the website give a module
HOST = """
import widget from "./exercise.js";
window.start = (state, answer = {}, beside = false) => {
  const values = {state, answer}, listeners = [];
  window.model = {
    get: (name) => values[name],
    set: (name, value) => (values[name] = value),
    on: (_, call) => listeners.push(call),
    off: (_, call) => listeners.splice(listeners.indexOf(call), 1),
    save_changes: () => (window.saved = values.answer),
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
<script type="module" src="host.js"></script></html>"""
STYLE = """body{font:17px/1.65 sans-serif;margin:0 auto;padding:16px;max-width:42rem}
[data-theme=dark] body{background:#15181c;color:#e6e9ec}
[data-theme=light] body{background:#fff;color:#1c2126}"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("host")
    (folder / "exercise.js").write_text(widgets.module_source("exercise"), encoding="utf-8")
    (folder / "host.js").write_text(HOST, encoding="utf-8")
    (folder / "page.css").write_text(STYLE, encoding="utf-8")
    for lang in ("en", "vi", "zh"):
        for theme in ("light", "dark"):
            page = PAGE.format(lang=lang, theme=theme)
            (folder / f"{lang}-{theme}.html").write_text(page, encoding="utf-8")
    with served(folder) as address:
        yield address


class Exercise:
    """A page with one exercise, and the hands of a reader who has a keyboard only."""

    def __init__(self, page: Any):
        self.page = page
        self.problems: list[str] = []
        for event in ("console", "pageerror"):
            page.on(event, lambda told: self.problems.append(str(getattr(told, "text", told))))

    def start(self, state: dict[str, Any], answer: dict[str, Any] | None = None) -> "Exercise":
        self.state = state
        self.page.evaluate("([state, answer]) => start(state, answer)", [state, answer or {}])
        return self

    def open(self, name: str, language: str = "en", answer: dict[str, Any] | None = None) -> "Exercise":
        d2l.use_language(language)
        shown = d2l.exercise(name)
        d2l.use_language("en")
        return self.start(shown.state, answer)

    @property
    def verdict(self) -> str:
        return self.page.get_by_role("status").inner_text()

    @property
    def help(self) -> str:
        return self.page.locator(".d2l-help").inner_text()

    @property
    def answer(self) -> dict[str, Any]:
        return self.page.evaluate("model.get('answer')")

    @property
    def focused(self) -> str:
        return self.page.evaluate(
            "(node => node.getAttribute('aria-label') || node.textContent)(document.activeElement)"
        )

    def to(self, selector: str, index: int = 0) -> None:
        """Press Tab until the element has the focus."""
        target = self.page.locator(selector).nth(index)
        for _ in range(120):
            if target.evaluate("node => node === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached by Tab")

    def press(self, label: str) -> None:
        """Reach a button of the bar by Tab and press Enter."""
        buttons = self.page.locator(".d2l-bar button")
        index = buttons.all_inner_texts().index(label)
        self.to(".d2l-bar button", index)
        self.page.keyboard.press("Enter")

    def give(self, given: Any) -> None:  # noqa: PLR0912  one branch, one kind
        """Answer with the keyboard as the kind asks for it."""
        keys, kind = self.page.keyboard, self.state["kind"]
        if kind in ("choice", "predict"):
            # the first Tab stop of a radio group is its checked or first button; the arrows choose
            self.page.locator("input").first.focus()
            keys.press("Space")
            for _ in range(given):
                keys.press("ArrowDown")
        elif kind == "multiple":
            for index, box in enumerate(self.page.locator("input").all()):
                if box.is_checked() != (index in given):
                    self.to("input", index)
                    keys.press("Space")
        elif kind in ("number", "open"):
            self.to("input,textarea")
            keys.press("ControlOrMeta+a")
            keys.type(str(given))
        elif kind == "matrix":
            self.to("td input")
            for place, value in enumerate(value for row in given for value in row):
                if place:
                    keys.press("Tab")
                if not self.state.get("binary"):
                    keys.press("ControlOrMeta+a")
                    keys.type(str(value))
                elif self.page.locator("td input").nth(place).is_checked() != bool(value):
                    keys.press("Space")
        elif kind == "order":
            for place, item in enumerate(given):
                while (now := self.order().index(item)) > place:
                    self.page.locator(".d2l-order li").nth(now).locator("button").first.focus()
                    keys.press("Enter")
        else:
            button = {"spot": ".d2l-cell, .d2l-area", "bug": ".d2l-code [aria-pressed]"}[kind]
            label = (
                given
                if kind == "spot"
                else [i for i, x in enumerate(self.state["lines"]) if x.get("why")].index(given)
            )
            self.to(button, label)
            keys.press("Enter")

    def order(self) -> list[int]:
        """The items as they stand, known again by their words and formulas."""
        return self.page.evaluate("""(items) => {
            const text = (part) => typeof part === "string" ? part : part.c ?? part.b ?? part.i ??
                new DOMParser().parseFromString(part.m, "text/xml").documentElement.textContent;
            const known = items.map((item) => item.text.map(text).join(""));
            return [...document.querySelectorAll(".d2l-order li > span:nth-child(2)")]
                .map((node) => known.indexOf(node.textContent));
        }""", self.state["items"])  # fmt: skip


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
def sheet(bare_page: Any) -> Iterator[Exercise]:
    shown = Exercise(bare_page)
    yield shown
    assert not shown.problems


def plain(text: Any) -> str:
    """The longest run of words in a compiled text: by it the text is known again on the page."""
    parts = [text] if isinstance(text, str) else [part for part in text if isinstance(part, str)]
    return max((piece for part in parts for piece in re.split(r"\{\{.*?\}\}", part)), key=len).strip()


def answers(state: dict[str, Any]) -> tuple[Any, list[tuple[Any, Any]]]:  # noqa: PLR0911  one return, one kind
    """The right answer of an exercise, and wrong ones with what must be said about each."""
    kind = state["kind"]
    if kind in ("choice", "predict", "multiple"):
        options = state["options"]
        right = [index for index, option in enumerate(options) if option.get("correct")]
        false = [index for index in range(len(options)) if index not in right]
        if kind == "multiple":
            return right, [([*right, index], options[index]["why"]) for index in false]
        return right[0], [(index, options[index]["why"]) for index in false]
    if kind == "number":
        variant = state["variants"][0]
        return variant["answer"], list(
            zip(variant["wrong"], (wrong["why"] for wrong in state["wrong"]), strict=True)
        )
    if kind == "matrix":
        zeros = [[0 if x is None else x for x in row] for row in state["wrong"][0]["cells"]]
        return state["cells"], [(zeros, state["wrong"][0]["why"])]
    if kind == "order":
        count = len(state["items"])
        return list(range(count)), [([count - 1, *range(count - 1)], state["items"][-1]["why"])]
    if kind == "bug":
        lines = [(index, line) for index, line in enumerate(state["lines"]) if line.get("why")]
        right = next(index for index, line in lines if line.get("correct"))
        return right, [(index, line["why"]) for index, line in lines if index != right]
    if "areas" in state:
        places = list(enumerate(state["areas"]))
        right = next(index for index, area in places if area.get("correct"))
        return right, [(index, area["why"]) for index, area in places if index != right]
    columns = len(state["columns"])
    places = [(spot["row"] * columns + spot["column"], spot) for spot in state["spots"]]
    right = next(index for index, spot in places if spot.get("correct"))
    return right, [(index, spot["why"]) for index, spot in places if not spot.get("correct")]


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_by_keyboard(sheet: Exercise, name: str) -> None:
    sheet.open(name)
    state, words = sheet.state, sheet.state["strings"]
    kind = state["kind"]
    if kind == "code":
        sheet.press(words["hint"])
        sheet.press(words["stronger_hint"])
        sheet.press(words["show_solution"])
        assert state["solution_code"].splitlines()[0] in sheet.help
        return
    if kind == "open":
        sheet.press(words["compare"])
        assert words["write_first"] in sheet.verdict and not sheet.answer.get("done")
        sheet.give("Because of the mask.")
        sheet.press(words["compare"])
        assert plain(state["solution"]) in sheet.help and sheet.answer["done"]
        assert sheet.answer["given"] == "Because of the mask."
        return
    button = words["commit" if kind == "predict" else "check"]
    right, wrong = answers(state)
    if kind == "predict":
        given, why = wrong[0]
        sheet.give(given)
        sheet.press(button)
        assert words["guessed_wrong"] in sheet.verdict and plain(why) in sheet.verdict
        assert plain(state["solution"]) in sheet.help and sheet.answer["done"]
        sheet.open(name)
    else:
        for given, why in wrong[:2]:
            sheet.give(given)
            sheet.press(button)
            assert words["not_yet"] in sheet.verdict
            assert plain(why) in sheet.verdict
            assert not sheet.answer.get("done") and plain(state["solution"]) not in sheet.help
    sheet.give(right)
    sheet.press(button)
    assert words["guessed_right" if kind == "predict" else "correct"] in sheet.verdict
    assert sheet.answer["done"] and plain(state["solution"]) in sheet.help


def test_nothing_chosen_yet(sheet: Exercise) -> None:
    sheet.open("self-attention/why-scale").press("Check")
    assert sheet.verdict == "Choose an answer first."
    assert sheet.page.evaluate("document.activeElement.type") == "radio"
    assert sheet.answer == {}


def test_help_comes_in_steps(sheet: Exercise) -> None:
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


def test_another_try_has_fresh_numbers(sheet: Exercise) -> None:
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
    ],
)  # fmt: skip
def test_how_numbers_are_written(sheet: Exercise, written: str, verdict: str) -> None:
    sheet.open("self-attention/thinking-machines").give(written)
    sheet.page.keyboard.press("Enter")
    assert verdict in sheet.verdict


def test_a_changed_answer_takes_the_verdict_away(sheet: Exercise) -> None:
    sheet.open("self-attention/why-scale").give(1)
    sheet.press("Check")
    assert "Not yet." in sheet.verdict
    sheet.give(2)
    assert sheet.verdict == "" and sheet.answer["checked"] is False


def test_every_kind_is_used() -> None:
    assert set(KINDS) == set(compiler.KINDS)


@pytest.mark.parametrize("name", KINDS.values())
def test_an_answer_is_restored(sheet: Exercise, name: str) -> None:
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


def test_the_host_may_change_the_answer(sheet: Exercise) -> None:
    sheet.open("self-attention/why-scale")
    sheet.page.evaluate("model.tell({given: 0, checked: true, right: true, done: true})")
    assert "Correct." in sheet.verdict and sheet.page.locator("input").first.is_checked()
    sheet.page.evaluate("stop()")
    assert sheet.page.evaluate("model.listeners.length") == 0


def test_moving_an_item_keeps_the_focus_and_is_announced(sheet: Exercise) -> None:
    sheet.open("self-attention/head-shapes")
    sheet.to(".d2l-order button", 1)
    label = sheet.focused
    sheet.page.keyboard.press("Enter")
    assert sheet.focused == label
    assert sheet.page.locator("[aria-live] >> text=2 / 8").count() == 1


def test_arrow_keys_walk_through_a_matrix(sheet: Exercise) -> None:
    sheet.open("self-attention/mask-matrix").to("td input")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"):
        sheet.page.keyboard.press(key)
    assert sheet.focused == "milk, dogs"


def test_hostile_words_stay_words(sheet: Exercise) -> None:
    sheet.open("self-attention/why-scale")
    bad = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
    state = json.loads(json.dumps(sheet.state))
    state["question"] = [bad, {"b": bad}, {"c": bad}, {"i": bad}]
    state["hints"] = [[bad], [bad]]
    for option in state["options"]:
        option["text"] = option["why"] = [bad]
    state["strings"] = dict.fromkeys(state["strings"], bad)
    sheet.start(state)
    sheet.page.locator("input").first.click()
    for _ in range(3):  # hint, stronger hint, solution
        sheet.page.locator(".d2l-bar button:visible").last.click()
    sheet.page.locator(".d2l-main").click()
    assert sheet.page.locator("main img, main script").count() == 0
    assert sheet.page.evaluate("window.hacked") is None
    assert bad in sheet.page.locator(".d2l-question").inner_text()


def test_dark_follows_the_page(sheet: Exercise) -> None:
    sheet.open("self-attention/why-scale")
    color = "getComputedStyle(document.querySelector('.d2l-main')).backgroundColor"
    light = sheet.page.evaluate(color)
    sheet.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    sheet.page.wait_for_function(f"{color} === 'rgb(108, 184, 240)'")
    sheet.page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert light == "rgb(0, 103, 165)"


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "vi", "zh"])
def test_axe_and_width(browser: Any, host: str, language: str, theme: str, width: int) -> None:
    """No violation, no sideways scrolling: an exercise of each kind, untouched, right, wrong and revealed."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.goto(f"{host}/{language}-{theme}.html")
    page.wait_for_function("window.ready")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    d2l.use_language(language)
    for name in KINDS.values():
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
    assert page.locator(".d2l-exercise").count() > 3 * len(KINDS)
    found = page.evaluate("axe.run('main').then((result) => result.violations)")
    assert not found, [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
