"""The loss, the training loops against plain ones, decoding against the definition, BLEU."""

import math
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import d2lmini as d2l
from d2lmini import training
from d2lmini.notebook import animator

torch.set_num_threads(1)


def small_data(num_examples=32, min_freq=2, num_steps=8):
    torch.manual_seed(1)
    return d2l.load_data_nmt(16, num_steps, num_examples, target="vi", min_freq=min_freq)


def transformer(source_vocab, target_vocab):
    size = (16, 16, 16, 16, [16], 16, 32, 2, 2, 0.0)
    torch.manual_seed(2)
    return d2l.EncoderDecoder(
        d2l.TransformerEncoder(len(source_vocab), *size), d2l.TransformerDecoder(len(target_vocab), *size)
    )


def recurrent(source_vocab, target_vocab):
    torch.manual_seed(2)
    return d2l.EncoderDecoder(
        d2l.Seq2SeqEncoder(len(source_vocab), 16, 16, 1),
        d2l.Seq2SeqAttentionDecoder(len(target_vocab), 16, 16, 1),
    )


def packed(source_vocab, target_vocab):
    net = recurrent(source_vocab, target_vocab)
    net.encoder = d2l.Seq2SeqEncoder(len(source_vocab), 16, 16, 1, bidirectional=True, packed=True)
    return net


MODELS = pytest.mark.parametrize("model", (transformer, recurrent))


# -- parts -------------------------------------------------------------------------------------------------


def test_loss_counts_no_padding():
    torch.manual_seed(0)
    pred = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    label = torch.randint(7, (3, 5))
    loss = d2l.MaskedSoftmaxCELoss()(pred, label, torch.tensor([5, 2, 0]))
    by_hand = [
        sum(-pred[i, t].log_softmax(0)[label[i, t]] for t in range(n)) / 5 for i, n in enumerate((5, 2, 0))
    ]
    wanted = torch.stack([torch.as_tensor(one, dtype=torch.float64) for one in by_hand])
    torch.testing.assert_close(loss, wanted)
    loss.sum().backward()
    assert not pred.grad[1, 2:].any() and not pred.grad[2].any() and pred.grad[0].any()


def test_clipping_keeps_small_gradients_and_the_direction_of_large_ones():
    net = nn.Linear(2, 2)
    for grads, wanted in (((0.3, 0.4), 0.5), ((30.0, 40.0), 1.0)):
        net.weight.grad, net.bias.grad = torch.zeros(2, 2), torch.tensor(grads)
        d2l.grad_clipping(net, 1)
        assert net.bias.grad.norm().item() == pytest.approx(wanted)
        assert (net.bias.grad[1] / net.bias.grad[0]).item() == pytest.approx(4 / 3)
    with pytest.raises(ValueError, match="theta: got 0"):
        d2l.grad_clipping(net, 0)


def test_accumulator_and_timer():
    sums = d2l.Accumulator(2)
    sums.add(torch.tensor(1.5), 2)
    sums.add(1, 2)
    assert (sums[0], sums[1]) == (2.5, 4.0)
    sums.reset()
    assert sums.data == [0.0, 0.0]
    with pytest.raises(ValueError, match="got 1 numbers for 2 sums"):
        sums.add(1)
    timer = d2l.Timer()
    with pytest.raises(RuntimeError, match=r"no time was taken yet. Call stop\(\)"):
        timer.avg()
    timer.stop()
    timer.start()
    timer.stop()
    assert len(timer.times) == 2 and timer.sum() == pytest.approx(timer.cumsum()[-1])
    assert timer.avg() == pytest.approx(timer.sum() / 2)


# -- training ----------------------------------------------------------------------------------------------


def plain_loop(net, data_iter, lr, num_epochs, tgt_vocab):
    """Train as D2L writes it: padding kept, a loss of each token, a number fetched at every step."""
    net.apply(training._draw_weights)
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    losses = []
    for _ in range(num_epochs):
        total = tokens = 0.0
        for X, X_valid_len, Y, Y_valid_len in data_iter:
            optimizer.zero_grad()
            bos = torch.tensor([tgt_vocab["<bos>"]] * Y.shape[0]).reshape(-1, 1)
            Y_hat, _ = net(X, torch.cat([bos, Y[:, :-1]], 1), X_valid_len)
            loss = d2l.MaskedSoftmaxCELoss()(Y_hat, Y, Y_valid_len)
            loss.sum().backward()
            norm = torch.sqrt(sum((p.grad**2).sum() for p in net.parameters()))
            if norm > 1:
                for p in net.parameters():
                    p.grad *= 1 / norm
            optimizer.step()
            total += loss.sum().item() * Y.shape[1]
            tokens += Y_valid_len.sum().item()
        losses.append(total / tokens)
    return losses


