"""Plots of the course: lines, heatmaps and a live training curve, in the reader's language.

Names and signatures are those of D2L 0.17. A plot is shown as SVG whose text stays text: it takes the fonts
and the colors (light and dark) of the page that it stands on, and carries a title and a description for
screen readers.
"""

import io
import itertools
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import as_file, files
from typing import Any
from xml.sax.saxutils import escape

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure

from d2lmini.language import label, text

# light color -> variable of the site's theme; where there is no such page, the light color is used
THEME = {
    "#ffffff": "--d2l-bg",
    "#1c2733": "--d2l-text",
    "#5b6672": "--d2l-muted",
    "#d5dce3": "--d2l-line",
    "#0067a5": "--d2l-query",
    "#b84a00": "--d2l-key",
    "#00785a": "--d2l-value",
    "#7b4fa3": "--d2l-output",
    "#8a6100": "--d2l-position",
    "#4a5a6a": "--d2l-cnn",
    "#a1286a": "--d2l-rnn",
    "#4338a8": "--d2l-attention",
}
_COLOR = {variable.removeprefix("--d2l-"): color for color, variable in THEME.items()}

# a line whose legend names one of these has its color and stroke wherever it appears in the course
_MEANING = {
    "queries": ("query", "-"),
    "keys": ("key", "--"),
    "values": ("value", "-."),
    "CNN": ("cnn", ":"),
    "convolution": ("cnn", ":"),
    "RNN": ("rnn", "--"),
    "recurrent": ("rnn", "--"),
    "self-attention": ("attention", "-"),
    "attention": ("attention", "-"),
    "fused attention": ("attention", "-."),
}
_CYCLE = [_COLOR[name] for name in ("query", "key", "value", "output", "position")]
_STROKES = ("-", "--", "-.", ":")


def _covering(names: Sequence[str], strength: float) -> LinearSegmentedColormap:
    """Return a colormap that covers the page's background more and more, up to `strength` (opacity, 0 to 1).

    Laying a color over the page with opacity t changes the perceived lightness L* evenly: within 1.2 of the
    54 units from white to vermilion, 2.4 of the 64 from the dark page to light blue. One map serves both.
    """
    ends = [(*to_rgb(_COLOR[name]), strength) for name in names]
    clear = [(*end[:3], 0.0) for end in ends]
    stops = [(0.0, clear[0]), (1.0, ends[0])]
    if len(names) == 2:  # the color changes where nothing of it is to be seen
        stops = [(0.0, ends[0]), (0.5, clear[0]), (0.5, clear[1]), (1.0, ends[1])]
    return LinearSegmentedColormap.from_list("_".join(["d2l", *names]), stops)


WEIGHTS = _covering(["query"], 1.0)
SIGNED = _covering(["key", "query"], 1.0)
# where numbers are written into the cells: text on the strongest cell keeps a contrast of 4.5 in both themes
_WEIGHTS_UNDER_TEXT = _covering(["query"], 0.5)
_SIGNED_UNDER_TEXT = _covering(["key", "query"], 0.5)

_MOST_VECTOR_CELLS = 2048  # a heatmap with more cells is stored as pixels: about 90 bytes a cell otherwise


@cache
def _font_families() -> tuple[str, str]:
    """Register the bundled Chinese font: matplotlib's own has no such glyphs, and installed ones differ."""
    with as_file(files("d2lmini") / "assets" / "fonts" / "D2LMiniSansSC-Regular.otf") as path:
        font_manager.fontManager.addfont(path)
    return ("DejaVu Sans", "D2LMini Sans SC")


def _style() -> dict[str, Any]:
    return {
        "font.family": list(_font_families()),
        "font.size": 10,
        "text.color": _COLOR["text"],
        "axes.labelcolor": _COLOR["text"],
        "axes.titlecolor": _COLOR["text"],
        "axes.titlesize": 10,
        "axes.edgecolor": _COLOR["muted"],
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": cycler(color=_CYCLE),
        "figure.facecolor": _COLOR["bg"],
        "grid.color": _COLOR["line"],
        "grid.linewidth": 0.6,
        "hatch.color": _COLOR["muted"],
        "hatch.linewidth": 0.8,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "xtick.color": _COLOR["muted"],
        "ytick.color": _COLOR["muted"],
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "xtick.major.size": 3,
        "ytick.major.size": 3,
        "svg.fonttype": "none",
        "svg.hashsalt": "d2lmini",
    }


