// Rotary explorer, the clocks' second mode: each pair of a query at position m and of a key at position n (the page
// calls them i and j) is a hand, turned by its position. The score is the sum of the pairs' products: it stays while
// both slide, and knows only n − m.

import { clampInteger } from "./arithmetic.js";
import {
  BASES,
  LAST,
  baseSlider,
  clockButtons,
  compass,
  dial,
  frequency,
  hand,
  mark,
  note,
  ruled,
  turning,
} from "./clocks.js";
import { element, svg } from "./dom.js";
import { choice, frame, slider } from "./frame.js";
import { line, setSize } from "./picture.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill, signed } from "./text.js";
import { thingsToTry } from "./try-out.js";
import words from "course:words";
import STYLE from "./clocks.css";
import TRIES from "./try-out.css";

const WIDTHS = [2, 4, 8, 16, 32];

/** A pair turned by an angle, counterclockwise. */
const turned = ([x, y], angle) => [
  x * Math.cos(angle) - y * Math.sin(angle),
  x * Math.sin(angle) + y * Math.cos(angle),
];

const at = (angle, length = 1) => [length * Math.cos(angle), length * Math.sin(angle)];

/** Queries and keys to choose from, pair by pair, before they are turned. */
const CONTENTS = {
  same: () => ({ q: [1, 0], k: [1, 0] }),
  // the key is already turned on by one position: the query meets it one position earlier
  previous: (j, d, base) => ({ q: [1, 0], k: at(frequency(j, d, base)) }),
  // two vectors like any others: pairs of different lengths and directions
  mixed: (j) => ({
    q: at(2.4 * j, 0.55 + 0.45 * Math.cos(1.7 * j)),
    k: at(2.4 * j + 0.9 * Math.sin(2.1 * j), 0.6 + 0.4 * Math.sin(1.3 * j + 1)),
  }),
};

/** Query and key of each pair, turned by their positions m and n: a list of {q, k}. */
function hands({ m, n, dims, base, content }) {
  return Array.from({ length: dims / 2 }, (_, j) => {
    const { q, k } = CONTENTS[content](j, dims, base);
    const speed = frequency(j, dims, base);
    return { q: turned(q, m * speed), k: turned(k, n * speed) };
  });
}

const dot = ([a, b], [c, d]) => a * c + b * d;
const length = (pair) => Math.hypot(...pair);
const cosine = ({ q, k }) => dot(q, k) / (length(q) * length(k));
const score = (pairs) => pairs.reduce((sum, { q, k }) => sum + dot(q, k), 0);

/** From the content of a query to that of its key: an angle. */
const between = ({ q, k }) => Math.atan2(q[0] * k[1] - q[1] * k[0], dot(q, k));

/** Each pair as a wave over the distance: height from its lengths, speed from its clock, start from its contents. */
const waves = ({ dims, base, content }) =>
  Array.from({ length: dims / 2 }, (_, j) => {
    const pair = CONTENTS[content](j, dims, base);
    return { height: length(pair.q) * length(pair.k), speed: frequency(j, dims, base), start: between(pair) };
  });

/** The score at a distance n − m: a sum of cosines, weighted by the contents. */
const scoreAt = (distance, view, list = waves(view)) =>
  list.reduce((sum, { height, speed, start }) => sum + height * Math.cos(start + distance * speed), 0);

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { CONTENTS, hands, cosine, score, scoreAt };

function facts() {
  const begin = { dims: 16, base: 10000, content: "same" };
  const wide = (base) => signed(scoreAt(LAST, { ...begin, dims: 32, base }), 2);
  const one = { ...begin, dims: 2 };
  return [
    { score: signed(scoreAt(4, begin), 3) },
    { most: begin.dims / 2, five: signed(scoreAt(5, begin), 3) },
    { most: begin.dims / 2 },
    { near: signed(scoreAt(1, one), 3), six: signed(scoreAt(6, one), 3), far: signed(scoreAt(44, one), 4) },
    { last: LAST, a: wide(10), b: wide(10000), c: wide(500000), most: 16 },
  ];
}

