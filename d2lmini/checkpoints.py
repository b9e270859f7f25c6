"""Six small translators, trained for the course and shipped with it.

A checkpoint is one file in the safetensors format, which the course's pages read as well: every matrix as
8-bit integers with a scale for each row, both vocabularies, and how the weights were made. It is loaded into
the ordinary classes of `d2lmini.transformer`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor

from d2lmini.data import Vocab, split_tokens
from d2lmini.decoding import predict_seq2seq
from d2lmini.encoder_decoder import EncoderDecoder
from d2lmini.errors import nearest, one_of
from d2lmini.transformer import TransformerDecoder, TransformerEncoder

DIRECTIONS = ("en-fr", "en-vi", "en-zh", "fr-en", "vi-en", "zh-en")
CHECKPOINTS = files("d2lmini") / "assets" / "checkpoints"
SHARED = ("decoder.dense.weight", "decoder.embedding.weight")  # one matrix; the file holds the second
_TYPES = {"I8": torch.int8, "F16": torch.float16, "F32": torch.float32}
_NAMES = {"en": "English", "fr": "French", "vi": "Vietnamese", "zh": "Chinese"}


# ---- a translator and what it says


@dataclass(frozen=True, repr=False)
class Translation:
    """A translated sentence, and what the model looked at.

    Attributes:
        text: the translation, as `join_tokens` writes it.
        source_tokens: what the encoder read, `<eos>` included.
        target_tokens: what the decoder wrote, `<eos>` included unless it ran out of room.
        cross_weights: weights of the attention from target to source, shape
            (blocks, heads, target tokens, source tokens). Row t is what the decoder looked at when it wrote
            target token t.

    Example:
        >>> translation = load_translator("en", "fr")("Go.")
        >>> translation.source_tokens, translation.cross_weights.shape[:2]
        (['go', '.', '<eos>'], torch.Size([2, 4]))
    """

    text: str
    source_tokens: list[str]
    target_tokens: list[str]
    cross_weights: Tensor

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class Translator:
    """A trained model with its vocabularies; call it with a sentence.

    Attributes:
        source: the language that it reads: `"en"`, `"fr"`, `"vi"` or `"zh"`.
        target: the language that it writes.
        net: an `EncoderDecoder` of a `TransformerEncoder` and a `TransformerDecoder`, on the CPU, in
            evaluation mode.
        src_vocab: vocabulary of the source.
        tgt_vocab: vocabulary of the target.
        num_steps: room for a sentence, in tokens, `<eos>` counted.
        about: how it was made and how well it does.

    Example:
        >>> translator = load_translator("en", "vi")
        >>> translator
        Translator from English to Vietnamese
        >>> translator("He's an astronaut.")
        Traceback (most recent call last):
        ValueError: sentence: this translator does not know ...
    """

    source: str
    target: str
    net: EncoderDecoder
    src_vocab: Vocab
    tgt_vocab: Vocab
    num_steps: int
    about: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Translator from {_NAMES[self.source]} to {_NAMES[self.target]}"

    def check(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence that this translator can read.

        Raises:
            TypeError: `sentence` is not a string.
            ValueError: it is empty, written in another language, has words that the translator never met, or
                is too long.
        """
        tokens = split_tokens(sentence)
        if not tokens:
            raise ValueError(
                f"sentence: it is empty. Type a short sentence in {_NAMES[self.source]}, "
                f"for example {self.about['example']!r}"
            )
        unknown = [token for token in dict.fromkeys(tokens) if token not in self.src_vocab.token_to_idx]
        if unknown:
            language = _language_of(tokens)
            if language not in (None, self.source):
                other = "en" if language != "en" else self.source
                raise ValueError(
                    f"sentence: this looks like {_NAMES[language]}, and this translator reads "
                    f"{_NAMES[self.source]}. Make another with load_translator({language!r}, {other!r})"
                )
            words = "word" if len(unknown) == 1 else "words"
            near = nearest(unknown[0], self.src_vocab.idx_to_token[4:])
            raise ValueError(
                f"sentence: this translator does not know the {words} {', '.join(map(repr, unknown))}{near}. "
                f"Try other words: it has met {len(self.src_vocab) - 4}, see src_vocab.idx_to_token"
            )
        if len(tokens) >= self.num_steps:
            raise ValueError(
                f"sentence: got {len(tokens)} tokens; this translator was trained on sentences of at most "
                f"{self.num_steps - 1}, punctuation counted. Say it in fewer words"
            )
        return tokens

    def __call__(self, sentence: str) -> Translation:
        """Translate a sentence by greedy search.

        Args:
            sentence: a short sentence in the source language.

        Raises:
            TypeError, ValueError: as in `check`.
        """
        source = [*self.check(sentence), "<eos>"]
        device = next(self.net.parameters()).device
        vocabularies = (self.src_vocab, self.tgt_vocab)
        text, steps = predict_seq2seq(self.net, sentence, *vocabularies, self.num_steps, device, True)
        target = split_tokens(text)
        if len(steps) > len(target):
            target.append("<eos>")
        # each step: for each block (heads, 1, num_steps); what lies beyond the source is padding, and 0
        weights = torch.stack([torch.stack(cross)[:, :, 0, : len(source)] for _, cross in steps], dim=2)
        return Translation(text, source, target, weights)


