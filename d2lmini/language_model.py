"""A model that only writes: a stack of decoder blocks without a source, as in chapters 13 to 16.

Read from top to bottom: two parts that have come since 2017, the block with its norms before its layers, and
the model, which reads and writes the same tokens.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from d2lmini.attention import MultiHeadAttention, causal_mask, check_heads
from d2lmini.encoder_decoder import embed
from d2lmini.positional import RotaryEmbedding
from d2lmini.recorded import numbers, read_rows

# ---- parts of a block


class RMSNorm(nn.Module):
    """Divide each token by the root of the mean of its squares, then multiply by a learned gain.

    Args:
        num_hiddens: width of a token.
        eps: added to the mean of the squares, so that a token of zeros stays one.

    Source: Zhang & Sennrich, Root Mean Square Layer Normalization, 2019.

    Example:
        >>> RMSNorm(2)(torch.tensor([3.0, 4.0])).detach()  # the root of (9 + 16) / 2 is 3.5355
        tensor([0.8485, 1.1314])
    """

    def __init__(self, num_hiddens: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(num_hiddens))
        self.eps = eps

    def forward(self, X: Tensor) -> Tensor:
        """Normalize the last axis: (..., num_hiddens) -> (..., num_hiddens)."""
        wide = X.to(torch.promote_types(X.dtype, torch.float32))  # float16 ends at the square of 256
        scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + self.eps)
        return (wide * scale).to(X.dtype) * self.weight


class SwiGLU(nn.Module):
    """A feed-forward network with a gate: W_down(silu(W_gate x) * W_up x), without biases.

    Three matrices where `PositionWiseFFN` has two: 8/3 of `num_hiddens` in the middle gives it as many
    weights as 4 times `num_hiddens` gives the other.

    Args:
        num_hiddens: width of a token.
        ffn_num_hiddens: width in the middle.

    Source: Shazeer, GLU Variants Improve Transformer, 2020.

    Example:
        >>> ffn = SwiGLU(6, 16)
        >>> ffn(torch.ones(2, 3, 6)).shape, sum(weight.numel() for weight in ffn.parameters())
        (torch.Size([2, 3, 6]), 288)
    """

    def __init__(self, num_hiddens: int, ffn_num_hiddens: int) -> None:
        super().__init__()
        self.W_gate = nn.Linear(num_hiddens, ffn_num_hiddens, bias=False)
        self.W_up = nn.Linear(num_hiddens, ffn_num_hiddens, bias=False)
        self.W_down = nn.Linear(ffn_num_hiddens, num_hiddens, bias=False)

    def forward(self, X: Tensor) -> Tensor:
        """Map each position on its own: (..., num_hiddens) -> (..., num_hiddens)."""
        return self.W_down(F.silu(self.W_gate(X)) * self.W_up(X))


# ---- the model


class PreNormBlock(nn.Module):
    """One block of a language model: causal self-attention, then a feed-forward network, a norm before each.

    Args:
        num_hiddens: width of a token.
        num_heads: number of heads, a divisor of `num_hiddens`.
        ffn: the feed-forward network, from and to `num_hiddens`.
        norm: makes a norm for a width: `nn.LayerNorm` or `RMSNorm`.
        num_kv_heads: as in `MultiHeadAttention`.
        qk_norm: the same.
        rotary: whether queries and keys are turned by their positions.

    Raises:
        ValueError: as in `MultiHeadAttention`, and in `RotaryEmbedding` for the width of a head.

    Source: Xiong et al., On Layer Normalization in the Transformer Architecture, 2020; Su et al., RoFormer,
    2021.

    Example:
        >>> import d2lmini as d2l
        >>> block = PreNormBlock(8, num_heads=2, ffn=d2l.PositionWiseFFN(8, 32, 8))
        >>> Y, past = block(torch.ones(1, 5, 8))
        >>> Y.shape, [kept.shape for kept in past]
        (torch.Size([1, 5, 8]), [torch.Size([1, 5, 8]), torch.Size([1, 5, 8])])
    """

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        ffn: nn.Module,
        norm: Callable[[int], nn.Module] = nn.LayerNorm,
        *,
        num_kv_heads: int | None = None,
        qk_norm: Callable[[int], nn.Module] | None = None,
        rotary: bool = True,
    ) -> None:
        check_heads(num_hiddens, num_heads)
        super().__init__()
        self.norm1 = norm(num_hiddens)
        self.attention = MultiHeadAttention(
            *(num_hiddens,) * 4,
            num_heads,
            0,
            num_kv_heads=num_kv_heads,
            turn=RotaryEmbedding(num_hiddens // num_heads) if rotary else None,
            qk_norm=qk_norm,
        )
        self.norm2 = norm(num_hiddens)
        self.ffn = ffn

    def forward(
        self, X: Tensor, past: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read the next tokens, each of which sees itself and those before it.

        Args:
            X: the tokens after those in the cache, shape (batch, n, num_hiddens).
            past: the cache: keys and values of earlier tokens, as they came back.

        Returns:
            The tokens as they leave the block, shape (batch, n, num_hiddens), and the longer cache: keys and
            values, each (batch, past + n, num_kv_heads * head_dim).
        """
        Y = self.norm1(X)
        seen = 0 if past is None else past[0].shape[1]
        keys, values = self.attention.project(Y, Y, seen)
        if past is not None:
            keys, values = torch.cat((past[0], keys), dim=1), torch.cat((past[1], values), dim=1)
        n = X.shape[1]
        # The new tokens are the last n rows of the mask; a single one is the last token and sees them all.
        mask = causal_mask(seen + n, X.device)[seen:] if n > 1 else None  # (n, seen + n)
        X = X + self.attention.attend(Y, keys, values, mask=mask)
        return X + self.ffn(self.norm2(X)), (keys, values)


