"""Code exercises: the published solution, every known bug, and functions that do odd things."""

import _thread
import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
import torch

import d2lmini as d2l
from book.chapters import LANGUAGES, path_of, read, source
from d2lmini.language import message
from d2lmini.notebook import check, progress, tasks
from d2lmini.notebook.content import exercise_content, exercise_names
from d2lmini.notebook.tasks import NAMES, load_task

pytestmark = pytest.mark.usefixtures("own_folder")


def solution_code(name: str) -> str:
    return exercise_content(name, "en")["solution_code"]


def written(source: str) -> Callable[..., Any]:
    # what the first cell of every chapter imports
    names: dict[str, Any] = {}
    exec(compile("import torch\nfrom torch import nn\n" + source, "<reader>", "exec"), names)
    return [value for value in names.values() if hasattr(value, "__code__")][-1]  # helpers stand before it


def told(capsys: pytest.CaptureFixture[str], name: str, function: Any, **options: Any) -> str:
    d2l.check(name, function, **options)
    return capsys.readouterr().out


PATHS = "complexity/code-path-lengths"
MERGE = "cost-in-practice/code-online-softmax"
CACHED = "writing/code-cached-step"
LOCAL = "long-sequences/code-local-mask"
LINEAR = "long-sequences/code-linear-attention"
ATTENTION = "multi-head-attention/code-attention"
SPLIT = "multi-head-attention/code-split-heads"
SCALED = "self-attention/code-scaled-attention"
DESIGN = "self-attention/design-query"
SINUSOIDS = "positional-encoding/code-sinusoids"
ROTATE = "relative-positions/code-rotate"
ALIBI = "relative-positions/code-alibi"
ADD_NORM = "transformer-block/code-add-norm"
PRE_NORM = "transformer-block/code-pre-norm"
MULTI = "transformer/code-multi-head"
DECODER = "transformer/code-decoder-block"
GREEDY = "translation/code-greedy"
SAMPLER = "language-model/code-sampler"
GENERATE = "language-model/code-generate"
BLEU = "translation/code-bleu"
SHARE = "what-it-learned/code-share"
BYTE_PAIR = "subwords/code-merge"
INDUCTION = "induction/code-induction-score"
RMS_NORM = "since-2017/code-rms-norm"
BLOCK_STEP = "since-2017/code-block-step"


