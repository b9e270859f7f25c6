"""The Transformer: encoder and decoder blocks around multi-head attention.

Read from top to bottom: the two parts that every block has, then the encoder and the decoder. Layer norm
comes after each residual sum, as in the paper.

Source: Vaswani et al., Attention Is All You Need, 2017.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from d2lmini.attention import MultiHeadAttention, causal_mask
from d2lmini.encoder_decoder import AttentionDecoder, Encoder, embed
from d2lmini.positional import PositionalEncoding
from d2lmini.recorded import numbers, read_rows

# ---- parts of a block


class PositionWiseFFN(nn.Module):
    """Two dense layers with a ReLU between them, the same for every position.

    Args:
        ffn_num_input: width of what comes in.
        ffn_num_hiddens: width between the layers.
        ffn_num_outputs: width of what goes out.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.3.

    Example:
        >>> ffn = PositionWiseFFN(4, 4, 8)
        >>> Y = ffn(torch.ones(2, 3, 4))
        >>> Y.shape, torch.allclose(Y[0, 0], Y[1, 2])  # equal positions come out equal
        (torch.Size([2, 3, 8]), True)
    """

    def __init__(self, ffn_num_input: int, ffn_num_hiddens: int, ffn_num_outputs: int):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X: Tensor) -> Tensor:
        """Map each position on its own: (..., ffn_num_input) -> (..., ffn_num_outputs)."""
        return self.dense2(self.relu(self.dense1(X)))


class AddNorm(nn.Module):
    """Residual connection, then layer norm: LayerNorm(X + dropout(Y)).

    Args:
        normalized_shape: the last axes, over which layer norm takes mean and variance.
        dropout: probability of dropping a feature of Y while training.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.1; Ba, Kiros & Hinton, Layer
    Normalization, 2016.

    Example:
        >>> add_norm = AddNorm([3, 4], dropout=0.5)
        >>> add_norm(torch.ones(2, 3, 4), torch.ones(2, 3, 4)).shape
        torch.Size([2, 3, 4])
    """

    def __init__(self, normalized_shape: int | Sequence[int], dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(
            normalized_shape if isinstance(normalized_shape, int) else list(normalized_shape)
        )

    def forward(self, X: Tensor, Y: Tensor) -> Tensor:
        """Add what a layer made of X to X and normalize.

        Args:
            X: what went into the layer, shape (batch, n, num_hiddens).
            Y: what came out of it, the same shape.

        Returns:
            The same shape.

        Raises:
            ValueError: the shapes of X and Y differ.
        """
        if X.shape != Y.shape:  # a broadcast sum would hide the mistake
            raise ValueError(
                f"Y: got shape {tuple(Y.shape)} for X of shape {tuple(X.shape)}; a residual sum needs equal "
                "shapes. Make the layer between them keep the shape of X"
            )
        return self.ln(self.dropout(Y) + X)


# ---- the encoder


class EncoderBlock(nn.Module):
    """One block of the encoder: self-attention, then a feed-forward network, each with add & norm.

    Five of D2L's widths must be equal here: a residual sum adds what comes out of a layer to what went in.

    Args:
        key_size: width of a token, equal to `num_hiddens`.
        query_size: the same.
        value_size: the same.
        num_hiddens: width of the block.
        norm_shape: the last axes, over which layer norm takes mean and variance; ends with `num_hiddens`.
        ffn_num_input: the same as `num_hiddens`.
        ffn_num_hiddens: width inside the feed-forward network.
        num_heads: number of heads, a divisor of `num_hiddens`.
        dropout: probability of dropping attention weights and features while training.
        use_bias: whether the projections of the attention add a bias.

    Raises:
        ValueError: widths differ, or `num_heads` does not divide `num_hiddens`.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.1.

    Example:
        >>> block = EncoderBlock(24, 24, 24, 24, [100, 24], 24, 48, num_heads=8, dropout=0.5)
        >>> block(torch.ones(2, 100, 24), torch.tensor([3, 2])).shape
        torch.Size([2, 100, 24])
    """

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | Sequence[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        use_bias: bool = False,
    ):
        widths = (key_size, query_size, value_size, num_hiddens)
        _check_widths(*widths, norm_shape, ffn_num_input)
        super().__init__()
        self.attention = MultiHeadAttention(*widths, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X: Tensor, valid_lens: Tensor | None) -> Tensor:
        """Encode once more.

        Args:
            X: shape (batch, n, num_hiddens).
            valid_lens: how many tokens count, as in `masked_softmax`.

        Returns:
            Shape (batch, n, num_hiddens).
        """
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))  # (batch, n, num_hiddens), as is every step
        return self.addnorm2(Y, self.ffn(Y))


class TransformerEncoder(Encoder):
    """Token embedding, positional encoding and a stack of encoder blocks.

    Args and errors are those of `EncoderBlock`, and two arguments more.

    Args:
        vocab_size: number of source tokens.
        num_layers: number of blocks, at least 1.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.

    Example:
        >>> encoder = TransformerEncoder(200, 24, 24, 24, 24, [100, 24], 24, 48, 8, num_layers=2, dropout=0.5)
        >>> encoder(torch.ones(2, 100, dtype=torch.long), torch.tensor([3, 2])).shape
        torch.Size([2, 100, 24])
        >>> [tuple(weights.shape) for weights in encoder.attention_weights]
        [(16, 100, 100), (16, 100, 100)]
    """

    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | Sequence[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
        use_bias: bool = False,
    ):
        _check_layers(num_layers)
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        sizes = (key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", EncoderBlock(*sizes, num_heads, dropout, use_bias))

    def forward(self, X: Tensor, valid_lens: Tensor | None, *args: Any) -> Tensor:
        """Encode tokens.

        Args:
            X: tokens, shape (batch, n).
            valid_lens: how many tokens of each sequence count, shape (batch,); None: all.
            args: not used.

        Returns:
            Shape (batch, n, num_hiddens).

        Raises:
            TypeError: tokens are not integers.
            IndexError: a token is not in the vocabulary.
        """
        # Sines and cosines lie between -1 and 1; √d makes the embeddings large enough beside them.
        X = self.pos_encoding(
            embed(self.embedding, X) * math.sqrt(self.num_hiddens)
        )  # (batch, n, num_hiddens)
        for blk in self.blks:
            X = blk(X, valid_lens)
        return X

    @property
    def attention_weights(self) -> list[Tensor]:
        """Weights of the last forward: for each block (batch * heads, n, n).

        Raises:
            RuntimeError: there was no forward yet.
        """
        return [_weights(blk.attention) for blk in self.blks]


def _check_widths(
    key_size: int,
    query_size: int,
    value_size: int,
    num_hiddens: int,
    norm_shape: int | Sequence[int],
    ffn_num_input: int,
) -> None:
    """Refuse widths with which a block could not add what it makes of X to X."""
    widths = {"key_size": key_size, "query_size": query_size, "value_size": value_size}
    widths |= {"ffn_num_input": ffn_num_input}
    widths |= {"norm_shape": norm_shape if isinstance(norm_shape, int) else norm_shape[-1]}
    for name, width in widths.items():
        if width != num_hiddens:
            raise ValueError(
                f"{name}: got width {width} for num_hiddens={num_hiddens}; a residual sum keeps the width. "
                f"Set {name} to {num_hiddens}, or num_hiddens to {width}"
            )


def _check_layers(num_layers: int) -> None:
    if num_layers < 1:
        raise ValueError(f"num_layers: got {num_layers}; there is at least one block. Set num_layers to 1")


def _weights(attention: Any) -> Tensor:
    return attention.attention.attention_weights  # a MultiHeadAttention, which keeps them one module deeper


# ---- the decoder


class DecoderBlock(nn.Module):
    """Block `i` of the decoder: self-attention, attention to the source, feed-forward, each with add & norm.

    A token sees itself and the tokens before it, in training and in evaluation, whether the tokens come all
    at once or one by one. Nothing is projected twice: keys and values of earlier tokens come from a cache,
    and so do those of the source, if the state has room for them.

    Args and errors are those of `EncoderBlock`, with one argument more instead of `use_bias`.

    Args:
        i: number of the block, its place in `state[2]` and `state[3]`.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.1.

    Example:
        >>> block = DecoderBlock(24, 24, 24, 24, [100, 24], 24, 48, num_heads=8, dropout=0.5, i=0)
        >>> source, valid_lens = torch.ones(2, 100, 24), torch.tensor([3, 2])
        >>> Y, state = block(torch.ones(2, 100, 24), [source, valid_lens, [None]])
        >>> Y.shape, state[2][0].shape  # a key and a value for each token, side by side
        (torch.Size([2, 100, 24]), torch.Size([2, 100, 48]))
    """

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | Sequence[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        i: int,
    ):
        widths = (key_size, query_size, value_size, num_hiddens)
        _check_widths(*widths, norm_shape, ffn_num_input)
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(*widths, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(*widths, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X: Tensor, state: list[Any]) -> tuple[Tensor, list[Any]]:
        """Decode the next tokens.

        Args:
            X: the tokens after those in the cache, shape (batch, n, num_hiddens).
            state: [output of the encoder, shape (batch, source steps, num_hiddens); its valid lengths or
                None; a list with the cache of each block; another with what each block has made of the
                source]. Both lists begin with None in each place, and the last may be left out.

                `state[2][i]`, the cache of this block, is replaced: for each token so far its projected key,
                then its projected value, shape (batch, past + n, 2 * num_hiddens). Heads lie side by side in
                each half; `keys, values = state[2][i].chunk(2, dim=-1)` takes them apart.

                `state[3][i]` becomes the output of the encoder with its projected keys and values. They are
                projected again only if `state[0]` is another tensor by then.

        Returns:
            The tokens as they leave the block, shape (batch, n, num_hiddens), and the state.
        """
        cache, enc_valid_lens = state[2], state[1]
        past = cache[self.i]
        new = torch.cat(self.attention1.project(X, X), dim=-1)  # (batch, n, 2 * num_hiddens)
        cache[self.i] = new if past is None else torch.cat((past, new), dim=1)
        keys, values = cache[self.i].chunk(2, dim=-1)  # each (batch, past + n, num_hiddens)
        n, seen = X.shape[1], keys.shape[1]
        # The new tokens are the last n rows of the mask; a single one is the last token and sees them all.
        mask = causal_mask(seen, X.device)[seen - n :] if n > 1 else None  # (n, past + n)
        Y = self.addnorm1(X, self.attention1.attend(X, keys, values, mask=mask))
        Z = self.addnorm2(Y, self.attention2.attend(Y, *self._source(state), enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state  # X, Y and Z: (batch, n, num_hiddens)

    def _source(self, state: list[Any]) -> tuple[Tensor, Tensor]:
        """Give keys and values of the source, (batch, source steps, num_hiddens): projected only once."""
        enc_outputs = state[0]
        kept = state[3][self.i] if len(state) > 3 else None
        if kept is not None and kept[0] is enc_outputs:
            return kept[1], kept[2]
        keys, values = self.attention2.project(enc_outputs, enc_outputs)
        if len(state) > 3:
            state[3][self.i] = (enc_outputs, keys, values)
        return keys, values


class TransformerDecoder(AttentionDecoder):
    """Token embedding, positional encoding, a stack of decoder blocks and a dense layer over the vocabulary.

    Args and errors are those of `DecoderBlock`, with the widths of the encoder, and two arguments
    instead of `i`.

    Args:
        vocab_size: number of target tokens.
        num_layers: number of blocks, at least 1.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.

    Example:
        >>> decoder = TransformerDecoder(30, 8, 8, 8, 8, [8], 8, 16, num_heads=2, num_layers=1, dropout=0)
        >>> source, valid_lens = torch.ones(2, 7, 8), torch.tensor([7, 3])
        >>> target = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> together, _ = decoder(target, decoder.init_state(source, valid_lens))
        >>> state = decoder.init_state(source, valid_lens)
        >>> steps = []
        >>> for token in target.split(1, dim=1):
        ...     step, state = decoder(token, state)
        ...     steps.append(step)
        >>> torch.allclose(together, torch.cat(steps, dim=1), atol=1e-5)
        True
    """

    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | Sequence[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float,
    ):
        _check_layers(num_layers)
        super().__init__()
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        sizes = (key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            self.blks.add_module(f"block{i}", DecoderBlock(*sizes, num_heads, dropout, i))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs: Tensor, enc_valid_lens: Tensor | None, *args: Any) -> list[Any]:
        """Make the state before the first token.

        Args:
            enc_outputs: output of the encoder, shape (batch, source steps, num_hiddens).
            enc_valid_lens: how many source tokens count, shape (batch,); None: all.
            args: not used.

        Returns:
            [enc_outputs, enc_valid_lens, the empty caches of all blocks, room for what each block makes of
            enc_outputs]. `DecoderBlock.forward` says what they will hold; the first three are where D2L has
            them.
        """
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers, [None] * self.num_layers]

    def forward(self, X: Tensor, state: list[Any]) -> tuple[Tensor, list[Any]]:
        """Decode the next tokens: all at once, or some at a time with the state that came back before.

        Args:
            X: the tokens after those in the cache, shape (batch, n).
            state: what `init_state` or the forward before returned. Its caches grow.

        Returns:
            Scores of shape (batch, n, vocab_size), and the state.

        Raises:
            TypeError: tokens are not integers.
            IndexError: a token is not in the vocabulary.
        """
        past = state[2][0]
        offset = 0 if past is None else past.shape[1]  # the position of the first of these tokens
        # (batch, n) -> (batch, n, num_hiddens); the reason for √d is given in the encoder
        X = self.pos_encoding(embed(self.embedding, X) * math.sqrt(self.num_hiddens), offset)
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state

    @property
    def attention_weights(self) -> list[list[Tensor]]:
        """Weights of the last forward.

        Returns:
            [for each block its self-attention, (batch * heads, n, past + n);
            for each block its attention to the source, (batch * heads, n, source steps)].

        Raises:
            RuntimeError: there was no forward yet.
        """
        return [
            [_weights(blk.attention1) for blk in self.blks],
            [_weights(blk.attention2) for blk in self.blks],
        ]


# ---- what was recorded


def recorded_norms() -> list[dict[str, Any]]:
    """Return how stacks of blocks, norm before or after, learned to swap two letters, five seeds each.

    `python3 course.py bench --section norms --record` trains them again, with the code of chapter 9.

    Returns:
        One dict a training: device, form (`"post_norm"`, `"pre_norm"`), blocks, rate, warmup (in steps, 1 if
        there is none), clip (largest gradient norm), seed, right_30 and right_100 (share of letters right
        after so many steps), losses (of each step).

    Example:
        >>> sorted(recorded_norms()[0])[:5]
        ['blocks', 'clip', 'device', 'form', 'losses']
    """
    counts = dict.fromkeys(("blocks", "warmup", "seed"), int)
    measured = dict.fromkeys(("rate", "clip", "right_30", "right_100"), float)
    return read_rows("norms", **counts, **measured, losses=numbers)
