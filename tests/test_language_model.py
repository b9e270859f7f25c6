"""Language models: a cache that changes nothing but the cost, shared and turned heads, norms, refusals."""

import inspect

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

import d2lmini as d2l

torch.set_num_threads(1)
V, D, HEADS, HIDDEN = 13, 16, 4, 32
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}


def model(layers=2, make_ffn=d2l.PositionWiseFFN, norm=nn.LayerNorm, last=True, seed=0, **options):
    torch.manual_seed(seed)
    whole = {name: options.pop(name) for name in ("tied", "pos_encoding") if name in options}
    sizes = (D, HIDDEN, D) if make_ffn is d2l.PositionWiseFFN else (D, HIDDEN)
    blocks = [d2l.PreNormBlock(D, HEADS, make_ffn(*sizes), norm, **options) for _ in range(layers)]
    return d2l.LanguageModel(V, D, blocks, norm if last else None, **whole).double()


MODELS = {
    "plain": {},
    "grouped": {"num_kv_heads": 2},
    "one for all": {"num_kv_heads": 1},
    "normed": {"qk_norm": d2l.RMSNorm},
    "today": {
        "num_kv_heads": 2,
        "qk_norm": d2l.RMSNorm,
        "norm": d2l.RMSNorm,
        "make_ffn": d2l.SwiGLU,
        "tied": True,
    },
    "added positions": {"rotary": False, "pos_encoding": d2l.PositionalEncoding(D, 0), "last": False},
}
every_model = pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)


def tokens(batch=3, n=9, seed=0):
    return torch.randint(V, (batch, n), generator=torch.Generator().manual_seed(seed))


def close(actual, expected, tolerance=1e-9):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


# ---- the cache


@every_model
@pytest.mark.parametrize("steps", [[1] * 9, [2, 7], [3, 1, 4, 1]])
def test_some_at_a_time_gives_what_all_at_once_gives(options, steps):
    net, X = model(**options), tokens()
    together, whole = net(X)
    weights = net.attention_weights
    state, parts, rows = None, [], [[], []]
    for part in X.split(steps, dim=1):
        logits, state = net(part, state)
        parts.append(logits)
        for row, seen in zip(rows, net.attention_weights, strict=True):
            row.append(F.pad(seen, (0, 9 - seen.shape[-1])))  # what is yet to come has no weight
    close(torch.cat(parts, dim=1), together)
    for row, expected in zip(rows, weights, strict=True):
        close(torch.cat(row, dim=1), expected)
    width = options.get("num_kv_heads", HEADS) * D // HEADS
    for kept, expected in zip(state, whole, strict=True):
        assert [X.shape for X in kept] == [(3, 9, width)] * 2
        close(kept[0], expected[0])
        close(kept[1], expected[1])


@every_model
def test_a_cached_text_is_the_uncached_one_token_by_token(options):
    net = model(**options)
    for seed in range(4):
        drawn = {"temperature": 5.0, "generator": torch.Generator()}
        written = []
        for cached in (True, False):
            drawn["generator"].manual_seed(seed)
            written.append(d2l.generate(net, [1, 2, 3], 20, cached=cached, **drawn))
        assert written[0] == written[1] and len(set(written[0])) > 3


def products(new, seen, vocab, d, hidden, layers, kv=1.0):
    """Return the multiply-adds for new tokens that look at `seen`, themselves included, from the formulas."""
    return new * d * vocab + layers * new * (2 * d * d + 2 * d * kv * d + 2 * d * hidden + 2 * seen * d)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_the_cache_saves_the_products_that_it_should(cached, kv_heads):
    """As in `bench --section writing`: d 256, 4 layers; the first 24 tokens, without any numbers."""
    n, vocab, d, layers = 24, 512, 256, 4
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
        blocks = [
            d2l.PreNormBlock(d, 4, d2l.PositionWiseFFN(d, 4 * d, d), num_kv_heads=kv_heads)
            for _ in range(layers)
        ]
        net, state = d2l.LanguageModel(vocab, d, blocks), None
        for i in range(1, n + 1):
            _, state = net(torch.zeros(1, 1 if cached else i, dtype=torch.long), state if cached else None)
    sizes = (vocab, d, 4 * d, layers, kv_heads / 4)
    expected = sum(products(1 if cached else i, i, *sizes) for i in range(1, n + 1))
    assert counter.get_total_flops() // 2 == expected


