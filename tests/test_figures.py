"""The drawn figures: well formed, named for screen readers, and in the reader's language to the last word."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import d2lmini as d2l
from book.chapters import find, read
from d2lmini.notebook.content import exercise_content, exercise_names
from d2lmini.notebook.figures import figure_names
from d2lmini.notebook.palette import COLORS

FOLDER = Path(d2l.__file__).parent / "assets" / "figures"
SVG = "{http://www.w3.org/2000/svg}"
KIND = "image/svg+xml"
# labels that meet, and those outside of their drawing: by the corners of their ink, however they are turned
MEETING = """(drawings) => Object.entries(drawings).flatMap(([name, drawing]) => {
    document.body.innerHTML = drawing;
    const labels = [...document.querySelectorAll("svg text")].filter((node) => node.textContent.trim());
    const corners = labels.map((node) => {
        const { x, y, width, height } = node.getBBox();
        const [top, bottom] = [y + 0.15 * height, y + 0.95 * height];  // what letters take of the line
        return [[x, top], [x + width, top], [x + width, bottom], [x, bottom]]
            .map(([x, y]) => new DOMPoint(x, y).matrixTransform(node.getScreenCTM()));
    });
    const apart = (some, others) => [0, 1].some((side) => {
        const [from, to] = [some[side], some[side + 1]];
        const along = (points) => points.map(({ x, y }) => x * (to.x - from.x) + y * (to.y - from.y));
        const [one, other] = [along(some), along(others)];
        return Math.max(...one) < Math.min(...other) || Math.max(...other) < Math.min(...one);
    });
    const meets = (a, b) => !apart(corners[a], corners[b]) && !apart(corners[b], corners[a]);
    const { left, right, top, bottom } = document.querySelector("svg").getBoundingClientRect();
    const leaves = (point) =>
        point.x < left - 1 || point.x > right + 1 || point.y < top - 1 || point.y > bottom + 1;
    return labels.flatMap((node, a) => [
        ...labels.filter((_, b) => a < b && meets(a, b))
            .map((other) => [name, node.textContent, other.textContent]),
        ...(corners[a].some(leaves) ? [[name, node.textContent, "outside"]] : []),
    ]);
})"""


@pytest.fixture(autouse=True)
def _english():
    d2l.use_language("en")
    yield
    d2l.use_language("en")


def test_every_file_is_a_figure():
    assert figure_names() == sorted(path.stem for path in FOLDER.glob("*.svg"))
    assert figure_names()


@pytest.mark.parametrize("language", ("en", "vi", "zh"))
@pytest.mark.parametrize("name", figure_names())
def test_a_figure_in_a_language(name, language):
    placeholders = re.findall(r"\{\{(.+?)\}\}", (FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
    assert placeholders, "a figure has a title and a description, which are placeholders"
    d2l.use_language(language)
    drawing = d2l.figure(name)
    root = ElementTree.fromstring(drawing.svg)
    assert "{{" not in drawing.svg
    for tag in ("title", "desc"):
        assert root.find(f"{SVG}{tag}") is not None and root.find(f"{SVG}{tag}").text.strip()
    shown = drawing._repr_mimebundle_()
    assert shown == {"image/svg+xml": shown["image/svg+xml"], "text/plain": drawing.title}
    # in JupyterLab it is a picture, which inherits nothing
    assert shown["image/svg+xml"] == drawing.svg.replace("inherit", "sans-serif") != drawing.svg
    assert repr(drawing) == drawing.title != ""


@pytest.mark.parametrize("name", figure_names())
def test_colors_of_a_drawing_are_those_of_the_palette(name):
    assert not re.search(r'"#[0-9a-f]{3,8}"', (FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
    for color, value in re.findall(r'"var\(--d2l-(\w+),([^)]*)\)"', d2l.figure(name).svg):
        assert COLORS[color][0] == value
    painted = re.findall(r'(?:fill|stroke)="([^"]*)"', d2l.figure(name).svg)
    assert {value.partition("-")[0] for value in painted} <= {"var(", "none"}


@pytest.mark.parametrize("name", figure_names())
def test_legible_on_a_phone(name):
    """A phone shows the 680 units of a drawing on about 340 pixels: 16 units are 8 pixels, no less."""
    drawing = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert 'viewBox="0 0 680 ' in drawing
    assert min(float(size) for size in re.findall(r"font-size=[\"']([\d.]+)[\"']", drawing)) >= 16


def test_words_are_translated_and_escaped(monkeypatch):
    name = figure_names()[0]
    english = d2l.figure(name)
    d2l.use_language("vi")
    assert d2l.figure(name).svg != english.svg
    monkeypatch.setattr("d2lmini.notebook.figures.text", lambda english, language: "a < b & c")
    assert "a &lt; b &amp; c" in d2l.figure(name).svg


def test_a_figure_in_another_language_leaves_the_setting_alone():
    d2l.use_language("vi")
    for language in ("en", "vi", "zh"):
        title = d2l.figure("course-map", language).title
        assert d2l.text("Long sequences", language) in d2l.figure("course-map", language).svg
        assert d2l.current_language() == "vi"
        d2l.use_language(language)
        assert d2l.figure("course-map").title == title
        d2l.use_language("vi")
    with pytest.raises(ValueError, match="language: got 'fr'"):
        d2l.figure("course-map", "fr")


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="language: got 'fr'; choose one of 'en', 'vi', 'zh'"):
        d2l.use_language("fr")
    assert d2l.text("keys") == "keys"


def test_an_unknown_name_is_refused_with_the_nearest():
    wrong = figure_names()[0][:-1]
    with pytest.raises(ValueError, match=re.escape(repr(figure_names()[0]))):
        d2l.figure(wrong)


@pytest.mark.parametrize("language", ("en", "vi", "zh"))
def test_words_of_figures_plots_and_pictures_keep_apart(language, browser):
    """Whatever a page stores, in a wide font: no two labels meet, none leaves its drawing."""
    d2l.use_language(language)
    drawings = {name: d2l.figure(name).svg for name in figure_names()}
    for name in exercise_names():
        drawings[name] = exercise_content(name, language).get("picture", "")
    for path in find(languages=[language]):
        for cell in read(path)["cells"]:
            for place, output in enumerate(cell.get("outputs", [])):
                drawings[f"{path.stem} {cell['id']} {place}"] = "".join(output.get("data", {}).get(KIND, ""))
    page = browser.new_page(viewport={"width": 760, "height": 700})
    page.set_content("<body style='font-family: DejaVu Sans, sans-serif'>")
    met = page.evaluate(MEETING, {name: drawing for name, drawing in drawings.items() if drawing})
    page.close()
    assert met == []
