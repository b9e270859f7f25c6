"""Compute what the block stepper shows before its weights come: `python -m tools.record.block_first`."""

import json
from typing import Any

import torch

import d2lmini as d2l
from book.chapters import store
from tools.record import ASSETS

FILE = ASSETS / "block-first.jsonl"
DIRECTIONS = {"en": "en-fr", "vi": "en-vi", "zh": "en-zh"}  # by the language of a page
SENTENCE = "The dog drinks milk."


def first(language: str) -> dict[str, Any]:
    """Return a sentence and the vectors of its tokens, as the encoder begins with them."""
    direction = DIRECTIONS[language]
    translator = d2l.load_translator(*direction.split("-"))
    source = [*d2l.split_tokens(SENTENCE), "<eos>"]
    embedding: Any = translator.net.encoder.embedding
    with torch.no_grad():
        rows = embedding(torch.tensor(translator.src_vocab[source])) * embedding.embedding_dim**0.5
    return {
        "language": language,
        "direction": direction,
        "sentence": SENTENCE,
        "source": source,
        # in hundredths
        "embedding": [[round(100 * number) for number in row] for row in rows.tolist()],
    }


def main() -> None:
    """Write a line for each language."""
    lines = [json.dumps(first(name), ensure_ascii=False, separators=(",", ":")) for name in DIRECTIONS]
    store(FILE, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
