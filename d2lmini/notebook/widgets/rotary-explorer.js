// Rotary explorer: each pair of a query at position m and of a key at position n (the page calls them i and j) is a
// hand of a clock, turned by its position. The score is the sum of the pairs' products: it knows only n − m.

import { clamp, clampInteger } from "./arithmetic.js";
import { BASES, LAST, byHand, frequency, wrapped } from "./clocks.js";
import { Choice, Task, press, printable } from "./explorer.js";
import { Slider } from "./slider.js";
import { fill, grouped, signed } from "./text.js";
import { h } from "./vendor/preact/preact.min.js";
import words from "course:words";
import BESIDE from "./beside.css";
import STYLE from "./rotary-explorer.css";

const WIDTHS = [2, 4, 8, 16, 32];
const DEGREES = 180 / Math.PI;
const GRIP = 0.4; // radians: so near to a hand a press takes it, else both

const at = (angle, length = 1) => [length * Math.cos(angle), length * Math.sin(angle)];
const angleOf = ([x, y]) => Math.atan2(y, x);
const length = (pair) => Math.hypot(...pair);

/** A pair turned by an angle, counterclockwise. */
const turned = (pair, angle) => at(angleOf(pair) + angle, length(pair));

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

const each = ({ dims, base, content }, make) =>
  Array.from({ length: dims / 2 }, (_, j) => make(CONTENTS[content](j, dims, base), frequency(j, dims, base)));

/** Query and key of each pair, turned by their positions m and n: a list of {q, k}. */
const hands = ({ m, n, ...view }) =>
  each(view, ({ q, k }, speed) => ({ q: turned(q, m * speed), k: turned(k, n * speed) }));

const dot = ([a, b], [c, d]) => a * c + b * d;
const cosine = ({ q, k }) => dot(q, k) / (length(q) * length(k));
const score = (pairs) => pairs.reduce((sum, { q, k }) => sum + dot(q, k), 0);

/** Each pair as a wave over the distance: height from its lengths, speed from its clock, start from its contents. */
const waves = (view) =>
  each(view, ({ q, k }, speed) => ({ height: length(q) * length(k), speed, start: wrapped(angleOf(k) - angleOf(q)) }));

/** The score at a distance n − m: a sum of cosines, weighted by the contents. */
const scoreAt = (distance, view, list = waves(view)) =>
  list.reduce((sum, { height, speed, start }) => sum + height * Math.cos(start + distance * speed), 0);

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { CONTENTS, hands, cosine, score, scoreAt };

// ---- the state, and the tasks

const START = { m: 8, n: 12, dims: 16, base: 10000, content: "same", pair: 0 };
const PREVIOUS = { m: 20, n: 23, content: "previous" };
const ALONE = { m: 10, n: 11, dims: 2 };
const WIDE = { m: LAST, n: 0, dims: 32, pair: 8 };
const plain = (distance, more, digits = 3) => signed(scoreAt(distance, { ...START, ...more }), digits);

/** Is a state that of a task, but for the places of query and key? */
const isScene = (state, scene = {}) =>
  ["dims", "base", "content"].every((name) => state[name] === { ...START, ...scene }[name]);

const stays = () => ({ score: plain(4), angle: signed(4 * DEGREES, 0) });
const peak = () => ({ five: plain(5), most: START.dims / 2 });
const around = (distance) => ({
  distance: signed(distance, 0), score: plain(distance, ALONE),
  turns: Math.round(Math.abs(distance) / (2 * Math.PI)), angle: signed(Math.abs(distance) * DEGREES, 0),
});
const atEnd = (base) => plain(LAST, { ...WIDE, base }, 2);
const bases = () => ({ a: atEnd(10), b: atEnd(10000), c: atEnd(500000) });

/** Tasks in their order: where each begins, and what there is to tell once it is done; nothing before. */
const TASKS = [
  {
    scene: {},
    done: (state, { distance }) => isScene(state) && distance === 4 && Math.abs(state.m - START.m) >= 5 && stays(),
    answer: stays,
  },
  {
    scene: { m: 20, n: 25 }, values: { five: plain(5) },
    done: (state, { distance }) => isScene(state) && distance === -5 && peak(),
    answer: peak,
  },
  {
    scene: PREVIOUS,
    done: (state, { distance }) => isScene(state, PREVIOUS) && distance === -1 && peak(),
    answer: peak,
  },
  {
    scene: ALONE,
    values: { near: plain(1, ALONE) },
    done: (state, { distance: by, sum }) => isScene(state, ALONE) && Math.abs(by) >= 2 && sum >= 0.95 && around(by),
    answer: () => around(6), // the first of all
  },
  {
    scene: WIDE,
    values: { last: LAST, most: WIDE.dims / 2, score: atEnd(10000) },
    done: ({ dims, content, base }, { distance }) =>
      dims === WIDE.dims && content === "same" && Math.abs(distance) === LAST && base > START.base && bases(),
    answer: bases,
  },
];