@contextmanager
def _styled() -> Iterator[None]:
    """Use the course's style inside a `with` block only: the reader's own rcParams come back afterwards."""
    style: Any = _style()
    with mpl.rc_context(style):
        yield


# -- from a figure to the page ---------------------------------------------------------------------------


def _svg(figure: Figure, title: str, description: str) -> str:
    """Return the figure as SVG made for a page: themed colors, the page's fonts, a name and no noise."""
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.05, metadata=metadata)
    svg = buffer.getvalue()
    head = re.search(r'<svg [^>]*?width="([\d.]+)pt" height="[\d.]+pt" viewBox="([\d. -]+)"[^>]*>', svg)
    assert head is not None, "matplotlib wrote an SVG without a size"
    body = svg[head.end() :].rpartition("</svg>")[0]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    # matplotlib's style sheet would hold for every drawing on the page; attributes of the root replace it
    body = re.sub(r"<style.*?</style>", "", body, flags=re.S)
    body = re.sub(r'<g id="QuadMesh_\d+">(.*?)</g>', _compact_cells, body, flags=re.S)
    body = re.sub(r'<g id="[^"]*">', "<g>", body)
    body = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", body)
    body = _without_fonts(body)
    body = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", body)
    body = re.sub(r'd="([^"]*)"', lambda path: f'd="{" ".join(path[1].split())}"', body)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda c: f"var({THEME[c[0]]}, {c[0]})" if c[0] in THEME else c[0], body)
    body = re.sub(r">\s+<", "><", body).replace("<defs></defs>", "").strip()
    width = float(head[1]) * 96 / 72
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{head[2]}" width="{width:.0f}" style="max-width: 100%; height: auto" role="img" '
        "font-family=\"system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif\" "
        'stroke-linejoin="round" stroke-linecap="butt">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{body}</svg>"
    )


def _compact_cells(mesh: re.Match[str]) -> str:
    """Write the cells of a heatmap in 60 bytes each instead of 250, those of one color together."""
    by_color: dict[str, list[str]] = {}
    for path, style in re.findall(r'<path d="([^"]*)"[^>]*style="([^"]*)"', mesh[1]):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
        xs, ys = numbers[0::2], numbers[1::2]
        fill = re.search(r"fill: (#\w+)", style)
        opacity = re.search(r"opacity: ([\d.]+)", style)
        if fill and not (opacity and float(opacity[1]) == 0):
            rect = f"M{min(xs):.2f} {min(ys):.2f}H{max(xs):.2f}V{max(ys):.2f}H{min(xs):.2f}z"
            covering = f' fill-opacity="{float(opacity[1]):.3f}"' if opacity else ""
            by_color.setdefault(fill[1], []).append(f'<path d="{rect}"{covering}/>')
    groups = (f'<g style="fill: {color}">{"".join(cells)}</g>' for color, cells in by_color.items())
    return f'<g shape-rendering="crispEdges">{"".join(groups)}</g>'


def _without_fonts(svg: str) -> str:
    """Take the font families out of the styles, so that the families of the page hold; sizes stay."""

    def size(font: re.Match[str]) -> str:
        slant = "; font-style: italic" if re.search("italic|oblique", font[1]) else ""
        weight = "; font-weight: bold" if re.search("bold|700", font[1]) else ""
        return f"font-size: {font[2]}{slant}{weight}"

    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    return re.sub(r"font: ([^;\"]*?)([\d.]+px) [^;\"]*", size, svg)  # as matplotlib before 3.11 writes it


