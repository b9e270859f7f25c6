"""The writer in the page: its numbers are PyTorch's, it is there at once, each task is done in sight."""

import base64
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
import torch
from explorer_pages import TOO_SMALL, UNDER_HEADER, site_of, swipe, visits
from making import asked
from playwright.sync_api import Browser, Locator, Page, expect
from test_new_language import LEFT_IN_ENGLISH, in_pseudo
from test_seen import DESK, PHONE, unseen

import d2lmini as d2l
from d2lmini.language import words
from d2lmini.notebook import widgets
from d2lmini.notebook.widgets import checkpoint, module_source
from d2lmini.writer import WRITERS
from tools.record import ASSETS, writer_first

KIND = "writer-explorer"
WORDS = {
    language: words(language)["explorers"]["shared"] | words(language)["explorers"]["writer"]
    for language in WRITERS
}
LOAD = """async (name) => {
    const bytes = new Uint8Array(await (await fetch(`/${name}.safetensors`)).arrayBuffer());
    window.model = new numbers.LanguageModel(numbers.readCheckpoint(bytes));
}"""
# of each text the probabilities after every token, as they lie in memory
ALL = """([texts, off]) => texts.map((text) => {
    const steps = model.read(text, new Set(off));
    const odds = ({ logits }) => [...numbers.probabilities(logits, 1, 1).soft];
    const all = Float32Array.from(steps.flatMap(odds));
    return btoa(Array.from(new Uint8Array(all.buffer), (byte) => String.fromCharCode(byte)).join(""));
})"""


def loaded(compute: Any, language: str) -> tuple[Page, Any]:
    """A page with the model of a language, and the same model in PyTorch."""
    page = compute(KIND)
    page.evaluate(LOAD, f"writer-{language}")
    return page, d2l.load_writer(language)


def probabilities_of(writer: Any, numbers: list[int]) -> torch.Tensor:
    with torch.no_grad():
        scores, _ = writer.net(torch.tensor([[writer.stories.vocab["<bos>"], *numbers]]))
    return scores[0].softmax(dim=-1)


def beginnings(writer: Any, count: int = 100) -> list[list[int]]:
    """Stories cut anywhere, as they are told and with words put out of place."""
    rng = random.Random(7)
    found = []
    for seed in range(count):
        tokens = writer.stories.tell(seed, unseen=seed % 5 == 0)
        if seed % 4 == 0:
            rng.shuffle(tokens)
        found.append(writer.stories.vocab[tokens[: rng.randrange(len(tokens))]])
    return found


# ---- the arithmetic


