// Writer explorer: a small language model goes on with a story in the page. The reader draws the next token or takes
// another one, sees where each head looks, switches heads off, and has one task at a time.
//
// What is shown is a function of one state; Preact brings the page to it. `change` is the only way to another state.

import { svg } from "./dom.js";
import { Loading, STILL, Task, explorer, press } from "./explorer.js";
import { placeByKey } from "./frame.js";
import { LanguageModel, drawn, join, probabilities, split } from "./language-model.js";
import { distance } from "./sentences.js";
import { Slider } from "./slider.js";
import { fill, plural } from "./text.js";
import { EOS, largest, readCheckpoint, softmax } from "./transformer.js";
import { h } from "./vendor/preact/preact.min.js";
import first from "course:first";
import words from "course:words";
import STYLE from "./writer-explorer.css";

const BARS = 8;
const PACE = 160; // milliseconds from token to token
const HEADS = first.weights.flatMap((block, b) => block.map((_, head) => `${b}.${head}`));
const FULL = first.config.num_steps - 1; // tokens, with <bos>, after which there is room for one more

/** What tests compare with PyTorch. */
export const arithmetic = { LanguageModel, drawn, first, join, nearest, probabilities, readCheckpoint, split };

// ---- the words of the stories: ten names, colors and things each, and three verbs, in this order after <eos>

const KINDS = ["name", "color", "thing"];
const kind = (number) => (number < 34 ? KINDS[Math.floor((number - 4) / 10)] : number < 37 ? "verb" : "");
const STOP = first.vocab.findIndex((token) => token === "." || token === "。");
const isPair = (a, b) => a !== b && [a, b].every((one) => one === "color" || one === "thing");
const asText = (numbers) => join(numbers.map((number) => first.vocab[number]));
const CUE = first.numbers[first.numbers.lastIndexOf(STOP) - 2]; // what the second thing is recalled by

/** What belongs to the last token, if that names again a thing told above; else undefined. */
function recalled(numbers) {
  const cue = numbers.at(-1);
  const told = numbers.indexOf(cue);
  return kind(numbers.at(-3)) === "verb" && told < numbers.length - 1 ? numbers[told + 1] : undefined;
}

/** Up to three words of the stories that are written nearly like this one. */
function nearest(word) {
  const far = (known) => distance(word, known.toLowerCase());
  const close = first.vocab.slice(4).filter((known) => far(known) < Math.max(word.length, known.length));
  return close.toSorted((a, b) => far(a) - far(b)).slice(0, 3);
}

// ---- the state, and what follows from it

const START = {
  numbers: first.numbers, // of the text, without <bos>
  temperature: 1,
  topP: 1,
  off: [], // heads, "block.head"
  look: "all", // or a head
  from: -1, // the token that looks, <bos> is 0; -1: the last
  panel: "draw",
};
const REST = { past: [], typed: null, problem: null, unfolded: false };

/** Tasks in their order: where each begins, and what there is to tell once it is done; nothing before. */
const TASKS = [
  {
    scene: {},
    done: ({ temperature, topP, off }, { right, plain }) =>
      plain[right] > 0.99 && temperature === 1 && topP === 1 && !off.length && { p: decimals(plain[right]) },
  },
  {
    scene: { numbers: [...first.numbers, CUE] },
    done: ({ temperature, off }, { right, plain, soft }) =>
      plain[right] > 0.9 &&
      soft[right] < 0.5 &&
      !off.length && { t: temperature.toFixed(1), p: decimals(1 - soft[right]) },
  },
  {
    scene: { numbers: [...first.numbers, CUE], temperature: 3.5 },
    done: ({ temperature, topP, off }, { right, kept }) =>
      temperature >= 2 &&
      kept[right] > 0.999 &&
      !off.length && { t: temperature.toFixed(1), p: topP.toFixed(2) },
  },
  {
    scene: { numbers: [...first.numbers, CUE], panel: "heads" },
    done: ({ numbers, look, off }, { from, row }) => {
      const [to, token] = [numbers[from - 2], numbers[from - 1]];
      if (look === "all" || off.includes(look) || !isPair(kind(to), kind(token)) || row[from - 1] < 0.5) return false;
      return { head: headOf(look), from: first.vocab[token], to: first.vocab[to], p: row[from - 1].toFixed(2) };
    },
  },
  {
    scene: { numbers: [...first.numbers, CUE], panel: "heads" },
    values: { cue: first.vocab[CUE] },
    done: ({ off }, { right, whole, plain }) =>
      off.length > 0 && whole?.[right] > 0.9 && plain[right] < 0.5 &&
      { heads: off.map(headOf).join(words.comma), before: decimals(whole[right]), after: decimals(plain[right]) },
  },
];