@pytest.mark.parametrize("num_steps", [8, 80])  # with much padding a gradient is small and not clipped
@pytest.mark.parametrize("model", (transformer, recurrent, packed))
def test_the_fast_loop_takes_the_steps_of_the_plain_one(model, num_steps):
    batches, source_vocab, target_vocab = small_data(num_steps=num_steps)
    results = []
    for train in (plain_loop, lambda *args: d2l.train_seq2seq(*args, "cpu").losses):
        net = model(source_vocab, target_vocab).double()
        torch.manual_seed(3)
        results.append((train(net, batches, 0.005, 4, target_vocab), net.state_dict()))
    (plain_losses, plain), (fast_losses, fast) = results
    assert fast_losses == pytest.approx(plain_losses, rel=1e-6)
    assert fast_losses[-1] < fast_losses[0]
    for name, weight in plain.items():
        torch.testing.assert_close(fast[name], weight, rtol=1e-5, atol=1e-7)


@MODELS
def test_a_model_learns_sentences_by_heart(model):
    batches, source_vocab, target_vocab = small_data(16, min_freq=1)
    net = model(source_vocab, target_vocab)
    result = d2l.train_seq2seq(net, batches, 0.02, 80, target_vocab, "cpu")
    assert len(result.losses) == 80 and result.tokens_per_second > 0
    assert result.losses[-1] < 0.3 < result.losses[0]
    assert repr(result) == "Training of 80 epochs: see .losses, .tokens_per_second and .device"
    text = d2l.preprocess_nmt(d2l.read_data_nmt("vi"))
    source, target = d2l.tokenize_nmt(text, 16)
    scores = []
    for words, reference in zip(source, target, strict=True):
        said, weights = d2l.predict_seq2seq(net, " ".join(words), source_vocab, target_vocab, 8, "cpu", True)
        scores.append(d2l.bleu(said, " ".join(reference), k=2))
        assert weights
    assert sum(scores) / len(scores) > 0.9


def train(num_epochs, **options):
    batches, source_vocab, target_vocab = small_data(16)
    net = recurrent(source_vocab, target_vocab)
    return d2l.train_seq2seq(net, batches, 0.01, num_epochs, target_vocab, "cpu", **options).losses


