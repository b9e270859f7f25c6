"""Plots of the course: lines and heatmaps, in the reader's language.

Names and signatures are those of D2L 0.17. A plot is shown as SVG whose text stays text: it takes the fonts
and the colors (light and dark) of the page that it stands on, and carries a title and a description for
screen readers.
"""

import io
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from d2lmini.language import label, text
from d2lmini.notebook import svg, theme
from d2lmini.notebook.kernel import kernel_shell

if TYPE_CHECKING:
    from d2lmini.decoding import BeamTree  # torch is loaded with it, and no other plot needs torch

_MOST_VECTOR_CELLS = 2048  # a heatmap with more cells is stored as pixels: about 90 bytes a cell otherwise


# ---- a figure below its cell


def as_svg(figure: Figure, title: str, description: str) -> str:
    """Return a figure as the SVG that a notebook stores."""
    buffer = io.StringIO()
    with theme.styled():
        figure.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.05)
    return svg.from_matplotlib(buffer.getvalue(), title, description)


def show(figure: Figure, title: str, description: str) -> None:
    """Show a finished figure below the cell; in a script it stays open for ``plt.show()``."""
    if kernel_shell() is None:
        return
    from IPython.display import display

    stored = as_svg(figure, title, description)
    plt.close(figure)
    display({"image/svg+xml": stored, "text/plain": title}, raw=True)


def use_svg_display() -> None:
    """Show the reader's own matplotlib figures as SVG, with the course's Chinese font, from now on.

    The functions of this file need no such call; it is for cells that use ``d2l.plt`` themselves.

    Source: D2L 0.17, ``d2l.use_svg_display``.

    Example:
        >>> use_svg_display()
    """
    plt.rcParams.update(theme.text_style())
    if kernel_shell() is not None:
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
    """Label and scale matplotlib `axes`, in the reader's language where the course knows the label.

    All other arguments are those of `plot`.

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


# ---- lines


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
    *,
    spread: Any = None,
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
        spread: for each line its least and its greatest y, shape (lines, 2, points); drawn as a band.

    Raises:
        ValueError: `X` or `Y` is not made of lines of numbers, they do not pair up, `legend` has not one
            name for each line, or `spread` does not fit the lines.

    Source: D2L 0.17, ``d2l.plot``; the keyword-only argument is ours.

    Example:
        >>> plot([1, 2, 4], [[1, 4, 16], [1, 2, 4]], "n", "FLOPs", legend=["self-attention", "RNN"])
        >>> plt.close()
    """
    xs, ys = _lines(X, Y)
    if legend and len(legend) != len(ys):
        raise ValueError(f"legend: got {len(legend)} names for {len(ys)} lines; give one name for each line")
    bands = [] if spread is None else [numbers(band, "spread") for band in spread]
    if bands and [band.shape for band in bands] != [(2, len(y)) for y in ys]:
        raise ValueError(
            f"spread: got {len(bands)} bands for {len(ys)} lines; give the least and the greatest y of each "
            "point, of shape (lines, 2, points)"
        )
    with theme.styled():
        own = axes is None
        if axes is None:
            _, axes = plt.subplots(figsize=figsize)
        axes.cla()
        draw_lines(axes, xs, ys, fmts, legend)
        for line, (low, high) in zip(axes.lines, bands, strict=False):  # none, or one for each line
            axes.fill_between(line.get_xdata(), low, high, color=line.get_color(), alpha=0.25, linewidth=0)
        set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, None)
        if legend and not (own and _name_line_ends(axes, legend)):
            axes.legend([label(name) for name in legend])
        if own:
            figure = axes.figure
            assert isinstance(figure, Figure)
            show(figure, line_title(xlabel, ylabel, legend), line_description(ys, legend))


