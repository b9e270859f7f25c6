"""The reference of d2lmini, read from its source: reading the site needs neither torch nor an import of it.

The page is the notebook `api`: a heading and a word about each file, in the reader's language. Below the cell
whose id is a file's name this puts what that file offers: signatures, and docstrings as they were written,
in English.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PACKAGE = Path(__file__).parents[2] / "d2lmini"
PAGE = "api"
SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Example):$")
ITEM = re.compile(r"(\*{0,2}\w+): (.*)")
# the spans of a docstring that are not prose: ``name``, `name`, $formula$
SPAN = re.compile(r"``(?P<plain>[^`]+)``|`(?P<name>[^`]+)`|\$(?P<formula>[^$]+)\$|(?P<special>[*\\_|])")

Definition = ast.ClassDef | ast.FunctionDef


def exported() -> dict[str, list[str]]:
    """File → the public names in it, as `d2lmini/__init__.py` has them."""
    found: dict[str, list[str]] = {}
    block = next(node for node in _tree("__init__").body if isinstance(node, ast.If))
    for line in block.body:
        if isinstance(line, ast.ImportFrom) and line.module:
            found.setdefault(line.module.removeprefix("d2lmini."), []).extend(n.name for n in line.names)
    return found


def definitions(file: str) -> list[Definition]:
    """What a file offers, in the order in which it is read; also the function that is named as its file."""
    public = {*exported()[file], file}
    return [
        node
        for node in _tree(file).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in public
    ]


def _tree(file: str) -> ast.Module:
    return ast.parse(_path(file).read_text(encoding="utf-8"))


def _path(file: str) -> Path:
    path = PACKAGE / file.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def signature(node: ast.FunctionDef) -> str:
    """`(X: Tensor, value: float = 0) -> Tensor`, as written but for `self`."""
    written = ast.unparse(node.args)
    written = re.sub(r"^self(, |$)", "", written)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return f"({written}){returns}"


def sections(docstring: str) -> Iterator[tuple[str, str]]:
    """(name, text) of the parts of a docstring; prose has no name."""
    name, lines = "", list[str]()
    for line in docstring.splitlines():
        heading = SECTION.match(line)
        source = line.startswith("Source: ")
        back_to_prose = name and line and not line.startswith(" ") and (name != "Source" or not lines[-1])
        if heading or source or back_to_prose:
            yield name, "\n".join(lines).strip("\n")
            name, lines = (heading[1] if heading else "Source" if source else ""), []
        if not heading:
            lines.append(line.removeprefix("Source: ") if source else line)
    yield name, "\n".join(lines).strip("\n")


def _prose(text: str, known: dict[str, str]) -> str:
    """Sphinx's markup for the prose of a docstring: code, links to other names of the page, formulas."""

    def replace(span: re.Match[str]) -> str:
        if span["special"]:
            return "\\" + span["special"]
        if span["formula"]:
            return f":math:`{span['formula']}`"
        name = span["plain"] or span["name"]
        if name in known:
            return f":py:obj:`{name} <{known[name]}>`"
        return f"``{name}``"

    return SPAN.sub(replace, text)


def _items(text: str) -> list[str]:
    """The items of a section, each in one line: what is indented below an item continues it."""
    items: list[str] = []
    for line in text.splitlines():
        if re.match(" {4}[^ ]", line):
            items.append(line.strip())
        elif line and items:
            items[-1] += " " + line.strip()
    return items


def _marked_up(name: str, text: str, known: dict[str, str], where: str) -> str:
    """One part of a docstring in Sphinx's markup."""
    if not name:
        return _prose(text, known)
    if name == "Example":
        said, prompt, code = dedent(text).partition(">>> ")
        shown = indent((prompt + code).replace("<BLANKLINE>", ""), "      ")
        return f":Example:\n{indent(_prose(said, known), '   ')}\n   .. code-block:: pycon\n\n{shown}"
    if name in ("Returns", "Source"):
        return f":{name}: {_prose(' '.join(text.split()), known)}"
    lines = [f":{name}:"]
    for item in _items(text):
        parts = ITEM.fullmatch(item)
        if parts is None:
            raise ExtensionError(f"{where}, {name}: “{item[:60]}” does not begin with a name and a colon")
        lines.append(f"   - ``{parts[1]}``: {_prose(parts[2], known)}")
    return "\n".join(lines)


def _described(node: Definition, known: dict[str, str], where: str) -> str:
    docstring = ast.get_docstring(node)
    if not docstring:
        raise ExtensionError(f"{where}: there is no docstring")
    return "\n\n".join(_marked_up(name, text, known, where) for name, text in sections(docstring) if text)


def _directive(kind: str, head: str, body: str, *options: str) -> str:
    return "\n".join(
        [f".. {kind}:: {head}", *(f"   {option}" for option in options), "", indent(body, "   "), ""]
    )


def _entry(node: Definition, name: str, known: dict[str, str]) -> str:
    """A function, or a class with its public methods, as directives of Sphinx."""
    if isinstance(node, ast.FunctionDef):
        return _directive("py:function", name + signature(node), _described(node, known, name))
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    start = next((method for method in methods if method.name == "__init__"), None)
    parts = [_described(node, known, name)]
    for method in methods:
        if method.name.startswith("_") and not (method.name == "__getitem__" and ast.get_docstring(method)):
            continue
        body = _described(method, known, f"{name}.{method.name}")
        if any(ast.unparse(decorator) == "property" for decorator in method.decorator_list):
            typed = [f":type: {ast.unparse(method.returns)}"] if method.returns else []
            parts.append(_directive("py:property", method.name, body, ":no-contents-entry:", *typed))
        else:
            parts.append(
                _directive("py:method", method.name + signature(method), body, ":no-contents-entry:")
            )
    return _directive("py:class", name + (signature(start) if start else ""), "\n\n".join(parts))


def reference(file: str) -> str:
    """What a file offers, in Sphinx's markup."""
    known = {name: f"d2l.{name}" for names in exported().values() for name in names}
    # a function that is named as its file is reached through the file, `d2l.attention.attention`
    return "\n\n".join(
        _entry(
            node,
            f"d2l.{file}.{file}" if node.name == file and file not in known else f"d2l.{node.name}",
            known,
        )
        for node in definitions(file)
    )


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
            app.env.note_dependency(str(_path(file)))
            text = f"```{{eval-rst}}\n{reference(file)}\n```"
            cells.append(
                {"cell_type": "markdown", "id": f"{cell['id']}-names", "metadata": {}, "source": text}
            )
    if waiting:
        raise ExtensionError(f"{path.name}: there is no cell with the id {' or '.join(waiting)}")
    source[0] = json.dumps({**notebook, "cells": cells})


def setup(app: Sphinx) -> None:
    app.connect("source-read", insert, priority=400)  # before `notebook` notes the cells of the page
