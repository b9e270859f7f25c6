// Clock explorer: each pair (sin, cos) of a sinusoidal encoding is the hand of a clock, fast ones to the left. Moving
// by δ turns every hand by an angle of its own, the same from wherever one starts.

import { clamp } from "./arithmetic.js";
import { BASES, LAST, byHand, frequency, short, wavelength } from "./clocks.js";
import { Choice, Task, press, printable } from "./explorer.js";
import { Slider } from "./slider.js";
import { fill, grouped, signed } from "./text.js";
import { h } from "./vendor/preact/preact.min.js";
import words from "course:words";
import STYLE from "./clock-explorer.css";

const WIDTHS = [4, 8, 16, 32];
const SHADES = 16; // of either sign in the table
const FARTHEST = 12; // offset
const DEGREES = 180 / Math.PI;

/** Row i of the sinusoidal encoding: sine in the even columns, cosine in the odd ones. */
function encoding(i, d, base) {
  return Array.from({ length: d }, (_, c) => (c % 2 ? Math.cos : Math.sin)(i * frequency(Math.floor(c / 2), d, base)));
}

const inner = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);

/** The inner product of two positions so far apart: Σ cos(δ ω_j). */
const alike = (distance, d, base) => inner(encoding(0, d, base), encoding(distance, d, base));

/** The first distance from 2 on at which positions are at least as alike as neighbors are; undefined up to LAST. */
const firstAlike = (d, base) =>
  Array.from({ length: LAST - 1 }, (_, c) => c + 2).find((c) => alike(c, d, base) >= alike(1, d, base));

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { frequency, wavelength, encoding, inner, alike, firstAlike };

// ---- the state, and the tasks

const START = { position: 0, shift: 3, dims: 16, pair: 0, base: 10000 };
const PLACE = 7; // position at which later tasks begin
const isPlain = ({ dims, base }) => dims === START.dims && base === START.base;
const turn = (j, steps = 1, digits = 0) => signed(steps * frequency(j, START.dims) * DEGREES, digits);

const AROUND = Math.round(wavelength(0, START.dims)); // positions after which the first hand has nearly come back
const back = () => ({
  i: AROUND, a: (360 - AROUND * DEGREES).toFixed(0), b: turn(1, AROUND), wave: short(wavelength(0, START.dims)),
});
const slow = () => ({ a: turn(0), b: turn(1), c: turn(2), e: turn(4, 1, 2), wave: short(wavelength(4, 16)) });
const same = () => ({ a: turn(0, 3), b: turn(1, 3), dot: signed(alike(3, 16), 3) });
const closer = (distance) => ({
  distance, dot: signed(alike(distance, 4), 3), near: signed(alike(1, 4), 3), wave: short(wavelength(1, 4)),
});
const bases = () => ({
  a: short(wavelength(7, 16, 10)), b: short(wavelength(7, 16, 10000)), c: short(wavelength(7, 16, 500000)), last: LAST,
});

/** Tasks in their order: where each begins, and what there is to tell once it is done; nothing before. */
const TASKS = [
  {
    scene: {},
    done: (state) => isPlain(state) && state.position === AROUND && back(),
    answer: back,
  },
  {
    scene: { position: PLACE, shift: 1 },
    done: (state) => isPlain(state) && state.shift === 1 && state.pair === 4 && slow(),
    answer: slow,
  },
  {
    scene: { position: PLACE },
    done: (state) => isPlain(state) && state.shift === 3 && Math.abs(state.position - PLACE) >= 10 && same(),
    answer: same,
  },
  {
    scene: { position: PLACE, dims: 4, shift: 1 },
    done: ({ dims, base, shift }) =>
      dims === 4 && base === START.base && Math.abs(shift) > 1 && alike(shift, 4) >= alike(1, 4) &&
      closer(Math.abs(shift)),
    answer: () => closer(firstAlike(4)),
  },
  {
    scene: { position: PLACE, pair: 7 },
    values: { last: LAST },
    done: ({ dims, base }) => dims === 16 && wavelength(7, 16, base) <= LAST && bases(),
    answer: bases,
  },
];

function derived({ position, shift, dims, base, pair }) {
  const turns = Array.from({ length: dims / 2 }, (_, j) => frequency(j, dims, base));
  const [here, there] = [encoding(position, dims, base), encoding(position + shift, dims, base)];
  return { turns, here, to: position + shift, dot: inner(here, there), omega: turns[pair] };
}

