"""Teach a sequence-to-sequence model, let it translate, and score what it says.

Read from top to bottom: the loss that leaves out padding, the training loop, greedy and beam search, BLEU.
"""

import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from d2lmini.attention import sequence_mask
from d2lmini.data import Vocab, join_tokens, split_tokens, truncate_pad

# -- the loss ------------------------------------------------------------------------------------------------


class MaskedSoftmaxCELoss(nn.CrossEntropyLoss):
    """Softmax cross-entropy of sequences, in which padding counts nothing.

    Source: D2L 0.17, ``d2l.MaskedSoftmaxCELoss``.

    Example:
        >>> loss = MaskedSoftmaxCELoss()
        >>> loss(torch.ones(3, 4, 10), torch.ones((3, 4), dtype=torch.long), torch.tensor([4, 2, 0]))
        tensor([2.3026, 1.1513, 0.0000])
    """

    def forward(self, pred: Tensor, label: Tensor, valid_len: Tensor) -> Tensor:  # type: ignore[override]
        """Return one loss for each sequence.

        Args:
            pred: scores (logits), shape (batch, steps, vocabulary).
            label: the right tokens, shape (batch, steps).
            valid_len: how many of the labels count, shape (batch,).

        Returns:
            The cross-entropies of the tokens that count, in nats, added up and divided by `steps`: shape
            (batch,). As in D2L the divisor is the number of steps, padding included.
        """
        unweighted = F.cross_entropy(pred.transpose(1, 2), label, reduction="none")  # (batch, steps)
        return sequence_mask(unweighted, valid_len, value=0.0).mean(dim=1)


def grad_clipping(net: Any, theta: float) -> None:
    """Scale all gradients down together where their norm is larger than `theta`.

    Args:
        net: a module, or an object with a list of tensors ``params``.
        theta: the largest norm allowed.

    Raises:
        ValueError: `theta` is not positive.

    Source: D2L 0.17, ``d2l.grad_clipping``.

    Example:
        >>> net = nn.Linear(2, 1, bias=False)
        >>> net.weight.grad = torch.tensor([[3.0, 4.0]])
        >>> grad_clipping(net, 1)
        >>> net.weight.grad
        tensor([[0.6000, 0.8000]])
    """
    if theta <= 0:
        raise ValueError(f"theta: got {theta}; the largest norm allowed is positive")
    params = list(net.parameters()) if isinstance(net, nn.Module) else net.params
    nn.utils.clip_grad_norm_(params, theta)


class Accumulator:
    """Sums of several numbers.

    Args:
        n: how many sums.

    Source: D2L 0.17, ``d2l.Accumulator``.

    Example:
        >>> sums = Accumulator(2)
        >>> sums.add(1, 10)
        >>> sums.add(2, 20)
        >>> sums[0], sums[1]
        (3.0, 30.0)
    """

    def __init__(self, n: int) -> None:
        self.data = [0.0] * n

    def add(self, *args: Any) -> None:
        """Add one number to each sum.

        Raises:
            ValueError: there are more or fewer numbers than sums.
        """
        if len(args) != len(self.data):
            raise ValueError(f"args: got {len(args)} numbers for {len(self.data)} sums")
        self.data = [total + float(number) for total, number in zip(self.data, args, strict=True)]

    def reset(self) -> None:
        """Set all sums to 0."""
        self.data = [0.0] * len(self.data)

    def __getitem__(self, idx: int) -> float:
        return self.data[idx]


class Timer:
    """A stopwatch that remembers; it runs from the start.

    Attributes:
        times: all times taken, in seconds.

    Source: D2L 0.17, ``d2l.Timer``.

    Example:
        >>> timer = Timer()
        >>> timer.stop() == timer.sum()
        True
    """

    def __init__(self) -> None:
        self.times: list[float] = []
        self.start()

    def start(self) -> None:
        """Start the watch anew."""
        self._begin = time.perf_counter()

    def stop(self) -> float:
        """Take the time since the last start, and return it in seconds."""
        self.times.append(time.perf_counter() - self._begin)
        return self.times[-1]

    def avg(self) -> float:
        """Return the mean of all times, in seconds."""
        return sum(self.times) / len(self.times)

    def sum(self) -> float:
        """Return the sum of all times, in seconds."""
        return sum(self.times)

    def cumsum(self) -> list[float]:
        """Return the running sums of the times, in seconds."""
        return torch.tensor(self.times, dtype=torch.float64).cumsum(0).tolist()


