"""A curve that grows while a model trains."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from d2lmini.language import message
from d2lmini.notebook import theme
from d2lmini.notebook.kernel import kernel_shell
from d2lmini.notebook.plotting import (
    as_svg,
    draw_lines,
    line_description,
    line_title,
    numbers,
    set_axes,
    show,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from d2lmini.data import Vocab
    from d2lmini.training import Training


class Animator:
    """A line plot that grows while a model trains.

    In a notebook the curve is redrawn about once a second while the cell runs; the finished plot takes its
    place when the cell ends. In a script the figure is drawn as it grows and stays open for ``plt.show()``.
    Labels, limits, scales, `legend` and `fmts` are those of `plot`.

    Args:
        nrows: rows of axes in the figure; lines are drawn on the first.
        ncols: columns of axes.
        figsize: width and height in inches.

    Source: D2L 0.17, ``d2l.Animator``.

    Example:
        >>> animator = Animator(xlabel="epoch", ylabel="loss", legend=["training", "validation"], xlim=[1, 3])
        >>> for epoch in (1, 2, 3):
        ...     animator.add(epoch, [1 / epoch, 2 / epoch])
        >>> animator.Y[0]
        [1.0, 0.5, 0.3333333333333333]
        >>> plt.close()
    """

    def __init__(
        self,
        xlabel: str | None = None,
        ylabel: str | None = None,
        legend: Sequence[str] | None = None,
        xlim: Sequence[float] | None = None,
        ylim: Sequence[float] | None = None,
        xscale: str = "linear",
        yscale: str = "linear",
        fmts: Sequence[str] | None = None,
        nrows: int = 1,
        ncols: int = 1,
        figsize: tuple[float, float] = (3.5, 2.5),
    ) -> None:
        with theme.styled():
            self.fig, axes = plt.subplots(nrows, ncols, figsize=figsize, squeeze=False)
        self.axes = list(axes.ravel())
        self.X: list[list[float]] = []
        self.Y: list[list[float]] = []
        self.fmts = fmts
        self._legend = legend
        self._labels = xlabel, ylabel
        self._settings = xlim, ylim, xscale, yscale
        self._live: Any = None
        self._next_drawing = 0.0  # by the clock of time.monotonic
        self._shell = kernel_shell()
        self._waiting = False
        if self._shell is not None:
            plt.close(self.fig)  # else the notebook shows it once more by itself

    def add(self, x: Any, y: Any) -> None:
        """Add one point to each line.

        Args:
            x: the x of all points, or one for each line.
            y: the y of the point, or one for each line; None leaves a line as it is.

        Raises:
            ValueError: there are more or fewer values than lines, or one is not a number.
        """
        ys = _each(y) or [y]
        xs = _each(x) or [x] * len(ys)
        lines = len(self.X) or len(ys)
        if not len(xs) == len(ys) == lines:
            raise ValueError(f"y: got {len(ys)} values and {len(xs)} of x; this plot has {lines} lines")
        points = [
            None if a is None or b is None else (float(numbers(a, "x")), float(numbers(b, "y")))
            for a, b in zip(xs, ys, strict=True)
        ]
        if not self.X:
            self.X, self.Y = [[] for _ in points], [[] for _ in points]
        for line, point in enumerate(points):
            if point is not None:
                self.X[line].append(point[0])
                self.Y[line].append(point[1])
        if self._shell is None:
            self._draw()
            return
        if not self._waiting:
            self._shell.events.register("post_run_cell", self.finish)
            self._waiting = True
        begin = time.monotonic()
        if begin >= self._next_drawing:
            self._draw()
            self._show_live(as_svg(self.fig, *self._said()))
            end = time.monotonic()
            self._next_drawing = end + max(0.3, 9 * (end - begin))  # nine tenths of the time are for training

    def _draw(self) -> None:
        axes = self.axes[0]
        xlim, ylim, xscale, yscale = self._settings
        names = self._legend if self._legend and len(self._legend) == len(self.X) else None
        with theme.styled():
            axes.cla()
            draw_lines(axes, [np.array(x) for x in self.X], [np.array(y) for y in self.Y], self.fmts, names)
            set_axes(axes, *self._labels, xlim, ylim, xscale, yscale, self._legend)

    def _said(self) -> tuple[str, str]:
        """Return the title of the plot and what can be read off it."""
        title = line_title(*self._labels, self._legend)
        return title, line_description([np.array(y) for y in self.Y], None)

    def _show_live(self, svg: str) -> None:
        """Draw into a widget: replacing an output would leave traces in a notebook that is executed."""
        if self._live is None:
            try:
                from ipywidgets import HTML
            except ImportError:
                return
            from IPython.display import display

            self._live = HTML()
            view = {"version_major": 2, "version_minor": 0, "model_id": self._live.model_id}
            display({"application/vnd.jupyter.widget-view+json": view}, raw=True)
        self._live.value = svg

    def finish(self, result: Any = None) -> None:
        """Put the finished plot below the cell; called by the notebook when the cell ends, failed or not."""
        if not self._waiting:
            return  # nothing was added since
        self._shell.events.unregister("post_run_cell", self.finish)
        self._waiting = False
        if self._live is not None:
            self._live.value = ""
            self._live = None
        self._draw()
        show(self.fig, *self._said())


def _each(values: Any) -> list[Any]:
    """Return the values of a list, a tuple, an array or a tensor; nothing for a single value."""
    return list(values) if hasattr(values, "__len__") and getattr(values, "ndim", True) else []


class TrainingCurve:
    """The loss of a training: called after each epoch or step, it draws about 50 of all points.

    Args:
        unit: what is counted, `"epoch"` or `"step"`.
        num: how many there will be.
    """

    def __init__(self, unit: str, num: int) -> None:
        self.now, self.num = 0, num
        self.animator = Animator(unit, "loss", xlim=[1, max(2, num)], figsize=(4.5, 2.5))

    def __call__(self, now: int, loss: float) -> None:
        self.now = now
        if now % max(1, self.num // 50) == 0 or now in (1, self.num):
            self.animator.add(now, loss)


class Interrupted(KeyboardInterrupt):
    """A training that the reader stopped: a notebook shows its sentence in place of a traceback."""

    def _render_traceback_(self) -> list[str]:  # asked by IPython
        return [str(self)]


def train_seq2seq(
    net: "nn.Module",
    data_iter: "Iterable[Sequence[Tensor]]",
    lr: float,
    num_epochs: int,
    tgt_vocab: "Vocab",
    device: "torch.device | str",
    on_epoch: Callable[[int, float], None] | None = None,
) -> "Training":
    """Train an encoder-decoder by teacher forcing, and show the loss meanwhile: in a notebook as a curve.

    The steps are those of D2L: weights drawn by Xavier's rule, Adam, gradients clipped to norm 1. They take
    less time: `d2lmini/training.py` says how.

    Args:
        net: an `EncoderDecoder`; `net(source, decoder input, source valid lengths)` returns scores and a
            state.
        data_iter: minibatches (source, source valid lengths, target, target valid lengths), see
            `load_data_nmt`.
        lr: learning rate.
        num_epochs: how often to go through the data.
        tgt_vocab: has `<bos>`.
        device: where to train; `net` is moved there.
        on_epoch: called after each epoch with its number, from 1, and its loss. Left out, the loss is shown
            as a curve in a notebook, in one line in a terminal.

    Returns:
        The losses and the speed.

    Raises:
        ValueError: `num_epochs` is less than 1, `lr` is not positive, `tgt_vocab` lacks `<bos>`, or
            `data_iter` is empty.

    Source: D2L 0.17, `d2l.train_seq2seq`, which returns nothing and has no `on_epoch`.

    Example:
        >>> import torch
        >>> import d2lmini as d2l
        >>> _ = torch.manual_seed(0)
        >>> batches, source_vocab, target_vocab = d2l.load_data_nmt(8, num_steps=8, num_examples=8)
        >>> encoder = d2l.Seq2SeqEncoder(len(source_vocab), 8, 16, num_layers=1)
        >>> decoder = d2l.Seq2SeqAttentionDecoder(len(target_vocab), 8, 16, num_layers=1)
        >>> net = d2l.EncoderDecoder(encoder, decoder)
        >>> training = d2l.train_seq2seq(net, batches, 0.01, 20, target_vocab, "cpu")
        >>> training.losses[-1] < training.losses[0]
        True
    """
    from d2lmini import training  # a plot alone needs no torch

    given = (net, data_iter, lr, num_epochs, tgt_vocab, device)
    return _shown(lambda show: training.train_seq2seq(*given, show), "epoch", num_epochs, on_epoch)


def train_language_model(
    net: "nn.Module",
    X: "Tensor",
    num_steps: int,
    lr: float = 2e-3,
    batch_size: int = 32,
    on_step: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train a language model to name the next token everywhere at once, and show the loss meanwhile.

    AdamW; the learning rate rises for 50 steps, stays, and falls to 0 in the last 30 percent.

    Args:
        net: a `LanguageModel`; `net(tokens)` returns scores and a state.
        X: texts as numbers, shape (texts, n), on any device; 1 is `<pad>`, after a text's end. They are
            taken in their order, and again from the first when all were read.
        num_steps: how many minibatches to learn from.
        lr: the largest learning rate.
        batch_size: texts in a minibatch.
        on_step: called after each step with its number, from 1, and its loss. Left out, the loss is shown as
            a curve in a notebook, in one line in a terminal.

    Returns:
        The mean cross-entropy of a token in each step, in nats.

    Raises:
        ValueError: `num_steps` or `batch_size` is less than 1, `lr` is not positive, or `X` is no rectangle
            of two tokens or more a row.

    Example:
        >>> import torch
        >>> import d2lmini as d2l
        >>> _ = torch.manual_seed(0)
        >>> model = d2l.LanguageModel(41, 16, [d2l.PreNormBlock(16, 2, d2l.PositionWiseFFN(16, 64, 16))])
        >>> losses = d2l.train_language_model(model, d2l.Stories("en").batch(64, seed=0), num_steps=20)
        >>> len(losses), losses[-1] < losses[0]
        (20, True)
    """
    from d2lmini import training

    given = (net, X, num_steps, lr, batch_size)
    return _shown(lambda show: training.train_language_model(*given, show), "step", num_steps, on_step)


def _shown(
    train: Callable[[Callable[[int, float], None]], Any],
    unit: str,
    num: int,
    on_each: Callable[[int, float], None] | None,
) -> Any:
    """Run a training that reports each epoch or step, and show its loss unless the caller does."""
    from d2lmini import training

    curve = TrainingCurve(unit, num) if on_each is None and kernel_shell() else None
    try:
        return train(on_each or curve or training.terminal_line(num, unit))
    except KeyboardInterrupt:
        if curve is None:
            raise
        curve.animator.finish()
        raise Interrupted(message(f"training_interrupted_{unit}", now=curve.now, all=num)) from None
