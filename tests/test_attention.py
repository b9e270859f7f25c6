"""Attention: values and gradients against PyTorch, masks at their edges, and every refusal."""

import copy
import gc
import io
import math
import re

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn
from torch.nn import functional as F

import d2lmini as d2l
from d2lmini.attention import _zeros_for_nothing, attention
from d2lmini.notebook.content import exercise_content

torch.set_num_threads(1)
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
# how far two ways to the same number may lie apart, in units of what the type can tell apart
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}
quick = settings(max_examples=25, deadline=None, derandomize=True)


def randn(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed + sum(shape)))


def close(actual, expected, tolerance=1e-9):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def may_attend(valid_lens, queries, keys):
    """Say with loops what the package says with broadcasting: (batch, queries, keys), True = may be seen."""
    rows = valid_lens.tolist()
    per_query = [row if isinstance(row, list) else [row] * queries for row in rows]
    seen = [[[k < length for k in range(keys)] for length in row] for row in per_query]
    return torch.tensor(seen, dtype=torch.bool).reshape(len(rows), queries, keys)


# ---- sequence_mask


def test_sequence_mask_replaces_the_rest_and_leaves_its_input_alone():
    X = torch.arange(1.0, 13).reshape(2, 3, 2)
    before = X.clone()
    masked = d2l.sequence_mask(X, torch.tensor([1, 2]), value=-1)
    assert masked.tolist() == [[[1, 2], [-1, -1], [-1, -1]], [[7, 8], [9, 10], [-1, -1]]]
    assert torch.equal(X, before)


def test_sequence_mask_takes_lengths_out_of_range():
    X = torch.ones(3, 2, dtype=torch.long)
    assert d2l.sequence_mask(X, torch.tensor([-4, 0, 9])).tolist() == [[0, 0], [0, 0], [1, 1]]


# ---- masks


@pytest.mark.parametrize("n", [0, 1, 5])
def test_masks_say_who_may_attend_to_whom(n):
    pairs = [[(q, k) for k in range(n)] for q in range(n)]

    def by_hand(rule):
        return torch.tensor([[rule(*pair) for pair in row] for row in pairs], dtype=torch.bool).reshape(n, n)

    assert torch.equal(d2l.causal_mask(n), by_hand(lambda q, k: k <= q))
    for width in (1, 3, 5, 99):
        assert torch.equal(d2l.local_mask(n, width), by_hand(lambda q, k, w=width: abs(q - k) <= w // 2))
    lengths = torch.tensor([2, 0, 9, -1])
    assert torch.equal(d2l.padding_mask(lengths, n), may_attend(lengths, 1, n))
    per_query = torch.tensor([[1, 2], [0, 9]])
    assert torch.equal(d2l.padding_mask(per_query, n), may_attend(per_query, 2, n))


def test_the_local_mask_is_the_one_of_the_exercise():
    space = {"torch": torch}
    exec(exercise_content("complexity/code-local-mask", "en")["solution_code"], space)
    for n, width in ((1, 1), (4, 3), (9, 5), (3, 7)):
        assert torch.equal(space["local_mask"](n, width), d2l.local_mask(n, width))


MODULES = [d2l.DotProductAttention(0.0), d2l.AdditiveAttention(8, 8, 4, 0.0).double()]


def weights_of(module, X, Y, *masks):
    module(X, Y, Y, *masks)
    return getattr(module, "attention", module).attention_weights


@pytest.mark.parametrize("module", [*MODULES, d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0).double()])
@pytest.mark.parametrize("lengths", [None, [4, 2], [[1, 2, 3], [0, 6, 6]], [[1, 0, 5]]])
@pytest.mark.parametrize("shape", [(3, 6), (2, 3, 6), (1, 3, 6), (2, 1, 6), (3, 1), (6,)])
def test_a_mask_and_lengths_must_both_allow_a_key(module, lengths, shape):
    X, Y = randn(2, 3, 8), randn(2, 6, 8)
    mask, lengths = randn(*shape) > 0, None if lengths is None else torch.tensor(lengths)
    allowed = mask.expand(2, 3, 6)
    if lengths is not None:
        allowed = allowed & may_attend(lengths.expand(2, *lengths.shape[1:]), 3, 6)
    weights = weights_of(module, X, Y, lengths, mask)
    heads = len(weights) // 2
    assert torch.equal(weights > 0, allowed.repeat_interleave(heads, dim=0))
    close(weights.sum(-1), allowed.any(-1).double().repeat_interleave(heads, dim=0))
    scores = randn(2, 4, 3, 6)
    close(d2l.masked_softmax(scores, lengths, mask)[:, 0] > 0, allowed)
    close(d2l.masked_softmax(scores[:, 1], lengths, mask), d2l.masked_softmax(scores, lengths, mask)[:, 1])


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_mask_gives_what_the_same_lengths_give(dtype):
    multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0).to(dtype)
    inputs = [randn(2, 4, 8, dtype=dtype).requires_grad_() for _ in "ab"]
    by_mask = multi_head(inputs[0], inputs[0], inputs[0], mask=d2l.causal_mask(4))
    by_lengths = multi_head(inputs[1], inputs[1], inputs[1], torch.arange(1, 5)[None])
    close(by_mask, by_lengths, TOLERANCE[dtype])
    for output in (by_mask, by_lengths):
        output.sum().backward()
    close(inputs[0].grad, inputs[1].grad, TOLERANCE[dtype])


