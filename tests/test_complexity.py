"""The counts, paths, depths and measures of chapter 2, checked against their formulas."""

import itertools
import math
import random

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from d2lmini import complexity
from d2lmini.complexity import (
    AttentionLayer,
    ConvolutionLayer,
    RecurrentLayer,
    attention_weights_bytes,
    count_multiply_adds,
    dependencies,
    layers_until_connected,
    loglog_slope,
    maximum_path_length,
    median_time,
    multiply_adds,
    peak_memory,
    recorded_recall,
    recorded_timings,
    sequential_depth,
    shortest_path,
)

SIZES = list(itertools.product((1, 5, 32, 100), (8, 64), (1, 3, 7)))


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


# ---- arithmetic -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
def test_counted_operations_equal_the_exact_formulas(n, d, k):
    shape = (1, n, d)
    mixing = multiply_adds(n, d, k, "mixing")
    assert count_multiply_adds(ConvolutionLayer(d, k), shape) == mixing["convolution"] == k * n * d * d
    assert count_multiply_adds(RecurrentLayer(d), shape) == mixing["recurrent"] == 2 * n * d * d
    assert count_multiply_adds(AttentionLayer(d, projections=False), shape) == mixing["attention"]
    projected = multiply_adds(n, d, k, "projections")["attention"]
    assert projected == 2 * n * n * d + 4 * n * d * d
    assert count_multiply_adds(AttentionLayer(d), shape) == projected


@pytest.mark.parametrize("dilation", [1, 2, 8])
def test_dilation_costs_no_arithmetic(dilation):
    assert count_multiply_adds(ConvolutionLayer(16, 3, dilation), (1, 40, 16)) == 3 * 40 * 16 * 16


def test_a_fused_kernel_saves_no_arithmetic():
    shape = (2, 48, 32)
    assert count_multiply_adds(AttentionLayer(32, fused=True), shape) == count_multiply_adds(
        AttentionLayer(32), shape
    )


def test_two_directions_cost_twice_one():
    assert count_multiply_adds(RecurrentLayer(8, bidirectional=True), (1, 9, 8)) == 4 * 9 * 8 * 8


def test_counting_grows_with_the_batch_and_leaves_the_layer_where_it_was():
    layer = AttentionLayer(8)
    assert count_multiply_adds(layer, (6, 10, 8)) == 6 * count_multiply_adds(layer, (1, 10, 8))
    assert layer.W_q.weight.device.type == "cpu"


def test_the_example_of_the_three_conventions():
    assert multiply_adds(32, 64, 3, "projections") == {
        "convolution": 393_216,
        "recurrent": 262_144,
        "attention": 655_360,
    }


def test_crossovers_in_each_convention():
    random.seed(0)
    for _ in range(300):
        n, d, k = random.randint(1, 2000), random.randint(1, 500), random.choice((3, 5, 7, 9, 31))
        order, mixing, full = (multiply_adds(n, d, k, c) for c in complexity.CONVENTIONS)
        assert (order["attention"] < order["recurrent"]) == (n < d)
        assert (order["attention"] < order["convolution"]) == (n < k * d)
        assert (mixing["attention"] < mixing["recurrent"]) == (n < d)
        assert (mixing["attention"] < mixing["convolution"]) == (2 * n < k * d)
        assert full["attention"] > full["recurrent"]
        assert (full["attention"] < full["convolution"]) == (2 * n < (k - 4) * d)


@pytest.mark.parametrize("sizes", [(0, 1, 3), (1, 0, 3), (1, 1, 0)])
def test_a_size_below_one_is_refused(sizes):
    with pytest.raises(ValueError, match="a size is 1 or larger"):
        multiply_adds(*sizes)


def test_an_unknown_convention_names_the_known_ones():
    with pytest.raises(ValueError, match="'order', 'mixing', 'projections'"):
        multiply_adds(2, 2, 3, "exact")


# ---- layers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [ConvolutionLayer(8, 5), RecurrentLayer(8, True), AttentionLayer(8)])
def test_layers_keep_the_shape(layer):
    assert layer(torch.randn(2, 7, 8)).shape == (2, 7, 8)


