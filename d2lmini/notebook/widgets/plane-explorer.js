// Attention in the plane: tokens are arrows, W_q, W_k and W_v are pairs of rings, one for each row. The reader drags
// them, and everything that the formula makes of them follows; queries and keys have one scale, and it holds meanwhile.

import { clamp, clampInteger } from "./arithmetic.js";
import { Task, lowered, press, printable } from "./explorer.js";
import { placeByKey } from "./frame.js";
import { readings } from "./number.js";
import { CATS, MILK, MISSIONS, TOKENS, attend, foot, hull, largest, opposites, product } from "./plane-arithmetic.js";
import { spread } from "./spread.js";
import { fill } from "./text.js";
import { h } from "./vendor/preact/preact.min.js";
import tokens from "course:tokens";
import words, { language } from "course:words";
import STYLE from "./plane-explorer.css";

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { TOKENS, MISSIONS, attend, foot, hull, largest, opposites, product };

const ROOM = 30; // pixels that each handle has for itself, 24 where the plane has become smaller out of sight
const NEAREST = 1.4; // how far from the axes a token may go
const GREATEST = 20; // the largest number of a matrix
// a picture: what it draws of the result, the rows that can be dragged in it and how far, its scale, its color
const PLANES = {
  tokens: { points: "X", held: "X", most: NEAREST, range: "x", color: "text" },
  queries: { points: "Q", held: "q", most: GREATEST, range: "qk", color: "query" },
  keys: { points: "K", held: "k", most: GREATEST, range: "qk", color: "key" },
  values: { points: "V", held: "v", most: GREATEST, range: "v", color: "value" },
};
const RANGES = [1.5, 3, 7, 15, 30, 60, 100]; // half a picture's width
const TURNS = [0, 1, -1, 2, -2, 3, -3, 4].map((eighth) => (eighth * Math.PI) / 4);
const GAP = 8; // pixels between two pictures
const APART = 6; // pixels: a finger that has moved so far does not tap
const HEARD = 400; // milliseconds without a change, before the result is announced

const round = (value, digits = 2) => Number(value.toFixed(digits)) || 0; // no negative zero
const shown = (value, digits = 2) => String(round(value, digits)).replace("-", "−");
const fixed = (value, digits) => round(value, digits).toFixed(digits).replace("-", "−");
const pair = (row, digits) => `(${row.map((value) => shown(value, digits)).join(", ")})`;
const rowsOf = (matrix) => matrix.map((row) => pair(row)).join(", ");
const flat = (rows) => rows.flat().join(" ");

/** Rows of two numbers from a link's text; the usual ones if it is anything else. */
function rowsIn(text, usual, most) {
  const numbers = text.split(" ").map(Number);
  if (numbers.length !== usual.length * 2 || !numbers.every(Number.isFinite)) return usual;
  return usual.map((_, i) => [2 * i, 2 * i + 1].map((at) => round(clamp(numbers[at], -most, most), 4)));
}

// ---- the state, and what follows from it

const scaled = (factor) => [[factor, 0], [0, factor]];
const START = { X: TOKENS, q: scaled(1), k: scaled(1), v: scaled(1), asking: MILK, scale: true };
const REST = { held: null, typed: null }; // the scales while something is dragged; a number that is being written

function derived(state) {
  const result = attend(state.X, state, state.scale);
  const fit = (...rows) => RANGES.find((range) => range >= 1.1 * Math.max(...rows.flat(2).map(Math.abs))) ?? 100;
  const ranges = { x: 1.5, qk: fit(result.Q, result.K, state.q, state.k), v: fit(result.V, state.v) };
  return { ...state, ...result, ranges: state.held ?? ranges };
}

/** A task: what there is to tell of a result that it asks for, and matrices that lead to one. */
function task(name, solution, tell) {
  const done = (_, now) => MISSIONS[name](now) && { m: rowsOf(product(now.q, now.k)), ...PLACES, ...tell(now) };
  return { scene: {}, done, values: PLACES, answer: () => done(null, derived({ ...START, ...solution })) };
}
const PLACES = { asker: tokens[MILK], heard: tokens[CATS] };
const TASKS = [
  task("milk", { q: [[1, 0], [1, 0]] }, ({ Q, K, scores, weights }) =>
    ({ q: pair(Q[MILK]), k: pair(K[CATS]), s: fixed(scores[MILK][CATS], 2), p: fixed(weights[MILK][CATS], 3) })),
  task("away", { q: scaled(-1) }, () => ({})),
  task("alike", { q: scaled(0) }, ({ weights }) =>
    ({ low: fixed(Math.min(...weights.flat()), 3), high: fixed(Math.max(...weights.flat()), 3) })),
  task("alone", { q: scaled(12), k: scaled(12) }, ({ asking, scores, weights, outputs, V }) => {
    const [to] = largest(weights[asking]);
    const [top, next] = scores[asking].toSorted((a, b) => b - a);
    const d = Math.hypot(outputs[asking][0] - V[to][0], outputs[asking][1] - V[to][1]).toFixed(3);
    return { asker: tokens[asking], heard: tokens[to], p: fixed(weights[asking][to], 3), gap: fixed(top - next, 1), d };
  }),
  task("same", { q: scaled(2), k: scaled(0.5) }, ({ q, k }) => ({ q: rowsOf(q), k: rowsOf(k) })),
];

