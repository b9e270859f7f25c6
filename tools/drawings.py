"""Draw the figures of the course: `python -m tools.drawings`, or `--check` that the files are as drawn here.

Each function below yields the parts of a drawing; its docstring has the title and the description that are
read out. Words stand as ``{{English text}}`` and colors under their names in the palette: `d2l.figure` puts
the reader's words and the colors of the page in. A drawing is 680 wide, which a phone shows at half the size:
no letter is smaller than 16.
"""
# ruff: noqa: D415  the docstrings of drawings are titles, without a full stop

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import cos, hypot, sin

from book.chapters import ROOT, store

FOLDER = ROOT / "d2lmini" / "assets" / "figures"
Point = tuple[float, float]


# ---- parts


def element(tag: str, *content: str, **attributes: object) -> str:
    """An element; `stroke_width=2` is written `stroke-width="2"`, an empty attribute is left out."""
    written = "".join(
        f' {name.replace("_", "-")}="{f"{value:.1f}" if isinstance(value, float) and value > 1 else value}"'
        for name, value in attributes.items()
        if value != ""
    )
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def words(x: float, y: float, said: str, color: str = "text", size: int = 20, **attributes: object) -> str:
    placed = {"x": x, "y": y, "fill": color, "font_size": size, "text_anchor": "middle"}
    return element("text", said, **placed | attributes)


def bold(x: float, y: float, said: str, color: str = "text", size: int = 20) -> str:
    return words(x, y, said, color, size, font_weight=600)


def small(said: str, dy: int) -> str:
    return element("tspan", said, dy=dy, font_size=16)


def formula(written: str) -> str:
    """`(n_q, d)` with letters in italics and indices below the line."""

    def part(found: re.Match[str]) -> str:
        below = small(found[2], 4) + element("tspan", found[3], dy=-4) if found[2] else ""
        return element("tspan", found[1], font_style="italic") + below

    return re.sub(r"([a-z])(?:_([a-z])(.))?", part, written)


def indexed(xs: Iterable[float], y: float, letter: str) -> str:
    names = (element("tspan", letter, font_style="italic") + small(str(i), 5) for i, _ in enumerate(xs, 1))
    return "".join(words(x, y, name, size=22) for x, name in zip(xs, names, strict=True))


def line(start: Point, end: Point, color: str, width: float, **attributes: object) -> str:
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    return element("line", **ends, stroke=color, stroke_width=width, **attributes)


def arrowhead(name: str, color: str) -> str:
    size = {"viewBox": "0 0 8 8", "refX": 7, "refY": 4, "markerWidth": 7, "markerHeight": 7, "orient": "auto"}
    return element("marker", element("path", d="M0 0 8 4 0 8z", fill=color), id=name, **size)


def grid(x: int, y: int, opacities: list[list[float]], color: str, side: int, width: float) -> str:
    """A matrix, cell by cell."""
    cells = (
        element("rect", x=x + j * side, y=y + i * side, width=side, height=side, fill_opacity=opacity)
        for i, row in enumerate(opacities)
        for j, opacity in enumerate(row)
    )
    return element("g", *cells, fill=color, stroke=color, stroke_width=width)


def edge(start: Point, end: Point, kind: str, strong: float = 0) -> str:
    """A line from the rim of one node to that of another; `strong` is its width on a path that is shown."""
    (x1, y1), (x2, y2) = start, end
    dx, dy = ((b - a) / hypot(x2 - x1, y2 - y1) for a, b in zip(start, end, strict=True))
    before, after = 11.5, 13 if strong else 11.5
    dashes = {"cnn": ("0.1 4.5", "0.1 6"), "rnn": ("7 4", "9 4"), "attention": ("", "")}[kind]
    cap, opacity = "round" if kind == "cnn" else "", "" if strong else 0.55
    start, end = (x1 + before * dx, y1 + before * dy), (x2 - after * dx, y2 - after * dy)
    style = {"stroke_dasharray": dashes[strong > 0], "stroke_linecap": cap, "stroke_opacity": opacity}
    return line(start, end, kind, strong or 1.3, **style)


def nodes(places: Iterable[Point], kind: str, filled: Iterable[Point]) -> str:
    full = set(filled)
    circles = (element("circle", cx=x, cy=y, r=10, fill=kind if (x, y) in full else "bg") for x, y in places)
    return element("g", *circles, stroke=kind, stroke_width=1.8)


