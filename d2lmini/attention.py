"""Attention: from masks to several heads side by side.

Read from top to bottom: masks, a softmax that respects them, attention as a pure function, then the modules
around it, for additive, scaled dot-product and multi-head attention.

There is one mask convention: a mask is boolean and True where a query **may** attend to a key, as in
`torch.nn.functional.scaled_dot_product_attention`. Masks combine with `&`. A query that may attend to nothing
gets exact zeros, and passes exact zeros back as gradients, in every floating-point type.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


# ---- masks


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """Let each token attend to itself and to the tokens before it.

    Args:
        n: number of tokens.
        device: where to make the mask.

    Returns:
        Booleans of shape (n, n): row = query, column = key. With a cache of earlier tokens, the last rows
        belong to the new ones: `causal_mask(past + n)[past:]`.

    Raises:
        ValueError: `n` is negative.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.2.3.

    Example:
        >>> causal_mask(3)
        tensor([[ True, False, False],
                [ True,  True, False],
                [ True,  True,  True]])
    """
    position = _positions(n, device)
    return position <= position[:, None]


def local_mask(n: int, width: int, device: torch.device | str | None = None) -> Tensor:
    """Let each token attend to a window of `width` tokens with itself in the middle.

    Args:
        n: number of tokens.
        width: number of tokens in a window, odd. Windows at the ends are cut off.
        device: where to make the mask.

    Returns:
        Booleans of shape (n, n): row = query, column = key.

    Raises:
        ValueError: `n` is negative, or `width` is even or below 1.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 4, "restricted" self-attention.

    Example:
        >>> local_mask(4, width=3)
        tensor([[ True,  True, False, False],
                [ True,  True,  True, False],
                [False,  True,  True,  True],
                [False, False,  True,  True]])
    """
    if width < 1 or width % 2 == 0:
        raise ValueError(
            f"width: got {width}; a window with its token in the middle is 1, 3, 5, … tokens wide. "
            f"Set width to {max(1, width + 1)}"
        )
    position = _positions(n, device)
    return (position - position[:, None]).abs() <= width // 2


def padding_mask(valid_lens: Tensor, n: int) -> Tensor:
    """Let queries attend to the first keys of each sequence only, and not to its padding.

    Args:
        valid_lens: how many keys count: integers of shape (batch,), or (batch, queries) for one length per
            query.
        n: number of keys, padding included.

    Returns:
        Booleans of shape (batch, 1, n), or (batch, queries, n), on the device of `valid_lens`.

    Raises:
        TypeError: `valid_lens` is not a tensor of integers.
        ValueError: it has another shape, or `n` is negative.

    Example:
        >>> padding_mask(torch.tensor([1, 3]), 3)
        tensor([[[ True, False, False]],
        <BLANKLINE>
                [[ True,  True,  True]]])
        >>> (causal_mask(3) & padding_mask(torch.tensor([1, 3]), 3)).shape
        torch.Size([2, 3, 3])
    """
    _check_lengths("valid_lens", valid_lens, ("batch",), ("batch", "queries"))
    return _within(valid_lens, n)


def _within(valid_lens: Tensor, n: int) -> Tensor:
    lengths = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[..., None]
    # Compared on the device: nothing waits for numbers to come back from a GPU.
    return _positions(n, valid_lens.device) < lengths  # (batch, 1 or queries, n)


def _positions(n: int, device: torch.device | str | None) -> Tensor:
    if n < 0:
        raise ValueError(f"n: got {n}; a sequence has 0 tokens or more. Give the length of the sequence")
    return torch.arange(n, device=device)


def _allowed(
    shape: tuple[int, ...], device: torch.device, valid_lens: Tensor | None, mask: Tensor | None
) -> Tensor | None:
    """Combine valid lengths and a mask into one mask that broadcasts to `shape`, (batch, [heads,] n, m)."""
    scores = (shape[0], shape[-2], shape[-1])  # (batch, queries, keys): a mask is the same for all heads
    if mask is not None:
        _check_mask(mask, scores, device)
    if valid_lens is not None:
        batch, queries, _ = scores
        _check_lengths("valid_lens", valid_lens, (batch,), (batch, queries), (1, queries))
        _check_device("valid_lens", valid_lens, device)
        padding = _within(valid_lens, shape[-1])
        mask = padding if mask is None else padding & mask
    if mask is None:
        return None
    if mask.dim() == 3 and len(shape) == 4:
        return mask.unsqueeze(1)  # (batch or 1, 1, queries or 1, keys)
    return mask.unsqueeze(0) if mask.dim() == 1 else mask  # the kernels want two axes at least


def _check_mask(mask: Tensor, shape: tuple[int, ...], device: torch.device) -> None:
    """Refuse a mask that is not boolean, or does not broadcast to `shape`, (..., queries, keys)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"mask: got {got}; a mask is a boolean tensor, True = may be attended to. Use mask.bool()"
        )
    fits = all(size in (1, wanted) for size, wanted in zip(mask.shape[::-1], shape[::-1], strict=False))
    if mask.dim() > len(shape) or not fits:
        raise ValueError(
            f"mask: got shape {_shape(mask)}; it must broadcast to {tuple(shape)}, (..., queries, keys). "
            "Give it a row for each query and a column for each key"
        )
    _check_device("mask", mask, device)