const derived = (state) => ({
  pairs: hands(state), list: waves(state), distance: state.n - state.m, sum: score(hands(state)),
});

const named = (j) => fill(words.pair, { j, a: 2 * j, b: 2 * j + 1 });

// ---- the view

/** A hand from the middle of a face, to the right before it is turned by an angle; its name, if so far aside. */
function hand(name, angle, far, aside) {
  const [turn, back] = [-angle, angle].map((by) => `rotate(${by.toFixed(4)}rad)`);
  const beyond = { y: 5, style: { transform: `translate(${(far + 15).toFixed(1)}px, ${aside}px) ${back}` } };
  return h("g", { key: name, class: `hand ${name}`, style: { transform: turn } },
    h("path", { d: `M0 0H${far.toFixed(1)}` }), h("circle", { cx: far.toFixed(1) }),
    aside !== undefined && h("text", beyond, name));
}

const REACH = 84;

/** The chosen pair, large: a press beside a hand turns it, one between the hands turns both. */
function Face({ state: { m, n, dims, base, content, pair }, now, act }) {
  const { speed, start } = now.list[pair];
  const { q, k } = CONTENTS[content](pair, dims, base);
  const [toQ, toK] = [angleOf(q) + m * speed, angleOf(k) + n * speed];
  const between = (start + now.distance * speed) % (2 * Math.PI); // a way round, not the shorter one
  const aside = Math.abs(wrapped(between)) < 0.25 ? Math.sign(wrapped(between) || 1) * 11 : 0; // names side by side
  const take = (clockwise) => {
    const [offQ, offK] = [toQ, toK].map((angle) => Math.abs(wrapped(angle + clockwise - Math.PI / 2)));
    const one = offK <= offQ ? { n } : { m };
    return { from: Math.min(offQ, offK) < GRIP ? one : { m, n }, moved: 0 };
  };
  const turn = (held, radians) => {
    const [names, places] = [Object.keys(held.from), Object.values(held.from)];
    held.moved = clamp(held.moved - radians / speed, -Math.min(...places), LAST - Math.max(...places));
    act.change(Object.fromEntries(places.map((place, i) => [names[i], place + Math.round(held.moved)])));
  };
  const [x, y] = at(between, 30).map((value) => value.toFixed(1));
  const [isLong, isBack] = [Math.abs(between) > Math.PI, between < 0].map(Number);
  const size = { viewBox: "-112 -104 224 208", role: "img", "aria-label": named(pair), "data-look": "picture" };
  return h("svg", { class: "face", ...size, ...byHand(take, turn) },
    h("circle", { class: "dial", r: REACH }), h("path", { class: "dial", d: "M-92 0H92M0 92V-92" }),
    h("text", { x: 104, y: 20 }, "x"), h("text", { x: 10, y: -92 }, "y"), h("text", { x: 96, y: -78 }, "+ω"),
    h("path", { class: "way", d: "M98 -26A101 101 0 0 0 77 -66M78 -59L77 -66L84 -64" }),
    h("g", { class: "hand", style: { transform: `rotate(${-toQ.toFixed(4)}rad)` } },
      h("path", { class: "between", d: `M30 0A30 30 0 ${isLong} ${isBack} ${x} ${-y}` })),
    hand("k", toK, REACH * length(k), -aside), hand("q", toQ, REACH * length(q), aside));
}

function Clocks({ state, now, act }) {
  const clock = (pair, j) => {
    const text = fill(words.cosine, { cosine: signed(cosine(pair), 2) });
    const face = h("svg", { viewBox: "-36 -36 72 72", "aria-hidden": "true" }, h("circle", { class: "dial", r: 32 }),
      ["k", "q"].map((name) => hand(name, angleOf(pair[name]), 27 * length(pair[name]))));
    return press([face, h("span", {}, text)], () => act.change({ pair: j }), {
      key: j, class: "clock", "aria-pressed": String(j === state.pair), "aria-label": `${named(j)}: ${text}`,
    });
  };
  return h("div", { class: "clocks", role: "group", "aria-label": words.pairs }, now.pairs.map(clock));
}

