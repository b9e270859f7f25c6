"""The translator in the page: its numbers are PyTorch's, its weights come when asked for, keys do it all."""

import base64
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

import d2lmini as d2l
from d2lmini.checkpoints import DIRECTIONS
from d2lmini.data import course_sentences
from d2lmini.language import LANGUAGES, words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import checkpoint, module_source

KIND = "translator-explorer"
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
FIRST = "I don't eat fish."
LOAD = """async (direction) => {
    const bytes = new Uint8Array(await (await fetch(`/${direction}.safetensors`)).arrayBuffer());
    window.model = new numbers.Transformer(numbers.readCheckpoint(bytes));
}"""
GREEDY = """([sentence, options]) => {
    options.off = new Set(options.off);
    const encoded = model.encode(model.numbers(numbers.splitTokens(sentence)), options);
    const flat = (blocks) => blocks.map((heads) => heads.map((row) => [...row]));
    return numbers.greedy(model, encoded, options).map(({ number, logits, weights }) =>
        ({ number, logits: [...logits], cross: flat(weights.cross), own: flat(weights.decoder) }));
}"""
# of each sentence the numbers and, as they lie in memory, the logits: a million of them
ALL_LOGITS = """(sentences) => sentences.map((sentence) => {
    const steps = numbers.greedy(model, model.encode(model.numbers(numbers.splitTokens(sentence))));
    const bytes = new Uint8Array(Float32Array.from(steps.flatMap(({ logits }) => [...logits])).buffer);
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return [steps.map(({ number }) => number), btoa(text)];
})"""


def loaded(compute: Any, direction: str) -> tuple[Page, Any]:
    """A page with the model of a direction, and the same model in PyTorch."""
    page = compute(KIND)
    page.evaluate(LOAD, direction)
    return page, d2l.load_translator(*direction.split("-"))


def logits_of(translator: Any, sentence: str, numbers: list[int]) -> torch.Tensor:
    """What PyTorch says at each step of a translation."""
    source = translator.src_vocab[[*d2l.split_tokens(sentence), "<eos>"]]
    target = [translator.tgt_vocab["<bos>"], *numbers[:-1]]
    with torch.no_grad():
        output, _ = translator.net(
            torch.tensor([source]), torch.tensor([target]), torch.tensor([len(source)])
        )
    return output[0]


def held_out(direction: str) -> list[str]:
    return list(course_sentences(*direction.split("-"), "test"))


# ---- the arithmetic


@pytest.mark.parametrize(
    ("direction", "every"), slow_except(product(DIRECTIONS, (4, 1)), product(DIRECTIONS, (4,)))
)
def test_every_logit_of_every_held_out_sentence_is_that_of_pytorch(
    compute: Any, direction: str, every: int
) -> None:
    page, translator = loaded(compute, direction)
    sentences = held_out(direction)
    assert len(sentences) >= 99
    sentences = sentences[::every]
    for sentence, (numbers, logits) in zip(sentences, page.evaluate(ALL_LOGITS, sentences), strict=True):
        expected = logits_of(translator, sentence, numbers)
        shown = torch.frombuffer(bytearray(base64.b64decode(logits)), dtype=torch.float32)
        torch.testing.assert_close(shown.view(expected.shape), expected, atol=1e-4, rtol=0)
        # greedy: at each step the largest (a tie within the tolerance may fall either way)
        assert (expected.max(dim=1).values - expected[range(len(numbers)), numbers]).max() < 1e-4


def test_attention_weights_and_translation_are_those_of_the_translator(compute: Any) -> None:
    page, translator = loaded(compute, "en-fr")
    for sentence in held_out("en-fr")[:20]:
        translation = translator(sentence)
        steps = page.evaluate(GREEDY, [sentence, {"off": []}])
        cross = torch.tensor([step["cross"] for step in steps]).permute(1, 2, 0, 3)
        torch.testing.assert_close(cross, translation.cross_weights, atol=1e-5, rtol=0)
        assert [
            translator.tgt_vocab.idx_to_token[step["number"]] for step in steps
        ] == translation.target_tokens
        last = torch.tensor(steps[-1]["own"])
        torch.testing.assert_close(last.sum(dim=-1), torch.ones(last.shape[:2]))


