"""Code exercises: hidden cases, a right answer, and the bugs that are known by their results.

A bug is a wrong solution kept on purpose. A reader's function that agrees with it on every case, where the
right answer does not, has that bug, and is told so; the sentences stand in the exercise's YAML file.
"""

import ctypes
import math
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from d2lmini.errors import one_of
from d2lmini.language import current_language, message
from d2lmini.notebook import progress
from d2lmini.notebook.content import current_name, exercise_content, plain

Case = tuple[Any, ...]
Results = tuple[Tensor, ...]


@dataclass(frozen=True)
class Task:
    """A function to be written: what it returns, the cases, the right answer and the known wrong ones."""

    returns: tuple[str, ...]
    right: Callable[..., Results]
    cases: tuple[Case, ...]  # the ordinary ones: here a bug is looked for first
    edges: tuple[Case, ...]  # looked at when the ordinary ones are right
    bugs: dict[
        str, tuple[Callable[..., Results], ...]
    ]  # by name in the YAML file; each in its common spellings
    # where many answers are right: what an answer does, given the inputs too; this is compared instead
    effect: Callable[..., Results] | None = None


def _normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# ------------------------------------------------------------------------------------------------ attention


def _attention(
    scale: Callable[[Tensor, Tensor], float] = lambda Q, V: Q.shape[-1] ** 0.5,
    axis: int = -1,
    mask_use: str = "before",
    after: bool = False,
    empty: str = "zeros",
) -> Callable[..., Results]:
    """Scaled dot-product attention, right by default, with one thing at a time that can be done wrong."""

    def attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Results:
        scores = Q @ K.transpose(-2, -1)
        if not after:
            scores = scores / scale(Q, V)
        if mask is not None and mask_use != "ignored":
            hidden = mask if mask_use == "inverted" else ~mask
            if mask_use != "late":
                scores = scores.masked_fill(hidden, -1e9 if empty == "uniform" else float("-inf"))
        weights = torch.softmax(scores, dim=axis)
        if after:
            weights = weights / scale(Q, V)
        if mask is not None and mask_use != "ignored" and (mask_use == "late" or empty == "zeros"):
            weights = weights.masked_fill(~mask, 0.0)
        return weights @ V, weights

    return attention


def _visible(*rows: list[int]) -> Tensor:
    return torch.tensor(rows, dtype=torch.bool)


_right_attention = _attention()


