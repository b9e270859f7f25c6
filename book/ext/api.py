"""The reference of d2lmini, read from its source: reading the site needs neither torch nor an import of it.

The page is the notebook `api`: a heading and a word about each file, in the reader's language. Below the cell
whose id is a file's name this puts what that file offers: signatures, and docstrings as they were written,
in English.
"""

import ast
import json
import logging
import re
from collections.abc import Iterator
from doctest import DocTestParser
from functools import cache
from html import escape
from pathlib import Path
from textwrap import indent
from typing import Any

import griffe
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PACKAGE = Path(__file__).parents[2] / "d2lmini"
PAGE = "api"
# what griffe is told of docstrings: types stand in the signature, and a result is one thing
GOOGLE = {"returns_multiple_items": False, "warn_missing_types": False}
TITLES = {"parameters": "Args", "attributes": "Attributes", "raises": "Raises"}
# the spans of a docstring that are not prose: ``name``, `name`, $formula$
SPAN = re.compile(r"``(?P<plain>[^`]+)``|`(?P<name>[^`]+)`|\$[^$]+\$|(?P<special>[*\\_<\[])")


class _Refuse(logging.Handler):
    """What griffe finds wrong in a docstring ends the build."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ExtensionError(record.getMessage())


logging.getLogger("griffe").addHandler(_Refuse(logging.WARNING))


@cache
def _package() -> Any:
    return griffe.load("d2lmini", search_paths=[PACKAGE.parent])


def exported() -> dict[str, list[str]]:
    """File → the public names in it, as `d2lmini/__init__.pyi` has them."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    return {
        line.module: [name.name for name in line.names]
        for line in stub.body
        if isinstance(line, ast.ImportFrom) and line.module
    }


def definitions(file: str) -> list[Any]:
    """What a file offers, in the order in which it is read."""
    public = exported()[file]
    return [thing for thing in _package()[file].members.values() if thing.name in public]


def _prose(text: str, known: dict[str, str]) -> str:
    """MyST's markup for the prose of a docstring: code, links to other names of the page, formulas."""

    def replace(span: re.Match[str]) -> str:
        if span["special"]:
            return "\\" + span["special"]
        if name := span["plain"] or span["name"]:
            return f"{{py:obj}}`{name} <{known[name]}>`" if name in known else f"`{name}`"
        return span[0]

    return SPAN.sub(replace, text)


def sections(thing: Any) -> list[Any]:
    """The parts of the docstring of a function or a class, as griffe tells them apart.

    Raises:
        ExtensionError: there is no docstring, or it has a mistake.
    """
    if not thing.docstring:
        raise ExtensionError(f"{thing.path}: there is no docstring")
    return list(thing.docstring.parse("google", **GOOGLE))


def imports(code: str, thing: Any) -> str:
    """What an example has to import where it is pasted: in the package it finds the names of its own file."""
    example = ast.parse(code)
    used = {node.id for node in ast.walk(example) if isinstance(node, ast.Name)} - _imported(example.body)
    path = thing.filepath
    file = ast.parse(path.read_text("utf-8") if path.exists() else "")
    lines = [ast.unparse(statement) for statement in file.body if _imported([statement]) & used]
    public = {name for names in exported().values() for name in names}
    defined = used & {*thing.module.members} - _imported(file.body)
    for source, names in (("d2lmini", defined & public), (thing.module.path, defined - public)):
        if names:
            lines.append(f"from {source} import {', '.join(sorted(names))}")
    return "\n".join(lines)


def _imported(statements: list[ast.stmt]) -> set[str]:
    """Return the names that these statements import."""
    imports = [statement for statement in statements if isinstance(statement, ast.Import | ast.ImportFrom)]
    return {name.asname or name.name for statement in imports for name in statement.names}


