"""What `course.py bench` records is what the pages read, and it keeps the rows of other devices."""

import csv

import pytest
import torch

import d2lmini as d2l
from book.chapters import LANGUAGES, path_of, read, source
from tools import bench, record
from tools.record import lengths, neighbor, recall, timings, translation, writing

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
    for recipe in lengths.RECIPES.values():
        shares = lengths.shares(recipe._replace(steps=1, further=min(1, recipe.further)), seed=0)
        assert len(shares) == 4 and all(0 <= share < 0.5 for share in shares)


def test_stacks_that_recall_have_equal_parameters():
    for stack in recall.STACKS.values():
        parameters, shares = recall.shares(stack, seed=0, steps=1)
        assert parameters == 14_884 and len(shares) == 5 and all(0 <= share < 0.2 for share in shares)


def test_layers_that_recall_compute_what_their_recurrence_says():
    q, k, v = torch.randn(3, 1, recall.HEADS, 9, 16, dtype=torch.float64)
    beta, kept = torch.rand(1, recall.HEADS, 9, dtype=torch.float64), (31 / 32, 63 / 64)
    for mix in (recall.delta, recall.decay):
        outputs = mix(q, k, v, beta)
        for head in range(recall.HEADS):
            state = torch.zeros(16, 16, dtype=torch.float64)
            for i in range(9):
                ask, key, value = q[0, head, i], k[0, head, i], v[0, head, i]
                if mix is recall.delta:
                    ask, key = ask / ask.norm(), key / key.norm()
                    state = state - beta[0, head, i] * torch.outer(key, key @ state - value)
                else:
                    state = kept[head] * state + torch.outer(key, value)
                expected = torch.nn.functional.rms_norm(ask @ state, (16,))
                torch.testing.assert_close(outputs[0, head, i], expected)


def test_a_training_is_timed_alone_and_beside_a_busy_process(monkeypatch, capsys):
    assert 0 < neighbor.seconds(busy=True, epochs=1) < 60
    monkeypatch.setattr(neighbor, "seconds", lambda busy: 8.25 if busy else 7.75)
    neighbor.run()
    assert capsys.readouterr().out.splitlines()[-1] == "| 7.8 s | 8.2 s                 |"


@pytest.mark.parametrize(("model", "pairs"), [("Transformer", "first"), ("recurrent", "validation")])
def test_a_row_of_the_comparison_has_what_the_chapters_read(monkeypatch, model, pairs):
    train, score = d2l.train_seq2seq, d2l.score_sentences
    monkeypatch.setattr(
        d2l, "train_seq2seq", lambda net, data, lr, epochs, *rest: train(net, data, lr, 1, *rest)
    )
    monkeypatch.setattr(d2l, "score_sentences", lambda net, asked, *rest: score(net, asked[:2], *rest))
    row = translation.train_and_score(model, "zh", 0, CPU, pairs)
    assert (row["model"], row["pairs"], row["target"], row["seed"]) == (model, pairs, "zh", 0)
    assert float(row["losses"]) > 1 and all(0 <= float(row[f"{g}_bleu"]) <= 1 for g in translation.GROUPS)
    assert row.keys() == d2l.recorded_translations()[0].keys() - {"new_bleu"}
    assert len({(*run, "x") for run in translation.plan()}) == len(d2l.recorded_translations())


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


def test_writing_is_timed_with_and_without_a_cache(monkeypatch, capsys):
    net = writing.make_model(8, 1)
    (fast, text), (slow, same) = (writing.seconds(net, cached, tokens=5) for cached in (True, False))
    assert fast > 0 < slow and text == same and len(text) == 5
    monkeypatch.setattr(writing, "seconds", lambda net, cached: (0.5, [1]) if cached else (3.0, [1]))
    writing.run([CPU])
    assert capsys.readouterr().out.splitlines()[-1] == "| 0.50 s         | 3.00 s  | 6.0   | yes       |"
