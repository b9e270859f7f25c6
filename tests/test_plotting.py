"""Plots: what they draw, in which language, and that the same call gives the same bytes."""

import io
import re
import warnings
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbclient
import nbformat
import numpy as np
import pytest
import torch

import d2lmini as d2l
from d2lmini.notebook import plotting, svg, theme
from d2lmini.notebook.palette import COLORS

SVG = "{http://www.w3.org/2000/svg}"
LANGUAGES = ("en", "vi", "zh")


@pytest.fixture(autouse=True)
def _clean():
    d2l.use_language("en")
    plt.close("all")  # what other tests of this process may have left open
    yield
    d2l.use_language("en")
    plt.close("all")


@pytest.fixture
def shown(monkeypatch):
    """Collect (svg, title) of every plot that a notebook would show."""
    outputs = []

    def show(figure, title, description):
        outputs.append((plotting.as_svg(figure, title, description), title))
        plt.close(figure)

    monkeypatch.setattr(plotting, "show", show)
    return outputs


def words(svg):
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("X", "Y", "lines"),
    [
        ([1, 2, 3], None, 1),
        ([1, 2, 3], [4, 5, 6], 1),
        ([1, 2, 3], [[4, 5, 6], [7, 8, 9]], 2),
        ([[1, 2], [3, 4]], [[5, 6], [7, 8]], 2),
        (torch.arange(3), [torch.ones(3, requires_grad=True), torch.zeros(3, dtype=torch.bfloat16)], 2),
        (np.arange(3), np.ones((3, 3)), 3),
    ],
)
def test_x_and_y_in_every_form_that_d2l_takes(X, Y, lines):
    d2l.plot(X, Y)
    drawn = plt.gca().lines
    assert len(drawn) == lines
    assert all(len(line.get_xdata()) == len(line.get_ydata()) for line in drawn)