const decimals = (p) => (p < 0.0005 ? "< 0.001" : p.toFixed(3));
const headOf = (name) => name.split(".").map((place) => Number(place) + 1).join(".");
const isFirst = ({ numbers, off }) => !off.length && numbers.join() === first.numbers.join();

/** Weights over the tokens so far: of one head, or the mean of all that are on. */
function rowOf(weightsOfHeads, look, off = []) {
  if (look !== "all") return look.split(".").reduce((found, place) => found[place], weightsOfHeads);
  const on = HEADS.filter((name) => !off.includes(name));
  const heads = (on.length ? on : HEADS).map((name) => rowOf(weightsOfHeads, name));
  return heads[0].map((_, j) => heads.reduce((sum, row) => sum + row[j], 0) / heads.length);
}

/** All that the view shows of a state. `read` gives the steps of a text; without a model the first result is there. */
function derived(state, read) {
  const { numbers, temperature, topP, off } = state;
  const steps = read ? read(numbers, off) : null;
  const last = steps?.at(-1) ?? first;
  const from = state.from < 0 ? numbers.length : state.from;
  const looking = (steps?.[from] ?? last).weights;
  return {
    ...probabilities(last.logits, temperature, topP),
    plain: softmax(last.logits),
    whole: off.length ? softmax(read(numbers, []).at(-1).logits) : null,
    best: largest(last.logits, BARS),
    right: recalled(numbers),
    from,
    looking,
    row: rowOf(looking, state.look, off),
    ended: numbers.at(-1) === EOS || numbers.length + 1 > FULL,
  };
}

/** How many tokens of a long text stand folded, whole sentences of it. */
function folded({ numbers, unfolded, from }, room) {
  const stops = numbers.flatMap((number, i) => (number === STOP ? [i + 2] : []));
  const enough = stops.find((count) => numbers.length + 1 - count <= room) ?? 0;
  return unfolded || numbers.length < room || (from >= 0 && from < enough) ? 0 : enough;
}

// ---- the view

const shown = (number) => (number < 4 ? h("code", {}, first.vocab[number]) : first.vocab[number]);
function Story({ state, now, act, wide }) {
  const hidden = folded(state, wide ? 34 : 20);
  const tokens = [h("code", {}, "<bos>"), ...state.numbers.map(shown)];
  const share = (i) => (now.row[i] === undefined ? "" : now.row[i].toFixed(2));
  const chips = tokens.map((token, i) => h("button", {
    key: i, type: "button", role: "radio", class: "chip", "aria-checked": String(i === now.from),
    tabIndex: i === now.from ? 0 : -1, "data-after": i > now.from, style: { "--share": now.row[i] ?? 0 },
    onClick: () => act.change({ from: i }),
  }, token, h("span", { class: "share" }, share(i))));
  const walk = (event) => {
    const to = placeByKey(event, now.from - hidden, tokens.length - hidden);
    if (to !== undefined) act.change({ from: to + hidden }, "[role=radio][aria-checked=true]");
  };
  const sum = now.row.slice(0, hidden).reduce((total, weight) => total + weight, 0);
  const unfold = h("span", { class: "unseen" }, fill(words.unfold, { count: hidden }));
  const fold = [`⋯ ${hidden}`, h("span", { class: "share" }, sum.toFixed(2)), unfold];
  const nothing = !state.numbers.length && !state.past.length;
  return h("div", { class: "story", "data-look": "picture", translate: false },
    h("svg", { class: "lines", "aria-hidden": "true", "data-off": state.off.includes(state.look) }),
    hidden > 0 && press(fold, act.unfold, { class: "chip" }),
    h("div", { class: "tokens", role: "radiogroup", "aria-label": words.text, onKeyDown: walk }, chips.slice(hidden)),
    press("⌫", act.back, { class: "back", "data-rest": true, "aria-label": words.back, disabled: nothing }));
}

