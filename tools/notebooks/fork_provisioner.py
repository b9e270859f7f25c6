"""Kernels that are forks of one warm process.

Importing torch and matplotlib takes longer than most notebooks. Here the fork server of Python's
`multiprocessing` imports them, and each kernel is a fork of it with its own memory, folder, environment and
random numbers. The server runs nothing else and never starts a thread or CUDA, neither of which survives a
fork; it imports no d2lmini.
"""

import multiprocessing
import os
import runpy
import sys
from contextlib import suppress
from functools import partial
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

from tools.notebooks.kernels import KERNEL_ENVIRONMENT

WARM = [
    "ipykernel.debugger",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "ipywidgets",
    "anywidget",
    "matplotlib.backends.backend_svg",
    "matplotlib.pyplot",
    "torch._dynamo",  # what the first step of an optimizer imports
    "torch.utils.flop_counter",
    __name__,
]
# what these modules read when they are imported
VARIABLES = KERNEL_ENVIRONMENT | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
PATH = sys.path[1:]  # in the server; a kernel does not look into the folder in which it was started
SERVER = forkserver.ForkServer()  # one of its own, beside multiprocessing's, which others may start
SERVER.set_forkserver_preload(WARM)


class ForkedProvisioner(LocalProvisioner):
    """Starts a kernel as a fork of the warm process."""

    process: Any

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel."""
        folder, environment = kwargs.get("cwd") or os.getcwd(), kwargs.get("env") or dict(os.environ)
        # daemon: it ends with this process
        self.process = ForkedKernel(target=become, args=(cmd, str(folder), environment), daemon=True)
        # without a __main__, or the kernel would import this process's
        no_main = patch.dict(sys.modules, __main__=ModuleType("__main__"))
        own = patch.object(forkserver, "connect_to_new_process", SERVER.connect_to_new_process)
        with patch.dict(os.environ, VARIABLES), no_main, own:
            self.process.start()
        self.pid = self.pgid = self.process.pid  # it leads a session of its own
        return self.connection_info


class ForkedKernel(ForkServerProcess):
    """A process with the methods of `subprocess.Popen` that a provisioner calls."""

    stdin = stdout = stderr = None
    pid: int

    def poll(self) -> int | None:
        """Return how it ended, or None while it runs."""
        return self.exitcode

    def wait(self) -> int | None:
        """Wait until it has ended."""
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal to it alone, if it still runs."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def become(argv: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be the kernel that this command line starts in this folder and environment."""
    os.setsid()  # the manager signals the whole session
    multiprocessing.current_process().daemon = False  # it may have processes of its own
    # the server ends with the process that started it, whatever kernels are left
    os.close(vars(forkserver._forkserver)["_forkserver_alive_fd"])
    given = Path("/proc/self/environ").read_text().split("\0")
    imported = {name: value for name, value in os.environ.items() if f"{name}={value}" not in given}
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment | imported | {"JPY_PARENT_PID": str(os.getppid())})
    # the end of the server is the kernel's, too; ipykernel read the variable when it was imported
    ipykernel: Any = sys.modules["ipykernel.kernelapp"]
    ipykernel.launch_new_instance = partial(ipykernel.launch_new_instance, parent_handle=os.getppid())
    # A new process has random numbers of its own; Python's generator sees to that by itself.
    sys.modules["numpy"].random.seed()
    sys.modules["torch"].default_generator.seed()
    sys.path[:] = PATH
    sys.argv = argv[argv.index("-m") + 1 :]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
