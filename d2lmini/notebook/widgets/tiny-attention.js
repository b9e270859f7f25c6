// Attention small enough to follow by hand: words become vectors of 8 numbers, heads are set by hand, and every step of
// softmax(Q Kᵀ / √d) V can be looked at. A test compares each with PyTorch.

import { softmax } from "./arithmetic.js";

// what a word is, one axis each: noun, verb, pronoun, being, food or drink, little word; two more axes tell words apart
const KINDS = {
  being: [1, 0, 0, 1, 0, 0],
  food: [1, 0, 0, 0, 1, 0],
  verb: [0, 1, 0, 0, 0, 0],
  pronoun: [0, 0, 1, 0, 0, 0],
  little: [0, 0, 0, 0, 0, 1],
  state: [0, 0.6, 0, 0.4, 0, 0],
};
const LEXICON = {
  being: "cat cats dog dogs mice mouse mèo chó chuột con 猫 小猫 狗 老鼠",
  food: "milk water sữa nước 奶 牛奶 水",
  verb: "drink drinks drank chase chases uống đuổi 喝 喝光 追",
  pronoun: "it its he she they nó họ 它 它的 他 她",
  little: "the and because was a của và vì hết 和 了 因为",
  state: "thirsty hungry khát đói 渴 饿",
};
export const D = 8;

/** What the course knows a word as, if it knows it. */
export const kindOf = (word) =>
  Object.keys(LEXICON).find((name) => LEXICON[name].split(" ").includes(word.toLowerCase()));

/** A word as a vector of 8 numbers: its kind if it is known, and a little of its letters. */
export function embed(word) {
  const kind = kindOf(word);
  let hash = 7;
  for (const letter of word.toLowerCase()) hash = (hash * 31 + letter.codePointAt(0)) % 1009;
  const angle = (2 * Math.PI * hash) / 1009;
  const size = kind ? 0.3 : 1;
  return [...(kind ? KINDS[kind] : [0.3, 0.3, 0, 0.2, 0.2, 0.2]), size * Math.cos(angle), size * Math.sin(angle)];
}

// W_v reads three of the axes: how much of a being, of food or drink, of a deed a word is
const VALUE = Array.from({ length: D }, (row, axis) => [3, 4, 1].map((read) => (read === axis ? 1 : 0)));

/** W_q, W_k and W_v of each head, by hand. A query is x·W_q: row i says what axis i asks for. */
export function heads() {
  const scaled = (factor) =>
    Array.from({ length: D }, (row, i) => Array.from({ length: D }, (cell, j) => (i === j ? factor : 0)));
  const pronouns = scaled(1);
  pronouns[2] = [2, 0, -1, 5, 0, -1, 0, 0];
  const verbs = scaled(1);
  verbs[1] = [4, -2, 0, 1, 1, -1, 0, 0];
  return [
    { query: scaled(2), key: scaled(2), value: VALUE },
    { query: pronouns, key: scaled(1.6), value: VALUE },
    { query: verbs, key: scaled(1.6), value: VALUE },
  ];
}

/** A head that joins what belongs together: a noun asks for its verb, a verb for its nouns, a pronoun for a being. */
export function sentenceHead() {
  const query = [
    [0, 5, 0, -5, 0, -1], // nouns are beings, or food and drink: those rows come on top of this one
    [4, -3, 0, 1, 1, -2],
    [2, 0, -1, 5, 0, -1],
    [0, 0, 0, 5, -4, 0],
    [0, 0, 0, 4, 0, 0],
    [0, 0, 0, 0, 0, 0.6],
    [],
    [],
  ].map((row) => Array.from({ length: D }, (cell, j) => row[j] ?? 0));
  const key = query.map((row, i) => row.map((cell, j) => (i === j ? 1.6 : 0)));
  return { query, key, value: VALUE };
}

const product = (A, B) => A.map((row) => B[0].map((_, j) => row.reduce((sum, a, k) => sum + a * B[k][j], 0)));

/** What softmax gets, row by row. allowed(i, j): may query i see key j? Where it may not, the score is −∞. */
export function scores(X, head, { scale = true, temperature = 1, allowed = () => true } = {}) {
  const Q = product(X, head.query);
  const K = product(X, head.key);
  const divisor = temperature * (scale ? Math.sqrt(D) : 1);
  return Q.map((q, i) =>
    K.map((k, j) => (allowed(i, j) ? q.reduce((sum, a, c) => sum + a * k[c], 0) / divisor : -Infinity)),
  );
}

/** Attention weights of all tokens. */
export const attend = (X, head, options) => scores(X, head, options).map(softmax);

/** The value vectors: three numbers for each token. */
export const values = (X, head) => product(X, head.value);

/** What a query takes from each token: the weight times the value. Their sum is its output. */
export const shares = (weights, V) => weights.map((weight, j) => V[j].map((value) => weight * value));

export const total = (vectors) => vectors[0].map((_, c) => vectors.reduce((sum, vector) => sum + vector[c], 0));

export const MASKS = { none: () => () => true, causal: () => (i, j) => j <= i, padding: (n) => (i, j) => j < n - 2 };
