"""One file of words a language: complete, and each mistake in it is told with file and line."""

import shutil
from pathlib import Path

import pytest

import d2lmini as d2l
from d2lmini import language
from d2lmini.language import LANGUAGES, WordsError, message, words

WORDS = Path(language.__file__).parent / "words"


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


def test_a_label_is_named_by_its_english_text():
    assert all(key == text for key, text in words("en")["plots"].items())


def test_a_missing_word_is_told_with_the_place_where_english_has_it(folder):
    change(folder / "vi.toml", 'hint = "Gợi ý"\n', "")
    line = 1 + (folder / "en.toml").read_text(encoding="utf-8").split('\nhint = "Hint"')[0].count("\n") + 1
    with pytest.raises(WordsError) as error:
        words("vi")
    assert str(error.value) == f"d2lmini/words/en.toml:{line}: exercises.hint is missing in vi.toml"


def test_a_missing_section_is_told(folder):
    source = (folder / "zh.toml").read_text(encoding="utf-8")
    start, end = source.index("[explorers.clock]"), source.index("[site]")
    (folder / "zh.toml").write_text(source[:start] + source[end:], encoding="utf-8")
    with pytest.raises(WordsError, match=r"en\.toml:\d+: explorers\.clock is missing in zh\.toml"):
        words("zh")


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
    with pytest.raises(WordsError, match=rf"^d2lmini/words/vi\.toml:{line}: .*{said}"):
        words("vi")


@pytest.mark.parametrize("broken", ['menu = "Menu', "menu = Menu", '"menu', 'menu = "a", "b"'])
def test_what_is_not_toml_is_told_with_file_and_line(folder, broken):
    line = change(folder / "en.toml", 'menu = "Contents"', broken)
    with pytest.raises(WordsError, match=rf"^d2lmini/words/en\.toml:{line}: "):
        words("en")


def test_all_mistakes_are_told_at_once(folder):
    change(folder / "vi.toml", 'skip = "Đến thẳng nội dung"', 'skip = ""')
    change(folder / "vi.toml", MENU, 'menu = ""')
    with pytest.raises(WordsError) as error:
        words("vi")
    assert len(str(error.value).splitlines()) == 2


def test_a_count_takes_the_form_of_the_language(folder):
    assert message("progress_taken", count=1) == "Took over 1 answer."
    assert message("progress_taken", count=2) == "Took over 2 answers."
    d2l.use_language("zh")
    assert message("progress_taken", count=1) == "已导入 1 个答案。"
    d2l.use_language("en")
    # a language with other plurals brings its rules along
    change(
        folder / "en.toml", 'plural = {one = "n == 1"}', 'plural = {one = "n == 1", few = "n > 1 && n < 5"}'
    )
    change(folder / "en.toml", 'other = "Took', 'few = "A few: {count}.", other = "Took')
    words.cache_clear()
    assert [message("progress_taken", count=n)[:5] for n in (1, 2, 5)] == ["Took ", "A few", "Took "]


def test_an_unknown_text_names_the_nearest():
    with pytest.raises(
        ValueError, match=r"english: the course has no text 'quries'; the nearest are 'queries'"
    ):
        d2l.text("quries")


def test_an_unknown_language_is_refused_and_nothing_changes():
    with pytest.raises(ValueError, match="choose one of 'en', 'vi', 'zh'"):
        d2l.use_language("fr")
    assert d2l.current_language() == "en"
