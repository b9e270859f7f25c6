"""The recurrent models: shapes, one token at a time against all at once, and Bahdanau's formula."""

import copy

import pytest
import torch

import d2lmini as d2l
from tools.record import translation

torch.set_num_threads(1)
VOCAB, EMBED, HIDDENS, LAYERS = 10, 6, 8, 2


def tokens(batch, n, seed=0):
    return torch.randint(VOCAB, (batch, n), generator=torch.Generator().manual_seed(seed + batch + n))


def make(cls, dropout=0.0, **options):
    torch.manual_seed(5)
    return cls(VOCAB, EMBED, HIDDENS, LAYERS, dropout, **options).double()


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


FAIR = {"bidirectional": True, "packed": True}


@pytest.mark.parametrize("options", [{"packed": True}, FAIR])
def test_a_packed_encoder_reads_each_sentence_and_no_padding(options):
    encoder, lengths = make(d2l.Seq2SeqEncoder, **options), torch.tensor([7, 2, 4])
    X = tokens(3, 7)
    output, state = encoder(X, lengths)
    assert output.shape == (7, 3, HIDDENS) and state.shape == (LAYERS, 3, HIDDENS)
    for row, n in enumerate(lengths.tolist()):
        alone, last = encoder(X[row : row + 1, :n])  # no padding at all
        close(output[:n, row], alone[:, 0])
        close(state[:, row], last[:, 0])
        assert (output[n:, row] == 0).all()
    other = torch.where(torch.arange(7) < lengths[:, None], X, (X + 1) % VOCAB)
    close(encoder(other, lengths)[0], output)
    close(encoder(torch.cat((X, X), dim=1), lengths)[1], state)


def test_padding_changes_no_score_of_a_packed_translator():
    net = d2l.EncoderDecoder(make(d2l.Seq2SeqEncoder, **FAIR), make(d2l.Seq2SeqAttentionDecoder))
    X, Y, lengths = tokens(2, 3), tokens(2, 4), torch.tensor([3, 2])
    wider = torch.cat((X, torch.ones(2, 5, dtype=torch.long)), dim=1)
    close(net(wider, Y, lengths)[0], net(X, Y, lengths)[0])


def test_unless_packed_an_encoder_reads_padding_as_d2l_does():
    encoder, lengths, X = make(d2l.Seq2SeqEncoder), torch.tensor([7, 2, 4]), tokens(3, 7)
    expected = encoder.rnn(encoder.embedding(X).transpose(0, 1))
    for actual, wanted in zip(encoder(X, lengths), expected, strict=True):
        close(actual, wanted)
    assert "bidirectional" not in repr(encoder) and encoder.rnn.hidden_size == HIDDENS
    packed = make(d2l.Seq2SeqEncoder, packed=True)
    close(packed(X)[0], expected[0])
    close(packed(X, None)[0], expected[0])


def test_two_directions_share_the_hidden_units():
    encoder, X = make(d2l.Seq2SeqEncoder, bidirectional=True), tokens(2, 5)
    output, state = encoder(X)
    forward, backward = output.split(HIDDENS // 2, dim=2)
    close(torch.cat((forward[-1], backward[0]), dim=1), state[-1])  # each ends at another end
    X[:, -1] = (X[:, -1] + 1) % VOCAB
    assert not torch.allclose(encoder(X)[0][0], output[0])  # the first output knows of the last token
    with pytest.raises(ValueError, match="num_hiddens: got 5; two directions need an even number"):
        d2l.Seq2SeqEncoder(VOCAB, EMBED, 5, LAYERS, bidirectional=True)


@pytest.mark.parametrize("target", ("fr", "vi", "zh"))
def test_the_recorded_models_have_equally_many_parameters(target):
    _, source, words = d2l.load_data_nmt(64, 10, 600, target=target, sample=0)
    ours, others = (
        sum(parameter.numel() for parameter in make(len(source), len(words)).parameters())
        for make in translation.MODELS.values()
    )
    assert abs(others / ours - 1) < 0.05


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
    rates = {}
    for row in d2l.recorded_translations(pairs="validation"):
        rates.setdefault((row["model"], row["rate"]), []).append(row["new_bleu"])
    best = {
        model: max((sorted(bleu)[1], rate) for (name, rate), bleu in rates.items() if name == model)[1]
        for model in ("Transformer", "recurrent")
    }
    assert best == {"Transformer": 0.01, "recurrent": 0.005}
    assert {len(runs) for runs in rates.values()} == {3} and max(rates["Transformer", 0.02]) < 0.1

    def values(key, model, rate, target):
        runs = d2l.recorded_translations(pairs="sample", model=model, rate=rate, target=target)
        assert len(runs) == 3 and all(len(run["losses"]) == 100 for run in runs)
        return sorted(run["losses"][key] if isinstance(key, int) else run[key] for run in runs)

    for target in ("fr", "vi", "zh"):
        slow, fast = (
            {key: values(key, "Transformer", rate, target) for key in KEYS} for rate in (0.005, 0.01)
        )
        other = {key: values(key, "recurrent", 0.005, target) for key in KEYS}
        assert slow[29][1] < other[29][1] and other[99][1] < slow[99][1] < fast[99][1]
        assert other["trained_bleu"][1] > slow["trained_bleu"][1] > fast["trained_bleu"][1]
        highest = fast["new_bleu"][1] > max(slow["new_bleu"][1], other["new_bleu"][1])
        apart = fast["new_bleu"][0] > other["new_bleu"][2]
        assert highest == apart == (target != "fr")
        assert slow["new_bleu"][0] < other["new_bleu"][2] and other["new_bleu"][0] < slow["new_bleu"][2]
        assert abs(other["parameters"][0] / slow["parameters"][0] - 1) < 0.02
        assert 1.5 * slow["sentences_per_second"][1] < other["sentences_per_second"][1]


KEYS = (29, 99, "trained_bleu", "new_bleu", "parameters", "sentences_per_second", "tokens_per_second")


def test_recorded_rows_are_chosen_and_summed_up():
    rows = d2l.recorded_translations(target="vi", pairs="first")
    assert {(row["target"], row["pairs"], row["trained"]) for row in rows} == {("vi", "first", 100)}
    low, middle, high = sorted(row["known_bleu"] for row in rows)
    spread = d2l.recorded_spread("known_bleu", 3, target="vi", pairs="first")
    assert spread == f"{middle:.3f} ({low:.3f}–{high:.3f})"
    for row in rows:
        total = row["known"] * row["known_bleu"] + row["unknown"] * row["unknown_bleu"]
        assert row["known"] + row["unknown"] == 99 and row["new_bleu"] == pytest.approx(total / 99)
