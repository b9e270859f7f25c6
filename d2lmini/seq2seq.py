"""Recurrent sequence-to-sequence models: what the Transformer is compared with.

Read from top to bottom: an encoder, a decoder that gets the whole source squeezed into one vector, and a
decoder that looks at all of the source at each step, which is where attention came from.
"""

import csv
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from d2lmini.attention import AdditiveAttention
from d2lmini.encoder_decoder import AttentionDecoder, Decoder, Encoder, embed


class Seq2SeqEncoder(Encoder):
    """Token embedding and a GRU.

    Args:
        vocab_size: number of tokens.
        embed_size: width of an embedding.
        num_hiddens: width of the hidden state.
        num_layers: number of GRU layers.
        dropout: probability of dropping a feature between layers while training.
        bidirectional: read forward with one half of the hidden units and backward with the other. Outputs and
            states keep their shapes, so that the same decoders follow.
        packed: stop each sentence at its valid length. Otherwise the GRU reads the padding too, as in D2L.

    Raises:
        ValueError: `bidirectional` with an odd `num_hiddens`.

    Source: Cho et al., Learning Phrase Representations using RNN Encoder–Decoder, 2014; in both directions
    Bahdanau, Cho & Bengio, Neural Machine Translation by Jointly Learning to Align and Translate, 2015.

    Example:
        >>> encoder = Seq2SeqEncoder(vocab_size=10, embed_size=8, num_hiddens=16, num_layers=2)
        >>> output, state = encoder(torch.zeros(4, 7, dtype=torch.long))
        >>> output.shape, state.shape
        (torch.Size([7, 4, 16]), torch.Size([2, 4, 16]))
    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        num_hiddens: int,
        num_layers: int,
        dropout: float = 0,
        *,
        bidirectional: bool = False,
        packed: bool = False,
    ):
        super().__init__()
        if bidirectional and num_hiddens % 2:
            raise ValueError(f"num_hiddens: got {num_hiddens}; two directions need an even number")
        self.packed = packed
        self.embedding = nn.Embedding(vocab_size, embed_size)
        units = num_hiddens // 2 if bidirectional else num_hiddens
        self.rnn = nn.GRU(embed_size, units, num_layers, dropout=dropout, bidirectional=bidirectional)

    def forward(self, X: Tensor, *args: Any) -> tuple[Tensor, Tensor]:
        """Encode tokens.

        Args:
            X: tokens, shape (batch, steps).
            args: valid lengths, at least 1 each, shape (batch,); used if `packed`. None: all tokens count.

        Returns:
            The last layer's hidden state of every step, shape (steps, batch, num_hiddens), 0 at padding that
            is not read; and for every layer the state after the last token read (backward, the first), shape
            (num_layers, batch, num_hiddens).
        """
        X = embed(self.embedding, X).transpose(0, 1)  # (steps, batch, embed_size): a GRU takes time first
        if self.packed and args and args[0] is not None:
            lengths = args[0].cpu()  # on a GPU too, pack_padded_sequence wants them there
            packed, state = self.rnn(pack_padded_sequence(X, lengths, enforce_sorted=False))
            output, _ = pad_packed_sequence(packed, total_length=len(X))
        else:
            output, state = self.rnn(X)
        if self.rnn.bidirectional:  # (num_layers * 2, batch, units): the two directions side by side
            state = torch.cat((state[0::2], state[1::2]), dim=2)
        return output, state


class Seq2SeqDecoder(Decoder):
    """A GRU that gets the last hidden state of the encoder at every step.

    The arguments are those of `Seq2SeqEncoder`, here for the target; `num_hiddens` and `num_layers` must be
    the same in both.

    Source: Cho et al., Learning Phrase Representations using RNN Encoder–Decoder, 2014.

    Example:
        >>> X = torch.zeros(4, 7, dtype=torch.long)
        >>> encoder, decoder = Seq2SeqEncoder(10, 8, 16, 2), Seq2SeqDecoder(10, 8, 16, 2)
        >>> output, state = decoder(X, decoder.init_state(encoder(X)))
        >>> output.shape
        torch.Size([4, 7, 10])
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def init_state(self, enc_outputs: tuple[Tensor, Tensor], *args: Any) -> tuple[Tensor, Tensor]:
        """Make the state before the first token.

        Args:
            enc_outputs: what `Seq2SeqEncoder` returned.
            args: valid lengths, not used.

        Returns:
            The context, shape (batch, num_hiddens), which stays the same for all steps, and the hidden state,
            shape (num_layers, batch, num_hiddens).
        """
        hidden_state = enc_outputs[1]
        return hidden_state[-1], hidden_state

    def forward(self, X: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Decode the next tokens.

        Args:
            X: tokens, shape (batch, steps).
            state: what `init_state` or the forward before returned.

        Returns:
            Scores of shape (batch, steps, vocab_size), and the state after them.
        """
        context, hidden_state = state
        X = embed(self.embedding, X).transpose(0, 1)  # (steps, batch, embed_size)
        context_of_steps = context.expand(len(X), -1, -1)  # (steps, batch, num_hiddens)
        X = torch.cat((X, context_of_steps), dim=-1)  # (steps, batch, embed_size + num_hiddens)
        output, hidden_state = self.rnn(X, hidden_state)  # (steps, batch, num_hiddens)
        return self.dense(output).transpose(0, 1), (context, hidden_state)


class Seq2SeqAttentionDecoder(AttentionDecoder):
    """A GRU that asks, at every step, which source tokens matter now (Bahdanau attention).

    The arguments are those of `Seq2SeqDecoder`; `dropout` also drops attention weights.

    Source: Bahdanau, Cho & Bengio, Neural Machine Translation by Jointly Learning to Align and Translate,
    2015.

    Example:
        >>> X = torch.zeros(4, 7, dtype=torch.long)
        >>> encoder, decoder = Seq2SeqEncoder(10, 8, 16, 2), Seq2SeqAttentionDecoder(10, 8, 16, 2)
        >>> output, state = decoder(X, decoder.init_state(encoder(X), torch.tensor([7, 5, 3, 1])))
        >>> output.shape, len(decoder.attention_weights), decoder.attention_weights[0].shape
        (torch.Size([4, 7, 10]), 7, torch.Size([4, 1, 7]))
    """

    def __init__(
        self, vocab_size: int, embed_size: int, num_hiddens: int, num_layers: int, dropout: float = 0
    ):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens, dropout)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers, dropout=dropout)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self._attention_weights: list[Tensor] = []

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_attention_weights": []}  # a saved model carries no batch of its data

    def init_state(
        self, enc_outputs: tuple[Tensor, Tensor], enc_valid_lens: Tensor | None, *args: Any
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Make the state before the first token.

        Args:
            enc_outputs: what `Seq2SeqEncoder` returned.
            enc_valid_lens: how many source tokens count, shape (batch,); None: all.
            args: not used.

        Returns:
            The hidden states of all source steps, shape (batch, source steps, num_hiddens), the hidden state
            of the decoder, shape (num_layers, batch, num_hiddens), and enc_valid_lens.
        """
        outputs, hidden_state = enc_outputs
        return outputs.transpose(0, 1), hidden_state, enc_valid_lens

    def forward(self, X: Tensor, state: Any) -> tuple[Tensor, list[Any]]:
        """Decode the next tokens, one after the other: the question depends on the hidden state before.

        Args:
            X: tokens, shape (batch, steps), at least one step.
            state: what `init_state` or the forward before returned.

        Returns:
            Scores of shape (batch, steps, vocab_size), and the state after them.
        """
        enc_outputs, hidden_state, enc_valid_lens = state
        outputs, self._attention_weights = [], []
        for x in embed(self.embedding, X).transpose(0, 1):  # (batch, embed_size)
            query = hidden_state[-1].unsqueeze(1)  # (batch, 1, num_hiddens)
            # the source tokens that matter now, shape (batch, 1, num_hiddens)
            context = self.attention(query, enc_outputs, enc_outputs, enc_valid_lens)
            self._attention_weights.append(self.attention.attention_weights)
            step = torch.cat((context, x.unsqueeze(1)), dim=-1)  # (batch, 1, num_hiddens + embed_size)
            output, hidden_state = self.rnn(step.transpose(0, 1), hidden_state)  # (1, batch, num_hiddens)
            outputs.append(output)
        scores = self.dense(torch.cat(outputs))  # (steps, batch, vocab_size)
        return scores.transpose(0, 1), [enc_outputs, hidden_state, enc_valid_lens]

    @property
    def attention_weights(self) -> list[Tensor]:
        """Weights of the last forward, without a graph: for each step (batch, 1, source steps)."""
        return self._attention_weights


def recorded_translations(**which: Any) -> list[dict[str, Any]]:
    """Return how the recurrent model and the Transformer fared on the same 600 pairs, several seeds each.

    `python3 course.py bench --section translation --record` trains them again: 100 epochs, 2 layers, batches
    of 64, as many parameters within 5 %.

    Args:
        which: values that a row must have, such as `target="fr"`; left out, all rows.

    Returns:
        One dict a training: device, model (`"Transformer"`, `"recurrent"`), pairs (`"sample"`: those of
        `sample_rows(600, 0)`; `"first"`: the first 600; `"validation"`: the sample, measured on 209 other
        pairs in place of the held-out sentences), target, seed, rate, parameters, tokens_per_second (target
        tokens, while training), sentences_per_second (greedy, one at a time), losses (of each epoch, in nats
        a target token). Then, for `"trained"` (every sixth sentence trained on), `"known"` (new, all words
        known, and an answer that the target vocabulary can write) and `"unknown"` (other new ones): their
        number, and with `_bleu` and `_exact` the mean BLEU (k = 2) and the share that equals an answer;
        and `new_bleu`, over both kinds of new ones.

    Example:
        >>> rows = recorded_translations(model="recurrent", pairs="sample")
        >>> {row["model"] for row in rows}, len(rows[0]["losses"])
        ({'recurrent'}, 100)
    """
    texts, rows = ("device", "model", "pairs", "target"), []
    with (files("d2lmini") / "assets" / "translation.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            losses = [float(loss) for loss in line.pop("losses").split()]
            row: dict[str, Any] = {
                name: value if name in texts else float(value) for name, value in line.items()
            }
            total = row["known"] * row["known_bleu"] + row["unknown"] * row["unknown_bleu"]
            row |= {"losses": losses, "new_bleu": total / (row["known"] + row["unknown"])}
            if all(row[name] == value for name, value in which.items()):
                rows.append(row)
    return rows


def recorded_spread(key: str, digits: int = 2, **which: Any) -> str:
    """Return the median of recorded trainings, with the lowest and the highest in brackets.

    Args:
        key: what of them, such as `"known_bleu"`.
        digits: decimals.
        which: as in `recorded_translations`.

    Example:
        >>> recorded_spread("trained", 0, model="recurrent")
        '100 (100–100)'
    """
    found = sorted(row[key] for row in recorded_translations(**which))
    middle, low, high = (f"{value:.{digits}f}" for value in (found[len(found) // 2], found[0], found[-1]))
    return f"{middle} ({low}–{high})"
