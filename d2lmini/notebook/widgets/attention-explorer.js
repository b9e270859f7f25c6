// Attention explorer: choose a sentence and a head, point at a token, see whom it listens to. Every number shown is
// computed here by the formula of the chapter, softmax(Q Kᵀ / √d) V, and shown step by step
// for the chosen query.

import { clamp, softmax } from "./arithmetic.js";
import { button, element, freshId, svg } from "./dom.js";
import { choice, frame, placeByKey } from "./frame.js";
import { linkButton } from "./link-button.js";
import { hatching, rect, setSize, textAt } from "./picture.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill, signed } from "./text.js";
import { D, MASKS, attend, embed, heads, kindOf, scores, shares, total, values } from "./tiny-attention.js";
import { thingsToTry } from "./try-out.js";
import words from "course:words";
import STYLE from "./attention-explorer.css";

const MAPS = ["weights", "scores"];
const HOTTEST = 4;

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { embed, heads, scores, softmax, attend, values, shares, total, MASKS };

const vector = (numbers) => `(${numbers.map((number) => signed(number, 2)).join(", ")})`;

/** The numbers of the answers, in the language of the page: those of its first two sentences. */
function facts() {
  const [first, second] = words.sentences.map((sentence) => sentence.split(" "));
  const row = (tokens, head, at, options) => attend(tokens.map(embed), heads()[head], options)[at];
  const largest = (options) => Math.max(...row(first, 0, 0, options)).toFixed(3);
  const pronoun = Math.max(0, second.findLastIndex((word) => kindOf(word) === "pronoun"));
  const found = row(second, 1, pronoun);
  const order = found.map((weight, j) => [weight, j]).toSorted((x, y) => y[0] - x[0]);
  const X = second.map(embed);
  const negative = scores(X, heads()[1])[pronoun];
  const least = Math.min(...negative);
  return [
    {
      token: second[pronoun],
      list: order
        .slice(0, 2)
        .map(([weight, j]) => `${second[j]} ${weight.toFixed(3)}`)
        .join(words.comma),
      own: vector(values(X, heads()[1])[pronoun]),
      output: vector(total(shares(found, values(X, heads()[1])))),
    },
    { token: first[0], a: largest({ scale: true }), b: largest({ scale: false }) },
    {},
    {
      n: first.length,
      even: (1 / first.length).toFixed(3),
      token: first[0],
      a: largest({}),
      b: largest({ temperature: HOTTEST }),
    },
    {
      token: second[pronoun],
      other: second[negative.indexOf(least)],
      score: signed(least, 2),
      weight: found[negative.indexOf(least)].toFixed(3),
    },
  ];
}