def test_a_query_whose_mask_allows_nothing_gets_zeros_and_zero_gradients():
    multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0)
    X = torch.ones(2, 3, 8, requires_grad=True)
    output = multi_head(X, X, X, mask=torch.tensor([[False] * 3, [True] * 3, [False, True, False]]))
    output.sum().backward()
    assert (output[:, 0] == 0).all() and output[:, 1:].any()
    assert X.grad.isfinite().all() and (X.grad[:, 0] == 0).sum() < 16


# ---- masked_softmax


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("valid_lens", [[2, 0], [[1, 3, 0], [4, -2, 9]]])
def test_masked_softmax_is_a_softmax_over_the_valid_keys(dtype, valid_lens):
    X = randn(2, 3, 4, dtype=dtype)
    before = X.clone()
    valid_lens = torch.tensor(valid_lens)
    weights = d2l.masked_softmax(X, valid_lens)
    assert weights.dtype == dtype
    assert torch.equal(X, before)
    for row, score, length in zip(
        weights.flatten(0, 1), X.flatten(0, 1), may_attend(valid_lens, 3, 4).sum(-1).flatten(), strict=True
    ):
        close(row[:length], F.softmax(score[:length], dim=-1), TOLERANCE[dtype])
        assert (row[length:] == 0).all()


def test_masked_softmax_without_lengths_is_softmax():
    X = randn(2, 3, 4)
    assert torch.equal(d2l.masked_softmax(X, None), F.softmax(X, dim=-1))


@pytest.mark.parametrize("hidden", [-1e30, 1e30, math.inf, math.nan])
def test_no_masked_score_reaches_a_weight(hidden):
    X = torch.full((1, 1, 4), hidden)
    X[..., :2] = -1e7  # below the -1e6 that is often used as a mask
    assert d2l.masked_softmax(X, torch.tensor([2])).tolist() == [[[0.5, 0.5, 0, 0]]]


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("dtype", FLOATS)
def test_masked_softmax_of_length_zero_has_zero_gradients(dtype):
    X = randn(2, 3, 4, dtype=dtype).requires_grad_()
    with torch.autograd.detect_anomaly(check_nan=True):  # not even on the way is there a NaN
        weights = d2l.masked_softmax(X, torch.tensor([0, 3]))
        (weights**2).sum().backward()
    assert (weights[0] == 0).all()
    assert (X.grad[0] == 0).all()
    assert X.grad.isfinite().all()
    assert X.grad[1, :, :3].abs().min() > 0


def test_masked_softmax_gradients_are_those_of_finite_differences():
    X = randn(2, 2, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda X: d2l.masked_softmax(X, torch.tensor([[1, 3], [0, 2]])), X)


