// Arithmetic that several widgets need.

/** A number within bounds. */
export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** A whole number within bounds; what is no number counts as 0. */
export const clampInteger = (value, low, high) => clamp(Math.round(value) || 0, low, high);

/** Weights from a row of scores; a row that has nothing but −∞ gets zeros. */
export function softmax(row) {
  const top = Math.max(...row);
  if (top === -Infinity) return row.map(() => 0);
  const powers = row.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}
