"""Minify style sheets: drop what only people read, and the rules that a page has no use for."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import tinycss2

# the names of classes in markup; what stands in quotes in a script; a name in it
CLASS = re.compile(r'class="([^"]*)"')
QUOTED = re.compile(r'"([^"\n]*)"|`([^`]*)`')
NAME = re.compile(r"[\w-]+")


def minify(css: str) -> str:
    """Return the same rules without comments, line breaks and needless spaces; strings stay as they are."""
    return str(tinycss2.serialize(_minified(tinycss2.parse_component_value_list(css, skip_comments=True))))


def _minified(tokens: list[Any]) -> list[Any]:
    needed: list[Any] = []
    for position, token in enumerate(tokens):
        if token.type == "whitespace":
            before = needed[-1] if needed else None
            after = tokens[position + 1] if position + 1 < len(tokens) else None
            if _separates(before) or before == ":" or _separates(after):
                continue
            token.value = " "
        elif token.type == "{} block":
            token.content = _minified(token.content)
            if token.content and token.content[-1] == ";":
                token.content.pop()
        needed.append(token)
    return needed


def _separates(token: Any | None) -> bool:
    """Say whether a token, or the end, separates its neighbors, so that they need no space."""
    return (
        token is None
        or token.type in ("{} block", "whitespace")
        or (token.type == "literal" and token.value in ";,>")
    )


def used_rules(css: str, page: str, scripts: str = "") -> str:
    """Return the rules that can apply to a page; these scripts may add the classes that they name to it."""
    named = {*CLASS.findall(page), *(name for quoted in QUOTED.findall(scripts) for name in quoted)}
    classes = {name for value in named for name in NAME.findall(value)}
    return "".join(_used(_rules(css), classes))


@cache
def _rules(css: str) -> list[Any]:
    return list(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True))


def _used(rules: Iterable[Any], classes: set[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [s for s in _split(rule.prelude) if _needed(s) <= classes]
            if selectors:
                listed = ",".join(tinycss2.serialize(selector).strip() for selector in selectors)
                yield f"{listed}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports", "container"):
            inside = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if rules_inside := "".join(_used(inside, classes)):
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{rules_inside}}}"
        else:
            assert rule.type != "error", rule.message
            yield rule.serialize()


def _split(prelude: list[Any]) -> list[list[Any]]:
    """Return the selectors of a rule."""
    selectors: list[list[Any]] = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def _needed(selector: list[Any]) -> set[str]:
    """Return the classes that a selector needs; what stands inside `:not()` or `:is()` does not count."""
    return {token.value for dot, token in pairwise(selector) if dot == "." and token.type == "ident"}
