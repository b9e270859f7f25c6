"""What a layer costs, counted instead of claimed: arithmetic, path length, sequential steps, time and memory.

One unit for arithmetic throughout the course: the multiply-add, one product and the addition that follows it.
Only matrix products are counted; softmax, tanh and bias are small beside them and left out. Torch's own
counter reports FLOPs, two for each multiply-add.

Every layer here maps n tokens of d features to n tokens of d features: they can be stacked and compared.

References:
    Vaswani et al. (2017), "Attention Is All You Need", table 1 (https://arxiv.org/abs/1706.03762);
    Hochreiter et al. (2001), "Gradient Flow in Recurrent Nets: the Difficulty of Learning Long-Term
    Dependencies" (https://www.bioinf.jku.at/publications/older/ch7.pdf).
"""

import copy
import csv
import math
import statistics
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from d2lmini.errors import one_of
from d2lmini.recorded import read_rows

ARCHITECTURES = ("convolution", "recurrent", "attention")
CONVENTIONS = ("order", "mixing", "projections")
Node = tuple[int, int]  # (level, position): level 0 holds the inputs; positions count from 1, as in x_1 … x_n


# ---- the three layers


class ConvolutionLayer(nn.Module):
    """Each output is computed from a window of `kernel_size` inputs; beyond the ends there are zeros.

    Args:
        width: d, features of every token.
        kernel_size: k, odd unless `causal`, so that the window is centered.
        dilation: distance between the inputs of a window; 1 takes neighbors.
        causal: the window ends at its own position instead of being centered there.

    Raises:
        ValueError: `kernel_size` is below 1, or even in a centered window.

    Example:
        >>> ConvolutionLayer(4)(torch.ones(1, 5, 4)).shape
        torch.Size([1, 5, 4])
    """

    def __init__(self, width: int, kernel_size: int = 3, dilation: int = 1, causal: bool = False) -> None:
        super().__init__()
        if not causal:
            _window_radius(kernel_size)
        elif kernel_size < 1:
            raise ValueError(f"kernel_size: got {kernel_size}; a window has a size of 1 or more")
        reach = (kernel_size - 1) * dilation  # from the first input of a window to its last
        self.ends = (reach, 0) if causal else (reach // 2, reach // 2)  # zeros on the left and on the right
        self.conv = nn.Conv1d(width, width, kernel_size, dilation=dilation, bias=False)

    def forward(self, X: Tensor) -> Tensor:
        """Return the outputs for X; both have shape (batch, n, width)."""
        padded = nn.functional.pad(X.transpose(1, 2), self.ends)  # Conv1d wants (batch, width, n)
        return self.conv(padded).transpose(1, 2)


class RecurrentLayer(nn.Module):
    """Each output is computed from its input and the output before it: h_t = tanh(W_x x_t + W_h h_{t-1}).

    Args:
        width: d, features of every token.
        bidirectional: a second network reads from the end; the two outputs are added.

    Example:
        >>> RecurrentLayer(4)(torch.ones(1, 5, 4)).shape
        torch.Size([1, 5, 4])
    """

    def __init__(self, width: int, bidirectional: bool = False) -> None:
        super().__init__()
        self.rnn = nn.RNN(width, width, bias=False, batch_first=True, bidirectional=bidirectional)

    def forward(self, X: Tensor) -> Tensor:
        """Return the outputs for X; both have shape (batch, n, width)."""
        hidden, _ = self.rnn(X)  # (batch, n, width), or 2·width in two directions
        return torch.stack(hidden.split(self.rnn.hidden_size, dim=-1)).sum(0)


class AttentionLayer(nn.Module):
    """Each output is a weighted sum over all inputs: one head of chapter 1, then W_o of chapter 2.

    Args:
        width: d, features of every token.
        projections: with W_q, W_k, W_v and W_o; without them queries, keys and values are the input itself.
        fused: compute softmax(QKᵀ/√d)V by torch's fused kernel, which never stores the n×n weights.

    Example:
        >>> X = torch.ones(1, 5, 4)
        >>> torch.allclose(AttentionLayer(4, projections=False)(X), X)  # a mean of equal tokens
        True
    """

    def __init__(self, width: int, projections: bool = True, fused: bool = False) -> None:
        super().__init__()
        self.fused = fused

        def project() -> nn.Module:
            return nn.Linear(width, width, bias=False) if projections else nn.Identity()

        self.W_q, self.W_k, self.W_v, self.W_o = project(), project(), project(), project()

    def forward(self, X: Tensor) -> Tensor:
        """Return the outputs for X; both have shape (batch, n, width)."""
        Q, K, V = self.W_q(X), self.W_k(X), self.W_v(X)
        if self.fused:
            # the kernel wants an axis for heads: (batch, 1, n, width)
            Q, K, V = Q.unsqueeze(1), K.unsqueeze(1), V.unsqueeze(1)
            return self.W_o(nn.functional.scaled_dot_product_attention(Q, K, V).squeeze(1))
        weights = torch.softmax(Q @ K.transpose(1, 2) / math.sqrt(Q.shape[-1]), dim=-1)  # (batch, n, n)
        return self.W_o(weights @ V)


# ---- arithmetic


def multiply_adds(n: int, d: int, k: int = 3, convention: str = "mixing") -> dict[str, int]:
    """Return the multiply-adds of one layer of each architecture on one sequence.

    Args:
        n: tokens.
        d: features of every token.
        k: kernel size of the convolution.
        convention: what is counted.
            `"order"`: the terms of the O() table, with all constants dropped: k n d², n d², n² d.
            `"mixing"`: exact products that mix or update tokens: k n d², 2 n d², 2 n² d.
            `"projections"`: the same, with the four projections of attention: 2 n² d + 4 n d².

    Returns:
        The counts of `"convolution"`, `"recurrent"` and `"attention"`.

    Raises:
        ValueError: a size below 1, or another convention.

    Example:
        >>> multiply_adds(32, 64, 3, "projections")
        {'convolution': 393216, 'recurrent': 262144, 'attention': 655360}
    """
    _check_sizes(n=n, d=d, k=k)
    if convention not in CONVENTIONS:
        raise ValueError(one_of("convention", convention, CONVENTIONS))
    if convention == "order":
        return {"convolution": k * n * d**2, "recurrent": n * d**2, "attention": n**2 * d}
    projections = 4 * n * d**2 if convention == "projections" else 0
    return {
        "convolution": k * n * d**2,
        "recurrent": 2 * n * d**2,  # W_x x_t and W_h h_{t-1}
        "attention": 2 * n**2 * d + projections,  # QKᵀ, then weights times V
    }


def count_multiply_adds(function: Callable[..., Any], *shapes: tuple[int, ...]) -> int:
    """Count the multiply-adds of all matrix products that a layer or function runs.

    The inputs are shapes without data (torch's meta device), so n = 65 536 is counted as fast as n = 4.
    Torch's counter knows matrix products, convolutions, recurrent cells and fused attention; a product of two
    *vectors* counts 0: give it a batch axis.

    Args:
        function: a module, or any function of tensors that creates none on another device.
        shapes: the shape of each argument.

    Example:
        >>> count_multiply_adds(torch.matmul, (3, 4), (4, 5))
        60
        >>> count_multiply_adds(nn.Linear(64, 64), (1, 32, 64)) == 32 * 64**2
        True
    """
    if isinstance(function, nn.Module):
        function = copy.deepcopy(function).to("meta")
    with torch.device("meta"), FlopCounterMode(display=False) as counter, torch.no_grad():
        function(*(torch.empty(shape) for shape in shapes))
    return counter.get_total_flops() // 2


# ---- path length


def dependencies(layer: nn.Module, n: int, d: int) -> Tensor:
    """Return which output depends on which input, as autograd sees it.

    Args:
        layer: maps (1, n, d) to (1, n, d); a copy of it in float64 is examined. Its weights should be random:
            a derivative that happens to be 0 counts as "does not depend".
        n: tokens.
        d: features of every token.

    Returns:
        Booleans of shape (n, n): entry [i, j] is True where ∂y_i/∂x_j is not zero.

    Raises:
        ValueError: n or d is below 1.

    Example:
        >>> dependencies(ConvolutionLayer(4), 4, 4).int()
        tensor([[1, 1, 0, 0],
                [1, 1, 1, 0],
                [0, 1, 1, 1],
                [0, 0, 1, 1]], dtype=torch.int32)
    """
    X = _probe(n, d)
    return torch.stack(list(_seen_by_each_output(X, copy.deepcopy(layer).cpu().double()(X))))


def layers_until_connected(
    make_layer: Callable[[int], nn.Module], n: int, d: int = 4, max_layers: int = 64
) -> int | None:
    """Return how many stacked layers it takes until every output depends on every input.

    Args:
        make_layer: returns layer number l, counted from 0, with d features.
        n: tokens.
        d: features of every token; a few are enough.
        max_layers: where to give up.

    Returns:
        The number of layers, or None if `max_layers` are not enough: a one-directional RNN never sees what
        comes later.

    Raises:
        ValueError: n or d is below 1.

    Example:
        >>> layers_until_connected(lambda l: ConvolutionLayer(4, kernel_size=3), n=5)
        4
    """
    X = Y = _probe(n, d)
    for level in range(max_layers):
        Y = copy.deepcopy(make_layer(level)).cpu().double()(Y)
        if all(bool(seen.all()) for seen in _seen_by_each_output(X, Y)):  # stops at the first that misses one
            return level + 1
    return None


def _check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name}: got {size}; a size is 1 or larger")


