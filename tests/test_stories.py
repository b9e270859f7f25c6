"""The stories: three sound grammars, probabilities that are those of the draws, and every refusal."""

import math
import random
import unicodedata
from collections import Counter
from functools import cache

import pytest
import torch

import d2lmini as d2l
from d2lmini.stories import LATER, _grammars

LANGUAGES = list(_grammars())
every_language = pytest.mark.parametrize("language", LANGUAGES)


@cache
def told(language, num=300):
    rng, stories = random.Random(0), d2l.Stories(language)
    return stories, [stories.tell(rng) for _ in range(num)]


def sentences(stories, story):
    """Cut a story into sentences, each without its end."""
    end, parts = story[-1], [[]]
    for token in story:
        if token == end:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts[:-1]


# ---- the grammars


@every_language
def test_the_words_of_a_language_are_distinct_and_can_be_told_apart(language):
    stories = d2l.Stories(language)
    assert [len(w) for w in (stories.names, stories.colors, stories.things, stories.verbs)] == [10] * 3 + [3]
    words = stories.vocab.idx_to_token[4:]
    assert stories.vocab.idx_to_token[:4] == ["<unk>", "<pad>", "<bos>", "<eos>"]
    assert len({word.lower() for word in words}) == len(words) == 37
    assert {*stories.names, *stories.colors, *stories.things, *stories.verbs} < set(words)
    for word in words:
        assert word == unicodedata.normalize("NFC", word) and not any(sign in word for sign in " <>{}")


def test_no_chinese_word_stands_inside_others():
    words = d2l.Stories("zh").vocab.idx_to_token[4:]
    pairs = [(first, second) for first in words for second in words]
    for word in words:
        for first, second in pairs:  # in one of them, or across the seam
            places = [i for i in range(len(first + second)) if (first + second).startswith(word, i)]
            assert places == [0] * (first == word) + [len(first)] * (second == word)


@every_language
def test_a_text_comes_apart_into_its_tokens(language):
    stories, lines = told(language)
    for story in lines[:100]:
        text = stories.join(story)
        assert stories.split(text) == story
        assert stories.split(unicodedata.normalize("NFD", text.upper())) == story
        assert stories.split(f" {text} ") == story
        if language != "zh":
            assert "  " not in text and " ." not in text and text.endswith(".")


@every_language
def test_what_pages_begin_with_begins_a_story(language):
    stories, english = d2l.Stories(language), d2l.Stories("en")
    texts = {text for grammar in _grammars().values() for text in grammar.get("texts", {})}
    assert texts
    for text in texts:
        here = stories.split(stories.text(text))
        chances = stories.probabilities(here), english.probabilities(english.split(text))
        assert sorted(chances[0].values()) == sorted(chances[1].values())  # as far in the same story


@every_language
def test_a_story_is_what_the_pages_say_it_is(language):
    stories, lines = told(language)
    kinds = [stories.names, stories.verbs, stories.colors, stories.things]
    for story in lines:
        parts = sentences(stories, story)
        words = [[[w for w in part if w in kind] for kind in kinds] for part in parts]
        first, later = words[:-LATER], words[-LATER:]
        pairs = {(*colors, *things) for _, _, colors, things in first}
        owners = {names[0] for names, _, _, _ in first}
        assert 2 <= len(first) == len(pairs) == len(owners) <= 5
        assert all(len(kind) == 1 - (kind is verbs) for part in first for verbs in [part[1]] for kind in part)
        assert all(len(kind) == 1 for part in later for kind in part)
        assert all(names[0] in owners and (*colors, *things) in pairs for names, _, colors, things in later)


# ---- probabilities


@every_language
def test_probabilities_sum_to_one_everywhere_and_are_those_of_the_draws(language):
    """Each token's share among all places where it might have come; and surprisals are their logarithms."""
    stories, lines = told(language)
    came, expected, variance, ends = Counter(), Counter(), Counter(), Counter()
    for story in lines:
        tokens, places = [*story, "<eos>"], []
        for i, token in enumerate(tokens):
            chances = stories.probabilities(story[:i])
            assert sum(chances.values()) == pytest.approx(1) and min(chances.values()) > 0
            assert token in chances
            places.append(-math.log(chances[token]))
            for word, p in chances.items():
                came[word] += word == token
                expected[word] += p
                variance[word] += p * (1 - p)
        assert stories.surprisals(story) == pytest.approx(places, abs=1e-12)
        assert stories.probabilities(tokens) == {}
        ends[len(sentences(stories, story)) - LATER] += 1
    for word, sure in variance.items():
        assert abs(came[word] - expected[word]) <= 4 * math.sqrt(sure) + 1e-9, word
    for things, p in {2: 1 / 2, 3: 1 / 4, 4: 1 / 8, 5: 1 / 8}.items():
        assert abs(ends[things] - p * len(lines)) < 4 * math.sqrt(len(lines) * p * (1 - p))


def least_loss():
    """Return the exact expectation of a story's surprisal, from the rules alone, in nats."""

    def naming(things, named=0, free=10):
        """Go on to name; `free` colors have their own thing still untold, so that it is forbidden to them."""
        if named == things:
            return 0.0
        left, total = 10 - named, math.log(10 - named)  # the color
        for own, p in ((1, free / left), (0, 1 - free / left)):
            allowed, others = left - own, free - own  # things; those of them whose color is untold, too
            if not p:
                continue
            total += p * math.log(allowed)
            for taken in (0, 1):
                q = others / allowed if taken else 1 - others / allowed
                if q:
                    total += p * q * naming(things, named + 1, others - taken)
        return total

    total = 0.0
    for things, p in ((2, 1 / 2), (3, 1 / 4), (4, 1 / 8), (5, 1 / 8)):
        names = sum(math.log(10 - i) for i in range(things)) + math.log(2) * min(things - 1, 3)
        later = LATER * (2 * math.log(things) + math.log(3))  # who, which of the things, and the verb
        total += p * (names + naming(things) + later)
    return total


