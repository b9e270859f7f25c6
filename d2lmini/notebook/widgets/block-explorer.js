// Block stepper: a sentence walks through a trained model of the course, stop by stop. Every tensor that is shown is
// computed here, in the page, from the weights that come at the first touch.

import {
  SENTENCES,
  SIZES,
  STOPS,
  candidates,
  decoderWalk,
  encoderWalk,
  findings,
  moments,
  sharpest,
  zeros,
} from "./block-walk.js";
import { clamp, clampInteger } from "./arithmetic.js";
import { button, element, freshId, svg } from "./dom.js";
import { choice, frame, placeByKey, tableHead } from "./frame.js";
import { hatching, rect } from "./picture.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill, signed } from "./text.js";
import { hasHan, splitTokens } from "./tokens.js";
import { EOS, Transformer, readCheckpoint } from "./transformer.js";
import { thingsToTry } from "./try-out.js";
import { DIRECTIONS, weights } from "./weights.js";
import words, { language } from "course:words";
import STYLE from "./block-explorer.css";
import TRIES from "./try-out.css";

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = {
  STOPS,
  SENTENCES,
  load: (bytes) => new Transformer(readCheckpoint(bytes)),
  encoderWalk,
  decoderWalk,
  candidates,
  findings,
};

const TENSORS = ["Q", "K", "V", "heads", "output"]; // of an attention
const BY_HEAD = ["Q", "K", "V", "heads"]; // in these, heads lie side by side
const LEVELS = 16; // of a color
const SHADE = 0.9; // of the largest number
const HEARD = 300; // milliseconds without a change, before it is announced
const ROOM = 158; // width of a head's map: two fit beside each other on a phone
const EPSILON = 1e-5; // of layer norm

const percent = (share) => (100 * share).toFixed(0);
const blank = (n, width) => Array.from({ length: n }, () => new Float32Array(width));
const largestOf = (rows) => Math.max(...rows.map((row) => row.reduce((most, x) => Math.max(most, Math.abs(x)), 0)));
const glued = (text) => text.replace(/\([^)]*\)/g, (shape) => shape.replaceAll(" ", "\u00a0"));
/** About how wide a label of a head's map is. */
const wide = (text) =>
  [...text].reduce((sum, letter) => sum + (hasHan(letter) ? 12 : "<>".includes(letter) ? 9 : 6.5), 0);