def _check_lengths(name: str, lengths: Tensor, *shapes: tuple[int | str, ...]) -> None:
    """Refuse anything but integers in one of these shapes; words stand for any numbers."""
    if isinstance(lengths, Tensor) and lengths.dtype in _INTEGERS:
        any_number = isinstance(shapes[0][0], str)
        if lengths.shape in shapes or (any_number and lengths.dim() in map(len, shapes)):
            return
    *others, last = (str(shape).replace("'", "") for shape in shapes)
    allowed = f"{', '.join(others)} or {last}" if others else last
    if not isinstance(lengths, Tensor):
        raise TypeError(
            f"{name}: got {type(lengths).__name__}; lengths are a tensor of integers of shape {allowed}. "
            f"Make one with torch.tensor({name})"
        )
    if lengths.dtype not in _INTEGERS:
        raise TypeError(f"{name}: got {lengths.dtype}; lengths are integers. Convert them with {name}.long()")
    raise ValueError(
        f"{name}: got shape {_shape(lengths)}; lengths of this batch have shape {allowed}. "
        "Give one per sequence" + (", or one per query" if others else "")
    )


def _check_device(name: str, X: Tensor, device: torch.device) -> None:
    if X.device != device:
        raise ValueError(
            f"{name}: got a tensor on {X.device}; the data is on {device}. Move it with {name}.to('{device}')"
        )


def _shape(X: Tensor) -> tuple[int, ...]:
    return tuple(X.shape)  # prints as (2, 4), not as torch.Size([2, 4])


# ---- masks at work


def sequence_mask(X: Tensor, valid_len: Tensor, value: float = 0) -> Tensor:
    """Replace what lies beyond the valid length of each sequence by `value`.

    Args:
        X: sequences, shape (batch, steps) or (batch, steps, ...). It is not changed.
        valid_len: how many steps of each sequence count, integers of shape (batch,). A length beyond `steps`
            counts as `steps`, one below 0 as 0.
        value: what to put in place of the rest.

    Returns:
        A new tensor with the shape and type of `X`.

    Raises:
        TypeError: `valid_len` is not a tensor of integers.
        ValueError: a shape or a device does not fit.

    Example:
        >>> sequence_mask(torch.tensor([[1, 2, 3], [4, 5, 6]]), torch.tensor([1, 2]), value=-1)
        tensor([[ 1, -1, -1],
                [ 4,  5, -1]])
    """
    if X.dim() < 2:
        raise ValueError(
            f"X: got shape {_shape(X)}; a batch of sequences has shape (batch, steps) or "
            "(batch, steps, ...). Add the missing axis with X.unsqueeze(0)"
        )
    _check_lengths("valid_len", valid_len, (X.shape[0],))
    _check_device("valid_len", valid_len, X.device)
    mask = torch.arange(X.shape[1], device=X.device) < valid_len[:, None]  # (batch, steps)
    return X.masked_fill(~mask.view(mask.shape + (1,) * (X.dim() - 2)), value)


