"""The syllables of Vietnamese, by its spelling: an initial, a rime, and a tone that it can carry."""

import re
import unicodedata
from functools import cache

TONES = "\u0300\u0301\u0303\u0309\u0323"
SHARP, HEAVY = "\u0301", "\u0323"
_INITIALS = "b c ch d đ g gh gi h k kh l m n ng ngh nh p ph qu r s t th tr v x"
_RIMES = """
a ac ach ai am an ang anh ao ap at au ay ăc ăm ăn ăng ăp ăt âc âm ân âng âp ât âu ây
e ec em en eng eo ep et ê êch êm ên ênh êp êt êu
i ia ich im in inh ip it iu iêc iêm iên iêng iêp iêt iêu
o oc oi om on ong oong op ot ô ôc ôi ôm ôn ông ôp ôt ơ ơi ơm ơn ơp ơt
oa oac oach oai oam oan oang oanh oao oap oat oay oăc oăm oăn oăng oăt oe oen oeo oet
u ua uc ui um un ung up ut uân uâng uât uây uê uêch uênh uơ uôc uôi uôm uôn uông uôt
uy uya uych uyn uynh uyt uyu uyên uyêt ư ưa ưc ưi ưng ưt ưu ươc ươi ươm ươn ương ươp ươt ươu
y yêm yên yêng yêt yêu
"""
INITIALS = ("", *_INITIALS.split())
RIMES = set(_RIMES.split())
FRONT = tuple("eêiy")
VOWEL = "aăâeêioôơuưy"
PARTS = re.compile(rf"(qu|gi(?=[{VOWEL}])|[^{VOWEL}]*)([{VOWEL}]+)([^{VOWEL}]*)", re.I)


def _fits(initial: str, rime: str) -> bool:
    """Say whether an initial is spelled like this before this rime."""
    if initial in ("gh", "k", "ngh"):
        return rime.startswith(FRONT)
    if initial in ("c", "ng"):
        return not rime.startswith(FRONT)
    if initial == "g":  # gì, gìn: one i for both
        return not rime.startswith(FRONT) or rime in ("i", "in")
    if initial == "qu":  # what follows has lost its o or u: qu-ang is qu + oang
        return f"o{rime}" in RIMES or f"u{rime}" in RIMES or rime in ("ên", "êt")
    if initial == "":
        return not rime.startswith("iê")
    return not rime.startswith("yê")


@cache
def _toneless() -> set[str]:
    syllables = {initial + rime for initial in INITIALS for rime in RIMES if _fits(initial, rime)}
    return syllables | {f"g{rime}" for rime in RIMES if rime.startswith("iê")}  # giếng: gi + iêng


def split_tone(word: str) -> tuple[str, str]:
    """Return a word without its tone marks, and these."""
    plain = unicodedata.normalize("NFD", word)
    bare = "".join(mark for mark in plain if mark not in TONES)
    return unicodedata.normalize("NFC", bare), "".join(mark for mark in plain if mark in TONES)


def is_syllable(word: str) -> bool:
    """Say whether Vietnamese has such a syllable; its tone mark may stand on any vowel."""
    bare, tone = split_tone(word.lower())
    if bare not in _toneless() or len(tone) > 1:
        return False
    return tone in (SHARP, HEAVY) if bare.endswith(("c", "ch", "p", "t")) else True


def tone_in_place(word: str) -> str:
    """Return a Vietnamese syllable with its tone mark in the traditional place: hoá → hóa, tóan → toán.

    A vowel with a hat or a horn carries it, the last if there are two. Else it is the middle one of three,
    and of two the second if a consonant follows, the first otherwise. The glide of qu and gi never does.
    """
    bare, tone = split_tone(word)
    parts = PARTS.fullmatch(bare)
    if not parts or len(tone) != 1:
        return word
    start, vowels, end = (part.lower() for part in parts.groups())
    marked = [i for i, vowel in enumerate(vowels) if vowel in "ăâêôơư"]
    place = marked[-1] if marked else 1 if len(vowels) > 2 or (len(vowels) == 2 and end) else 0
    at = len(start) + place + 1
    return unicodedata.normalize("NFC", bare[:at] + tone + bare[at:])
