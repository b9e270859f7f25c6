"""Describe the models that the package ships, from what their files say of themselves."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from d2lmini.checkpoints import DIRECTIONS, read_checkpoint
from tools.record.translators import RECIPE
from tools.record.writers import NAMES

TRANSLATORS = """# Six small translators

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
WRITERS = """# Three writers

Language models of two blocks, 64 wide, with 4 heads, rotary positions and a feed-forward network of 256,
trained by the same command on stories of `d2lmini.Stories`, each of which was read once.
A file is in the safetensors format, in 16-bit floats. `d2lmini.load_writer` makes the model. The weights are
under CC0 1.0.

The loss is that of 1 000 stories held out, in nats a token, beside the least that any model can have on them.
Recalled is the share of words right that follow from what was told above: in these stories, of pairs of color
and thing that no story of the training has, and in stories of seven and eight things.
"""


def card(folder: Path) -> str:
    """Describe the checkpoints of a folder."""
    recipe = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in RECIPE.items())
    head = ["direction", "sentences", "parameters", "file", "BLEU", "exact", "BLEU, beam 4", "exact, beam 4"]
    head += ["BLEU, 600 pairs", "exact, 600 pairs"]
    rows = []
    for name, about, size in described(folder, DIRECTIONS):
        results = [about[key] for key in ("bleu", "exact", "beam_bleu", "beam_exact")]
        results += [about["reference"][key] for key in ("bleu", "exact")]
        rows.append([name, about["sentences"], about["parameters"], size, *(f"{x:.2f}" for x in results)])
    writers = []
    for name, about, size in described(folder, NAMES):
        results = [about[key] for key in ("loss", "best_loss", "recalled", "unseen", "longer")]
        writers.append([name, about["stories"], about["parameters"], size, *(f"{x:.4f}" for x in results)])
    columns = [
        "writer",
        "stories",
        "parameters",
        "file",
        "loss",
        "least loss",
        "recalled",
        "unseen pairs",
        "longer",
    ]
    return f"{TRANSLATORS}\nTraining: {recipe}.\n\n{table(head, rows)}\n{WRITERS}\n{table(columns, writers)}"


def described(folder: Path, names: Sequence[str]) -> list[tuple[str, dict[str, Any], str]]:
    """Return name, `about` and size of each of these checkpoints that the folder has."""
    paths = [folder / f"{name}.safetensors" for name in names]
    return [
        (
            path.stem,
            json.loads(read_checkpoint(path.stem)[0]["about"]),
            f"{path.stat().st_size / 1000:.0f} KB",
        )
        for path in paths
        if path.exists()
    ]


def table(head: list[str], rows: list[list[Any]]) -> str:
    """Write a table in Markdown."""
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in [head, ["---"] * len(head), *rows])
