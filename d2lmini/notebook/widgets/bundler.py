"""Join ES modules to one text: a notebook loads a widget from a blob, where no import finds another file.

Each module keeps a scope of its own, as in a browser, so that equal names in two files do not meet.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from importlib.resources.abc import Traversable

_IMPORT = re.compile(r'^import(?: (\w+))?(?:,? \{([^}]*)\})? from "(?:\./)?([^"]+)";$', re.MULTILINE)
_DECLARATION = r"(?:async )?(?:function\*?|class|const|let) (\w+)"
_DECLARED = re.compile(rf"^(?:export )?(?:default )?{_DECLARATION}", re.MULTILINE)
_EXPORT = re.compile(rf"^export (?:(default) |(?={_DECLARATION}))", re.MULTILINE)
_STATEMENT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
# a statement of a module begins at the margin, as the formatter writes it
_STATEMENTS = re.compile(r"^(?=[\w$])", re.MULTILINE)
_STRING = r"""(?:"(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])*+')"""


def _template(depth: int) -> str:
    """Return the pattern of a string in backquotes, with as many more in each other as its depth."""
    code = r"""[^`"'{}\n]"""
    for _ in range(depth):
        code = rf"(?:[^`\"'{{}}\n]|{_STRING}|{_template(depth - 1)}|\{{{code}*+\}})"
    return rf"`(?:\\.|[^`\\$\n]|\$(?!\{{)|\$\{{{code}*+\}})*+`"


# where a comment might be, or seem to be; and what it is not certain how to read
_TOKEN = re.compile(
    rf"(?P<comment>//[^\n]*|/\*.*?\*/)|{_STRING}|{_template(2)}|(?<= )/(?=\s)"
    r"|(?:(?<=[(,=:?&|>\[{!]) ?|(?<=return ))/(?:\\.|\[(?:\\.|[^]\\\n])*\]|[^/\\\[\n])++/"
    r"|(?P<needless> (?=[][{}(),;:?=&|<>!*])|(?<=[][{}(),;:?=&|<>!*]) |,(?=\s*[])}]))"
    r"""|(?P<refused>[/`"']|\bimport\s*\(\s*["'`]\.)""",
    re.DOTALL,
)
_REASONS = {
    "/": "a division has a space after /, a regular expression stands in brackets",
    "`": "a string in backquotes must end in its line",
    "i": "a file is imported at the top of a module: later it would not be found",
}
# line ends inside an expression: for those who read the source, not who load it
_INSIDE = re.compile(r"(?<=[,;(\[{])\n|\n(?=[)\]}.?:])")


class BundleError(ValueError):
    """A module imports what is not there; the text tells file and line."""


def bundle(folder: Traversable, entry: str, virtual: Mapping[str, str]) -> str:
    """Return an ES module with everything that it imports, directly or not, but without comments.

    Indentation goes, too, so a string in backquotes must not run over several lines.

    Args:
        folder: where the files are. A ``.css`` file is a module whose default export is its text; a
            ``.min.js`` file has one line and ends with ``export{a as b,…};``.
        entry: the name of the file that begins; its exports are those of the result.
        virtual: source text of modules that are no files, by the name under which they are imported.

    Raises:
        BundleError: an import cannot be resolved, or a line cannot be read with certainty; file and line are
            named.
    """
    sources: dict[str, str] = {}  # of the modules, each after all that it imports
    imported: defaultdict[str, set[str]] = defaultdict(set)  # from each module, by any other

    def add(name: str, above: tuple[str, ...] = ()) -> None:
        """Add a module, and before it what it imports; every import must bring what it names."""
        source = _source(folder, name, virtual)
        declared = set(_DECLARED.findall(source))
        for statement in _STATEMENT.finditer(source):
            if not _IMPORT.match(source, statement.start()) and not _EXPORT.match(statement[0]):
                raise BundleError(f"{name}:{_line(source, statement)}: cannot read {statement[0]!r}")
        for statement in _IMPORT.finditer(source):
            place, other = f"{name}:{_line(source, statement)}", statement[3]
            if other in (name, *above):
                raise BundleError(f'{place}: "{other}" imports this module; move what both need to a third')
            if other not in virtual and not (folder / other).is_file():
                raise BundleError(f'{place}: there is no module "{other}"')
            if other not in sources:
                add(other, (name, *above))
            exports = [default or export for default, export in _EXPORT.findall(sources[other])]
            for theirs, ours in _names(statement):
                if theirs not in exports:
                    offered = ", ".join(exports) or "nothing"
                    raise BundleError(f'{place}: "{other}" exports no {theirs}, only {offered}')
                if ours in declared:
                    raise BundleError(f"{place}: {ours} stands for two things; import one as another name")
                declared.add(ours)
                imported[other].add(theirs)
        sources[name] = source

    add(entry)
    first = _tight(_joinable(sources.pop(entry)))
    others = [_scoped(name, source, imported[name]) for name, source in sources.items()]
    return _INSIDE.sub("", "".join([*others, first]))


def _source(folder: Traversable, name: str, virtual: Mapping[str, str]) -> str:
    """Return a module without comments; a stylesheet becomes one."""
    text = virtual.get(name) or (folder / name).read_text(encoding="utf-8")
    if name.endswith(".min.js"):
        return _minified(text.strip(), name)
    if not name.endswith(".css"):
        return _without_comments(text, name)
    rules = re.sub(r"\s*([{};,])\s*", r"\1", text).replace(": ", ":").replace(";}", "}")
    return f"export default {json.dumps(rules, ensure_ascii=False)};"


def _minified(text: str, name: str) -> str:
    """Return a module of others, of which only the list of its exports is touched."""
    code, _, exports = text.rpartition("export{")
    if not code or "\n" in text or not exports.endswith("};"):
        raise BundleError(f"{name}: a minified module is one line that ends with export{{a as b,…}};")
    pairs = [(part.split(" as ")[0], part.split(" as ")[-1]) for part in exports[:-2].split(",")]
    listed = ",".join(f"{theirs}:{ours}" for ours, theirs in pairs)
    names = "".join(f"export const {theirs} = $all.{theirs};\n" for _, theirs in pairs)
    return f"const $all = (() => {{{code}return{{{listed}}}}})();\n{names}"


def _joinable(source: str) -> str:
    """Return a module without indentation, with its imports as constants."""
    return re.sub(r"\s*\n\s*", "\n", _IMPORT.sub(_constant, source)).strip() + "\n"


def _scoped(name: str, source: str, used: set[str]) -> str:
    """Return a module as a constant that has what others use of it."""
    names = ["default: $default" if export == "default" else export for export in sorted(used)]
    text = _joinable(_without_unused(source, used))
    body = _EXPORT.sub(lambda export: "const $default = " if export[1] else "", text)
    body = body if name.endswith(".min.js") else _tight(body)
    return f"const {_variable(name)} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"


def _tight(source: str) -> str:
    """Return a joinable module without the spaces and last commas that nobody needs; strings keep theirs."""
    return _TOKEN.sub(lambda token: "" if token["needless"] else token[0], source)


def _names(found: re.Match[str]) -> list[tuple[str, str]]:
    """Return what an import line brings, as pairs of the name there and the name here."""
    default = [("default", found[1])] if found[1] else []
    parts = [part.split() for part in (found[2] or "").split(",") if part.strip()]
    return default + [(part[0], part[-1]) for part in parts]  # `a` or `a as b`


def _constant(found: re.Match[str]) -> str:
    names = (theirs if theirs == ours else f"{theirs}: {ours}" for theirs, ours in _names(found))
    return f"const {{ {', '.join(names)} }} = {_variable(found[3])};"


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name)


