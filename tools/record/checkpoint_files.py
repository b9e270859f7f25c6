"""Write the files of the models that the package ships."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from book.chapters import store
from d2lmini.checkpoints import SHARED, Translator
from tools.record.translators import CONFIG, eight_bits

TYPES = {torch.int8: "I8", torch.float16: "F16", torch.float32: "F32"}


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
