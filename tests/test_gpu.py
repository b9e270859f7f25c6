"""What `course.py gpu` does, as far as a machine without a GPU can tell."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from making import ROOT

import d2lmini as d2l
from d2lmini.language import LANGUAGES
from d2lmini.notebook import gpu as report
from tools import bench, gpu, notebooks
from tools.kernels import KERNEL_ENVIRONMENT
from tools.other_device import OtherDevice, other_device


def test_without_a_gpu_nothing_is_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main([]) == 1
    assert "no CUDA device" in capsys.readouterr().err


def test_a_record_is_measured_and_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RECORD", tmp_path / "gpu.json")
    with pytest.raises(FileNotFoundError, match=r"course\.py gpu"):
        d2l.gpu_report("layers")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "A card")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(gpu, "LONGEST", 512)
    monkeypatch.setattr(
        gpu, "translator_speed", lambda *asked: {**SPEED, "model": asked[0], "target": asked[2]}
    )

    def peak(run, device):
        if isinstance(run.func, d2l.RecurrentLayer) and len(run.args[0]) == 32:
            raise torch.cuda.OutOfMemoryError
        return 2**21

    monkeypatch.setattr(bench, "peak_bytes", peak)
    with OtherDevice():
        record = gpu.measure(other_device())
    gpu.write(record, report.RECORD)
    assert list(tmp_path.iterdir()) == [report.RECORD]
    capsys.readouterr()
    d2l.gpu_report("layers")
    told = capsys.readouterr().out
    assert told.startswith(f"A card, PyTorch {torch.__version__.split('+')[0]}, CUDA 13.0\n")
    widths = [line.split() for line in told.splitlines() if line[:6].strip().isdigit()]
    assert [row[0] for row in widths] == ["512", "512", "1", "4", "32"]
    assert widths[1] == ["512", "2.00", "2.00", "2.00", "2.00"]
    assert widths[4][2] == "–"  # it found no room
    d2l.gpu_report("translation")
    assert "     900       80  en→zh Transformer" in capsys.readouterr().out
    with pytest.raises(ValueError, match="'layers', 'translation'"):
        d2l.gpu_report("speed")


SPEED = {"training": 900, "translating": 80}


def test_speed_of_a_translator() -> None:
    speed = gpu.translator_speed("Transformer", bench.small_translator, "vi", torch.device("cpu"))
    assert (speed["model"], speed["target"]) == ("Transformer", "vi")
    assert speed["training"] > 0 and speed["translating"] > 0


def test_pages_show_a_record_where_there_is_one(tmp_path: Path) -> None:
    for language in LANGUAGES:
        for page, _ in gpu.PLACES.values():
            target = tmp_path / "chapters" / language / f"{page}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "chapters" / language / target.name, target)
    pages = sorted((tmp_path / "chapters").rglob("*.ipynb"))
    shown = ["gpu_report" in page.read_text(encoding="utf-8") for page in pages]
    assert set(shown) == {report.RECORD.exists()}
    for _ in range(2):  # a second record finds its cells
        assert gpu.show_in_pages(tmp_path) == ["cost-in-practice", "translation"]
        for page in pages:
            cells = notebooks.read(page)["cells"]
            calls = [cell["source"] for cell in cells if cell["id"].startswith("gpu-")]
            assert len(calls) == 1 and "gpu_report" in calls[0][0]
    assert "gpu-layers" in json.dumps(notebooks.read(pages[0]))


def test_a_gpu_computes_with_all_digits() -> None:
    assert KERNEL_ENVIRONMENT["NVIDIA_TF32_OVERRIDE"] == "0"
