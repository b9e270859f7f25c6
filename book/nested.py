"""HTML read element by element, with a value for each open one."""

from typing import Generic, TypeVar

from lxml.etree import HTML, HTMLParser

Value = TypeVar("Value")


class NestedParser(Generic[Value]):
    """Keep a value for each open element, the innermost last; the first is for what lies around them.

    The names of the methods are those that lxml calls.
    """

    def __init__(self, outside: Value) -> None:
        self.open = [outside]

    def read(self, page: str) -> None:
        """Read a page from its first element to its last."""
        HTML(page, HTMLParser(target=self, huge_tree=True))

    def enter(self, tag: str, attributes: dict[str, str]) -> Value:
        """Return the value of an element that begins."""
        raise NotImplementedError

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.open.append(self.enter(tag, attributes))

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Return nothing in place of a tree."""
