// Block stepper: a sentence walks through a trained model of the course, stop by stop. The row of the token that the
// reader follows travels from box to box; every tensor that is shown is computed here, in the page.
//
// What is shown is a function of one state; Preact brings the page to it. `change` is the only way to another state.

import {
  SENTENCES, SIZES, STOPS, candidates, decoderWalk, encoderWalk, moments, runnerUp, zeros,
} from "./block-walk.js";
import { clamp, clampInteger } from "./arithmetic.js";
import { Choice, Loading, Task, explorer, press } from "./explorer.js";
import { placeByKey } from "./frame.js";
import { fill, signed } from "./text.js";
import { splitTokens } from "./tokens.js";
import { EOS, Transformer, readCheckpoint } from "./transformer.js";
import { h } from "./vendor/preact/preact.min.js";
import { DIRECTIONS } from "./weights.js";
import kept from "course:first";
import words from "course:words";
import STYLE from "./block-explorer.css";

const load = (bytes) => new Transformer(readCheckpoint(bytes));

// numbers are kept in hundredths
const first = { ...kept, embedding: kept.embedding.map((row) => row.map((number) => number / 100)) };

/** What tests compare with PyTorch. */
export const arithmetic = { STOPS, SENTENCES, first, load, encoderWalk, decoderWalk };

const TENSORS = ["weights", "Q", "K", "V", "heads", "output"]; // of an attention
const FIRST_OF_DECODER = STOPS.findIndex(({ side }) => side === "decoder");
const LEVELS = 16; // of a color
const SHADE = 0.9; // of the largest number
const { num_hiddens: D, ffn_num_hiddens: HIDDEN, num_heads: HEADS } = SIZES;

const shapeOf = (...sizes) => ` (${sizes.join(",\u00a0")})`;
const largestOf = (rows) => Math.max(...rows.map((row) => row.reduce((most, x) => Math.max(most, Math.abs(x)), 0)));
const kindOf = ({ part }) => part.replace(/^addnorm\d$/, "addnorm");
const isAttention = (stop) => kindOf(stop).startsWith("attention");

function placeOf(stop) {
  const name = words.names[kindOf(stop)] ?? words.parts[kindOf(stop)];
  const place = stop.block === undefined ? words.place : words.place_block;
  return fill(place, { side: words[stop.side], name, b: stop.block + 1 });
}

/** The name of a tensor of a stop in the trace. */
function nameOf(stop, part) {
  if (part === "norm") return stop.name;
  if (stop.block === undefined) return `${stop.side}.${part}`;
  return `${stop.name}.${part === "ffn" ? "output" : part}`;
}

/** The tensors that a stop shows: the last one goes on to the next stop. */
function partsOf(stop, tensor) {
  const parts = { embedding: ["embedding"], position: ["position", "input"], addnorm: ["sum", "norm"] };
  return { ...parts, ffn: ["relu", "ffn"], softmax: [] }[kindOf(stop)] ?? (tensor === "weights" ? [] : [tensor]);
}

// ---- the state, and what follows from it

const START = {
  direction: first.direction, sentence: first.sentence, written: "",
  stop: STOPS[0].name, tensor: TENSORS[0],
  token: 0, mark: 0, // what is followed, of the source and of the target
};
const REST = { candidate: 0, column: 0 };
const inLanguage = (direction) => SENTENCES[direction.slice(0, 2)];

/** A model that remembers what it has computed. */
function reader(net) {
  const known = new Map();
  const once = (key, make) => {
    if (known.size > 40) known.clear();
    return known.get(key) ?? known.set(key, make()).get(key);
  };
  const encoder = (sentence) => once(sentence, () => encoderWalk(net, splitTokens(sentence)));
  const walk = (sentence, written) => once(`${sentence}\n${written}`, () => {
    const { encoded, seen } = encoder(sentence);
    const all = written.split(" ").map((token) => net.target.get(token));
    const end = all.findIndex((number) => number === undefined || number === EOS); // a link may ask for anything
    const numbers = all.slice(0, Math.min(end < 0 ? all.length : end, net.config.num_steps - 1));
    const target = ["<bos>", ...numbers.map((number) => net.tgtVocab[number])];
    const source = [...splitTokens(sentence), "<eos>"];
    return { source, target, numbers, seen: { ...seen, ...decoderWalk(net, encoded, numbers) } };
  });
  const second = (sentence) => once(`${sentence}\n?`, () => runnerUp(net, encoder(sentence).encoded));
  return { net, walk, second };
}

