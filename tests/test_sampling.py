"""Sampling: what may be drawn against a plain second version, draws that follow it, and every refusal."""

import math
import random

import pytest
import torch

import d2lmini as d2l

torch.set_num_threads(1)
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def by_hand(logits, temperature=1.0, top_k=None, top_p=None):
    """Say in plain numbers, one token after the other, what `token_probabilities` says with tensors."""
    weights = [math.exp((logit - max(logits)) / temperature) for logit in logits]
    ranked = sorted(range(len(logits)), key=lambda token: -weights[token])[:top_k]  # ties stay in their order
    total, enough, kept = sum(weights[token] for token in ranked), 0.0, []
    for token in ranked:
        if kept and enough >= (2 if top_p == 1 else top_p or 2) - 1e-6:
            break
        kept.append(token)
        enough += weights[token] / total
    total = sum(weights[token] for token in kept)
    return [weights[token] / total if token in kept else 0.0 for token in range(len(logits))]


def test_temperature_top_k_and_top_p_are_those_of_the_plain_version():
    rng = random.Random(0)
    for _ in range(400):
        size = rng.randint(1, 12)
        logits = [rng.choice((rng.gauss(0, 3), 0.0, 1.0)) for _ in range(size)]  # with ties
        chosen = (rng.choice((0.1, 0.5, 1.0, 3.0)), rng.choice((None, 1, 2, 5, 99)))
        chosen += (rng.choice((None, 1e-9, 1.0, rng.random() + 1e-9)),)
        got = d2l.token_probabilities(torch.tensor(logits, dtype=torch.float64), *chosen)
        torch.testing.assert_close(got.tolist(), by_hand(logits, *chosen), rtol=0, atol=1e-9)
        assert sum(got.tolist()) == pytest.approx(1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_each_row_of_a_batch_is_cut_by_itself(dtype):
    logits = torch.randn(3, 4, 50, generator=torch.Generator().manual_seed(0)).to(dtype)
    before = logits.clone()
    together = d2l.token_probabilities(logits, 0.7, 20, 0.9)
    assert together.shape == logits.shape and torch.equal(logits, before)
    for rows, row in zip(together.flatten(0, 1), logits.flatten(0, 1), strict=True):
        torch.testing.assert_close(rows, d2l.token_probabilities(row, 0.7, 20, 0.9))
        expected = torch.tensor(by_hand(row.double().tolist(), 0.7, 20, 0.9), dtype=rows.dtype)
        torch.testing.assert_close(rows, expected, rtol=0, atol=1e-6)


def test_of_equals_the_first_stay():
    equal = torch.zeros(2, 100)
    assert d2l.token_probabilities(equal, top_k=1).argmax(-1).tolist() == [0, 0]
    assert d2l.token_probabilities(equal, top_k=3).nonzero()[:, 1].tolist() == [0, 1, 2] * 2
    tenths = d2l.token_probabilities(torch.zeros(10), top_p=0.3)  # 0.1 + 0.1 + 0.1 is not 0.3 in floats
    assert tenths.nonzero().flatten().tolist() == [0, 1, 2]


def test_limits_at_their_ends():
    logits = torch.tensor([1.0, 3.0, 2.0, -40.0, -math.inf])
    everything = d2l.token_probabilities(logits)
    torch.testing.assert_close(everything, logits.softmax(-1))
    for same in ({"top_p": 1.0}, {"top_p": 1}, {"top_k": 5}, {"top_k": 5, "top_p": 1.0}):
        torch.testing.assert_close(d2l.token_probabilities(logits, **same), everything)
    best = [0, 1, 0, 0, 0]
    for same in ({"top_p": 1e-9}, {"top_k": 1}, {"temperature": 1e-40}, {"temperature": 1e-4}):
        assert d2l.token_probabilities(logits, **same).tolist() == best
    assert d2l.token_probabilities(logits[:4], temperature=math.inf).tolist() == [0.25] * 4


# ---- writing


class Scripted(torch.nn.Linear):
    """A model that gives the same scores after any token, and writes down what it was given to read."""

    def __init__(self, logits):
        super().__init__(1, 1)
        self.logits, self.read = torch.tensor(logits), []

    def forward(self, X, state):
        self.read.append((X[0].tolist(), state))
        return self.logits.expand(1, X.shape[1], -1), len(self.read)


def test_draws_have_the_probabilities_and_the_generator_alone_decides():
    net, chosen = Scripted([0.0, 1.0, 2.0, -1.0, 0.5]), {"temperature": 1.5, "top_k": 4, "top_p": 0.9}
    written = d2l.generate(net, [0], 4000, **chosen, generator=torch.Generator().manual_seed(5))
    counts = torch.bincount(torch.tensor(written), minlength=5).double()
    expected = d2l.token_probabilities(net.logits, **chosen).double() * 4000
    drawn = expected > 0
    assert (counts[~drawn] == 0).all() and 2 <= drawn.sum() < 5
    # chi-square with at most 3 degrees of freedom: above 16 once in a thousand seeds
    assert ((counts - expected)[drawn] ** 2 / expected[drawn]).sum() < 16
    torch.manual_seed(99)
    state = torch.get_rng_state()
    assert d2l.generate(net, [0], 50, **chosen, generator=torch.Generator().manual_seed(5)) == written[:50]
    assert torch.equal(torch.get_rng_state(), state)
    assert d2l.generate(net, [0], 50, **chosen, generator=torch.Generator().manual_seed(6)) != written[:50]
    ours = d2l.generate(net, [0], 50)
    torch.set_rng_state(state)
    assert d2l.generate(net, [0], 50) == ours  # PyTorch's own, if none is given


def test_what_is_read_again_and_what_is_not():
    for cached, expected in (
        (True, [([4, 2], None), ([1], 1), ([1], 2)]),
        (False, [([4, 2], None), ([4, 2, 1], None), ([4, 2, 1, 1], None)]),
    ):
        net = Scripted([0.0, 9.0])
        assert d2l.generate(net, [4, 2], 3, top_k=1, cached=cached) == [1, 1, 1]
        assert net.read == expected
    assert d2l.generate(net, torch.tensor([4, 2]), 2, top_k=1) == [1, 1]
    assert d2l.generate(net, [4, 2], 9, top_k=1, stop=1) == [1]
    assert d2l.generate(net, [1], 0) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"temperature": 0}, "temperature: got 0; .*set top_k=1"),
        ({"temperature": -0.5}, "temperature: got -0.5; "),
        ({"temperature": math.nan}, "temperature: got nan; "),
        ({"top_k": 0}, "top_k: got 0; .*Set 1 or more"),
        ({"top_p": 0}, r"top_p: got 0; .*Choose from \(0, 1\]"),
        ({"top_p": 1.01}, "top_p: got 1.01; "),
        ({"top_p": math.nan}, "top_p: got nan; "),
        ({"beginning": []}, "beginning: it is empty; .*as <bos>"),
        ({"num_tokens": -1}, "num_tokens: got -1; write 0 tokens or more"),
    ],
)
def test_refusals_come_before_anything_is_read_or_drawn(options, sentence):
    net, generator = Scripted([0.0, 9.0]), torch.Generator().manual_seed(0)
    state = generator.get_state()
    with pytest.raises(ValueError, match=sentence):
        d2l.generate(net, **{"beginning": [0], "num_tokens": 3, "generator": generator} | options)
    assert net.read == [] and torch.equal(generator.get_state(), state)
    if "beginning" not in options and "num_tokens" not in options:
        with pytest.raises(ValueError, match=sentence):
            d2l.token_probabilities(torch.zeros(3), **options)


def test_a_token_that_the_model_does_not_have_is_refused():
    net = d2l.LanguageModel(5, 4, [d2l.PreNormBlock(4, 1, torch.nn.Identity())])
    for token in (5, -1):
        with pytest.raises(IndexError, match=f"X: got tokens from .*{token}.*knows 0 to 4"):
            d2l.generate(net, [1, token], 3)
