"""d2lmini: the models, plots and exercises of the course.

Importing this package imports torch and nothing else that is large: each name below is fetched from its file
when it is first used, so matplotlib and the widgets cost nothing to a reader who only wants a model.

Example:
    >>> import torch
    >>> import d2lmini as d2l
    >>> attention = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5)
    >>> X = torch.ones(2, 4, 100)
    >>> attention(X, X, X, torch.tensor([3, 2])).shape
    torch.Size([2, 4, 100])
"""

from importlib import import_module
from typing import Any

import torch  # noqa: F401  loaded here so that the first model does not pay for it

__version__ = "0.1.0"

# file -> the public names it holds, in the order in which the course teaches them
_EXPORTS = {
    "language": ("current_language", "label", "text", "use_language"),
    "device": ("try_all_gpus", "try_gpu"),
    "attention": (
        "AdditiveAttention",
        "DotProductAttention",
        "MultiHeadAttention",
        "masked_softmax",
        "sequence_mask",
        "transpose_output",
        "transpose_qkv",
    ),
    "positional": (
        "ALiBi",
        "LearnedPositionalEncoding",
        "PositionalEncoding",
        "RelativePositionBias",
        "RotaryEmbedding",
        "sinusoids",
    ),
    "transformer": (
        "AddNorm",
        "AttentionDecoder",
        "Decoder",
        "DecoderBlock",
        "Encoder",
        "EncoderBlock",
        "EncoderDecoder",
        "PositionWiseFFN",
        "TransformerDecoder",
        "TransformerEncoder",
    ),
    "seq2seq": ("Seq2SeqAttentionDecoder", "Seq2SeqDecoder", "Seq2SeqEncoder"),
    "data": (
        "Vocab",
        "build_array_nmt",
        "count_corpus",
        "held_out_nmt",
        "join_tokens",
        "load_array",
        "load_data_nmt",
        "preprocess_nmt",
        "read_data_nmt",
        "split_tokens",
        "tokenize",
        "tokenize_nmt",
        "truncate_pad",
    ),
    "training": (
        "Accumulator",
        "MaskedSoftmaxCELoss",
        "Timer",
        "Training",
        "beam_search",
        "bleu",
        "grad_clipping",
        "predict_seq2seq",
        "train_seq2seq",
    ),
    "complexity": (
        "AttentionLayer",
        "ConvolutionLayer",
        "RecurrentLayer",
        "attention_weights_bytes",
        "count_multiply_adds",
        "dependencies",
        "layers_until_connected",
        "loglog_slope",
        "maximum_path_length",
        "median_time",
        "multiply_adds",
        "peak_memory",
        "recorded_timings",
        "sequential_depth",
        "shortest_path",
    ),
    "plotting": ("Animator", "plot", "set_axes", "set_figsize", "show_heatmaps", "use_svg_display"),
    "figures": ("figure",),
    "exercises": ("exercise", "progress"),
    "exercises_code": ("check",),
    "widgets": ("explorer",),
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}
__all__ = [*sorted(_HOME), "plt"]  # noqa: PLE0604  the names are those of the table above


def __getattr__(name: str) -> Any:
    if name == "plt":  # D2L pages write d2l.plt
        return import_module("matplotlib.pyplot")
    if name in _EXPORTS:
        return import_module(f"{__name__}.{name}")
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_EXPORTS})
