"""Byte-pair encoding: any text as tokens that were learned from other text, as in chapter 14.

Read from top to bottom: a text falls into pieces, pieces into bytes, and merges make tokens of them again.
"""

import operator
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from d2lmini.recorded import read_rows

Pair = tuple[int, int]

# A space stays with the word or the mark after it; of more spaces the last does. Accents written as marks of
# their own belong to their word. GPT-2 cuts much like this.
PIECE = r" ?[\w\u0300-\u036f]+| ?[^\w\s\u0300-\u036f]+|\s+(?!\S)|\s+"


def split_pieces(text: str) -> list[str]:
    """Cut a text into the pieces that no token crosses: words and marks, each with the space before it.

    Chinese has no spaces: there a piece reaches from one punctuation mark to the next.

    Args:
        text: any text; the pieces in a row are the text again.

    Source: Radford et al., Language Models are Unsupervised Multitask Learners, 2019; their cut also sets
    digits and endings as 's apart.

    Example:
        >>> split_pieces("I'm at home.")
        ['I', "'", 'm', ' at', ' home', '.']
        >>> split_pieces("他喝茶。我也喝。")
        ['他喝茶', '。', '我也喝', '。']
    """
    _check_text(text)
    return re.findall(PIECE, text)


class BytePairEncoding:
    """A tokenizer: the 256 bytes, and merges of neighbors that were frequent in a text.

    Each merge gives the most frequent pair of neighbors a token of its own, number 256 and on. Of pairs that
    are equally frequent the one with the smaller numbers comes first. A merge stays within a piece of
    `split_pieces`.

    Args:
        text: the text to learn from.
        num_merges: how many merges to learn. When no pieces have two tokens any more, learning ends early.

    Attributes:
        merges: the pairs of tokens that were merged, in the order in which they were learned.
        tokens: the bytes of each token, in the order of their numbers.

    Raises:
        TypeError: `text` is no string.
        ValueError: `num_merges` is negative, or `text` has a lone surrogate, which UTF-8 cannot write.

    Source: Sennrich, Haddow & Birch, Neural Machine Translation of Rare Words with Subword Units, 2016;
    Gage, A New Algorithm for Data Compression, 1994.

    Example:
        >>> bpe = BytePairEncoding("hot hotter hottest", num_merges=3)
        >>> bpe.merges, bpe.tokens[256:]
        ([(104, 111), (256, 116), (32, 257)], [b'ho', b'hot', b' hot'])
        >>> bpe.encode("a hot tea"), bpe.decode(bpe.encode("trà 茶"))
        ([97, 258, 32, 116, 101, 97], 'trà 茶')
    """

    def __init__(self, text: str, num_merges: int) -> None:
        if num_merges < 0:
            raise ValueError(f"num_merges: got {num_merges}; learn 0 merges or more")
        counts = Counter(split_pieces(text))
        self.merges = _learn([list(piece.encode()) for piece in counts], [*counts.values()], num_merges)
        self.tokens = [bytes([byte]) for byte in range(256)]
        for left, right in self.merges:
            self.tokens.append(self.tokens[left] + self.tokens[right])
        self._number = {pair: number for number, pair in enumerate(self.merges, start=256)}
        self._encode_piece = lru_cache(maxsize=2**16)(self._merge_all)

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"BytePairEncoding of {len(self)} tokens"

    def encode(self, text: str) -> list[int]:
        """Return the numbers of the tokens of any text.

        Raises:
            TypeError: `text` is no string.
            ValueError: it has a lone surrogate.
        """
        return [number for piece in split_pieces(text) for number in self._encode_piece(piece)]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of tokens; bytes that are no character, as of one cut in two, become �.

        Raises:
            TypeError: a number is not an integer.
            IndexError: a number is not in the vocabulary.
        """
        numbers = []
        for number in ids:
            try:
                numbers.append(operator.index(number))
            except TypeError:
                raise TypeError(f"ids: got {number!r}; the number of a token is an integer") from None
            if not 0 <= numbers[-1] < len(self):
                raise IndexError(f"ids: got {number}; this tokenizer has the numbers 0 to {len(self) - 1}")
        return b"".join(self.tokens[number] for number in numbers).decode(errors="replace")

    def _merge_all(self, piece: str) -> tuple[int, ...]:
        """Apply the merges to a piece in the order in which they were learned."""
        ids = list(piece.encode())
        while len(ids) > 1:
            first = min(pairwise(ids), key=lambda pair: self._number.get(pair, len(self)))
            if first not in self._number:
                break
            ids = _merge(ids, first, self._number[first])
        return tuple(ids)


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"text: got {type(text).__name__}; give a string")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"text: character {error.start} is {text[error.start]!r}, half of a pair, which UTF-8 has not. "
            "Read the text again, with the encoding of its file"
        ) from None


def _merge(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Put `new` where the two of a pair stand side by side, from left to right."""
    merged: list[int] = []
    for token in ids:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new
        else:
            merged.append(token)
    return merged


def _learn(words: list[list[int]], times: list[int], num_merges: int) -> list[Pair]:
    """Return the merges. After each, only the words that had the pair are counted anew."""
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)  # words that have the pair, or had it

    def count(word: int, sign: int) -> None:
        for pair in pairwise(words[word]):
            counts[pair] += sign * times[word]
            where[pair].add(word)
            if not counts[pair]:
                del counts[pair], where[pair]

    for word in range(len(words)):
        count(word, 1)
    merges: list[Pair] = []
    while len(merges) < num_merges:
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None:
            break
        for word in [*where[best]]:
            count(word, -1)
            words[word] = _merge(words[word], best, 256 + len(merges))
            count(word, 1)
        merges.append(best)
    return merges


# ---- what was recorded


def recorded_subwords() -> list[dict[str, Any]]:
    """Return what bytes, characters, merges and words cost the same small model, three seeds each.

    `python3 course.py bench --section subwords --record` trains them again, with the cuts of chapter 14.

    Returns:
        One dict a training: device, sentences (to learn from), tokens (`"bytes"`, `"characters"`, `"merges"`
        or `"words"`), seed, vocabulary (its size), held_out (tokens of the held-out sentences, `<eos>`
        counted), unknown (how many of these are `<unk>`), loss (nats a held-out token), bits (per character
        of the held-out sentences, the spelling of unknown tokens counted).

    Example:
        >>> sorted(recorded_subwords()[0])[:4]
        ['bits', 'device', 'held_out', 'loss']
    """
    counts = dict.fromkeys(("sentences", "seed", "vocabulary", "held_out", "unknown"), int)
    return read_rows("subwords", **counts, loss=float, bits=float)
