"""Does a notebook print the same on another machine? `course.py notebooks --elsewhere` asks here.

Another processor adds in another order and has other exponentials: its float32 results differ in the last
places. `Shifted` imitates that. It moves each such result by a few units in the last place, by an amount that
depends on the value alone, so that equal results stay equal and a second run gives the same.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten
# Sums of products: exact, on every device, where all that goes in has few digits (whole numbers, halves).
SUMS = {
    aten.addmm.default,
    aten.baddbmm.default,
    aten.bmm.default,
    aten.convolution.default,
    aten.cumsum.default,
    aten.dot.default,
    aten.mean.default,
    aten.mean.dim,
    aten.mm.default,
    aten.mv.default,
    aten.sum.default,
    aten.sum.dim_IntList,
}
# No device promises the last digit of these.
CURVES = {
    aten._cdist_forward.default,
    aten._log_softmax.default,
    aten._pdist_forward.default,
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_fused_attention_overrideable.default,
    aten._softmax.default,
    aten.acos.default,
    aten.cos.default,
    aten.elu.default,
    aten.exp.default,
    aten.gelu.default,
    aten.linalg_vector_norm.default,
    aten.log.default,
    aten.logsumexp.default,
    aten.native_layer_norm.default,
    aten.pow.Scalar,
    aten.pow.Tensor_Scalar,
    aten.pow.Tensor_Tensor,
    aten.sigmoid.default,
    aten.sin.default,
    aten.std.correction,
    aten.tanh.default,
    aten.var.correction,
}
MOST = 3  # units in the last place


class Shifted(TorchDispatchMode):
    """While it is active, float32 results are those of a device that does not exist."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in CURVES or (func in SUMS and not all(map(_has_few_digits, tree_leaves((args, kwargs))))):
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
    kept = (size == 0) | (size == one) | (size >= infinite)  # e⁰ = 1, weight 0: exact everywhere
    return torch.where(kept, bits, bits + step).view(torch.float32).view(value.shape)


def shift() -> None:
    """Let this process compute as on another device from now on."""
    Shifted().__enter__()