@quick
@given(st.data())
def test_masked_softmax_agrees_with_loops_for_any_shape(data):
    batch, heads, queries, keys = (data.draw(st.integers(low, 4)) for low in (0, 1, 0, 1))
    lengths = st.integers(-2, keys + 2)
    shape = data.draw(st.sampled_from([(batch,), (batch, queries), (1, queries)]))
    valid_lens = torch.tensor(
        data.draw(st.lists(lengths, min_size=math.prod(shape), max_size=math.prod(shape))), dtype=torch.int64
    ).reshape(shape)
    X = randn(batch, heads, queries, keys)
    every = valid_lens if len(shape) == 1 else valid_lens.expand(batch, queries)
    mask = may_attend(every, queries, keys)[:, None]
    expected = torch.where(mask, X.exp(), 0)
    expected = torch.nan_to_num(expected / expected.sum(-1, keepdim=True))
    close(d2l.masked_softmax(X, valid_lens), expected)
    if heads == 1:
        close(d2l.masked_softmax(X[:, 0], valid_lens), expected[:, 0])


def test_lengths_may_be_of_any_integer_type():
    X = randn(2, 3, 4)
    expected = d2l.masked_softmax(X, torch.tensor([3, 1]))
    for dtype in (torch.int32, torch.int16, torch.int8, torch.uint8):
        assert torch.equal(d2l.masked_softmax(X, torch.tensor([3, 1], dtype=dtype)), expected)


# ---- attention


@pytest.mark.parametrize("dtype", FLOATS)
def test_attention_agrees_with_the_fused_kernel(dtype):
    # values of another width: the scale is that of the queries
    Q, K, V = randn(2, 3, 5, 4, dtype=dtype), randn(2, 3, 6, 4, dtype=dtype), randn(2, 3, 6, 7, dtype=dtype)
    mask = randn(2, 1, 5, 6) > 0
    for allowed in (None, mask):
        output, weights = d2l.scaled_dot_product(Q, K, V, allowed)
        close(output, F.scaled_dot_product_attention(Q, K, V, allowed), TOLERANCE[dtype])
        assert weights.shape == (2, 3, 5, 6)
    assert (weights.masked_select(~mask) == 0).all()


def test_published_notebooks_find_the_function_by_its_first_name():
    assert attention is d2l.scaled_dot_product


def test_attention_drops_weights_on_their_way_to_the_values_only():
    Q, K, V = randn(1, 3, 2), randn(1, 4, 2), randn(1, 4, 2)
    output, weights = d2l.scaled_dot_product(Q, K, V, dropout=nn.Dropout(1.0))
    assert (output == 0).all()
    close(weights.sum(-1), torch.ones(1, 3, dtype=torch.float64))


# ---- DotProductAttention


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("valid_lens", [None, [3, 0], [[1, 2, 3, 0, 5], [6, 0, 9, -1, 4]], [[1, 2, 3, 4, 0]]])
def test_dot_product_attention_agrees_with_the_written_out_form(dtype, valid_lens):
    fused, plain = (
        [randn(2, n, 8, dtype=dtype, seed=s).requires_grad_() for s, n in enumerate((5, 6, 6))] for _ in "ab"
    )
    valid_lens = None if valid_lens is None else torch.tensor(valid_lens)
    mask = None if valid_lens is None else may_attend(valid_lens, 5, 6)
    dot = d2l.DotProductAttention(dropout=0.0)
    output = dot(*fused, valid_lens)
    expected, weights = d2l.scaled_dot_product(*plain, mask)
    assert output.dtype == dtype
    close(output, expected, TOLERANCE[dtype])
    close(dot.attention_weights, weights, TOLERANCE[dtype])
    cotangent = randn(2, 5, 8, dtype=dtype, seed=7)
    output.backward(cotangent)
    expected.backward(cotangent)
    for a, b in zip(fused, plain, strict=True):
        close(a.grad, b.grad, 4 * TOLERANCE[dtype])
    if mask is not None:
        nothing = ~mask.any(-1).expand(2, 5)
        assert (output[nothing] == 0).all()
        assert (fused[0].grad[nothing] == 0).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dropout_p", [0.0, 0.5])
