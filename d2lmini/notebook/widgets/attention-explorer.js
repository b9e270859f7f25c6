// Attention explorer: choose a sentence and a head, point at a token, see whom it listens to. Every number shown is
// computed here by the formula of the chapter, softmax(Q Kᵀ / √d), from the small vectors below.

import { element, freshId, svg } from "./dom.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill } from "./text.js";
import { attachStyles } from "./theme.js";
import words, { language } from "course:words";
import STYLE from "./attention-explorer.css";

// what a word is, one axis each: noun, verb, pronoun, being, food or drink, little word; two more axes tell words apart
const KINDS = {
  being: [1, 0, 0, 1, 0, 0],
  food: [1, 0, 0, 0, 1, 0],
  verb: [0, 1, 0, 0, 0, 0],
  pronoun: [0, 0, 1, 0, 0, 0],
  little: [0, 0, 0, 0, 0, 1],
  state: [0, 0.6, 0, 0.4, 0, 0],
};
const LEXICON = {
  being: "cat cats dog dogs mice mouse mèo chó chuột con 猫 小猫 狗 老鼠",
  food: "milk water sữa nước 奶 牛奶 水",
  verb: "drink drinks drank chase chases uống đuổi 喝 喝光 追",
  pronoun: "it its he she they nó họ 它 它的 他 她",
  little: "the and because was a của và vì hết 和 了 因为",
  state: "thirsty hungry khát đói 渴 饿",
};
const D = 8;

/** A word as a vector of 8 numbers: its kind if it is known, and a little of its letters. */
function embed(word) {
  const plain = word.toLowerCase();
  const kind = Object.keys(LEXICON).find((name) => LEXICON[name].split(" ").includes(plain));
  let hash = 7;
  for (const letter of plain) hash = (hash * 31 + letter.codePointAt(0)) % 1009;
  const angle = (2 * Math.PI * hash) / 1009;
  const size = kind ? 0.3 : 1;
  return [...(kind ? KINDS[kind] : [0.3, 0.3, 0, 0.2, 0.2, 0.2]), size * Math.cos(angle), size * Math.sin(angle)];
}

/** W_q and W_k of each head, by hand. A query is x·W_q: row i says what axis i asks for. */
function heads() {
  const scaled = (factor) =>
    Array.from({ length: D }, (row, i) => Array.from({ length: D }, (cell, j) => (i === j ? factor : 0)));
  const pronouns = scaled(1);
  pronouns[2] = [2, 0, -1, 5, 0, -1, 0, 0];
  const verbs = scaled(1);
  verbs[1] = [4, -2, 0, 1, 1, -1, 0, 0];
  return [
    { query: scaled(2), key: scaled(2) },
    { query: pronouns, key: scaled(1.6) },
    { query: verbs, key: scaled(1.6) },
  ];
}

const product = (A, B) => A.map((row) => B[0].map((_, j) => row.reduce((sum, a, k) => sum + a * B[k][j], 0)));

/** Attention weights of all tokens. allowed(i, j): may query i see key j? A query that sees nothing gets zeros. */
function attend(X, head, { scale = true, temperature = 1, allowed = () => true } = {}) {
  const Q = product(X, head.query);
  const K = product(X, head.key);
  const divisor = temperature * (scale ? Math.sqrt(D) : 1);
  return Q.map((q, i) => {
    const scores = K.map((k, j) => (allowed(i, j) ? q.reduce((sum, a, c) => sum + a * k[c], 0) / divisor : -Infinity));
    const top = Math.max(...scores);
    if (top === -Infinity) return scores.map(() => 0);
    const powers = scores.map((score) => Math.exp(score - top));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  });
}

const MASKS = { none: () => () => true, causal: () => (i, j) => j <= i, padding: (n) => (i, j) => j < n - 2 };

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { embed, heads, attend, MASKS };