@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
def test_a_head_that_is_off_adds_nothing_in_w_o(compute: Any, attention: str) -> None:
    page, translator = loaded(compute, "en-fr")
    block, head, width = 1, 2, 16
    steps = page.evaluate(GREEDY, [FIRST, {"off": [f"{attention}.{block}.{head}"]}])
    part = {"encoder": translator.net.encoder}.get(attention, translator.net.decoder).blks[block]
    module = {"encoder": "attention", "decoder": "attention1", "cross": "attention2"}[attention]
    with torch.no_grad():
        getattr(part, module).W_o.weight[:, head * width : (head + 1) * width] = 0
    expected = logits_of(translator, FIRST, [step["number"] for step in steps])
    logits = torch.tensor([step["logits"] for step in steps])
    torch.testing.assert_close(logits, expected, atol=1e-4, rtol=0)
    whole = page.evaluate(GREEDY, [FIRST, {"off": []}])
    assert (torch.tensor(whole[0]["logits"]) - logits[0]).abs().max() > 1e-3


@pytest.mark.parametrize("direction", ["en-fr", "zh-en"])
def test_beams_and_their_scores_are_those_of_the_package(compute: Any, direction: str) -> None:
    page, translator = loaded(compute, direction)
    call = """([sentence, options]) => {
        const encoded = model.encode(model.numbers(numbers.splitTokens(sentence)));
        const beams = numbers.beamSearch(model, encoded, options);
        return beams.map(({ numbers, score }) => [model.text(numbers), score]);
    }"""
    rest = (translator.src_vocab, translator.tgt_vocab, translator.num_steps, "cpu")
    for sentence in held_out(direction)[::6]:
        for size, alpha in ((4, 0.75), (2, 0), (1, 0.75)):
            beams = page.evaluate(call, [sentence, {"size": size, "alpha": alpha}])
            expected = d2l.beam_search(translator.net, sentence, *rest, beam_size=size, alpha=alpha)
            assert [text for text, _ in beams] == [text for text, _ in expected], sentence
            assert [score for _, score in beams] == pytest.approx([score for _, score in expected], abs=1e-4)


def test_a_trace_has_every_tensor_on_the_way(compute: Any) -> None:
    page, translator = loaded(compute, "en-vi")
    shapes = page.evaluate(
        """(sentence) => {
            const seen = {};
            const shape = (value) => value.length === undefined ? [] : [value.length, ...shape(value[0])];
            const trace = (name, value) => { seen[name] = shape(value); };
            const encoded = model.encode(model.numbers(numbers.splitTokens(sentence)), { trace });
            const first = model.step(2, model.start(encoded), { trace });
            model.step(5, first.state, { trace });
            return seen;
        }""",
        FIRST,
    )
    n = 6  # tokens of the sentence, with <eos>
    assert list(shapes)[:3] == ["encoder.embedding", "encoder.position", "encoder.input"]
    assert shapes["encoder.block1.attention.weights"] == [4, n, n]
    assert shapes["encoder.block0.ffn.relu"] == [n, 128]
    assert shapes["decoder.block1.attention1.scores"] == [4, 1, 2]  # two tokens so far
    assert shapes["decoder.block0.attention2.K"] == [n, 64]
    assert shapes["decoder.block1.addnorm3"] == [1, 64]
    assert shapes["decoder.logits"] == [len(translator.tgt_vocab)]
    assert list(shapes)[-1] == "decoder.logits"


ODD = [
    *(
        "",
        " ",
        "I'm OK, thanks.",
        "rendez-vous à 3.5 km",
        "我用 PyTorch 2.6。",
        "C’est l’été\u202f!",
        "« Ça va ? »",
    ),
    *(
        "hi\u0301 İstanbul",
        "Chu\u0301ng ta ho\u0323c ma\u0301y ti\u0301nh.",
        "<unk> <eos",
        "snake_case _x_",
        "1,234,567 ½ ²",
    ),
    *(
        "カタカナ々〇",
        "a\ufeffb",
        "e-mail's--end",
        "\t\x1c\x85a\u3000b",
        "ΟΔΟΣ Straße ﬁ",
        "🙂 ok!",
        "𠀀𠀁。",
        "'quoted'",
    ),
]