# ---- drawings


def attention_heads() -> Iterator[str]:
    """Multi-head attention: all of the input is projected three times, and the projections are cut into heads

    The whole input X is multiplied by W_q, W_k and W_v, which gives Q, K and V in full width. Each of the
    three is cut into three slices. Head 1 takes the first slice of Q, of K and of V, head 2 the second,
    head 3 the third. Each head attends by itself. Their outputs are joined side by side, and W_o mixes them
    into Y.
    """
    shades = (0.14, 0.38, 0.65)  # of the three heads
    arrow = {"marker_end": "url(#attention-heads-arrow)"}
    rows = (74, 166, 258)
    kinds = ("query", "key", "value")
    yield arrowhead("attention-heads-arrow", "muted")
    yield grid(8, 142, [[0.14] * 6] * 4, "muted", 12, 1) + words(44, 132, "X", size=22, font_style="italic")
    for y, kind, letter in zip(rows, kinds, "QKV", strict=True):
        yield line((84, 166), (136, y), "muted", 1.6, **arrow)
        matrix = element("tspan", "W", font_style="italic") + small(letter.lower(), 4)
        yield words({74: 94, 166: 112, 258: 96}[y], {74: 92, 166: 187, 258: 258}[y], matrix, kind, 18)
        yield words(184, y - 32, letter, kind, 20, font_style="italic")
        for head, shade in enumerate(shades):
            yield grid(142 + 30 * head, y - 24, [[shade] * 2] * 4, kind, 12, 1)
            yield line((230, y), (302, rows[head]), kind, 1.4, stroke_opacity=0.8)
    for head, (y, shade) in enumerate(zip(rows, shades, strict=True)):
        yield element(
            "rect", x=304, y=y - 36, width=84, height=72, rx=6, fill="bg", stroke="muted", stroke_width=1.3
        )
        yield words(346, y - 16, f"{{{{head}}}} {head + 1}", size=16)
        for piece, kind in enumerate(kinds):
            yield grid(316 + 22 * piece, y - 6, [[shade] * 2] * 4, kind, 8, 1)
        yield line((390, y), (404, y), "muted", 1.6, **arrow)
        yield grid(408, y - 24, [[shade] * 2] * 4, "output", 12, 1)
        bend = f"M434 {y}C456 {y} 448 166 466 166"
        yield element("path", d=bend, fill="none", stroke="muted", stroke_width=1.6, **arrow)
    yield grid(472, 142, [[shade for shade in shades for _ in range(2)]] * 4, "output", 12, 1)
    yield line((548, 166), (594, 166), "muted", 1.6, **arrow)
    yield words(570, 152, element("tspan", "W", font_style="italic") + small("o", 4), size=18)
    yield grid(600, 142, [[0.38] * 6] * 4, "output", 12, 1)
    yield words(636, 132, "Y", size=22, font_style="italic")
    for x, step in ((104, "project"), (266, "cut"), (346, "attend"), (508, "join"), (571, "mix")):
        yield words(x, 326, f"{{{{{step}}}}}", "muted", 18)


def attention_plane() -> Iterator[str]:
    """The five tokens as arrows of length 1 in the plane, and the output for cats

    Cats points along the axis animal, dogs lies 16 degrees above it, drink 74 degrees, milk at a right angle
    on the axis drinking; and points down to the left. A dashed fence joins the tips. Inside it lies the
    output for cats, at (0.642, 0.312).
    """
    x0, y0, unit = 310, 212, 150

    def at(x: float, y: float) -> Point:
        return x0 + unit * x, y0 - unit * y

    tips = {
        "cats": ((1, 0), (10, 24), "start"),
        "dogs": ((0.96, 0.28), (10, 0), "start"),
        "drink": ((0.28, 0.96), (10, -2), "start"),
        "milk": ((0, 1), (-10, -2), "end"),
        "and": ((-0.6, -0.8), (-10, 6), "end"),
    }
    yield arrowhead("attention-plane-arrow", "text")
    fence = " ".join("{:.1f},{:.1f}".format(*at(*tip)) for tip, _, _ in tips.values())
    dashes = {"stroke": "output", "stroke_width": 1.2, "stroke_dasharray": "4 4"}
    yield element("polygon", points=fence, fill="output", fill_opacity=0.08, **dashes)
    yield line(at(-1.1, 0), at(1.42, 0), "muted", 1) + line(at(0, -0.9), at(0, 1.28), "muted", 1)
    yield words(at(1.45, 0)[0], y0 + 6, "{{animal}}", "muted", 18, text_anchor="start")
    yield words(x0 + 10, at(0, 1.22)[1], "{{drinking}}", "muted", 18, text_anchor="start")
    for name, (tip, (dx, dy), anchor) in tips.items():
        (x, y), marker = at(*tip), {"marker_end": "url(#attention-plane-arrow)"}
        yield line((x0, y0), (x, y), "text", 2, **marker)
        yield words(x + dx, y + dy, f"{{{{{name}}}}}", text_anchor=anchor)
    x, y = at(0.642, 0.312)
    yield element("circle", cx=x, cy=y, r=6, fill="output")
    yield line((x + 4, y - 6), (x + 26, y - 50), "output", 1.2)
    yield words(x + 24, y - 56, "{{output for cats}}", "output", 18, text_anchor="start", font_weight=600)


