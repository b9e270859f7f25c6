"""The format of an exercise: a model for each kind, with the meaning of every key.

A text is written in every language, {en: …, vi: …, zh: …}, or once if it has no words (a formula, a number).
It is Markdown: **bold**, *emphasis*, `code`, $formula$, $$formula on a line of its own$$; an empty line
begins a paragraph. Code is written once, or in every language where its comments are words.
"""

import ast
import re
import reprlib
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from book.chapters import LANGUAGES
from d2lmini.notebook.figures import figure
from tools.exercises import numbers as exercise_numbers
from tools.exercises.text import PLACE, Mistake, segments

Place = tuple[str | int, ...]  # a value in a file: the keys and indices that lead to it
Mistakes = Iterator[Any]  # of tuples: the keys and indices from here on, and a sentence


@dataclass
class Numbers:
    """The names that texts of an exercise may show as {{name}}, and those that they do show."""

    names: frozenset[str] | None = None  # None: an exercise of this kind has no numbers
    shown: set[tuple[str, str]] = field(default_factory=set)


def _invalid(*found: Any) -> ValidationError:
    """Return mistakes, tuples as in `Mistakes`, as pydantic raises them."""
    details = [
        InitErrorDetails(type=PydanticCustomError("mistake", "{text}", {"text": text}), loc=where, input=None)
        for *where, text in found
    ]
    return ValidationError.from_exception_data("exercise", details)


# ---- values


def _text(value: Any, info: ValidationInfo[Any]) -> dict[str, list[Any]]:
    """Return the compiled text by language."""
    once = isinstance(value, str | int | float) and not isinstance(value, bool)
    if once:
        value = dict.fromkeys(LANGUAGES, value)
    if not isinstance(value, dict):
        raise _invalid((f"a text in {', '.join(LANGUAGES)} is needed; got {short(value)}",))
    found: list[Any] = [
        (language, f"unknown language {language!r}; known: {', '.join(LANGUAGES)}")
        for language in value
        if language not in LANGUAGES
    ]
    result: dict[str, list[Any]] = {}
    for language in LANGUAGES:
        words = value.get(language)
        if words is None or not str(words).strip():
            found.append((f"the {language} text is missing",))
        elif isinstance(words, bool) or not isinstance(words, str | int | float):
            found.append((language, f"not a text: {short(words)}; put it in quotes"))
        else:
            try:
                result[language] = _segments(str(words), language, info.context)
            except Mistake as mistake:
                found.append((str(mistake),) if once else (language, str(mistake)))
    if once and any(
        isinstance(part, str) and re.search(r"[^\W\d_]{2}", part) for part in result.get("en", ())
    ):
        found = [(f"words need the three languages {', '.join(LANGUAGES)}; got {short(value['en'])}",)]
    if found:
        raise _invalid(*dict.fromkeys(found))
    return result


def _segments(words: str, language: str, numbers: Numbers) -> list[Any]:
    if words != unicodedata.normalize("NFC", words):
        raise Mistake("not in Unicode NFC: letters and accents must be one character")
    for name, form in PLACE.findall(words):
        if numbers.names is None:
            raise Mistake(f"{{{{{name}}}}}: only exercises of kind number have parameters")
        if name not in numbers.names:
            known = ", ".join(sorted(numbers.names)) or "none"
            raise Mistake(f"{{{{{name}}}}}: no such parameter; `parameters` and `let` have {known}")
        if form and not re.fullmatch(r",?(\.\d)?[dfge]?", form):
            raise Mistake(f"{{{{{name}:{form}}}}}: the format must be like .2f or d")
        numbers.shown.add((name, form))
    if unread := re.search(r"\{\{.*?\}\}", PLACE.sub("", words)):
        raise Mistake(
            f"{unread[0]}: a place holds one name, like {{{{n}}}}; put what is computed under `let`"
        )
    return segments(words, language)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e15:
        raise _invalid((f"must be a number; got {short(value)}",))
    return value


def _cell(value: Any) -> float | None:
    return None if value is None else _number(value)


