"""Does a notebook print the same on another machine? `python -m tools.portability.perturbed [NAME …]`.

Another processor adds in another order and has other exponentials: its float32 results differ in the last
places. `Shifted` imitates that. It moves each such result by a few units in the last place, by an amount that
depends on the value alone, so that equal results stay equal and a second run gives the same. A notebook that
asks for a GPU runs with that of `fake_cuda.py`, too. Trainings take part in neither: they would take minutes.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from book.chapters import ROOT, Cell, CourseError, find, lines, read

# Operators by their names in PyTorch.
# Sums of products: exact, on every device, where all that goes in has few digits (whole numbers, halves).
SUMS = {"addmm", "baddbmm", "bmm", "convolution", "cumsum", "dot", "mean", "mm", "mv", "sum"}
_CURVES = """
_cdist_forward _log_softmax _pdist_forward _scaled_dot_product_flash_attention_for_cpu
_scaled_dot_product_fused_attention_overrideable _softmax acos cos elu exp gelu linalg_vector_norm log
logsumexp native_layer_norm pow sigmoid sin std tanh var
"""
CURVES = set(_CURVES.split())  # no device promises the last digit of these
MOST = 3  # units in the last place


class Shifted(TorchDispatchMode):
    """While it is active, float32 results are those of a device that does not exist."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name in CURVES or (name in SUMS and not all(map(_has_few_digits, tree_leaves((args, kwargs))))):
            return tree_map(_shifted, result)
        return result


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype is torch.float32 and value.device.type != "meta"


def _has_few_digits(value: Any) -> bool:
    return not _is_float(value) or not bool((value.contiguous().view(torch.int32) & 0xFFF).any())


def _shifted(value: Any) -> Any:
    if not _is_float(value):
        return value
    bits = value.contiguous().view(torch.int32)
    size = bits & 0x7FFFFFFF
    # a multiplicative hash: neighbors move by different amounts, a number and its negative by the same
    step = ((size.long() * 2654435761 >> 13) % (2 * MOST + 1) - MOST).int()
    one, infinite = 0x3F800000, 0x7F800000
    exact = (size == 0) | (size == one) | (size >= infinite)  # e⁰ = 1, weight 0: exact everywhere
    return torch.where(exact, bits, bits + step).view(torch.float32).view(value.shape)


# ---- whole notebooks

FIRST_CELL = f"""import sys; sys.path.insert(0, {str(ROOT)!r})
from tools.portability import {{module}}
{{module}}.start()
sys.path.pop(0)"""
WAYS = {"with other last digits and two threads": "perturbed", "on another device": "fake_cuda"}


def start() -> None:
    """Let this process compute as on another processor from now on."""
    train_plainly()
    torch.set_num_threads(2)
    Shifted().__enter__()


def train_plainly() -> None:
    """Let `d2l.train_seq2seq` train on the CPU as it is, then bring the model to its device.

    `d2l.train_language_model` trains where the model is, and as it is.
    """
    from d2lmini import training

    train: Any = training.train_seq2seq
    train_language_model: Any = training.train_language_model

    def train_on_cpu(net: Any, *arguments: Any) -> Any:
        *settings, device, on_epoch = arguments
        with _disable_current_modes():
            result = train(net, *settings, "cpu", on_epoch)
        net.to(device)
        return result

    def train_as_it_is(*arguments: Any) -> Any:
        with _disable_current_modes():
            return train_language_model(*arguments)

    vars(training)["train_seq2seq"] = train_on_cpu
    vars(training)["train_language_model"] = train_as_it_is


def ways(path: Path) -> list[str]:
    """Return how to run a notebook: on another device only if it asks for a GPU."""
    asks = "try_gpu()" in path.read_text(encoding="utf-8")
    return [way for way, module in WAYS.items() if asks or module == "perturbed"]


def differences(path: Path, way: str) -> list[str]:
    """Execute a notebook as another machine would; return the cells that print something else, with what.

    Args:
        path: a notebook with its outputs, which stays as it is.
        way: a key of `WAYS`.
    """
    from tools.notebooks.execute import execute
    from tools.portability.compare import compared

    stored = read(path)
    first: Cell = {"cell_type": "code", "execution_count": None, "id": "portability", "metadata": {}}
    first |= {"outputs": [], "source": lines(FIRST_CELL.format(module=WAYS[way]))}
    try:
        done = asyncio.run(execute(path, stored | {"cells": [first, *stored["cells"]]}))
    except CourseError as error:
        return [f"{way}: {error}"]
    return compared(path, stored["cells"], done["cells"][1:], way)


def main(names: list[str], root: Path = ROOT) -> int:
    """Print the cells of these notebooks, or of all, that print something else; return 1 if there are any."""
    paths = find(names, root=root)
    findings = [line for path in paths for way in ways(path) for line in differences(path, way)]
    print(*findings or [f"{len(paths)} notebooks print the same"], sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
