"""What readers of Dive into Deep Learning 0.17 call in four chapters, with the shapes they are promised."""

import math

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

import d2lmini as d2l

torch.set_num_threads(1)
mpl.use("agg")

MULTI_HEAD = """\
MultiHeadAttention(
  (attention): DotProductAttention(
    (dropout): Dropout(p=0.5, inplace=False)
  )
  (W_q): Linear(in_features=100, out_features=100, bias=False)
  (W_k): Linear(in_features=100, out_features=100, bias=False)
  (W_v): Linear(in_features=100, out_features=100, bias=False)
  (W_o): Linear(in_features=100, out_features=100, bias=False)
)"""


@pytest.fixture(autouse=True)
def _clean():
    yield
    plt.close("all")


# --- multi-head attention -----------------------------------------------------------------------------------


def test_multi_head_attention_chapter():
    attention = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5)
    assert repr(attention.eval()) == MULTI_HEAD
    X, Y = torch.ones((2, 4, 100)), torch.ones((2, 6, 100))
    assert attention(X, Y, Y, torch.tensor([3, 2])).shape == (2, 4, 100)
    assert attention.attention.attention_weights.reshape((2, 5, 4, 6)).shape == (2, 5, 4, 6)


def test_heads_in_the_batch_go_through_the_same_attention():
    """The chapter's own forward: heads join the batch, and each length is repeated for every head."""
    attention = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5).eval()
    X, Y, valid_lens = torch.rand((2, 4, 100)), torch.rand((2, 6, 100)), torch.tensor([3, 2])
    queries = d2l.transpose_qkv(attention.W_q(X), attention.num_heads)
    keys = d2l.transpose_qkv(attention.W_k(Y), attention.num_heads)
    values = d2l.transpose_qkv(attention.W_v(Y), attention.num_heads)
    repeated = torch.repeat_interleave(valid_lens, repeats=attention.num_heads, dim=0)
    output = attention.attention(queries, keys, values, repeated)
    assert output.shape == (10, 4, 20)
    assert attention.attention.attention_weights.shape == (10, 4, 6)
    joined = attention.W_o(d2l.transpose_output(output, attention.num_heads))
    torch.testing.assert_close(joined, attention(X, Y, Y, valid_lens))


def test_scoring_functions():
    weights = d2l.masked_softmax(torch.rand(2, 2, 4), torch.tensor([2, 3]))
    assert (weights[0, :, 2:] == 0).all()
    assert (weights[1, :, 3:] == 0).all()
    weights = d2l.masked_softmax(torch.rand(2, 2, 4), torch.tensor([[1, 3], [2, 4]]))
    assert weights[0, 0].tolist() == [1, 0, 0, 0]
    assert weights[1, 1].min() > 0
    keys, values = torch.ones((2, 10, 2)), torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    valid_lens = torch.tensor([2, 6])
    expected = torch.tensor([[[2.0, 3, 4, 5]], [[10.0, 11, 12, 13]]])  # means of the first two and six rows
    additive = d2l.AdditiveAttention(key_size=2, query_size=20, num_hiddens=8, dropout=0.1).eval()
    torch.testing.assert_close(additive(torch.rand(2, 1, 20), keys, values, valid_lens), expected)
    dot = d2l.DotProductAttention(dropout=0.5).eval()
    torch.testing.assert_close(dot(torch.rand(2, 1, 2), keys, values, valid_lens), expected)
    for module in (additive, dot):
        d2l.show_heatmaps(module.attention_weights.reshape((1, 1, 2, 10)), xlabel="Keys", ylabel="Queries")


def test_sequence_mask_of_the_loss():
    X = torch.tensor([[1, 2, 3], [4, 5, 6]])
    assert d2l.sequence_mask(X, torch.tensor([1, 2])).tolist() == [[1, 0, 0], [4, 5, 0]]
    assert (d2l.sequence_mask(torch.ones(2, 3, 4), torch.tensor([1, 2]), value=-1)[0, 1:] == -1).all()
    loss = d2l.MaskedSoftmaxCELoss()
    scores, labels = torch.ones(3, 4, 10), torch.ones((3, 4), dtype=torch.long)
    expected = torch.tensor([1, 0.5, 0]) * math.log(10)
    torch.testing.assert_close(loss(scores, labels, torch.tensor([4, 2, 0])), expected)


# --- self-attention and positional encoding -----------------------------------------------------------------


def test_self_attention_chapter():
    attention = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5).eval()
    X = torch.ones((2, 4, 100))
    assert attention(X, X, X, torch.tensor([3, 2])).shape == X.shape