/** All that the view shows of a state; without a model the first stop is there. */
function derived(state, model) {
  const at = STOPS.findIndex(({ name }) => name === state.stop);
  const walk = model
    ? model.walk(state.sentence, state.written)
    : { source: first.source, target: ["<bos>"], numbers: [], seen: { "encoder.embedding": first.embedding } };
  const stop = STOPS[at];
  const ofSource = stop.side === "encoder";
  const tokens = ofSource ? walk.source : walk.target;
  const best = model ? candidates(walk.seen["decoder.logits"].at(-1)) : [];
  const full = model && walk.target.length >= model.net.config.num_steps;
  return {
    ...walk,
    model, at, stop, tokens, best,
    chosen: clampInteger(ofSource ? state.token : state.mark, 0, tokens.length - 1),
    lang: state.direction.split("-")[ofSource ? 0 : 1],
    ended: stop.part === "softmax" && (full || best[state.candidate]?.number === EOS),
  };
}

/** Where a token looks most, of all heads of an attention, or of what it may look at: {head, to, weight}. */
function mostHeard({ seen, stop, chosen }, among = () => true) {
  const heads = seen[`${stop.name}.weights`];
  const all = heads.flatMap((rows, head) => Array.from(rows[chosen], (weight, to) => ({ head, to, weight })));
  const found = all.filter(({ to }) => among(to));
  return found.reduce((most, one) => (one.weight > most.weight ? one : most));
}

/** How long the values are that a head finds at a token. */
function lengthOfValue({ seen, stop }, head, token) {
  const width = D / HEADS;
  return Math.hypot(...seen[`${stop.name}.V`][token].slice(head * width, (head + 1) * width));
}

/** What a token that looks at <eos> gets from there, in the head that looks there most; false: not so little. */
function fromEnd(now) {
  const { seen, stop, source, chosen } = now;
  const end = source.length - 1;
  const weights = seen[`${stop.name}.weights`].map((rows) => rows[chosen][end]);
  const head = weights.indexOf(Math.max(...weights));
  const [a, b] = [end, chosen].map((token) => lengthOfValue(now, head, token));
  const told = { h: head + 1, token: source[chosen], w: weights[head].toFixed(2), a: a.toFixed(1), b: b.toFixed(1) };
  return a < b / SHORT && told;
}

const SHORT = 3; // times shorter: hardly anything comes from there
const HEARS = "encoder.block0.attention"; // the first place where tokens hear each other

/** Tasks in their order: where each begins, and what there is to tell once it is done; nothing before. */
const TASKS = [
  {
    scene: {},
    values: { token: first.source[0] },
    done(state, now) {
      if (!now.model || now.stop.name !== HEARS) return false;
      const { head, to, weight } = mostHeard(now, (place) => place !== now.chosen && place < now.source.length - 1);
      return { h: head + 1, a: now.tokens[now.chosen], c: now.source[to], w: weight.toFixed(2) };
    },
  },
  {
    scene: { stop: HEARS, token: 1 },
    values: { token: first.source[1] },
    done: ({ tensor }, now) => now.model && now.stop.name === HEARS && tensor === "V" && fromEnd(now),
  },
  {
    scene: { stop: "encoder.block1.addnorm2" },
    done: (state, { model, stop, seen, chosen }) =>
      model && stop.part === "attention1" && !chosen &&
      { h: HEADS, w: seen[`${stop.name}.weights`][0][0][0].toFixed(3) },
  },
  {
    scene: { stop: "decoder.softmax" },
    done({ sentence }, { model, numbers }) {
      if (!numbers.length || !model) return false;
      const { own, second, best, other } = model.second(sentence);
      const [a, b] = [own, second].map(({ number }) => model.net.tgtVocab[number]);
      const [p, q] = [own, second].map(({ probability }) => probability.toFixed(3));
      return numbers[0] === second.number && { a, b, p, q, best, text: other };
    },
  },
];

