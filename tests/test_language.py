"""One file of words a language: complete, and each mistake in it is told with file and line."""

import re
import shutil
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import d2lmini as d2l
from book import terminal
from d2lmini import language
from d2lmini.language import LANGUAGES, fill, message, words

WORDS = Path(language.__file__).parent / "words"
FORMS = {"zero", "one", "two", "few", "many", "other"}  # of a plural, as Unicode's CLDR names them


def mistakes(folder: Path, code: str) -> list[str]:
    """Return what is wrong in a file of words, with file and line: compared with English, key by key."""
    sources, parsed = {}, {}
    for name in ("en", code):
        sources[name] = (folder / f"{name}.toml").read_text(encoding="utf-8")
        try:
            parsed[name] = tomllib.loads(sources[name])
        except tomllib.TOMLDecodeError as error:
            place = re.search(r"line (\d+)", str(error))
            return [f"d2lmini/words/{name}.toml:{place[1] if place else 1}: {error}"]
    return [
        f"d2lmini/words/{name}.toml:{line_of(sources[name], path)}: {what}"
        for name, path, what in differences(parsed["en"], parsed[code], code)
    ]


def differences(
    english: Any, other: Any, language: str, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the file to look at, the key, and what is wrong there."""
    key = ".".join(path)
    if isinstance(english, dict) and english.keys() <= FORMS:
        if not isinstance(other, dict) or "other" not in other or not other.keys() <= FORMS:
            yield language, path, f"{key} needs its plural forms, {{other = …}} at the least"
            return
        english, other = english["other"], other["other"]
    if type(english) is not type(other):
        yield language, path, f"{key} is {other!r}; in English it is {english!r}"
    elif isinstance(english, dict):
        for name in sorted(english.keys() | other.keys()):
            inner = (*path, name)
            if name not in other:
                yield "en", inner, f"{'.'.join(inner)} is missing in {language}.toml"
            elif name not in english:
                yield language, inner, f"{'.'.join(inner)} does not exist in en.toml"
            elif inner != ("language", "plural"):
                yield from differences(english[name], other[name], language, inner)
    elif (isinstance(english, list) and len(english) != len(other)) or (english and not other):
        yield language, path, f"{key} lacks a text that it has in English"
    elif places(str(english)) != places(str(other)):
        wanted = ", ".join(f"{{{place}}}" for place in sorted(places(str(english)))) or "none"
        yield language, path, f"{key} must have the same places to fill in as in English: {wanted}"


def places(text: str) -> set[str]:
    """Return the names in braces; what only looks like one (a formula) counts as itself."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return set(re.findall(r"\{[^{}]*\}", text))


def line_of(source: str, path: tuple[str, ...]) -> int:
    """Return the line of a key, which tomllib does not tell: in our files each key begins a line."""
    section: tuple[str, ...] = ()
    for number, line in enumerate(source.splitlines(), 1):
        if head := re.fullmatch(r"\[([\w.]+)\]", line):
            section = tuple(head[1].split("."))
        if section == path:
            return number
        if section and section == path[: len(section)]:
            key = path[len(section)]
            if line.startswith((f"{key} =", f'"{key}" =')):
                return number
    return 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Copies of the files of words that may be damaged."""
    shutil.copytree(WORDS, tmp_path / "words")
    monkeypatch.setattr(language, "_FILES", tmp_path / "words")
    words.cache_clear()
    yield tmp_path / "words"
    words.cache_clear()


def change(path, old, new):
    source = path.read_text(encoding="utf-8")
    assert source.count(old) == 1, old
    path.write_text(source.replace(old, new), encoding="utf-8")
    return source[: source.index(old)].count("\n") + 1


def test_the_languages_are_the_files_and_english_is_first():
    assert LANGUAGES[0] == "en"
    assert set(LANGUAGES) == {path.stem for path in WORDS.iterdir()} == {"en", "vi", "zh"}


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_is_complete(code):
    assert words(code)["language"]["tag"].startswith(code)
    assert mistakes(WORDS, code) == []


def test_a_label_is_named_by_its_english_text():
    assert all(key == text for key, text in words("en")["plots"].items())


def test_a_missing_word_is_told_with_the_place_where_english_has_it(folder):
    change(folder / "vi.toml", 'hint = "Gợi ý"\n', "")
    line = 1 + (folder / "en.toml").read_text(encoding="utf-8").split('\nhint = "Hint"')[0].count("\n") + 1
    assert mistakes(folder, "vi") == [f"d2lmini/words/en.toml:{line}: exercises.hint is missing in vi.toml"]


def test_a_missing_section_is_told(folder):
    source = (folder / "zh.toml").read_text(encoding="utf-8")
    start, end = source.index("[explorers.clock]"), source.index("[site]")
    (folder / "zh.toml").write_text(source[:start] + source[end:], encoding="utf-8")
    said = "\n".join(mistakes(folder, "zh"))
    assert re.search(r"en\.toml:\d+: explorers\.clock is missing in zh\.toml", said)


MENU = 'menu = "Mục lục"'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (MENU, f'{MENU}\nshut = "Đóng"', r"site\.shut does not exist in en\.toml"),
        (MENU, "menu = 3", r"site\.menu is 3; in English it is 'Contents'"),
        (MENU, 'menu = ""', r"site\.menu lacks a text"),
        (
            "Đã giải {done}/{total} bài tập",
            "Đã giải {done} bài tập",
            r"places .* English: \{done\}, \{total\}",
        ),
        ('search_count = {other = "{count} kết quả"}', 'search_count = "kết quả"', "needs its plural forms"),
        ('heads = ["từ giống nhau", ', "heads = [", r"explorers\.attention\.heads lacks a text"),
    ],
)
def test_what_differs_from_english_is_told_with_file_and_line(folder, old, new, said):
    line = change(folder / "vi.toml", old, new) + new.count("\n")
    (mistake,) = mistakes(folder, "vi")
    assert re.search(rf"^d2lmini/words/vi\.toml:{line}: .*{said}", mistake)


@pytest.mark.parametrize("broken", ['menu = "Menu', "menu = Menu", '"menu', 'menu = "a", "b"'])
def test_what_is_not_toml_is_told_with_file_and_line(folder, broken):
    line = change(folder / "en.toml", 'menu = "Contents"', broken)
    (mistake,) = mistakes(folder, "en")
    assert mistake.startswith(f"d2lmini/words/en.toml:{line}: ")


def test_all_mistakes_are_told_at_once(folder):
    change(folder / "vi.toml", 'skip = "Đến thẳng nội dung"', 'skip = ""')
    change(folder / "vi.toml", MENU, 'menu = ""')
    assert len(mistakes(folder, "vi")) == 2


def test_a_count_takes_the_form_of_the_language(folder):
    assert message("progress_taken", count=1) == "Took over 1 answer."
    assert message("progress_taken", count=2) == "Took over 2 answers."
    d2l.use_language("zh")
    assert message("progress_taken", count=1) == "已导入 1 个答案。"
    d2l.use_language("en")
    # a language with other plurals brings its rules along
    change(
        folder / "en.toml", 'plural = {one = "n == 1"}', 'plural = {one = "n == 1", few = "n > 1 and n < 5"}'
    )
    change(folder / "en.toml", 'other = "Took', 'few = "A few: {count}.", other = "Took')
    words.cache_clear()
    assert [message("progress_taken", count=n)[:5] for n in (1, 2, 5)] == ["Took ", "A few", "Took "]


@pytest.mark.parametrize(
    "filled", [lambda: fill("{a} {b}", a=1), lambda: d2l.text("Values from {low} to {high}", low=0),
               lambda: message("progress_newer"), lambda: terminal.say("no_verb", verb="x")],
)  # fmt: skip
def test_a_missing_value_is_refused(filled):
    with pytest.raises(KeyError, match="give a value for this place of"):
        filled()


def test_an_unknown_text_names_the_nearest():
    with pytest.raises(
        ValueError, match=r"english: the course has no text 'quries'; the nearest are 'queries'"
    ):
        d2l.text("quries")


def test_an_unknown_language_is_refused_and_nothing_changes():
    with pytest.raises(ValueError, match="choose one of 'en', 'vi', 'zh'"):
        d2l.use_language("fr")
    assert d2l.current_language() == "en"
