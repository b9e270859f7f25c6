// The Transformer of d2lmini/transformer.py as a checkpoint has it, in plain arithmetic: what PyTorch computes, a
// reader's browser computes too. A test compares the two, logit by logit.
//
// A matrix is an array of rows, each a Float32Array; a comment gives its shape. Sentences come one at a time and are
// not padded, and tokens of the target one by one: no mask is needed.
//
// Whoever wants to look inside passes `trace(name, value)`. It is called with everything on the way, in its order:
//   encoder.embedding           token vectors × √d                 (n, d)
//   encoder.position            rows of sines and cosines          (n, d)
//   encoder.input               their sum                          (n, d)
//   encoder.block0.attention.Q  queries; .K keys, .V values        (n, d), heads side by side
//                          .scores, .weights                       (heads, n, keys)
//                          .heads   what the heads bring           (n, d), side by side
//                          .output  the same after W_o             (n, d)
//   encoder.block0.addnorm1.sum, encoder.block0.addnorm1           before and after layer norm, (n, d)
//   encoder.block0.ffn.dense1, .relu, .output                      (n, ffn_num_hiddens) twice, (n, d)
//   encoder.block0.addnorm2.sum, encoder.block0.addnorm2
//   decoder.…                   the same, with attention1 (to the target), addnorm1, attention2 (to the source),
//                               addnorm2, ffn, addnorm3; a step has n = 1 and the keys of all steps so far
//   decoder.logits              one number for each token of the target vocabulary, (vocabulary)

import { joinTokens } from "./tokens.js";

// <unk> <pad> <bos> <eos> are the first four tokens of every vocabulary
const UNK = 0;
export const BOS = 2;
export const EOS = 3;
const EPSILON = 1e-5; // of PyTorch's layer norm

// ---- the file

/** The header of a checkpoint in the safetensors format: what is where, and what the file says about itself. */
export function checkpointHeader(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = 8 + Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const { ["__metadata__"]: told, ...entries } = header;
  return { start, entries, told, config: JSON.parse(told.config) };
}

/** The number that 16 bits stand for; a checkpoint has no infinite ones. */
function half(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, (bits & 1023) / 1024];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
}

/** Read a checkpoint from its bytes (Uint8Array). Integers become Float32Array, each row times its scale. */
export function readCheckpoint(bytes) {
  const { start, entries, told, config } = checkpointHeader(bytes);
  const part = (name) => {
    const [from, to] = entries[name].data_offsets;
    return bytes.slice(start + from, start + to).buffer; // a copy begins where numbers of 4 bytes may begin
  };
  const tensors = {};
  for (const [name, { dtype, shape }] of Object.entries(entries)) {
    if (name.endsWith(".scale")) continue;
    if (dtype === "F32") {
      tensors[name] = { shape, data: new Float32Array(part(name)) };
      continue;
    }
    if (dtype === "F16") {
      tensors[name] = { shape, data: Float32Array.from(new Uint16Array(part(name)), half) };
      continue;
    }
    const whole = new Int8Array(part(name));
    const scale = new Float32Array(part(`${name}.scale`));
    const columns = shape[1];
    tensors[name] = { shape, data: Float32Array.from(whole, (value, at) => value * scale[Math.floor(at / columns)]) };
  }
  const vocabularies = ["src_vocab", "tgt_vocab", "vocab"]; // of a translator two, of a writer one
  const [srcVocab, tgtVocab, vocab] = vocabularies.map((name) => JSON.parse(told[name] ?? "null"));
  return { config, about: JSON.parse(told.about ?? "{}"), srcVocab, tgtVocab, vocab, tensors };
}

// ---- arithmetic

/** X Wᵀ + b, as PyTorch's linear layer: (n, in) → (n, out). */
export function linear(X, { shape: [outs, ins], data }, bias) {
  return X.map((x) => {
    const y = new Float32Array(outs);
    for (let o = 0; o < outs; o++) {
      let sum = bias ? bias.data[o] : 0;
      for (let i = 0, at = o * ins; i < ins; i++, at++) sum += x[i] * data[at];
      y[o] = sum;
    }
    return y;
  });
}

export const add = (X, Y) => X.map((x, n) => x.map((value, i) => value + Y[n][i]));

/** Subtract the mean of a row, divide by its standard deviation, stretch and shift. */
export function layerNorm(X, gain, shift) {
  return X.map((x) => {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    const factor = 1 / Math.sqrt(variance + EPSILON);
    return x.map((value, i) => (value - mean) * factor * gain.data[i] + shift.data[i]);
  });
}