def test_a_kernel_that_divides_zero_by_zero_is_kept_from_it(dtype, dropout_p, monkeypatch):
    kernel, seen = F.scaled_dot_product_attention, []

    def unsound(Q, K, V, mask, dropout_p):
        seen.append(mask.any(-1).all())
        return kernel(Q, K, V, mask, dropout_p)

    monkeypatch.setattr(F, "scaled_dot_product_attention", unsound)
    tensors = [randn(2, 2, 3, 4, dtype=dtype, seed=s).requires_grad_() for s in range(3)]
    mask = torch.tensor([[True, False, True], [False] * 3])[:, None, None]
    output = _zeros_for_nothing(*tensors, mask, dropout_p)
    output.sum().backward()
    assert seen == [True]  # every query was shown at least one key
    assert (output[1] == 0).all()
    assert output.isfinite().all()
    for tensor in tensors:
        assert (tensor.grad[1] == 0).all()
        assert tensor.grad.isfinite().all()


def test_dropout_works_while_training_only():
    dot = d2l.DotProductAttention(dropout=0.5)
    Q, K, V = randn(1, 3, 4), randn(1, 6, 4), randn(1, 6, 4)
    torch.manual_seed(1)
    assert not torch.allclose(dot(Q, K, V), d2l.scaled_dot_product(Q, K, V)[0])
    close(dot.attention_weights, d2l.scaled_dot_product(Q, K, V)[1])  # as they were before dropout
    close(dot.eval()(Q, K, V), d2l.scaled_dot_product(Q, K, V)[0])


def test_weights_are_made_on_demand_and_hold_no_graph():
    dot = d2l.DotProductAttention(dropout=0.0)
    with pytest.raises(RuntimeError, match="Call the module first"):
        _ = dot.attention_weights
    n, d = 64, 4
    Q = randn(1, n, d).requires_grad_()
    before = {id(x) for x in gc.get_objects()}
    dot(Q, Q, Q)
    kept = [x for x in gc.get_objects() if type(x) is torch.Tensor and id(x) not in before]
    assert max(x.numel() for x in kept) == n * d  # not n²
    assert not dot.attention_weights.requires_grad


def test_weights_follow_a_tensor_that_is_changed_in_place_before_they_are_read():
    dot, X = d2l.DotProductAttention(dropout=0.0), randn(1, 3, 4)
    dot(X, X, X)
    close(dot.attention_weights, d2l.scaled_dot_product(X, X, X)[1])
    X.mul_(5)
    close(dot.attention_weights, d2l.scaled_dot_product(X, X, X)[1])


def test_weights_in_half_precision_survive_products_beyond_it():
    dot = d2l.DotProductAttention(dropout=0.0)
    X = torch.full((1, 2, 64), 36.0, dtype=torch.float16)  # 64 · 36² is more than float16 can hold
    dot(X, X, X)
    assert dot.attention_weights.tolist() == [[[0.5, 0.5], [0.5, 0.5]]]


def test_fused_attention_keeps_no_square_of_the_length():
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: saved.append(x.numel()) or x, lambda x: x):
        X = randn(1, 512, 16).requires_grad_()
        d2l.DotProductAttention(dropout=0.0)(X, X, X, torch.tensor([300]))
    assert max(saved) < 512 * 512 / 8


def test_lengths_are_never_read_back():
    """On the meta device there are no numbers: whoever asks for one fails."""
    with torch.device("meta"):
        multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0)
        additive = d2l.AdditiveAttention(8, 8, 4, 0.0)
        X = torch.randn(2, 3, 8)
        for valid_lens in (torch.ones(2, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)):
            assert multi_head(X, X, X, valid_lens).shape == (2, 3, 8)
            assert multi_head.attention.attention_weights.shape == (4, 3, 3)
            assert additive(X, X, X, valid_lens).shape == (2, 3, 8)
            assert d2l.sequence_mask(X, torch.ones(2, dtype=torch.long)).shape == X.shape


# ---- AdditiveAttention


