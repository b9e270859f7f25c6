// Attention explorer: a token asks, and every head answers it. All heads stand side by side as small maps, one of
// them is enlarged: its arcs, and its scores, weights and values step by step. Every number shown is computed here by
// the formula of the chapter, softmax(Q Kᵀ / √d) V.

import { clamp, clampInteger, softmax } from "./arithmetic.js";
import { svg } from "./dom.js";
import { Choice, Task, press, printable } from "./explorer.js";
import { placeByKey } from "./frame.js";
import { Slider } from "./slider.js";
import { fill, signed } from "./text.js";
import { D, MASKS, attend, embed, heads, kindOf, scores, shares, total, values } from "./tiny-attention.js";
import { h } from "./vendor/preact/preact.min.js";
import words from "course:words";
import BESIDE from "./beside.css";
import STYLE from "./attention-explorer.css";

const HEADS = heads();
const [COLDEST, HOTTEST] = [0.25, 4];
const EVEN = 0.3; // a row of five tokens without a weight above it is nearly even

/** What tests compare with PyTorch. */
export const arithmetic = { embed, heads, scores, softmax, attend, values, shares, total, MASKS };

// ---- the state, and what follows from it

const tokensOf = (sentence) => sentence.trim().split(/\s+/).filter(Boolean).slice(0, 12);
const turned = (sentence) => tokensOf(sentence).toReversed().join(" ");
const isTyped = ({ sentence }) => !words.sentences.some((one) => one === sentence || turned(one) === sentence);

/** Where the last word of a kind stands in a sentence; the first token if it has none. */
const place = (sentence, kind) => Math.max(0, tokensOf(sentence).map(kindOf).lastIndexOf(kind));
/** Who asks at first: a pronoun after other words, else the verb. */
const asking = (sentence) => place(sentence, "pronoun") || place(sentence, "verb");

const [FIRST, SECOND, THIRD] = words.sentences;
const START = { sentence: SECOND, head: 1, scale: true, mask: "none", temperature: 1, token: asking(SECOND) };

/** All that the view shows of a state; of a sentence that is too short nothing. */
function derived({ sentence, head, scale, mask, temperature, token }) {
  const tokens = tokensOf(sentence);
  if (tokens.length < 2) return { tokens: [], row: [] };
  const X = tokens.map(embed);
  const allowed = MASKS[mask](tokens.length);
  const maps = HEADS.map((one) => attend(X, one, { scale, temperature, allowed }));
  const from = Math.min(token, tokens.length - 1);
  const V = values(X, HEADS[head]);
  const row = maps[head][from];
  const points = scores(X, HEADS[head], { scale, temperature, allowed })[from];
  return { tokens, maps, from, allowed, points, row, V, parts: shares(row, V) };
}

/** So many tokens at most with the largest weights of a row, and the weights. */
function most({ tokens, row }, count, least = 0) {
  const order = row.map((weight, j) => [weight, tokens[j]]).toSorted((a, b) => b[0] - a[0]);
  const listed = order.filter(([weight]) => weight > least).slice(0, count);
  return listed.map(([weight, token]) => `${token} ${weight.toFixed(3)}`).join(words.comma);
}

const vector = (numbers) => `(${numbers.map((number) => signed(number, 2)).join(", ")})`;

// ---- tasks

const at = (more) => derived({ ...START, ...more });
const largest = (more) => Math.max(...at(more).row).toFixed(3);
const isPlain = ({ scale, mask, temperature }, more = {}) =>
  (more.scale ?? scale) && (more.mask ?? mask) === "none" && (more.temperature ?? temperature) === 1;
/** A task whose answer has the same numbers whenever it is opened; `control`: what moves the picture there. */
const task = (control, scene, told, met) =>
  ({ control, scene, values: told, answer: () => told, done: (state, now) => met(state, now) && told });

const VERB = place(SECOND, "verb");
const CATS = { sentence: FIRST, head: 0, token: 0 };
const CHASE = { sentence: THIRD, head: 2, token: place(THIRD, "verb") };
const COLD = at({}).points.indexOf(Math.min(...at({}).points)); // whom the pronoun wants least to hear