class LanguageModel(nn.Module):
    """Token embedding, a stack of blocks, a last norm, and a score for each token of the vocabulary.

    Args:
        vocab_size: number of tokens.
        blocks: the blocks, as `PreNormBlock`; their width is that of the model.
        norm: makes the last norm, as in `PreNormBlock`; None: there is none, as after blocks that end with
            one.
        tied: whether the scores are inner products with the embeddings, or have a matrix of their own.
        pos_encoding: added to the embeddings, as `PositionalEncoding`; None: positions enter in the blocks.

    Raises:
        ValueError: there is no block.

    Source: Radford et al., Improving Language Understanding by Generative Pre-Training, 2018.

    Example:
        >>> import d2lmini as d2l
        >>> blocks = [PreNormBlock(8, num_heads=2, ffn=d2l.PositionWiseFFN(8, 32, 8)) for _ in range(2)]
        >>> model = LanguageModel(20, 8, blocks)
        >>> X = torch.tensor([[3, 1, 4, 1, 5]])
        >>> together, _ = model(X)
        >>> first, state = model(X[:, :2])  # or some at a time, with the state that came back
        >>> second, state = model(X[:, 2:], state)
        >>> torch.allclose(together, torch.cat((first, second), dim=1), atol=1e-5)
        True
    """

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        blocks: Sequence[nn.Module],
        norm: Callable[[int], nn.Module] | None = nn.LayerNorm,
        *,
        tied: bool = False,
        pos_encoding: nn.Module | None = None,
    ) -> None:
        if not blocks:
            raise ValueError("blocks: got none; give 1 block or more")
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = pos_encoding
        self.blks = nn.ModuleList(blocks)
        self.norm = nn.Identity() if norm is None else norm(num_hiddens)
        self.dense = nn.Linear(num_hiddens, vocab_size, bias=False)
        # small, or a token drowns what attention adds to it
        nn.init.normal_(self.embedding.weight, std=0.3)
        if tied:
            self.dense.weight = self.embedding.weight

    def forward(self, X: Tensor, state: list[Any] | None = None) -> tuple[Tensor, list[Any]]:
        """Read the next tokens: all at once, or some at a time with the state that came back before.

        Args:
            X: the tokens after those in the caches, shape (batch, n).
            state: the cache of each block; None before the first token.

        Returns:
            Scores of shape (batch, n, vocab_size) for the token after each, and the new state.

        Raises:
            TypeError: tokens are not integers.
            IndexError: a token is not in the vocabulary.
        """
        state = [None] * len(self.blks) if state is None else state
        Y = embed(self.embedding, X)  # (batch, n, num_hiddens)
        if self.pos_encoding is not None:
            Y = self.pos_encoding(Y, 0 if state[0] is None else state[0][0].shape[1])
        caches = []
        for blk, past in zip(self.blks, state, strict=True):
            Y, cache = blk(Y, past)
            caches.append(cache)
        return self.dense(self.norm(Y)), caches

    @property
    def attention_weights(self) -> list[Tensor]:
        """Weights of the last forward: for each block (batch * heads, n, past + n).

        Raises:
            RuntimeError: there was no forward yet.
        """
        blocks: Any = self.blks
        return [blk.attention.attention.attention_weights for blk in blocks]


# ---- what was recorded


def recorded_induction() -> list[dict[str, Any]]:
    """Return how models of chapter 15 learned to recall what a story has said, of equal size but for 5 %.

    `python3 course.py bench --section induction --record` trains them again; tools/record/induction.py says
    what is compared, and how.

    Returns:
        One dict a training: device, language, model, rate, seed, parameters; loss on a thousand held-out
        stories and best_loss, the least possible one; recalled, unseen and longer (share of recalled words
        right: of all, of pairs that training left out, in stories of 7 and 8 things); losses and shares
        (every 20 steps: the mean loss of these steps, the share recalled after them).

    Example:
        >>> sorted(recorded_induction()[0])[:5]
        ['best_loss', 'device', 'language', 'longer', 'loss']
    """
    counts = dict.fromkeys(("seed", "parameters"), int)
    measured = dict.fromkeys(("rate", "loss", "best_loss", "recalled", "unseen", "longer"), float)
    return read_rows("induction", **counts, **measured, losses=numbers, shares=numbers)


def recorded_since() -> list[dict[str, Any]]:
    """Return what each change since 2017 did to a small model of the stories, alone and with all others.

    `python3 course.py bench --section since --record` trains them again, with the code of chapter 16.

    Returns:
        One dict a training: device, change (`"2017"` is none, `"all"` all eight), seed, loss (in nats, on
        a thousand held-out stories), recalled (share of things named again right), unseen (the same for
        pairs that no story of the training has), longer (for stories with 7 and 8 things), step_ms
        (processor time of a step).

    Example:
        >>> sorted({row["seed"] for row in recorded_since()})
        [0, 1, 2]
    """
    return read_rows("since", seed=int, loss=float, recalled=float, unseen=float, longer=float, step_ms=float)