function render({ model: host, el }) {
  const home = `en-${{ vi: "vi", zh: "zh" }[language.tag.slice(0, 2)] ?? "fr"}`;
  const view = sharedView(el, "block", {
    direction: home,
    sentence: "",
    stop: STOPS[0].name,
    token: 1, // of the source, followed through all stops; and of the target
    mark: 0,
    tensor: "output",
    written: "",
  });
  if (!DIRECTIONS.includes(view.direction)) view.direction = home;
  const sentences = () => SENTENCES[view.direction.slice(0, 2)];
  if (!sentences().includes(view.sentence)) [view.sentence] = sentences();
  if (!STOPS.some(({ name }) => name === view.stop)) view.stop = STOPS[0].name;
  if (!TENSORS.includes(view.tensor)) view.tensor = "output";
  view.written = view.written.split(" ").filter(Boolean).slice(0, 8).join(" ");
  let column = 0;
  let candidate = 0; // which one is chosen
  const models = new Map();
  let state = "asleep"; // loading, failed, awake
  let walk = {}; // what the model made of the sentence, and of what is written
  const hatch = freshId();

  // ---- what is on the screen

  const directionNames = DIRECTIONS.map((direction) => {
    const [from, to] = direction.split("-").map((code) => words.languages[code]);
    return [direction, `${from} → ${to}`];
  });
  const directions = choice(words.direction, directionNames, (direction) => change({ direction, sentence: "" }));
  const choose = choice(words.sentence, [], (sentence) => change({ sentence }));
  const chips = STOPS.map((stop) => {
    const kind = kindOf(stop);
    const shown = words.parts[kind] ?? words.parts[stop.part];
    const attributes = { class: kind, style: gridPlace(stop), "aria-label": placeOf(stop) };
    return button(shown, () => go(stop.name), attributes);
  });
  const map = element(
    "div",
    { class: "map", role: "toolbar", "aria-label": words.map, onkeydown: (event) => walkByKey(event) },
    ...["encoder", "decoder"].flatMap((side) => [
      element("span", { class: `side ${side}` }, words[side]),
      [0, 1].map((b) => element("span", { class: "frame", style: framePlace(side, b) })),
    ]),
    drawing("bridge", 4, "M0 1.5H7V.5M7 1.5V3.5M7 .5H12M7 3.5H12", "M12 .38L18 .5L12 .62zM12 3.38L18 3.5L12 3.62z"),
    drawing("loop", 8, "M0 .5H10V7.5H6", "M6 7.38L0 7.5L6 7.62z"),
    chips,
  );
  const previous = button(`← ${words.previous}`, () => move(-1));
  const next = button("", () => move(1), { class: "next" });
  const counter = element("span", { class: "counter" });
  const heading = element("p", { class: "heading" });
  const told = element("p", { class: "said" });
  const written = element("div", { class: "written" });
  const stage = element("div", { class: "stage" });
  const start = element("button", { type: "button", class: "next" }, words.invite);
  const note = element("p", {});
  const invite = element("div", { class: "invite" }, start, note);
  const heard = element("p", { class: "unseen", role: "status" });
  const panel = element(
    "div",
    { class: "panel" },
    element("div", { class: "walk", onkeydown: (event) => walkByKey(event) }, previous, counter, next),
    heading,
    told,
    written,
    element("div", { class: "scene" }, stage, invite),
    heard,
  );
  const at = (part) => state === "awake" && view.stop.endsWith(part);
  const met = [
    () => at("encoder.position"),
    () => {
      if (!at(".attention")) return false;
      const { block, from } = sharpest(walk.seen);
      return at(`.block${block}.attention`) && view.token === from;
    },
    () => at(".ffn"),
    () => at(".attention1") && view.mark === 0,
    () => state === "awake" && walk.numbers[0] === candidates(walk.seen["decoder.logits"][0], 2)[1].number,
  ];
  const later = met.map((_, i) => () => touch().then(() => answers()[i]));
  const tries = thingsToTry(words, later, met, words.failed);
  const { root, undress } = frame(
    el,
    "d2l-block",
    STYLE + TRIES,
    element("div", { class: "controls" }, directions.node, choose.node),
    element("div", { class: "both" }, map, panel),
    element("p", { class: "hint" }, words.hint),
    tries.node,
  );
  const wake = () => touch().catch(() => {}); // what failed is on the screen
  root.addEventListener("click", wake);
  root.addEventListener("change", wake);
  root.addEventListener("keydown", (event) => event.key.startsWith("Arrow") && wake());

  // ---- the map of the model: read from below, as the chapter's figure

  function gridPlace({ side, block = 0, part }) {
    const dec = side === "decoder";
    const left = dec ? 4 : 1;
    if (part === "softmax") return `grid-area: 2 / ${left} / auto / span 2`;
    if (block === undefined || part === "embedding" || part === "position")
      return `grid-area: 9 / ${left + (part === "position")}`;
    const norm = part.startsWith("addnorm");
    const layer = norm ? Number(part.at(-1)) : { attention: 1, attention1: 1, attention2: 2, ffn: dec ? 3 : 2 }[part];
    return `grid-area: ${9 - (dec ? 3 : 2) * block - layer} / ${left + norm}`;
  }

  function framePlace(side, b) {
    const [high, left] = side === "decoder" ? [3, 4] : [2, 1];
    return `grid-area: ${9 - high * (b + 1)} / ${left} / span ${high} / span 2`;
  }

  function drawing(name, high, line, heads) {
    const color = name === "loop" ? "var(--w-muted)" : "var(--w-key)";
    const even = { "vector-effect": "non-scaling-stroke", fill: "none", stroke: color, "stroke-width": 1.5 };
    return svg(
      "svg",
      { class: name, viewBox: `0 0 18 ${high}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("path", { d: line, ...even, "stroke-dasharray": name === "loop" ? "4 3" : null }),
      svg("path", { d: heads, fill: color }),
    );
  }

  function kindOf({ part }) {
    return part.replace(/^addnorm\d$/, "addnorm");
  }

  function placeOf(stop) {
    const name = words.names[kindOf(stop)];
    const side = words[stop.side];
    if (stop.block === undefined) return fill(words.place, { side, name });
    return fill(words.place_block, { side, name, b: stop.block + 1 });
  }

  // ---- the model comes at the first touch

  let coming = null;

  /** Resolves when the model of the direction is there; one that did not come is asked for again at the next touch. */
  function touch() {
    coming ??= bring().finally(() => (coming = null));
    return coming;
  }

  async function bring() {
    if (root.getRootNode().activeElement === start) next.focus(); // what has the focus must not vanish
    while (!models.has(view.direction)) {
      const { direction } = view;
      state = "loading";
      drawInvite(); // what was touched has been drawn already
      try {
        models.set(direction, new Transformer(readCheckpoint(await weights(host, direction))));
      } catch (reason) {
        state = "failed";
        draw();
        throw reason;
      }
    }
    if (state === "awake") return;
    state = "awake";
    draw();
  }

  function change(values) {
    Object.assign(view, values, { written: "", mark: 0, token: 1 });
    if (!view.sentence) [view.sentence] = sentences();
    if (STOPS[here()].side === "decoder") view.stop = STOPS[0].name;
    if (state === "awake" && !models.has(view.direction)) state = "loading";
    for (const open of tries.node.querySelectorAll("details[open]")) open.open = false; // they told of another sentence
    draw();
  }

  /** What the model makes of the sentence and of what is written; computed when one of them has changed. */
  function compute() {
    const model = models.get(view.direction);
    const source = [...splitTokens(view.sentence), "<eos>"];
    if (!model) {
      walk = { source, target: ["<bos>", ...tokens()], seen: {} };
      return;
    }
    const key = `${view.direction} ${view.sentence}`;
    if (walk.key !== key) {
      walk = { key, model, source, ...encoderWalk(model, source.slice(0, -1)) };
      walk.encoder = walk.seen;
    }
    if (walk.of === view.written) return;
    const all = view.written.split(" ").map((token) => model.target.get(token));
    const end = all.findIndex((number) => number === undefined || number === EOS); // a link may ask for anything
    const numbers = all.slice(0, Math.min(end < 0 ? all.length : end, model.config.num_steps - 1));
    const named = numbers.map((number) => model.tgtVocab[number]);
    view.written = named.join(" ");
    const seen = { ...walk.encoder, ...decoderWalk(model, walk.encoded, numbers) };
    const best = candidates(seen["decoder.logits"].at(-1));
    walk = { ...walk, of: view.written, numbers, target: ["<bos>", ...named], seen, next: best };
    candidate = 0;
  }

  /** What the answers of the things to try say, for this sentence. */
  function answers() {
    const { model, source } = walk;
    const { position, lengths, sharpest: top, silent, first, second, best, other } = findings(model, walk);
    const { num_hiddens: d, num_heads: h } = model.config;
    const [a, b] = [Math.min(...lengths), Math.max(...lengths)].map((length) => length.toFixed(2));
    const [from, to] = [source[top.from], source[top.to]];
    return [
      { p: position.toFixed(2), a, b, d, root: Math.sqrt(d) },
      { b: top.block + 1, h: top.head + 1, a: from, c: to, w: top.weight.toFixed(3) },
      { list: silent.map((share) => `${percent(share)} %`).join(words.comma) },
      { w: (1).toFixed(3), h },
      {
        a: model.tgtVocab[first.number],
        b: model.tgtVocab[second.number],
        p: first.probability.toFixed(3),
        q: second.probability.toFixed(3),
        text: other,
        best,
      },
    ];
  }

  // ---- walking

  function here() {
    return STOPS.findIndex(({ name }) => name === view.stop);
  }

  function go(name) {
    view.stop = name;
    draw();
  }

  const tokens = () => view.written.split(" ").filter(Boolean);
  const chosen = () => walk.next?.[candidate];
  const finished = () =>
    at("softmax") && (chosen()?.number === EOS || walk.target.length >= walk.model.config.num_steps);

  /** One stop on or back. From the last one the chosen token is fed back in, and the decoder begins again. */
  function move(by) {
    const to = STOPS[here() + by];
    if (by > 0 && !to) {
      if (state !== "awake" || finished()) return;
      view.written = [...tokens(), walk.model.tgtVocab[chosen().number]].join(" ");
      view.mark = tokens().length;
      view.stop = "decoder.embedding";
    } else if (by < 0 && view.stop === "decoder.embedding" && view.written) {
      takeBack();
      view.stop = "decoder.softmax";
    } else if (to) view.stop = to.name;
    draw();
  }

  function takeBack() {
    view.written = tokens().slice(0, -1).join(" ");
    view.mark = tokens().length;
  }

  function walkByKey(event) {
    const by = { ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, ArrowUp: 1 }[event.key];
    const end = { Home: 0, End: STOPS.length - 1 }[event.key];
    if (by === undefined && end === undefined) return;
    event.preventDefault();
    if (by) move(by);
    else go(STOPS[end].name);
    if (map.contains(event.target)) chips[here()].focus();
  }

  // ---- drawing

  let before = "";
  let stopBefore = "";
  let timer;

  function draw(first = false) {
    compute();
    const stop = STOPS[here()];
    const i = here();
    directions.input.value = view.direction;
    choose.input.replaceChildren(...sentences().map((text) => element("option", {}, text)));
    choose.input.value = view.sentence;
    choose.input.lang = view.direction.slice(0, 2);
    chips.forEach((chip, j) => {
      chip.tabIndex = j === i ? 0 : -1;
      if (j === i) chip.setAttribute("aria-current", "step");
      else chip.removeAttribute("aria-current");
    });
    const { source, target } = walk;
    view.token = clampInteger(view.token, 0, source.length - 1);
    view.mark = clampInteger(view.mark, 0, target.length - 1);
    const { num_hiddens: d, ffn_num_hiddens: hidden, num_heads: h } = SIZES;
    const n = stop.side === "encoder" ? source.length : target.length;
    const count = fill(words.stop, { i: i + 1, total: STOPS.length });
    counter.textContent = stop.side === "decoder" ? `${count} · ${fill(words.step, { t: target.length })}` : count;
    heading.textContent = placeOf(stop);
    const kind = kindOf(stop);
    const text = words.told[kind] ?? words.told[`${stop.side}_${kind}`];
    const v = walk.model?.tgtVocab.length ?? "…";
    told.textContent = fill(text, { n, d, h, v, hidden, root: Math.sqrt(d) });
    drawWalk(stop);
    keepingFocus(() => {
      drawWritten(stop, n);
      const drawn = scenes[kind](stop, n);
      stage.replaceChildren(...drawn.nodes);
      announce(drawn, first);
    });
    drawInvite();
    tries.look();
    if (!first) shareView(el, "block", view);
  }

  /** What stands in the place of the numbers until the model is there. */
  function drawInvite() {
    invite.hidden = state === "awake";
    note.textContent = { loading: words.loading, failed: words.failed }[state] ?? words.fetched;
    start.hidden = state === "loading";
  }

  /** A new stop is announced with its sentence and shapes, a new token with what is new about it. */
  function announce({ shapes, summary }, first) {
    const stopNow = `${view.stop} ${walk.target.length} ${state} ${view.sentence}`;
    const news =
      stopNow === stopBefore ? summary : [heading.textContent, told.textContent, ...shapes, summary].join(" ");
    stopBefore = stopNow;
    const said = state === "loading" ? words.loading : state === "failed" ? words.failed : news;
    if (first || said === before) return;
    before = said;
    clearTimeout(timer);
    timer = setTimeout(() => (heard.textContent = said), HEARD);
  }

  /** Draw anew what has the focus, and give it back. */
  function keepingFocus(paint) {
    const key = root.getRootNode().activeElement?.dataset.key;
    paint();
    if (key) root.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
  }

  function drawWalk(stop) {
    previous.setAttribute("aria-disabled", here() === 0);
    const last = stop.part === "softmax" && state === "awake";
    next.setAttribute("aria-disabled", finished());
    next.textContent = last ? fill(words.feed, { token: walk.model.tgtVocab[chosen().number] }) : `${words.next} →`;
  }

  function drawWritten(stop, n) {
    if (stop.side === "encoder") {
      written.replaceChildren();
      return;
    }
    const list = walk.target.map((token, i) => element("span", { class: "word", "data-new": i === n - 1 }, token));
    const undo = button(words.back, back, { "data-key": "back", "aria-disabled": String(n === 1) });
    const code = view.direction.slice(3);
    written.replaceChildren(`${words.written} `, element("span", { lang: code }, list), undo);
  }

  function back() {
    takeBack();
    draw();
  }

  /** Rows of a tensor with labels on the left: one of them is followed. */
  function rowsOf(side) {
    const source = side === "encoder";
    return {
      tokens: source ? walk.source : walk.target,
      lang: view.direction.split("-")[source ? 0 : 1],
      chosen: source ? view.token : view.mark,
      pick(i) {
        view[source ? "token" : "mark"] = i; // draw keeps it within the tokens
        draw();
      },
    };
  }

  const nameOf = (stop, part) => {
    if (part === "norm") return stop.name;
    if (stop.block === undefined) return `${stop.side}.${part}`;
    return `${stop.name}.${part === "ffn" ? "output" : part}`;
  };
  const valueOf = (stop, part, n, width) => walk.seen[nameOf(stop, part)] ?? blank(n, width);

  /** Heat maps of several tensors of a stop on one scale, the first with the tokens to choose from. */
  function heats(stop, parts, side = stop.side, width = () => SIZES.num_hiddens) {
    const rows = rowsOf(side);
    const n = rows.tokens.length;
    const values = parts.map((part) => valueOf(stop, part, n, width(part)));
    const most = Math.max(...values.map(largestOf));
    const drawn = parts.map((part, i) => heat(words.tensors[part], values[i], rows, most, i, BY_HEAD.includes(part)));
    return {
      values,
      rows,
      nodes: drawn.map(({ figure }) => figure),
      legend: bothSigns(most),
      shapes: drawn.map(({ shape }) => shape),
      summary: drawn.map(({ said }) => said).join(words.comma),
    };
  }

  function heat(title, values, rows, most, place, heads) {
    const n = values.length;
    const d = values[0].length;
    const j = Math.min(column, d - 1);
    const cell = (row, col) =>
      fill(words.cell, { token: rows.tokens[row], j: col + 1, x: most ? signed(values[row][col], 3) : "…" });
    const levels = new Map();
    values.forEach((row, y) =>
      row.forEach((value, x) => {
        const level = most && Math.round((LEVELS * value) / most);
        if (level) levels.set(level, `${levels.get(level) ?? ""}M${x} ${y}h1v.92h-1z`);
      }),
    );
    const even = { "vector-effect": "non-scaling-stroke", fill: "none" };
    const around = { stroke: "var(--w-text)", ...even };
    const extent = { viewBox: `0 0 ${d} ${n}`, preserveAspectRatio: "none" };
    const keys = { role: "slider", tabindex: 0, "data-key": `heat-${place}`, "aria-label": title };
    const reading = cell(rows.chosen, j);
    const now = { "aria-valuemin": 1, "aria-valuemax": d, "aria-valuenow": j + 1, "aria-valuetext": reading };
    const readout = element("figcaption", { class: "readout" }, reading);
    const find = (event) => {
      const box = picture.getBoundingClientRect();
      const part = (point, from, size, count) => clamp(Math.floor(((point - from) / size) * count), 0, count - 1);
      return [part(event.clientY, box.top, box.height, n), part(event.clientX, box.left, box.width, d)];
    };
    const picture = svg(
      "svg",
      {
        ...extent,
        ...keys,
        ...now,
        style: `height: ${24 * n}px`,
        onpointermove: (event) => (readout.textContent = cell(...find(event))),
        onpointerleave: () => (readout.textContent = reading),
        onclick: (event) => {
          const [row, col] = find(event);
          column = col;
          rows.pick(row);
        },
        onkeydown: (event) => {
          const across = { ArrowRight: 1, ArrowLeft: -1, Home: -d, End: d }[event.key];
          const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (!across && !down) return;
          event.preventDefault();
          if (across) column = clampInteger(j + across, 0, d - 1);
          rows.pick(rows.chosen + (down ?? 0));
        },
      },
      svg("rect", { width: d, height: n, fill: "var(--w-bg)" }),
      [...levels].map(([level, path]) =>
        svg("path", {
          d: path,
          fill: level < 0 ? "var(--w-key)" : "var(--w-query)",
          "fill-opacity": ((SHADE * Math.abs(level)) / LEVELS).toFixed(3),
          "shape-rendering": "crispEdges",
        }),
      ),
      (heads ? [1, 2, 3] : []).map((head) =>
        svg("path", { d: `M${(head * d) / 4} 0V${n}`, stroke: "var(--w-muted)", "stroke-dasharray": "3 3", ...even }),
      ),
      rect(0, rows.chosen, d, 0.92, around),
      rect(j, rows.chosen, 1, 0.92, { "stroke-width": 2, ...around }),
    );
    const shape = glued(fill(words.shape, { n, d }));
    const figure = element(
      "figure",
      {},
      element("p", { class: "caption" }, element("b", {}, title), ` ${shape}`),
      element("div", { class: "rows" }, labels(rows, place === 0), picture),
      readout,
    );
    return { figure, shape: `${title}: ${shape}.`, said: `${title}: ${reading}` };
  }

  /** A group of which one is chosen, by click or arrow keys; each has its content in a list. */
  function radios(attributes, contents, on, pick) {
    const onkeydown = (event) => {
      const to = placeByKey(event, on, contents.length);
      if (to === undefined) return;
      pick(to);
      stage.querySelector("[role=radio][aria-checked=true]").focus();
    };
    const radio = (content, i) =>
      button(content, () => pick(i), {
        role: "radio",
        "aria-checked": String(i === on),
        tabindex: i === on ? 0 : -1,
        "data-key": `radio-${i}`,
      });
    return element("div", { role: "radiogroup", onkeydown, ...attributes }, contents.map(radio));
  }

  /** The tokens beside a heat map: beside the first one they can be chosen. */
  function labels({ tokens: names, lang, chosen: on, pick }, first) {
    const attributes = { class: "tokens", lang };
    if (first) return radios({ ...attributes, "aria-label": words.token }, names, on, pick);
    const label = (token, i) => element("span", { "data-on": i === on }, token);
    return element("div", { ...attributes, "aria-hidden": "true" }, names.map(label));
  }

  /** The scale of a picture, from its least to its largest number, through the background at 0. */
  function legend(...ends) {
    const ink = { "-1": "key", 1: "query" };
    const mix = ([sign]) =>
      sign ? `color-mix(in srgb, var(--w-${ink[sign]}) ${100 * SHADE}%, var(--w-bg))` : "var(--w-bg)";
    const style = `background: linear-gradient(to right, ${ends.map(mix).join(", ")})`;
    return element("p", { class: "legend" }, ends[0][1], element("i", { style }), ends.at(-1)[1]);
  }

  function bothSigns(most) {
    const end = (sign) => (most ? `${sign}${most.toFixed(2)}` : "…");
    return legend([-1, end("−")], [0], [1, end("")]);
  }

  const plainScene = (parts) => (stop) => {
    const drawn = heats(stop, parts);
    return { ...drawn, nodes: [...drawn.nodes, drawn.legend] };
  };

  const scenes = {
    embedding: plainScene(["embedding"]),
    position: plainScene(["position", "input"]),
    attention: attentionScene,
    attention1: attentionScene,
    attention2: attentionScene,
    addnorm: addNormScene,
    ffn: ffnScene,
    softmax: softmaxScene,
  };

  function attentionScene(stop) {
    const asking = rowsOf(stop.side);
    const answering = rowsOf(stop.part === "attention2" ? "encoder" : stop.side);
    const n = asking.tokens.length;
    const m = answering.tokens.length;
    const causal = stop.part === "attention1";
    const h = SIZES.num_heads;
    const heads = walk.seen[`${stop.name}.weights`] ?? Array.from({ length: h }, () => blank(n, m));
    const known = state === "awake";
    const lines = heads.map((rows) => {
      const row = rows[asking.chosen];
      const to = row.indexOf(Math.max(...row));
      const place = { a: asking.tokens[asking.chosen], b: answering.tokens[to], w: row[to].toFixed(3) };
      return fill(words.hears, known ? place : { ...place, b: "…", w: "" });
    });
    const shape = glued(fill(words.weights_shape, { h, n, m }));
    const maps = heads.map((rows, head) => {
      const name = fill(words.head, { h: head + 1 });
      return element(
        "figure",
        {},
        element("p", { class: "caption" }, element("b", {}, name)),
        weightMap(rows, asking, answering, causal, `${name}: ${lines[head]}`),
        element("figcaption", { class: "readout" }, lines[head]),
      );
    });
    const tensors = TENSORS.map((part) => [part, words.tensors[part]]);
    const tensor = choice(words.tensor, tensors, (part) => {
      view.tensor = part;
      draw();
    });
    tensor.node.className = "pick";
    tensor.input.dataset.key = "tensor";
    tensor.input.value = view.tensor;
    const side = "KV".includes(view.tensor) && stop.part === "attention2" ? "encoder" : stop.side;
    const drawn = heats(stop, [view.tensor], side);
    const reading = causal ? `${words.reading} ${words.hatched}` : words.reading;
    return {
      nodes: [
        element("p", { class: "caption" }, shape),
        element("div", { class: "heads" }, maps),
        legend([0, "0"], [1, "1"]),
        element("p", { class: "small" }, reading),
        tensor.node,
        ...drawn.nodes,
        drawn.legend,
      ],
      shapes: [`${shape}.`, ...drawn.shapes],
      summary: lines.map((line, head) => `${fill(words.head, { h: head + 1 })}: ${line}`).join(words.comma),
    };
  }

  /** The weights of a head: rows ask, columns are heard. */
  function weightMap(rows, asking, answering, causal, label) {
    const short = (text) => ([...text].length > 9 ? `${[...text].slice(0, 8).join("")}…` : text);
    const [down, across] = [asking, answering].map(({ tokens: names }) => names.map(short));
    const left = 7 + 1.1 * Math.max(...down.map(wide)); // the chosen one is bold
    const slant = Math.max(...across.map(wide));
    const top = 10 + 0.82 * slant;
    const over = 0.6 * wide(across.at(-1)) + 5; // the last label leans out to the right
    const cell = Math.min(22, (ROOM - left - over) / (across.length - 0.4));
    const width = left + across.length * cell + over;
    const height = top + down.length * cell + 2;
    const text = (attributes, content, lang) => svg("text", { "font-size": 11.5, lang, ...attributes }, content);
    return svg(
      "svg",
      {
        viewBox: `0 0 ${width.toFixed(1)} ${height.toFixed(1)}`,
        width: width.toFixed(1),
        height: height.toFixed(1),
        preserveAspectRatio: "xMinYMin",
        role: "img",
        "aria-label": label,
        onclick: (event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const row = Math.floor((((event.clientY - box.top) / box.height) * height - top) / cell);
          if (row >= 0 && row < down.length) asking.pick(row);
        },
      },
      hatching(hatch, 5, 1.5),
      across.map((token, j) =>
        text(
          { transform: `translate(${left + (j + 0.6) * cell} ${top - 4}) rotate(-55)`, fill: "var(--w-key)" },
          token,
          answering.lang,
        ),
      ),
      down.map((token, i) => {
        const on = i === asking.chosen;
        const place = { x: left - 5, y: top + (i + 0.5) * cell + 4, "text-anchor": "end" };
        return text({ ...place, fill: "var(--w-query)", "font-weight": on ? 700 : 400 }, token, asking.lang);
      }),
      down.flatMap((_, i) =>
        across.map((__, j) => {
          const hidden = causal && j > i;
          const box = (ink) => rect(left + j * cell, top + i * cell, cell - 1, cell - 1, ink);
          if (hidden) return box({ fill: `url(#${hatch})` });
          const share = (rows[i][j] * SHADE).toFixed(3);
          return box({ fill: "var(--w-query)", "fill-opacity": share, stroke: "var(--w-hairline)" });
        }),
      ),
      rect(left - 0.5, top + asking.chosen * cell - 0.5, across.length * cell, cell, {
        fill: "none",
        stroke: "var(--w-text)",
        "stroke-width": 1.5,
      }),
    );
  }

  function addNormScene(stop) {
    const drawn = heats(stop, ["sum", "norm"]);
    const { rows, values } = drawn;
    const [sum, norm] = values.map((value) => value[rows.chosen]);
    const { mean, deviation } = moments(sum);
    const factor = 1 / Math.sqrt(deviation ** 2 + EPSILON);
    const lines = [
      [words.before, sum],
      [words.normalized, sum.map((x) => (x - mean) * factor)],
      [words.after, norm],
    ].map(([name, row]) => [
      name,
      ...Object.values(moments(row)).map((x) => (state === "awake" ? signed(x, 3) : "…")),
    ]);
    const cells = ([name, ...found]) =>
      element("tr", {}, element("th", { scope: "row" }, name), found.map((x) => element("td", {}, x)));
    const title = fill(words.row, { token: rows.tokens[rows.chosen] });
    const table = element(
      "table",
      {},
      element("caption", {}, title),
      tableHead(["", words.mean, words.deviation]),
      element("tbody", {}, lines.map(cells)),
    );
    const spoken = lines.map(([name, m, s]) => `${name}: ${words.mean} ${m}, ${words.deviation} ${s}`);
    return {
      ...drawn,
      nodes: [drawn.nodes[0], table, drawn.nodes[1], drawn.legend],
      summary: `${title}: ${spoken.join("; ")}`,
    };
  }

  function ffnScene(stop) {
    const { num_hiddens: d, ffn_num_hiddens: hidden } = SIZES;
    const drawn = heats(stop, ["relu", "ffn"], stop.side, (part) => (part === "relu" ? hidden : d));
    const { rows, values } = drawn;
    const counts = values[0].map(zeros);
    const all = values[0].length * hidden;
    const count = counts.reduce((sum, one) => sum + one, 0);
    const token = rows.tokens[rows.chosen];
    const found = [count, percent(count / all), counts[rows.chosen]];
    const [total, share, own] = state === "awake" ? found : ["…", "…", "…"];
    const numbers = { count: total, percent: share, own };
    const said = fill(words.zeros, { ...numbers, all, token, hidden });
    return {
      ...drawn,
      nodes: [drawn.nodes[0], element("p", { class: "zeros" }, said), drawn.nodes[1], drawn.legend],
      summary: said,
    };
  }

  function softmaxScene() {
    const known = walk.next;
    const list = known ?? Array.from({ length: 6 }, () => ({ probability: 0, score: 0 }));
    const name = ({ number }) => (known ? walk.model.tgtVocab[number] : "…");
    const shape = fill(words.logits_shape, { v: walk.model?.tgtVocab.length ?? "…" });
    const code = view.direction.slice(3);
    const take = (i) => {
      candidate = i;
      draw();
    };
    const row = (one) => [
      element("span", { lang: code }, name(one)),
      element("span", { class: "bar" }, element("i", { style: `width: ${(100 * one.probability).toFixed(1)}%` })),
      element("span", { class: "number" }, known ? one.probability.toFixed(3) : "…"),
      element("span", { class: "number" }, known ? signed(one.score, 2) : "…"),
    ];
    const head = [words.next_token, "", words.probability, words.score].map((text) => element("span", {}, text));
    const end = finished() ? fill(words.finished, { text: walk.model.text(walk.numbers) }) : "";
    const pick = known && chosen() ? `${name(chosen())} ${chosen().probability.toFixed(3)}` : "";
    return {
      nodes: [
        element("p", { class: "caption" }, shape),
        element(
          "div",
          { class: "candidates" },
          element("div", { class: "head", "aria-hidden": "true" }, head),
          radios({ "aria-label": words.choose }, list.map(row), candidate, take),
        ),
        element("p", { class: "end" }, end),
      ],
      shapes: [`${shape}.`],
      summary: `${pick} ${end}`.trim(),
    };
  }

  draw(true);
  return () => {
    clearTimeout(timer);
    undress();
  };
}

export default { render };
