"""The stored notebooks: readable ids, fixed metadata, executed without a warning, small."""

import json
import re
from copy import deepcopy
from pathlib import Path

import pytest

from book.chapters import (
    LANGUAGES,
    ROOT,
    Notebook,
    claim_of,
    find,
    path_of,
    read,
    shown,
    source,
    spoken,
    write,
)
from book.talk import html_of
from tools.notebooks.execute import METADATA, WIDGET_VIEW

SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
HASH = re.compile(r"[0-9a-f]{8}[0-9a-f-]*")
LARGEST = 1_500_000


def slips(notebook: Notebook, language: str) -> list[str]:
    """What a reader, a link or a commit would trip over."""
    found = []
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 5):
        found.append("not nbformat 4.5, which has cell ids")
    if notebook["metadata"] != METADATA:
        found.append("metadata differs from what book.notebooks stores")
    ids = [cell["id"] for cell in notebook["cells"]]
    found += [f"{name}: id twice" for name in set(ids) if ids.count(name) > 1]
    found += [
        f"{name}: not a readable id" for name in ids if not SLUG.fullmatch(name) or HASH.fullmatch(name)
    ]
    for cell in notebook["cells"]:
        text, name = source(cell), cell["id"]
        if cell["cell_type"] == "markdown":
            outside = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
            headings = re.findall(r"^#+ ", outside, re.M)
            if len(headings) > 1 or (headings and not text.startswith("#")):
                found.append(f"{name}: a heading opens a cell, one in each")
            if spoken(cell) and not headings:
                found.append(f"{name}: a note or a claim stands with the heading of its section")
            continue
        if spoken(cell):
            found.append(f"{name}: a note or a claim stands with the heading of its section")
        if "use_language(" in text and f'use_language("{language}")' not in text:
            found.append(f"{name}: sets another language")
        if text.strip() and cell["execution_count"] is None:
            found.append(f"{name}: not executed")
        for output in cell["outputs"]:
            if output["output_type"] == "error" or output.get("name") == "stderr":
                found.append(f"{name}: stores an error or a warning")
            if WIDGET_VIEW in output.get("data", {}) or WIDGET_VIEW in output.get("metadata", {}):
                found.append(f"{name}: stores the view of a widget")
    return found


EVERY = find()
SITTINGS = [path for path in find([], ["en"]) if (ROOT / "chapters" / "exercises" / path.stem).exists()]


@pytest.mark.parametrize("path", EVERY, ids=shown)
def test_notebook_is_in_form(path: Path) -> None:
    assert slips(read(path), path.parent.name) == []


@pytest.mark.parametrize("path", EVERY, ids=shown)
def test_notebook_is_small_and_stored_as_the_tools_store_it(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    assert len(data) < LARGEST
    again = tmp_path / path.name
    write(again, json.loads(data))
    assert data == again.read_bytes()


def prose_words(notebook: Notebook) -> int:
    texts = [source(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    not_read = r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)"
    return sum(len(re.findall(r"[\w’'-]+", re.sub(not_read, " ", text, flags=re.S))) for text in texts)


@pytest.mark.parametrize("path", SITTINGS, ids=shown)
def test_chapter_is_one_sitting(path: Path) -> None:
    """At most an hour for text and code, nine to twelve exercises beside it."""
    notebook = read(path)
    code = [source(cell).splitlines() for cell in notebook["cells"] if cell["cell_type"] == "code"]
    lines = [[line for line in cell if line.strip() and not line.strip().startswith("#")] for cell in code]
    assert prose_words(notebook) <= 2_000
    assert sum(map(len, lines)) <= 150
    assert max(map(len, lines)) <= 18
    assert 9 <= sum("d2l.exercise(" in line for cell in code for line in cell) <= 12


def test_every_language_has_an_index() -> None:
    for language in LANGUAGES:
        assert (ROOT / "chapters" / language / "index.ipynb").exists()


GOOD: Notebook = {
    "cells": [
        {
            "cell_type": "markdown",
            "id": "why-scale",
            "metadata": {},
            "source": ["# Why?\n", "\n", "Because."],
        },
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": "check",
            "metadata": {},
            "outputs": [{"data": {"text/plain": ["1"]}, "metadata": {}, "output_type": "display_data"}],
            "source": ["1"],
        },
    ],
    "metadata": METADATA,
    "nbformat": 4,
    "nbformat_minor": 5,
}


def test_good_notebook_has_no_slips() -> None:
    assert slips(GOOD, "en") == []


@pytest.mark.parametrize(
    ("cell", "key", "value", "slip"),
    [
        (0, "id", "f2b0c1d9", "readable"),
        (0, "id", "Why scale", "readable"),
        (0, "id", "check", "twice"),
        (0, "source", ["text\n", "# Why?"], "heading"),
        (0, "source", ["# Why?\n", "## And?"], "heading"),
        (1, "metadata", {"d2lmini": {"note": "Ask first."}}, "note"),
        (1, "execution_count", None, "not executed"),
        (1, "source", ['d2l.use_language("vi")'], "language"),
        (1, "outputs", [{"output_type": "stream", "name": "stderr", "text": ["oh"]}], "warning"),
        (1, "outputs", [{"output_type": "display_data", "data": {WIDGET_VIEW: {}}}], "widget"),
        (None, "metadata", METADATA | {"widgets": {}}, "metadata"),
        (None, "nbformat_minor", 4, "4.5"),
    ],
)
def test_slip_is_found(cell: int | None, key: str, value: object, slip: str) -> None:
    bad = deepcopy(GOOD)
    (bad if cell is None else bad["cells"][cell])[key] = value
    assert any(slip in found for found in slips(bad, "en"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("chapter", [path.stem for path in SITTINGS])
def test_every_section_claims_something_for_the_wall(chapter: str, language: str) -> None:
    """One sentence or two, which KaTeX can typeset."""
    cells = read(path_of(language, chapter))["cells"]
    prose = [cell for cell in cells if cell["cell_type"] == "markdown"]
    claims = {cell["id"]: claim_of(cell) for cell in prose if re.match("##? ", source(cell))}
    assert len(claims) > 5
    assert [name for name, claim in claims.items() if not claim] == []
    assert {claim: len(claim) for claim in claims.values() if len(claim) > 120 or not html_of(claim)} == {}
