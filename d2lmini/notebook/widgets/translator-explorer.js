// Translator explorer: a trained Transformer translates in the page. Each step shows its candidates and where it looks
// in the source; the reader may take another candidate or switch heads off, and sees before and after together.
//
// What is shown is a function of one state; Preact brings the page to it. `change` is the only way to another state.

import { svg } from "./dom.js";
import { Choice, Loading, Task, explorer, pick, press } from "./explorer.js";
import { placeByKey } from "./frame.js";
import { checked, completions } from "./sentences.js";
import { fill } from "./text.js";
import { joinTokens, splitTokens } from "./tokens.js";
import { ATTENTIONS, Transformer, greedy, headName, largest, readCheckpoint, softmax } from "./transformer.js";
import { h } from "./vendor/preact/preact.min.js";
import { DIRECTIONS } from "./weights.js";
import kept from "course:first";
import sentences from "course:sentences";
import words from "course:words";
import STYLE from "./translator-explorer.css";

// weights are kept in percent
const shares = (one) => (one.map ? one.map(shares) : one / 100);
const first = { ...kept, steps: kept.steps.map((step) => ({ ...step, cross: shares(step.cross) })) };
const CANDIDATES = first.steps[0].best.length;
const PLACES = first.steps[0].cross.flatMap((block, b) => block.map((_, head) => `${b}.${head}`));
const LOOKS = ["mean", ...PLACES];
const PANELS = ["next", "look", "heads"];
const GROUPS = Object.keys(ATTENTIONS);
const HEADS = GROUPS.flatMap((group) => PLACES.map((place) => `${group}.${place}`));
const SENTENCE = sentences[first.direction.slice(0, 2)].indexOf(first.sentence);

/** What tests compare with PyTorch. */
export const arithmetic = {
  Transformer, checked, completions, first, greedy, joinTokens, readCheckpoint, splitTokens, translated,
};

const decimals = (p) => (p < 0.0005 ? "< 0.001" : p.toFixed(3));
const headOf = (place) => place.split(".").map((number) => Number(number) + 1).join(".");
const nameOfLook = (look) => (look === "mean" ? words.all_heads : fill(words.one_head, { head: headOf(look) }));
const sourceOf = (direction) => direction.slice(0, 2);
const tag = (code) => (code === "zh" ? "zh-CN" : code);
const nameOf = (direction) => direction.split("-").map((code) => words.languages[code]).join(" → ");

// ---- a translation: {source, steps}, each step {token, best: candidates with their probabilities, cross: weights}

const isOwn = ({ token, best }) => token === best[0][0]; // would the model have written it?
const chance = ({ best }, token) => best.find(([one]) => one === token)?.[1];
const textOf = (steps) => joinTokens(steps.map(({ token }) => token).filter((token) => token !== "<eos>"));

/** Translate, with heads off and at some steps the tokens that the reader chose. */
function translated(net, tokens, off, chosen) {
  const options = { off: new Set(off) };
  const known = Object.entries(chosen).filter(([, token]) => net.target.has(token));
  const forced = Object.fromEntries(known.map(([i, token]) => [i, net.target.get(token)]));
  const numbers = net.numbers(tokens);
  const steps = greedy(net, net.encode(numbers, options), { ...options, chosen: forced });
  return {
    source: numbers.map((number) => net.srcVocab[number]),
    steps: steps.map(({ number, logits, weights }) => {
      const odds = softmax(logits);
      const best = largest(odds, CANDIDATES);
      if (!best.includes(number)) best[CANDIDATES - 1] = number;
      const named = best.map((one) => [net.tgtVocab[one], odds[one]]);
      return { token: net.tgtVocab[number], best: named, cross: weights.cross };
    }),
  };
}

/** Weights over the source at one step: of one head ("0.3": block, head), or the mean of all; none of those off. */
function rowOf({ cross }, look, off = []) {
  const places = (look === "mean" ? PLACES : [look]).filter((place) => !off.includes(`cross.${place}`));
  const rows = places.map((place) => place.split(".").reduce((found, i) => found[i], cross));
  return Array.from(cross[0][0], (_, j) => rows.reduce((sum, row) => sum + row[j], 0) / (rows.length || 1));
}

