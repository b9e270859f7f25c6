"""The kernels of notebooks: quick to start, and each like a new process."""

import multiprocessing
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager
from making import ROOT

from tools.notebooks import kernels

forks = pytest.mark.skipif(
    sys.platform != "linux" or any(map(os.path.exists, kernels.CARDS)),
    reason="kernels are forked on Linux without a graphics card",
)


@contextmanager
def kernel(folder: Path) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    manager = KernelManager(kernel_spec_manager=kernels.ThisPython())
    manager.start_kernel(cwd=str(folder), env={**os.environ, **kernels.KERNEL_ENVIRONMENT})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def value(client: BlockingKernelClient, code: str) -> Any:
    """What the kernel gives for an expression, after these statements."""
    *statements, expression = code.strip().splitlines()
    reply = client.execute_interactive(
        "\n".join(statements), user_expressions={"value": expression}, timeout=60, store_history=False
    )
    assert reply["content"]["status"] == "ok", reply["content"]
    result = reply["content"]["user_expressions"]["value"]
    assert result["status"] == "ok", result
    return eval(result["data"]["text/plain"])


@forks
def test_kernels_have_a_server_of_their_own(tmp_path: Path) -> None:
    """A build of the site in the same process may have started the one that all share, which is not warm."""
    other = multiprocessing.get_context("forkserver").Process(target=os.getpid)
    other.start()
    other.join()
    with kernel(tmp_path) as (_, client):
        assert value(client, "import sys\n'torch' in sys.modules") is True


# What a cell could notice of the process in which it runs.
STATE = """
import os, re, sys, locale, logging, signal, threading, warnings
loaded = [name for name in sys.modules if name.startswith("d2lmini")]
import matplotlib, matplotlib.pyplot as plt, torch, torch._dynamo, d2lmini as d2l
state = {"loaded": loaded, "path": sys.path, "folder": os.getcwd(), "environment": dict(os.environ)}
state["argv"] = [os.path.basename(sys.argv[0]), sys.argv[3:]]
state["python"] = [sys.executable, str(sys.flags), str(sys._xoptions), hash("a"), sys.getrecursionlimit()]
state["text"] = [locale.getlocale(), sys.getfilesystemencoding(), sys.stdout.encoding]
state["signals"] = [str(signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)]
state["threads"] = sorted(re.sub(r"\\d", "", thread.name) for thread in threading.enumerate())
state["warnings"] = sorted(map(str, warnings.filters))
state["logging"] = [str(type(handler)) for handler in logging.getLogger().handlers]
state["plots"] = [matplotlib.get_backend(), plt.get_fignums(), {k: str(v) for k, v in plt.rcParams.items()}]
state["torch"] = [torch.get_num_threads(), str(torch.get_default_dtype()), torch.is_grad_enabled()]
state["course"] = d2l.current_language()
state["main"] = [__name__, sorted(name for name in vars(sys.modules["__main__"]) if name[0] != "_")]
del state["environment"]["JPY_PARENT_PID"]
state
"""
RANDOM = """
import random, numpy, torch
random.random(), numpy.random.rand(), torch.rand(1, dtype=torch.float64).item()
"""
LEAVES = """
d2l.use_language("vi"); torch.manual_seed(0); d2l.plt.figure()
os.chdir("/"); os.environ["LEFT"] = "here"
0
"""


@forks
def test_a_fork_is_like_a_new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEN_BY", "a cell")
    with kernel(tmp_path) as (_, first):
        parents = {value(first, "import os\nos.getppid()")}
        forked = value(first, STATE)
        # what a notebook leaves behind
        numbers = [value(first, RANDOM)]
        value(first, LEAVES)
    with kernel(tmp_path) as (_, second):
        parents.add(value(second, "import os\nos.getppid()"))
        assert value(second, STATE) == forked
        numbers.append(value(second, RANDOM))
    assert len(parents) == 1 and parents != {os.getpid()}
    assert all(len(set(draws)) == len(numbers) for draws in zip(*numbers, strict=True))

    monkeypatch.setattr(kernels, "CARDS", (sys.executable,))
    with kernel(tmp_path) as (_, ordinary):
        assert value(ordinary, "import os\nos.getppid()") == os.getpid()
        assert value(ordinary, STATE) == forked
    assert forked["environment"]["SEEN_BY"] == "a cell" and forked["environment"]["PYTHONHASHSEED"] == "0"


def test_a_kernel_can_be_interrupted_and_its_end_is_noticed(tmp_path: Path) -> None:
    with kernel(tmp_path) as (manager, client):
        waits = "import time; print('waits', flush=True); time.sleep(300)"
        client.execute(waits, stop_on_error=False)  # else what is asked next may be dropped
        while client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
            pass
        manager.interrupt_kernel()
        assert client.get_shell_msg(timeout=60)["content"]["ename"] == "KeyboardInterrupt"
        assert manager.is_alive()
        client.execute("import os; os._exit(1)")
        manager.provisioner.process.wait()  # the server of the forks tells it a moment later
        assert not manager.is_alive()


ABANDONED = """
import os
from jupyter_client.manager import KernelManager
from tools.notebooks.kernels import ThisPython
manager = KernelManager(kernel_spec_manager=ThisPython())
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
print(manager.provisioner.pid, flush=True)
input()
os._exit(1)
"""


@forks
def test_kernels_end_with_the_process_that_asked_for_them() -> None:
    command = [sys.executable, "-c", ABANDONED]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdin and process.stdout
            ended = os.pidfd_open(int(process.stdout.readline()))
            signal.pidfd_send_signal(ended, 0)  # it runs
            process.stdin.write("\n")
            process.stdin.flush()
            assert select.select([ended], [], [], 60)[0]
            os.close(ended)
        finally:
            process.kill()
