// The writers of d2lmini/writer.py in plain arithmetic, as transformer.js has the translators: what PyTorch computes, a
// reader's browser computes too. A test compares the two.

import { hasHan } from "./tokens.js";
import { BOS, add, attend, layerNorm, linear, softmax } from "./transformer.js";

/** Turn each pair of neighbors by position / 10000^(2j/width), as RotaryEmbedding does; every head alike. */
const turned = (row, position, width) =>
  row.map((value, i) => {
    const [even, j] = [i % 2 === 0, (i % width) - (i % 2)];
    const angle = position * 10000 ** (-j / width);
    return value * Math.cos(angle) + (even ? -row[i + 1] : row[i - 1]) * Math.sin(angle);
  });

/** A model made of a checkpoint. Steps are never changed, so whoever keeps them can go on from any of them. */
export class LanguageModel {
  constructor({ config, tensors, vocab }) {
    Object.assign(this, { config, tensors, vocab });
  }

  #norm(name, X) {
    return layerNorm(X, this.tensors[`${name}.weight`], this.tensors[`${name}.bias`]);
  }

  #linear(name, X) {
    return linear(X, this.tensors[`${name}.weight`], this.tensors[`${name}.bias`]);
  }

  /**
   * Give the model one token after those of an earlier step, or the first. `off`, a set of names "block.head", leaves
   * out what these heads bring. Returns {number, logits: (vocabulary), weights: [block][head] → one row over the tokens
   * so far, cache}.
   */
  step(number, before, off = new Set()) {
    const { num_hiddens: d, num_heads, num_layers } = this.config;
    const blocks = Array.from({ length: num_layers }, (_, b) => b);
    const past = before?.cache ?? blocks.map(() => [[], []]);
    const position = past[0][0].length;
    const turn = ([row]) => [turned(row, position, d / num_heads)];
    let X = [this.tensors["embedding.weight"].data.slice(number * d, (number + 1) * d)]; // (1, d)
    const weights = [];
    const cache = blocks.map((b) => {
      const name = `blks.${b}`;
      const Y = this.#norm(`${name}.norm1`, X);
      const [q, k, v] = ["W_q", "W_k", "W_v"].map((matrix) => this.#linear(`${name}.attention.${matrix}`, Y));
      const [K, V] = [[...past[b][0], ...turn(k)], [...past[b][1], ...v]];
      const silent = Array.from({ length: num_heads }, (_, h) => off.has(`${b}.${h}`));
      const heard = attend(turn(q), K, V, silent);
      X = add(X, this.#linear(`${name}.attention.W_o`, heard.heads));
      const inner = this.#linear(`${name}.ffn.dense1`, this.#norm(`${name}.norm2`, X));
      const relu = inner.map((row) => row.map((value) => Math.max(0, value)));
      X = add(X, this.#linear(`${name}.ffn.dense2`, relu));
      weights.push(heard.weights.map(([row]) => row));
      return [K, V];
    });
    const [logits] = this.#linear("dense", this.#norm("norm", X));
    return { number, logits, weights, cache };
  }

  /** Read <bos> and the numbers of a text; `steps` of an earlier reading, by the same heads, are not computed again. */
  read(numbers, off, steps = []) {
    const all = [BOS, ...numbers];
    const differs = all.findIndex((number, i) => steps[i]?.number !== number);
    const read = steps.slice(0, differs < 0 ? all.length : differs);
    for (const number of all.slice(read.length)) read.push(this.step(number, read.at(-1), off));
    return read;
  }
}

/**
 * The probabilities to draw from, as d2lmini/sampling.py has them: {soft, kept}, before and after `topP` has cut all
 * but the most probable tokens, as few as together have that much.
 */
export function probabilities(logits, temperature, topP) {
  const soft = softmax(logits.map((score) => score / temperature));
  const order = [...soft.keys()].toSorted((a, b) => soft[b] - soft[a]);
  const kept = new Float32Array(soft.length);
  let sum = 0;
  for (const number of order) {
    if (topP < 1 && sum >= topP - 1e-6) break;
    kept[number] = soft[number];
    sum += soft[number];
  }
  return { soft, kept: kept.map((p) => p / sum) };
}

/** Draw a token; `chance` is a number from 0 to 1. */
export function drawn(kept, chance) {
  let sum = 0;
  const last = kept.findLastIndex((p) => p > 0); // the sum of all is not quite 1 in floats
  return kept.findIndex((p, number) => (sum += p) > chance || number === last);
}

/** Split a text into words of the vocabulary, as `Stories.split` does: {words, unknown}. */
export function split(text, vocab) {
  const known = new Map(vocab.slice(4).map((word) => [word.toLowerCase(), word]));
  let spaced = text.normalize().toLowerCase().replaceAll(".", " . ");
  // Chinese has no spaces between words; none begins another one
  if (hasHan(vocab.join(""))) for (const word of known.keys()) spaced = spaced.replaceAll(word, ` ${word} `);
  const parts = spaced.split(/\s+/).filter(Boolean);
  return { words: parts.map((part) => known.get(part)), unknown: parts.filter((part) => !known.has(part)) };
}

/** Write tokens as a text, as `Stories.join` does. */
export const join = (tokens) => (hasHan(tokens.join("")) ? tokens.join("") : tokens.join(" ").replaceAll(" .", "."));
