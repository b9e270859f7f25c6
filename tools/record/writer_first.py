"""Compute what the writer's explorer shows before its weights come: `python -m tools.record.writer_first`."""

from typing import Any

import torch

from d2lmini.writer import WRITERS, load_writer
from tools.record import save_first

BEGINNING = "Tom has a blue bell. Ida has a gray kite. Tom takes the"


def first(language: str) -> dict[str, Any]:
    """Return what a writer says after the beginning, and where its heads look from the last token."""
    writer = load_writer(language)
    numbers = writer.check(writer.stories.text(BEGINNING))
    with torch.no_grad():
        scores, _ = writer.net(torch.tensor([numbers]))
    return {
        "language": language,
        "config": {"num_steps": writer.num_steps},
        "vocab": writer.stories.vocab.idx_to_token,
        "numbers": numbers[1:],
        "logits": [round(score, 4) for score in scores[0, -1].tolist()],
        "weights": [
            [[round(weight, 4) for weight in head[-1].tolist()] for head in block]
            for block in writer.net.attention_weights
        ],
    }


def main() -> None:
    """Write a line for each language."""
    save_first("writer", [first(language) for language in WRITERS])


if __name__ == "__main__":
    main()