def masked_softmax(X: Tensor, valid_lens: Tensor | None, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis that gives no weight to keys a query may not attend to.

    Args:
        X: scores, shape (batch, queries, keys) or (batch, heads, queries, keys), any floating-point type. It
            is not changed.
        valid_lens: how many keys count: integers of shape (batch,), one length per sequence; or (batch,
            queries), one per query; or (1, queries), one per query and the same in all sequences; or None,
            all keys count. A length beyond `keys` counts as `keys`, one below 0 as 0.
        mask: True where a query may attend to a key: booleans of shape (queries, keys) or (batch, queries,
            keys), the same for all heads; or None. With `valid_lens` as well, both must allow a key.

    Returns:
        Weights with the shape and type of `X`. Those of a query that may attend to nothing are exactly 0.

    Raises:
        TypeError: `X` is not floating-point, `valid_lens` not a tensor of integers, or `mask` not boolean.
        ValueError: a shape or a device does not fit.

    Example:
        >>> masked_softmax(torch.zeros(2, 1, 4), torch.tensor([2, 0]))
        tensor([[[0.5000, 0.5000, 0.0000, 0.0000]],
        <BLANKLINE>
                [[0.0000, 0.0000, 0.0000, 0.0000]]])
        >>> masked_softmax(torch.zeros(1, 2, 2), None, mask=causal_mask(2))
        tensor([[[1.0000, 0.0000],
                 [0.5000, 0.5000]]])
    """
    if not X.is_floating_point():
        raise TypeError(f"X: got {X.dtype}; scores are floating-point. Convert them with X.float()")
    if X.dim() not in (3, 4):
        raise ValueError(
            f"X: got shape {_shape(X)}; scores have shape (batch, queries, keys) or "
            "(batch, heads, queries, keys). Add the missing axis with X.unsqueeze(0)"
        )
    allowed = _allowed(X.shape, X.device, valid_lens, mask)
    return F.softmax(X, dim=-1) if allowed is None else _softmax_where(X, allowed)


def _softmax_where(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis of `scores` where `mask` is True, 0 elsewhere; the mask broadcasts."""
    # A masked score becomes -inf, which no score can beat. A row of nothing but -inf would be 0/0, so where
    # all is masked the scores become 0 instead, and the last line takes away the weights which that gives.
    nothing = mask.any(dim=-1, keepdim=True).logical_not()  # (..., queries, 1)
    floor = torch.full_like(nothing, -math.inf, dtype=scores.dtype).masked_fill(nothing, 0)
    return F.softmax(torch.where(mask, scores, floor), dim=-1).masked_fill(~mask, 0)


# ---- attention as a function


def scaled_dot_product(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: nn.Module | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention written out: softmax(Q Kᵀ / √d) V.

    This is the form to read. `DotProductAttention` computes the same thing without ever holding the weights
    of all queries for all keys.

    Args:
        Q: queries, shape (..., queries, d).
        K: keys, shape (..., keys, d).
        V: values, shape (..., keys, d_value).
        mask: True where a query may attend to a key, booleans that broadcast to (..., queries, keys); None
            allows all keys.
        dropout: applied to the weights before they meet the values.

    Returns:
        The output, shape (..., queries, d_value), and the weights before dropout, shape (..., queries, keys).
        Both are 0 for a query that may attend to nothing.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: queries, keys, values and mask do not fit together.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.2.1.

    Example:
        >>> Q, K, V = torch.zeros(1, 2), torch.ones(3, 2), torch.tensor([[1.0], [2.0], [6.0]])
        >>> scaled_dot_product(Q, K, V)
        (tensor([[3.]]), tensor([[0.3333, 0.3333, 0.3333]]))
        >>> scaled_dot_product(Q, K, V, mask=torch.tensor([True, True, False]))
        (tensor([[1.5000]]), tensor([[0.5000, 0.5000, 0.0000]]))
    """
    _check_fit(Q, K, V)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., queries, keys)
    if mask is None:
        weights = F.softmax(scores, dim=-1)
    else:
        _check_mask(mask, scores.shape, scores.device)
        weights = _softmax_where(scores, mask)
    return (weights if dropout is None else dropout(weights)) @ V, weights


attention = scaled_dot_product  # its first name, which published notebooks call as d2l.attention.attention


def _check_fit(queries: Tensor, keys: Tensor, values: Tensor, same_width: bool = True) -> None:
    """Refuse queries, keys and values whose shapes do not belong together."""
    if queries.dim() != keys.dim() or queries.shape[:-2] != keys.shape[:-2]:
        raise ValueError(
            f"keys: got shape {_shape(keys)} for queries of shape {_shape(queries)}; "
            "all axes but the last two must be equal. Give both the same batch"
        )
    if keys.shape[:-1] != values.shape[:-1]:
        raise ValueError(
            f"values: got shape {_shape(values)} for keys of shape {_shape(keys)}; "
            "all axes but the last must be equal. Give each key its value"
        )
    if same_width and queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"keys: got width {keys.shape[-1]} for queries of width {queries.shape[-1]}; a dot product "
            "needs equal widths. Project one of them with nn.Linear, or use AdditiveAttention"
        )


# ---- attention as modules


class _Attention(nn.Module):
    """Remembers its last forward for `attention_weights`, and leaves it out of copies and saved files."""

    _last: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last": None}  # a model must not carry a batch of its data around

    def _last_forward(self) -> Any:
        if self._last is None:
            raise RuntimeError(
                "attention_weights: there are none before the first forward. Call the module first"
            )
        return self._last


class AdditiveAttention(_Attention):
    """Additive attention: the score of a query and a key is w_vᵀ tanh(W_q q + W_k k).

    Queries and keys may have different widths.

    Args:
        key_size: width of a key.
        query_size: width of a query.
        num_hiddens: width in which query and key are added.
        dropout: probability of dropping a weight while training.

    Source: Bahdanau, Cho & Bengio, Neural Machine Translation by Jointly Learning to Align and Translate,
    2015.

    Example:
        >>> additive = AdditiveAttention(key_size=2, query_size=20, num_hiddens=8, dropout=0.1)
        >>> queries, keys, values = torch.ones(2, 1, 20), torch.ones(2, 10, 2), torch.ones(2, 10, 4)
        >>> additive(queries, keys, values, torch.tensor([2, 6])).shape
        torch.Size([2, 1, 4])
        >>> (additive.attention_weights > 0).sum(dim=-1)
        tensor([[2],
                [6]])
    """

    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attend.

        Args:
            queries: shape (batch, queries, query_size).
            keys: shape (batch, keys, key_size).
            values: shape (batch, keys, d_value).
            valid_lens: how many keys count, as in `masked_softmax`.
            mask: True where a query may attend to a key, as in `masked_softmax`.

        Returns:
            Shape (batch, queries, d_value).

        Raises:
            TypeError: `valid_lens` is not a tensor of integers, or `mask` is not boolean.
            ValueError: the shapes do not fit together.
        """
        _check_fit(queries, keys, values, same_width=False)
        queries, keys = self.W_q(queries), self.W_k(keys)
        # (batch, queries, 1, h) + (batch, 1, keys, h): every query meets every key
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))  # (batch, queries, keys, h)
        scores = self.w_v(features).squeeze(-1)  # (batch, queries, keys)
        weights = masked_softmax(scores, valid_lens, mask)
        self._last = weights.detach()
        return torch.bmm(self.dropout(weights), values)

    @property
    def attention_weights(self) -> Tensor:
        """Weights of the last forward, before dropout, without a graph: shape (batch, queries, keys).

        Raises:
            RuntimeError: there was no forward yet.
        """
        weights: Tensor = self._last_forward()
        return weights


