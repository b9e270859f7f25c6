"""HTML read element by element, with a value for each open one."""

from html.parser import HTMLParser
from typing import Generic, TypeVar

# elements without an end
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
Value = TypeVar("Value")


class NestedParser(HTMLParser, Generic[Value]):
    """Keep a value for each open element, the innermost last; the first is for what lies around them."""

    def __init__(self, outside: Value) -> None:
        super().__init__()
        self.open = [outside]

    def enter(self, tag: str, attributes: dict[str, str]) -> Value:
        """Return the value of an element that begins."""
        raise NotImplementedError

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(self.enter(tag, {name: value or "" for name, value in attrs}))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Pass over an element without content, as in drawings."""

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and len(self.open) > 1:
            self.open.pop()
