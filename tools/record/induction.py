"""Record how models of chapter 15 learn to recall what a story has said: induction.csv.

What is compared was written down before it was recorded. All models read the same 19 200 stories, each once:
600 steps of 32, in an order that the seed draws, with AdamW as in `d2l.train_language_model`. All have as
many parameters as two layers of attention with RoPE, 5 % more or less, and two layers, but for "one layer".
A rate of 2e-3 had been chosen for these two layers. One layer, linear attention, GRU and LSTM are therefore
trained with three rates from seed 0; the rate that recalls most is trained from two more seeds. Measured on
stories that no model has read: the loss, and how often the recalled word gets the highest score, of all of
them, of the pairs that no story of the training has, and in stories with 7 or 8 things. Every 20 steps the
share recalled is measured on 100 stories; there "losses" are the mean of the last 20 steps of the training.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import d2lmini as d2l
from d2lmini.training import train_language_model
from tools.record import ASSETS, device_name, save_rows, show
from tools.record.writers import recalled, scores

PATH = ASSETS / "induction.csv"
STEPS, EVERY = 600, 20


class Mixing(nn.Module):
    """Stand where a `MultiHeadAttention` calls its `DotProductAttention`."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.alibi, self.turn = kind, d2l.ALiBi(4), d2l.RotaryEmbedding(16)

    def forward(self, Q: Tensor, K: Tensor, V: Tensor, _: None, mask: Tensor) -> Tensor:
        """Mix values: Q, K, V of shape (batch, heads, n, width)."""
        if self.kind == "window":  # itself and the 7 tokens before it
            return F.scaled_dot_product_attention(Q, K, V, mask.triu(-7))
        if self.kind == "alibi":
            bias = self.alibi(len(mask)).masked_fill(~mask, -torch.inf)
            return F.scaled_dot_product_attention(Q, K, V, bias)
        Q, K = F.elu(Q) + 1, F.elu(K) + 1  # linear; positions as in Su et al. 2021, equation 19
        weights = (self.turn(Q) @ self.turn(K).transpose(2, 3)).tril()
        return weights / (Q @ K.transpose(2, 3)).tril().sum(3, keepdim=True) @ V


def attention(vocab: int, kind: str = "rope", layers: int = 2, d: int = 64, ffn: int = 256) -> nn.Module:
    rotary = kind in ("rope", "window")
    blocks = [d2l.PreNormBlock(d, 4, d2l.PositionWiseFFN(d, ffn, d), rotary=rotary) for _ in range(layers)]
    if kind in ("window", "alibi", "linear"):
        for block in blocks:
            block.attention.attention = Mixing(kind)  # type: ignore[assignment]
    places = d2l.LearnedPositionalEncoding(d, 0, 98) if kind == "learned" else None
    return d2l.LanguageModel(vocab, d, blocks, pos_encoding=places)


class Recurrent(nn.Module):
    def __init__(self, vocab: int, layer: Callable[..., nn.Module], d: int) -> None:
        super().__init__()
        self.embedding, self.dense = nn.Embedding(vocab, d), nn.Linear(d, vocab, bias=False)
        self.rnn = layer(d, d, num_layers=2, batch_first=True)
        nn.init.normal_(self.embedding.weight, std=0.3)

    def forward(self, X: Tensor) -> tuple[Tensor, None]:
        return self.dense(self.rnn(self.embedding(X))[0]), None


TWO, RATES = "two layers, RoPE", (1e-3, 3e-3, 1e-2)
MODELS: dict[str, tuple[Callable[[int], nn.Module], tuple[float, ...]]] = {
    TWO: (attention, (2e-3,)),
    "two layers, ALiBi": (partial(attention, kind="alibi"), (2e-3,)),
    "two layers, learned positions": (partial(attention, kind="learned", ffn=240), (2e-3,)),
    "two layers, window of 8": (partial(attention, kind="window"), (2e-3,)),
    "one layer, RoPE": (partial(attention, layers=1, d=88, ffn=352), RATES),
    "linear attention": (partial(attention, kind="linear"), RATES),
    "GRU": (partial(Recurrent, layer=nn.GRU, d=90), RATES),
    "LSTM": (partial(Recurrent, layer=nn.LSTM, d=78), RATES),
}


def train(language: str, name: str, rate: float, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train one model; return its row."""
    stories = d2l.Stories(language)
    X = stories.batch(STEPS * 32, seed=0)
    torch.manual_seed(seed)
    net = MODELS[name][0](len(stories.vocab))
    held_out, losses, shares = stories.batch(100, seed=4), [], []

    def on_step(step: int, loss: float) -> None:
        losses.append(loss)
        if step % EVERY == 0:
            with torch.no_grad():
                shares.append(recalled(net, stories, held_out))

    train_language_model(net, X[torch.randperm(len(X))], steps, rate, 32, on_step)
    means = torch.tensor(losses).unflatten(0, (-1, EVERY)).mean(1).tolist()
    row = {"language": language, "model": name, "rate": rate, "seed": seed}
    row |= {"parameters": sum(weight.numel() for weight in net.parameters()), **scores(net, stories)}
    curves = {"losses": means, "shares": shares}
    return row | {name: " ".join(f"{number:.3f}" for number in curve) for name, curve in curves.items()}


def run(devices: list[torch.device], record: bool) -> None:
    """Train all models on the CPU; print what they reach, and record it if asked."""
    rows = [train("en", TWO, 2e-3, seed) for seed in range(20)]
    rows += [train("vi", TWO, 2e-3, seed) for seed in range(3)]
    for name, (_, rates) in [*MODELS.items()][1:]:
        first = [train("en", name, rate, 0) for rate in rates]
        best = max(first, key=lambda row: row["recalled"])["rate"]
        rows += [*first, *(train("en", name, best, seed) for seed in (1, 2))]
    show("induction: recall", [*rows[0]][:-2], [[str(cell) for cell in row.values()][:-2] for row in rows])
    if record:
        save_rows(PATH, [{"device": device_name(torch.device("cpu"))} | row for row in rows])