def _line(source: str, found: re.Match[str]) -> int:
    return source.count("\n", 0, found.start()) + 1


def _without_unused(source: str, used: set[str]) -> str:
    """Return a module without the declarations that neither another module nor what follows in it needs."""
    statements = _STATEMENTS.split(source)
    for place, statement in reversed(list(enumerate(statements))):
        declared = re.match(f"(?:export )?{_DECLARATION}", statement)
        if not declared or declared[1] in used:
            continue
        name = re.compile(rf"(?<![\w$]){re.escape(declared[1])}(?![\w$])")
        if not any(name.search(other) for other in statements if other is not statement):
            statements[place] = ""
    return "".join(statements)


def _without_comments(text: str, name: str) -> str:
    """Return a module without comments; the lines keep their numbers.

    Raises:
        BundleError: where it is not certain what a character means, or where the module would break.
    """

    def replaced(token: re.Match[str]) -> str:
        if token["refused"]:
            reason = _REASONS.get(token[0][0], "a string does not end in its line")
            line = text.splitlines()[_line(text, token) - 1].strip()
            raise BundleError(f"{name}:{_line(text, token)}: {reason}: {line[:80]}")
        return "\n" * token[0].count("\n") or " " if token["comment"] else token[0]

    return _TOKEN.sub(replaced, text)
