"""The arithmetic of exercises: formulas with names, and the sets of numbers that a reader meets."""

import ast
import cmath
import math
import random
from collections.abc import Collection
from functools import lru_cache
from itertools import combinations
from operator import itemgetter
from typing import Any

import simpleeval

from tools.exercises.text import Mistake

VARIANTS = 12  # sets of numbers that an exercise keeps; four are the least
LARGEST = 1e15  # beyond it a float is no longer exact to the unit
simpleeval.MAX_POWER = 10_000  # of base and exponent: the default lets 3999999**3999999 run for minutes


def _rounded(value: float, digits: int = 0) -> float:
    return round(value, min(max(digits, -15), 15)) if digits else round(value)


_OF_MATH = ("sqrt", "exp", "log", "log2", "ceil", "floor", "sin", "cos")
FUNCTIONS: dict[str, Any] = {name: getattr(math, name) for name in _OF_MATH}
FUNCTIONS |= {"abs": abs, "min": min, "max": max, "round": _rounded}
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_OPERATORS = {kind: simpleeval.DEFAULT_OPERATORS[kind] for kind in (*_BINARY, *_COMPARISONS, ast.USub)}


def _number(node: ast.Constant) -> float:
    if not isinstance(node.value, int | float):
        raise simpleeval.InvalidExpression("not a number")
    return node.value


# of simpleeval's language only numbers, names, operators and calls: no strings, lists or attributes
_arithmetic: Any = simpleeval.SimpleEval(operators=_OPERATORS, functions=FUNCTIONS)
_known = (ast.Name, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.Call)
_arithmetic.nodes = {kind: _arithmetic.nodes[kind] for kind in _known} | {ast.Constant: _number}


@lru_cache(maxsize=4096)
def parsed(formula: str) -> ast.expr:
    """Return the tree of a formula.

    Raises:
        Mistake: it is not an expression, or too long.
    """
    if len(formula) > 200:
        raise Mistake(f"formula {formula[:40]!r}…: longer than 200 characters; use `let` for its parts")
    try:
        return ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Mistake(f"formula {formula!r} cannot be read") from None


def evaluate(formula: str | float, names: dict[str, float]) -> Any:
    """Return the value of a formula: arithmetic with names and a few functions, nothing else of Python.

    Args:
        formula: such as ``sqrt(d) * 2``, or a number.
        names: the values of the names in it; `pi` is known.

    Raises:
        Mistake: it holds something else, has no value, or its value is not a real number of usual size.
    """
    tree = parsed(str(formula))
    _arithmetic.names = {"pi": math.pi, **names}
    try:
        value = _arithmetic.eval(str(formula), previously_parsed=tree)
        usual = not isinstance(value, complex) and cmath.isfinite(value) and abs(value) <= LARGEST
    except simpleeval.NameNotDefined as error:
        raise Mistake(f"formula {formula!r}: unknown name {error.name!r}; known: {_listed(names)}") from None
    except simpleeval.NumberTooHigh:
        raise Mistake(f"formula {formula!r}: a power of more than {simpleeval.MAX_POWER}") from None
    except (simpleeval.InvalidExpression, KeyError):  # a KeyError for "in" and "is"
        allowed = f"only + - * / // % **, comparisons, and, or, names, and {_listed(FUNCTIONS)}"
        raise Mistake(f"formula {formula!r}: {allowed}") from None
    except (ArithmeticError, ValueError, TypeError, RecursionError) as error:
        raise Mistake(f"formula {formula!r}: {error}") from None
    if not usual:
        raise Mistake(f"formula {formula!r}: its value must be a real number below {LARGEST:g}")
    return value


def shown(value: float, form: str | None = None) -> str:
    """Return a number as readers see it: a true minus sign, no trailing zeros unless `form` asks for them."""
    try:
        text = format(value, form) if form else f"{value:.4g}" if isinstance(value, float) else str(value)
    except ValueError:
        raise Mistake(f"the format {form!r} does not fit the number {value!r}") from None
    return text.replace("-", "−")


def variants(exercise: Any, places: Collection[tuple[str, str]], seed: str) -> list[dict[str, Any]]:
    """Return up to `VARIANTS` different sets of numbers, with their right and wrong answers.

    Args:
        exercise: a `tools.exercises.format.Number`.
        places: name and format of each number in its texts.
        seed: draws the sets; the first one takes the first value of each parameter.

    Raises:
        Mistake: a formula has no value, or too few sets fit.
    """
    draw = random.Random(seed)
    sets: list[dict[str, Any]] = []
    for attempt in range(2000):
        choose = draw.choice if attempt else itemgetter(0)
        names: dict[str, float] = {name: choose(values) for name, values in exercise.parameters.items()}
        for name, formula in exercise.let.items():
            names[name] = _at("let", name, formula=formula, names=names)
        answer = _at("answer", formula=exercise.answer, names=names)
        wrong = [
            _at("wrong", index, "answer", formula=entry.answer, names=names)
            for index, entry in enumerate(exercise.wrong)
        ]
        fits = exercise.where is None or _at("where", formula=exercise.where, names=names)
        clear = all(abs(x - y) > 2 * exercise.tolerance for x, y in combinations([answer, *wrong], 2))
        if attempt == 0 and not (fits and clear):
            raise Mistake("the first variant breaks `where`, or two of its answers are (nearly) the same")
        text = {f"{name}:{form}" if form else name: shown(names[name], form) for name, form in places}
        variant = {"text": dict(sorted(text.items())), "answer": answer, "wrong": wrong}
        if fits and clear and variant not in sets:
            sets.append(variant)
        if not exercise.parameters or len(sets) == VARIANTS:
            return sets
    if len(sets) < 4:
        raise Mistake(f"only {len(sets)} sets of numbers satisfy `where`; four are the least")
    return sets


def _at(*where: str | int, formula: str | float, names: dict[str, float]) -> Any:
    try:
        return evaluate(formula, names)
    except Mistake as mistake:
        mistake.where = where
        raise


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) or "none"
