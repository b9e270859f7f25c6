"""Which device to compute on."""

import torch


def try_gpu(i: int = 0) -> torch.device:
    """Return GPU number `i` if this machine has it, else the CPU.

    Args:
        i: the number of the GPU, from 0.

    Raises:
        ValueError: `i` is negative.

    Example:
        >>> try_gpu(10_000)
        device(type='cpu')
    """
    if i < 0:
        raise ValueError(f"i: got {i}; the number of a GPU is 0 or larger")
    return torch.device("cuda", i) if torch.cuda.device_count() > i else torch.device("cpu")


def try_all_gpus() -> list[torch.device]:
    """Return all GPUs of this machine, or a list of just the CPU where there is none.

    Example:
        >>> len(try_all_gpus()) >= 1
        True
    """
    gpus = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    return gpus or [torch.device("cpu")]
