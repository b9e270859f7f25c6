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
