"""The format of an exercise: a model for each kind, with the meaning of every key.

A text is written in every language, {en: …, vi: …, zh: …}, or once if it has no words (a formula, a number).
It is Markdown: **bold**, *emphasis*, `code`, $formula$, $$formula on a line of its own$$; an empty line
begins a paragraph. Code is written once, or in every language where its comments are words.

Editors that know JSON schemas complete and check a file that begins with the line
# yaml-language-server: $schema=../schema.json
"""

import ast
import html
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.json_schema import models_json_schema
from typing_extensions import TypeAliasType, TypedDict

from book.chapters import LANGUAGES
from d2lmini.notebook.figures import figure
from tools.exercises import numbers as exercise_numbers
from tools.exercises.text import PLACE, Mistake, to_html

Mistakes = Iterator[Any]  # of tuples: the keys and indices from here on, and a sentence
Names = frozenset[str]  # that texts of an exercise may show as {{name}}


class Part(BaseModel, extra="forbid", strict=True):
    """A mapping with known keys."""


# ---- values


def _words(text: str, info: ValidationInfo[Names | None]) -> str:
    """Return a text as HTML; the key under which it stands is its language."""
    if text != unicodedata.normalize("NFC", text):
        raise Mistake("not in Unicode NFC: letters and accents must be one character")
    for name, form in PLACE.findall(text):
        if info.context is None:
            raise Mistake(f"{{{{{name}}}}}: only exercises of kind number have parameters")
        if name not in info.context:
            known = ", ".join(sorted(info.context)) or "none"
            raise Mistake(f"{{{{{name}}}}}: no such parameter; `parameters` and `let` have {known}")
        if form and not re.fullmatch(r",?(\.\d)?[dfge]?", form):
            raise Mistake(f"{{{{{name}:{form}}}}}: the format must be like .2f or d")
    if unread := re.search(r"\{\{.*?\}\}", PLACE.sub("", text)):
        raise Mistake(
            f"{unread[0]}: a place holds one name, like {{{{n}}}}; put what is computed under `let`"
        )
    return to_html(text, str(info.field_name))


