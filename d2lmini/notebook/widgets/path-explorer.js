// Path explorer: choose an input and an output, see the shortest path between them in a CNN, an RNN and self-attention;
// then move n, d and k and see which of the three is cheapest, and by which way of counting.

import { clampInteger } from "./arithmetic.js";
import { Choice, Task, explorer } from "./explorer.js";
import { Slider } from "./slider.js";
import { fill, grouped, plural } from "./text.js";
import { h } from "./vendor/preact/preact.min.js";
import words from "course:words";
import BESIDE from "./beside.css";
import STYLE from "./path-explorer.css";

const KINDS = ["convolution", "recurrent", "attention"];
const TOKENS = 7;
const COLOR = { convolution: "cnn", recurrent: "rnn", attention: "attention" };
const DASH = { convolution: "2 7", recurrent: "14 8", attention: "none" };
const ALL = Array.from({ length: TOKENS }, (_, at) => at + 1);
// what can be set by a slider; n doubles in two steps: 4, 6, 8, 12 … 65 536
const SIZES = Array.from({ length: 29 }, (_, s) => (s % 2 ? 3 : 2) * 2 ** (1 + (s >> 1)));
const LISTS = { from: ALL, to: ALL, n: SIZES, d: Array.from({ length: 9 }, (_, s) => 8 * 2 ** s), k: [3, 5, 7] };

/** Nodes [level, position] of a shortest path from input a to output b (from 1), or null where there is none. */
function shortestPath(kind, a, b, k) {
  if (kind === "attention") return [[0, a], [1, b]];
  if (kind === "recurrent") return b < a ? null : [[0, a], ...Array.from({ length: b - a + 1 }, (_, t) => [1, a + t])];
  const radius = (k - 1) / 2;
  const layers = Math.max(1, Math.ceil(Math.abs(b - a) / radius));
  const at = (level) => a + Math.sign(b - a) * Math.min(level * radius, Math.abs(b - a));
  return Array.from({ length: layers + 1 }, (_, level) => [level, at(level)]);
}

/** Multiply-adds of one layer, counted by one of the three conventions of the chapter. */
function multiplyAdds(n, d, k, convention) {
  if (convention === "order") return { convolution: k * n * d * d, recurrent: n * d * d, attention: n * n * d };
  const projections = convention === "projections" ? 4 * n * d * d : 0;
  return { convolution: k * n * d * d, recurrent: 2 * n * d * d, attention: 2 * n * n * d + projections };
}

const sequentialSteps = (kind, n) => (kind === "recurrent" ? n : 1);

function longestPath(kind, n, k) {
  if (kind === "attention") return 1;
  return kind === "recurrent" ? n : Math.max(1, Math.ceil((n - 1) / ((k - 1) / 2)));
}

/** What a test compares with the package. */
export const arithmetic = { shortestPath, multiplyAdds, sequentialSteps, longestPath };

// ---- the state, its tasks, and what follows from it

const START = { from: 1, to: 5, n: 32, d: 64, k: 3, counting: "projections" };
const REST = { guesses: null }; // of edges, a text for each network, "": not yet; null: nobody asks for guesses

/** Shortest paths, and the prices of one layer of each kind: arithmetic, steps in a row, longest path. */
function derived({ from, to, n, d, k, counting }) {
  const costs = multiplyAdds(n, d, k, counting);
  const prices = KINDS.map((kind) => [costs[kind], sequentialSteps(kind, n), longestPath(kind, n, k)]);
  const least = [0, 1, 2].map((c) => Math.min(...prices.map((row) => row[c])));
  const cheapest = words.names.filter((_, i) => prices[i][0] === least[0]).join(" = ");
  const lengths = KINDS.map((kind) => (shortestPath(kind, from, to, k)?.length ?? 1) - 1);
  return { lengths, costs, prices, least, cheapest };
}