function render({ el }) {
  const view = sharedView(el, "rotary", { m: 8, n: 12, dims: 16, base: 10000, content: "same", pair: 0 });
  view.dims = WIDTHS.includes(view.dims) ? view.dims : 16;
  view.base = BASES.includes(view.base) ? view.base : 10000;
  if (!Object.hasOwn(CONTENTS, view.content)) view.content = "same";
  view.m = clampInteger(view.m, 0, LAST);
  view.n = clampInteger(view.n, 0, LAST);
  const set = (name, value) => {
    view[name] = value;
    draw(true);
  };
  const m = slider(words.query, 0, LAST, 1, (place) => set("m", place));
  const n = slider(words.key, 0, LAST, 1, (place) => set("n", place));
  const both = slider(words.both, 0, LAST, 1, (place) => {
    const step = place - Math.min(view.m, view.n);
    view.m += step;
    seen.slid += 1;
    set("n", view.n + step);
  });
  const base = baseSlider(words.base, (value) => set("base", value));
  const widths = WIDTHS.map((d) => [d, d]);
  const dims = choice(words.dims, widths, (d) => set("dims", Number(d)));
  const contents = Object.keys(CONTENTS).map((name) => [name, words[name]]);
  const content = choice(words.content, contents, (name) => {
    seen.distances.clear();
    set("content", name);
  });
  const clocks = element("div", { class: "clocks", role: "group", "aria-label": words.pairs });
  const large = svg("svg", { role: "img" });
  const curve = svg("svg", { role: "img" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const seen = { slid: 0, distances: new Set() };
  const met = [
    () => seen.slid > 1,
    () => view.content === "same" && [...seen.distances].some((c) => c > 0 && seen.distances.has(-c)),
    () => view.content === "previous" && view.n - view.m === -1,
    () => view.dims === 2 && Math.abs(view.n - view.m) === 44,
    () => view.dims === 32 && Math.abs(view.n - view.m) === LAST && view.base !== 10000,
  ];
  const tries = thingsToTry(words, facts(), met);
  const { undress } = frame(
    el,
    "d2l-ce",
    STYLE + TRIES,
    element("div", { class: "controls" }, m.node, n.node, both.node, base.node, dims.node, content.node),
    clocks,
    compass("x", "y", false, words.direction),
    element("div", { class: "pictures" }, large, curve),
    said,
    element("p", { class: "hint" }, words.hint),
    tries.node,
  );
  let buttons = [];
  let spectrum = {};

  /** From query to key: the angle of their contents, and the turn of a pair over their distance. */
  function degrees(j) {
    const { start, speed } = waves(view)[j];
    return ((start + (view.n - view.m) * speed) * 180) / Math.PI;
  }

  function draw(share) {
    view.pair = clampInteger(view.pair, 0, view.dims / 2 - 1);
    const distance = view.n - view.m;
    m.input.value = view.m;
    n.input.value = view.n;
    both.input.max = LAST - Math.abs(distance);
    both.input.value = Math.min(view.m, view.n);
    both.input.setAttribute("aria-valuetext", `i = ${view.m}${words.comma}j = ${view.n}`);
    m.shown.textContent = view.m;
    n.shown.textContent = view.n;
    both.shown.textContent = `${view.m}${words.comma}${view.n}`;
    base.show(view.base);
    dims.input.value = view.dims;
    content.input.value = view.content;
    const pairs = hands(view);
    drawClocks(pairs);
    drawLarge(pairs[view.pair]);
    drawCurve(distance, score(pairs));
    const chosen = pairs[view.pair];
    const text = fill(words.said, {
      m: view.m,
      n: view.n,
      delta: signed(distance, 0),
      score: signed(score(pairs), 3),
      j: view.pair,
      angle: signed(degrees(view.pair), 1),
      cosine: signed(cosine(chosen), 3),
      part: signed(dot(chosen.q, chosen.k), 3),
    });
    if (said.textContent !== text) said.textContent = text;
    seen.distances.add(distance);
    tries.look();
    if (share) shareView(el, "rotary", view);
  }

  function drawClocks(pairs) {
    if (buttons.length !== pairs.length)
      buttons = clockButtons(clocks, pairs.length, (j) => set("pair", j));
    pairs.forEach((pair, j) => {
      const [face, label] = buttons[j].children;
      const text = fill(words.cosine, { cosine: signed(cosine(pair), 2) });
      buttons[j].setAttribute("aria-pressed", j === view.pair);
      buttons[j].setAttribute("aria-label", `${text} · ${pairName(j)}`);
      label.textContent = text;
      face.replaceChildren(
        ...dial(),
        ...hand(pair.q, "var(--w-query)", false),
        ...hand(pair.k, "var(--w-key)", true),
      );
    });
  }

  const pairName = (j) => fill(words.pair, { j, a: 2 * j, b: 2 * j + 1 });

  /** The chosen pair, large: query and key named, an arrow for the way in which they turn. */
  function drawLarge({ q, k }) {
    const [x0, y0, reach] = [120, 108, 72];
    const axis = { stroke: "var(--w-line)", "stroke-width": 1 };
    const drawn = ([x, y], color, dash, name) => {
      const out = 1 + 15 / (reach * Math.hypot(x, y));
      const stroke = { stroke: color, "stroke-width": dash ? 2.4 : 3.4, "stroke-dasharray": dash };
      return [
        line(x0, y0, x0 + reach * x, y0 - reach * y, { "stroke-linecap": "round", ...stroke }),
        svg("circle", { cx: x0 + reach * x, cy: y0 - reach * y, r: dash ? 4 : 5.5, fill: color }),
        note(x0 + reach * x * out, y0 - reach * y * out + 4, name, color, "middle"),
      ];
    };
    setSize(large, 260, 200, pairName(view.pair));
    large.replaceChildren(
      note(4, 14, pairName(view.pair), "var(--w-muted)"),
      svg("circle", { cx: x0, cy: y0, r: reach, fill: "none", stroke: "var(--w-line)", "stroke-width": 1.2 }),
      line(x0 - reach - 8, y0, x0 + reach + 12, y0, axis),
      line(x0, y0 + reach + 8, x0, y0 - reach - 10, axis),
      note(x0 + reach + 20, y0 + 4, "x", "var(--w-muted)", "middle"),
      note(x0 + 11, y0 - reach - 3, "y", "var(--w-muted)", "middle"),
      ...turning(x0, y0, reach + 24, 8, 42),
      note(x0 + reach + 22, y0 - 44, "+ω", "var(--w-position)"),
      ...drawn(k, "var(--w-key)", "6 5", "k"),
      ...drawn(q, "var(--w-query)", null, "q"),
    );
  }

  function drawCurve(distance, now) {
    const [left, right, middle, reach] = [40, 340, 104, 72];
    const { dims: d, base: b, content: c } = view;
    if (spectrum.key !== `${d} ${b} ${c}`) {
      // 241 sums of cosines: once for each content, not at every step of a slider
      const list = waves(view);
      const points = Array.from({ length: 4 * LAST + 1 }, (_, t) => scoreAt(t / 2 - LAST, view, list));
      spectrum = { key: `${d} ${b} ${c}`, points, most: d / 2 };
    }
    const x = (delta) => left + ((right - left) * (delta + LAST)) / (2 * LAST);
    const y = (value) => middle - (reach * value) / spectrum.most;
    const path = spectrum.points.map(
      (value, t) => `${t ? "L" : "M"}${x(t / 2 - LAST).toFixed(1)} ${y(value).toFixed(1)}`,
    );
    const side = x(distance) > right - 70 ? "end" : "start";
    setSize(curve, 366, 216, words.curve);
    curve.replaceChildren(
      note(4, 14, words.curve, "var(--w-muted)"),
      ...[spectrum.most, 0, -spectrum.most].flatMap((value) => ruled(left, right, y(value), signed(value, 0))),
      ...[-60, -30, 0, 30, 60].map((c0) => note(x(c0), 194, signed(c0, 0), "var(--w-muted)", "middle")),
      note(right, 211, words.distance, "var(--w-muted)", "end"),
      mark(x(distance), middle - reach, middle + reach),
      svg("path", { d: path.join(""), fill: "none", stroke: "var(--w-text)", "stroke-width": 1.8 }),
      svg("circle", { cx: x(distance), cy: y(now), r: 5.5, fill: "var(--w-position)" }),
      note(x(distance) + (side === "end" ? -9 : 9), middle + reach - 4, signed(now, 2), "var(--w-position)", side),
    );
  }

  draw(false);
  return undress;
}

export default { render };