def numbers(values: Any, name: str) -> np.ndarray:
    """Return numbers of any kind (list, array, tensor on any device, with or without gradient) as array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.dtype.itemsize < 4 and values.dtype.is_floating_point else values
    elif isinstance(values, (list, tuple)) and any(hasattr(value, "detach") for value in values):
        values = [numbers(value, name) for value in values]
    try:
        array = np.asarray(values)
        return array.astype(float) if array.dtype.kind in "OUS" else array  # None is a gap in a line
    except (TypeError, ValueError):
        raise ValueError(f"{name}: got {values!r:.60}; give numbers") from None


def _split(values: Any, name: str) -> list[np.ndarray]:
    """Return the lines in `values`: one, a list of lines, or the rows of a matrix; a line may be a column."""
    if isinstance(values, (list, tuple)) and any(np.ndim(value) for value in values):
        arrays = [numbers(line, name) for line in values]
        lines = [line for array in arrays for line in (array.T if array.ndim == 2 else [array])]
    else:
        array = numbers(values, name)
        lines = list(array) if array.ndim > 1 else [array]
    if any(line.ndim != 1 for line in lines):
        shape = np.shape(values)
        raise ValueError(f"{name}: got numbers of shape {shape}; give those of a line, or a list of lines")
    return lines


def _lines(X: Any, Y: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return one array of x and one of y for each line."""
    xs = _split(X, "X")
    if Y is None:
        return [np.arange(len(y)) for y in xs], xs
    ys = _split(Y, "Y")
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


def draw_lines(
    axes: Axes,
    xs: list[np.ndarray],
    ys: list[np.ndarray],
    fmts: Sequence[str] | None,
    names: Sequence[str] | None,
) -> None:
    """Draw lines in the formats given, else in the colors that their names have throughout the course."""
    meanings = [theme.MEANING.get(name) for name in names or ()]
    taken = {theme.COLOR[meaning[0]] for meaning in meanings if meaning}
    free = itertools.cycle([color for color in theme.CYCLE if color not in taken] or theme.CYCLE)
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if fmts:
            axes.plot(x, y, fmts[i % len(fmts)])
        elif meanings and (meaning := meanings[i]):
            axes.plot(x, y, meaning[1], color=theme.COLOR[meaning[0]])
        else:
            axes.plot(x, y, theme.STROKES[i % len(theme.STROKES)], color=next(free))


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
    # a name must not stand where another line still runs
    if (pixels[:, 0] < box.x0 + 0.85 * box.width).any():
        return False
    line_height = 1.25 * 9 * axes.figure.dpi / 72
    order = np.argsort(pixels[:, 1], kind="stable")
    heights = pixels[order, 1].copy()
    # push names apart from below, then center the stack on the ends it names
    for i in range(1, len(heights)):
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


def line_title(xlabel: str | None, ylabel: str | None, names: Sequence[str] | None) -> str:
    """Say what a line plot shows, for readers who do not see it."""
    title = text("Line plot")
    if xlabel and ylabel:
        title = text("Line plot of {y} over {x}", x=label(xlabel), y=label(ylabel))
    if not names:
        return title
    return text("{title}: {names}", title=title, names=text(", ").join(label(name) for name in names))


def line_description(ys: list[np.ndarray], names: Sequence[str] | None) -> str:
    """Say where each line begins and ends."""
    called = [label(name) for name in names] if names else [str(i + 1) for i in range(len(ys))]
    return text("; ").join(
        text("{name}: from {first} to {last}", name=name, first=f"{y[0]:.3g}", last=f"{y[-1]:.3g}")
        for name, y in zip(called, ys, strict=True)
        if len(y)
    )


# ---- heatmaps