def _inverted_throughout(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Results:
    return _right_attention(Q, K, V, None if mask is None else ~mask)


def _without_softmax(Q: Tensor, K: Tensor, V: Tensor) -> Results:
    scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
    return scores @ V, scores


def _without_softmax_and_scale(Q: Tensor, K: Tensor, V: Tensor) -> Results:
    scores = Q @ K.transpose(-2, -1)
    return scores @ V, scores


# widths of queries and values differ, and so do the numbers of queries and keys: mix-ups then show
_ATTENTION = Task(
    returns=("output", "weights"),
    right=_right_attention,
    cases=(
        (_normal(3, 8), _normal(4, 8, seed=1), _normal(4, 5, seed=2)),
        (
            _normal(2, 3, 16, seed=3),
            _normal(2, 5, 16, seed=4),
            _normal(2, 5, 4, seed=5),
            _visible([1, 1, 1, 0, 0], [1, 1, 0, 0, 0]).unsqueeze(1),
        ),
        (
            _normal(2, 2, 4, 6, seed=6),
            _normal(2, 2, 4, 6, seed=7),
            _normal(2, 2, 4, 3, seed=8),
            torch.ones(4, 4, dtype=torch.bool).tril(),
        ),
    ),
    edges=(
        (
            _normal(2, 2, 4, seed=9),
            _normal(2, 3, 4, seed=10),
            _normal(2, 3, 4, seed=11),
            _visible([1, 1, 0], [0, 0, 0]).unsqueeze(1),
        ),
    ),
    bugs={
        "missing-scale": (_attention(scale=lambda Q, V: 1.0),),
        "scale-after-softmax": (_attention(after=True),),
        "scale-by-d": (_attention(scale=lambda Q, V: Q.shape[-1]),),
        "scale-by-values": (_attention(scale=lambda Q, V: V.shape[-1] ** 0.5),),
        "wrong-axis": tuple(_attention(axis=-2, empty=empty) for empty in ("zeros", "nan", "uniform")),
        "mask-inverted": (
            _inverted_throughout,
            _attention(mask_use="inverted"),
            _attention(mask_use="inverted", empty="nan"),
        ),
        "mask-after-softmax": (_attention(mask_use="late"),),
        "mask-ignored": (_attention(mask_use="ignored"),),
        "only-output": (lambda *case: _right_attention(*case)[:1],),
        "swapped": (lambda *case: _right_attention(*case)[::-1],),
        "empty-row-nan": (_attention(empty="nan"),),
        "empty-row-uniform": (_attention(empty="uniform"),),
    },
)


# the same without masks, for the first chapter
_SCALED_ATTENTION = Task(
    returns=("output", "weights"),
    right=_right_attention,
    cases=(
        (_normal(3, 8), _normal(4, 8, seed=1), _normal(4, 5, seed=2)),
        (_normal(2, 3, 16, seed=3), _normal(2, 5, 16, seed=4), _normal(2, 5, 4, seed=5)),
    ),
    edges=((_normal(1, 2, seed=6), _normal(1, 2, seed=7), _normal(1, 3, seed=8)),),
    bugs={
        name: _ATTENTION.bugs[name]
        for name in (
            "missing-scale",
            "scale-after-softmax",
            "scale-by-d",
            "scale-by-values",
            "wrong-axis",
            "only-output",
            "swapped",
        )
    }
    | {"no-softmax": (_without_softmax, _without_softmax_and_scale)},
)


# --------------------------------------------------------------------------------------------- design query

_PLANE = torch.tensor([[1.0, 0.0], [-0.6, -0.8], [0.96, 0.28], [0.28, 0.96], [0.0, 1.0]])
_CATS, _MILK, _NOBODY, _TRANSPOSED, _OTHER_DIRECTION = 0, 4, 5, 6, 7  # the first two are rows of _PLANE


def _listens_to(X: Tensor, W: Tensor, token: int) -> int:
    """The token with the largest score; nobody if there is no single one."""
    scores = X.double() @ (X[token].double() @ W.double())
    best = scores > scores.max() - 1e-4
    return int(scores.argmax()) if best.sum() == 1 else _NOBODY


def _whom_milk_hears(X: Tensor, W: Tensor) -> Results:
    found = _listens_to(X, W, _MILK)
    if found == _NOBODY and _listens_to(X, W, _CATS) == _MILK:
        found = _OTHER_DIRECTION
    elif found != _CATS and _listens_to(X, W.T, _MILK) == _CATS:
        found = _TRANSPOSED
    return (torch.tensor(found),)


def _matrix(*rows: list[float]) -> Callable[..., Results]:
    return lambda X: (torch.tensor(rows),)


_DESIGN_QUERY = Task(
    returns=("W_q",),
    right=_matrix([1.0, 0.0], [1.0, -0.3]),
    cases=((_PLANE,),),
    edges=(),
    bugs={
        "itself": (_matrix([1.0, 0.0], [0.0, 1.0]),),
        "flat": (_matrix([0.0, 0.0], [0.0, 0.0]),),
        "transposed": (_matrix([0.0, 1.0], [-1.0, 0.0]),),
        "other-direction": (_matrix([0.0, 1.0], [0.0, 0.0]),),
        "dogs": (_matrix([1.0, 0.0], [1.0, 0.5]),),
        "drink": (_matrix([1.0, 0.0], [0.5, 1.0]),),
        "opposite": (_matrix([-1.0, 0.0], [0.0, -1.0]),),
    },
    effect=_whom_milk_hears,
)


# ---------------------------------------------------------------------------------------------- split heads


def _split_heads(X: Tensor, num_heads: int) -> Results:
    batch, n, hidden = X.shape
    split = X.reshape(batch, n, num_heads, hidden // num_heads).transpose(1, 2)
    return (split.reshape(batch * num_heads, n, hidden // num_heads),)


def _mixed_tokens(X: Tensor, num_heads: int) -> Results:
    return (X.reshape(X.shape[0] * num_heads, X.shape[1], -1),)


def _interleaved(X: Tensor, num_heads: int) -> Results:
    batch, n, hidden = X.shape
    split = X.reshape(batch, n, hidden // num_heads, num_heads).permute(0, 3, 1, 2)
    return (split.reshape(batch * num_heads, n, -1),)


def _heads_before_batch(X: Tensor, num_heads: int) -> Results:
    batch, n, _ = X.shape
    return (X.reshape(batch, n, num_heads, -1).permute(2, 0, 1, 3).reshape(batch * num_heads, n, -1),)


def _not_folded(X: Tensor, num_heads: int) -> Results:
    return (X.reshape(*X.shape[:2], num_heads, -1).transpose(1, 2),)


def _axes_swapped(X: Tensor, num_heads: int) -> Results:
    return (_split_heads(X, num_heads)[0].transpose(1, 2),)


_SPLIT_HEADS = Task(
    returns=("result",),
    right=_split_heads,
    cases=((_normal(2, 4, 6), 3), (_normal(3, 5, 8, seed=1), 2)),
    edges=((_normal(1, 3, 4, seed=2), 1), (_normal(2, 1, 4, seed=3), 4)),
    bugs={
        "mixed-tokens": (_mixed_tokens,),
        "interleaved": (_interleaved,),
        "heads-before-batch": (_heads_before_batch,),
        "not-folded": (_not_folded,),
        "axes-swapped": (_axes_swapped,),
    },
)

# ----------------------------------------------------------------------------------------------- local mask


def _distance(n: int) -> Tensor:
    position = torch.arange(n)
    return position[:, None] - position  # (n, n), query minus key


_LOCAL_MASK = Task(
    returns=("mask",),
    right=lambda n, r: (_distance(n).abs() <= r // 2,),
    cases=((7, 3), (9, 5)),
    edges=((4, 1), (3, 9)),
    bugs={
        "too-wide": (lambda n, r: (_distance(n).abs() <= r,),),
        "too-narrow": (lambda n, r: (_distance(n).abs() < r // 2,),),
        "one-sided": (lambda n, r: (_distance(n) <= r // 2,),),
        "inverted": (lambda n, r: (_distance(n).abs() > r // 2,),),
        "backward": (lambda n, r: ((_distance(n) >= 0) & (_distance(n) < r),),),
    },
)


# --------------------------------------------------------------------------------------------- path lengths


def _path_lengths(
    reach: Callable[[int], float] = lambda k: (k - 1) // 2,
    whole: Callable[[Tensor], Tensor] = torch.ceil,
    least: int = 1,
    signed: bool = False,
) -> Callable[..., Results]:
    """Layers of convolution between all pairs, right by default, with one thing at a time done wrong."""

    def path_lengths(n: int, k: int) -> Results:
        distance = _distance(n) if signed else _distance(n).abs()
        return (whole(distance / reach(k)).clamp(min=least),)

    return path_lengths


_PATH_LENGTHS = Task(
    returns=("layers",),
    right=_path_lengths(),
    cases=((7, 3), (9, 5)),
    edges=((1, 3), (4, 9)),
    bugs={
        "whole-window": (_path_lengths(reach=lambda k: k - 1),),
        "by-kernel-size": (_path_lengths(reach=lambda k: k),),
        "rounded-down": (_path_lengths(whole=torch.floor),),
        "own-input-zero": (_path_lengths(least=0),),
        "one-sided": (_path_lengths(signed=True),),
    },
)


# ------------------------------------------------------------------------------------------- online softmax


def _merge(
    shrink_total: bool = True,
    shrink_output: bool = True,
    shrink_second: bool = True,
    sign: float = 1.0,
    best_of: Callable[[Tensor, Tensor], Tensor] = torch.maximum,
    divided: bool = False,
) -> Callable[..., Results]:
    """The sums of two halves of the keys made one, right by default, with one thing at a time done wrong."""

    def merge(best_a: Tensor, total_a: Tensor, output_a: Tensor, *second: Tensor) -> Results:
        best_b, total_b, output_b = second
        best = best_of(best_a, best_b)
        a = torch.exp(sign * (best_a - best))
        b = torch.exp(sign * (best_b - best)) if shrink_second else torch.ones(())
        total = a * total_a + b * total_b if shrink_total else total_a + total_b
        output = a * output_a + b * output_b if shrink_output else output_a + output_b
        return best, total, output / total if divided else output

    return merge


def _half(n: int, d: int, seed: int) -> Case:
    """What one processor hands over: the largest score, the total, the sum of the values."""
    scores, values = _normal(n, 4, seed=seed), _normal(4, d, seed=seed + 1)
    best = scores.max(dim=1, keepdim=True).values
    weights = torch.exp(scores - best)
    return best, weights.sum(dim=1, keepdim=True), weights @ values


def _large(half: Case) -> Case:
    return half[0] + 200, *half[1:]


_ONLINE_SOFTMAX = Task(
    returns=("best", "total", "output"),
    right=_merge(),
    cases=((*_half(6, 3, 0), *_half(6, 3, 2)), (*_half(4, 2, 4), *_half(4, 2, 6))),
    edges=(
        (*_large(_half(3, 2, 8)), *_half(3, 2, 10)),
        (torch.full((3, 1), -torch.inf), torch.zeros(3, 1), torch.zeros(3, 2), *_half(3, 2, 12)),
    ),
    bugs={
        "nothing-rescaled": (_merge(shrink_total=False, shrink_output=False),),
        "total-not-rescaled": (_merge(shrink_total=False),),
        "output-not-rescaled": (_merge(shrink_output=False),),
        "wrong-sign": (_merge(sign=-1),),
        "second-not-rescaled": (_merge(shrink_second=False),),
        "block-only": (_merge(best_of=lambda a, b: b),),
        "already-divided": (_merge(divided=True),),
    },
)


# ----------------------------------------------------------------------------------------- linear attention


def _linear(
    features_of_queries: Callable[[Tensor], Tensor] = lambda X: torch.nn.functional.elu(X) + 1,
    features_of_keys: Callable[[Tensor], Tensor] = lambda X: torch.nn.functional.elu(X) + 1,
    total: Callable[[Tensor, Tensor], Tensor] = lambda Q, K: (Q @ K.sum(dim=0))[:, None],
) -> Callable[..., Results]:
    """Linear attention, right by default, with one thing at a time that can be done wrong."""

    def attention(Q: Tensor, K: Tensor, V: Tensor) -> Results:
        Q, K = features_of_queries(Q), features_of_keys(K)
        return (Q @ (K.T @ V) / total(Q, K),)

    return attention


_LINEAR_ATTENTION = Task(
    returns=("output",),
    right=_linear(),
    cases=(
        (_normal(3, 8), _normal(4, 8, seed=1), _normal(4, 5, seed=2)),
        (_normal(6, 4, seed=3), _normal(6, 4, seed=4), _normal(6, 4, seed=5)),
    ),
    edges=((_normal(1, 2, seed=6), _normal(1, 2, seed=7), _normal(1, 3, seed=8)),),
    bugs={
        "no-total": (_linear(total=lambda Q, K: torch.ones(1)),),
        "features-of-queries-only": (_linear(features_of_keys=lambda X: X),),
        "no-features": (_linear(features_of_queries=lambda X: X, features_of_keys=lambda X: X),),
        "elu-without-one": (_linear(torch.nn.functional.elu, torch.nn.functional.elu),),
        "divided-by-count": (_linear(total=lambda Q, K: torch.tensor(float(len(K)))),),
        "softmax": (lambda Q, K, V: (torch.softmax(Q @ K.T / Q.shape[-1] ** 0.5, dim=-1) @ V,),),
    },
)

# --------------------------------------------------------------------------------------- positional encoding


def _table(
    first: int = 0, exponents: Callable[[Tensor], Tensor] = lambda column: column - column % 2
) -> Callable[..., Results]:
    """Sinusoids from position `first` on; `exponents` turns the number of a column into its 2j."""

    def sinusoids(n: int, d: int) -> Results:
        column = torch.arange(d)
        angle = torch.arange(first, first + n).unsqueeze(1) * 10000 ** (-exponents(column) / d)  # (n, d)
        return (torch.where(column % 2 == 0, angle.sin(), angle.cos()),)

    return sinusoids


def _sines_and_cosines_swapped(n: int, d: int) -> Results:
    table = _table()(n, d + d % 2)[0].unflatten(1, (-1, 2))
    return (table.flip(-1).flatten(1)[:, :d],)


def _sines_before_cosines(n: int, d: int) -> Results:
    table = _table()(n, d)[0]
    return (torch.cat([table[:, 0::2], table[:, 1::2]], dim=1),)


_SINUSOIDS = Task(
    returns=("table",),
    right=_table(),
    cases=((5, 4), (7, 6), (30, 8)),
    edges=((5, 5), (3, 1), (1, 2)),
    bugs={
        "swapped": (_sines_and_cosines_swapped,),
        "halves": (_sines_before_cosines,),
        "own-speeds": (_table(exponents=lambda column: column),),
        "exponent-halved": (_table(exponents=lambda column: column // 2),),
        "from-one": (_table(first=1),),
        "transposed": (lambda n, d: (_table()(n, d)[0].T,),),
    },
)


def _rotate(
    turn: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] = lambda a, b, sin, cos: (
        a * cos - b * sin,
        a * sin + b * cos,
    ),
    halves: bool = False,
    woven: bool = True,
    one_speed: bool = False,
    count_rows: bool = False,
) -> Callable[..., Results]:
    """RoPE, right by default, with one thing at a time that can be done wrong."""

    def rotate(X: Tensor, i: Tensor) -> Results:
        d = X.shape[1]
        i = torch.arange(len(X)) if count_rows else i
        angle = i[:, None] * 10000 ** (-torch.arange(0, d, 2) * (0 if one_speed else 1) / d)
        a, b = (X[:, : d // 2], X[:, d // 2 :]) if halves else (X[:, 0::2], X[:, 1::2])
        turned = turn(a, b, angle.sin(), angle.cos())
        return (torch.stack(turned, dim=-1).flatten(1) if woven and not halves else torch.cat(turned, dim=1),)

    return rotate


def _one_after_the_other(a: Tensor, b: Tensor, sin: Tensor, cos: Tensor) -> tuple[Tensor, Tensor]:
    a = a * cos - b * sin
    return a, a * sin + b * cos


_ROTATE = Task(
    returns=("turned",),
    right=_rotate(),
    cases=((_normal(5, 8), torch.arange(5) + 3), (_normal(4, 6, seed=1), torch.tensor([7, 0, 2, 40]))),
    edges=(
        (_normal(1, 2, seed=2), torch.tensor([0])),
        (_normal(3, 4, seed=3), torch.tensor([9.5, 1.0, 2.0])),
    ),
    bugs={
        "clockwise": (_rotate(lambda a, b, sin, cos: (a * cos + b * sin, b * cos - a * sin)),),
        "half-pairs": (_rotate(halves=True),),
        "one-after-the-other": (_rotate(_one_after_the_other),),
        "not-woven": (_rotate(woven=False),),
        "one-angle": (_rotate(one_speed=True),),
        "row-numbers": (_rotate(count_rows=True),),
    },
)


def _add_norm(
    summed: Callable[[Tensor, Tensor], Tensor] = lambda X, Y: X + Y,
    axes: tuple[int, ...] = (-1,),
    correction: int = 0,
    root: float = 0.5,
    gained: bool = True,
    added_late: bool = False,
) -> Callable[..., Results]:
    """Residual sum and layer norm, right by default, with one thing at a time done wrong."""

    def add_norm(X: Tensor, Y: Tensor, gain: Tensor, shift: Tensor) -> Results:
        Z = summed(X, Y)
        mean = Z.mean(dim=axes, keepdim=True)
        variance = Z.var(dim=axes, keepdim=True, correction=correction)
        Z = (Z - mean) / (variance + 1e-5) ** root
        Z = gain * Z + shift if gained else Z
        return (X + Z if added_late else Z,)

    return add_norm


_ADD_NORM = Task(
    returns=("result",),
    right=_add_norm(),
    cases=(
        (_normal(3, 4), _normal(3, 4, seed=1), _normal(4, seed=2), _normal(4, seed=3)),
        (_normal(2, 5, 6, seed=4), _normal(2, 5, 6, seed=5), _normal(6, seed=6), _normal(6, seed=7)),
    ),
    edges=((torch.ones(2, 3, 4), torch.ones(2, 3, 4), torch.ones(4), torch.zeros(4)),),
    bugs={
        "no-shortcut": (_add_norm(summed=lambda X, Y: Y),),
        "norm-before-sum": (_add_norm(summed=lambda X, Y: Y, added_late=True),),
        "wrong-axis": (_add_norm(axes=(-2,)),),
        "both-axes": (_add_norm(axes=(-2, -1)),),
        "no-root": (_add_norm(root=1),),
        "unbiased": (_add_norm(correction=1),),
        "no-gain": (_add_norm(gained=False),),
    },
)

# --------------------------------------------------------------------------------------------------- greedy


class _Writer:
    """A made-up decoder of six tokens, <eos> the last: a row of scores depends on all tokens up to it."""

    eos = 5

    def __init__(self, seed: int, eager: float) -> None:
        self.tokens, self.places = _normal(6, 6, seed=seed), _normal(12, 6, seed=seed + 1)
        self.end = eager * torch.arange(12.0)[:, None] * nn.functional.one_hot(torch.tensor(self.eos), 6)

    def __call__(self, tokens: Tensor) -> Tensor:
        n = len(tokens)
        return self.tokens[tokens].cumsum(dim=0) + self.places[:n] + self.end[:n]

    def __str__(self) -> str:
        return "model"


def _greedy(
    heard: slice = slice(None), row: int = -1, ends: bool = True, first: int = 1, keeps: bool = False
) -> Callable[..., Results]:
    """Greedy decoding, right by default, with one thing at a time that can be done wrong."""

    def greedy(model: Callable[[Tensor], Tensor], bos: int, eos: int, num_steps: int) -> Results:
        tokens = torch.tensor([bos])
        for _ in range(num_steps):
            word = model(tokens[heard])[row].argmax()
            if ends and word == eos and not keeps:
                break
            tokens = torch.cat([tokens, word[None]])
            if ends and word == eos:
                break
        return (tokens[first:],)

    return greedy


_GREEDY = Task(
    returns=("tokens",),
    right=_greedy(),
    cases=tuple((_Writer(seed, eager), 0, 5, 8) for seed, eager in ((3, 0.5), (6, 0.5), (9, 1.0))),
    edges=((_Writer(2, -9.0), 1, 5, 6), (_Writer(3, 0.5), 0, 5, 1)),
    bugs={
        "keeps-eos": (_greedy(keeps=True),),
        "never-ends": (_greedy(ends=False),),
        "with-bos": (_greedy(first=0),),
        "first-row": (_greedy(row=0),),
        "forgets": (_greedy(heard=slice(-1, None)),),
    },
)


# ----------------------------------------------------------------------------------------------------- bleu


def _clipped(said: Counter[Case], wanted: Counter[Case]) -> int:
    return (said & wanted).total()


def _bleu(
    short: Callable[[int, int], float] = lambda pred, label: math.exp(min(0, 1 - label / pred)),
    matches: Callable[[Counter[Case], Counter[Case]], int] = _clipped,
    power: Callable[[int, int], float] = lambda n, k: 0.5**n,
    recall: bool = False,
) -> Callable[..., Results]:
    """BLEU, right by default, with one thing at a time that can be done wrong."""

    def bleu(pred: list[str], label: list[str], k: int) -> Results:
        score = short(len(pred), len(label))
        for n in range(1, k + 1):
            said, wanted = (
                Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
                for tokens in (pred, label)
            )
            score *= (matches(said, wanted) / (wanted if recall else said).total()) ** power(n, k)
        return (torch.tensor(score),)

    return bleu


_BLEU = Task(
    returns=("score",),
    right=_bleu(),
    cases=(
        (["a", "a", "b", "c"], ["a", "b", "c", "d", "e"], 2),
        (["a", "b", "c", "d", "e", "f", "g"], ["a", "b", "c", "x", "e"], 3),
        (["a", "b", "b", "b"], ["a", "b", "b", "c", "d", "f"], 2),
    ),
    edges=((["a", "b"], ["a", "b"], 2), (["a", "b"], ["c", "d"], 1)),
    bugs={
        "not-clipped": (
            _bleu(matches=lambda said, wanted: sum(count for gram, count in said.items() if gram in wanted)),
        ),
        "distinct-only": (_bleu(matches=lambda said, wanted: len(said.keys() & wanted.keys())),),
        "no-penalty": (_bleu(short=lambda pred, label: 1.0),),
        "penalty-turned": (_bleu(short=lambda pred, label: math.exp(min(0, 1 - pred / label))),),
        "long-rewarded": (_bleu(short=lambda pred, label: math.exp(1 - label / pred)),),
        "equal-powers": (_bleu(power=lambda n, k: 1 / k),),
        "no-powers": (_bleu(power=lambda n, k: 1.0),),
        "recall": (_bleu(recall=True),),
    },
)

# ------------------------------------------------------------------------------------- what heads look at


def _head_weights(heads: int, n: int, length: int, seed: int) -> Tensor:
    scores = 2 * _normal(heads, n, n, seed=seed)
    return torch.softmax(scores.masked_fill(torch.arange(n) >= length, float("-inf")), dim=-1)


def _share(
    axis: int = -1,
    side: int = 1,
    asks: Callable[[Tensor, Tensor, int, int], Tensor] = lambda query, key, length, n: (
        (query < length) & (key >= 0) & (key < length)
    ),
    hits: Callable[[Tensor, Tensor], Tensor] | None = None,
    over: int | None = -1,
) -> Callable[..., Results]:
    """Shares of queries by head, right by default, with one thing at a time that can be done wrong."""

    def share(weights: Tensor, length: int, offset: int) -> Results:
        n = weights.shape[-1]
        query = torch.arange(n)
        key = query + side * offset
        asked = asks(query, key, length, n)
        hit = (weights.argmax(dim=axis) == key) if hits is None else hits(weights, key)
        return (hit[:, asked].float().mean(dim=over),)

    return share


def _weights_there(weights: Tensor, key: Tensor) -> Tensor:
    inside = key.clamp(0, weights.shape[-1] - 1).expand(weights.shape[0], -1).unsqueeze(-1)
    return weights.gather(-1, inside).squeeze(-1)


_SHARE = Task(
    returns=("share",),
    right=_share(),
    cases=(
        (_head_weights(3, 6, 6, seed=0), 6, -1),
        (_head_weights(4, 8, 5, seed=1), 5, 1),
        (_head_weights(4, 9, 6, seed=2), 6, -2),
        (_head_weights(2, 7, 4, seed=3), 4, 0),
    ),
    edges=((_head_weights(1, 2, 2, seed=4), 2, -1),),
    bugs={
        "padding-counted": (
            _share(asks=lambda query, key, length, n: (key >= 0) & (key < n)),
            _share(asks=lambda query, key, length, n: (key >= 0) & (key < length)),
            _share(asks=lambda query, key, length, n: (query < length) & (key >= 0)),
            _share(asks=lambda query, key, length, n: query >= 0),
        ),
        "all-real-queries": (_share(asks=lambda query, key, length, n: query < length),),
        "wrong-axis": (_share(axis=-2),),
        "wrong-side": (_share(side=-1),),
        "mean-weight": (_share(hits=_weights_there),),
        "over-all-heads": (_share(over=None),),
    },
)

TASKS = {
    "self-attention/code-scaled-attention": _SCALED_ATTENTION,
    "self-attention/design-query": _DESIGN_QUERY,
    "multi-head-attention/code-attention": _ATTENTION,
    "multi-head-attention/code-split-heads": _SPLIT_HEADS,
    "complexity/code-path-lengths": _PATH_LENGTHS,
    "cost-in-practice/code-online-softmax": _ONLINE_SOFTMAX,
    "long-sequences/code-linear-attention": _LINEAR_ATTENTION,
    "long-sequences/code-local-mask": _LOCAL_MASK,
    "positional-encoding/code-sinusoids": _SINUSOIDS,
    "relative-positions/code-rotate": _ROTATE,
    "transformer/code-add-norm": _ADD_NORM,
    "translation/code-greedy": _GREEDY,
    "translation/code-bleu": _BLEU,
    "what-it-learned/code-share": _SHARE,
}


# ------------------------------------------------------------------------------------------------ the verdict


def check(name: str, function: Callable[..., Any], seconds: float = 5.0) -> None:
    """Check your function for a code exercise and print the verdict: which bug a wrong one looks like.

    Args:
        name: the exercise, e.g. ``"multi-head-attention/code-attention"``.
        function: your function, not called.
        seconds: how long it may take in all; a function that does not end is stopped.

    Raises:
        ValueError: there is no such code exercise (the names are given), or `seconds` is no time to wait.

    Example:
        >>> check("multi-head-attention/code-split-heads", lambda X, num_heads: ...)
        Not written yet: replace each ... by your code.
    """
    name = current_name(name)
    if name not in list(TASKS):  # a list, because what cannot be hashed is no name either
        raise ValueError(one_of("name", name, TASKS))
    if not isinstance(seconds, int | float) or not 0 < seconds <= 3600:
        raise ValueError(f"seconds: got {seconds!r}; give a number above 0 and at most 3600")
    content = exercise_content(name, current_language())
    if not callable(function):
        print(message("check_not_function", call=content["call"]))
        return
    task = TASKS[name]
    verdict = _Verdict(task, {bug: plain(text) for bug, text in content["bugs"].items()})
    finished = _within(seconds, lambda: verdict.judge(function))
    print(verdict.message if finished else message("check_time", seconds=f"{seconds:g}"))
    if finished and verdict.right:
        progress.answered(name, {"done": True})


class _Verdict:
    """What is said about a function: the first thing that helps, from "not written" to "all cases pass"."""

    def __init__(self, task: Task, bugs: dict[str, str]):
        self.task, self.bugs = task, bugs
        self.message, self.right = "", False

    def judge(self, function: Callable[..., Any]) -> None:
        self.message = self._wrong(function) or message(
            "check_right", count=len(self.task.cases) + len(self.task.edges)
        )

    def _wrong(self, function: Callable[..., Any]) -> str:
        changed = False
        # the ordinary cases first: a bug seen there is the one to speak of, whatever an edge case adds
        for cases in (self.task.cases, self.task.cases + self.task.edges):
            results = []
            for case in cases:
                inputs = tuple(value.clone() if isinstance(value, Tensor) else value for value in case)
                try:
                    result = function(*inputs)
                except NotImplementedError:
                    return message("check_unwritten")
                except (Exception, SystemExit) as error:
                    return self._stopped(error, case)
                results.append(result)
                changed = changed or any(
                    isinstance(value, Tensor) and not _untouched(value, before)
                    for value, before in zip(inputs, case, strict=True)
                )
            if any(result is None or _has_gap(result) for result in results):
                return message("check_unwritten")
            if not _all_same(self._compared(results, cases), self._compared(self._right(cases), cases)):
                reason = self._named(results, cases) or self._first_difference(results, cases)
                return message("check_bug", reason=reason)
        if changed:
            return message("check_changed")
        self.right = True
        return ""

    def _stopped(self, error: BaseException, case: Case) -> str:
        stopped = message("check_error", error=f"{type(error).__name__}: {error}", shapes=_shapes(case))
        # the last line of the reader's own code, neither of this file nor of torch
        steps = traceback.extract_tb(error.__traceback__)
        own = [
            step.line for step in steps if step.filename != __file__ and "site-packages" not in step.filename
        ]
        return stopped + ("\n" + message("check_line", line=own[-1]) if own and own[-1] else "")

    def _right(self, cases: tuple[Case, ...]) -> list[Results]:
        return [self.task.right(*case) for case in cases]

    def _compared(self, results: list[Any], cases: tuple[Case, ...]) -> list[Any]:
        """The results, or what they do, where the task asks for an effect and they have the right form."""
        compared = []
        for result, right, case in zip(results, self._right(cases), cases, strict=True):
            numbers = _in_form(result, right)
            real = numbers and not any(one.isnan().any() for one in numbers)
            compared.append(self.task.effect(*case, *numbers) if self.task.effect and real else result)
        return compared

    def _named(self, results: list[Any], cases: tuple[Case, ...]) -> str:
        right = self._compared(self._right(cases), cases)
        results = self._compared(results, cases)
        for bug, spellings in self.task.bugs.items():
            for wrong in spellings:
                expected = self._compared([wrong(*case) for case in cases], cases)
                if not _all_same(expected, right) and _all_same(results, expected):
                    return self.bugs[bug]
        return ""

    def _first_difference(self, results: list[Any], cases: tuple[Case, ...]) -> str:
        for result, case in zip(results, cases, strict=True):
            expected = self.task.right(*case)
            returned = _as_tuple(result)
            if len(returned) != len(expected) or not all(map(_is_real, returned)):
                kinds = ", ".join(
                    f"{type(one).__name__} ({one.dtype})" if isinstance(one, Tensor) else type(one).__name__
                    for one in returned
                )
                return message("check_type", expected=", ".join(self.task.returns), given=kinds)
            shapes = _shapes(case)
            for name, one, right in zip(self.task.returns, returned, expected, strict=True):
                if one.shape != right.shape:
                    shape = {"expected": tuple(right.shape), "given": tuple(one.shape)}
                    return message("check_shape", shapes=shapes, name=name, **shape)
                numbers = _numbers(one)
                if numbers is None:
                    return message("check_device", name=name, expected=right.device, given=one.device)
                if numbers.isnan().any():
                    return message("check_nan", shapes=shapes, name=name)
                off = ~torch.isclose(numbers, right.double(), atol=1e-4)
                if off.any():
                    index = tuple(off.nonzero()[0].tolist())
                    value = {"expected": float(right[index]), "given": float(numbers[index])}
                    return message("check_value", shapes=shapes, name=name, place=list(index), **value)
        raise AssertionError("called without a difference")


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _has_gap(result: Any) -> bool:
    return any(one is ... for one in _as_tuple(result))


def _is_real(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_complex()


def _numbers(value: Tensor) -> Tensor | None:
    """Return a tensor of any device, layout and precision for comparison; None if it has no numbers."""
    try:
        dense = value.detach() if value.layout == torch.strided else value.detach().to_dense()
        return dense.to("cpu", torch.float64)
    except RuntimeError:  # on the meta device, for one
        return None


def _untouched(value: Tensor, before: Tensor) -> bool:
    return (value.device, value.dtype) == (before.device, before.dtype) and torch.equal(value, before)


def _in_form(result: Any, expected: Results) -> Results:
    """The numbers of a result that has the form of the expected one; nothing if it has another."""
    returned = _as_tuple(result)
    numbers = tuple(
        numbers
        for one, right in zip(returned, expected, strict=False)
        if _is_real(one) and one.shape == right.shape and (numbers := _numbers(one)) is not None
    )
    return numbers if len(numbers) == len(returned) == len(expected) else ()


def _same(result: Any, expected: Results) -> bool:
    numbers = _in_form(result, expected)
    return bool(numbers) and all(
        torch.allclose(one, right.double(), atol=1e-4, equal_nan=True)
        for one, right in zip(numbers, expected, strict=True)
    )


def _all_same(results: list[Any], expected: list[Results]) -> bool:
    return all(_same(result, one) for result, one in zip(results, expected, strict=True))


def _shapes(case: Case) -> str:
    return ", ".join(str(tuple(value.shape)) if hasattr(value, "shape") else str(value) for value in case)


class _OutOfTime(BaseException):
    """Raised in a function that does not end; no Exception, so that `except Exception` lets it pass."""


def _within(seconds: float, work: Callable[[], None]) -> bool:
    """Run `work` in a thread and say whether it came to its end. What it raises is raised here.

    It is stopped after so many seconds, and also when Jupyter's stop button interrupts the waiting.
    """
    failures: list[BaseException] = []
    finished, ended = threading.Event(), threading.Event()

    def run() -> None:
        try:
            work()
            finished.set()
        except _OutOfTime:
            pass
        except BaseException as error:
            failures.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, daemon=True)
    end = time.monotonic() + seconds
    try:
        thread.start()
        # in slices, because on Windows nothing interrupts a longer wait; and not by thread.join(), which
        # takes a thread for dead when it is interrupted itself (CPython 3.11)
        while not ended.wait(0.1) and time.monotonic() < end:
            pass
    finally:
        _stop(thread, ended)
    if failures:
        raise failures[0]
    return finished.is_set()


def _stop(thread: threading.Thread, ended: threading.Event) -> None:
    """Raise `_OutOfTime` in a thread, at its next line of Python: on every system, inside Jupyter too."""
    for _ in range(20):  # more than once, in case a bare `except` swallows it
        if ended.is_set():
            thread.join()
            return
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_OutOfTime)
        )
        ended.wait(0.1)
