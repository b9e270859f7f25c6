"""Let a language model write: what it may choose from, and the loop that chooses."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F


def token_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Turn scores into the probabilities to draw the next token from.

    Args:
        logits: a score for each token, shape (..., vocabulary).
        temperature: scores are divided by it: below 1 the probable become more so, above 1 all come closer.
        top_k: only the `top_k` most probable tokens keep their probability; 1 always takes the best. Of
            tokens equally probable the first in the vocabulary stay.
        top_p: only the most probable tokens keep theirs, as few as together have at least `top_p`. It looks
            at what temperature and `top_k` have left; 1 leaves it all.

    Returns:
        Shape (..., vocabulary); each row sums to 1.

    Raises:
        ValueError: `temperature` is not above 0, `top_k` below 1, or `top_p` not in (0, 1].

    Source: Fan, Lewis & Dauphin, Hierarchical Neural Story Generation, 2018 (top-k); Holtzman et al., The
    Curious Case of Neural Text Degeneration, 2020 (top-p).

    Example:
        >>> logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
        >>> token_probabilities(logits, top_p=0.65)  # 0.4 is not enough, 0.4 + 0.3 is
        tensor([0.5714, 0.4286, 0.0000, 0.0000])
        >>> token_probabilities(logits, temperature=0.5)  # squares, scaled to sum 1
        tensor([0.5333, 0.3000, 0.1333, 0.0333])
    """
    if not temperature > 0:  # nor if it is no number
        raise ValueError(
            f"temperature: got {temperature}; scores are divided by it, so it is above 0. "
            "For the most probable token each time, set top_k=1"
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: got {top_k}; at least 1 token must stay. Set 1 or more, or leave it out")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p: got {top_p}; it is a share of 1. Choose from (0, 1], or leave it out")
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()  # sums of many tokens need more digits
    # the best is 0, so that a small temperature sends the others to -inf and nothing to inf
    probabilities = F.softmax((logits - logits.amax(dim=-1, keepdim=True)) / temperature, dim=-1)
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    ranked = probabilities.gather(-1, order)  # (..., vocabulary), the most probable first
    keep = torch.ones_like(ranked, dtype=torch.bool)
    if top_k is not None:
        keep[..., top_k:] = False
    if top_p is not None and top_p < 1:
        ranked = ranked * keep / (ranked * keep).sum(dim=-1, keepdim=True)
        # what stands before a token must not be enough already; 0.1 + 0.2 is not quite 0.3 in floats
        before = ranked.cumsum(dim=-1) - ranked
        keep &= before < top_p - 1e-6
        keep[..., 0] = True  # however small top_p
    ranked = ranked * keep
    return torch.zeros_like(probabilities).scatter(-1, order, ranked / ranked.sum(dim=-1, keepdim=True))


@torch.no_grad()
def generate(
    net: Any,
    beginning: Sequence[int],
    num_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    stop: int | None = None,
    cached: bool = True,
) -> list[int]:
    """Let a language model go on with a text, one token after the other.

    Args:
        net: a `LanguageModel`, or another module that is called and answers like one.
        beginning: numbers of the tokens to go on from, at least one.
        num_tokens: how many tokens to write at most.
        temperature: as in `token_probabilities`.
        top_k: the same.
        top_p: the same.
        generator: what to draw from, on the CPU; PyTorch's own if it is left out.
        stop: a token after which the text ends, as `<eos>`.
        cached: keep keys and values of what was read; the text is the same without, and takes longer.

    Returns:
        The tokens after the beginning, `stop` included if it came.

    Raises:
        ValueError: `beginning` is empty or `num_tokens` negative; or as in `token_probabilities`.
        IndexError: `beginning` has a token that the model does not have.

    Example:
        >>> import d2lmini as d2l
        >>> model = d2l.LanguageModel(20, 8, [d2l.PreNormBlock(8, 2, d2l.PositionWiseFFN(8, 32, 8))])
        >>> text = generate(model, [3, 1, 4], 10, top_k=1)
        >>> len(text), text == generate(model, [3, 1, 4], 10, top_k=1, cached=False)
        (10, True)
    """
    if not len(beginning):
        raise ValueError("beginning: it is empty; a model goes on from 1 token or more, as <bos>")
    if num_tokens < 0:
        raise ValueError(f"num_tokens: got {num_tokens}; write 0 tokens or more")
    chosen = (temperature, top_k, top_p)
    token_probabilities(torch.zeros(1), *chosen)  # refused before anything is computed
    device = next(net.parameters()).device
    text, unread, state = list(beginning), list(beginning), None
    while len(text) < len(beginning) + num_tokens:
        Y, state = net(torch.tensor([unread], device=device), state)  # (1, unread, vocabulary)
        probabilities = token_probabilities(Y[0, -1].cpu(), *chosen)  # (vocabulary,)
        text.append(int(probabilities.multinomial(1, generator=generator)))
        if text[-1] == stop:
            break
        unread, state = (text[-1:], state) if cached else (text, None)
    return text[len(beginning) :]