/** A row of numbers as probabilities. */
export function softmax(row) {
  const top = row.reduce((most, value) => Math.max(most, value), -Infinity);
  const powers = Float32Array.from(row, (value) => Math.exp(value - top));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/**
 * What the heads see: scores and weights, [head] → (n, keys), and what they bring, (n, d), side by side. Head h has the
 * columns from h · width on of Q, K and V; one that `silent` names brings zeros.
 */
export function attend(Q, K, V, silent) {
  const width = Q[0].length / silent.length;
  const scores = silent.map((_, h) =>
    Q.map((q) =>
      Float32Array.from(K, (k) => {
        let sum = 0;
        for (let i = h * width; i < (h + 1) * width; i++) sum += q[i] * k[i];
        return sum / Math.sqrt(width);
      }),
    ),
  );
  const weights = scores.map((rows) => rows.map(softmax)); // (heads, n, keys)
  const heads = Q.map((q, n) =>
    q.map((_, i) => {
      const h = Math.floor(i / width);
      return silent[h] ? 0 : V.reduce((sum, v, key) => sum + weights[h][n][key] * v[i], 0);
    }),
  );
  return { scores, weights, heads };
}

/** One row of sines and cosines: columns 2j and 2j + 1 turn by position / 10000^(2j/d). */
const sinusoid = (position, d) =>
  Float32Array.from({ length: d }, (_, i) => {
    const angle = position * 10000 ** (-(i - (i % 2)) / d);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });

// ---- the model

const nobody = () => {};

/** The three attentions of a model: the name of each in `off` and in results, and where its weights are. */
export const ATTENTIONS = { encoder: "attention", decoder: "attention1", cross: "attention2" };

/** The name of a head, to switch it off: "cross.0.2" is the third head of the first block's attention to the source. */
export const headName = (attention, block, head) => `${attention}.${block}.${head}`;

/**
 * A model made of a checkpoint. `off`, a set of `headName`s, leaves out what these heads bring: W_o gets zeros in their
 * place.
 *
 * A state of the decoder is never changed: a step returns a new one. So whoever keeps them all can go back, or go on
 * from one of them in several ways.
 */
export class Transformer {
  constructor({ config, tensors, srcVocab, tgtVocab }) {
    Object.assign(this, { config, tensors, srcVocab, tgtVocab });
    this.source = new Map(srcVocab.map((token, number) => [token, number]));
    this.target = new Map(tgtVocab.map((token, number) => [token, number]));
  }

  /** The numbers of source tokens, with <eos>, cut to the length that the model knows. */
  numbers(tokens) {
    return [...tokens.map((token) => this.source.get(token) ?? UNK), EOS].slice(0, this.config.num_steps);
  }

  /** Encode the numbers of a sentence. Returns {output: (n, d), weights: [block][head] → (n, n)}. */
  encode(numbers, { off = new Set(), trace = nobody } = {}) {
    let X = this.#input("encoder", numbers, 0, trace);
    const weights = [];
    for (let b = 0; b < this.config.num_layers; b++) {
      const name = `encoder.block${b}`;
      const [K, V] = this.#project(`${name}.attention`, X);
      const heard = this.#attend(`${name}.attention`, X, K, V, this.#silent("encoder", b, off), trace);
      const Y = this.#addNorm(`${name}.addnorm1`, X, heard.output, trace);
      X = this.#addNorm(`${name}.addnorm2`, Y, this.#ffn(`${name}.ffn`, Y, trace), trace);
      weights.push(heard.weights);
    }
    return { output: X, weights };
  }

  /** The state before the first token: keys and values of the source, and an empty cache for each block. */
  start({ output }) {
    const blocks = Array.from({ length: this.config.num_layers }, (_, b) => b);
    return {
      source: blocks.map((b) => this.#project(`decoder.block${b}.attention2`, output)),
      past: blocks.map(() => [[], []]), // keys and values of the tokens so far
      length: 0,
    };
  }

  /**
   * Give the decoder one token. Returns {logits: (vocabulary), state, weights: {decoder, cross}}, where the weights are
   * [block][head] → one row: over the tokens so far, and over the source.
   */
  step(number, { source, past, length }, { off = new Set(), trace = nobody } = {}) {
    let X = this.#input("decoder", [number], length, trace); // (1, d), as is every step below
    const weights = { decoder: [], cross: [] };
    const longer = past.map(([keys, values], b) => {
      const name = `decoder.block${b}`;
      const [k, v] = this.#project(`${name}.attention1`, X);
      const [K, V] = [[...keys, ...k], [...values, ...v]]; // no mask: the last token may see all
      const told = this.#attend(`${name}.attention1`, X, K, V, this.#silent("decoder", b, off), trace);
      const Y = this.#addNorm(`${name}.addnorm1`, X, told.output, trace);
      const read = this.#attend(`${name}.attention2`, Y, ...source[b], this.#silent("cross", b, off), trace);
      const Z = this.#addNorm(`${name}.addnorm2`, Y, read.output, trace);
      X = this.#addNorm(`${name}.addnorm3`, Z, this.#ffn(`${name}.ffn`, Z, trace), trace);
      weights.decoder.push(told.weights.map(([row]) => row));
      weights.cross.push(read.weights.map(([row]) => row));
      return [K, V];
    });
    // the dense layer shares its matrix with the embedding
    const [logits] = linear(X, this.tensors["decoder.embedding.weight"], this.tensors["decoder.dense.bias"]);
    trace("decoder.logits", logits);
    return { logits, weights, state: { source, past: longer, length: length + 1 } };
  }

  #weight(name, kind = "weight") {
    return this.tensors[`${name.replace(".block", ".blks.block")}.${kind}`];
  }

  #input(side, numbers, offset, trace) {
    const d = this.config.num_hiddens;
    const { data } = this.#weight(`${side}.embedding`);
    const embedded = numbers.map((number) =>
      data.slice(number * d, (number + 1) * d).map((value) => value * Math.sqrt(d)),
    );
    const positions = numbers.map((_, n) => sinusoid(offset + n, d));
    const sum = add(embedded, positions);
    trace(`${side}.embedding`, embedded);
    trace(`${side}.position`, positions);
    trace(`${side}.input`, sum);
    return sum;
  }

  #project(name, X) {
    return [linear(X, this.#weight(`${name}.W_k`)), linear(X, this.#weight(`${name}.W_v`))];
  }

  /** Which heads of an attention are switched off, one Boolean each. */
  #silent(attention, block, off) {
    return Array.from({ length: this.config.num_heads }, (_, head) => off.has(headName(attention, block, head)));
  }

  /** Multi-head attention of X to projected keys and values: {output: (n, d), weights: [head] → (n, keys)}. */
  #attend(name, X, K, V, silent, trace) {
    const Q = linear(X, this.#weight(`${name}.W_q`)); // (n, d): head h has the columns from h · width on
    const { scores, weights, heads } = attend(Q, K, V, silent);
    const output = linear(heads, this.#weight(`${name}.W_o`));
    const seen = { Q, K, V, scores, weights, heads, output };
    for (const [part, value] of Object.entries(seen)) trace(`${name}.${part}`, value);
    return { output, weights };
  }

  #addNorm(name, X, Y, trace) {
    const sum = add(X, Y);
    const out = layerNorm(sum, this.#weight(`${name}.ln`), this.#weight(`${name}.ln`, "bias"));
    trace(`${name}.sum`, sum);
    trace(name, out);
    return out;
  }

  #ffn(name, X, trace) {
    const inner = linear(X, this.#weight(`${name}.dense1`), this.#weight(`${name}.dense1`, "bias"));
    const relu = inner.map((row) => row.map((value) => Math.max(0, value)));
    const output = linear(relu, this.#weight(`${name}.dense2`), this.#weight(`${name}.dense2`, "bias"));
    trace(`${name}.dense1`, inner);
    trace(`${name}.relu`, relu);
    trace(`${name}.output`, output);
    return output;
  }

  /** The words of target numbers, as d2l.join_tokens joins them. */
  text(numbers) {
    return joinTokens(numbers.map((number) => this.tgtVocab[number]));
  }
}

// ---- searching, as d2lmini/decoding.py

/** The numbers of the largest values of a row, the largest first. */
export const largest = (row, count) =>
  Array.from(row, (_, number) => number)
    .toSorted((a, b) => row[b] - row[a])
    .slice(0, count);

/**
 * Greedy search: at each step the token with the highest score, or the one that `chosen[step]` names. Returns the
 * steps, each {number, logits, weights}; the last number is <eos>, unless there was no room for it.
 */
export function greedy(model, encoded, { chosen = [], ...options } = {}) {
  const steps = [];
  let state = model.start(encoded);
  let number = BOS;
  while (steps.length < model.config.num_steps) {
    const found = model.step(number, state, options);
    ({ state } = found);
    number = chosen[steps.length] ?? largest(found.logits, 1)[0];
    steps.push({ number, logits: found.logits, weights: found.weights });
    if (number === EOS) break;
  }
  return steps;
}
