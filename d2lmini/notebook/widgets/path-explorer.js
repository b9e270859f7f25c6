// Path explorer: choose an input and an output, see the shortest path between them in a CNN, an RNN and self-attention;
// then move n, d and k and see which of the three is cheapest, and by which way of counting.

import { clampInteger } from "./arithmetic.js";
import { element, svg } from "./dom.js";
import { choice, frame, slider, tableHead } from "./frame.js";
import { line, setSize, textAt } from "./picture.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill, grouped, plural } from "./text.js";
import words from "course:words";
import STYLE from "./path-explorer.css";

const KINDS = ["convolution", "recurrent", "attention"];
const TOKENS = 7;
const COLOR = { convolution: "cnn", recurrent: "rnn", attention: "attention" };
const DASH = { convolution: "1.5 5", recurrent: "7 4", attention: null };

/** Nodes [level, position] of a shortest path from input a to output b (from 1), or null where there is none. */
function shortestPath(kind, a, b, k) {
  if (kind === "attention")
    return [
      [0, a],
      [1, b],
    ];
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

/** The arithmetic alone: a test compares it with the package. */
export const arithmetic = { shortestPath, multiplyAdds, sequentialSteps, longestPath };

function render({ el }) {
  const view = sharedView(el, "path", { from: 1, to: 5, n: 32, d: 64, k: 3, counting: "projections" });
  const power = (value, low, high) => 2 ** clampInteger(Math.log2(value), low, high);
  view.from = clampInteger(view.from, 1, TOKENS);
  view.to = clampInteger(view.to, 1, TOKENS);
  view.n = power(view.n, 2, 16);
  view.d = power(view.d, 3, 11);
  view.k = [3, 5, 7].includes(view.k) ? view.k : 3;
  if (!Object.hasOwn(words.conventions, view.counting)) view.counting = "projections";

  const counted = (forms, name, value) => fill(plural(forms, value), { [name]: value });
  // name: [least, greatest, step, from value to slider, and back]
  const exponent = [(value) => Math.log2(value), (place) => 2 ** place];
  const same = [(value) => value, (place) => place];
  const SLIDERS = {
    from: [1, TOKENS, 1, ...same],
    to: [1, TOKENS, 1, ...same],
    n: [2, 16, 1, ...exponent],
    d: [3, 11, 1, ...exponent],
    k: [3, 7, 2, ...same],
  };
  const sliders = {};
  const set = (name, value) => {
    view[name] = value;
    draw(true);
  };
  for (const [name, [min, max, step, , back]] of Object.entries(SLIDERS))
    sliders[name] = slider(words[name], min, max, step, (place) => set(name, back(place)));
  const { from, to, n, d, k } = sliders;
  const counting = choice(words.counting, Object.entries(words.conventions), (name) => set("counting", name));
  counting.input.value = view.counting;
  counting.node.className = "wide";
  const panels = KINDS.map(() => ({ picture: svg("svg", { role: "img" }), caption: element("figcaption", {}) }));
  const body = element("tbody", {});
  const said = element("p", { class: "said", "aria-live": "polite" });
  const verdict = element("p", { class: "said", "aria-live": "polite" });
  const { undress } = frame(
    el,
    "d2l-pe",
    STYLE,
    element("div", { class: "controls" }, from.node, to.node, k.node),
    element(
      "div",
      { class: "panels" },
      panels.map(({ picture, caption }) => element("figure", {}, picture, caption)),
    ),
    said,
    element("div", { class: "controls" }, n.node, d.node, counting.node),
    element(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": words.counting },
      element("table", {}, tableHead(words.columns), body),
    ),
    verdict,
    element("p", { class: "hint" }, words.hint),
  );

  function draw(share) {
    for (const [name, { input, shown }] of Object.entries(sliders)) {
      input.value = SLIDERS[name][3](view[name]);
      shown.textContent = grouped(view[name]);
      input.setAttribute("aria-valuetext", shown.textContent);
    }
    const lengths = KINDS.map((kind, p) => drawPanel(kind, panels[p], words.names[p]));
    const text = fill(words.said, { a: view.from, b: view.to, c: lengths[0], r: lengths[1], s: lengths[2] });
    if (said.textContent !== text) said.textContent = text;
    drawTable();
    if (share) shareView(el, "path", view);
  }

  function drawPanel(kind, { picture, caption }, name) {
    const path = shortestPath(kind, view.from, view.to, view.k);
    const levels = kind === "convolution" ? path.length - 1 : 1; // as deep as this pair needs
    const color = `var(--w-${COLOR[kind]})`;
    const x = (position) => 22 + (position - 1) * 32;
    const height = 46 + levels * (levels > 3 ? 34 : 62);
    const y = (level) => height - 30 - (level * (height - 58)) / levels;
    const onPath = (a, b) =>
      path && path.some((node, t) => t && String(path[t - 1]) === String(a) && String(node) === String(b));
    const lines = [];
    const faint = { stroke: "var(--w-line)", "stroke-width": 1, "stroke-opacity": 0.45 };
    const number = { "text-anchor": "middle", "font-size": 13 };
    const bold = { fill: "var(--w-text)", "font-weight": 700 };
    const edge = (a, b) => {
      const lit = onPath(a, b);
      const stroke = lit ? { stroke: color, "stroke-width": 4, "stroke-dasharray": DASH[kind] } : faint;
      lines.push([lit, line(x(a[1]), y(a[0]), x(b[1]), y(b[0]), { "stroke-linecap": "round", ...stroke })]);
    };
    const radius = kind === "convolution" ? (view.k - 1) / 2 : kind === "attention" ? TOKENS : 0;
    for (let level = 0; level < levels; level++)
      for (let a = 1; a <= TOKENS; a++)
        for (let b = Math.max(1, a - radius); b <= Math.min(TOKENS, a + radius); b++) edge([level, a], [level + 1, b]);
    if (kind === "recurrent") for (let a = 1; a < TOKENS; a++) edge([1, a], [1, a + 1]);
    lines.sort((a, b) => Boolean(a[0]) - Boolean(b[0]));
    const nodes = [];
    for (let level = 0; level <= levels; level++)
      for (let position = 1; position <= TOKENS; position++) {
        const lit = path && path.some((node) => node[0] === level && node[1] === position);
        nodes.push(
          svg("circle", {
            class: "node",
            cx: x(position),
            cy: y(level),
            r: lit ? 8 : 6,
            fill: lit ? color : "var(--w-bg)",
            stroke: lit ? color : "var(--w-line)",
            "stroke-width": 1.6,
            onclick: () => set(level ? "to" : "from", position),
          }),
        );
        const weight = position === view.from ? bold : { fill: "var(--w-muted)", "font-weight": 400 };
        if (level === 0) nodes.push(textAt(x(position), y(0) + 24, position, { ...number, ...weight }));
        if (level === levels && position === view.to)
          nodes.push(textAt(x(position), y(level) - 13, position, { ...number, ...bold }));
      }
    const length = path ? counted(words.edges, "e", path.length - 1) : words.none;
    setSize(picture, 236, height, `${name}: ${length}`);
    picture.replaceChildren(...lines.map(([, node]) => node), ...nodes);
    caption.replaceChildren(
      element("strong", { style: `color: ${color}` }, name),
      ` · ${length}${kind === "convolution" ? ` · ${counted(words.layers, "l", path.length - 1)}` : ""}`,
    );
    return length;
  }

  function drawTable() {
    const arithmeticCosts = multiplyAdds(view.n, view.d, view.k, view.counting);
    const rows = KINDS.map((kind) => [
      arithmeticCosts[kind],
      sequentialSteps(kind, view.n),
      longestPath(kind, view.n, view.k),
    ]);
    const best = [0, 1, 2].map((c) => Math.min(...rows.map((row) => row[c])));
    body.replaceChildren(
      ...rows.map((row, r) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, words.names[r]),
          row.map((value, c) =>
            element(
              "td",
              { class: value === best[c] ? "best" : null },
              grouped(value),
              value === best[c] ? element("small", {}, words.cheapest) : null,
            ),
          ),
        ),
      ),
    );
    const who = words.names.filter((_, r) => rows[r][0] === best[0]).join(" = ");
    const text = fill(words.costs, { n: grouped(view.n), d: grouped(view.d), k: view.k, who });
    if (verdict.textContent !== text) verdict.textContent = text;
  }

  draw(false);
  return undress;
}

export default { render };
