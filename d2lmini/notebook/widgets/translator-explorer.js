// Translator explorer: a trained Transformer translates in the page, token by token. Each step shows where it looked
// and what else it might have said; the reader may choose that instead, or switch heads off, and sees what becomes of
// it.

import { beamSearch, logSoftmax } from "./beam-search.js";
import { combobox } from "./combobox.js";
import { button, element, freshId, svg } from "./dom.js";
import { choice, frame, placeByKey, tableHead } from "./frame.js";
import { checked, completions, nearest } from "./sentences.js";
import { linkButton } from "./link-button.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill } from "./text.js";
import { rect, setSize } from "./picture.js";
import { joinTokens, splitTokens } from "./tokens.js";
import { ATTENTIONS, EOS, Transformer, greedy, headName, largest, readCheckpoint, softmax } from "./transformer.js";
import { thingsToTry } from "./try-out.js";
import { DIRECTIONS, weights } from "./weights.js";
import sentences from "course:sentences";
import words, { language } from "course:words";
import STYLE from "./translator-explorer.css";

const RUNNERS = 5;
const BEAM = 4;
const PACE = 140; // milliseconds from token to token
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const TAGS = { zh: "zh-CN" };

/** What tests compare with PyTorch. */
export const arithmetic = {
  Transformer,
  beamSearch,
  checked,
  completions,
  greedy,
  joinTokens,
  nearest,
  readCheckpoint,
  softmax,
  splitTokens,
};

const own = language.tag.split("-")[0];
const HOME = DIRECTIONS.includes(`en-${own}`) ? `en-${own}` : DIRECTIONS[0];

const decimals = (p) => (p < 0.0005 ? "< 0.001" : p.toFixed(3));
const allHeads = ({ num_layers, num_heads }, attention) =>
  Array.from({ length: num_layers * num_heads }, (_, i) =>
    headName(attention, Math.floor(i / num_heads), i % num_heads),
  );

/** The score by which a beam search ranks what is written in `steps`. */
function scoreOf(steps) {
  const total = steps.reduce((sum, { number, logits }) => sum + logSoftmax(logits)[number], 0);
  return total / steps.length ** 0.75;
}

const numbersOf = (steps) => steps.map(({ number }) => number).filter((number) => number !== EOS);

/** Weights over the source at one step: of one head ("0.3": block, head), or the mean of all. */
function looks({ weights: { cross } }, look) {
  if (look !== "mean") {
    const [block, head] = look.split(".");
    return cross[block][head];
  }
  const heads = cross.flat();
  return heads[0].map((_, j) => heads.reduce((sum, row) => sum + row[j], 0) / heads.length);
}

