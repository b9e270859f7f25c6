"""SVG for pages: names, ids and colors are changed as structure, and what a reader wrote stays."""

import re
from xml.etree import ElementTree

import pytest
from small_book import PLOT

from d2lmini.notebook.palette import COLORS
from d2lmini.notebook.svg import for_page, from_drawing, title_of

HEAD = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
TRAP = 'color #0067a5 0.12345 id="b" url(#b) href="#b" var(--d2l-key) {{keys}} <b> & "q" \'s\' />'
ESCAPED = TRAP.replace("&", "&amp;").replace("<", "&lt;")


def page(body, root='viewBox="0 0 9 9"', prefix="p-", alt="Plot"):
    return ElementTree.fromstring(for_page(f"<svg {HEAD} {root}>{body}</svg>", prefix=prefix, alt=alt))


def raw(body):
    return page(f'<g id="figure_1">{body}</g>')


def test_a_figure_of_matplotlib_follows_the_theme():
    root = raw(
        '<path d="M0 0" style="fill: #ffffff; opacity: 0.8"/><path style="stroke: #0067a5; fill: #000000"/>'
        '<path fill="black" stroke="#B0B0B0"/><stop stop-color="#b84a00"/><path style="fill: #123456"/>'
    )
    assert [dict(element.attrib) for element in root] == [
        {"d": "M0 0", "style": "fill:var(--d2l-bg,#ffffff);opacity:0.8"},
        {"style": "stroke:var(--d2l-query,#0067a5);fill:currentColor"},
        {"fill": "currentColor", "stroke": f"var(--d2l-hairline,{COLORS['hairline'][0]})"},
        {"stop-color": "var(--d2l-key,#b84a00)"},
        {"style": "fill:#123456"},
    ]
    assert root.get("class") == "plot"


def test_black_and_white_cells_of_a_heatmap_are_data():
    root = raw('<g id="QuadMesh_1"><path style="fill: #000000"/><path style="fill: #ffffff"/></g>')
    assert [path.get("style") for path in root.iter("path")] == ["fill:#000000", "fill:var(--d2l-bg,#ffffff)"]


def test_text_is_the_readers():
    body = f'<title>{ESCAPED}</title><g id="b"><text x="1">{ESCAPED}<tspan>{ESCAPED}</tspan></text></g>'
    root = raw(body)
    assert ["".join(text.itertext()) for text in root.iter("text")] == [TRAP + TRAP]
    root = page(body)
    assert ["".join(text.itertext()) for text in root.iter("text")] == [TRAP + TRAP]
    assert root.find("title").text == root.get("aria-label") == TRAP
    assert set(root.attrib) == {"class", "role", "aria-label", "viewBox", "style"}
    assert title_of(f"<svg {HEAD}><title> {ESCAPED}\n</title></svg>") == TRAP


@pytest.mark.parametrize("alt", ['The "loss" onload="x"', "a < b & c", "it's"])
def test_a_name_is_neither_cut_nor_an_attribute(alt):
    assert page("", alt=alt).get("aria-label") == alt
    assert "onload" not in page("", alt=alt).attrib


def test_a_drawing_brings_no_script():
    root = page('<script>1</script><path d="M0 0" onclick="1"/>', root='viewBox="0 0 9 9" onload="1"')
    assert [dict(element.attrib) for element in root] == [{"d": "M0 0"}] and "onload" not in root.attrib


def test_ids_are_of_the_page_and_references_follow():
    root = page(
        '<title id="t">T</title><style>#a, .b {fill: url(#g)} .c {fill: #abc}</style><linearGradient id="g"/>'
        '<path id="a" style="fill: url( \'#g\' )" clip-path="url(#a)"/><use xlink:href="#a"/><use href="#a"/>'
        '<a href="#scores"/><path id="a"/><path id="nobody"/>',
        root='viewBox="0 0 9 9" aria-labelledby="t g"',
    )
    assert [element.get("id") for element in root.iter()] == [
        *("p-0", "p-1", None, "p-2", "p-3", None, None, None, None, None)
    ]
    assert root.get("aria-labelledby") == "p-1 p-2"
    path, use, other, link = root[3:7]
    assert (path.get("style"), path.get("clip-path")) == ("fill: url(#p-2)", "url(#p-3)")
    assert use.get("href") == other.get("href") == "#p-3"
    assert link.get("href") == "#scores" and root.get("role") == "group"
    assert root[1].text == "#p-0{#p-3, .b {fill: url(#p-2)} .c {fill: #abc}}"


@pytest.mark.parametrize(
    ("size", "box", "width"),
    [
        ('width="72pt" height="36pt"', "0 0 96 48", 96),
        ("width='96' height='48px'", "0 0 96 48", 96),
        ('width="1in" height="2.54cm"', "0 0 96 96", 96),
        ('viewBox="0,0 5, 6"', "0 0 5 6", 5),
        ('viewBox="-1 0 5 6" width="100%"', "-1 0 5 6", 5),
        ('viewBox="0 0 5 6" width="30pt" height="36pt"', "0 0 5 6", 40),
    ],
)
def test_a_size_in_every_unit(size, box, width):
    root = page("", root=size)
    assert (root.get("viewBox"), root.get("style")) == (box, f"max-width:{width}px")


def test_a_doctype_single_quotes_comments_and_the_elements_of_an_editor():
    text = """\ufeff
        <?xml version='1.0' encoding='utf-8'?>
        <!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>
        <svg:svg xmlns:svg='http://www.w3.org/2000/svg' xmlns:e='http://editor' e:zoom='2' viewBox='0 0 9 9'>
        <!-- id='a' --><e:guides/><metadata>m</metadata>
        <svg:text xml:space='preserve'>a  b</svg:text></svg:svg>"""
    root = ElementTree.fromstring(for_page(text, prefix="p-", alt="Plot"))
    assert [element.tag for element in root] == ["text"]
    assert root[0].get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<svg><g></svg>", "not well-formed XML (mismatched tag"),
        ("<svg viewBox='0 0 1 1'>&nbsp;</svg>", "not well-formed XML (undefined entity"),
        ("<p>plot</p>", "got an element <p>; give an <svg>"),
        ("<svg/>", "it has no size; give it a viewBox"),
        ("<svg width='100%' height='3em'/>", "it has no size; give it a viewBox"),
        ("", "not well-formed XML"),
    ],
)
def test_what_is_no_drawing_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        for_page(text, prefix="p-", alt="Plot")


def test_the_style_sheet_of_matplotlib_reaches_no_other_drawing():
    root = ElementTree.fromstring(for_page(PLOT, prefix="p-", alt="Loss"))
    assert not list(root.iter("style")) and not list(root.iter("metadata"))
    assert root.get("role") == "img" and root.get("aria-label") == "Loss"


def test_words_and_colors_of_a_drawing_are_put_in():
    drawing = '<text fill="query" stroke="none">{{ keys }} 1<tspan/>: {{a &lt; b}}</text>'
    text = ElementTree.fromstring(from_drawing(f"<svg>{drawing}</svg>", lambda english: f"<{english}>"))[0]
    assert "".join(text.itertext()) == "<keys> 1: <a < b>"
    assert (text.get("fill"), text.get("stroke")) == ("var(--d2l-query,#0067a5)", "none")