def test_each_epoch_is_reported_to_who_asks(capsys):
    seen = []
    losses = train(3, on_epoch=lambda epoch, loss: seen.append((epoch, loss)))
    assert seen == [*enumerate(losses, start=1)]
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_one_line_and_a_file_none(monkeypatch, capsys):
    losses = train(2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    train(2)
    shown = capsys.readouterr().err
    assert shown.startswith("\repoch 1/2, loss ")
    assert shown.endswith(f"\repoch 2/2, loss {losses[-1]:.3f}\n")


def test_a_notebook_shows_a_curve_of_some_fifty_points(monkeypatch):
    curves = []
    monkeypatch.setattr(animator, "kernel_shell", object)
    monkeypatch.setattr(animator, "TrainingCurve", lambda *of: curves.append(of) or print)
    train(2)
    assert curves == [("epoch", 2)]
    monkeypatch.undo()
    curve = animator.TrainingCurve("epoch", 120)
    for epoch in range(1, 121):
        curve(epoch, 1 / epoch)
    (epochs,), (losses,) = curve.animator.X, curve.animator.Y
    assert list(epochs) == [1, *range(2, 121, 2)]
    assert losses[-1] == 1 / 120


def test_training_refuses_what_cannot_be_trained():
    batches, source_vocab, target_vocab = small_data()
    net = transformer(source_vocab, target_vocab)
    with pytest.raises(ValueError, match="num_epochs: got 0"):
        d2l.train_seq2seq(net, batches, 0.1, 0, target_vocab, "cpu")
    with pytest.raises(ValueError, match="lr: got -1"):
        d2l.train_seq2seq(net, batches, -1, 1, target_vocab, "cpu")
    before = {name: weight.clone() for name, weight in net.state_dict().items()}
    with pytest.raises(ValueError, match="tgt_vocab: got a vocabulary without <bos>"):
        d2l.train_seq2seq(net, batches, 0.1, 1, d2l.Vocab(["a"], reserved_tokens=["<pad>"]), "cpu")
    assert all(torch.equal(weight, before[name]) for name, weight in net.state_dict().items())
    with pytest.raises(ValueError, match="data_iter: it gave no target token"):
        d2l.train_seq2seq(net, [], 0.1, 1, target_vocab, "cpu")


# -- language models ---------------------------------------------------------------------------------------


def writer(seed=0):
    torch.manual_seed(seed)
    return d2l.LanguageModel(41, 8, [d2l.PreNormBlock(8, 2, d2l.PositionWiseFFN(8, 16, 8))])


def test_a_language_model_takes_the_steps_of_the_plain_loop():
    """Rows in their order and again from the first; padding read and left out of the loss; the same rates."""
    X, steps = d2l.Stories("en").batch(5, seed=0, things=[2, 5, 3]), 60
    fast, plain = writer(), writer()
    reported = []
    losses = d2l.train_language_model(
        fast, X, steps, 0.01, 2, lambda step, loss: reported.append((step, loss))
    )
    optimizer = torch.optim.AdamW(plain.parameters(), betas=(0.9, 0.95), weight_decay=0.01)
    for step in range(steps):
        rate = min((step + 1) / 50, 1, (steps - step) / (0.3 * steps))
        optimizer.param_groups[0]["lr"] = 0.01 * rate
        rows = [X[i % 5] for i in (2 * step, 2 * step + 1)]
        terms = []
        for row in rows:
            log_p = plain(row[None, :-1])[0][0].log_softmax(-1)  # (n, vocabulary)
            terms.append(-log_p[torch.arange(len(log_p)), row[1:]][row[1:] != 1])
        loss = torch.cat(terms).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert losses[step] == pytest.approx(loss.item(), abs=1e-3)
    assert reported == list(enumerate(losses, 1)) and losses[-1] < losses[0] - 0.3
    for mine, other in zip(fast.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=5e-3, rtol=0)


def test_training_a_language_model_refuses_before_anything_is_changed():
    net, X = writer().eval(), d2l.Stories("en").batch(4, seed=0)
    before = {name: weight.clone() for name, weight in net.state_dict().items()}
    for given, sentence in (
        ((X, 0), "num_steps: got 0; it is 1 or more"),
        ((X, 5, 0), "lr: got 0; "),
        ((X, 5, 0.1, 0), "batch_size: got 0; "),
        ((X[0], 5), r"X: got shape \(.*texts, tokens"),
        ((X[:, :1], 5), r"X: got shape \(4, 1\)"),
        ((X[:0], 5), r"X: got shape \(0, .*Give Stories.batch"),
    ):
        with pytest.raises(ValueError, match=sentence):
            d2l.train_language_model(net, *given)
    with pytest.raises(IndexError, match=r"X: got tokens from .* to 99; .*0 to 40"):
        d2l.train_language_model(net, X.where(X != 5, 99), 5)
    assert all(torch.equal(weight, before[name]) for name, weight in net.state_dict().items())


# -- translating -------------------------------------------------------------------------------------------


def trained(model):
    batches, source_vocab, target_vocab = small_data()
    net = model(source_vocab, target_vocab)
    d2l.train_seq2seq(net, batches, 0.01, 5, target_vocab, "cpu")
    return net, source_vocab, target_vocab


def log_probability(net, sentence, tokens, source_vocab, target_vocab, num_steps):
    """Score a translation in one forward over all its tokens: no search, no cache."""
    words = [*source_vocab[d2l.split_tokens(sentence)], source_vocab["<eos>"]]
    X = torch.tensor([d2l.truncate_pad(words, num_steps, source_vocab["<pad>"])])
    dec_X = torch.tensor([[target_vocab["<bos>"], *tokens[:-1]]])
    with torch.no_grad():
        Y, _ = net.eval()(X, dec_X, torch.tensor([len(words)]))
    return Y[0].log_softmax(-1).gather(1, torch.tensor(tokens)[:, None]).sum().item()


@MODELS
def test_greedy_search_says_the_likeliest_token_at_each_step(model):
    net, source_vocab, target_vocab = trained(model)
    net.train()
    said, weights = d2l.predict_seq2seq(net, "Look!", source_vocab, target_vocab, 8, "cpu")
    assert net.training, "the mode comes back"
    d2l.predict_seq2seq(net.eval(), "Look!", source_vocab, target_vocab, 8, "cpu")
    assert not net.training
    assert weights == []
    tokens = target_vocab[said.split()]
    for n in range(len(tokens)):
        choices = [
            log_probability(net, "Look!", [*tokens[:n], word], source_vocab, target_vocab, 8)
            for word in range(len(target_vocab))
        ]
        assert choices.index(max(choices)) == tokens[n]


@MODELS
def test_beam_search_with_one_beam_is_greedy_and_with_many_is_better(model):
    net, source_vocab, target_vocab = trained(model)
    for sentence in ("Look!", "I see.", "He ran."):
        greedy, _ = d2l.predict_seq2seq(net, sentence, source_vocab, target_vocab, 6, "cpu")
        ((one, score),) = d2l.beam_search(
            net, sentence, source_vocab, target_vocab, 6, "cpu", beam_size=1, alpha=0
        )
        assert one == greedy
        several = d2l.beam_search(net, sentence, source_vocab, target_vocab, 6, "cpu", beam_size=5, alpha=0)
        assert several[0][1] >= score - 1e-5
        assert len({said for said, _ in several}) == len(several) <= 5


def test_a_length_penalty_below_zero_is_refused():
    _, source_vocab, target_vocab = small_data()
    net = recurrent(source_vocab, target_vocab)
    for alpha in (-0.1, math.nan):
        with pytest.raises(ValueError, match=rf"^alpha: got {alpha}; with 0 or more"):
            d2l.beam_search(net, "Go!", source_vocab, target_vocab, 5, "cpu", alpha=alpha)


@MODELS
def test_a_tree_holds_every_beginning_that_a_beam_search_looked_at(model):
    net, source_vocab, target_vocab = trained(model)
    tree = d2l.beam_tree(net, "Look!", source_vocab, target_vocab, 6, "cpu", beam_size=3)
    several = d2l.beam_search(net, "Look!", source_vocab, target_vocab, 6, "cpu", beam_size=3)
    assert [score for _, score in several] == [score for score, _ in tree.finished]
    for number, node in enumerate(tree.nodes):
        path = [tree.nodes[one] for one in tree.path(number)]
        assert [one.step for one in path] == list(range(1, node.step + 1))
        assert all(one.kept for one in path[:-1])  # nobody goes on from what was dropped
        assert [one.log_prob for one in path] == sorted((one.log_prob for one in path), reverse=True)
    for step in {node.step for node in tree.nodes}:
        kept = [node.kept for node in tree.nodes if node.step == step]
        assert kept == sorted(kept, reverse=True)
        assert 1 <= sum(kept) <= 3
    assert all(tree.nodes[node].kept for _, node in tree.finished)


@pytest.mark.parametrize("num_steps", [8, 2])  # room enough, and too little to end
@MODELS
def test_a_score_of_beam_search_is_the_log_probability_of_its_translation(model, num_steps):
    net, source_vocab, target_vocab = trained(model)
    checked = 0
    for alpha in (0.0, 0.75):
        for said, score in d2l.beam_search(
            net, "Look!", source_vocab, target_vocab, num_steps, "cpu", beam_size=3, alpha=alpha
        ):
            tokens = target_vocab[said.split()]
            if len(tokens) < num_steps:  # it ended by itself
                tokens.append(target_vocab["<eos>"])
            probability = log_probability(net, "Look!", tokens, source_vocab, target_vocab, num_steps)
            assert score == pytest.approx(probability / len(tokens) ** alpha, abs=1e-4)
            checked += 1
    assert checked >= 4


# the tokens so far -> the probability of each next token
WRITING = {
    "": {"a": 0.6, "b": 0.4},
    "a": {"a": 0.6, "<eos>": 0.4},
    "b": {"<eos>": 1.0},
    "aa": {"a": 0.6, "<eos>": 0.4},
    "aaa": {"<eos>": 1.0},
}


class Scripted(d2l.Decoder):
    """Writes by the table above."""

    def __init__(self, vocab):
        super().__init__()
        self.vocab = vocab

    def init_state(self, enc_outputs, *args):
        return [""]

    def forward(self, X, state):
        token = self.vocab.to_tokens(X[0, -1].item())
        written = state[0] + token.replace("<bos>", "")
        row = torch.full((len(self.vocab),), 1e-6)
        for word, probability in WRITING[written].items():
            row[self.vocab[word]] = probability
        return row.log()[None, None], [written]


def test_a_beam_search_does_not_stop_while_a_beginning_may_still_win():
    vocab = d2l.Vocab(["a", "b"], reserved_tokens=["<pad>", "<bos>", "<eos>"])
    net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(len(vocab), 4, 4, 1), Scripted(vocab))
    # after three steps two translations are finished, "b" and "a a"; "a a a" leads, and is better than both
    several = d2l.beam_search(net, "a", vocab, vocab, 6, "cpu", beam_size=2)
    assert [said for said, _ in several] == ["a a a", "b"]