const TASKS = [
  task("heads", {}, {
    pronoun: at({}).tokens[START.token],
    verb: at({}).tokens[VERB],
    list: most(at({ token: VERB, head: 2 }), 3, 0.1),
    most: largest({ token: VERB }),
  }, ({ head, sentence }, { from }) => head === 2 && sentence === SECOND && from === VERB),
  task("scale", CATS, { token: at(CATS).tokens[0], a: largest(CATS), b: largest({ ...CATS, scale: false }) },
    (state) => !state.scale && isPlain(state, { scale: true })),
  task("mask", {}, {
    token: at({}).tokens[START.token],
    other: at({}).tokens[COLD],
    score: signed(at({}).points[COLD], 2),
    weight: at({}).row[COLD].toFixed(3),
  }, ({ mask }, { from }) => mask === "causal" && from === 0),
  task("temperature", CATS, {
    token: at(CATS).tokens[0],
    limit: EVEN,
    a: largest(CATS),
    b: largest({ ...CATS, temperature: HOTTEST }),
    n: at(CATS).tokens.length,
    even: (1 / at(CATS).tokens.length).toFixed(3),
  }, (state, { row }) => state.temperature > 1 && isPlain(state, { temperature: 1 }) && Math.max(...row) < EVEN),
  task("order", CHASE, {
    token: at(CHASE).tokens[CHASE.token],
    before: most(at(CHASE), 2),
    after: most(at({ ...CHASE, sentence: turned(THIRD) }), 2),
  }, ({ head, sentence }, { from }) => head === 2 && sentence === turned(THIRD) && from === CHASE.token),
];

// ---- the view

/** Small maps of all heads, a row for each query; the row of the token that asks is framed. */
function Maps({ state, now, act }) {
  const { tokens, maps, from, allowed } = now;
  const n = tokens.length;
  const cells = (map) => map.flatMap((row, i) => row.map((weight, j) => allowed(i, j)
    ? h("rect", { key: `${i} ${j}`, x: j, y: i, width: 0.94, height: 0.94, "fill-opacity": weight.toFixed(3) })
    : h("path", { key: `${i} ${j}`, d: `M${j + 0.2} ${i + 0.2}l.55 .55` })));
  const map = (name, head) => press([
    h("svg", { viewBox: `-.1 -.1 ${n + 0.2} ${n + 0.2}`, "aria-hidden": "true" },
      cells(maps[head]), h("rect", { class: "around", x: 0, y: from, width: n, height: 0.94 })),
    h("span", {}, h("b", {}, head + 1, " · ", name),
      h("span", { class: "best" }, tokens[from], " → ", most({ tokens, row: maps[head][from] }, 1))),
  ], () => act.change({ head }), { key: head, class: "map", "aria-pressed": String(head === state.head) });
  return h("div", { class: "maps", "data-look": "picture" },
    h("p", { class: "scale" }, words.maps, " 0 ", h("i"), " 1"),
    h("div", { class: "row", role: "group", "aria-label": words.head }, n > 0 && words.heads.map(map)));
}

function Scene({ now, act }) {
  const { tokens, row, from } = now;
  const word = (token, i) => press([h("span", {}, token), h("span", { class: "share" }, row[i].toFixed(3))],
    () => act.change({ token: i }), {
      key: i, role: "radio", "data-word": token, "aria-checked": String(i === from), tabIndex: i === from ? 0 : -1,
    });
  const onKeyDown = (event) => {
    const to = placeByKey(event, from, tokens.length);
    if (to !== undefined) act.change({ token: to }, "[role=radio][aria-checked=true]");
  };
  // a phone has room for 8 words in a row
  const rows = tokens.length > 8 ? 2 : 1;
  const style = { "--n": tokens.length, "--row": Math.ceil(tokens.length / rows) };
  return h("div", { class: "scene", "data-look": "picture", "data-rows": rows, style },
    h("svg", { class: "arcs", "aria-hidden": "true" }),
    h("div", { class: "tokens", role: "radiogroup", "aria-label": words.row, onKeyDown }, tokens.map(word)));
}