def test_sentences_are_split_and_joined_as_python_does(compute: Any) -> None:
    page = compute(KIND)
    rows = widgets._rows()
    every = [row[code] for row in rows for code in ("en", "fr", "vi", "zh")] + ODD
    each = "([name, all]) => JSON.stringify(JSON.parse(all).map(numbers[name]))"  # one text: much faster
    tokens = json.loads(page.evaluate(each, ["splitTokens", json.dumps(every)]))
    assert tokens == [d2l.split_tokens(sentence) for sentence in every]
    joined = json.loads(page.evaluate(each, ["joinTokens", json.dumps(tokens)]))
    assert joined == [d2l.join_tokens(one) for one in tokens]


def test_a_token_takes_a_fraction_of_50_ms_on_a_slow_phone(show_apart: Any) -> None:
    page, _ = loaded(show_apart, "en-fr")
    tools = page.context.new_cdp_session(page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    took = page.evaluate(
        """([sentence]) => {
            const tokens = model.numbers(numbers.splitTokens(sentence));
            const times = Array.from({ length: 7 }, () => {
                const start = performance.now();
                const steps = numbers.greedy(model, model.encode(tokens));
                return (performance.now() - start) / steps.length;
            });
            return times.toSorted((a, b) => a - b)[3];
        }""",
        [FIRST],
    )
    assert took < 50


# ---- what a sentence may be


def problem(page: Page, sentence: str, anyway: bool = False) -> dict:
    return page.evaluate("([s, anyway]) => numbers.checked(model, s, anyway)", [sentence, anyway])


def test_what_cannot_be_translated_is_told_apart(compute: Any) -> None:
    page, translator = loaded(compute, "en-fr")
    assert problem(page, FIRST)["tokens"] == d2l.split_tokens(FIRST)
    assert problem(page, " \t")["kind"] == "empty"
    assert problem(page, "I'm a zzxqw.")["unknown"] == [{"word": "zzxqw", "near": []}]
    misspelled = problem(page, "I don't eat fihs.")
    assert misspelled["kind"] == "unknown" and "fish" in misspelled["unknown"][0]["near"]
    assert problem(page, "I don't eat fihs.", True)["tokens"][3] == "fihs"
    long = problem(page, "no " * translator.num_steps)
    assert (long["kind"], long["count"], long["most"]) == (
        "long", translator.num_steps, translator.num_steps - 1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("direction", "sentence", "language", "to"),
    [
        ("en-fr", "我不吃鱼。", "zh", "zh-en"),
        ("en-fr", "Tôi không ăn cá.", "vi", "vi-en"),
        ("en-fr", "Je ne mange pas de poisson.", "fr", "fr-en"),
        ("zh-en", "I don't eat fish.", "en", "en-zh"),
        ("vi-en", "I don't eat fish.", "en", "en-vi"),
        ("vi-en", "我不吃鱼。", "zh", "zh-en"),
        ("fr-en", "I don't eat fish.", "en", "en-fr"),
    ],
)
def test_another_language_is_recognized(
    compute: Any, direction: str, sentence: str, language: str, to: str
) -> None:
    page, _ = loaded(compute, direction)
    answer = problem(page, sentence)
    assert (answer["kind"], answer["language"], answer["direction"]) == ("language", language, to)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_sentence_offered_is_held_out_and_can_be_translated(compute: Any, direction: str) -> None:
    page, translator = loaded(compute, direction)
    offered = widgets._sentences()[translator.source]
    assert set(offered) <= set(held_out(direction))
    for sentence in offered:
        assert "tokens" in problem(page, sentence)


# ---- the weights


def requests(page: Page) -> list[str]:
    names: list[str] = []
    page.on("request", lambda request: names.append(request.url.rpartition("/")[2]))
    return names


def done(page: Page) -> None:
    expect(page.locator(".result")).to_be_visible()
    expect(page.locator("[aria-busy]")).to_have_count(0)


def translate(page: Page, sentence: str = FIRST) -> None:
    page.get_by_role("combobox", name="Sentence").fill(sentence)
    page.keyboard.press("Enter")
    done(page)


def target(page: Page) -> list[str]:
    return (
        page.locator(".target")
        .get_by_role("radio")
        .evaluate_all("(all) => all.map((one) => one.firstChild.textContent)")
    )


def test_weights_come_at_the_first_touch_and_once(show_apart: Any) -> None:
    page = show_apart(KIND)
    asked_for = requests(page)
    page.clock.install()
    page.clock.run_for(5000)
    page.clock.resume()
    assert asked_for == []
    page.get_by_role("combobox", name="Sentence").focus()
    translate(page)
    translate(page, "She can swim.")
    assert asked_for == ["en-fr.safetensors"]
    page.get_by_label("Direction").select_option("en-vi")
    done(page)
    assert asked_for == ["en-fr.safetensors", "en-vi.safetensors"]


def test_what_does_not_come_is_told_and_can_be_asked_for_again(show: Any) -> None:
    page = show(KIND)
    page.evaluate(
        """() => {
            const real = window.fetch;
            window.fetch = () => Promise.reject(new Error("offline"));
            window.online = () => { window.fetch = real; };
        }"""
    )
    page.get_by_role("button", name=FIRST).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The parameters did not come.")
    page.evaluate("online()")
    alert.get_by_role("button", name="Try again").click()
    done(page)
    assert "poisson" in target(page)


def test_a_kernel_answers_with_the_bytes() -> None:
    """The traits of the live widget; test_hosts.py does the same in JupyterLab."""
    shown = d2l.explorer(KIND)
    assert shown.sent == b""
    shown.asked = {"checkpoint": "en-zh", "at": 1}
    assert shown.sent == checkpoint("en-zh") and len(shown.sent) > 100_000
    shown.asked = {"checkpoint": "../../pyproject", "at": 2}
    assert shown.sent == b""
    shown.close()


def test_in_a_notebook_the_kernel_is_asked(show: Any) -> None:
    page = show(KIND)
    page.evaluate(
        """async () => {
            const traits = { state: {}, answer: {} };
            const listeners = {};
            const model = {
                get: (name) => traits[name],
                set(name, value) { traits[name] = value; },
                on(event, call) { (listeners[event] ??= []).push(call); },
                off(event, call) { listeners[event] = listeners[event].filter((one) => one !== call); },
                async save_changes() {
                    const file = await fetch(`/${traits.asked.checkpoint}.safetensors`);
                    const whole = await file.arrayBuffer();
                    // a view into a message, as Jupyter has it
                    const padded = new Uint8Array(whole.byteLength + 3);
                    padded.set(new Uint8Array(whole), 3);
                    traits.sent = new DataView(padded.buffer, 3);
                    for (const call of listeners["change:sent"]) call();
                },
            };
            const place = document.body.appendChild(document.createElement("div"));
            place.id = "notebook";
            const { default: widget } = await import("/module.js");
            widget.render({ model, el: place });
        }"""
    )
    here = page.locator("#notebook")
    here.get_by_role("button", name=FIRST).click()
    expect(here.locator(".result")).to_be_visible()
    here.get_by_label("Direction").select_option("en-zh")
    expect(here.locator(".target")).to_contain_text("鱼")
    assert page.evaluate("location.search") == ""  # only the website keeps views in its address


# ---- by hand


def test_a_sentence_is_translated_as_python_does_and_said_once(show: Any) -> None:
    page = show(KIND)
    page.evaluate(
        """() => {
            window.announced = [];
            const status = document.querySelector("[role=status].unseen:not(.d2l-tries *)");
            const watch = new MutationObserver(() => announced.push(status.textContent));
            watch.observe(status, { childList: true });
        }"""
    )
    translate(page)
    translation = d2l.load_translator("en", "fr")(FIRST)
    assert target(page) == translation.target_tokens
    assert page.evaluate("announced") == [f"“{FIRST}” was translated: “{translation.text}”"]
    assert page.locator(".where").inner_text() == f"Step 1 of {len(translation.target_tokens)}"


def test_by_keyboard_one_walks_through_the_steps(show: Any) -> None:
    page = show(KIND)
    translate(page)
    n = len(target(page))
    page.locator(".target [aria-checked=true]").focus()
    for key, at in (
        ("ArrowRight", 2),
        ("ArrowRight", 3),
        ("ArrowLeft", 2),
        ("End", n),
        ("ArrowRight", 1),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        assert page.locator(".where").inner_text() == f"Step {at} of {n}"
        assert page.evaluate("document.activeElement.getAttribute('aria-checked')") == "true"
    page.get_by_role("button", name="One step forward").click()
    said = page.locator(".said").inner_text()
    weights = d2l.load_translator("en", "fr")(FIRST).cross_weights.mean(dim=(0, 1))[1]
    assert f"weight {weights.max():.3f}" in said and said.startswith("Step 2: “ne”")
    assert page.get_by_role("button", name="One step back").get_attribute("aria-disabled") == "false"
    shares = [float(text) for text in page.locator(".share").all_inner_texts()]
    assert shares == pytest.approx(weights.tolist(), abs=0.0051)


def test_another_token_may_be_chosen_and_taken_back(show: Any) -> None:
    page = show(KIND)
    translate(page)
    whole = target(page)
    page.get_by_role("button", name="One step forward").click()
    runner = page.locator(".runners button").nth(1)
    token = runner.locator(".token").inner_text()
    runner.focus()
    page.keyboard.press("Enter")
    done(page)
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    now = target(page)
    translator = d2l.load_translator("en", "fr")
    assert now[:2] == [whole[0], token] and now != whole
    numbers = translator.tgt_vocab[now]
    best = logits_of(translator, FIRST, numbers).argmax(dim=1).tolist()
    assert best[2:] == numbers[2:] and best[1] != numbers[1]
    assert page.locator(".target [data-forced]").inner_text().startswith(token)
    page.get_by_role("button", name="Back to the model's own choice").click()
    done(page)
    assert target(page) == whole
    expect(page.get_by_role("button", name="Back to the model's own choice")).to_be_hidden()


def test_runners_up_have_their_probabilities(show: Any) -> None:
    page = show(KIND)
    translate(page)
    translator = d2l.load_translator("en", "fr")
    odds = logits_of(translator, FIRST, translator.tgt_vocab[target(page)])[0].softmax(dim=0)
    best = odds.topk(5)
    shown = page.locator(".runners button:visible")
    assert shown.locator(".token").all_inner_texts() == translator.tgt_vocab.to_tokens(best.indices)
    expected = [f"{p:.3f}" if p >= 0.0005 else "< 0.001" for p in best.values.tolist()]
    assert shown.locator(".p").all_inner_texts() == expected


def test_without_cross_attention_every_sentence_is_translated_alike(show: Any) -> None:
    page = show(KIND)
    translate(page)
    whole = target(page)
    page.locator("summary", has_text="Switch heads off").click()
    page.get_by_role("button", name="Cross-attention: target to source: all off").click()
    done(page)
    blind = target(page)
    assert blind != whole and "With all heads: “je ne mange pas" in page.locator(".effect").inner_text()
    assert page.locator(".target [data-changed]").count() > 0
    translate(page, "She can swim.")
    assert target(page) == blind
    page.get_by_role("button", name="All heads on").click()
    assert page.locator(".effect").inner_text() == "All heads are on."
    toggle = page.get_by_role("group", name="Encoder").get_by_role("button", name="Block 2, head 3")
    toggle.focus()
    page.keyboard.press("Space")
    assert toggle.get_attribute("aria-pressed") == "false"
    assert page.locator(".switches [aria-pressed=false]").count() == 1


def test_greedy_and_beam_stand_side_by_side(show: Any) -> None:
    page = show(KIND)
    translate(page)
    page.get_by_text("Greedy or beam search", exact=True).click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(5)
    translator = d2l.load_translator("en", "fr")
    rest = (translator.src_vocab, translator.tgt_vocab, translator.num_steps, "cpu")
    beams = d2l.beam_search(translator.net, FIRST, *rest)
    assert rows.locator("button").all_inner_texts()[1:] == [text for text, _ in beams]
    scores = [float(text.replace("−", "-")) for text in rows.locator("td:last-child").all_inner_texts()]
    assert scores[1:] == pytest.approx([score for _, score in beams], abs=0.00051)
    (_, own), *_ = d2l.beam_search(translator.net, FIRST, *rest, beam_size=1)
    assert scores[0] == pytest.approx(own, abs=0.00051)
    rows.nth(2).get_by_role("button").click()
    assert " ".join(target(page)[:-1]) == beams[1][0]
    assert rows.nth(2).get_by_role("button").get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.textContent") == beams[1][0]


def test_known_words_are_offered_while_one_types(show: Any) -> None:
    page = show(KIND)
    field = page.get_by_role("combobox", name="Sentence")
    field.focus()
    page.keyboard.type("I don't eat fi")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_be_visible()
    assert field.get_attribute("aria-expanded") == "true"
    offered = options.all_inner_texts()
    assert "fish" in offered and all(word.startswith("fi") for word in offered)
    for _ in range(offered.index("fish") + 1):
        page.keyboard.press("ArrowDown")
    active = field.get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").inner_text() == "fish"
    page.keyboard.press("Enter")
    assert field.input_value() == "I don't eat fish "
    page.keyboard.type("an")
    expect(options.first).to_be_visible()
    page.keyboard.press("Escape")
    assert field.get_attribute("aria-expanded") == "false" and field.input_value().endswith("an")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    done(page)
    assert target(page) == d2l.load_translator("en", "fr")("I don't eat fish").target_tokens


def test_an_unknown_word_is_explained_and_may_be_mended_or_kept(show: Any) -> None:
    page = show(KIND)
    field = page.get_by_role("combobox", name="Sentence")
    field.fill("I don't eat fihs.")
    page.get_by_role("button", name="Translate", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The model does not know “fihs”")
    alert.get_by_role("button", name="with <unk> in its place").click()
    done(page)
    assert page.locator(".source .chip").nth(3).inner_text().startswith("<unk>")
    assert page.locator(".source .chip").nth(3).get_attribute("title") == "fihs"
    page.get_by_role("button", name="Translate", exact=True).click()
    alert.get_by_role("button", name="fish", exact=True).click()
    done(page)
    assert field.input_value() == "i don't eat fish ."
    assert "poisson" in target(page)


def test_a_sentence_in_another_language_offers_to_turn_around(show: Any) -> None:
    page = show(KIND)
    page.get_by_role("combobox", name="Sentence").fill("我不吃鱼。")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_role("button", name="Switch to Chinese → English").click()
    done(page)
    assert page.get_by_label("Direction").input_value() == "zh-en"
    assert target(page) == d2l.load_translator("zh", "en")("我不吃鱼。").target_tokens


def test_an_empty_line_and_a_long_one_get_a_helpful_answer(show: Any) -> None:
    page = show(KIND)
    alert = page.get_by_role("alert")
    page.get_by_role("button", name="Translate", exact=True).click()
    expect(alert).to_contain_text("There is no word to translate yet.")
    page.get_by_role("combobox", name="Sentence").fill("no " * 30)
    page.keyboard.press("Enter")
    expect(alert).to_contain_text("These are 30 tokens")


@pytest.mark.parametrize(("language", "direction"), [("en", "en-fr"), ("vi", "en-vi"), ("zh", "en-zh")])
def test_it_begins_with_the_language_of_the_page(show: Any, language: str, direction: str) -> None:
    page = show(KIND, language)
    assert page.locator("select").first.input_value() == direction
    assert page.locator(".examples button").all_inner_texts() == widgets._sentences()["en"]


def test_a_direction_brings_the_same_sentence_along(show: Any) -> None:
    page = show(KIND)
    translate(page)
    for direction in DIRECTIONS[1:]:
        page.get_by_label("Direction").select_option(direction)
        done(page)
        source = direction[:2]
        assert page.get_by_role("combobox", name="Sentence").input_value() == widgets._sentences()[source][0]
        expected = d2l.load_translator(*direction.split("-"))(widgets._sentences()[source][0])
        assert target(page) == expected.target_tokens


# ---- things to try


def test_the_answers_are_computed(show: Any) -> None:
    page = show(KIND)
    for summary in page.locator(".d2l-tries summary").all():
        summary.click()
    answers = page.locator(".d2l-tries details p")
    for i in range(5):
        expect(answers.nth(i)).not_to_have_text("…")
    texts = answers.all_inner_texts()
    assert not any("{" in text or "undefined" in text or "NaN" in text for text in texts)
    assert "poisson ← fish" in texts[0]
    changed, every = map(int, re.search(r"(\d+) of (\d+)\.", texts[3]).groups())
    assert every == 24 and 0 <= changed < 24


def test_a_question_is_marked_when_it_was_tried(show: Any) -> None:
    page = show(KIND)
    marks = lambda: [bool(text) for text in page.locator(".mark").all_inner_texts()]  # noqa: E731
    translate(page)
    assert marks() == [False] * 5
    page.locator(".target [aria-checked=true]").press("End")
    assert marks() == [True, False, False, False, False]
    page.keyboard.press("Home")
    page.locator(".runners button").nth(1).click()
    done(page)
    assert marks() == [True, True, False, False, False]
    page.get_by_text("Switch heads off", exact=True).click()
    page.locator(".block button").first.click()
    assert marks() == [True, True, False, True, False]
    page.locator(".every").last.click()
    assert marks() == [True, True, True, True, False]
    page.get_by_text("Greedy or beam search", exact=True).click()
    expect(page.locator("tbody tr")).to_have_count(5)
    assert marks() == [True] * 5


# ---- links


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    translate(page)
    page.get_by_role("button", name="One step forward").click()
    page.locator(".runners button").nth(1).click()
    done(page)
    page.locator("#here select").nth(1).select_option("1.2")
    page.locator("summary", has_text="Switch heads off").click()
    page.get_by_role("group", name="Decoder").get_by_role("button", name="Block 1, head 1").click()
    page.wait_for_url(lambda url: '"off":"decoder.0.0"' in unquote_plus(url) and "1:" in unquote_plus(url))
    seen, said, query = target(page), page.locator(".said").inner_text(), page.evaluate("location.search")
    again = show(KIND, query=query)
    done(again)
    assert target(again) == seen and again.locator(".said").inner_text() == said
    assert again.locator(".switches [aria-pressed=false]").count() == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"direction": "fr-vi"},
        {"direction": 7, "sentence": ["x"], "off": {}},
        {
            "sentence": FIRST,
            "chosen": "0:zzxqw x:y 99:je :",
            "step": 1e9,
            "look": "9.9",
            "off": "<b> cross.9.9",
        },
        {"sentence": "<img src=x onerror=alert(1)>"},
    ],
)
def test_a_link_of_nonsense_does_no_harm(show: Any, bad: dict) -> None:
    page = show(KIND, query=asked("translator", **bad))
    assert page.get_by_label("Direction").input_value() == "en-fr"
    if bad.get("sentence") == FIRST:
        done(page)
        assert "poisson" in target(page)
    assert page.locator("#here img").count() == 0