// ---- a picture: arrows from 0, and what can be taken hold of

/** Places of names beside their points, outward, where nothing else stands; `taken`: left, top, right, bottom. */
function namer(size, taken) {
  return (text, [x, y], toward, far, more) => {
    const wide = 6 + [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 12.5 : 7), 0);
    const angle = Math.hypot(...toward) ? Math.atan2(-toward[1], toward[0]) : -Math.PI / 2;
    for (let out = far; out < size; out += 8)
      for (const turn of TURNS) {
        const cx = clamp(x + Math.cos(angle + turn) * (out + wide / 2 - 3), wide / 2, size - wide / 2);
        const cy = clamp(y + Math.sin(angle + turn) * (out + 4), 9, size - 9);
        const [left, top, right, bottom] = [cx - wide / 2, cy - 8.5, cx + wide / 2, cy + 8.5];
        if (taken.some(([l, t, r, b]) => left < r && l < right && top < b && t < bottom)) continue;
        taken.push([left, top, right, bottom]);
        return h("text", { "text-anchor": "middle", style: moved([cx, cy + 4]), ...more }, text);
      }
    return null;
  };
}

const moved = ([x, y]) => ({ transform: `translate(${round(x, 1)}px, ${round(y, 1)}px)` });
const turned = ([x, y]) => `rotate(${round((-Math.atan2(y, x) * 180) / Math.PI, 1)})`;
const STAR = Array.from({ length: 10 }, (_, i) => {
  const [far, angle] = [i % 2 ? 3.6 : 9, (i * Math.PI) / 5];
  return `${round(far * Math.sin(angle), 1)} ${round(-far * Math.cos(angle), 1)}`;
}).join("L");
// tokens end in arrow heads, queries in circles, keys in squares, values in triangles: color is not all
const HEADS = {
  text: "M3 0-9 5-9-5Z", query: "M-4.5 0a4.5 4.5 0 0 0 9 0a4.5 4.5 0 0 0-9 0",
  key: "M-4-4h8v8h-8Z", value: "M0-6l5.5 10h-11Z",
};

/** The line of the query through the keys, and a perpendicular from each of them. */
function lineOf(query, keys, { at, path, range, size }) {
  const length = Math.hypot(...query);
  if (length === 0) return null;
  const end = query.map((value) => (value / length) * range * (1 - 16 / size));
  const feet = keys.map((key, j) => h("g", { key: j, class: "foot", stroke: "var(--w-key)" },
    h("path", { d: path([key, foot(key, query)]), "stroke-dasharray": "2 3" }),
    h("circle", { r: 3.2, fill: "var(--w-bg)", style: moved(at(foot(key, query))) })));
  const dashed = { stroke: "var(--w-query)", "stroke-width": 1.6, "stroke-dasharray": "6 4" };
  return h("g", {}, h("path", { d: path([end.map((value) => -value), end]), ...dashed }), feet,
    h("g", { style: moved(at(end)) },
      h("path", { d: "M7 0-4 5-4-5Z", fill: "var(--w-query)", transform: turned(query) })));
}

/** The fence around the values, and from the output to each of them a line as wide as the weight. */
function fenceOf(values, weights, output, { path }) {
  const green = { fill: "var(--w-value)", "fill-opacity": 0.16, stroke: "var(--w-value)", "stroke-opacity": 0.5 };
  const orange = { stroke: "var(--w-output)", "stroke-opacity": 0.55 };
  return h("g", {}, h("path", { d: `${path(hull(values))}Z`, ...green }),
    weights.map((weight, j) =>
      h("path", { key: j, d: path([output, values[j]]), "stroke-width": round(0.5 + 5 * weight), ...orange })));
}