def test_the_fused_kernel_computes_the_same_attention():
    plain, fused = AttentionLayer(16), AttentionLayer(16, fused=True)
    fused.load_state_dict(plain.state_dict())
    X = torch.randn(3, 20, 16)
    torch.testing.assert_close(plain(X), fused(X))


@pytest.mark.parametrize("kernel_size", [0, 2, -3])
def test_a_window_without_center_is_refused(kernel_size):
    with pytest.raises(ValueError, match="odd size"):
        ConvolutionLayer(4, kernel_size)
    with pytest.raises(ValueError, match="1 or more"):
        ConvolutionLayer(4, 0, causal=True)


# ---- path length ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(2, 3), (5, 3), (8, 3), (9, 5), (12, 7)])
def test_convolutions_connect_in_as_many_layers_as_the_path_has_edges(n, k):
    layers = math.ceil((n - 1) / ((k - 1) / 2))
    assert layers_until_connected(lambda _: ConvolutionLayer(4, k), n) == layers
    assert maximum_path_length("convolution", n, k) == layers


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 16, 17])
def test_doubling_dilation_connects_in_the_logarithm_of_n(n):
    assert layers_until_connected(lambda level: ConvolutionLayer(4, 3, 2**level), n) == math.ceil(
        math.log2(n)
    )


@pytest.mark.parametrize(("n", "k"), [(9, 2), (9, 3), (10, 3), (25, 5), (26, 5)])
def test_causal_dilations_by_powers_of_k_reach_back_in_the_logarithm_to_base_k(n, k):
    layers = next(number for number in range(9) if k**number >= n)
    stack = [ConvolutionLayer(4, k, k**level, causal=True) for level in range(layers)]
    assert dependencies(nn.Sequential(*stack), n, 4)[-1].all()
    assert not dependencies(nn.Sequential(*stack[:-1]), n, 4)[-1].all()


def test_centered_dilations_by_powers_of_k_lose_pairs_at_the_ends():
    # two to the right would be three to the right and one to the left: for x_1 that leads over the edge
    assert layers_until_connected(lambda level: ConvolutionLayer(4, 3, 3**level), n=5, max_layers=6) is None


def test_a_causal_convolution_never_sees_what_comes_later():
    layer = ConvolutionLayer(4, 3, dilation=2, causal=True)
    rows, columns = torch.arange(6)[:, None], torch.arange(6)
    distance = rows - columns
    assert torch.equal(dependencies(layer, 6, 4), (distance >= 0) & (distance <= 4) & (distance % 2 == 0))


@pytest.mark.parametrize("n", [2, 6, 11])
def test_attention_and_a_bidirectional_rnn_connect_in_one_layer(n):
    assert layers_until_connected(lambda _: AttentionLayer(4), n) == 1
    assert layers_until_connected(lambda _: RecurrentLayer(4, bidirectional=True), n) == 1


def test_a_one_directional_rnn_never_connects_all_pairs():
    assert layers_until_connected(lambda _: RecurrentLayer(4), n=5, max_layers=6) is None
    assert torch.equal(dependencies(RecurrentLayer(4), 5, 4), torch.ones(5, 5).tril().bool())


def test_both_ends_meet_in_the_middle_after_two_layers():
    seen = dependencies(nn.Sequential(ConvolutionLayer(4), ConvolutionLayer(4)), 5, 4)
    assert seen[2].all()  # output 3 sees x_1 and x_5
    assert not seen[4, 0]  # output 5 does not see x_1 yet


@pytest.mark.parametrize("architecture", complexity.ARCHITECTURES)
def test_autograd_and_the_drawn_graph_agree_on_who_sees_whom(architecture):
    n = 7
    layer = {"convolution": ConvolutionLayer, "recurrent": RecurrentLayer, "attention": AttentionLayer}[
        architecture
    ]
    seen = dependencies(layer(4), n, 4)
    for start, end in itertools.product(range(1, n + 1), repeat=2):
        path = shortest_path(architecture, n, start, end)
        in_one_layer = path is not None and path[-1][0] == 1
        assert bool(seen[end - 1, start - 1]) == in_one_layer