@every_model
def test_no_token_sees_a_later_one(options):
    net, X = model(**options), tokens()
    before, _ = net(X)
    X[:, 6:] = (X[:, 6:] + 1) % V
    after, _ = net(X)
    assert torch.equal(before[:, :6], after[:, :6]) and not torch.allclose(before[:, 6:], after[:, 6:])
    for weights in net.attention_weights:
        assert weights.shape == (3 * HEADS, 9, 9)
        assert torch.equal(weights > 0, d2l.causal_mask(9).expand_as(weights))
        close(weights.sum(-1), torch.ones(3 * HEADS, 9, dtype=torch.float64))


# ---- the block and its parts


def test_a_block_is_its_formula():
    block = model(layers=1).blks[0]
    X = torch.randn(2, 5, D, dtype=torch.float64)
    Y, _ = block(X)
    attention, turn = block.attention, d2l.RotaryEmbedding(D // HEADS).double()
    Z = F.layer_norm(X, (D,), block.norm1.weight, block.norm1.bias, block.norm1.eps)
    Q, K, W = (
        d2l.transpose_qkv(Z @ layer.weight.T, HEADS)
        for layer in (attention.W_q, attention.W_k, attention.W_v)
    )
    heads, _ = d2l.scaled_dot_product(turn(Q), turn(K), W, d2l.causal_mask(5))
    X = X + d2l.transpose_output(heads, HEADS) @ attention.W_o.weight.T
    Z = F.layer_norm(X, (D,), block.norm2.weight, block.norm2.bias, block.norm2.eps)
    close(Y, X + block.ffn(Z))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1000.0])  # the square of 1000 is more than float16 can hold
def test_rms_norm_is_that_of_pytorch(dtype, scale):
    norm = d2l.RMSNorm(8, eps=1e-5).to(dtype)
    nn.init.normal_(norm.weight)
    ours, theirs = ((torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(1)) * scale).to(dtype),) * 2
    ours, theirs = ours.clone().requires_grad_(), theirs.clone().requires_grad_()
    mine, expected = norm(ours), F.rms_norm(theirs, (8,), norm.weight, 1e-5)
    assert mine.dtype == dtype
    close(mine, expected, TOLERANCE[dtype])
    mine.sum().backward()
    expected.sum().backward()
    close(ours.grad * scale, theirs.grad * scale, 3 * TOLERANCE[dtype])
    assert (norm(torch.zeros(1, 8, dtype=dtype)) == 0).all()


def test_swiglu_is_its_formula():
    ffn = d2l.SwiGLU(6, 16).double()
    X = torch.randn(2, 3, 6, dtype=torch.float64)
    gate = X @ ffn.W_gate.weight.T
    close(ffn(X), (gate * torch.sigmoid(gate) * (X @ ffn.W_up.weight.T)) @ ffn.W_down.weight.T)
    assert [name for name, _ in ffn.named_parameters()] == ["W_gate.weight", "W_up.weight", "W_down.weight"]


@every_model
@pytest.mark.parametrize("dtype", FLOATS)
def test_other_types_come_near_the_same_scores(options, dtype):
    net, X = model(**options), tokens()
    expected, _ = net(X)
    logits, state = net.to(dtype)(X)
    assert logits.dtype == state[0][0].dtype == dtype
    close(logits.double(), expected.detach(), 5 * TOLERANCE[dtype])


def test_tied_scores_are_products_with_the_embeddings():
    tied, free = model(tied=True), model()
    assert tied.dense.weight is tied.embedding.weight
    assert sum(w.numel() for w in free.parameters()) - sum(w.numel() for w in tied.parameters()) == V * D


# ---- shared, normed and turned heads