def _once(value: Any, in_languages: Callable[[Any], Any], info: ValidationInfo[Names | None]) -> Any:
    """Return a text by language, of one without words the same for each."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        return in_languages(value)
    text = _words(str(value), info)
    plain = html.unescape(re.sub(r"<(math|code).*?</\1>|<[^>]+>", " ", text))
    if re.search(r"[^\W\d_]{2}", plain):
        raise Mistake(f"words need the three languages {', '.join(LANGUAGES)}")
    return dict.fromkeys(LANGUAGES, text)


def _name(value: str) -> str:
    if value in ("pi", *exercise_numbers.FUNCTIONS):
        raise Mistake(f"{value!r} cannot name a number: it means something in formulas")
    return value


def _formula(value: Any) -> str | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Mistake("must be a number or a formula")
    exercise_numbers.parsed(str(value))
    return value


def _editions(check: Callable[[Any], str], bare: Callable[[str], str]) -> PlainValidator:
    """Check code that is written once or by language; `bare` takes its comments away."""

    def checked(value: Any) -> str | dict[str, str]:
        if not isinstance(value, dict):
            return check(value)
        if set(value) != set(LANGUAGES):
            raise Mistake(f"must be written once, or for each of {', '.join(LANGUAGES)}")
        editions = {language: check(value[language]) for language in LANGUAGES}
        if len(set(map(bare, editions.values()))) > 1:
            raise Mistake("must be the same code in all languages; only comments may differ")
        return editions

    return PlainValidator(checked)


def _python(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Mistake("must be Python code")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(value)
    except SyntaxError as error:
        raise Mistake(f"is not Python: {error.msg} (line {error.lineno} of the code)") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Mistake(f"is not Python: {error}") from None
    return value


def _line(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise Mistake("must be a line of code")
    return value or ""


def _picture(value: Any) -> dict[str, str]:
    return {language: figure(value, language=language).svg for language in LANGUAGES}


LARGEST = exercise_numbers.LARGEST
_word = Annotated[str, Field(min_length=1, pattern=r"\S"), AfterValidator(_words)]
_in_languages: Any = TypedDict("_in_languages", dict.fromkeys(LANGUAGES, _word))  # type: ignore[misc]
setattr(_in_languages, "__pydantic_config__", Part.model_config)  # noqa: B010  mypy knows no such name
_written = {
    "properties": {language: {"type": "string"} for language in LANGUAGES},
    "required": list(LANGUAGES),
    "additionalProperties": False,
}
_by_language = {"type": ["string", "number", "object"], **_written}
_code = {"type": ["string", "null", "object"], **_written}

Text = TypeAliasType("Text", Annotated[_in_languages, WrapValidator(_once), WithJsonSchema(_by_language)])
_whole = AfterValidator(lambda value: int(value) if value == int(value) else value)  # 3.0 as 3
Numeral = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False), _whole]
Size = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False), _whole]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False), _whole]
_number = {"type": ["number", "string"]}
Formula = TypeAliasType("Formula", Annotated[Any, PlainValidator(_formula), WithJsonSchema(_number)])
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$"), AfterValidator(_name)]
_program = _editions(_python, lambda code: ast.dump(ast.parse(code)))
_row = _editions(_line, lambda line: re.sub(r"\s*#[^'\"]*$", "", line))
Python = TypeAliasType("Python", Annotated[Any, _program, WithJsonSchema(_code)])
Line = TypeAliasType("Line", Annotated[Any, _row, WithJsonSchema(_code)])
Figure = Annotated[Any, PlainValidator(_picture), WithJsonSchema({"type": "string"})]

RIGHT = "it is right; leave it out where it is wrong"
TABLE = "the numbers, a list for each row"


# ---- the kinds


class Exercise(Part):
    """What every kind has."""

    kind: str = Field(description="the kind of exercise")
    question: Text = Field(description="what the reader is asked")
    formerly: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")]] = Field(
        [], description="names that it had, chapter/slug: links and saved answers with these lead here"
    )
    solution: Text = Field(description="the worked solution, or the model answer")

    def mistakes(self) -> Mistakes:
        """Yield what is wrong although each value by itself is right."""
        return iter(())


class Helped(Exercise):
    """An exercise with help in steps."""

    hints: list[Text] = Field(
        min_length=2, max_length=2, description="two hints: one that points, one that almost tells the answer"
    )


class Option(Part):
    """An answer to choose from."""

    text: Text = Field(description="the answer")
    why: Text = Field(description="the misconception behind it, or why it is right; shown once it is chosen")
    correct: bool = Field(False, description=RIGHT)


class Predict(Exercise):
    """Guess what a cell will print, or what will happen, before seeing it: one right option, no hints."""

    options: list[Option] = Field(min_length=2, description="the guesses")

    def mistakes(self) -> Mistakes:
        yield from _one_right("options", self.options)


class Choice(Helped):
    """A question with one right option."""

    options: list[Option] = Field(min_length=2, description="the answers to choose from")

    def mistakes(self) -> Mistakes:
        yield from _one_right("options", self.options)


class Multiple(Helped):
    """A question with right and wrong options: tick all that hold."""

    options: list[Option] = Field(min_length=2, description="the statements")

    def mistakes(self) -> Mistakes:
        right = sum(option.correct for option in self.options)
        if not right:
            yield "options", "no option is correct: true"
        if right == len(self.options):
            yield "options", "every option is correct: there is nothing to decide"


def _one_right(key: str, entries: Sequence[Any]) -> Mistakes:
    if (right := sum(entry.correct for entry in entries)) != 1:
        yield key, f"one of the {key} must be correct: true; {right} are"


class WrongNumber(Part):
    """A known-wrong answer."""

    answer: Formula = Field(description="the number that a reader with this misconception gets")
    why: Text = Field(description="what went wrong")


class Number(Helped):
    """A number to work out, with fresh numbers on every try; {{name}} or {{name:.2f}} in a text shows one."""

    parameters: dict[Name, Annotated[list[Numeral], Field(min_length=1)]] = Field(
        {}, description="name → values to draw from; the first try takes the first value of each"
    )
    let: dict[Name, Formula] = Field(
        {}, description="name → formula: numbers computed from the parameters and from those above"
    )
    where: Formula = Field(None, description="a condition that a set of numbers must meet, such as a != b")
    answer: Formula = Field(description="the right answer")
    tolerance: Size = Field(description="how far from `answer` is still right; 0 or more")
    why: Text | None = Field(None, description="why it is right; shown with a right answer")
    wrong: list[WrongNumber] = Field(min_length=1, description="known-wrong answers, each with its message")

    def mistakes(self) -> Mistakes:
        for name in self.parameters.keys() & self.let.keys():
            yield "let", name, f"{name!r} is a parameter already"


class WrongMatrix(Part):
    """A known-wrong matrix."""

    cells: list[list[Numeral | None]] = Field(description=f"{TABLE}; null stands for any number")
    why: Text = Field(description="what went wrong")


class Matrix(Helped):
    """A matrix to fill in."""

    rows: list[Text] = Field(min_length=1, description="the labels of the rows")
    columns: list[Text] = Field(min_length=1, description="the labels of the columns")
    tolerance: Size = Field(0, description="how far from a number is still right")
    binary: bool = Field(False, description="the cells are boxes to tick: 1 ticked, 0 empty")
    cells: list[list[Numeral]] = Field(description=f"{TABLE}: the answer")
    wrong: list[WrongMatrix] = Field(min_length=1, description="known-wrong matrices, each with its message")
    why: Text | None = Field(None, description="why it is right; shown with a right answer")

    def mistakes(self) -> Mistakes:
        yield from _not_a_table(self, self.cells, "cells")
        if self.binary and not all(cell in (0, 1) for row in self.cells for cell in row):
            yield "cells", "with binary: true each cell is 0 or 1"
        for index, entry in enumerate(self.wrong):
            yield from _not_a_table(self, entry.cells, "wrong", index, "cells")
            if entry.cells == self.cells:
                yield "wrong", index, "a known-wrong matrix equals the answer"


def _not_a_table(exercise: "Matrix | Spot", table: list[list[Any]], *where: str | int) -> Mistakes:
    rows, columns = len(exercise.rows), len(exercise.columns)
    if [len(row) for row in table] != [columns] * rows:
        yield *where, f"{rows} rows of {columns} numbers are needed, as `rows` and `columns` say"


class Step(Part):
    """A step to put in its place."""

    text: Text = Field(description="the step")
    why: Text = Field(description="why it stands where it does")


class Order(Helped):
    """Steps to put in order; the reader gets them shuffled."""

    items: list[Step] = Field(min_length=3, description="the steps in the right order")
    why: Text | None = Field(None, description="why this is the order; shown with a right answer")


class Cross(Part):
    """A cell of the matrix that has its own message."""

    row: int = Field(ge=0, description="its row, counted from 0")
    column: int = Field(ge=0, description="its column, counted from 0")
    why: Text = Field(description="what to say when the reader points there")
    correct: bool = Field(False, description=RIGHT)


class Spot(Helped):
    """A cell to find in a matrix of numbers."""

    rows: list[Text] = Field(min_length=1, description="the labels of the rows")
    columns: list[Text] = Field(min_length=1, description="the labels of the columns")
    values: list[list[Numeral]] = Field(description=f"{TABLE}, shown with two decimals")
    spots: list[Cross] = Field(min_length=1, description="the cells with a message of their own")
    elsewhere: Text = Field(description="what to say at all other cells")

    def mistakes(self) -> Mistakes:
        yield from _not_a_table(self, self.values, "values")
        for index, spot in enumerate(self.spots):
            if spot.row >= len(self.rows) or spot.column >= len(self.columns):
                yield "spots", index, "outside the matrix: rows and columns count from 0"
        if not any(spot.correct for spot in self.spots):
            yield "spots", "no spot is correct: true"


class Area(Part):
    """A rectangle of the picture."""

    box: list[Percent] = Field(
        min_length=4, max_length=4, description="left, top, width, height in percent of the picture"
    )
    text: Text = Field(description="what is there, for those who do not see the picture")
    why: Text = Field(description="what to say when the reader points there")
    correct: bool = Field(False, description=RIGHT)


class Picture(Helped):
    """A place to find in a figure of the course: an exercise of kind spot that has `picture`."""

    picture: Figure = Field(description="a file of d2lmini/assets/figures without .svg")
    areas: list[Area] = Field(min_length=2, description="the places to choose from; one is right")

    def mistakes(self) -> Mistakes:
        yield from _one_right("areas", self.areas)


class CodeLine(Part):
    """A line of code."""

    code: Line = Field(description="the line with its indentation; nothing for an empty line")
    why: Text | None = Field(None, description="what to say when it is chosen; a line without it cannot be")
    correct: bool = Field(False, description="it is the line with the bug")


class Bug(Helped):
    """A line of code to find: the one with the bug."""

    lines: list[CodeLine] = Field(min_length=3, description="the code, line by line")

    def mistakes(self) -> Mistakes:
        for index, line in enumerate(self.lines):
            if line.correct and line.why is None:
                yield "lines", index, "'why' is missing: the line with the bug needs its message"
        yield from _one_right("lines", self.lines)
        if sum(line.why is not None for line in self.lines) < 3:
            yield "lines", "at least three lines need a why: only those can be chosen"


class Code(Helped):
    """A function to write; `d2l.check` runs it on hidden cases (d2lmini/notebook/tasks)."""

    starter: Python = Field(description="the code to begin with; ... stands where something is to be written")
    call: Python = Field(description="how the reader has it checked: d2l.check(…)")
    solution_code: Python = Field(description="a right solution")
    bugs: dict[str, Text] = Field(
        min_length=4,
        description="at least four known-wrong solutions, by their names in its file of tasks: the message",
    )


class Open(Exercise):
    """A question to answer in words; the reader compares with a model answer."""

    points: list[Text] = Field([], description="what a good answer has, to be ticked off")


_KINDS = (Choice, Multiple, Predict, Number, Matrix, Order, Spot, Bug, Code, Open)
MODELS: dict[str, type[Exercise]] = {model.__name__.lower(): model for model in _KINDS}


def model_of(data: dict[str, Any]) -> type[Exercise] | None:
    """Return the model for the content of a file, or None if its kind is unknown."""
    kind = data.get("kind")
    if kind == "spot" and "picture" in data:
        return Picture
    return MODELS.get(kind) if isinstance(kind, str) else None


def schema() -> dict[str, Any]:
    """Return the JSON schema of an exercise, by which editors complete and check a file."""
    kinds: list[tuple[str, type[Exercise]]] = [*MODELS.items(), ("spot", Picture)]
    _, schemas = models_json_schema([(model, "validation") for _, model in kinds])
    for kind, model in kinds:
        schemas["$defs"][model.__name__]["properties"]["kind"]["const"] = kind
    references = [{"$ref": f"#/$defs/{model.__name__}"} for _, model in kinds]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "anyOf": references, **schemas}
