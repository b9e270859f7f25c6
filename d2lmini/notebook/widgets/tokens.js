// From a sentence to tokens and back, as d2lmini/data.py: a test compares the two on the whole corpus.

// ideographs and kana, as d2lmini/letters.py
const HAN = String.raw`\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}`;
const LETTER = String.raw`\p{L}\p{N}_`; // Python's \w
const SPACE = String.raw`\s\x1c-\x1f\x85`; // and its \s
const WORD = String.raw`(?:(?![${HAN}_])[${LETTER}][\u0300-\u036f]*)+`;
const TOKEN = new RegExp(
  [
    `<[${LETTER}]+>`, // <unk> and its like stay whole
    String.raw`\p{Nd}+(?:[.,]\p{Nd}+)+`, // 3.5
    `${WORD}(?:['-]${WORD})*`, // a word or a Vietnamese syllable; i'm and rendez-vous are one
    `[${HAN}]`, // a Chinese character
    `[^${SPACE}${LETTER}]|_`, // a punctuation mark
  ].join("|"),
  "gu",
);

/** Split a sentence of any of the course's languages into tokens, lower case. */
export const splitTokens = (sentence) => plain(sentence).match(TOKEN) ?? [];

/** Lower case and one Unicode form, with plain spaces and apostrophes. */
const plain = (text) =>
  text
    .normalize()
    .replace(/[\u202f\u00a0]/g, " ")
    .replaceAll("\u2019", "'")
    .replaceAll("\ufeff", "")
    .toLowerCase()
    .normalize();

const BETWEEN = new RegExp(`(?<=[${HAN}]) (?=[${HAN}，。！？；：、])`, "gu");

/** Join tokens with spaces; between Chinese characters there is none. */
export const joinTokens = (tokens) => tokens.join(" ").replace(BETWEEN, "");

/** Is there a Chinese character? */
export const hasHan = (text) => new RegExp(`[${HAN}]`, "u").test(text);