function Bars({ now, act }) {
  const { best, soft, kept, whole, ended } = now;
  const wide = (p) => ({ width: `${(100 * p).toFixed(1)}%` });
  const others = [...soft.keys()].filter((number) => !best.includes(number));
  const count = { count: others.length, p: decimals(others.reduce((sum, number) => sum + kept[number], 0)) };
  const bar = (number, i) => h("button", {
    key: i, type: "button", class: "bar", "data-cut": !kept[number], onClick: () => act.take(number),
    title: fill(words.take, { token: first.vocab[number] }),
  },
    h("span", { class: "token" }, shown(number)),
    h("span", { class: "track" },
      h("i", { class: "soft", style: wide(soft[number]) }),
      h("i", { class: "kept", style: wide(kept[number]) }),
      whole && h("i", { class: "was", style: { left: wide(whole[number]).width } })),
    h("span", { class: "p" }, kept[number] ? decimals(kept[number]) : words.cut));
  return h("div", { class: "next", "data-look": "picture" },
    h("p", { class: "heading" }, ended ? words.ended : words.next),
    h("div", { class: "bars", role: "group", "aria-label": words.next, translate: false }, !ended && best.map(bar)),
    h("p", { class: "others" }, !ended && fill(plural(words.others, others.length), count)));
}

function Sampling({ state, now, act }) {
  const slider = (label, name, more) =>
    h(Slider, { label, value: state[name], set: (value) => act.change({ [name]: value }), ...more });
  return [
    h("div", { class: "sliders" },
      slider(words.temperature, "temperature", { min: 0.1, max: 4, step: 0.1, digits: 1 }),
      slider(words.top_p, "topP", { min: 0.05, max: 1, step: 0.05, digits: 2 })),
    h("div", { class: "row" },
      press(words.draw, () => act.draw(), { class: "go", disabled: now.ended }),
      press(words.sentence, () => act.draw(true), { disabled: now.ended })),
  ];
}

function Heads({ state, now, act }) {
  const { look, off } = state;
  const without = (name) => off.filter((other) => other !== name);
  const toggle = (name) => act.change({ off: off.includes(name) ? without(name) : [...off, name].toSorted() });
  const cell = (name) => {
    const row = rowOf(now.looking, name);
    const bars = Array.from(row, (weight, j) => `M${j} 1v${-weight.toFixed(3)}h.8V1z`);
    const label = { name: headOf(name), block: headOf(name)[0], head: headOf(name)[2] };
    const [on, said] = off.includes(name) ? ["false", words.off] : ["true", words.on];
    const size = { viewBox: `0 0 ${row.length} 1`, preserveAspectRatio: "none" };
    return h("div", { key: name, class: "pair", "data-off": off.includes(name) },
      press([headOf(name), h("svg", { ...size, "aria-hidden": "true" }, h("path", { d: bars.join("") }))],
        () => act.change({ look: look === name ? "all" : name }),
        { class: "look", "aria-pressed": String(look === name), "aria-label": fill(words.look, label) }),
      press(said, () => toggle(name),
        { class: "switch", role: "switch", "aria-checked": on, "aria-label": `${headOf(name)}: ${said}` }));
  };
  return [
    h("div", { class: "cells", role: "group", "aria-label": words.heads }, HEADS.map(cell)),
    h("div", { class: "row" },
      press(words.all_heads, () => act.change({ look: "all" }), { "aria-pressed": String(look === "all") }),
      press(words.all_on, () => act.change({ off: [] }), { disabled: !off.length })),
  ];
}

