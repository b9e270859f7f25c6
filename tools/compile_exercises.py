"""Exercises: chapters/exercises/<chapter>/<slug>.yaml, checked, formulas as MathML, to assets/exercises.

    python -m tools.compile_exercises          compile all; every mistake is told with file and line
    python -m tools.compile_exercises --check  compile nothing, fail where a compiled file is not current

The format is told in CONTRIBUTING.md ("Add an exercise"); the tables below are its definition.
"""

import ast
import csv
import json
import math
import operator
import random
import re
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from book import katex
from book.chapters import LANGUAGES, ROOT

SOURCES = ROOT / "chapters" / "exercises"
COMPILED = ROOT / "d2lmini" / "assets" / "exercises"
VARIANTS = 12

# kind -> (keys it must have, keys it may have) beside kind and question
HELP = {"hints", "solution"}
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "choice": ({"options"} | HELP, set()),
    "multiple": ({"options"} | HELP, set()),
    "predict": ({"options", "solution"}, set()),
    "number": ({"answer", "tolerance", "wrong"} | HELP, {"parameters", "let", "where", "why"}),
    "matrix": ({"rows", "columns", "cells", "wrong"} | HELP, {"binary", "tolerance", "why"}),
    "order": ({"items"} | HELP, {"why"}),
    "spot": (HELP, {"rows", "columns", "values", "spots", "elsewhere", "picture", "areas"}),
    "bug": ({"lines"} | HELP, set()),
    "code": ({"starter", "call", "solution_code", "bugs"} | HELP, set()),
    "open": ({"solution"}, {"points"}),
}


class Mistake(Exception):
    """A mistake in an exercise, told as file:line: what is wrong."""


@dataclass
class Source:
    """A YAML file as plain values, with the line on which each of them stands."""

    path: Path
    lines: dict[tuple[str | int, ...], int] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)
    root: Any = None

    def blame(self, where: tuple[str | int, ...], message: str) -> None:
        while where not in self.lines and where:
            where = where[:-1]
        name = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        self.mistakes.append(f"{name.as_posix()}:{self.lines.get(where, 1)}: {message}")


def read(path: Path) -> Source:
    """Parse a file; unreadable YAML and keys given twice are mistakes like any other."""
    source = Source(path)
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        source.lines[()] = mark.line + 1 if mark else 1
        # by far the likeliest reason, and YAML's own words for it help nobody
        hint = "; a text with a colon in it needs quotes or |-" if "mapping values" in str(error) else ""
        source.blame((), f"not YAML: {error.problem}{hint}")
        return source
    scalar = yaml.SafeLoader("")

    def walk(node: yaml.Node, where: tuple[str | int, ...]) -> Any:
        source.lines[where] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            values: dict[str, Any] = {}
            for key, value in node.value:
                if key.value in values:
                    source.blame(where, f"the key {key.value!r} is given twice")
                values[key.value] = walk(value, (*where, key.value))
                source.lines[(*where, key.value)] = key.start_mark.line + 1
            return values
        if isinstance(node, yaml.SequenceNode):
            return [walk(value, (*where, index)) for index, value in enumerate(node.value)]
        return scalar.construct_object(node)

    source.root = walk(node, ()) if node else {}
    return source


# --------------------------------------------------------------------------------------- texts and formulas

_PIECE = re.compile(
    r"\$\$(?P<display>[^$]+)\$\$|\$(?P<math>[^$]+)\$|`(?P<code>[^`]+)`|\*\*(?P<b>[^*]+)\*\*|\*(?P<i>[^*\s][^*]*)\*"
)
_WIDE = r"[　-〿㐀-鿿＀-￯]"  # Chinese characters and full-width punctuation
_PLACE = re.compile(r"\{\{(\w+)(?::([^}]+))?\}\}")


