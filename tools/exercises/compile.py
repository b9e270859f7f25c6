"""Compile the exercises: chapters/exercises/<chapter>/<slug>.yaml, checked, to d2lmini/assets/exercises.

    python -m tools.exercises.compile           compile all, and renew what the notebooks store of them
    python -m tools.exercises.compile --check   change nothing; fail where something is not current
    python -m tools.exercises.compile --format  print the format of an exercise, kind by kind

Every mistake is named with file and line. Nothing is executed, and torch is not needed.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from book import chapters
from book.chapters import LANGUAGES, ROOT, CourseError, shown
from book.contents import pages, table_of_contents
from d2lmini.notebook import content, widgets
from tools.exercises import format as form
from tools.exercises.numbers import variants
from tools.exercises.source import Source, read
from tools.exercises.text import PLACE, Mistake

SOURCES = ROOT / "chapters" / "exercises"
COMPILED = ROOT / "d2lmini" / "assets" / "exercises"


# ---- one exercise


def compile_file(path: Path, formerly: dict[str, str] | None = None) -> tuple[str, list[str]]:
    """Return the compiled JSON of a file and the mistakes found in it; the text is empty if there are any.

    Args:
        path: the file.
        formerly: takes the names that the exercise had, each with the one that it has.
    """
    source = read(path)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.yaml", path.name):
        source.add((), f"the file name {path.name!r} is the exercise's id: make it words-with-hyphens.yaml")
    result = {} if source.mistakes else _compiled(source)
    former, name = result.pop("formerly", []), f"{path.parent.name}/{path.stem}"
    if formerly is not None:
        for old in former:
            if (other := formerly.setdefault(old, name)) != name:
                source.add(("formerly",), f"{old} is a former name of {other}; take it out here")
    if source.mistakes:
        return "", list(dict.fromkeys(source.mistakes))
    cells = {language: _cells_of_page(path, result.get("call", ""), language) for language in LANGUAGES}
    if any(cells.values()):
        result["page"] = cells
    states = {language: {"id": name, **_in_language(result, language)} for language in LANGUAGES}
    return json.dumps(states, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n", []


def _compiled(source: Source) -> dict[str, Any]:
    """Return an exercise in all languages, or {} after adding its mistakes to the source."""
    data = source.data
    if (model := form.model_of(data)) is None:
        kind, kinds = data.get("kind"), ", ".join(form.MODELS)
        unknown = repr(kind)[:60] if isinstance(kind, str) else type(kind).__name__
        source.add(("kind",), f"unknown kind {unknown}; known: {kinds}")
        return {}
    names = None
    if model is form.Number:
        tables = (data.get(key) for key in ("parameters", "let"))
        names = frozenset(name for table in tables if isinstance(table, dict) for name in table)
    try:
        exercise = model.model_validate(data, context=names)
        for *where, message in exercise.mistakes():
            source.add(tuple(where), f"{'.'.join(map(str, where))}: {message}")
        return {} if source.mistakes else _content(exercise, source.path.stem)
    except ValidationError as error:
        for details in error.errors(include_url=False, include_input=False):
            place = tuple(key for key in details["loc"] if key != "[key]")
            message = details["msg"].removeprefix("Value error, ")
            source.add(place, f"{'.'.join(map(str, place))}: {message}".removeprefix(": "))
    except Mistake as mistake:
        source.add(mistake.where or ("answer",), str(mistake))
    return {}


def _content(exercise: form.Exercise, name: str) -> dict[str, Any]:
    """Return what a reader meets of an exercise; its name draws its numbers and its order."""
    content = exercise.model_dump(exclude_defaults=True, exclude={"parameters", "let", "where", "answer"})
    match exercise:
        case form.Number():
            content["wrong"] = [{"why": entry["why"]} for entry in content["wrong"]]
            content["variants"] = variants(exercise, set(PLACE.findall(json.dumps(content))), name)
        case form.Matrix():
            content["tolerance"] = exercise.tolerance
        case form.Order():
            shuffled = list(range(len(exercise.items)))
            draw = random.Random(name)
            while shuffled == sorted(shuffled):
                draw.shuffle(shuffled)
            content["shuffled"] = shuffled
        case form.Spot():
            content["values"] = [[f"{value:.2f}" for value in row] for row in exercise.values]
    return content


def _cells_of_page(path: Path, call: str, language: str) -> list[str]:
    """Return the fingerprints of the chapter's cells that define the function to be written."""
    notebook = chapters.path_of(language, path.parent.name)
    cells = chapters.read(notebook)["cells"] if call and notebook.exists() else []
    codes = [chapters.source(cell) for cell in cells if cell["cell_type"] == "code"]
    definition = re.compile(rf"^def {re.escape(call.rpartition(', ')[2].rstrip(')'))}\(", re.MULTILINE)
    return [content.cell_fingerprint(code) for code in codes if definition.search(code)]


def _in_language(value: Any, language: str) -> Any:
    if isinstance(value, dict):
        if set(value) == set(LANGUAGES):
            return value[language]
        return {key: _in_language(inner, language) for key, inner in value.items()}
    return [_in_language(inner, language) for inner in value] if isinstance(value, list) else value


# ---- all of them