def _probe(n: int, d: int) -> Tensor:
    _check_sizes(n=n, d=d)
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, n, d, generator=generator, dtype=torch.float64, requires_grad=True)


def _seen_by_each_output(X: Tensor, Y: Tensor) -> Iterator[Tensor]:
    """Yield a boolean (n,) for each output: which inputs it depends on."""
    for i in range(Y.shape[1]):
        # one number a token: with random weights a sum over features hides no dependence
        (gradient,) = torch.autograd.grad(Y[0, i].sum(), X, retain_graph=True)
        yield gradient[0].abs().sum(-1) > 0


def shortest_path(architecture: str, n: int, start: int, end: int, k: int = 3) -> list[Node] | None:
    """Return the shortest path from input `start` to output `end` in the drawn graph.

    Args:
        architecture: `"convolution"` (stacked as deep as this pair needs), `"recurrent"` (one layer, left
            to right) or `"attention"` (one layer).
        n: tokens.
        start: position of the input, 1 … n.
        end: position of the output, 1 … n.
        k: kernel size of the convolution, odd and larger than 1.

    Returns:
        Nodes (level, position) from (0, start) on: one more than the path has edges. None if no path exists.

    Raises:
        ValueError: an unknown architecture, n below 1, a position outside 1 … n, an even kernel or one of
            size 1.

    Example:
        >>> shortest_path("convolution", n=5, start=1, end=5)
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
        >>> shortest_path("attention", n=5, start=1, end=5)
        [(0, 1), (1, 5)]
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(one_of("architecture", architecture, ARCHITECTURES))
    _check_sizes(n=n)
    for name, position in (("start", start), ("end", end)):
        if not 1 <= position <= n:
            raise ValueError(f"{name}: got {position}; a position is one of 1 … {n}")
    radius = _window_radius(k)
    if radius == 0:
        raise ValueError("k: got 1; such a window holds one token and never mixes two, take 3 or more")
    previous: dict[Node, Node | None] = {(0, start): None}
    queue: deque[Node] = deque(previous)
    while queue:  # breadth first: the first time we arrive is the shortest way
        node = queue.popleft()
        if node[0] > 0 and node[1] == end:
            path: list[Node] = []
            step: Node | None = node
            while step is not None:
                path.append(step)
                step = previous[step]
            return path[::-1]
        for follower in _followers(architecture, node, n, radius):
            if follower not in previous:
                previous[follower] = node
                queue.append(follower)
    return None


def maximum_path_length(architecture: str, n: int, k: int = 3) -> int:
    """Return the edges of the longest of all shortest paths from an input to an output.

    Pairs without a path (a later input, an earlier output of an RNN) do not count. Arguments and errors are
    those of `shortest_path`.

    Example:
        >>> [maximum_path_length(name, n=5) for name in ARCHITECTURES]
        [4, 5, 1]
    """
    _check_sizes(n=n)
    paths = (shortest_path(architecture, n, i, j, k) for i in range(1, n + 1) for j in range(1, n + 1))
    return max(len(path) - 1 for path in paths if path is not None)


def _followers(architecture: str, node: Node, n: int, radius: int) -> Iterator[Node]:
    """Yield the nodes at the far end of the edges that leave `node`."""
    level, position = node
    if architecture == "recurrent":
        if level == 0:
            yield (1, position)  # x_t → h_t
        elif position < n:
            yield (1, position + 1)  # h_t → h_{t+1}
        return
    if architecture == "attention":
        if level == 0:
            yield from ((1, other) for other in range(1, n + 1))
        return
    window = range(max(1, position - radius), min(n, position + radius) + 1)
    yield from ((level + 1, other) for other in window)


def _window_radius(kernel_size: int) -> int:
    if kernel_size < 1 or kernel_size % 2 == 0:
        raise ValueError(f"kernel_size: got {kernel_size}; a centered window has an odd size, 1, 3, 5, …")
    return (kernel_size - 1) // 2


# ---- sequential steps


def sequential_depth(layer: nn.Module, n: int, d: int) -> int:
    """Return the length of the longest chain of operations in which each needs the result of the one before.

    Args:
        layer: maps (1, n, d) to (1, n, d).
        n: tokens.
        d: features of every token.

    Returns:
        Nodes on the longest chain of autograd's graph, on the CPU; 0 for a layer that does nothing. Only its
        growth with n says something: how many nodes torch uses for one step is an implementation detail.

    Raises:
        ValueError: n or d is below 1, or autograd does not see how the output depends on the input.

    Example:
        >>> sequential_depth(ConvolutionLayer(4), 8, 4) == sequential_depth(ConvolutionLayer(4), 64, 4)
        True
        >>> sequential_depth(RecurrentLayer(4), 8, 4) < sequential_depth(RecurrentLayer(4), 64, 4)
        True
    """
    _check_sizes(n=n, d=d)
    output = copy.deepcopy(layer).cpu()(torch.zeros(1, n, d, requires_grad=True))
    if not output.requires_grad:
        raise ValueError(
            "layer: autograd does not see what its output depends on. Leave out detach and no_grad"
        )
    if output.grad_fn is None:  # the input itself
        return 0
    depth: dict[Any, int] = {}
    stack = [(output.grad_fn, False)]
    while stack:  # depth first without recursion: an RNN's chain is longer than Python's limit
        node, inputs_done = stack.pop()
        inputs = [source for source, _ in node.next_functions if source is not None]
        if inputs_done:
            depth[node] = 1 + max((depth[source] for source in inputs), default=0)
        elif node not in depth:
            stack.append((node, True))
            stack.extend((source, False) for source in inputs if source not in depth)
    return depth[output.grad_fn]


# ---- time


def median_time(function: Callable[[], Any], repeats: int = 7) -> float:
    """Return the median wall-clock time of one call, in seconds, after a call that warms up.

    On a GPU it waits until the work is done, not only queued.

    Args:
        function: what to time, without arguments.
        repeats: how many calls to take the median of.

    Raises:
        ValueError: `repeats` is below 1.

    Example:
        >>> median_time(lambda: sum(range(1000))) > 0
        True
    """
    if repeats < 1:
        raise ValueError(f"repeats: got {repeats}; at least 1 call is needed")
    from torch.utils.benchmark import timer  # waits for the GPU, then reads the clock

    function()
    times = []
    for _ in range(repeats):
        start = timer()
        function()
        times.append(timer() - start)
    return statistics.median(times)


def loglog_slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent p of the best power law value ≈ c · size^p: the slope of a log-log plot.

    Args:
        sizes: at least two different positive numbers.
        values: as many positive numbers.

    Raises:
        ValueError: different lengths, fewer than two points, or a number that is not positive.

    Example:
        >>> round(loglog_slope([1, 2, 4, 8], [3, 12, 48, 192]), 6)
        2.0
    """
    if len(sizes) != len(values) or len(sizes) < 2:
        raise ValueError(
            f"sizes, values: got {len(sizes)} and {len(values)} numbers; give two or more, equally many"
        )
    if min(*sizes, *values) <= 0:
        raise ValueError("sizes, values: only positive numbers have a logarithm; leave out zeros")
    fit = statistics.linear_regression([math.log(s) for s in sizes], [math.log(v) for v in values])
    return fit.slope


