"""Where order comes from: the positional encodings of chapters 7 and 8, in the order of teaching.

Attention treats its tokens as a set. A position gets into it in one of three ways: added to the tokens
(`PositionalEncoding`, `LearnedPositionalEncoding`), added to the scores (`RelativePositionBias`, `ALiBi`), or
by turning queries and keys (`RotaryEmbedding`). Positions count from 0.
"""

import csv
import math
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor, nn


def sinusoids(num_positions: int, num_hiddens: int) -> Tensor:
    """Return the table of sines and cosines: row = position, column = dimension.

    Columns 2j and 2j+1 hold the sine and the cosine of position / 10000^(2j/num_hiddens).

    Args:
        num_positions: rows, at least 0.
        num_hiddens: columns, at least 1. The last sine of an odd width has no cosine.

    Returns:
        Float32 tensor of shape (num_positions, num_hiddens).

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.5.

    Example:
        >>> sinusoids(2, 4).round(decimals=3)
        tensor([[0.0000, 1.0000, 0.0000, 1.0000],
                [0.8410, 0.5400, 0.0100, 1.0000]])
    """
    # float64: in float32 the angle of position 1000 would already be wrong in the fifth decimal
    position = torch.arange(num_positions, dtype=torch.float64).unsqueeze(1)
    frequency = 10000 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
    angle = position * frequency  # (num_positions, ceil(num_hiddens / 2))
    table = torch.empty(num_positions, num_hiddens)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle[:, : num_hiddens // 2])
    return table


class PositionalEncoding(nn.Module):
    """Add sines and cosines of the position to every token, then apply dropout.

    The table `P`, of shape (1, max_len, num_hiddens), moves with the module and is not saved with it: it can
    always be computed again. A sequence that reaches beyond it makes it longer.

    Args:
        num_hiddens: width d of a token, odd or even.
        dropout: probability with which a number of the sum is set to 0 in training.
        max_len: positions computed in advance.

    Raises:
        ValueError: num_hiddens or max_len is below 1.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.5.

    Example:
        >>> encoding = PositionalEncoding(num_hiddens=4, dropout=0)
        >>> encoding(torch.zeros(1, 2, 4)).round(decimals=3)
        tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
                 [0.8410, 0.5400, 0.0100, 1.0000]]])
    """

    P: Tensor

    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000) -> None:
        super().__init__()
        _at_least(1, num_hiddens=num_hiddens, max_len=max_len)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("P", sinusoids(max_len, num_hiddens).unsqueeze(0), persistent=False)

    def reset_parameters(self) -> None:
        """Compute the table again: after `to_empty` it holds garbage, and no saved state brings it back."""
        self._compute(self.P.shape[1])

    def _compute(self, num_positions: int) -> None:
        self.P = sinusoids(num_positions, self.P.shape[2]).unsqueeze(0).to(self.P)

    def forward(self, X: Tensor, offset: int = 0) -> Tensor:
        """Return X plus the rows of its positions, in the dtype of X.

        Args:
            X: tokens, shape (..., n, num_hiddens), any floating dtype.
            offset: position of the first token: t when a decoder has already written t tokens.

        Raises:
            ValueError: X has another width or no floating dtype, or offset is negative.
        """
        _check_tokens(X, self.P.shape[-1], offset)
        return self.dropout(X + self.rows(offset, X.shape[-2]).to(X.dtype))

    def rows(self, offset: int, num_positions: int) -> Tensor:
        """Return the rows of num_positions positions from offset on, shape (num_positions, num_hiddens)."""
        end, known = offset + num_positions, self.P.shape[1]
        if end > known:  # at least doubled, so that decoding token by token seldom comes here
            self._compute(max(end, 2 * known))
        return self.P[0, offset:end]


