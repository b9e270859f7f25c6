"""A device beside the CPU on machines that have none: what a GPU would refuse is refused here.

Tensors on it compute on the CPU, and show the device that they claim. An operation on tensors of two devices
fails as it does on CUDA, so that code which leaves a tensor behind is found without a GPU. `start()` gives
such a device to `d2l.try_gpu()`.
"""

from typing import Any

import torch
from torch import Tensor
from torch._decomp.decompositions import gru_impl
from torch.nn.modules import rnn
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

aten = torch.ops.aten
NAME = "gpu"
MOVES = {aten._to_copy.default, aten.copy_.default}
# places may be given on the CPU, as for CUDA
INDEXED = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}


def _run(
    owner: Any, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """Do an operation on the CPU; its result is on the device that it would be on."""
    kwargs = kwargs or {}
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    faked = any(isinstance(tensor, FakeCudaTensor) for tensor in tensors)
    left = [tensor for tensor in tensors if not isinstance(tensor, FakeCudaTensor) and tensor.dim()]
    if faked and left and func not in MOVES | INDEXED:
        raise RuntimeError(
            f"{func}: expected all tensors on the same device; one of shape {tuple(left[0].shape)} "
            f"is on {left[0].device}, another on {NAME}:0"
        )
    asked = kwargs.get("device")
    if func in (aten.copy_.default, *INDEXED):
        faked = isinstance(args[0], FakeCudaTensor)
    elif func is aten._local_scalar_dense.default:  # item()
        faked = False
    elif asked is not None:
        faked = torch.device(asked).type == NAME
    on_cpu = tree_map_only(FakeCudaTensor, lambda tensor: tensor.cpu_tensor, (args, kwargs))
    if asked is not None:
        on_cpu[1]["device"] = torch.device("cpu") if faked else asked
    result = func(*on_cpu[0], **on_cpu[1])
    if not faked:
        return result
    wrapped = tree_map_only(Tensor, FakeCudaTensor, result)
    return return_and_correct_aliasing(func, args, kwargs, wrapped)


class FakeCudaTensor(Tensor):
    """A tensor on the other device, and the tensor on the CPU that has its numbers."""

    cpu_tensor: Tensor

    @staticmethod
    def __new__(cls, cpu_tensor: Tensor) -> "FakeCudaTensor":
        tensor: FakeCudaTensor = Tensor._make_wrapper_subclass(
            cls,
            cpu_tensor.shape,
            strides=cpu_tensor.stride(),
            storage_offset=cpu_tensor.storage_offset(),
            dtype=cpu_tensor.dtype,
            device=torch.device(NAME, 0),
        )
        tensor.cpu_tensor = cpu_tensor
        return tensor

    __torch_dispatch__ = classmethod(_run)  # type: ignore[assignment]

    # Python's own ways to read a number know only PyTorch's own tensors.
    def tolist(self) -> Any:
        return self.cpu().tolist()

    def __format__(self, form: str) -> str:
        return format(self.item() if self.dim() == 0 else str(self), form)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"{str(self.cpu())[:-1]}, device='{self.device}')"


class FakeCuda(TorchDispatchMode):
    """While it is active, tensors can be made on the device `gpu`."""

    def __enter__(self) -> Any:
        torch._C._set_only_lift_cpu_tensors(True)  # torch.tensor(…, device=…) moves what it made on the CPU
        vars(rnn._VF)["gru"] = gru_impl  # else a kernel is asked for that only CUDA has
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        del vars(rnn._VF)["gru"]
        torch._C._set_only_lift_cpu_tensors(False)

    __torch_dispatch__ = _run


def fake_cuda_device() -> torch.device:
    """Return the other device; tensors can be on it while an `FakeCuda` is active."""
    if torch._C._get_privateuse1_backend_name() != NAME:
        _setup_privateuseone_for_python_backend(NAME)
        # its work is done when a call returns
        torch._C._accelerator_synchronizeDevice = lambda device_index: None
    return torch.device(NAME, 0)


def start() -> None:
    """Let this process have the other device as its first GPU from now on."""
    from d2lmini import device
    from tools.portability.perturbed import train_plainly

    train_plainly()
    first = fake_cuda_device()
    device.try_gpu = lambda i=0: first if i == 0 else torch.device("cpu")
    FakeCuda().__enter__()
