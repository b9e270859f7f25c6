"""The writers that the package ships: plain files, what they say of themselves, and what they refuse."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from pairing import slow_except

import d2lmini as d2l
from d2lmini import checkpoints
from d2lmini.checkpoints import CHECKPOINTS
from d2lmini.writer import WRITERS
from tools.record import checkpoints as tool, writers as recipe

BEGINNING = "Tom has a blue bell. Ida has a gray kite. Tom takes the"
each = pytest.mark.parametrize("language", WRITERS)


@pytest.fixture(scope="module")
def writers() -> dict[str, d2l.Writer]:
    return {language: d2l.load_writer(language) for language in WRITERS}


@each
def test_the_file_is_plain_float16_and_the_net_has_these_numbers(writers: Any, language: str) -> None:
    raw = (CHECKPOINTS / f"writer-{language}.safetensors").read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:begin])
    meta = {name: json.loads(text) for name, text in header.pop("__metadata__").items()}
    writer = writers[language]
    assert meta["vocab"] == writer.stories.vocab.idx_to_token and meta["config"]["language"] == language
    state, at = writer.net.state_dict(), 0
    assert state.keys() == header.keys()
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        assert entry["dtype"] == "F16" and first == at
        numbers = np.frombuffer(raw, "<f2", (last - first) // 2, begin + first).reshape(entry["shape"])
        assert np.array_equal(state[name].numpy(), numbers.astype(np.float32))
        at = last
    assert begin + at == len(raw) <= 300_000


@pytest.mark.parametrize("language", slow_except(WRITERS, ["en"]))
def test_it_scores_what_it_says(writers: Any, language: str) -> None:
    writer = writers[language]
    measured = recipe.scores(writer.net, writer.stories)
    # a tie of two tokens may be broken otherwise on another processor
    assert measured == pytest.approx({key: writer.about[key] for key in measured}, abs=2e-3)


@each
def test_it_is_near_the_best_and_recalls(writers: Any, language: str) -> None:
    """Stories that neither its training nor its scores have seen."""
    writer = writers[language]
    about, stories = writer.about, writer.stories
    X = stories.batch(100, seed=99)
    assert recipe.recalled(writer.net, stories, X) == about["recalled"] == 1
    assert about["best_loss"] < about["loss"] < about["best_loss"] + 0.03
    assert about["unseen"] > 0.9 and about["longer"] > 0.85
    assert about["parameters"] == sum(weights.numel() for weights in writer.net.parameters()) == 104_832
    assert about["stories"] == about["steps"] * recipe.BATCH and about["license"] == "CC0-1.0"


@each
def test_it_goes_on_with_a_story(writers: Any, language: str) -> None:
    writer = writers[language]
    stories, beginning = writer.stories, writer.stories.text(BEGINNING)
    chances = writer.stories.probabilities(stories.split(beginning))
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        text = writer(beginning, top_p=0.95, generator=generator)
        tokens = stories.split(text)
        assert tokens[0] in chances
        stories.surprisals([*stories.split(beginning), *tokens])  # a whole story, or this is refused
        assert writer(beginning, top_p=0.95, generator=generator.manual_seed(seed)) == text
    assert len(stories.split(writer(num_tokens=7))) == 7
    assert len(stories.split(writer(beginning, 3, top_k=1))) == 3


def test_it_is_of_the_ordinary_classes_and_each_call_gives_another(writers: Any) -> None:
    net = writers["en"].net
    assert type(net) is d2l.LanguageModel and not net.training
    assert all(type(block) is d2l.PreNormBlock for block in net.blks) and len(net.blks) == 2
    with torch.no_grad():
        d2l.load_writer("en").net.embedding.weight.zero_()
    assert d2l.load_writer("en").net.embedding.weight.abs().sum() > 0
    assert repr(writers["vi"]) == "Writer of stories in 'vi'" and d2l.load_writer().stories.language == "en"


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (
            {"beginning": "Tom has a bleu bell."},
            ValueError,
            "no story has the word 'bleu'; the nearest are 'blue'",
        ),
        (
            {"beginning": "Tom has a " * 30},
            ValueError,
            "beginning: got 90 tokens; .*at most 66. Begin with fewer",
        ),
        ({"beginning": 3}, TypeError, "text: got int; give a string"),
        ({"num_tokens": -1}, ValueError, "num_tokens: got -1; "),
        ({"temperature": 0}, ValueError, "temperature: got 0; "),
        ({"top_k": 0}, ValueError, "top_k: got 0; "),
        ({"top_p": 2}, ValueError, "top_p: got 2; "),
    ],
)
def test_what_it_cannot_do_gets_a_helpful_answer(
    writers: Any, given: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    state = torch.get_rng_state()
    with pytest.raises(error, match=sentence):
        writers["en"](**given)
    assert torch.equal(torch.get_rng_state(), state)


def test_the_longest_beginning_leaves_room_for_one_token(writers: Any) -> None:
    writer = writers["en"]
    story = writer.stories.tell(0, things=9)
    assert len(writer.stories.split(writer(writer.stories.join(story[: writer.num_steps - 2])))) <= 1
    with pytest.raises(ValueError, match=f"at most {writer.num_steps - 2}"):
        writer(writer.stories.join(story[: writer.num_steps - 1]))


def test_it_never_writes_more_than_there_is_room_for(writers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    written = lambda net, numbers, count, **_: asked.append(len(numbers) + count) or []  # noqa: E731
    monkeypatch.setattr("d2lmini.writer.generate", written)
    for given in ({}, {"num_tokens": 10_000}, {"beginning": "Tom has a", "num_tokens": 10_000}):
        writers["en"](**given)
    assert asked == [writers["en"].num_steps] * 3


def test_there_is_no_writer_of_another_language() -> None:
    with pytest.raises(ValueError, match="language: got 'fr'; choose one of 'en', 'vi', 'zh'"):
        d2l.load_writer("fr")


# ---- the command that makes them


def test_the_command_writes_a_file_that_loads_and_the_same_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(recipe, "scores", lambda net, stories: measured | {"training": net.training})
    monkeypatch.setattr(tool, "ASSETS", tmp_path)
    monkeypatch.setattr(checkpoints, "CHECKPOINTS", tmp_path)
    measured, files = dict.fromkeys(("loss", "best_loss", "recalled", "unseen", "longer"), 0.5), []
    for _ in range(2):
        tool.main(["writer-en", "--steps", "2"])
        assert sorted(file.name for file in tmp_path.iterdir()) == ["README.md", "writer-en.safetensors"]
        files.append((tmp_path / "writer-en.safetensors").read_bytes())
    assert files[0] == files[1]
    writer = d2l.load_writer("en")
    about = {name: writer.about[name] for name in ("steps", "stories", "parameters", "training")}
    assert about == {"steps": 2, "stories": 64, "parameters": 104_832, "training": False}
    assert len(writer("Tom", 4, temperature=0.1).split()) <= 4


def test_choosing_makes_no_writer(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tool.main(["writer-en", "--choose"])
    assert "no such model: writer-en; choose of en-fr" in capsys.readouterr().err