def _formula(value: Any) -> str | float:
    if isinstance(value, int | float):
        return _number(value)
    if not isinstance(value, str):
        raise _invalid((f"must be a number or a formula; got {short(value)}",))
    try:
        exercise_numbers.parsed(value)
    except Mistake as mistake:
        raise _invalid((str(mistake),)) from None
    return value


def _name(value: Any) -> str:
    if not re.fullmatch(r"[A-Za-z]\w*", value, re.ASCII) or value in ("pi", *exercise_numbers.FUNCTIONS):
        raise _invalid((f"{value!r} cannot name a number: take a letter, or letters and digits",))
    return str(value)


def _python(value: Any) -> str | dict[str, str]:
    """Return code; if it has comments of each language, by language."""
    if isinstance(value, dict):
        editions = _editions(value, _python_once)
        if len({ast.dump(ast.parse(code)) for code in editions.values()}) > 1:
            raise _invalid(("must be the same code in all languages; only comments may differ",))
        return editions
    return _python_once(value)


def _editions(value: dict[Any, Any], check: Callable[[Any], str]) -> dict[str, str]:
    if set(value) != set(LANGUAGES):
        raise _invalid((f"must be written once, or for each of {', '.join(LANGUAGES)}; got {short(value)}",))
    return {language: check(value[language]) for language in LANGUAGES}


