"""The page on what has changed since 2017: its records, its counts, and the reader's own parts at its end."""

import itertools
from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn

import d2lmini as d2l
from book.chapters import path_of, read, source
from d2lmini.notebook.content import exercise_content

CELLS = {cell["id"]: source(cell) for cell in read(path_of("en", "since-2017"))["cells"]}
MODELS = ("block-code", "model-code", "changes-code", "trials-code", "swiglu-code", "as-in-use-code")


@pytest.fixture
def page(own_folder: Any) -> dict[str, Any]:
    names: dict[str, Any] = {"torch": torch, "nn": nn, "d2l": d2l}
    for name in MODELS:
        exec(CELLS[name], names)
    return names


def test_each_model_of_the_page_is_recorded_from_three_seeds(page: dict[str, Any]) -> None:
    recorded = Counter(row["change"] for row in d2l.recorded_since())
    assert recorded == dict.fromkeys(page["trials"], 3)


def test_what_the_page_says_of_its_table_is_in_the_records() -> None:
    rows = d2l.recorded_since()
    changes = dict.fromkeys(row["change"] for row in rows)

    def of(change: str, measure: str) -> list[float]:
        return [row[measure] for row in rows if row["change"] == change]

    best, worst = min(of("2017", "loss")), max(of("2017", "loss"))
    assert [change for change in changes if max(of(change, "loss")) < best] == ["all but tied"]
    assert [change for change in changes if min(of(change, "loss")) > worst] == ["pre-norm", "tied"]
    assert min(of("rotary", "recalled")) > 0.99
    assert min(of("rotary", "longer")) > 0.94
    assert max(of("2017", "longer")) < 0.74


def test_a_change_changes_what_it_names(page: dict[str, Any]) -> None:
    sizes = {name: page["size"](page["make_model"](**way)) for name, way in page["trials"].items()}
    d, vocabulary = 64, len(page["stories"].vocab)
    assert (
        sizes["tied"]
        == sizes["2017"] - d * vocabulary
        == sizes["all"] - sizes["all but tied"] + sizes["2017"]
    )
    assert sizes["shared heads"] == sizes["2017"] - 2 * 2 * d * d // 2  # half of W_k and W_v, two blocks
    assert sizes["rotary"] == sizes["2017"]  # nothing is learned
    assert sizes["QK-norm"] == sizes["2017"] + 2 * 2 * 16


@pytest.mark.parametrize(
    "own_text", ["", "Tom has a blue bell, and Ida has a gray kite. " * 20], ids=["stories", "own text"]
)
def test_the_readers_own_parts_write(
    own_text: str, page: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """They are taken from the notebook, and give the scores of the model: the page's own assertion."""
    for name in ("code-rms-norm", "code-block-step"):
        exec(exercise_content(f"since-2017/{name}", "en")["solution_code"], page)

    def sampler(scores: torch.Tensor, T: float, p: float) -> torch.Tensor:
        return torch.softmax(scores / T, dim=0)

    def merge_step(tokens: torch.Tensor, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        numbers = tokens.tolist()
        pair = Counter(itertools.pairwise(numbers)).most_common(1)[0][0]
        merged: list[int] = []
        for token in numbers:
            if merged and (merged[-1], token) == pair:
                merged[-1] = number
            else:
                merged.append(token)
        return torch.tensor(pair), torch.tensor(merged)

    page |= {"sampler": sampler, "merge_step": merge_step}
    text = CELLS["own-text"].replace('own_text = ""', f"own_text = {own_text!r}")
    text = text.replace("+ 100)", "+ 10)").replace("500 * 32", "2")  # not trained: it tells nonsense
    for cell in (CELLS["parts-code"], text, CELLS["story-code"], CELLS["story-told"]):
        exec(cell, page)
    told = capsys.readouterr().out
    assert [line.split()[1] for line in told.splitlines()[-4:-1]] == ["yours"] * 3
    page["rms_norm"] = lambda X, gain: X  # a wrong part does not pass
    with pytest.raises(AssertionError):
        for cell in (CELLS["parts-code"], CELLS["story-code"], CELLS["story-told"]):
            exec(cell, page)