@cache
def mathml(tex: str, display: bool = False) -> str:
    """A formula as MathML. Places {{name}} survive: they are numbers while KaTeX sees them."""
    places: list[str] = []

    def number(match: re.Match[str]) -> str:
        places.append(match[0])
        return str(90070000 + len(places))

    answer = katex.typeset(_PLACE.sub(number, tex), display, "mathml")
    if "error" in answer:
        raise Mistake(f"formula ${tex}$: {answer['error']}")
    markup = re.sub(r"<annotation.*?</annotation>", "", answer["html"], flags=re.S)
    found = re.search(r"<math.*</math>", markup, flags=re.S)
    assert found, tex
    # one element inside <semantics> needs no <semantics>; the namespace is put back by the widget
    markup = re.sub(r"</?semantics>| xmlns=\"[^\"]+\"", "", found[0])
    for index, place in enumerate(places, start=1):
        markup = markup.replace(str(90070000 + index), place)
    return markup


def segments(text: str, lang: str) -> list[Any]:
    """A text of a YAML file as the list that `rich` (widgets/common.js) shows."""
    parts: list[Any] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if parts:
            parts.append({"p": 1})
        paragraph = re.sub(r"\s*\n\s*", " ", block)
        end = 0
        for match in [*_PIECE.finditer(paragraph), None]:
            plain = paragraph[end : match.start() if match else len(paragraph)]
            if lang == "zh":  # a line break in the source is no space between Chinese characters
                plain = re.sub(rf"(?<={_WIDE}) (?={_WIDE})", "", plain)
            if plain:
                parts.append(plain)
            if match is None:
                break
            end = match.end()
            if match["display"] or match["math"]:
                tex = match["display"] or match["math"]
                display = bool(match["display"])
                parts.append({"m": mathml(tex, display), "x": tex, **({"d": 1} if display else {})})
            else:
                name = next(key for key in ("code", "b", "i") if match[key])
                parts.append({"c" if name == "code" else name: match[name]})
    return parts


@cache
def _wrong_terms() -> list[tuple[str, str, str]]:
    path = ROOT / "chapters" / "glossary.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        (lang, wrong.strip(), row[lang])
        for row in rows
        for lang in ("vi", "zh")
        for wrong in row[f"wrong_{lang}"].split(";")
        if wrong.strip()
    ]


# ---------------------------------------------------------------------------------------------- expressions

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "log2", "ceil", "floor", "sin", "cos")},
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
}


def evaluate(expression: str | float, names: dict[str, float]) -> Any:
    """Arithmetic with names and a few functions, nothing else of Python."""

    def value(node: ast.AST) -> Any:  # noqa: PLR0911  one case, one return
        match node:
            case ast.Expression():
                return value(node.body)
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.Name(id=name):
                if name == "pi":
                    return math.pi
                if name not in names:
                    raise Mistake(f"expression {expression!r}: unknown name {name!r}")
                return names[name]
            case ast.BinOp() if type(node.op) in _BINARY:
                return _BINARY[type(node.op)](value(node.left), value(node.right))
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand)
            case ast.Compare(ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](value(node.left), value(right))
            case ast.BoolOp(op=ast.And()):
                return all(value(part) for part in node.values)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*map(value, node.args))
        raise Mistake(f"expression {expression!r}: only arithmetic, names and {', '.join(_FUNCTIONS)}")

    try:
        return value(ast.parse(str(expression), mode="eval"))
    except SyntaxError:
        raise Mistake(f"expression {expression!r} cannot be read") from None
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise Mistake(f"expression {expression!r}: {error}") from None


def shown(value: float, form: str | None = None) -> str:
    """A number as the reader sees it: a true minus sign, no trailing zeros unless a format asks for them."""
    text = format(value, form) if form else f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("-", "−")


# ------------------------------------------------------------------------------------------------ compiling