def test_y_alone_is_drawn_over_0_1_2():
    d2l.plot([5, 6, 7])
    assert plt.gca().lines[0].get_xdata().tolist() == [0, 1, 2]


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match=r"legend: got 1 names for 2 lines"):
        d2l.plot([1, 2], [[1, 2], [3, 4]], legend=["a"])
    with pytest.raises(ValueError, match=r"Y: line 0 has 3 values for 2 values of x"):
        d2l.plot([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"X: got 2 lines of x for 3 lines of y"):
        d2l.plot([[1], [2]], [[1], [2], [3]])
    with pytest.raises(ValueError, match=r"matrices: got shape \(3, 3\)"):
        d2l.show_heatmaps(torch.eye(3), "keys", "queries")
    with pytest.raises(ValueError, match=r"xticklabels: got 2 .* give 3"):
        d2l.show_heatmaps(torch.eye(3)[None, None], "keys", "queries", xticklabels=["a", "b"])


@pytest.mark.parametrize("labels", [range(5, 8), [5, 6, 7], np.arange(5, 8), torch.arange(5, 8), iter("567")])
def test_labels_of_a_heatmap_may_be_numbers(shown, labels):
    d2l.show_heatmaps(torch.eye(3)[None, None], "keys", "queries", xticklabels=labels)
    assert {"5", "6", "7"} <= set(words(shown[0][0]))
    d2l.show_heatmaps(torch.eye(3)[None, None], "keys", "queries", yticklabels=range(5, 8))
    assert {"5", "6", "7"} <= set(words(shown[1][0]))
    with pytest.raises(ValueError, match=r"yticklabels: got 0 .* give 3"):
        d2l.show_heatmaps(torch.eye(3)[None, None], "keys", "queries", yticklabels=[])


def test_a_name_has_its_color_in_every_plot():
    d2l.plot([0, 1], [[0, 1], [0, 2], [0, 3]], legend=["my own", "RNN", "queries"])
    mine, rnn, queries = plt.gca().lines
    assert (rnn.get_color(), rnn.get_linestyle()) == ("#a1286a", "--")
    assert queries.get_color() == "#0067a5"
    assert len({line.get_color() for line in (mine, rnn, queries)}) == 3


def test_line_ends_are_named_where_there_is_room_and_a_legend_is_drawn_where_not(shown):
    d2l.plot([0, 1], [[0, 0], [0, 1]], legend=["low", "high"], figsize=(4, 3))
    assert {"low", "high"} <= set(words(shown[0][0]))
    d2l.plot([0, 1], [[0, 1]] * 5, legend=list("abcde"), figsize=(3, 2))
    d2l.plot([0, 1], [[0, 1]] * 5, legend=list("abcde"), figsize=(3, 2), axes=plt.subplots()[1])
    assert plt.gca().get_legend() is not None
    _, axes = plt.subplots(figsize=(3, 2))
    axes.plot([0, 1], np.ones((2, 5)))
    assert not plotting._name_line_ends(axes, list("abcde"))
    d2l.use_language("vi")
    d2l.plot([0, 1], [[0, 1]] * 5, legend=["queries", *"bcde"], figsize=(3, 2))
    assert d2l.text("queries") in words(shown[-1][0]) and "queries" not in words(shown[-1][0])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_label_is_in_the_readers_language_without_a_missing_glyph(language, shown):
    d2l.use_language(language)
    tokens = d2l.text("cats and dogs drink milk").split()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d2l.plot([1, 2], [[1, 2], [2, 1]], "training step", "loss", legend=["queries", "keys"])
        d2l.show_heatmaps(
            torch.eye(5)[None, None], "keys", "queries", xticklabels=tokens, yticklabels=tokens, annotate=True
        )
    (lines, line_title), (heat, heat_title) = shown
    assert {d2l.text(name) for name in ("training step", "loss", "queries", "keys")} <= set(words(lines))
    assert {*tokens, d2l.text("keys"), d2l.text("queries"), "1.00"} <= set(words(heat))
    assert d2l.text("loss") in line_title and d2l.text("queries") in heat_title


def test_rows_without_a_name_of_their_axis_are_told_by_their_own(shown):
    d2l.show_heatmaps(torch.eye(2)[None, None], "head", "", yticklabels=["looks back", "finds"])
    assert shown[0][1] == "Heatmap; rows: looks back, finds; columns: head"


def test_the_svg_is_made_for_a_page(shown):
    before = dict(mpl.rcParams)
    for _ in range(2):
        d2l.plot([1, 2], [[1, 2], [2, 1]], "training step", "<loss> & more", legend=["queries", "a"])
    assert shown[0] == shown[1]
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []
    svg = shown[0][0]
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert (
        root.find(f"{SVG}title").text
        == shown[0][1]
        == "Line plot of <loss> & more over training step: queries, a"
    )
    assert root.find(f"{SVG}desc").text == "queries: from 1 to 2; a: from 2 to 1"
    assert "var(--d2l-query,#0067a5)" in svg and "var(--d2l-text,#1c2126)" in svg
    for noise in ("<style", "<metadata", "DejaVu", "<!DOCTYPE", 'id="figure', "font-family:"):
        assert noise not in svg


def cells(svg):
    """Return (color, opacity) of the cells of the first heatmap that are to be seen."""
    mesh = ElementTree.fromstring(svg).find(f"{SVG}g[@shape-rendering='crispEdges']")
    return [(group.get("fill"), float(cell.get("fill-opacity", 1))) for group in mesh for cell in group]


def test_weights_run_from_the_background_to_blue_and_signed_values_around_0(shown):
    d2l.show_heatmaps(torch.tensor([[[[0.0, 0.5, 1.0]]]]), "keys", "queries")
    assert cells(shown[0][0]) == [("var(--d2l-query,#0067a5)", opacity) for opacity in (0.5, 1)]
    d2l.show_heatmaps(torch.tensor([[[[-1.0, 0.0, 0.5]]]]), "keys", "queries")
    assert dict(cells(shown[1][0])) == {
        "var(--d2l-query,#0067a5)": pytest.approx(0.5, abs=0.011),
        "var(--d2l-key,#b84a00)": 1,
    }
    assert theme.SIGNED(0.5)[3] == pytest.approx(0, abs=0.01)
    assert theme.SIGNED(0.0) == (*mpl.colors.to_rgb("#b84a00"), 1.0)
    assert theme.WEIGHTS(0.0)[3] == 0 and theme.WEIGHTS(1.0)[3] == 1


def test_all_panels_share_one_scale():
    d2l.show_heatmaps(torch.stack([torch.eye(2), torch.eye(2) * 4]).reshape(1, 2, 2, 2), "keys", "queries")
    limits = {axes.collections[0].get_clim() for axes in plt.gcf().axes[:2]}
    assert limits == {(0, 4)}


def test_row_0_is_on_top_in_every_panel():
    d2l.show_heatmaps(torch.rand(2, 2, 3, 4), "keys", "queries")
    assert {axes.get_ylim() for axes in plt.gcf().axes[:4]} == {(2.5, -0.5)}


def test_masked_scores_are_hatched(shown):
    scores = torch.tensor([[1.0, -torch.inf], [0.5, 2.0]])
    d2l.show_heatmaps(scores[None, None], "keys", "queries", annotate=True)
    assert "<pattern" in shown[0][0]
    assert {"1.00", "0.50", "2.00"} <= set(words(shown[0][0]))


def contrast(one, other):
    """Return the contrast of two colors as the guidelines for accessible pages (WCAG 2.2) define it."""

    def luminance(color):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(color)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


THEMES = [{name: pair[dark] for name, pair in COLORS.items()} for dark in (0, 1)]
MEANINGS = ("query", "key", "value", "output", "position", "cnn", "rnn", "attention")


@pytest.mark.parametrize("colors", THEMES, ids=["light", "dark"])
def test_what_is_written_is_legible_and_what_is_pressed_has_an_edge(colors):
    for ground in ("bg", "surface"):
        for ink in ("text", "muted", "accent", "good", "bad", *MEANINGS):
            assert contrast(colors[ink], colors[ground]) >= 4.5, (ink, ground)
    assert contrast(colors["text"], colors["tint"]) >= 4.5
    assert contrast(colors["line"], colors["bg"]) >= 3


def test_the_palette_has_every_color_that_a_line_of_a_plot_may_have():
    assert {name for name, _ in theme.MEANING.values()} <= set(MEANINGS)
    assert set(theme.CYCLE) <= {THEMES[0][name] for name in MEANINGS}


@pytest.mark.parametrize("colors", THEMES, ids=["light", "dark"])
@pytest.mark.parametrize("name", ["query", "key"])
def test_numbers_in_cells_are_legible_in_both_themes(colors, name, shown):
    d2l.show_heatmaps(torch.tensor([[[[-1.0, 1.0]]]]), "keys", "queries", annotate=True)
    strongest = dict(cells(shown[0][0]))[f"var(--d2l-{name},{THEMES[0][name]})"]
    page, ink = mpl.colors.to_rgb(colors["bg"]), mpl.colors.to_rgb(colors[name])
    cell = [p * (1 - strongest) + i * strongest for p, i in zip(page, ink, strict=True)]
    assert contrast(cell, colors["text"]) >= 4.5


def test_a_large_matrix_is_stored_as_pixels(shown):
    d2l.show_heatmaps(torch.rand(1, 1, 64, 64), "keys", "queries")
    assert "<image" in shown[0][0] and len(shown[0][0]) < 60_000


def test_a_readers_own_colormap_is_taken(shown):
    d2l.show_heatmaps(torch.eye(2)[None, None], "keys", "queries", cmap="Reds", annotate=True)
    assert "#67000d" in shown[0][0]


@pytest.mark.parametrize("low", [0.0005, 0.003])
def test_numbers_and_colors_in_text_are_the_readers(low, shown):
    """A number with four decimals, or a color, is geometry in an attribute and text in a label."""
    names = [f"lr={low}", 'color #0067a5 at url(#a) id="x" & 1.23456 < 2']
    d2l.plot([1, 2, 3], [[low, 2 * low, 4 * low], [0, 0, 0]], "step 0.0625", "loss", legend=names)
    axes = plt.figure().add_subplot()
    axes.plot([1, 2, 3], [[low, 0], [2 * low, 0], [4 * low, 0]])
    axes.figure.canvas.draw()
    ticks = {tick.get_text() for tick in axes.get_yticklabels()[1:-1]}
    assert {*names, "step 0.0625", *ticks} <= set(words(shown[0][0])) and any(
        re.search(r"\.\d{3}", tick) for tick in ticks
    )
    root = ElementTree.fromstring(shown[0][0])
    assert all(name in root.find(f"{SVG}title").text for name in names)
    d2l.show_heatmaps(torch.eye(2)[None, None], "keys", "queries", titles=["temperature 0.125"])
    assert "temperature 0.125" in words(shown[1][0])


def test_coordinates_have_two_decimals_and_stay_where_they_are():
    """Half a hundredth of a point is the most that a plot may lose."""

    def coordinates(svg):
        return [
            [float(number) for number in re.findall(r"-?[\d.]+", element.get("d"))]
            for element in ElementTree.fromstring(svg).iter(f"{SVG}path")
        ]

    figure, axes = plt.subplots(figsize=(2, 2))
    axes.plot([0, 1 / 3, 1], [0, 2 / 3, 1])
    written = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(written, format="svg")
    small = svg.from_matplotlib(written.getvalue(), "line", "")
    before, after = coordinates(written.getvalue()), coordinates(small)
    assert [len(path) for path in before] == [len(path) for path in after]
    distances = np.abs(np.concatenate(before) - np.concatenate(after))
    assert 0.001 < distances.max() <= 0.00501
    assert not re.search(r"\d\.\d{3}", re.sub(r"<title.*?</desc>", "", small))


def test_a_power_of_ten_reads_as_one_number(shown):
    d2l.plot([1, 2], [1, 1000], "$x^2$", yscale="log")
    assert {"103", "x2"} <= set(words(shown[0][0]))  # the exponent is raised


def test_a_column_of_numbers_is_a_line():
    d2l.plot(torch.arange(4), [torch.ones(4, 1), torch.zeros(4)], legend=["column", "row"])
    assert [line.get_ydata().tolist() for line in plt.gca().lines] == [[1] * 4, [0] * 4]


@pytest.mark.parametrize(
    "bad", [3, None, "loss", torch.ones(2, 2, 2), torch.tensor(1.0), [[1, "a"]]], ids=repr
)
def test_what_is_no_line_is_refused_by_the_name_of_its_argument(bad):
    with pytest.raises(ValueError, match=r"^X: got .*; give "):
        d2l.plot(bad)
    if bad is not None:
        with pytest.raises(ValueError, match=r"^Y: got .*; give "):
            d2l.plot([1, 2], bad)
    assert plt.get_fignums() == []


def test_a_list_of_losses_with_gradients_and_a_gap_is_a_line():
    d2l.plot([torch.tensor(2.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)])
    assert plt.gca().lines[0].get_ydata().tolist() == [2, 1]
    d2l.plot([1, None, 3])
    assert np.isnan(plt.gca().lines[0].get_ydata()).tolist() == [False, True, False]


def test_animator_grows_and_refuses_another_number_of_lines():
    animator = d2l.Animator("epoch", "loss", legend=["training", "validation"])
    animator.add(1, (0.5, None))
    animator.add(2, (0.4, 0.6))
    assert animator.X == [[1, 2], [2]] and animator.Y == [[0.5, 0.4], [0.6]]
    assert len(animator.axes[0].lines) == 2
    with pytest.raises(ValueError, match="this plot has 2 lines"):
        animator.add(3, 0.1)


def test_animator_takes_single_values_of_every_kind_and_keeps_its_limits():
    animator = d2l.Animator("epoch", "loss", xlim=[1, 10], ylim=[0.5, 2], yscale="log")
    animator.add(torch.tensor(1), torch.tensor(0.75, requires_grad=True))
    animator.add(np.array(2), np.float32(1.5))
    assert (animator.X, animator.Y) == ([[1, 2]], [[0.75, 1.5]])
    axes = animator.axes[0]
    assert (axes.get_xlim(), axes.get_ylim(), axes.get_yscale()) == ((1, 10), (0.5, 2), "log")


def test_animator_refuses_a_bad_point_before_it_takes_any_of_it():
    animator = d2l.Animator()
    for x, y in (([1, 2, 3], [4, 5]), (1, [2.0, "much"])):
        with pytest.raises(ValueError):
            animator.add(x, y)
        assert animator.X == animator.Y == []


def test_in_a_notebook_the_outputs_are_few_and_reproducible():
    sources = (
        "import d2lmini as d2l\nd2l.use_language('zh')",
        "d2l.plot([1, 2], [2, 1], 'training step', 'loss')",
        "animator = d2l.Animator('epoch', 'loss', xlim=[1, 3])\n"
        "for epoch in (1, 2, 3):\n    animator.add(epoch, 1 / epoch)",
        "d2l.use_svg_display()\nd2l.set_figsize()\nd2l.plt.title('键')\nd2l.plt.show()",
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    setup, line, animated, own = (cell.outputs for cell in notebook.cells)
    assert setup == []
    assert [sorted(output.data) for output in line] == [["image/svg+xml", "text/plain"]]
    assert line[0].data["text/plain"] == "折线图（纵轴：损失；横轴：训练步）"
    # a live view that the stored notebook does without, then the finished plot
    assert [sorted(output.data) for output in animated] == [
        ["application/vnd.jupyter.widget-view+json"],
        ["image/svg+xml", "text/plain"],
    ]
    assert [output.output_type for output in own] == ["display_data"]
    assert "image/svg+xml" in own[0].data
    assert not [output for output in line + animated + own if output.output_type == "stream"]


def test_the_tree_of_a_beam_search_is_drawn_with_its_tokens_and_told_in_words(monkeypatch):
    node = d2l.BeamNode
    nodes = [
        node("我", 1, None, -0.1, True),
        node("他", 1, None, -1.0, True),
        node("们", 2, 0, -0.2, True),
        node("<eos>", 2, 1, -1.2, True),
        node("走", 2, 1, -3.0, False),
        node("<eos>", 3, 2, -0.3, True),
        node("了", 3, 2, -2.0, True),
    ]
    tree = d2l.BeamTree(nodes, finished=[(-0.1, 5), (-0.7, 3)])
    caught = []
    monkeypatch.setattr(plotting, "show", lambda *shown: caught.append(shown))
    d2l.use_language("zh")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing glyph warns
        d2l.show_beam(tree)
        ((figure, title, description),) = caught
        drawn = words(plotting.as_svg(figure, title, description))
    assert {"<bos>", "我", "走", "<eos>", "保留", "舍去", "步"} <= set(drawn)
    assert f"{np.exp(-0.1):.2f}" in drawn
    assert "最好的是 我 们 <eos>" in description
    assert "走" not in description  # it was dropped


def test_a_band_has_the_color_of_its_line_and_fits_it(shown):
    low, high = [1.0, 2.0, 3.0], [3.0, 4.0, 5.0]
    _, axes = plt.subplots()
    d2l.plot([0, 1, 2], [[2, 3, 4]], legend=["recurrent"], axes=axes, spread=[(low, high)])
    (band,) = axes.collections
    assert mpl.colors.to_hex(band.get_facecolor()[0]) == theme.COLOR["rnn"]
    assert (band.get_datalim(axes.transData).y0, band.get_datalim(axes.transData).y1) == (1, 5)
    with pytest.raises(ValueError, match="spread: got 1 bands for 2 lines"):
        d2l.plot([0, 1, 2], [[2, 3, 4], [2, 3, 4]], spread=[(low, high)])
