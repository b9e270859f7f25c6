"""What `course.py bench` records is what the pages read, and it keeps the rows of other devices."""

import csv

import pytest
import torch

import d2lmini as d2l
from book.chapters import LANGUAGES, path_of, read, source
from tools import bench, record
from tools.record import lengths, neighbor, timings, translation

CPU = torch.device("cpu")


def test_recording_replaces_the_rows_of_one_device(tmp_path, capsys):
    def row(device, seconds):
        return dict(zip(timings.COLUMNS, (device, "attention", 1, 64, 64, 3, seconds, 1), strict=True))

    for device, seconds in (("a", "1"), ("b", "2"), ("a", "3")):
        record.save_rows(tmp_path / "timings.csv", [row(device, seconds)])
    with (tmp_path / "timings.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["device"], row["seconds"]) for row in csv.DictReader(file)]
    assert rows == [("b", "2"), ("a", "3")]
    assert "recorded 1 measurements of a in " in capsys.readouterr().out


def test_only_the_chosen_section_runs(monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(bench, "SECTIONS", {name: lambda *a, name=name: ran.append(name) for name in "ab"})
    threads = torch.get_num_threads()
    bench.main(["--section", "b", "--device", "cpu"])
    torch.set_num_threads(threads)
    assert ran == ["b"]
    assert capsys.readouterr().out.startswith("cpu: ")


def test_lengths_are_measured_with_the_cells_of_the_chapter():
    for recipe in lengths.RECIPES:
        shares = lengths.shares(recipe, seed=0, steps=1)
        assert len(shares) == 4 and all(0 <= share < 0.5 for share in shares)


def test_a_training_is_timed_alone_and_beside_a_busy_process(monkeypatch, capsys):
    assert 0 < neighbor.seconds(busy=True, epochs=1) < 60
    monkeypatch.setattr(neighbor, "seconds", lambda busy: 8.25 if busy else 7.75)
    neighbor.run()
    assert capsys.readouterr().out.splitlines()[-1] == "| 7.8 s | 8.2 s                 |"


@pytest.mark.parametrize("make", [translation.small_translator, translation.recurrent_translator])
def test_a_row_of_the_comparison_has_what_the_chapter_reads(monkeypatch, make):
    whole, train = d2l.held_out_nmt, d2l.train_seq2seq
    monkeypatch.setattr(d2l, "held_out_nmt", lambda target: whole(target)[:3])
    monkeypatch.setattr(
        d2l, "train_seq2seq", lambda net, data, lr, epochs, *rest: train(net, data, lr, 1, *rest)
    )
    row = translation.train_and_score("Transformer", make, "zh", 0, CPU)
    assert (row["model"], row["target"], row["seed"]) == ("Transformer", "zh", 0)
    assert float(row["losses"]) > 1 and 0 <= float(row["bleu"]) <= 1
    assert translation.spread([row, row | {"bleu": "0.5"}, row | {"bleu": "1"}], "bleu").startswith("0.5 (")


@pytest.mark.parametrize("language", LANGUAGES)
def test_times_of_a_gpu_show_up_without_editing_the_page(monkeypatch, capsys, language):
    """Also where one layer did not fit into its memory, and the fastest there is another."""
    cells = {cell["id"]: source(cell) for cell in read(path_of(language, "cost-in-practice"))["cells"]}
    names = ["wall-clock-ratio", "wall-clock-table", "wall-clock-speed", "batch-table"]
    names += ["wall-clock-curves", "wall-clock-interval", "memory-arithmetic", "memory-measured-code"]
    rows = d2l.recorded_timings()
    gpu = [
        row | {"device": "NVIDIA X", "seconds": 7e-7 if row["layer"] == "attention" else 3e-6}
        for row in rows
        if row["device"] == rows[0]["device"] and (row["layer"], row["n"]) != ("attention", 8192)
    ]
    d2l.use_language(language)
    printed = []
    for recorded in (rows, rows + gpu):
        monkeypatch.setattr(d2l, "recorded_timings", lambda recorded=recorded: recorded)
        page = {"torch": torch, "d2l": d2l}
        for name in names:
            exec(cells[name], page)
        printed.append(capsys.readouterr().out.splitlines())
    d2l.use_language("en")
    before, after = printed
    assert [line for line in before if line not in after] == []  # what the text says still stands there
    assert sum("NVIDIA X" in line for line in after) == 2