@pytest.mark.parametrize("architecture", complexity.ARCHITECTURES)
def test_a_path_walks_along_edges_from_its_input_to_its_output(architecture):
    for start, end in itertools.product(range(1, 7), repeat=2):
        path = shortest_path(architecture, 6, start, end, k=5)
        if path is None:
            assert architecture == "recurrent"
            assert end < start
            continue
        assert path[0] == (0, start)
        assert path[-1][1] == end
        for (level, position), (next_level, next_position) in itertools.pairwise(path):
            if architecture == "recurrent" and level == 1:
                assert (next_level, next_position) == (1, position + 1)
            else:
                assert next_level == level + 1
                reach = {"convolution": 2, "recurrent": 0, "attention": 6}[architecture]
                assert abs(next_position - position) <= reach


@pytest.mark.parametrize("n", [1, 5, 12])
def test_maximum_paths_of_recurrence_and_attention(n):
    assert maximum_path_length("recurrent", n) == n
    assert maximum_path_length("attention", n) == 1


def test_path_errors_say_what_is_allowed():
    with pytest.raises(ValueError, match="'convolution', 'recurrent', 'attention'"):
        shortest_path("cnn", 5, 1, 2)
    with pytest.raises(ValueError, match=r"start: got 0; a position is one of 1 … 5"):
        shortest_path("attention", 5, 0, 2)
    with pytest.raises(ValueError, match="end: got 6"):
        shortest_path("attention", 5, 1, 6)
    with pytest.raises(ValueError, match="take 3 or more"):
        shortest_path("convolution", 5, 1, 2, k=1)


@pytest.mark.parametrize("architecture", complexity.ARCHITECTURES)
def test_no_tokens_have_no_paths(architecture):
    for call in (
        lambda: maximum_path_length(architecture, 0),
        lambda: shortest_path(architecture, 0, 1, 1),
        lambda: dependencies(ConvolutionLayer(4), 0, 4),
        lambda: layers_until_connected(lambda _: ConvolutionLayer(4), 0),
        lambda: sequential_depth(ConvolutionLayer(4), 0, 4),
    ):
        with pytest.raises(ValueError, match="n: got 0; a size is 1 or larger"):
            call()


# ---- sequential steps -----------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [ConvolutionLayer(4), AttentionLayer(4), AttentionLayer(4, fused=True)])
def test_parallel_layers_have_the_same_depth_at_every_length(layer):
    assert sequential_depth(layer, 8, 4) == sequential_depth(layer, 128, 4)


def test_recurrence_grows_by_the_same_number_of_operations_each_token():
    depths = [sequential_depth(RecurrentLayer(4), n, 4) for n in (8, 9, 64, 65)]
    step = depths[1] - depths[0]
    assert step >= 2  # a matrix product and a tanh
    assert depths[3] - depths[2] == step
    assert depths[2] - depths[0] == 56 * step


def test_a_layer_that_does_nothing_has_no_depth_and_one_that_hides_is_refused():
    assert sequential_depth(nn.Identity(), 8, 4) == 0

    class Hidden(nn.Module):
        def forward(self, X):
            return (X + 1).detach()

    with pytest.raises(ValueError, match="layer: autograd does not see"):
        sequential_depth(Hidden(), 8, 4)


# ---- time and memory ------------------------------------------------------------------------------------


def test_median_time_warms_up_and_repeats():
    calls = []
    assert median_time(lambda: calls.append(1), repeats=4) >= 0
    assert len(calls) == 5
    with pytest.raises(ValueError, match="at least 1"):
        median_time(list, repeats=0)


@pytest.mark.parametrize("power", [-1, 0, 0.5, 1, 2, 3])
def test_the_slope_of_a_power_law_is_its_power(power):
    sizes = [3, 10, 70, 500]
    assert loglog_slope(sizes, [7 * size**power for size in sizes]) == pytest.approx(power)


def test_slope_errors():
    with pytest.raises(ValueError, match="equally many"):
        loglog_slope([1, 2], [1])
    with pytest.raises(ValueError, match="two or more"):
        loglog_slope([1], [1])
    with pytest.raises(ValueError, match="positive"):
        loglog_slope([1, 2], [0, 1])