function Panel({ state, now, act }) {
  const kinds = ["draw", "heads"];
  const walk = (event) => {
    const to = placeByKey(event, kinds.indexOf(state.panel), 2);
    if (to !== undefined) act.change({ panel: kinds[to] }, "[role=tab][aria-selected=true]");
  };
  const tab = (name) => press(words.panels[name], () => act.change({ panel: name }), {
    role: "tab", "aria-selected": String(state.panel === name), tabIndex: state.panel === name ? 0 : -1,
  });
  return h("div", { class: "panel", "data-look": "control" },
    h("div", { class: "tabs", role: "tablist", "aria-label": words.panel, onKeyDown: walk }, kinds.map(tab)),
    h("div", { class: "inside", role: "tabpanel", "aria-label": words.panels[state.panel] },
      (state.panel === "draw" ? Sampling : Heads)({ state, now, act })));
}

/** What the picture says, in a sentence or two. */
function sentence({ look, topP, off, panel }, { best, plain, whole, kept, row, from, ended }, tokens) {
  const parts = [];
  const most = largest(row, 1)[0];
  if (panel === "heads")
    parts.push(fill(look === "all" ? words.all_look : words.one_looks, {
      head: look === "all" ? "" : headOf(look), from: tokens[from], to: tokens[most], p: row[most].toFixed(2),
    }));
  if (ended) return parts.join(" ");
  const token = first.vocab[best[0]];
  if (whole) {
    const [before] = largest(whole, 1);
    const [heads, was, is] = [off.map(headOf).join(words.comma), decimals(whole[before]), decimals(plain[before])];
    parts.push(fill(words.changed, { heads, token: first.vocab[before], before: was, after: is }));
  } else if (panel === "draw" && topP < 1)
    parts.push(fill(words.remain, { count: kept.filter(Boolean).length, all: kept.length }));
  else if (panel === "draw") parts.push(fill(words.probable, { token, p: decimals(kept[best[0]]) }));
  return parts.join(" ").replaceAll("。 ", "。");
}

function Field({ state, act }) {
  const { typed, problem, numbers, loading } = state;
  const near = (other) => press(other, () => act.enter((typed ?? "").toLowerCase().replace(problem.word, other)));
  const value = typed ?? asText(numbers);
  const onInput = (event) => act.change({ typed: event.target.value });
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.isComposing) act.enter(value); // no form: JupyterLab lets none be sent
  };
  const plainly = { maxLength: 600, autocomplete: "off", autocapitalize: "none", spellcheck: false };
  return h("div", { class: "field" },
    h("label", {}, words.beginning, h("input", { type: "text", value, onInput, onKeyDown, ...plainly })),
    press(words.read, () => act.enter(value)),
    press(words.anew, () => act.write([])),
    h("div", { class: "problem", role: "alert" },
      loading === "failed" && h(Loading, { state, act }),
      problem && [h("p", {}, problem.text), problem.near?.map(near)]));
}

function View(parts) {
  const { state, now } = parts;
  const tokens = ["<bos>", ...state.numbers.map((number) => first.vocab[number])];
  return h("div", { class: "desk", "aria-busy": String(state.loading === "coming") },
    h(Task, parts), h(Story, parts), h(Bars, parts), h(Panel, parts),
    h("p", { class: "said", role: "status" },
      state.loading === "coming" ? h(Loading, parts) : sentence(state, now, tokens)),
    h(Field, parts));
}

/** From the token that looks to each that it looks at, as wide as the weight; the tokens may stand in several rows. */
function drawLines(root) {
  const [lines, story] = [root.querySelector(".lines"), root.querySelector(".story")];
  const chips = [...story.querySelectorAll("[role=radio]")];
  // not its box on the screen: a token that has just come is still on its way there
  const place = (chip) => [chip.offsetLeft + chip.offsetWidth / 2, chip.offsetTop, chip.offsetTop + chip.offsetHeight];
  const asking = chips.find((chip) => chip.ariaChecked === "true");
  if (!asking || !story.offsetWidth) return lines.replaceChildren();
  const [x, y] = place(asking);
  lines.setAttribute("viewBox", `0 0 ${story.offsetWidth} ${story.offsetHeight}`);
  const paths = chips.map((chip) => {
    const weight = Number(chip.style.getPropertyValue("--share"));
    if (weight < 0.02 || chip === asking) return null;
    const [to, top, low] = place(chip);
    const end = top === y ? `${to} ${y - 22} ${to} ${y}` : `${to} ${low + 20} ${to} ${low}`;
    const wide = { "stroke-width": (0.5 + 6 * weight).toFixed(2), "stroke-opacity": (0.2 + 0.7 * weight).toFixed(2) };
    return svg("path", { d: `M${x} ${y}C${x} ${y - 22} ${end}`, ...wide });
  });
  return lines.replaceChildren(...paths.filter(Boolean));
}

