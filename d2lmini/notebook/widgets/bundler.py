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
# a statement of a module begins at the margin, as the formatter writes it
_STATEMENTS = re.compile(r"^(?=[\w$])", re.MULTILINE)
# what a script is made of, so that nothing is changed inside a string or a regular expression
_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"""|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"|(?P<regex>/(?:\\.|\[(?:\\.|[^]\\\n])*\]|[^/\\\[\n])+/\w*)"
    r"|(?P<word>[\w$]+)|(?P<space>\s+)|(?P<sign>.)",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:\\.|[^`\\$]|\$(?!\{))*(?P<end>`|\$\{)", re.DOTALL)
_BEFORE_REGEX = {"return", "typeof", "case", "in", "of", "await", "yield", "else", "void", "delete"}
# line ends inside an expression: for those who read the source, not who load it
_INSIDE = re.compile(r"(?<=[,;(\[{])\n|\n(?=[)\]}.?:])")


class BundleError(ValueError):
    """A module imports what is not there; the text tells file and line."""


def bundle(folder: Traversable, entry: str, virtual: Mapping[str, str]) -> str:
    """Return an ES module with everything that it imports, directly or not, but without comments.

    Indentation goes, too, so a string in backquotes must not run over several lines.

    Args:
        folder: where the files are. A ``.css`` file is a module whose default export is its text.
        entry: the name of the file that begins; its exports are those of the result.
        virtual: source text of modules that are no files, by the name under which they are imported.

    Raises:
        BundleError: an import cannot be resolved, or a line cannot be read with certainty; file and line are
            named.
    """
    joiner = _Joiner(folder, virtual)
    joiner.collect(entry)
    last = joiner.resolved(entry, ())
    return _INSIDE.sub("", "".join([*joiner.joined, last]))


class _Joiner:
    def __init__(self, folder: Traversable, virtual: Mapping[str, str]) -> None:
        self.folder, self.virtual = folder, virtual
        self.joined: list[str] = []
        self.exports: dict[str, list[str]] = {}  # of each module that is joined already
        self.imported: dict[str, set[str]] = {}  # from each module, by any other

    def collect(self, name: str) -> None:
        """Find what the modules import from each other."""
        for statement in _IMPORT.finditer(self._source(name)):
            other = statement[3]
            first = other not in self.imported
            self.imported.setdefault(other, set()).update(theirs for theirs, _ in _names(statement))
            if first and (other in self.virtual or (self.folder / other).is_file()):
                self.collect(other)

    def resolved(self, name: str, above: tuple[str, ...]) -> str:
        """Join what a module imports, and return its text with the imports made constants."""
        source = _without_unused(self._source(name), self.imported.get(name))
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
        return _without_comments(_IMPORT.sub(_constant, source), name, source)

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
        self.exports[name] = [default or name for default, name in _EXPORT.findall(self._source(name))]
        body = _EXPORT.sub(lambda found: "const $default = " if found[1] else "", text)
        names = [
            "default: $default" if export == "default" else export
            for export in self.exports[name]
            if export in self.imported[name]
        ]
        returned = f"return {{ {', '.join(names)} }};"
        self.joined.append(f"const {_variable(name)} = (() => {{\n{body}{returned}\n}})();\n")


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


def _without_unused(source: str, used: set[str] | None) -> str:
    """Return a module without the declarations that no module uses; None: it is the first, which is used."""
    if used is None:
        return source
    statements = _STATEMENTS.split(source)
    changed = True
    while changed:
        changed = False
        for place, statement in enumerate(statements):
            declared = re.match(f"(?:export )?{_DECLARATION}", statement)
            if not declared or declared[1] in used:
                continue
            name = re.compile(rf"(?<![\w$]){re.escape(declared[1])}(?![\w$])")
            if not any(name.search(other) for other in statements if other is not statement):
                statements[place] = "\n" * statement.count("\n")  # the lines keep their numbers
                changed = True
    return "".join(statements)


def _without_comments(text: str, name: str, source: str) -> str:
    """Return a module without comments, empty lines and indentation.

    Raises:
        BundleError: where it is not certain what a character means, or where the module would break.
    """
    kept: list[str] = []
    depths: list[int] = []  # of the braces that are open in each `${…}` around the place
    last = ""  # the token before, but for space and comments
    place = 0

    def refuse(reason: str) -> BundleError:
        line = text[text.rfind("\n", 0, place) + 1 :].partition("\n")[0].strip()
        number = source.count("\n", 0, source.find(line)) + 1
        return BundleError(f"{name}:{number}: {reason}: {line[:80]}")

    def template() -> int:
        """Keep a part of a string in backquotes; return where it ends."""
        part = _TEMPLATE.match(text, place)
        if part is None or "\n" in part[0]:
            raise refuse("a string in backquotes must end in its line")
        kept.append(part[0])
        if part["end"] != "`":
            depths.append(0)
        return part.end()

    while place < len(text):
        token = _TOKEN.match(text, place)
        assert token, "every character is at least a sign"
        kind, found = token.lastgroup, token[0]
        if kind == "regex" and _divides(last, text[place + 1]):
            kind, found = "sign", "/"
        elif kind == "regex" and last in (")", "}"):
            raise refuse("a division has a space after /, a regular expression stands in brackets")
        if found == "import" and re.match(r"import\s*\(\s*[\"'`]\.", text[place:]):
            raise refuse("a file is imported at the top of a module: later it would not be found")
        if kind == "sign" and found in "\"'":
            raise refuse("a string does not end in its line")
        place += len(found)
        if kind == "comment":
            continue
        if kind == "space":
            # of what stood before a comment the last line end stays
            line_end = "\n" in found or bool(kept and kept[-1] == "\n")
            while kept and kept[-1] in (" ", "\n"):
                kept.pop()
            kept.append("\n" if line_end else " ")
            continue
        kept.append(found)
        if found == "`":
            place = template()
        elif found == "{" and depths:
            depths[-1] += 1
        elif found == "}" and depths and depths[-1]:
            depths[-1] -= 1
        elif found == "}" and depths:
            depths.pop()
            place = template()
        last = found
    return "".join(kept).lstrip().rstrip() + "\n"


def _divides(before: str, after: str) -> bool:
    """Say whether a slash between two tokens divides, as a formatted source writes it."""
    if before in (")", "}"):
        return after == " "
    return before not in _BEFORE_REGEX and bool(re.search(r"[\w$\]`\"']$", before))