def test_additive_attention_is_its_formula():
    additive = d2l.AdditiveAttention(key_size=2, query_size=5, num_hiddens=3, dropout=0.0).double()
    queries, keys, values = randn(2, 4, 5), randn(2, 6, 2), randn(2, 6, 7)
    output = additive(queries, keys, values, torch.tensor([6, 2]))
    for b, length in enumerate((6, 2)):
        for q in range(4):
            scores = [
                additive.w_v.weight[0]
                @ torch.tanh(additive.W_q.weight @ queries[b, q] + additive.W_k.weight @ key)
                for key in keys[b, :length]
            ]
            weights = torch.stack(scores).softmax(0)
            close(additive.attention_weights[b, q, :length], weights.detach())
            close(output[b, q], weights @ values[b, :length])
    assert (additive.attention_weights[1, :, 2:] == 0).all()
    assert not additive.attention_weights.requires_grad


# ---- heads


@quick
@given(st.integers(0, 5), *(st.integers(1, 5) for _ in range(3)))
def test_heads_are_cut_and_joined(batch, n, heads, width):
    X = randn(batch, n, heads * width)
    cut = d2l.transpose_qkv(X, heads)
    assert cut.shape == (batch * heads, n, width)
    for b in range(batch):
        for h in range(heads):
            assert torch.equal(cut[b * heads + h], X[b, :, h * width : (h + 1) * width])
    assert torch.equal(d2l.transpose_output(cut, heads), X)


def test_heads_are_cut_from_an_input_that_is_no_single_block_of_memory():
    X = randn(3, 2, 8).transpose(0, 1)
    assert torch.equal(d2l.transpose_qkv(X, 4), d2l.transpose_qkv(X.contiguous(), 4))


# ---- MultiHeadAttention


def twins(num_hiddens, heads, dtype=torch.float64, bias=False, kdim=None, vdim=None):
    """Make one of ours and one of PyTorch's with the same weights."""
    torch.manual_seed(3)
    kdim, vdim = kdim or num_hiddens, vdim or num_hiddens
    ours = d2l.MultiHeadAttention(kdim, num_hiddens, vdim, num_hiddens, heads, 0.0, bias=bias).to(dtype)
    theirs = nn.MultiheadAttention(
        num_hiddens, heads, bias=bias, kdim=kdim, vdim=vdim, batch_first=True, dtype=dtype
    )
    weights = [ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]
    with torch.no_grad():
        if theirs.in_proj_weight is None:
            for mine, name in zip(weights, "qkv", strict=True):
                getattr(theirs, f"{name}_proj_weight").copy_(mine)
        else:
            theirs.in_proj_weight.copy_(torch.cat(weights))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
            theirs.out_proj.bias.copy_(ours.W_o.bias)
    return ours, theirs


def compare(ours, theirs, queries, keys, values, valid_lens, tolerance):
    padding = None
    if valid_lens is not None:
        padding = torch.arange(keys.shape[1]) >= valid_lens[:, None]  # PyTorch's layer: True = ignored
    inputs = [[x.clone().requires_grad_() for x in (queries, keys, values)] for _ in "ab"]
    mine = ours(*inputs[0], valid_lens)
    other, weights = theirs(*inputs[1], key_padding_mask=padding, average_attn_weights=False)
    close(mine, other, tolerance)
    close(ours.attention.attention_weights, weights.detach().flatten(0, 1), tolerance)
    cotangent = randn(*mine.shape, dtype=mine.dtype, seed=5)
    mine.backward(cotangent)
    other.backward(cotangent)
    for a, b in zip(*inputs, strict=True):
        close(a.grad, b.grad, tolerance)
    close(ours.W_o.weight.grad, theirs.out_proj.weight.grad, 4 * tolerance)
    if theirs.in_proj_weight is not None:
        grads = [x.weight.grad for x in (ours.W_q, ours.W_k, ours.W_v)]
        close(torch.cat(grads), theirs.in_proj_weight.grad, 4 * tolerance)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("valid_lens", [None, [5, 2, 1]])