def _marked_up(section: Any, thing: Any, known: dict[str, str]) -> Iterator[str]:
    """One part of a docstring in MyST's markup."""
    kind, value = section.kind.value, section.value
    if kind == "text":
        for paragraph in value.split("\n\n"):
            text = _prose(paragraph, known)
            yield f":Source: {' '.join(text.split()[1:])}" if text.startswith("Source: ") else text
    elif kind == "admonition":
        said, prompt, code = value.contents.partition(">>> ")
        typed = "".join(one.source for one in DocTestParser().get_examples(prompt + code))
        needed = escape(imports(typed, thing)).replace("\n", "&#10;")  # for whoever copies the example
        note = _directive("raw", "html", f'<template data-needs="{needed}"></template>') if needed else ""
        shown = _directive("code-block", "pycon", (prompt + code).replace("<BLANKLINE>", ""))
        yield "\n".join(
            [f":{section.title}:", *(indent(part, "   ") for part in (_prose(said, known), note, shown))]
        )
    elif kind == "returns":
        name = f"{value[0].name}: " if value[0].name else ""  # a first word that griffe takes for a name
        yield f":Returns: {_prose(' '.join((name + value[0].description).split()), known)}"
    else:
        lines = [f":{TITLES[kind]}:"]
        for item in value:
            name = item.annotation if kind == "raises" else item.name
            lines.append(f"   - `{name}`: {_prose(' '.join(item.description.split()), known)}")
        yield "\n".join(lines)


def _described(thing: Any, known: dict[str, str]) -> str:
    return "\n\n".join(part for section in sections(thing) for part in _marked_up(section, thing, known))


def _directive(kind: str, head: str, body: str, *options: str) -> str:
    fence = max(re.findall("`{3,}", body), default="``") + "`"
    return "\n".join([f"{fence}{{{kind}}} {head}", *options, "", body, fence])


def entry(thing: Any, name: str, known: dict[str, str]) -> str:
    """A function, or a class with its public methods, as directives of Sphinx."""
    if thing.is_function:
        return _directive("py:function", thing.signature(name=name), _described(thing, known))
    parts = [_described(thing, known)]
    for member in thing.members.values():
        if member.name.startswith("_") and not (member.name == "__getitem__" and member.docstring):
            continue
        if member.is_function:
            head, kind, typed = member.signature(name=member.name), "py:method", []
        elif "property" in member.labels:
            head, kind, typed = member.name, "py:property", [f":type: {member.annotation}"]
        else:
            continue
        parts.append(_directive(kind, head, _described(member, known), ":no-contents-entry:", *typed))
    start = thing.members.get("__init__")
    head = start.signature(name=name, return_type=False) if start else name
    return _directive("py:class", head, "\n\n".join(parts))


def reference(file: str) -> str:
    """What a file offers, in MyST's markup."""
    known = {name: f"d2l.{name}" for names in exported().values() for name in names}
    return "\n\n".join(entry(thing, known[thing.name], known) for thing in definitions(file))


def insert(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the reference of a file below the cell that has its name for an id."""
    path = Path(app.env.doc2path(docname))
    if path.name != f"{PAGE}.ipynb":
        return
    notebook = json.loads(source[0])
    # the id of a cell is the last part of a file's name, with hyphens
    waiting = {file.rpartition(".")[2].replace("_", "-"): file for file in exported()}
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        if file := waiting.pop(cell["id"], None):
            app.env.note_dependency(str(_package()[file].filepath))
            names = {"id": f"{cell['id']}-names", "cell_type": "markdown", "metadata": {}}
            cells.append({**names, "source": reference(file)})
    if waiting:
        files = ", ".join(f"d2lmini/{file.replace('.', '/')}.py" for file in waiting.values())
        raise ExtensionError(
            f"{path}: {files} has public names, and no cell tells of it; add a Markdown cell with the id "
            f"{' and one with the id '.join(waiting)}"
        )
    source[0] = json.dumps({**notebook, "cells": cells})


def setup(app: Sphinx) -> None:
    app.connect("source-read", insert, priority=400)  # before `notebook` notes the cells of the page