def _kernel_shell() -> Any:
    """Return the shell of the notebook that we run in; None in a script, a test or a terminal."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _show(figure: Figure, title: str, description: str) -> None:
    """Show a finished figure below the cell; in a script it stays open for ``plt.show()``."""
    if _kernel_shell() is None:
        return
    from IPython.display import display

    svg = _svg(figure, title, description)
    plt.close(figure)
    display({"image/svg+xml": svg, "text/plain": title}, raw=True)


def use_svg_display() -> None:
    """Show the reader's own matplotlib figures as SVG, with the course's Chinese font, from now on.

    The functions of this file need no such call; it is for cells that use ``d2l.plt`` themselves.

    Source: D2L 0.17, ``d2l.use_svg_display``.

    Example:
        >>> use_svg_display()
    """
    plt.rcParams.update({name: _style()[name] for name in ("font.family", "svg.fonttype", "svg.hashsalt")})
    if _kernel_shell() is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})


def set_figsize(figsize: tuple[float, float] = (3.5, 2.5)) -> None:
    """Set the size of the figures that follow.

    Args:
        figsize: width and height in inches; the page is 7 inches wide.

    Source: D2L 0.17, ``d2l.set_figsize``.

    Example:
        >>> set_figsize((5, 3))
        >>> plt.rcParams["figure.figsize"]
        [5.0, 3.0]
    """
    use_svg_display()
    plt.rcParams["figure.figsize"] = figsize


def set_axes(
    axes: Axes,
    xlabel: str | None,
    ylabel: str | None,
    xlim: Sequence[float] | None,
    ylim: Sequence[float] | None,
    xscale: str,
    yscale: str,
    legend: Sequence[str] | None,
) -> None:
    """Label and scale axes, in the reader's language where the catalogue knows the label.

    Args:
        axes: the matplotlib axes to change.
        xlabel: name of the horizontal axis, English.
        ylabel: name of the vertical axis, English.
        xlim: lowest and highest x shown.
        ylim: lowest and highest y shown.
        xscale: ``"linear"`` or ``"log"``.
        yscale: ``"linear"`` or ``"log"``.
        legend: one name for each line, English.

    Source: D2L 0.17, ``d2l.set_axes``.

    Example:
        >>> _, axes = plt.subplots()
        >>> set_axes(axes, "training step", "loss", [1, 10], None, "linear", "log", None)
        >>> axes.get_xlabel(), axes.get_yscale()
        ('training step', 'log')
        >>> plt.close()
    """
    axes.set_xlabel(label(xlabel) if xlabel else "")
    axes.set_ylabel(label(ylabel) if ylabel else "")
    axes.set_xscale(xscale)
    axes.set_yscale(yscale)
    if xlim is not None:
        axes.set_xlim(*xlim)
    if ylim is not None:
        axes.set_ylim(*ylim)
    if legend:
        axes.legend([label(name) for name in legend])
    axes.grid(True)


# -- lines -----------------------------------------------------------------------------------------------


def plot(
    X: Any,
    Y: Any = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    legend: Sequence[str] | None = None,
    xlim: Sequence[float] | None = None,
    ylim: Sequence[float] | None = None,
    xscale: str = "linear",
    yscale: str = "linear",
    fmts: Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    axes: Axes | None = None,
) -> None:
    """Plot one or several lines and show them.

    Args:
        X: the x of all lines, or one list of x for each line; with `Y` left out, the y.
        Y: the y of one line, or of several.
        xlabel: name of the horizontal axis, English.
        ylabel: name of the vertical axis, English.
        legend: one name for each line; written at the line's end where there is room.
        xlim: lowest and highest x shown.
        ylim: lowest and highest y shown.
        xscale: ``"linear"`` or ``"log"``.
        yscale: ``"linear"`` or ``"log"``.
        fmts: matplotlib formats, one for each line, taken in turn. Left out, colors and strokes are the
            course's: a line called ``"RNN"`` is magenta and dashed in every chapter.
        figsize: width and height in inches; left out, what `set_figsize` set.
        axes: axes of your own figure to draw on; you show that figure yourself.

    Raises:
        ValueError: lines of x and of y do not pair up, or `legend` has not one name for each line.

    Source: D2L 0.17, ``d2l.plot``.

    Example:
        >>> plot([1, 2, 4], [[1, 4, 16], [1, 2, 4]], "n", "FLOPs", legend=["self-attention", "RNN"])
        >>> plt.close()
    """
    xs, ys = _lines(X, Y)
    if legend and len(legend) != len(ys):
        raise ValueError(f"legend: got {len(legend)} names for {len(ys)} lines; give one name for each line")
    with _styled():
        own = axes is None
        if axes is None:
            _, axes = plt.subplots(figsize=figsize)
        axes.cla()
        _draw_lines(axes, xs, ys, fmts, legend)
        set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, None)
        if legend and not (own and _name_line_ends(axes, legend)):
            axes.legend([label(name) for name in legend])
        if own:
            figure = axes.figure
            assert isinstance(figure, Figure)
            _show(figure, _line_title(xlabel, ylabel, legend), _line_description(ys, legend))


def _numbers(values: Any) -> np.ndarray:
    """Return numbers of any kind (list, array, tensor on any device, with or without gradient) as array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.dtype.itemsize < 4 and values.dtype.is_floating_point else values
    return np.asarray(values)


