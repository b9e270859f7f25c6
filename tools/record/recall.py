"""Record how stacks of two layers of chapter 6 answer for one of many stored pairs: recall.csv."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tools.record import ASSETS, device_name, save_rows, show

PATH = ASSETS / "recall.csv"
PAIRS = (4, 8, 16, 32, 64)
D, HEADS, KEYS, VALUES = 32, 2, 128, 32
Mixing = Callable[
    [Tensor, Tensor, Tensor, Tensor], Tensor
]  # q, k, v (B, heads, n, width), beta (B, heads, n)


def window(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, reach: int = 16) -> Tensor:
    near = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril().triu(1 - reach)
    return F.scaled_dot_product_attention(q, k, v, near)


def linear(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    weights = ((F.elu(q) + 1) @ (F.elu(k) + 1).transpose(-1, -2)).tril()
    return weights / weights.sum(-1, keepdim=True) @ v


def decay(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    distance = torch.arange(q.shape[-2])[:, None] - torch.arange(q.shape[-2])
    kept = 1 - 2.0 ** -(5 + torch.arange(HEADS))  # one a head, as Sun et al. 2023 choose them
    weights = (q @ k.transpose(-1, -2)).tril() * kept[:, None, None] ** distance.tril()
    return F.rms_norm(weights @ v, v.shape[-1:])


def delta(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    # all steps at once: what is written at i lacks what the earlier ones had written under its key
    earlier = beta[..., None] * (k @ k.transpose(-1, -2)).tril(-1) + torch.eye(q.shape[-2])
    written = torch.linalg.solve_triangular(earlier, beta[..., None] * v, upper=False)
    return F.rms_norm((q @ k.transpose(-1, -2)).tril() @ written, v.shape[-1:])


full = partial(window, reach=KEYS)
MIXINGS: dict[str, Mixing] = {"attention": full, "windowed": window, "linear": linear, "decay": decay}
STACKS = {name: (mix, mix) for name, mix in (MIXINGS | {"delta rule": delta}).items()}
STACKS["delta rule, then attention"] = (delta, full)


class Layer(nn.Module):
    def __init__(self, mix: Mixing):
        super().__init__()
        self.mix, self.norm = mix, nn.RMSNorm(D)
        self.qkv, self.beta, self.out = nn.Linear(D, 3 * D), nn.Linear(D, HEADS), nn.Linear(D, D)

    def forward(self, X: Tensor) -> Tensor:
        Y = self.norm(X)
        q, k, v = self.qkv(Y).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)  # (B, heads, n, width)
        mixed = self.mix(q, k, v, self.beta(Y).sigmoid().transpose(1, 2))
        return X + self.out(mixed.transpose(1, 2).flatten(-2))


def draw(pairs: int, asked: int, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw different keys with values, then some keys again with the sign that asks; and the answers."""
    keys = torch.rand(batch, KEYS, generator=generator).argsort(1)[:, :pairs]
    values = torch.randint(VALUES, (batch, pairs), generator=generator)
    again = torch.rand(batch, pairs, generator=generator).argsort(1)[:, :asked]
    ask = torch.full_like(again, VALUES)
    return torch.cat([keys, keys.gather(1, again)], 1), torch.cat([values, ask], 1), values.gather(1, again)


def shares(stack: tuple[Mixing, Mixing], seed: int, steps: int = 1500) -> tuple[int, list[float]]:
    """Train a stack; return its parameters and, for each number of pairs, the share of right answers."""
    torch.manual_seed(seed)
    draws, held_out = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(1000)
    tables = nn.ModuleList([nn.Embedding(KEYS, D), nn.Embedding(VALUES + 1, D)])
    layers = nn.Sequential(*map(Layer, stack), nn.RMSNorm(D), nn.Linear(D, VALUES))
    parameters = [*tables.parameters(), *layers.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, steps)
    for step in range(steps):
        keys, values, answers = draw(PAIRS[step % len(PAIRS)], 16, 32, draws)
        scores = layers(tables[0](keys) + tables[1](values))[:, -answers.shape[1] :]
        optimizer.zero_grad()
        F.cross_entropy(scores.flatten(0, 1), answers.flatten()).backward()
        optimizer.step()
        schedule.step()
    right = []
    with torch.no_grad():
        for pairs in PAIRS:
            keys, values, answers = draw(pairs, 1, 2000, held_out)
            scores = layers(tables[0](keys) + tables[1](values))[:, -1]
            right.append((scores.argmax(1) == answers[:, 0]).double().mean().item())
    return sum(parameter.numel() for parameter in parameters), right


def run(devices: list[torch.device], record: bool) -> None:
    """Train each stack from three seeds, on the CPU; print the shares, and record them if asked."""
    rows, device = [], device_name(torch.device("cpu"))
    for name, stack in STACKS.items():
        for seed in range(3):
            count, right = shares(stack, seed)
            cells = {str(pairs): f"{share:.3f}" for pairs, share in zip(PAIRS, right, strict=True)}
            rows.append({"device": device, "layers": name, "seed": seed, "parameters": count} | cells)
    show("recall: share right", [*rows[0]][1:], [[str(cell) for cell in row.values()][1:] for row in rows])
    if record:
        save_rows(PATH, rows)