@pytest.mark.parametrize("name", NAMES)
def test_the_published_solution_passes(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert "Correct." in told(capsys, name, written(solution_code(name)))
    assert progress.answers()[name] == {"done": True}


@pytest.mark.parametrize("name", NAMES)
def test_the_starting_point_is_not_written_yet(capsys: pytest.CaptureFixture[str], name: str) -> None:
    starter = exercise_content(name, "en")["starter"]
    if name == ATTENTION:
        assert "Not written yet" in told(capsys, name, written(starter))
    assert "Not written yet" in told(capsys, name, lambda *_: None)
    assert progress.answers() == {}


def attention_in_another_style(Q: Any, K: Any, V: Any, mask: Any = None) -> Any:
    import torch

    raised = torch.einsum("...nd,...md->...nm", Q / Q.size(-1) ** 0.25, K / K.size(-1) ** 0.25).exp()
    if mask is not None:
        raised = raised * mask
    weights = raised / raised.sum(-1, keepdim=True).clamp_min(1e-30)
    return [torch.einsum("...nm,...mv->...nv", weights, V), weights]


def split_in_another_style(X: Any, num_heads: int) -> Any:
    import torch

    return torch.stack(X.chunk(num_heads, dim=-1), dim=1).flatten(0, 1)


@pytest.mark.parametrize(
    ("name", "function"), [(ATTENTION, attention_in_another_style), (SPLIT, split_in_another_style)]
)
def test_another_style_passes(capsys: pytest.CaptureFixture[str], name: str, function: Any) -> None:
    assert "Correct." in told(capsys, name, function)


# what a reader may write: the published solution with something changed -> the bug that must be named
SCALE = " / Q.shape[-1] ** 0.5"
MASK = "scores = scores.masked_fill(~mask, float"
ZERO_ROWS = "weights = weights.masked_fill(~mask"
RETURN = "return weights @ V, weights"
MOVE = "X = X.transpose(1, 2)"
PHI = "nn.functional.elu(Q) + 1, nn.functional.elu(K) + 1"
CUT = "X = X.reshape(batch, n, num_heads, hidden // num_heads)"
FOLD = "return X.reshape(batch * num_heads, n, hidden // num_heads)"
FIRST_ROW, SECOND_ROW = "[1.0, 0.0],", "[1.0, -0.3]]"
KNOWN_WRONG = [
    (SCALED, {SCALE: ""}, "missing-scale"),
    (SCALED, {SCALE: "", "dim=-1)": "dim=-1) / Q.shape[-1] ** 0.5"}, "scale-after-softmax"),
    (SCALED, {SCALE: " / Q.shape[-1]"}, "scale-by-d"),
    (SCALED, {SCALE: " / V.shape[-1] ** 0.5"}, "scale-by-values"),
    (SCALED, {"dim=-1": "dim=-2"}, "wrong-axis"),
    (SCALED, {"dim=-1": "dim=0"}, "wrong-axis"),
    (SCALED, {"dim=-1": "dim=1"}, "from-the-front"),
    (SCALED, {"Q.shape[-1]": "Q.shape[1]"}, "from-the-front"),
    (SCALED, {"dim=-1": "dim=1", "Q.shape[-1]": "Q.shape[1]"}, "from-the-front"),
    (SCALED, {"torch.softmax(scores, dim=-1)": "scores"}, "no-softmax"),
    (SCALED, {SCALE: "", "torch.softmax(scores, dim=-1)": "scores"}, "no-softmax"),
    (SCALED, {RETURN: "return weights @ V"}, "only-output"),
    (SCALED, {RETURN: "return weights, weights @ V"}, "swapped"),
    (DESIGN, {SECOND_ROW: "[0.0, 1.0]]"}, "itself"),
    (DESIGN, {SECOND_ROW: "[0.0, 0.0]]"}, "flat"),
    (DESIGN, {FIRST_ROW: "[0.0, 0.0],", SECOND_ROW: "[0.0, 0.0]]"}, "flat"),
    (DESIGN, {FIRST_ROW: "[2.0, 1.0],", SECOND_ROW: "[0.0, 0.0]]"}, "transposed"),
    (DESIGN, {FIRST_ROW: "[0.0, 1.0],", SECOND_ROW: "[-1.0, 0.0]]"}, "transposed"),
    (DESIGN, {FIRST_ROW: "[0.0, 1.0],", SECOND_ROW: "[0.0, 0.0]]"}, "other-direction"),
    (DESIGN, {SECOND_ROW: "[1.0, 0.4]]"}, "dogs"),
    (DESIGN, {SECOND_ROW: "[0.5, 1.0]]"}, "drink"),
    (DESIGN, {FIRST_ROW: "[-1.0, 0.0],", SECOND_ROW: "[0.0, -1.0]]"}, "opposite"),
    (ATTENTION, {SCALE: ""}, "missing-scale"),
    (ATTENTION, {SCALE: "", "dim=-1)": "dim=-1) / Q.shape[-1] ** 0.5"}, "scale-after-softmax"),
    (ATTENTION, {SCALE: " / Q.shape[-1]"}, "scale-by-d"),
    (ATTENTION, {SCALE: " / V.shape[-1] ** 0.5"}, "scale-by-values"),
    (ATTENTION, {"dim=-1": "dim=-2"}, "wrong-axis"),
    (ATTENTION, {"dim=-1": "dim=-2", ZERO_ROWS: ZERO_ROWS[10:]}, "wrong-axis"),
    (ATTENTION, {"dim=-1": "dim=0"}, "wrong-axis"),
    (ATTENTION, {"dim=-1": "dim=1"}, "from-the-front"),
    (ATTENTION, {"dim=-1": "dim=1", ZERO_ROWS: ZERO_ROWS[10:]}, "from-the-front"),
    (ATTENTION, {"dim=-1": "dim=1", "Q.shape[-1]": "Q.shape[1]"}, "from-the-front"),
    (ATTENTION, {"Q.shape[-1]": "Q.shape[1]"}, "from-the-front"),
    (ATTENTION, {MASK: MASK.replace("~", "")}, "mask-inverted"),
    (ATTENTION, {MASK: MASK.replace("~", ""), ZERO_ROWS: ZERO_ROWS.replace("~", "")}, "mask-inverted"),
    (ATTENTION, {MASK: MASK[9:], ZERO_ROWS: ZERO_ROWS[10:]}, "mask-ignored"),
    (ATTENTION, {MASK: MASK[9:]}, "mask-after-softmax"),
    (ATTENTION, {RETURN: "return weights @ V"}, "only-output"),
    (ATTENTION, {RETURN: "return weights, weights @ V"}, "swapped"),
    (ATTENTION, {ZERO_ROWS: ZERO_ROWS[10:]}, "empty-row-nan"),
    (ATTENTION, {ZERO_ROWS: ZERO_ROWS[10:], 'float("-inf")': "-1e6"}, "empty-row-uniform"),
    (SPLIT, {MOVE: "pass"}, "mixed-tokens"),
    (
        SPLIT,
        {CUT: "X = X.reshape(batch, n, -1, num_heads)", MOVE: "X = X.permute(0, 3, 1, 2)"},
        "interleaved",
    ),
    (SPLIT, {MOVE: "X = X.permute(2, 0, 1, 3)"}, "heads-before-batch"),
    (SPLIT, {FOLD: "return X"}, "not-folded"),
    (SPLIT, {MOVE: "X = X.permute(0, 2, 3, 1)", FOLD: "return X.flatten(0, 1)"}, "axes-swapped"),
    (PATHS, {"(k - 1) // 2": "k - 1"}, "whole-window"),
    (PATHS, {"(k - 1) // 2": "k"}, "by-kernel-size"),
    (PATHS, {"torch.ceil(distance / reach)": "(distance // reach)"}, "rounded-down"),
    (PATHS, {".clamp(min=1)": ""}, "own-input-zero"),
    (PATHS, {".abs()": ""}, "one-sided"),
    (MERGE, {"a, b = torch.exp(best_a - best), torch.exp(best_b - best)": "a = b = 1"}, "nothing-rescaled"),
    (MERGE, {"a * total_a + b * total_b": "total_a + total_b"}, "total-not-rescaled"),
    (MERGE, {"a * output_a + b * output_b": "output_a + output_b"}, "output-not-rescaled"),
    (MERGE, {"(best_a - best)": "(best - best_a)", "(best_b - best)": "(best - best_b)"}, "wrong-sign"),
    (MERGE, {"torch.exp(best_b - best)": "1"}, "second-not-rescaled"),
    (MERGE, {"torch.maximum(best_a, best_b)": "best_b"}, "block-only"),
    (MERGE, {"return best, total, output": "return best, total, output / total"}, "already-divided"),
    (LOCAL, {"r // 2": "r"}, "too-wide"),
    (LOCAL, {"<= r // 2": "< r"}, "too-wide"),
    (LOCAL, {"<=": "<"}, "too-narrow"),
    (LOCAL, {".abs()": ""}, "one-sided"),
    (LOCAL, {".abs()": "", "<= r // 2": ">= -(r // 2)"}, "one-sided"),
    (LOCAL, {"distance <= r // 2": "(distance <= r // 2).float()"}, "not-boolean"),
    (LOCAL, {"distance <= r // 2": "(distance <= r // 2).int()"}, "not-boolean"),
    (LOCAL, {"distance <= r // 2": "torch.where(distance <= r // 2, 0, -torch.inf)"}, "not-boolean"),
    (LOCAL, {"<=": ">"}, "inverted"),
    (LOCAL, {".abs()": "", "distance <= r // 2": "(distance >= 0) & (distance < r)"}, "backward"),
    (LOCAL, {".abs()": "", "distance <= r // 2": "(distance >= 0) & (distance <= r // 2)"}, "backward"),
    (SHARE, {"(query < length) & ": "", "(key < length)": "(key < weights.shape[-1])"}, "padding-counted"),
    (SHARE, {" & (key >= 0) & (key < length)": ""}, "all-real-queries"),
    (SHARE, {"argmax(dim=-1)": "argmax(dim=-2)"}, "wrong-axis"),
    (SHARE, {"query + offset": "query - offset"}, "wrong-side"),
    (SHARE, {"(top == key)": "weights.roll(-offset, dims=-1).diagonal(dim1=-2, dim2=-1)"}, "mean-weight"),
    (SHARE, {".mean(dim=-1)": ".mean()"}, "over-all-heads"),
    (INDUCTION, {"(weights * behind)": "(weights * equal)"}, "same-token"),
    (INDUCTION, {"roll(1,": "roll(-1,"}, "wrong-side"),
    (INDUCTION, {"[:, counts]": ""}, "all-queries"),
    (INDUCTION, {".tril(-1)": ".tril()"}, "all-queries"),
    (INDUCTION, {".tril(-1)": "& ~torch.eye(len(tokens), dtype=torch.bool)"}, "future"),
    (INDUCTION, {"equal.roll": "(equal & (equal.flip(1).cumsum(1).flip(1) == 1)).roll"}, "latest-only"),
    (
        INDUCTION,
        {"(weights * behind)": "(behind & (weights == weights.amax(-1, keepdim=True))).double()"},
        "largest",
    ),
    (INDUCTION, {"mean(dim=-1)": "mean()"}, "over-all-heads"),
    (CACHED, {"K.transpose": "K[:, :t].transpose", "weights @ V": "weights @ V[:, :t]"}, "asked-too-early"),
    (
        CACHED,
        {
            "[K, (x @ W_k).view(g, 1, w)]": "[(x @ W_k).view(g, 1, w), K]",
            "[V, (x @ W_v).view(g, 1, w)]": "[(x @ W_v).view(g, 1, w), V]",
        },
        "at-the-front",
    ),
    (CACHED, {".view(g, -1, w)": ".view(-1, g, w).transpose(0, 1)"}, "taken-in-turn"),
    (
        CACHED,
        {".view(g, -1, w)": ".view(-1, g, w).transpose(0, 1)", ").reshape": ").transpose(0, 1).reshape"},
        "taken-in-turn",
    ),
    (CACHED, {" / w**0.5": ""}, "no-scale"),
    (CACHED, {"w**0.5": "x.shape[1]**0.5"}, "scaled-by-d"),
    (CACHED, {"dim=-1": "dim=1"}, "wrong-axis"),
    (CACHED, {"dim=-1": "dim=0"}, "wrong-axis"),
    (CACHED, {"weights @ V": "weights @ K"}, "keys-for-values"),
    (CACHED, {"W_v).view": "W_k).view"}, "keys-for-values"),
    (LINEAR, {" / total[:, None]": ""}, "no-total"),
    (LINEAR, {"nn.functional.elu(K) + 1": "K"}, "features-of-queries-only"),
    (LINEAR, {PHI: "Q, K"}, "no-features"),
    (LINEAR, {PHI: "nn.functional.elu(Q), nn.functional.elu(K)"}, "elu-without-one"),
    (LINEAR, {"total[:, None]": "K.shape[0]"}, "divided-by-count"),
    (LINEAR, {"Q @ (K.T @ V)": "(Q @ K.T) @ V"}, "square"),
    (LINEAR, {"Q @ (K.T @ V)": "(K @ Q.T).T @ V", "Q @ K.sum(dim=0)": "(Q @ K.T).sum(dim=1)"}, "square"),
    (LINEAR, {"Q @ (K.T @ V)": 'torch.einsum("nm,mv->nv", torch.einsum("nd,md->nm", Q, K), V)'}, "square"),
    (
        LINEAR,
        {PHI: "Q, K", "mixed / total[:, None]": "(Q @ K.T / Q.shape[-1] ** 0.5).softmax(-1) @ V"},
        "softmax",
    ),
    (
        SINUSOIDS,
        {
            "P[:, 0::2] = torch.sin": "P[:, 0::2] = torch.cos",
            "] = torch.cos(i * omega[": "] = torch.sin(i * omega[",
        },
        "swapped",
    ),
    (SINUSOIDS, {"P[:, 0::2]": "P[:, : d - d // 2]", "P[:, 1::2]": "P[:, d - d // 2 :]"}, "halves"),
    (SINUSOIDS, {"omega[: d // 2]": "10000 ** (-torch.arange(1, d, 2) / d)"}, "own-speeds"),
    (SINUSOIDS, {"0, d, 2) / d": "0, d, 2) / 2 / d"}, "exponent-halved"),
    (SINUSOIDS, {"torch.arange(n)": "torch.arange(1, n + 1)"}, "from-one"),
    (SINUSOIDS, {"return P": "return P.T"}, "transposed"),
    (ROTATE, {"- b * angle.sin(), a *": "+ b * angle.sin(), -a *"}, "clockwise"),
    (
        ROTATE,
        {
            "X[:, 0::2], X[:, 1::2]": "X.chunk(2, dim=1)",
            "torch.stack(turned, dim=-1).flatten(1)": "torch.cat(turned, dim=1)",
        },
        "half-pairs",
    ),
    (ROTATE, {"turned = [a": "turned = [a := a"}, "one-after-the-other"),
    (ROTATE, {"torch.stack(turned, dim=-1).flatten(1)": "torch.cat(turned, dim=1)"}, "not-woven"),
    (ROTATE, {" * 10000 ** (-torch.arange(0, d, 2) / d)": ""}, "one-angle"),
    (ROTATE, {"i[:, None]": "torch.arange(len(X))[:, None]"}, "row-numbers"),
    (ALIBI, {"-slope": "slope"}, "bonus"),
    (ALIBI, {".abs()": ""}, "signed"),
    (ALIBI, {".abs()": "", "-slope": "slope"}, "signed"),
    (ALIBI, {"torch.arange(1, H + 1)": "torch.arange(H)"}, "from-zero"),
    (ALIBI, {"-8 * torch.arange(1, H + 1) / H": "-torch.arange(1, H + 1)"}, "always-eight"),
    (
        ALIBI,
        {"2.0 ** (-8 * torch.arange(1, H + 1) / H)": "torch.exp(-8 * torch.arange(1, H + 1) / H)"},
        "base-e",
    ),
    (ALIBI, {"torch.arange(1, H + 1)": "torch.ones(H)"}, "no-slope"),
    (ALIBI, {"-slope[:, None, None] * distance": "-distance.expand(H, n, n)"}, "no-slope"),
    (ADD_NORM, {"Z = X + Y": "Z = Y"}, "no-shortcut"),
    (ADD_NORM, {"Z = X + Y": "Z = Y", "return gain": "return X + gain"}, "norm-before-sum"),
    (ADD_NORM, {"Z.mean(dim=-1": "Z.mean(dim=-2", "Z.var(dim=-1": "Z.var(dim=-2"}, "wrong-axis"),
    (
        ADD_NORM,
        {"Z.mean(dim=-1": "Z.mean(dim=(-2, -1)", "Z.var(dim=-1": "Z.var(dim=(-2, -1)"},
        "both-axes",
    ),
    (ADD_NORM, {"Z.mean(dim=-1": "Z.mean(dim=0", "Z.var(dim=-1": "Z.var(dim=0"}, "wrong-axis"),
    (ADD_NORM, {"Z.mean(dim=-1": "Z.mean(dim=1", "Z.var(dim=-1": "Z.var(dim=1"}, "wrong-axis"),
    (ADD_NORM, {"(variance + 1e-5).sqrt()": "(variance.sqrt() + 1e-5)"}, "epsilon-outside"),
    (ADD_NORM, {"variance + 1e-5": "variance"}, "epsilon-size"),
    (ADD_NORM, {"1e-5": "1e-12"}, "epsilon-size"),
    (ADD_NORM, {".sqrt()": ""}, "no-root"),
    (ADD_NORM, {", correction=0": ""}, "unbiased"),
    (ADD_NORM, {"gain * ": "", " + shift": ""}, "no-gain"),
    (
        PRE_NORM,
        {"X + attention(norm1(X))": "norm1(X + attention(X))", "X + ffn(norm2(X))": "norm2(X + ffn(X))"},
        "post-norm",
    ),
    (PRE_NORM, {"X = X + attention(norm1(X))": "X = norm1(X)\n    X = X + attention(X)"}, "norm-on-shortcut"),
    (PRE_NORM, {"return X + ffn": "return ffn"}, "no-shortcut"),
    (PRE_NORM, {"X = X + attention": "Y = X + attention", "ffn(norm2(X))": "ffn(norm2(Y))"}, "old-token"),
    (PRE_NORM, {"X = X + attention": "Y = X + attention", "return X": "return Y"}, "parallel"),
    (PRE_NORM, {"ffn(norm2(X))": "ffn(X)"}, "missing-norm"),
    (PRE_NORM, {"ffn(norm2(X))": "ffn(norm1(X))"}, "same-norm"),
    (PRE_NORM, {"X + ffn(norm2(X))": "norm2(X + ffn(norm2(X)))"}, "norm-at-the-end"),
    (MULTI, {" / (d / heads) ** 0.5": ""}, "no-scale"),
    (MULTI, {"(d / heads)": "d"}, "scale-of-d"),
    (MULTI, {"Z.reshape(len(Z), heads, -1).transpose(0, 1)": "Z[None]"}, "one-head"),
    (MULTI, {"Z.reshape(len(Z), heads, -1).transpose(0, 1)": "Z.reshape(heads, len(Z), -1)"}, "mixed-tokens"),
    (MULTI, {"(weights @ V).transpose(0, 1)": "(weights @ V)"}, "badly-joined"),
    (MULTI, {"joined @ W_o": "joined"}, "no-output"),
    (MULTI, {"Y @ W_v": "X @ W_v"}, "wrong-source"),
    (MULTI, {"dim=-1": "dim=1"}, "wrong-axis"),
    (DECODER, {"X, mask)": "X)"}, "no-mask"),
    (DECODER, {"tril()": "triu()"}, "mask-turned"),
    (DECODER, {"tril()": "tril(-1)"}, "own-place-hidden"),
    (DECODER, {"attention2(Y, source, source)": "attention2(source, Y, Y)"}, "roles-swapped"),
    (DECODER, {"attention2(Y, ": "attention2(X, "}, "asks-with-x"),
    (
        DECODER,
        {
            "norms[0](X + attention1(X, X, X, mask))": "norms[0](X + attention2(X, source, source))",
            "norms[1](Y + attention2(Y, source, source))": "norms[1](Y + attention1(Y, Y, Y, mask))",
        },
        "cross-first",
    ),
    (DECODER, {"Z + ffn(Z)": "ffn(Z)"}, "no-shortcut"),
    (
        DECODER,
        {
            "norms[0](X + attention1(X, X, X, mask))": "X + attention1(*[norms[0](X)] * 3, mask)",
            "norms[1](Y + attention2(Y, source, source))": "Y + attention2(norms[1](Y), source, source)",
            "norms[2](Z + ffn(Z))": "Z + ffn(norms[2](Z))",
        },
        "pre-norm",
    ),
    (GREEDY, {"if word == eos:": "if tokens[-1] == eos:"}, "keeps-eos"),
    (GREEDY, {"if word == eos:": "if False:"}, "never-ends"),
    (GREEDY, {"tokens[1:]": "tokens"}, "with-bos"),
    (GREEDY, {"scores[-1]": "scores[0]"}, "first-row"),
    (GREEDY, {"model(tokens)": "model(tokens[-1:])"}, "forgets"),
    (BLEU, {"(said & wanted).total()": "sum(c for g, c in said.items() if g in wanted)"}, "not-clipped"),
    (BLEU, {"(said & wanted).total()": "len(set(said) & set(wanted))"}, "distinct-only"),
    (BLEU, {"math.exp(min(0, 1 - len(label) / len(pred)))": "1"}, "no-penalty"),
    (BLEU, {"len(label) / len(pred)": "len(pred) / len(label)"}, "penalty-turned"),
    (BLEU, {"min(0, 1 - len(label) / len(pred))": "1 - len(label) / len(pred)"}, "long-rewarded"),
    (BLEU, {"0.5**n": "(1 / k)"}, "equal-powers"),
    (BLEU, {" ** 0.5**n": ""}, "no-powers"),
    (BLEU, {"said.total()": "wanted.total()"}, "recall"),
    (BLEU, {"torch.tensor(score)": "score", ") ** 0.5**n": ")"}, "no-powers"),
    (SAMPLER, {"scores / T": "scores * T"}, "times-temperature"),
    (SAMPLER, {"before < p": "ranked.cumsum(0) <= p"}, "too-few"),
    (SAMPLER, {" / probabilities.sum()": ""}, "not-scaled"),
    (SAMPLER, {"torch.zeros_like(ranked).scatter(0, order, ranked)": "ranked"}, "in-order-of-rank"),
    (SAMPLER, {"before < p": "ranked >= p"}, "threshold"),
    (SAMPLER, {"scores / T": "scores", "ranked, 0.0)": "ranked ** (1 / T), 0.0)"}, "temperature-after"),
    (GENERATE, {"torch.tensor([[text[-1]]])": "torch.tensor([[*start, *text]])"}, "read-again"),
    (
        GENERATE,
        {
            "net(unread, state)": "net(unread)",
            "torch.tensor([[text[-1]]])": "torch.tensor([[*start, *text]])",
        },
        "read-again",
    ),
    (GENERATE, {"net(unread, state)": "net(unread)"}, "state-lost"),
    (GENERATE, {"scores[0, -1]": "scores[0, 0]"}, "first-place"),
    (GENERATE, {"torch.tensor(text)": "torch.tensor([*start, *text])"}, "beginning-returned"),
    (
        BYTE_PAIR,
        {"min(counts, key=lambda pair: (-counts[pair], pair))": "counts.most_common(1)[0][0]"},
        "first-met",
    ),
    (BYTE_PAIR, {"min(counts": "max(counts", "-counts[pair]": "counts[pair]"}, "larger-pair"),
    (BYTE_PAIR, {"-counts[pair]": "counts[pair]"}, "rarest"),
    (BYTE_PAIR, {"min(counts, key=lambda pair: (-counts[pair], pair))": "min(counts)"}, "smallest-pair"),
    (BYTE_PAIR, {"merged[-1] = number": "merged[-1:] = [number, token]"}, "second-kept"),
    (
        BYTE_PAIR,
        {
            "    for token in tokens:": "    for before, token in zip([None, *tokens], tokens):",
            "merged and (merged[-1], token) == pair": "(before, token) == pair",
            "merged[-1] = number": "merged[-1:] = [number] if merged[-1] == before else [merged[-1], number]",
        },
        "overlapping",
    ),
    (
        BYTE_PAIR,
        {
            "in tokens:": "in tokens[::-1]:",
            "(merged[-1], token)": "(token, merged[-1])",
            "torch.tensor(merged)": "torch.tensor(merged[::-1])",
        },
        "from-the-right",
    ),
    (
        BYTE_PAIR,
        {"torch.tensor(merged)": "torch.tensor(merged[: -1 if merged[-1] != number else None])"},
        "last-lost",
    ),
    (BYTE_PAIR, {"merged and (merged[-1]": "number not in merged and merged and (merged[-1]"}, "only-once"),
    (DESIGN, {FIRST_ROW: "[0.0, 1.0],", SECOND_ROW: "[1.0, 1.0]]"}, "flat"),
    (GREEDY, {"tokens[1:]": "tokens.tolist()"}, "with-bos"),
    (
        RMS_NORM,
        {
            "return X / ": "return (X - X.mean(-1, keepdim=True)) / ",
            "X.square()": "(X - X.mean(-1, keepdim=True)).square()",
        },
        "centered",
    ),
    (RMS_NORM, {".mean(": ".sum("}, "length-one"),
    (RMS_NORM, {" ** 0.5": ""}, "no-root"),
    (RMS_NORM, {"dim=-1": "dim=0"}, "wrong-axis"),
    (RMS_NORM, {"dim=-1": "dim=(-2, -1)"}, "all-axes"),
    (RMS_NORM, {" * gain": ""}, "no-gain"),
    (RMS_NORM, {"(mean + 1e-6) ** 0.5": "(mean**0.5 + 1e-6)"}, "epsilon-outside"),
    (RMS_NORM, {"1e-6": "1e-5"}, "epsilon-size"),
    (
        BLOCK_STEP,
        {
            "    K = torch.cat([K,": "    asked = K, V\n    K = torch.cat([K,",
            "K.transpose(1, 2)": "asked[0].transpose(1, 2)",
            "weights @ V": "weights @ asked[1]",
        },
        "asked-too-early",
    ),
    (BLOCK_STEP, {"(g, -1, w) @ R": "(g, -1, w)"}, "query-not-turned"),
    (BLOCK_STEP, {"(Y @ W_k).view(g, 1, w) @ R": "(Y @ W_k).view(g, 1, w)"}, "key-not-turned"),
    (BLOCK_STEP, {"(Y @ W_v).view(g, 1, w)": "(Y @ W_v).view(g, 1, w) @ R"}, "value-turned"),
    (
        BLOCK_STEP,
        {
            "view(g, -1, w) @ R": "view(-1, g, w).transpose(0, 1) @ R",
            "(weights @ V)": "(weights @ V).transpose(0, 1)",
        },
        "taken-in-turn",
    ),
    (BLOCK_STEP, {" / w**0.5": ""}, "wrong-scale"),
    (BLOCK_STEP, {" / w**0.5": " / x.shape[1] ** 0.5"}, "wrong-scale"),
    (BLOCK_STEP, {"x = x + (weights": "x = (weights", "return x + (gate": "return (gate"}, "no-shortcut"),
    (
        BLOCK_STEP,
        {"Y = rms_norm(x, g1)": "Y = x = rms_norm(x, g1)", "Y = rms_norm(x, g2)": "Y = x = rms_norm(x, g2)"},
        "norm-on-shortcut",
    ),
    (BLOCK_STEP, {"rms_norm(x, g2)": "x"}, "norm-missing"),
    (BLOCK_STEP, {"rms_norm(x, g2)": "rms_norm(x, g1)"}, "norm-missing"),
    (BLOCK_STEP, {"Y @ W_gate": "Y @ W_up", "(Y @ W_up)": "(Y @ W_gate)"}, "gate-swapped"),
    (BLOCK_STEP, {"gate * torch.sigmoid(gate)": "torch.sigmoid(gate)"}, "no-silu"),
]


@pytest.mark.parametrize(("name", "changes", "bug"), KNOWN_WRONG)
def test_a_known_bug_is_named(
    capsys: pytest.CaptureFixture[str], name: str, changes: dict[str, str], bug: str
) -> None:
    source = solution_code(name)
    for old, new in changes.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    content = exercise_content(name, "en")
    first = next(part for part in content["bugs"][bug] if isinstance(part, str))
    assert told(capsys, name, written(source)).startswith(f"Not yet. {first}")
    assert progress.answers() == {}


@pytest.mark.parametrize("name", NAMES)
def test_every_bug_has_words_and_a_test(name: str) -> None:
    bugs = load_task(name).bugs.keys()
    assert bugs == exercise_content(name, "en")["bugs"].keys()
    assert bugs == {bug for task, _, bug in KNOWN_WRONG if task == name}


def test_every_code_exercise_has_a_file_of_its_own() -> None:
    code_exercises = {name for name in exercise_names() if exercise_content(name, "en")["kind"] == "code"}
    assert set(NAMES) == code_exercises
    files = {path.stem for path in Path(tasks.__file__).parent.glob("*.py")} - {"__init__"}
    assert sorted(files) == sorted(name.partition("/")[2].replace("-", "_") for name in NAMES)


def test_a_matrix_is_judged_by_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    for first in ([9.0, 9.0], [0.0, 1.0], [0.0, 0.0]):
        for second in ([1.0, 0.0], [50.0, -40.0], [0.1, -0.15]):
            assert told(capsys, DESIGN, lambda X, rows=(first, second): torch.tensor(rows)) == "Correct.\n"
    assert "Correct." in told(capsys, DESIGN, lambda X: torch.tensor([[0, 0], [1, 0]]))
    assert "should have the shape (2, 2); it has (2,)" in told(capsys, DESIGN, lambda X: torch.ones(2))
    assert "Correct." in told(capsys, DESIGN, lambda X: [[1.0, 0.0], [1.0, -0.3]])
    assert "it returned list" in told(capsys, DESIGN, lambda X: [["1.0", "0.0"], ["1.0", "-0.3"]])
    assert "contains NaN" in told(capsys, DESIGN, lambda X: torch.full((2, 2), torch.nan))
    # whatever is wrong has a name: that the matrix differs from ours is no reason
    generator = torch.Generator().manual_seed(0)
    for _ in range(200):
        matrix = torch.randn(2, 2, generator=generator)
        assert "should be" not in told(capsys, DESIGN, lambda X, W=matrix: W)


def test_what_the_page_defined_is_not_what_the_reader_wrote(own_folder: Path) -> None:
    """After a run of the whole page its functions are there; the same code in the reader's cell is right."""
    places = ((SPLIT, "heads-split"), (SCALED, "scaling-attention"))
    cells: list[str] = []
    for language in LANGUAGES:
        cells += [f"import torch, d2lmini as d2l\nd2l.use_language({language!r})"]
        for name, place in places:
            page = read(path_of(language, name.partition("/")[0]))["cells"]
            defined = next(source(cell) for cell in page if cell["id"] == place)
            call = exercise_content(name, language)["call"]
            cells += [defined, call, f"{defined}\n\n{call}"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    plain = {key: value for key, value in os.environ.items() if key != "IPYKERNEL_CELL_NAME"}
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(own_folder)}})
    client.execute(env=plain)
    printed = iter("".join(output["text"] for output in cell.outputs) for cell in notebook.cells)
    for language in LANGUAGES:
        d2l.use_language(language)
        assert next(printed) == ""
        for name, _ in places:
            task, function = load_task(name), exercise_content(name, "en")["call"].split()[-1][:-1]
            _, verdict, own = (next(printed) for _ in range(3))
            assert verdict == message("check_page", name=function) + "\n"
            right = message("check_right", count=len(task.cases) + len(task.edges))
            assert own.splitlines()[-1] == right
    d2l.use_language("en")


