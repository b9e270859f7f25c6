// What the explorers of positions share: how fast a pair turns, how a number and a hand are drawn, the slider of bases.

import { button, element, svg } from "./dom.js";
import { slider } from "./frame.js";
import { line, textAt } from "./picture.js";
import { grouped } from "./text.js";

export const LAST = 60;
export const BASES = [10, 100, 1000, 10000, 500000];

/** The angle by which pair j turns for each step, ω_j = 1 / base^(2j/d). */
export const frequency = (j, d, base = 10000) => 1 / base ** ((2 * j) / d);

/** After so many positions pair j has turned once around. */
export const wavelength = (j, d, base) => (2 * Math.PI) / frequency(j, d, base);

/** A wavelength in the room beside a clock. */
export function short(length) {
  if (length < 100) return length.toFixed(1);
  return length < 1e6 ? grouped(length) : `${(length / 1e6).toFixed(2)}·10⁶`;
}

/** A hand from the middle of a face to (x, y), y upward; lengths up to 1. */
export function hand([x, y], color, dashed) {
  const tip = { x: 36 + 27 * x, y: 36 - 27 * y };
  const stroke = { stroke: color, "stroke-width": dashed ? 2 : 3, "stroke-dasharray": dashed ? "4 4" : null };
  return [
    line(36, 36, tip.x, tip.y, { "stroke-linecap": "round", ...stroke }),
    svg("circle", { cx: tip.x, cy: tip.y, r: dashed ? 3 : 4.5, fill: color }),
  ];
}

/** What lies under the hands: a circle and its axes. */
export function dial() {
  const axis = { stroke: "var(--w-line)", "stroke-width": 0.7, "stroke-opacity": 0.7 };
  return [
    svg("circle", { cx: 36, cy: 36, r: 32, fill: "var(--w-bg)", stroke: "var(--w-line)", "stroke-width": 1.2 }),
    line(4, 36, 68, 36, axis),
    line(36, 4, 36, 68, axis),
  ];
}

/** An arrow along a circle about (x, y) from one angle to another, in degrees, counterclockwise from the right. */
export function turning(x, y, radius, from, to) {
  const place = (degrees) => {
    const angle = (degrees * Math.PI) / 180;
    return `${(x + radius * Math.cos(angle)).toFixed(1)} ${(y - radius * Math.sin(angle)).toFixed(1)}`;
  };
  const stroke = { fill: "none", stroke: "var(--w-position)", "stroke-width": 1.8 };
  const heading = to > from ? -to : 180 - to; // of the arrow that comes from below
  return [
    svg("path", { d: `M${place(from)}A${radius} ${radius} 0 0 ${to > from ? 0 : 1} ${place(to)}`, ...stroke }),
    svg("path", { d: "M-4.5 6L0 0L4.5 6", transform: `translate(${place(to)}) rotate(${heading})`, ...stroke }),
  ];
}

/** Beside a line of text: which way the axes of all clocks point, and which way their hands turn. */
export function compass(across, up, clockwise, text) {
  const axis = { stroke: "var(--w-muted)", "stroke-width": 1.2, fill: "none" };
  const name = { fill: "var(--w-text)", "font-size": 13 };
  const arrow = clockwise ? turning(14, 62, 26, 75, 15) : turning(14, 62, 26, 15, 75);
  return element(
    "p",
    { class: "hint compass" },
    svg(
      "svg",
      { viewBox: "0 0 84 76", width: 84, "aria-hidden": "true" },
      svg("path", { d: "M14 70V16M10 22L14 16L18 22M6 62H58M52 58L58 62L52 66", ...axis }),
      svg("text", { x: 14, y: 12, "text-anchor": "middle", ...name }, up),
      svg("text", { x: 61, y: 66, ...name }, across),
      arrow,
    ),
    element("span", {}, text),
  );
}

/** The clocks as buttons, one a pair: choose(j) when one is pressed. */
export function clockButtons(box, count, choose) {
  const face = () => svg("svg", { viewBox: "0 0 72 72", width: 72, "aria-hidden": "true" });
  const buttons = Array.from({ length: count }, (_, j) => button([face(), element("span", {})], () => choose(j)));
  box.replaceChildren(...buttons);
  return buttons;
}

/** The slider of bases, which stops at five of them. */
export function baseSlider(label, set) {
  const { node, input, shown } = slider(label, 0, BASES.length - 1, 1, (place) => set(BASES[place]));
  const stops = BASES.map((base) => element("span", {}, grouped(base)));
  node.append(element("div", { class: "stops", "aria-hidden": "true" }, stops));
  return {
    node,
    show(base) {
      input.value = BASES.indexOf(base);
      shown.textContent = grouped(base);
      input.setAttribute("aria-valuetext", grouped(base));
    },
  };
}

/** What a picture of curves has: thin lines across with their numbers, and a line at the place of now. */
export const ruled = (left, right, y, name) => [
  line(left, y, right, y, { stroke: "var(--w-line)", "stroke-width": 0.6, "stroke-opacity": 0.6 }),
  note(left - 6, y + 4, name, "var(--w-muted)", "end"),
];
export const mark = (x, from, to) => line(x, from, x, to, { stroke: "var(--w-position)", "stroke-width": 1.2 });
export const note = (x, y, text, color, anchor = "start") =>
  textAt(x, y, text, { fill: color, "font-size": 13, "text-anchor": anchor });
