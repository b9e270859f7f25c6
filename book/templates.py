"""The templates of the website and of the printed edition: what they are filled with is text, not markup."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template


@cache
def template(name: str) -> Template:
    """Return a template of `book/`, whose macros are called as methods of its module."""
    return Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True).get_template(name)


def render(name: str, **values: Any) -> str:
    """Return a template of `book/`, filled."""
    return template(name).render(**values)