function render({ el }) {
  const view = sharedView(el, "attention", {
    sentence: words.sentences[0],
    head: 0,
    scale: true,
    mask: "none",
    temperature: 1,
    token: 0,
  });
  if (!Object.hasOwn(MASKS, view.mask)) view.mask = "none";
  if (!heads()[view.head]) view.head = 0;
  view.temperature = Math.min(4, Math.max(0.25, view.temperature));
  const ids = { sentence: freshId(), own: freshId(), head: freshId(), mask: freshId(), temperature: freshId() };

  const choose = element(
    "select",
    { id: ids.sentence },
    [...words.sentences, words.own].map((text, i) => element("option", { value: i }, text)),
  );
  const own = element("input", { type: "text", id: ids.own, maxlength: 80, "aria-label": words.own });
  const head = element(
    "select",
    { id: ids.head },
    words.heads.map((name, i) => element("option", { value: i }, `${i + 1} · ${name}`)),
  );
  const mask = element(
    "select",
    { id: ids.mask },
    Object.keys(MASKS).map((name) => element("option", { value: name }, words[name])),
  );
  const scale = element("input", { type: "checkbox" });
  const temperature = element("input", { type: "range", id: ids.temperature, min: -2, max: 2, step: 0.25 });
  const degree = element("span", {});
  const arcs = svg("svg", { "aria-hidden": "true" });
  const tokenRow = element("div", { class: "tokens", role: "radiogroup", "aria-label": words.row });
  const grid = svg("svg", { role: "img" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const scene = element("div", { class: "scene", tabindex: -1 }, arcs, tokenRow);
  const root = element(
    "div",
    { class: "d2l-ae", role: "group", "aria-label": words.title, lang: language.tag },
    element(
      "div",
      { class: "controls" },
      element("div", {}, element("label", { for: ids.sentence }, words.sentence), choose, own),
      element("div", {}, element("label", { for: ids.head }, words.head), head),
      element("div", {}, element("label", { for: ids.mask }, words.mask), mask),
      element("label", { class: "check" }, scale, words.scale),
      element("div", {}, element("label", { for: ids.temperature }, words.temperature, " ", degree), temperature),
    ),
    scene,
    said,
    grid,
    element("p", { class: "hint" }, words.hint),
  );
  el.append(root);
  const undress = attachStyles(el, root, "attention-explorer", STYLE);

  const fixed = words.sentences.indexOf(view.sentence);
  choose.value = fixed < 0 ? words.sentences.length : fixed;
  own.value = view.sentence.slice(0, 80);
  head.value = view.head;
  mask.value = view.mask;
  scale.checked = view.scale;
  temperature.value = Math.log2(view.temperature);

  let buttons = [];

  function draw(announce) {
    own.hidden = Number(choose.value) < words.sentences.length;
    const tokens = view.sentence.trim().split(/\s+/).filter(Boolean).slice(0, 12);
    degree.textContent = view.temperature.toFixed(2);
    temperature.setAttribute("aria-valuetext", view.temperature.toFixed(2));
    if (tokens.length < 2) {
      tokenRow.replaceChildren();
      arcs.replaceChildren();
      grid.replaceChildren();
      said.textContent = words.empty;
      return;
    }
    view.token = Math.min(Math.max(0, Math.round(view.token)), tokens.length - 1);
    const n = tokens.length;
    const weights = attend(tokens.map(embed), heads()[view.head], {
      scale: view.scale,
      temperature: view.temperature,
      allowed: MASKS[view.mask](n),
    });
    drawTokens(tokens, weights[view.token]);
    drawArcs(n, weights[view.token]);
    drawGrid(tokens, weights);
    const order = weights[view.token]
      .map((weight, j) => [weight, j])
      .filter(([weight]) => weight > 0)
      .toSorted((a, b) => b[0] - a[0] || a[1] - b[1]);
    const most = order.slice(0, 4).map(([weight, j]) => `${tokens[j]} ${weight.toFixed(3)}`);
    const list = most.join(words.comma) + (order.length > most.length ? " …" : "");
    const text = fill(order.length ? words.listens : words.nobody, { token: tokens[view.token], list });
    if (said.textContent !== text) said.textContent = text;
    if (announce) shareView(el, "attention", view);
  }

  function drawTokens(tokens, row) {
    if (buttons.length !== tokens.length || buttons.some((button, i) => button.dataset.word !== tokens[i])) {
      buttons = tokens.map((word, i) =>
        element(
          "button",
          {
            type: "button",
            role: "radio",
            "data-word": word,
            onclick: () => select(i),
            onpointerenter: (event) => event.pointerType === "mouse" && select(i),
          },
          element("span", {}, word),
          element("span", { class: "share" }),
        ),
      );
      tokenRow.replaceChildren(...buttons);
      tokenRow.style.gridTemplateColumns = `repeat(${tokens.length}, minmax(3.2em, 1fr))`;
    }
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", i === view.token);
      button.tabIndex = i === view.token ? 0 : -1;
      button.lastChild.textContent = row[i].toFixed(3);
    });
  }

  function drawArcs(n, row) {
    const width = Math.max(tokenRow.scrollWidth, 280);
    const height = Math.min(170, 60 + width / 8);
    const at = (i) => ((i + 0.5) * width) / n;
    arcs.setAttribute("width", width);
    arcs.setAttribute("height", height);
    arcs.setAttribute("viewBox", `0 0 ${width} ${height}`);
    arcs.style.maxWidth = "none";
    arcs.replaceChildren(
      ...row.map((weight, j) => {
        const from = at(view.token);
        const to = at(j);
        const rise = j === view.token ? 34 : Math.min(height - 14, 26 + Math.abs(to - from) * 0.42);
        const spread = j === view.token ? 20 : 0;
        const low = height - 3;
        const high = low - rise * 1.3;
        const [left, right] = [from - spread, to + spread];
        return svg("path", {
          d: `M${left} ${low} C${left} ${high} ${right} ${high} ${right} ${low}`,
          fill: "none",
          stroke: "var(--w-query)",
          "stroke-width": (0.6 + 11 * weight).toFixed(2),
          "stroke-opacity": weight ? (0.25 + 0.7 * weight).toFixed(3) : 0,
        });
      }),
    );
  }

  function drawGrid(tokens, weights) {
    const n = tokens.length;
    const cell = Math.max(24, Math.min(46, (Math.min(el.clientWidth || 600, 560) - 110) / n));
    const left = 96;
    const top = 74;
    const width = left + n * cell + 8;
    const height = top + n * cell + 6;
    grid.setAttribute("viewBox", `0 0 ${width} ${height}`);
    grid.setAttribute("width", width);
    grid.setAttribute("aria-label", said.textContent || words.title);
    const short = (word) => (word.length > 10 ? `${word.slice(0, 9)}…` : word);
    const corner = { x: left - 8, "text-anchor": "end", fill: "var(--w-muted)", "font-size": 12 };
    const parts = [
      svg("text", { ...corner, y: top - 24 }, `${words.column} →`),
      svg("text", { ...corner, y: top - 8 }, `${words.row} ↓`),
    ];
    weights.forEach((row, i) => {
      const on = i === view.token;
      parts.push(
        svg(
          "text",
          {
            x: left - 8,
            y: top + (i + 0.66) * cell,
            "text-anchor": "end",
            "font-size": 14,
            fill: on ? "var(--w-query)" : "var(--w-text)",
            "font-weight": on ? 600 : 400,
          },
          short(tokens[i]),
        ),
      );
      parts.push(
        svg(
          "text",
          {
            transform: `translate(${left + (i + 0.62) * cell} ${top - 8}) rotate(-40)`,
            "font-size": 14,
            fill: "var(--w-key)",
          },
          short(tokens[i]),
        ),
      );
      row.forEach((weight, j) => {
        const box = {
          x: left + j * cell,
          y: top + i * cell,
          width: cell - 1,
          height: cell - 1,
          onclick: () => select(i),
        };
        parts.push(
          svg("rect", { ...box, fill: "var(--w-surface)" }),
          svg("rect", { ...box, fill: "var(--w-query)", "fill-opacity": (0.7 * weight).toFixed(4) }),
        );
        if (cell >= 34)
          parts.push(
            svg(
              "text",
              {
                x: left + (j + 0.5) * cell,
                y: top + (i + 0.6) * cell,
                "text-anchor": "middle",
                "font-size": 12,
                "pointer-events": "none",
                ...(weight > 0.6 ? { class: "strong" } : { fill: "var(--w-text)" }),
              },
              weight.toFixed(2),
            ),
          );
      });
      if (on)
        parts.push(
          svg("rect", {
            x: left - 1,
            y: top + i * cell - 1,
            width: n * cell + 1,
            height: cell + 1,
            fill: "none",
            stroke: "var(--w-query)",
            "stroke-width": 2,
          }),
        );
    });
    grid.replaceChildren(...parts);
  }

  function select(i, focus) {
    view.token = i;
    draw(true);
    if (focus) buttons[i].focus();
  }

  choose.addEventListener("change", () => {
    const chosen = words.sentences[choose.value];
    if (chosen) view.sentence = own.value = chosen;
    draw(true);
    if (!chosen) own.focus();
  });
  own.addEventListener("input", () => {
    view.sentence = own.value;
    draw(true);
  });
  head.addEventListener("change", () => {
    view.head = Number(head.value);
    draw(true);
  });
  mask.addEventListener("change", () => {
    view.mask = mask.value;
    draw(true);
  });
  scale.addEventListener("change", () => {
    view.scale = scale.checked;
    draw(true);
  });
  temperature.addEventListener("input", () => {
    view.temperature = 2 ** Number(temperature.value);
    draw(true);
  });
  tokenRow.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const n = buttons.length;
    const to = event.key === "Home" ? 0 : event.key === "End" ? n - 1 : step ? (view.token + step + n) % n : -1;
    if (to < 0) return;
    event.preventDefault();
    select(to, true);
  });
  const resize = new ResizeObserver(() => draw(false));
  resize.observe(el);
  draw(false);
  return () => {
    resize.disconnect();
    undress();
  };
}

export default { render };