function render({ el }) {
  const view = sharedView(el, "attention", {
    sentence: words.sentences[0],
    head: 0,
    scale: true,
    mask: "none",
    temperature: 1,
    token: 0,
    map: "weights",
  });
  if (!MAPS.includes(view.map)) view.map = "weights";
  if (!Object.hasOwn(MASKS, view.mask)) view.mask = "none";
  if (!heads()[view.head]) view.head = 0;
  view.temperature = clamp(view.temperature, 0.25, HOTTEST);

  const choose = choice(words.sentence, Object.entries([...words.sentences, words.own]), (i) => {
    const chosen = words.sentences[i];
    if (chosen) view.sentence = own.value = chosen;
    draw(true);
    if (!chosen) own.focus();
  });
  const own = element("input", { type: "text", maxlength: 80, "aria-label": words.own });
  const link = linkButton(el, "attention", view, words);
  choose.node.append(own, link);
  const heading = words.heads.map((name, i) => [i, `${i + 1} · ${name}`]);
  const head = choice(words.head, heading, (i) => set("head", Number(i)));
  const named = (names) => names.map((name) => [name, words[name]]);
  const mask = choice(words.mask, named(Object.keys(MASKS)), (name) => set("mask", name));
  const map = choice(words.map, named(MAPS), (name) => set("map", name));
  const scale = element("input", { type: "checkbox" });
  const temperature = element("input", { type: "range", id: freshId(), min: -2, max: 2, step: 0.25 });
  const degree = element("span", {});
  const arcs = svg("svg", { "aria-hidden": "true" });
  const tokenRow = element("div", { class: "tokens", role: "radiogroup", "aria-label": words.row });
  const grid = svg("svg", { role: "img" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const steps = element("table", { class: "steps" });
  const stepsBox = element("div", { class: "steps-box", role: "group", "aria-label": words.title }, steps);
  const met = [
    () => view.sentence === words.sentences[1] && view.head === 1 && kindOf(tokensOf()[view.token]) === "pronoun",
    () => !view.scale,
    () => view.mask === "causal" && view.token === 0,
    () => view.temperature === HOTTEST,
    () => view.map === "scores",
  ];
  const tries = thingsToTry(words, facts(), met);
  const scene = element("div", { class: "scene", tabindex: -1 }, arcs, tokenRow);
  const { undress } = frame(
    el,
    "d2l-ae",
    STYLE,
    element(
      "div",
      { class: "controls" },
      choose.node,
      head.node,
      mask.node,
      element("label", { class: "check" }, scale, words.scale),
      element("div", {}, element("label", { for: temperature.id }, words.temperature, " ", degree), temperature),
      map.node,
    ),
    scene,
    said,
    stepsBox,
    grid,
    element("p", { class: "hint" }, words.hint),
    tries.node,
  );

  const fixed = words.sentences.indexOf(view.sentence);
  choose.input.value = fixed < 0 ? words.sentences.length : fixed;
  own.value = view.sentence.slice(0, 80);
  head.input.value = view.head;
  mask.input.value = view.mask;
  scale.checked = view.scale;
  map.input.value = view.map;
  temperature.value = Math.log2(view.temperature);

  let buttons = [];
  const tokensOf = () => view.sentence.trim().split(/\s+/).filter(Boolean).slice(0, 12);

  function draw(announce) {
    own.hidden = link.hidden = Number(choose.input.value) < words.sentences.length;
    const tokens = tokensOf();
    degree.textContent = view.temperature.toFixed(2);
    temperature.setAttribute("aria-valuetext", view.temperature.toFixed(2));
    if (tokens.length < 2) {
      tokenRow.replaceChildren();
      arcs.replaceChildren();
      grid.replaceChildren();
      steps.replaceChildren();
      said.textContent = words.empty;
      return;
    }
    view.token = Math.min(Math.max(0, Math.round(view.token)), tokens.length - 1);
    const n = tokens.length;
    const X = tokens.map(embed);
    const chosen = heads()[view.head];
    const points = scores(X, chosen, {
      scale: view.scale,
      temperature: view.temperature,
      allowed: MASKS[view.mask](n),
    });
    const weights = points.map(softmax);
    const V = values(X, chosen);
    drawTokens(tokens, weights[view.token]);
    drawArcs(n, weights[view.token]);
    drawSteps(tokens, points[view.token], weights[view.token], V);
    stepsBox.setAttribute("aria-label", steps.caption.textContent);
    stepsBox.tabIndex = stepsBox.scrollWidth > stepsBox.clientWidth ? 0 : -1; // keys scroll what has the focus
    drawGrid(tokens, points, weights);
    const order = weights[view.token]
      .map((weight, j) => [weight, j])
      .filter(([weight]) => weight > 0)
      .toSorted((a, b) => b[0] - a[0] || a[1] - b[1]);
    const most = order.slice(0, 4).map(([weight, j]) => `${tokens[j]} ${weight.toFixed(3)}`);
    const list = most.join(words.comma) + (order.length > most.length ? " …" : "");
    const output = vector(total(shares(weights[view.token], V)));
    const text = fill(order.length ? words.listens : words.nobody, { token: tokens[view.token], list, output });
    if (said.textContent !== text) said.textContent = text;
    grid.setAttribute("aria-label", `${words[view.map]}: ${text}`);
    tries.look();
    if (announce) shareView(el, "attention", view, !words.sentences.includes(view.sentence));
  }

  function drawTokens(tokens, row) {
    if (buttons.length !== tokens.length || buttons.some(({ dataset }, i) => dataset.word !== tokens[i])) {
      buttons = tokens.map((word, i) =>
        button([element("span", {}, word), element("span", { class: "share" })], () => select(i), {
          role: "radio",
          "data-word": word,
          onpointerenter: (event) => event.pointerType === "mouse" && select(i),
        }),
      );
      tokenRow.replaceChildren(...buttons);
      tokenRow.style.gridTemplateColumns = `repeat(${tokens.length}, minmax(3.2em, 1fr))`;
    }
    buttons.forEach((word, i) => {
      word.setAttribute("aria-checked", i === view.token);
      word.tabIndex = i === view.token ? 0 : -1;
      word.lastChild.textContent = row[i].toFixed(3);
    });
  }

  function drawArcs(n, row) {
    const width = Math.max(tokenRow.scrollWidth, 280);
    const height = Math.min(170, 60 + width / 8);
    const at = (i) => ((i + 0.5) * width) / n;
    setSize(arcs, width, height);
    arcs.setAttribute("height", height);
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

  /** Three numbers as bars, with the numbers under them. */
  function bars(numbers, color) {
    const [wide, high] = el.clientWidth < 480 ? [26, 22] : [32, 22];
    const path = (part) => numbers.map((number, c) => part(c, (high - 2) * Math.min(1, number))).join("");
    return svg(
      "svg",
      { viewBox: `0 0 ${3 * wide} ${high + 15}`, width: 3 * wide, role: "img", "aria-label": vector(numbers) },
      svg("path", { d: path((c, tall) => `M${c * wide + 4} ${high}v${-tall}h${wide - 8}v${tall}z`), fill: color }),
      svg("path", { d: path((c) => `M${c * wide + 2} ${high}h${wide - 4}`), stroke: "var(--w-line)" }),
      numbers.map((number, c) =>
        textAt((c + 0.5) * wide, high + 12, number ? number.toFixed(2) : "0", {
          "text-anchor": "middle",
          "font-size": 11,
          fill: "var(--w-text)",
        }),
      ),
    );
  }

  /** The whole formula for the chosen query: score → weight → weight × value, and their sum, the output. */
  function drawSteps(tokens, row, weights, V) {
    const divisors = [view.scale && `√${D}`, view.temperature !== 1 && signed(view.temperature, 2)].filter(Boolean);
    const under = divisors.length > 1 ? `(${divisors.join(" · ")})` : divisors.join("");
    const formula = under ? `q·k / ${under}` : "q·k";
    const cell = (...content) => element("td", {}, ...content);
    const tableRow = (...cells) => element("tr", {}, ...cells);
    const computed = (how) => element("span", { class: "how" }, how);
    const titles = [
      [words.column, "k", "key"],
      [words.score, formula],
      [words.weight, "softmax"],
      [words.value, "v", "value"],
      [words.share, "w·v", "output"],
    ].map(([text, how, kind]) => element("th", { scope: "col", class: kind }, text, computed(how)));
    const parts = shares(weights, V);
    const sum = element("th", { scope: "row", colspan: 4, class: "output" }, words.output);
    steps.replaceChildren(
      element("caption", {}, fill(words.steps, { token: tokens[view.token] })),
      element("thead", {}, tableRow(titles)),
      element(
        "tbody",
        {},
        tokens.map((token, j) =>
          element(
            "tr",
            { class: row[j] === -Infinity ? "masked" : null },
            element("th", { scope: "row" }, token),
            cell(row[j] === -Infinity ? "−∞" : signed(row[j], 2)),
            cell(weights[j].toFixed(3)),
            cell(bars(V[j], "var(--w-value)")),
            cell(bars(parts[j], "var(--w-output)")),
          ),
        ),
      ),
      element("tfoot", {}, tableRow(sum, cell(bars(total(parts), "var(--w-output)")))),
    );
  }

  const hatch = freshId();

  function drawGrid(tokens, points, weights) {
    const n = tokens.length;
    const cell = Math.max(24, Math.min(46, (Math.min(el.clientWidth || 600, 560) - 110) / n));
    const left = 96;
    const top = 74;
    const width = left + Math.max(n * cell + 36, 158); // room for the last slanting word
    const height = top + n * cell + 44;
    const signs = view.map === "scores";
    const seen = points.flat().filter((point) => point !== -Infinity);
    const most = signs ? Math.max(0.01, ...seen.map(Math.abs)) : 1;
    setSize(grid, width, height);
    const short = (word) => (word.length > 10 ? `${word.slice(0, 9)}…` : word);
    const corner = { "text-anchor": "end", fill: "var(--w-muted)", "font-size": 12 };
    const parts = [
      hatching(hatch, 6, 2),
      textAt(left - 8, top - 24, `${words.column} →`, corner),
      textAt(left - 8, top - 8, `${words.row} ↓`, corner),
    ];
    const every = (part) => tokens.flatMap((_, i) => tokens.map((__, j) => part(left + j * cell, top + i * cell)));
    const square = (x, y) => `M${x} ${y}h${cell - 1}v${cell - 1}h${1 - cell}z`;
    parts.push(svg("path", { d: every(square).join(""), fill: "var(--w-surface)" }));
    /** The color of a number, of which 1 is the largest: one color for weights, two for scores, none at 0. */
    const ink = (share) => ({
      fill: share < 0 ? "var(--w-key)" : "var(--w-query)",
      // less than half of the color at most: the numbers on it can be read in both themes
      "fill-opacity": (0.45 * Math.abs(share)).toFixed(3),
    });
    tokens.forEach((token, i) => {
      const on = i === view.token;
      const y = top + i * cell;
      const hue = on ? "var(--w-query)" : "var(--w-text)";
      const name = { "text-anchor": "end", fill: hue, "font-weight": on ? 600 : 400 };
      const slanted = `translate(${left + (i + 0.62) * cell} ${top - 8}) rotate(-40)`;
      parts.push(
        textAt(left - 8, y + 0.66 * cell, short(token), { "font-size": 14, ...name }),
        svg("text", { "font-size": 14, transform: slanted, fill: "var(--w-key)" }, short(token)),
      );
      (signs ? points : weights)[i].forEach((number, j) => {
        const hidden = points[i][j] === -Infinity;
        const x = left + j * cell;
        const color = hidden ? { fill: `url(#${hatch})` } : ink(number / most);
        if (color["fill-opacity"] !== "0.000") parts.push(rect(x, y, cell - 1, cell - 1, color));
        const middle = { "text-anchor": "middle", "font-size": 12, fill: "var(--w-text)" };
        const shown = signed(number, signs ? 1 : 2);
        if (cell >= 34 && !hidden) parts.push(textAt(x + 0.5 * cell, y + 0.6 * cell, shown, middle));
      });
      const around = { fill: "none", stroke: "var(--w-query)", "stroke-width": 2 };
      if (on) parts.push(rect(left - 1, y - 1, n * cell + 1, cell + 1, around));
      parts.push(rect(left, y, n * cell, cell, { "fill-opacity": 0, onclick: () => select(i) }));
    });
    // the scale: what the darkest color of either side stands for
    const [bottom, high, wide, swatches] = [top + n * cell + 12, 10, 150, 15];
    for (let t = 0; t < swatches; t++) {
      const share = signs ? (2 * t) / (swatches - 1) - 1 : t / (swatches - 1);
      const swatch = (color) => rect(left + (t * wide) / swatches, bottom, wide / swatches, high, color);
      parts.push(swatch({ fill: "var(--w-surface)" }), swatch(ink(share)));
    }
    const ends = signs ? [-most, 0, most] : [0, 0.5, 1];
    ends.forEach((end, t) => {
      const place = { "text-anchor": ["start", "middle", "end"][t], "font-size": 12, fill: "var(--w-muted)" };
      const digits = (signs && end) || end === 0.5 ? 1 : 0;
      parts.push(textAt(left + (t * wide) / 2, bottom + high + 14, signed(end, digits), place));
    });
    parts.push(textAt(left - 8, bottom + high, words[view.map], corner));
    grid.replaceChildren(...parts);
  }

  function set(name, value) {
    view[name] = value;
    draw(true);
  }

  function select(i, focus) {
    set("token", i);
    if (focus) buttons[i].focus();
  }

  own.addEventListener("input", () => set("sentence", own.value));
  scale.addEventListener("change", () => set("scale", scale.checked));
  temperature.addEventListener("input", () => set("temperature", 2 ** Number(temperature.value)));
  tokenRow.addEventListener("keydown", (event) => {
    const to = placeByKey(event, view.token, buttons.length);
    if (to !== undefined) select(to, true);
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
