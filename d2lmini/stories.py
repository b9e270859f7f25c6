"""The stories that chapters 13 to 16 learn to write: a grammar that knows the probability of every token.

A story names people and what each of them has, in two to five sentences, and then tells six times who takes,
wants or finds which of the things. It is drawn token by token, each from a distribution that depends on
nothing but the text before it. So the best loss that any model can reach is known: see `Stories.surprisals`.
"""

import math
import random
import tomllib
from collections.abc import Generator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from d2lmini.data import Vocab, join_tokens, plain
from d2lmini.errors import nearest, one_of
from d2lmini.language import current_language

LATER = 6  # sentences after everybody was named
# Groups of tokens that may come next: each group is equally probable, and so is each token within its group.
Groups = tuple[list[str], ...]


@cache
def _grammars() -> dict[str, Any]:
    text = (files("d2lmini") / "assets" / "stories.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


class Stories:
    """The stories of a language.

    Args:
        language: `"en"`, `"vi"` or `"zh"`. Left out, the language of the notebook, or English if it has no
            stories of its own.

    Attributes:
        language: the language.
        names, colors, things, verbs: its words. A color and the thing of the same number never belong
            together, unless a story is told with `unseen=True`.
        vocab: a `Vocab` of all its tokens, with `<pad>`, `<bos>` and `<eos>`.

    Raises:
        ValueError: there are no stories in this language.

    Example:
        >>> stories = Stories("en")
        >>> len(stories.vocab)
        41
        >>> stories.join(stories.tell(seed=4)[:12])
        'Eva has a black kite. Ada has a gray drum.'
    """

    def __init__(self, language: str | None = None) -> None:
        grammars = _grammars()
        if language is None:
            language = current_language() if current_language() in grammars else "en"
        if language not in grammars:
            raise ValueError(one_of("language", language, grammars))
        self.language = language
        grammar = grammars[language]
        self.names, self.colors, self.things, self.verbs = (
            grammar[kind] for kind in ("names", "colors", "things", "verbs")
        )
        self._has, self._the = grammar["has"].split(), grammar["the"].split()
        fixed = dict.fromkeys(token for token in (*self._has, *self._the) if token[0] != "{")
        words = [*self.names, *self.colors, *self.things, *self.verbs, *fixed]
        self.vocab = Vocab([words], reserved_tokens=["<pad>", "<bos>", "<eos>"])

    def __repr__(self) -> str:
        return f"Stories({self.language!r})"

    # ---- telling

    def tell(self, seed: int | random.Random, things: int | None = None, unseen: bool = False) -> list[str]:
        """Draw a story token by token.

        Args:
            seed: a number, the same story each time; or a `random.Random` to go on with.
            things: how many things are named, 1 to 9. Left out, 2 to 5: after the second, each further one
                with probability 1/2.
            unseen: whether the first of them is a pair of color and thing that no other story has.

        Returns:
            The tokens, without `<bos>` and `<eos>`.

        Raises:
            ValueError: `things` is not 1 to 9.

        Example:
            >>> Stories("zh").tell(seed=0)[:6]
            ['小军', '有', '一只', '棕色的', '铃铛', '。']
        """
        most = len(self.things) - 1  # the last color and the last thing may not belong together
        if things is not None and not 1 <= things <= most:
            raise ValueError(
                f"things: got {things}; a story names 1 to {most} things, each once. "
                "Give such a number, or leave it out"
            )
        rng = seed if isinstance(seed, random.Random) else random.Random(seed)
        story: list[str] = []
        telling = self._telling(things, unseen)
        groups = next(telling)
        while groups != (["<eos>"],):
            group = groups[0] if len(groups) == 1 else rng.choice(groups)
            story.append(group[0] if len(group) == 1 else rng.choice(group))
            groups = telling.send(story[-1])
        return story

    def _telling(self, things: int | None = None, unseen: bool = False) -> Generator[Groups, str, None]:
        """Yield the tokens that may come next, be sent the one that came, and so on."""
        owners: list[str] = []
        pairs: dict[str, str] = {}  # what is recalled by what, in the order of the language
        while True:
            new = [name for name in self.names if name not in owners]
            if len(owners) < (things or 2):
                groups: Groups = (new,)
            elif things or len(owners) == 5:
                groups = (owners,)
            else:
                groups = (new, owners)
            name = yield groups
            if name in owners:
                break
            cue = yield from self._sentence(self._has, pairs, unseen and not owners)
            owners = [*owners, name]
            pairs[cue[0]] = cue[1]
        for later in range(LATER):
            if later:
                name = yield (owners,)
            yield (self.verbs,)
            yield from self._sentence(self._the, pairs)
        yield (["<eos>"],)
        yield ()

    def _sentence(
        self, tokens: list[str], pairs: dict[str, str], unseen: bool | None = None
    ) -> Generator[Groups, str, tuple[str, str]]:
        """Tell the rest of a sentence: a new pair of color and thing; one of `pairs` if `unseen` is None."""
        pair: list[str] = []
        for token in tokens:
            if token[0] != "{":
                yield ([token],)
            elif unseen is None:
                pair.append((yield ([pairs[pair[0]]] if pair else [*pairs],)))
            else:
                words = self.colors if token == "{color}" else self.things
                pair.append((yield (self._free(words, pairs, pair, unseen),)))
        return pair[0], pair[1]

    def _free(self, words: list[str], pairs: dict[str, str], pair: list[str], unseen: bool) -> list[str]:
        """Return the colors or things that a new pair may have: not yet told, and not the unseen partner."""
        if not pair:
            return [word for word in words if word not in pairs]
        number = (self.things if words is self.colors else self.colors).index(pair[0])
        if unseen:
            return [words[number]]
        told = set(pairs.values())
        return [word for i, word in enumerate(words) if word not in told and i != number]

    # ---- what may come next

    def probabilities(self, text: Sequence[str]) -> dict[str, float]:
        """Return the probability of each token that may come next, exactly; all others have 0.

        Args:
            text: the tokens of a story so far, without `<bos>`.

        Raises:
            ValueError: no story begins so.

        Example:
            >>> text = "Tom has a blue bell . Ida has a gray kite . Tom wants the"
            >>> Stories("en").probabilities(text.split())
            {'blue': 0.5, 'gray': 0.5}
        """
        groups = self._follow(text)[-1]  # none after <eos>
        return {token: 1 / len(groups) / len(group) for group in groups for token in group}

    def surprisals(self, story: Sequence[str]) -> list[float]:
        """Return -log of the probability of each token of a whole story, in nats, `<eos>` included.

        Their mean over many stories is the least mean cross-entropy that a model can have on them, but for
        luck: the model that has it gives each token the probability with which it was drawn.

        Args:
            story: the tokens, as `tell` returns them.

        Raises:
            ValueError: this is no story, or not a whole one.

        Example:
            >>> surprisals = Stories("en").surprisals(Stories("en").tell(seed=0))
            >>> f"{surprisals[0]:.3f}, {surprisals[1]:.3f}"  # one of ten names, then "has"
            '2.303, 0.000'
        """
        tokens = [*story, "<eos>"]
        return [
            math.log(len(groups) * len(next(group for group in groups if token in group)))
            for groups, token in zip(self._follow(tokens)[:-1], tokens, strict=True)
        ]

    def _follow(self, text: Sequence[str]) -> list[Groups]:
        """Return what might have come at each place of a text, and what may come after it."""
        telling = self._telling()
        groups = [next(telling)]
        for i, token in enumerate(text):
            allowed = [word for group in groups[-1] for word in group]
            if token not in allowed:
                take = f"one of {', '.join(map(repr, allowed))}" if allowed else "what stands before it"
                raise ValueError(
                    f"text: got {token!r} after {self.join(text[:i])!r}; no story goes on so. Take {take}"
                )
            groups.append(telling.send(token))
        return groups

    # ---- text and numbers

    def split(self, text: str) -> list[str]:
        """Split a text into tokens of the stories, whatever its case and spaces.

        Raises:
            TypeError: `text` is not a string.
            ValueError: it has a word that no story has.

        Example:
            >>> Stories("en").split("tom has a blue bell. Ida")
            ['Tom', 'has', 'a', 'blue', 'bell', '.', 'Ida']
            >>> Stories("zh").split("小明有一只蓝色的风筝。")
            ['小明', '有', '一只', '蓝色的', '风筝', '。']
        """
        known = {token.lower(): token for token in self.vocab.idx_to_token[4:]}
        if not isinstance(text, str):
            raise TypeError(f"text: got {type(text).__name__}; give a string")
        spaced = plain(text).replace(".", " . ")
        if self.language == "zh":  # no spaces between words; none begins another one
            for word in known:
                spaced = spaced.replace(word, f" {word} ")
        tokens = spaced.split()
        for token in tokens:
            if token not in known:
                near = nearest(token, known)
                raise ValueError(
                    f"text: no story has the word {token!r}{near}. "
                    "Take others, see stories.vocab.idx_to_token"
                )
        return [known[token] for token in tokens]

    def join(self, tokens: Sequence[str]) -> str:
        """Write tokens as a text.

        Example:
            >>> Stories("vi").join(["An", "có", "một", "chiếc", "diều", "xám", "."])
            'An có một chiếc diều xám.'
        """
        return "".join(tokens) if self.language == "zh" else join_tokens(tokens).replace(" .", ".")

    def text(self, english: str) -> str:
        """Return a beginning of an English story as this language's stories tell it.

        Args:
            english: one of those that the pages use; `assets/stories.toml` has them in the other languages.

        Raises:
            ValueError: it is none of them.

        Example:
            >>> Stories("zh").text("Tom has a blue bell. Ida has a gray kite. Tom takes the")
            '小明有一只蓝色的铃铛。小红有一只灰色的风筝。小明拿走那只'
        """
        texts = _grammars()[self.language].get("texts", {})
        if self.language != "en" and english not in texts:
            raise ValueError(one_of("english", english, texts))
        return texts.get(english, english)

    def batch(
        self, num: int, seed: int, things: Sequence[int | None] = (None,), unseen: bool = False
    ) -> Tensor:
        """Tell stories and write them as one rectangle of numbers.

        Args:
            num: how many stories.
            seed: the same stories each time.
            things: how many things the stories name, in turn, as in `tell`.
            unseen: as in `tell`.

        Returns:
            Numbers of tokens, shape (num, longest story + 2): `<bos>`, a story, `<eos>`, then `<pad>`.

        Raises:
            ValueError: as in `tell`, or `num` is less than 1.

        Example:
            >>> stories = Stories("en")
            >>> X = stories.batch(2, seed=4, things=[2, 3])
            >>> X.shape, stories.vocab.to_tokens(X[0, :7])
            (torch.Size([2, 56]), ['<bos>', 'Eva', 'has', 'a', 'black', 'kite', '.'])
        """
        if num < 1:
            raise ValueError(f"num: got {num}; tell 1 story or more")
        rng = random.Random(seed)
        lines = [self.tell(rng, things[i % len(things)], unseen) for i in range(num)]
        bos, eos, pad = self.vocab[["<bos>", "<eos>", "<pad>"]]
        longest = max(map(len, lines))
        return torch.tensor([[bos, *self.vocab[line], eos, *[pad] * (longest - len(line))] for line in lines])

    def recalled(self, X: Tensor) -> Tensor:
        """Say which tokens follow from what was told above: things after their color, or the other way round.

        Args:
            X: numbers of tokens, shape (..., n), as `batch` returns them.

        Returns:
            Booleans of the same shape: True for the second of the two words that name a thing again.

        Example:
            >>> stories = Stories("en")
            >>> X = torch.tensor(stories.vocab["Tom has a blue bell . Tom wants the blue bell .".split()])
            >>> stories.recalled(X).nonzero().flatten()
            tensor([10])
        """
        verbs = torch.isin(X, torch.tensor(self.vocab[self.verbs], device=X.device))
        return F.pad(verbs, (3, 0))[..., : X.shape[-1]]  # verb, "the", one word, and then this one