const edges = (e) => (e ? fill(plural(words.edges, e), { e }) : words.none);
const named = ([c, r, s]) => ({ c: edges(c), r: edges(r), s: edges(s) });
const ORDERS = derived({ ...START, counting: "order" });
const [NARROW, WIDE] = [3, 7].map((k) => derived({ ...START, to: TOKENS, k }));
/** `controls`: what moves the picture of a task, by name; `met`: is a state the one that was asked for. */
const task = (controls, scene, told, met) =>
  ({ controls, scene, values: told, answer: () => told, done: (state, now) => met(state, now) && told });

const TASKS = [
  task(["to", "from"], {}, {}, (_, { lengths }) => !lengths[1]),
  { controls: [], scene: { to: 6, k: 5, guesses: ["", "", ""] }, values: { a: 1, b: 6, k: 5 },
    done: ({ guesses }, { lengths }) => guesses?.every(Boolean) &&
      { ...named(lengths), right: lengths.filter((e, i) => e === Number(guesses[i])).length } },
  task(["k"], { to: TOKENS }, {
    a: edges(NARROW.lengths[0]), b: edges(WIDE.lengths[0]),
    x: grouped(NARROW.costs.convolution), y: grouped(WIDE.costs.convolution),
  }, ({ from, to }, { lengths }) => from === 1 && to === TOKENS && lengths[0] === 2),
  task(["counting"], { counting: "order" }, { ...START, before: ORDERS.cheapest, after: derived(START).cheapest },
    ({ n, d, k }, { cheapest }) => n === 32 && d === 64 && k === 3 && cheapest !== ORDERS.cheapest),
  task(["n"], { n: 64, k: 7 }, { n: 64, d: 64, tie: 96 }, ({ d, k, counting }, { costs }) =>
    d === 64 && k === 7 && counting === "projections" && costs.attention === costs.convolution),
];
const PRICED = 3; // from this task on the table is what to look at, not the networks

// ---- the view

function Network({ kind, i, state, now, act, wide }) {
  const { k, guesses, ...ends } = state;
  const [guess, length] = [guesses?.[i], now.lengths[i]];
  const path = guess !== "" && shortestPath(kind, ends.from, ends.to, k);
  const levels = kind === "convolution" ? length : 1; // as deep as this pair needs
  const [tall, edge] = wide ? [360, 42] : [92, 20]; // there three stand side by side
  const x = (at) => 48 * (at - 0.5);
  const y = (level) => tall - edge - (level * (tall - 2 * edge)) / levels;
  const step = (a, b) => `M${x(a[1])} ${y(a[0])}L${x(b[1])} ${y(b[0])}`;
  const drawn = (along) => along.slice(1).map((b, t) => step(along[t], b)).join("");
  const reach = { convolution: (k - 1) / 2, recurrent: 0, attention: TOKENS }[kind];
  const seen = (a) => ALL.filter((b) => Math.abs(a - b) <= reach);
  const rows = [...Array(levels + 1).keys()];
  const faint = rows.slice(1).flatMap((to) => ALL.flatMap((a) => seen(a).map((b) => step([to - 1, a], [to, b]))));
  if (kind === "recurrent") faint.push(step([1, 1], [1, TOKENS]));
  const isLit = (level, at) => path && path.some((node) => node[0] === level && node[1] === at);
  const nodes = rows.map((level) => ALL.map((at) =>
    h("circle", { key: `${level} ${at}`, cx: x(at), cy: y(level), "data-lit": isLit(level, at) })));
  const numbers = ALL.map((at) => [
    h("text", { key: `${at} below`, x: x(at), y: tall - 2, "data-on": at === ends.from }, at),
    h("text", { key: `${at} above`, x: x(at), y: edge / 2 + 2, "data-on": at === ends.to }, at)]);
  const onClick = ({ currentTarget, clientX, clientY }) => {
    const box = currentTarget.getBoundingClientRect();
    const at = clampInteger(0.5 + (TOKENS * (clientX - box.left)) / box.width, 1, TOKENS);
    if (!guesses) act.change({ [clientY > box.top + box.height / 2 ? "from" : "to"]: at });
  };
  const name = h("b", {}, words.names[i]);
  const set = (e) => act.change({ guesses: guesses.with(i, e) });
  const options = [["", "?"], ...[...ALL, 0].map((e) => [e, edges(e)])];
  const mark = guess && (Number(guess) === length ? " ✓" : ` ✗ ${guess}`);
  const label = `${words.names[i]}: ${path === false ? "?" : edges(length)}`;
  return h("figure", { style: { "--hue": `var(--w-${COLOR[kind]})`, "--dash": DASH[kind] } },
    h("svg", { viewBox: `0 0 ${48 * TOKENS} ${tall}`, role: "img", "aria-label": label, onClick },
      h("path", { class: "faint", d: faint.join("") }),
      path && h("path", { key: path.join(" "), class: "lit", d: drawn(path) }),
      nodes, numbers),
    h("figcaption", {},
      guess === "" ? h(Choice, { label: name, value: "", options, set }) : [name, h("span", {}, edges(length), mark)]));
}

