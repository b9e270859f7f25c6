// Path explorer: choose an input and an output, see the shortest path between them in a CNN, an RNN and self-attention;
// then move n, d and k and see which of the three is cheapest, and by which way of counting.

import { clampInteger } from "./arithmetic.js";
import { Choice, Task, explorer, press } from "./explorer.js";
import { placeByKey } from "./frame.js";
import { Slider } from "./slider.js";
import { fill, grouped, plural } from "./text.js";
import { h } from "./vendor/preact/preact.min.js";
import words from "course:words";
import STYLE from "./path-explorer.css";

const KINDS = ["convolution", "recurrent", "attention"];
const TOKENS = 7;
const ENDS = ["from", "to"];
const COLOR = { convolution: "cnn", recurrent: "rnn", attention: "attention" };
const DASH = { convolution: "1.5 5", recurrent: "7 4", attention: "none" };
const SIZES = Array.from({ length: 29 }, (_, s) => (s % 2 ? 3 : 2) * 2 ** (1 + (s >> 1))); // 4, 6, 8, 12 … 65 536
const WIDTHS = Array.from({ length: 9 }, (_, s) => 8 * 2 ** s);
const KERNELS = [3, 5, 7];

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
  return { paths: KINDS.map((kind) => shortestPath(kind, from, to, k)), costs, prices, least, cheapest };
}

const counted = (forms, name, value) => fill(plural(forms, value), { [name]: value });
const edges = (path) => (path ? counted(words.edges, "e", path.length - 1) : words.none);
const isRight = (guess, path) => Number(guess) === (path ? path.length - 1 : 0);
const guessed = ({ guesses }, { paths }) => ({
  c: edges(paths[0]), r: edges(paths[1]), s: edges(paths[2]),
  right: paths.filter((path, i) => guesses?.[i] && isRight(guesses[i], path)).length,
});
const WIDER = { from: 1, to: TOKENS };
const ORDERS = derived({ ...START, counting: "order" });
const [NARROW, WIDE] = [3, 7].map((k) => derived({ ...START, ...WIDER, k }));
const TIE = { n: 64, k: 7 };
/** `control`: what moves the picture of a task; `met`: is a state the one that was asked for. */
const task = (control, scene, told, met) =>
  ({ control, scene, values: told, answer: () => told, done: (state, now) => met(state, now) && told });

const TASKS = [
  task("", {}, {}, (_, { paths }) => !paths[1]),
  { control: "", scene: { to: 6, k: 5, guesses: ["", "", ""] }, values: { a: 1, b: 6, k: 5 },
    done: (state, now) => state.guesses?.every(Boolean) && guessed(state, now) },
  task("k", WIDER, {
    a: edges(NARROW.paths[0]), b: edges(WIDE.paths[0]),
    x: grouped(NARROW.costs.convolution), y: grouped(WIDE.costs.convolution),
  }, ({ from, to }, { paths }) => Math.abs(to - from) === TOKENS - 1 && paths[0].length === 3),
  task("counting", { counting: "order" }, { ...START, before: ORDERS.cheapest, after: derived(START).cheapest },
    ({ n, d, k }, { cheapest }) => n === START.n && d === START.d && k === START.k && cheapest !== ORDERS.cheapest),
  task("n", TIE, { ...START, ...TIE, tie: 96 }, ({ n, d, k, counting }, { costs }) =>
    d === START.d && k === TIE.k && counting === START.counting && n > 4 && costs.attention === costs.convolution),
];

// ---- the view

function Network({ kind, i, state, now, act, wide }) {
  const { k, guesses } = state;
  const known = !guesses || guesses[i] !== "";
  const path = known && now.paths[i];
  const levels = kind === "convolution" ? now.paths[i].length - 1 : 1; // as deep as this pair needs
  const [tall, edge] = wide ? [290, 42] : [92, 20]; // there three stand side by side
  const x = (position) => 48 * (position - 0.5);
  const y = (level) => tall - edge - (level * (tall - 2 * edge)) / levels;
  const radius = { convolution: (k - 1) / 2, recurrent: 0, attention: TOKENS }[kind];
  const all = Array.from({ length: TOKENS }, (_, at) => at + 1);
  const step = (a, b) => `M${x(a[1])} ${y(a[0])}L${x(b[1])} ${y(b[0])}`;
  const faint = Array.from({ length: levels }, (_, level) => all.map((a) => all.map((b) =>
    Math.abs(a - b) <= radius ? step([level, a], [level + 1, b]) : ""))).flat(2);
  if (kind === "recurrent") faint.push(...all.slice(1).map((b) => step([1, b - 1], [1, b])));
  const lit = (level, at) => path && path.some((node) => node[0] === level && node[1] === at);
  const nodes = Array.from({ length: levels + 1 }, (_, level) => all.map((at) =>
    h("circle", { key: `${level} ${at}`, cx: x(at), cy: y(level), "data-lit": lit(level, at) })));
  const number = (at, level, end) => h("text", {
    key: `${level} ${at}`, x: x(at), y: level ? edge / 2 + 2 : tall - 2, "data-on": at === state[end],
  }, at);
  const onClick = ({ currentTarget, clientX, clientY }) => {
    const box = currentTarget.getBoundingClientRect();
    const at = clampInteger(0.5 + (TOKENS * (clientX - box.left)) / box.width, 1, TOKENS);
    if (!guesses) act.change({ [clientY > box.top + box.height / 2 ? "from" : "to"]: at });
  };
  const length = edges(now.paths[i]);
  const name = h("b", {}, words.names[i]);
  const set = (guess) => act.change({ guesses: guesses.with(i, guess) });
  const options = [["", "?"], ...all.map((e) => [e, counted(words.edges, "e", e)]), [0, words.none]];
  const right = known && guesses && (isRight(guesses[i], now.paths[i]) ? " ✓" : ` ✗ ${words.not} ${guesses[i]}`);
  return h("figure", { style: { "--hue": `var(--w-${COLOR[kind]})`, "--dash": DASH[kind] } },
    h("svg", { viewBox: `0 0 ${48 * TOKENS} ${tall}`, role: "img", "aria-label": `${words.names[i]}: ${known ? length : "?"}`, onClick },
      h("path", { class: "faint", d: faint.join("") }),
      path && h("path", { key: path.join(" "), class: "lit", d: path.slice(1).map((b, t) => step(path[t], b)).join("") }),
      nodes, all.map((at) => [number(at, 0, "from"), number(at, 1, "to")])),
    h("figcaption", {}, known ? [name, length, right] : h(Choice, { label: name, value: "", options, set })));
}

