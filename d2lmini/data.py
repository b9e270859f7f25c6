"""From sentence pairs to tensors: tokens, vocabulary, padding, minibatches.

Read from top to bottom: text becomes tokens, tokens become numbers, sentences of different lengths become one
rectangle of numbers with their valid lengths beside it, and pairs of such rectangles become minibatches.
"""

import csv
import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler, TensorDataset

from d2lmini.errors import one_of
from d2lmini.letters import HAN

TARGETS = ("fr", "vi", "zh")
_ALWAYS = ("Go.", "I lost.", "He's calm.", "I'm home.")  # what D2L translates, in each sample

# ---- text to tokens

_WORD = rf"(?:(?![{HAN}_])\w[\u0300-\u036f]*)+"
_TOKEN = re.compile(
    rf"<\w+>"  # <unk> and its like stay whole
    rf"|\d+(?:[.,]\d+)+"  # 3.5
    rf"|{_WORD}(?:['-]{_WORD})*"  # a word or a Vietnamese syllable; i'm and rendez-vous are one
    rf"|[{HAN}]"  # a Chinese character
    rf"|[^\s\w]|_"  # a punctuation mark
)


def split_tokens(sentence: str) -> list[str]:
    """Split a sentence of any of the course's languages into tokens, lower case.

    A token is a word, in Vietnamese a written syllable, in Chinese a character; a punctuation mark is a
    token of its own. Latin words and numbers inside Chinese stay whole. Splitting what is split already
    changes nothing.

    Args:
        sentence: text in English, French, Vietnamese or Chinese, or a mixture.

    Example:
        >>> split_tokens("I'm OK, thanks.")
        ["i'm", 'ok', ',', 'thanks', '.']
        >>> split_tokens("Chúng ta học máy tính.")
        ['chúng', 'ta', 'học', 'máy', 'tính', '.']
        >>> split_tokens("我用 PyTorch 2.6。")
        ['我', '用', 'pytorch', '2.6', '。']
    """
    if not isinstance(sentence, str):
        raise TypeError(f"sentence: got {type(sentence).__name__}; give a string")
    return _TOKEN.findall(plain(sentence))


def join_tokens(tokens: Iterable[str]) -> str:
    """Join tokens with spaces, as D2L shows translations; between Chinese characters there is none.

    Example:
        >>> join_tokens(["ça", "va", "."])
        'ça va .'
        >>> join_tokens(["我", "用", "pytorch", "。"])
        '我用 pytorch 。'
    """
    joined = " ".join(tokens)
    return re.sub(rf"(?<=[{HAN}]) (?=[{HAN}，。！？；：、])", "", joined)


def plain(text: str) -> str:
    """Return text in lower case and one Unicode form, with plain spaces and apostrophes."""
    text = unicodedata.normalize("NFC", text).translate({0x202F: " ", 0xA0: " ", 0x2019: "'", 0xFEFF: None})
    return unicodedata.normalize("NFC", text.lower())  # İ and a few others come apart in lower case


def tokenize(lines: Iterable[str], token: str = "word") -> list[list[str]]:
    """Split lines of text into tokens.

    Args:
        lines: the text.
        token: `"word"` (see `split_tokens`) or `"char"`.

    Raises:
        ValueError: for any other `token`.

    Source: D2L 0.17, `d2l.tokenize`.

    Example:
        >>> tokenize(["Time flies.", "光阴似箭"])
        [['time', 'flies', '.'], ['光', '阴', '似', '箭']]
    """
    if token not in ("word", "char"):
        raise ValueError(one_of("token", token, ("word", "char")))
    return [split_tokens(line) if token == "word" else list(line) for line in lines]


def preprocess_nmt(text: str) -> str:
    r"""Write pairs of sentences so that a space stands between any two tokens; tabs and line ends stay.

    Args:
        text: lines of `source<TAB>target`, as `read_data_nmt` returns them.

    Source: D2L 0.17, `d2l.preprocess_nmt`; here Chinese and all punctuation are split as well.

    Example:
        >>> preprocess_nmt("I'm OK.\tÇa va.\nHi!\t你好！")
        "i'm ok .\tça va .\nhi !\t你 好 ！"
    """
    cells = re.split(r"([\t\n])", text)
    return "".join(cell if cell in ("\t", "\n") else " ".join(split_tokens(cell)) for cell in cells)