def test_positional_encoding_chapter():
    encoding_dim, num_steps = 32, 60
    pos_encoding = d2l.PositionalEncoding(encoding_dim, 0).eval()
    X = pos_encoding(torch.zeros((1, num_steps, encoding_dim)))
    P = pos_encoding.P[:, : X.shape[1], :]
    assert torch.equal(P, X)
    names = ["Col %d" % d for d in torch.arange(6, 10)]  # noqa: UP031  as the chapter writes it
    d2l.plot(
        torch.arange(num_steps), P[0, :, 6:10].T, xlabel="Row (position)", figsize=(6, 2.5), legend=names
    )
    P = P[0, :, :].unsqueeze(0).unsqueeze(0)
    d2l.show_heatmaps(
        P, xlabel="Column (encoding dimension)", ylabel="Row (position)", figsize=(3.5, 4), cmap="Blues"
    )


# --- Bahdanau attention -------------------------------------------------------------------------------------


def test_bahdanau_chapter():
    encoder = d2l.Seq2SeqEncoder(vocab_size=10, embed_size=8, num_hiddens=16, num_layers=2).eval()
    decoder = d2l.Seq2SeqAttentionDecoder(vocab_size=10, embed_size=8, num_hiddens=16, num_layers=2).eval()
    X = torch.zeros((4, 7), dtype=torch.long)
    output, state = decoder(X, decoder.init_state(encoder(X), None))
    assert output.shape == (4, 7, 10)
    assert len(state) == 3
    assert state[0].shape == (4, 7, 16)
    assert len(state[1]) == 2
    assert state[1][0].shape == (4, 16)


# --- Transformer --------------------------------------------------------------------------------------------


def test_transformer_chapter_parts():
    ffn = d2l.PositionWiseFFN(4, 4, 8).eval()
    rows = ffn(torch.ones((2, 3, 4)))[0]
    assert rows.shape == (3, 8)
    torch.testing.assert_close(rows[0], rows[2])
    add_norm = d2l.AddNorm([3, 4], 0.5).eval()
    assert add_norm(torch.ones((2, 3, 4)), torch.ones((2, 3, 4))).shape == (2, 3, 4)
    X, valid_lens = torch.ones((2, 100, 24)), torch.tensor([3, 2])
    encoder_blk = d2l.EncoderBlock(24, 24, 24, 24, [100, 24], 24, 48, 8, 0.5).eval()
    assert encoder_blk(X, valid_lens).shape == X.shape
    encoder = d2l.TransformerEncoder(200, 24, 24, 24, 24, [100, 24], 24, 48, 8, 2, 0.5).eval()
    assert encoder(torch.ones((2, 100), dtype=torch.long), valid_lens).shape == (2, 100, 24)
    decoder_blk = d2l.DecoderBlock(24, 24, 24, 24, [100, 24], 24, 48, 8, 0.5, 0).eval()
    state = [encoder_blk(X, valid_lens), valid_lens, [None]]
    assert decoder_blk(X, state)[0].shape == X.shape


class ScaledDown(d2l.AttentionDecoder):
    """A decoder as a reader writes one: keyword arguments handed on, weights kept in a list of its own."""

    def __init__(self, vocab_size, num_hiddens, **kwargs):
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.attention = d2l.MultiHeadAttention(num_hiddens, num_hiddens, num_hiddens, num_hiddens, 2, 0.0)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens]

    def forward(self, X, state):
        Y = self.attention(self.embedding(X), state[0], state[0], state[1])
        self._attention_weights = [self.attention.attention.attention_weights]
        return self.dense(Y), state

    @property
    def attention_weights(self):
        return self._attention_weights


def test_a_decoder_of_the_reader_fits_the_frame():
    encoder = d2l.TransformerEncoder(20, 8, 8, 8, 8, [8], 8, 16, 2, 1, 0.0)
    net = d2l.EncoderDecoder(encoder, ScaledDown(30, 8))
    X, Y = torch.zeros((2, 5), dtype=torch.long), torch.zeros((2, 3), dtype=torch.long)
    assert net(X, Y, torch.tensor([5, 2]))[0].shape == (2, 3, 30)
    assert net.decoder.attention_weights[0].shape == (4, 3, 5)


# --- training and translating -------------------------------------------------------------------------------

NUM_STEPS, NUM_LAYERS, NUM_HEADS = 6, 2, 2


