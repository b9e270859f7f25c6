"""The first drawing: it is there without scripts; a token that is dragged takes the output along."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from making import cell, make_book, served
from playwright.sync_api import Browser, Locator, Page, expect
from test_plane_explorer import finger, middle
from test_seen import DESK, PHONE, unseen

import d2lmini as d2l
from book import build as site_builder
from d2lmini.language import LANGUAGES, words

X = torch.tensor([[1.0, 0.0], [0.96, 0.28], [0.28, 0.96], [0.0, 1.0], [-0.6, -0.8]])  # as they are drawn
HINTS = {language: words(language)["site"]["drag"] for language in LANGUAGES}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site with the drawing on a page, between two screens of text."""
    root = tmp_path_factory.mktemp("drawing-book")
    book = {}
    for language in LANGUAGES:
        output = d2l.figure("attention-plane", language)._repr_mimebundle_()
        shown = [{"output_type": "execute_result", "execution_count": 1, "data": output, "metadata": {}}]
        text = cell("markdown", "text", "# A drawing\n\n" + "Some words of a page.\n\n" * 30)
        after = cell("markdown", "after", "## After it\n\n" + "Some words of a page.\n\n" * 30)
        code = cell("code", "figure", 'd2l.figure("attention-plane")', shown, tags=["hide-input"])
        index = cell("markdown", "index", "# Welcome\n\nRead [it](drawing.ipynb).")
        book[language] = {"index": [index], "drawing": [text, code, after]}
    with served(site_builder.build(make_book(root, book))) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    contexts = []

    def start(kind: dict[str, Any], language: str = "en", **options: Any) -> Page:
        contexts.append(browser.new_context(**kind, bypass_csp=True, **options))
        page = contexts[-1].new_page()
        page.goto(f"{pages}/{language}/drawing.html")
        if options.get("java_script_enabled", True):
            page.locator("html[data-measured]").wait_for()
            page.locator(".handle").first.wait_for()
            page.locator(".figure").evaluate(
                "e => e.scrollIntoView({ block: 'center', behavior: 'instant' })"
            )
        return page

    yield start
    for context in contexts:
        context.close()


def output_of(tokens: torch.Tensor) -> torch.Tensor:
    return torch.softmax(tokens @ tokens[0], dim=0) @ tokens


def drawn(page: Page) -> list[float]:
    """Where the middle of the output is, in the units of the tokens."""
    return page.locator("[data-drag=output] circle").evaluate(
        """(dot) => {
            const drawing = dot.ownerSVGElement;
            const { x, y, width, height } = dot.getBoundingClientRect();
            const { a, e, f } = drawing.getScreenCTM();
            return [((x + width / 2 - e) / a - 310) / 150, (212 - (y + height / 2 - f) / a) / 150];
        }"""
    )


def told(handle: Locator) -> str:
    return handle.get_attribute("aria-valuetext") or ""


@pytest.mark.parametrize("kind", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_output_follows_a_token(visit: Callable[..., Page], kind: dict[str, Any], language: str) -> None:
    page = visit(kind, language)
    handles = page.locator(".handle")
    assert drawn(page) == pytest.approx(output_of(X).tolist(), abs=0.01)
    assert handles.count() == 5 and page.locator("[data-drag=token]").count() == 5
    expect(page.locator(".drag-hint")).to_contain_text(
        page.locator("[data-drag=name]").first.text_content() or "?"
    )
    assert unseen(page.locator("article svg.drawing"), page.locator(".drag-hint")) == []
    tips = page.locator("[data-drag=token]").evaluate_all(
        """(all) => all.map((line) => {
            const { a, e, f } = line.ownerSVGElement.getScreenCTM();
            return [e + a * line.getAttribute("x2"), f + a * line.getAttribute("y2")];
        })"""
    )
    for handle, tip in zip(handles.all(), tips, strict=True):
        assert middle(handle) == pytest.approx(tip, abs=1.5)
        box = handle.bounding_box()
        assert box and min(box["width"], box["height"]) >= 40
        top = "([x, y]) => document.elementFromPoint(x, y).className"
        assert page.evaluate(top, [tip[0], tip[1]]) == "handle"
    middles = [middle(handle) for handle in handles.all()]
    for one, other in itertools.combinations(middles, 2):  # a finger reaches either
        assert max(abs(one[0] - other[0]), abs(one[1] - other[1])) >= 24
    moved = X.clone()
    handles.nth(3).focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        moved[3] += torch.tensor([0.05, -0.05])
    a, b = output_of(moved).tolist()
    assert drawn(page) == pytest.approx([a, b], abs=0.01)
    name = page.locator("[data-drag=name]").nth(3).text_content()
    assert told(handles.nth(3)) == HINTS[language]["at"].format(
        name=name, x="0.40", y="0.60", a=f"{a:.2f}", b=f"{b:.2f}"
    )
    widths = page.locator("[data-drag=output]").evaluate(
        """(output) => {
            const lines = [...output.parentNode.querySelectorAll("line[stroke-opacity]")];
            return lines.map((line) => Number(line.getAttribute("stroke-width")));
        }"""
    )
    assert widths == pytest.approx((8 * torch.softmax(moved @ moved[0], dim=0)).tolist(), abs=1e-3)


def test_a_mouse_drags_and_the_figure_does_not_open(visit: Callable[..., Page]) -> None:
    page = visit(DESK)
    handle = page.locator(".handle").nth(4)  # "and"
    x, y = middle(handle)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 90, steps=4)
    page.mouse.up()
    assert middle(handle) == pytest.approx((x + 60, y - 90), abs=1.5)
    assert page.locator("dialog[open]").count() == 0
    corners = page.locator("[data-drag=fence]").get_attribute("points") or ""
    points = [[float(part) for part in one.split(",")] for one in corners.split()]
    tips = page.locator("[data-drag=token]").evaluate_all(
        "all => all.map((one) => [Number(one.getAttribute('x2')), Number(one.getAttribute('y2'))])"
    )
    assert all(min(math.dist(corner, tip) for tip in tips) < 1e-6 for corner in points) and len(points) >= 3


def test_a_finger_drags_sideways_and_a_swipe_up_scrolls(visit: Callable[..., Page]) -> None:
    page = visit(PHONE)
    handle = page.locator(".handle").nth(3)  # "milk"
    was, before = page.evaluate("scrollY"), told(handle)
    finger(page, middle(handle), (4, -120))
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") - was > 60
    assert told(handle) == before
    page.locator(".figure").evaluate("e => e.scrollIntoView({ block: 'center', behavior: 'instant' })")
    was = page.evaluate("scrollY")
    finger(page, middle(handle), (50, 20))
    assert page.evaluate("scrollY") == was and told(handle) != before
    before = told(handle)
    finger(page, middle(handle), (0, 30))  # it is chosen now, and follows in every direction
    assert page.evaluate("scrollY") == was and told(handle) != before


def test_without_scripts_the_drawing_is_there(visit: Callable[..., Page]) -> None:
    page = visit(DESK, java_script_enabled=False)
    expect(page.locator("article svg.drawing")).to_be_visible()
    assert page.locator(".handle").count() == 0