function Drawing({ plane, state, now, size }) {
  const { held, color } = plane;
  const [range, points, rows] = [now.ranges[plane.range], now[plane.points], state[held]];
  const at = ([x, y]) => [round(size / 2 + (x * size) / 2 / range, 1), round(size / 2 - (y * size) / 2 / range, 1)];
  const path = (corners) => `M${corners.map((corner) => at(corner).join(" ")).join("L")}`;
  const scene = { at, path, range, size };
  const [ink, isMatrix, circle] = [`var(--w-${color})`, held !== "X", Math.floor(0.8 * range)];
  const around = ([x, y], far) => [x - far, y - far, x + far, y + far];
  const taken = [...points.map((point) => around(at(point), 5)), ...rows.map((row) => around(at(row), 9))];
  const name = namer(size, taken);
  const asks = (i) => i === state.asking && ["query", "text"].includes(color);
  const strong = { fill: ink, "font-weight": 650 };
  const names = points.map((_, i) => i).toSorted((a, b) => asks(b) - asks(a)).map((i) =>
    name(tokens[i], at(points[i]), points[i], 13, { ...strong, key: i, "font-weight": asks(i) ? 650 : 400 }));
  if (isMatrix)
    names.push(...rows.map((row, i) => name(String(i + 1), at(row), row.map((value) => -value), 13, strong)));
  const arrow = (point, i) => {
    const faint = i !== state.asking && color === "query" ? 0.4 : 1;
    return h("g", { key: i, opacity: faint },
      held !== "v" && h("path", { d: path([[0, 0], point]), stroke: ink, "stroke-width": 2 }),
      h("g", { style: moved(at(point)), fill: ink },
        h("path", { class: "head", d: HEADS[color], transform: isMatrix ? null : turned(point) })));
  };
  return h("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true", "data-range": range },
    h("path", { d: `M0 ${size / 2}H${size}M${size / 2} 0V${size}`, stroke: "var(--w-hairline)" }),
    h("circle", { cx: size / 2, cy: size / 2, r: (circle * size) / 2 / range, class: "circle" }),
    isMatrix && rows.map((row, i) =>
      h("path", { key: i, d: path([[0, 0], row]), stroke: ink, "stroke-width": 6, opacity: 0.22 })),
    held === "k" && lineOf(now.Q[state.asking], points, scene),
    held === "v" && fenceOf(points, now.weights[state.asking], now.outputs[state.asking], scene),
    points.map(arrow),
    held === "v" && h("g", { class: "output", style: moved(at(now.outputs[state.asking])) },
      h("path", { d: `M${STAR}Z`, fill: "var(--w-output)", stroke: "var(--w-bg)" })),
    names,
    name(`r = ${circle}`, at([0.75 * circle, -0.75 * circle]), [1, -1], 2, { fill: "var(--w-muted)" }));
}

/**
 * Who drags: a mouse at once; a finger sideways, or in any direction once the point has been chosen by a tap. A swipe
 * up or down that begins on another point scrolls the page. The nearest of what lies below is moved.
 */
function dragging(plane, { state, now, act }) {
  const [rows, range] = [state[plane.held], now.ranges[plane.range]];
  const place = ({ currentTarget, clientX, clientY }) => {
    const { left, top, width } = currentTarget.getBoundingClientRect();
    return [clientX - left - width / 2, top + width / 2 - clientY].map((pixels) => (pixels * 2 * range) / width);
  };
  const focus = ({ currentTarget }, i) => currentTarget.querySelectorAll(".pick")[i].focus({ preventScroll: true });
  const follow = (event) => {
    act.grip.follows = true;
    event.currentTarget.setPointerCapture(event.pointerId);
    focus(event, act.grip.i);
    act.set({ held: now.ranges });
  };
  const end = (event, tapped) => {
    if (act.grip?.follows) act.set({ held: null });
    else if (act.grip && tapped) focus(event, act.grip.i);
    act.grip = null;
  };
  return {
    onPointerDown(event) {
      const pick = event.target.closest(".pick");
      if (!pick || event.button > 0 || act.grip) return;
      event.preventDefault(); // or the press takes the focus away again
      const [x, y] = place(event);
      const far = rows.map((row) => Math.hypot(row[0] - x, row[1] - y));
      const i = far.indexOf(Math.min(...far));
      act.grip = { i, offset: [rows[i][0] - x, rows[i][1] - y], from: [event.clientX, event.clientY], plane };
      if (event.pointerType !== "touch" || pick.matches(":focus")) follow(event);
    },
    onPointerMove(event) {
      const { grip } = act;
      if (grip?.plane !== plane) return;
      const [x, y] = [Math.abs(event.clientX - grip.from[0]), Math.abs(event.clientY - grip.from[1])];
      if (!grip.follows && Math.max(x, y) > APART) {
        if (y > x) act.grip = null; // the page scrolls
        else follow(event);
      }
      if (!act.grip?.follows) return;
      const [grain, edge] = [Number((range / 30).toPrecision(1)), Math.min(plane.most, range)];
      const row = place(event).map((value, axis) =>
        round(clamp(Math.round((value + grip.offset[axis]) / grain) * grain, -edge, edge)));
      act.set({ [plane.held]: rows.with(grip.i, row) });
    },
    onPointerUp: (event) => end(event, true),
    onPointerCancel: (event) => end(event, false),
  };
}

