"""Notebooks again and again: what differs from time to time is named."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest
from making import cell, write_notebook

from tools import steady


def printing(name: str, source: str, text: str) -> dict:
    output = {"output_type": "stream", "name": "stdout", "text": text}
    return cell("code", name, source, [output]) | {"execution_count": 1}


@pytest.mark.skipif(os.name == "nt" or (os.cpu_count() or 1) < 2, reason="two threads need two cores")
def test_an_unsteady_cell_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(steady, "load", nullcontext)  # the other tests are load enough
    cells = [
        printing("same", "print(1)", "1\n"),
        printing("threads", "import torch\nprint(torch.get_num_threads())", "1\n"),
        printing("zone", "import os\nprint(os.environ['TZ'], os.environ['LC_ALL'])", "UTC C\n"),
        printing("folder", "print(*' 课' if ' ' in os.getcwd() and '课' in os.getcwd() else '')", "  课\n"),
        printing("chance", "import random\nprint(random.random())", "0.5\n"),
    ]
    write_notebook(tmp_path / "chapters" / "en" / "one.ipynb", cells)
    before = sorted(tmp_path.rglob("*"))
    assert steady.main(["--times", "2"], tmp_path) == 1
    said = capsys.readouterr().out
    assert "one.ipynb#chance: 2 of 2 times" in said
    assert "one.ipynb#threads: 1 of 2 times\n  1: threads 2" in said
    assert "one.ipynb#zone: 1 of 2 times" in said
    assert "#same" not in said and "#folder" not in said
    assert sorted(tmp_path.rglob("*")) == before
