"""The frame of a translator: an encoder reads the source, a decoder writes the target.

The Transformer and the recurrent models fill it, and so can a model of your own.
"""

from typing import Any

import torch
from torch import Tensor, nn


class Encoder(nn.Module):
    """Base class: turns a source sequence into what a decoder reads.

    Example:
        >>> class Lengths(Encoder):
        ...     def forward(self, X, *args):
        ...         return X.shape[1]
        >>> Lengths()(torch.zeros(2, 7))
        7
    """

    def forward(self, X: Tensor, *args: Any) -> Any:
        """Encode X, (batch, source steps); `args` holds its valid lengths.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define forward(X, *args)")


class Decoder(nn.Module):
    """Base class: writes a target sequence, from a state that begins with what the encoder read.

    Example:
        >>> Decoder().init_state(None)
        Traceback (most recent call last):
        NotImplementedError: Decoder does not define init_state(enc_outputs, *args)
    """

    def init_state(self, enc_outputs: Any, *args: Any) -> Any:
        """Make the first state from the output of the encoder.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define init_state(enc_outputs, *args)")

    def forward(self, X: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Decode X, (batch, target steps), and return the output with the state after it.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define forward(X, state)")


class AttentionDecoder(Decoder):
    """Base class of decoders whose attention can be looked at.

    Example:
        >>> AttentionDecoder().attention_weights
        Traceback (most recent call last):
        NotImplementedError: AttentionDecoder does not define attention_weights
    """

    @property
    def attention_weights(self) -> Any:
        """Weights of the last forward.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define attention_weights")


class EncoderDecoder(nn.Module):
    """An encoder and a decoder, trained together.

    Args:
        encoder: reads the source.
        decoder: writes the target.

    Source: Sutskever, Vinyals & Le, Sequence to Sequence Learning with Neural Networks, 2014.

    Example:
        >>> import d2lmini as d2l
        >>> sizes = (8, 8, 8, 8, [8], 8, 16, 2, 1, 0.0)
        >>> net = EncoderDecoder(d2l.TransformerEncoder(20, *sizes), d2l.TransformerDecoder(30, *sizes))
        >>> source, target = torch.ones(2, 7, dtype=torch.long), torch.ones(2, 5, dtype=torch.long)
        >>> output, state = net(source, target, torch.tensor([7, 3]))
        >>> output.shape
        torch.Size([2, 5, 30])
    """

    def __init__(self, encoder: Encoder, decoder: Decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, enc_X: Tensor, dec_X: Tensor, *args: Any) -> tuple[Tensor, Any]:
        """Encode enc_X, decode dec_X.

        Args:
            enc_X: source tokens, shape (batch, source steps).
            dec_X: target tokens, shape (batch, target steps).
            args: the valid lengths of the sources, shape (batch,).

        Returns:
            What the decoder returns: scores of shape (batch, target steps, vocabulary), and its state.
        """
        enc_outputs = self.encoder(enc_X, *args)
        return self.decoder(dec_X, self.decoder.init_state(enc_outputs, *args))


def embed(embedding: nn.Embedding, tokens: Tensor) -> Tensor:
    """Look up the vectors of tokens, and say in words what is wrong with numbers that are none."""
    if tokens.dtype not in (torch.int64, torch.int32):
        raise TypeError(
            f"X: got {tokens.dtype}; a token is its integer in a vocabulary. Convert them with X.long()"
        )
    try:
        vectors: Tensor = embedding(tokens)
    except IndexError:  # on a GPU it is CUDA's own error: to look first would be to wait for the numbers
        least, most = tokens.min().item(), tokens.max().item()
        raise IndexError(
            f"X: got tokens from {least} to {most}; this model knows 0 to {embedding.num_embeddings - 1}. "
            "Make it with the length of the vocabulary that the tokens are from"
        ) from None
    return vectors
