"""The sentence pairs of the course: complete, clean, short, and fair to the sentences held out."""

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

ASSETS = Path(__file__).parents[1] / "d2lmini" / "assets"
LANGUAGES = ("en", "fr", "vi", "zh")
MARKS = {"en": ".!?", "fr": ".!?", "vi": ".!?", "zh": "。！？"}
LETTERS = {
    "en": r"[A-Za-z' ]",
    "fr": r"[A-Za-zàâçéèêëîïôûùœÀÂÇÉÈÊÎÔŒ' -]",
    "vi": r"[A-Za-zđĐÀ-ỹ ]",
    "zh": r"[\u4e00-\u9fff]",
}


def tokens(language: str, sentence: str) -> list[str]:
    if language == "zh":
        return list(sentence)
    return re.findall(r"[.,!?]|[^\s.,!?]+", sentence.lower())


def variants(row: dict[str, str], language: str) -> list[str]:
    return row[language].split(" | ")


def first_tokens(row: dict[str, str]) -> dict[str, list[str]]:
    return {language: tokens(language, variants(row, language)[0]) for language in LANGUAGES}


@pytest.fixture(scope="module")
def text() -> str:
    return (ASSETS / "corpus.tsv").read_bytes().decode("utf-8")


@pytest.fixture(scope="module")
def rows(text: str) -> list[dict[str, str]]:
    head, *lines = text.splitlines()
    assert head == "en\tfr\tvi\tzh\tsplit"
    names = head.split("\t")
    assert [line for line in lines if line.count("\t") != 4] == []
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


@pytest.fixture(scope="module")
def sentences(rows) -> list[tuple[str, str, str]]:
    """Each (English sentence, language, one of its forms)."""
    return [
        (row["en"], language, v) for row in rows for language in LANGUAGES for v in variants(row, language)
    ]


def counted(rows) -> dict[str, Counter]:
    counts = {language: Counter() for language in LANGUAGES}
    for row in rows:
        for language, words in first_tokens(row).items():
            counts[language].update(words)
    return counts


def test_file_is_nfc_and_ends_with_one_newline(text):
    assert text == unicodedata.normalize("NFC", text)
    assert text.endswith("\n") and not text.endswith("\n\n") and "\r" not in text


def test_enough_sentences_from_a_small_vocabulary(rows):
    assert len(rows) >= 1000
    assert len(counted(rows)["en"]) <= 600


def test_no_english_sentence_twice(rows):
    twice = [s for s, n in Counter(" ".join(first_tokens(row)["en"]) for row in rows).items() if n > 1]
    assert twice == []


def test_one_english_form_and_no_translation_twice_in_a_row(rows):
    assert [row["en"] for row in rows if " | " in row["en"]] == []
    for row in rows:
        for language in LANGUAGES:
            forms = [v.lower() for v in variants(row, language)]
            assert len(forms) == len(set(forms)), row["en"]


def test_shortest_first(rows):
    sizes = [(len(t["en"]), sum(map(len, t.values()))) for t in map(first_tokens, rows)]
    assert sizes == sorted(sizes)


def test_at_most_nine_tokens(sentences):
    assert [s for s in sentences if not 2 <= len(tokens(s[1], s[2])) <= 9] == []


def test_letters_and_marks_of_the_language_only(sentences):
    for english, language, form in sentences:
        inner = r"[，]" if language == "zh" else r"[,]"
        pattern = rf"(?:{LETTERS[language]}|{inner})+[{MARKS[language]}]"
        assert re.fullmatch(pattern, form), (english, language, form)
        assert form == form.strip() and "  " not in form, (english, form)
        assert form[0] == form[0].upper(), (english, form)


def test_every_form_ends_with_the_mark_of_the_english_sentence(sentences):
    for english, language, form in sentences:
        assert MARKS[language].index(form[-1]) == MARKS["en"].index(english[-1]), (english, form)


def test_space_before_marks_as_the_language_writes_it(sentences):
    for english, language, form in sentences:
        if language == "fr" and form[-1] in "!?":
            assert form[-2] == " ", (english, form)
        else:
            assert form[-2] != " ", (english, form)
        assert " ," not in form and not re.search(r",\S", form), (english, form)


def test_vietnamese_tone_marks_in_the_traditional_place(sentences):
    # hóa and thủy; oà and uý are the other school (quý is neither: qu is one consonant)
    other_school = re.compile(r"o[àáảãạèéẻẽẹ]\b|(?<!q)u[ỳýỷỹỵ]\b", re.IGNORECASE)
    assert [s for s in sentences if s[1] == "vi" and other_school.search(s[2])] == []


def test_split_holds_out_about_a_hundred_sentences_of_several_lengths(rows):
    assert {row["split"] for row in rows} == {"train", "test"}
    lengths = Counter(len(first_tokens(row)["en"]) for row in rows if row["split"] == "test")
    assert 90 <= sum(lengths.values()) <= 130
    assert all(lengths[n] >= 5 for n in (3, 4, 5, 6)), lengths


def test_held_out_sentences_use_known_tokens(rows):
    known = counted([row for row in rows if row["split"] == "train"])
    for row in rows:
        if row["split"] == "test":
            rare = [(la, w) for la, words in first_tokens(row).items() for w in words if known[la][w] < 2]
            assert rare == [], row["en"]


def test_held_out_translations_are_not_given_away(rows):
    train = {
        (la, v.lower())
        for row in rows
        if row["split"] == "train"
        for la in LANGUAGES
        for v in [variants(row, la)[0]]
    }
    for row in rows:
        if row["split"] == "test":
            assert [la for la in LANGUAGES if (la, variants(row, la)[0].lower()) in train] == [], row["en"]


@pytest.mark.parametrize(
    "sentence", ["Go.", "I lost.", "He's calm.", "I'm home.", "I won!", "I'm OK.", "Hi!"]
)
def test_the_sentences_everybody_tries_first_are_trained(rows, sentence):
    assert [row["split"] for row in rows if row["en"] == sentence] == ["train"]


def test_license_is_stated():
    license_text = (ASSETS / "corpus.LICENSE.txt").read_text(encoding="utf-8")
    assert "CC0 1.0" in license_text and "creativecommons.org/publicdomain/zero/1.0" in license_text
