"""Settings of the whole test run, the notebooks of chapters/ among it."""

import os
from pathlib import Path

import nbval.kernel

from tools.kernels import KERNEL_ENVIRONMENT, ThisPython

# Before anything loads torch, and before nbval starts a kernel.
os.environ.update(KERNEL_ENVIRONMENT)
Path(KERNEL_ENVIRONMENT["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)

# The one place that knows how nbval works inside: where it asks which kernel to start.
nbval.kernel.NbvalKernelspecManager = ThisPython
