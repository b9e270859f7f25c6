"""SVG as structure: from the text of matplotlib, or of a drawing's file, to the SVG of a page.

Plots, drawings and the website share these functions, which need neither matplotlib nor torch. They change
attributes only: a number or a color in a label is text of its author and stays as it is.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from d2lmini.notebook.palette import COLORS

_SVG = "http://www.w3.org/2000/svg"
_READ = {f"{{{_SVG}}}", "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/1999/xlink}", ""}
_XML = "{http://www.w3.org/XML/1998/namespace}"
_PIXELS = {"": 1, "px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}
_GEOMETRY = {"d", "transform", "x", "y", "width", "height", "points"}  # of what matplotlib writes
_PAINT = ("fill", "stroke", "stop-color")
_REFERRING = {*_PAINT, "style", "clip-path", "mask", "filter", "marker-start", "marker-mid", "marker-end"}

_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DECLARATION = re.compile(r"([\w-]+)\s*:\s*([^;]*[^;\s])")
_REFERENCE = re.compile(r"url\(\s*([\"']?)#([^)\"']+)\1\s*\)")
_SHEET_OF_MATPLOTLIB = re.compile(r"\s*\*\s*\{[^}]*\}\s*")  # one rule, which would hold for the whole page

_BY_NAME = {name: f"var(--d2l-{name},{light})" for name, (light, _) in COLORS.items()}
# the accent is the color of queries: the later name says what a thing is
_BY_COLOR = {light: _BY_NAME[name] for name, (light, _) in COLORS.items()}
# the ink, paper and lines of the figures that readers make with matplotlib itself
_PLAIN = {
    **dict.fromkeys(("#000000", "#000", "black", "#262626", "#1a1a1a"), "currentColor"),
    **dict.fromkeys(("#ffffff", "#fff", "white"), _BY_NAME["bg"]),
    **dict.fromkeys(("#b0b0b0", "#cccccc", "#d0d0d0", "#e0e0e0"), _BY_NAME["hairline"]),
}


def from_matplotlib(svg: str, title: str, description: str) -> str:
    """Return a plot of the course as a notebook stores it: themed, named, small, the same on every machine.

    Args:
        svg: what matplotlib wrote, its text as text (``svg.fonttype: none``).
        title: what the plot shows, for readers who do not see it.
        description: what can be read off it.
    """
    root = _parse(svg)
    box, width = _size(root)
    _drop_noise(root)
    for element in root.iter():
        if element.get("id", "").startswith("QuadMesh_"):
            _compact_cells(element)
        if "style" in element.attrib:
            element.set("style", _style(_without_fonts(_declarations(element))))
        for name in _GEOMETRY & element.attrib.keys():
            _round(element, name)
    _recolor(root, _BY_COLOR)
    _rename_ids(root, "")
    _simplify(root)
    root.attrib = {
        "xmlns": _SVG,
        "viewBox": _NUMBER.sub(_short, box),
        "width": f"{width:.0f}",
        "style": "max-width:100%;height:auto",
        "role": "img",
        "font-family": "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }
    for place, (tag, words) in enumerate((("title", title), ("desc", description))):
        root.insert(place, Element(tag))
        root[place].text = words
    # The ids of matplotlib are hashes of unrounded numbers, which differ between machines; numbers alone
    # would be the same in every plot of a page.
    _rename_ids(root, f"d{hashlib.sha256(_write(root).encode()).hexdigest()[:6]}-")
    return _write(root)


def from_drawing(svg: str, translate: Callable[[str], str]) -> str:
    """Return a drawing of the course with its words and its colors put in.

    Args:
        svg: the drawing; its texts are placeholders, ``{{English text}}``, its colors names of the palette.
        translate: gives the reader's text for the English one.
    """
    root = _parse(svg)
    _recolor(root, _BY_NAME)
    for element in root.iter():
        element.text, element.tail = (
            text and re.sub(r"\{\{(.+?)\}\}", lambda place: translate(place[1].strip()), text, flags=re.S)
            for text in (element.text, element.tail)
        )
    root.attrib = {"xmlns": _SVG, **root.attrib}
    return _write(root)


def for_page(svg: str, *, prefix: str, alt: str) -> str:
    """Return an SVG as part of an HTML page: it scales, follows the theme, has a name and ids of its own.

    Args:
        svg: a plot or drawing of the course, or a figure as matplotlib writes it.
        prefix: put before every id; each SVG of a page has its own.
        alt: the name of an SVG without a title.

    Raises:
        ValueError: `svg` is not SVG, or has no size.

    Example:
        >>> drawing = '<svg viewBox="0 0 9 9"><path id="a" d="M0 0"/><use href="#a"/></svg>'
        >>> for_page(drawing, prefix="p-", alt="A line").partition(">")[2]
        '<path d="M0 0" id="p-1"/><use href="#p-1"/></svg>'
    """
    root = _parse(svg)
    box, width = _size(root)
    name = _title(root) or alt
    raw = any(child.get("id") == "figure_1" for child in root)  # matplotlib's own
    _drop_noise(root)
    if raw:
        _recolor(root, _BY_COLOR | _PLAIN)
    _rename_ids(root, prefix)
    if raw:
        _simplify(root)
    for sheet in root.iter("style"):  # rules of one drawing must not reach the others
        sheet.text = f"#{root.attrib.setdefault('id', f'{prefix}0')}{{{sheet.text or ''}}}"
    replaced = {"width", "height", "version", "font-family", "xmlns", "aria-label"}
    root.attrib = {name: value for name, value in root.attrib.items() if name not in replaced} | {
        "class": "plot" if raw else "drawing",
        "role": "group" if root.find(".//a") is not None else "img",  # no link inside an image can be reached
        "aria-label": name,
        "viewBox": box,
        "style": f"max-width:{width:g}px",
    }
    return _write(root)


def title_of(svg: str) -> str:
    """Return the title of an SVG, "" if it has none.

    Example:
        >>> title_of('<svg xmlns="http://www.w3.org/2000/svg"><title>loss &lt; 1</title></svg>')
        'loss < 1'
    """
    return _title(_parse(svg))


# ---- reading and writing


def _parse(svg: str) -> Element:
    """Return the root of an SVG, its names without namespaces: no prefix has to be registered to write it.

    What an editor noted for itself is left out, and so are scripts.
    """
    try:
        root = ElementTree.fromstring(svg.strip("\ufeff \t\r\n"))
    except ElementTree.ParseError as error:
        raise ValueError(f"svg: this is not well-formed XML ({error}): {svg[:60]!r}") from None
    for element in root.iter():
        element[:] = [
            child for child in element if _namespace(child.tag) in _READ and not child.tag.endswith("script")
        ]
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            name.replace(_XML, "xml:").rpartition("}")[2]: value
            for name, value in element.items()
            if _namespace(name) in {*_READ, _XML} and not name.startswith("on")  # onload, onclick …
        }
    if root.tag != "svg":
        raise ValueError(f"svg: got an element <{root.tag}>; give an <svg>")
    return root


def _namespace(name: str) -> str:
    return name[: name.rfind("}") + 1]


def _write(root: Element) -> str:
    # ElementTree escapes every > of a text: this one closes an empty element
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _size(root: Element) -> tuple[str, float]:
    """Return the view box of an SVG and its width in CSS pixels."""
    sizes = {}
    for name in ("width", "height"):
        length = re.fullmatch(r"\s*(\d*\.?\d+)\s*([a-z]*)\s*", root.get(name, ""))
        if length and length[2] in _PIXELS:
            sizes[name] = float(length[1]) * _PIXELS[length[2]]
    box = _NUMBER.findall(root.get("viewBox", ""))
    if len(box) != 4 and len(sizes) == 2:
        box = ["0", "0", *(f"{size:g}" for size in sizes.values())]
    if len(box) != 4:
        raise ValueError("svg: it has no size; give it a viewBox of four numbers, or width and height")
    return " ".join(box), sizes.get("width") or float(box[2])


def _title(root: Element) -> str:
    title = root.find("title")
    return "" if title is None else " ".join("".join(title.itertext()).split())


# ---- attributes


def _declarations(element: Element) -> dict[str, str]:
    return dict(_DECLARATION.findall(element.get("style", "")))


def _style(declarations: Mapping[str, str]) -> str:
    return ";".join(f"{name}:{value}" for name, value in declarations.items())


def _recolor(element: Element, colors: Mapping[str, str]) -> None:
    """Replace colors in the whole drawing; cells of a heatmap are data, not ink on paper."""
    if element.get("id", "").startswith("QuadMesh_"):
        colors = _BY_COLOR
    for name in _PAINT:
        if name in element.attrib:
            element.set(name, colors.get(element.attrib[name].lower(), element.attrib[name]))
    if "style" in element.attrib:
        declarations = _declarations(element)
        painted = {name: colors.get(declarations[name].lower()) for name in _PAINT if name in declarations}
        element.set("style", _style(declarations | {name: new for name, new in painted.items() if new}))
    for child in element:
        _recolor(child, colors)


def _without_fonts(declarations: dict[str, str]) -> dict[str, str]:
    """Take the font families away, so that those of the page hold; size, slant and weight stay."""
    style = {name: value for name, value in declarations.items() if name not in ("font", "font-family")}
    font = re.match(r"(.*?)([\d.]+px)", declarations.get("font", ""))  # as matplotlib before 3.11 writes it
    if font:
        style["font-size"] = font[2]
        if re.search("italic|oblique", font[1]):
            style["font-style"] = "italic"
        if re.search("bold|700", font[1]):
            style["font-weight"] = "bold"
    return style


def _round(element: Element, name: str) -> None:
    """Write the coordinates of an attribute with at most two decimals: a hundredth of a point is not seen."""
    value = element.attrib[name]
    if name == "transform":  # a scale is no coordinate
        value = re.sub(r"(?:translate|rotate)\([^)]*\)", lambda part: _NUMBER.sub(_short, part[0]), value)
        value = re.sub(r"\s*rotate\(0 [^)]*\)", "", value)
    else:
        value = _NUMBER.sub(_short, value)
    if name == "d":
        value = re.sub(r"\s*([A-Za-z])\s*", r"\1", value.strip())
    if value:
        element.set(name, value)
    else:
        del element.attrib[name]


def _short(number: re.Match[str]) -> str:
    short = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


# ---- ids


def _rename_ids(root: Element, prefix: str) -> None:
    """Number the ids that something refers to, in the order of the drawing, and drop all others."""
    referenced: set[str] = set()

    def note(name: str) -> str:
        referenced.add(name)
        return name

    _follow(root, note)
    new: dict[str, str] = {}
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in referenced and name not in new:  # of two equal ids the first is the one that was found
            new[name] = f"{prefix}{len(new) + 1}"
            element.set("id", new[name])
    _follow(root, lambda name: new.get(name, name))


def _follow(root: Element, rename: Callable[[str], str]) -> None:
    """Apply `rename` to every id that an attribute or a style sheet refers to."""
    for element in root.iter():
        for name, value in element.items():
            if name in _REFERRING:
                element.set(name, _REFERENCE.sub(lambda link: f"url(#{rename(link[2])})", value))
            elif name == "href" and value.startswith("#"):
                element.set(name, f"#{rename(value[1:])}")
            elif name in ("aria-labelledby", "aria-describedby"):
                element.set(name, " ".join(map(rename, value.split())))
        if element.tag == "style" and element.text:
            element.text = re.sub(r"#([\w-]+)", lambda link: f"#{rename(link[1])}", element.text)


# ---- elements


def _drop_noise(root: Element) -> None:
    for parent in root.iter():
        for child in list(parent):
            sheet = child.tag == "style" and _SHEET_OF_MATPLOTLIB.fullmatch(child.text or "")
            if child.tag == "metadata" or sheet:
                parent.remove(child)


def _simplify(element: Element) -> None:
    """Remove white space between elements, groups without attributes, and definitions without content."""
    element.text = element.text if (element.text or "").strip() else None
    children: list[Element] = []
    for child in element:
        _simplify(child)
        child.tail = child.tail if (child.tail or "").strip() else None
        children += child if child.tag == "g" and not child.attrib else [child]
    element[:] = [
        child
        for child in children
        if (child.tag != "defs" or len(child)) and (child.tag != "clipPath" or "id" in child.attrib)
    ]


def _compact_cells(mesh: Element) -> None:
    """Write the cells of a heatmap in 60 bytes each instead of 250, those of one color together."""
    groups: dict[str, Element] = {}
    for path in mesh.findall("path"):
        style = _declarations(path)
        opacity = float(style.get("fill-opacity", style.get("opacity", 1)))
        if opacity == 0 or style.get("fill", "none") == "none":
            continue
        numbers = [float(number) for number in _NUMBER.findall(path.get("d", ""))]
        left, right, top, bottom = (f(numbers[i::2]) for i in (0, 1) for f in (min, max))
        cell = Element("path", d=f"M{left} {top}H{right}V{bottom}H{left}z")
        if opacity < 1:
            cell.set("fill-opacity", f"{opacity:.2f}")
        group = groups.setdefault(style["fill"], Element("g", fill=style["fill"]))
        group.append(cell)
    mesh[:] = list(groups.values())
    mesh.attrib = {"shape-rendering": "crispEdges"}
