"""The positional encodings keep their promises: values, shifts, lengths, dtypes, devices, refusals."""

import math

import pytest
import torch
from hypothesis import given, settings, strategies as st

from d2lmini.positional import (
    ALiBi,
    LearnedPositionalEncoding,
    PositionalEncoding,
    RelativePositionBias,
    RotaryEmbedding,
    recorded_lengths,
    sinusoids,
)

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def zeros(*shape, **options):
    return torch.zeros(*shape, **options)


def test_values_of_the_definition():
    table = sinusoids(50, 6)
    for i in (0, 1, 7, 49):
        for j in range(3):
            angle = i / 10000 ** (2 * j / 6)
            assert table[i, 2 * j].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[i, 2 * j + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_three_words_worked_by_hand():
    expected = torch.tensor([[0, 1, 0, 1], [0.841, 0.540, 0.010, 1.000], [0.909, -0.416, 0.020, 1.000]])
    torch.testing.assert_close(sinusoids(3, 4), expected, atol=5e-4, rtol=0)


@given(width=st.integers(1, 40), length=st.integers(0, 40))
def test_a_longer_or_wider_table_starts_with_the_shorter_one(width, length):
    table = sinusoids(length, width)
    assert table.shape == (length, width)
    assert torch.equal(sinusoids(length + 7, width)[:length], table)
    if width % 2:  # the last sine has no cosine beside it, all other columns keep their place
        assert length == 0 or table[0, -1] == 0


@given(pairs=st.integers(1, 24), delta=st.integers(-60, 60))
@settings(deadline=None)
def test_a_shift_is_one_rotation_for_every_position(pairs, delta):
    d = 2 * pairs
    i = torch.arange(60, 120)
    table = sinusoids(181, d).double()
    angle = delta * 10000 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    sin, cos = table[i, 0::2], table[i, 1::2]
    shifted = table[i + delta]
    torch.testing.assert_close(shifted[:, 0::2], cos * angle.sin() + sin * angle.cos(), atol=1e-6, rtol=0)
    torch.testing.assert_close(shifted[:, 1::2], cos * angle.cos() - sin * angle.sin(), atol=1e-6, rtol=0)


@given(pairs=st.integers(1, 24), delta=st.integers(0, 30))
@settings(deadline=None)
def test_the_product_of_two_rows_depends_on_their_distance_only(pairs, delta):
    table = sinusoids(100, 2 * pairs)
    products = (table[: 100 - delta] * table[delta:]).sum(1)
    torch.testing.assert_close(products, products[:1].expand(len(products)), atol=1e-5, rtol=0)


def test_an_odd_width_breaks_that_product():
    table = sinusoids(100, 1)
    assert (table[:-1] * table[1:]).sum(1).std() > 0.1


@pytest.mark.parametrize("width", [1, 2, 5, 32])
def test_adds_the_rows_of_the_offset(width):
    encoding = PositionalEncoding(width, 0, max_len=20)
    X = torch.randn(2, 6, width, generator=torch.Generator().manual_seed(0))
    assert encoding.P.shape == (1, 20, width)
    torch.testing.assert_close(encoding(X), X + encoding.P[:, :6])
    torch.testing.assert_close(encoding(X, offset=3), X + encoding.P[:, 3:9])
    steps = torch.cat([encoding(X[:, t : t + 1], offset=t) for t in range(6)], dim=1)
    assert torch.equal(steps, encoding(X))
    assert torch.equal(encoding(X[0]), encoding(X)[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("move_module", [False, True])
def test_longer_sequences_extend_the_table_where_it_is(device, dtype, move_module):
    small, large = PositionalEncoding(6, 0, max_len=4), PositionalEncoding(6, 0, max_len=64)
    small, large = small.to(device), large.to(device)
    if move_module:
        small, large = small.to(dtype), large.to(dtype)
    X = zeros(2, 9, 6, device=device, dtype=dtype)
    assert torch.equal(small(X), large(X))
    assert small(X).dtype == dtype
    assert torch.equal(small(X, offset=40), large(X, offset=40))
    assert small.P.shape[1] >= 49
    assert small.P.dtype == large.P.dtype
    assert small.P.device == X.device
    assert torch.equal(small.P[:, :49], large.P[:, :49])


def test_the_table_follows_the_module_and_is_not_saved():
    encoding = PositionalEncoding(6, 0, max_len=4)
    assert encoding.state_dict() == {}
    assert encoding.to("meta").P.is_meta


@pytest.mark.parametrize(
    "make", [lambda: PositionalEncoding(6, 0), lambda: ALiBi(6), lambda: RotaryEmbedding(6)]
)
def test_what_is_not_saved_can_be_computed_again(make):
    expected = dict(make().named_buffers())
    with torch.device("meta"):
        module = make()
    module = module.to_empty(device="cpu")
    for part in module.modules():
        for buffer in part.buffers(recurse=False):
            buffer.fill_(math.nan)
            part.reset_parameters()
    for name, buffer in module.named_buffers():
        assert torch.equal(buffer, expected[name])


def test_dropout_is_on_in_training_only():
    torch.manual_seed(0)
    encoding = PositionalEncoding(32, 0.5)
    X = torch.ones(1, 10, 32) * 5
    assert (encoding.train()(X) == 0).any()
    assert torch.equal(encoding.eval()(X), X + encoding.P[:, :10])


def test_learned_positions_are_parameters_with_an_end():
    encoding = LearnedPositionalEncoding(4, 0, max_len=8)
    assert [p.shape for p in encoding.parameters()] == [(1, 8, 4)]
    torch.testing.assert_close(encoding(zeros(2, 3, 4), offset=5), encoding.P[:, 5:].expand(2, 3, 4))
    encoding(zeros(2, 3, 4)).sum().backward()
    assert (encoding.P.grad[0].abs().sum(1) > 0).tolist() == [True] * 3 + [False] * 5
    with pytest.raises(
        ValueError, match=r"got 4 tokens from position 5 on, but only positions 0 to 7.*max_len=9"
    ):
        encoding(zeros(2, 4, 4), offset=5)


def test_relative_bias_is_the_sum_of_the_paper():
    torch.manual_seed(0)
    bias, q = RelativePositionBias(8, max_distance=2), torch.randn(3, 5, 8)
    out = bias(q)
    for i in range(5):
        for j in range(5):
            a = bias.A[max(-2, min(2, j - i)) + 2]
            torch.testing.assert_close(out[:, i, j], q[:, i] @ a / 8**0.5)
    torch.testing.assert_close(bias(q[:, 3:], num_keys=5, offset=3), out[:, 3:])


def test_recorded_lengths_hold_what_the_chapter_says():
    shares: dict[str, list[list[float]]] = {}
    for row in recorded_lengths():
        assert row["device"] and row["steps"] in (300, 500, 1500) and len(row["shares"]) == 4
        shares.setdefault(row["model"], []).append(row["shares"])
    assert all(len(rows) == 3 for rows in shares.values())
    low, high = (
        {name: [extreme(at) for at in zip(*rows, strict=True)] for name, rows in shares.items()}
        for extreme in (min, max)
    )
    assert all(max(high[name][1:]) < 0.3 for name in ("sinusoids", "learned", "none"))
    assert low["RoPE"][1] > 0.8 and high["RoPE"][3] < 0.3
    assert all(min(low[name]) > 0.8 for name in ("relative", "ALiBi", "RoPE, far keys hidden"))
    assert max(high["sinusoids, far keys hidden"][1:]) < 0.3
    assert max(high["RoPE, interpolated"]) < 0.3
    assert low["RoPE, NTK-aware"][2] > 0.8 > high["RoPE, NTK-aware"][3] > high["RoPE"][3]
    assert low["RoPE, by parts"][3] > high["RoPE, NTK-aware"][3]
    assert all(min(rows) > 0.99 for name, rows in low.items() if name.endswith("200 more steps"))
    offsets = low["sinusoids, random offsets"]
    assert all(share > 0.4 for share in offsets) and offsets[1] > 0.9
    assert all(share < 0.3 for share in high["sinusoids, no offsets"][1:])  # more steps alone do not help
    assert all(a < b for a, b in zip(high["learned, random offsets"], offsets, strict=True))
    assert high["none, one layer"][0] < 0.4 and low["none, two layers"][0] > 0.9
    assert low["none, three layers"][2] > 0.7


@given(pairs=st.integers(1, 16), m=st.integers(0, 40), n=st.integers(0, 40), shift=st.integers(0, 200))
@settings(deadline=None)
def test_rotary_scores_depend_on_the_distance_only(pairs, m, n, shift):
    rotary = RotaryEmbedding(2 * pairs, max_len=50)
    q, k = torch.randn(2, 1, 2 * pairs, generator=torch.Generator().manual_seed(pairs)).double()
    here = rotary(q, m) @ rotary(k, n).T
    there = rotary(q, m + shift) @ rotary(k, n + shift).T
    torch.testing.assert_close(here, there, atol=1e-4, rtol=0)
    torch.testing.assert_close(rotary(q, m).norm(), q.norm())


def test_rotary_scores_do_depend_on_the_distance():
    rotary, q = RotaryEmbedding(8), torch.ones(1, 8)
    assert (rotary(q, 3) @ rotary(q, 5).T - rotary(q, 3) @ rotary(q, 6).T).abs() > 0.1


@pytest.mark.parametrize("dtype", FLOATS)
def test_rotary_keeps_shape_dtype_and_offset(dtype):
    rotary = RotaryEmbedding(6, max_len=3)
    X = torch.randn(2, 4, 5, 6, generator=torch.Generator().manual_seed(0)).to(dtype)
    assert rotary(X).shape == X.shape
    assert rotary(X).dtype == dtype
    assert torch.equal(rotary(X)[..., 2:, :], rotary(X[..., 2:, :], offset=2))
    assert torch.equal(rotary(X)[..., 0, :], X[..., 0, :])


def test_alibi_slopes_and_distances():
    assert ALiBi(8).slopes.tolist() == [2.0**-h for h in range(1, 9)]
    slopes = torch.tensor([2.0**-h for h in (2, 4, 6, 8, 1, 3)])  # four heads, then two of eight
    torch.testing.assert_close(ALiBi(6).slopes, slopes)
    bias = ALiBi(4)(5, 7, offset=2)
    assert bias.shape == (4, 5, 7)
    assert bias[0, 1].tolist() == [-0.75, -0.5, -0.25, 0, -0.25, -0.5, -0.75]
    assert torch.equal(ALiBi(4)(7)[:, 2:], bias)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PositionalEncoding(0, 0), "num_hiddens: got 0"),
        (lambda: PositionalEncoding(4, 0, max_len=0), "max_len: got 0"),
        (lambda: LearnedPositionalEncoding(4, 0, max_len=-1), "max_len: got -1"),
        (lambda: RelativePositionBias(4, max_distance=0), "max_distance: got 0"),
        (lambda: RotaryEmbedding(5), "head_dim: got 5.*as 6"),
        (lambda: RotaryEmbedding(0), "head_dim: got 0.*as 2"),
        (lambda: ALiBi(0), "num_heads: got 0"),
        (lambda: PositionalEncoding(4, 0)(zeros(2, 3, 5)), r"X: got shape \(2, 3, 5\).*\(tokens, 4\)"),
        (lambda: PositionalEncoding(4, 0)(zeros(4)), r"X: got shape \(4,\)"),
        (lambda: PositionalEncoding(4, 0)(zeros(3, 4, dtype=torch.long)), "X: got dtype torch.int64.*embed"),
        (lambda: PositionalEncoding(4, 0)(zeros(3, 4), offset=-1), "offset: got -1"),
        (lambda: RotaryEmbedding(4)(zeros(3, 6)), r"X: got shape \(3, 6\)"),
        (lambda: RelativePositionBias(4)(zeros(3, 6)), r"queries: got shape \(3, 6\)"),
    ],
)
def test_refusals_name_argument_value_and_mend(make, message):
    with pytest.raises(ValueError, match=message):
        make()
