"""Every number in the text is computed somewhere, and the check that says so notices one that is not."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from book.chapters import LANGUAGES, ROOT, lines, path_of, read, source, write
from tools.text import numbers_in_text


def test_every_number_is_computed() -> None:
    assert not (found := numbers_in_text.check()), "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("text", "written", "value"),
    [
        ("about 262\u2009144 numbers", "262144", 262144),
        ("$262\\,144$", "262144", 262144),
        ("0.331 of *cats*", "0.331", 0.331),
        ("$3.2\\cdot 10^{9}$", "3.2e9", 3.2e9),
        ("3.2·10⁹ multiply-adds", "3.2e9", 3.2e9),
        ("1.1e-07", "1.1e-7", 1.1e-7),
        ("26 万个数", "26", 260_000),
        ("60 % of them", "60", 0.6),
        ("60 phần trăm", "60", 0.6),
    ],
)
def test_numbers_are_read_as_they_are_written(text: str, written: str, value: float) -> None:
    (number,) = numbers_in_text.numbers(text)
    assert (number.text, number.value) == (written, pytest.approx(value))


def test_links_years_and_small_counts_are_no_quantities() -> None:
    text = "5 of 12, by (1.4), [chapter 3](x.ipynb#a-44), `f(99)`, Press 2022 $\\tag{3.7}$, D2L 0.17"
    assert not list(numbers_in_text.quantities(text))


def course(
    folder: Path, prose: str, code: str = "print(1)", printed: str = "", table: str = "", recap: str = ""
) -> Path:
    """A course of one page in every language; `recap` stands in a section of its own."""
    cells = [
        {"cell_type": "markdown", "id": "text", "metadata": {}, "source": [prose]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": "code",
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": [printed]}],
            "source": [code],
        },
    ]
    if recap:
        heading = f"## Recap\n\n{recap}"
        cells.append({"cell_type": "markdown", "id": "recap", "metadata": {}, "source": [heading]})
    for language in LANGUAGES:
        path = folder / "chapters" / language / "one.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(
            json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8"
        )
    if table:
        path = folder / "chapters" / "numbers" / "one.toml"
        path.parent.mkdir()
        path.write_text(table, encoding="utf-8")
    return folder


def test_printed_and_coded_numbers_are_computed(tmp_path: Path) -> None:
    prose = "At 4\u2009096 tokens 0.88 remains, some 43 %."
    assert not numbers_in_text.check(course(tmp_path, prose, "n = 4_096", "0.8808 and 0.4321"))


@pytest.mark.parametrize("prose", ["0.87 remains", "at 4\u2009097 tokens", "some 44 %"])
def test_another_number_is_named(tmp_path: Path, prose: str) -> None:
    found = numbers_in_text.check(course(tmp_path, prose, "n = 4_096", "0.8808 and 0.4321"))
    assert [finding.where for finding in found] == [
        f"chapters/{language}/one.ipynb#text" for language in LANGUAGES
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('"0.88" = "1 / (1 + math.exp(-2))"', ""),
        ('[given]\n"0.88" = "a paper"', ""),
        ('"0.88" = "math.exp(-2)"', "is written, math.exp(-2) gives 0.135"),
        ('"0.88" = "1 / 0"', "ZeroDivisionError"),
        ('"0.88" = "0.88"\n"7.5" = "15 / 2"', "'7.5' stands in no text"),
    ],
)
def test_a_table_computes_what_the_page_does_not(tmp_path: Path, table: str, message: str) -> None:
    found = numbers_in_text.check(course(tmp_path, "0.88 remains", table=table))
    assert message in "\n".join(map(str, found)) if message else not found


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "nothing computes 0.318"),
        ('"0.318" = "cell(\'code\')"', ""),
        ('[recap]\n"0.318" = "cell(\'code\')"', ""),
        ('[text]\n"0.318" = "cell(\'code\')"', "nothing computes 0.318"),
        ('"0.318" = "cell(\'cod\')"', "KeyError"),
    ],
)
def test_a_number_is_computed_in_its_own_section_or_in_the_table(
    tmp_path: Path, table: str, message: str
) -> None:
    found = numbers_in_text.check(
        course(tmp_path, "0.318 of it", printed="0.318", table=table, recap="Remember 0.318.")
    )
    assert message in "\n".join(map(str, found)) if message else not found


def test_an_exercise_that_is_no_yaml_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = course(tmp_path, "0.88 remains", printed="0.88") / "chapters" / "exercises" / "one" / "broken.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("question:\n  en: one: two\n", encoding="utf-8")
    monkeypatch.setattr(numbers_in_text, "check", partial(numbers_in_text.check, tmp_path))
    with pytest.raises(SystemExit, match=r"(?s)chapters/exercises/one/broken\.yaml: .*line 2"):
        numbers_in_text.main()


def test_a_number_of_the_table_is_stale_when_its_cell_changes(tmp_path: Path) -> None:
    """The angle of 74° belongs to a vector of the page."""
    for folder in ("numbers", *LANGUAGES):
        shutil.copytree(ROOT / "chapters" / folder, tmp_path / "chapters" / folder)
    for language in LANGUAGES:
        path = path_of(language, "self-attention", tmp_path)
        notebook = read(path)
        for cell in notebook["cells"]:
            if cell["id"] == "averaging-vectors":
                cell["source"] = lines(source(cell).replace("0.96", "0.8").replace("0.28", "0.6"))
        write(path, notebook)
    what = [finding.what for finding in numbers_in_text._in_chapter("self-attention", tmp_path)]
    assert any(text.startswith("'74' is written") for text in what)