// ---- life

/** The state that a link asks for; what makes no sense there is left out. */
function begun(asked) {
  const { words: tokens, unknown } = split(asked.sentence, first.vocab);
  const found = tokens.map((token) => first.vocab.indexOf(token));
  const within = (value, least, most) => Number(Math.min(most, Math.max(least, value)).toFixed(2));
  const text = unknown.length || found.length >= FULL ? first.numbers : found;
  return {
    numbers: text,
    temperature: within(asked.temperature, 0.1, 4),
    topP: within(asked.topP, 0.05, 1),
    off: HEADS.filter((head) => asked.off.split(" ").includes(head)),
    look: HEADS.includes(asked.look) ? asked.look : "all",
    from: Number.isInteger(asked.from) ? within(asked.from, -1, text.length) : -1,
    panel: asked.panel === "heads" ? "heads" : "draw",
  };
}

/** The steps of a text by the heads that are on; what was read before is not read again. */
function reader(net) {
  const readings = new Map();
  return (numbers, off) => {
    const key = off.join(" ");
    const steps = net.read(numbers, new Set(off), readings.get(key));
    if (readings.size > BARS) readings.clear();
    readings.set(key, steps);
    return steps;
  };
}

/** What the reader can do: each brings another state. `state` gives the one of now. */
function actions({ state, now, change, begin }) {
  let turn = 0; // a sentence that is being drawn ends with the next thing the reader does
  const past = () => [...state().past, state().numbers];
  const plain = { ...REST, from: -1 };
  const write = (numbers, before = past()) => change({ ...plain, numbers, past: before });
  const act = {
    write,
    change(next, focused) {
      turn += 1;
      return change(next, focused);
    },
    take(number) {
      turn += 1;
      return write([...state().numbers, number]);
    },
    unfold: () => act.change({ unfolded: true }),
    back() {
      turn += 1;
      const { past: before, numbers } = state();
      return write(before.at(-1) ?? numbers.slice(0, -1), before.slice(0, -1));
    },
    begin(task) {
      turn += 1;
      return begin(task, { past: past() });
    },
    async draw(whole = false) {
      const mine = ++turn;
      const { numbers } = state();
      const number = drawn(now().kept, Math.random());
      await write([...numbers, number]);
      if (!whole || [STOP, EOS].includes(number) || numbers.length + 2 > FULL) return;
      await new Promise((ring) => setTimeout(ring, STILL.matches ? 0 : PACE));
      if (mine === turn && state().numbers.length > numbers.length) await act.draw(true);
    },
    enter(text) {
      const { words: tokens, unknown } = split(text, first.vocab);
      const [word] = unknown;
      const refused = (problem) => act.change({ typed: text, problem });
      if (word) return refused({ word, near: nearest(word), text: fill(words.unknown, { word }) });
      if (tokens.length >= FULL)
        return refused({ text: fill(words.too_long, { count: tokens.length, most: FULL - 1 }) });
      return write(tokens.map((token) => first.vocab.indexOf(token)));
    },
  };
  return act;
}

export default explorer({
  name: "writer",
  style: STYLE,
  start: START,
  rest: REST,
  tasks: TASKS,
  View,
  derived,
  actions,
  begun,
  link: ({ numbers, off, temperature, topP, look, from, panel }) =>
    ({ sentence: asText(numbers), off: off.join(" "), temperature, topP, look, from, panel }),
  checkpoint: () => `writer-${first.language}`,
  needs: (state) => !isFirst(state) || ![-1, state.numbers.length].includes(state.from),
  read: (bytes) => reader(new LanguageModel(readCheckpoint(bytes))),
  painted: drawLines,
});
