"""Time the writing of 256 tokens with and without a cache: d 256, 4 layers, 512 tokens to choose from.

Both ways write the same text, the most probable token each time, with the same random weights; the faster of
two runs counts. Nothing is recorded.
"""

from functools import partial

import torch

import d2lmini as d2l
from tools.record import show

TOKENS = 256
AT_LEAST = 5  # times as fast with the cache, on one thread of a processor


def make_model(num_hiddens: int = 256, num_layers: int = 4) -> d2l.LanguageModel:
    """Return the model that writes, with fresh weights."""
    torch.manual_seed(0)
    blocks = [
        d2l.PreNormBlock(num_hiddens, 4, d2l.PositionWiseFFN(num_hiddens, 4 * num_hiddens, num_hiddens))
        for _ in range(num_layers)
    ]
    return d2l.LanguageModel(512, num_hiddens, blocks).eval()


def seconds(net: d2l.LanguageModel, cached: bool, tokens: int = TOKENS) -> tuple[float, list[int]]:
    """Return how long a text takes, and the text."""
    write = partial(d2l.generate, net, [0], tokens, top_k=1, cached=cached)
    timer = d2l.Timer()
    for _ in range(2):
        timer.start()
        text = write()
        timer.stop()
    return min(timer.times), text


def run(devices: list[torch.device], record: bool = False) -> None:
    """Print both times for each device; nothing is recorded."""
    for device in devices:
        net = make_model().to(device)
        (fast, text), (slow, same) = seconds(net, True), seconds(net, False)
        row = [f"{fast:.2f} s", f"{slow:.2f} s", f"{slow / fast:.1f}", "yes" if text == same else "no"]
        title = f"{TOKENS} tokens on {device.type}; on one thread the cache is to be {AT_LEAST} times as fast"
        show(title, ["with the cache", "without", "times", "same text"], [row])
