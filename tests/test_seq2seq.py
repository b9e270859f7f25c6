"""The recurrent models: shapes, one token at a time against all at once, and Bahdanau's formula."""

import copy

import pytest
import torch

import d2lmini as d2l

torch.set_num_threads(1)
VOCAB, EMBED, HIDDENS, LAYERS = 10, 6, 8, 2


def tokens(batch, n, seed=0):
    return torch.randint(VOCAB, (batch, n), generator=torch.Generator().manual_seed(seed + batch + n))


def make(cls, dropout=0.0):
    torch.manual_seed(5)
    return cls(VOCAB, EMBED, HIDDENS, LAYERS, dropout).double()


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)


def start(decoder, source, lengths):
    return decoder.init_state(make(d2l.Seq2SeqEncoder)(source), lengths)


DECODERS = [d2l.Seq2SeqDecoder, d2l.Seq2SeqAttentionDecoder]


def test_encoder_puts_time_first_and_ends_in_its_state():
    output, state = make(d2l.Seq2SeqEncoder)(tokens(4, 7))
    assert output.shape == (7, 4, HIDDENS)
    assert state.shape == (LAYERS, 4, HIDDENS)
    close(output[-1], state[-1])


@pytest.mark.parametrize("cls", DECODERS)
@pytest.mark.parametrize("parts", [[1] * 5, [2, 3], [4, 1]])
def test_decoding_in_parts_equals_decoding_all_at_once(cls, parts):
    decoder, source, lengths, X = make(cls), tokens(3, 7), torch.tensor([7, 2, 0]), tokens(3, 5, seed=1)
    expected, last = decoder(X, start(decoder, source, lengths))
    assert expected.shape == (3, 5, VOCAB)
    state, steps = start(decoder, source, lengths), []
    for part in X.split(parts, dim=1):
        step, state = decoder(part, state)
        steps.append(step)
    close(torch.cat(steps, dim=1), expected)
    close(state[1], last[1])


@pytest.mark.parametrize("cls", DECODERS)
def test_a_token_never_sees_the_tokens_after_it(cls):
    decoder, source, X = make(cls), tokens(1, 4), tokens(1, 5)
    expected, _ = decoder(X, start(decoder, source, None))
    X[:, 3:] = (X[:, 3:] + 1) % VOCAB
    actual, _ = decoder(X, start(decoder, source, None))
    close(actual[:, :3], expected[:, :3])
    assert not torch.allclose(actual[:, 3], expected[:, 3])


def test_the_question_is_the_hidden_state_before():
    decoder, source, lengths = make(d2l.Seq2SeqAttentionDecoder), tokens(2, 6), torch.tensor([6, 3])
    outputs, hidden = make(d2l.Seq2SeqEncoder)(source)
    keys = outputs.transpose(0, 1)
    output, state = decoder(tokens(2, 1), decoder.init_state((outputs, hidden), lengths))
    context = decoder.attention(hidden[-1][:, None], keys, keys, lengths)
    step = torch.cat((context.squeeze(1), decoder.embedding(tokens(2, 1)[:, 0])), dim=-1)
    expected, hidden = decoder.rnn(step[None], hidden)
    close(output, decoder.dense(expected).transpose(0, 1))
    close(state[1], hidden)


def test_the_context_is_the_last_layers_last_state_at_every_step():
    decoder, X = make(d2l.Seq2SeqDecoder), tokens(2, 3)
    outputs, hidden = make(d2l.Seq2SeqEncoder)(tokens(2, 6))
    output, _ = decoder(X, decoder.init_state((outputs, hidden)))
    steps = torch.cat((decoder.embedding(X), outputs[-1][:, None].expand(-1, 3, -1)), dim=-1)
    close(output, decoder.dense(decoder.rnn(steps.transpose(0, 1), hidden)[0]).transpose(0, 1))


def test_weights_of_every_step_can_be_read():
    decoder = make(d2l.Seq2SeqAttentionDecoder)
    decoder(tokens(2, 5), start(decoder, tokens(2, 6), torch.tensor([6, 3])))
    assert [w.shape for w in decoder.attention_weights] == [(2, 1, 6)] * 5
    assert all((w[1, :, 3:] == 0).all() and not w.requires_grad for w in decoder.attention_weights)
    assert not torch.equal(decoder.attention_weights[0], decoder.attention_weights[4])
    decoder(tokens(2, 1), start(decoder, tokens(2, 6), None))
    assert len(decoder.attention_weights) == 1  # those of the last forward only


def test_a_copied_decoder_carries_no_weights_of_its_last_batch():
    decoder = make(d2l.Seq2SeqAttentionDecoder)
    decoder(tokens(2, 5), start(decoder, tokens(2, 6), None))
    assert copy.deepcopy(decoder).attention_weights == []
    assert len(decoder.attention_weights) == 5


@pytest.mark.parametrize("cls", [d2l.Seq2SeqEncoder, *DECODERS])
def test_what_is_no_token_is_refused_in_words(cls):
    model = make(cls)
    state = [] if cls is d2l.Seq2SeqEncoder else [start(model, tokens(1, 4), None)]
    with pytest.raises(TypeError, match=r"X: got torch.float64; "):
        model(torch.ones(1, 3, dtype=torch.float64), *state)
    with pytest.raises(IndexError, match=f"X: got tokens from {VOCAB} to {VOCAB}; this model knows 0 to 9"):
        model(torch.tensor([[VOCAB]]), *state)


@pytest.mark.parametrize("cls", DECODERS)
def test_everything_learns(cls):
    net = d2l.EncoderDecoder(make(d2l.Seq2SeqEncoder), make(cls))
    output, _ = net(tokens(3, 6), tokens(3, 4), torch.tensor([6, 2, 0]))
    (output**2).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() and p.grad.any() for p in net.parameters())


def test_recorded_translations_hold_what_the_chapter_says():
    runs = {}
    for row in d2l.recorded_translations():
        assert row["device"] and len(row["losses"]) == 100
        runs.setdefault((row["target"], row["model"]), []).append(row)
    assert {len(rows) for rows in runs.values()} == {5}

    def middle(rows, value):
        return sorted(value(row) for row in rows)[2]

    for target in ("fr", "vi", "zh"):
        ours, others = runs[target, "Transformer"], runs[target, "recurrent"]
        after_30 = middle(ours, lambda row: row["losses"][29])
        assert middle(others, lambda row: row["losses"][59]) > after_30  # more than twice as many epochs
        assert all(row["losses"][-1] < 0.15 for row in ours + others)  # nearly by heart
        assert middle(ours, lambda row: row["bleu"]) > middle(others, lambda row: row["bleu"])
        apart = min(row["bleu"] for row in ours) > max(row["bleu"] for row in others)
        assert apart == (target != "vi")
        speeds = [middle(rows, lambda row: row["sentences_per_second"]) for rows in (ours, others)]
        assert 2 * speeds[0] < speeds[1]
        speeds = [middle(rows, lambda row: row["tokens_per_second"]) for rows in (ours, others)]
        assert speeds[1] < speeds[0] < 1.3 * speeds[1]