@every_language
def test_the_mean_surprisal_is_the_exact_expectation(language):
    stories, lines = told(language)
    sums = torch.tensor([sum(stories.surprisals(story)) for story in lines], dtype=torch.float64)
    assert abs(sums.mean() - least_loss()) < 3 * sums.std() / len(lines) ** 0.5


@every_language
def test_ten_pairs_are_kept_from_every_story_that_does_not_ask_for_one(language):
    stories = d2l.Stories(language)
    rng = random.Random(0)
    own = set(zip(stories.colors, stories.things, strict=True))

    def named(story):
        parts = sentences(stories, story)[:-LATER]
        return [
            tuple(next(w for w in part if w in kind) for kind in (stories.colors, stories.things))
            for part in parts
        ]

    ordinary = [pair for _ in range(400) for pair in named(stories.tell(rng, rng.choice((None, 1, 5, 9))))]
    assert len(set(ordinary)) == 90 and not own & set(ordinary)
    for things in (None, 1, 5, 9):
        first, *others = named(stories.tell(rng, things, unseen=True))
        assert first in own and not own & set(others)
    with pytest.raises(ValueError, match="no story goes on so"):
        stories.surprisals(stories.tell(rng, unseen=True))


@every_language
def test_as_many_things_as_asked_for(language):
    stories = d2l.Stories(language)
    for seed in range(200):  # with nine, colors and things get scarce
        for things in (1, 7, 9):
            assert len(sentences(stories, stories.tell(seed, things))) == things + LATER


# ---- numbers


@every_language
def test_a_batch_is_the_same_stories_as_numbers(language):
    stories, vocab = d2l.Stories(language), d2l.Stories(language).vocab
    X = stories.batch(6, seed=3, things=[7, 8, None])
    rng = random.Random(3)
    for row, things in zip(X.tolist(), [7, 8, None] * 2, strict=True):
        story = stories.tell(rng, things)
        assert row[: len(story) + 2] == [vocab["<bos>"], *vocab[story], vocab["<eos>"]]
        assert set(row[len(story) + 2 :]) <= {vocab["<pad>"]}
    assert vocab["<unk>"] not in X and torch.equal(X, stories.batch(6, seed=3, things=[7, 8, None]))
    assert not torch.equal(stories.batch(6, seed=4, things=[7]), stories.batch(6, seed=3, things=[7]))


@every_language
def test_what_is_recalled_is_what_was_told_above(language):
    """In each later sentence the second of color and thing: the one of the two that is certain."""
    stories, lines = told(language)
    X = stories.batch(len(lines), seed=0)
    places = stories.recalled(X)
    assert places.shape == X.shape and (places.sum(dim=1) == LATER).all()
    assert torch.equal(stories.recalled(X[:, :9]), places[:, :9]) and not stories.recalled(X[0, :2]).any()
    words = {*stories.colors, *stories.things}
    for story, row in zip(lines, places, strict=True):
        seen = [
            i
            for i, (token, nats) in enumerate(zip(story, stories.surprisals(story), strict=False))
            if token in words and nats == 0
        ]
        assert row.nonzero().flatten().tolist() == [i + 1 for i in seen]  # <bos> stands before


def test_a_notebook_without_stories_of_its_own_gets_the_english_ones(monkeypatch):
    assert d2l.Stories().language == "en"
    for current, language in (("zh", "zh"), ("qx", "en")):
        monkeypatch.setattr("d2lmini.stories.current_language", lambda current=current: current)
        assert d2l.Stories().language == language
    assert repr(d2l.Stories("vi")) == "Stories('vi')"


# ---- refusals

EN, ZH = d2l.Stories("en"), d2l.Stories("zh")


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: d2l.Stories("fr"), ValueError, "language: got 'fr'; choose one of 'en', 'vi', 'zh'"),
        (lambda: EN.tell(0, things=0), ValueError, "things: got 0; .*1 to 9 .*or leave it out"),
        (lambda: EN.tell(0, things=10), ValueError, "things: got 10; "),
        (lambda: EN.batch(0, seed=0), ValueError, "num: got 0; tell 1 story or more"),
        (lambda: EN.batch(2, seed=0, things=[3, 11]), ValueError, "things: got 11; "),
        (lambda: EN.split("Tom has a bleu bell."), ValueError, "'bleu'; the nearest are 'blue'.*Take others"),
        (
            lambda: ZH.split("小明有一只蓝色的飞机。"),
            ValueError,
            "no story has the word '飞机'.*idx_to_token",
        ),
        (lambda: EN.split(["Tom"]), TypeError, "text: got list; give a string"),
        (
            lambda: ZH.text("Tom has"),
            ValueError,
            "english: got 'Tom has'; choose one of 'Tom has a blue bell",
        ),
        (lambda: EN.probabilities(["Tom", "a"]), ValueError, "text: got 'a' after 'Tom'; .*one of 'has'"),
        (lambda: EN.surprisals(EN.tell(0)[:-1]), ValueError, "text: got '<eos>' after .*Take one of '.'"),
        (lambda: EN.surprisals([*EN.tell(0), "<eos>"]), ValueError, "got '<eos>' .*what stands before it"),
    ],
)
def test_refusals_name_argument_value_and_mend(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