# -- training ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Training:
    """What came out of `train_seq2seq`.

    Attributes:
        losses: after each epoch, the mean cross-entropy of a target token, in nats. D2L prints this number
            divided by `num_steps`.
        tokens_per_second: target tokens, padding not counted.
        device: where the model was trained, and is now.

    Example:
        >>> Training(losses=[2.5, 1.5], tokens_per_second=1000.0, device=torch.device("cpu"))
        Training of 2 epochs: see .losses, .tokens_per_second and .device
    """

    losses: list[float]
    tokens_per_second: float
    device: torch.device

    def __repr__(self) -> str:  # the same on every machine, so that a notebook's output can be compared
        return f"Training of {len(self.losses)} epochs: see .losses, .tokens_per_second and .device"


def train_seq2seq(
    net: nn.Module,
    data_iter: Iterable[Sequence[Tensor]],
    lr: float,
    num_epochs: int,
    tgt_vocab: Vocab,
    device: torch.device | str,
) -> Training:
    """Train an encoder-decoder by teacher forcing, with a curve of the loss that grows meanwhile.

    The steps are those of D2L: weights drawn by Xavier, Adam, gradients clipped to norm 1. They take less
    time: a batch is cut to its longest sentence, Adam is one fused kernel, and no step waits for a number.

    Args:
        net: an `EncoderDecoder`; ``net(source, decoder input, source valid lengths)`` returns scores and a
            state.
        data_iter: minibatches (source, source valid lengths, target, target valid lengths), see
            `load_data_nmt`.
        lr: learning rate.
        num_epochs: how often to go through the data.
        tgt_vocab: has ``<bos>``.
        device: where to train; `net` is moved there.

    Returns:
        The losses and the speed.

    Raises:
        ValueError: `num_epochs` is less than 1, `lr` is not positive, or `data_iter` is empty.

    Source: D2L 0.17, ``d2l.train_seq2seq``, which returns nothing.

    Example:
        >>> import d2lmini as d2l
        >>> _ = torch.manual_seed(0)
        >>> batches, source_vocab, target_vocab = d2l.load_data_nmt(8, num_steps=8, num_examples=8)
        >>> encoder = d2l.Seq2SeqEncoder(len(source_vocab), 8, 16, num_layers=1)
        >>> decoder = d2l.Seq2SeqAttentionDecoder(len(target_vocab), 8, 16, num_layers=1)
        >>> net = d2l.EncoderDecoder(encoder, decoder)
        >>> training = train_seq2seq(net, batches, 0.01, 20, target_vocab, "cpu")
        >>> training.losses[-1] < training.losses[0]
        True
    """
    if num_epochs < 1:
        raise ValueError(f"num_epochs: got {num_epochs}; train 1 epoch or more")
    if lr <= 0:
        raise ValueError(f"lr: got {lr}; a learning rate is positive")
    device = torch.device(device)
    net.apply(_draw_weights)
    net.to(device)
    net.train()
    parameters = list(net.parameters())  # once: walking through the modules at every step costs a twentieth
    optimizer = torch.optim.Adam(parameters, lr=lr, fused=device.type in ("cpu", "cuda"))
    # a recurrent encoder reads padding, too, and has to meet as much of it here as in a translation
    recurrent = any(isinstance(module, nn.RNNBase) for module in net.modules())
    progress = _Progress(num_epochs)
    timer, losses, seconds, tokens = Timer(), [], 0.0, 0
    for epoch in range(1, num_epochs + 1):
        timer.start()
        total, count = torch.zeros((), device=device), 0
        for batch in data_iter:
            X, X_valid_len, Y, Y_valid_len = _trimmed(batch, source=not recurrent)
            num_steps = batch[2].shape[1]
            # what must not count gets the label that cross_entropy leaves out
            label = sequence_mask(Y, Y_valid_len, value=-100).to(device, non_blocking=True)
            bos = torch.full((len(Y), 1), tgt_vocab["<bos>"], dtype=Y.dtype, device=Y.device)
            dec_input = torch.cat((bos, Y[:, :-1]), dim=1).to(device, non_blocking=True)
            X, X_valid_len = X.to(device, non_blocking=True), X_valid_len.to(device, non_blocking=True)
            Y_hat, _ = net(X, dec_input, X_valid_len)  # (batch, steps, vocabulary)
            loss = F.cross_entropy(Y_hat.flatten(0, 1), label.flatten(), reduction="sum")
            optimizer.zero_grad(set_to_none=True)
            (loss / num_steps).backward()  # D2L's scale, which the clipping below sees
            nn.utils.clip_grad_norm_(parameters, 1)
            optimizer.step()
            total += loss.detach()  # stays on the device: .item() would wait for every step
            count += int(Y_valid_len.sum())
        if not count:
            raise ValueError("data_iter: it gave no target token to learn from")
        losses.append(total.item() / count)
        seconds, tokens = seconds + timer.stop(), tokens + count
        progress.show(epoch, losses[-1])
    return Training(losses, tokens / seconds, device)


