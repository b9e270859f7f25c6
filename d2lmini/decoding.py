"""Let a trained model translate, by greedy or by beam search, and score what it says by BLEU."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from d2lmini.data import Vocab, join_tokens, special_token, split_tokens, truncate_pad

# ---- translating


def predict_seq2seq(
    net: Any,
    src_sentence: str,
    src_vocab: Vocab,
    tgt_vocab: Vocab,
    num_steps: int,
    device: torch.device | str,
    save_attention_weights: bool = False,
) -> tuple[str, list[Any]]:
    """Translate a sentence by greedy search: at each step the token with the highest score.

    Args:
        net: a trained `EncoderDecoder`, on `device`.
        src_sentence: the sentence, in any writing that `split_tokens` understands.
        src_vocab: vocabulary of the source.
        tgt_vocab: vocabulary of the target.
        num_steps: the source is cut or padded to this many tokens, and the translation has at most as many.
        device: where `net` is.
        save_attention_weights: also return the decoder's attention weights.

    Returns:
        The translation, its tokens joined by `join_tokens`; and for each step what
        `net.decoder.attention_weights` was, or an empty list.

    Raises:
        ValueError: `num_steps` is less than 1, or a vocabulary lacks `<pad>`, `<bos>` or `<eos>`.

    Source: D2L 0.17, `d2l.predict_seq2seq`.

    Example:
        >>> import d2lmini as d2l
        >>> vocab = d2l.Vocab([["go", "."]], reserved_tokens=["<pad>", "<bos>", "<eos>"])
        >>> net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(6, 4, 4, 1), d2l.Seq2SeqAttentionDecoder(6, 4, 4, 1))
        >>> translation, weights = predict_seq2seq(net, "Go.", vocab, vocab, 5, "cpu")
        >>> isinstance(translation, str), weights
        (True, [])
    """
    words: list[int] = []
    weights: list[Any] = []
    bos, eos = (special_token("tgt_vocab", tgt_vocab, token) for token in ("<bos>", "<eos>"))
    with _translating(net) as decoder:
        state = _encode(net, src_sentence, src_vocab, num_steps, device)
        dec_X = torch.tensor([[bos]], device=device)  # (batch 1, one token)
        for _ in range(num_steps):
            Y, state = decoder(dec_X, state)
            dec_X = Y[:, -1:].argmax(dim=2)  # (1, 1)
            if save_attention_weights:
                weights.append(decoder.attention_weights)
            word = int(dec_X.item())
            if word == eos:
                break
            words.append(word)
    return join_tokens(tgt_vocab.to_tokens(words)), weights


def beam_search(
    net: Any,
    src_sentence: str,
    src_vocab: Vocab,
    tgt_vocab: Vocab,
    num_steps: int,
    device: torch.device | str,
    beam_size: int = 4,
    alpha: float = 0.75,
) -> list[tuple[str, float]]:
    """Translate a sentence by beam search: at each step the `beam_size` most probable beginnings are kept.

    The first six arguments, and their errors, are those of `predict_seq2seq`. With a `beam_size` of 1 this is
    greedy search. The log-probability of a translation of L tokens (`<eos>` counted) is divided by L to the
    power `alpha`, so that long ones are not at a disadvantage; with 0 it is left as it is. The search ends
    when no beginning that is kept can still come among the best `beam_size`.

    Returns:
        Up to `beam_size` translations with their scores, the best first.

    Raises:
        ValueError: `beam_size` is less than 1, or `alpha` less than 0.

    Source: Dive into Deep Learning, 10.8 "Beam Search"; the length penalty is theirs.

    Example:
        >>> import d2lmini as d2l
        >>> vocab = d2l.Vocab([["go", "."]], reserved_tokens=["<pad>", "<bos>", "<eos>"])
        >>> net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(6, 4, 4, 1), d2l.Seq2SeqAttentionDecoder(6, 4, 4, 1))
        >>> scores = [score for _, score in beam_search(net, "go .", vocab, vocab, 5, "cpu", beam_size=3)]
        >>> scores == sorted(scores, reverse=True)
        True
    """
    tree = beam_tree(
        net, src_sentence, src_vocab, tgt_vocab, num_steps, device, beam_size=beam_size, alpha=alpha
    )
    return [
        (join_tokens(token for token in tree.tokens(node) if token != "<eos>"), score)
        for score, node in tree.finished
    ]


@dataclass(frozen=True)
class BeamNode:
    """A token that a beam search looked at, and with it the beginning of a translation that ends there.

    Attributes:
        token: the token.
        step: its place in the translation, 1 for the first token.
        parent: the node of the token before it; None at step 1.
        log_prob: log-probability of the whole beginning.
        kept: whether it is among the beginnings that live on, or end here with `<eos>`.

    Example:
        >>> BeamNode("va", step=1, parent=None, log_prob=0.0, kept=True).token
        'va'
    """

    token: str
    step: int
    parent: int | None
    log_prob: float
    kept: bool


@dataclass(frozen=True)
class BeamTree:
    """What a beam search looked at, what it kept, and what it ended with.

    Attributes:
        nodes: step by step, and in each step the most probable beginning first.
        finished: score and last node of each translation, the best first.

    Example:
        >>> first = BeamNode("va", step=1, parent=None, log_prob=-0.1, kept=True)
        >>> last = BeamNode("<eos>", step=2, parent=0, log_prob=-0.2, kept=True)
        >>> BeamTree(nodes=[first, last], finished=[(-0.1, 1)]).tokens(1)
        ['va', '<eos>']
    """

    nodes: list[BeamNode]
    finished: list[tuple[float, int]]

    def path(self, node: int) -> list[int]:
        """Return the nodes of a beginning, from its first token to `node`."""
        parent = self.nodes[node].parent
        return [*([] if parent is None else self.path(parent)), node]

    def tokens(self, node: int) -> list[str]:
        """Return the tokens of a beginning, from the first to that of `node`."""
        return [self.nodes[step].token for step in self.path(node)]


def beam_tree(
    net: Any,
    src_sentence: str,
    src_vocab: Vocab,
    tgt_vocab: Vocab,
    num_steps: int,
    device: torch.device | str,
    beam_size: int = 4,
    alpha: float = 0.75,
) -> BeamTree:
    """Search as `beam_search` does, which calls this, and return all that was looked at on the way.

    Arguments and errors are those of `beam_search`.

    Example:
        >>> import d2lmini as d2l
        >>> vocab = d2l.Vocab([["go", "."]], reserved_tokens=["<pad>", "<bos>", "<eos>"])
        >>> net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(6, 4, 4, 1), d2l.Seq2SeqAttentionDecoder(6, 4, 4, 1))
        >>> tree = beam_tree(net, "go .", vocab, vocab, 5, "cpu", beam_size=2)
        >>> [(node.step, node.kept) for node in tree.nodes[:2]]
        [(1, True), (1, True)]
    """
    if beam_size < 1:
        raise ValueError(f"beam_size: got {beam_size}; keep 1 beginning or more")
    if not alpha >= 0:
        raise ValueError(f"alpha: got {alpha}; with 0 or more long translations are not at a disadvantage")
    bos, eos = (special_token("tgt_vocab", tgt_vocab, token) for token in ("<bos>", "<eos>"))
    nodes: list[BeamNode] = []
    finished: list[tuple[float, int]] = []
    with _translating(net) as decoder:
        state = _encode(net, src_sentence, src_vocab, num_steps, device)
        beams: list[tuple[float, int | None, int, Any]] = [(0.0, None, bos, state)]
        for step in range(1, num_steps + 1):
            longer = []  # log-probability, node, last token and state, as in beams
            for log_prob, node, last, state in beams:
                # copied: the decoder writes into its state, and this one may be continued in several ways
                Y, after = decoder(torch.tensor([[last]], device=device), _copied(state))
                best = Y[0, -1].log_softmax(dim=0).topk(min(beam_size, len(tgt_vocab)))
                for more, word in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                    longer.append((log_prob + more, node, word, after))
            longer.sort(key=lambda beam: beam[0], reverse=True)
            beams = []
            for rank, (log_prob, parent, word, state) in enumerate(longer):
                kept = rank < beam_size
                nodes.append(BeamNode(tgt_vocab.to_tokens(word), step, parent, log_prob, kept))
                if kept and word == eos:
                    finished.append((log_prob / step**alpha, len(nodes) - 1))
                elif kept:
                    beams.append((log_prob, len(nodes) - 1, word, state))
            # however a beginning goes on, its score will not exceed this: probabilities only shrink
            best_to_come = max((log_prob for log_prob, *_ in beams), default=-math.inf) / num_steps**alpha
            if not beams or sum(score >= best_to_come for score, _ in finished) >= beam_size:
                break
        if len(finished) < beam_size:  # no room for more tokens: unfinished translations count as they are
            finished += [
                (log_prob / num_steps**alpha, node) for log_prob, node, *_ in beams if node is not None
            ]
    finished.sort(key=lambda translation: translation[0], reverse=True)
    return BeamTree(nodes, finished[:beam_size])


@contextmanager
def _translating(net: Any) -> Iterator[Any]:
    """Give the decoder, in evaluation mode and without gradients; restore the mode afterwards."""
    was_training = net.training
    net.eval()
    try:
        with torch.no_grad():
            yield net.decoder
    finally:
        net.train(was_training)


def _encode(net: Any, sentence: str, vocab: Vocab, num_steps: int, device: torch.device | str) -> Any:
    """Return the decoder's state before the first token of a translation."""
    if num_steps < 1:
        raise ValueError(f"num_steps: got {num_steps}; a sentence needs room for 1 token or more")
    eos, pad = (special_token("src_vocab", vocab, token) for token in ("<eos>", "<pad>"))
    tokens = [*vocab[split_tokens(sentence)], eos]
    valid_len = torch.tensor([min(len(tokens), num_steps)], device=device)
    enc_X = torch.tensor([truncate_pad(tokens, num_steps, pad)], device=device)
    return net.decoder.init_state(net.encoder(enc_X, valid_len), valid_len)


