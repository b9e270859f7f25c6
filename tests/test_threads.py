"""Training is not slowed down by whatever else runs: one thread, wherever the package is used."""

import os
import subprocess
import sys

import pytest
from making import ROOT

# what stands between the first cell of a page and its first training loop
PAGE = "import torch; import d2lmini as d2l; d2l.use_language('en')"


def threads(code: str, **variables: str) -> int:
    """Return how many threads torch computes with after some code, in a process with a plain environment."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "MKL_"))}
    command = [sys.executable, "-c", f"{code}\nimport torch; print(torch.get_num_threads())"]
    run = subprocess.run(
        command, cwd=ROOT, env=plain | variables, capture_output=True, text=True, check=True, timeout=120
    )
    return int(run.stdout)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="torch has one thread anyway")
def test_without_the_package_there_would_be_several_threads():
    assert threads("import torch") > 1


@pytest.mark.parametrize("code", [PAGE, "import d2lmini as d2l; d2l.causal_mask(3)"])
def test_a_page_computes_on_one_thread_also_in_its_own_loops(code):
    assert threads(code) == 1


def test_a_number_that_the_reader_sets_stays():
    assert threads(f"{PAGE}; torch.set_num_threads(3); d2l.causal_mask(3)") == 3
    assert threads(f"{PAGE}; d2l.causal_mask(3)", OMP_NUM_THREADS="2") == 2
