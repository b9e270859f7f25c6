"""The kernels in which notebooks run: this Python, in a fixed environment.

Where it is safe, on Linux without a graphics card, they are forks of a warm process: `fork_provisioner.py`.
"""

import os
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from traitlets import Unicode

# The tests set the same before they start kernels: outputs are compared as they were made.
KERNEL_ENVIRONMENT = {
    "IPYKERNEL_CELL_NAME": "<cell>",  # else a warning names a file in a temporary folder
    # else a person's own start-up files take part
    "IPYTHONDIR": str(Path(__file__).resolve().parents[2] / "_build" / "ipython"),
    "NVIDIA_TF32_OVERRIDE": "0",  # else a GPU multiplies with 10 binary digits
    "OMP_NUM_THREADS": "1",  # the order of a sum depends on it, and training magnifies that
    "OMP_WAIT_POLICY": "PASSIVE",  # a thread that waits sleeps, or two threads beside other work take minutes
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else the debugger warns of Python's own modules
    "PYTHONHASHSEED": "0",
}
CARDS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # NVIDIA, AMD, either within Windows


class ThisPython(KernelSpecManager):
    """The kernel is the Python that runs this line, or `other`, whatever kernels are installed."""

    other = Unicode()

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the specification of a kernel in that Python, whatever the name."""
        python = self.other or sys.executable
        # --log-level: it warns at each start that this machine's users could listen
        argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
        spec = KernelSpec(argv=argv, display_name="Python 3", language="python")
        if not self.other and sys.platform == "linux" and not any(map(os.path.exists, CARDS)):
            from jupyter_client.provisioning import KernelProvisionerFactory  # Colab's version may lack it

            forked = EntryPoint("forked", "tools.notebooks.fork_provisioner:ForkedProvisioner", "")
            KernelProvisionerFactory.instance().provisioners["forked"] = forked
            spec.metadata["kernel_provisioner"] = {"provisioner_name": "forked"}
        return spec