def attention_qkv() -> Iterator[str]:
    """Attention as matrix products: queries times keys give weights, weights times values give the output

    Each of two queries is compared with five keys. Softmax turns the scores into two rows of five weights.
    The weights average five values into two outputs.
    """
    weights = [[0.77, 0.09, 0.63, 0.14, 0.07], [0.07, 0.05, 0.18, 0.63, 0.77]]
    yield arrowhead("attention-qkv-arrow", "muted")
    for x, cells, color, symbol, shape in (
        (42, [[0.18] * 2] * 2, "query", "Q", "(n_q, d_k)"),
        (155, [[0.18] * 5] * 2, "key", "K" + small("⊤", -6), "(d_k, n_k)"),
        (363, weights, "query", "", "(n_q, n_k)"),
        (482, [[0.18] * 2] * 5, "value", "V", "(n_k, d_v)"),
        (602, [[0.18] * 2] * 2, "output", "", "(n_q, d_v)"),
    ):
        yield grid(x - 11 * len(cells[0]), 98 - 11 * len(cells), cells, color, 22, 1.2)
        yield words(x, 186, symbol, color, 22, font_style="italic") if symbol else ""
        yield words(x, 213, formula(shape), "muted")
    yield bold(42, 30, "{{queries}}", "query", 19) + bold(155, 30, "{{keys}}", "key", 19)
    yield bold(358, 30, "{{attention weights}}", "text", 19) + bold(490, 30, "{{values}}", "value", 19)
    yield bold(602, 30, "{{output}}", "output", 19)
    yield words(84, 104, "·", size=24) + words(438, 104, "·", size=24) + words(536, 104, "=")
    yield line((222, 98), (300, 98), "muted", 1.6, marker_end="url(#attention-qkv-arrow)")
    yield words(260, 88, "softmax", "muted", 18)


def course_map() -> Iterator[str]:
    """Map of the course: ten chapters, and what each of them needs

    Chapters 1 and 2 come first. From there one way leads to chapters 3, 4 and 5, about cost, another to 6 and
    7, about order; either may come first. Chapters 8, 9 and 10 build and try the Transformer: they need
    chapter 6.
    """
    left, *columns = (85, 255, 425, 595)
    first, cost, start, order, machine = 42, 42, 160, 278, 402
    stations = (
        (left, first, "self-attention", "attention", "{{Self-attention}}"),
        (left, start, "multi-head-attention", "attention", "{{Masks and heads}}"),
        (columns[0], cost, "complexity", "cnn", "{{Cost on paper}}"),
        (columns[1], cost, "cost-in-practice", "cnn", "{{Cost in practice}}"),
        (columns[2], cost, "long-sequences", "cnn", "{{Long sequences}}"),
        (columns[0], order, "positional-encoding", "position", "{{Positional encoding}}"),
        (columns[1], order, "relative-positions", "position", "{{Relative positions}}"),
        (columns[0], machine, "transformer", "output", "{{Transformer}}"),
        (columns[1], machine, "translation", "output", "{{Translation}}"),
        (columns[2], machine, "what-it-learned", "output", "{{What it learned}}"),
    )
    radius = 25
    gap = radius + 5
    for before, after in ((1, 2), (2, 3), (3, 4), (4, 5), (2, 6), (6, 7), (6, 8), (8, 9), (9, 10)):
        (x1, y1, *_), (x2, y2, *_) = stations[before - 1], stations[after - 1]
        if x1 == x2:  # from below the name of the upper station
            way = f"M{x1} {y1 + 62}V{y2 - gap}"
        else:
            middle = (x1 + x2) // 2
            way = f"M{x1 + gap} {y1}C{middle + 8} {y1} {middle - 2} {y2} {x2 - gap} {y2}"
        yield element("path", d=way, fill="none", stroke="muted", stroke_width=2)
    for number, (x, y, page, color, name) in enumerate(stations, 1):
        ring = {"stroke": color, "stroke_width": 2.2, "fill": color, "fill_opacity": 0.16}
        station = element("circle", cx=x, cy=y, r=radius, **ring)
        station += bold(x, y + 7, str(number), color) + words(x, y + 50, name, size=17)
        yield element("a", station, href=f"{page}.html", target="_top")


