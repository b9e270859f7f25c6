// What the explorers of positions share: how fast a pair turns, how a number and a hand are drawn, the slider of bases.

import { element, freshId, svg } from "./dom.js";
import { language } from "course:words";

export const LAST = 60;
export const BASES = [10, 100, 1000, 10000, 500000];

/** The angle by which pair j turns for each step, ω_j = 1 / base^(2j/d). */
export const frequency = (j, d, base = 10000) => 1 / base ** ((2 * j) / d);

/** After so many positions pair j has turned once around. */
export const wavelength = (j, d, base) => (2 * Math.PI) / frequency(j, d, base);

export const clamp = (value, low, high) => Math.min(high, Math.max(low, Math.round(value) || 0));

/** A number with a minus sign of its own, and no minus before a zero. */
export const signed = (value, digits) =>
  value
    .toFixed(digits)
    .replace(/^-(0\.?0*)$/, "$1")
    .replace("-", "−");

/** Large numbers as each language writes them: 35 333 in English and Vietnamese, 35333 in Chinese. */
export function grouped(value) {
  const digits = String(Math.round(value));
  return language.tag.startsWith("zh") ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A wavelength in the room beside a clock. */
export function short(length) {
  if (length < 100) return length.toFixed(1);
  return length < 1e6 ? grouped(length) : `${(length / 1e6).toFixed(2)}·10⁶`;
}

/** A hand from the middle of a face to (x, y), y upward; lengths up to 1. */
export function hand([x, y], color, dashed) {
  const tip = { x: 36 + 27 * x, y: 36 - 27 * y };
  return [
    svg("line", {
      x1: 36,
      y1: 36,
      x2: tip.x,
      y2: tip.y,
      stroke: color,
      "stroke-width": dashed ? 2 : 3,
      "stroke-linecap": "round",
      "stroke-dasharray": dashed ? "4 4" : null,
    }),
    svg("circle", { cx: tip.x, cy: tip.y, r: dashed ? 3 : 4.5, fill: color }),
  ];
}

/** What lies under the hands: a circle, its axes, and what they are called (across, up) where there is room to say it. */
export function dial(across, up) {
  const axis = { stroke: "var(--w-line)", "stroke-width": 0.7, "stroke-opacity": 0.7 };
  const name = { fill: "var(--w-muted)", "font-size": 12 };
  return [
    svg("circle", { cx: 36, cy: 36, r: 32, fill: "var(--w-bg)", stroke: "var(--w-line)", "stroke-width": 1.2 }),
    svg("line", { x1: 4, x2: 68, y1: 36, y2: 36, ...axis }),
    svg("line", { x1: 36, x2: 36, y1: 4, y2: 68, ...axis }),
    across && svg("text", { x: 66, y: 33, "text-anchor": "end", ...name }, across),
    up && svg("text", { x: 39, y: 17, ...name }, up),
  ].filter(Boolean);
}

/** The clocks as buttons, one a pair: choose(j) when one is pressed. */
export function clockButtons(box, count, choose) {
  const buttons = Array.from({ length: count }, (_, j) =>
    element(
      "button",
      { type: "button", onclick: () => choose(j) },
      svg("svg", { viewBox: "0 0 72 72", width: 72, "aria-hidden": "true" }),
      element("span", {}),
    ),
  );
  box.replaceChildren(...buttons);
  return buttons;
}

/** A slider with a label that shows its value. */
export function slider(label, min, max) {
  const input = element("input", { type: "range", id: freshId(), min, max, step: 1 });
  const shown = element("output", {});
  const node = element("div", {}, element("label", { for: input.id }, label, " = ", shown), input);
  return { node, input, shown };
}

/** The slider of bases, which stops at five of them. */
export function baseSlider(label) {
  const { node, input, shown } = slider(label, 0, BASES.length - 1);
  node.append(
    element(
      "div",
      { class: "stops", "aria-hidden": "true" },
      BASES.map((base) => element("span", {}, grouped(base))),
    ),
  );
  return {
    node,
    input,
    base: () => BASES[input.value],
    show(base) {
      input.value = BASES.indexOf(base);
      shown.textContent = grouped(base);
      input.setAttribute("aria-valuetext", grouped(base));
    },
  };
}

/** A list to choose a number from. */
export function choice(label, options) {
  const input = element(
    "select",
    { id: freshId() },
    options.map(([value, text]) => element("option", { value }, text)),
  );
  return { node: element("div", {}, element("label", { for: input.id }, label), input), input };
}