@pytest.mark.parametrize("bias", [False, True])
def test_multi_head_attention_agrees_with_pytorch(dtype, valid_lens, bias):
    ours, theirs = twins(12, 3, dtype, bias)
    X, Y = randn(3, 4, 12, dtype=dtype), randn(3, 5, 12, dtype=dtype)
    lengths = None if valid_lens is None else torch.tensor(valid_lens)
    compare(ours, theirs, X, Y, Y, lengths, 2 * TOLERANCE[dtype])


def test_widths_of_queries_keys_and_values_may_differ():
    ours, theirs = twins(12, 4, kdim=5, vdim=7)
    compare(ours, theirs, randn(2, 3, 12), randn(2, 6, 5), randn(2, 6, 7), torch.tensor([6, 4]), 1e-9)


@quick
@given(st.data())
def test_multi_head_attention_agrees_with_pytorch_for_any_shape(data):
    batch, queries, keys, heads, width = (data.draw(st.integers(1, top)) for top in (3, 5, 5, 4, 3))
    ours, theirs = twins(heads * width, heads)
    lengths = data.draw(st.lists(st.integers(1, keys), min_size=batch, max_size=batch))
    Y = randn(batch, keys, heads * width)
    compare(ours, theirs, randn(batch, queries, heads * width), Y, Y, torch.tensor(lengths), 1e-9)


def test_multi_head_attention_is_the_written_out_form_of_every_head():
    multi_head = d2l.MultiHeadAttention(6, 6, 6, 6, 2, 0.0).double()
    X = randn(2, 4, 6)
    lengths = torch.tensor([4, 2])
    Q, K, V = (d2l.transpose_qkv(W(X), 2) for W in (multi_head.W_q, multi_head.W_k, multi_head.W_v))
    mask = may_attend(lengths, 4, 4).repeat_interleave(2, dim=0)
    output, weights = d2l.scaled_dot_product(Q, K, V, mask)
    close(multi_head(X, X, X, lengths), multi_head.W_o(d2l.transpose_output(output, 2)))
    close(multi_head.attention.attention_weights, weights.detach())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_a_sequence_without_keys_gives_zeros_and_zero_gradients(dtype, dropout):
    torch.manual_seed(0)
    multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, dropout).to(dtype)
    X = randn(2, 3, 8, dtype=dtype).requires_grad_()
    output = multi_head(X, X, X, torch.tensor([0, 2]))
    output.sum().backward()
    assert (output[0] == 0).all()
    assert (X.grad[0] == 0).all()
    assert output.isfinite().all()
    assert X.grad.isfinite().all()
    assert X.grad[1].abs().max() > 0
    for parameter in multi_head.parameters():
        assert parameter.grad.isfinite().all()


@pytest.mark.parametrize(("batch", "queries", "keys"), [(0, 3, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1)])
def test_nothing_and_a_single_token_are_sequences_too(batch, queries, keys):
    multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0)
    X, Y = torch.ones(batch, queries, 8, requires_grad=True), torch.ones(batch, keys, 8)
    output = multi_head(X, Y, Y, torch.full((batch,), keys))
    output.sum().backward()
    assert output.shape == (batch, queries, 8)
    assert multi_head.attention.attention_weights.shape == (batch * 2, queries, keys)
    assert X.grad.isfinite().all()
    if keys == 0:
        assert (output == 0).all()


def test_padding_may_hold_anything():
    """What lies beyond the valid length changes nothing before it."""
    multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0).double()
    X = randn(2, 5, 8)
    lengths = torch.tensor([3, 1])
    expected = multi_head(X, X, X, lengths)
    other = X.clone()
    other[0, 3:] = 100
    other[1, 1:] = -100
    actual = multi_head(X, other, other, lengths)
    close(actual, expected)


def test_order_of_tokens_does_not_matter_to_attention():
    multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0).double()
    X, order = randn(1, 5, 8), torch.tensor([3, 0, 4, 1, 2])
    close(multi_head(X[:, order], X[:, order], X[:, order]), multi_head(X, X, X)[:, order])