/** A model that remembers its last translations. */
function reader(net) {
  const known = new Map();
  const translate = (...asked) => {
    const key = JSON.stringify(asked);
    if (known.size > 30) known.clear();
    if (!known.has(key)) known.set(key, translated(net, ...asked));
    return known.get(key);
  };
  return { net, translate };
}

// ---- the state, and what follows from it

const START = {
  direction: first.direction,
  sentence: first.sentence,
  chosen: {}, // tokens, by the step at which the reader put them
  step: 0,
  look: "mean", // or the place of a head
  off: [], // names of heads
  anyway: false, // translate with <unk> in the place of unknown words
  panel: "next",
  group: "cross", // the attention whose switches are shown
};
const REST = { typed: null, before: "" }; // what is typed, and the last sentence that could be translated

const isFirst = ({ direction, sentence, chosen, off }) =>
  direction === first.direction && sentence === first.sentence && !off.length && !Object.keys(chosen).length;

/** All that the view shows of a state; without a model the first translation is there. */
function derived(state, model) {
  const { direction, sentence, anyway, off, chosen, look } = state;
  const known = [[sentence, anyway], [state.before, true], [sentences[sourceOf(direction)][SENTENCE], true]];
  const asked = model ? known.map((one) => checked(model.net, ...one)) : [];
  const tokens = asked.find((one) => one.tokens)?.tokens;
  const problem = asked[0]?.kind ? asked[0] : null;
  const shown = isFirst(state) || !model ? first : model.translate(tokens, off, chosen);
  const at = Math.min(state.step, shown.steps.length - 1);
  return {
    ...shown,
    model, problem, at, tokens,
    row: rowOf(shown.steps[at], look, off),
    whole: off.length && model ? model.translate(tokens, [], chosen) : null,
    plain: Object.keys(chosen).length && model ? model.translate(tokens, off, {}) : shown,
    forced: shown.steps.findLastIndex((step) => !isOwn(step)),
  };
}

/** The step at which the model is least sure, and what there is to tell about it. */
function leastSure(steps) {
  const chances = steps.map((step) => chance(step, step.token));
  const i = chances.indexOf(Math.min(...chances));
  const [[token, p], [other, q]] = steps[i].best;
  return { i, told: { i: i + 1, token, p: decimals(p), other, q: decimals(q) } };
}

const allOff = ({ off }, group) => off.join() === PLACES.map((place) => `${group}.${place}`).join();
const [STEP, WORD] = first.pair;
const weightOfPair = (look) => rowOf(first.steps[STEP], look)[WORD];
const aboutHead = (look) =>
  ({ head: headOf(look), p: weightOfPair(look).toFixed(2), mean: weightOfPair("mean").toFixed(2) });

/** Tasks in their order: where each begins, and what there is to tell once it is done; nothing before. */
const TASKS = [
  {
    scene: {},
    done: ({ off }, { steps, at, forced }) => {
      const { i, told } = leastSure(steps);
      return at > 0 && at === i && !off.length && forced < 0 && told;
    },
    answer: (state, { plain }) => leastSure(plain.steps).told,
  },
  {
    scene: {},
    done: ({ off }, { steps, plain, problem }) => {
      const [[one, two], [own, second]] = [steps, plain.steps];
      if (off.length || problem || !two || !second || isOwn(one) || two.token === second.token) return false;
      return { own: own.token, other: one.token, after: two.token, was: second.token };
    },
  },
  {
    scene: { panel: "look" },
    values: { token: first.steps[STEP].token, word: first.source[WORD] },
    done: (state, { at, row }) =>
      isFirst(state) && at === STEP && state.look !== "mean" && row[WORD] > 0.8 && aboutHead(state.look),
    answer: () => aboutHead(PLACES[largest(PLACES.map(weightOfPair), 1)[0]]),
  },
  {
    scene: { panel: "heads" },
    done: (state, { steps, problem, forced }) =>
      allOff(state, "cross") && state.sentence !== first.sentence && !problem && forced < 0 && { text: textOf(steps) },
  },
  {
    scene: { panel: "heads", group: "encoder" },
    done: (state, { steps, whole, problem, forced }) =>
      allOff(state, "encoder") && !problem && forced < 0 && textOf(whole.steps) !== textOf(steps) &&
      { before: textOf(whole.steps), after: textOf(steps) },
  },
];