def _language_of(tokens: Sequence[str]) -> str | None:
    """Return the language whose corpus knows most of these tokens, if it knows most of them."""
    words = [token for token in tokens if token[0].isalpha()]
    known = {language: sum(word in _known(language) for word in words) for language in _NAMES}
    best = max(known, key=lambda language: known[language])
    return best if words and known[best] > len(words) / 2 else None


@cache
def _known(language: str) -> frozenset[str]:
    target = "en" if language != "en" else "fr"
    return frozenset(json.loads(read_checkpoint(f"{language}-{target}")[0]["src_vocab"]))


# ---- from file to model


def load_translator(source: str = "en", target: str = "fr") -> Translator:
    """Load one of the course's trained translators.

    Args:
        source: the language to read.
        target: the language to write. One of the two is `"en"`, the other `"fr"`, `"vi"` or `"zh"`.

    Returns:
        A new translator each time: what you change in its net stays there.

    Raises:
        ValueError: there is no translator for this direction.

    Example:
        >>> translator = load_translator("en", "zh")
        >>> sum(parameter.numel() for parameter in translator.net.parameters()) < 300_000
        True
        >>> translator.tgt_vocab[["<unk>", "<pad>", "<bos>", "<eos>"]]
        [0, 1, 2, 3]
    """
    direction = f"{source}-{target}"
    if direction not in DIRECTIONS:
        raise ValueError(one_of("source-target", direction, DIRECTIONS))
    meta, tensors = read_checkpoint(direction)
    config = json.loads(meta["config"])
    src_vocab, tgt_vocab = (_vocab(json.loads(meta[name])) for name in ("src_vocab", "tgt_vocab"))
    net = make_net(len(src_vocab), len(tgt_vocab), **config)
    weights = {
        name: tensor * tensors[f"{name}.scale"][:, None] if tensor.dtype == torch.int8 else tensor
        for name, tensor in tensors.items()
        if not name.endswith(".scale")
    }
    net.load_state_dict(weights | {SHARED[0]: weights[SHARED[1]]})
    net.eval()
    about = json.loads(meta["about"])
    return Translator(source, target, net, src_vocab, tgt_vocab, config["num_steps"], about)


def make_net(
    source_tokens: int,
    target_tokens: int,
    *,
    num_hiddens: int,
    ffn_num_hiddens: int,
    num_heads: int,
    num_layers: int,
    dropout: float = 0.0,
    **_: Any,
) -> EncoderDecoder:
    """Return a Transformer of the checkpoints' kind with fresh weights."""
    widths = (num_hiddens,) * 4
    sizes = (*widths, num_hiddens, num_hiddens, ffn_num_hiddens, num_heads, num_layers, dropout)
    net = EncoderDecoder(TransformerEncoder(source_tokens, *sizes), TransformerDecoder(target_tokens, *sizes))
    net.decoder.dense.weight = net.decoder.embedding.weight  # type: ignore[union-attr]
    return net


def read_checkpoint(name: str) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Return the metadata and the tensors of a checkpoint, as its file has them."""
    raw = (CHECKPOINTS / f"{name}.safetensors").read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:begin])
    meta = header.pop("__metadata__")
    data = bytearray(raw[begin:])  # torch wants memory that may be written to
    tensors = {}
    for key, entry in header.items():
        first, last = entry["data_offsets"]
        flat = torch.frombuffer(memoryview(data)[first:last], dtype=_TYPES[entry["dtype"]])
        tensors[key] = flat.reshape(entry["shape"])
    return meta, tensors


def _vocab(tokens: list[str]) -> Vocab:
    return Vocab(reserved_tokens=tokens[1:])  # <unk> is there in any case, and first
