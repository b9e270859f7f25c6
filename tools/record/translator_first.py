"""Compute what the translator shows before its weights come: `python -m tools.record.translator_first`."""

from typing import Any

import torch

import d2lmini as d2l
from d2lmini.notebook import widgets
from tools.record import save_first

# by the language of a page: the direction; a token of the translation, and where a head looks from there
SHOWN = {"en": ("en-fr", "pain", "bread"), "vi": ("vi-en", "bread", "mì"), "zh": ("zh-en", "bread", "包")}
CANDIDATES = 5


def first(language: str) -> dict[str, Any]:
    """Return a translation, the candidates of its steps, and where the heads look in the source."""
    direction, token, word = SHOWN[language]
    translator = d2l.load_translator(*direction.split("-"))
    sentence = widgets._sentences()[translator.source][-1]
    said = translator(sentence)
    source = translator.src_vocab[said.source_tokens]
    target = translator.tgt_vocab[["<bos>", *said.target_tokens[:-1]]]
    with torch.no_grad():
        scores, _ = translator.net(
            torch.tensor([source]), torch.tensor([target]), torch.tensor([len(source)])
        )
    best = scores[0].softmax(dim=-1).topk(CANDIDATES)
    cross = said.cross_weights.permute(2, 0, 1, 3)  # (steps, blocks, heads, source)
    return {
        "language": language,
        "direction": direction,
        "sentence": sentence,
        "pair": [said.target_tokens.index(token), said.source_tokens.index(word)],
        "source": said.source_tokens,
        "steps": [
            {
                "token": written,
                "best": [
                    [translator.tgt_vocab.idx_to_token[number], round(p, 3)]
                    for p, number in zip(values.tolist(), numbers.tolist(), strict=True)
                ],
                # in percent
                "cross": [[[round(100 * w) for w in head] for head in block] for block in weights.tolist()],
            }
            for written, values, numbers, weights in zip(
                said.target_tokens, best.values, best.indices, cross, strict=True
            )
        ],
    }


def main() -> None:
    """Write a line for each language."""
    save_first("translator", [first(language) for language in SHOWN])


if __name__ == "__main__":
    main()