def recorded_timings() -> list[dict[str, Any]]:
    """Return the wall-clock times recorded for the course, with the device that they were measured on.

    `python3 course.py bench --record` measures them again and replaces the rows of that device.

    Returns:
        One dict a measurement: device, layer (`"convolution"`, `"recurrent"`, `"attention"`,
        `"fused attention"`), batch (sequences in it), n, d, k, seconds (median of one forward pass of the
        whole batch), peak_bytes (memory of the tensors made by it).

    Example:
        >>> sorted(recorded_timings()[0])
        ['batch', 'd', 'device', 'k', 'layer', 'n', 'peak_bytes', 'seconds']
    """
    return read_rows("timings", batch=int, n=int, d=int, k=int, seconds=float, peak_bytes=int)


def recorded_recall() -> list[dict[str, Any]]:
    """Return how often small stacks of chapter 6 answer for one of 4, 8, 16, 32 and 64 stored pairs.

    `python3 course.py bench --section recall --record` trains them again.

    Returns:
        One dict a training: device, layers (a stack of two), seed, parameters, shares (of right answers).

    Example:
        >>> sorted(recorded_recall()[0])
        ['device', 'layers', 'parameters', 'seed', 'shares']
    """
    with (files("d2lmini") / "assets" / "recall.csv").open(encoding="utf-8") as file:
        return [
            {"device": device, "layers": layers, "seed": int(seed), "parameters": int(parameters)}
            | {"shares": [float(share) for share in shares]}
            for device, layers, seed, parameters, *shares in list(csv.reader(file))[1:]
        ]