def transformer(src_vocab, tgt_vocab):
    widths = [16, 16, 16, 16, [16], 16, 32, NUM_HEADS, NUM_LAYERS, 0.1]
    return d2l.EncoderDecoder(
        d2l.TransformerEncoder(len(src_vocab), *widths), d2l.TransformerDecoder(len(tgt_vocab), *widths)
    )


def recurrent(src_vocab, tgt_vocab):
    return d2l.EncoderDecoder(
        d2l.Seq2SeqEncoder(len(src_vocab), 16, 16, 2, 0.1),
        d2l.Seq2SeqAttentionDecoder(len(tgt_vocab), 16, 16, 2, 0.1),
    )


@pytest.fixture(scope="module")
def data():
    return d2l.load_data_nmt(32, NUM_STEPS, 64)


def translated(net, data):
    train_iter, src_vocab, tgt_vocab = data
    d2l.train_seq2seq(net, train_iter, 0.005, 1, tgt_vocab, d2l.try_gpu())
    translation, steps = d2l.predict_seq2seq(
        net, "hello .", src_vocab, tgt_vocab, NUM_STEPS, d2l.try_gpu(), True
    )
    assert 0 <= d2l.bleu(translation, "hello .", k=2) <= 1
    return steps


def test_transformer_chapter_weights(data):
    torch.manual_seed(0)
    net = transformer(*data[1:])
    steps = translated(net, data)
    encoder_weights = torch.cat(net.encoder.attention_weights, 0).reshape(
        (NUM_LAYERS, NUM_HEADS, -1, NUM_STEPS)
    )
    assert encoder_weights.shape == (NUM_LAYERS, NUM_HEADS, NUM_STEPS, NUM_STEPS)
    # each step, then own tokens and source, then block, then head: one row each, filled up with zeros
    rows = [head[0].tolist() for step in steps for attn in step for blk in attn for head in blk]
    filled = torch.tensor([row + [0.0] * (NUM_STEPS - len(row)) for row in rows])
    weights = filled.reshape((-1, 2, NUM_LAYERS, NUM_HEADS, NUM_STEPS))
    own, source = weights.permute(1, 2, 3, 0, 4)
    assert own.shape == source.shape == (NUM_LAYERS, NUM_HEADS, len(steps), NUM_STEPS)
    torch.testing.assert_close(own.sum(-1), torch.ones(own.shape[:-1]))
    assert (own.triu(1) == 0).all()
    d2l.show_heatmaps(own, xlabel="Key positions", ylabel="Query positions", figsize=(7, 3.5))


# --- the Transformer chapter from its first to its last cell, with a decoder of the reader's own ------------


class ReadersEncoder(d2l.Encoder):
    """As the chapter writes one: blocks in a Sequential, weights in a list of its own."""

    def __init__(self, vocab_size, *sizes, num_layers, dropout, **kwargs):
        super().__init__(**kwargs)
        self.num_hiddens = sizes[3]
        self.embedding = nn.Embedding(vocab_size, self.num_hiddens)
        self.pos_encoding = d2l.PositionalEncoding(self.num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i), d2l.EncoderBlock(*sizes, dropout, False))

    def forward(self, X, valid_lens, *args):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self.attention_weights = [None] * len(self.blks)
        for i, blk in enumerate(self.blks):
            X = blk(X, valid_lens)
            self.attention_weights[i] = blk.attention.attention.attention_weights
        return X


class ReadersBlock(nn.Module):
    """A decoder block that caches its inputs in the third part of the state, and masks in training only."""

    def __init__(
        self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_in, ffn, heads, dropout, i
    ):
        super().__init__()
        self.i = i
        widths = (key_size, query_size, value_size, num_hiddens)
        self.attention1 = d2l.MultiHeadAttention(*widths, heads, dropout)
        self.addnorm1 = d2l.AddNorm(norm_shape, dropout)
        self.attention2 = d2l.MultiHeadAttention(*widths, heads, dropout)
        self.addnorm2 = d2l.AddNorm(norm_shape, dropout)
        self.ffn = d2l.PositionWiseFFN(ffn_in, ffn, num_hiddens)
        self.addnorm3 = d2l.AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens = state[0], state[1]
        past = state[2][self.i]
        key_values = X if past is None else torch.cat((past, X), axis=1)
        state[2][self.i] = key_values
        dec_valid_lens = None
        if self.training:
            batch_size, num_steps, _ = X.shape
            dec_valid_lens = torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, dec_valid_lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state