// ---- the map of the model: on a desk read from below, as the chapter's figure; on a phone a strip

/** Stops stand in pairs: a part, and beside it what follows. */
function gridPlace({ side, part }, i) {
  const [place, left] = side === "decoder" ? [i - FIRST_OF_DECODER, 4] : [i, 1];
  return `grid-area: ${9 - (place >> 1)} / ${left + (place % 2)} / auto / span ${part === "softmax" ? 2 : 1}`;
}

const BEHIND = [
  ...["encoder", "decoder"].flatMap((side) => [
    h("span", { class: `half ${side}` }, words[side]),
    h("span", { class: `block ${side}` }), h("span", { class: `block second ${side}` }),
  ]),
  h("span", { class: "bridge" }), h("span", { class: "loop" }),
];

function ModelMap({ now, act, wide }) {
  const chip = (stop, i) => press(words.parts[kindOf(stop)], () => act.change({ stop: stop.name }), {
    key: stop.name, class: `chip ${kindOf(stop)}`, style: gridPlace(stop, i), "aria-label": placeOf(stop),
    "aria-current": i === now.at ? "step" : undefined, tabIndex: i === now.at ? 0 : -1,
    "data-look": i === now.at && !wide ? "picture" : undefined,
  });
  const onKeyDown = (event) => {
    const by = { ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, ArrowUp: 1 }[event.key];
    const end = { Home: 0, End: STOPS.length - 1 }[event.key];
    if (by === undefined && end === undefined) return;
    event.preventDefault();
    if (by) act.move(by, "[aria-current=step]");
    else act.change({ stop: STOPS[end].name }, "[aria-current=step]");
  };
  const row = now.seen[nameOf(now.stop, partsOf(now.stop, "output").at(-1))] ?? now.seen["decoder.block1.addnorm3"];
  const shown = [row[now.chosen]];
  return h("div", { class: "map", "data-look": wide ? "picture" : undefined },
    h("div", { class: "boxes", role: "toolbar", "aria-label": words.map, onKeyDown, style: { "--at": now.at } },
      BEHIND, STOPS.map(chip),
      h("svg", { class: "traveler", viewBox: `0 0 ${D} 1`, preserveAspectRatio: "none", "aria-hidden": "true" },
        h("rect", { width: D, height: 1, fill: "var(--w-bg)" }), inked(shown, largestOf(shown)))));
}

// ---- what a stop shows

const radio = (i, on) =>
  ({ key: i, type: "button", role: "radio", "aria-checked": String(i === on), tabIndex: i === on ? 0 : -1 });

/** The numbers of a tensor as colors: blue above 0, orange below, the background at 0. */
function inked(values, most) {
  const levels = new Map();
  values.forEach((row, y) =>
    row.forEach((value, x) => {
      const level = most && Math.round((LEVELS * value) / most);
      if (level) levels.set(level, `${levels.get(level) ?? ""}M${x} ${y}h1v.92h-1z`);
    }),
  );
  return [...levels].map(([level, d]) => h("path", {
    key: level, d, fill: level < 0 ? "var(--w-key)" : "var(--w-query)", "shape-rendering": "crispEdges",
    "fill-opacity": ((SHADE * Math.abs(level)) / LEVELS).toFixed(3),
  }));
}

