"""The block stepper: every tensor shown is PyTorch's, the keyboard walks it, nothing comes unasked."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
import torch
from making import asked
from pairing import WIDE_AND_NARROW, slow_except
from playwright.sync_api import Page, expect
from test_new_language import LEFT_IN_ENGLISH, in_pseudo
from torch import Tensor, nn

import d2lmini as d2l
from d2lmini.checkpoints import DIRECTIONS
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import module_source

KIND = "block-explorer"
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
DEFAULT = {"en": "en-fr", "vi": "en-vi", "zh": "en-zh"}
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


# ---- what is on the screen


def send(page: Page) -> None:
    page.locator(".invite button").click()
    expect(page.locator(".invite")).to_be_hidden()


def current(page: Page) -> str:
    return page.locator("[aria-current=step]").get_attribute("aria-label") or ""


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text.replace("−", "-"))]


def levels(page: Page, place: int) -> dict[tuple[int, int], float]:
    """What a heat map paints: (row, column) → share of the largest number, from its colors."""
    drawn = page.locator(f"[data-key=heat-{place}] path[fill]").evaluate_all(
        """(all) => all.map((node) => [node.getAttribute("fill"), node.getAttribute("fill-opacity"),
            node.getAttribute("d")]).filter(([fill]) => fill !== "none")"""
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
    return [] if part == "softmax" else [f"{stop}.{tensor}" if "attention" in part else stop]


@pytest.mark.parametrize("language", slow_except(LANGUAGES, ["en"]))
def test_each_stop_shows_the_tensors_of_pytorch(show: Any, language: str) -> None:
    """Colors, numbers, weights and candidates as the page draws them, at every stop; two target tokens."""
    direction = DEFAULT[language]
    translator = d2l.load_translator(*direction.split("-"))
    written = translator(SENTENCE).target_tokens[:1]
    expected = walk_of(translator, SOURCE, written)
    for i, stop in enumerate(ENCODER + DECODER):
        tensor = ["Q", "K", "V", "heads", "output"][i % 5]
        query = asked("block", stop=stop, tensor=tensor, written=written[0], mark=1)
        page = show(KIND, language, query=query)
        send(page)
        tensors = [expected[name] for name in shown_at(stop, tensor)]
        most = max([float(one.abs().max()) for one in tensors], default=0.0)
        for place, value in enumerate(tensors):
            picture = page.locator(f"[data-key=heat-{place}]")
            assert picture.get_attribute("aria-valuemax") == str(value.shape[1])
            painted = levels(page, place)
            for at in product(*map(range, value.shape)):
                number = float(value[at])
                assert painted.get((at[0], at[1]), 0.0) == pytest.approx(number / most, abs=0.5 / 16 + 0.002)
            for key, col in (("Home", 0), ("End", value.shape[1] - 1)):
                picture.press(key)
                said = picture.get_attribute("aria-valuetext") or ""
                assert numbers_in(said)[-1] == pytest.approx(float(value[1, col]), abs=0.00051), stop
        shapes = [f"({one.shape[0]}, {one.shape[1]})" for one in tensors]
        captions = page.locator(".stage .caption").all_inner_texts()
        assert all(any(shape in text.replace("\u00a0", " ") for text in captions) for shape in shapes)
        if "attention" in stop.split(".")[-1]:
            weights = expected[f"{stop}.weights"]
            for head, line in enumerate(page.locator(".heads figcaption").all_inner_texts()):
                assert numbers_in(line)[-1] == pytest.approx(float(weights[head, 1].max()), abs=0.00051)
        if stop.split(".")[-1].startswith("addnorm"):
            before, after = expected[f"{stop}.sum"][1], expected[stop][1]
            told = numbers_in(page.locator("table tbody").inner_text())
            wanted = torch.tensor(
                [before.mean(), before.std(correction=0), 0, 1, after.mean(), after.std(correction=0)]
            )
            assert told == pytest.approx(wanted.tolist(), abs=0.0006)
        if stop.endswith("ffn"):
            hidden = expected[f"{stop}.relu"]
            counts = re.findall(r"\d+", page.locator(".zeros").inner_text())
            assert {str(int((hidden == 0).sum())), str(int((hidden[1] == 0).sum()))} <= set(counts)
        if stop.endswith("softmax"):
            probabilities = torch.softmax(expected["decoder.logits"][-1], dim=0)
            top = probabilities.topk(6)
            lines = [one.inner_text().split() for one in page.locator(".candidates [role=radio]").all()]
            assert [line[0] for line in lines] == translator.tgt_vocab.to_tokens(top.indices.tolist())
            assert [float(line[1]) for line in lines] == pytest.approx(top.values.tolist(), abs=0.00051)


# ---- the walk


def test_by_keyboard_the_whole_model_is_walked(show: Any) -> None:
    """From the first stop to the finished sentence by arrow keys on the map: no mouse."""
    page = show(KIND)
    translation = d2l.load_translator("en", "fr")(SENTENCE)
    page.locator("[aria-current=step]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".invite")).to_be_hidden()
    assert current(page) == "Encoder: + position"
    for _ in range(23):
        page.keyboard.press("ArrowRight")
    assert current(page) == "Decoder: dense layer and softmax"
    page.keyboard.press("ArrowRight")  # the token is fed back in
    assert current(page) == "Decoder: embedding"
    assert page.locator(".word").all_inner_texts() == ["<bos>", translation.target_tokens[0]]
    for _ in range(len(translation.target_tokens) - 1):
        page.keyboard.press("End")
        page.keyboard.press("ArrowRight")
    assert page.locator(".word").all_inner_texts() == ["<bos>", *translation.target_tokens[:-1]]
    assert page.locator(".end").inner_text() == f"Finished: “{translation.text}”"
    assert page.get_by_role("button", name="Feed “").get_attribute("aria-disabled") == "true"
    page.keyboard.press("ArrowRight")
    assert page.locator(".end").inner_text() == f"Finished: “{translation.text}”"
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "step"
    page.keyboard.press("Home")
    assert current(page) == "Encoder: embedding"


def test_previous_takes_back_what_next_has_fed(show: Any) -> None:
    page = show(KIND, query=asked("block", stop="decoder.softmax"))
    send(page)
    page.get_by_role("button", name="Feed “").click()
    assert current(page) == "Decoder: embedding" and page.locator(".word").count() == 2
    page.get_by_role("button", name="Previous").click()
    assert current(page) == "Decoder: dense layer and softmax" and page.locator(".word").count() == 1
    page.get_by_role("button", name="Feed “").click()
    page.get_by_role("button", name="Take the last token back").click()
    assert current(page) == "Decoder: embedding" and page.locator(".word").count() == 1
    page.get_by_role("button", name="Previous").click()
    assert current(page) == "Encoder, block 2: add and norm"


def test_another_token_is_written_and_the_sentence_goes_on_from_there(show: Any) -> None:
    page = show(KIND, query=asked("block", stop="decoder.softmax"))
    send(page)
    second = page.locator(".candidates [role=radio]").nth(1)
    token = second.inner_text().split()[0]
    page.locator(".candidates [role=radio]").first.focus()
    page.keyboard.press("ArrowDown")
    assert second.get_attribute("aria-checked") == "true"
    page.get_by_role("button", name=f"Feed “{token}” back in").click()
    assert page.locator(".word").all_inner_texts() == ["<bos>", token]
    expect(page.locator(".mark").last).to_have_text(re.compile("✓"))


def test_a_token_is_followed_through_the_stops(show: Any) -> None:
    page = show(KIND)
    send(page)
    page.get_by_role("radio", name="milk").click()
    chosen = page.locator(".tokens [aria-checked=true]")
    for _ in range(9):
        page.get_by_role("button", name="Next").click()
        assert chosen.inner_text() == "milk"
    page.keyboard.press("Escape")
    chosen.press("ArrowUp")
    assert chosen.inner_text() == "drinks"
    assert page.evaluate("document.activeElement.textContent") == "drinks"
    chosen.press("ArrowUp")
    assert chosen.inner_text() == "dog"


def test_a_row_of_a_map_is_chosen_by_a_click(show: Any) -> None:
    page = show(KIND, query=asked("block", stop="encoder.block0.attention"))
    send(page)
    label = page.locator(".heads svg").first.locator("text", has_text="milk").last.bounding_box()
    assert label
    page.mouse.click(label["x"] + label["width"] / 2, label["y"] + label["height"] / 2)
    assert page.locator(".tokens [aria-checked=true]").inner_text() == "milk"
    assert page.locator(".heads figcaption").first.inner_text().startswith("milk → ")


def test_what_comes_later_is_hatched(show: Any) -> None:
    written = d2l.load_translator("en", "fr")(SENTENCE).target_tokens[:3]
    query = asked("block", stop="decoder.block1.attention1", written=" ".join(written))
    page = show(KIND, query=query)
    send(page)
    assert page.locator(".heads svg").first.locator("rect[fill^=url]").count() == 6  # of 4 × 4
    page.get_by_role("radio", name="<bos>").click()
    lines = page.locator(".heads figcaption").all_inner_texts()
    assert lines == ["<bos> → <bos> 1.000"] * 4
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    assert page.locator(".heads svg").first.locator("rect[fill^=url]").count() == 0


def test_a_stop_is_announced_with_its_sentence_and_its_shape(show: Any) -> None:
    page = show(KIND)
    send(page)
    page.get_by_role("button", name="Next").click()
    status = page.locator(".panel [role=status]")
    expect(status).to_contain_text("Encoder: + position A row of sines and cosines")
    expect(status).to_contain_text("6 tokens × 64 numbers")
    page.locator("[role=radio][aria-checked=true]").press("ArrowDown")
    expect(status).to_contain_text(re.compile(r"^Position vectors: “drinks”, column 1: 0\.909"))
    page.evaluate("leave()")


# ---- the model comes when it is asked for


def test_nothing_comes_before_the_first_touch_and_nothing_moves_when_it_comes(show_apart: Any) -> None:
    page = show_apart(KIND, width=375)
    page.clock.install()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.keyboard.press("Tab")
    page.mouse.move(100, 300)
    page.clock.run_for(5000)
    assert fetched == []
    places = """() => [...document.querySelectorAll(".d2l-block :is(button, p, figure, .rows, ol)")]
        .filter((node) => node.checkVisibility() && !node.closest(".invite, .unseen"))
        .map((node) => { const { x, y, width, height } = node.getBoundingClientRect();
            return [node.className, x, y + scrollY, width, height]; })"""
    before = page.evaluate(places)
    send(page)
    assert [url.rpartition("/")[2] for url in fetched] == ["en-fr.safetensors"]
    assert page.evaluate(places) == before
    assert page.evaluate("document.activeElement.textContent") == "Next →"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_direction_is_that_of_the_page(show: Any, language: str) -> None:
    page = show(KIND, language)
    assert page.locator("select").first.input_value() == DEFAULT[language]


def test_another_direction_brings_another_model(show: Any) -> None:
    page = show(KIND)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    send(page)
    page.get_by_label("From → to").select_option("vi-en")
    expect(page.locator(".invite")).to_be_hidden()
    assert page.locator(".tokens [role=radio]").first.inner_text() == "con"
    page.get_by_label("Sentence").select_option(index=1)
    assert page.locator(".tokens [role=radio]").first.inner_text() == "anh"
    page.get_by_label("From → to").select_option("en-fr")
    assert fetched == ["en-fr.safetensors", "vi-en.safetensors"]


def test_a_model_that_does_not_come_is_asked_for_again(show: Any) -> None:
    page = show(KIND)
    page.evaluate("() => { real = fetch; fetch = async () => new Response('', { status: 404 }); }")
    page.locator(".invite button").click()
    expect(page.locator(".invite p")).to_contain_text("did not come")
    page.locator("summary").first.click()
    expect(page.locator("details p").first).to_contain_text("did not come")
    page.evaluate("() => { fetch = real; }")
    send(page)


# ---- links, answers


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    send(page)
    page.get_by_label("Sentence").select_option("He's calm.")
    page.locator("[aria-label='Decoder: dense layer and softmax']").click()
    page.get_by_role("button", name="Feed “").click()
    page.locator("[aria-label='Decoder, block 2: cross-attention']").click()
    page.get_by_label("Tensor").select_option("K")
    page.wait_for_url(lambda url: '"tensor":"K"' in unquote_plus(url) and "block1.attention2" in url)
    seen = page.locator(".scene").inner_text()
    again = show(KIND, query=page.evaluate("location.search"))
    send(again)
    assert again.locator(".scene").inner_text() == seen


@pytest.mark.parametrize(
    "bad",
    [
        {"direction": "en-de", "stop": "decoder.block9.ffn", "sentence": "<b>", "tensor": "weights"},
        {"direction": "__proto__", "token": 1e9, "mark": -7, "written": "<eos> le"},
        {"written": "no such token anywhere " * 9, "token": None},
    ],
)
def test_a_link_of_nonsense_shows_the_beginning(show: Any, bad: dict[str, Any]) -> None:
    page = show(KIND, query=asked("block", **bad))
    send(page)
    assert current(page) == "Encoder: embedding"
    assert page.locator("select").first.input_value() == "en-fr"
    assert page.locator(".tokens [role=radio]").all_inner_texts() == SOURCE
    page.locator("[aria-label='Decoder: embedding']").click()
    assert page.locator(".word").all_inner_texts() == ["<bos>"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answers_are_computed_from_the_model(show: Any, language: str) -> None:
    page = show(KIND, language)
    for summary in page.locator("summary").all():
        summary.click()
    texts = page.locator("details p")
    expect(texts.last).to_contain_text("0.")
    answers = texts.all_inner_texts()
    assert not any("{" in text for text in answers)
    translator = d2l.load_translator(*DEFAULT[language].split("-"))
    expected = walk_of(translator, SOURCE, [])
    lengths = expected["encoder.embedding"].norm(dim=1)
    told = [5.66, float(lengths.min()), float(lengths.max())]
    assert numbers_in(answers[0])[:3] == pytest.approx(told, abs=0.0051)
    heads = torch.stack([expected[f"encoder.block{b}.attention.weights"] for b in (0, 1)])
    assert numbers_in(answers[1])[-1] == pytest.approx(float(heads.max()), abs=0.00051)
    shares = [float((expected[f"encoder.block{b}.ffn.relu"] == 0).float().mean()) for b in (0, 1)]
    assert [int(one) for one in re.findall(r"(\d+) %", answers[2])] == [round(100 * one) for one in shares]
    top = torch.softmax(expected["decoder.logits"][0], dim=0).topk(2)
    assert numbers_in(answers[4])[:2] == pytest.approx(top.values.tolist(), abs=0.00051)
    assert translator(SENTENCE).text in answers[4]


# ---- how it looks

BEYOND = """() => [...document.querySelectorAll("#here *")]
    .filter((node) => node.checkVisibility() && !node.closest(".unseen"))
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
    page.locator(".invite button").click()
    expect(page.locator(".invite")).to_be_hidden()
    for chip in page.locator(".map button").all():
        chip.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BEYOND) == []
        outside = page.locator(".heads svg text").evaluate_all(
            """(all) => all.filter((text) => {
                const [inner, outer] = [text, text.ownerSVGElement].map((one) => one.getBoundingClientRect());
                return inner.left < outer.left - 1 || inner.right > outer.right + 3;
            }).map((text) => text.textContent)"""
        )
        assert outside == []