def test_recorded_recall_holds_what_the_chapter_says():
    shares: dict[str, list[list[float]]] = {}
    for row in recorded_recall():
        assert row["device"] and row["parameters"] == 14_884 and len(row["shares"]) == 5
        shares.setdefault(row["layers"], []).append(row["shares"])
    assert [len(rows) for rows in shares.values()] == [3] * 6
    low, high = (
        {name: [extreme(at) for at in zip(*rows, strict=True)] for name, rows in shares.items()}
        for extreme in (min, max)
    )
    assert min(low["attention"] + low["delta rule, then attention"]) > 0.99
    assert low["windowed"][1] > 0.99 and 0.2 < low["windowed"][4] < high["windowed"][4] < 0.3  # 16 of 64
    for name in ("linear", "decay", "delta rule"):
        assert low[name][0] > 0.95 and 0.3 < low[name][4] < high[name][4] < 0.7
    assert high["decay"][4] < min(low["linear"][4], low["delta rule"][4])


def test_recorded_timings_cover_every_layer_on_a_named_device():
    rows = recorded_timings()
    assert {row["layer"] for row in rows} == {"convolution", "recurrent", "attention", "fused attention"}
    assert all(row["device"] and row["seconds"] > 0 and row["peak_bytes"] > 0 for row in rows)
    for row in rows:
        if row["layer"] == "attention":
            # a claim of the chapter
            assert row["peak_bytes"] > row["batch"] * attention_weights_bytes(row["n"])


def test_recorded_batches_are_of_one_device_and_cover_the_same_layers():
    rows = [row for row in recorded_timings() if row["batch"] > 1]
    assert {row["device"] for row in rows} <= {
        row["device"] for row in recorded_timings() if row["batch"] == 1
    }
    for layer in ("recurrent", "attention", "fused attention"):
        assert {(row["batch"], row["n"]) for row in rows if row["layer"] == layer} == {(4, 512), (32, 512)}


@pytest.mark.parametrize(
    ("heads", "dtype", "gib"), [(1, torch.float32, 16), (8, torch.float32, 128), (8, torch.half, 64)]
)
def test_memory_of_the_weights(heads, dtype, gib):
    assert attention_weights_bytes(65_536, heads, dtype) == gib * 2**30


def test_peak_memory_counts_what_is_alive_together():
    X = torch.zeros(1000)
    assert peak_memory(lambda: X.view(10, 100)) == 0
    assert peak_memory(lambda: X.add_(1)) == 0
    assert peak_memory(lambda: X + 1) == 4000

    def three_then_one():
        parts = [X + 1, X + 2, X + 3]
        parts.clear()
        return X + 4

    assert peak_memory(three_then_one) == 12_000


def test_peak_memory_keeps_what_the_backward_pass_needs():
    X = torch.zeros(1000, requires_grad=True)

    def chain():
        return X.exp().sin().exp()  # exp keeps its result, sin its input

    forward_only = peak_memory(lambda: chain().detach())
    with torch.no_grad():
        without_graph = peak_memory(chain)
    assert forward_only == 12_000
    assert without_graph == 8_000


def test_the_counted_memory_is_what_the_profiler_of_torch_saw():
    """`peak_memory` stands on three parts of torch that are private and may change in any version.

    They are `TorchDispatchMode` (every operation passes through it), `untyped_storage()._cdata` (equal for a
    tensor and its views) and `_pytree` (finds the tensors in nested results). If this test fails after an
    update of torch, `complexity._StorageTracker` no longer counts what is allocated, and the numbers that
    chapter 2 prints are wrong: repair it there.
    """
    X, kept = torch.randn(1, 256, 32), []

    def run():
        scores = X @ X.transpose(1, 2)
        largest, where = scores.max(dim=-1)  # two results of one operation
        kept[:] = scores, scores.softmax(-1), scores.view(-1), largest, where, X[:, 1:] + 1

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run()  # all of it stays alive, so that the peak is the sum
    kept.clear()
    assert (
        peak_memory(run) == sum(row.self_cpu_memory_usage for row in seen.key_averages()) > 2 * 256 * 256 * 4
    )


def test_written_out_attention_stores_the_square_and_the_fused_kernel_does_not():
    X = torch.randn(1, 512, 16)
    with torch.no_grad():
        plain = peak_memory(lambda: AttentionLayer(16, projections=False)(X))
        fused = peak_memory(lambda: AttentionLayer(16, projections=False, fused=True)(X))
    square = attention_weights_bytes(512)
    assert plain >= square
    assert fused < square / 4