function Heat({ part, values, most, place, high, names, lang, chosen, column, act }) {
  const [n, d] = [values.length, values[0].length];
  const j = Math.min(column, d - 1);
  const cell = (row, col) => fill(words.cell, { token: names[row], j: col + 1, x: signed(values[row][col], 2) });
  const around = (x, width, stroke) =>
    h("rect", { x, width, y: chosen, height: 0.92, fill: "none", stroke: "var(--w-text)", "stroke-width": stroke });
  const onClick = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = (point, from, size, count) => clamp(Math.floor(((point - from) / size) * count), 0, count - 1);
    act.pick(at(event.clientY, box.top, box.height, n), at(event.clientX, box.left, box.width, d));
  };
  const onKeyDown = (event) => {
    const across = { ArrowRight: 1, ArrowLeft: -1, Home: -d, End: d }[event.key];
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!across && !down) return;
    event.preventDefault();
    act.pick(clamp(chosen + (down ?? 0), 0, n - 1), clampInteger(j + (across ?? 0), 0, d - 1));
  };
  const title = words.tensors[part];
  const slider = { role: "slider", tabindex: 0, "data-key": `heat-${place}`, "aria-label": title, onClick, onKeyDown };
  const reading = { "aria-valuemin": 1, "aria-valuemax": d, "aria-valuenow": j + 1, "aria-valuetext": cell(chosen, j) };
  const size = { viewBox: `0 0 ${d} ${n}`, preserveAspectRatio: "none", style: { height: `${high * n}px` } };
  return h("figure", {},
    h("p", { class: "caption" }, h("b", {}, title), `${shapeOf(n, d)} ±${most.toFixed(2)}`),
    h("div", { class: "rows", style: { "--high": `${high}px` } },
      h("div", { class: "names", lang, translate: false, "aria-hidden": "true" },
        names.map((name, i) => h("span", { key: i, "data-on": i === chosen }, name))),
      h("svg", { ...size, ...slider, ...reading },
        h("rect", { width: d, height: n, fill: "var(--w-bg)" }), inked(values, most),
        around(0, d, 1), around(j, 1, 2))),
    h("figcaption", { class: "readout" }, cell(chosen, j)));
}

function Heats({ state, now, act }) {
  const { stop, seen, source, tokens, chosen, lang } = now;
  const parts = partsOf(stop, state.tensor);
  const crossed = stop.part === "attention2" && "KV".includes(parts[0]); // rows are tokens of the source
  const names = crossed ? source : tokens;
  const values = parts.map((part) => seen[nameOf(stop, part)]);
  const most = Math.max(...values.map(largestOf));
  const high = Math.max(12, Math.min(24, Math.floor(216 / (names.length * parts.length))));
  const own = crossed ? { lang: state.direction.slice(0, 2), chosen: Math.min(state.token, source.length - 1) } : {};
  const pick = (row, column) => act.pick(row, column, crossed);
  const more = { most, high, names, lang, chosen, column: state.column, ...own, act: { pick } };
  return parts.map((part, place) => h(Heat, { key: part, part, values: values[place], place, ...more }));
}

/** The weights of the token that is followed: a row a head, a column a token that is heard. */
function Weights({ state, now }) {
  const { stop, seen, source, tokens, chosen } = now;
  const keys = stop.part === "attention2" ? source : tokens;
  const heads = seen[`${stop.name}.weights`];
  const ofKeys = stop.part === "attention2" ? state.direction.slice(0, 2) : now.lang;
  const cell = (weight, j) => weight === undefined
    ? h("td", { key: j, class: "masked" }, h("span", { class: "unseen" }, words.masked))
    : h("td", { key: j, style: { "--share": weight.toFixed(3) } }, weight.toFixed(2));
  return [
    h("p", { class: "caption" }, h("b", {}, fill(words.looks, { token: tokens[chosen] })),
      shapeOf(HEADS, tokens.length, keys.length)),
    h("table", { class: "weights" },
      h("thead", { lang: ofKeys, translate: false },
        h("tr", {}, h("td", {}), keys.map((key, j) => h("th", { key: j, scope: "col" }, key)))),
      h("tbody", {}, heads.map((rows, head) => h("tr", { key: head },
        h("th", { scope: "row" }, fill(words.head, { h: head + 1 })),
        keys.map((_, j) => cell(rows[chosen][j], j)))))),
  ];
}

function Candidates({ state, now, act }) {
  const onKeyDown = (event) => {
    const to = placeByKey(event, state.candidate, now.best.length);
    if (to !== undefined) act.change({ candidate: to }, ".candidates [aria-checked=true]");
  };
  const bar = ({ number, probability }, i) => h("button", {
    ...radio(i, state.candidate), class: "bar", onClick: () => act.change({ candidate: i }),
  },
    h("span", { lang: now.lang, translate: false }, now.model.net.tgtVocab[number]),
    h("span", { class: "track" }, h("i", { style: { width: `${(100 * probability).toFixed(1)}%` } })),
    h("span", {}, probability.toFixed(3)));
  return h("div", { class: "candidates", role: "radiogroup", "aria-label": words.choose, onKeyDown },
    now.best.map(bar));
}

