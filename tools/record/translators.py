"""The recipe of the translators that the package ships: `course.py checkpoints`.

What is new against D2L's recipe, and why: every sentence is used; the embeddings
of the target are the weights of the last layer too, so that a token learns from being read and from being
written; the learning rate warms up and decays, label smoothing and dropout keep the model from being sure too
early. Everything here was chosen on sentences taken from those to train on (`--choose`), never on those held
out.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import d2lmini as d2l
from d2lmini.checkpoints import Translator, make_net
from d2lmini.data import Vocab, split_tokens

CONFIG = {"num_hiddens": 64, "ffn_num_hiddens": 128, "num_heads": 4, "num_layers": 2, "num_steps": 10}
RECIPE = {"epochs": 100, "batch": 64, "rate": 3e-3, "dropout": 0.1, "label_smoothing": 0.1, "seed": 0}
RESERVED = ["<pad>", "<bos>", "<eos>"]
EXAMPLES = {"en": "He's calm.", "fr": "Je suis content.", "vi": "Tôi rất vui.", "zh": "我很高兴。"}


Sentences = list[tuple[str, list[str]]]


def train(source: str, target: str, sentences: Sentences, recipe: Mapping[str, Any]) -> Translator:
    """Train one translator, and round its matrices as its file will."""
    pairs = [(split_tokens(one), split_tokens(others[0])) for one, others in sentences]
    # a token met once becomes <unk>: so the model learns what to make of a word that it does not know
    source_lines, target_lines = zip(*pairs, strict=True)
    src_vocab, tgt_vocab = Vocab(source_lines, 2, RESERVED), Vocab(target_lines, 2, RESERVED)
    sources, source_lens = d2l.build_array_nmt(source_lines, src_vocab, CONFIG["num_steps"])
    targets, target_lens = d2l.build_array_nmt(target_lines, tgt_vocab, CONFIG["num_steps"])
    torch.manual_seed(recipe["seed"])
    net = make_net(len(src_vocab), len(tgt_vocab), dropout=recipe["dropout"], **CONFIG)
    for module in net.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
    for module in net.modules():  # after the linear layers: one of them has the weights of an embedding
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=CONFIG["num_hiddens"] ** -0.5)
    optimizer = torch.optim.AdamW(net.parameters(), lr=recipe["rate"], betas=(0.9, 0.98), fused=True)
    epochs, batch = recipe["epochs"], recipe["batch"]
    steps = epochs * math.ceil(len(pairs) / batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: warm_up_and_decay(step, steps))
    smoothing = recipe["label_smoothing"]
    net.train()
    for epoch in range(1, epochs + 1):
        total = torch.zeros(())
        for rows in torch.randperm(len(pairs)).split(batch):
            X_len, Y_len = source_lens[rows], target_lens[rows]
            X, Y = sources[rows][:, : X_len.max()], targets[rows][:, : Y_len.max()]  # the rest is padding
            bos = torch.full((len(Y), 1), tgt_vocab["<bos>"])
            label = d2l.sequence_mask(Y, Y_len, value=-100)
            Y_hat, _ = net(X, torch.cat((bos, Y[:, :-1]), dim=1), X_len)  # (batch, steps, vocabulary)
            loss = F.cross_entropy(Y_hat.flatten(0, 1), label.flatten(), label_smoothing=smoothing)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1)
            optimizer.step()
            schedule.step()
            total += loss.detach() * len(rows)
        if epoch % 10 == 0:
            print(f"{source}-{target}: epoch {epoch}/{epochs}, loss {total / len(pairs):.3f}", flush=True)
    with torch.no_grad():  # what is measured next is what is shipped
        for parameter in net.parameters():
            if parameter.dim() == 2:
                rows, scale = eight_bits(parameter)
                parameter.copy_(rows * scale[:, None])
    net.eval()
    about = {
        "example": EXAMPLES[source],
        "sentences": len(sentences),
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "training": recipe,
        "torch": torch.__version__.partition("+")[0],
        "license": "CC0-1.0",
    }
    return Translator(source, target, net, src_vocab, tgt_vocab, CONFIG["num_steps"], about)


def eight_bits(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row of a matrix, (rows, columns), to -127 … 127 times a scale of its own, (rows,)."""
    scale = matrix.abs().amax(dim=1).clamp(min=1e-12) / 127
    return (matrix / scale[:, None]).round().to(torch.int8), scale


def warm_up_and_decay(step: int, steps: int) -> float:
    """Return the share of the learning rate: up along a line for a tenth of the steps, then down to 0."""
    warm = max(1, steps // 10)
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm))
