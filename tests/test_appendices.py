"""The glossary has every term, and the references every work that a chapter names."""

import csv
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("en", "vi", "zh")
# words of buttons, headings and plots: translators need them, readers do not look them up
INTERFACE = {
    "answer",
    "bag of words",
    "correct / try again",
    "dashed / solid (a hand of a clock)",
    "exercise",
    "glossary",
    "hint",
    "homework",
    "lesson plan",
    "learning objectives",
    "MiB / GiB",
    "mixed terms (of a score)",
    "offset",
    "open in Colab",
    "out of date translation",
    "prerequisites",
    "quiz",
    "run this cell",
    "slider",
    "solution",
    "summary",
    "written out (not fused)",
}
CITATION = re.compile(r"([A-Z][a-zé]+)(?: et al\.| and [A-Z][a-z]+),? \(?((?:19|20)\d\d)\)?")


def prose(language: str, chapter: str) -> str:
    notebook = json.loads((ROOT / "chapters" / language / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    return "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


def entries(language: str, chapter: str) -> list[str]:
    return [line for line in prose(language, chapter).splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_stands_once_with_its_other_languages(language):
    with (ROOT / "chapters" / "glossary.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["en"] not in INTERFACE]
    heads = [re.split("[:：]", entry)[0].replace(" ", "") for entry in entries(language, "glossary")]
    for row in rows:
        wanted = f"**{row[language]}**".replace(" ", "")
        found = [head for head in heads if f"- {wanted}".replace(" ", "") in head]
        assert any(all(row[other].replace(" ", "") in head for other in LANGUAGES) for head in found), row[
            "en"
        ]
    assert len(heads) == len(rows)


def test_the_groups_are_the_same_in_every_language():
    sizes = []
    for language in LANGUAGES:
        sections = prose(language, "glossary").split("\n## ")[1:]
        sizes.append([section.count("\n- ") for section in sections])
    assert sizes[0] == sizes[1] == sizes[2]


CHAPTERS = [path.parent.name for path in sorted((ROOT / "chapters" / "exercises").glob("*/*-*.yaml"))]


@pytest.mark.parametrize("chapter", sorted(set(CHAPTERS)))
def test_every_work_that_a_chapter_names_is_listed(chapter):
    named = set(CITATION.findall(prose("en", chapter)))
    assert named, "the pattern finds no citation"
    for author, year in named:
        assert any(author in entry and f"({year})" in entry for entry in entries("en", "references")), (
            author,
            year,
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reference_has_a_link_and_says_where_it_is_used(language):
    for entry in entries(language, "references"):
        assert re.search(r"\[[^]]+\]\(https://[^)]+\)[.。] ?\S", entry), entry
    assert len(entries(language, "references")) == len(entries("en", "references"))