function Plane({ name, size, ...parts }) {
  const { state, now, act } = parts;
  const plane = PLANES[name];
  const [rows, range, most] = [state[plane.held], now.ranges[plane.range], plane.most];
  const push = (event, i) => {
    const length = event.shiftKey ? 0.01 : 0.1;
    const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const stretch = { PageUp: 1.25, PageDown: 0.8 }[event.key];
    // on slides these two are a remote control's, too, and turn the page
    if (!by && (!stretch || "presenting" in document.documentElement.dataset)) return;
    event.preventDefault();
    const row = rows[i].map((value, axis) => (by ? value + length * by[axis] : value * stretch));
    act.set({ [plane.held]: rows.with(i, row.map((value) => round(clamp(value, -most, most)))) });
  };
  const at = rows.map(([x, y]) => [(size / 2) * (1 + x / range), (size / 2) * (1 - y / range)]);
  const places = plane.held === "X" ? spread(at, ROOM) : at; // a row of a matrix is seen where it is held
  const pick = (row, i) => h("div", {
    key: i, class: "pick", role: "slider", tabIndex: 0, onKeyDown: (event) => push(event, i),
    "aria-label": plane.held === "X" ? tokens[i] : fill(words.row, { matrix: `W_${plane.held}`, i: i + 1 }),
    "aria-valuemin": -most, "aria-valuemax": most, "aria-valuenow": row[0], "aria-valuetext": pair(row, 4),
    style: { left: `${round((100 * places[i][0]) / size)}%`, top: `${round((100 * places[i][1]) / size)}%` },
  }, plane.held !== "X" && h("i", {}));
  const caption = words.captions[name];
  return h("div", { style: { "--ink": `var(--w-${plane.color})` } },
    h("p", { class: "caption" }, lowered(caption)),
    h("div", { class: "plane", role: "group", "aria-label": caption, ...dragging(plane, parts) },
      h(Drawing, { plane, state, now, size }), rows.map(pick)));
}

// ---- beside the pictures

function Asks({ state, act }) {
  const walk = (event) => {
    const to = placeByKey(event, state.asking, tokens.length);
    if (to !== undefined) act.change({ asking: to, typed: null }, "[role=radio][aria-checked=true]");
  };
  const radio = (token, i) => press(token, () => act.set({ asking: i }), {
    key: i, role: "radio", "aria-checked": String(i === state.asking), tabIndex: i === state.asking ? 0 : -1,
  });
  return h("div", { class: "asks", "data-look": "control" }, h("p", { class: "name" }, words.asking),
    h("div", { class: "row", role: "radiogroup", "aria-label": words.asking, onKeyDown: walk }, tokens.map(radio)));
}

function Bars({ state, now }) {
  const bar = (weight, j) => h("div", { key: j, class: "bar" }, h("span", { class: "token" }, tokens[j]),
    h("span", { class: "track" }, h("i", { style: { width: `${round(100 * weight, 1)}%` } })),
    h("span", { class: "p" }, weight.toFixed(3)));
  const [x, y] = now.outputs[state.asking].map((value) => fixed(value, 3));
  return h("div", { class: "bars" }, h("div", { "data-look": "picture" }, now.weights[state.asking].map(bar)),
    h("p", { class: "name" }, fill(words.output, { x, y })));
}

const framed = (name, color, cells) => h("div", { class: "matrix", role: "group", "aria-label": name, key: name },
  h("span", { style: { color: `var(--w-${color})` } }, lowered(name)), h("div", { class: "rows" }, cells));

