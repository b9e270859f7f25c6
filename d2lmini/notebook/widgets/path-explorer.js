// Path explorer: choose an input and an output, see the shortest path between them in a CNN, an RNN and self-attention;
// then move n, d and k and see which of the three is cheapest, and by which way of counting.

import { clampInteger } from "./arithmetic.js";
import { element, freshId, svg } from "./dom.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill, grouped, plural } from "./text.js";
import { attachStyles } from "./theme.js";
import words, { language } from "course:words";
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
  const fields = Object.entries(SLIDERS).map(([name, [min, max, step, , back]]) => {
    const input = element("input", {
      type: "range",
      id: freshId(),
      min,
      max,
      step,
      oninput: () => {
        view[name] = back(Number(input.value));
        draw(true);
      },
    });
    const shown = element("output", { for: input.id });
    sliders[name] = { input, shown };
    return [name, element("div", {}, element("label", { for: input.id }, words[name], " = ", shown), input)];
  });
  const field = Object.fromEntries(fields);
  const counting = element(
    "select",
    {
      id: freshId(),
      onchange: () => {
        view.counting = counting.value;
        draw(true);
      },
    },
    Object.entries(words.conventions).map(([name, text]) => element("option", { value: name }, text)),
  );
  counting.value = view.counting;
  const panels = KINDS.map(() => ({ picture: svg("svg", { role: "img" }), caption: element("figcaption", {}) }));
  const body = element("tbody", {});
  const said = element("p", { class: "said", "aria-live": "polite" });
  const verdict = element("p", { class: "said", "aria-live": "polite" });
  const root = element(
    "div",
    { class: "d2l-pe", role: "group", "aria-label": words.title, lang: language.tag },
    element("div", { class: "controls" }, field.from, field.to, field.k),
    element(
      "div",
      { class: "panels" },
      panels.map(({ picture, caption }) => element("figure", {}, picture, caption)),
    ),
    said,
    element(
      "div",
      { class: "controls" },
      field.n,
      field.d,
      element("div", { class: "wide" }, element("label", { for: counting.id }, words.counting), counting),
    ),
    element(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": words.counting },
      element(
        "table",
        {},
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            words.columns.map((name) => element("th", { scope: "col" }, name)),
          ),
        ),
        body,
      ),
    ),
    verdict,
    element("p", { class: "hint" }, words.hint),
  );
  el.append(root);
  const undress = attachStyles(el, root, "path-explorer", STYLE);

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
    const edge = (a, b) => {
      const lit = onPath(a, b);
      lines.push([
        lit,
        svg("line", {
          x1: x(a[1]),
          y1: y(a[0]),
          x2: x(b[1]),
          y2: y(b[0]),
          stroke: lit ? color : "var(--w-line)",
          "stroke-width": lit ? 4 : 1,
          "stroke-opacity": lit ? 1 : 0.45,
          "stroke-dasharray": lit ? DASH[kind] : null,
          "stroke-linecap": "round",
        }),
      ]);
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
        const pick =
          level === 0
            ? () => {
                view.from = position;
                draw(true);
              }
            : () => {
                view.to = position;
                draw(true);
              };
        nodes.push(
          svg("circle", {
            class: "node",
            cx: x(position),
            cy: y(level),
            r: lit ? 8 : 6,
            fill: lit ? color : "var(--w-bg)",
            stroke: lit ? color : "var(--w-line)",
            "stroke-width": 1.6,
            onclick: pick,
          }),
        );
        if (level === 0)
          nodes.push(
            svg(
              "text",
              {
                x: x(position),
                y: y(0) + 24,
                "text-anchor": "middle",
                "font-size": 13,
                fill: position === view.from ? "var(--w-text)" : "var(--w-muted)",
                "font-weight": position === view.from ? 700 : 400,
              },
              String(position),
            ),
          );
        if (level === levels && position === view.to)
          nodes.push(
            svg(
              "text",
              {
                x: x(position),
                y: y(level) - 13,
                "text-anchor": "middle",
                "font-size": 13,
                "font-weight": 700,
                fill: "var(--w-text)",
              },
              String(position),
            ),
          );
      }
    const length = path ? counted(words.edges, "e", path.length - 1) : words.none;
    picture.setAttribute("viewBox", `0 0 236 ${height}`);
    picture.setAttribute("aria-label", `${name}: ${length}`);
    picture.replaceChildren(...lines.map(([, line]) => line), ...nodes);
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
