"""Plots: what they draw, in which language, and that the same call gives the same bytes."""

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
from d2lmini.notebook import plotting

SVG = "{http://www.w3.org/2000/svg}"
LANGUAGES = ("en", "vi", "zh")


@pytest.fixture(autouse=True)
def _clean():
    d2l.use_language("en")
    yield
    d2l.use_language("en")
    plt.close("all")


@pytest.fixture
def shown(monkeypatch):
    """Collect (svg, title) of every plot that a notebook would show."""
    outputs = []

    def show(figure, title, description):
        outputs.append((plotting._svg(figure, title, description), title))
        plt.close(figure)

    monkeypatch.setattr(plotting, "_show", show)
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
    assert "var(--d2l-query, #0067a5)" in svg and "var(--d2l-text, #1c2733)" in svg
    for noise in ("<style", "<metadata", "DejaVu", "<!DOCTYPE", 'id="figure', "font-family:"):
        assert noise not in svg


@pytest.mark.parametrize(
    "style",
    [
        "font: 10px 'DejaVu Sans', 'D2LMini Sans SC'; text-anchor: middle",
        "font-size: 10px; font-family: 'DejaVu Sans', sans-serif; text-anchor: middle",
    ],
)
def test_fonts_of_older_and_newer_matplotlib_are_left_to_the_page(style):
    assert plotting._without_fonts(f'style="{style}"') == 'style="font-size: 10px; text-anchor: middle"'


def cells(svg):
    """Return (color, opacity) of the heatmap cells that are to be seen."""
    found = []
    for mesh in re.findall(r'<g shape-rendering="crispEdges">(.*?)</g></g>', svg):
        for group in re.findall(r'<g style="fill: ([^"]*)">(.*?)(?=<g |$)', mesh):
            found += [
                (group[0], float(opacity)) for opacity in re.findall(r'fill-opacity="([\d.]+)"', group[1])
            ]
    return found


def test_weights_run_from_the_background_to_blue_and_signed_values_around_0(shown):
    d2l.show_heatmaps(torch.tensor([[[[0.0, 0.5, 1.0]]]]), "keys", "queries")
    colors = {color for color, _ in cells(shown[0][0])}
    assert colors == {"var(--d2l-query, #0067a5)"}
    d2l.show_heatmaps(torch.tensor([[[[-1.0, 0.0, 0.5]]]]), "keys", "queries")
    colors = {color for color, _ in cells(shown[1][0])}
    assert colors == {"var(--d2l-query, #0067a5)", "var(--d2l-key, #b84a00)"}
    assert plotting.SIGNED(0.5)[3] == pytest.approx(0, abs=0.01)
    assert plotting.SIGNED(0.0) == (*mpl.colors.to_rgb("#b84a00"), 1.0)
    assert plotting.WEIGHTS(0.0)[3] == 0 and plotting.WEIGHTS(1.0)[3] == 1


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


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("background", "text", "fills"),
    [("#ffffff", "#1c2733", ("#0067a5", "#b84a00")), ("#14181d", "#e6ebf0", ("#6cb8f0", "#ff9d5c"))],
)
def test_numbers_in_cells_are_legible_in_both_themes(background, text, fills):
    strongest = plotting._WEIGHTS_UNDER_TEXT(1.0)[3]
    for fill in fills:
        page, ink = mpl.colors.to_rgb(background), mpl.colors.to_rgb(text)
        cell = [
            p * (1 - strongest) + f * strongest for p, f in zip(page, mpl.colors.to_rgb(fill), strict=True)
        ]
        light, dark = sorted((luminance(cell), luminance(ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_large_matrix_is_stored_as_pixels(shown):
    d2l.show_heatmaps(torch.rand(1, 1, 64, 64), "keys", "queries")
    assert "<image" in shown[0][0] and len(shown[0][0]) < 60_000


def test_a_readers_own_colormap_is_taken(shown):
    d2l.show_heatmaps(torch.eye(2)[None, None], "keys", "queries", cmap="Reds", annotate=True)
    assert "#67000d" in shown[0][0]


def test_animator_grows_and_refuses_another_number_of_lines():
    animator = d2l.Animator("epoch", "loss", legend=["training", "validation"])
    animator.add(1, (0.5, None))
    animator.add(2, (0.4, 0.6))
    assert animator.X == [[1, 2], [2]] and animator.Y == [[0.5, 0.4], [0.6]]
    assert len(animator.axes[0].lines) == 2
    with pytest.raises(ValueError, match="this plot has 2 lines"):
        animator.add(3, 0.1)


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
