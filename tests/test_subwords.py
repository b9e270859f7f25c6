"""Byte-pair encoding: merges counted by hand, any text comes back, and equal to the package `tokenizers`."""

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
import tokenizers
import torch

import d2lmini as d2l
from d2lmini.subwords import PIECE
from tools.record import subwords as record

TEXTS = {
    "en": [line.split("\t")[0] for line in d2l.read_data_nmt("vi").split("\n")],
    "vi": [line.split("\t")[1] for line in d2l.read_data_nmt("vi").split("\n")],
    "zh": [line.split("\t")[1] for line in d2l.read_data_nmt("zh").split("\n")],
}
ODD = [
    "",
    " ",
    "  two  spaces \n\n a tab\tand a line\r\n",
    "I'm 3.5 years_old — «naïve» coöperation…",
    "Bo\u0323n tre\u0309 \u0111ang uo\u0302\u0301ng su\u031b\u0303a.",  # the marks apart
    "孩子们在喝牛奶。Ngon quá! 🧋👩‍👧 \x00\u2028\ufeff",
    "हिन्दी ภาษาไทย العربية",
    "aaaaaaa aaa a",
]


def learned_anew(text: str, num_merges: int) -> list[tuple[int, int]]:
    """The merges, with all pairs counted after each."""
    words = Counter(tuple(piece.encode()) for piece in d2l.split_pieces(text))
    merges: list[tuple[int, int]] = []
    while len(merges) < num_merges:
        counts: Counter[tuple[int, int]] = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                counts[pair] += times
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        merged: Counter[tuple[int, ...]] = Counter()
        for word, times in words.items():
            new: list[int] = []
            for token in word:
                if new and (new[-1], token) == best:
                    new[-1] = 255 + len(merges)
                else:
                    new.append(token)
            merged[tuple(new)] += times
        words = merged
    return merges


@pytest.mark.parametrize("language", TEXTS)
def test_merges_equal_those_counted_anew_after_each(language: str) -> None:
    text = "\n".join(TEXTS[language][:800])
    assert d2l.BytePairEncoding(text, 150).merges == learned_anew(text, 150)


def test_a_pair_within_itself_is_merged_from_left_to_right() -> None:
    bpe = d2l.BytePairEncoding("aaaaa", 2)
    assert bpe.merges == [(97, 97), (256, 97)]  # after the first: 256 256 97
    assert bpe.encode("aaa") == [257] and bpe.encode("aaaaa") == [256, 257]


@pytest.mark.parametrize("text", [*ODD, "".join(map(chr, range(0xD800))), chr(0x10FFFF)])
def test_any_text_comes_back(text: str) -> None:
    for bpe in (d2l.BytePairEncoding("\n".join(TEXTS["vi"]), 200), d2l.BytePairEncoding(text, 50)):
        assert bpe.decode(bpe.encode(text)) == text
        assert bpe.decode(torch.tensor(bpe.encode(text), dtype=torch.long)) == text
    assert "".join(d2l.split_pieces(text)) == text


def test_learning_ends_when_every_piece_is_one_token() -> None:
    bpe = d2l.BytePairEncoding("hot hot hot", 100)
    assert bpe.tokens[256:] == [b"ho", b"hot", b" hot"]
    assert len(bpe) == 259 and repr(bpe) == "BytePairEncoding of 259 tokens"
    assert d2l.BytePairEncoding("", 5).merges == []


def test_bad_input_is_refused_in_a_sentence() -> None:
    make: Any = d2l.BytePairEncoding
    bpe = make("hot hotter", 2)
    for call, error, said in (
        (lambda: make("hot", -1), ValueError, "num_merges: got -1"),
        (lambda: make(b"hot", 1), TypeError, "text: got bytes; give a string"),
        (lambda: bpe.encode(["hot"]), TypeError, "text: got list"),
        (lambda: bpe.encode("hot \ud83e"), ValueError, "text: character 4 is '\\ud83e', half of a pair"),
        (lambda: bpe.decode([258]), IndexError, "ids: got 258; this tokenizer has the numbers 0 to 257"),
        (lambda: bpe.decode([-1]), IndexError, "ids: got -1"),
        (lambda: bpe.decode([1.5]), TypeError, "ids: got 1.5; the number of a token is an integer"),
    ):
        with pytest.raises(error) as raised:
            call()
        assert str(raised.value).startswith(said)


def test_half_a_character_is_shown_as_such() -> None:
    assert d2l.BytePairEncoding("", 0).decode("ok 奶".encode()[:-1]) == "ok �"


# ---- the package `tokenizers`, which tests/frameworks.txt names


@pytest.mark.parametrize("language", [*TEXTS, "all"])
def test_merges_and_tokens_equal_those_of_tokenizers(language: str) -> None:
    lines = (
        TEXTS[language][:1500] if language != "all" else [line for text in TEXTS.values() for line in text]
    )
    bpe = d2l.BytePairEncoding("\n".join(lines), 400)

    # That package numbers its letters by their place in Unicode. Each byte gets a letter in the order of the
    # bytes, so that equally frequent pairs are told apart alike; our pieces come one a line.
    def letters(piece: bytes) -> str:
        return "".join(chr(0x100 + byte) for byte in piece)

    def as_letters(text: str) -> str:
        return "\n".join(letters(piece.encode()) for piece in d2l.split_pieces(text))

    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Split("\n", "removed")
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=256 + 400, initial_alphabet=[chr(0x100 + byte) for byte in range(256)], show_progress=False
    )
    theirs.train_from_iterator([as_letters("\n".join(lines))], trainer)
    names = sorted(theirs.get_vocab(), key=theirs.get_vocab().__getitem__)
    assert names == [letters(token) for token in bpe.tokens]
    for line in [*ODD, *TEXTS["en"][-200:], *TEXTS["zh"][-200:]]:
        assert theirs.encode(as_letters(line)).ids == bpe.encode(line)


def test_pieces_equal_those_of_tokenizers_with_the_same_pattern() -> None:
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(PIECE), "isolated")
    texts = [*ODD[:6], *TEXTS["en"][::20], *TEXTS["vi"][::20], *TEXTS["zh"][::20]]
    for text in ["\n".join(texts[6:]), *texts]:
        assert [piece for piece, _ in split.pre_tokenize_str(text)] == d2l.split_pieces(text)


# ---- the page and its record


def test_recorded_subwords_hold_what_the_chapter_says() -> None:
    rows = d2l.recorded_subwords()
    assert len(rows) == 2 * 4 * 3 and all(row["device"] for row in rows)
    for row in rows:
        characters = sum(len(english) for english, _ in d2l.held_out_nmt("vi", first=True))
        paid = row["loss"] * row["held_out"] / math.log(2) / characters
        if row["unknown"]:
            assert row["bits"] > paid
        else:
            assert row["bits"] == pytest.approx(paid, abs=2e-4)


def test_tokens_are_measured_with_the_cells_of_the_chapter() -> None:
    page = record.page_of(1000)
    words, merges = (record.measure(page, name, seed=0, steps=1) for name in ("words", "merges"))
    assert words[1:3] == [626, 18] and merges[:3] == [560, 800, 0]
