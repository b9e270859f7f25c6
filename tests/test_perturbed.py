"""The notebooks print the same where last digits differ, with two threads, and on another device."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from test_notebooks_execution import add, course, main, notebook  # noqa: F401  course is a fixture

from book.chapters import LANGUAGES, find
from tools.portability import perturbed
from tools.portability.perturbed import MOST, Shifted

# The code is the same in every language; on these pages it reads other data.
BY_LANGUAGE = ["translation", "what-it-learned"]
PATHS = [*find([], LANGUAGES[:1]), *find(BY_LANGUAGE, LANGUAGES[1:])]
CASES = [(path, way) for path in PATHS for way in perturbed.ways(path)]


def units(here: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    return (here.view(torch.int32) - there.view(torch.int32)).abs()


def test_results_move_by_a_few_units_and_by_the_same_amount_again() -> None:
    X = torch.randn(40, 40, generator=torch.Generator().manual_seed(0))
    for function in (lambda: X @ X, X.exp, lambda: X.softmax(-1), lambda: X.sum(0), X.norm):
        here = function()
        with Shifted():
            there, again = function(), function()
        assert torch.equal(there, again)
        assert 0 < units(here, there).max() <= MOST
    with Shifted():
        rows = torch.softmax(X[:1].repeat(3, 1), dim=-1)
    assert torch.equal(rows[0], rows[2])  # equal results stay equal


def test_what_is_exact_everywhere_stays() -> None:
    whole = torch.arange(12.0).reshape(3, 4) / 2
    with Shifted():
        assert torch.equal(whole @ whole.T, (whole.double() @ whole.double().T).float())
        assert torch.equal(torch.tensor([0.0, -torch.inf]).exp(), torch.tensor([1.0, 0.0]))
        assert torch.softmax(torch.tensor([1.0, -torch.inf]), 0).tolist() == [1.0, 0.0]


def test_gradients_move_too() -> None:
    X = torch.randn(20, 20, generator=torch.Generator().manual_seed(0))
    grads = []
    for way in (torch.no_grad, Shifted):
        W = X.clone().requires_grad_()
        with way(), torch.enable_grad():
            (X @ W).tanh().sum().backward()
        grads.append(W.grad)
    assert not torch.equal(*grads)
    assert torch.allclose(*grads, atol=1e-4)


@pytest.mark.slow
def test_cell_that_prints_last_digits_is_named(
    course: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    exact = "import torch\nX = torch.linspace(0, 1, 7)\nprint(f'{X.exp().sum():.2f}')"
    add(course, "one", notebook(("rounded", exact), ("digits", "print(X.exp().tolist())")))
    assert main([], course) == 0
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(perturbed.main, [], course).result() == 1
    told = capsys.readouterr().out
    assert "one.ipynb#digits: with other last digits and two threads it prints" in told
    assert "#rounded" not in told


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("path", "way"), CASES, ids=[f"{path.parent.name}-{path.stem}-{way}" for path, way in CASES]
)
def test_notebook_prints_the_same(path: Path, way: str) -> None:
    with ThreadPoolExecutor(1) as thread:  # the browser tests leave an event loop running in this one
        found = thread.submit(perturbed.differences, path, way).result()
    assert not found, "\n".join(found)