/** The two ends of the path: what the picture takes by a touch, by keys, too. */
function Ends({ state, act }) {
  const end = (name) => {
    const onKeyDown = (event) => {
      const to = placeByKey(event, state[name] - 1, TOKENS);
      if (to !== undefined) act.change({ [name]: to + 1 }, `.${name} [aria-checked=true]`);
    };
    const one = (_, i) => press(i + 1, () => act.change({ [name]: i + 1 }), {
      key: i, role: "radio", "aria-checked": String(i + 1 === state[name]), tabIndex: i + 1 === state[name] ? 0 : -1,
    });
    return h("div", { key: name, class: `end ${name}` }, h("span", { class: "label" }, words[name]),
      h("div", { role: "radiogroup", "aria-label": words[name], onKeyDown }, Array.from({ length: TOKENS }, one)));
  };
  return h("div", { class: "ends" }, ENDS.toReversed().map(end));
}

/** A slider along a list of numbers. */
const along = (name, list) => ({ state, act }) => h(Slider, {
  label: words[name], value: list.indexOf(state[name]), min: 0, max: list.length - 1, step: 1,
  show: (place) => grouped(list[place]), set: (place) => act.change({ [name]: list[place] }),
});
const CONTROLS = {
  k: along("k", KERNELS),
  n: along("n", SIZES),
  d: along("d", WIDTHS),
  counting: ({ state, act }) => h(Choice, {
    label: words.counting, value: state.counting, options: Object.entries(words.conventions),
    set: (counting) => act.change({ counting }),
  }),
};

function Prices({ now, looked }) {
  const cell = (value, c) => h("td", { key: c, "data-least": value === now.least[c] }, grouped(value),
    value === now.least[c] && h("small", {}, words.cheapest));
  const row = (name, i) => h("tr", { key: i }, h("th", { scope: "row" }, name), now.prices[i].map(cell));
  return h("table", { class: "prices", "data-look": looked ? "picture" : null },
    h("thead", {}, h("tr", {}, words.columns.map((name) => h("th", { key: name, scope: "col" }, name)))),
    h("tbody", {}, words.names.map(row)));
}

function View(parts) {
  const { tasks, state, now, wide } = parts;
  const { control } = tasks[state.task];
  const priced = control === "counting" || control === "n"; // the task is about the table, not the networks
  const [c, r, s] = now.paths.map(edges);
  const { from: a, to: b, d, k } = state;
  const said = priced ? fill(words.costs, { n: grouped(state.n), d: grouped(d), k, who: now.cheapest })
    : state.guesses && !state.guesses.every(Boolean) ? "" : fill(words.said, { a, b, c, r, s });
  const networks = h("div", { class: "networks", "data-look": priced ? null : "picture" },
    KINDS.map((kind, i) => h(Network, { key: kind, kind, i, ...parts })));
  const prices = h(Prices, { now, looked: priced });
  const ends = !state.guesses && h(Ends, parts);
  const rest = Object.keys(CONTROLS).filter((name) => name !== control);
  return h("div", { class: "desk", "data-priced": priced },
    h("div", { class: "side" }, h(Task, parts),
      (control || ends) && h("div", { class: "control", "data-look": "control" },
        control && h(CONTROLS[control], parts), !priced && ends)),
    (wide || !priced) && networks, (wide || priced) && prices,
    h("p", { class: "said", role: "status" }, said),
    h("details", { class: "more" }, h("summary", {}, words.more),
      rest.map((name) => h(CONTROLS[name], { key: name, ...parts })),
      priced && ends, !wide && (priced ? networks : prices)));
}

/** The state that a link asks for, within what can be set. */
function begun(asked) {
  const near = (list, value) => list.toSorted((a, b) => Math.abs(a - value) - Math.abs(b - value))[0];
  return {
    from: clampInteger(asked.from, 1, TOKENS),
    to: clampInteger(asked.to, 1, TOKENS),
    n: near(SIZES, asked.n),
    d: near(WIDTHS, asked.d),
    k: KERNELS.includes(asked.k) ? asked.k : START.k,
    counting: Object.hasOwn(words.conventions, asked.counting) ? asked.counting : START.counting,
  };
}

export default explorer({ name: "path", style: STYLE, start: START, rest: REST, tasks: TASKS, View, derived, begun });