def _draw_weights(module: nn.Module) -> None:
    """Draw the weights of linear layers and GRUs anew, by Xavier's rule, as D2L does."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    if isinstance(module, nn.GRU):
        for name, parameter in module.named_parameters():
            if "weight" in name:
                nn.init.xavier_uniform_(parameter)


def _trimmed(batch: Sequence[Tensor], source: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Cut the target, and the source if asked, to the longest sentence: the rest is padding in every row."""
    X, X_valid_len, Y, Y_valid_len = batch
    if source:
        X = X[:, : int(X_valid_len.max())]
    return X, X_valid_len, Y[:, : int(Y_valid_len.max())], Y_valid_len


class _Progress:
    """The loss while a model trains: a curve in a notebook, a line in a terminal, nothing elsewhere."""

    def __init__(self, num_epochs: int) -> None:
        self.num_epochs = num_epochs
        self.every = max(1, num_epochs // 50)
        self.animator: Any = None
        if "IPython" in sys.modules and hasattr(sys.modules["IPython"].get_ipython(), "kernel"):
            from d2lmini.notebook.plotting import Animator

            self.animator = Animator("epoch", "loss", xlim=[1, max(2, num_epochs)], figsize=(4.5, 2.5))

    def show(self, epoch: int, loss: float) -> None:
        if epoch % self.every and epoch not in (1, self.num_epochs):
            return
        if self.animator is not None:
            self.animator.add(epoch, loss)
        elif sys.stderr.isatty():
            end = "\n" if epoch == self.num_epochs else ""
            print(f"\repoch {epoch}/{self.num_epochs}, loss {loss:.3f}", end=end, file=sys.stderr, flush=True)


# -- translating ---------------------------------------------------------------------------------------------


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
        num_steps: how many tokens the source is cut or filled up to, and how many are said at most.
        device: where `net` is.
        save_attention_weights: return the decoder's attention weights, too.

    Returns:
        The translation, its tokens joined by `join_tokens`; and for each step what
        ``net.decoder.attention_weights`` was, or an empty list.

    Raises:
        ValueError: `num_steps` is less than 1.

    Source: D2L 0.17, ``d2l.predict_seq2seq``.

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
    with _Translating(net) as decoder, torch.no_grad():
        state = _encode(net, src_sentence, src_vocab, num_steps, device)
        dec_X = torch.tensor([[tgt_vocab["<bos>"]]], device=device)  # (batch 1, one token)
        for _ in range(num_steps):
            Y, state = decoder(dec_X, state)
            dec_X = Y[:, -1:].argmax(dim=2)  # (1, 1)
            if save_attention_weights:
                weights.append(decoder.attention_weights)
            word = int(dec_X.item())
            if word == tgt_vocab["<eos>"]:
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
    """Translate a sentence with the `beam_size` best beginnings kept at each step.

    Args:
        net: a trained `EncoderDecoder`, on `device`.
        src_sentence: the sentence.
        src_vocab: vocabulary of the source.
        tgt_vocab: vocabulary of the target.
        num_steps: how many tokens the source is cut or filled up to, and how many are said at most.
        device: where `net` is.
        beam_size: how many beginnings to keep; with 1 this is greedy search.
        alpha: the log-probability of a translation of L tokens (``<eos>`` counted) is divided by L to this
            power, so that long ones are not at a disadvantage; 0 leaves it as it is.

    Returns:
        Up to `beam_size` translations with their scores, the best first.

    Raises:
        ValueError: `beam_size` or `num_steps` is less than 1.

    Source: Dive into Deep Learning, 10.8 "Beam Search"; the length penalty is theirs.

    Example:
        >>> import d2lmini as d2l
        >>> vocab = d2l.Vocab([["go", "."]], reserved_tokens=["<pad>", "<bos>", "<eos>"])
        >>> net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(6, 4, 4, 1), d2l.Seq2SeqAttentionDecoder(6, 4, 4, 1))
        >>> scores = [score for _, score in beam_search(net, "go .", vocab, vocab, 5, "cpu", beam_size=3)]
        >>> scores == sorted(scores, reverse=True)
        True
    """
    if beam_size < 1:
        raise ValueError(f"beam_size: got {beam_size}; keep 1 beginning or more")
    eos = tgt_vocab["<eos>"]
    finished: list[tuple[float, list[int]]] = []
    with _Translating(net) as decoder, torch.no_grad():
        state = _encode(net, src_sentence, src_vocab, num_steps, device)
        beams: list[tuple[float, list[int], Any]] = [(0.0, [], state)]  # log-probability, tokens, state
        for _ in range(num_steps):
            longer = []
            for log_prob, words, state in beams:
                last = words[-1] if words else tgt_vocab["<bos>"]
                # the decoder writes into its state, and this one may be continued in several ways
                Y, after = decoder(torch.tensor([[last]], device=device), _copied(state))
                best = Y[0, -1].log_softmax(dim=0).topk(min(beam_size, len(tgt_vocab)))
                for step, word in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                    longer.append((log_prob + step, [*words, word], after))
            longer.sort(key=lambda beam: beam[0], reverse=True)
            beams = []
            for log_prob, words, state in longer[:beam_size]:
                if words[-1] == eos:
                    finished.append((log_prob / len(words) ** alpha, words[:-1]))
                else:
                    beams.append((log_prob, words, state))
            if not beams or len(finished) >= beam_size:
                break
        else:  # no room for more tokens: what is left, counts as it is
            finished += [(log_prob / len(words) ** alpha, words) for log_prob, words, _ in beams]
    finished.sort(key=lambda one: one[0], reverse=True)
    return [(join_tokens(tgt_vocab.to_tokens(words)), score) for score, words in finished[:beam_size]]


class _Translating:
    """Evaluation mode inside a `with` block; the mode that was, comes back afterwards. Gives the decoder."""

    def __init__(self, net: Any) -> None:
        self.net = net

    def __enter__(self) -> Any:
        self.was_training = self.net.training
        self.net.eval()
        return self.net.decoder

    def __exit__(self, *exception: object) -> None:
        self.net.train(self.was_training)


def _encode(net: Any, sentence: str, vocab: Vocab, num_steps: int, device: torch.device | str) -> Any:
    """Return the decoder's state before the first token of a translation."""
    if num_steps < 1:
        raise ValueError(f"num_steps: got {num_steps}; a sentence needs room for 1 token or more")
    tokens = [*vocab[split_tokens(sentence)], vocab["<eos>"]]
    valid_len = torch.tensor([min(len(tokens), num_steps)], device=device)
    enc_X = torch.tensor([truncate_pad(tokens, num_steps, vocab["<pad>"])], device=device)
    return net.decoder.init_state(net.encoder(enc_X, valid_len), valid_len)


def _copied(state: Any) -> Any:
    """Return a state whose lists are new; tensors are shared, for decoders never write into them."""
    return [_copied(part) for part in state] if isinstance(state, list) else state


# -- scoring -------------------------------------------------------------------------------------------------


def bleu(pred_seq: str, label_seq: str | Sequence[str], k: int) -> float:
    r"""Score a translation: 1 for the reference itself, 0 where no word or no longer sequence fits.

    With $p_n$ the share of the prediction's sequences of n tokens that the reference has, too (each counted
    there once at most), the score is $\exp(\min(0, 1 -
    \mathrm{len}_\mathrm{label}/\mathrm{len}_\mathrm{pred})) \prod_{n=1}^{k} p_n^{1/2^n}$: longer sequences
    are harder to hit and weigh more, and a translation that is too short pays for it.

    Where D2L divides by zero: an empty prediction scores 0, and a prediction too short for sequences of n
    tokens has $p_n=0$, unless the reference is too short as well; then that n is left out.

    Args:
        pred_seq: the prediction; split by `split_tokens`, so that spaces around punctuation do not matter.
        label_seq: the reference, or several: then the best score counts.
        k: the longest sequence that is looked at, in tokens.

    Returns:
        A number from 0 to 1.

    Raises:
        ValueError: `k` is less than 1, or there is no reference or an empty one.

    Source: Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, 2002; the weights
    are those of D2L 0.17, ``d2l.bleu``.

    Example:
        All five sequences of one token are found but "e" and "f" (3 of 5), two of four of two tokens; lengths
        6 and 5 make the first factor exp(1 - 6/5):

        >>> round(bleu("a b c e f", "a b c d g h", k=2), 4)
        0.5333
        >>> round(math.exp(1 - 6 / 5) * (3 / 5) ** (1 / 2) * (2 / 4) ** (1 / 4), 4)
        0.5333
        >>> bleu("va !", "va !", k=4), bleu("", "va !", k=2)
        (1.0, 0.0)
    """
    if k < 1:
        raise ValueError(f"k: got {k}; look at sequences of 1 token or more")
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