def show_heatmaps(
    matrices: Any,
    xlabel: str,
    ylabel: str,
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] = (2.5, 2.5),
    cmap: Any = None,
    *,
    xticklabels: Iterable[Any] | None = None,
    yticklabels: Iterable[Any] | None = None,
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
        xticklabels: what to write at the columns of each matrix: the tokens of a sentence, or numbers.
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
    values = numbers(matrices, "matrices")
    if values.ndim != 4 or 0 in values.shape:
        raise ValueError(
            f"matrices: got shape {values.shape}; give (rows, columns, queries, keys), "
            "for one matrix of attention weights `weights.reshape(1, 1, queries, keys)`"
        )
    rows, columns, height, width = values.shape
    titles = _labels("titles", titles, columns, values.shape)
    column_labels = _labels("xticklabels", xticklabels, width, values.shape)
    row_labels = _labels("yticklabels", yticklabels, height, values.shape)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0:
        limit = max(-low, high)
        norm, chosen = Normalize(-limit, limit), theme.SIGNED_UNDER_TEXT if annotate else theme.SIGNED
    else:
        norm, chosen = Normalize(0, high or 1.0), theme.WEIGHTS_UNDER_TEXT if annotate else theme.WEIGHTS
    with theme.styled():
        figure, grid = plt.subplots(
            rows, columns, figsize=figsize, sharex=True, sharey=True, squeeze=False, layout="constrained"
        )
        vector = values.size <= _MOST_VECTOR_CELLS
        for (i, j), axes in np.ndenumerate(grid):
            _draw_matrix(axes, values[i, j], norm, cmap or chosen, vector, annotate, own_map=cmap is None)
            if column_labels:
                upright = max(map(len, column_labels)) * width < 10 * figsize[0] / columns
                axes.set_xticks(range(width), column_labels, rotation=0 if upright else 90)
            if row_labels:
                axes.set_yticks(range(height), row_labels)
            axes.set_xlabel(label(xlabel) if i == rows - 1 else "")
            axes.set_ylabel(label(ylabel) if j == 0 else "")
            if titles:
                axes.set_title(label(titles[j]))
        _draw_scale(figure, grid, norm, cmap or chosen)
        row_name = label(ylabel) or text(", ").join(row_labels)
        title = text("Heatmap; rows: {y}; columns: {x}", x=label(xlabel), y=row_name)
        show(figure, title, text("Values from {low} to {high}", low=f"{low:.3g}", high=f"{high:.3g}"))


def _labels(name: str, given: Iterable[Any] | None, wanted: int, shape: tuple[int, ...]) -> list[str]:
    """Return labels or numbers as texts, one for each row or column; none if none are given."""
    labels = [] if given is None else [f"{value}" for value in given]
    if given is not None and len(labels) != wanted:
        raise ValueError(f"{name}: got {len(labels)} for matrices of shape {shape}; give {wanted}")
    return labels


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
        aspect: Any = "auto" if width > 4 * height else None
        axes.imshow(shown, norm=norm, cmap=cmap, interpolation="nearest", aspect=aspect)
    for row, column in zip(*np.nonzero(shown.mask & np.ones_like(matrix, bool)), strict=True):
        cell = plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="/////", linewidth=0)
        cell.set_edgecolor(theme.COLOR["muted"])
        axes.add_patch(cell)
    if annotate:
        for (row, column), value in np.ndenumerate(matrix):
            if np.isfinite(value):
                number = f"{value:.2f}".replace("-", "−")
                behind = mpl.colormaps.get_cmap(cmap)(norm(value))
                color = theme.COLOR["text"] if own_map else _readable_on(behind)
                axes.text(column, row, number, ha="center", va="center", fontsize=8, color=color)
    axes.grid(False)
    axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(6, integer=True))
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(6, integer=True))
    for spine in axes.spines.values():
        spine.set(visible=True, color=theme.COLOR["hairline"])


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
    bar.outline.set(edgecolor=theme.COLOR["hairline"], linewidth=0.8)
    bar.locator = mpl.ticker.MaxNLocator(4)
    bar.update_ticks()


# ---- the tree of a beam search