function Control({ name, state, act }) {
  const [label, value, list] = [words[name], state[name], LISTS[name]];
  const set = (next) => act.change({ [name]: list ? list[next] : next });
  if (!list) return h(Choice, { label, value, options: Object.entries(words.conventions), set });
  const show = (place) => grouped(list[place]);
  return h(Slider, { label, value: list.indexOf(value), min: 0, max: list.length - 1, step: 1, show, set });
}

function Prices({ state, now }) {
  const cell = (value, c) => h("td", { key: c, "data-least": value === now.least[c] }, grouped(value),
    value === now.least[c] && h("small", {}, words.cheapest));
  const row = (name, i) => h("tr", { key: i }, h("th", { scope: "row" }, name), now.prices[i].map(cell));
  return h("table", { class: "prices", "data-look": state.task < PRICED ? null : "picture" },
    h("thead", {}, h("tr", {}, words.columns.map((name) => h("th", { key: name, scope: "col" }, name)))),
    h("tbody", {}, words.names.map(row)));
}

function View(parts) {
  const { tasks, state, now, wide } = parts;
  const { from: a, to: b, n, d, k, guesses } = state;
  const { controls } = tasks[state.task];
  const priced = state.task >= PRICED;
  const path = guesses?.includes("") ? "" : fill(words.said, { a, b, ...named(now.lengths) });
  const part = (name) => h(Control, { key: name, name, ...parts });
  const networks = h("div", { class: "networks", "data-look": priced ? null : "picture" },
    KINDS.map((kind, i) => h(Network, { key: kind, kind, i, ...parts })));
  const prices = h(Prices, parts);
  return h("div", { class: "desk" },
    h("div", { class: "beside" }, h(Task, parts),
      controls.length > 0 && h("div", { class: "control", "data-look": "control" }, controls.map(part))),
    (wide || !priced) && networks, (wide || priced) && prices,
    h("p", { class: "said", role: "status" },
      priced ? fill(words.costs, { n: grouped(n), d: grouped(d), k, who: now.cheapest }) : path),
    h("details", { class: "more" }, h("summary", {}, words.more),
      [...Object.keys(LISTS), "counting"].filter((name) => !controls.includes(name)).map(part),
      !wide && (priced ? networks : prices)));
}

/** The state that a link asks for, within what can be set. */
function begun({ counting, ...asked }) {
  const near = (list, value) => list.findLast((one) => one <= value) ?? list[0];
  const set = Object.entries(LISTS).map(([name, list]) => [name, near(list, asked[name])]);
  const known = Object.hasOwn(words.conventions, counting);
  return { ...Object.fromEntries(set), counting: known ? counting : START.counting };
}

const style = BESIDE + STYLE;
export default explorer({ name: "path", style, start: START, rest: REST, tasks: TASKS, View, derived, begun });
