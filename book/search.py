"""The search: one file of sections for each language, and the script that finds in them.

The browser makes its index of these sections when a reader first searches: an index made here would come on
top of the texts, which it needs for the snippets anyway, and double what is fetched.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from d2lmini.language import LANGUAGES
from d2lmini.letters import HAN

WEIGHTS = {"chapters": 1.0, "": 0.7, "appendix": 0.25}  # of the pages of each part; "" is the first page
# What a term's section is known by in each edition: the first place where its name is in bold, or followed
# by the English one in brackets; headings that have it; the heading of a page. Two editions have to agree.
FIRST = {"bold": 2.0, "bracket": 1.5}
SHARED = {"heading": 2.5, "page": 2.6}
ENOUGH = 3.0


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
        if not one["bold"].isdisjoint(names):
            seen["bold"].append(place)
        if any(gloss in one["body"] for gloss in glossed):
            seen["bracket"].append(place)
    return seen


def term_locations(
    rows: list[dict[str, str]], editions: dict[str, list[dict[str, Any]]], chapters: set[str]
) -> list[str]:
    """Where the course explains each term of the glossary: "page#anchor", or "" where that is not clear.

    Sections have the same address in every language, so all editions vote, unless the glossary says it.
    """
    prepared = {
        language: [
            {
                **one,
                "heading": _line(one["title"]),
                "body": _line(one["text"]),
                "bold": set(map(_line, one["terms"])),
            }
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


def code_stop_words(sections: list[dict[str, Any]]) -> set[str]:
    """Return the stop words of code: those in more than 50 sections, as `print` and `torch` are."""
    counted = Counter(word for section in sections for word in set(section["code"].split()))
    return {word for word, count in counted.items() if count > 50}


def data(
    language: str,
    sections: list[dict[str, Any]],
    pages: list[tuple[str, str]],
    glossary: list[dict[str, str]],
    places: list[str],
) -> dict[str, Any]:
    """Return what the browser is given to search: the sections of one language, with the terms of all.

    Args:
        language: that of the reader.
        sections: those of this language's pages, in their order.
        pages: the name of each page and its part, in their order.
        glossary: the rows of `chapters/glossary.csv`.
        places: where each row is explained, from `term_locations`.
    """
    chapters = {name for name, part in pages if part == "chapters"}
    terms_at: dict[str, list[list[str]]] = {}
    languages = [language, *(code for code in LANGUAGES if code != language)]
    for row, place in zip(glossary, places, strict=True):
        if place:
            names = [form for code in languages for form in forms(row.get(code) or "")]
            terms_at.setdefault(place, []).append(list(dict.fromkeys(names)))
    named = {name.lower() for terms in terms_at.values() for names in terms for name in names}
    titles = {section["page"]: section["title"] for section in reversed(sections)}
    shown, count = [], 0
    for name, part in pages:
        count += part == "chapters"
        number = count if part == "chapters" else None
        shown.append([name, titles.get(name, name), number, WEIGHTS.get(part, WEIGHTS["appendix"])])
    order = {name: index for index, (name, _) in enumerate(pages)}
    stop_words = code_stop_words(sections)
    rows = []
    for section in sections:
        code = " ".join(word for word in section["code"].split() if word not in stop_words)
        terms = terms_at.get(f"{section['page']}#{section['anchor']}", [])
        if section["anchor"].startswith("d2l."):
            terms = [[section["anchor"]]]
        elif section["page"] in chapters:  # in the glossary every term is bold
            terms = terms + [[term] for term in section["terms"] if term.lower() not in named]
        told = (section[key] for key in ("anchor", "title", "text"))
        rows.append([order[section["page"]], *told, terms, code, section["questions"], section["answers"]])
    return {"pages": shown, "sections": rows}


def write(path: Path, found: dict[str, Any]) -> None:
    path.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
