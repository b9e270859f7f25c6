"""d2lmini: the models, plots and exercises of the course.

Importing this package loads nothing large: each name below is fetched from its file when it is first used, so
torch costs nothing to who only reads the exercises, and matplotlib nothing to who only wants a model.

Example:
    >>> import torch
    >>> import d2lmini as d2l
    >>> attention = d2l.MultiHeadAttention(100, 100, 100, 100, 5, 0.5)
    >>> X = torch.ones(2, 4, 100)
    >>> attention(X, X, X, torch.tensor([3, 2])).shape
    torch.Size([2, 4, 100])
"""

from collections.abc import Callable as _Callable
from typing import TYPE_CHECKING, Any

from d2lmini import hooks as _hooks

__version__ = "0.3.0"

# The public names, file by file in the order in which the course teaches them. Editors and type checkers read
# these lines as they stand; Python reads them below, and runs one of them when a name of it is first used.
# isort: off
# fmt: off
if TYPE_CHECKING:
    import matplotlib.pyplot as plt  # noqa: F401 - D2L pages write d2l.plt
    from d2lmini.language import (
        current_language as current_language, label as label, text as text, use_language as use_language,
    )
    from d2lmini.device import try_all_gpus as try_all_gpus, try_gpu as try_gpu
    from d2lmini.attention import (
        AdditiveAttention as AdditiveAttention, DotProductAttention as DotProductAttention,
        MultiHeadAttention as MultiHeadAttention, causal_mask as causal_mask, local_mask as local_mask,
        masked_softmax as masked_softmax, padding_mask as padding_mask,
        scaled_dot_product as scaled_dot_product, sequence_mask as sequence_mask,
        transpose_output as transpose_output, transpose_qkv as transpose_qkv,
    )
    from d2lmini.positional import (
        ALiBi as ALiBi, LearnedPositionalEncoding as LearnedPositionalEncoding,
        PositionalEncoding as PositionalEncoding, RelativePositionBias as RelativePositionBias,
        RotaryEmbedding as RotaryEmbedding, recorded_lengths as recorded_lengths, sinusoids as sinusoids,
    )
    from d2lmini.encoder_decoder import (
        AttentionDecoder as AttentionDecoder, Decoder as Decoder, Encoder as Encoder,
        EncoderDecoder as EncoderDecoder,
    )
    from d2lmini.transformer import (
        AddNorm as AddNorm, DecoderBlock as DecoderBlock, EncoderBlock as EncoderBlock,
        PositionWiseFFN as PositionWiseFFN, TransformerDecoder as TransformerDecoder,
        TransformerEncoder as TransformerEncoder,
    )
    from d2lmini.seq2seq import (
        Seq2SeqAttentionDecoder as Seq2SeqAttentionDecoder, Seq2SeqDecoder as Seq2SeqDecoder,
        Seq2SeqEncoder as Seq2SeqEncoder, recorded_translations as recorded_translations,
    )
    from d2lmini.data import (
        Vocab as Vocab, build_array_nmt as build_array_nmt, count_corpus as count_corpus,
        held_out_nmt as held_out_nmt, join_tokens as join_tokens, load_array as load_array,
        load_data_nmt as load_data_nmt, preprocess_nmt as preprocess_nmt, read_data_nmt as read_data_nmt,
        split_tokens as split_tokens, tokenize as tokenize, tokenize_nmt as tokenize_nmt,
        truncate_pad as truncate_pad,
    )
    from d2lmini.training import (
        Accumulator as Accumulator, MaskedSoftmaxCELoss as MaskedSoftmaxCELoss, Timer as Timer,
        Training as Training, grad_clipping as grad_clipping, train_seq2seq as train_seq2seq,
    )
    from d2lmini.decoding import (
        BeamNode as BeamNode, BeamTree as BeamTree, beam_search as beam_search, beam_tree as beam_tree,
        bleu as bleu, predict_seq2seq as predict_seq2seq,
    )
    from d2lmini.checkpoints import (
        Translation as Translation, Translator as Translator, load_translator as load_translator,
    )
    from d2lmini.heads import (
        Translations as Translations, dice as dice, translate_all as translate_all,
    )
    from d2lmini.complexity import (
        AttentionLayer as AttentionLayer, ConvolutionLayer as ConvolutionLayer,
        RecurrentLayer as RecurrentLayer, attention_weights_bytes as attention_weights_bytes,
        count_multiply_adds as count_multiply_adds, dependencies as dependencies,
        layers_until_connected as layers_until_connected, loglog_slope as loglog_slope,
        maximum_path_length as maximum_path_length, median_time as median_time,
        multiply_adds as multiply_adds, peak_memory as peak_memory, recorded_timings as recorded_timings,
        sequential_depth as sequential_depth, shortest_path as shortest_path,
    )
    from d2lmini.notebook.plotting import (
        plot as plot, set_axes as set_axes, set_figsize as set_figsize, show_beam as show_beam,
        show_heatmaps as show_heatmaps, use_svg_display as use_svg_display,
    )
    from d2lmini.notebook.animator import Animator as Animator
    from d2lmini.notebook.figures import figure as figure
    from d2lmini.notebook.exercises import exercise as exercise
    from d2lmini.notebook.progress import progress as progress
    from d2lmini.notebook.check import check as check
    from d2lmini.notebook.widgets import explorer as explorer
    # fmt: on
else:
    import ast as _ast
    from importlib import import_module as _import_module
    from pathlib import Path as _Path

    def _exports() -> dict[str, tuple[str, str | None]]:
        """Public name -> the module that holds it and its name there; no name there: it is the module."""
        tree = _ast.parse(_Path(__file__).read_text(encoding="utf-8"))
        block = next(node for node in tree.body if isinstance(node, _ast.If))
        found: dict[str, tuple[str, str | None]] = {}
        for line in block.body:
            for name in line.names:
                if isinstance(line, _ast.Import):
                    found[name.asname] = name.name, None
                else:
                    found[name.asname] = line.module, name.name
        return found

    _HOME = _exports()
    _FILES = {module.rpartition(".")[2]: module for module, name in _HOME.values() if name}
    __all__ = [*sorted(_HOME)]  # noqa: PLE0604  strings: the names of the lines above

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            module, attribute = _HOME[name]
            value = _import_module(module)
            value = getattr(value, attribute) if attribute else value
            globals()[name] = value
            return value
        if name in _FILES:  # d2l.complexity, d2l.plotting
            return _import_module(_FILES[name])
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted([*__all__, *_FILES, "__version__"])


def _training_progress(num_epochs: int) -> _Callable[[int, float], None] | None:
    """Show the loss as a curve if this is a notebook."""
    from d2lmini.notebook.kernel import kernel_shell

    if kernel_shell() is None:
        return None
    from d2lmini.notebook.animator import TrainingCurve

    return TrainingCurve(num_epochs)


_hooks.training_progress = _training_progress