def _lines(X: Any, Y: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return one array of x and one of y for each line."""

    def split(values: Any) -> list[np.ndarray]:
        if isinstance(values, (list, tuple)) and len(values) and np.ndim(_numbers(values[0])) > 0:
            return [_numbers(line) for line in values]
        array = _numbers(values)
        return [array] if array.ndim == 1 else list(array)

    if Y is None:
        ys = split(X)
        xs = [np.arange(len(y)) for y in ys]
    else:
        xs, ys = split(X), split(Y)
    if len(xs) == 1:
        xs = xs * len(ys)
    if len(xs) != len(ys):
        raise ValueError(
            f"X: got {len(xs)} lines of x for {len(ys)} lines of y; give one x for all, or one for each"
        )
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if len(x) != len(y):
            raise ValueError(f"Y: line {i} has {len(y)} values for {len(x)} values of x; give as many")
    return xs, ys


def _draw_lines(
    axes: Axes,
    xs: list[np.ndarray],
    ys: list[np.ndarray],
    fmts: Sequence[str] | None,
    names: Sequence[str] | None,
) -> None:
    meanings = [_MEANING.get(name) for name in names or ()]
    taken = {_COLOR[meaning[0]] for meaning in meanings if meaning}
    free = itertools.cycle([color for color in _CYCLE if color not in taken] or _CYCLE)
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if fmts:
            axes.plot(x, y, fmts[i % len(fmts)])
        elif meanings and (meaning := meanings[i]):
            axes.plot(x, y, meaning[1], color=_COLOR[meaning[0]])
        else:
            axes.plot(x, y, _STROKES[i % len(_STROKES)], color=next(free))


def _name_line_ends(axes: Axes, names: Sequence[str]) -> bool:
    """Write each line's name at its right end; where there is no room, change nothing and return False."""
    lines = [np.asarray(line.get_xydata()) for line in axes.lines]
    ends = np.array([line[-1] for line in lines if len(line)], dtype=float)
    if len(ends) != len(names) or not np.isfinite(ends).all():
        return False
    axes.autoscale_view()  # matplotlib settles the limits only when asked
    axes.get_xlim(), axes.get_ylim()
    pixels = axes.transData.transform(ends)
    box = axes.get_window_extent()
    if not ((pixels[:, 1] >= box.y0 - 1) & (pixels[:, 1] <= box.y1 + 1) & (pixels[:, 0] <= box.x1 + 1)).all():
        return False
    if (
        pixels[:, 0] < box.x0 + 0.85 * box.width
    ).any():  # a name must not stand where another line still runs
        return False
    line_height = 1.25 * 9 * axes.figure.dpi / 72
    order = np.argsort(pixels[:, 1], kind="stable")
    heights = pixels[order, 1].copy()
    for i in range(
        1, len(heights)
    ):  # push names apart from below, then centre the stack on the ends it names
        heights[i] = max(heights[i], heights[i - 1] + line_height)
    heights -= (heights - pixels[order, 1]).mean()
    if np.abs(heights - pixels[order, 1]).max() > line_height:
        return False
    for height, i in zip(heights, order, strict=True):
        y = axes.transData.inverted().transform((box.x1, height))[1]
        axes.annotate(
            label(names[i]),
            (1, y),
            (6, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=axes.lines[i].get_color(),
        )
    return True


def _line_title(xlabel: str | None, ylabel: str | None, names: Sequence[str] | None) -> str:
    title = text("Line plot")
    if xlabel and ylabel:
        title = text("Line plot of {y} over {x}").format(x=label(xlabel), y=label(ylabel))
    if not names:
        return title
    return text("{title}: {names}").format(title=title, names=text(", ").join(label(name) for name in names))


def _line_description(ys: list[np.ndarray], names: Sequence[str] | None) -> str:
    called = [label(name) for name in names] if names else [str(i + 1) for i in range(len(ys))]
    return "; ".join(
        text("{name}: from {first} to {last}").format(name=name, first=f"{y[0]:.3g}", last=f"{y[-1]:.3g}")
        for name, y in zip(called, ys, strict=True)
        if len(y)
    )


# -- heatmaps --------------------------------------------------------------------------------------------


def show_heatmaps(
    matrices: Any,
    xlabel: str,
    ylabel: str,
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] = (2.5, 2.5),
    cmap: Any = None,
    *,
    xticklabels: Sequence[str] | None = None,
    yticklabels: Sequence[str] | None = None,
    annotate: bool = False,
) -> None:
    """Show matrices side by side, on one scale of color.

    Weights (no negative number) run from the page's background to blue. Signed values get a diverging map,
    vermilion below 0 and blue above it. A cell that is not finite, such as a masked score of −∞, is hatched.

    Args:
        matrices: (rows, columns, queries, keys); one heatmap for each row and column of the figure.
        xlabel: name of the horizontal axis, English; ``"keys"`` for attention weights.
        ylabel: name of the vertical axis, English; ``"queries"`` for attention weights.
        titles: one for each column, English.
        figsize: width and height in inches of the whole figure; the page is 7 inches wide.
        cmap: a matplotlib colormap or its name; left out, chosen by the sign of the values as told above.
        xticklabels: what to write at the columns of each matrix, such as the tokens of a sentence.
        yticklabels: what to write at the rows.
        annotate: write the number into each cell, with two decimals.

    Raises:
        ValueError: `matrices` is not 4-dimensional or is empty, or labels or titles do not fit its shape.

    Source: D2L 0.17, ``d2l.show_heatmaps``; the keyword-only arguments are ours.

    Example:
        >>> import torch
        >>> show_heatmaps(torch.eye(4).reshape(1, 1, 4, 4), xlabel="keys", ylabel="queries")
        >>> plt.close()
    """
    values = _numbers(matrices)
    if values.ndim != 4 or 0 in values.shape:
        raise ValueError(
            f"matrices: got shape {values.shape}; give (rows, columns, queries, keys), "
            "for one matrix of attention weights `weights.reshape(1, 1, queries, keys)`"
        )
    rows, columns, height, width = values.shape
    for name, given, wanted in (
        ("titles", titles, columns),
        ("xticklabels", xticklabels, width),
        ("yticklabels", yticklabels, height),
    ):
        if given is not None and len(given) != wanted:
            raise ValueError(f"{name}: got {len(given)} for matrices of shape {values.shape}; give {wanted}")
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0:
        limit = max(-low, high)
        norm, chosen = Normalize(-limit, limit), _SIGNED_UNDER_TEXT if annotate else SIGNED
    else:
        norm, chosen = Normalize(0, high or 1.0), _WEIGHTS_UNDER_TEXT if annotate else WEIGHTS
    with _styled():
        figure, grid = plt.subplots(
            rows, columns, figsize=figsize, sharex=True, sharey=True, squeeze=False, layout="constrained"
        )
        vector = values.size <= _MOST_VECTOR_CELLS
        for (i, j), axes in np.ndenumerate(grid):
            _draw_matrix(axes, values[i, j], norm, cmap or chosen, vector, annotate, own_map=cmap is None)
            if xticklabels is not None:
                upright = max(map(len, xticklabels)) * width < 10 * figsize[0] / columns
                axes.set_xticks(range(width), xticklabels, rotation=0 if upright else 90)
            if yticklabels is not None:
                axes.set_yticks(range(height), yticklabels)
            axes.set_xlabel(label(xlabel) if i == rows - 1 else "")
            axes.set_ylabel(label(ylabel) if j == 0 else "")
            if titles:
                axes.set_title(label(titles[j]))
        _draw_scale(figure, grid, norm, cmap or chosen)
        title = text("Heatmap; rows: {y}; columns: {x}").format(x=label(xlabel), y=label(ylabel))
        description = text("Values from {low} to {high}").format(low=f"{low:.3g}", high=f"{high:.3g}")
        _show(figure, title, description)


def _draw_matrix(
    axes: Axes, matrix: np.ndarray, norm: Normalize, cmap: Any, vector: bool, annotate: bool, own_map: bool
) -> None:
    shown = np.ma.masked_invalid(matrix)
    height, width = matrix.shape
    if vector:
        edges = np.arange(width + 1) - 0.5, np.arange(height + 1) - 0.5
        axes.pcolormesh(*edges, shown, norm=norm, cmap=cmap)
        axes.set_aspect("equal")
        axes.set_ylim(height - 0.5, -0.5)  # row 0 on top, as a matrix is written
    else:
        axes.imshow(
            shown,
            norm=norm,
            cmap=cmap,
            interpolation="nearest",
            aspect="auto" if width > 4 * height else None,
        )
    for row, column in zip(*np.nonzero(shown.mask & np.ones_like(matrix, bool)), strict=True):
        cell = plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="/////", linewidth=0)
        cell.set_edgecolor(_COLOR["muted"])
        axes.add_patch(cell)
    if annotate:
        for (row, column), value in np.ndenumerate(matrix):
            if np.isfinite(value):
                number = f"{value:.2f}".replace("-", "−")
                color = _COLOR["text"] if own_map else _readable_on(mpl.colormaps.get_cmap(cmap)(norm(value)))
                axes.text(column, row, number, ha="center", va="center", fontsize=8, color=color)
    axes.grid(False)
    axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(6, integer=True))
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(6, integer=True))
    for spine in axes.spines.values():
        spine.set(visible=True, color=_COLOR["line"])