def dilated_convolution() -> Iterator[str]:
    """Two layers of a dilated causal convolution join nine tokens

    In the first layer each output takes the last three inputs, in the second layer every third of the last
    nine. The thick lines show how the last output sees all nine inputs after two layers.
    """
    xs = range(60, 621, 70)
    seen = {226: range(9), 134: (2, 5, 8), 42: (8,)}  # what the last output depends on, layer by layer
    for low, high, step in ((226, 134, 1), (134, 42, 3)):
        for i, x in enumerate(xs):
            for before in range(i, max(-1, i - 3 * step), -step):
                yield edge((xs[before], low), (x, high), "cnn", 4 if i in seen[high] else 0)
    yield nodes([(x, y) for y in seen for x in xs], "cnn", [(xs[i], y) for y in seen for i in seen[y]])
    yield indexed(xs, 259, "x") + indexed(xs, 22, "y")
    yield words(340, 291, "{{first layer: dilation 1; second layer: dilation 3}}", "muted", 19)


def positional_clocks() -> Iterator[str]:
    """Four pairs of columns drawn as clock hands, at positions 3 and 5

    Each clock shows one pair of columns for d = 32. From position 3, dashed, to position 5, solid, every hand
    turns clockwise by its own angle: 115 degrees in columns 0 and 1, then 36, 11 and 4 degrees.
    """
    styles = {3: (2.2, {"stroke_dasharray": "5 4"}), 5: (3.2, {"stroke_linecap": "round"})}
    y = 92
    for x, column in zip((88, 256, 424, 592), (0, 4, 8, 12), strict=True):
        angles = [position * 10000 ** (-column / 32) for position in styles]
        (x3, y3), (x5, y5) = ((x + 40 * sin(angle), y - 40 * cos(angle)) for angle in angles)
        yield element("circle", cx=x, cy=y, r=62, fill="none", stroke="muted", stroke_width=1.3)
        yield line((x, 30), (x, 37), "muted", 1.3)
        sector = f"M{x} {y}L{x3:.1f} {y3:.1f}A40 40 0 0 1 {x5:.1f} {y5:.1f}Z"
        yield element("path", d=sector, fill="position", fill_opacity=0.25)
        for angle, (width, style) in zip(angles, styles.values(), strict=True):
            yield line((x, y), (x + 58 * sin(angle), y - 58 * cos(angle)), "position", width, **style)
        yield element("circle", cx=x, cy=y, r=3.5, fill="position")
        yield words(x, 184, f"{{{{columns {column} and {column + 1}}}}}", size=18)
    for x, (position, (width, style)) in zip((150, 370), styles.items(), strict=True):
        yield line((x, 216), (x + 40, 216), "position", width, **style)
        yield words(x + 50, 222, f"{{{{position {position}}}}}", size=18, text_anchor="start")


