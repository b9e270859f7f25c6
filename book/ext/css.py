"""Minify style sheets: drop what only people read, and the rules that a page has no use for."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, pairwise
from typing import Any

import tinycss2

# the names of classes in markup; what stands in quotes in a script; a name in it
CLASS = re.compile(r'class="([^"]*)"')
QUOTED = re.compile(r'"([^"\n]*)"|`([^`]*)`')
NAME = re.compile(r"[\w-]+")
# a comment; strings and what stands in brackets, which stay as they are; needless spaces, and semicolons
COMMENT = re.compile(r'("[^"]*")|/\*.*?\*/', re.DOTALL)
KEPT = r'("[^"]*"|\((?:"[^"]*"|[^()"]|\([^()]*\))*\))'
SPACES = re.compile(KEPT + r"|\s*([{},;>])\s*|(:)\s+|\s+")
LAST = re.compile(KEPT + r"|;(})")


def minify(css: str) -> str:
    """Return the same rules without comments, line breaks and needless spaces; strings stay as they are."""
    css = COMMENT.sub(r"\1", css).strip()
    css = SPACES.sub(lambda part: part[1] or part[2] or part[3] or " ", css)
    return LAST.sub(r"\1\2", css)


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
            groups = groupby(rule.prelude, lambda token: bool(token == ","))
            selectors = [
                s for s in (list(part) for comma, part in groups if not comma) if _needed(s) <= classes
            ]
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


def _needed(selector: list[Any]) -> set[str]:
    """Return the classes that a selector needs; what stands inside `:not()` or `:is()` does not count."""
    return {token.value for dot, token in pairwise(selector) if dot == "." and token.type == "ident"}