function Curve({ state, now, wide }) {
  const [left, right, middle, reach, most] = [34, wide ? 440 : 340, 73, 55, state.dims / 2];
  const x = (distance) => (left + ((right - left) * (distance + LAST)) / (2 * LAST)).toFixed(1);
  const y = (value) => (middle - (reach * value) / most).toFixed(1);
  const point = (_, t) => `${x(t / 2 - LAST)} ${y(scoreAt(t / 2 - LAST, state, now.list))}`;
  const note = (across, down, text, side = "middle") => h("text", { x: across, y: down, "text-anchor": side }, text);
  const to = (down) => ({ transform: `translate(${x(now.distance)}px, ${down}px)` });
  const size = { viewBox: `0 0 ${right + 12} 150`, role: "img", "aria-label": words.curve, "data-look": "picture" };
  return h("svg", { class: "curve", ...size },
    note(left, 12, words.curve, "start"),
    [most, 0, -most].map((value) => [
      h("path", { class: "rule", d: `M${left} ${y(value)}H${right}` }),
      note(left - 5, Number(y(value)) + 4, signed(value, 0), "end"),
    ]),
    [-60, -30, 0, 30, 60].map((value) => note(x(value), 145, signed(value, 0))),
    h("path", { class: "here", d: `M0 0v${2 * reach}`, style: to(middle - reach) }),
    h("path", { class: "line", d: `M${Array.from({ length: 4 * LAST + 1 }, point).join("L")}` }),
    h("circle", { class: "dot", r: 5.5, style: to(y(now.sum)) }));
}

function Controls({ state, act }) {
  const { m, n, base } = state;
  const slider = (label, value, set, more = {}) =>
    h(Slider, { label, value, min: 0, max: LAST, step: 1, digits: 0, set, ...more });
  const both = (place) => act.change({ m: place + Math.max(0, m - n), n: place + Math.max(0, n - m) });
  const options = BASES.map((value) => [value, grouped(value)]);
  return h("div", { class: "control controls", "data-look": "control" },
    slider(words.query, m, (place) => act.change({ m: place })),
    slider(words.key, n, (place) => act.change({ n: place })),
    slider(words.both, Math.min(m, n), both, { max: LAST - Math.abs(n - m), show: () => `${m}${words.comma}${n}` }),
    h(Choice, { label: words.base, value: base, options, set: (value) => act.change({ base: Number(value) }) }));
}

function More({ state, act, children }) {
  const list = (label, name, options, set) => h(Choice, { label, value: state[name], options, set });
  const contents = Object.keys(CONTENTS).map((name) => [name, words[name]]);
  return h("details", { class: "more" }, h("summary", {}, words.more), children,
    h("div", { class: "controls" },
      list(words.dims, "dims", WIDTHS.map((d) => [d, d]), (d) => act.change({ dims: Number(d), pair: 0 })),
      list(words.content, "content", contents, (content) => act.change({ content }))),
    h("p", {}, words.hint), h("p", {}, words.direction));
}

/** What the picture says. */
function sentence({ m, n, pair }, { pairs, list, distance, sum }) {
  const [{ start, speed }, { q, k }] = [list[pair], pairs[pair]];
  return fill(words.said, {
    m, n, delta: signed(distance, 0), score: signed(sum, 3), j: pair, part: signed(dot(q, k), 3),
    angle: signed((start + distance * speed) * DEGREES, 1), cosine: signed(cosine({ q, k }), 3),
  });
}

function View(parts) {
  const { state, now, wide } = parts;
  return h("div", { class: "desk" },
    h("div", { class: "beside" }, h(Task, parts), h(Controls, parts)),
    h(Face, parts), wide && h(Clocks, parts), h(Curve, parts),
    h("p", { class: "said", role: "status" }, sentence(state, now)), h(More, parts, !wide && h(Clocks, parts)));
}

/** The state that a link asks for: input from a stranger. */
function begun({ m, n, dims, base, content, pair }) {
  const width = WIDTHS.includes(dims) ? dims : START.dims;
  return {
    m: clampInteger(m, 0, LAST), n: clampInteger(n, 0, LAST), dims: width, pair: clampInteger(pair, 0, width / 2 - 1),
    base: BASES.includes(base) ? base : START.base,
    content: Object.hasOwn(CONTENTS, content) ? content : START.content,
  };
}

export default printable({ name: "rotary", style: BESIDE + STYLE, start: START, tasks: TASKS, View, derived, begun });
