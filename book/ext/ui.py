"""The words of the site itself (buttons, labels, notes), from the course's files of words."""

from d2lmini.language import LANGUAGES as CODES, words

LANGUAGES = {code: (words(code)["language"]["tag"], words(code)["language"]["name"]) for code in CODES}


def short_language(language: str | None) -> str:
    """`zh_CN` → `zh`: the name of the language's folder."""
    return (language or "en").replace("-", "_").split("_")[0]


def strings(language: str) -> dict[str, str]:
    """The words of the pages and of their scripts."""
    site = words(language)["site"]
    return {**site, **site["script"]}
