"""Are we in a notebook? Asked in this one place, and without loading anything."""

import sys
from typing import Any


def kernel_shell() -> Any:
    """Return the shell of the notebook that we run in; None in a script, a test or a terminal."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if hasattr(shell, "kernel") else None