# ---- memory


def attention_weights_bytes(n: int, heads: int = 1, dtype: torch.dtype = torch.float32) -> int:
    """Return the memory of the attention weights of one sequence, in bytes: n × n numbers for each head.

    Args:
        n: tokens.
        heads: attention heads.
        dtype: type of a number.

    Example:
        >>> attention_weights_bytes(65_536) // 2**30  # GiB
        16
    """
    return n * n * heads * dtype.itemsize


def peak_memory(function: Callable[[], Any]) -> int:
    """Return the largest memory, in bytes, of the new tensors alive at one moment while a function runs.

    Counts every storage that torch's operations hand out, on any device, until it is freed; what was there
    before is not counted, nor is a kernel's scratch space inside one operation.

    Args:
        function: what to run, without arguments.

    Example:
        >>> peak_memory(lambda: torch.ones(1000).neg().exp())  # two tensors at a time, 4 bytes a number
        8000
    """
    with _StorageTracker() as tracker:
        function()
    return tracker.peak


class _StorageTracker(TorchDispatchMode):
    """Adds up the storages that come out of operations, and subtracts them when they die.

    `_python_dispatch`, `_cdata` and `_pytree` are private to torch, and nothing public sees each storage on
    every device; a test compares the result with torch's profiler.
    """

    def __init__(self) -> None:
        super().__init__()
        self.alive = self.peak = 0
        self.known: dict[int, weakref.ref[Any]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        inputs = {x.untyped_storage()._cdata for x in _tensors((args, kwargs or {}))}
        result = func(*args, **(kwargs or {}))
        for tensor in _tensors(result):
            storage = tensor.untyped_storage()
            key, size = storage._cdata, storage.nbytes()
            if key not in self.known and key not in inputs:  # a view shares the storage of an input

                def freed(_: Any, key: int = key, size: int = size) -> None:
                    self.alive -= size
                    del self.known[key]

                self.known[key] = weakref.ref(storage, freed)
                self.alive += size
        self.peak = max(self.peak, self.alive)
        return result


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, Tensor)]