class Compiler:
    """One file: checks while it translates, and goes on after a mistake so that all are told at once."""

    def __init__(self, source: Source):
        self.source = source
        self.data: dict[str, Any] = source.root if isinstance(source.root, dict) else {}
        self.places: set[tuple[str, str | None]] = set()

    def blame(self, where: tuple[str | int, ...], message: str) -> None:
        self.source.blame(where, message)

    def get(self, *where: str | int) -> Any:
        value: Any = self.data
        for key in where:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def keys(self, where: tuple[str | int, ...], must: set[str], may: set[str] = frozenset()) -> bool:  # type: ignore[assignment]
        value = self.get(*where)
        if not isinstance(value, dict):
            self.blame(where, f"expected the keys {', '.join(sorted(must))}")
            return False
        for key in value:
            if key not in must | may:
                self.blame((*where, key), f"unknown key {key!r}; known here: {', '.join(sorted(must | may))}")
        for key in sorted(must - set(value)):
            self.blame(where, f"{key!r} is missing")
        return must <= set(value)

    def length(self, where: tuple[str | int, ...], least: int = 1) -> int:
        """How many entries the list at this place has, so that callers can walk it."""
        value = self.get(*where)
        if not isinstance(value, list) or len(value) < least:
            self.blame(where, f"{where[-1]!r} must be a list of at least {least}")
            return 0
        return len(value)

    def text(self, *where: str | int) -> dict[str, list[Any]]:
        """A text in three languages; one string will do where it has no words (a formula, a shape)."""
        value = self.get(*where)
        empty: dict[str, list[Any]] = {lang: [] for lang in LANGUAGES}
        if isinstance(value, str | int | float):
            if re.search(r"[^\W\d_]{2}", _PIECE.sub("", str(value))):
                self.blame(where, "words need the three languages en, vi, zh")
                return empty
            value = dict.fromkeys(LANGUAGES, str(value))
        elif not isinstance(value, dict):
            self.blame(where, f"{where[-1]!r} must be a text in en, vi, zh")
            return empty
        for key in value:
            if key not in LANGUAGES:
                self.blame((*where, key), f"unknown language {key!r}")
        result = empty
        for lang in LANGUAGES:
            words = str(value.get(lang) or "").strip()
            if not words:
                self.blame(where, f"the {lang} text is missing")
                continue
            if words != unicodedata.normalize("NFC", words):
                self.blame((*where, lang), "not in Unicode NFC")
            for language, wrong, right in _wrong_terms():
                if language == lang and wrong.lower() in words.lower():
                    self.blame((*where, lang), f"{wrong!r}: the glossary says {right!r}")
            self.places |= set(_PLACE.findall(words))
            try:
                result[lang] = segments(words, lang)
            except Mistake as mistake:
                self.blame((*where, lang), str(mistake))
        return result

    def whole(self) -> dict[str, Any]:
        """Return the compiled exercise; `source.mistakes` says what is wrong with it."""
        kind = self.get("kind")
        if kind not in KINDS:
            self.blame(("kind",), f"unknown kind {kind!r}; known: {', '.join(KINDS)}")
            return {}
        must, may = KINDS[kind]
        if not self.keys((), must | {"kind", "question"}, may):
            return {}
        result: dict[str, Any] = {"kind": kind, "question": self.text("question")}
        result |= getattr(self, kind if kind not in ("multiple", "predict") else "choice")()
        if "hints" in must:
            count = self.length(("hints",), 2)
            result["hints"] = [self.text("hints", index) for index in range(count)]
            if count > 2:
                self.blame(("hints",), "two hints: one that points, one that almost tells")
        result["solution"] = self.text("solution")
        if kind != "number":
            for name, _ in sorted(self.places):
                self.blame((), f"{{{{{name}}}}}: only exercises of kind number have parameters")
        return result

    def choice(self) -> dict[str, Any]:
        options, right = [], 0
        for index in range(self.length(("options",), 2)):
            where = ("options", index)
            if self.keys(where, {"text", "why"}, {"correct"}):
                correct = self.get(*where, "correct") is True
                right += correct
                option = {"text": self.text(*where, "text"), "why": self.text(*where, "why")}
                options.append(option | ({"correct": True} if correct else {}))
        if not right:
            self.blame(("options",), "no option is correct: true")
        if right > 1 and self.get("kind") != "multiple":
            self.blame(("options",), f"{right} options are correct; kind {self.get('kind')} has one")
        if self.get("kind") == "multiple" and right == len(options):
            self.blame(("options",), "every option is correct: there is nothing to decide")
        return {"options": options}

    def number(self) -> dict[str, Any]:
        wrong = [
            {"why": self.text("wrong", index, "why")}
            for index in range(self.length(("wrong",), 1))
            if self.keys(("wrong", index), {"answer", "why"})
        ]
        result: dict[str, Any] = {"wrong": wrong, "tolerance": self.get("tolerance")}
        if self.get("why"):
            result["why"] = self.text("why")
        if not isinstance(result["tolerance"], int | float):
            self.blame(("tolerance",), "the tolerance is a number")
            return result
        # the places are known once every text was read
        self.text("question"), self.text("solution"), [self.text("hints", k) for k in range(2)]
        try:
            result["variants"] = self.variants()
        except Mistake as mistake:
            self.blame(("answer",), str(mistake))
        return result

    def variants(self) -> list[dict[str, Any]]:
        """The first variant takes the first value of each parameter; the file's name draws the others."""
        parameters = self.get("parameters") or {}
        draw = random.Random(self.source.path.stem)
        tolerance = self.get("tolerance")
        found: list[dict[str, Any]] = []
        for attempt in range(2000):
            names = {
                key: values[0] if attempt == 0 else draw.choice(values) for key, values in parameters.items()
            }
            for key, expression in (self.get("let") or {}).items():
                names[key] = evaluate(expression, names)
            answer = evaluate(self.get("answer"), names)
            wrong = [evaluate(entry["answer"], names) for entry in self.get("wrong")]
            fits = self.get("where") is None or evaluate(self.get("where"), names)
            clear = all(abs(value - answer) > 2 * tolerance for value in wrong)
            if attempt == 0 and not (fits and clear):
                raise Mistake(
                    "the first variant breaks `where`, or one of its wrong answers is (nearly) right"
                )
            text = {}
            for name, form in self.places:
                if name not in names:
                    raise Mistake(f"{{{{{name}}}}}: no such parameter")
                text[f"{name}:{form}" if form else name] = shown(names[name], form or None)
            variant = {"text": dict(sorted(text.items())), "answer": answer, "wrong": wrong}
            if fits and clear and variant not in found:
                found.append(variant)
            if not parameters or len(found) == VARIANTS:
                return found
        if len(found) < 4:
            raise Mistake(f"only {len(found)} sets of numbers satisfy `where`; four are the least")
        return found

    def matrix(self) -> dict[str, Any]:
        rows = [self.text("rows", index) for index in range(self.length(("rows",)))]
        columns = [self.text("columns", index) for index in range(self.length(("columns",)))]
        result: dict[str, Any] = {"rows": rows, "columns": columns, "tolerance": self.get("tolerance") or 0}

        def cells(*where: str | int) -> list[list[Any]]:
            value = self.get(*where)
            if not isinstance(value, list) or [len(row) for row in value] != [len(columns)] * len(rows):
                self.blame(where, f"cells: {len(rows)} rows of {len(columns)} numbers are needed")
                return []
            return value

        if self.get("binary") is True:
            result["binary"] = True
        result["cells"] = cells("cells")
        result["wrong"] = [
            {"cells": cells("wrong", index, "cells"), "why": self.text("wrong", index, "why")}
            for index in range(self.length(("wrong",)))
            if self.keys(("wrong", index), {"cells", "why"})
        ]
        if any(entry["cells"] == result["cells"] for entry in result["wrong"]):
            self.blame(("wrong",), "a known-wrong matrix equals the answer")
        if self.get("why"):
            result["why"] = self.text("why")
        return result

    def order(self) -> dict[str, Any]:
        items = [
            {"text": self.text("items", index, "text"), "why": self.text("items", index, "why")}
            for index in range(self.length(("items",), 3))
            if self.keys(("items", index), {"text", "why"})
        ]
        shuffled = list(range(len(items)))
        draw = random.Random(self.source.path.stem)
        while len(items) > 1 and shuffled == sorted(shuffled):
            draw.shuffle(shuffled)
        why = {"why": self.text("why")} if self.get("why") else {}
        return {"items": items, "shuffled": shuffled, **why}

    def spot(self) -> dict[str, Any]:
        if self.get("picture"):
            return self._picture()
        if not self.keys(
            (), KINDS["spot"][0] | {"kind", "question", "rows", "columns", "values", "spots", "elsewhere"}
        ):
            return {}
        rows = [self.text("rows", index) for index in range(self.length(("rows",)))]
        columns = [self.text("columns", index) for index in range(self.length(("columns",)))]
        values = self.get("values")
        if [len(row) for row in values] != [len(columns)] * len(rows):
            self.blame(("values",), f"values: {len(rows)} rows of {len(columns)} numbers are needed")
        spots, right = [], 0
        for index in range(self.length(("spots",))):
            where = ("spots", index)
            if self.keys(where, {"row", "column", "why"}, {"correct"}):
                place = {key: self.get(*where, key) for key in ("row", "column")}
                if not (0 <= place["row"] < len(rows) and 0 <= place["column"] < len(columns)):
                    self.blame(where, "outside the matrix: rows and columns count from 0")
                correct = self.get(*where, "correct") is True
                right += correct
                spots.append(
                    {**place, "why": self.text(*where, "why"), **({"correct": True} if correct else {})}
                )
        if not right:
            self.blame(("spots",), "no spot is correct: true")
        return {
            "rows": rows,
            "columns": columns,
            "values": [[f"{value:.2f}" for value in row] for row in values],
            "spots": spots,
            "elsewhere": self.text("elsewhere"),
        }

    def _picture(self) -> dict[str, Any]:
        """Areas of a figure of the package; boxes are left, top, width, height in percent of the picture."""
        if not self.keys((), KINDS["spot"][0] | {"kind", "question", "picture", "areas"}):
            return {}
        name = self.get("picture")
        path = ROOT / "d2lmini" / "assets" / "figures" / f"{name}.svg"
        if not path.exists():
            self.blame(("picture",), f"no figure {name!r} in d2lmini/assets/figures")
            return {}
        from d2lmini import language

        picture: dict[str, Any] = {}
        before = language.current_language()
        for lang in LANGUAGES:
            language.use_language(lang)
            svg = path.read_text(encoding="utf-8")
            picture[lang] = re.sub(r"\{\{(.+?)\}\}", lambda match: language.text(match[1]), svg)
        language.use_language(before)
        areas, right = [], 0
        for index in range(self.length(("areas",), 2)):
            where = ("areas", index)
            if self.keys(where, {"box", "text", "why"}, {"correct"}):
                box = self.get(*where, "box")
                if not isinstance(box, list) or len(box) != 4 or not all(0 <= value <= 100 for value in box):
                    self.blame((*where, "box"), "box: left, top, width, height in percent")
                correct = self.get(*where, "correct") is True
                right += correct
                area = {"box": box, "text": self.text(*where, "text"), "why": self.text(*where, "why")}
                areas.append(area | ({"correct": True} if correct else {}))
        if right != 1:
            self.blame(("areas",), f"one area must be correct: true; {right} are")
        return {"picture": picture, "areas": areas}

    def bug(self) -> dict[str, Any]:
        lines, right = [], 0
        for index in range(self.length(("lines",), 3)):
            where = ("lines", index)
            if not self.keys(where, {"code"}, {"why", "correct"}):
                continue
            line: dict[str, Any] = {"code": self.get(*where, "code") or ""}
            if self.get(*where, "why"):
                line["why"] = self.text(*where, "why")
            if self.get(*where, "correct") is True:
                right += 1
                line["correct"] = True
                if "why" not in line:
                    self.blame(where, "'why' is missing")
            lines.append(line)
        if right != 1:
            self.blame(("lines",), f"one line must be correct: true (the buggy one); {right} are")
        if sum("why" in line for line in lines) < 3:
            self.blame(("lines",), "at least three lines need a why: only those can be chosen")
        return {"lines": lines}

    def code(self) -> dict[str, Any]:
        for key in ("starter", "solution_code"):
            try:
                ast.parse(self.get(key))
            except SyntaxError as error:
                self.blame((key,), f"{key} is not Python: {error.msg}")
        bugs = self.get("bugs")
        if not isinstance(bugs, dict) or len(bugs) < 4:
            self.blame(("bugs",), "bugs: at least four known-wrong solutions, each with its message")
            bugs = {}
        told = {key: self.text("bugs", key) for key in bugs}
        return {**{key: self.get(key) for key in ("starter", "call", "solution_code")}, "bugs": told}

    def open(self) -> dict[str, Any]:
        if not self.get("points"):
            return {}
        return {"points": [self.text("points", index) for index in range(self.length(("points",)))]}