# ---- how it looks


def show_all(page: Page) -> None:
    translate_first(page)
    for details in page.locator("details").all():
        details.evaluate("node => { node.open = true; }")
    page.locator(".runners button").nth(1).click()
    page.locator(".block button").nth(9).click()
    done(page)


def translate_first(page: Page) -> None:
    page.locator(".examples button").nth(4).click()
    done(page)


def pseudo_source(monkeypatch: Any) -> str:
    """The module in a language whose words are accented English, 40 % longer."""
    english = words("en")
    changed = {**english, **{name: in_pseudo(english[name]) for name in ("plots", "explorers")}}
    changed["language"] = {**english["language"], "tag": "en-XA"}
    monkeypatch.setattr(widgets, "words", lambda language: changed)
    return module_source.__wrapped__(KIND, "en")


BEYOND = """() => [...document.querySelectorAll("#here *")]
    .filter((node) => node.checkVisibility() && !node.closest(".unseen, .map-box"))
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5)
    .map((node) => node.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("language", "width"), WIDE_AND_NARROW)
def test_nothing_runs_over_the_edge(show: Any, monkeypatch: Any, language: str, width: int) -> None:
    source = pseudo_source(monkeypatch) if language == "pseudo" else None
    page = show(KIND, "en" if source else language, width=width, source=source)
    show_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BEYOND) == []


def test_no_word_is_left_in_english(show: Any, monkeypatch: Any) -> None:
    page = show(KIND, "en-XA", source=pseudo_source(monkeypatch))
    page.locator("input").fill("zzxqw")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("zzxqw")
    assert page.evaluate(LEFT_IN_ENGLISH, [["zzxqw"], "body"]) == []
    show_all(page)
    page.evaluate("leave()")  # nothing is drawn again
    # these quote sentences and tokens of the models
    quoting = page.locator(".d2l-tries details p, .said, .effect, [role=status]")
    quoting.evaluate_all("(all) => all.forEach((one) => one.replaceChildren())")
    page.locator(".map").evaluate("(map) => map.removeAttribute('aria-label')")
    assert page.evaluate(LEFT_IN_ENGLISH, [[], "body"]) == []


@pytest.mark.parametrize(
    ("language", "theme", "width"),
    slow_except(
        [*product(LANGUAGES, ("light", "dark"), (375,)), ("en", "light", 760), ("en", "dark", 760)],
        [("en", "light", 760), ("en", "dark", 375)],
    ),
)
def test_axe_finds_nothing(show: Any, language: str, theme: str, width: int) -> None:
    page = show(KIND, language, theme=theme, width=width)
    page.evaluate(AXE)
    check = "async () => (await axe.run()).violations.map((v) => [v.id, v.nodes[0].html])"
    assert page.evaluate(check) == []
    page.locator("input").fill("zzxqw")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("zzxqw")
    assert page.evaluate(check) == []
    show_all(page)
    assert page.evaluate(check) == []


@pytest.mark.parametrize(
    ("language", "width"),
    slow_except([("en", 760), ("en", 375), ("vi", 375), ("zh", 760)], [("en", 760), ("vi", 375)]),
)
def test_the_first_translation_moves_nothing_on_the_page(show: Any, language: str, width: int) -> None:
    page = show(KIND, language, width=width)
    page.evaluate(
        """() => {
            window.shift = [];
            const name = ({ node }) => node?.className?.baseVal ?? node?.className ?? node?.nodeName;
            const add = (list) => {
                for (const entry of list.getEntries()) shift.push([entry.value, ...entry.sources.map(name)]);
            };
            new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
        }"""
    )
    before = page.locator(".part").first.bounding_box()
    translate_first(page)
    after = page.locator(".part").first.bounding_box()
    # on a phone what stands below is out of sight
    assert before and after and (width < 600 or abs(after["y"] - before["y"]) < 1)
    shifts = page.evaluate("shift")
    assert sum(value for value, *_ in shifts) < 0.02, shifts


def test_reduced_motion_shows_all_at_once(show_apart: Any) -> None:
    page = show_apart(KIND)
    page.emulate_media(reduced_motion="reduce")
    translate(page)
    page.get_by_role("button", name="She can swim.").click()
    assert page.locator(".target [data-hidden]").count() == 0


def test_it_is_an_explorer_of_the_course() -> None:
    shown = d2l.explorer(KIND)
    assert shown.plain == f"<{KIND} {KIND}>" and words("en")["explorers"]["shown_here"] in shown.stored