def tokenize_nmt(text: str, num_examples: int | None = None) -> tuple[list[list[str]], list[list[str]]]:
    r"""Split preprocessed pairs into the tokens of the source and of the target sentences.

    Args:
        text: what `preprocess_nmt` returns.
        num_examples: how many pairs to take, from the first on; left out, all.

    Returns:
        The source sentences and the target sentences, each a list of tokens.

    Source: D2L 0.17, `d2l.tokenize_nmt`.

    Example:
        >>> tokenize_nmt("go .\tva !\nhi .\tsalut !", num_examples=1)
        ([['go', '.']], [['va', '!']])
    """
    source, target = [], []
    for line in text.split("\n")[:num_examples]:
        parts = line.split("\t")
        if len(parts) == 2:
            source.append(parts[0].split())
            target.append(parts[1].split())
    return source, target


# ---- tokens to numbers


def count_corpus(tokens: Sequence[Any]) -> Counter[str]:
    """Count tokens.

    Args:
        tokens: a list of tokens, or a list of such lists.

    Source: D2L 0.17, `d2l.count_corpus`.

    Example:
        >>> count_corpus([["a", "b"], ["a"]])["a"]
        2
    """
    if len(tokens) and isinstance(tokens[0], (list, tuple)):
        return Counter(token for line in tokens for token in line)
    return Counter(tokens)


class Vocab:
    """Numbers for tokens. Number 0 is `<unk>`, for every token not in the vocabulary.

    Args:
        tokens: a list of tokens, or a list of such lists.
        min_freq: a token that occurs less often than this is left out.
        reserved_tokens: tokens that get the numbers 1, 2, …; the others follow, the most frequent first. A
            token that comes twice, or is `<unk>`, counts once.

    Attributes:
        idx_to_token: the tokens, in the order of their numbers.
        token_to_idx: the number of each token.

    Source: D2L 0.17, `d2l.Vocab`.

    Example:
        >>> vocab = Vocab([["a", "b"], ["a"]], reserved_tokens=["<pad>"])
        >>> len(vocab), vocab["a"], vocab[["b", "never seen"]]
        (4, 2, [3, 0])
        >>> vocab.to_tokens([2, 0])
        ['a', '<unk>']
    """

    def __init__(
        self,
        tokens: Sequence[Any] | None = None,
        min_freq: int = 0,
        reserved_tokens: Sequence[str] | None = None,
    ) -> None:
        counts = count_corpus(tokens if tokens is not None else [])
        self._token_freqs = counts.most_common()
        frequent = [token for token, count in self._token_freqs if count >= min_freq]
        self.idx_to_token = list(dict.fromkeys(["<unk>", *(reserved_tokens or []), *frequent]))
        self.token_to_idx = {token: index for index, token in enumerate(self.idx_to_token)}

    def __len__(self) -> int:
        return len(self.idx_to_token)

    def __getitem__(self, tokens: Any) -> Any:
        """Return the number of a token, or a list of the numbers of a list of tokens."""
        if isinstance(tokens, (list, tuple)):
            return [self[token] for token in tokens]
        return self.token_to_idx.get(tokens, self.unk)

    def to_tokens(self, indices: Any) -> Any:
        """Return the token of a number, or the tokens of a list or a tensor of numbers.

        Raises:
            TypeError: a number is not an integer.
            IndexError: a number is not in the vocabulary.
        """
        if isinstance(indices, Tensor):
            indices = indices.tolist()
        if isinstance(indices, (list, tuple)):
            return [self.to_tokens(index) for index in indices]
        try:
            index = operator.index(indices)
        except TypeError:
            raise TypeError(f"indices: got {indices!r}; the number of a token is an integer") from None
        if not 0 <= index < len(self):
            raise IndexError(f"indices: got {index}; this vocabulary has the numbers 0 to {len(self) - 1}")
        return self.idx_to_token[index]

    @property
    def unk(self) -> int:
        """The number of `<unk>`: 0."""
        return 0

    @property
    def token_freqs(self) -> list[tuple[str, int]]:
        """Every token that was counted with how often it occurs, the most frequent first."""
        return self._token_freqs