const named = (j) => fill(words.hand, { j, a: 2 * j, b: 2 * j + 1 });
const inText = (i) => i >= 0 && i <= LAST;

// ---- the view

const hand = (radians, dashed) =>
  h("g", { key: dashed, class: dashed ? "hand to" : "hand", style: { transform: `rotate(${radians.toFixed(4)}rad)` } },
    h("path", { d: "M0 0V-27" }), h("circle", { cy: -27, r: dashed ? 3 : 4.5 }));

/** A turned hand brings the position along, by as many steps as turn it so far. */
const turning = (j, { state, now, act }) =>
  byHand(
    () => ({ place: state.position }),
    (held, radians) => {
      held.place = clamp(held.place + radians / now.turns[j], 0, LAST);
      const position = Math.round(held.place);
      if (position !== state.position) act.change({ position, pair: j });
    },
  );

function Clocks(parts) {
  const { state, now, act } = parts;
  const clock = (omega, j) => {
    const angle = state.shift * omega * DEGREES;
    const turned = fill(words.turn, { angle: signed(angle, Math.abs(angle) < 10 ? 2 : 0) });
    const wave = fill(words.wave, { wave: short(wavelength(j, state.dims, state.base)) });
    const face = h("svg", { viewBox: "-36 -36 72 72", "aria-hidden": "true" },
      h("circle", { class: "dial", r: 32 }), h("path", { class: "dial", d: "M-32 0H32M0-32V32" }),
      state.shift !== 0 && hand(now.to * omega, true), hand(state.position * omega, false));
    return press([face, h("span", {}, turned), h("span", {}, wave)], () => act.change({ pair: j }), {
      key: j, class: "clock", "aria-pressed": String(j === state.pair),
      "aria-label": `${named(j)}: ${turned}, ${wave}`, ...turning(j, parts),
    });
  };
  return h("div", { class: "clocks", role: "group", "aria-label": words.columns, "data-look": "picture" },
    now.turns.map(clock));
}

const note = (x, y, text, anchor = "start", more = {}) => h("text", { x, y, "text-anchor": anchor, ...more }, text);

function Wave({ state, now }) {
  const { omega, to } = now;
  const [left, right, middle, reach] = [30, 332, 80, 56];
  const x = (i) => left + ((right - left) * i) / LAST;
  const path = (f) =>
    Array.from({ length: 4 * LAST + 1 }, (_, t) =>
      `${t ? "L" : "M"}${x(t / 4).toFixed(1)} ${(middle - reach * f((t / 4) * omega)).toFixed(1)}`).join("");
  const dot = (i, f, kind, r) => inText(i) && h("circle", {
    key: `${kind} ${f.name}`, class: kind, r,
    style: { transform: `translate(${x(i).toFixed(1)}px, ${(middle - reach * f(i * omega)).toFixed(1)}px)` },
  });
  const at = x(state.position).toFixed(1);
  const [last, other] = [Math.sin(LAST * omega), Math.cos(LAST * omega)];
  const size = { viewBox: "0 0 366 170", role: "img", "aria-label": named(state.pair), "data-look": "picture" };
  return h("svg", { class: "wave", ...size },
    note(left, 13, named(state.pair)), note(right, 167, words.rows, "end"),
    [1, 0, -1].map((v) => [
      h("path", { class: "rule", d: `M${left} ${middle - reach * v}H${right}` }),
      note(left - 5, middle - reach * v + 4, signed(v, 0), "end"),
    ]),
    [0, 20, 40, 60].map((i) => note(x(i), 152, i, "middle")),
    h("path", { class: "here", d: `M0 ${middle - reach}v${2 * reach}`, style: { transform: `translate(${at}px)` } }),
    h("path", { class: "line", d: path(Math.sin) }), h("path", { class: "line cos", d: path(Math.cos) }),
    note(right + 4, middle - reach * last + 4, "sin"),
    note(right + 4, middle - reach * other + (Math.abs(last - other) < 0.25 ? 16 : 4), "cos"),
    [Math.sin, Math.cos].map((f) => dot(to, f, "to", 4)),
    [Math.sin, Math.cos].map((f) => dot(state.position, f, "at", 5.5)));
}

const tables = new Map(); // up to 1 952 cells in 32 colors, one path each: made once for each d and base