// ---- the view

const shown = (token) => (token.startsWith("<") ? h("code", {}, token) : token);

function Asked({ state, act }) {
  const offered = sentences[sourceOf(state.direction)];
  const all = offered.includes(state.sentence) ? offered : [...offered, state.sentence];
  const pairs = all.map((sentence) => [sentence, sentence]);
  const directions = DIRECTIONS.map((name) => [name, nameOf(name)]);
  return h("div", { class: "asked", "data-look": "control" },
    h(Choice, { label: words.direction, value: state.direction, options: directions, set: act.turn }),
    h(Choice, { label: words.sentence, value: state.sentence, options: pairs, set: act.ask }));
}

/** Source and translation; with heads off, or about to be, what the model writes with all heads stands below. */
function Scene({ state, now, act }) {
  const { source, steps, at, row, forced, whole } = now;
  const [from, to] = state.direction.split("-").map(tag);
  const before = state.panel === "heads" || whole ? (whole ?? now).steps : [];
  const walk = (event) => {
    const place = placeByKey(event, at, steps.length);
    if (place !== undefined) act.change({ step: place }, "[role=radio][aria-checked=true]");
  };
  const sourceChip = (token, j) => h("span", {
    key: j, class: "chip", role: "listitem", style: { "--share": row[j].toFixed(3) },
    title: token === "<unk>" ? now.tokens[j] : undefined,
  }, shown(token), h("span", { class: "share" }, row[j].toFixed(2)));
  let path = ""; // a token that stays after the same ones is the same chip; another one arrives
  const slot = (_, i) => {
    const step = steps[i];
    path += `${step?.token} `;
    return h("span", { key: `${i} ${path}`, class: "slot", style: { "--late": Math.max(0, i - Math.max(0, forced)) } },
      step && h("button", {
        type: "button", class: "chip", role: "radio", "aria-checked": String(i === at), tabIndex: i === at ? 0 : -1,
        "data-forced": !isOwn(step), "data-changed": Boolean(whole) && before[i]?.token !== step.token,
        onClick: () => act.change({ step: i }),
      },
        shown(step.token), !isOwn(step) && h("span", { class: "unseen" }, ` (${words.yours})`),
        h("span", { class: "share" }, chance(step, step.token).toFixed(2))),
      before[i] && h("span", { class: "was" }, shown(before[i].token),
        h("span", { class: "share" }, chance(before[i], before[i].token).toFixed(2))));
  };
  const slots = before.length > steps.length ? before : steps;
  return h("div", { class: "scene", "data-look": "picture", translate: false },
    h("svg", { class: "lines", "aria-hidden": "true" }),
    h("div", { class: "source", role: "list", lang: from, "aria-label": words.source }, source.map(sourceChip)),
    h("div", { class: "target", role: "radiogroup", lang: to, "aria-label": words.tokens, onKeyDown: walk },
      slots.map(slot)),
    before.length > 0 && h("p", { class: "legend" }, words.legend));
}

function Candidates({ state, now, act, wide }) {
  const { steps, at, whole, forced } = now;
  const { token: taken, best } = steps[at];
  const path = (all) => all.slice(0, at).map(({ token }) => token).join(" ");
  const same = whole?.steps[at] && path(whole.steps) === path(steps);
  const bar = ([token, p], i) => {
    const was = same && chance(whole.steps[at], token);
    return h("button", {
      key: i, type: "button", class: "bar", "aria-pressed": String(token === taken), onClick: () => act.take(token),
    },
      h("span", { class: "token" }, shown(token)),
      h("span", { class: "track" }, h("i", { style: { width: `${(100 * p).toFixed(1)}%` } }),
        was && h("i", { class: "then", style: { left: `${(100 * was).toFixed(1)}%` } })),
      h("span", { class: "p" }, decimals(p)));
  };
  const label = fill(words.candidates, { i: at + 1 });
  return h("div", { class: "next", "data-look": wide ? "picture" : undefined },
    h("div", { class: "heading" }, h("p", {}, label),
      press("↺", act.undo, { class: "undo", "aria-label": words.undo, disabled: forced < 0 })),
    h("div", { class: "bars", role: "group", "aria-label": label, translate: false,
      lang: tag(state.direction.slice(3)) }, best.map(bar)));
}

