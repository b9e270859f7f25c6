// Beam search, as d2lmini/decoding.py.

import { BOS, EOS, largest } from "./transformer.js";

/** The logarithms of the probabilities, in which a beam search adds. */
export function logSoftmax(row) {
  const top = row.reduce((most, value) => Math.max(most, value), -Infinity);
  const total = Math.log(row.reduce((sum, value) => sum + Math.exp(value - top), 0)) + top;
  return Float64Array.from(row, (value) => value - total);
}

/**
 * Beam search: at each step the `size` most probable beginnings are kept. The log-probability of a translation of L
 * tokens, <eos> counted, is divided by L to the power `alpha`. Returns up to `size` of {numbers, score}, the best
 * first.
 */
export function beamSearch(model, encoded, { size = 4, alpha = 0.75, ...options } = {}) {
  const finished = [];
  const score = ({ total, numbers }) => total / numbers.length ** alpha;
  let beams = [{ total: 0, numbers: [], state: model.start(encoded) }];
  for (let step = 0; step < model.config.num_steps && beams.length && finished.length < size; step++) {
    const longer = beams.flatMap(({ total, numbers, state }) => {
      const { logits, state: after } = model.step(numbers.at(-1) ?? BOS, state, options);
      const logs = logSoftmax(logits);
      return largest(logs, size).map((number) => ({
        total: total + logs[number],
        numbers: [...numbers, number],
        state: after,
      }));
    });
    beams = [];
    for (const beam of longer.toSorted((a, b) => b.total - a.total).slice(0, size))
      if (beam.numbers.at(-1) === EOS) finished.push({ numbers: beam.numbers.slice(0, -1), score: score(beam) });
      else beams.push(beam);
  }
  // no room for more tokens: unfinished translations count as they are
  if (finished.length < size && beams[0]?.numbers.length === model.config.num_steps)
    finished.push(...beams.map((beam) => ({ numbers: beam.numbers, score: score(beam) })));
  return finished.toSorted((a, b) => b.score - a.score).slice(0, size);
}
