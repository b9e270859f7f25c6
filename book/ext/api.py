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
from docutils.nodes import Node
from myst_parser.mdit_to_docutils.base import make_document
from myst_parser.mocking import MockRSTParser
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

PACKAGE = Path(__file__).parents[2] / "d2lmini"
PAGE = "api"
# what griffe is told of docstrings: types stand in the signature, and a result is one thing
GOOGLE = {"returns_multiple_items": False, "warn_missing_types": False}
TITLES = {"parameters": "Args", "attributes": "Attributes", "raises": "Raises"}
# the spans of a docstring that are not prose: ``name``, `name`, $formula$
SPAN = re.compile(r"``(?P<plain>[^`]+)``|`(?P<name>[^`]+)`|\$(?P<formula>[^$]+)\$|(?P<special>[*\\_|])")


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
    return [
        thing
        for thing in _package()[file].members.values()
        if thing.name in public and (thing.is_class or thing.is_function)
    ]


def _prose(text: str, known: dict[str, str]) -> str:
    """Sphinx's markup for the prose of a docstring: code, links to other names of the page, formulas."""

    def replace(span: re.Match[str]) -> str:
        if span["special"]:
            return "\\" + span["special"]
        if span["formula"]:
            return f":math:`{span['formula']}`"
        name = span["plain"] or span["name"]
        return f":py:obj:`{name} <{known[name]}>`" if name in known else f"``{name}``"

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
    """One part of a docstring in Sphinx's markup."""
    kind, value = section.kind.value, section.value
    if kind == "text":
        for paragraph in value.split("\n\n"):
            text = _prose(paragraph, known)
            yield f":Source: {' '.join(text.split()[1:])}" if text.startswith("Source: ") else text
    elif kind == "admonition":
        said, prompt, code = value.contents.partition(">>> ")
        shown = indent((prompt + code).replace("<BLANKLINE>", ""), "      ")
        typed = "".join(one.source for one in DocTestParser().get_examples(prompt + code))
        needed = escape(imports(typed, thing)).replace("\n", "&#10;")  # for whoever copies the example
        note = f'   .. raw:: html\n\n      <template data-needs="{needed}"></template>\n\n' if needed else ""
        yield (
            f":{section.title}:\n{indent(_prose(said, known), '   ')}\n{note}"
            f"   .. code-block:: pycon\n\n{shown}"
        )
    elif kind == "returns":
        name = f"{value[0].name}: " if value[0].name else ""  # a first word that griffe takes for a name
        yield f":Returns: {_prose(' '.join((name + value[0].description).split()), known)}"
    else:
        lines = [f":{TITLES[kind]}:"]
        for item in value:
            name = item.annotation if kind == "raises" else item.name
            lines.append(f"   - ``{name}``: {_prose(' '.join(item.description.split()), known)}")
        yield "\n".join(lines)


def _described(thing: Any, known: dict[str, str]) -> str:
    return "\n\n".join(part for section in sections(thing) for part in _marked_up(section, thing, known))


def _directive(kind: str, head: str, body: str, *options: str) -> str:
    return "\n".join(
        [f".. {kind}:: {head}", *(f"   {option}" for option in options), "", indent(body, "   "), ""]
    )


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
    """What a file offers, in Sphinx's markup."""
    known = {name: f"d2l.{name}" for names in exported().values() for name in names}
    return "\n\n".join(entry(thing, known[thing.name], known) for thing in definitions(file))


class Reference(SphinxDirective):
    """Parse the reference of a file.

    MyST's own `{eval-rst}` puts an empty line before the text for each line above it, of which myst-nb counts
    10 000 a cell: most of the time that a site took to build.
    """

    required_arguments = 1

    def run(self) -> list[Node]:
        """Return the nodes of the reference."""
        parsed = make_document()
        parsed["source"] = self.state.document["source"]
        parsed.settings = self.state.document.settings
        parsed.reporter = self.state.document.reporter
        MockRSTParser().parse(reference(self.arguments[0]), parsed)
        return list(parsed.children)


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
            text = f"```{{reference}} {file}\n```"
            cells.append(
                {"cell_type": "markdown", "id": f"{cell['id']}-names", "metadata": {}, "source": text}
            )
    if waiting:
        files = ", ".join(f"d2lmini/{file.replace('.', '/')}.py" for file in waiting.values())
        raise ExtensionError(
            f"{path}: {files} has public names, and no cell tells of it; add a Markdown cell with the id "
            f"{' and one with the id '.join(waiting)}"
        )
    source[0] = json.dumps({**notebook, "cells": cells})


def setup(app: Sphinx) -> None:
    app.add_directive("reference", Reference)
    app.connect("source-read", insert, priority=400)  # before `notebook` notes the cells of the page