def _copied(state: Any) -> Any:
    """Return a state with lists of its own; tensors are shared, because decoders never write into them."""
    return [_copied(part) for part in state] if isinstance(state, list) else state


# ---- scoring


def bleu(pred_seq: str, label_seq: str | Sequence[str], k: int) -> float:
    r"""Score a translation: 1 for the reference itself, 0 if its n-grams of some length all miss.

    With $p_n$ the share of the n-grams of the prediction that occur in the reference too (each counts there
    once at most), the score is $\exp(\min(0, 1 - \mathrm{len}_\mathrm{label}/\mathrm{len}_\mathrm{pred}))
    \prod_{n=1}^{k} p_n^{1/2^n}$: long n-grams are harder to match and weigh less, and a translation that is
    too short is penalized.

    Where D2L divides by zero: an empty prediction scores 0, and a prediction too short for n-grams has
    $p_n=0$, unless the reference is too short as well; then that n is left out.

    Args:
        pred_seq: the prediction; split by `split_tokens`, so that spaces around punctuation do not matter.
        label_seq: the reference, or several; the best score counts.
        k: the longest n-grams to look at, at least 1.

    Returns:
        A number from 0 to 1.

    Raises:
        ValueError: `k` is less than 1, or there is no reference or an empty one.

    Source: Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, 2002; the weights
    are those of D2L 0.17, `d2l.bleu`.

    Example:
        3 of 5 unigrams and 2 of 4 bigrams match; lengths 6 and 5 make the first factor exp(1 - 6/5):

        >>> round(bleu("a b c e f", "a b c d g h", k=2), 4)
        0.5333
        >>> round(math.exp(1 - 6 / 5) * (3 / 5) ** (1 / 2) * (2 / 4) ** (1 / 4), 4)
        0.5333
        >>> bleu("va !", "va !", k=4), bleu("", "va !", k=2)
        (1.0, 0.0)
    """
    if k < 1:
        raise ValueError(f"k: got {k}; look at n-grams of 1 token or more")
    references = [label_seq] if isinstance(label_seq, str) else list(label_seq)
    labels = [split_tokens(reference) for reference in references]
    if not labels or not all(labels):
        raise ValueError(f"label_seq: got {label_seq!r}; a reference has 1 token or more")
    pred = split_tokens(pred_seq)
    return max(_bleu(pred, label, k) for label in labels) if pred else 0.0