def multi_head(seed=0, **options):
    torch.manual_seed(seed)
    return d2l.MultiHeadAttention(8, 8, 8, 24, 6, 0.0, **options).double().eval()


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("bias", [False, True])
def test_shared_heads_are_ordinary_heads_with_copied_keys_and_values(num_kv_heads, bias):
    shared, ordinary = multi_head(num_kv_heads=num_kv_heads, bias=bias), multi_head(bias=bias)
    copied = shared.state_dict()
    for name in [name for name in copied if name[:3] in ("W_k", "W_v")]:
        heads = copied[name].unflatten(0, (num_kv_heads, 4))  # (num_kv_heads, head_dim, [key_size])
        copied[name] = heads.repeat_interleave(6 // num_kv_heads, dim=0).flatten(0, 1)
    ordinary.load_state_dict(copied)
    X, Y = torch.randn(2, 3, 8, dtype=torch.float64), torch.randn(2, 5, 8, dtype=torch.float64)
    for masks in ({}, {"valid_lens": torch.tensor([5, 2])}, {"mask": torch.rand(3, 5) > 0.3}):
        close(shared(X, Y, Y, **masks), ordinary(X, Y, Y, **masks))
        close(shared.attention.attention_weights, ordinary.attention.attention_weights)
    assert shared.project(Y, Y)[0].shape == (2, 5, 4 * num_kv_heads)


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 2, "qk_norm": d2l.RMSNorm}])
def test_turned_heads_know_distances_only(options):
    """The same tokens behind 7 or 40 others that nobody may see attend to each other as they did alone."""
    turned = multi_head(turn=d2l.RotaryEmbedding(4), **options)
    X = torch.randn(2, 5, 8, dtype=torch.float64)
    alone = turned(X, X, X, mask=d2l.causal_mask(5))
    for far in (7, 40):
        Y = torch.cat((torch.randn(2, far, 8, dtype=torch.float64), X), dim=1)
        mask = torch.cat((torch.zeros(5, far, dtype=torch.bool), d2l.causal_mask(5)), dim=1)
        close(turned.attend(X, *turned.project(Y, Y), mask=mask), alone, 1e-5)  # a table in float32
        moved = turned.attend(X, *turned.project(X, X, far), mask=d2l.causal_mask(5))  # the keys alone
        assert not torch.allclose(moved, alone, atol=1e-3)
    mixed = X.flip(1)
    assert not torch.allclose(turned(mixed, mixed, mixed).flip(1), turned(X, X, X), atol=1e-3)


def test_normed_queries_and_keys_forget_their_length():
    normed = multi_head(qk_norm=lambda d: d2l.RMSNorm(d, eps=0.0))
    X = torch.randn(2, 5, 8, dtype=torch.float64)
    expected = normed(X, X, X)
    with torch.no_grad():
        normed.W_q.weight.mul_(10)
        normed.W_k.weight.mul_(0.1)
    close(normed(X, X, X), expected)
    assert normed.q_norm is not normed.k_norm
    with torch.no_grad():
        normed.q_norm.weight.zero_()
    normed(X, X, X)
    close(normed.attention.attention_weights, torch.full((12, 5, 5), 0.2, dtype=torch.float64))


def test_without_the_new_arguments_it_is_the_module_of_d2l():
    parameters = list(inspect.signature(d2l.MultiHeadAttention).parameters.values())
    names = ["key_size", "query_size", "value_size", "num_hiddens", "num_heads", "dropout", "bias"]
    assert [p.name for p in parameters[:7]] == names and parameters[6].default is False
    assert all(p.kind is p.KEYWORD_ONLY and p.default is None for p in parameters[7:])
    assert list(multi_head().state_dict()) == [f"W_{letter}.weight" for letter in "qkvo"]
    assert repr(multi_head()) == repr(multi_head(num_kv_heads=6))  # the text itself: test_d2l_compat.py
    assert list(multi_head(turn=d2l.RotaryEmbedding(4)).state_dict()) == list(multi_head().state_dict())


# ---- refusals


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: multi_head(num_kv_heads=4), ValueError, "num_kv_heads: got 4 for num_heads=6; .*a divisor"),
        (lambda: multi_head(num_kv_heads=0), ValueError, "num_kv_heads: got 0 for num_heads=6; "),
        (lambda: model(num_kv_heads=8), ValueError, "num_kv_heads: got 8 for num_heads=4; "),
        (lambda: d2l.PreNormBlock(12, 4, nn.Identity()), ValueError, "head_dim: got 3; .*as 4"),
        (lambda: d2l.PreNormBlock(10, 3, nn.Identity()), ValueError, "num_heads: got 3 .*to 2 or 5"),
        (lambda: d2l.PreNormBlock(10, 0, nn.Identity()), ValueError, "num_heads: got 0 .*to 1"),
        (lambda: d2l.LanguageModel(V, D, []), ValueError, "blocks: got none; give 1 block or more"),
        (lambda: model()(torch.tensor([[1, V]])), IndexError, "X: got tokens from 1 to 13; .*0 to 12"),
        (lambda: model()(torch.ones(1, 2)), TypeError, r"X: got torch.float32; .*X.long\(\)"),
        (lambda: model().attention_weights, RuntimeError, "before the first forward. Call the module first"),
    ],
)
def test_refusals_name_argument_value_and_mend(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