class LearnedPositionalEncoding(nn.Module):
    """Add a learned vector for each position to every token, then apply dropout.

    Args:
        num_hiddens: width d of a token.
        dropout: probability with which a number of the sum is set to 0 in training.
        max_len: positions that get a vector; there is none beyond them.

    Raises:
        ValueError: num_hiddens or max_len is below 1.

    Source: Gehring et al., Convolutional Sequence to Sequence Learning, 2017, section 3.1.

    Example:
        >>> encoding = LearnedPositionalEncoding(num_hiddens=4, dropout=0, max_len=8)
        >>> encoding(torch.zeros(2, 8, 4)).shape, encoding.P.numel()
        (torch.Size([2, 8, 4]), 32)
    """

    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000) -> None:
        super().__init__()
        _at_least(1, num_hiddens=num_hiddens, max_len=max_len)
        self.dropout = nn.Dropout(dropout)
        self.P = nn.Parameter(torch.randn(1, max_len, num_hiddens) * 0.02)  # at first small beside the tokens

    def forward(self, X: Tensor, offset: int = 0) -> Tensor:
        """Return X plus the vectors of its positions, in the dtype of X.

        Args:
            X: tokens, shape (..., n, num_hiddens), any floating dtype.
            offset: position of the first token.

        Raises:
            ValueError: a position has no vector, X has another width or no floating dtype, or offset is
                negative.
        """
        _check_tokens(X, self.P.shape[-1], offset)
        end, known = offset + X.shape[-2], self.P.shape[1]
        if end > known:
            raise ValueError(
                f"X: got {X.shape[-2]} tokens from position {offset} on, but only positions 0 to {known - 1} "
                f"have a learned vector; shorten X, or build and train with max_len={end} or more"
            )
        return self.dropout(X + self.P[0, offset:end].to(X.dtype))


class RelativePositionBias(nn.Module):
    """Score a learned vector for each distance against the queries: the keys' share of position.

    Token i looking at token j adds q_i · a_c / √head_dim, where c is j - i, cut to at most max_distance each
    way. Together with q_i · k_j / √head_dim that is the scaled score of q_i against the key k_j + a_c.

    Args:
        head_dim: width d of a query.
        max_distance: farther tokens share one vector.

    Raises:
        ValueError: head_dim or max_distance is below 1.

    Source: Shaw et al., Self-Attention with Relative Position Representations, 2018, equation 4.

    Example:
        >>> bias = RelativePositionBias(head_dim=8, max_distance=4)
        >>> bias(torch.zeros(2, 5, 8), num_keys=6).shape
        torch.Size([2, 5, 6])
    """

    def __init__(self, head_dim: int, max_distance: int = 16) -> None:
        super().__init__()
        _at_least(1, head_dim=head_dim, max_distance=max_distance)
        self.max_distance = max_distance
        self.A = nn.Parameter(torch.randn(2 * max_distance + 1, head_dim) * 0.02)

    def forward(self, queries: Tensor, num_keys: int | None = None, offset: int = 0) -> Tensor:
        """Return what to add to the scores after their division by the root of head_dim.

        Args:
            queries: shape (..., n, head_dim).
            num_keys: number of keys, at positions 0, 1, …; as many as queries when None.
            offset: position of the first query.

        Returns:
            Tensor of shape (..., number of queries, number of keys).

        Raises:
            ValueError: queries has another width or no floating dtype, or offset is negative.
        """
        _check_tokens(queries, self.A.shape[-1], offset, name="queries")
        c = _distances(queries.shape[-2], num_keys, offset, self.A.device)
        index = c.clamp(-self.max_distance, self.max_distance) + self.max_distance
        scores = queries @ self.A.to(queries.dtype).T / math.sqrt(self.A.shape[-1])  # (..., n, vectors)
        return scores.gather(-1, index.expand(*scores.shape[:-1], -1))


