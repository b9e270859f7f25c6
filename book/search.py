"""The search: one file of sections for each language, and the script that finds in them.

The browser makes its index of these sections when a reader first searches: an index made here would come on
top of the texts, which it needs for the snippets anyway, and double what is fetched.
"""

import re
from typing import Any

from d2lmini.language import LANGUAGES
from d2lmini.letters import HAN

RUN = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")  # as the browser cuts a text: Chinese is searched by pairs
WEIGHTS = {"chapters": 1.0, "": 0.7, "appendix": 0.25}  # of the pages of each part; "" is the first page


def forms(term: str) -> list[str]:
    """The names in a field of the glossary: RoPE (rotary …) has two, "epoch / batch" and "GRU; LSTM" as well.

    Example:
        >>> forms("rotary position embedding (RoPE)")
        ['rotary position embedding', 'RoPE']
    """
    return [form for part in re.split(r"[;/()（）]", term) if (form := part.strip())]


def unsaid(answers: str, said: str) -> str:
    """Return once what is in the answers but not in the text: words, and runs of Chinese letters.

    Example:
        >>> unsaid("No: half of it. Half!", "It is half of it."), unsaid("一半。一半的一半", "有一半")
        ('No Half', '一半的一半')
    """
    said_runs = set(RUN.findall(said))
    new = (run for run in dict.fromkeys(RUN.findall(answers)) if run not in said_runs)
    return " ".join(run for run in new if not re.match(f"[{HAN}]", run) or run not in said)


def data(
    language: str,
    sections: list[dict[str, Any]],
    pages: list[tuple[str, str, int | None]],
    glossary: list[dict[str, str]],
) -> dict[str, Any]:
    """Return what the browser is given to search: the sections of one language, with the terms of all.

    Args:
        language: that of the reader.
        sections: those of this language's pages, in their order.
        pages: the name of each page, its part and its number, in their order.
        glossary: the rows of `chapters/glossary.csv`.
    """
    terms_at: dict[str, list[list[str]]] = {}
    columns = [language, *(code for code in LANGUAGES if code != language)]
    columns += [f"wrong_{language}", f"also_{language}", "also_en"]
    for row in glossary:
        if row["section"]:
            names = [form for column in columns for form in forms(row.get(column) or "")]
            terms_at.setdefault(row["section"], []).append(list(dict.fromkeys(names)))
    named = {name.lower() for terms in terms_at.values() for names in terms for name in names}
    titles = {section["page"]: section["title"] for section in reversed(sections)}
    shown = [
        [name, titles.get(name, name), number, WEIGHTS.get(part, WEIGHTS["appendix"])]
        for name, part, number in pages
    ]
    order = {name: index for index, (name, _, _) in enumerate(pages)}
    rows = []
    for section in sections:
        terms = terms_at.get(f"{section['page']}#{section['anchor']}", [])
        if section["anchor"].startswith("d2l."):
            terms = [[section["anchor"]]]
        elif pages[order[section["page"]]][2]:  # in the glossary every term is bold
            terms = terms + [[term] for term in section["terms"] if term.lower() not in named]
        answers = unsaid(section["answers"], " ".join([section["text"], *section["questions"]]))
        told = (section[key] for key in ("anchor", "title", "text"))
        rows.append([order[section["page"]], *told, terms, section["code"], section["questions"], answers])
    return {"pages": shown, "sections": rows}
