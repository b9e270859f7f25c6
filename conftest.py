"""Settings of the whole test run, the notebooks of chapters/ among it."""

import os
from pathlib import Path

from tools.notebooks import KERNEL_ENVIRONMENT

# Before anything loads torch, and before nbval starts a kernel.
os.environ.update(KERNEL_ENVIRONMENT)
Path(KERNEL_ENVIRONMENT["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)