def special_token(name: str, vocab: Vocab, token: str) -> int:
    """Return the number of a token that a vocabulary must have; `name` is the argument it came in."""
    number: int = vocab[token]
    if number == vocab["<unk>"]:
        raise ValueError(
            f"{name}: got a vocabulary without {token}; padding and the ends of sentences need it. "
            "Make it with reserved_tokens=['<pad>', '<bos>', '<eos>']"
        )
    return number


def truncate_pad(line: Sequence[int], num_steps: int, padding_token: int) -> list[int]:
    """Cut a line to `num_steps` numbers, or fill it up to as many.

    Args:
        line: numbers of tokens.
        num_steps: how many numbers to return.
        padding_token: what to fill up with.

    Source: D2L 0.17, `d2l.truncate_pad`.

    Example:
        >>> truncate_pad([5, 6, 7], 2, 1), truncate_pad([5, 6, 7], 5, 1)
        ([5, 6], [5, 6, 7, 1, 1])
    """
    return list(line[:num_steps]) + [padding_token] * (num_steps - len(line))


def build_array_nmt(lines: Sequence[Sequence[str]], vocab: Vocab, num_steps: int) -> tuple[Tensor, Tensor]:
    """Write sentences as one rectangle of numbers, each with `<eos>` at its end.

    Args:
        lines: the tokens of each sentence.
        vocab: has `<pad>` and `<eos>`.
        num_steps: width of the rectangle, in tokens; a longer sentence is cut and loses its `<eos>`.

    Returns:
        Numbers, shape (sentences, num_steps), and valid lengths, shape (sentences,): how many numbers of a
        row are not padding.

    Raises:
        ValueError: `num_steps` is less than 1, or `vocab` lacks one of them.

    Source: D2L 0.17, `d2l.build_array_nmt`.

    Example:
        >>> vocab = Vocab([["go", "."]], reserved_tokens=["<pad>", "<bos>", "<eos>"])
        >>> build_array_nmt([["go", "."]], vocab, num_steps=5)
        (tensor([[4, 5, 3, 1, 1]]), tensor([3]))
    """
    if num_steps < 1:
        raise ValueError(f"num_steps: got {num_steps}; a sentence needs room for 1 token or more")
    eos, pad = (special_token("vocab", vocab, token) for token in ("<eos>", "<pad>"))
    rows = [[*vocab[list(line)], eos] for line in lines]
    array = torch.tensor([truncate_pad(row, num_steps, pad) for row in rows], dtype=torch.long)
    valid_len = torch.tensor([min(len(row), num_steps) for row in rows], dtype=torch.long)
    return array.reshape(len(rows), num_steps), valid_len


def load_array(data_arrays: Sequence[Tensor], batch_size: int, is_train: bool = True) -> DataLoader[Any]:
    """Return an iterator over minibatches of tensors.

    Args:
        data_arrays: tensors of equal first dimension.
        batch_size: rows in a minibatch; the last one may have fewer.
        is_train: shuffle anew in every epoch, from torch's CPU generator.

    Returns:
        An iterator over lists with one tensor for each of `data_arrays`.

    Raises:
        ValueError: `batch_size` is less than 1.

    Source: D2L 0.17, `d2l.load_array`; a batch is one indexing here, not `batch_size` rows put together.

    Example:
        >>> [len(X) for X, y in load_array((torch.arange(5), torch.arange(5)), batch_size=2)]
        [2, 2, 1]
    """
    if batch_size < 1:
        raise ValueError(f"batch_size: got {batch_size}; a minibatch has 1 row or more")
    dataset = TensorDataset(*data_arrays)
    rows = RandomSampler(dataset) if is_train else SequentialSampler(dataset)
    # the sampler gives a whole batch of row numbers, so that TensorDataset is indexed once a batch
    return DataLoader(dataset, sampler=BatchSampler(rows, batch_size, drop_last=False), batch_size=None)