def test_parameters_are_four_matrices():
    multi_head = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5)
    assert [name for name, _ in multi_head.named_parameters()] == [f"W_{x}.weight" for x in "qkvo"]
    assert sum(x.numel() for x in multi_head.parameters()) == 40_000
    biased = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5, bias=True)
    assert sum(x.numel() for x in biased.parameters()) == 40_400


def test_a_copy_works_after_a_forward():
    multi_head = d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0)
    X = torch.ones(1, 2, 8)
    expected = multi_head(X, X, X)
    assert torch.equal(copy.deepcopy(multi_head)(X, X, X), expected)
    assert set(multi_head.state_dict()) == {f"W_{x}.weight" for x in "qkvo"}


def saved(module):
    buffer = io.BytesIO()
    torch.save(module, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "make", [lambda: d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.0), lambda: d2l.AdditiveAttention(8, 8, 8, 0.0)]
)
def test_a_saved_or_copied_module_carries_no_data(make):
    module = make()
    before = len(saved(module))
    X = torch.ones(64, 32, 8)
    expected = module(X, X, X)
    assert len(saved(module)) < before + 100
    for other in (copy.deepcopy(module), torch.load(io.BytesIO(saved(module)), weights_only=False)):
        with pytest.raises(RuntimeError, match="Call the module first"):
            _ = getattr(other, "attention", other).attention_weights
        assert torch.equal(other(X, X, X), expected)
    assert getattr(module, "attention", module).attention_weights.shape[1:] == (
        32,
        32,
    )  # the original has them


# ---- refusals