class RotaryEmbedding(nn.Module):
    """Turn each pair of numbers of a query or key by an angle that grows with its position (RoPE).

    Pair (2j, 2j+1) of position i turns by i / 10000^(2j/head_dim), from its first axis toward the second: by
    the angles whose sines and cosines `PositionalEncoding` adds. A query and a key turned so have a product
    that depends on their distance only.
    Values are not turned.

    Args:
        head_dim: width d of a query or key of one head; even, because numbers turn in pairs.
        max_len: positions computed in advance; longer sequences work.

    Raises:
        ValueError: head_dim is odd or below 2, or max_len is below 1.

    Source: Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021, section 3.2.

    Example:
        >>> rotary = RotaryEmbedding(head_dim=2)
        >>> rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]])).round(decimals=3)
        tensor([[1.0000, 0.0000],
                [0.5400, 0.8410]])
    """

    def __init__(self, head_dim: int, max_len: int = 1000) -> None:
        super().__init__()
        if head_dim < 2 or head_dim % 2:
            even = max(2, head_dim + 1)
            raise ValueError(
                f"head_dim: got {head_dim}; numbers turn in pairs. Choose an even one, as {even}"
            )
        self.positions = PositionalEncoding(head_dim, 0, max_len)

    def forward(self, X: Tensor, offset: int = 0) -> Tensor:
        """Return X with every pair turned, in the shape and dtype of X.

        Args:
            X: queries or keys, shape (..., n, head_dim), any floating dtype.
            offset: position of the first of them.

        Raises:
            ValueError: X has another width or no floating dtype, or offset is negative.
        """
        _check_tokens(X, self.positions.P.shape[-1], offset)
        table = self.positions.rows(offset, X.shape[-2]).to(X.dtype)
        sin, cos = table[:, 0::2], table[:, 1::2]  # (n, head_dim / 2)
        a, b = X[..., 0::2], X[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class ALiBi(nn.Module):
    """Lower a score by the distance of query and key, each head by its own slope: nothing is learned.

    Head h of H, counted from 1, has the slope 2^(-8h/H); where H is not a power of two, the slopes of the
    power below are completed by every other one of the power above.

    Args:
        num_heads: number of heads, at least 1.

    Raises:
        ValueError: num_heads is below 1.

    Source: Press et al., Train Short, Test Long, 2022, section 3. Their decoder only looks back; here the
    scores of tokens ahead are lowered alike, for encoders.

    Example:
        >>> ALiBi(num_heads=8)(3)[0]
        tensor([[ 0.0000, -0.5000, -1.0000],
                [-0.5000,  0.0000, -0.5000],
                [-1.0000, -0.5000,  0.0000]])
    """

    slopes: Tensor

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        _at_least(1, num_heads=num_heads)
        self.register_buffer("slopes", torch.empty(num_heads), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Compute the slopes, again after `to_empty`: no saved state has them."""
        num_heads = len(self.slopes)
        power = 2 ** (num_heads.bit_length() - 1)
        slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
        slopes += [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power, 2)][: num_heads - power]
        self.slopes = torch.tensor(slopes).to(self.slopes)

    def forward(self, num_queries: int, num_keys: int | None = None, offset: int = 0) -> Tensor:
        """Return what to add to the scores after their division by the root of d.

        Args:
            num_queries: number of queries.
            num_keys: number of keys, at positions 0, 1, …; as many as queries when None.
            offset: position of the first query.

        Returns:
            Tensor of shape (num_heads, num_queries, num_keys), never above 0.
        """
        distance = _distances(num_queries, num_keys, offset, self.slopes.device).abs()
        return self.slopes[:, None, None] * -distance


def recorded_lengths() -> list[dict[str, Any]]:
    """Return how well small models of chapter 8, trained on 16 tokens, name the token before in longer ones.

    `python3 course.py bench --section lengths --record` trains them again, with the chapter's own code.

    Returns:
        One dict a training: device, model, seed, steps, shares (of right answers: at 16 tokens, and past the
        sixteenth of 32, 64 and 256).

    Example:
        >>> sorted(recorded_lengths()[0])
        ['device', 'model', 'seed', 'shares', 'steps']
    """
    with (files("d2lmini") / "assets" / "lengths.csv").open(encoding="utf-8") as file:
        return [
            {
                "device": row["device"],
                "model": row["model"],
                "seed": int(row["seed"]),
                "steps": int(row["steps"]),
                "shares": [float(row[length]) for length in ("16", "32", "64", "256")],
            }
            for row in csv.DictReader(file)
        ]


def _distances(num_queries: int, num_keys: int | None, offset: int, device: torch.device) -> Tensor:
    """Return j - i for query i (row) and key j (column)."""
    num_keys = num_queries if num_keys is None else num_keys
    i = torch.arange(offset, offset + num_queries, device=device)
    return torch.arange(num_keys, device=device) - i.unsqueeze(1)


def _at_least(least: int, **arguments: int) -> None:
    for name, value in arguments.items():
        if value < least:
            raise ValueError(f"{name}: got {value}; it must be at least {least}")


def _check_tokens(X: Tensor, width: int, offset: int, name: str = "X") -> None:
    if X.ndim < 2 or X.shape[-1] != width:
        raise ValueError(
            f"{name}: got shape {tuple(X.shape)}; the last two axes must be (tokens, {width}), "
            f"where {width} is the width this module was built with"
        )
    if not X.is_floating_point():
        raise ValueError(f"{name}: got dtype {X.dtype}; it must be floating: embed token numbers first")
    if offset < 0:
        raise ValueError(f"offset: got {offset}; positions count from 0, so it must be at least 0")