/** The whole formula for the query: score → weight → weight × value, and their sum, the output. */
function Steps({ state, now }) {
  const { tokens, points, row, V, parts, from } = now;
  if (!tokens.length) return null;
  const divisors = [state.scale && `√${D}`, state.temperature !== 1 && signed(state.temperature, 2)].filter(Boolean);
  const under = divisors.length > 1 ? `(${divisors.join(" · ")})` : divisors.join("");
  const bars = (numbers, kind) =>
    h("span", { class: `bars ${kind}`, role: "img", title: vector(numbers), "aria-label": vector(numbers) },
      numbers.map((number, c) => h("i", { key: c, style: { height: `${(100 * Math.min(1, number)).toFixed(1)}%` } })));
  const cell = (content, more) => h("td", { role: "cell", ...more }, content);
  const title = (text, kind) => h("th", { role: "columnheader", class: kind }, text);
  const name = (text, kind) => h("th", { role: "rowheader", class: kind }, text);
  const line = (token, j) => h("tr", { key: j, role: "row", class: points[j] === -Infinity ? "masked" : "" },
    name(token, "word"),
    cell(points[j] === -Infinity ? "−∞" : signed(points[j], 2)),
    cell(row[j].toFixed(3), { class: "weight", style: { "--share": row[j].toFixed(3) } }),
    cell(bars(V[j], "value")), cell(bars(parts[j], "output")));
  const named = fill(words.steps, { token: tokens[from] });
  return h("div", { class: "steps" },
    h("p", {}, named, " ",
      h("span", { class: "how" }, under ? `q·k / ${under}` : "q·k"), ` → softmax → ${words.share}. ${words.parts}`),
    h("table", { role: "table", "aria-label": named, style: { "--n": tokens.length } },
      h("tr", { role: "row" },
        title(words.column, "word key"), title(words.score), title(words.weight), title(words.value, "value"),
        title("w·v", "output")),
      tokens.map(line),
      h("tr", { role: "row", class: "sum" },
        name(words.output, "output"), cell(""), cell(""), cell(""), cell(bars(total(parts), "output")))));
}

/** What moves the picture, by name. */
const CONTROLS = {
  scale: ({ state: { scale }, act }) => press([h("span", { class: "tick" }, scale && "✓"), words.scale],
    () => act.change({ scale: !scale }), { class: "switch", role: "switch", "aria-checked": String(scale) }),
  mask: ({ state, act }) => h("div", { role: "group", "aria-label": words.mask },
    h("p", { class: "label" }, words.mask, ": ", words.masks_say[state.mask]),
    h("div", { class: "row" }, Object.keys(MASKS).map((key) =>
      press(words.masks[key], () => act.change({ mask: key }), { key, "aria-pressed": String(key === state.mask) })))),
  temperature: ({ state, act }) => h(Slider, {
    label: words.temperature, value: state.temperature, min: COLDEST, max: HOTTEST, step: 0.25, digits: 2,
    set: (temperature) => act.change({ temperature }),
  }),
  order: ({ state, now, act }) => press(["⇄ ", words.turn],
    () => act.change({ sentence: turned(state.sentence), token: now.tokens.length - 1 - now.from }),
    { class: "switch", disabled: !now.tokens.length }),
};

/** Other sentences: those of the course, and the reader's own. */
function Sentences({ state, act }) {
  const read = (sentence) => act.change({ sentence, token: asking(sentence) });
  const own = isTyped(state);
  const onInput = (event) => read(event.target.value);
  const options = [...words.sentences.entries(), ...(own ? [[-1, words.own]] : [])];
  const value = own ? -1 : words.sentences.findIndex((one) => [one, turned(one)].includes(state.sentence));
  return h("div", { class: "sentences" },
    h(Choice, { label: words.sentence, value, options, set: (i) => words.sentences[i] && read(words.sentences[i]) }),
    h("label", {}, words.own,
      h("input", { type: "text", maxLength: 80, value: state.sentence, autocomplete: "off", onInput })));
}