def show_beam(tree: "BeamTree", figsize: tuple[float, float] | None = None) -> None:
    """Draw what a beam search looked at: a column for each step, the most probable beginning on top.

    A box holds a token and the probability of the whole beginning that ends with it. Above the dashed line
    stand the beginnings that were kept; the path of the best translation is drawn thick.

    Args:
        tree: what `beam_tree` returns.
        figsize: width and height in inches; left out, by the number of steps and of candidates.

    Example:
        >>> import d2lmini as d2l
        >>> vocab = d2l.Vocab([["go", "."]], reserved_tokens=["<pad>", "<bos>", "<eos>"])
        >>> net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(6, 4, 4, 1), d2l.Seq2SeqAttentionDecoder(6, 4, 4, 1))
        >>> show_beam(d2l.beam_tree(net, "go .", vocab, vocab, 5, "cpu", beam_size=2))
        >>> plt.close()
    """
    columns: dict[int, list[int]] = {}
    for number, node in enumerate(tree.nodes):
        columns.setdefault(node.step, []).append(number)
    rank = {number: place for column in columns.values() for place, number in enumerate(column)}
    beam_size = max(sum(tree.nodes[number].kept for number in column) for column in columns.values())
    best = set(tree.path(tree.finished[0][1]))
    last, depth = max(columns), max(map(len, columns.values()))
    with theme.styled():
        size = figsize or (min(7.0, 1.1 + 0.95 * last), 0.7 + 0.52 * depth)
        figure, axes = plt.subplots(figsize=size)
        for number, node in enumerate(tree.nodes):
            place, chosen = (node.step, rank[number]), number in best
            paint = theme.COLOR["output" if chosen else "text" if node.kept else "muted"]
            start = (0, (beam_size - 1) / 2) if node.parent is None else (node.step - 1, rank[node.parent])
            line: dict[str, Any] = {
                "color": paint,
                "linewidth": 2.4 if chosen else 1.0,
                "linestyle": "-" if node.kept else ":",
            }
            axes.plot(*zip(start, place, strict=True), **line, zorder=2 if chosen else 1)
            _write_in_box(axes, place, f"{node.token}\n{math.exp(node.log_prob):.2f}", paint, chosen)
        _write_in_box(axes, (0, (beam_size - 1) / 2), "<bos>", theme.COLOR["output"], True)
        axes.axhline(beam_size - 0.5, color=theme.COLOR["muted"], linewidth=1, linestyle="--", zorder=0)
        for word, up, side in (("kept", 3, "bottom"), ("dropped", -3, "top")):
            axes.annotate(
                label(word),
                (-0.42, beam_size - 0.5),
                (0, up),
                textcoords="offset points",
                va=side,
                fontsize=8,
                color=theme.COLOR["muted"],
            )
        axes.set(xlim=(-0.45, last + 0.45), ylim=(depth - 0.45, -0.55), yticks=[])
        axes.set_xticks(range(1, last + 1))
        axes.set_xlabel(label("step"))
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        show(figure, text("Tree of a beam search"), _beam_description(tree))


def _write_in_box(axes: Axes, place: tuple[float, float], words: str, color: str, thick: bool) -> None:
    edge = {"boxstyle": "round,pad=0.25", "facecolor": theme.COLOR["bg"], "edgecolor": color}
    box = {**edge, "linewidth": 1.8 if thick else 0.8}
    axes.text(*place, words, ha="center", va="center", fontsize=8, color=color, bbox=box, zorder=3)


def _beam_description(tree: "BeamTree") -> str:
    """Say, for each step, which beginnings were kept, and which translation is the best."""
    steps = [
        text(
            "step {step} keeps {names}",
            step=step,
            names=text(", ").join(
                " ".join(tree.tokens(number))
                for number, node in enumerate(tree.nodes)
                if node.step == step and node.kept
            ),
        )
        for step in sorted({node.step for node in tree.nodes})
    ]
    best = text("best: {name}", name=" ".join(tree.tokens(tree.finished[0][1])))
    return text("; ").join([*steps, best])