/** Where each step looks, as a picture: a row a step. */
const cells = (steps, look) => {
  const rows = steps.map((step) => rowOf(step, look));
  const size = { viewBox: `0 0 ${rows[0].length} ${rows.length}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const cell = (weight, j, i) => h("path", { d: `M${j} ${i}h1v1h-1z`, "fill-opacity": weight.toFixed(2) });
  return h("svg", size, rows.flatMap((row, i) => Array.from(row, (weight, j) => cell(weight, j, i))));
};

function Look({ state, now, act }) {
  const { source, steps, at } = now;
  const off = (place) => state.off.includes(`cross.${place}`);
  const head = (look) => press(
    [look === "mean" ? words.mean : headOf(look), cells(steps, look)],
    () => act.change({ look }),
    {
      "aria-pressed": String(look === state.look), "data-off": off(look), key: look,
      "aria-label": nameOfLook(look),
    });
  const [from, to] = state.direction.split("-").map(tag);
  const rows = steps.map(({ token }, i) => h("span", { key: i }, token));
  const columns = source.map((token, j) => h("span", { key: j, class: "column-name" }, token));
  const label = { source: source.join(" "), target: steps.map(({ token }) => token).join(" ") };
  return h("div", { class: "look", translate: false },
    h("div", { class: "map", role: "img", "aria-label": fill(words.map, label), style: { "--rows": steps.length } },
      h("div", { class: "columns", lang: from }, columns),
      h("div", { class: "rows", lang: to }, rows),
      cells(steps, state.look),
      h("i", { class: "now", style: { "--at": at } })),
    h("div", { class: "eight", role: "group", "aria-label": words.panels.look }, LOOKS.map(head)));
}

function Heads({ state, act }) {
  const { group, off } = state;
  const switched = (names, on) =>
    act.change({ off: HEADS.filter((name) => (names.includes(name) ? !on : off.includes(name))) });
  const count = (one) => PLACES.filter((place) => !off.includes(`${one}.${place}`)).length;
  const choose = (one) => press(
    [words.attentions[one], h("span", { class: "share" }, `${count(one)}/${PLACES.length}`)],
    () => act.change({ group: one }), { key: one, "aria-pressed": String(one === group) });
  const toggle = (place) => {
    const [block, head] = place.split(".");
    const name = headName(group, block, head);
    const on = !off.includes(name);
    return press(headOf(place), () => switched([name], !on), {
      key: place, role: "switch", class: "switch", "aria-checked": String(on),
      "aria-label": `${words.attentions[group]} ${headOf(place)}`,
    });
  };
  const all = PLACES.map((place) => `${group}.${place}`);
  return [
    h("div", { class: "row groups", role: "group", "aria-label": words.panels.heads }, GROUPS.map(choose)),
    h("div", { class: "switches", role: "group", "aria-label": words.attentions[group] }, PLACES.map(toggle)),
    h("div", { class: "row" },
      press(words.all_off, () => switched(all, false), { disabled: !count(group) }),
      press(words.all_on, () => switched(HEADS, true), { disabled: !off.length })),
  ];
}

/** On a phone the candidates are one of three tabs; on a desk they stand beside the other two. */
function Panel(parts) {
  const { state, act, wide } = parts;
  const kinds = wide ? PANELS.slice(1) : PANELS;
  const panel = kinds.includes(state.panel) ? state.panel : kinds[0];
  const walk = (event) => {
    const to = placeByKey(event, kinds.indexOf(panel), kinds.length);
    if (to !== undefined) act.change({ panel: kinds[to] }, "[role=tab][aria-selected=true]");
  };
  const tab = (name) => press(words.panels[name], () => act.change({ panel: name }), {
    key: name, role: "tab", "aria-selected": String(panel === name), tabIndex: panel === name ? 0 : -1,
  });
  return [
    wide && h(Candidates, parts),
    h("div", { class: "panel", "data-look": "control" },
      h("div", { class: "tabs", role: "tablist", "aria-label": words.title, onKeyDown: walk }, kinds.map(tab)),
      h("div", { class: "inside", role: "tabpanel", "aria-label": words.panels[panel] },
        h({ next: Candidates, look: Look, heads: Heads }[panel], parts))),
  ];
}

/** What the picture says, in a sentence or two. */
function says({ look, panel, sentence: asked }, { source, steps, at, row, whole, problem }) {
  const text = textOf(steps);
  if (whole) return fill(words.changed, { before: textOf(whole.steps), after: text });
  if (panel === "heads") return words.none_off;
  const { token } = steps[at];
  const [most] = largest(row, 1);
  const step = fill(words.said, {
    i: at + 1, n: steps.length, token, p: decimals(chance(steps[at], token)),
    who: nameOfLook(look), word: source[most], weight: row[most].toFixed(2),
  });
  const finished = at || problem ? "" : fill(words.finished, { source: asked, target: text });
  return `${finished} ${step}`.trim().replace("。 ", "。");
}

/** Why a sentence was not translated, and buttons that help on. */
function Problem({ state, now, act }) {
  if (state.loading === "failed") return h(Loading, { state, act });
  const { problem } = now;
  if (!problem) return null;
  const { kind, language, direction, unknown = [], count, most } = problem;
  if (kind === "empty") return words.empty;
  if (kind === "long") return fill(words.too_long, { count, most });
  if (kind === "language") {
    const names = { language: words.languages[language], source: words.languages[sourceOf(state.direction)] };
    return [h("p", {}, fill(words.other_language, names)),
      press(fill(words.switch_to, { direction: nameOf(direction) }), () => act.ask(state.sentence, { direction }))];
  }
  const mended = (word, other) =>
    splitTokens(state.sentence).map((token) => (token === word ? other : token)).join(" ");
  return [
    unknown.slice(0, 3).map(({ word, near }) => h("div", { key: word },
      h("p", {}, fill(words.unknown, { word }), " ", near.length > 0 && words.near),
      near.map((other) => press(other, () => act.ask(mended(word, other)), { lang: tag(sourceOf(state.direction)) })))),
    press(words.anyway, () => act.ask(state.sentence, { anyway: true })),
  ];
}

function Field({ state, now, act }) {
  const { typed, direction } = state;
  const value = typed ?? state.sentence;
  const lang = tag(sourceOf(direction));
  const onInput = (event) => act.change({ typed: event.target.value });
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.isComposing) act.ask(value); // no form: JupyterLab lets none be sent
  };
  const offers = typed && now.model ? completions(now.model.net, typed, typed.length) : [];
  const plainly = { maxLength: 120, autocomplete: "off", autocapitalize: "none", spellcheck: false };
  return h("div", { class: "field" },
    h("label", {}, words.own, h("input", { type: "text", lang, value, onInput, onKeyDown, ...plainly })),
    press(words.translate, () => act.ask(value)),
    h("div", { class: "known", role: "group", "aria-label": words.known, lang, translate: false },
      offers.map(({ label, text }) => press(label, () => act.change({ typed: text }, ".field input"), { key: label }))),
    h("div", { class: "problem", role: "alert" }, h(Problem, { state, now, act })));
}

function View(parts) {
  const { state, now } = parts;
  return h("div", { class: "desk", "aria-busy": String(state.loading === "coming") },
    h(Task, parts), h(Asked, parts), h(Scene, parts), h(Panel, parts),
    h("p", { class: "said", role: "status" }, state.loading === "coming" ? h(Loading, parts) : says(state, now)),
    h(Field, parts));
}

/** From each source token to the token of the step, as wide as the weight; the tokens may stand in several rows. */
function drawLines(root) {
  const [lines, scene] = [root.querySelector(".lines"), root.querySelector(".scene")];
  const asking = scene.querySelector("[role=radio][aria-checked=true]");
  if (!asking || !scene.offsetWidth) return lines.replaceChildren();
  // not its box on the screen: a token that has just come is still on its way there
  const middle = (chip) => chip.offsetLeft + chip.offsetWidth / 2;
  const [x, y] = [middle(asking), asking.offsetTop];
  lines.setAttribute("viewBox", `0 0 ${scene.offsetWidth} ${scene.offsetHeight}`);
  const paths = [...scene.querySelectorAll(".source .chip")].map((chip) => {
    const weight = Number(chip.style.getPropertyValue("--share"));
    const low = chip.offsetTop + chip.offsetHeight;
    const bend = (low + y) / 2;
    const d = `M${middle(chip)} ${low}C${middle(chip)} ${bend} ${x} ${bend} ${x} ${y}`;
    return svg("path", { d, "stroke-width": (0.3 + 8 * weight).toFixed(2) });
  });
  return lines.replaceChildren(...paths);
}

// ---- life

/** The state that a link asks for; what makes no sense there is left out. */
function begun(asked) {
  const known = (name, all, otherwise) => (all.includes(asked[name]) ? asked[name] : otherwise);
  const direction = known("direction", DIRECTIONS, first.direction);
  const example = sentences[sourceOf(direction)][SENTENCE];
  const isPlain = !asked.sentence || asked.sentence === first.sentence;
  const pairs = asked.chosen.split(" ").map((pair) => pair.split(/:(.*)/s)).filter(([i]) => /^\d\d?$/.test(i));
  return {
    direction,
    sentence: isPlain ? example : asked.sentence.slice(0, 120),
    chosen: Object.fromEntries(pairs.map(([i, token]) => [i, token ?? ""])),
    step: Number.isInteger(asked.step) ? Math.max(0, asked.step) : 0,
    look: known("look", LOOKS, "mean"),
    off: HEADS.filter((head) => asked.off.split(" ").includes(head)),
    anyway: asked.anyway,
    panel: known("panel", PANELS, "next"),
    group: known("group", GROUPS, "cross"),
  };
}

/** What the reader can do: each brings another state. `state` gives the one of now. */
function actions({ state, now, change }) {
  const act = {
    /** Translate a sentence; what cannot be translated leaves the translation before in sight. */
    ask(text, more) {
      const before = now().problem ? state().before : state().sentence;
      const plain = { chosen: {}, step: 0, anyway: false, typed: null };
      return change({ ...plain, before, sentence: text.trim(), ...more });
    },
    /** Turn to another direction with the same sentence, or with what its translation was. */
    turn(direction) {
      const { direction: old, typed, sentence: asked } = state();
      const offered = sentences[sourceOf(old)].indexOf(typed ?? asked);
      const back = direction === old.split("-").toReversed().join("-") && typed === null && !now().problem;
      const own = back ? textOf(now().steps) : (typed ?? asked);
      return act.ask(sentences[sourceOf(direction)][offered] ?? own, { direction });
    },
    take(token) {
      const { steps, at } = now();
      const before = Object.entries(state().chosen).filter(([i]) => Number(i) < at);
      const mine = token === steps[at].best[0][0] ? [] : [[at, token]];
      return change({ chosen: Object.fromEntries([...before, ...mine]), step: at });
    },
    undo: () => change({ chosen: {} }),
  };
  return act;
}

export default explorer({
  name: "translator",
  style: STYLE,
  start: START,
  rest: REST,
  tasks: TASKS,
  View,
  derived,
  actions,
  begun,
  link: (state) => ({
    ...pick(state, START),
    chosen: Object.entries(state.chosen).map(([i, token]) => `${i}:${token}`).join(" "),
    off: state.off.join(" "),
  }),
  isTyped: ({ direction, sentence, typed }) => typed !== null || !sentences[sourceOf(direction)].includes(sentence),
  checkpoint: ({ direction }) => direction,
  needs: (state) => !isFirst(state),
  read: (bytes) => reader(new Transformer(readCheckpoint(bytes))),
  painted: drawLines,
});