def _in_language(value: Any, lang: str) -> Any:
    if isinstance(value, dict):
        if set(value) == set(LANGUAGES):
            return value[lang]
        return {key: _in_language(inner, lang) for key, inner in value.items()}
    if isinstance(value, list):
        return [_in_language(inner, lang) for inner in value]
    return value


def compile_file(path: Path) -> tuple[str, list[str]]:
    """Return the compiled JSON of a YAML file and the mistakes found in it."""
    source = read(path)
    if source.root is None:
        return "", source.mistakes
    name = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
    if not name.fullmatch(path.stem) or path.suffix != ".yaml":
        source.blame((), f"the file name {path.name!r} is the exercise's id: make it words-with-hyphens.yaml")
    result = Compiler(source).whole()
    states = {
        lang: {"id": f"{path.parent.name}/{path.stem}", "lang": lang, **_in_language(result, lang)}
        for lang in LANGUAGES
    }
    text = json.dumps(states, ensure_ascii=False, separators=(",", ":"))
    return text + "\n", list(dict.fromkeys(source.mistakes))


def main(arguments: list[str]) -> int:
    """Compile (or compare, with --check) every exercise; 1 when something is wrong."""
    checking = "--check" in arguments
    failures: list[str] = []
    stale: list[str] = []
    wanted: set[Path] = set()
    seen: dict[str, Path] = {}
    for path in sorted(SOURCES.glob("*/*.y*ml")):
        text, mistakes = compile_file(path)
        name = f"{path.parent.name}/{path.stem}".lower()
        if name in seen:
            mistakes.append(f"{path.relative_to(ROOT).as_posix()}:1: {name} is already in {seen[name].name}")
        seen[name] = path
        failures += mistakes
        target = COMPILED / path.parent.name / f"{path.stem}.json"
        wanted.add(target)
        if mistakes or (target.exists() and target.read_text(encoding="utf-8") == text):
            continue
        if checking:
            stale.append(f"{target.relative_to(ROOT).as_posix()}: not current")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
    for path in sorted(set(COMPILED.glob("*/*.json")) - wanted):
        if checking:
            stale.append(f"{path.relative_to(ROOT).as_posix()}: its YAML file is gone")
        else:
            path.unlink()
    for line in failures + stale:
        print(line, file=sys.stderr)
    if stale:
        print("run: python -m tools.compile_exercises", file=sys.stderr)
    return int(bool(failures or stale))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
