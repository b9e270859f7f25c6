"""The syllables of Vietnamese, by its spelling: an initial, a rime, and a tone that it can carry."""

import re
import unicodedata

TONES = "\u0300\u0301\u0303\u0309\u0323"
SHARP, HEAVY = "\u0301", "\u0323"
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
RIMES = _RIMES.split()
# what follows qu has lost its o or u: qu-ang is qu + oang
AFTER_QU = [rime[1:] for rime in RIMES if rime[0] in "ou" and rime[1:] in RIMES] + ["ên", "êt", "ynh", "yt"]
SYLLABLE = re.compile(
    rf"""(?:(?:gh|k|ngh)(?=[eêiy]) | (?:c|g|ng)(?![eêiy])
        | g(?=in?$|iê)  # gì, gìn, giếng: one i for both
        | (?!iê) | (?:b|ch|d|đ|gi|h|kh|l|m|n|nh|p|ph|r|s|t|th|tr|v|x)(?!yê))(?:{"|".join(RIMES)})
        | qu(?:{"|".join(AFTER_QU)})""",
    re.X,
)
VOWEL = "aăâeêioôơuưy"
PARTS = re.compile(rf"(qu|gi(?=[{VOWEL}])|[^{VOWEL}]*)([{VOWEL}]+)([^{VOWEL}]*)", re.I)


def split_tone(word: str) -> tuple[str, str]:
    """Return a word without its tone marks, and these."""
    plain = unicodedata.normalize("NFD", word)
    bare = "".join(mark for mark in plain if mark not in TONES)
    return unicodedata.normalize("NFC", bare), "".join(mark for mark in plain if mark in TONES)


def is_syllable(word: str) -> bool:
    """Say whether Vietnamese has such a syllable; its tone mark may stand on any vowel."""
    bare, tone = split_tone(word.lower())
    if not SYLLABLE.fullmatch(bare) or len(tone) > 1:
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