function render({ model: host, el }) {
  const view = sharedView(el, "translator", {
    direction: HOME,
    sentence: "",
    chosen: "", // "2:token 3:token": what the reader put at a step
    step: 0,
    look: "mean",
    off: "", // names of heads
    anyway: false, // translate with <unk> in the place of unknown words
  });
  if (!DIRECTIONS.includes(view.direction)) view.direction = HOME;
  view.sentence = view.sentence.slice(0, 120);

  let net = null; // the model of the direction, once it is here
  let now = null; // what is shown: {tokens, steps, encoded, before}
  let off = new Set(view.off.split(" ").filter((name) => /^(encoder|decoder|cross)\.\d\.\d$/.test(name)));
  let chosen = {};
  let turn = 0; // what comes late, of an earlier wish, is dropped
  let revealed = 0;
  const drawn = {}; // what tokens and map were made of
  let timer;
  const met = { stepped: false, beam: false };

  const [source, target] = [() => view.direction.slice(0, 2), () => view.direction.slice(3)];
  const tag = (code) => TAGS[code] ?? code;
  const nameOf = (direction) => {
    const [from, to] = direction.split("-").map((code) => words.languages[code]);
    return `${from} → ${to}`;
  };

  // ---- what stands there

  const directions = DIRECTIONS.map((name) => [name, nameOf(name)]);
  const direction = choice(words.direction, directions, (name) => turnTo(name));
  const sentenceId = freshId();
  const field = combobox({
    field: sentenceId,
    label: words.known,
    lang: () => tag(source()),
    offers: (text, caret) => (net ? completions(net, text, caret) : []),
    entered: () => ask(),
  });
  const go = button(words.translate, () => ask(), { class: "go" });
  const examples = element("div", { class: "examples" });
  const message = element("div", { class: "message", role: "alert" });
  const bar = element("progress", { "aria-label": words.loading, max: 1 });
  const invitation = element("div", { class: "invitation" }, element("p", {}, words.invitation), ghost());
  const sourceRow = element("div", { class: "tokens source", role: "list", translate: "no" });
  const targetRow = element("div", { class: "tokens target", role: "radiogroup", translate: "no", onkeydown: walk });
  const lines = svg("svg", { class: "lines", "aria-hidden": "true" });
  const [sourceName, targetName] = [element("span", { class: "name" }), element("span", { class: "name" })];
  const scene = element("div", { class: "scene" }, lines, sourceName, sourceRow, targetRow, targetName);
  const back = button("←", () => goTo(view.step - 1), { "aria-label": words.back });
  const on = button("→", () => goTo(view.step + 1), { "aria-label": words.forward });
  const where = element("span", { class: "where" });
  const undo = button(words.undo, forget, { class: "undo" });
  const link = linkButton(el, "translator", view, words);
  const said = element("p", { class: "said" });
  const spoken = element("p", { class: "unseen", role: "status" });
  const runners = Array.from({ length: RUNNERS + 1 }, () => {
    const parts = ["token", "track", "p"].map((name) => element("span", { class: name }));
    parts[1].append(element("i", {}));
    const node = button(parts, () => choose(Number(node.dataset.number)));
    return { parts, node };
  });
  const runnersName = element("p", { class: "heading", id: freshId() });
  const choices = element(
    "div",
    { class: "runners", role: "group", translate: "no", "aria-labelledby": runnersName.id },
    runners.map(({ node }) => node),
  );
  const map = svg("svg", { class: "map", role: "img", translate: "no" });
  const look = choice(words.look, [], (head) => {
    view.look = head;
    draw();
    share();
  });
  look.node.firstChild.className = "heading";
  look.node.append(element("div", { class: "map-box" }, map));
  const result = element(
    "div",
    { class: "result", hidden: true },
    scene,
    element("div", { class: "walk" }, back, on, where, undo, link),
    said,
    element("div", { class: "panes" }, element("div", {}, runnersName, choices), look.node),
  );
  const stage = element("div", { class: "stage" }, invitation, message, result);
  const switches = element("div", { class: "switches" });
  const effect = element("p", { class: "effect" });
  const allOn = button(words.all_on, () => setOff(new Set()));
  const headsBox = element(
    "details",
    { class: "part" },
    element("summary", {}, words.heads),
    element("p", { class: "note" }, words.heads_hint),
    switches,
    element("p", {}, allOn),
    effect,
  );
  headsBox.open = off.size > 0;
  const ranking = element("tbody", {});
  const beamBox = element(
    "details",
    { class: "part", ontoggle: () => drawBeam() },
    element("summary", {}, words.beam),
    element("p", { class: "note" }, words.beam_hint),
    element("table", {}, tableHead(words.beam_columns), ranking),
  );
  const reached = [
    () => met.stepped && view.step === now?.steps.length - 1,
    () => now?.steps[0] && isForced(0),
    () => net && allHeads(net.config, "cross").every((head) => off.has(head)),
    () => off.size === 1,
    () => met.beam,
  ];
  const tries = thingsToTry(words, facts(), reached, words.failed);
  const { undress } = frame(
    el,
    "d2l-translator",
    STYLE,
    element(
      "div",
      { class: "controls" },
      direction.node,
      element("div", { class: "sentence" }, element("label", { for: sentenceId }, words.sentence), field.node),
      go,
    ),
    examples,
    stage,
    headsBox,
    beamBox,
    tries.node,
    spoken,
  );

  field.input.value = view.sentence;
  // the words to offer come with the model; a failure is told when a translation is asked for
  field.input.addEventListener("focus", () => load().then(field.look, () => {}), { once: true });

  /** Pale bars and a pale map in the place of what is to come. */
  function ghost() {
    const bars = [150, 62, 38, 24, 12].map((width, i) => `M0 ${10 + 28 * i}h${width}v10h${-width}z`);
    const cells = Array.from({ length: 25 }, (_, i) => `M${210 + 28 * (i % 5)} ${28 * Math.floor(i / 5)}h26v26h-26z`);
    const dark = cells.filter((_, i) => i % 6 === 0);
    return svg(
      "svg",
      { class: "ghost", viewBox: "0 0 360 140", "aria-hidden": "true" },
      svg("path", { d: cells.join(""), fill: "var(--w-surface)" }),
      svg("path", { d: [...bars, ...dark].join(""), fill: "var(--w-hairline)" }),
    );
  }

  // ---- the model

  async function load(named = view.direction, progress = () => {}) {
    const bytes = await weights(host, named, progress);
    const loaded = new Transformer(readCheckpoint(bytes));
    if (named === view.direction) net = loaded;
    return loaded;
  }

  // ---- asking for a translation

  function turnTo(name, text) {
    const example = sentences[source()].indexOf(view.sentence);
    const spokenThere = now && name === `${target()}-${source()}` ? joinTokens(tokensOf(now.steps, false)) : "";
    view.direction = name;
    direction.input.value = name;
    turn += 1; // what is still loading is of the other direction
    stage.removeAttribute("aria-busy");
    net = null;
    drawExamples();
    field.input.value = text ?? sentences[source()][example] ?? (spokenThere || field.input.value);
    forgetResult();
    drawSwitches();
    drawBeam();
    if (field.input.value) ask();
    else show(invitation);
  }

  function forgetResult() {
    now = null;
    chosen = {};
    off = new Set();
    view.step = 0;
    view.anyway = false;
  }

  /** Translate what stands in the field. */
  async function ask({ anyway = false, fresh = true } = {}) {
    const mine = ++turn;
    clearTimeout(timer);
    view.sentence = field.input.value.trim();
    view.anyway = anyway;
    if (fresh) {
      chosen = {};
      view.chosen = "";
      view.step = 0;
    }
    share();
    if (!splitTokens(view.sentence).length) return tell(words.empty);
    if (!net) {
      stage.setAttribute("aria-busy", "true");
      bar.removeAttribute("value");
      tell(element("p", {}, words.loading), bar);
      try {
        await load(view.direction, (came) => mine === turn && (bar.value = came));
      } catch {
        if (mine === turn) tell(words.failed, button(words.retry, () => ask({ anyway, fresh })));
        return;
      } finally {
        if (mine === turn) stage.removeAttribute("aria-busy");
      }
      if (mine !== turn) return;
    }
    const found = checked(net, view.sentence, anyway);
    if (found.kind) return complain(found);
    if (!fresh) chosen = readChosen();
    compute(found.tokens);
    reveal(fresh ? 0 : now.steps.length);
  }

  function complain({ kind, ...found }) {
    if (kind === "empty") return tell(words.empty);
    if (kind === "long") return tell(fill(words.too_long, found));
    if (kind === "language") {
      const text = fill(words.other_language, {
        language: words.languages[found.language],
        source: words.languages[source()],
      });
      const name = fill(words.switch_to, { direction: nameOf(found.direction) });
      const change = button(name, () => turnTo(found.direction, view.sentence));
      return tell(text, change);
    }
    const rows = found.unknown.slice(0, 3).map(({ word, near }) =>
      element(
        "p",
        {},
        fill(near.length ? words.unknown_near : words.unknown, { word }),
        near.map((other) => button(other, () => replace(word, other), { lang: tag(source()) })),
      ),
    );
    const anyway = button(words.anyway, () => ask({ anyway: true }));
    tell(rows, anyway);
  }

  function replace(word, other) {
    field.input.value = splitTokens(view.sentence)
      .map((token) => (token === word ? other : token))
      .join(" ");
    field.input.focus();
    ask();
  }

  function tell(...content) {
    now = null;
    message.replaceChildren(
      ...content.flat().map((part) => (typeof part === "string" ? element("p", {}, part) : part)),
    );
    show(message);
  }

  function show(part) {
    for (const each of [invitation, message, result]) each.hidden = each !== part;
    if (part !== message) message.replaceChildren();
  }

  // ---- computing

  function compute(tokens) {
    const encoded = net.encode(net.numbers(tokens), { off });
    const steps = greedy(net, encoded, { off, chosen });
    now = { tokens, encoded, steps, before: null };
    if (off.size) now.before = greedy(net, net.encode(net.numbers(tokens)), { chosen });
    view.step = Math.min(Math.max(0, Math.round(view.step)), steps.length - 1);
  }

  const tokensOf = (steps, end = true) =>
    steps.map(({ number }) => net.tgtVocab[number]).filter((token, i) => end || steps[i].number !== EOS);

  /** Did the reader put another token at step i than the model would have? */
  const isForced = (i) => now.steps[i].number !== largest(now.steps[i].logits, 1)[0];

  function readChosen() {
    const pairs = view.chosen.split(" ").filter(Boolean).map((pair) => pair.split(/:(.*)/s));
    return Object.fromEntries(
      pairs.filter(([, token]) => net.target.has(token)).map(([i, token]) => [i, net.target.get(token)]),
    );
  }

  /** Let the tokens appear one by one from step `from` on. */
  function reveal(from) {
    clearTimeout(timer);
    show(result);
    const { length } = now.steps;
    const along = from === 0 && !STILL.matches; // look on while it is written, then begin at the beginning
    revealed = STILL.matches ? length : Math.min(from, length);
    const next = () => {
      if (along) view.step = revealed < length ? Math.max(0, revealed - 1) : 0;
      draw();
      if (revealed < length) {
        stage.setAttribute("aria-busy", "true");
        revealed += 1;
        timer = setTimeout(next, PACE);
      } else {
        stage.removeAttribute("aria-busy");
        spoken.textContent = fill(words.finished, {
          source: view.sentence,
          target: joinTokens(tokensOf(now.steps, false)),
        });
        share();
      }
    };
    next();
    drawBeam();
  }

  function choose(number) {
    const at = view.step;
    chosen = Object.fromEntries(now.steps.slice(0, at).map((step, i) => [i, step.number]));
    chosen[at] = number;
    compute(now.tokens);
    reveal(at + 1);
  }

  function forget() {
    chosen = {};
    compute(now.tokens);
    reveal(0);
    targetRow.querySelector("[tabindex='0']").focus();
  }

  function setOff(heads) {
    off = heads;
    if (!now) return drawSwitches();
    compute(now.tokens);
    reveal(now.steps.length);
  }

  function goTo(step) {
    if (!now || step < 0 || step >= now.steps.length) return;
    clearTimeout(timer);
    stage.removeAttribute("aria-busy");
    revealed = now.steps.length;
    view.step = step;
    met.stepped = true;
    draw();
    spoken.textContent = said.textContent;
    share();
  }

  function walk(event) {
    const to = placeByKey(event, view.step, now.steps.length);
    if (to === undefined) return;
    goTo(to);
    targetRow.querySelector("[aria-checked=true]").focus();
  }

  // ---- drawing

  function drawExamples() {
    examples.replaceChildren(
      element("span", {}, words.examples),
      ...sentences[source()].map((text) => button(text, () => enter(text), { lang: tag(source()) })),
    );
    field.input.lang = tag(source());
  }

  function enter(text) {
    field.input.value = text;
    ask();
  }

  const shown = (token) => (token.startsWith("<") ? element("code", {}, token) : token);

  function draw() {
    if (!now || result.hidden) return;
    const { steps } = now;
    const at = Math.min(view.step, Math.max(0, revealed - 1));
    const step = steps[at];
    drawLook();
    drawTokens(at);
    drawLines(at);
    drawRunners(step);
    drawMap(at);
    drawSwitches();
    const row = looks(step, view.look);
    const [most] = largest(row, 1);
    const p = softmax(step.logits)[step.number];
    where.textContent = fill(words.where, { i: at + 1, n: steps.length });
    back.setAttribute("aria-disabled", at === 0);
    on.setAttribute("aria-disabled", at === steps.length - 1);
    undo.hidden = !steps.some((_, i) => isForced(i));
    said.textContent = fill(words.said, {
      i: at + 1,
      token: net.tgtVocab[step.number],
      p: decimals(p),
      word: readTokens()[most],
      weight: decimals(row[most]),
    });
    tries.look();
  }

  const readTokens = () => net.numbers(now.tokens).map((number) => net.srcVocab[number]);

  function drawLook() {
    if (look.input.options.length) return;
    look.input.append(
      element("option", { value: "mean" }, words.mean),
      ...allHeads(net.config, "cross").map((name) => {
        const [, b, h] = name.split(".").map(Number);
        return element("option", { value: `${b}.${h}` }, fill(words.one_head, { block: b + 1, head: h + 1 }));
      }),
    );
    look.input.value = view.look;
    if (!look.input.value) look.input.value = view.look = "mean";
  }

  /** The tokens are made anew for a new translation only; from step to step they change their looks. */
  function drawTokens(at) {
    if (drawn.tokens !== now) {
      drawn.tokens = now;
      makeTokens();
    }
    const row = looks(now.steps[at], view.look);
    [...sourceRow.children].forEach((chip, j) => {
      chip.lastChild.textContent = row[j].toFixed(2);
      chip.style.setProperty("--share", row[j].toFixed(3));
    });
    [...targetRow.children].forEach((chip, i) => {
      chip.setAttribute("aria-checked", i === at);
      chip.tabIndex = i === at ? 0 : -1;
      chip.toggleAttribute("data-hidden", i >= revealed);
    });
  }

  function makeTokens() {
    sourceName.textContent = words.languages[source()];
    targetName.textContent = words.languages[target()];
    sourceRow.lang = tag(source());
    targetRow.lang = tag(target());
    targetRow.setAttribute("aria-label", words.tokens);
    sourceRow.setAttribute("aria-label", words.languages[source()]);
    sourceRow.replaceChildren(
      ...readTokens().map((token, j) =>
        element(
          "span",
          { class: "chip", role: "listitem", title: token === "<unk>" ? now.tokens[j] : null },
          shown(token),
          element("span", { class: "share" }),
        ),
      ),
    );
    const before = now.before && tokensOf(now.before);
    targetRow.replaceChildren(
      ...tokensOf(now.steps).map((token, i) => {
        const yours = isForced(i) ? element("span", { class: "unseen" }, ` (${words.yours})`) : null;
        return button([shown(token), yours], () => goTo(i), {
          role: "radio",
          class: "chip",
          "data-forced": isForced(i),
          "data-changed": before !== null && before[i] !== token,
        });
      }),
    );
  }

  /** From each source token to the target token, as wide as the weight. The tokens may stand in several rows. */
  function drawLines(at) {
    const outer = scene.getBoundingClientRect();
    const middle = (node) => {
      const box = node.getBoundingClientRect();
      return [box.left - outer.left + box.width / 2, box.top - outer.top, box.bottom - outer.top];
    };
    const [x, top] = middle(targetRow.children[at]);
    lines.setAttribute("viewBox", `0 0 ${outer.width} ${outer.height}`);
    const row = looks(now.steps[at], view.look);
    lines.replaceChildren(
      ...[...sourceRow.children].map((chip, j) => {
        const [from, , low] = middle(chip);
        const bend = (low + top) / 2;
        return svg("path", {
          d: `M${from} ${low}C${from} ${bend} ${x} ${bend} ${x} ${top}`,
          "stroke-width": (0.5 + 9 * row[j]).toFixed(2),
          "stroke-opacity": (0.12 + 0.75 * row[j]).toFixed(3),
        });
      }),
    );
  }

  function drawRunners(step) {
    const odds = softmax(step.logits);
    const best = largest(odds, RUNNERS);
    if (!best.includes(step.number)) best.push(step.number);
    runnersName.textContent = fill(words.runners, { i: now.steps.indexOf(step) + 1 });
    choices.lang = tag(target());
    runners.forEach(({ node, parts: [token, track, p] }, i) => {
      node.hidden = i >= best.length;
      if (node.hidden) return;
      const number = best[i];
      node.dataset.number = number;
      node.setAttribute("aria-pressed", number === step.number);
      token.replaceChildren(shown(net.tgtVocab[number]));
      track.firstChild.style.width = `${(100 * odds[number]).toFixed(1)}%`;
      p.textContent = decimals(odds[number]);
    });
  }

  function drawMap(at) {
    const room = Math.min(map.parentElement.clientWidth || 300, 380);
    const key = `${view.look} ${room}`;
    if (drawn.map !== now || drawn.key !== key) {
      Object.assign(drawn, { map: now, key });
      makeMap(room);
    }
    const rows = [...map.querySelectorAll(".row")];
    rows.forEach((row, i) => {
      row.toggleAttribute("data-hidden", i >= revealed);
      row.toggleAttribute("data-now", i === at);
    });
    map.lastChild.setAttribute("y", Number(rows[at].children[1].getAttribute("y")) - 1);
  }

  function makeMap(room) {
    const columns = readTokens();
    const rows = tokensOf(now.steps);
    const wide = (tokens) => Math.max(...tokens.map((token) => [...token].length * (hasWide(token) ? 13 : 7.2)));
    const left = Math.min(84, wide(rows) + 10);
    const cell = Math.max(14, Math.min(28, 230 / rows.length, (room - left - 26) / columns.length));
    const top = Math.min(70, 0.75 * wide(columns) + 14);
    const across = columns.length * cell;
    const [width, height] = [left + across + 26, top + rows.length * cell + 4];
    setSize(map, width, height);
    map.setAttribute("height", height);
    const text = { "font-size": 12, fill: "var(--w-text)" };
    map.replaceChildren(
      ...columns.map((token, j) => {
        const [x, y] = [left + (j + 0.6) * cell, top - 6];
        return svg("text", { ...text, x, y, transform: `rotate(-38 ${x} ${y})`, lang: tag(source()) }, token);
      }),
      ...now.steps.map((step, i) => {
        const y = top + i * cell;
        const name = { ...text, x: left - 6, y: y + cell / 2 + 4, "text-anchor": "end", lang: tag(target()) };
        return svg(
          "g",
          { class: "row", onclick: () => goTo(i) },
          svg("text", name, rows[i]),
          rect(left, y, across, cell, { fill: "var(--w-surface)" }),
          Array.from(looks(step, view.look), (value, j) =>
            rect(left + j * cell, y, cell - 1, cell - 1, { fill: "var(--w-query)", "fill-opacity": value.toFixed(3) }),
          ),
        );
      }),
      rect(left - 1, top, across + 1, cell + 1, { fill: "none", stroke: "var(--w-key)", "stroke-width": 2 }),
    );
    map.setAttribute("aria-label", fill(words.map, { source: columns.join(" "), target: rows.join(" ") }));
  }

  const hasWide = (token) => /[\u3000-\u9fff\uff00-\uffef]/.test(token);

  function drawSwitches() {
    const config = net?.config ?? { num_layers: 2, num_heads: 4 };
    if (!switches.childElementCount)
      switches.append(
        ...Object.keys(ATTENTIONS).map((attention) => {
          const names = allHeads(config, attention);
          const label = `${words.attentions[attention]}: ${words.all_off}`;
          const everyOff = () => setOff(new Set([...off, ...names]));
          const every = button(words.all_off, everyOff, { class: "every", "aria-label": label });
          return element(
            "div",
            { class: "attention", role: "group", "aria-label": words.attentions[attention] },
            element("p", {}, words.attentions[attention], " ", every),
            element("div", { class: "heads" }, blocks(config, attention)),
          );
        }),
      );
    for (const toggle of switches.querySelectorAll("[data-head]"))
      toggle.setAttribute("aria-pressed", !off.has(toggle.dataset.head));
    allOn.setAttribute("aria-disabled", off.size === 0);
    if (!now) {
      effect.textContent = words.no_sentence;
      return;
    }
    const [old, fresh] = [now.before ?? now.steps, now.steps].map((steps) => joinTokens(tokensOf(steps, false)));
    const changed = old === fresh ? words.same : words.changed;
    effect.textContent = off.size ? fill(changed, { before: old, after: fresh }) : words.none_off;
  }

  function blocks({ num_layers, num_heads }, attention) {
    return Array.from({ length: num_layers }, (_, b) =>
      element(
        "span",
        { class: "block" },
        element("span", {}, fill(words.block, { block: b + 1 })),
        Array.from({ length: num_heads }, (__, h) => {
          const name = headName(attention, b, h);
          const label = fill(words.one_head, { block: b + 1, head: h + 1 });
          const others = () => [...off].filter((other) => other !== name);
          const toggle = () => setOff(new Set(off.has(name) ? others() : [...off, name]));
          return button(h + 1, toggle, { "data-head": name, "aria-label": label });
        }),
      ),
    );
  }

  function drawBeam() {
    if (!beamBox.open) return;
    if (!now) {
      ranking.replaceChildren(element("tr", {}, element("td", { colspan: 3 }, words.no_sentence)));
      return;
    }
    met.beam = true;
    const straight = greedy(net, now.encoded, { off });
    const beams = beamSearch(net, now.encoded, { size: BEAM, off });
    const rows = [
      { name: words.greedy, numbers: numbersOf(straight), score: scoreOf(straight) },
      ...beams.map((beam, i) => ({ name: fill(words.beam_rank, { i: i + 1 }), ...beam })),
    ];
    const path = numbersOf(now.steps).join(" ");
    ranking.replaceChildren(
      ...rows.map(({ name, numbers, score }) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, name),
          element(
            "td",
            { lang: tag(target()), translate: "no" },
            button(net.text(numbers) || "<eos>", () => follow(numbers), {
              "aria-pressed": String(numbers.join(" ") === path),
            }),
          ),
          element("td", {}, score.toFixed(3).replace("-", "−")),
        ),
      ),
    );
    tries.look();
  }

  /** Show a translation of the beam search step by step. */
  function follow(numbers) {
    const at = [...ranking.rows].findIndex((row) => row.contains(el.getRootNode().activeElement));
    chosen = Object.fromEntries([...numbers, EOS].map((number, i) => [i, number]));
    view.step = 0;
    compute(now.tokens);
    reveal(now.steps.length);
    ranking.rows[at]?.querySelector("button").focus();
  }

  // ---- the answers of the things to try: of the first example, in the direction chosen now

  function facts() {
    const found = (about) => async () => {
      const model = net ?? (await load());
      const sentence = sentences[source()][0];
      const encode = (options) => model.encode(model.numbers(splitTokens(sentence)), options);
      const run = (options = {}) => greedy(model, encode(options), options);
      const text = (steps) => model.text(numbersOf(steps));
      return { sentence, text: text(run()), ...about({ model, sentence, encode, run, text }) };
    };
    return [
      found(({ model, sentence, run }) => {
        const tokens = [...splitTokens(sentence), "<eos>"];
        const pairs = run().map((step) => [model.tgtVocab[step.number], tokens[largest(looks(step, "mean"), 1)[0]]]);
        const named = pairs.filter(([to]) => /^\p{L}/u.test(to));
        return { list: named.map(([to, from]) => `${to} ← ${from}`).join(words.comma) };
      }),
      found(({ model, run, text }) => {
        const [first] = run();
        const [best, next] = largest(first.logits, 2);
        const odds = softmax(first.logits);
        const other = text(run({ chosen: { 0: next } }));
        const [a, b] = [best, next].map((number) => model.tgtVocab[number]);
        return { a, b, p: decimals(odds[best]), q: decimals(odds[next]), other };
      }),
      found(({ model, run, text }) => ({
        other: text(run({ off: new Set(allHeads(model.config, "cross")) })),
      })),
      found(({ model, run, text }) => {
        const whole = text(run());
        const heads = Object.keys(ATTENTIONS).flatMap((attention) => allHeads(model.config, attention));
        const changed = heads.filter((head) => text(run({ off: new Set([head]) })) !== whole).length;
        return { changed, all: heads.length };
      }),
      found(({ model }) => {
        const texts = sentences[source()];
        const better = texts.filter((sentence) => {
          const encoded = model.encode(model.numbers(splitTokens(sentence)));
          return beamSearch(model, encoded, { size: BEAM })[0].score > scoreOf(greedy(model, encoded)) + 1e-6;
        });
        return { better: better.length, all: texts.length };
      }),
    ];
  }

  // ---- the view

  function share() {
    view.off = [...off].join(" ");
    if (now) view.chosen = Object.keys(chosen).map((i) => `${i}:${net.tgtVocab[chosen[i]]}`).join(" ");
    const typed = !sentences[source()].includes(view.sentence);
    link.hidden = !typed;
    if (view.sentence) shareView(el, "translator", view, typed);
  }

  direction.input.value = view.direction;
  drawExamples();
  drawSwitches();
  show(invitation);
  const resize = new ResizeObserver(() => draw());
  resize.observe(el);
  if (view.sentence) ask({ anyway: view.anyway, fresh: false });
  return () => {
    turn += 1;
    clearTimeout(timer);
    resize.disconnect();
    undress();
  };
}

export default { render };
