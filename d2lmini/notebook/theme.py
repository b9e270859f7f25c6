"""How plots look: the course's colors, strokes, fonts and colormaps.

A plot is drawn in the colors of the light theme. `d2lmini.notebook.svg` then writes each of them as a
variable of the page, so that the plot follows the page into the dark theme.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap, to_rgb

from d2lmini.notebook.palette import COLORS

COLOR = {name: light for name, (light, _) in COLORS.items()}

# a line whose legend names one of these has its color and stroke wherever it appears in the course
MEANING = {
    "queries": ("query", "-"),
    "keys": ("key", "--"),
    "values": ("value", "-."),
    "CNN": ("cnn", ":"),
    "convolution": ("cnn", ":"),
    "RNN": ("rnn", "--"),
    "recurrent": ("rnn", "--"),
    "self-attention": ("attention", "-"),
    "attention": ("attention", "-"),
    "Transformer": ("attention", "-"),
    "fused attention": ("attention", "-."),
}
CYCLE = [COLOR[name] for name in ("query", "key", "value", "output", "position")]
STROKES = ("-", "--", "-.", ":")


def covering(*names: str, strength: float = 1.0) -> LinearSegmentedColormap:
    """Return a colormap that covers the page's background more and more, up to `strength` (opacity, 0 to 1).

    Laying a color over the page with opacity t changes the perceived lightness L* evenly: within 1.2 of the
    54 units from white to vermilion, 2.4 of the 64 from the dark page to light blue. One map serves both.

    Args:
        names: a color of the palette for positive values; two, the first for negative values.
        strength: the opacity at the ends.
    """
    ends = [(*to_rgb(COLOR[name]), strength) for name in names]
    clear = [(*end[:3], 0.0) for end in ends]
    stops = [(0.0, clear[0]), (1.0, ends[0])]
    if len(names) == 2:  # the color changes where nothing of it is to be seen
        stops = [(0.0, ends[0]), (0.5, clear[0]), (0.5, clear[1]), (1.0, ends[1])]
    return LinearSegmentedColormap.from_list("_".join(["d2l", *names]), stops)


WEIGHTS = covering("query")
SIGNED = covering("key", "query")
# where numbers are written into the cells: text on the strongest cell keeps a contrast of 4.5 in both themes
WEIGHTS_UNDER_TEXT = covering("query", strength=0.5)
SIGNED_UNDER_TEXT = covering("key", "query", strength=0.5)


@cache
def _font_families() -> Sequence[str]:
    """Register the bundled Chinese font: matplotlib's own has no such glyphs, and installed ones differ."""
    with as_file(files("d2lmini") / "assets" / "fonts" / "D2LMiniSansSC-Regular.otf") as path:
        font_manager.fontManager.addfont(path)
    return ["DejaVu Sans", "D2LMini Sans SC"]


def text_style() -> dict[Any, Any]:
    """Return what a figure in any style needs: text that stays text, our fonts, reproducible bytes."""
    return {"font.family": _font_families(), "svg.fonttype": "none", "svg.hashsalt": "d2lmini"}


@contextmanager
def styled() -> Iterator[None]:
    """Use the course's style inside a `with` block only: the reader's own rcParams come back afterwards."""
    style: dict[Any, Any] = {
        **text_style(),
        "font.size": 10,
        "text.color": COLOR["text"],
        "axes.labelcolor": COLOR["text"],
        "axes.titlecolor": COLOR["text"],
        "axes.titlesize": 10,
        "axes.edgecolor": COLOR["muted"],
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": cycler(color=CYCLE),
        "figure.facecolor": COLOR["bg"],
        "grid.color": COLOR["hairline"],
        "grid.linewidth": 0.6,
        "hatch.color": COLOR["muted"],
        "hatch.linewidth": 0.8,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "xtick.color": COLOR["muted"],
        "ytick.color": COLOR["muted"],
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "xtick.major.size": 3,
        "ytick.major.size": 3,
    }
    with mpl.rc_context(style):
        yield