X = torch.zeros(2, 3, 4)
META = torch.zeros(2, dtype=torch.long, device="meta")
LENGTHS = torch.tensor([1, 2])


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: d2l.masked_softmax(X.long(), None), TypeError, "X: got torch.int64; .*X.float()"),
        (lambda: d2l.masked_softmax(X[0], None), ValueError, "X: got shape (3, 4); .*X.unsqueeze(0)"),
        (
            lambda: d2l.masked_softmax(X, [1, 2]),
            TypeError,
            "valid_lens: got list; .*torch.tensor(valid_lens)",
        ),
        (
            lambda: d2l.masked_softmax(X, LENGTHS.float()),
            TypeError,
            "valid_lens: got torch.float32; .*valid_lens.long()",
        ),
        (lambda: d2l.masked_softmax(X, LENGTHS > 1), TypeError, "valid_lens: got torch.bool; "),
        (
            lambda: d2l.masked_softmax(X, torch.tensor([1])),
            ValueError,
            "valid_lens: got shape (1,); .*(2,), (2, 3) or",
        ),
        (lambda: d2l.masked_softmax(X, torch.tensor(1)), ValueError, "valid_lens: got shape (); "),
        (
            lambda: d2l.masked_softmax(X, torch.ones(2, 4).long()),
            ValueError,
            "valid_lens: got shape (2, 4); ",
        ),
        (
            lambda: d2l.masked_softmax(X, META),
            ValueError,
            "valid_lens: got a tensor on meta; .*valid_lens.to('cpu')",
        ),
        (lambda: d2l.sequence_mask(X[0, 0], LENGTHS), ValueError, "X: got shape (4,); .*X.unsqueeze(0)"),
        (
            lambda: d2l.sequence_mask(X, torch.ones(2, 3).long()),
            ValueError,
            "valid_len: got shape (2, 3); .*(2,)",
        ),
        (lambda: d2l.sequence_mask(X, LENGTHS.float()), TypeError, "valid_len: got torch.float32; "),
        (
            lambda: d2l.scaled_dot_product(X, X, X, mask=torch.zeros(3, 3)),
            TypeError,
            "mask: got torch.float32; .*mask.bool()",
        ),
        (
            lambda: d2l.scaled_dot_product(X, X, X, mask=torch.ones(2, 3) > 0),
            ValueError,
            "mask: got shape (2, 3); it must broadcast to (2, 3, 3), .*a row for each query",
        ),
        (lambda: d2l.DotProductAttention(0.0)(X, X, X, mask=[1]), TypeError, "mask: got list; "),
        (
            lambda: d2l.masked_softmax(X[:, None], None, torch.ones(2, 1, 3, 4) > 0),
            ValueError,
            "mask: got shape (2, 1, 3, 4); it must broadcast to (2, 3, 4)",
        ),
        (
            lambda: d2l.masked_softmax(X, None, META > 0),
            ValueError,
            "mask: got shape (2,); it must broadcast to (2, 3, 4)",
        ),
        (
            lambda: d2l.masked_softmax(X, LENGTHS, torch.ones(3, 4, device="meta") > 0),
            ValueError,
            "mask: got a tensor on meta; .*mask.to('cpu')",
        ),
        (lambda: d2l.causal_mask(-1), ValueError, "n: got -1; "),
        (lambda: d2l.local_mask(-1, 3), ValueError, "n: got -1; "),
        (lambda: d2l.local_mask(4, 4), ValueError, "width: got 4; .*Set width to 5"),
        (lambda: d2l.local_mask(4, 0), ValueError, "width: got 0; .*Set width to 1"),
        (lambda: d2l.padding_mask([1, 2], 3), TypeError, "valid_lens: got list; "),
        (lambda: d2l.padding_mask(LENGTHS > 0, 3), TypeError, "valid_lens: got torch.bool; "),
        (lambda: d2l.padding_mask(torch.tensor(3), 3), ValueError, "valid_lens: got shape (); "),
        (lambda: d2l.padding_mask(LENGTHS, -1), ValueError, "n: got -1; "),
        (
            lambda: d2l.scaled_dot_product(X, X[:1], X[:1]),
            ValueError,
            "keys: got shape (1, 3, 4) .*same batch",
        ),
        (
            lambda: d2l.scaled_dot_product(X, X, X[:, :2]),
            ValueError,
            "values: got shape (2, 2, 4) .*each key its value",
        ),
        (lambda: d2l.scaled_dot_product(X, X[..., :2], X), ValueError, "keys: got width 2 .*nn.Linear"),
        (
            lambda: d2l.DotProductAttention(0.0)(X[0], X[0], X[0]),
            ValueError,
            "queries: got shape (3, 4); .*queries.unsqueeze(0)",
        ),
        (
            lambda: d2l.AdditiveAttention(4, 4, 5, 0.0)(X, X, X[:1]),
            ValueError,
            "values: got shape (1, 3, 4) .*each key its value",
        ),
        (
            lambda: d2l.MultiHeadAttention(4, 4, 4, 4, 2, 0.0)(X[0], X, X),
            ValueError,
            "queries: got shape (3, 4); .*(batch, n, 4).*queries.unsqueeze(0)",
        ),
        (
            lambda: d2l.MultiHeadAttention(5, 4, 4, 4, 2, 0.0)(X, X, X),
            ValueError,
            "keys: got shape (2, 3, 4); .*(batch, n, 5).*width of your keys",
        ),
        (
            lambda: d2l.MultiHeadAttention(100, 100, 100, 100, 7, 0.5),
            ValueError,
            "num_heads: got 7 for num_hiddens=100; .*Set num_heads to 5 or 10",
        ),
        (
            lambda: d2l.MultiHeadAttention(8, 8, 8, 8, 0, 0.5),
            ValueError,
            "num_heads: got 0 .*Set num_heads to 1",
        ),
        (
            lambda: d2l.MultiHeadAttention(4, 4, 4, 4, 9, 0.5),
            ValueError,
            "Set num_heads to 4",
        ),
        (lambda: d2l.transpose_qkv(X[0], 2), ValueError, "X: got shape (3, 4); .*X.unsqueeze(0)"),
        (lambda: d2l.transpose_qkv(X, 3), ValueError, "num_heads: got 3 for num_hiddens=4"),
        (lambda: d2l.transpose_output(X, 3), ValueError, "X: got shape (2, 3, 4) for 3 heads; "),
    ],
)
def test_a_refusal_says_what_came_what_is_allowed_and_what_to_do(call, error, sentence):
    pattern = ".*".join(re.escape(part) for part in sentence.split(".*"))
    with pytest.raises(error, match=pattern) as refusal:
        call()
    assert "; " in str(refusal.value)  # what came; what is allowed. What to do
