"""A language is added as CONTRIBUTING says: here one whose words are English with accents, 40 % longer.

What is still plain English on its pages was never handed to a translator; what runs over the edge lacks room.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from making import ROOT, served
from playwright.sync_api import Browser, Page, expect

from d2lmini.checkpoints import read_checkpoint
from tools.text import prose

# built once
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("new language"), pytest.mark.timeout(900)]

CODE = "xa"
LETTERS = str.maketrans("ACDEGHIJKLNORSTUWYZacdeghijklnorstuwyz", "ÁČĎÉĜĤÍĴĶĹŃÓŘŠŤÚŴÝŽáčďéĝĥíĵķĺńóřšťúŵýž")
# what a translator leaves alone: code, formulas, places to fill in, addresses, markup
KEPT = re.compile(
    r"(```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\{\{?[^{}]*\}?\}|\]\([^)]*\)|https?://\S+|<[^>]*>|&\w+;)", re.S
)


def pseudo(text: str) -> str:
    """Return a text with an accent on nearly every letter, and each vowel twice."""
    parts = KEPT.split(text)
    parts[::2] = [re.sub(r"[aeiou]", r"\g<0>\g<0>", part).translate(LETTERS) for part in parts[::2]]
    return "".join(parts)


def in_pseudo(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: in_pseudo(inner) for key, inner in value.items()}
    return [in_pseudo(inner) for inner in value] if isinstance(value, list) else pseudo(value)


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def with_comments(code: str) -> str:
    return re.sub(r"(?<=  # ).*|(?<=^# ).*", lambda comment: pseudo(comment[0]), code, flags=re.M)


def with_the_language(data: Any, name: str = "") -> Any:
    """Add the language to every text of an exercise that stands there in all languages."""
    if isinstance(data, dict):
        if "en" in data:
            return {**data, CODE: (with_comments if name in prose.CODE else pseudo)(data["en"])}
        return {key: with_the_language(inner, key) for key, inner in data.items()}
    return [with_the_language(inner, name) for inner in data] if isinstance(data, list) else data


def add_the_words(course: Path) -> None:
    english = tomllib.loads((course / "d2lmini/words/en.toml").read_text(encoding="utf-8"))
    words = in_pseudo(english)
    words["language"] = {**english["language"], "name": "Ĺáńĝúáĝé", "short": "XA", "tag": "en-XA"}
    lines = []
    for section, texts in words.items():
        lines += [f"[{section}]"]
        lines += [f"{json.dumps(key)} = {toml(text)}" for key, text in texts.items()]
    (course / f"d2lmini/words/{CODE}.toml").write_text("\n".join(lines), encoding="utf-8")


def add_to_the_glossary(course: Path) -> None:
    path = course / "chapters/glossary.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{**row, CODE: pseudo(row["en"]), f"wrong_{CODE}": ""} for row in csv.DictReader(file)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def add_to_the_exercises(course: Path) -> None:
    for path in course.glob("chapters/exercises/*/*.yaml"):
        data = with_the_language(yaml.safe_load(path.read_text(encoding="utf-8")))
        path.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")


def add_the_chapters(course: Path) -> None:
    (course / "chapters" / CODE).mkdir()
    for path in (course / "chapters/en").glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            text = "".join(cell["source"])
            text = pseudo(text) if cell["cell_type"] == "markdown" else with_comments(text)
            about = cell["metadata"].get("d2lmini", {})
            about |= {key: pseudo(about[key]) for key in ("claim", "note") if key in about}
            cell["source"] = text.replace('d2l.use_language("en")', f'd2l.use_language("{CODE}")')
        (course / "chapters" / CODE / path.name).write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course to which the language was added, built in it."""
    course = tmp_path_factory.mktemp("new") / "course"
    made = ("_build", "work", "__pycache__", "*.egg-info", ".[!.]*")
    shutil.copytree(ROOT, course, ignore=shutil.ignore_patterns(*made))
    add_the_words(course)
    add_to_the_glossary(course)
    add_to_the_exercises(course)
    add_the_chapters(course)
    for language in ("vi", "zh", CODE):  # each tells that the next ones are behind
        assert run(course, "tools.text.lockstep", "--translated", language).stderr == ""
    for command in (
        ["tools.exercises.compile"],
        ["tools.notebooks.execute", "self-attention", "--lang", CODE],
        ["tools.text.lockstep"],
        ["book.build", "--lang", CODE],
    ):
        done = run(course, *command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return course


def run(course: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(course), "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=course,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def page(course: Path, browser: Browser) -> Any:
    with served(course / "_build/site") as address:
        page = browser.new_page(viewport={"width": 375, "height": 800})
        page.goto(f"{address}/{CODE}/self-attention.html")
        yield page
        page.close()


# what a reader sees or hears, but for code, formulas, printed results and names without a translation
LEFT_IN_ENGLISH = """([names, selector]) => {
    const root = document.querySelector(selector);
    const skip = "pre, code, script, style, noscript, math, .katex, [lang=en], [translate=no], .to-language";
    const found = [];
    const look = (text, node) => {
        const plain = text.match(/(?<![\\p{L}])[A-Za-z]{4,}(?![\\p{L}])/gu) ?? [];
        const left = plain.filter((word) => !names.includes(word));
        if (left.length && !node.closest(skip)) found.push(`${left.join(" ")}: ${text.trim()}`.slice(0, 90));
    };
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) look(walker.currentNode.data, walker.currentNode.parentElement);
    for (const node of root.querySelectorAll("*"))
        for (const name of ["aria-label", "title", "placeholder", "alt", "aria-description"])
            if (node.hasAttribute(name)) look(node.getAttribute(name), node);
    return [...new Set(found)];
}"""


# of the trained models: the explorers quote them in their sentences
SPOKEN = {
    word
    for way in ("en-fr", "en-vi", "en-zh")
    for vocabulary in ("src_vocab", "tgt_vocab")
    for token in json.loads(read_checkpoint(way)[0][vocabulary])
    for word in (token, token.capitalize())
}


def left_in_english(page: Page, selector: str = "body", names: Iterable[str] = ()) -> list[str]:
    # names, which no language translates; d2lmini is one, and its letters in a row are five
    return page.evaluate(LEFT_IN_ENGLISH, [["English", "lmini", "softmax", *names], selector])


def test_no_word_of_the_pages_is_left_in_english(page: Page) -> None:
    expect(page.locator("html")).to_have_attribute("lang", "en-XA")
    for widget in page.locator(".d2l-widget").all():
        widget.scroll_into_view_if_needed()  # which wakes it
        expect(widget.locator("[lang=en-XA]")).to_be_visible()
    assert left_in_english(page) == []


def test_nothing_runs_over_the_edge_of_a_phone(page: Page) -> None:
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 375
    over = page.evaluate(
        """() => [...document.querySelectorAll("button, summary, nav a, label, .d2l-bar *")]
        .filter((node) => node.checkVisibility() && !node.closest("pre, .scroll, .d2l-scroll"))
        .filter((node) => node.getBoundingClientRect().right > innerWidth + 1
            || node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).overflowX == "hidden")
        .map((node) => node.textContent.trim().slice(0, 60))"""
    )
    assert over == []


def test_an_exercise_answers_in_the_language(page: Page) -> None:
    exercise = page.locator(".d2l-widget[data-id='self-attention/why-scale']")
    exercise.scroll_into_view_if_needed()
    exercise.locator("input").first.check()
    exercise.get_by_role("button", name=pseudo("Check"), exact=True).click()
    expect(exercise.get_by_role("status")).to_contain_text(pseudo("Correct."))
    assert left_in_english(page) == []


@pytest.mark.parametrize(
    ("chapter", "widget", "control"),
    [
        ("self-attention", "plane-explorer", "[role=slider]"),
        ("multi-head-attention", "attention-explorer", "[role=radio]"),
        ("complexity", "path-explorer", "[type=range]"),
        ("positional-encoding", "clock-explorer", "[type=range]"),
        ("relative-positions", "rotary-explorer", "[type=range]"),
        ("transformer", "block-explorer", "[aria-current=step]"),
        ("translation", "translator-explorer", "select"),
        ("language-model", "writer-explorer", "[type=range]"),
    ],
)
def test_an_explorer_speaks_the_language(page: Page, chapter: str, widget: str, control: str) -> None:
    page.goto(re.sub(r"[^/]+$", f"{chapter}.html", page.url))
    page.locator("html[data-measured]").wait_for()  # until then a reload holds its place
    selector = f"[data-widget={widget}]"
    explorer = page.locator(selector)
    explorer.scroll_into_view_if_needed()
    explorer.locator(control).first.focus()
    page.keyboard.press("ArrowRight")
    for hidden in explorer.locator("summary").all():
        hidden.click()
    assert left_in_english(page, selector, SPOKEN) == []


def test_the_prose_check_knows_the_language(course: Path) -> None:
    """Its own words pass; a paragraph left in English and a word that the glossary rules out are found."""
    done = run(course, "tools.text.prose")
    mine = [line for line in done.stdout.splitlines() if f"/{CODE}" in line or f"chapters/{CODE}" in line]
    # what the other chapters print is stored in English: only one was executed
    assert [line for line in mine if "printed in English" not in line or "self-attention" in line] == []
    path = course / "chapters" / CODE / "self-attention.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    english = json.loads((course / "chapters/en/self-attention.ipynb").read_text(encoding="utf-8"))
    texts = [i for i, cell in enumerate(english["cells"]) if cell["cell_type"] == "markdown"]
    notebook["cells"][texts[1]]["source"] = english["cells"][texts[1]]["source"]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert f"chapters/{CODE}/self-attention.ipynb#" in run(course, "tools.text.prose").stdout
