"""Figures as part of the page: they take its fonts, its colors and its theme, and can be read out."""

import re
from html import escape

# The one palette of the course (light theme) → the variable that follows the theme
PALETTE = {
    "#0067a5": "query",
    "#b84a00": "key",
    "#00785a": "value",
    "#7b4fa3": "output",
    "#8a6100": "position",
    "#4a5a6a": "cnn",
    "#a1286a": "rnn",
    "#4338a8": "attention",
}
INK = ("#000000", "#000", "black", "#262626", "#1a1a1a", "#1b1f24")
PAPER = ("#ffffff", "#fff", "white")
LINE = ("#b0b0b0", "#cccccc", "#d0d0d0", "#e0e0e0")

PROLOGUE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
GLOBAL_STYLE = re.compile(
    r'<style type="text/css">\s*\*\s*\{[^}]*\}\s*</style>', re.DOTALL
)  # matplotlib's, for every element
STYLE = re.compile(r"(<style[^>]*>)(.*?)(</style>)", re.DOTALL)
ROOT = re.compile(r"<svg\b[^>]*>", re.DOTALL)
BACKGROUND = re.compile(r'(<g id="patch_[12]">\s*<path [^>]*?style=")[^"]*(")', re.DOTALL)
COLOR = re.compile(r"(?<=[:\"' ])(#[0-9a-fA-F]{6}|#[0-9a-fA-F]{3}|black|white)(?=[;\"' ])")
SIZE = re.compile(r'\b(width|height)="([\d.]+)(pt|px)?"')
TITLE = re.compile(r"<title\b[^>]*>(.*?)</title>", re.DOTALL)


def _themed(match: re.Match[str]) -> str:
    color = match[1].lower()
    if color in PALETTE:
        return f"var(--d2l-{PALETTE[color]},{color})"
    if color in INK:
        return "currentColor"
    if color in PAPER:
        return f"var(--d2l-bg,{color})"
    if color in LINE:
        return f"var(--d2l-line,{color})"
    return match[1]


def _recolor(drawing: str) -> str:
    """Let a plot that came straight from matplotlib follow the theme: ink, paper and the palette's colors."""
    return re.sub(r'((?:style|fill|stroke|stop-color)=")([^"]*)(")', _recolor_attribute, drawing)


def _recolor_attribute(match: re.Match[str]) -> str:
    return match[1] + COLOR.sub(_themed, f" {match[2]};")[1:-1] + match[3]


def _unique_ids(drawing: str, prefix: str) -> str:
    drawing = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', drawing)
    drawing = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", drawing)
    drawing = re.sub(r'((?:xlink:)?href)="#([^"]+)"', rf'\1="#{prefix}\2"', drawing)
    return re.sub(
        r'\b(aria-labelledby|aria-describedby)="([^"]+)"',
        lambda m: f'{m[1]}="{" ".join(prefix + name for name in m[2].split())}"',
        drawing,
    )


def _root(drawing: str, prefix: str, alt: str, is_plot: bool) -> str:
    """The opening tag anew: scales with the page, and has a name that can be read out."""
    opening = ROOT.search(drawing)
    assert opening, "not an SVG drawing"
    sizes = {
        name: float(value) * (4 / 3 if unit == "pt" else 1) for name, value, unit in SIZE.findall(opening[0])
    }
    box = re.search(r'viewBox="([^"]+)"', opening[0])
    viewbox = box[1] if box else f"0 0 {sizes['width']} {sizes['height']}"
    width = sizes.get("width") or float(viewbox.split()[2])
    title = TITLE.search(drawing, opening.end())
    label = re.sub(r"<[^>]*>", "", title[1]).strip() if title else escape(alt)
    kind = "plot" if is_plot else "drawing"
    role = "group" if re.search(r"<a\b", drawing) else "img"  # links inside an image cannot be reached
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    tag = (
        f'<svg {names} id="{prefix}figure" class="{kind}" role="{role}" aria-label="{label}" '
        f'viewBox="{viewbox}" style="max-width:{width:g}px">'
    )
    return tag + drawing[opening.end() :]


def inline(drawing: str, *, prefix: str, alt: str) -> str:
    """An SVG file as part of a page: themed colors, ids that no other figure of the page has, a name.

    Args:
        drawing: the SVG as matplotlib or `d2l.figure` wrote it.
        prefix: put before every id.
        alt: the figure's name when it has no `<title>`.
    """
    is_plot = '<g id="figure_1">' in drawing
    drawing = GLOBAL_STYLE.sub("", PROLOGUE.sub("", drawing))
    if is_plot and "var(--d2l-" not in drawing:  # d2lmini's own plots are themed already
        drawing = BACKGROUND.sub(r"\1fill: none\2", drawing)
        drawing = re.sub(r"<defs>\s*</defs>", "", drawing)
        drawing = _recolor(drawing)
    drawing = _unique_ids(drawing, prefix)
    # a figure's own rules must not reach the others
    drawing = STYLE.sub(rf"\1#{prefix}figure{{\2}}\3", drawing)
    return (
        f'<div class="figure scroll" data-label="plot">{_root(drawing, prefix, alt, is_plot).strip()}</div>'
    )


def picture(base64: str, *, alt: str) -> str:
    """A PNG output, with its name."""
    return f'<div class="figure"><img src="data:image/png;base64,{base64}" alt="{escape(alt)}"></div>'
