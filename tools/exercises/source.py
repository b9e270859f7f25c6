"""Read a YAML file as plain values, and find the line on which each of them stands."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from book.chapters import ROOT, shown


class _Constructor(SafeConstructor):
    """Says on which line a value cannot be made: an impossible date, `!!int abc`."""

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            problem = f"this value cannot be read ({error}); a text needs quotes"
            raise ConstructorError(problem=problem, problem_mark=node.start_mark) from None

    def flatten_mapping(self, node: Node) -> None:
        """Merge nothing: `<<` is an unknown tag."""


@dataclass
class Source:
    """The content of a file, and the mistakes found in it."""

    path: Path
    data: dict[str, Any] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)
    node: Node | None = None

    def add(self, where: tuple[str | int, ...], message: str) -> None:
        """Add a mistake at the value to which these keys and indices lead, or at what lies around it."""
        node, line = self.node, 0
        for key in where:
            if isinstance(node, MappingNode):
                entries = [(name, value) for name, value in node.value if name.value == key]
            else:
                values = node.value if isinstance(node, SequenceNode) else []
                entries = [(value, value) for index, value in enumerate(values) if index == key]
            if not entries:
                break
            name, node = entries[-1]
            line = name.start_mark.line
        self.add_at(line, message)

    def add_at(self, line: int, message: str) -> None:
        """Add a mistake on a line, counted from 0."""
        self.mistakes.append(f"{shown(self.path, ROOT)}:{line + 1}: {message}")


def read(path: Path) -> Source:
    """Read a file; whatever keeps it from being read is a mistake like any other."""
    source, raw = Source(path), path.read_bytes()
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    try:
        constructor, _ = yaml.get_constructor_parser(raw.decode("utf-8-sig"))
        source.node = yaml.composer.get_single_node()
        data = constructor.construct_document(source.node) if source.node else None
    except UnicodeDecodeError as error:
        source.add_at(raw.count(b"\n", 0, error.start), "not UTF-8: save the file in this encoding")
    except MarkedYAMLError as error:
        # YAML counts lone carriage returns as ends of lines, too; an editor may not
        line = min(error.problem_mark.line, raw.count(b"\n")) if error.problem_mark else 0
        # by far the likeliest reason, and YAML's own words for it help nobody
        hint = "; a text with a colon in it needs quotes or |-" if "mapping values" in str(error) else ""
        source.add_at(line, f"not YAML: {str(error.problem or error.context)[:400]}{hint}")
    except YAMLError as error:  # a character that YAML does not allow
        line = raw.count(b"\n", 0, getattr(error, "position", 0))
        source.add_at(line, f"not YAML: {getattr(error, 'reason', error)}")
    except (RecursionError, LookupError):  # a %YAML directive
        source.add_at(0, "not YAML: nested too deep, or with a directive; leave out lines with %")
    except ValueError as error:  # a key twice, one of them with a number of thousands of digits
        source.add_at(0, f"a value cannot be read ({error})")
    else:
        if isinstance(data, dict):
            source.data = data
        else:
            kind = type(data).__name__
            source.add_at(0, f"an exercise is a mapping that begins with kind: …; this is a {kind}")
    return source
