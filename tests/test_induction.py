"""Chapter 15: what its recorded experiment compares, and that its pages say what was recorded."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import d2lmini as d2l
from tools.record import induction

ROWS = d2l.recorded_induction()
MODELS = [*induction.MODELS]


def of(model: str, language: str = "en") -> list[dict[str, object]]:
    return [row for row in ROWS if (row["model"], row["language"]) == (model, language)]


@pytest.mark.parametrize("model", MODELS)
def test_models_that_recall_have_equal_parameters(model: str) -> None:
    count = sum(weight.numel() for weight in induction.MODELS[model][0](41).parameters())
    assert abs(count / 104832 - 1) < 0.05
    assert {row["parameters"] for row in of(model)} == {count}


@pytest.mark.parametrize("model", MODELS)
def test_models_that_recall_see_no_token_ahead(model: str) -> None:
    torch.manual_seed(0)
    net, X = induction.MODELS[model][0](41), torch.randint(3, 41, (2, 30))
    whole, start = net(X)[0], net(X[:, :20])[0]
    assert torch.allclose(whole[:, :20], start, atol=1e-5)


def test_every_rate_was_tried_and_the_best_has_three_seeds() -> None:
    for model in MODELS[1:]:
        first = [row for row in of(model) if row["seed"] == 0]
        assert sorted(row["rate"] for row in first) == sorted(induction.MODELS[model][1])
        best = max(first, key=lambda row: row["recalled"])["rate"]
        assert [row["seed"] for row in of(model) if row["rate"] == best] == [0, 1, 2]


def test_two_layers_with_rope_recall_from_every_seed() -> None:
    for language, seeds in (("en", 20), ("vi", 3)):
        rows = of("two layers, RoPE", language)
        assert [row["seed"] for row in rows] == [*range(seeds)]
        assert all(len(row["shares"]) == len(row["losses"]) == 30 for row in rows)
        assert all(row["shares"][-1] > 0.99 and row["recalled"] > 0.999 for row in rows)
    assert all(row["shares"][19] > 0.95 for row in of("two layers, RoPE"))  # after two thirds


def weighted(mixing: induction.Mixing) -> tuple[Tensor, Tensor]:
    """Return the weights that a mixing gives, (n, n), by values that are one-hot; and the scores."""
    torch.manual_seed(0)
    Q, K = torch.randn(2, 1, 4, 16, 16)
    mask = torch.ones(16, 16, dtype=torch.bool).tril()
    weights = mixing(Q, K, torch.eye(16).expand(1, 4, 16, 16), None, mask)
    return weights[0], (Q @ K.transpose(2, 3) / 4)[0].masked_fill(~mask, -torch.inf)


def test_a_window_of_8_sees_itself_and_seven_before() -> None:
    weights, _ = weighted(induction.Mixing("window"))
    distance = torch.arange(16)[:, None] - torch.arange(16)
    assert ((weights > 0) == ((distance >= 0) & (distance < 8))).all()


def test_alibi_lowers_scores_by_distance() -> None:
    weights, scores = weighted(induction.Mixing("alibi"))
    assert torch.allclose(weights, F.softmax(scores + d2l.ALiBi(4)(16), dim=-1), atol=1e-6)


def test_linear_attention_is_normalized_before_it_turns() -> None:
    torch.manual_seed(0)
    Q, K, V = torch.randn(3, 1, 4, 9, 16)
    mixed = induction.Mixing("linear")(Q, K, V, None, torch.ones(9, 9, dtype=torch.bool).tril())
    turn, (Q, K) = d2l.RotaryEmbedding(16), (F.elu(Q) + 1, F.elu(K) + 1)
    for i in range(9):  # one token after the other: two sums over the past are all that is kept
        memory = turn(K)[..., : i + 1, :].transpose(2, 3) @ V[..., : i + 1, :]
        total = (Q[..., i, :] * K[..., : i + 1, :].sum(2)).sum(-1, keepdim=True)
        assert torch.allclose(
            mixed[..., i, :], (turn(Q)[..., i : i + 1, :] @ memory)[..., 0, :] / total, atol=1e-5
        )