def _python_once(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _invalid((f"must be Python code; got {short(value)}",))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(value)
    except SyntaxError as error:
        raise _invalid((f"is not Python: {error.msg} (line {error.lineno} of the code)",)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _invalid((f"is not Python: {error}",)) from None
    return value


def _picture(value: Any) -> dict[str, str]:
    try:
        return {language: figure(value, language=language).svg for language in LANGUAGES}
    except ValueError as error:
        raise _invalid((str(error).partition(": ")[2],)) from None


def _line(value: Any) -> str | dict[str, str]:
    """Return a line of code; if it has a comment in each language, by language."""
    if isinstance(value, dict):
        editions = _editions(value, _line_once)
        if len({re.sub(r"\s*#[^'\"]*$", "", line) for line in editions.values()}) > 1:
            raise _invalid(("must be the same code in all languages; only comments may differ",))
        return editions
    return _line_once(value)


def _line_once(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise _invalid((f"must be a line of code; got {short(value)}",))
    return value or ""


_is_text = PlainValidator(_text), WithJsonSchema({"type": "text"})
Text = Annotated[dict[str, list[Any]], *_is_text]
MaybeText = Annotated[dict[str, list[Any]] | None, *_is_text]
Numeral = Annotated[Any, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Cell = Annotated[Any, PlainValidator(_cell), WithJsonSchema({"type": "number or null"})]
Formula = Annotated[Any, PlainValidator(_formula), WithJsonSchema({"type": "formula"})]
Name = Annotated[str, PlainValidator(_name), WithJsonSchema({"type": "name"})]
Python = Annotated[Any, PlainValidator(_python), WithJsonSchema({"type": "Python code"})]
Line = Annotated[Any, PlainValidator(_line), WithJsonSchema({"type": "line of code"})]
Figure = Annotated[dict[str, str], PlainValidator(_picture), WithJsonSchema({"type": "name of a figure"})]

RIGHT = "it is right; leave it out where it is wrong"
TABLE = "the numbers, a list for each row"


class Part(BaseModel):
    """A mapping with known keys."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def mistakes(self) -> Mistakes:
        """Yield what is wrong although each value by itself is right."""
        return iter(())

    @model_validator(mode="after")
    def _fits_together(self) -> "Part":
        if found := list(self.mistakes()):
            raise _invalid(*found)
        return self


# ---- the kinds


class Exercise(Part):
    """What every kind has."""

    kind: str = Field(description="the kind of exercise")
    question: Text = Field(description="what the reader is asked")
    formerly: list[str] = Field(
        [], description="names that it had, chapter/slug: links and saved answers with these lead here"
    )
    solution: Text = Field(description="the worked solution, or the model answer")

    @model_validator(mode="after")
    def _former_names(self) -> "Exercise":
        for index, name in enumerate(self.formerly):
            if not re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", name):
                raise _invalid(
                    ("formerly", index, f"{name!r} is no name of an exercise; chapter/slug is needed")
                )
        return self


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
        yield from _one_right(self.kind, self.options)


class Choice(Helped):
    """A question with one right option."""

    options: list[Option] = Field(min_length=2, description="the answers to choose from")

    def mistakes(self) -> Mistakes:
        yield from _one_right(self.kind, self.options)


class Multiple(Helped):
    """A question with right and wrong options: tick all that hold."""

    options: list[Option] = Field(min_length=2, description="the statements")

    def mistakes(self) -> Mistakes:
        right = sum(option.correct for option in self.options)
        if not right:
            yield "options", "no option is correct: true"
        if right == len(self.options):
            yield "options", "every option is correct: there is nothing to decide"


def _one_right(kind: str, options: list[Option]) -> Mistakes:
    right = sum(option.correct for option in options)
    if not right:
        yield "options", "no option is correct: true"
    if right > 1:
        yield "options", f"{right} options are correct; kind {kind} has one"


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
    tolerance: Numeral = Field(description="how far from `answer` is still right; 0 or more")
    why: MaybeText = Field(None, description="why it is right; shown with a right answer")
    wrong: list[WrongNumber] = Field(min_length=1, description="known-wrong answers, each with its message")

    def mistakes(self) -> Mistakes:
        if self.tolerance < 0:
            yield "tolerance", f"must be 0 or more; got {self.tolerance}"
        for name in self.parameters.keys() & self.let.keys():
            yield "let", name, f"{name!r} is a parameter already"


class WrongMatrix(Part):
    """A known-wrong matrix."""

    cells: list[list[Cell]] = Field(description=f"{TABLE}; null stands for any number")
    why: Text = Field(description="what went wrong")


class Matrix(Helped):
    """A matrix to fill in."""

    rows: list[Text] = Field(min_length=1, description="the labels of the rows")
    columns: list[Text] = Field(min_length=1, description="the labels of the columns")
    tolerance: Numeral = Field(0, description="how far from a number is still right")
    binary: bool = Field(False, description="the cells are boxes to tick: 1 ticked, 0 empty")
    cells: list[list[Numeral]] = Field(description=f"{TABLE}: the answer")
    wrong: list[WrongMatrix] = Field(min_length=1, description="known-wrong matrices, each with its message")
    why: MaybeText = Field(None, description="why it is right; shown with a right answer")

    def mistakes(self) -> Mistakes:
        if self.tolerance < 0:
            yield "tolerance", f"must be 0 or more; got {self.tolerance}"
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
    why: MaybeText = Field(None, description="why this is the order; shown with a right answer")


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

    box: list[Numeral] = Field(
        min_length=4, max_length=4, description="left, top, width, height in percent of the picture"
    )
    text: Text = Field(description="what is there, for those who do not see the picture")
    why: Text = Field(description="what to say when the reader points there")
    correct: bool = Field(False, description=RIGHT)

    def mistakes(self) -> Mistakes:
        if not all(0 <= side <= 100 for side in self.box):
            yield "box", f"left, top, width, height in percent, from 0 to 100; got {self.box}"


class Picture(Helped):
    """A place to find in a figure of the course: an exercise of kind spot that has `picture`."""

    picture: Figure = Field(description="a file of d2lmini/assets/figures without .svg")
    areas: list[Area] = Field(min_length=2, description="the places to choose from; one is right")

    def mistakes(self) -> Mistakes:
        if (right := sum(area.correct for area in self.areas)) != 1:
            yield "areas", f"one area must be correct: true; {right} are"


class CodeLine(Part):
    """A line of code."""

    code: Line = Field(description="the line with its indentation; nothing for an empty line")
    why: MaybeText = Field(None, description="what to say when it is chosen; a line without it cannot be")
    correct: bool = Field(False, description="it is the line with the bug")


class Bug(Helped):
    """A line of code to find: the one with the bug."""

    lines: list[CodeLine] = Field(min_length=3, description="the code, line by line")

    def mistakes(self) -> Mistakes:
        for index, line in enumerate(self.lines):
            if line.correct and line.why is None:
                yield "lines", index, "'why' is missing: the line with the bug needs its message"
        if (right := sum(line.correct for line in self.lines)) != 1:
            yield "lines", f"one line must be correct: true (the buggy one); {right} are"
        if sum(line.why is not None for line in self.lines) < 3:
            yield "lines", "at least three lines need a why: only those can be chosen"


class Code(Helped):
    """A function to write; `d2l.check` runs it on hidden cases (d2lmini/notebook/check.py)."""

    starter: Python = Field(description="the code to begin with; ... stands where something is to be written")
    call: Python = Field(description="how the reader has it checked: d2l.check(…)")
    solution_code: Python = Field(description="a right solution")
    bugs: dict[str, Text] = Field(
        min_length=4,
        description="at least four known-wrong solutions, by their names in check.py: the message",
    )


class Open(Exercise):
    """A question to answer in words; the reader compares with a model answer."""

    points: list[Text] = Field([], description="what a good answer has, to be ticked off")


MODELS: dict[str, type[Exercise]] = {
    "choice": Choice,
    "multiple": Multiple,
    "predict": Predict,
    "number": Number,
    "matrix": Matrix,
    "order": Order,
    "spot": Spot,
    "bug": Bug,
    "code": Code,
    "open": Open,
}


def model_of(data: dict[str, Any]) -> type[Exercise] | None:
    """Return the model for the content of a file, or None if its kind is unknown."""
    kind = data.get("kind")
    if kind == "spot" and "picture" in data:
        return Picture
    return MODELS.get(kind) if isinstance(kind, str) else None


# ---- mistakes in words


def in_words(error: ErrorDetails, model: type[Exercise]) -> str:  # noqa: PLR0911  one case, one return
    """Return what is wrong and what is allowed, as a sentence."""
    around, meant = _field(model, error["loc"])
    name = repr(next((key for key in reversed(error["loc"]) if isinstance(key, str)), "the file"))
    got, context = short(error["input"]), error.get("ctx", {})
    means = f" ({meant.description})" if meant and meant.description else ""
    match error["type"]:
        case "mistake":
            text = str(context["text"])
            return f"{name} {text}" if text.startswith(("must ", "is not ")) else text
        case "missing":
            return f"{name} is missing{means}"
        case "extra_forbidden":
            return f"unknown key {name}; known here: {_keys(around)}"
        case "model_type" | "model_attributes_type":
            return f"a mapping is needed with the keys {_keys(around)}; got {got}"
        case "list_type" | "dict_type":
            return (
                f"{name} must be a {'list' if error['type'] == 'list_type' else 'mapping'}; got {got}{means}"
            )
        case "too_short":
            return f"{name} must be a list of at least {context['min_length']}{means}"
        case "too_long":
            return f"{name} must be a list of at most {context['max_length']}{means}"
        case "bool_type":
            return f"{name} must be true or false; got {got}{means}"
        case "int_type" | "greater_than_equal":
            return f"{name} must be a whole number from 0 on; got {got}{means}"
        case "string_type":
            return f"{name} must be a text; got {got}{means}"
    return f"{name}: {error['msg']}; got {got}{means}"


def _keys(model: type[BaseModel]) -> str:
    return ", ".join(name for name in model.model_fields)


def _field(model: type[BaseModel], loc: Place) -> tuple[type[BaseModel], FieldInfo | None]:
    """Return the model around a place in a file, and the field that the last key of the place names."""
    found = None
    for key in loc:
        if isinstance(key, str) and (found := model.model_fields.get(key)):
            inside = [found.annotation, *get_args(found.annotation)]
            model = next((one for one in inside if isinstance(one, type) and issubclass(one, Part)), model)
    return model, found


def short(value: Any) -> str:
    """Return a value as a message shows it."""
    text = repr(value) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