@pytest.mark.parametrize("language", WRITERS)
def test_every_probability_after_a_hundred_beginnings_is_that_of_pytorch(compute: Any, language: str) -> None:
    page, writer = loaded(compute, language)
    texts = beginnings(writer)
    assert len({tuple(text) for text in texts}) >= 95
    for text, shown in zip(texts, page.evaluate(ALL, [texts, []]), strict=True):
        expected = probabilities_of(writer, text)
        computed = torch.frombuffer(bytearray(base64.b64decode(shown)), dtype=torch.float32)
        torch.testing.assert_close(computed.view(expected.shape), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("language", ["en", "vi"])
def test_where_heads_look_and_what_is_left_without_them(compute: Any, language: str) -> None:
    page, writer = loaded(compute, language)
    text = beginnings(writer)[1]
    steps = page.evaluate(
        "(text) => model.read(text).map(({ weights }) => weights.map((b) => b.map((row) => [...row])))", text
    )
    probabilities_of(writer, text)
    for block, weights in enumerate(writer.net.attention_weights):
        for head, rows in enumerate(weights):
            for i, row in enumerate(rows):
                shown = torch.tensor(steps[i][block][head], dtype=torch.float32)
                torch.testing.assert_close(shown, row[: i + 1], atol=1e-5, rtol=0)
    (shown,) = page.evaluate(ALL, [[text], ["0.2", "1.1"]])
    width = 16
    with torch.no_grad():
        for block, head in ((0, 2), (1, 1)):
            part = slice(head * width, (head + 1) * width)
            writer.net.blks[block].attention.W_o.weight[:, part] = 0
    expected = probabilities_of(writer, text)
    computed = torch.frombuffer(bytearray(base64.b64decode(shown)), dtype=torch.float32)
    torch.testing.assert_close(computed.view(expected.shape), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize(("temperature", "top_p"), [(1, 1), (0.1, 0.9), (2.5, 0.4), (4, 0.05), (1, 0.5)])
def test_temperature_and_top_p_leave_what_the_package_leaves(
    compute: Any, temperature: float, top_p: float
) -> None:
    page = compute(KIND)
    torch.manual_seed(3)
    for logits in (torch.randn(41) * 3, torch.zeros(41), torch.tensor([0.4, 0.3, 0.2, 0.1]).log()):
        call = "([l, t, p]) => [...numbers.probabilities(Float32Array.from(l), t, p).kept]"
        kept = page.evaluate(call, [logits.tolist(), temperature, top_p])
        kept = torch.tensor(kept, dtype=torch.float32)
        expected = d2l.token_probabilities(logits, temperature, top_p=None if top_p == 1 else top_p)
        torch.testing.assert_close(kept, expected, atol=1e-5, rtol=0)
        for chance in (0, 0.3, 0.9999999):  # what was cut is never drawn
            number = page.evaluate(
                "([k, c]) => numbers.drawn(Float32Array.from(k), c)", [kept.tolist(), chance]
            )
            before = expected[:number].sum()
            assert expected[number] > 0 and before <= chance + 1e-5


@pytest.mark.parametrize("language", WRITERS)
def test_texts_are_split_and_joined_as_python_does(show: Any, language: str) -> None:
    page = show(KIND, language)
    stories = d2l.load_writer(language).stories
    texts = [stories.join(stories.tell(seed)) for seed in range(20)]
    texts += [text.upper() for text in texts[:5]] + ["", "  ", texts[0].replace(" ", "  ")]
    for text in texts:
        found = page.evaluate("(text) => numbers.split(text, numbers.first.vocab)", text)
        assert found == {"words": stories.split(text), "unknown": []}
        assert page.evaluate("(tokens) => numbers.join(tokens)", found["words"]) == stories.join(
            found["words"]
        )
    assert page.evaluate("numbers.split('zzxqw', numbers.first.vocab).unknown") == ["zzxqw"]


def test_a_token_takes_a_fraction_of_50_ms_on_a_slow_phone(show_apart: Any) -> None:
    page, _ = loaded(show_apart, "en")
    tools = page.context.new_cdp_session(page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    took = page.evaluate(
        """() => {
            const text = Array.from({ length: 60 }, (_, i) => 4 + (i % 37));
            const times = Array.from({ length: 7 }, () => {
                const start = performance.now();
                model.read(text);
                return (performance.now() - start) / (text.length + 1);
            });
            return times.toSorted((a, b) => a - b)[3];
        }"""
    )
    assert took < 50


# ---- the first result and the weights


@pytest.mark.parametrize("language", WRITERS)
def test_the_first_result_is_that_of_the_model(language: str) -> None:
    lines = (ASSETS / "writer-first.jsonl").read_text(encoding="utf-8").splitlines()
    kept = next(one for one in map(json.loads, lines) if one["language"] == language)
    made = writer_first.first(language)
    assert max(len(line.encode()) for line in lines) < 10_000
    for name in ("logits", "weights"):  # other machines round otherwise
        got, expected = torch.tensor(kept.pop(name)), torch.tensor(made.pop(name))
        torch.testing.assert_close(got, expected, atol=2e-4, rtol=0)
    assert kept == made, "python -m tools.record.writer_first"


def requests(page: Page) -> list[str]:
    names: list[str] = []
    page.on("request", lambda request: names.append(request.url.rpartition("/")[2]))
    return names


def bars(page: Page) -> list[str]:
    return page.locator(".bar .token").all_inner_texts()


def first_p(page: Page) -> str:
    return page.locator(".bar .p").first.inner_text()


def test_weights_come_at_the_first_touch_and_once(show_apart: Any) -> None:
    page = show_apart(KIND)
    asked_for = requests(page)
    assert bars(page)[:2] == ["blue", "gray"] and first_p(page) == "0.498"
    page.clock.install()
    page.clock.run_for(5000)
    page.clock.resume()
    assert asked_for == []
    page.get_by_role("button", name="gray").click()
    expect(page.locator(".bar .token").first).to_have_text("kite")
    page.get_by_role("button", name="kite").click()
    expect(page.locator(".bar .token").first).to_have_text(".")
    assert asked_for == ["writer-en.safetensors"]


def test_what_does_not_come_is_told_and_can_be_asked_for_again(show: Any) -> None:
    page = show(KIND)
    page.evaluate(
        """() => {
            const real = window.fetch;
            window.fetch = () => Promise.reject(new Error("offline"));
            window.online = () => { window.fetch = real; };
        }"""
    )
    page.get_by_role("button", name="gray").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The parameters did not come.")
    assert bars(page)[:2] == ["blue", "gray"]  # what was there stays
    page.evaluate("online()")
    alert.get_by_role("button", name="Try again").click()
    expect(alert).to_have_text("")
    # what was asked for comes by itself
    expect(page.locator(".bar .token").first).to_have_text("kite")


def test_a_kernel_answers_with_the_bytes() -> None:
    shown = d2l.explorer(KIND)
    shown.asked = {"checkpoint": "writer-vi", "at": 1}
    assert shown.sent == checkpoint("writer-vi") and len(shown.sent) > 200_000
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
                    traits.sent = new DataView(await file.arrayBuffer());
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
    here.get_by_role("button", name="gray").click()
    expect(here.locator(".bar .token").first).to_have_text("kite")
    assert here.locator(".link").is_hidden() and page.evaluate("location.search") == ""


# ---- by hand


def chips(page: Page) -> list[str]:
    return page.get_by_role("radio").evaluate_all("(all) => all.map((one) => one.firstChild.textContent)")


def task(page: Page, number: int) -> Locator:
    for _ in range(number - 1):
        page.locator(".task button").nth(2).click()
    return page.locator(".task [role=status]")


def slide(page: Page, label: str, to: float) -> None:
    page.get_by_role("slider", name=label).fill(str(to))


def test_typed_words_are_read_and_unknown_ones_refused_with_the_nearest(show: Any) -> None:
    page = show(KIND)
    field = page.get_by_role("textbox", name="Beginning of the story")
    field.fill("tom has a blue bell. Idda")
    page.keyboard.press("Enter")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("No story has the word “idda”.")
    alert.get_by_role("button", name="Ida", exact=True).click()
    expect(page.get_by_role("radio")).to_have_count(8)
    assert chips(page) == ["<bos>", "Tom", "has", "a", "blue", "bell", ".", "Ida"]
    assert field.input_value() == "Tom has a blue bell. Ida" and bars(page)[0] == "has"
    field.fill("Tom " * 70)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(alert).to_contain_text("These are 70 tokens; the stories have at most 66.")
    page.get_by_role("button", name="Begin anew").click()
    assert chips(page) == ["<bos>"]
    page.get_by_role("button", name="Take back").click()
    assert len(chips(page)) == 8


def test_in_chinese_words_stand_without_spaces(show: Any) -> None:
    page = show(KIND, "zh")
    field = page.get_by_role("textbox")
    field.fill("小王有一只")
    page.keyboard.press("Enter")
    near = page.get_by_role("alert").get_by_role("button")
    expect(near).to_have_count(3)
    name = near.first.inner_text()
    near.first.click()
    expect(page.get_by_role("radio")).to_have_count(4)
    assert chips(page) == ["<bos>", name, "有", "一只"]


def test_a_token_is_taken_drawn_and_taken_back(show: Any) -> None:
    page = show(KIND)
    n = len(chips(page))
    page.get_by_role("button", name="gray").click()
    expect(page.get_by_role("radio")).to_have_count(n + 1)
    assert float(first_p(page)) == pytest.approx(0.999, abs=0.001)
    page.evaluate("Math.random = () => 0.5")
    page.get_by_role("button", name="A sentence").click()
    expect(page.get_by_role("radio")).to_have_count(n + 3)
    assert chips(page)[-2:] == ["kite", "."]
    for left in (n + 2, n + 1, n):
        page.get_by_role("button", name="Take back").click()
        assert len(chips(page)) == left
    # up to the end, where nothing can be drawn any more
    text = d2l.load_writer("en").stories.tell(seed=1)
    page.get_by_role("textbox").fill(" ".join(text))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="<eos>").click()
    expect(page.locator(".bar")).to_have_count(0)
    assert page.get_by_role("button", name="Draw a token").is_disabled()
    assert page.locator(".heading").inner_text() == WORDS["en"]["ended"]
    assert page.evaluate("document.activeElement.className") == "back"  # the bar pressed is gone


def test_bars_show_what_remains(show: Any) -> None:
    page = show(KIND)
    slide(page, "Temperature", 3)
    slide(page, "Top-p", 0.3)
    logits = torch.tensor(writer_first.first("en")["logits"])
    kept = d2l.token_probabilities(logits, 3, top_p=0.3)
    expected = [f"{p:.3f}" if p else "cut" for p in kept.topk(8).values.tolist()]
    assert page.locator(".bar .p").all_inner_texts() == expected and "cut" in expected
    assert (
        page.locator(".said").inner_text() == f"{int((kept > 0).sum())} of 41 tokens remain to be drawn from."
    )


def test_a_long_text_is_folded_and_can_be_unfolded(show: Any) -> None:
    page = show(KIND, width=390)
    page.get_by_role("textbox").fill(" ".join(d2l.load_writer("en").stories.tell(seed=1)))
    page.keyboard.press("Enter")
    fold = page.get_by_role("button", name="tokens before")
    expect(fold).to_be_visible()
    assert len(chips(page)) <= 20
    box = page.locator(".story").bounding_box()
    assert box and box["height"] < 240
    fold.click()
    assert len(chips(page)) > 40


def test_by_keyboard_all_can_be_done(show: Any) -> None:
    page = show(KIND)
    page.locator("[role=radio][aria-checked=true]").focus()
    for key, at in (("ArrowLeft", 14), ("Home", 0), ("ArrowRight", 1), ("End", 15)):
        page.keyboard.press(key)
        expect(page.get_by_role("radio").nth(at)).to_be_focused()
        assert page.get_by_role("radio").nth(at).get_attribute("aria-checked") == "true"
    page.get_by_role("tab", name="Draw").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Heads")).to_be_focused()
    look = page.get_by_role("button", name="1.3: block 1, head 3, see where it looks")
    look.focus()
    page.keyboard.press("Enter")
    assert look.get_attribute("aria-pressed") == "true"
    assert page.locator(".said").inner_text().startswith("Head 1.3 looks from “the” most at")
    switch = page.locator(".switch").nth(4)
    switch.focus()
    page.keyboard.press("Space")
    assert switch.get_attribute("aria-checked") == "false"
    expect(page.locator(".said")).to_contain_text("Off: 2.1.")
    page.get_by_role("tab", name="Heads").focus()
    page.keyboard.press("Home")
    page.get_by_role("slider", name="Temperature").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("slider", name="Temperature").get_attribute("aria-valuetext") == "1.1"
    page.locator(".bar").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio")).to_have_count(17)
    assert page.evaluate("document.activeElement.className") == "bar"  # to take the next one


def test_a_line_begins_at_the_token_that_looks_while_that_still_arrives(show: Any) -> None:
    page = show(KIND)
    page.get_by_role("button", name="gray").click()
    expect(page.get_by_role("radio")).to_have_count(17)
    ends = """() => {
        for (const one of document.getAnimations()) one.finish();
        const found = [".lines path", "[aria-checked=true]"];
        const [first, chip] = found.map((one) => document.querySelector(one));
        const { x, y } = first.getPointAtLength(0).matrixTransform(first.getScreenCTM());
        const box = chip.getBoundingClientRect();
        return [x - box.left - box.width / 2, y - box.top];
    }"""
    assert page.evaluate(ends) == pytest.approx([0, 0], abs=1.5)


# ---- tasks


def do_task(page: Page, number: int, language: str) -> None:
    """Do a task as its text asks for it."""
    if number == 1:
        page.locator(".bar").nth(1).click()
    elif number == 2:
        slide(page, WORDS[language]["temperature"], 3.6)
    elif number == 3:
        slide(page, WORDS[language]["top_p"], 0.3)
    elif number == 4:
        second = {"en": "kite", "vi": "xám", "zh": "风筝"}[language]
        page.get_by_role("radio").filter(has_text=second).first.click()
        page.locator(".look").nth({"en": 2, "vi": 1, "zh": 2}[language]).click()
    else:
        for head in {"en": (0, 2), "vi": (1,), "zh": (0, 2)}[language]:
            page.locator(".switch").nth(head).click()


@pytest.mark.parametrize("language", WRITERS)
def test_each_task_is_ticked_by_doing_it(show: Any, language: str) -> None:
    page = show(KIND, language)
    for number in range(1, 6):
        told = page.locator(".task [role=status]")
        cue = {"en": "gray", "vi": "diều", "zh": "灰色的"}[language]
        expect(told).to_have_text(WORDS[language]["tasks"][number - 1].replace("{cue}", cue))
        do_task(page, number, language)
        expect(told).to_have_attribute("data-done", "true")
        assert told.inner_text().startswith("✓") and "{" not in told.inner_text()
        assert page.locator(".marks [data-done=true]").count() == number
        if number < 5:
            page.locator(".task button").nth(2).click()
    assert page.locator(".task button").nth(2).is_disabled()
    page.locator(".task button").nth(1).click()
    expect(told).to_have_attribute("data-done", "true")  # it stays ticked


def test_a_task_is_not_ticked_by_something_like_it(show: Any) -> None:
    page = show(KIND)
    told = task(page, 4)
    page.get_by_role("radio").filter(has_text="kite").first.click()
    page.locator(".look").nth(6).click()
    page.get_by_role("radio").filter(has_text="has").first.click()  # no second word of a pair
    page.locator(".look").nth(2).click()
    assert told.get_attribute("data-done") == "false"
    page.locator(".task button").nth(2).click()
    page.locator(".switch").nth(0).click()
    expect(page.locator(".said")).to_contain_text("Off: 1.1.")
    assert told.get_attribute("data-done") == "false"


# ---- links


def test_a_link_shows_what_was_shared(show: Any) -> None:
    page = show(KIND)
    page.locator(".bar").nth(1).click()
    slide(page, "Temperature", 2)
    page.get_by_role("tab", name="Heads").click()
    page.locator(".look").nth(2).click()
    page.locator(".switch").nth(5).click()
    page.wait_for_url(lambda url: '"off":"1.1"' in unquote_plus(url))
    parts = [".said", ".bars", ".story"]
    seen, query = [page.locator(part).inner_text() for part in parts], page.evaluate("location.search")
    again = show(KIND, query=query)
    expect(again.locator(".said")).to_have_text(seen[0])
    assert [again.locator(part).inner_text() for part in parts] == seen


@pytest.mark.parametrize(
    "bad",
    [
        {"sentence": "<img src=x onerror=alert(1)>", "off": "<b> 9.9"},
        {"sentence": "Tom " * 90, "temperature": -4, "topP": 1e9, "look": "9.9", "from": 1e9, "task": -1},
        {"temperature": "hot", "from": 2.5, "task": 77, "panel": "__proto__", "look": "constructor"},
    ],
)
def test_a_link_of_nonsense_does_no_harm(show: Any, bad: dict) -> None:
    page = show(KIND, query=asked("writer", **bad))
    expect(page.locator(".bar")).to_have_count(8)
    assert bars(page)[:2] == ["blue", "gray"] and page.locator("#here img").count() == 0


# ---- for everybody

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("language", "theme", "width"), [("en", "dark", 760), ("vi", "light", 375), ("zh", "dark", 375)]
)
def test_axe_finds_nothing(show: Any, language: str, theme: str, width: int) -> None:
    page = show(KIND, language, theme=theme, width=width)
    page.evaluate(AXE)
    check = "async () => (await axe.run()).violations.map((v) => [v.id, v.nodes[0].html])"
    slide(page, WORDS[language]["top_p"], 0.3)
    assert page.evaluate(check) == []
    task(page, 5)
    do_task(page, 5, language)
    page.locator(".look").first.click()
    page.get_by_role("radio").nth(3).click()
    page.get_by_role("textbox").fill("zzxqw")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("zzxqw")
    assert page.evaluate(check) == []
    page.get_by_role("textbox").fill(d2l.Stories(language).join(d2l.Stories(language).tell(seed=1)))
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("")
    assert page.evaluate(check) == []


def test_no_word_is_left_in_english(show: Any, monkeypatch: Any) -> None:
    english = words("en")
    changed = {**english, **{name: in_pseudo(english[name]) for name in ("plots", "explorers")}}
    changed["language"] = {**english["language"], "tag": "en-XA"}
    monkeypatch.setattr(widgets, "words", lambda language: changed)
    source = module_source.__wrapped__(KIND, "en")
    for number in (1, 5):
        page = show(KIND, "en-XA", width=375, source=source)
        task(page, number)
        page.get_by_role("textbox").fill("zzxqw")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("zzxqw")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        page.evaluate("leave()")  # nothing is drawn again
        # these quote the stories
        quoting = page.locator("[translate=no], .said, .field input, .task [role=status], .problem button")
        quoting.evaluate_all("(all) => all.forEach((one) => one.remove())")
        assert page.evaluate(LEFT_IN_ENGLISH, [["zzxqw"], "body"]) == []


def test_what_changes_is_announced(show: Any) -> None:
    page = show(KIND)
    said = page.locator(".said")
    assert said.get_attribute("role") == "status"
    page.evaluate(
        """() => {
            window.announced = [];
            for (const status of document.querySelectorAll("p[role=status]")) {
                const watch = new MutationObserver(() => announced.push(status.textContent));
                watch.observe(status, { childList: true, characterData: true, subtree: true });
            }
        }"""
    )
    page.get_by_role("button", name="gray").click()
    expect(said).to_have_text("The most probable token is “kite”: 0.999.")
    announced = page.evaluate("announced")
    assert announced[-1] == "The most probable token is “kite”: 0.999." or "✓" in announced[-1]
    assert any(text.startswith("✓ Probability 0.999.") for text in announced)


# ---- seen


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with site_of(KIND, tmp_path_factory.mktemp("writer-book")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, pages: str) -> Iterator[Callable[..., Page]]:
    with visits(browser, pages, KIND) as visit:
        yield visit


both = pytest.mark.parametrize("kind", [DESK, PHONE], ids=["desk", "phone"])


@both
@pytest.mark.parametrize("language", WRITERS)
def test_picture_controls_and_task_are_in_view_together(
    visit: Callable[..., Page], kind: dict[str, Any], language: str
) -> None:
    page = visit(kind, language)
    root = page.locator(f"[data-widget={KIND}]")
    marked = root.locator("[data-look]")
    assert marked.evaluate_all("all => all.map((one) => one.dataset.look)") == [
        "task", "picture", "picture", "control",
    ]  # fmt: skip
    for number in range(1, 6):
        do_task(page, number, language)
        expect(page.locator(".task [role=status]")).to_have_attribute("data-done", "true")
        root.evaluate(UNDER_HEADER)
        assert (
            unseen(marked, page.locator(".bar"), page.get_by_role("radio"), page.locator(".inside button"))
            == []
        )
        assert root.evaluate(TOO_SMALL) == []
        assert root.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        if number < 5:
            page.locator(".task button").nth(2).click()


def test_a_swipe_up_that_begins_on_a_control_or_picture_scrolls_the_page(visit: Callable[..., Page]) -> None:
    page = visit(PHONE, "en")

    def shown() -> list[str]:
        return [page.locator(part).inner_text() for part in (".story", ".next", ".panel")]

    before = shown()
    for part in (".rail", ".bar", ".chip", ".go", ".task"):
        assert swipe(page, page.locator(part).first, 4, -160) > 60, part
        assert shown() == before, part
        root = page.locator(f"[data-widget={KIND}]")
        root.evaluate(UNDER_HEADER)
    swipe(page, page.locator(".rail").first, 60, 4)  # sideways it moves the slider
    expect(page.locator(".panel")).not_to_contain_text("Temperature = 1.0")


def test_with_reduced_motion_nothing_moves_by_itself(visit: Callable[..., Page]) -> None:
    moving = "() => document.getAnimations().filter((one) => one.effect.target.closest('.d2l-writer')).length"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page = visit(DESK, "en", reduced_motion=motion)
        page.locator(".bar").first.hover()
        page.evaluate("() => { document.querySelectorAll('.bar')[1].click(); }")
        expect(page.get_by_role("radio")).to_have_count(17)
        assert bool(page.evaluate(moving)) is moves, motion
