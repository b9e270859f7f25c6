// A sentence on its way through the model: the stops in their order, and the tensors that stand at each of them.

import { BOS, EOS, greedy, largest, softmax } from "./transformer.js";

/** The sentences to choose from, by source language: every model of the course knows their words. */
export const SENTENCES = {
  en: ["The dog drinks milk.", "He's calm.", "He is a teacher.", "My dog is hungry."],
  fr: ["Le chat boit du lait.", "Il est calme.", "Le chat dort.", "J'aime mon chien."],
  vi: ["Con chó uống sữa.", "Anh ấy bình tĩnh.", "Con mèo đang ngủ.", "Trời đang mưa."],
  zh: ["狗喝牛奶。", "他很冷静。", "猫在睡觉。", "下雨了。"],
};
// of every checkpoint: known before one has come, so that nothing moves when it comes
export const SIZES = { num_hiddens: 64, ffn_num_hiddens: 128, num_heads: 4, num_layers: 2 };
const BLOCKS = {
  encoder: ["attention", "addnorm1", "ffn", "addnorm2"],
  decoder: ["attention1", "addnorm1", "attention2", "addnorm2", "ffn", "addnorm3"],
};

/** All stops: {name, side, block, part}. The name is that of the trace, "encoder.block0.ffn". */
export const STOPS = ["encoder", "decoder"].flatMap((side) => [
  ...["embedding", "position"].map((part) => ({ name: `${side}.${part}`, side, part })),
  ...Array.from({ length: SIZES.num_layers }, (_, block) =>
    BLOCKS[side].map((part) => ({ name: `${side}.block${block}.${part}`, side, block, part })),
  ).flat(),
  ...(side === "decoder" ? [{ name: "decoder.softmax", side, part: "softmax" }] : []),
]);

/** What the encoder makes of a sentence: its tensors by their names in the trace, and what the decoder needs. */
export function encoderWalk(model, tokens) {
  const seen = {};
  const trace = (name, value) => (seen[name] = value);
  return { encoded: model.encode(model.numbers(tokens), { trace }), seen };
}

/**
 * What the decoder makes of <bos> and the tokens written so far. It takes them one by one, as ever; the rows of its
 * steps are put below each other, so that a tensor is that of all its tokens: (tokens, d). A weight that a mask would
 * hide is not there: row i of an attention to the target has i + 1 weights.
 */
export function decoderWalk(model, encoded, written) {
  const seen = {};
  const trace = (name, value) => {
    if (/\.[KV]$/.test(name)) seen[name] = value; // of all tokens so far, or of the source
    else if (/\.(weights|scores)$/.test(name))
      seen[name] = value.map((rows, head) => [...(seen[name]?.[head] ?? []), ...rows]); // (heads, tokens, keys)
    else seen[name] = [...(seen[name] ?? []), ...(name === "decoder.logits" ? [value] : value)];
  };
  let state = model.start(encoded);
  for (const number of [BOS, ...written]) ({ state } = model.step(number, state, { trace }));
  return seen;
}

/** The most probable next tokens: {number, score, probability}, the first of them the greedy choice. */
export function candidates(logits, count = 6) {
  const probabilities = softmax(logits);
  return largest(logits, count).map((number) => ({
    number,
    score: logits[number],
    probability: probabilities[number],
  }));
}

/** Mean and standard deviation of a row, as layer norm takes them. */
export function moments(row) {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
  return { mean, deviation: Math.sqrt(row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length) };
}

/** How many numbers of a row are 0. */
export const zeros = (row) => row.reduce((count, value) => count + (value === 0), 0);

/** The model's own first token, the runner-up, and the sentences that begin with each. */
export function runnerUp(model, encoded) {
  const [own, second] = candidates(decoderWalk(model, encoded, [])["decoder.logits"][0], 2);
  const text = (chosen) =>
    model.text(greedy(model, encoded, { chosen }).flatMap(({ number }) => (number === EOS ? [] : [number])));
  return { own, second, best: text([]), other: text([second.number]) };
}