function cells(d, base) {
  const key = `${d} ${base}`;
  if (tables.has(key)) return tables.get(key);
  const paths = new Map();
  const wide = 300 / d;
  for (let i = 0; i <= LAST; i++)
    encoding(i, d, base).forEach((value, c) => {
      const shade = Math.round(SHADES * value);
      const cell = `M${c * wide} ${i * 2.4}h${wide + 0.2}v2.6h${-wide - 0.2}z`;
      if (shade) paths.set(shade, (paths.get(shade) ?? "") + cell);
    });
  tables.set(key, [...paths]);
  return tables.get(key);
}

function Table({ state: { dims, base, pair, position }, now }) {
  const wide = 300 / dims;
  const down = (i) => ({ transform: `translate(0, ${(i * 2.4).toFixed(1)}px)` });
  const row = (i, kind) => inText(i) && h("g", { key: kind, class: `row-${kind}`, style: down(i) },
    h("rect", { x: -2, y: -1, width: 304, height: 4.4 }),
    (kind === "at" || Math.abs(now.to - position) > 4) && note(-6, 5, i, "end"));
  const color = ([shade, d]) => h("path", {
    key: shade, d, class: shade < 0 ? "minus" : "plus", "fill-opacity": ((0.85 * Math.abs(shade)) / SHADES).toFixed(3),
  });
  const name = `P: ${words.rows} ↓  ${words.columns} →`;
  return h("svg", { class: "table", viewBox: "-40 -20 346 170", role: "img", "aria-label": name },
    note(0, -7, name), cells(dims, base).map(color),
    h("rect", { class: "pair", x: 2 * pair * wide, y: -1, width: 2 * wide, height: (LAST + 1) * 2.4 + 2 }),
    row(now.to, "to"), row(position, "at"));
}

function Controls({ state, act }) {
  const slider = (label, name, min, max) => {
    const set = (value) => act.change({ [name]: value });
    return h(Slider, { label, value: state[name], min, max, step: 1, digits: 0, set });
  };
  const list = (label, name, all) => h(Choice, {
    label, value: state[name], options: all.map((value) => [value, grouped(value)]),
    set: (value) => act.change({ [name]: Number(value) }),
  });
  return h("div", { class: "controls", "data-look": "control" },
    slider(words.position, "position", 0, LAST), slider(words.shift, "shift", -FARTHEST, FARTHEST),
    list(words.dims, "dims", WIDTHS), list(words.base, "base", BASES));
}

/** What the picture says. */
function sentence({ position, shift, pair, dims, base }, { to, here, dot, omega }) {
  if (to < 0) return fill(words.outside, { to: signed(to, 0) });
  return fill(words.said, {
    i: position, to, delta: signed(shift, 0), j: pair, angle: signed(shift * omega * DEGREES, 1),
    sin: signed(here[2 * pair], 3), cos: signed(here[2 * pair + 1], 3), dot: signed(dot, 3),
    near: signed(alike(1, dims, base), 3), most: dims / 2,
  });
}

function View(parts) {
  const { state, now, wide } = parts;
  return h("div", { class: "desk" },
    h(Task, parts), h(Clocks, parts), h(Wave, parts), wide && h(Table, parts), h(Controls, parts),
    h("p", { class: "said", role: "status" }, sentence(state, now)),
    h("details", { class: "more" }, h("summary", {}, words.more), !wide && h(Table, parts),
      h("p", {}, words.hint), h("p", {}, words.direction)));
}

/** The state that a link asks for: input from a stranger. */
function begun({ position, shift, dims, pair, base }) {
  const within = (value, least, most, plain) =>
    Number.isFinite(value) ? Math.round(Math.min(most, Math.max(least, value))) : plain;
  const width = WIDTHS.includes(dims) ? dims : START.dims;
  return {
    position: within(position, 0, LAST, START.position),
    shift: within(shift, -FARTHEST, FARTHEST, START.shift),
    dims: width,
    pair: within(pair, 0, width / 2 - 1, START.pair),
    base: BASES.includes(base) ? base : START.base,
  };
}

/** A choice of fewer dimensions leaves fewer pairs. */
const actions = ({ change }) => ({
  change: (next, focused) => change(next.dims ? { ...next, pair: 0 } : next, focused),
});

export default printable({ name: "clock", style: STYLE, start: START, tasks: TASKS, View, derived, begun, actions });