class DotProductAttention(_Attention):
    """Scaled dot-product attention, by the fused kernels of PyTorch.

    It computes what `scaled_dot_product` computes, but the kernels go through the keys in blocks, so memory
    grows with the number of queries, not with queries × keys (except for dropout while training on a CPU,
    which has no such kernel).

    Args:
        dropout: probability of dropping a weight while training.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.2.1; Dao et al., FlashAttention, 2022.

    Example:
        >>> dot = DotProductAttention(dropout=0.5).eval()
        >>> queries, keys, values = torch.zeros(2, 1, 8), torch.ones(2, 10, 8), torch.ones(2, 10, 4)
        >>> dot(queries, keys, values, torch.tensor([2, 5])).shape
        torch.Size([2, 1, 4])
        >>> dot.attention_weights[0, 0, :3]
        tensor([0.5000, 0.5000, 0.0000])
    """

    def __init__(self, dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attend.

        Args:
            queries: shape (batch, queries, d), or (batch, heads, queries, d).
            keys: shape (batch, keys, d), or (batch, heads, keys, d).
            values: shape (batch, keys, d_value), or (batch, heads, keys, d_value).
            valid_lens: how many keys count, as in `masked_softmax`.
            mask: True where a query may attend to a key, as in `masked_softmax`.

        Returns:
            Shape (batch, queries, d_value), or (batch, heads, queries, d_value).

        Raises:
            TypeError: `valid_lens` is not a tensor of integers, or `mask` is not boolean.
            ValueError: the shapes do not fit together.
        """
        _check_fit(queries, keys, values)
        if queries.dim() not in (3, 4):
            raise ValueError(
                f"queries: got shape {_shape(queries)}; queries have shape (batch, queries, d) or "
                "(batch, heads, queries, d). Add the missing axis with queries.unsqueeze(0)"
            )
        # Enough to compute the weights when somebody asks: n·d numbers, where the weights are n².
        self._last = (queries.detach(), keys.detach(), valid_lens, mask)
        if queries.dim() == 4:
            return self._fused(queries, keys, values, valid_lens, mask)
        # The fused kernels want an axis of heads: (batch, n, d) -> (batch, 1, n, d) and back.
        queries, keys, values = (X.unsqueeze(1) for X in (queries, keys, values))
        return self._fused(queries, keys, values, valid_lens, mask).squeeze(1)

    def _fused(
        self, queries: Tensor, keys: Tensor, values: Tensor, valid_lens: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        dropout_p = self.dropout.p if self.training else 0.0
        allowed = _allowed((*queries.shape[:-1], keys.shape[-2]), queries.device, valid_lens, mask)
        if (
            allowed is None or queries.is_cpu
        ):  # these kernels give zeros to a query that may attend to nothing
            return F.scaled_dot_product_attention(queries, keys, values, allowed, dropout_p)
        return _zeros_for_nothing(queries, keys, values, allowed, dropout_p)

    @property
    def attention_weights(self) -> Tensor:
        """Weights of the last forward, before dropout, without a graph.

        They are computed only now, from the tensors that the forward was given: read them before you change
        one of those in place.

        Returns:
            Shape (batch, queries, keys); after queries with an axis of heads, (batch * heads, queries, keys).

        Raises:
            RuntimeError: there was no forward yet.
        """
        queries, keys, valid_lens, mask = self._last_forward()
        with torch.no_grad():
            # scaled first, as the kernels do: in half precision the product alone could overflow
            scores = queries / math.sqrt(queries.shape[-1]) @ keys.transpose(-2, -1)
            weights = masked_softmax(scores, valid_lens, mask)  # (batch, [heads,] queries, keys)
        return weights.flatten(0, 1) if weights.dim() == 4 else weights


def _zeros_for_nothing(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, dropout_p: float
) -> Tensor:
    """Give zeros to a query that may attend to nothing, whatever the fused kernel makes of it (0/0)."""
    # Such a query is shown all keys, and its output replaced by zeros, which stops its gradients too.
    nothing = mask.any(dim=-1, keepdim=True).logical_not()  # (batch or 1, 1, 1 or queries, 1)
    output = F.scaled_dot_product_attention(queries, keys, values, mask | nothing, dropout_p)
    return output.masked_fill(nothing, 0)


def _split_heads(X: Tensor, num_heads: int) -> Tensor:
    """Cut the features into heads, without copying them.

    (batch, n, num_hiddens) -> (batch, num_heads, n, num_hiddens / num_heads)
    """
    batch, n, num_hiddens = X.shape
    return X.reshape(batch, n, num_heads, num_hiddens // num_heads).transpose(1, 2)


def _join_heads(X: Tensor) -> Tensor:
    """Undo `_split_heads`."""
    return X.transpose(1, 2).flatten(2)


def transpose_qkv(X: Tensor, num_heads: int) -> Tensor:
    """Cut the features into heads and let the heads join the batch.

    Args:
        X: shape (batch, n, num_hiddens).
        num_heads: number of heads, a divisor of `num_hiddens`.

    Returns:
        Shape (batch * num_heads, n, num_hiddens / num_heads); the heads of one sequence lie next to each
        other.

    Raises:
        ValueError: `X` is not three-dimensional, or the heads do not divide its width.

    Example:
        >>> X = torch.arange(8.0).reshape(1, 2, 4)
        >>> transpose_qkv(X, num_heads=2)
        tensor([[[0., 1.],
                 [4., 5.]],
        <BLANKLINE>
                [[2., 3.],
                 [6., 7.]]])
    """
    if X.dim() != 3:
        raise ValueError(
            f"X: got shape {_shape(X)}; heads are cut from shape (batch, n, num_hiddens). "
            "Add the missing axis with X.unsqueeze(0)"
        )
    check_heads(X.shape[-1], num_heads)
    return _split_heads(X, num_heads).flatten(0, 1)


def transpose_output(X: Tensor, num_heads: int) -> Tensor:
    """Undo `transpose_qkv`: lay the heads side by side again.

    Args:
        X: shape (batch * num_heads, n, num_hiddens / num_heads).
        num_heads: number of heads.

    Returns:
        Shape (batch, n, num_hiddens).

    Raises:
        ValueError: `X` is not three-dimensional, or its first axis is not a multiple of `num_heads`.

    Example:
        >>> X = torch.arange(8.0).reshape(1, 2, 4)
        >>> torch.equal(transpose_output(transpose_qkv(X, num_heads=2), num_heads=2), X)
        True
    """
    if X.dim() != 3 or num_heads < 1 or X.shape[0] % num_heads:
        raise ValueError(
            f"X: got shape {_shape(X)} for {num_heads} heads; heads are joined from shape "
            "(batch * num_heads, n, head width). Give the number of heads that transpose_qkv was given"
        )
    return _join_heads(X.unflatten(0, (X.shape[0] // num_heads, num_heads)))


def check_heads(num_hiddens: int, num_heads: int) -> None:
    """Refuse a number of heads that does not divide the width."""
    if num_heads >= 1 and num_hiddens % num_heads == 0:
        return
    divisors = [n for n in range(1, num_hiddens + 1) if num_hiddens % n == 0]
    nearest = [n for n in divisors if n < num_heads][-1:] + [n for n in divisors if n > num_heads][:1]
    raise ValueError(
        f"num_heads: got {num_heads} for num_hiddens={num_hiddens}; each head takes an equal share of the "
        f"width, so the number of heads must divide it. Set num_heads to {' or '.join(map(str, nearest))}"
    )


class MultiHeadAttention(nn.Module):
    """Several scaled dot-product attentions side by side, each with projections of its own.

    After a forward `attention.attention_weights` gives the weights, shape (batch * num_heads, queries, keys).
    A forward has two halves, `project` and `attend`: a caller that asks the same keys again and again, as a
    decoder does, projects them once.

    Args:
        key_size: width of the keys that come in.
        query_size: width of the queries that come in.
        value_size: width of the values that come in.
        num_hiddens: width of the output, and of queries, keys and values over all heads together.
        num_heads: number of heads, a divisor of `num_hiddens`.
        dropout: probability of dropping a weight while training.
        bias: whether the four projections add a bias.
        num_kv_heads: how many heads have keys and values of their own, a divisor of `num_heads`; as many
            neighboring heads share each of them (grouped-query attention). Left out, all have their own.
        turn: a `RotaryEmbedding` for the heads' width, which turns queries and keys by their positions, in
            self-attention; it has no weights of its own.
        qk_norm: makes a norm for the heads' width, as `RMSNorm`, once for queries and once for keys.

    Raises:
        ValueError: `num_heads` does not divide `num_hiddens`, or `num_kv_heads` not `num_heads`.

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.2.2; shared keys and values: Ainslie et
    al., GQA, 2023; norms of queries and keys: Henry et al., Query-Key Normalization for Transformers, 2020.

    Example:
        >>> multi_head = MultiHeadAttention(100, 100, 100, num_hiddens=100, num_heads=5, dropout=0.5)
        >>> X, Y = torch.ones(2, 4, 100), torch.ones(2, 6, 100)
        >>> multi_head(X, Y, Y, torch.tensor([3, 2])).shape
        torch.Size([2, 4, 100])
        >>> multi_head.attention.attention_weights.shape
        torch.Size([10, 4, 6])
        >>> multi_head = multi_head.eval()
        >>> keys, values = multi_head.project(Y, Y)
        >>> torch.equal(multi_head.attend(X, keys, values), multi_head(X, Y, Y))
        True
        >>> sum(weight.numel() for weight in multi_head.parameters())
        40000
    """

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
        *,
        num_kv_heads: int | None = None,
        turn: nn.Module | None = None,
        qk_norm: Callable[[int], nn.Module] | None = None,
    ):
        check_heads(num_hiddens, num_heads)
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(
                f"num_kv_heads: got {num_kv_heads} for num_heads={num_heads}; each set of keys and values "
                "serves as many heads. Choose a divisor of num_heads"
            )
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = num_hiddens // num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_kv_heads * self.head_dim, bias=bias)
        self.W_v = nn.Linear(value_size, num_kv_heads * self.head_dim, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        # named only where they are there, so that others print and are saved as in D2L
        if turn is not None:
            self.turn = turn
        if qk_norm is not None:
            self.q_norm, self.k_norm = qk_norm(self.head_dim), qk_norm(self.head_dim)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attend with all heads.

        Args:
            queries: shape (batch, queries, query_size).
            keys: shape (batch, keys, key_size).
            values: shape (batch, keys, value_size).
            valid_lens: how many keys count, the same for all heads, as in `masked_softmax`.
            mask: True where a query may attend to a key, the same for all heads, as in `masked_softmax`.

        Returns:
            Shape (batch, queries, num_hiddens).

        Raises:
            TypeError: `valid_lens` is not a tensor of integers, or `mask` is not boolean.
            ValueError: the shapes do not fit together.
        """
        return self.attend(queries, *self.project(keys, values), valid_lens, mask)

    def project(self, keys: Tensor, values: Tensor, offset: int = 0) -> tuple[Tensor, Tensor]:
        """Do the half of a forward that needs no queries: what comes out can be kept and used for many.

        Args:
            keys: shape (batch, keys, key_size).
            values: shape (batch, keys, value_size).
            offset: position of the first key, where keys are turned by their positions.

        Returns:
            The keys and values of all heads that have their own, side by side, both of shape
            (batch, keys, num_kv_heads * head_dim): that is num_hiddens, unless heads share.

        Raises:
            ValueError: a shape does not fit.
        """
        _check_input("keys", keys, self.W_k.in_features)
        _check_input("values", values, self.W_v.in_features)
        return self._placed(self.W_k(keys), "k_norm", offset), self.W_v(values)

    def attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Do the other half: attend to keys and values that `project` has made.

        Args and errors are those of `forward`, but keys and values have the shape that `project` returns.
        Where positions turn queries, the last query stands at the position of the last key.

        Returns:
            Shape (batch, queries, num_hiddens).
        """
        _check_input("queries", queries, self.W_q.in_features)
        for name, X in (("keys", keys), ("values", values)):
            _check_input(name, X, self.W_k.out_features)
        offset = max(0, keys.shape[1] - queries.shape[1])
        # As views with an axis for the heads; `transpose_qkv` would have to copy.
        Q = self._placed(self.W_q(queries), "q_norm", offset)
        Q = _split_heads(Q, self.num_heads)  # (batch, heads, queries, head_dim)
        K = _split_heads(keys, self.num_kv_heads)  # (batch, num_kv_heads, keys, head_dim)
        V = _split_heads(values, self.num_kv_heads)  # (batch, num_kv_heads, keys, head_dim)
        if self.num_kv_heads < self.num_heads:  # a copy for each head
            K, V = (X.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1) for X in (K, V))
        masks = (valid_lens,) if mask is None else (valid_lens, mask)  # a module of D2L's takes no mask
        output = self.attention(Q, K, V, *masks)  # (batch, heads, queries, head_dim)
        return self.W_o(_join_heads(output))  # (batch, queries, num_hiddens)

    def _placed(self, X: Tensor, norm: str, offset: int) -> Tensor:
        """Normalize and turn queries or keys, head by head, if that is asked for; the shape stays."""
        if not hasattr(self, "turn") and not hasattr(self, norm):
            return X
        X = _split_heads(X, X.shape[-1] // self.head_dim)  # (batch, heads, n, head_dim)
        if hasattr(self, norm):
            X = getattr(self, norm)(X)
        if hasattr(self, "turn"):
            X = self.turn(X, offset)
        return _join_heads(X)


def _check_input(name: str, X: Tensor, width: int) -> None:
    if X.dim() != 3 or X.shape[-1] != width:
        raise ValueError(
            f"{name}: got shape {_shape(X)}; they have shape (batch, n, {width}). Add a missing axis with "
            f"{name}.unsqueeze(0), or make the module with the width of your {name}"
        )
