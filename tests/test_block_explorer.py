"""The block stepper: every tensor shown is PyTorch's, the keyboard walks it, nothing comes unasked."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
import torch
from explorer_pages import UNDER_HEADER, site_of, swipe, visits
from making import asked
from pairing import WIDE_AND_NARROW, slow_except
from playwright.sync_api import Browser, Locator, Page, expect
from test_new_language import LEFT_IN_ENGLISH, in_pseudo
from test_seen import DESK, PHONE, unseen
from test_writer_explorer import TOO_SMALL
from torch import Tensor, nn

import d2lmini as d2l
from d2lmini.checkpoints import DIRECTIONS
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import module_source
from tools.record import block_first

KIND = "block-explorer"
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
DEFAULT = {"en": "en-fr", "vi": "en-vi", "zh": "en-zh"}
WORDS = {
    language: words(language)["explorers"]["shared"] | words(language)["explorers"]["block"]
    for language in LANGUAGES
}
SENTENCE = "The dog drinks milk."
SOURCE = ["the", "dog", "drinks", "milk", ".", "<eos>"]
ENCODER = [
    "encoder.embedding",
    "encoder.position",
    *(f"encoder.block{b}.{part}" for b in (0, 1) for part in ("attention", "addnorm1", "ffn", "addnorm2")),
]
SUBLAYERS = ("attention1", "addnorm1", "attention2", "addnorm2", "ffn", "addnorm3")
DECODER = [
    "decoder.embedding",
    "decoder.position",
    *(f"decoder.block{b}.{part}" for b in (0, 1) for part in SUBLAYERS),
    "decoder.softmax",
]
# what the page computes: the tensors of all stops, of a sentence and its greedy translation
WALK = """async ([direction, sentence, written]) => {
    const bytes = await (await fetch(`/${direction}.safetensors`)).arrayBuffer();
    const model = numbers.load(new Uint8Array(bytes));
    const { encoded, seen } = numbers.encoderWalk(model, sentence);
    const all = { ...seen, ...numbers.decoderWalk(model, encoded, written) };
    const plain = (value) => (value.map ? Array.from(value, plain) : value);
    const values = Object.entries(all).map(([name, value]) => [name, plain(value)]);
    return JSON.stringify(Object.fromEntries(values)); // one text: much faster than as many numbers
}"""


# ---- what PyTorch computes


def walk_of(translator: Any, source: list[str], written: list[str]) -> dict[str, Tensor]:
    """Every tensor on the way, by the names of the stops: from hooks on the modules of the course."""
    net, seen = translator.net, {}

    def keep(name: str, module: nn.Module, of_input: bool = False, factor: float = 1.0) -> None:
        def hook(_: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            seen[name] = (inputs[0] if of_input else output)[0] * factor

        hooks.append(module.register_forward_hook(hook))

    hooks: list[Any] = []
    for side, half in (("encoder", net.encoder), ("decoder", net.decoder)):
        keep(f"{side}.embedding", half.embedding, factor=8.0)
        keep(f"{side}.input", half.pos_encoding)
        for name, module in half.blks.named_modules():
            kind, place = type(module).__name__, f"{side}.{name}"
            if kind == "MultiHeadAttention":
                for part, inner in (("Q", "W_q"), ("K", "W_k"), ("V", "W_v"), ("output", "W_o")):
                    keep(f"{place}.{part}", getattr(module, inner))
                keep(f"{place}.heads", module.W_o, of_input=True)
            elif kind == "AddNorm":
                keep(f"{place}.sum", module.ln, of_input=True)
                keep(place, module)
            elif kind == "PositionWiseFFN":
                keep(f"{place}.dense1", module.dense1)
                keep(f"{place}.relu", module.relu)
                keep(f"{place}.output", module)
    with torch.no_grad():
        memory = net.encoder(torch.tensor([translator.src_vocab[source]]), None)
        target = torch.tensor([translator.tgt_vocab[["<bos>", *written]]])
        logits, _ = net.decoder(target, net.decoder.init_state(memory, None))
    for hook in hooks:
        hook.remove()
    seen["decoder.logits"] = logits[0]
    for side in ("encoder", "decoder"):
        seen[f"{side}.position"] = seen[f"{side}.input"] - seen[f"{side}.embedding"]
    for side, half in (("encoder", net.encoder), ("decoder", net.decoder)):
        for name, module in half.blks.named_modules():
            if type(module).__name__ == "MultiHeadAttention":
                seen[f"{side}.{name}.weights"] = module.attention.attention_weights
    return seen


def padded(rows: Any) -> Tensor:
    """A tensor from rows of which the first ones may be shorter: what a mask hides is 0."""
    if isinstance(rows[0], list) and isinstance(rows[0][0], list):
        return torch.stack([padded(inner) for inner in rows])
    most = max(len(row) for row in rows)
    return torch.tensor([row + [0.0] * (most - len(row)) for row in rows])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_tensor_is_that_of_pytorch(compute: Any, direction: str) -> None:
    page = compute(KIND)
    translator = d2l.load_translator(*direction.split("-"))
    for sentence in page.evaluate("numbers.SENTENCES")[direction[:2]]:
        translation = translator(sentence)  # raises where a word is unknown
        written = [token for token in translation.target_tokens if token != "<eos>"]
        expected = walk_of(translator, translation.source_tokens, written)
        numbers = [translator.tgt_vocab[token] for token in written]
        computed = json.loads(page.evaluate(WALK, [direction, translation.source_tokens[:-1], numbers]))
        compared = expected.keys() & computed.keys()
        assert compared == expected.keys()
        # scores before softmax are not shown; what else the page has, PyTorch has
        assert {name for name in computed.keys() - compared if not name.endswith(".scores")} == set()
        for name in compared:
            torch.testing.assert_close(padded(computed[name]), expected[name], atol=1e-4, rtol=1e-4, msg=name)


def test_the_stops_are_those_of_the_model(show: Any) -> None:
    page = show(KIND)
    assert page.evaluate("numbers.STOPS.map(({ name }) => name)") == ENCODER + DECODER
    assert page.get_by_role("toolbar").get_by_role("button").count() == 25


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_comes_with_the_page_is_what_the_model_says(show: Any, language: str) -> None:
    page = show(KIND, language)
    shown, computed = page.evaluate("numbers.first"), block_first.first(language)
    rows = torch.tensor(shown.pop("embedding")), torch.tensor(computed.pop("embedding")) / 100
    torch.testing.assert_close(*rows, atol=0.011, rtol=0)  # a number may be rounded up elsewhere
    assert shown == computed
    assert max(map(len, block_first.FILE.read_text(encoding="utf-8").splitlines())) <= 10_000


# ---- what is on the screen


def to_stop(page: Page, stop: str) -> None:
    """Press a box of the map, and wait for what it shows."""
    box = page.locator(".chip").nth((ENCODER + DECODER).index(stop))
    box.dispatch_event("click")
    expect(box).to_have_attribute("aria-current", "step")


def current(page: Page) -> str:
    return page.locator("[aria-current=step]").get_attribute("aria-label") or ""


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text.replace("−", "-"))]


def levels(picture: Locator) -> dict[tuple[int, int], float]:
    """What a heat map paints: (row, column) → share of the largest number, from its colors."""
    drawn = picture.locator("path[fill-opacity]").evaluate_all(
        """(all) => all.map((node) => ["fill", "fill-opacity", "d"].map((name) => node.getAttribute(name)))"""
    )
    shares = {}
    for fill, opacity, path in drawn:
        sign = -1 if "key" in fill else 1
        for x, y in re.findall(r"M(\d+) (\d+)", path):
            shares[int(y), int(x)] = sign * float(opacity) / 0.9
    return shares


def shown_at(stop: str, tensor: str) -> list[str]:
    """The tensors whose heat maps a stop shows, by their names in the trace."""
    side, part = stop.partition(".")[0], stop.rpartition(".")[2]
    if part == "position":
        return [f"{side}.position", f"{side}.input"]
    if part.startswith("addnorm"):
        return [f"{stop}.sum", stop]
    if part == "ffn":
        return [f"{stop}.relu", f"{stop}.output"]
    if part == "softmax" or tensor == "weights":
        return []
    return [f"{stop}.{tensor}" if "attention" in part else stop]


def travels(stop: str) -> str:
    """The tensor of which a row lies in the box of a stop."""
    return {"softmax": "decoder.block1.addnorm3"}.get(stop.rpartition(".")[2]) or shown_at(stop, "output")[-1]


def compare_row(page: Page, value: Tensor) -> None:
    painted = levels(page.locator(".traveler"))
    most = float(value.abs().max())
    for col in range(len(value)):
        assert painted.get((0, col), 0.0) == pytest.approx(float(value[col]) / most, abs=0.5 / 16 + 0.005)


@pytest.mark.parametrize("language", slow_except(LANGUAGES, ["en"]))
def test_each_stop_shows_the_tensors_of_pytorch(show: Any, language: str) -> None:
    """Colors, numbers, weights and candidates as the page draws them, at every stop; two target tokens."""
    direction = DEFAULT[language]
    translator = d2l.load_translator(*direction.split("-"))
    written = translator(SENTENCE).target_tokens[:1]
    expected = walk_of(translator, SOURCE, written)
    for i, stop in enumerate(ENCODER + DECODER):
        tensor = ["Q", "K", "V", "heads", "output"][i % 5]
        query = asked("block", stop=stop, tensor=tensor, written=written[0], mark=1, token=1)
        page = show(KIND, language, query=query)
        expect(page.locator(".chip").nth(i)).to_have_attribute("aria-current", "step")
        tensors = [expected[name] for name in shown_at(stop, tensor)]
        most = max([float(one.abs().max()) for one in tensors], default=0.0)
        for place, value in enumerate(tensors):
            picture = page.locator(f"[data-key=heat-{place}]")
            assert picture.get_attribute("aria-valuemax") == str(value.shape[1])
            painted = levels(picture)
            for at in product(*map(range, value.shape)):
                number = float(value[at])
                assert painted.get((at[0], at[1]), 0.0) == pytest.approx(number / most, abs=0.5 / 16 + 0.002)
            for key, col in (("Home", 0), ("End", value.shape[1] - 1)):
                picture.press(key)
                said = picture.get_attribute("aria-valuetext") or ""
                assert numbers_in(said)[-1] == pytest.approx(float(value[1, col]), abs=0.0051), stop
        shapes = [f"({one.shape[0]}, {one.shape[1]})" for one in tensors]
        captions = page.locator(".stage .caption").all_inner_texts()
        assert all(any(shape in text.replace("\u00a0", " ") for text in captions) for shape in shapes)
        compare_row(page, expected[travels(stop)][1])
        said = page.locator(".said [role=status]").inner_text()
        if "attention" in stop.split(".")[-1]:
            weights = expected[f"{stop}.weights"][:, 1]
            assert any(
                number == pytest.approx(float(weights.max()), abs=0.00051) for number in numbers_in(said)
            )
            page.locator(".scene select").select_option("weights")
            rows = page.locator(".weights tbody tr").all()
            for row, of_head in zip(rows, weights, strict=True):
                assert numbers_in(row.inner_text()) == pytest.approx(of_head.tolist(), abs=0.0051)
        if stop.split(".")[-1].startswith("addnorm"):
            before, after = expected[f"{stop}.sum"][1], expected[stop][1]
            wanted = [one for rows in (before, after) for one in (rows.mean(), rows.std(correction=0))]
            assert numbers_in(said) == pytest.approx([float(one) for one in wanted], abs=0.0006)
        if stop.endswith("ffn"):
            hidden = expected[f"{stop}.relu"]
            counts = re.findall(r"\d+", said)
            assert {str(int((hidden == 0).sum())), str(int((hidden[1] == 0).sum()))} <= set(counts)
        if stop.endswith("softmax"):
            probabilities = torch.softmax(expected["decoder.logits"][-1], dim=0)
            top = probabilities.topk(6)
            lines = [one.inner_text().split() for one in page.locator(".candidates [role=radio]").all()]
            assert [line[0] for line in lines] == translator.tgt_vocab.to_tokens(top.indices.tolist())
            assert [float(line[1]) for line in lines] == pytest.approx(top.values.tolist(), abs=0.00051)


# ---- the walk


def tokens(page: Page) -> list[str]:
    return page.locator(".tokens [role=radio]").all_inner_texts()


def test_by_keyboard_the_whole_model_is_walked(show: Any) -> None:
    """From the first stop to the finished sentence by arrow keys on the map: no mouse."""
    page = show(KIND)
    translation = d2l.load_translator("en", "fr")(SENTENCE)
    page.locator("[aria-current=step]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".chip").nth(1)).to_have_attribute("aria-current", "step")
    assert current(page) == "Encoder: + position"
    for _ in range(23):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".heading")).to_have_text("Decoder: dense layer and softmax")
    page.keyboard.press("ArrowRight")  # the token is fed back in
    expect(page.locator(".heading")).to_have_text("Decoder: embedding")
    assert tokens(page) == ["<bos>", translation.target_tokens[0]]
    for _ in range(len(translation.target_tokens) - 1):
        page.keyboard.press("End")
        expect(page.locator(".heading")).to_have_text("Decoder: dense layer and softmax")
        page.keyboard.press("ArrowRight")
    assert tokens(page) == ["<bos>", *translation.target_tokens[:-1]]
    finished = f"Finished: “{translation.text}”"
    expect(page.locator(".said [role=status]")).to_contain_text(finished)
    assert page.get_by_role("button", name="Feed “").get_attribute("aria-disabled") == "true"
    page.keyboard.press("ArrowRight")
    expect(page.locator(".said [role=status]")).to_contain_text(finished)
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "step"
    page.keyboard.press("Home")
    expect(page.locator(".heading")).to_have_text("Encoder: embedding")


def test_previous_takes_back_what_next_has_fed(show: Any) -> None:
    page = show(KIND)
    to_stop(page, "decoder.softmax")
    page.get_by_role("button", name="Feed “").click()
    assert current(page) == "Decoder: embedding" and len(tokens(page)) == 2
    page.get_by_role("button", name="Previous").click()
    assert current(page) == "Decoder: dense layer and softmax" and len(tokens(page)) == 1
    to_stop(page, "decoder.embedding")
    page.get_by_role("button", name="Previous").click()
    assert current(page) == "Encoder, block 2: add and norm"


def test_a_token_is_followed_through_the_stops_and_its_row_travels(show: Any) -> None:
    page = show(KIND)
    page.get_by_role("radio", name="milk").click()
    chosen = page.locator(".tokens [aria-checked=true]")
    expected = walk_of(d2l.load_translator("en", "fr"), SOURCE, [])
    places = set()
    for i, stop in enumerate(ENCODER):
        expect(page.locator(".chip").nth(i)).to_have_attribute("aria-current", "step")
        assert chosen.inner_text() == "milk"
        compare_row(page, expected[travels(stop)][3])
        page.wait_for_timeout(400)  # as long as it may be on its way
        row, box = (page.locator(one).bounding_box() for one in (".traveler", "[aria-current=step]"))
        assert row and box and box["x"] < row["x"] < box["x"] + box["width"]
        assert box["y"] < row["y"] < box["y"] + box["height"]
        places.add((row["x"], row["y"]))
        page.get_by_role("button", name="Next →").click()
    assert len(places) == len(ENCODER)
    to_stop(page, "encoder.embedding")
    chosen.press("ArrowUp")
    assert chosen.inner_text() == "drinks"
    assert page.evaluate("document.activeElement.textContent") == "drinks"


def test_a_row_of_a_picture_is_chosen_by_a_click_and_read_by_keys(show: Any) -> None:
    page = show(KIND)
    picture = page.locator("[data-key=heat-0]")
    page.wait_for_function("!document.getAnimations().length")  # it has come to its place
    box = picture.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 10.5 / 64, box["y"] + box["height"] * 3.5 / 6)
    assert page.locator(".tokens [aria-checked=true]").inner_text() == "milk"
    assert picture.get_attribute("aria-valuenow") == "11"
    picture.press("ArrowUp")
    picture.press("ArrowRight")
    assert (picture.get_attribute("aria-valuetext") or "").startswith("“drinks”, column 12:")


def test_what_comes_later_is_hatched(show: Any) -> None:
    written = d2l.load_translator("en", "fr")(SENTENCE).target_tokens[:3]
    query = asked("block", stop="decoder.block1.attention1", written=" ".join(written))
    page = show(KIND, query=query)
    expect(page.locator(".weights .masked")).to_have_count(12)  # of 4 heads, 3 of 4 tokens each
    rows = page.locator(".weights tbody tr").all_inner_texts()
    assert [numbers_in(row) for row in rows] == [[1.0]] * 4
    expect(page.locator(".said [role=status]")).to_contain_text("looks most at “<bos>”: 1.000")
    to_stop(page, "decoder.block1.attention2")
    assert page.locator(".weights .masked").count() == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_why_eos_is_looked_at_is_said_and_is_so(show: Any, language: str) -> None:
    """Where a token looks most at <eos>, the sentence tells how short the values there are."""
    expected = walk_of(d2l.load_translator(*DEFAULT[language].split("-")), SOURCE, [])
    weights = expected["encoder.block0.attention.weights"][:, 1]
    values = expected["encoder.block0.attention.V"].view(6, 4, 16).norm(dim=-1)
    head = int(weights.max(dim=1).values.argmax())
    page = show(KIND, language)
    page.get_by_role("radio", name="dog").click()
    to_stop(page, "encoder.block0.attention")
    said = page.locator(".said [role=status]").inner_text()
    at_eos = int(weights[head].argmax()) == 5 and bool(values[5, head] < values[:, head].max() / 3)
    wanted = [weights[head].max(), *([values[5, head], values[:, head].max()] if at_eos else [])]
    assert numbers_in(said) == pytest.approx([float(one) for one in wanted], abs=0.051)
    assert at_eos or language == "vi"  # there the period is looked at


def test_a_stop_is_announced_with_its_name_and_what_it_says(show: Any) -> None:
    page = show(KIND)
    to_stop(page, "encoder.block0.ffn")
    status = page.locator(".said [role=status]")
    expect(status).to_contain_text("Encoder, block 1: feed-forward network.")
    expect(status).to_contain_text(re.compile(r"\d+ of 768 numbers are 0"))
    page.locator("[role=radio][aria-checked=true]").press("ArrowDown")
    expect(status).to_contain_text("row of “dog”")


# ---- the model comes when it is asked for


def test_it_begins_with_numbers_and_the_model_comes_at_the_first_touch(show_apart: Any) -> None:
    page = show_apart(KIND, width=375)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    assert len(levels(page.locator("[data-key=heat-0]"))) > 300
    page.mouse.move(100, 300)
    page.wait_for_timeout(300)
    assert fetched == []
    page.get_by_role("button", name="Next →").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".heading")).to_have_text("Encoder: + position")
    assert fetched == ["en-fr.safetensors"]
    assert page.evaluate("document.activeElement.textContent") == "Next →"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_direction_is_that_of_the_page(show: Any, language: str) -> None:
    page = show(KIND, language)
    assert page.locator(".more select").first.input_value() == DEFAULT[language]


def test_another_direction_brings_another_model(show: Any) -> None:
    page = show(KIND)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    to_stop(page, "encoder.position")
    page.locator(".more summary").click()
    page.get_by_label("From → to").select_option("vi-en")
    expect(page.locator(".tokens [role=radio]").first).to_have_text("con")
    page.get_by_label("Sentence").select_option(index=1)
    expect(page.locator(".tokens [role=radio]").first).to_have_text("anh")
    page.get_by_label("From → to").select_option("en-fr")
    expect(page.locator(".tokens [role=radio]").first).to_have_text("the")
    assert fetched == ["en-fr.safetensors", "vi-en.safetensors"]


def test_a_model_that_does_not_come_is_asked_for_again(show: Any) -> None:
    page = show(KIND)
    page.evaluate("() => { real = fetch; fetch = async () => new Response('', { status: 404 }); }")
    page.get_by_role("button", name="Next →").click()
    said = page.locator(".said [role=status]")
    expect(said).to_contain_text(WORDS["en"]["failed"])
    page.evaluate("() => { fetch = real; }")
    said.get_by_role("button").click()
    expect(page.locator(".heading")).to_have_text("Encoder: + position")


# ---- tasks


def task(page: Page, number: int) -> Locator:
    for _ in range(number - 1):
        page.locator(".task button").nth(2).click()
    told = page.locator(".task [role=status]")
    expect(page.locator(".task .title")).to_contain_text(f"{number}/4")
    return told


def do_task(page: Page, number: int, language: str) -> None:
    """Do a task as its text asks for it."""
    following = page.locator(".walk .next")
    heading = page.locator(".heading")
    names = WORDS[language]["parts"] | WORDS[language]["names"]
    if number == 1:
        for name in ("position", "attention"):
            following.click()
            expect(heading).to_contain_text(names[name])
    elif number == 2:
        page.locator(".scene select").select_option("V")
    elif number == 3:
        for name in ("embedding", "position", "attention1"):
            following.click()
            expect(heading).to_contain_text(names[name])
    else:
        page.locator(".candidates [role=radio]").first.focus()
        page.keyboard.press("ArrowDown")
        following.click()


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_task_is_ticked_by_doing_it(show: Any, language: str) -> None:
    page = show(KIND, language)
    translator = d2l.load_translator(*DEFAULT[language].split("-"))
    expected = walk_of(translator, SOURCE, [])
    weights, values = (expected[f"encoder.block0.attention.{name}"] for name in ("weights", "V"))
    values = values.view(6, 4, 16).norm(dim=-1)
    head = int(weights[:, 1, 5].argmax())
    top = torch.softmax(expected["decoder.logits"][0], dim=0).topk(2).values.tolist()
    wanted = [
        [float(weights[:, 0, 1:5].max())],
        [float(one) for one in (weights[head, 1, 5], values[5, head], values[1, head])],
        [1.0],
        top,
    ]
    for number in range(1, 5):
        told = page.locator(".task [role=status]")
        expect(page.locator(".task .title")).to_contain_text(f"{number}/4")
        expect(told).to_have_attribute("data-done", "false")
        do_task(page, number, language)
        expect(told).to_have_attribute("data-done", "true")
        assert told.inner_text().startswith("✓") and "{" not in told.inner_text()
        assert numbers_in(told.inner_text()) == pytest.approx(wanted[number - 1], abs=0.051)
        assert page.locator(".marks [data-done=true]").count() == number
        if number < 4:
            page.locator(".task button").nth(2).click()
    assert translator(SENTENCE).text in told.inner_text()


def test_a_task_is_not_ticked_by_something_like_it(show: Any) -> None:
    page = show(KIND)
    told = task(page, 2)
    expect(page.locator(".heading")).to_have_text("Encoder, block 1: self-attention")
    page.locator(".scene select").select_option("K")
    to_stop(page, "encoder.block1.attention")
    page.locator(".scene select").select_option("V")
    assert told.get_attribute("data-done") == "false"
    page.locator(".task button").nth(2).click()
    page.locator(".task button").nth(2).click()
    expect(page.locator(".heading")).to_have_text("Decoder: dense layer and softmax")
    page.locator(".walk .next").click()  # what the model would have written
    expect(page.locator(".heading")).to_have_text("Decoder: embedding")
    assert told.get_attribute("data-done") == "false"


# ---- links


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    page.locator(".more summary").click()
    page.get_by_label("Sentence").select_option("He's calm.")
    expect(page.locator(".tokens button").first).to_have_text("he's")
    to_stop(page, "decoder.softmax")
    page.get_by_role("button", name="Feed “").click()
    to_stop(page, "decoder.block1.attention2")
    page.get_by_label("Tensor").select_option("K")
    page.wait_for_url(lambda url: '"tensor":"K"' in unquote_plus(url) and "block1.attention2" in url)
    seen = page.locator(".scene").inner_text()
    again = show(KIND, query=page.evaluate("location.search"))
    expect(again.locator(".heading")).to_have_text("Decoder, block 2: cross-attention")
    assert again.locator(".scene").inner_text() == seen


@pytest.mark.parametrize(
    "bad",
    [
        {"direction": "en-de", "stop": "decoder.block9.ffn", "sentence": "<b>", "tensor": "scores"},
        {"direction": "__proto__", "token": 1e9, "mark": -7, "written": "<eos> le"},
        {"written": "no such token anywhere " * 9, "token": None, "task": 1.5},
    ],
)
def test_a_link_of_nonsense_shows_the_beginning(show: Any, bad: dict[str, Any]) -> None:
    page = show(KIND, query=asked("block", **bad))
    assert current(page) == "Encoder: embedding"
    assert page.locator(".more select").first.input_value() == "en-fr"
    assert tokens(page) == SOURCE
    to_stop(page, "decoder.embedding")
    assert tokens(page) == ["<bos>"]


# ---- how it looks

BEYOND = """() => [...document.querySelectorAll("#here *")]
    .filter((node) => node.checkVisibility() && !node.closest(".unseen") && !node.closest(".boxes"))
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
    .map((node) => node.outerHTML.slice(0, 80))"""
STOPS_TO_SEE = (
    "encoder.position",
    "encoder.block0.attention",
    "encoder.block1.addnorm1",
    "encoder.block0.ffn",
    "decoder.block0.attention2",
    "decoder.softmax",
)


def pseudo_source(monkeypatch: Any) -> str:
    """The module in a language whose words are accented English, 40 % longer."""
    english = words("en")
    changed = {**english, "explorers": in_pseudo(english["explorers"])}
    changed["language"] = {**english["language"], "tag": "en-XA"}
    monkeypatch.setattr(widgets, "words", lambda language: changed)
    return module_source.__wrapped__(KIND, "en")


@pytest.mark.parametrize(("language", "width"), WIDE_AND_NARROW)
def test_nothing_runs_over_the_edge(show: Any, monkeypatch: Any, language: str, width: int) -> None:
    source = pseudo_source(monkeypatch) if language == "pseudo" else None
    page = show(KIND, "en" if source else language, width=width, source=source)
    for stop in ENCODER + DECODER:
        to_stop(page, stop)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BEYOND) == []
        cut = page.locator(".chip, .walk button, .counter").evaluate_all(
            """(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1)
                .map((one) => one.textContent)"""
        )
        assert cut == []


def test_no_word_is_left_in_english(show: Any, monkeypatch: Any) -> None:
    page = show(KIND, "en-XA", source=pseudo_source(monkeypatch))
    quoted = [word for text in page.evaluate("numbers.SENTENCES.en") for word in re.findall(r"\w+", text)]
    for stop in ENCODER + DECODER:
        to_stop(page, stop)
        assert page.evaluate(LEFT_IN_ENGLISH, [quoted, "body"]) == []


@pytest.mark.parametrize(
    ("language", "theme", "width"),
    slow_except(
        product(LANGUAGES, ("light", "dark"), (375, 760)), [("en", "light", 760), ("en", "dark", 375)]
    ),
)
def test_axe_finds_nothing(show: Any, language: str, theme: str, width: int) -> None:
    page = show(KIND, language, theme=theme, width=width)
    page.evaluate(AXE)
    check = "axe.run('main', { rules: { region: { enabled: false } } }).then((found) => found.violations)"
    for stop in ("encoder.embedding", *STOPS_TO_SEE):
        to_stop(page, stop)
        found = page.evaluate(check)
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], stop


def test_it_is_an_explorer_of_the_course() -> None:
    shown = d2l.explorer(KIND)
    assert shown.plain == f"<{KIND} {KIND}>" and words("en")["explorers"]["shown_here"] in shown.stored


def test_the_module_is_small() -> None:
    for language in LANGUAGES:
        assert len(gzip.compress(module_source(KIND, language).encode())) <= 26_000


# ---- seen


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_of(KIND, tmp_path_factory.mktemp("block-book")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    with visits(browser, pages, KIND) as open_page:
        yield open_page


@pytest.mark.parametrize("kind", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_picture_controls_and_task_are_in_view_together(
    visit: Callable[..., Page], kind: dict[str, Any], language: str
) -> None:
    page = visit(kind, language)
    root = page.locator(f"[data-widget={KIND}]")
    marked = root.locator("[data-look]")
    assert marked.evaluate_all("all => all.map((one) => one.dataset.look)") == [
        "task", "picture", "picture", "control",
    ]  # fmt: skip
    places = {}
    for number in range(1, 5):
        do_task(page, number, language)
        expect(page.locator(".task [role=status]")).to_have_attribute("data-done", "true")
        root.evaluate(UNDER_HEADER)
        page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished))")
        assert unseen(marked, page.locator(".tokens button"), page.locator(".walk button")) == []
        assert root.evaluate(TOO_SMALL) == []
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        if number < 4:
            page.locator(".task button").nth(2).click()
    for stop in STOPS_TO_SEE:  # wherever the reader is, the buttons stay where they are
        to_stop(page, stop)
        root.evaluate(UNDER_HEADER)
        places[stop] = page.locator(".walk .next").evaluate("e => Math.round(e.getBoundingClientRect().top)")
    assert len(set(places.values())) == 1, places


def test_a_swipe_up_that_begins_anywhere_scrolls_the_page(visit: Callable[..., Page]) -> None:
    page = visit(PHONE, "en")
    root = page.locator(f"[data-widget={KIND}]")
    parts = (".map", ".tokens button", "[data-key=heat-0]", ".walk .next", ".task")
    before = page.locator(".scene").inner_text()
    for part in parts:
        assert swipe(page, page.locator(part).first, 4, -160) > 60, part
        assert page.locator(".scene").inner_text() == before, part
        root.evaluate(UNDER_HEADER)


def test_with_reduced_motion_nothing_moves_by_itself(visit: Callable[..., Page]) -> None:
    moving = "() => document.getAnimations().filter((one) => one.effect.target.closest('.d2l-block')).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = visit(DESK, "en", reduced_motion=motion)
        to_stop(page, "encoder.position")
        page.evaluate("() => document.getAnimations().forEach((one) => one.finish())")
        moved = page.evaluate(
            f"async () => {{ document.querySelectorAll('.chip')[4].click(); "
            f"await new Promise(requestAnimationFrame); return ({moving})(); }}"
        )
        assert bool(moved) is moves, motion
