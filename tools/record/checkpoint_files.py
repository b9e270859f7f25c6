"""Write the files of the models that the package ships, and the card that describes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from book.chapters import store
from d2lmini.checkpoints import DIRECTIONS, SHARED, Translator, read_checkpoint
from tools.record.translators import CONFIG, RECIPE, eight_bits

TYPES = {torch.int8: "I8", torch.float16: "F16", torch.float32: "F32"}
CARD = """# Six small translators

Transformers of two blocks on either side, 64 wide, with 4 heads and a feed-forward network of 128, trained
by `python3 course.py checkpoints` on the sentences of `../corpus.tsv` and on nothing else. They know some
hundred everyday words in sentences of at most nine tokens; they are for looking into, not for translating
letters.
A file is in the safetensors format: each matrix as 8-bit integers with a scale for each row.
`d2lmini.load_translator` makes the model. The weights are under CC0 1.0, like the sentences.

The scores are those of the sentences held out: mean BLEU (k = 2, the best of several references) and the
share of translations that equal a reference, by greedy search and with a beam. Beside them, what the recipe
of *Dive into Deep Learning* reaches with its 600 pairs. Nothing was chosen by these sentences. They are known
words in new company: most differ from some sentence trained on in a single word.
"""


def write(path: Path, translator: Translator, measured: Mapping[str, Any]) -> None:
    """Write the checkpoint of a translator: matrices as 8-bit rows."""
    config = {**CONFIG, "source": translator.source, "target": translator.target}
    meta: dict[str, object] = {"config": config, "about": {**translator.about, **measured}}
    vocabularies = {"src_vocab": translator.src_vocab, "tgt_vocab": translator.tgt_vocab}
    meta.update((name, vocab.idx_to_token) for name, vocab in vocabularies.items())
    tensors: dict[str, Tensor] = {}
    for name, tensor in translator.net.state_dict().items():
        if name == SHARED[0]:
            continue
        if tensor.dim() < 2:
            tensors[name] = tensor
            continue
        tensors[name], tensors[f"{name}.scale"] = eight_bits(tensor)
    save(path, meta, tensors)


def save(path: Path, meta: Mapping[str, object], tensors: Mapping[str, Tensor]) -> None:
    """Write tensors and what there is to say of them in the safetensors format, all or nothing."""
    # F32 before F16 before I8, so that numbers of four bytes begin at multiples of four
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    plain = {name: json.dumps(value, ensure_ascii=False) for name, value in meta.items()}
    header: dict[str, object] = {"__metadata__": plain}
    data = b""
    for name, tensor in ordered:
        begin, data = len(data), data + tensor.contiguous().numpy().tobytes()
        header[name] = {
            "dtype": TYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, len(data)],
        }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(exist_ok=True)
    store(path, len(text).to_bytes(8, "little") + text + data)


def card(folder: Path) -> str:
    """Describe the checkpoints of a folder, from what they say of themselves."""
    rows = []
    for direction in DIRECTIONS:
        path = folder / f"{direction}.safetensors"
        if path.exists():
            about = json.loads(read_checkpoint(direction)[0]["about"])
            results = [f"{about[key]:.2f}" for key in ("bleu", "exact", "beam_bleu", "beam_exact")]
            results += [f"{about['reference'][key]:.2f}" for key in ("bleu", "exact")]
            size = f"{path.stat().st_size / 1000:.0f} KB"
            rows.append([direction, about["sentences"], about["parameters"], size, *results])
    head = ["direction", "sentences", "parameters", "file", "BLEU", "exact", "BLEU, beam 4", "exact, beam 4"]
    head += ["BLEU, 600 pairs", "exact, 600 pairs"]
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    recipe = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in RECIPE.items())
    return f"""{CARD}
Training: {recipe}.

{table}
"""