function Scene(parts) {
  const { state, now, act } = parts;
  const { stop, tokens, chosen, lang } = now;
  const onKeyDown = (event) => {
    const to = placeByKey(event, chosen, tokens.length);
    if (to !== undefined) act.pick(to, state.column, false, ".tokens [aria-checked=true]");
  };
  const chip = (token, i) => press(token, () => act.pick(i), radio(i, chosen));
  const shown = stop.part === "softmax" ? Candidates : partsOf(stop, state.tensor).length ? Heats : Weights;
  const set = (tensor) => act.change({ tensor });
  const options = TENSORS.map((part) => [part, words.tensors[part]]);
  return h("div", { class: "scene", "data-look": "picture" },
    h("p", { class: "heading" }, placeOf(stop)),
    h("div", { class: "tokens", role: "radiogroup", lang, translate: false, "aria-label": words.token, onKeyDown },
      tokens.map(chip)),
    h("div", { class: "stage", key: stop.name }, h(shown, parts)),
    isAttention(stop) && h(Choice, { label: words.tensor, value: state.tensor, options, set }));
}

function Walk({ state, now, act }) {
  const { at, stop, model, best, ended } = now;
  const last = stop.part === "softmax" && model;
  return h("div", { class: "walk", "data-look": "control" },
    press(`← ${words.previous}`, () => act.move(-1), { "aria-disabled": String(at === 0) }),
    h("p", { class: "counter" }, fill(words.stop, { i: at + 1, total: STOPS.length })),
    press(last ? fill(words.feed, { token: model.net.tgtVocab[best[state.candidate].number] }) : `${words.next} →`,
      () => act.move(1), { class: "next", "data-rest": true, "aria-disabled": String(Boolean(ended)) }));
}

/** What the picture says of the token that is followed. */
function fact(now) {
  const { stop, seen, tokens, chosen, source, model, numbers, ended } = now;
  const token = tokens[chosen];
  if (isAttention(stop)) {
    const { head, to, weight } = mostHeard(now);
    const heard = stop.part === "attention2" ? source : tokens;
    const said = fill(words.hears, { a: token, b: heard[to], h: head + 1, w: weight.toFixed(3) });
    if (heard !== source || heard[to] !== "<eos>") return said;
    const lengths = source.map((_, place) => lengthOfValue(now, head, place));
    const [a, b] = [lengths[to], Math.max(...lengths)];
    const rests = fill(words.rests, { a: a.toFixed(1), b: b.toFixed(1) });
    return a < b / SHORT ? `${said} ${rests}`.replace("。 ", "。") : said;
  }
  if (kindOf(stop) === "addnorm") {
    const [before, after] = [seen[`${stop.name}.sum`], seen[stop.name]].map((rows) => moments(rows[chosen]));
    const [a, b, c, d] = [before.mean, before.deviation, after.mean, after.deviation].map((x) => signed(x, 3));
    return fill(words.moments, { token, a, b, c, d });
  }
  if (stop.part === "ffn") {
    const counts = seen[`${stop.name}.relu`].map(zeros);
    const all = counts.length * HIDDEN;
    const count = counts.reduce((sum, one) => sum + one, 0);
    const percent = ((100 * count) / all).toFixed(0);
    return fill(words.zeros, { count, all, percent, token, own: counts[chosen], hidden: HIDDEN });
  }
  return ended ? fill(words.finished, { text: model.net.text(numbers) }) : "";
}