function View(parts) {
  const { tasks, state, now, wide } = parts;
  const { control } = tasks[state.task];
  const shown = Object.keys(CONTROLS).filter((name) => wide || name === control);
  const part = (name) => h(CONTROLS[name], { key: name, ...parts });
  const rest = Object.keys(CONTROLS).filter((name) => !shown.includes(name));
  const heard = now.row.filter(Boolean).length;
  const output = now.parts && vector(total(now.parts));
  const list = { token: now.tokens[now.from], list: most(now, 4) + (heard > 4 ? " …" : ""), output };
  return h("div", { class: "desk" },
    h("div", { class: "beside" },
      h(Task, parts), shown.length > 0 && h("div", { class: "control", "data-look": "control" }, shown.map(part))),
    h(Maps, parts), h(Scene, parts), wide && h(Steps, parts),
    h("p", { class: "said", role: "status" },
      now.tokens.length ? fill(heard ? words.listens : words.nobody, list) : words.empty),
    h("details", { class: "more" }, h("summary", {}, wide ? words.others : words.more),
      h(Sentences, parts), rest.map(part), !wide && h(Steps, parts)));
}

/** An arc from the token that asks to each, as wide as its weight; the tokens may stand in several rows. */
function drawArcs(root, state, { row }) {
  const [arcs, scene] = [root.querySelector(".arcs"), root.querySelector(".scene")];
  const chips = [...root.querySelectorAll("[role=radio]")].map((chip) => {
    const [x, top] = [chip.offsetLeft + chip.offsetWidth / 2, chip.offsetTop];
    return { x, top, low: top + chip.offsetHeight };
  });
  const asks = chips[[...root.querySelectorAll("[role=radio]")].findIndex((chip) => chip.ariaChecked === "true")];
  if (!asks || !scene.offsetWidth) return arcs.replaceChildren();
  arcs.setAttribute("viewBox", `0 0 ${scene.offsetWidth} ${scene.offsetHeight}`);
  while (arcs.childElementCount < chips.length) arcs.append(svg("path", {}));
  while (arcs.childElementCount > chips.length) arcs.lastChild.remove();
  const room = chips[0].top - 12;
  chips.forEach((chip, j) => {
    const { x, top, low } = asks;
    const rise = Math.min(asks.top === chips[0].top ? room : 30, 30 + 0.42 * Math.abs(chip.x - x)) * 1.25;
    const self = chip === asks ? 18 : 0;
    let d = `M${x - self} ${top}C${x - self} ${top - rise} ${chip.x + self} ${top - rise} ${chip.x + self} ${top}`;
    if (chip.top < top) d = `M${x} ${top}C${x} ${top - 20} ${chip.x} ${chip.low + 20} ${chip.x} ${chip.low}`;
    if (chip.top > top) d = `M${x} ${low}C${x} ${low + 20} ${chip.x} ${chip.top - 20} ${chip.x} ${chip.top}`;
    arcs.children[j].setAttribute("d", d);
    arcs.children[j].style.strokeWidth = (0.6 + 11 * row[j]).toFixed(2);
    arcs.children[j].style.strokeOpacity = row[j] ? (0.2 + 0.7 * row[j]).toFixed(3) : 0;
  });
}

/** The state that a link asks for; what makes no sense there is left out. */
const begun = (asked) => ({
  ...asked,
  sentence: asked.sentence.slice(0, 80),
  head: HEADS[asked.head] ? asked.head : START.head,
  mask: Object.hasOwn(MASKS, asked.mask) ? asked.mask : "none",
  temperature: clamp(asked.temperature, COLDEST, HOTTEST),
  token: clampInteger(asked.token, 0, Math.max(0, tokensOf(asked.sentence).length - 1)),
});

export default printable({
  name: "attention",
  style: BESIDE + STYLE,
  start: START,
  tasks: TASKS,
  View,
  derived,
  begun,
  isTyped,
  painted: drawArcs,
});