def compile_all(checking: bool) -> tuple[list[str], list[str]]:
    """Compile every exercise, or only compare; return the mistakes, and what is not current."""
    mistakes: list[str] = []
    wanted: dict[Path, str] = {}
    formerly: dict[str, str] = {}
    for path in sorted(SOURCES.glob("*/*.y*ml")):
        text, wrong = compile_file(path, formerly)
        mistakes += wrong
        wanted[COMPILED / path.parent.name / f"{path.stem}.json"] = text
    for old, new in formerly.items():
        if COMPILED / f"{old}.json" in wanted:
            place = f"{shown(SOURCES / f'{new}.yaml', ROOT)}:1"
            mistakes.append(f"{place}: formerly: {old} is an exercise of now")
    if not mistakes:
        tables = {
            COMPILED / "formerly.json": dict(sorted(formerly.items())),
            COMPILED / "chapters.json": _numbers({path.parent.name for path in wanted}),
            SOURCES / "schema.json": form.schema(),
        }
        for path, table in tables.items():
            wanted[path] = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    gone = sorted({*COMPILED.glob("*/*.json")} - wanted.keys())
    complete = {path: text.encode() for path, text in wanted.items() if text}
    if checking:
        stale = [f"{shown(path, ROOT)}: its YAML file is gone" for path in gone]
        for path, data in complete.items():
            if not path.exists() or path.read_bytes() != data:
                stale.append(f"{shown(path, ROOT)}: not current")
        return mistakes, stale
    for path in gone:
        path.unlink()
    for path, data in complete.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        chapters.store(path, data)
    return mistakes, []


def _numbers(with_exercises: set[str]) -> dict[str, int]:
    """Return these chapters in the order of the course, each with its number; the others come last."""
    course = [name for name, _, number in pages(table_of_contents(ROOT)) if number]
    course += sorted(with_exercises - set(course))
    return {name: number for number, name in enumerate(course, start=1) if name in with_exercises}


def renew_notebooks(checking: bool, root: Path = ROOT) -> list[str]:
    """Store in every notebook what its exercises and explorers look like now; return where it was different.

    Args:
        checking: write nothing.
        root: the course.

    Raises:
        CourseError: a notebook shows an exercise that does not exist.
    """
    stale: list[str] = []
    for path in chapters.find(root=root):
        notebook, cells = chapters.read(path), []
        for cell in notebook["cells"]:
            for output in cell.get("outputs", ()):
                old = "".join(output.get("data", {}).get("text/html", ""))
                for kind, name in widgets.stored_widgets(old):
                    stored = content.stored if kind == "exercise" else widgets.stored_explorer
                    try:
                        new = stored(name, path.parent.name)
                    except ValueError as error:
                        raise CourseError(f"{shown(path, root)}#{cell['id']}: {error}") from None
                    if new != old:
                        output["data"]["text/html"] = chapters.lines(new)
                        cells.append(cell["id"])
        if cells:
            stale.append(f"{shown(path, root)}: what is stored in {', '.join(cells)} is not current")
            if not checking:
                chapters.write(path, notebook)
    return stale


# ---- the format, in words


def described() -> Iterator[str]:
    """Yield the format of an exercise: the parts of its schema with their keys, each kind with an example."""
    longest_first = sorted(SOURCES.glob("*/*.yaml"), key=lambda path: path.stat().st_size, reverse=True)
    examples = {form.model_of(read(path).data): shown(path, ROOT) for path in longest_first}
    yield (form.__doc__ or "").partition("\n\n")[2]
    for title, part in form.schema()["$defs"].items():
        if "description" in part:
            yield f"## {title}\n{part['description']}\n"
            for key, value in part["properties"].items():
                optional = "" if key in part["required"] else ", optional"
                yield f"{key} ({_type(value)}{optional}): {value['description']}"
            example = examples.get(vars(form)[title])
            yield f"\nExample: {example}\n" if example else ""


def _type(value: dict[str, Any]) -> str:
    value = value.get("anyOf", [value])[0]  # of two, the last is null
    name = next((str(value[key]) for key in ("const", "$ref", "type") if key in value), "")
    if entries := value.get("items") or value.get("additionalProperties"):
        least, several = value.get("minItems"), "list of" if name == "array" else "names, each with"
        return f"{several} {_type(entries)}" + (f", {least} or more" if least else "")
    return name.rpartition("/")[2]


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 when something is wrong."""
    parser = argparse.ArgumentParser("course.py exercises", description="Check and compile the exercises.")
    parser.add_argument("--check", action="store_true", help="only fail where something is not current")
    parser.add_argument("--format", action="store_true", help="print the format of an exercise, kind by kind")
    options = parser.parse_args(arguments)
    if options.format:
        print(*described(), sep="\n")
        return 0
    mistakes, stale = compile_all(options.check)
    try:
        notebooks = [] if mistakes else renew_notebooks(options.check, ROOT)
    except CourseError as error:
        notebooks, mistakes = [], [str(error)]
    if options.check:
        stale += notebooks
    elif notebooks:
        print("renewed:", *(line.partition(":")[0] for line in notebooks), sep="\n  ")
    for line in mistakes + stale or ["exercises: all are current"]:
        print(line, file=sys.stderr)
    if stale:
        print("run: python -m tools.exercises.compile", file=sys.stderr)
    return int(bool(mistakes or stale))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