function View(parts) {
  const { state, now, act } = parts;
  const { stop, tokens, model } = now;
  const v = model?.net.tgtVocab.length ?? "";
  const told = words.told[kindOf(stop)] ?? words.told[`${stop.side}_${kindOf(stop)}`];
  const text = fill(told, { n: tokens.length, d: D, h: HEADS, v, hidden: HIDDEN, root: Math.sqrt(D) });
  const directions = DIRECTIONS.map((direction) => {
    const [from, to] = direction.split("-").map((code) => words.languages[code]);
    return [direction, `${from} → ${to}`];
  });
  const sentences = inLanguage(state.direction).map((sentence) => [sentence, sentence]);
  return h("div", { class: "desk", "aria-busy": String(state.loading === "coming") },
    h(Task, parts), h(ModelMap, parts), h(Scene, parts), h(Walk, parts),
    h("div", { class: "said" },
      h("p", { role: "status" },
        state.loading ? h(Loading, parts) : [h("span", { class: "unseen" }, `${placeOf(stop)}. `), fact(now)]),
      h("p", {}, text)),
    h("details", { class: "more" },
      h("summary", {}, words.other),
      h("div", { class: "controls" },
        h(Choice, { label: words.direction, value: state.direction, options: directions, set: act.turn }),
        h(Choice, { label: words.sentence, value: state.sentence, options: sentences, set: act.ask })),
      h("p", { class: "hint" }, words.hint)));
}

// ---- life

/** The row travels to the box of the stop. */
function painted(root) {
  const [box, row] = [root.querySelector("[aria-current=step]"), root.querySelector(".traveler")];
  row.style.width = `${box.offsetWidth - 8}px`;
  row.style.translate = `${box.offsetLeft + 4}px ${box.offsetTop + box.offsetHeight - 11}px`;
}

/** The state that a link asks for; what makes no sense there is left out. */
function begun(asked) {
  const one = (value, list) => (list.includes(value) ? value : list[0]);
  const count = (value) => (Number.isInteger(value) ? clamp(value, 0, 99) : 0);
  const direction = one(asked.direction, [START.direction, ...DIRECTIONS]);
  return {
    direction,
    sentence: one(asked.sentence, inLanguage(direction)),
    stop: one(asked.stop, STOPS.map(({ name }) => name)),
    token: count(asked.token), mark: count(asked.mark),
    tensor: one(asked.tensor, TENSORS),
    written: asked.written.split(" ").filter(Boolean).slice(0, 8).join(" "),
  };
}

/** What the reader can do: each brings another state. `state` gives the one of now. */
function actions({ state, now, change }) {
  const anew = { written: "", token: 0, mark: 0, candidate: 0 };
  const stay = () => (now().stop.side === "encoder" ? {} : { stop: START.stop });
  return {
    turn: (direction) => change({ ...anew, ...stay(), direction, sentence: inLanguage(direction)[0] }),
    ask: (sentence) => change({ ...anew, ...stay(), sentence }),
    /** Follow the token of a row: of the target in the decoder, but for what cross-attention hears. */
    pick(row, column = state().column, ofSource = false, focused = undefined) {
      const name = ofSource || now().stop.side === "encoder" ? "token" : "mark";
      return change({ [name]: row, column }, focused);
    },
    /** One stop on or back. From the last one the chosen token is fed back in, and the decoder begins again. */
    move(by, focused) {
      const { at, ended, target, model, best, stop } = now();
      const to = STOPS[at + by];
      const goTo = (next) => change({ candidate: 0, ...next }, focused);
      if (by < 0 && stop.name === "decoder.embedding" && target.length > 1)
        return goTo({ written: target.slice(1, -1).join(" "), mark: target.length - 2, stop: "decoder.softmax" });
      if (to) return goTo({ stop: to.name });
      if (by < 0 || !model || ended) return null;
      const written = [...target.slice(1), model.net.tgtVocab[best[state().candidate].number]].join(" ");
      return goTo({ written, mark: target.length, stop: "decoder.embedding" });
    },
  };
}

export default explorer({
  name: "block", style: STYLE, start: START, rest: REST, tasks: TASKS, View, derived, actions, begun, painted,
  checkpoint: ({ direction }) => direction,
  needs: ({ direction, sentence, stop }) =>
    direction !== START.direction || sentence !== START.sentence || stop !== START.stop,
  read: (bytes) => reader(load(bytes)),
});