def test_translating_refuses_empty_room():
    net, source_vocab, target_vocab = trained(recurrent)
    with pytest.raises(ValueError, match="num_steps: got 0"):
        d2l.predict_seq2seq(net, "go", source_vocab, target_vocab, 0, "cpu")
    with pytest.raises(ValueError, match="beam_size: got 0"):
        d2l.beam_search(net, "go", source_vocab, target_vocab, 5, "cpu", beam_size=0)
    poor = d2l.Vocab(["a"], reserved_tokens=["<pad>", "<bos>"])
    for translate in (d2l.predict_seq2seq, d2l.beam_search):
        with pytest.raises(
            ValueError, match=r"tgt_vocab: got a vocabulary without <eos>; .*reserved_tokens="
        ):
            translate(net, "go", source_vocab, poor, 5, "cpu")
        with pytest.raises(ValueError, match="src_vocab: got a vocabulary without <eos>"):
            translate(net, "go", poor, target_vocab, 5, "cpu")
    assert net.training, "a refusal leaves the mode as it was"
    long, _ = d2l.predict_seq2seq(net, "go " * 50, source_vocab, target_vocab, 5, "cpu")
    assert len(long.split()) <= 5


# -- BLEU --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pred", "label", "k", "score"),
    [
        ("il est calme .", "il est calme .", 2, 1.0),
        ("a b c e f", "a b c d g h", 2, math.exp(1 - 6 / 5) * (3 / 5) ** 0.5 * (2 / 4) ** 0.25),
        ("the the the", "the cat", 1, (1 / 3) ** 0.5),  # a word counts as often as the reference has it
        ("a", "b", 1, 0.0),
        ("", "a b", 2, 0.0),
        ("a", "a b", 2, 0.0),  # no pair of tokens was said
        ("a", "a", 4, 1.0),  # there is no pair to say
        ("a b", "a", 2, 0.0),  # as in D2L: the pair said is not in the reference
        ("va!", "Va !", 2, 1.0),
        ("我 很 好 。", "我很好。", 4, 1.0),
        ("b a", ["c d", "b a"], 2, 1.0),
    ],
)
def test_bleu(pred, label, k, score):
    assert d2l.bleu(pred, label, k) == pytest.approx(score)