# ---- sentence pairs


def read_data_nmt(target: str = "fr") -> str:
    r"""Return the sentence pairs to train on as one text, a pair a line: `English<TAB>translation`.

    A sentence of the course with several valid translations comes once, with the first of them: a model that
    is to remember 600 sentences learns nothing from being asked for two answers at once. `held_out_nmt`
    returns them all.

    Args:
        target: `"fr"`, `"vi"` or `"zh"`.

    Raises:
        ValueError: for another `target`.

    Source: D2L 0.17, `d2l.read_data_nmt`, which fetches a larger file; these pairs are the course's own.

    Example:
        >>> read_data_nmt("vi").split("\n")[0].count("\t")
        1
    """
    _check_target(target)
    sentences = course_sentences("en", target, "train")
    return "\n".join(f"{english}\t{translations[0]}" for english, translations in sentences.items())


def held_out_nmt(
    target: str = "fr", *, reverse: bool = False, first: bool = False
) -> list[tuple[str, list[str]]]:
    """Return sentences that `load_data_nmt` never trains on, each with all of its valid translations.

    Args:
        target: `"fr"`, `"vi"` or `"zh"`.
        reverse: from the target language into English.
        first: of several wordings of a source sentence only the first: 99 sentences in every direction.

    Returns:
        Source sentences with the list of their translations, in the order of the file.

    Raises:
        ValueError: for another `target`.

    Example:
        >>> source, references = held_out_nmt("vi")[0]
        >>> isinstance(source, str), len(references) >= 1
        (True, True)
    """
    _check_target(target)
    languages = (target, "en") if reverse else ("en", target)
    asked = course_sentences(*languages, "test")
    if first:
        wordings = {row[languages[0]].split(" | ")[0] for row in _course_rows() if row["split"] == "test"}
        asked = {source: answers for source, answers in asked.items() if source in wordings}
    return list(asked.items())


def split_known(
    sentences: Iterable[tuple[str, list[str]]], src_vocab: Vocab, tgt_vocab: Vocab
) -> tuple[list[tuple[str, list[str]]], list[tuple[str, list[str]]]]:
    """Set the sentences that a model has the words for apart from the others.

    Args:
        sentences: source sentences with their translations, as of `held_out_nmt`.
        src_vocab: vocabulary of the source.
        tgt_vocab: vocabulary of the target.

    Returns:
        Sentences whose words are all in `src_vocab`, with one translation or more whose words are all in
        `tgt_vocab`; and those with a word missing.

    Example:
        >>> source, target = Vocab([["go", "."]]), Vocab([["va", "."]])
        >>> split_known([("Go.", ["Va.", "Allez."]), ("Go.", ["Allez."])], source, target)
        ([('Go.', ['Va.', 'Allez.'])], [('Go.', ['Allez.'])])
    """

    def has(vocab: Vocab, sentence: str) -> bool:
        return all(token in vocab.token_to_idx for token in split_tokens(sentence))

    asked = list(sentences)
    known = [
        (one, answers)
        for one, answers in asked
        if has(src_vocab, one) and any(has(tgt_vocab, answer) for answer in answers)
    ]
    return known, [pair for pair in asked if pair not in known]


def sample_rows(num_examples: int = 600, seed: int = 0) -> list[int]:
    """Draw some of the pairs to train on, as the numbers of their lines in `read_data_nmt`.

    Short and long sentences get in alike; the first lines of the file are the shortest. The four sentences
    that D2L translates are always there: “Go.”, “I lost.”, “He's calm.” and “I'm home.”

    Args:
        num_examples: how many.
        seed: of torch's CPU generator; the same rows on every machine, and for every target language.

    Returns:
        The numbers of the lines, from 0, in the order of the file.

    Raises:
        ValueError: `num_examples` is less than 4 or more than there are pairs.

    Example:
        >>> rows = sample_rows(600, seed=0)
        >>> len(rows), rows == sorted(set(rows))
        (600, True)
        >>> [row for row in rows if row < 10]
        [4, 6]
    """
    sources = list(course_sentences("en", "fr", "train"))
    if not len(_ALWAYS) <= num_examples <= len(sources):
        raise ValueError(
            f"num_examples: got {num_examples}; a sample has {len(_ALWAYS)} to {len(sources)} pairs"
        )
    always = [sources.index(sentence) for sentence in _ALWAYS]
    drawn = torch.randperm(len(sources), generator=torch.Generator().manual_seed(seed)).tolist()
    others = [row for row in drawn if row not in always]
    return sorted(always + others[: num_examples - len(always)])


