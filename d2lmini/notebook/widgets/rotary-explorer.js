// Rotary explorer, the clocks' second mode: each pair of a query at position m and of a key at position n (the page
// calls them i and j) is a hand, turned by its position. The score is the sum of the pairs' products: it stays while
// both slide, and knows only n − m.

import { clampInteger } from "./arithmetic.js";
import {
  BASES,
  LAST,
  baseSlider,
  choice,
  clockButtons,
  compass,
  dial,
  frequency,
  hand,
  slider,
  turning,
} from "./clocks.js";
import { element, svg } from "./dom.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill, signed } from "./text.js";
import { attachStyles } from "./theme.js";
import { thingsToTry } from "./try-out.js";
import words, { language } from "course:words";
import STYLE from "./clocks.css";
import TRY_STYLE from "./try-out.css";

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
  const m = slider(words.query, 0, LAST);
  const n = slider(words.key, 0, LAST);
  const both = slider(words.both, 0, LAST);
  const base = baseSlider(words.base);
  const dims = choice(
    words.dims,
    WIDTHS.map((d) => [d, String(d)]),
  );
  const content = choice(
    words.content,
    Object.keys(CONTENTS).map((name) => [name, words[name]]),
  );
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
  const tries = thingsToTry(
    words,
    facts().map((values, i) => ({ values, met: met[i] })),
  );
  const root = element(
    "div",
    { class: "d2l-ce", role: "group", "aria-label": words.title, lang: language.tag },
    element("div", { class: "controls" }, m.node, n.node, both.node, base.node, dims.node, content.node),
    clocks,
    compass("x", "y", false, words.direction),
    element("div", { class: "pictures" }, large, curve),
    said,
    element("p", { class: "hint" }, words.hint),
    tries.node,
  );
  el.append(root);
  const undress = attachStyles(el, root, "rotary-explorer", STYLE + TRY_STYLE);
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
      buttons = clockButtons(clocks, pairs.length, (j) => {
        view.pair = j;
        draw(true);
      });
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
    const text = (x, y, what, color, anchor = "middle") =>
      svg("text", { x, y, fill: color, "font-size": 13, "text-anchor": anchor }, what);
    const axis = { stroke: "var(--w-line)", "stroke-width": 1 };
    const drawn = ([x, y], color, dash, name) => {
      const out = 1 + 15 / (reach * Math.hypot(x, y));
      return [
        svg("line", {
          x1: x0,
          y1: y0,
          x2: x0 + reach * x,
          y2: y0 - reach * y,
          stroke: color,
          "stroke-width": dash ? 2.4 : 3.4,
          "stroke-dasharray": dash,
          "stroke-linecap": "round",
        }),
        svg("circle", { cx: x0 + reach * x, cy: y0 - reach * y, r: dash ? 4 : 5.5, fill: color }),
        text(x0 + reach * x * out, y0 - reach * y * out + 4, name, color),
      ];
    };
    large.setAttribute("viewBox", "0 0 260 200");
    large.setAttribute("width", 260);
    large.setAttribute("aria-label", pairName(view.pair));
    large.replaceChildren(
      text(4, 14, pairName(view.pair), "var(--w-muted)", "start"),
      svg("circle", { cx: x0, cy: y0, r: reach, fill: "none", stroke: "var(--w-line)", "stroke-width": 1.2 }),
      svg("line", { x1: x0 - reach - 8, x2: x0 + reach + 12, y1: y0, y2: y0, ...axis }),
      svg("line", { x1: x0, x2: x0, y1: y0 + reach + 8, y2: y0 - reach - 10, ...axis }),
      text(x0 + reach + 20, y0 + 4, "x", "var(--w-muted)"),
      text(x0 + 11, y0 - reach - 3, "y", "var(--w-muted)"),
      ...turning(x0, y0, reach + 24, 8, 42),
      text(x0 + reach + 22, y0 - 44, "+ω", "var(--w-position)", "start"),
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
    const text = (tx, ty, what, color, anchor) =>
      svg("text", { x: tx, y: ty, fill: color, "font-size": 13, "text-anchor": anchor }, what);
    const side = x(distance) > right - 70 ? "end" : "start";
    curve.setAttribute("viewBox", "0 0 366 216");
    curve.setAttribute("width", 366);
    curve.setAttribute("aria-label", words.curve);
    curve.replaceChildren(
      text(4, 14, words.curve, "var(--w-muted)", "start"),
      ...[spectrum.most, 0, -spectrum.most].flatMap((value) => [
        svg("line", {
          x1: left,
          x2: right,
          y1: y(value),
          y2: y(value),
          stroke: "var(--w-line)",
          "stroke-width": 0.6,
          "stroke-opacity": 0.6,
        }),
        text(left - 6, y(value) + 4, signed(value, 0), "var(--w-muted)", "end"),
      ]),
      ...[-60, -30, 0, 30, 60].map((c0) => text(x(c0), 194, signed(c0, 0), "var(--w-muted)", "middle")),
      text(right, 211, words.distance, "var(--w-muted)", "end"),
      svg("line", {
        x1: x(distance),
        x2: x(distance),
        y1: middle - reach,
        y2: middle + reach,
        stroke: "var(--w-position)",
        "stroke-width": 1.2,
      }),
      svg("path", { d: path.join(""), fill: "none", stroke: "var(--w-text)", "stroke-width": 1.8 }),
      svg("circle", { cx: x(distance), cy: y(now), r: 5.5, fill: "var(--w-position)" }),
      text(x(distance) + (side === "end" ? -9 : 9), middle + reach - 4, signed(now, 2), "var(--w-position)", side),
    );
  }

  const follow = (input, change) =>
    input.addEventListener("input", () => {
      change(Number(input.value));
      draw(true);
    });
  follow(m.input, (value) => {
    view.m = value;
  });
  follow(n.input, (value) => {
    view.n = value;
  });
  follow(both.input, (value) => {
    const step = value - Math.min(view.m, view.n);
    view.m += step;
    view.n += step;
    seen.slid += 1;
  });
  follow(base.input, () => {
    view.base = base.base();
  });
  follow(dims.input, (value) => {
    view.dims = value;
  });
  content.input.addEventListener("input", () => {
    view.content = content.input.value;
    seen.distances.clear();
    draw(true);
  });
  draw(false);
  return undress;
}

export default { render };
