"""A reader at one exercise, with a keyboard only: tests the bare page, the website and JupyterLab."""

import html
import re
from collections.abc import Callable
from typing import Any

from d2lmini.language import words
from d2lmini.notebook import content

KINDS: dict[str, str] = {}  # kind -> the first exercise of it
for _name in content.exercise_names():
    KINDS.setdefault(content.exercise_content(_name, "en")["kind"], _name)
WORDS = words("en")["exercises"]
EACH = (*KINDS.values(), "multi-head-attention/where-the-mask")  # a spot may also be one of a picture


class Reader:
    """The widget where it is shown, the exercise that it holds, and the reader's hands and eyes."""

    def __init__(self, here: Any, state: dict[str, Any], answer: Callable[[], dict[str, Any]]):
        self.here, self.page = here, here.page
        self.state = state
        self._answer = answer

    @property
    def answer(self) -> dict[str, Any]:
        """What is kept of the reader's answer; `keeps` waits for it where Python writes it."""
        return self._answer()

    def keeps(self, **expected: Any) -> None:
        """Wait until the answer is kept so."""
        for _ in range(100):
            if expected.items() <= (answer := self.answer).items():
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"kept {answer}, not {expected}")

    @property
    def verdict(self) -> str:
        return self.here.get_by_role("status").inner_text()

    @property
    def help(self) -> str:
        return self.here.locator(".d2l-help").inner_text()

    @property
    def focused(self) -> str:
        return self.page.evaluate(
            "(node => node.getAttribute('aria-label') || node.textContent)(document.activeElement)"
        )

    def to(self, selector: str, index: int = 0) -> None:
        """Press Tab, or Shift+Tab for what stands before, until the element has the focus."""
        target = self.here.locator(selector).nth(index)
        if not self.here.evaluate("node => node.contains(document.activeElement)"):
            self.here.locator("button, input, textarea").first.focus()
        for _ in range(120):
            # 0: here; 2: the focus follows the target
            place = target.evaluate("node => document.activeElement.compareDocumentPosition(node)")
            if place == 0:
                return
            self.page.keyboard.press("Shift+Tab" if place & 2 else "Tab")
        raise AssertionError(f"{selector} cannot be reached by Tab")

    def press(self, label: str) -> None:
        """Reach a button of the bar by Tab and press Enter."""
        buttons = self.here.locator(".d2l-bar button")
        index = buttons.all_inner_texts().index(label)
        self.to(".d2l-bar button", index)
        self.page.keyboard.press("Enter")

    def give(self, given: Any) -> None:  # noqa: PLR0912  one branch, one kind
        """Answer with the keyboard as the kind asks for it."""
        keys, kind = self.page.keyboard, self.state["kind"]
        if kind in ("choice", "predict"):
            # the first Tab stop of a radio group is its checked or first button; the arrows choose
            self.here.locator("input").first.focus()
            keys.press("Space")
            for _ in range(given):
                keys.press("ArrowDown")
        elif kind == "multiple":
            for index, box in enumerate(self.here.locator("input").all()):
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
                elif self.here.locator("td input").nth(place).is_checked() != bool(value):
                    keys.press("Space")
        elif kind == "order":
            for place, item in enumerate(given):
                while (now := self.order().index(item)) > place:
                    self.here.locator(".d2l-order li").nth(now).locator("button").first.focus()
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
        """The items as they stand, known again by the names of their buttons: formulas may be typeset."""
        return self.here.evaluate("""(root, items) => {
            const text = (markup) => new DOMParser().parseFromString(markup, "text/html").body.textContent;
            const known = items.map((item) => text(item.text));
            return [...root.querySelectorAll(".d2l-order li button:first-child")]
                .map((node) => known.findIndex((words) => node.ariaLabel.endsWith(`: ${words}`)));
        }""", self.state["items"])  # fmt: skip


def plain(markup: str) -> str:
    """The longest run of words in a compiled text: by it the text is known again on the page."""
    return html.unescape(max(re.split(r"<math.*?</math>|<[^>]*>|\{\{.*?\}\}", markup), key=len)).strip()


def answers(state: dict[str, Any]) -> tuple[Any, list[tuple[Any, Any]]]:  # noqa: PLR0911  one return, one kind
    """The right answer of an exercise, and wrong ones with what must be said about each."""
    kind = state["kind"]
    if kind in ("choice", "predict", "multiple"):
        options = state["options"]
        right = [index for index, option in enumerate(options) if option.get("correct")]
        false = [index for index in range(len(options)) if index not in right]
        if kind == "multiple":
            missing = [(right[:-1], WORDS["one_missing"])] if right[1:] else []
            return right, missing + [([*right, index], options[index]["why"]) for index in false]
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
        why = state["items"][-1]["why"]  # it comes too early: first of all, and second to last
        early = [[*range(place), count - 1, *range(place, count - 1)] for place in (0, count - 2)]
        return list(range(count)), [(one, why) for one in early]
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


def drive(open_exercise: Callable[[], Reader]) -> None:
    """Answer an exercise wrongly and rightly, take its help: whatever its kind asks for."""
    reader = open_exercise()
    state = reader.state
    kind = state["kind"]
    if kind == "code":
        reader.press(WORDS["hint"])
        reader.press(WORDS["stronger_hint"])
        reader.press(WORDS["show_solution"])
        assert state["solution_code"].splitlines()[0] in reader.help
        return
    if kind == "open":
        reader.press(WORDS["compare"])
        assert WORDS["write_first"] in reader.verdict and not reader.answer.get("done")
        reader.give("Because of the mask.")
        reader.press(WORDS["compare"])
        assert plain(state["solution"]) in reader.help
        reader.keeps(done=True, given="Because of the mask.")
        return
    button = WORDS["commit" if kind == "predict" else "check"]
    right, wrong = answers(state)
    if kind == "predict":
        given, why = wrong[0]
        reader.give(given)
        reader.press(button)
        assert WORDS["guessed_wrong"] in reader.verdict and plain(why) in reader.verdict
        assert plain(state["solution"]) in reader.help
        reader.keeps(done=True)
        reader = open_exercise()
    else:
        for given, why in wrong[:2]:
            reader.give(given)
            reader.press(button)
            assert WORDS["not_yet"] in reader.verdict
            assert plain(why) in reader.verdict
            assert not reader.answer.get("done") and plain(state["solution"]) not in reader.help
    reader.give(right)
    reader.press(button)
    assert WORDS["guessed_right" if kind == "predict" else "correct"] in reader.verdict
    assert plain(state["solution"]) in reader.help
    reader.keeps(done=True, right=True)