/** A number as readers write it is taken; what is none, or too large, changes nothing. */
function Matrices({ state, act }) {
  const { typed } = state;
  const cell = (name, i, j) => {
    const place = `${name}${i}${j}`;
    const take = ({ target: { value: text } }) => {
      const read = readings(text, language).filter((value) => Math.abs(value) <= GREATEST);
      if (read.length !== 1) return act.set({ typed: { place, text, refused: true } });
      const row = state[name][i].with(j, round(read[0], 4));
      return act.set({ [name]: state[name].with(i, row) });
    };
    return h("input", {
      key: place, type: "text", inputMode: "text", // a phone's keyboard for decimals has no minus
      autocomplete: "off", "aria-label": fill(words.cell, { matrix: `W_${name}`, i: i + 1, j: j + 1 }),
      "aria-invalid": typed?.refused && typed.place === place ? "true" : null,
      value: typed?.place === place ? typed.text : shown(state[name][i][j], 4),
      onInput: (event) => act.set({ typed: { place, text: event.target.value } }), onChange: take,
      // JupyterLab keeps the key from the browser, which would tell of the change
      onKeyDown: (event) => event.key === "Enter" && take(event),
    });
  };
  const cells = (name) => [0, 1].flatMap((i) => [0, 1].map((j) => cell(name, i, j)));
  return h("div", { class: "matrices" }, Object.values(PLANES).slice(1).map(({ held, color }) =>
    framed(`W_${held}`, color, cells(held))),
    h("p", { class: "refused", role: "alert" }, typed?.refused && fill(words.refused, typed)));
}

function More({ state, now, act, wide }) {
  const line = (row, i) => h("tr", { key: i, "data-asks": i === state.asking }, h("th", { scope: "row" }, tokens[i]),
    row.map((weight, j) => h("td", { key: j, style: { "--share": round(weight) } }, weight.toFixed(2))));
  const scores = now.scores[state.asking].map((score, j) => h("td", { key: j }, fixed(score, 2)));
  const numbers = product(state.q, state.k).flat().map((value, i) => h("span", { key: i }, shown(value)));
  const head = h("tr", {}, h("td", {}), tokens.map((token) => h("th", { key: token, scope: "col" }, token)));
  return h("details", { class: "more" }, h("summary", {}, words.more),
    !wide && h(Matrices, { state, act }),
    h("div", { class: "row" }, framed("W_qW_kᵀ", "text", numbers),
      press([state.scale ? "☑ " : "☐ ", words.scale], () => act.set({ scale: !state.scale }),
        { role: "checkbox", "aria-checked": String(state.scale) })),
    h("table", {}, h("caption", {}, words.all), h("thead", {}, head), h("tbody", {}, now.weights.map(line)),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, words.score), scores))),
    h("p", { class: "hint" }, words.hint), h("p", { class: "hint" }, words.keyboard));
}

function View(parts) {
  const { state, act, wide } = parts;
  const size = act.grid?.clientWidth ? (act.grid.clientWidth - GAP) / 2 : 170; // it is measured as soon as it is shown
  const planes = Object.keys(PLANES).map((name) => h(Plane, { key: name, name, size, ...parts }));
  const held = { "data-held": String(Boolean(state.held)), ref: (node) => (act.grid = node) };
  return h("div", { class: "desk" }, h(Task, parts), h(Asks, parts),
    h("div", { class: "planes", "data-look": "picture", ...held }, planes), h(Bars, parts),
    wide && h(Matrices, parts), h(More, parts), h("p", { class: "said unseen", role: "status" }));
}

/** Say who is heard once the hand rests: a change comes with every step of it. */
function announce(mount, { asking }, { weights, outputs }) {
  const said = mount.querySelector(".said");
  const order = weights[asking].map((weight, j) => [weight, j]).toSorted((a, b) => b[0] - a[0] || a[1] - b[1]);
  const list = order.map(([weight, j]) => `${tokens[j]} ${weight.toFixed(3)}`).join(words.comma);
  const [x, y] = outputs[asking].map((value) => fixed(value, 3));
  const [news, before] = [fill(words.listens, { token: tokens[asking], list, x, y }), said.news];
  said.news = news;
  if (before === undefined || before === news) return;
  clearTimeout(said.timer);
  said.timer = setTimeout(() => said.isConnected && (said.textContent = news), HEARD);
}

export default printable({
  name: "plane",
  style: STYLE,
  start: START,
  rest: REST,
  tasks: TASKS,
  View,
  derived,
  painted: announce,
  actions: ({ change }) => ({ set: (next) => change({ typed: null, ...next }) }),
  link: ({ X, q, k, v, asking, scale }) => ({ tokens: flat(X), q: flat(q), k: flat(k), v: flat(v), asking, scale }),
  begun: (asked) => ({
    X: rowsIn(asked.tokens, TOKENS, NEAREST),
    q: rowsIn(asked.q, START.q, GREATEST),
    k: rowsIn(asked.k, START.k, GREATEST),
    v: rowsIn(asked.v, START.v, GREATEST),
    asking: clampInteger(asked.asking, 0, tokens.length - 1),
    scale: asked.scale,
  }),
});
