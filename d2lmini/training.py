"""Train: the loss that leaves out padding, small tools, the loops of translators and of language models."""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from d2lmini.attention import sequence_mask
from d2lmini.data import Vocab, special_token

PAD = 1  # the number of <pad> in a Vocab of stories: the first after <unk>

# ---- the loss


class MaskedSoftmaxCELoss(nn.CrossEntropyLoss):
    """Softmax cross-entropy of sequences that leaves padding out.

    Source: D2L 0.17, `d2l.MaskedSoftmaxCELoss`.

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
        net: a module, or an object with a list of tensors `params`.
        theta: the largest norm allowed.

    Raises:
        ValueError: `theta` is not positive.

    Source: D2L 0.17, `d2l.grad_clipping`.

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

    Source: D2L 0.17, `d2l.Accumulator`.

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

    Source: D2L 0.17, `d2l.Timer`.

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
        """Return the mean of all times, in seconds.

        Raises:
            RuntimeError: no time was taken yet.
        """
        if not self.times:
            raise RuntimeError("times: no time was taken yet. Call stop() first")
        return sum(self.times) / len(self.times)

    def sum(self) -> float:
        """Return the sum of all times, in seconds."""
        return sum(self.times)

    def cumsum(self) -> list[float]:
        """Return the running sums of the times, in seconds."""
        return torch.tensor(self.times, dtype=torch.float64).cumsum(0).tolist()


# ---- training


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
    on_epoch: Callable[[int, float], None],
) -> Training:
    """Train an encoder-decoder by teacher forcing: the loop of `d2l.train_seq2seq`, which shows the loss.

    The steps are those of D2L: weights drawn by Xavier's rule, Adam, gradients clipped to norm 1. They take
    less time: a batch is cut to its longest sentence, Adam is one fused kernel, and there is no `.item()`
    inside the loop, so that the queue of a GPU never drains.

    Arguments, result and errors are those of `d2l.train_seq2seq`.
    """
    if num_epochs < 1:
        raise ValueError(f"num_epochs: got {num_epochs}; train 1 epoch or more")
    if lr <= 0:
        raise ValueError(f"lr: got {lr}; a learning rate is positive")
    begin = special_token("tgt_vocab", tgt_vocab, "<bos>")
    device = torch.device(device)
    net.apply(_draw_weights)
    net.to(device)
    net.train()
    parameters = list(net.parameters())  # once: walking through the modules at every step costs a twentieth
    optimizer = torch.optim.Adam(parameters, lr=lr, fused=device.type in ("cpu", "cuda"))
    # a recurrent encoder reads padding as well, and must meet as much of it here as in a translation, unless
    # it is packed
    recurrent = any(isinstance(module, nn.RNNBase) for module in net.modules())
    reads_padding = recurrent and not getattr(net.encoder, "packed", False)
    timer, losses, seconds, tokens = Timer(), [], 0.0, 0
    for epoch in range(1, num_epochs + 1):
        timer.start()
        total, count = torch.zeros((), device=device), 0
        for batch in data_iter:
            X, X_valid_len, Y, Y_valid_len = _trimmed(batch, source=not reads_padding)
            num_steps = batch[2].shape[1]
            # what must not count gets the label that cross_entropy leaves out
            label = sequence_mask(Y, Y_valid_len, value=-100).to(device, non_blocking=True)
            bos = torch.full((len(Y), 1), begin, dtype=Y.dtype, device=Y.device)
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
        on_epoch(epoch, losses[-1])
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


def train_language_model(
    net: nn.Module,
    X: Tensor,
    num_steps: int,
    lr: float,
    batch_size: int,
    on_step: Callable[[int, float], None],
) -> list[float]:
    """Train a model to name the next token: the loop of `d2l.train_language_model`, which shows the loss.

    Arguments, result and errors are those of `d2l.train_language_model`.
    """
    for name, least in (("num_steps", num_steps), ("batch_size", batch_size)):
        if least < 1:
            raise ValueError(f"{name}: got {least}; it is 1 or more")
    if lr <= 0:
        raise ValueError(f"lr: got {lr}; a learning rate is positive")
    if X.dim() != 2 or X.shape[1] < 2 or not len(X):
        raise ValueError(
            f"X: got shape {tuple(X.shape)}; texts have shape (texts, tokens), 2 tokens or more each. "
            "Give Stories.batch, or rows of your own"
        )
    device = next(net.parameters()).device
    net.train()
    optimizer = torch.optim.AdamW(
        net.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.01, fused=device.type in ("cpu", "cuda")
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1, (num_steps - step) / (0.3 * num_steps))
    )
    losses = []
    for step in range(1, num_steps + 1):
        rows = torch.arange((step - 1) * batch_size, step * batch_size) % len(X)
        batch = X[rows.to(X.device)]
        batch = batch[:, (batch != PAD).any(dim=0)].to(device)  # the rest is padding in every row
        Y, _ = net(batch[:, :-1])  # (batch, n - 1, vocabulary): at each token the scores of the next
        loss = F.cross_entropy(Y.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        on_step(step, losses[-1])
    return losses


def terminal_line(num: int, unit: str = "epoch") -> Callable[[int, float], None]:
    """Show the loss in one line of a terminal, and nothing where there is no terminal."""

    def show(now: int, loss: float) -> None:
        if sys.stderr.isatty():
            end = "\n" if now == num else ""
            print(f"\r{unit} {now}/{num}, loss {loss:.3f}", end=end, file=sys.stderr, flush=True)

    return show
