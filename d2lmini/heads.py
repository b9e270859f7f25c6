"""What the heads of a translator look at, in many sentences at once.

Chapter 12 counts with it: all translations are written side by side, as one batch, and one more pass over
them gives the weights of all three kinds of attention.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from d2lmini.attention import causal_mask
from d2lmini.checkpoints import Translator
from d2lmini.data import build_array_nmt, join_tokens, preprocess_nmt, read_data_nmt, tokenize_nmt


@dataclass(frozen=True, repr=False)
class Translations:
    """Sentences, their greedy translations, and what every head looked at meanwhile.

    Attributes:
        texts: the translations.
        sources: numbers of the source tokens, shape (sentences, n), n the room for a sentence.
        source_tokens: for each sentence what the encoder read, `<eos>` included.
        target_tokens: for each sentence what the decoder wrote, `<eos>` included unless it ran out of room.
        maps: attention weights by kind, `"encoder"`, `"decoder"` and `"cross-attention"`: each of shape
            (blocks, sentences, heads, n, n). In the last two, query t is the one that writes target token t;
            in the decoder key 0 is `<bos>` and key t target token t - 1.
        allowed: by kind, shape (sentences, n, n): True where this query may look at this key, and neither is
            padding.

    Example:
        >>> import d2lmini as d2l
        >>> translations = translate_all(d2l.load_translator("en", "fr"), ["Go.", "He's calm."])
        >>> len(translations.texts), translations.source_tokens[0]
        (2, ['go', '.', '<eos>'])
        >>> [weights.shape[:3] for weights in translations.maps.values()]
        [torch.Size([2, 2, 4]), torch.Size([2, 2, 4]), torch.Size([2, 2, 4])]
    """

    texts: list[str]
    sources: Tensor
    source_tokens: list[list[str]]
    target_tokens: list[list[str]]
    maps: dict[str, Tensor]
    allowed: dict[str, Tensor]


@torch.no_grad()
def translate_all(translator: Translator, sentences: Sequence[str]) -> Translations:
    """Translate sentences by greedy search, as one batch, and keep the weights of every attention.

    Args:
        translator: what `load_translator` returned.
        sentences: sentences in its source language.

    Raises:
        TypeError, ValueError: it cannot read one of them, as in `Translator.check`; or there is none.

    Example:
        >>> import d2lmini as d2l
        >>> translator = d2l.load_translator("en", "vi")
        >>> translate_all(translator, ["Go."]).texts == [translator("Go.").text]
        True
    """
    if not sentences:
        raise ValueError("sentences: got none; give 1 sentence or more")
    net: Any = translator.net
    vocab, n = translator.tgt_vocab, translator.num_steps
    lines = [translator.check(sentence) for sentence in sentences]
    X, source_lens = build_array_nmt(lines, translator.src_vocab, n)  # (sentences, n), (sentences,)
    enc_outputs = net.encoder(X, source_lens)
    state = net.decoder.init_state(enc_outputs, source_lens)
    said = torch.full((len(X), 1), vocab["<bos>"])
    for _ in range(n):  # a sentence that has reached <eos> goes on with the others and is cut off below
        Y, state = net.decoder(said[:, -1:], state)  # (sentences, 1, vocabulary)
        said = torch.cat((said, Y.argmax(dim=2)), dim=1)
    going_on = (said[:, 1:] == vocab["<eos>"]).cumsum(dim=1) == 0
    target_lens = (going_on.sum(dim=1) + 1).clamp(max=n)  # <eos> counted
    target_tokens = [
        vocab.to_tokens(row[1 : length + 1]) for row, length in zip(said, target_lens.tolist(), strict=True)
    ]
    net.decoder(said[:, :-1], net.decoder.init_state(enc_outputs, source_lens))  # all weights in one pass

    kinds = ("encoder", "decoder", "cross-attention")
    weights = (
        net.encoder.attention_weights,
        *net.decoder.attention_weights,
    )  # a list of blocks for each kind
    reads, writes = (torch.arange(n) < lens[:, None] for lens in (source_lens, target_lens))  # (sentences, n)
    return Translations(
        texts=[join_tokens(tokens[:-1] if tokens[-1] == "<eos>" else tokens) for tokens in target_tokens],
        sources=X,
        source_tokens=[[*line, "<eos>"] for line in lines],
        target_tokens=target_tokens,
        # (sentences * heads, n, n) of each block -> (blocks, sentences, heads, n, n)
        maps={
            kind: torch.stack(blocks).unflatten(1, (len(X), -1))
            for kind, blocks in zip(kinds, weights, strict=True)
        },
        allowed={
            "encoder": reads[:, :, None] & reads[:, None],
            "decoder": writes[:, :, None] & causal_mask(n),
            "cross-attention": writes[:, :, None] & reads[:, None],
        },
    )


def replace_heads(attention: Any, heads: Iterable[int], by: Tensor) -> RemovableHandle:
    """Let nobody hear some heads of an attention: put something else in the place of their outputs.

    The heads' outputs lie side by side on their way into W_o; a hook changes them there, at every token.

    Args:
        attention: a `MultiHeadAttention`.
        heads: their numbers, from 0.
        by: what takes their place, shape (heads of the attention, head_dim): zeros, or `mean_heads`.

    Returns:
        A handle: what was replaced comes back with its `.remove()`, or at the end of a `with`.

    Source: Michel, Levy & Neubig, Are Sixteen Heads Really Better than One?, 2019.

    Example:
        >>> import d2lmini as d2l
        >>> layer, X = d2l.MultiHeadAttention(8, 8, 8, 8, num_heads=2, dropout=0), torch.ones(1, 3, 8)
        >>> with replace_heads(layer, {0, 1}, torch.zeros(2, 4)):
        ...     layer(X, X, X).abs().sum().item()
        0.0
    """
    chosen = list(heads)

    def hook(W_o: Any, inputs: tuple[Tensor]) -> tuple[Tensor]:
        Y = inputs[0].unflatten(-1, by.shape).clone()  # (batch, n, heads, head_dim)
        Y[:, :, chosen] = by[chosen]
        return (Y.flatten(2),)

    return attention.W_o.register_forward_pre_hook(hook)


def mean_heads(translator: Translator, sentences: Sequence[str], attention: Any, kind: str) -> Tensor:
    """Return the mean output of each head of an attention over the tokens of sentences, padding apart.

    Args:
        translator: what `load_translator` returned.
        sentences: sentences in its source language.
        attention: one of the translator's `MultiHeadAttention`.
        kind: its kind, as in `Translations.maps`.

    Returns:
        Shape (heads, head_dim).

    Example:
        >>> import d2lmini as d2l
        >>> translator = d2l.load_translator("en", "fr")
        >>> attention = translator.net.encoder.blks[0].attention
        >>> mean_heads(translator, ["Go."], attention, "encoder").shape
        torch.Size([4, 16])
    """
    seen: list[Tensor] = []
    with attention.W_o.register_forward_pre_hook(lambda W_o, inputs: seen.append(inputs[0])):
        real = translate_all(translator, sentences).allowed[kind].any(dim=-1)  # (sentences, n)
    return seen[-1][real].mean(dim=0).unflatten(0, (attention.num_heads, -1))  # the last pass has all tokens


def dice(target: str) -> Callable[[str, str], float]:
    """Count in the course's training pairs which words belong together.

    Args:
        target: `"fr"`, `"vi"` or `"zh"`; the other language is English.

    Returns:
        A function of an English token and a token of the target language. It returns Dice's coefficient:
        twice the number of pairs that have both, divided by the number of pairs with the one plus that with
        the other. 1: they come only together; 0: never, or one is a punctuation mark and the other is not:
        nearly every sentence ends with a mark, so a frequent word would be taken for its partner. `<eos>`
        stands in no pair and has 0 with everything.

    Source: Dice, Measures of the Amount of Ecologic Association Between Species, 1945.

    Example:
        >>> together = dice("fr")
        >>> together("cat", "chat") > 0.5 > together("cat", "chien")
        True
        >>> together(".", "."), together(".", "je"), together("<eos>", "<eos>")
        (1.0, 0.0, 0.0)
    """
    count: Counter[tuple[str, ...]] = Counter()
    for source, translation in zip(*tokenize_nmt(preprocess_nmt(read_data_nmt(target))), strict=True):
        a, b = {("en", word) for word in source}, {(target, word) for word in translation}
        count.update([*a, *b, *(one + other for one, other in product(a, b))])

    def coefficient(source: str, translation: str) -> float:
        if _is_mark(source) != _is_mark(translation):
            return 0.0
        one, other = ("en", source), (target, translation)
        return 2 * count[one + other] / (count[one] + count[other] or 1)

    return coefficient


def aligned_words(translations: Translations, target: str) -> Tensor:
    """Say which source token each token of the translations belongs to, by `dice`.

    Args:
        translations: of a translator from English.
        target: the language that it writes.

    Returns:
        Shape (sentences, n, n): True at the source token (column) with the largest coefficient for a token of
        the translation (row), if it is above 0.2.

    Example:
        >>> import d2lmini as d2l
        >>> translations = translate_all(d2l.load_translator("en", "fr"), ["He's calm."])
        >>> aligned_words(translations, "fr")[0, :4, :3].int()  # il est calme . | he's calm .
        tensor([[1, 0, 0],
                [0, 0, 0],
                [0, 1, 0],
                [0, 0, 1]], dtype=torch.int32)
    """
    together = dice(target)
    aligned = torch.zeros_like(translations.allowed["cross-attention"])
    for one, words in enumerate(translations.target_tokens):
        for t, word in enumerate(words):
            near = torch.tensor([together(source, word) for source in translations.source_tokens[one]])
            aligned[one, t, near.argmax()] = near.max() > 0.2
    return aligned


def _is_mark(token: str) -> bool:
    return not any(character.isalnum() for character in token)
