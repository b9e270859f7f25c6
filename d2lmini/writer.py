"""The course's own writers: small language models of its stories, trained for it and shipped with it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from d2lmini.checkpoints import read_checkpoint
from d2lmini.language_model import LanguageModel, PreNormBlock
from d2lmini.sampling import generate
from d2lmini.stories import Stories
from d2lmini.transformer import PositionWiseFFN

WRITERS = ("en", "vi", "zh")


@dataclass(frozen=True, repr=False)
class Writer:
    """A trained language model with the stories that it has read; call it with the beginning of one.

    Attributes:
        net: a `LanguageModel`, on the CPU, in evaluation mode.
        stories: the `Stories` whose words it knows.
        num_steps: room for a story, in tokens, `<bos>` and `<eos>` counted.
        about: how it was made and how well it does.

    Example:
        >>> writer = load_writer("en")
        >>> writer
        Writer of stories in 'en'
        >>> writer("Tom has a blue bell. Ida has a gray kite. Max", num_tokens=5, top_k=1)
        'has a yellow book.'
    """

    net: LanguageModel
    stories: Stories
    num_steps: int
    about: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Writer of stories in {self.stories.language!r}"

    def check(self, beginning: str) -> list[int]:
        """Return the numbers of the tokens of a beginning that this writer can read, `<bos>` first.

        Raises:
            TypeError: `beginning` is not a string.
            ValueError: it has a word that no story has, or is longer than what the writer has read.
        """
        tokens = ["<bos>", *self.stories.split(beginning)]
        if len(tokens) >= self.num_steps:
            raise ValueError(
                f"beginning: got {len(tokens) - 1} tokens; this writer was trained on stories of at most "
                f"{self.num_steps - 2}. Begin with fewer"
            )
        numbers: list[int] = self.stories.vocab[tokens]
        return numbers

    def __call__(
        self,
        beginning: str = "",
        num_tokens: int | None = None,
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        generator: torch.Generator | None = None,
    ) -> str:
        """Go on with a story, and return what was written.

        Args:
            beginning: a story so far, or nothing.
            num_tokens: how many tokens to write at most; left out, as many as there is room for. The story's
                end is an end in any case.
            temperature: as in `generate`.
            top_k: the same.
            top_p: the same.
            generator: the same.

        Raises:
            TypeError, ValueError: as in `check` and `generate`.
        """
        numbers = self.check(beginning)
        room = self.num_steps - len(numbers)
        eos = self.stories.vocab["<eos>"]
        chosen: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        count = room if num_tokens is None else min(room, num_tokens)
        written = generate(self.net, numbers, count, **chosen, generator=generator, stop=eos)
        return self.stories.join([t for t in self.stories.vocab.to_tokens(written) if t != "<eos>"])


def make_writer(
    vocab_size: int, *, num_hiddens: int, ffn_num_hiddens: int, num_heads: int, num_layers: int, **_: Any
) -> LanguageModel:
    """Return a language model of the writers' kind with fresh weights."""
    blocks = [
        PreNormBlock(num_hiddens, num_heads, PositionWiseFFN(num_hiddens, ffn_num_hiddens, num_hiddens))
        for _ in range(num_layers)
    ]
    return LanguageModel(vocab_size, num_hiddens, blocks)


def load_writer(language: str | None = None) -> Writer:
    """Load the course's trained writer of a language.

    Args:
        language: as in `Stories`.

    Returns:
        A new writer each time: what you change in its net stays there.

    Raises:
        ValueError: there is no writer of this language.

    Example:
        >>> sum(parameter.numel() for parameter in load_writer("zh").net.parameters())
        104832
    """
    stories = Stories(language)
    meta, tensors = read_checkpoint(f"writer-{stories.language}")
    config = json.loads(meta["config"])
    net = make_writer(len(stories.vocab), **config)
    net.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    net.eval()
    return Writer(net, stories, config["num_steps"], json.loads(meta["about"]))