def test_bleu_refuses_what_has_no_score():
    with pytest.raises(ValueError, match="k: got 0"):
        d2l.bleu("a", "a", 0)
    for label in ("", [], ["a", " "]):
        with pytest.raises(ValueError, match="label_seq: got"):
            d2l.bleu("a", label, 1)


def test_every_right_token_gets_all_of_the_gradient():
    """The labels left out by the loop are the padding, and nothing else."""
    batches, _, target_vocab = small_data()
    for batch in batches:
        X, X_valid_len, Y, Y_valid_len = training._trimmed(batch, source=True)
        assert X.shape[1] == X_valid_len.max() and Y.shape[1] == Y_valid_len.max()
        assert training._trimmed(batch, source=False)[0].shape[1] == 8
        label = d2l.sequence_mask(Y, Y_valid_len, value=-100)
        assert (label >= 0).sum() == Y_valid_len.sum()
        assert torch.equal(target_vocab["<pad>"] == Y, label == -100)
    logits = torch.zeros(2, 4, dtype=torch.float64)
    some = F.cross_entropy(logits, torch.tensor([1, -100]), reduction="sum")
    assert some.item() == pytest.approx(math.log(4))


def test_sentences_are_scored_as_one_by_one():
    translator = d2l.load_translator("en", "vi")
    asked = d2l.held_out_nmt("vi")[:5]
    given = translator.src_vocab, translator.tgt_vocab, 10, "cpu"
    scores = d2l.score_sentences(translator.net, asked, *given)
    expected = [d2l.bleu(translator(one).text, answers, k=2) for one, answers in asked]
    torch.testing.assert_close(scores, torch.tensor(expected))
