"""Read a YAML file as plain values, and remember the line on which each of them stands."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from book.chapters import ROOT, shown

DEPTH, SIZE = 20, 20_000  # more nested, or more values, than any exercise: a slip with anchors
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # twenty times faster, where there is a compiled one
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp")}
_NESTED = {yaml.MappingNode: "tag:yaml.org,2002:map", yaml.SequenceNode: "tag:yaml.org,2002:seq"}


@dataclass
class Source:
    """The content of a file, and the mistakes found in it."""

    path: Path
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[tuple[str | int, ...], int] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)

    def add(self, where: tuple[str | int, ...], message: str) -> None:
        """Add a mistake at the value to which these keys and indices lead, or at what lies around it."""
        while where not in self.lines and where:
            where = where[:-1]
        self.mistakes.append(f"{shown(self.path, ROOT)}:{self.lines.get(where, 1)}: {message}")


def read(path: Path) -> Source:
    """Read a file; whatever keeps it from being read is a mistake like any other."""
    source = Source(path)
    try:
        raw = path.read_bytes()
        node = yaml.compose(raw.decode("utf-8"), Loader=_Loader)
    except UnicodeDecodeError as error:
        source.lines[()] = raw.count(b"\n", 0, error.start) + 1
        source.add((), "not UTF-8: save the file in this encoding")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        # YAML counts lone carriage returns as ends of lines, too; an editor may not
        source.lines[()] = min(mark.line, raw.count(b"\n")) + 1 if mark else 1
        # by far the likeliest reason, and YAML's own words for it help nobody
        hint = "; a text with a colon in it needs quotes or |-" if "mapping values" in str(error) else ""
        source.add((), f"not YAML: {error.problem or error.context}{hint}")
    except yaml.YAMLError as error:  # a character that YAML does not allow
        source.lines[()] = raw.count(b"\n", 0, getattr(error, "position", 0)) + 1
        source.add((), f"not YAML: {getattr(error, 'reason', error)}")
    except RecursionError:
        source.add((), "not YAML: nested too deep")
    else:
        data = _Walk(source).value(node, ()) if node else {}
        if isinstance(data, dict):
            source.data = data
        else:
            kind = type(data).__name__
            source.add((), f"an exercise is a mapping that begins with kind: …; this is a {kind}")
    return source


class _Walk:
    """Turns the nodes of a file into values."""

    def __init__(self, source: Source):
        self.source, self.scalars, self.size = source, yaml.SafeLoader(""), 0

    def value(self, node: yaml.Node, where: tuple[str | int, ...]) -> Any:
        self.source.lines[where] = node.start_mark.line + 1
        self.size += 1
        if len(where) > DEPTH or self.size > SIZE:
            if self.size <= SIZE + 1:
                self.source.add(where, "nested too deep, or too long; does an anchor hold itself?")
            self.size = SIZE + 1  # once is enough
            return None
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, where)
        if node.tag != _NESTED[type(node)]:
            self.source.add(where, f"unknown tag {node.tag!r}; write the value without a tag")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(inner, (*where, index)) for index, inner in enumerate(node.value)]
        values: dict[str, Any] = {}
        for key, inner in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.source.lines[where] = key.start_mark.line + 1
                self.source.add(where, "a key must be a word, not a list or mapping")
                continue
            if key.value in values:
                self.source.add(where, f"the key {key.value!r} is given twice")
            values[key.value] = self.value(inner, (*where, key.value))
            self.source.lines[(*where, key.value)] = key.start_mark.line + 1
        return values

    def scalar(self, node: yaml.ScalarNode, where: tuple[str | int, ...]) -> Any:
        if node.tag == "tag:yaml.org,2002:str":
            return node.value
        if node.tag not in _PLAIN or len(node.value) > 100:
            what = "too long a number" if node.tag in _PLAIN else f"unknown tag {node.tag!r}"
            self.source.add(where, f"{what}; a text needs quotes")
            return None
        try:
            return self.scalars.construct_object(node)
        except (ValueError, KeyError, AttributeError, yaml.YAMLError):
            kind = node.tag.rpartition(":")[2]
            self.source.add(where, f"{node.value!r} is no {kind}; a text needs quotes")
            return None