def positional_reading() -> Iterator[str]:
    """Three words read by a recurrent network and by self-attention

    On the left a recurrent network reads the words one after the other in steps 1, 2 and 3; each step is
    joined to the next. On the right all three outputs are computed in step 1, and each is joined to all three
    words. Nothing tells them which word came first.
    """

    def arrow(start: Point, end: Point, kind: str, width: float, **style: object) -> str:
        return line(start, end, kind, width, marker_end=f"url(#positional-reading-{kind})", **style)

    read = ("{{I}}", "{{am}}", "{{good}}")
    for kind, middle, name, steps in (
        ("rnn", 165, "{{recurrent}}", "{{three steps}}"),
        ("attention", 515, "{{self-attention}}", "{{one step}}"),
    ):
        xs = middle - 103, middle, middle + 103
        yield arrowhead(f"positional-reading-{kind}", kind)
        yield bold(middle, 34, name, kind) + words(middle, 62, steps, "muted", 18)
        for i, (x, word) in enumerate(zip(xs, read, strict=True)):
            yield bold(x, 222, word)
            if kind == "rnn":
                yield arrow((x, 200), (x, 152), kind, 2, stroke_dasharray="6 4")
                yield arrow((x - 76, 122), (x - 30, 122), kind, 2, stroke_dasharray="6 4") if i else ""
            else:
                long = [(hypot(to - x, 78), to) for to in xs]
                for h, to in long:
                    yield arrow((x, 200), (to - 30 * (to - x) / h, 122 + 30 * 78 / h), kind, 1.7)
        for i, x in enumerate(xs):
            rim = {"fill": kind, "fill_opacity": 0.12, "stroke": kind, "stroke_width": 1.8}
            yield element("circle", cx=x, cy=122, r=25, **rim)
            yield bold(x, 129, str(i + 1 if kind == "rnn" else 1), kind)
    yield line((340, 20), (340, 230), "line", 1.2)


def prefill_and_decoding() -> Iterator[str]:
    """A prompt of four tokens is read in one step, then three more are written, one a step

    Each row is a token that asks, each column a token that is asked. In prefill four rows are computed at
    once, a triangle, with the keys and values of all four tokens. In decoding each step is one row: five,
    six, then seven keys, of which only the last is computed and all the others come from the cache.
    """
    x, side, made, kept = 250, 28, 0.6, 0.13
    for row in range(7):
        y = 46 + side * row + 12 * max(0, row - 3)
        yield grid(
            x, y, [[made if row < 4 or column == row else kept for column in range(row + 1)]], "key", side, 1
        )
        if row >= 4:
            yield line((x - 32, y + 14), (x - 8, y + 14), "muted", 1.6, marker_end="url(#prefill-arrow)")
    yield arrowhead("prefill-arrow", "muted")
    yield element(
        "path", d=f"M{x - 12} 48H{x - 20}V156H{x - 12}", fill="none", stroke="muted", stroke_width=1.6
    )
    yield bold(x + 98, 28, "{{keys and values}}", "key")
    yield bold(120, 98, "{{prefill}}") + words(120, 122, "{{one step}}", "muted", 18)
    yield bold(120, 218, "{{decoding}}") + words(120, 242, "{{one step a row}}", "muted", 18)
    for y, said, shade in ((76, "{{computed now}}", made), (112, "{{from the cache}}", kept)):
        yield grid(496, y - 15, [[shade]], "key", 20, 1) + words(526, y, said, size=18, text_anchor="start")


def three_architectures() -> Iterator[str]:
    """Three ways from five inputs to five outputs: convolution, recurrent, self-attention

    A thick line marks the shortest path from the first input to the last output. In a stack of convolutions
    with kernel size 3 it climbs through four layers: 4 edges. A ring marks the middle of the second layer,
    where the first and the last input meet. In a recurrent layer it enters at the first step and walks to the
    fifth: 5 edges. In self-attention it is 1 edge.
    """
    five = range(5)
    for x0, kind, name, length in (
        (34, "cnn", "{{convolution}}", "{{4 edges}}"),
        (258, "rnn", "{{recurrent}}", "{{5 edges}}"),
        (482, "attention", "{{self-attention}}", "{{1 edge}}"),
    ):
        xs = [x0 + 40 * i for i in five]
        ys = [300, 248, 196, 144, 92] if kind == "cnn" else [300, 196]
        path: list[Point]
        yield bold(x0 + 80, 26, name, kind, 21)
        if kind == "cnn":
            path = [(xs[i], ys[i]) for i in five]
            meeting = [((xs[4], ys[0]), (xs[3], ys[1])), ((xs[3], ys[1]), (xs[2], ys[2]))]
            thick = dict.fromkeys(pairwise(path), 4.0) | dict.fromkeys(meeting, 2.6)
            for low, high in pairwise(ys):
                for ends in (((xs[i], low), (xs[j], high)) for i in five for j in five if abs(i - j) < 2):
                    yield edge(*ends, kind, thick.get(ends, 0))
        elif kind == "rnn":
            path = [(xs[0], 300), *((x, 196) for x in xs)]
            for i, x in enumerate(xs):
                yield edge((x, 300), (x, 196), kind, 0 if i else 4)
                yield edge((xs[i - 1], 196), (x, 196), kind, 4) if i else ""
        else:
            path = [(xs[0], 300), (xs[-1], 196)]
            for x in xs:
                for to in xs:
                    yield edge((x, 300), (to, 196), kind)
            yield edge(path[0], path[1], kind, 4)
        yield nodes([(x, y) for y in ys for x in xs], kind, path)
        if kind == "cnn":
            yield element("circle", cx=xs[2], cy=ys[2], r=15, fill="none", stroke=kind, stroke_width=1.6)
        yield indexed(xs, 332, "x") + indexed(xs, ys[-1] - 22, "y") + bold(x0 + 80, 370, length, kind)


