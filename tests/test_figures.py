"""The drawn figures: well formed, named for screen readers, and in the reader's language to the last word."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import d2lmini as d2l
from d2lmini.notebook.figures import figure_names
from d2lmini.notebook.palette import COLORS

FOLDER = Path(d2l.__file__).parent / "assets" / "figures"
SVG = "{http://www.w3.org/2000/svg}"


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
