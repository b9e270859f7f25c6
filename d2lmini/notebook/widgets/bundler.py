"""Join ES modules to one text: a notebook loads a widget from a blob, where no import finds another file.

Each module keeps a scope of its own, as in a browser, so that equal names in two files do not meet.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable

_IMPORT = re.compile(r'^import(?: (\w+))?(?:,? \{([^}]*)\})? from "(?:\./)?([^"]+)";$', re.MULTILINE)
_DECLARATION = r"(?:async )?(?:function\*?|class|const|let) (\w+)"
_DECLARED = re.compile(rf"^(?:export )?(?:default )?{_DECLARATION}", re.MULTILINE)
_EXPORT = re.compile(rf"^export (?:(default) |(?={_DECLARATION}))", re.MULTILINE)
_STATEMENT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
# comments, indentation, line ends inside an expression: for those who read the source, not who load it
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?s:.*?)\*/)\n| // .*", re.MULTILINE)
_SPACE = re.compile(r"^\s+", re.MULTILINE)
_INSIDE = re.compile(r"(?<=[,;(\[{])\n|\n(?=[)\]}.?:])")


class BundleError(ValueError):
    """A module imports what is not there; the text tells file and line."""


def bundle(folder: Traversable, entry: str, virtual: Mapping[str, str]) -> str:
    """Return an ES module with everything that it imports, directly or not, but without comments.

    Indentation goes, too: a string in backquotes must not run over several lines, and none may hold " // ".

    Args:
        folder: where the files are. A ``.css`` file is a module whose default export is its text.
        entry: the name of the file that begins; its exports are those of the result.
        virtual: source text of modules that are no files, by the name under which they are imported.

    Raises:
        BundleError: an import cannot be resolved; file and line are named.
    """
    joiner = _Joiner(folder, virtual)
    last = joiner.resolved(entry, ())
    return _INSIDE.sub("", _SPACE.sub("", _COMMENT.sub("", "\n".join([*joiner.joined, last]))))


class _Joiner:
    def __init__(self, folder: Traversable, virtual: Mapping[str, str]) -> None:
        self.folder, self.virtual = folder, virtual
        self.joined: list[str] = []
        self.exports: dict[str, list[str]] = {}  # of each module that is joined already

    def resolved(self, name: str, above: tuple[str, ...]) -> str:
        """Join what a module imports, and return its text with the imports made constants."""
        source = self._source(name)
        declared = set(_DECLARED.findall(source))
        for found in _IMPORT.finditer(source):
            place = f"{name}:{_line(source, found)}"
            other = found[3]
            if other in (name, *above):
                raise BundleError(f'{place}: "{other}" imports this module; move what both need to a third')
            if other not in self.virtual and not (self.folder / other).is_file():
                raise BundleError(f'{place}: there is no module "{other}"')
            if other not in self.exports:
                self._join(other, (name, *above))
            for theirs, ours in _names(found):
                if theirs not in self.exports[other]:
                    offered = ", ".join(self.exports[other]) or "nothing"
                    raise BundleError(f'{place}: "{other}" exports no {theirs}, only {offered}')
                if ours in declared:
                    raise BundleError(f"{place}: {ours} stands for two things; import one as another name")
                declared.add(ours)
        for found in _STATEMENT.finditer(source):
            if not _IMPORT.match(source, found.start()) and not _EXPORT.match(found[0]):
                raise BundleError(f"{name}:{_line(source, found)}: cannot read {found[0]!r}")
        return _IMPORT.sub(_constant, source)

    def _source(self, name: str) -> str:
        if name in self.virtual:
            return self.virtual[name]
        text = (self.folder / name).read_text(encoding="utf-8")
        if name.endswith(".css"):
            rules = re.sub(r"\s*([{};,])\s*", r"\1", text).replace(": ", ":").replace(";}", "}")
            return f"export default {json.dumps(rules, ensure_ascii=False)};"
        return text

    def _join(self, name: str, above: tuple[str, ...]) -> None:
        text = self.resolved(name, above)
        self.exports[name] = [default or name for default, name in _EXPORT.findall(text)]
        body = _EXPORT.sub(lambda found: "const $default = " if found[1] else "", text)
        names = ["default: $default" if export == "default" else export for export in self.exports[name]]
        returned = f"return {{ {', '.join(names)} }};"
        self.joined.append(f"const {_variable(name)} = (() => {{\n{body}\n{returned}\n}})();\n")


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
