// Attention of five tokens in two dimensions, and what may be asked of it. A point is [x, y], a matrix a list of rows.

import { softmax } from "./arithmetic.js";

/** The five unit vectors of the chapter: cats, and, dogs, drink, milk. */
export const TOKENS = [[1, 0], [-0.6, -0.8], [0.96, 0.28], [0.28, 0.96], [0, 1]];
export const CATS = 0;
export const MILK = 4;

const SAME = 1e-9; // rounding makes no difference between two weights, or two angles

export const dot = (a, b) => a[0] * b[0] + a[1] * b[1];

/** The row vector x times W: its first number times the first row plus its second times the second. */
export const image = (x, W) => [x[0] * W[0][0] + x[1] * W[1][0], x[0] * W[0][1] + x[1] * W[1][1]];

/** W_q W_kᵀ: entry (a, b) is the inner product of row a of W_q and row b of W_k. */
export const product = (Wq, Wk) => Wq.map((row) => Wk.map((other) => dot(row, other)));

const average = (weights, points) =>
  [0, 1].map((axis) => weights.reduce((sum, weight, j) => sum + weight * points[j][axis], 0));

/** Everything between the tokens X and their outputs; scores are those that softmax gets. */
export function attend(X, { q, k, v }, scale = true) {
  const [Q, K, V] = [q, k, v].map((W) => X.map((x) => image(x, W)));
  const scores = Q.map((query) => K.map((key) => dot(query, key) / (scale ? Math.SQRT2 : 1)));
  const weights = scores.map(softmax);
  return { Q, K, V, scores, weights, outputs: weights.map((row) => average(row, V)) };
}

/** Where the perpendicular from a key meets the line of a query: |q| times its distance from 0 is the score. */
export function foot(key, query) {
  const square = dot(query, query);
  if (square === 0) return null;
  return query.map((value) => (value * dot(key, query)) / square);
}

/** The corners of the smallest shape without dents around points, counter-clockwise. */
export function hull(points) {
  const sorted = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  const left = ([ax, ay], [bx, by], [cx, cy]) => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0;
  const half = (ordered) => {
    const kept = [];
    for (const point of ordered) {
      while (kept.length > 1 && !left(kept.at(-2), kept.at(-1), point)) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

/** The places of the largest numbers: more than one where they are equal. */
export function largest(numbers) {
  const top = Math.max(...numbers);
  return numbers.flatMap((number, j) => (number >= top - SAME ? [j] : []));
}

/** For each token those that point most away from it; null where that has no answer, as for a token at 0. */
export function opposites(X) {
  const lengths = X.map((x) => Math.hypot(...x));
  if (Math.min(...lengths) < SAME) return null;
  const away = X.map((x, i) => largest(X.map((y, j) => -dot(x, y) / (lengths[i] * lengths[j]))));
  return away.some((found) => found.length === X.length) ? null : away;
}

/** What the missions ask for, by the result: whatever leads there is a solution. */
export const MISSIONS = {
  milk: ({ weights }) => String(largest(weights[MILK])) === String(CATS),
  away({ weights, X }) {
    const away = opposites(X);
    return away !== null && weights.every((row, i) => largest(row).every((j) => away[i].includes(j)));
  },
  alike: ({ weights }) => weights.flat().every((weight) => Math.abs(weight - 0.2) <= 0.01),
  alone: ({ weights, asking }) => Math.max(...weights[asking]) >= 0.95,
  same({ X, Q, weights, scale }) {
    const plain = attend(X, { q: IDENTITY, k: IDENTITY, v: IDENTITY }, scale).weights;
    const longer = X.every((x, i) => Math.hypot(...x) > SAME && Math.hypot(...Q[i]) >= 2 * Math.hypot(...x) - SAME);
    return longer && weights.every((row, i) => row.every((weight, j) => Math.abs(weight - plain[i][j]) <= 0.01));
  },
};
const IDENTITY = [[1, 0], [0, 1]];
