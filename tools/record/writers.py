"""The recipe of the writers that the package ships: `course.py checkpoints`.

They are what chapter 15 trains, for longer: two layers, RoPE, on stories each of which is read once.
"""

import random
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

import d2lmini as d2l
from d2lmini.writer import WRITERS, make_writer
from tools.record.checkpoint_files import save

NAMES = [f"writer-{language}" for language in WRITERS]
CONFIG = {"num_hiddens": 64, "ffn_num_hiddens": 256, "num_heads": 4, "num_layers": 2}
STEPS = 1200
BATCH = 32


@torch.no_grad()
def scores(net: nn.Module, stories: d2l.Stories) -> dict[str, Any]:
    """Return the loss on 1 000 stories held out, the best possible one, and the share recalled right.

    `unseen` is that share for the one pair in each story that no story of the training has, `longer` that in
    stories of 7 and 8 things.
    """
    rng = random.Random(1)
    held_out = [stories.tell(rng) for _ in range(1000)]
    best = [surprisal for story in held_out for surprisal in stories.surprisals(story)]
    X = stories.batch(1000, seed=1)  # the same stories
    Y, _ = net(X[:, :-1])
    loss = F.cross_entropy(Y.flatten(0, 1), X[:, 1:].flatten(), ignore_index=1)
    measured = {
        "loss": loss.item(),
        "best_loss": sum(best) / len(best),
        "recalled": recalled(net, stories, X),
    }
    new = stories.batch(300, seed=2, unseen=True)
    long = stories.batch(200, seed=3, things=[7, 8])
    measured |= {
        "unseen": recalled(net, stories, new, only_first=True),
        "longer": recalled(net, stories, long),
    }
    return {name: round(value, 4) for name, value in measured.items()}


def recalled(net: nn.Module, stories: d2l.Stories, X: torch.Tensor, only_first: bool = False) -> float:
    """Return the share of recalled tokens that get the highest score: of all, or of the first pair."""
    Y, _ = net(X[:, :-1])
    places = stories.recalled(X)[:, 1:]
    if only_first:  # the token of the first sentence, before its "."
        stop = stories.vocab[stories.tell(0)[-1]]
        end = (stop == X).int().argmax(dim=1, keepdim=True)
        places = places & (X[:, 1:] == X.gather(1, end - 1))
    return (Y.argmax(dim=2) == X[:, 1:])[places].float().mean().item()


def make_writer_file(path: Path, steps: int) -> None:
    """Train a writer, round it as its file will, measure and store it."""
    stories = d2l.Stories(path.stem.removeprefix("writer-"))
    X = stories.batch(steps * BATCH, seed=0)
    torch.manual_seed(0)
    net = make_writer(len(stories.vocab), **CONFIG)
    d2l.train_language_model(net, X, steps)
    tensors = {name: tensor.half() for name, tensor in net.state_dict().items()}
    net.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    net.eval()
    about = {
        "stories": len(X),
        "steps": steps,
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "torch": torch.__version__.partition("+")[0],
        "license": "CC0-1.0",
        **scores(net, stories),
    }
    config = {**CONFIG, "num_steps": X.shape[1], "language": stories.language}
    save(path, {"config": config, "about": about, "vocab": stories.vocab.idx_to_token}, tensors)
    print(path.name, about, f"{path.stat().st_size} bytes", flush=True)