def test_a_loop_that_never_ends(capsys: pytest.CaptureFixture[str]) -> None:
    def endless(*_: Any) -> None:
        while True:
            with suppress(Exception):
                sum(range(10))

    before = threading.active_count()
    assert "did not finish" in told(capsys, SPLIT, endless, seconds=0.3)
    assert threading.active_count() == before, "it still runs"


def test_a_function_that_cannot_be_stopped_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    let_go = threading.Event()
    threads = []

    def holds_on(*_: Any) -> None:
        threads.append(threading.current_thread())
        while not let_go.is_set():
            with suppress(BaseException):
                while not let_go.wait(0.01):
                    pass

    out = told(capsys, SPLIT, holds_on, seconds=0.3)
    assert "did not finish" in out and "restart the kernel" in out
    let_go.set()
    threads[0].join()


def test_a_checked_function_is_done_in_the_exercise_above(capsys: pytest.CaptureFixture[str]) -> None:
    shown = d2l.exercise(SPLIT)
    told(capsys, SPLIT, split_in_another_style)
    assert shown.answer == {"done": True}


def test_nearly_right_is_not_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert "should be" in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h) + 0.01)


def test_numbers_that_look_alike_get_more_decimals(capsys: pytest.CaptureFixture[str]) -> None:
    for change in (0.0004, -0.0003, 0.00015):
        out = told(capsys, SPLIT, lambda X, h, c=change: split_in_another_style(X, h) + c)
        wanted, given = re.findall(r"-?\d+\.\d+", out.partition("should be")[2])
        assert float(wanted) != float(given) and 3 <= len(wanted.partition(".")[2]) <= 5
    out = told(capsys, LOCAL, lambda n, r: torch.full((n, n), -0.0002))
    assert "should be 1.000; it is -0.000" in out
    assert check._told_apart(0.0002, -0.0002) == ("0.0002", "-0.0002")
    assert check._told_apart(1.0, float("inf")) == ("1.000", "inf")