class ReadersDecoder(d2l.AttentionDecoder):
    def __init__(self, vocab_size, *sizes, num_layers, dropout, **kwargs):
        super().__init__(**kwargs)
        self.num_hiddens, self.num_layers = sizes[3], num_layers
        self.embedding = nn.Embedding(vocab_size, self.num_hiddens)
        self.pos_encoding = d2l.PositionalEncoding(self.num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module("block" + str(i), ReadersBlock(*sizes, dropout, i))
        self.dense = nn.Linear(self.num_hiddens, vocab_size)

    def init_state(self, enc_outputs, enc_valid_lens, *args):
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X, state):
        X = self.pos_encoding(self.embedding(X) * math.sqrt(self.num_hiddens))
        self._attention_weights = [[None] * len(self.blks) for _ in range(2)]
        for i, blk in enumerate(self.blks):
            X, state = blk(X, state)
            self._attention_weights[0][i] = blk.attention1.attention.attention_weights
            self._attention_weights[1][i] = blk.attention2.attention.attention_weights
        return self.dense(X), state

    @property
    def attention_weights(self):
        return self._attention_weights


def test_the_readers_own_blocks_keep_the_shape():
    """The chapter's example, layer norm over 100 tokens included, with its state of three parts."""
    sizes = (24, 24, 24, 24, [100, 24], 24, 48, 8)
    X, valid_lens = torch.ones((2, 100, 24)), torch.tensor([3, 2])
    block = ReadersBlock(*sizes, 0.5, 0).eval()
    state = [d2l.EncoderBlock(*sizes, 0.5).eval()(X, valid_lens), valid_lens, [None]]
    Y, state = block(X, state)
    assert Y.shape == X.shape
    assert len(state) == 3 and state[2][0].shape == X.shape


@pytest.mark.parametrize("own", ((True, True), (False, True), (True, False)))
def test_the_readers_own_classes_train_and_translate(data, own):
    """Own classes, or one of them beside one of the package: the flow is the same."""
    torch.manual_seed(0)
    train_iter, src_vocab, tgt_vocab = data
    sizes, depth = (16, 16, 16, 16, [16], 16, 32, NUM_HEADS), {"num_layers": NUM_LAYERS, "dropout": 0.1}
    encoder = (ReadersEncoder if own[0] else d2l.TransformerEncoder)(len(src_vocab), *sizes, **depth)
    decoder = (ReadersDecoder if own[1] else d2l.TransformerDecoder)(len(tgt_vocab), *sizes, **depth)
    net, device = d2l.EncoderDecoder(encoder, decoder), d2l.try_gpu()
    d2l.train_seq2seq(net, train_iter, 0.005, 1, tgt_vocab, device)
    for source, target in (("go .", "va !"), ("he's calm .", "il est calme .")):
        translation, steps = d2l.predict_seq2seq(net, source, src_vocab, tgt_vocab, NUM_STEPS, device, True)
        assert 0 <= d2l.bleu(translation, target, k=2) <= 1
    shape = (NUM_LAYERS, NUM_HEADS, -1, NUM_STEPS)
    enc_weights = torch.cat(net.encoder.attention_weights, 0).reshape(shape)
    assert enc_weights.shape == (NUM_LAYERS, NUM_HEADS, NUM_STEPS, NUM_STEPS)
    rows = [head[0].tolist() for step in steps for attn in step for blk in attn for head in blk]
    filled = torch.tensor([row + [0.0] * (NUM_STEPS - len(row)) for row in rows])  # pandas: fillna(0.0)
    weights = filled.reshape((-1, 2, NUM_LAYERS, NUM_HEADS, NUM_STEPS))
    own_weights, inter_weights = weights.permute(1, 2, 3, 0, 4)
    titles = ["Head %d" % i for i in range(1, NUM_HEADS + 1)]  # noqa: UP031  as the chapter writes it
    for shown in (enc_weights.cpu(), own_weights[:, :, :, : len(translation.split()) + 1], inter_weights):
        d2l.show_heatmaps(
            shown, xlabel="Key positions", ylabel="Query positions", titles=titles, figsize=(7, 3.5)
        )
    torch.testing.assert_close(inter_weights.sum(-1), torch.ones(inter_weights.shape[:-1]))


def test_bahdanau_chapter_weights(data):
    torch.manual_seed(0)
    steps = translated(recurrent(*data[1:]), data)
    weights = torch.cat([step[0][0][0] for step in steps], 0).reshape((1, 1, -1, NUM_STEPS))
    assert weights.shape[2] == len(steps)
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    d2l.show_heatmaps(weights[:, :, :, :4].cpu(), xlabel="Key positions", ylabel="Query positions")
