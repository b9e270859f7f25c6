// What the pictures of several explorers are made of.

import { svg } from "./dom.js";

export const line = (x1, y1, x2, y2, attributes) => svg("line", { x1, y1, x2, y2, ...attributes });
export const rect = (x, y, width, height, attributes) => svg("rect", { x, y, width, height, ...attributes });
export const textAt = (x, y, content, attributes) => svg("text", { x, y, ...attributes }, content);

/** A pattern of slanting lines, for what a mask hides; fill: url(#id). */
export function hatching(id, size, width) {
  const slanting = { patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  const stroke = { stroke: "var(--w-line)", "stroke-width": width };
  return svg(
    "defs",
    {},
    svg("pattern", { id, width: size, height: size, ...slanting }, line(0, 0, 0, size, stroke)),
  );
}

/** Give a picture its size, and a name if it has one. */
export function setSize(picture, width, height, name) {
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("width", width);
  if (name) picture.setAttribute("aria-label", name);
}