def test_other_troubles_are_told_kindly(capsys: pytest.CaptureFixture[str]) -> None:
    def changes_its_input(X: Any, num_heads: int) -> Any:
        result = split_in_another_style(X, num_heads)
        X.zero_()
        return result

    import torch

    assert "ZeroDivisionError" in told(capsys, SPLIT, lambda X, num_heads: 1 / 0)
    assert "takes 1 positional argument" in told(capsys, SPLIT, lambda X: X)
    assert "it returned int" in told(capsys, SPLIT, lambda X, num_heads: 3)
    assert "should have the shape (6, 4, 2); it has (2, 4, 6)" in told(capsys, SPLIT, lambda X, num_heads: X)
    assert "contains NaN" in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h) * torch.nan)
    assert "result[0, 0, 0] should be" in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h) + 1)
    assert "changes its inputs" in told(capsys, SPLIT, changes_its_input)
    assert "without calling it" in told(capsys, SPLIT, torch.ones(2))
    with pytest.raises(ValueError, match="choose one of 'self-attention/code-scaled-attention'"):
        d2l.check("self-attention/why-scale", split_in_another_style)


def test_results_of_every_layout_and_precision_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    for change in (torch.Tensor.to_sparse, torch.Tensor.double, torch.nn.Parameter):
        assert "Correct." in told(capsys, SPLIT, lambda X, h, c=change: c(split_in_another_style(X, h)))
    assert "should be" in told(capsys, SPLIT, lambda X, h: (split_in_another_style(X, h) + 1).to_sparse())
    assert "should be" in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h).int())
    mask = written(solution_code(LOCAL))
    assert "Correct." in told(capsys, LOCAL, lambda n, r: mask(n, r).to_sparse())
    assert "should be 1.000; it is 0.500" in told(capsys, LOCAL, lambda n, r: mask(n, r) / 2)


