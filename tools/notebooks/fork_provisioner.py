"""Kernels that are forks of one warm process.

Importing torch and matplotlib takes longer than most notebooks. Here one process imports them, and each
kernel is a fork of it with its own memory, folder, environment and random numbers. The warm process runs
nothing else and never starts a thread or CUDA, neither of which survives a fork; it imports no d2lmini.

This file is also what the warm process runs, as a script.
"""

import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

WARM = (
    "ipykernel.debugger",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "ipywidgets",
    "anywidget",
    "matplotlib.backends.backend_svg",
    "matplotlib.pyplot",
    "torch._dynamo",  # what the first step of an optimizer imports
    "torch.utils.flop_counter",
)


class ForkedProvisioner(LocalProvisioner):
    """Starts a kernel as a fork of the warm process."""

    process: Any  # a Popen, or a ForkedProcess

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel; if the warm process is gone, start an ordinary one."""
        folder, environment = kwargs.get("cwd") or os.getcwd(), kwargs.get("env") or dict(os.environ)
        pid = ask(json.dumps({"argv": cmd, "folder": str(folder), "environment": environment}))
        if not pid:
            return await super().launch_kernel(cmd, **kwargs)
        self.process = ForkedProcess(pid)
        self.pid = self.pgid = pid  # it leads a session of its own
        return self.connection_info


class ForkedProcess:
    """What a provisioner needs of `subprocess.Popen`, for a process that is not a child of this one."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.descriptor = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Return None while it runs; how it ended only its parent can know."""
        return 0 if select.select([self.descriptor], [], [], 0)[0] else None

    def wait(self) -> int:
        """Wait until it has ended."""
        select.select([self.descriptor], [], [])
        os.close(self.descriptor)
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal to it alone."""
        signal.pidfd_send_signal(self.descriptor, number)


def ask(request: str) -> int:
    """Ask the warm process for a kernel; return the number of its process, 0 if there is none."""
    try:
        connection = warm_process()
        connection.sendall(request.encode() + b"\n")
        return int(connection.recv(32) or 0)
    except OSError:
        return 0


@cache
def warm_process() -> socket.socket:
    """Start the warm process; it ends when this one does, which closes the connection."""
    from tools.notebooks.kernels import (
        KERNEL_ENVIRONMENT,  # not by the warm process, which runs this file alone
    )

    ours, theirs = socket.socketpair()
    command = [sys.executable, "-Xfrozen_modules=off", __file__, str(theirs.fileno())]
    subprocess.Popen(
        command,
        env={**os.environ, **KERNEL_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        start_new_session=True,  # Ctrl+C ends the kernels through their manager, as it does ordinary ones
    )
    theirs.close()
    return ours


# ---- in the warm process


def serve(connection: socket.socket) -> dict[str, Any]:
    """Import what notebooks need, then fork at each request; return the request in the fork."""
    del sys.path[0]  # the folder of this file, which a kernel does not have
    given = dict(os.environ)
    # Modules read these when they are imported, and set others: a kernel has them all.
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # whose end is the kernel's, too
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in WARM:
        with contextlib.suppress(ImportError):  # the cell that needs it will say so
            importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:
        sys.exit("kernels start anew: an import started a thread, and a fork would lack it")
    requests = connection.makefile()
    for request in requests:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            os.setsid()  # before the answer: the manager signals the whole session
            connection.sendall(str(os.getpid()).encode())
            requests.close()
            connection.close()
            asked = json.loads(request)
            asked["environment"] |= dict(os.environ.items() - given.items())
            return asked
    sys.exit()


def become(argv: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be the kernel that this command line starts in this folder and environment."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # A new process has random numbers of its own; Python's generator sees to that by itself.
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()
    sys.argv = argv[argv.index("-m") + 1 :]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    become(**serve(socket.socket(fileno=int(sys.argv[1]))))
