"""The public names, file by file in the order in which the course teaches them.

Editors and type checkers read this file; `lazy_loader` fetches the names by it when they are first used.
"""

# isort: off
import matplotlib.pyplot as _pyplot
from .language import (
    current_language as current_language,
    label as label,
    text as text,
    use_language as use_language,
)
from .device import try_all_gpus as try_all_gpus, try_gpu as try_gpu
from .attention import (
    AdditiveAttention as AdditiveAttention,
    DotProductAttention as DotProductAttention,
    MultiHeadAttention as MultiHeadAttention,
    causal_mask as causal_mask,
    local_mask as local_mask,
    masked_softmax as masked_softmax,
    padding_mask as padding_mask,
    scaled_dot_product as scaled_dot_product,
    sequence_mask as sequence_mask,
    transpose_output as transpose_output,
    transpose_qkv as transpose_qkv,
)
from .positional import (
    ALiBi as ALiBi,
    LearnedPositionalEncoding as LearnedPositionalEncoding,
    PositionalEncoding as PositionalEncoding,
    RelativePositionBias as RelativePositionBias,
    RotaryEmbedding as RotaryEmbedding,
    recorded_lengths as recorded_lengths,
    sinusoids as sinusoids,
)
from .encoder_decoder import (
    AttentionDecoder as AttentionDecoder,
    Decoder as Decoder,
    Encoder as Encoder,
    EncoderDecoder as EncoderDecoder,
)
from .transformer import (
    AddNorm as AddNorm,
    DecoderBlock as DecoderBlock,
    EncoderBlock as EncoderBlock,
    PositionWiseFFN as PositionWiseFFN,
    TransformerDecoder as TransformerDecoder,
    TransformerEncoder as TransformerEncoder,
    recorded_norms as recorded_norms,
)
from .seq2seq import (
    Seq2SeqAttentionDecoder as Seq2SeqAttentionDecoder,
    Seq2SeqDecoder as Seq2SeqDecoder,
    Seq2SeqEncoder as Seq2SeqEncoder,
    recorded_spread as recorded_spread,
    recorded_translations as recorded_translations,
)
from .data import (
    Vocab as Vocab,
    build_array_nmt as build_array_nmt,
    count_corpus as count_corpus,
    held_out_nmt as held_out_nmt,
    join_tokens as join_tokens,
    load_array as load_array,
    load_data_nmt as load_data_nmt,
    preprocess_nmt as preprocess_nmt,
    read_data_nmt as read_data_nmt,
    sample_rows as sample_rows,
    split_known as split_known,
    split_tokens as split_tokens,
    tokenize as tokenize,
    tokenize_nmt as tokenize_nmt,
    truncate_pad as truncate_pad,
)
from .training import (
    Accumulator as Accumulator,
    MaskedSoftmaxCELoss as MaskedSoftmaxCELoss,
    Timer as Timer,
    Training as Training,
    grad_clipping as grad_clipping,
)
from .decoding import (
    BeamNode as BeamNode,
    BeamTree as BeamTree,
    beam_search as beam_search,
    beam_tree as beam_tree,
    bleu as bleu,
    predict_seq2seq as predict_seq2seq,
    score_sentences as score_sentences,
)
from .checkpoints import (
    Translation as Translation,
    Translator as Translator,
    load_translator as load_translator,
)
from .heads import (
    Translations as Translations,
    aligned_words as aligned_words,
    dice as dice,
    mean_heads as mean_heads,
    replace_heads as replace_heads,
    translate_all as translate_all,
)
from .stories import Stories as Stories
from .language_model import (
    LanguageModel as LanguageModel,
    PreNormBlock as PreNormBlock,
    RMSNorm as RMSNorm,
    SwiGLU as SwiGLU,
    recorded_induction as recorded_induction,
    recorded_since as recorded_since,
)
from .sampling import generate as generate, token_probabilities as token_probabilities
from .subwords import (
    BytePairEncoding as BytePairEncoding,
    recorded_subwords as recorded_subwords,
    split_pieces as split_pieces,
)
from .writer import Writer as Writer, load_writer as load_writer
from .complexity import (
    AttentionLayer as AttentionLayer,
    ConvolutionLayer as ConvolutionLayer,
    RecurrentLayer as RecurrentLayer,
    attention_weights_bytes as attention_weights_bytes,
    count_multiply_adds as count_multiply_adds,
    dependencies as dependencies,
    layers_until_connected as layers_until_connected,
    loglog_slope as loglog_slope,
    maximum_path_length as maximum_path_length,
    median_time as median_time,
    multiply_adds as multiply_adds,
    peak_memory as peak_memory,
    recorded_recall as recorded_recall,
    recorded_timings as recorded_timings,
    sequential_depth as sequential_depth,
    shortest_path as shortest_path,
)
from .notebook.plotting import (
    plot as plot,
    set_axes as set_axes,
    set_figsize as set_figsize,
    show_beam as show_beam,
    show_heatmaps as show_heatmaps,
    use_svg_display as use_svg_display,
)
from .notebook.animator import (
    Animator as Animator,
    train_language_model as train_language_model,
    train_seq2seq as train_seq2seq,
)
from .notebook.figures import figure as figure
from .notebook.exercises import exercise as exercise
from .notebook.progress import progress as progress
from .notebook.check import check as check
from .notebook.widgets import explorer as explorer

plt = _pyplot  # D2L pages write d2l.plt
__version__: str
__all__: list[str]