def test_a_result_whose_numbers_cannot_be_read_is_told_as_that(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h).to("meta"))
    assert "result lies on the device meta" in out and "return it on cpu" in out


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no second device")
def test_a_right_result_on_another_device_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Correct." in told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h).cuda())


def test_the_line_told_is_the_readers_own_though_the_model_stops(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, GREEDY, lambda model, bos, eos, num_steps: model(bos))
    assert "stops with TypeError" in out and "The line is: out = told(capsys, GREEDY" in out


def test_a_complex_result_is_not_right(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, SPLIT, lambda X, h: split_in_another_style(X, h).to(torch.complex64))
    assert "it returned Tensor (torch.complex64)" in out
    assert progress.answers() == {}


def test_leaving_python_is_an_error_of_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert "stops with SystemExit: 3" in told(capsys, SPLIT, lambda X, h: sys.exit(3))


def test_inputs_made_into_something_else_count_as_changed(capsys: pytest.CaptureFixture[str]) -> None:
    def halves_precision(X: Any, num_heads: int) -> Any:
        result = split_in_another_style(X, num_heads)
        X.data = X.data.half()
        return result

    assert "changes its inputs" in told(capsys, SPLIT, halves_precision)


def test_what_goes_wrong_in_the_judge_is_not_called_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_has_gap", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        d2l.check(SPLIT, split_in_another_style)


def test_the_stop_button_ends_the_function_too() -> None:
    """Jupyter's stop button raises KeyboardInterrupt in the main thread, here while it waits."""
    started = threading.Event()

    def endless(*_: Any) -> None:
        started.set()
        while True:
            sum(range(10))

    def stop() -> None:
        started.wait()
        _thread.interrupt_main()

    before = threading.active_count()
    presser = threading.Thread(target=stop)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        d2l.check(SPLIT, endless, seconds=60)
    presser.join()
    assert threading.active_count() == before, "it still runs"


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "5", None])
def test_no_time_to_wait_is_refused(seconds: Any) -> None:
    with pytest.raises(ValueError, match=r"^seconds: got .*; give a number above 0"):
        d2l.check(SPLIT, split_in_another_style, seconds=seconds)


@pytest.mark.parametrize("name", [None, 3, ["self-attention"], "self-attention/code"])
def test_no_code_exercise_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match=r"^name: got .*; choose one of '"):
        d2l.check(name, split_in_another_style)
