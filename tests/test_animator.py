"""The curve of a training in a notebook: it costs little, and it stays when the reader stops the training."""

from types import SimpleNamespace
from typing import Any

import pytest
from test_kernels import kernel

import d2lmini as d2l
from d2lmini.notebook import animator

TRAINING = """
import torch, d2lmini as d2l
d2l.use_language("{language}")
data, source, target = d2l.load_data_nmt(8, num_steps=8, num_examples=8)
sizes = 8, 16, 1
net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(len(source), *sizes), d2l.Seq2SeqDecoder(len(target), *sizes))
result = d2l.train_seq2seq(net, data, 0.01, 1_000_000, target, "cpu")
"""
WIDGET = "application/vnd.jupyter.widget-view+json"


def until(client: Any, kind: str, *, holds: str = "") -> list[dict[str, Any]]:
    """Return what the kernel says, up to a message of this kind with these words in its data."""
    messages = []
    while True:
        message = client.get_iopub_msg(timeout=120)
        messages.append(message)
        if message["msg_type"] == kind and holds in str(message["content"]):
            return messages


def test_an_interrupted_training_leaves_its_curve_and_a_sentence(tmp_path):
    with kernel(tmp_path) as (manager, client):
        client.execute(TRAINING.format(language="en"))
        until(client, "display_data", holds=WIDGET)
        until(client, "comm_msg", holds="<svg")  # the curve has points
        manager.interrupt_kernel()
        messages = until(client, "status", holds="idle")
        shown = [m for m in messages if m["msg_type"] in ("display_data", "error", "stream")]
        assert [message["msg_type"] for message in shown] == ["display_data", "error"]
        curve, error = (message["content"] for message in shown)
        assert "image/svg+xml" in curve["data"]
        (sentence,) = error["traceback"]
        assert sentence.startswith("Stopped after epoch ") and " of 1000000. " in sentence
        assert sentence.endswith("if you run the cell again, its training begins anew.")
        assert client.get_shell_msg(timeout=60)["content"]["status"] == "error"  # "Run all" goes no further

        client.execute("print(next(net.parameters()).shape[1], 'result' in globals())")
        assert until(client, "stream")[-1]["content"]["text"] == "8 False\n"


@pytest.mark.parametrize("drawing", [0.001, 0.1, 1])
def test_a_curve_takes_at_most_a_tenth_of_the_time(monkeypatch, drawing):
    curve, now, drawings = d2l.Animator(), 0.0, 0

    def draw(*_: Any) -> None:
        nonlocal now, drawings
        now, drawings = now + drawing, drawings + 1

    monkeypatch.setattr(animator, "as_svg", draw)
    monkeypatch.setattr(animator.time, "monotonic", lambda: now)
    monkeypatch.setattr(curve, "_show_live", lambda svg: None)
    curve._shell = SimpleNamespace(events=SimpleNamespace(register=lambda *_: None))
    for step in range(1, 201):
        curve.add(step, 1 / step)
        now += 0.25
    assert drawings * drawing <= 0.1 * now + drawing
    assert drawings >= min(now, 0.09 * now / drawing)  # and it does grow
    d2l.plt.close(curve.fig)
