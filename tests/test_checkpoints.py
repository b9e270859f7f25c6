"""The files that the package ships; its translators: small, what they say, helpful to whoever types."""

import json
from typing import Any

import pytest
import torch
from pairing import slow_except

import d2lmini as d2l
from d2lmini import checkpoints
from d2lmini.checkpoints import CHECKPOINTS, DIRECTIONS
from d2lmini.data import course_sentences
from tools.record import checkpoints as tool
from tools.record.translators import CONFIG
from tools.record.writers import NAMES

FROM_ENGLISH = [direction for direction in DIRECTIONS if direction.startswith("en-")]


@pytest.fixture(scope="module")
def translators() -> dict[str, d2l.Translator]:
    return {direction: d2l.load_translator(*direction.split("-")) for direction in DIRECTIONS}


def test_nine_files_of_at_most_300_kilobytes() -> None:
    found = {file.name: len(file.read_bytes()) for file in CHECKPOINTS.iterdir() if file.name != "README.md"}
    assert sorted(found) == sorted(f"{name}.safetensors" for name in (*DIRECTIONS, *NAMES))
    assert max(found.values()) <= 300_000


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_file_is_in_the_safetensors_format(direction: str) -> None:
    raw = (CHECKPOINTS / f"{direction}.safetensors").read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    assert begin % 8 == 0
    header = json.loads(raw[8:begin])
    assert all(isinstance(value, str) for value in header.pop("__metadata__").values())
    at = 0
    for entry in sorted(header.values(), key=lambda entry: entry["data_offsets"]):
        first, last = entry["data_offsets"]
        size = {"I8": 1, "F32": 4}[entry["dtype"]]
        assert (first, last - first) == (at, size * torch.Size(entry["shape"]).numel())
        assert first % size == 0
        at = last
    assert begin + at == len(raw)


@pytest.mark.parametrize("direction", slow_except(DIRECTIONS, ["en-vi"]))
def test_it_scores_what_it_says(translators: Any, direction: str) -> None:
    translator = translators[direction]
    sentences = list(course_sentences(*direction.split("-"), "test").items())
    measured = tool.scores(translator, sentences)
    # a tie of two tokens may be broken otherwise on another processor: that is one sentence of a hundred
    assert measured == pytest.approx({key: translator.about[key] for key in measured}, abs=0.011)


@pytest.mark.parametrize("direction", FROM_ENGLISH)
def test_from_english_it_is_good(translators: Any, direction: str) -> None:
    about = translators[direction].about
    assert about["bleu"] >= 0.88
    assert about["bleu"] > about["reference"]["bleu"] + 0.2


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_it_is_documented(translators: Any, direction: str) -> None:
    translator = translators[direction]
    about, config = translator.about, CONFIG
    assert about["parameters"] == sum(weights.numel() for weights in translator.net.parameters())
    assert about["sentences"] == len(course_sentences(*direction.split("-"), "train"))
    assert about["training"] == tool.RECIPE
    assert about["license"] == "CC0-1.0"
    assert translator.num_steps == config["num_steps"]
    assert translator(about["example"]).text


def test_the_card_says_what_the_files_say() -> None:
    assert (CHECKPOINTS / "README.md").read_text(encoding="utf-8") == tool.card(tool.ASSETS)


def test_the_model_is_of_the_ordinary_classes(translators: Any) -> None:
    net = translators["en-vi"].net
    assert type(net) is d2l.EncoderDecoder and not net.training
    assert type(net.encoder) is d2l.TransformerEncoder and type(net.decoder) is d2l.TransformerDecoder
    assert net.decoder.dense.weight is net.decoder.embedding.weight


def test_each_call_gives_a_model_of_its_own() -> None:
    first, second = (d2l.load_translator("en", "vi") for _ in range(2))
    with torch.no_grad():
        first.net.encoder.embedding.weight.zero_()
    assert second.net.encoder.embedding.weight.abs().sum() > 0


def test_a_translation_comes_with_its_attention(translators: Any) -> None:
    for translator in translators.values():
        translation = translator(translator.about["example"])
        n, m = len(translation.source_tokens), len(translation.target_tokens)
        assert translation.source_tokens[-1] == translation.target_tokens[-1] == "<eos>"
        assert translation.cross_weights.shape == (2, 4, m, n)
        torch.testing.assert_close(translation.cross_weights.sum(-1), torch.ones(2, 4, m))
        assert str(translation) == repr(translation) == translation.text


@pytest.mark.parametrize(
    ("direction", "sentence", "said"),
    [
        ("en-vi", "  ", "sentence: it is empty. Type a short sentence in English, for example"),
        ("en-fr", "The elephant is tired.", "does not know the word 'elephant'"),
        ("en-fr", "He's tierd.", "the nearest are .*'tired'"),
        ("en-zh", "我很高兴。", "this looks like Chinese, and this translator reads English. "),
        ("en-fr", "我很高兴。", r"load_translator\('zh', 'en'\)"),
        ("vi-en", "She is at home.", r"looks like English.*load_translator\('en', 'vi'\)"),
        ("fr-en", "Cô ấy đang ngủ.", "looks like Vietnamese"),
        ("en-vi", "He is at home and she is at home.", "got 10 tokens.*at most 9"),
    ],
)
def test_what_it_cannot_translate_gets_a_helpful_answer(
    translators: Any, direction: str, sentence: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        translators[direction](sentence)


def test_a_number_is_no_sentence(translators: Any) -> None:
    with pytest.raises(TypeError, match="sentence: got int"):
        translators["en-vi"](3)


def test_other_directions_are_refused() -> None:
    with pytest.raises(ValueError, match="source-target: got 'fr-vi'; choose one of 'en-fr', 'en-vi'"):
        d2l.load_translator("fr", "vi")


# ---- the command that makes them


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """The command with forty sentences, writing to a folder of its own."""
    every = course_sentences
    monkeypatch.setattr(tool, "course_sentences", lambda *what: dict(list(every(*what).items())[:40]))
    monkeypatch.setattr(tool, "reference", lambda *_: {"bleu": 0.0, "exact": 0.0})
    monkeypatch.setattr(tool, "ASSETS", tmp_path)
    monkeypatch.setattr(checkpoints, "CHECKPOINTS", tmp_path)
    return tmp_path


def test_the_same_seed_gives_the_same_file(small: Any) -> None:
    tool.main(["en-vi", "--epochs", "2"])
    first = (small / "en-vi.safetensors").read_bytes()
    tool.main(["en-vi", "--epochs", "2"])
    assert (small / "en-vi.safetensors").read_bytes() == first
    assert sorted(file.name for file in small.iterdir()) == ["README.md", "en-vi.safetensors"]


def test_what_is_broken_off_leaves_the_old_file(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.main(["en-vi", "--epochs", "1"])
    first = (small / "en-vi.safetensors").read_bytes()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tool, "reference", stop)  # the last thing before the file is written
    with pytest.raises(KeyboardInterrupt):
        tool.main(["en-vi", "--epochs", "2"])
    assert (small / "en-vi.safetensors").read_bytes() == first


def test_choosing_writes_nothing_and_looks_at_no_held_out_sentence(
    small: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    every = tool.course_sentences
    monkeypatch.setattr(tool, "course_sentences", lambda *what: asked.append(what[2]) or every(*what))
    tool.main(["en-zh", "--choose", "--epochs", "1"])
    assert "bleu" in capsys.readouterr().out
    assert list(small.iterdir()) == [] and asked == ["train"]


def test_an_unknown_model_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tool.main(["en-de"])
    assert "no such model: en-de; choose of en-fr" in capsys.readouterr().err
