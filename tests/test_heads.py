"""What heads look at in many sentences at once: the same as one sentence at a time."""

import pytest
import torch

import d2lmini as d2l

SENTENCES = ["Go.", "I don't eat fish.", "He's calm."]


@pytest.mark.parametrize("target", ["fr", "vi", "zh"])
def test_a_batch_says_what_the_translator_says_alone(target):
    translator = d2l.load_translator("en", target)
    batch = d2l.translate_all(translator, SENTENCES)
    for i, sentence in enumerate(SENTENCES):
        alone = translator(sentence)
        assert batch.texts[i] == alone.text
        assert batch.source_tokens[i] == alone.source_tokens
        assert batch.target_tokens[i] == alone.target_tokens
        written, read = len(alone.target_tokens), len(alone.source_tokens)
        together = batch.maps["cross-attention"][:, i, :, :written, :read]
        torch.testing.assert_close(together, alone.cross_weights, atol=1e-4, rtol=0)


def test_weights_lie_where_they_are_allowed():
    batch = d2l.translate_all(d2l.load_translator("en", "vi"), SENTENCES)
    for kind, weights in batch.maps.items():
        allowed = batch.allowed[kind][None, :, None]  # (1, sentences, 1, n, n)
        rows = allowed.any(dim=-1)
        total = (weights * allowed).sum(dim=-1)
        torch.testing.assert_close(total, rows.expand_as(total).float(), atol=1e-5, rtol=0)
        counts = rows[0, :, 0].sum(dim=-1).tolist()
        tokens = batch.source_tokens if kind == "encoder" else batch.target_tokens
        assert counts == [len(line) for line in tokens]


def test_a_sentence_that_it_cannot_read_is_refused():
    translator = d2l.load_translator("en", "fr")
    with pytest.raises(ValueError, match="does not know"):
        d2l.translate_all(translator, ["Go.", "Xylophones quibble."])
    with pytest.raises(ValueError, match="sentences: got none"):
        d2l.translate_all(translator, [])


@pytest.mark.parametrize(("target", "word"), [("fr", "chat"), ("zh", "猫")])
def test_words_that_come_together_have_a_large_coefficient(target, word):
    together = d2l.dice(target)
    assert together("cat", word) > 0.5 > together("dog", word)
    assert together("cat", "no such word") == 0 == together("no", "such word either")
    assert together(".", "。" if target == "zh" else ".") <= 1


@pytest.mark.parametrize(("target", "i", "stop"), [("fr", "je", "."), ("vi", "tôi", "."), ("zh", "我", "。")])
def test_a_word_and_a_mark_never_belong_together(target, i, stop):
    together = d2l.dice(target)
    assert together(".", i) == 0 == together("i", stop)
    assert together("i", i) > 0.2 < together(".", stop)
    assert together("<eos>", "<eos>") == 0 == together("<eos>", i)  # no pair has it


@pytest.mark.parametrize("heads", [{1}, {0, 3}])
def test_only_the_chosen_heads_are_replaced_and_come_back(heads):
    torch.manual_seed(0)
    layer, X = (
        d2l.MultiHeadAttention(8, 8, 8, 8, num_heads=4, dropout=0).double(),
        torch.randn(2, 5, 8).double(),
    )
    seen = []
    layer.W_o.register_forward_pre_hook(lambda W_o, inputs: seen.append(inputs[0].unflatten(-1, (4, 2))))
    whole, by = layer(X, X, X), torch.randn(4, 2).double()
    with d2l.replace_heads(layer, heads, by):
        other = layer(X, X, X)
    Y = seen[0].clone()
    Y[:, :, list(heads)] = by[list(heads)]
    torch.testing.assert_close(other, layer.W_o(Y.flatten(2)))
    assert not torch.allclose(other, whole)
    torch.testing.assert_close(layer(X, X, X), whole)


def test_the_mean_of_a_head_is_over_real_tokens_only():
    translator = d2l.load_translator("en", "fr")
    blocks = translator.net.encoder.blks, translator.net.decoder.blks
    for kind, layer in (
        ("encoder", blocks[0][0].attention),
        ("decoder", blocks[1][1].attention1),
        ("cross-attention", blocks[1][0].attention2),
    ):
        together = d2l.mean_heads(translator, SENTENCES, layer, kind)
        rows = d2l.translate_all(translator, SENTENCES).allowed[kind].any(dim=-1).sum(dim=-1)
        alone = torch.stack([d2l.mean_heads(translator, [one], layer, kind) for one in SENTENCES])
        expected = (alone * rows[:, None, None]).sum(dim=0) / rows.sum()
        assert together.shape == (4, 16)
        torch.testing.assert_close(together, expected, atol=1e-5, rtol=1e-4)


def test_a_word_is_aligned_with_the_one_that_comes_with_it():
    batch = d2l.translate_all(d2l.load_translator("en", "fr"), SENTENCES)
    aligned, together = d2l.aligned_words(batch, "fr"), d2l.dice("fr")
    assert aligned.shape == batch.allowed["cross-attention"].shape and aligned.sum(dim=-1).max() == 1
    for one, t, s in aligned.nonzero().tolist():
        source = batch.source_tokens[one]
        scores = [together(word, batch.target_tokens[one][t]) for word in source]
        assert scores[s] == max(scores) > 0.2
    fish = batch.target_tokens[1].index("poisson"), batch.source_tokens[1].index("fish")
    assert aligned[1][fish]
