"""The texts of a page, each with what the elements around it make of it."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from lxml.etree import HTML, HTMLParser, iterwalk

Value = TypeVar("Value")


def nested_texts(
    page: str, outside: Value, enter: Callable[[Value, str, Mapping[str, str]], Value]
) -> Iterator[tuple[Value, str]]:
    """Return each text of a page with the value of the element that it stands in.

    Args:
        page: HTML.
        outside: the value around all elements.
        enter: makes the value of an element from that of the one around it, its tag and its attributes.
    """
    values = [outside]
    parser = HTMLParser(huge_tree=True, remove_comments=True)
    for event, element in iterwalk(HTML(page, parser), events=("start", "end")):
        if event == "start":
            values.append(enter(values[-1], element.tag, element.attrib))
            yield values[-1], element.text or ""
        else:
            values.pop()
            yield values[-1], element.tail or ""