def test_no_word_is_left_in_english(show: Any, monkeypatch: Any) -> None:
    page = show(KIND, "en-XA", source=pseudo_source(monkeypatch))
    assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []
    page.locator(".invite button").click()
    expect(page.locator(".invite")).to_be_hidden()
    for chip in page.locator(".map button").all():
        chip.click()
        assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []


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
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in page.evaluate(check)] == []
    send(page)
    for stop in STOPS_TO_SEE:
        page.locator(".map button").nth((ENCODER + DECODER).index(stop)).click()
        found = page.evaluate(check)
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], stop


def test_nothing_moves_by_itself(show: Any) -> None:
    page = show(KIND)
    send(page)
    assert page.evaluate("document.getAnimations().length") == 0
    # but for the rule that all explorers have: with reduced motion nothing moves
    source = module_source(KIND, "en").replace("{animation:none !important;transition:none !important}", "")
    assert "transition" not in source and "animation:" not in source


def test_leaving_says_nothing_more(show_apart: Any) -> None:
    page = show_apart(KIND)
    page.clock.install(time=0)
    send(page)
    page.clock.pause_at(100_000)
    page.get_by_role("button", name="Next").click()
    page.evaluate("leave()")
    page.clock.run_for(5000)
    assert "position" not in page.locator(".panel [role=status]").inner_text()


def test_it_is_an_explorer_of_the_course() -> None:
    shown = d2l.explorer(KIND)
    assert shown.plain == f"<{KIND} {KIND}>" and words("en")["explorers"]["shown_here"] in shown.stored