def _readable_on(color: tuple[float, ...]) -> str:
    """Return near-black or near-white, whichever reads better on a reader's own color."""
    red, green, blue = color[:3]
    return "#111111" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else "#fefefe"


def _draw_scale(figure: Figure, grid: np.ndarray, norm: Normalize, cmap: Any) -> None:
    """Draw the scale with 32 steps: a smooth one would be stored as a picture, without the page's colors."""
    steps = norm.inverse(np.linspace(0, 1, 33))
    mappable = mpl.cm.ScalarMappable(norm, cmap)
    bar: Any = figure.colorbar(
        mappable, ax=grid, shrink=0.6, boundaries=steps, values=(steps[:-1] + steps[1:]) / 2
    )
    bar.solids.set_rasterized(False)
    bar.outline.set(edgecolor=_COLOR["line"], linewidth=0.8)
    bar.locator = mpl.ticker.MaxNLocator(4)
    bar.update_ticks()


# -- while a model trains --------------------------------------------------------------------------------


class Animator:
    """A line plot that grows while a model trains.

    In a notebook the curve is redrawn a few times a second while the cell runs; the finished plot takes its
    place when the cell ends. In a script the figure is drawn as it grows and stays open for ``plt.show()``.

    Args:
        xlabel: name of the horizontal axis, English.
        ylabel: name of the vertical axis, English.
        legend: one name for each line.
        xlim: lowest and highest x shown.
        ylim: lowest and highest y shown.
        xscale: ``"linear"`` or ``"log"``.
        yscale: ``"linear"`` or ``"log"``.
        fmts: matplotlib formats, one for each line; left out, the course's colors and strokes.
        nrows: rows of axes in the figure; lines are drawn on the first.
        ncols: columns of axes.
        figsize: width and height in inches.

    Source: D2L 0.17, ``d2l.Animator``.

    Example:
        >>> animator = Animator(xlabel="epoch", ylabel="loss", legend=["training", "validation"], xlim=[1, 3])
        >>> for epoch in (1, 2, 3):
        ...     animator.add(epoch, [1 / epoch, 2 / epoch])
        >>> animator.Y[0]
        [1.0, 0.5, 0.3333333333333333]
        >>> plt.close()
    """

    def __init__(
        self,
        xlabel: str | None = None,
        ylabel: str | None = None,
        legend: Sequence[str] | None = None,
        xlim: Sequence[float] | None = None,
        ylim: Sequence[float] | None = None,
        xscale: str = "linear",
        yscale: str = "linear",
        fmts: Sequence[str] | None = None,
        nrows: int = 1,
        ncols: int = 1,
        figsize: tuple[float, float] = (3.5, 2.5),
    ) -> None:
        with _styled():
            self.fig, axes = plt.subplots(nrows, ncols, figsize=figsize, squeeze=False)
        self.axes = list(axes.ravel())
        self.X: list[list[float]] = []
        self.Y: list[list[float]] = []
        self.fmts = fmts
        self._legend = legend
        self._labels = xlabel, ylabel
        self._settings = xlim, ylim, xscale, yscale
        self._live: Any = None
        self._drawn = 0.0
        self._shell = _kernel_shell()
        self._waiting = False
        if self._shell is not None:
            plt.close(self.fig)  # else the notebook shows it once more by itself

    def add(self, x: Any, y: Any) -> None:
        """Add one point to each line.

        Args:
            x: the x of all points, or one for each line.
            y: the y of the point, or one for each line; None leaves a line as it is.

        Raises:
            ValueError: there are more or fewer values than lines.
        """
        y = list(y) if hasattr(y, "__len__") else [y]
        x = list(x) if hasattr(x, "__len__") else [x] * len(y)
        if not self.X:
            self.X, self.Y = [[] for _ in y], [[] for _ in y]
        if not len(x) == len(y) == len(self.X):
            raise ValueError(f"y: got {len(y)} values and {len(x)} of x; this plot has {len(self.X)} lines")
        for line, (a, b) in enumerate(zip(x, y, strict=True)):
            if a is not None and b is not None:
                self.X[line].append(float(a))
                self.Y[line].append(float(b))
        if self._shell is None:
            self._draw()
            return
        if not self._waiting:
            self._shell.events.register("post_run_cell", self._finish)
            self._waiting = True
        if time.monotonic() - self._drawn > 0.3:
            self._draw()
            self._show_live(self._as_svg())
            self._drawn = time.monotonic()

    def _draw(self) -> None:
        axes = self.axes[0]
        xlim, ylim, xscale, yscale = self._settings
        names = self._legend if self._legend and len(self._legend) == len(self.X) else None
        with _styled():
            axes.cla()
            _draw_lines(axes, [np.array(x) for x in self.X], [np.array(y) for y in self.Y], self.fmts, names)
            set_axes(axes, *self._labels, xlim, ylim, xscale, yscale, self._legend)

    def _as_svg(self) -> str:
        with _styled():
            description = _line_description([np.array(y) for y in self.Y], None)
            return _svg(self.fig, _line_title(*self._labels, self._legend), description)

    def _show_live(self, svg: str) -> None:
        """Draw into a widget: replacing an output would leave traces in a notebook that is executed."""
        if self._live is None:
            try:
                from ipywidgets import HTML
            except ImportError:
                return
            from IPython.display import display

            self._live = HTML()
            view = {"version_major": 2, "version_minor": 0, "model_id": self._live.model_id}
            display({"application/vnd.jupyter.widget-view+json": view}, raw=True)
        self._live.value = svg

    def _finish(self, result: Any = None) -> None:
        """Put the finished plot below the cell; called by the notebook when the cell ends, failed or not."""
        self._shell.events.unregister("post_run_cell", self._finish)
        self._waiting = False
        if self._live is not None:
            self._live.value = ""
            self._live = None
        self._draw()
        with _styled():
            _show(
                self.fig,
                _line_title(*self._labels, self._legend),
                _line_description([np.array(y) for y in self.Y], None),
            )
