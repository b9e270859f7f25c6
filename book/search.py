"""The search: one file of sections for each language, and the script that finds in them.

The browser makes its index of these sections when a reader first searches: an index made here would come on
top of the texts, which it needs for the snippets anyway, and double what is fetched.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

from book.sections import Section, sections
from d2lmini.language import LANGUAGES
from d2lmini.letters import HAN
from d2lmini.notebook.content import exercise_content

HERE = Path(__file__).parent
SOURCES = (
    HERE / "vendor" / "minisearch" / "minisearch.js",
    HERE / "theme" / "search" / "engine.js",
    HERE / "theme" / "search" / "dialog.js",
)
WEIGHTS = {"chapters": 1.0, "": 0.7, "appendix": 0.25}  # of the pages of each part; "" is the first page
# What a term's section is known by in each edition: the first place where its name is in bold, or followed
# by the English one in brackets; headings that have it; the heading of a page. Two editions have to agree.
FIRST = {"bold": 2.0, "bracket": 1.5}
SHARED = {"heading": 2.5, "page": 2.6}
ENOUGH = 3.0


@cache
def script() -> str:
    """MiniSearch, the engine and the dialog in one module, without MiniSearch's comments."""
    library = re.sub(r"^\s*/\*\*.*?\*/\n", "", SOURCES[0].read_text(encoding="utf-8"), flags=re.S | re.M)
    library = re.sub(r"^\s*//.*\n", "", library, flags=re.M).replace("export { MiniSearch as default };", "")
    own = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES[1:])
    own = re.sub(r"^import .*\n|^ *//.*\n|^ */\*\*.*\*/\n", "", own, flags=re.M)
    own, library = (re.sub(r"^ +|\n(?=\n)", "", text, flags=re.M) for text in (own, library))
    return f"// MiniSearch 7.2.0, (c) 2022 Luca Ongaro, MIT License: see licenses.html\n{library}\n{own}"


def read_sections(html: Path, names: Iterable[str], language: str) -> list[dict[str, Any]]:
    """The sections of the pages of one language, in their order."""
    found: list[Section] = []
    for name in names:
        page = (html / f"{name}.html").read_text(encoding="utf-8")
        found += sections(name, page, partial(exercise_content, language=language))
    return [asdict(section) for section in found]


def forms(term: str) -> list[str]:
    """The names in a field of the glossary: RoPE (rotary …) has two, "epoch / batch" as well.

    Example:
        >>> forms("rotary position embedding (RoPE)")
        ['rotary position embedding', 'RoPE']
    """
    return [form for part in re.split(r"[/()（）]", term) if (form := part.strip())]


def _line(text: str) -> str:
    """Small letters, one space between words and around each, as Chinese has none."""
    return " " + re.sub(rf"[^\w{HAN}]+", " ", text.lower()).strip() + " "


def _signs(row: dict[str, str], language: str, found: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The places of one edition that speak for being where a term of the glossary is explained."""
    names = [_line(form) for form in forms(row.get(language) or "")]
    bare = [name.strip() if re.search(f"[{HAN}]", name) else name for name in names]
    english = [_line(form).strip() for form in forms(row.get("en") or "")]
    glossed = [f"{name.strip()} {other}" for name in names for other in english if name.strip() != other]
    seen: dict[str, list[str]] = {sign: [] for sign in (*FIRST, *SHARED)}
    for one in found:
        place = f"{one['page']}#{one['anchor']}"
        if any(name in one["heading"] for name in bare):
            seen["page" if one["page"] == one["anchor"] else "heading"].append(place)
        if any(_line(term) in names for term in one["terms"]):
            seen["bold"].append(place)
        if any(gloss in one["body"] for gloss in glossed):
            seen["bracket"].append(place)
    return seen


def homes(
    rows: list[dict[str, str]], editions: dict[str, list[dict[str, Any]]], chapters: set[str]
) -> list[str]:
    """Where the course explains each term of the glossary: "page#anchor", or "" where that is not clear.

    Sections have the same address in every language, so all editions vote, unless the glossary says it.
    """
    prepared = {
        language: [
            {**one, "heading": _line(one["title"]), "body": _line(one["text"])}
            for one in found
            if one["page"] in chapters
        ]
        for language, found in editions.items()
    }
    places = []
    for row in rows:
        if row.get("section"):
            places.append(row["section"])
            continue
        votes: dict[str, float] = {}
        for language, found in prepared.items():
            for sign, seen in _signs(row, language, found).items():
                for place in seen[:1] if sign in FIRST else seen:
                    weight = FIRST.get(sign) or SHARED[sign] / len(seen)
                    votes[place] = votes.get(place, 0) + weight
        best = max(votes, key=votes.__getitem__, default="")
        places.append(best if votes.get(best, 0) >= ENOUGH * len(editions) / len(LANGUAGES) else "")
    return places


def everywhere(found: list[dict[str, Any]]) -> set[str]:
    """Words in the code of so many sections, as `print` and `torch` are, that they tell none from another."""
    counted = Counter(word for one in found for word in set(one["code"].split()))
    return {word for word, count in counted.items() if count > 50}


def data(
    language: str,
    editions: dict[str, list[dict[str, Any]]],
    pages: list[tuple[str, str]],
    glossary: list[dict[str, str]],
) -> dict[str, Any]:
    """What the browser is given to search: the sections of one language, with the terms of all.

    Args:
        language: that of the reader.
        editions: the sections of each language that was built, from `read_sections`.
        pages: the name of each page and its part, in their order.
        glossary: the rows of `chapters/glossary.csv`.
    """
    chapters = {name for name, part in pages if part == "chapters"}
    known: dict[str, list[list[str]]] = {}
    languages = [language, *(code for code in LANGUAGES if code != language)]
    for row, place in zip(glossary, homes(glossary, editions, chapters), strict=True):
        if place:
            names = [form for code in languages for form in forms(row.get(code) or "")]
            known.setdefault(place, []).append(list(dict.fromkeys(names)))
    named = {name.lower() for terms in known.values() for names in terms for name in names}
    titles = {one["page"]: one["title"] for one in reversed(editions[language])}
    shown, count = [], 0
    for name, part in pages:
        count += part == "chapters"
        number = count if part == "chapters" else None
        shown.append([name, titles.get(name, name), number, WEIGHTS.get(part, WEIGHTS["appendix"])])
    order = {name: index for index, (name, _) in enumerate(pages)}
    common = everywhere(editions[language])
    rows = []
    for one in editions[language]:
        code = " ".join(word for word in one["code"].split() if word not in common)
        terms = known.get(f"{one['page']}#{one['anchor']}", [])
        if one["anchor"].startswith("d2l."):
            terms = [[one["anchor"]]]
        elif one["page"] in chapters:  # in the glossary every term is bold
            terms = terms + [[term] for term in one["terms"] if term.lower() not in named]
        told = (one[key] for key in ("anchor", "title", "text"))
        rows.append([order[one["page"]], *told, terms, code, one["questions"], one["answers"]])
    return {"pages": shown, "sections": rows}


def write(path: Path, found: dict[str, Any]) -> None:
    path.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
