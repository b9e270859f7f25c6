"""Check the language of the course: `python -m tools.text.prose` prints `file#cell: finding` for each slip.

Prose is taken out of notebooks (texts and the comments of code), exercises, the catalogue, the glossary and
the pages of the project once, without code, formulas and links; all rules read the same extract.
"""

import json
import re
import subprocess
import sys
import sysconfig
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt

from book import glossary
from book.chapters import LANGUAGES, ROOT, CourseError, Notebook, find, read, shown, source, spoken
from d2lmini.language import words
from d2lmini.letters import HAN
from tools.text.lockstep import comments as blocks
from tools.text.syllables import is_syllable, tone_in_place

VIETNAMESE = re.compile("[ăâđêôơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.I)

# What only some readers of a notebook render: Sphinx's directives, roles, targets and labels, and bare LaTeX
# environments; and pictures in a file beside the notebook, which Colab does not fetch.
NOT_COMMONMARK = {
    re.compile(r"^[ \t]*:{3,}", re.M): "a ::: fence",
    re.compile(r"^[ \t]*`{3,}\{", re.M): "a directive",
    # not in code: an even number of backticks stands before it in its line
    re.compile(r"^(?:[^`\n]*`[^`\n]*`)*[^`\n]*(?<!`)\{[a-z][\w:+-]*\}`[^`]", re.M): "a role",
    re.compile(r"^[ \t]*\([\w:.-]+\)=[ \t]*$", re.M): "a target",
    re.compile(r"\$\$[ \t]*\([\w:.-]+\)"): "an equation label",
    re.compile(r"^[ \t]*\\begin\{", re.M): "a formula without $$",
    re.compile(r"^[ \t]*\+\+\+", re.M): "a block break",
    re.compile(r"!\[[^\]]*\]\((?!https?:|data:|attachment:)"): "a picture from a file",
}


PRINTED = "printed"  # instead of a language: what a cell of a translated notebook prints
ENGLISH = "speaks-english"  # the tag of a cell that prints error messages of the package


class Text(NamedTuple):
    """A piece of the course in one language."""

    where: str  # file#cell
    language: str
    text: str


class Finding(NamedTuple):
    """A slip, and where it is."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


# ---- extraction


def prose(markdown: str) -> str:
    """Return the words of a Markdown text: code and formulas in a line become X, links keep what is read."""
    text = re.sub(r"^([ \t]*)(`{3,}|~{3,}).*?^\1\2", "", markdown, flags=re.S | re.M)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "X", text, flags=re.S)
    text = re.sub(r"(?<!\\)\$[^$]+\$", "X", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<(?!(?:bos|eos|unk|pad)>)[^>\s][^>]*>", "", text)
    text = re.sub(r"https?://\S+", "", text)
    # Markdown asks for a space after punctuation in bold, **为什么？** 看; Chinese typography does not.
    text = re.sub(r"(?<=[，。：；！？）”])(\*+) | (\*+)(?=[（“])", r"\1\2", text)
    return re.sub(r"\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|\\(?=[^\w\s])", "", text)


def comments(code: str) -> str:
    """Return the comments of a code cell, one a line; none if the cell is not plain Python."""
    return "\n".join(line.lstrip("# ") for comment in blocks(code) for line in comment.text.split("\n"))


def notebook_texts(notebook: Notebook, where: str, language: str) -> Iterator[Text]:
    """Yield the Markdown and the comments of a notebook."""
    for cell in notebook["cells"]:
        text = source(cell) if cell["cell_type"] == "markdown" else comments(source(cell))
        if text.strip():
            yield Text(f"{where}#{cell['id']}", language, text)
        if note := spoken(cell):
            yield Text(f"{where}#{cell['id']}, note", language, note)
        printed = "".join("".join(output.get("text", "")) for output in cell.get("outputs", ()))
        # the package's errors are in English everywhere; a cell that prints one says so by its tag
        meant = ENGLISH in cell.get("metadata", {}).get("tags", ())
        if language != "en" and printed.strip() and not meant:
            yield Text(f"{where}#{cell['id']}", PRINTED, printed)


CODE = {"starter", "solution_code", "code"}  # keys of an exercise; what is prose there are the comments


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value of nested data with the keys and indices that lead to it."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, str(key)))
    else:
        yield path, value


def localized(data: Any, where: str) -> Iterator[Text]:
    """Yield every text of nested data that stands there as {en: …, vi: …, zh: …}."""
    for path, text in leaves(data):
        if path[-1] in LANGUAGES and isinstance(text, str):
            yield Text(where, path[-1], comments(text) if CODE.intersection(path[-2:-1]) else text)


def read_yaml(path: Path, root: Path = ROOT) -> Any:
    """Read the source of an exercise.

    Raises:
        CourseError: it is no YAML; with the file, the line and what stands there.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise CourseError(f"{shown(path, root)}: {error}") from None


def course_texts(root: Path = ROOT) -> Iterator[Text]:
    """Yield all prose of the course."""
    for path in find(root=root):
        yield from notebook_texts(read(path), shown(path, root), path.parent.name)
    for path in sorted(root.glob("chapters/exercises/**/*.yaml")):
        yield from localized(read_yaml(path, root), shown(path, root))
    for language in LANGUAGES:
        for keys, text in leaves(words(language)):
            yield Text(f"d2lmini/words/{language}.toml#{'.'.join(keys)}", language, text)
    for row in glossary.read(root):
        for language in LANGUAGES:
            yield Text(f"chapters/glossary.csv#{row['en']}", language, row[language])
    for path in sorted(root.glob("*.md")):
        for number, paragraph in enumerate(re.split(r"\n\s*\n", path.read_text(encoding="utf-8")), 1):
            yield Text(f"{shown(path, root)}#{number}", language_of(paragraph), paragraph)


def language_of(text: str) -> str:
    """Guess the language of a paragraph from its letters."""
    if re.search(f"[{HAN}]", text):
        return "zh"
    return "vi" if VIETNAMESE.search(text) else "en"


# ---- rules: each takes the text of a language and yields what is wrong


def commonmark(markdown: str) -> Iterator[str]:
    """What Colab, GitHub or JupyterLab would show raw."""
    text = re.sub(r"^([ \t]*)(`{3,})(?!\{).*?^\1\2", "", markdown, flags=re.S | re.M)
    for pattern, name in NOT_COMMONMARK.items():
        if match := pattern.search(text):
            yield f"{name}, which not every reader shows: {match[0].strip()!r}"
    formulas_out = re.sub(r"\$\$.*?\$\$|(?<!\\)\$[^$]+\$", "X", text, flags=re.S)
    for token in MarkdownIt("commonmark").enable("table").parse(formulas_out):
        for child in token.children or ():
            if child.type == "text" and (match := re.search(r".{0,8}(\S\*|\*\S).{0,8}", child.content)):
                yield f"emphasis that does not show (it wants a space outside): {match[0]!r}"


def normalized(text: str) -> Iterator[str]:
    """Letters with their accents in one piece (NFC), as search and fonts expect them."""
    if words := [word for word in text.split() if not unicodedata.is_normalized("NFC", word)]:
        yield f"not Unicode NFC: {words[0]!r}"


@cache
def _wrong_terms(language: str, root: Path) -> list[tuple[re.Pattern[str], str]]:
    terms = []
    for row in glossary.read(root):
        for wrong in filter(None, map(str.strip, row.get(f"wrong_{language}", "").split(";"))):
            edge = "" if re.search(f"[{HAN}]", wrong) else r"\b"  # Chinese has no spaces
            pattern = re.compile(edge + re.escape(wrong) + edge, re.I)
            terms.append((pattern, f"{wrong!r}: the course says {row[language]!r}"))
    return terms


def vocabulary(text: str, language: str, root: Path = ROOT) -> Iterator[str]:
    """The terms of the glossary, and not those it rules out."""
    yield from (message for pattern, message in _wrong_terms(language, root) if pattern.search(text))


def thousands(text: str, language: str) -> Iterator[str]:
    """Large numbers as the language writes them: 262 144 with a thin space, in Chinese 262144 or 26 万."""
    wrong, right = r"[, \u00a0]", "a thin space (U+2009)"
    if language == "zh":
        wrong, right = r"[, \u00a0\u2009]", "nothing"
    for match in re.finditer(rf"(?<![\d.,])\d{{1,3}}(?:{wrong}\d{{3}})+(?![\d.,]\d|\d)", text):
        yield f"thousands: {match[0]!r}, write {right} between them"


def vietnamese(text: str) -> Iterator[str]:
    """Syllables that exist, tone marks in the traditional place, no space before a mark of punctuation."""
    for word in dict.fromkeys(re.findall(r"[^\W\d_]+", text)):
        if VIETNAMESE.search(word) and not is_syllable(word):
            yield f"spelling: {word!r} is no Vietnamese syllable"
        elif (right := tone_in_place(word)) != unicodedata.normalize("NFC", word):
            yield f"tone mark: {word!r}, write {right!r}"
    for match in re.finditer(r"\w+ +[,.;:!?](?![\w.])", text):
        yield f"space before punctuation: {match[0]!r}"
    for match in re.finditer(r"(?<![\d.,])0,\d+", text):
        yield f"decimal comma: {match[0]!r}; numbers are written as in the code"


# Vietnamese (song song, parallel) and Chinese double many words on purpose: only those that never are
TWICE = {
    "en": re.compile(r"(?<![\w’'-])(?!X |song )([a-z]+) \1(?![\w’'-])", re.I),
    "vi": re.compile(
        r"\b(là|và|của|các|những|một|được|cho|với|thì|mà|khi|để|trong|này|có|không|bị|ở) \1\b", re.I
    ),
    "zh": re.compile(r"([的是在和与把被])\1"),
}


def said_twice(text: str, language: str) -> Iterator[str]:
    """A word that slipped in twice: the the; what stands in *italics* or is a title may be quoted."""
    plain = prose(re.sub(r"\*[^*\n]+\*|\[[^\]]*\]\(https?:[^)]*\)", "X", text))
    if language in TWICE:
        yield from (f"twice: {match[0]!r}" for match in TWICE[language].finditer(plain))


CHINESE = {
    re.compile(rf"[{HAN}][ \t]*[,;:!?](?!\w)|[,;:!?][ \t]*[{HAN}]"): "half-width punctuation",
    re.compile(rf"[{HAN}]\.(?!\w)"): "half-width full stop",
    re.compile(r"([。，、；：！？])\1"): "punctuation twice",
    re.compile(rf"[{HAN}，。：；、][\"']|[\"'][{HAN}]"): "straight quote",
    re.compile(rf"\([^()]*[{HAN}][^()]*\)"): "half-width brackets",
    re.compile(rf"[{HAN}]\.\.\.|\.\.\.[{HAN}]"): "three full stops for ……",
    re.compile(r"[ \t][，。、；：！？（）”“]|[，。、；：！？（）“”][ \t]+(?=\S)"): "space beside full-width",
    re.compile(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]"): "no space between 中文 and Latin",
}


def chinese(text: str) -> Iterator[str]:
    """Full-width punctuation, curly quotes, and a space between 中文 and Latin letters or numbers."""
    import autocorrect_py

    autocorrect_py.load_config('{"rules": {"space-dash": 0}}')  # type: ignore[attr-defined]  # 编码器-解码器, as in the glossary
    text = re.sub(r"\([\w.]+(, [^(),]+)+\)", "X", text)  # a shape, (n, 隐藏单元数), is written as in code
    if slips := [(name, match) for pattern, name in CHINESE.items() for match in pattern.finditer(text)]:
        for name, match in slips:
            around = text[max(0, match.start() - 6) : match.end() + 6].replace("\n", " ")
            yield f"{name}: {around!r}"
        return
    for line in text.splitlines():
        if re.search(f"[{HAN}]", line) and (better := autocorrect_py.format(line)) != line:
            at = next(i for i, (a, b) in enumerate(zip(line + "\0", better + "\0", strict=False)) if a != b)
            yield f"write {better[max(0, at - 6) : at + 8]!r} for {line[max(0, at - 6) : at + 8]!r}"


RULES = {"vi": vietnamese, "zh": chinese}  # the typography of a language; one without rules has none
# what a sentence of the language cannot do without
LETTERS = {"vi": VIETNAMESE, "zh": re.compile(f"[{HAN}]")}


def untranslated(markdown: str, language: str, english: set[str]) -> Iterator[str]:
    """Paragraphs left in English, but for references: they hold an address, and their titles stay."""
    for paragraph in paragraphs(markdown):
        words = len(re.findall(r"[A-Za-z]{2,}", prose(paragraph)))
        local = LETTERS.get(language)
        copied = paragraph in english and words >= 5
        foreign = local and words >= 12
        if (copied or foreign) and not (local and local.search(paragraph)) and "://" not in paragraph:
            yield f"left in English: {paragraph[:60]!r}"


def paragraphs(markdown: str) -> list[str]:
    """Return the paragraphs of a text without fenced code."""
    text = re.sub(r"^([ \t]*)(`{3,}|~{3,}).*?^\1\2`*$", "", markdown, flags=re.S | re.M)
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def typos(texts: list[Text], root: Path = ROOT) -> Iterator[Finding]:
    """Misspelled English words (American spelling), by `typos` with its settings in pyproject.toml."""
    rows = [(text.where, line) for text in texts for line in prose(text.text).splitlines()]
    command = [f"{sysconfig.get_path('scripts')}/typos", "--format", "json", "--isolated"]
    command += ["--config", f"{root}/pyproject.toml", "-"]
    page = "".join(f"{line}\n" for _, line in rows)
    result = subprocess.run(command, input=page, capture_output=True, encoding="utf-8", check=False)
    if result.returncode not in (0, 2):  # 2: there are typos
        raise RuntimeError(f"typos failed: {result.stderr.strip()}")
    for line in result.stdout.splitlines():
        report = json.loads(line)
        if report["type"] == "typo":
            better = " or ".join(report["corrections"]) or "something else"
            yield Finding(rows[report["line_num"] - 1][0], f"spelling: {report['typo']!r}, write {better}")


def check(texts: list[Text], root: Path = ROOT) -> list[Finding]:
    """Return what is wrong with the language of these texts."""
    findings = list(typos([text for text in texts if text.language == "en"], root))
    english = {part for text in texts if text.language == "en" for part in paragraphs(text.text)}
    for where, language, text in texts:
        if language == PRINTED:
            if sentence := re.search(r"(?:\b[a-z]{2,}\b[ ,]+){4,}[a-z]{2,}", text):
                findings.append(Finding(where, f"printed in English: {sentence[0][:60]!r}; see d2l.text"))
            continue
        words = prose(text)
        slips = [*normalized(text), *vocabulary(words, language, root), *said_twice(text, language)]
        if ".md#" not in where:  # only notebooks are read outside GitHub
            slips += [*commonmark(text), *thousands(words, language)]
        if language in RULES:
            slips += RULES[language](words)
        if language != "en":
            slips += untranslated(text, language, english)
        findings += [Finding(where, slip) for slip in slips]
    return findings


def main() -> int:
    """Check the whole course; return the exit code."""
    try:
        findings = check(list(course_texts()))
    except CourseError as error:
        sys.exit(str(error))
    print(*findings, f"{len(findings) or 'no'} findings", sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
