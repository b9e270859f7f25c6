"""The Transformer: blocks against PyTorch, what a token may see, one token at a time against all at once."""

import math
import re

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn

import d2lmini as d2l

torch.set_num_threads(1)
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 2e-2, torch.bfloat16: 1e-1}
WIDTH, HEADS, FFN = 8, 2, 12


def randn(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed + sum(shape)))


def tokens(batch, n, vocab_size=20, seed=0):
    return torch.randint(vocab_size, (batch, n), generator=torch.Generator().manual_seed(seed + batch + n))


def close(actual, expected, tolerance=1e-9):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def sizes(**changes):
    """All arguments of a block; the widths that must be equal are."""
    given = {
        "key_size": WIDTH,
        "query_size": WIDTH,
        "value_size": WIDTH,
        "num_hiddens": WIDTH,
        "norm_shape": [WIDTH],
    }
    return (
        given | {"ffn_num_input": WIDTH, "ffn_num_hiddens": FFN, "num_heads": HEADS, "dropout": 0.0} | changes
    )


def make(cls, *args, dtype=torch.float64, **changes):
    torch.manual_seed(4)
    return cls(*args, **sizes(**changes)).to(dtype)


@torch.no_grad()
def copy_attention(ours, theirs):
    theirs.in_proj_weight.copy_(torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
    theirs.out_proj.weight.copy_(ours.W_o.weight)
    if ours.W_o.bias is None:
        theirs.in_proj_bias.zero_()
        theirs.out_proj.bias.zero_()
    else:
        theirs.in_proj_bias.copy_(torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
        theirs.out_proj.bias.copy_(ours.W_o.bias)


def copy_rest(ours, theirs, norms):
    theirs.linear1.load_state_dict(ours.ffn.dense1.state_dict())
    theirs.linear2.load_state_dict(ours.ffn.dense2.state_dict())
    for i in range(1, norms + 1):
        # different from the ones and zeros they start with, so that a forgotten one shows
        ln = getattr(ours, f"addnorm{i}").ln
        with torch.no_grad():
            ln.weight.copy_(randn(WIDTH, seed=i))
            ln.bias.copy_(randn(WIDTH, seed=9 + i))
        getattr(theirs, f"norm{i}").load_state_dict(ln.state_dict())


def padding(lengths, n):
    return torch.arange(n) >= lengths[:, None]  # PyTorch's layers: True = ignored


# --- parts --------------------------------------------------------------------------------------------------


def test_ffn_treats_every_position_alike():
    ffn = d2l.PositionWiseFFN(4, 6, 3).double()
    X = randn(2, 5, 4)
    for b in range(2):
        for t in range(5):
            close(ffn(X)[b, t], ffn.dense2.weight @ ffn.dense1(X[b, t]).clamp(min=0) + ffn.dense2.bias)


@pytest.mark.parametrize("shape", [4, [4], [3, 4]])
def test_add_norm_is_the_layer_norm_of_the_sum(shape):
    X, Y = randn(2, 3, 4), randn(2, 3, 4, seed=1)
    axes = (-1,) if shape != [3, 4] else (-2, -1)
    total = X + Y
    mean, variance = total.mean(axes, keepdim=True), total.var(axes, keepdim=True, correction=0)
    close(d2l.AddNorm(shape, 0.0).double()(X, Y), (total - mean) / (variance + 1e-5).sqrt())


def test_add_norm_drops_from_the_layer_not_from_the_residual():
    X = randn(2, 3, 4)
    close(d2l.AddNorm(4, 1.0).double()(X, 100 * X), nn.LayerNorm(4).double()(X))


# --- blocks against PyTorch ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("use_bias", [False, True])
@pytest.mark.parametrize("lengths", [None, [5, 2, 1]])
def test_encoder_block_agrees_with_pytorch(dtype, use_bias, lengths):
    ours = make(d2l.EncoderBlock, use_bias=use_bias)
    theirs = nn.TransformerEncoderLayer(WIDTH, HEADS, FFN, dropout=0.0, batch_first=True).double()
    copy_attention(ours.attention, theirs.self_attn)
    copy_rest(ours, theirs, norms=2)
    ours, theirs = ours.to(dtype), theirs.to(dtype)
    lengths = None if lengths is None else torch.tensor(lengths)
    inputs = [randn(3, 5, WIDTH, dtype=dtype).requires_grad_() for _ in "ab"]
    mine = ours(inputs[0], lengths)
    other = theirs(inputs[1], src_key_padding_mask=None if lengths is None else padding(lengths, 5))
    close(mine, other, TOLERANCE[dtype])
    for output in (mine, other):
        output.backward(randn(3, 5, WIDTH, dtype=dtype, seed=8))
    close(inputs[0].grad, inputs[1].grad, 2 * TOLERANCE[dtype])
    close(ours.ffn.dense1.weight.grad, theirs.linear1.weight.grad, 2 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("training", [True, False])
def test_decoder_block_agrees_with_pytorch(dtype, training):
    ours = make(d2l.DecoderBlock, i=0)
    theirs = nn.TransformerDecoderLayer(WIDTH, HEADS, FFN, dropout=0.0, batch_first=True).double()
    copy_attention(ours.attention1, theirs.self_attn)
    copy_attention(ours.attention2, theirs.multihead_attn)
    copy_rest(ours, theirs, norms=3)
    ours, theirs = ours.to(dtype).train(training), theirs.to(dtype).train(training)
    lengths = torch.tensor([6, 2, 1])
    inputs = [[randn(3, n, WIDTH, dtype=dtype).requires_grad_() for n in (4, 6)] for _ in "ab"]
    mine, _ = ours(inputs[0][0], [inputs[0][1], lengths, [None]])
    causal = torch.ones(4, 4, dtype=torch.bool).triu(1)
    other = theirs(*inputs[1], tgt_mask=causal, memory_key_padding_mask=padding(lengths, 6))
    close(mine, other, TOLERANCE[dtype])
    for output in (mine, other):
        output.backward(randn(3, 4, WIDTH, dtype=dtype, seed=8))
    for a, b in zip(*inputs, strict=True):
        close(a.grad, b.grad, 2 * TOLERANCE[dtype])


def test_encoder_scales_embeddings_and_adds_positions():
    encoder = make(d2l.TransformerEncoder, 20, num_layers=2)
    X, lengths = tokens(2, 5), torch.tensor([5, 3])
    Y = encoder.embedding(X) * math.sqrt(WIDTH) + encoder.pos_encoding.P[:, :5]
    for blk in encoder.blks:
        Y = blk(Y, lengths)
    close(encoder(X, lengths), Y)


# --- what a token may see -----------------------------------------------------------------------------------


@pytest.mark.parametrize("training", [True, False])
def test_a_token_never_sees_the_tokens_after_it(training):
    decoder = make(d2l.TransformerDecoder, 20, num_layers=2).train(training)
    source = randn(1, 4, WIDTH)
    X = tokens(1, 6)
    expected, _ = decoder(X, decoder.init_state(source, None))
    assert all((weights.triu(1) == 0).all() for weights in decoder.attention_weights[0])
    for t in range(1, 6):
        other = X.clone()
        other[:, t:] = (other[:, t:] + 7) % 20
        actual, _ = decoder(other, decoder.init_state(source, None))
        close(actual[:, :t], expected[:, :t])
        assert not torch.allclose(actual[:, t], expected[:, t])


def test_a_later_loss_gives_no_gradient_to_an_earlier_answer_from_the_future():
    block = make(d2l.DecoderBlock, i=0)
    X = randn(1, 5, WIDTH).requires_grad_()
    Y, _ = block(X, [randn(1, 3, WIDTH), None, [None]])
    Y[:, 2].sum().backward()
    assert (X.grad[:, 3:] == 0).all()
    assert X.grad[:, :3].abs().sum() > 0


@pytest.mark.parametrize("training", [True, False])
def test_padding_of_the_source_changes_nothing(training):
    net = d2l.EncoderDecoder(
        make(d2l.TransformerEncoder, 20, num_layers=2), make(d2l.TransformerDecoder, 20, num_layers=2)
    ).train(training)
    source, target, lengths = tokens(2, 6), tokens(2, 4), torch.tensor([6, 3])
    expected, _ = net(source, target, lengths)
    source[1, 3:] = (source[1, 3:] + 5) % 20
    close(net(source, target, lengths)[0], expected)


# --- one token at a time ------------------------------------------------------------------------------------


def in_parts(decoder, X, state, parts):
    steps = []
    for part in X.split(parts, dim=1):
        step, state = decoder(part, state)
        steps.append(step)
    return torch.cat(steps, dim=1), state


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    parts=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    batch=st.integers(1, 3),
    source_steps=st.integers(1, 4),
    training=st.booleans(),
)
def test_decoding_in_any_parts_equals_decoding_all_at_once(parts, batch, source_steps, training):
    decoder = make(d2l.TransformerDecoder, 20, num_layers=2).train(training)
    decoder.pos_encoding = d2l.PositionalEncoding(WIDTH, 0.0, max_len=4)  # the longer sequences go beyond it
    source = randn(batch, source_steps, WIDTH)
    lengths = torch.arange(batch) % (source_steps + 1)
    X = tokens(batch, sum(parts))
    expected, _ = decoder(X, decoder.init_state(source, lengths))
    actual, state = in_parts(decoder, X, decoder.init_state(source, lengths), parts)
    close(actual, expected)
    assert [past.shape for past in state[2]] == [(batch, sum(parts), 2 * WIDTH)] * 2


@pytest.mark.parametrize("dtype", FLOATS)
def test_token_by_token_equals_all_at_once_in_any_type(dtype):
    decoder = make(d2l.TransformerDecoder, 20, num_layers=2, dtype=dtype).eval()
    source, X = randn(2, 4, WIDTH, dtype=dtype), tokens(2, 6)
    lengths = torch.tensor([4, 0])
    expected, _ = decoder(X, decoder.init_state(source, lengths))
    assert expected.dtype == dtype
    assert expected.isfinite().all()
    actual, _ = in_parts(decoder, X, decoder.init_state(source, lengths), [1] * 6)
    close(actual, expected, TOLERANCE[dtype])


def test_the_cache_holds_projected_keys_and_values():
    decoder = make(d2l.TransformerDecoder, 20, num_layers=2).eval()
    X = tokens(2, 5)
    _, state = in_parts(decoder, X, decoder.init_state(randn(2, 4, WIDTH), None), [2, 1, 2])
    came_in = decoder.pos_encoding(decoder.embedding(X) * math.sqrt(WIDTH))  # into the first block
    keys, values = state[2][0].chunk(2, dim=-1)
    close(keys, decoder.blks[0].attention1.W_k(came_in))
    close(values, decoder.blks[0].attention1.W_v(came_in))


def test_one_more_token_projects_one_token_and_no_source():
    """Whatever was read or said before, a step projects its own token, and nothing of the source."""
    decoder = make(d2l.TransformerDecoder, 20, num_layers=2).eval()
    projected = {}

    def watch(name):
        return lambda module, args, output: projected.setdefault(name, []).append(args[0].shape[1])

    for name, module in decoder.named_modules():
        if name.endswith(("W_k", "W_v")):
            module.register_forward_hook(watch(name))
    in_parts(decoder, tokens(1, 5), decoder.init_state(randn(1, 7, WIDTH), None), [3, 1, 1])
    assert len(projected) == 8
    for name, lengths in projected.items():
        assert lengths == ([3, 1, 1] if "attention1" in name else [7])


@pytest.mark.parametrize("places", [3, 4])
def test_a_state_of_d2ls_and_a_new_source_are_understood(places):
    """D2L's state has three parts; and a search may put other rows of the source into the first."""
    decoder = make(d2l.TransformerDecoder, 20, num_layers=2).eval()
    source, other, X = randn(2, 4, WIDTH), randn(2, 4, WIDTH, seed=1), tokens(2, 3)
    _, state = decoder(X[:, :2], decoder.init_state(source, None)[:places])
    assert len(state) == places
    state[0] = other
    actual, _ = decoder(X[:, 2:], state)
    _, fresh = decoder(X[:, :2], decoder.init_state(source, None))
    expected, _ = decoder(X[:, 2:], [other, None, fresh[2]])
    close(actual, expected)
    kept, _ = decoder(X[:, 2:], [source, None, [past[:, :2] for past in fresh[2]]])
    assert not torch.allclose(actual, kept)


def test_beams_may_be_chosen_and_repeated_in_the_cache():
    decoder = make(d2l.TransformerDecoder, 20, num_layers=2).eval()
    source, X = randn(1, 4, WIDTH), tokens(3, 4)
    start = decoder.init_state(source.expand(3, -1, -1), None)
    _, state = decoder(X[:, :3], start)
    rows = torch.tensor([2, 0, 2])
    state[2] = [past[rows] for past in state[2]]
    actual, _ = decoder(X[:, 3:], state)
    chosen = torch.cat([X[rows, :3], X[:, 3:]], dim=1)
    expected, _ = decoder(chosen, decoder.init_state(source.expand(3, -1, -1), None))
    close(actual, expected[:, 3:])


def test_weights_of_encoder_and_decoder_can_be_read():
    net = d2l.EncoderDecoder(
        make(d2l.TransformerEncoder, 20, num_layers=2), make(d2l.TransformerDecoder, 20, num_layers=3)
    )
    lengths = torch.tensor([6, 3])
    _, state = net(tokens(2, 6), tokens(2, 4), lengths)
    _, state = net.decoder(tokens(2, 1), state)
    assert [w.shape for w in net.encoder.attention_weights] == [(2 * HEADS, 6, 6)] * 2
    own, source = net.decoder.attention_weights
    assert [w.shape for w in own] == [(2 * HEADS, 1, 5)] * 3
    assert [w.shape for w in source] == [(2 * HEADS, 1, 6)] * 3
    assert (source[0][HEADS:, :, 3:] == 0).all()  # the second sequence ends after three tokens


@pytest.mark.parametrize(("batch", "n"), [(0, 3), (1, 1), (2, 0)])
def test_an_empty_batch_and_a_single_token_pass(batch, n):
    encoder, decoder = (
        make(d2l.TransformerEncoder, 20, num_layers=1),
        make(d2l.TransformerDecoder, 20, num_layers=1),
    )
    source = encoder(tokens(batch, n), torch.full((batch,), n))
    assert source.shape == (batch, n, WIDTH)
    scores, _ = decoder(tokens(batch, n), decoder.init_state(source, None))
    assert scores.shape == (batch, n, 20)


def test_everything_learns():
    net = d2l.EncoderDecoder(
        make(d2l.TransformerEncoder, 20, num_layers=1), make(d2l.TransformerDecoder, 20, num_layers=1)
    )
    output, _ = net(tokens(3, 5), tokens(3, 4), torch.tensor([5, 3, 0]))
    (output**2).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() and p.grad.any() for p in net.parameters())


def test_names_of_the_weights():
    names = {
        name.split(".", 2)[2]
        for name in make(d2l.TransformerEncoder, 20, num_layers=1).blks.state_dict(prefix="a.")
    }
    assert {"attention.W_q.weight", "addnorm1.ln.weight", "ffn.dense1.bias", "ffn.dense2.weight"} <= names
    for use_bias in (False, True):
        blocks = make(d2l.TransformerEncoder, 20, num_layers=2, use_bias=use_bias).blks.state_dict()
        assert ("block1.attention.W_q.bias" in blocks) is use_bias
    assert "pos_encoding.P" not in make(d2l.TransformerEncoder, 20, num_layers=1).state_dict()


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: d2l.AddNorm(4, 0.0)(torch.ones(2, 3, 4), torch.ones(2, 1, 4)),
            "Y: got shape (2, 1, 4) for X",
        ),
        (lambda: make(d2l.EncoderBlock, query_size=9), "query_size: got width 9 for num_hiddens=8"),
        (lambda: make(d2l.EncoderBlock, ffn_num_input=9), "ffn_num_input: got width 9 for num_hiddens=8"),
        (lambda: make(d2l.DecoderBlock, i=0, norm_shape=[5, 9]), "norm_shape: got width 9 for num_hiddens=8"),
        (lambda: make(d2l.DecoderBlock, i=0, num_heads=3), "num_heads: got 3 for num_hiddens=8"),
        (lambda: make(d2l.TransformerEncoder, 20, num_layers=0), "num_layers: got 0"),
        (lambda: make(d2l.TransformerDecoder, 20, num_layers=0), "num_layers: got 0"),
    ],
)
def test_a_refusal_says_what_came_and_what_to_do(call, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        call()


@pytest.mark.parametrize("cls", [d2l.TransformerEncoder, d2l.TransformerDecoder])
def test_what_is_no_token_is_refused_in_words(cls):
    model = make(cls, 20, num_layers=1)
    state = [randn(1, 2, WIDTH), None, [None]] if cls is d2l.TransformerDecoder else None
    for X, error, sentence in (
        (torch.ones(1, 3), TypeError, "X: got torch.float32; .*X.long()"),
        (torch.tensor([[0, 20]]), IndexError, "X: got tokens from 0 to 20; this model knows 0 to 19"),
        (torch.tensor([[-1, 3]]), IndexError, "X: got tokens from -1 to 3; "),
    ):
        with pytest.raises(error, match=sentence):
            model(X, state)
    model(torch.tensor([[0, 19]], dtype=torch.int32), state)


def test_a_model_made_without_numbers_gets_its_tables_back():
    """On the meta device a model has shapes only; `to_empty` fills it with whatever lies in memory."""
    with torch.device("meta"):
        empty = d2l.TransformerEncoder(20, **sizes(), num_layers=1)
    expected = make(d2l.TransformerEncoder, 20, num_layers=1, dtype=torch.float32)
    empty = empty.to_empty(device="cpu")
    empty.pos_encoding.P.fill_(math.nan)  # such as may lie there
    for module in empty.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    empty.load_state_dict(expected.state_dict())
    close(empty(tokens(2, 5), None), expected(tokens(2, 5), None))


def test_base_classes_name_what_a_subclass_must_define():
    X = torch.ones(1, 1)
    for call in (
        lambda: d2l.Encoder()(X),
        lambda: d2l.Decoder()(X, None),
        lambda: d2l.Decoder().init_state(X),
        lambda: d2l.AttentionDecoder().attention_weights,
    ):
        with pytest.raises(NotImplementedError, match="does not define"):
            call()


def test_recorded_norms_hold_what_the_chapter_says() -> None:
    shares: dict[tuple[str, int, float, int, float], list[float]] = {}
    for row in d2l.recorded_norms():
        assert row["device"] and len(row["losses"]) == 100
        recipe = tuple(row[key] for key in ("form", "blocks", "rate", "warmup", "clip"))
        shares.setdefault(recipe, []).append(row["right_100"])
    none = float("inf")
    assert all(len(of_seeds) == 5 for of_seeds in shares.values())
    for learned in (("post_norm", 2, 0.01, 1, none), ("pre_norm", 2, 0.01, 1, none)):
        assert min(shares[learned]) == 1
    assert min(shares["pre_norm", 24, 0.01, 1, none]) == min(shares["post_norm", 24, 0.01, 30, none]) == 1
    assert max(shares["post_norm", 24, 0.01, 1, none]) == max(shares["post_norm", 24, 0.01, 1, 0.1]) == 0.125
    assert max(shares["post_norm", 24, 0.005, 1, none]) == 0.5