def _bleu(pred: list[str], label: list[str], k: int) -> float:
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, k + 1):
        if n > len(pred):
            if n > len(label):
                break
            return 0.0
        wanted = Counter(tuple(label[i : i + n]) for i in range(len(label) - n + 1))
        said = Counter(tuple(pred[i : i + n]) for i in range(len(pred) - n + 1))
        matches = (wanted & said).total()
        score *= (matches / said.total()) ** (0.5**n)
    return score


def score_sentences(
    net: Any,
    sentences: Sequence[tuple[str, Sequence[str]]],
    src_vocab: Vocab,
    tgt_vocab: Vocab,
    num_steps: int,
    device: torch.device | str,
) -> Tensor:
    """Translate sentences by greedy search, and return the BLEU (k = 2) of each, shape (sentences,).

    Args:
        net: a trained `EncoderDecoder`, on `device`.
        sentences: source sentences with their references.
        src_vocab: vocabulary of the source.
        tgt_vocab: vocabulary of the target.
        num_steps: room for a sentence, as in `predict_seq2seq`, whose errors these are.
        device: where `net` is.

    Example:
        >>> import d2lmini as d2l
        >>> translator = d2l.load_translator("en", "fr")
        >>> vocabularies = translator.src_vocab, translator.tgt_vocab
        >>> asked = [("He's calm.", ["Il est calme."]), ("He's calm.", ["Chat !"])]
        >>> score_sentences(translator.net, asked, *vocabularies, 10, "cpu")
        tensor([1., 0.])
    """
    said = (predict_seq2seq(net, one, src_vocab, tgt_vocab, num_steps, device)[0] for one, _ in sentences)
    return torch.tensor([bleu(one, answers, k=2) for one, (_, answers) in zip(said, sentences, strict=True)])
