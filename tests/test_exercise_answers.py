"""What exercises answer: every reply can be met, rounding is forgiven, and a solution states its number."""

import itertools
import re
from fractions import Fraction
from typing import Any

import pytest
import yaml

from d2lmini.language import LANGUAGES
from d2lmini.notebook.content import exercise_content, exercise_names, filled, plain
from tools.exercises.compile import SOURCES
from tools.exercises.numbers import evaluate

ENGLISH = {name: exercise_content(name, "en") for name in exercise_names()}
NUMBERS = [name for name, content in ENGLISH.items() if content["kind"] == "number"]
MATRICES = [name for name, content in ENGLISH.items() if content["kind"] == "matrix"]
# how a question asks for decimals
DECIMALS = {
    "en": {"two decimals": 2, "three decimals": 3},
    "vi": {"hai chữ số thập phân": 2, "ba chữ số thập phân": 3},
    "zh": {"两位小数": 2, "三位小数": 3},
}


def near(x: float, y: float, tolerance: float) -> bool:
    """As d2lmini/notebook/widgets/kinds.js compares."""
    return abs(x - y) <= tolerance + 1e-12


def reply(content: dict[str, Any], variant: dict[str, Any], given: float) -> Any:
    """True for a right number, else the place of the reply among the wrong answers, or None without one."""
    if near(given, variant["answer"], content["tolerance"]):
        return True
    close = (near(given, wrong, content["tolerance"]) for wrong in variant["wrong"])
    return next((index for index, is_it in enumerate(close) if is_it), None)


def decimals(name: str, language: str) -> int | None:
    question = plain(exercise_content(name, language)["question"]).lower()
    return next((digits for words, digits in DECIMALS[language].items() if words in question), None)


def parameter_sets(name: str) -> list[dict[str, float]]:
    """Every set of parameters that an exercise's file allows, with what it computes from them."""
    data = yaml.safe_load((SOURCES / f"{name}.yaml").read_text(encoding="utf-8"))
    parameters, found = data.get("parameters", {}), []
    for values in itertools.product(*parameters.values()):
        names = dict(zip(parameters, values, strict=True))
        for key, formula in data.get("let", {}).items():
            names[key] = evaluate(formula, names)
        if data.get("where") is None or evaluate(data["where"], names):
            found.append(names)
    return found


@pytest.mark.parametrize("name", NUMBERS)
def test_every_wrong_number_gets_its_own_reply(name: str) -> None:
    content, digits = ENGLISH[name], decimals(name, "en")
    for variant in content["variants"]:
        for index, wrong in enumerate(variant["wrong"]):
            assert reply(content, variant, wrong) == index, variant
            if digits is not None:
                assert reply(content, variant, round(wrong, digits)) == index, variant


@pytest.mark.parametrize("name", NUMBERS)
def test_most_sets_of_parameters_tell_the_answers_apart(name: str) -> None:
    """The others are never shown; but an exercise should not live on a few lucky sets."""
    content = yaml.safe_load((SOURCES / f"{name}.yaml").read_text(encoding="utf-8"))
    sets = parameter_sets(name)
    clear = 0
    for names in sets:
        answers = [evaluate(entry["answer"], names) for entry in (content, *content["wrong"])]
        pairs = itertools.combinations(answers, 2)
        clear += all(not near(x, y, 2 * content["tolerance"]) for x, y in pairs)
    assert clear >= max(4, len(sets) / 2)


@pytest.mark.parametrize("name", MATRICES)
def test_every_wrong_matrix_gets_its_own_reply(name: str) -> None:
    content = ENGLISH[name]
    tolerance = content.get("tolerance", 0)
    tables = [wrong["cells"] for wrong in content["wrong"]]
    for index, table in enumerate(tables):
        # the right numbers in the places where any number will do
        given = [
            [right if cell is None else cell for cell, right in zip(*rows, strict=True)]
            for rows in zip(table, content["cells"], strict=True)
        ]
        fits = [
            all(
                cell is None or near(mine, cell, tolerance)
                for rows in zip(given, other, strict=True)
                for mine, cell in zip(*rows, strict=True)
            )
            for other in tables
        ]
        assert fits.index(True) == index
        assert given != content["cells"]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_rounded_as_asked_is_right(name: str, language: str) -> None:
    content, digits = exercise_content(name, language), decimals(name, language)
    assert digits == decimals(name, "en")
    for variant in content["variants"]:
        answer = variant["answer"]
        exact = Fraction(answer).limit_denominator(1000) * 1000
        if digits is None:  # then there is nothing to round: at most three decimals, and all are wanted
            assert exact.denominator == 1 and near(answer, exact / 1000, 0), answer
        else:
            assert reply(content, variant, round(answer, digits)) is True
            assert content["tolerance"] >= 0.5 * 10**-digits


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_solution_states_its_number(name: str, language: str) -> None:
    """One of the places of the solution shows the answer, in every set of numbers."""
    content = exercise_content(name, language)
    places = re.findall(r"\{\{(\w+(?::[^}]*)?)\}\}", plain(content["solution"]))

    def states(place: str, variant: dict[str, Any]) -> bool:
        text = variant["text"][place].replace("−", "-")
        return near(float(text), variant["answer"], 0.5 * 10 ** -len(text.partition(".")[2]))

    always = [place for place in places if all(states(place, variant) for variant in content["variants"])]
    assert always, "no place of the solution shows the answer in every variant"
    first = content["variants"][0]
    assert first["text"][always[0]] in plain(filled(content["solution"], first["text"]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_computation_written_out_comes_out(language: str) -> None:
    """The printed parts, rounded as they are, give the printed result."""
    for name, parts in (
        ("what-it-learned/additive-score", ("first:.4f", "second:.4f", "score:.2f")),
        ("positional-encoding/peak", ("fast:.3f", "slow:.3f", "fall:.2f")),
    ):
        solution = plain(exercise_content(name, language)["solution"])
        assert all(f"{{{{{part}}}}}" in solution for part in parts)
        for variant in exercise_content(name, language)["variants"]:
            one, two, result = (float(variant["text"][part].replace("−", "-")) for part in parts)
            computed = 2 * one - two if "additive" in name else 2 - one - two
            assert round(computed, 2) == result
