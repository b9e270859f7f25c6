// Is a sentence one that a translator can read? If not, what helps the reader on.

import { hasHan, splitTokens } from "./tokens.js";

const VIETNAMESE = /[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏốồổỗộớờởỡợụủũứừửữựỳỵỷỹ]/;
const isWord = (token) => /\p{L}/u.test(token);

/**
 * What is wrong with a sentence: {kind: "empty" | "language" | "unknown" | "long"}, with what its message needs; or
 * {tokens}. With `anyway`, unknown words are let through.
 */
export function checked(model, sentence, anyway) {
  const tokens = splitTokens(sentence);
  if (!tokens.length) return { kind: "empty" };
  const { source, num_steps } = model.config;
  const unknown = [...new Set(tokens.filter((token) => !model.source.has(token)))];
  const language = unknown.length ? languageOf(model, tokens) : source;
  if (language !== source) return { kind: "language", language, direction: directionFrom(language, source) };
  if (tokens.length >= num_steps) return { kind: "long", count: tokens.length, most: num_steps - 1 };
  if (unknown.length && !anyway) {
    return { kind: "unknown", unknown: unknown.map((word) => ({ word, near: nearest(word, model.srcVocab) })) };
  }
  return { tokens };
}

/** The direction to offer to whoever writes in `language`: one of the two is always English. */
const directionFrom = (language, source) => (language === "en" ? `en-${source}` : `${language}-en`);

function languageOf(model, tokens) {
  const { source, target } = model.config;
  const text = tokens.join(" ");
  if (hasHan(text)) return "zh";
  if (VIETNAMESE.test(text)) return "vi";
  const written = tokens.filter(isWord);
  const known = (vocabulary) => written.filter((word) => vocabulary.has(word)).length;
  // half of the words must be known there, and more than here: names are the same in many languages
  const there = known(model.target);
  return there > known(model.source) && 2 * there > written.length ? target : source;
}

/** Up to three words of a vocabulary that are written nearly like this one. */
export function nearest(word, vocabulary) {
  const most = Math.min(3, Math.ceil(word.length / 3));
  return vocabulary
    .slice(4)
    .filter((known) => isWord(known) && !hasHan(known))
    .map((known) => [distance(word, known), known])
    .filter(([far, known]) => far <= most && far < Math.max(word.length, known.length) - 1)
    .toSorted(([a], [b]) => a - b)
    .slice(0, 3)
    .map(([, known]) => known);
}

/** How many letters must be changed, put in, taken out or swapped with their neighbor. */
export function distance(a, b) {
  const table = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(table[i - 1][j] + 1, row[j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j], table[i - 2][j - 2] + 1);
    }
    table.push(row);
  }
  return table[a.length][b.length];
}

/** Known words that complete the one before the caret, the most frequent first. */
export function completions(model, text, caret) {
  const before = text.slice(0, caret).normalize();
  const begun = splitTokens(before.match(/\S+$/)?.[0] ?? "").at(-1);
  if (!begun || !isWord(begun) || hasHan(begun)) return [];
  const kept = before.slice(0, before.length - begun.length);
  return model.srcVocab
    .slice(4)
    .filter((word) => word.startsWith(begun) && word !== begun)
    .slice(0, 6)
    .map((word) => {
      const head = `${kept}${word} `;
      return { label: word, text: head + text.slice(caret).trimStart(), caret: head.length };
    });
}