def load_data_nmt(
    batch_size: int,
    num_steps: int,
    num_examples: int = 600,
    *,
    target: str = "fr",
    reverse: bool = False,
    min_freq: int = 2,
    sample: int | None = None,
) -> tuple[DataLoader[Any], Vocab, Vocab]:
    """Return minibatches of sentence pairs and the two vocabularies.

    Args:
        batch_size: pairs in a minibatch.
        num_steps: tokens a sentence is cut or filled up to, `<eos>` counted.
        num_examples: how many pairs to take, from the first on; the file begins with the shortest.
        target: `"fr"`, `"vi"` or `"zh"`; the source is English.
        reverse: from that language into English.
        min_freq: a token that occurs less often becomes `<unk>`. With 2, as in D2L, the model meets
            `<unk>` while it learns and can deal with a word that it has never seen.
        sample: a seed: take the pairs of `sample_rows(num_examples, sample)` instead of the first, long and
            short ones alike.

    Returns:
        An iterator over (source, source valid lengths, target, target valid lengths), of shapes
        (batch, num_steps), (batch,), (batch, num_steps), (batch,); the source vocabulary; the target
        vocabulary. In both, `<unk> <pad> <bos> <eos>` are 0, 1, 2, 3.

    Raises:
        ValueError: an argument is out of range; see also `read_data_nmt` and `sample_rows`.

    Source: D2L 0.17, `d2l.load_data_nmt`; what follows the `*` is ours.

    Example:
        >>> batches, source_vocab, target_vocab = load_data_nmt(batch_size=2, num_steps=8, target="vi")
        >>> for X, X_valid_len, Y, Y_valid_len in batches:
        ...     print(X.shape, X_valid_len.shape, Y.shape, Y_valid_len.shape)
        ...     break
        torch.Size([2, 8]) torch.Size([2]) torch.Size([2, 8]) torch.Size([2])
        >>> target_vocab[["<unk>", "<pad>", "<bos>", "<eos>"]]
        [0, 1, 2, 3]
    """
    if num_examples < 1:
        raise ValueError(f"num_examples: got {num_examples}; take 1 pair or more")
    text = read_data_nmt(target)
    if sample is not None:
        lines = text.split("\n")
        text = "\n".join(lines[row] for row in sample_rows(num_examples, sample))
    source, translation = tokenize_nmt(preprocess_nmt(text), num_examples)
    if reverse:
        source, translation = translation, source
    reserved = ["<pad>", "<bos>", "<eos>"]
    source_vocab = Vocab(source, min_freq, reserved)
    target_vocab = Vocab(translation, min_freq, reserved)
    arrays = (
        *build_array_nmt(source, source_vocab, num_steps),
        *build_array_nmt(translation, target_vocab, num_steps),
    )
    return load_array(arrays, batch_size), source_vocab, target_vocab


def _check_target(target: str) -> None:
    if target not in TARGETS:
        raise ValueError(one_of("target", target, TARGETS))


@cache
def _course_rows() -> tuple[dict[str, str], ...]:
    text = (files("d2lmini") / "assets" / "corpus.tsv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def course_sentences(source: str, target: str, split: str) -> dict[str, list[str]]:
    """Return the course's sentences of one language and split, each with its translations, the best first.

    Args:
        source: `"en"`, `"fr"`, `"vi"` or `"zh"`.
        target: another of these.
        split: `"train"` or `"test"`.
    """
    translations: dict[str, list[str]] = {}
    for row in _course_rows():
        if row["split"] == split:
            for sentence in row[source].split(" | "):
                every = [*translations.get(sentence, []), *row[target].split(" | ")]
                translations[sentence] = list(dict.fromkeys(every))
    return translations