def transformer_architecture() -> Iterator[str]:
    """The Transformer: an encoder on the left, a decoder on the right, each a stack of blocks

    Read from below. Left, the encoder: source tokens become embeddings, the position is added, then comes a
    block, N times over: self-attention, add and norm, feed-forward, add and norm. Right, the decoder: the
    target so far becomes embeddings with positions, then a block, N times over: causal self-attention, add
    and norm, cross-attention with keys and values from the encoder, add and norm, feed-forward, add and norm.
    A dense layer and a softmax give the next token. Shortcuts lead around each part to its add and norm. Each
    part is a link to the section that builds it.
    """
    sections = ("feed-forward", "add-norm", "encoder", "decoder", "machine")
    width, height, left, right = 208, 36, 186, 494
    tip = "url(#transformer-architecture-arrow)"
    bent = {"fill": "none", "stroke_width": 1.6, "marker_end": tip}

    def part(x: int, y: int, said: str, section: int, color: str) -> str:
        rim = {"fill": color, "fill_opacity": 0.12, "stroke": color, "stroke_width": 1.6}
        drawn = element("rect", x=x - width // 2, y=y, width=width, height=height, rx=7, **rim)
        badge = x + width // 2 if x == left else x - width // 2  # on the inner side
        drawn += element("circle", cx=badge, cy=y + 18, r=12, fill="bg", stroke=color, stroke_width=1.3)
        drawn += bold(badge, y + 24, str(section), color, 16) + words(x, y + 24, said, size=17)
        return element("a", drawn, href=f"#{sections[section - 1]}")

    def rise(x: int, below: int, above: int, color: str = "muted") -> str:
        return line((x, below), (x, above + 2), color, 1.6, marker_end=tip)

    yield arrowhead("transformer-architecture-arrow", "muted")
    frame = {"fill": "muted", "fill_opacity": 0.05, "stroke": "muted", "stroke_dasharray": "5 5", "rx": 12}
    yield element("rect", x=left - 146, y=314, width=280, height=266, **frame)
    yield element("rect", x=right - 134, y=182, width=280, height=398, **frame)
    yield words(left + 112, 572, "× N", "muted", 18) + words(right - 112, 572, "× N", "muted", 18)
    yield bold(left - 74, 304, "{{encoder}}") + bold(right - 74, 172, "{{decoder}}")
    attentions = {left: ["{{self-attention}}"], right: ["{{causal self-attention}}", "{{cross-attention}}"]}
    for x, said in ((left, "{{source}}"), (right, "{{target so far}}")):
        yield words(x, 722, said, size=18) + rise(x, 704, 684)
        root = element("tspan", "d", font_style="italic")
        yield part(x, 648, f"{{{{embedding}}}} · √{root}", 3, "text") + rise(x, 648, 628)
        yield part(x, 592, "+ {{position}}", 3, "position")
        below, side = 592, -1 if x == left else 1
        for name in (*attentions[x], "{{feed-forward}}"):
            y = 522 if below == 592 else below - 76
            yield rise(x, below, y + height)
            way = f"M{x} {y + 50}H{x + side * 126}V{y - 38}H{x + side * 106}"
            yield element("path", d=way, stroke="muted", **bent)
            feed_forward = name == "{{feed-forward}}"
            section = 1 if feed_forward else 3 if x == left else 4
            yield part(x, y, name, section, "output" if feed_forward else "attention")
            below = y - 56
            yield rise(x, y, below + height) + part(x, below, "{{add and norm}}", 2, "muted")
    way = f"M{left} 334V290H340V408H{right - width // 2 - 15}"
    yield element("path", d=way, stroke="key", **bent)
    yield words(left + 88, 280, "{{keys, values}}", "key", 17)
    yield words(right + 10, 460, "{{queries}}", "query", 17, text_anchor="start")
    yield rise(right, 202, 142) + part(right, 106, "{{dense layer}}", 5, "text")
    yield rise(right, 106, 86) + part(right, 50, "softmax", 5, "text")
    yield rise(right, 50, 30) + words(right, 22, "{{next token}}", size=18)


def transformer_beside_recurrent() -> Iterator[str]:
    """From three source tokens to three target tokens: a recurrent model and a Transformer

    On the left the recurrent encoder reads token after token and hands one vector to the decoder, which
    writes token after token: from the first source token to the last target token it is 6 edges. On the
    right, in the Transformer, all source tokens meet in one step, each target token asks all of them and the
    target tokens before it: 2 edges.
    """
    source, read, write, target = 282, 222, 122, 58
    for middle, kind, name, length in (
        (165, "rnn", "{{recurrent}}", "{{6 edges}}"),
        (515, "attention", "Transformer", "{{2 edges}}"),
    ):
        xs = [middle - 100, middle, middle + 100]
        yield bold(middle, 26, name, kind, 21)
        path = [(xs[0], source)]
        if kind == "rnn":
            path += [*((x, read) for x in xs), *((x, write) for x in xs)]
            for x in xs[1:]:
                yield edge((x, source), (x, read), kind)
            yield words(middle + 12, 160, "{{one vector}}", kind, 18, text_anchor="start")
        else:
            path += [(xs[0], read), (xs[2], write)]
            for x in xs:
                for to in xs:
                    yield "" if x == to == xs[0] else edge((x, source), (to, read), kind)
                    yield "" if (x, to) == (xs[0], xs[2]) else edge((x, read), (to, write), kind)
            for start, end in ((0, 1), (1, 2), (0, 2)):
                a, b, lift = xs[start], xs[end], write - 22 * (end - start) - 22
                way = f"M{a} {write - 12}Q{(a + b) // 2} {lift} {b - 4} {write - 12}"
                yield element("path", d=way, fill="none", stroke=kind, stroke_width=1.3, stroke_opacity=0.55)
        yield "".join(edge(*ends, kind, 4) for ends in pairwise(path))
        yield nodes([(x, y) for y in (source, read, write) for x in xs], kind, path)
        yield indexed(xs, source + 38, "x") + indexed(xs, target + 8, "y") + bold(middle, 356, length, kind)
    for y, said in ((read + 6, "{{encoder}}"), (write + 6, "{{decoder}}")):
        yield words(340, y, said, "muted", 17)


# ---- files

DRAWINGS: dict[str, tuple[Callable[[], Iterator[str]], int]] = {  # name → what draws it, and its height
    draw.__name__.replace("_", "-"): (draw, height)
    for draw, height in (
        (attention_heads, 340),
        (attention_plane, 356),
        (attention_qkv, 226),
        (course_map, 464),
        (dilated_convolution, 302),
        (positional_clocks, 236),
        (positional_reading, 240),
        (prefill_and_decoding, 292),
        (three_architectures, 380),
        (transformer_architecture, 740),
        (transformer_beside_recurrent, 368),
    )
}


def svg(name: str) -> str:
    """What the file of a drawing holds."""
    draw, height = DRAWINGS[name]
    title, _, description = (inspect.getdoc(draw) or "").partition("\n\n")
    said = [("title", title), ("desc", description)]
    parts = [element(tag, f"{{{{{' '.join(text.split())}}}}}") for tag, text in said]
    root = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 680 {height}", "role": "img"}
    lines = "\n".join(filter(None, [*parts, *draw()]))
    return element("svg", f"\n{lines}\n", **root, font_family="inherit") + "\n"


def main(arguments: list[str]) -> None:
    """Write the drawings; with `--check`, name those whose files are not as drawn and fail."""
    drawn = {FOLDER / f"{name}.svg": svg(name) for name in DRAWINGS}
    if arguments == ["--check"]:
        stored = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
        if wrong := sorted({path.name for path, _ in drawn.items() ^ stored.items()}):
            raise SystemExit(
                f"not as tools/drawings.py draws them: {', '.join(wrong)}; run `-m tools.drawings`"
            )
        return
    for path, text in drawn.items():
        store(path, text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
