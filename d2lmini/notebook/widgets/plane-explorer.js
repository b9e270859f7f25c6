// Attention in the plane: tokens are arrows, W_q, W_k and W_v are pairs of rings, one for each row, and everything that
// the formula makes of them moves along while they are dragged. Nothing here moves by itself.

import { clamp, clampInteger } from "./arithmetic.js";
import { button, element, svg } from "./dom.js";
import { frame, placeByKey, tableHead } from "./frame.js";
import { readings } from "./number.js";
import { CATS, MILK, MISSIONS, TOKENS, attend, foot, hull, largest, opposites, product } from "./plane-arithmetic.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill } from "./text.js";
import tokens from "course:tokens";
import words, { language } from "course:words";
import STYLE from "./plane-explorer.css";

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { TOKENS, MISSIONS, attend, foot, hull, largest, opposites, product };

const scaled = (factor) => [
  [factor, 0],
  [0, factor],
];
const PRESETS = {
  "W_q = W_k = W_v = I": { q: scaled(1), k: scaled(1), v: scaled(1) },
  "W_q = −I": { q: scaled(-1), k: scaled(1), v: scaled(1) },
  "W_q = 0": { q: scaled(0), k: scaled(1), v: scaled(1) },
  "W_q = W_k = 12 I": { q: scaled(12), k: scaled(12), v: scaled(1) },
};
// picture: what it draws of the result, the matrix whose rows are its rings, and its color
const PLANES = {
  tokens: { color: "text" },
  queries: { points: "Q", matrix: "q", color: "query" },
  keys: { points: "K", matrix: "k", color: "key" },
  values: { points: "V", matrix: "v", color: "value" },
};
const NEAREST = 1.4; // how far from the axes a token may go
const GREATEST = 20; // the largest number of a matrix
const RANGES = { 1.5: 1, 3: 2, 7: 5, 15: 10, 30: 20, 60: 40, 100: 80 }; // half a picture's width: the circle in it
const HEARD = 400; // milliseconds without a change, before the result is announced

const round = (value, digits = 2) => Number(value.toFixed(digits)) || 0; // no negative zero
const shown = (value, digits = 2) => String(round(value, digits)).replace("-", "−");
const fixed = (value, digits) => round(value, digits).toFixed(digits).replace("-", "−");
const flat = (rows) => rows.flat().join(" ");

/** Rows of two numbers from a link's text; the usual ones if it is anything else. */
function rowsIn(text, usual, most) {
  const numbers = text.split(" ").map(Number);
  if (numbers.length !== usual.length * 2 || !numbers.every(Number.isFinite)) return usual.map((row) => [...row]);
  return usual.map((_, i) => [2 * i, 2 * i + 1].map((at) => round(clamp(numbers[at], -most, most), 4)));
}

/** A text with W_q in it: a W with a small q below. */
const formula = (text) =>
  text.split(/(\p{L}_\p{L})/u).flatMap((part, i) => (i % 2 ? [part[0], element("sub", {}, part[2])] : [part]));

function render({ el }) {
  const link = sharedView(el, "plane", {
    tokens: flat(TOKENS),
    q: "1 0 0 1",
    k: "1 0 0 1",
    v: "1 0 0 1",
    asking: MILK,
    scale: true,
  });
  let X = rowsIn(link.tokens, TOKENS, NEAREST);
  const matrices = Object.fromEntries([..."qkv"].map((name) => [name, rowsIn(link[name], scaled(1), GREATEST)]));
  let asking = clampInteger(link.asking, 0, tokens.length - 1);
  let scale = link.scale;
  const solved = new Set();

  // ---- what is on the screen

  const buttons = tokens.map((word, i) => button(word, () => ask(i), { role: "radio" }));
  const askRow = element(
    "div",
    { class: "tokens", role: "radiogroup", "aria-label": words.asking, onkeydown: (event) => step(event) },
    buttons,
  );
  const planes = Object.entries(PLANES).map(([name, kind]) => makePlane(name, kind));
  const grid = element("div", { class: "planes" }, ...planes.map((plane) => plane.figure));
  const said = element("p", { class: "said" });
  const heard = element("p", { class: "unseen", role: "status" });
  const refused = element("p", { class: "refused", role: "alert" });
  const inputs = Object.fromEntries([..."qkv"].map((name) => [name, makeInputs(name)]));
  const product4 = [0, 1, 2, 3].map(() => element("span", {}));
  const check = element("input", {
    type: "checkbox",
    onchange: () => {
      scale = check.checked;
      draw();
    },
  });
  const barsCaption = element("caption", {});
  const bars = tokens.map((word) => {
    const bar = { score: element("td", {}), length: element("i", {}), weight: element("span", {}) };
    const weight = element("td", {}, element("div", { class: "weight" }, bar.length, bar.weight));
    return { ...bar, row: element("tr", {}, element("th", { scope: "row" }, word), bar.score, weight) };
  });
  const cells = tokens.map((word, i) => {
    const weights = tokens.map(() => element("td", {}));
    const name = element("th", { scope: "row" }, word);
    return { weights, row: element("tr", { onclick: () => ask(i) }, name, weights) };
  });
  const body = (lines) => element("tbody", {}, ...lines.map((line) => line.row));
  const heading = element("p", { class: "heading" });
  const places = { asker: tokens[MILK], heard: tokens[CATS] };
  const goals = words.goals.map((goal, i) => {
    const tick = element("span", { class: "tick", role: "img" });
    const clue = element("p", {}, formula(fill(words.clues[i], places)));
    const hidden = element("details", {}, element("summary", {}, words.clue), clue);
    return { tick, row: element("li", {}, tick, formula(fill(goal, places)), hidden) };
  });
  const { undress } = frame(
    el,
    "d2l-plane",
    STYLE,
    element("p", { class: "name" }, words.asking),
    askRow,
    grid,
    said,
    heard,
    element("p", { class: "hint" }, words.hint),
    element(
      "div",
      { class: "matrices" },
      [..."qkv"].map((name) => matrix(`W_${name}`, { q: "query", k: "key", v: "value" }[name], inputs[name].flat())),
      matrix("W_qW_kᵀ", "text", product4),
    ),
    refused,
    element(
      "div",
      { class: "presets" },
      Object.entries(PRESETS).map(([name, preset]) => button(formula(name), () => set(preset))),
      button(words.reset, startAgain),
    ),
    element("label", { class: "check" }, check, words.scale),
    element(
      "div",
      { class: "numbers" },
      element("table", { class: "row" }, barsCaption, tableHead([words.token, words.score, words.weight]), body(bars)),
      element("table", { class: "all" }, element("caption", {}, words.all), tableHead(["", ...tokens]), body(cells)),
    ),
    heading,
    element("ol", { class: "missions" }, ...goals.map((goal) => goal.row)),
    element("p", { class: "question" }, formula(words.question)),
    element("details", {}, element("summary", {}, words.reveal), element("p", {}, formula(words.answer))),
    element("p", { class: "hint" }, words.keyboard),
  );

  function matrix(name, color, content) {
    const title = element("span", { style: `color: var(--w-${color})` }, formula(name));
    const rows = element("div", { class: "rows" }, content);
    return element("div", { class: "matrix", role: "group", "aria-label": name }, title, rows);
  }

  function makeInputs(name) {
    return [1, 2].map((i) =>
      [1, 2].map((j) =>
        element("input", {
          type: "text",
          inputmode: "text", // a phone's keyboard for decimals has no minus
          autocomplete: "off",
          "aria-label": fill(words.cell, { matrix: `W_${name}`, i, j }),
          onchange: ({ target }) => take(target, name, i - 1, j - 1),
          // JupyterLab keeps the key from the browser, which would tell of the change
          onkeydown: ({ key, target }) => key === "Enter" && take(target, name, i - 1, j - 1),
        }),
      ),
    );
  }

  /** A number as readers write it; what is none, or too large, changes nothing. */
  function take(input, name, i, j) {
    const read = readings(input.value, language).filter((value) => Math.abs(value) <= GREATEST);
    if (read.length === 1) {
      matrices[name][i][j] = round(read[0], 4);
      draw();
      return;
    }
    input.setAttribute("aria-invalid", "true");
    refused.textContent = fill(words.refused, { text: input.value });
  }

  function set(preset) {
    for (const [name, rows] of Object.entries(preset)) matrices[name] = rows.map((row) => [...row]);
    draw();
  }

  function startAgain() {
    X = TOKENS.map((x) => [...x]);
    asking = MILK;
    scale = true;
    set(PRESETS["W_q = W_k = W_v = I"]);
  }

  function ask(i) {
    asking = i;
    draw();
  }

  function step(event) {
    const to = placeByKey(event, asking, tokens.length);
    if (to === undefined) return;
    ask(to);
    buttons[to].focus();
  }

  // ---- a picture: arrows from 0, and what can be taken hold of

  function makePlane(name, kind) {
    const plane = { name, ...kind, range: 1.5, size: 300, held: null };
    const labels = kind.matrix ? [1, 2].map((i) => fill(words.row, { matrix: `W_${kind.matrix}`, i })) : tokens;
    const most = kind.matrix ? GREATEST : NEAREST;
    plane.rows = () => (kind.matrix ? matrices[kind.matrix] : X);
    plane.back = svg("g", { "aria-hidden": "true" });
    plane.front = svg("g", { "aria-hidden": "true" });
    plane.picks = labels.map((label, i) =>
      svg(
        "g",
        {
          class: "pick",
          tabindex: 0,
          role: "slider",
          "aria-label": label,
          "aria-valuemin": -most,
          "aria-valuemax": most,
          onkeydown: (event) => push(event, plane, i, most),
        },
        svg("circle", { r: 15, fill: "transparent" }),
        svg("circle", { class: "focus", r: 12, fill: "none" }),
        kind.matrix ? svg("circle", { class: "ring", r: 8.5, stroke: `var(--w-${kind.color})` }) : null,
      ),
    );
    const caption = words.captions[name];
    plane.view = svg("svg", { role: "group", "aria-label": caption }, plane.back, plane.picks, plane.front);
    plane.figure = element(
      "figure",
      {},
      element("figcaption", { style: `color: var(--w-${kind.color})` }, formula(caption)),
      plane.view,
    );
    drag(plane, most);
    return plane;
  }

  function push(event, plane, i, most) {
    const length = event.shiftKey ? 0.01 : 0.1;
    const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const stretch = { PageUp: 1.25, PageDown: 0.8 }[event.key];
    if (!by && !stretch) return;
    event.preventDefault();
    const row = plane.rows()[i];
    const moved = by ? row.map((value, axis) => value + length * by[axis]) : row.map((value) => value * stretch);
    plane.rows()[i] = moved.map((value) => round(clamp(value, -most, most)));
    draw();
  }

  /** The nearest of what lies below the finger is moved; the picture is drawn once a frame. */
  function drag(plane, most) {
    let request = 0;
    let offset = [0, 0];
    const at = (event) => {
      const box = plane.view.getBoundingClientRect();
      const unit = (2 * plane.range) / box.width;
      return [(event.clientX - box.left - box.width / 2) * unit, (box.top + box.height / 2 - event.clientY) * unit];
    };
    // a page scrolls under a finger in spite of touch-action, which shapes of a picture do not have everywhere
    plane.view.addEventListener("touchstart", (event) => event.target.closest(".pick") && event.preventDefault(), {
      passive: false,
    });
    plane.view.addEventListener("pointerdown", (event) => {
      if (!event.target.closest(".pick") || event.button > 0) return;
      event.preventDefault();
      const place = at(event);
      const far = plane.rows().map((row) => Math.hypot(row[0] - place[0], row[1] - place[1]));
      plane.held = far.indexOf(Math.min(...far));
      offset = plane.rows()[plane.held].map((value, axis) => value - place[axis]);
      plane.picks[plane.held].focus({ preventScroll: true });
      plane.view.setPointerCapture(event.pointerId);
    });
    plane.view.addEventListener("pointermove", (event) => {
      if (plane.held === null) return;
      const grain = plane.matrix ? { 1.5: 0.05, 3: 0.1, 7: 0.2, 15: 0.5 }[plane.range] || 1 : 0.02;
      const edge = Math.min(most, plane.range);
      plane.rows()[plane.held] = at(event).map((value, axis) =>
        round(clamp(Math.round((value + offset[axis]) / grain) * grain, -edge, edge)),
      );
      request ||= requestAnimationFrame(() => {
        request = 0;
        draw();
      });
    });
    const end = () => {
      if (plane.held === null) return;
      plane.held = null;
      cancelAnimationFrame(request);
      request = 0;
      draw();
    };
    plane.view.addEventListener("pointerup", end);
    plane.view.addEventListener("pointercancel", end);
  }

  // ---- drawing

  let shownBefore = "";
  let timer;

  function draw(first = false) {
    const result = attend(X, matrices, scale);
    for (const plane of planes) drawPlane(plane, result);
    drawNumbers(result);
    const fresh = drawMissions({ ...result, X, asking });
    const row = result.weights[asking];
    const order = row.map((weight, j) => [weight, j]).toSorted((a, b) => b[0] - a[0] || a[1] - b[1]);
    const list = order.map(([weight, j]) => `${tokens[j]} ${weight.toFixed(3)}`).join(words.comma);
    const [x, y] = result.outputs[asking].map((value) => fixed(value, 3));
    const text = fill(words.listens, { token: tokens[asking], list, x, y });
    said.textContent = text;
    const news = [...fresh.map((i) => fill(words.reached, { i: i + 1 })), text].join(" ");
    if (first || news === shownBefore) return;
    shownBefore = news;
    clearTimeout(timer);
    timer = setTimeout(() => (heard.textContent = news), HEARD);
    const { q, k, v } = matrices;
    shareView(el, "plane", { tokens: flat(X), q: flat(q), k: flat(k), v: flat(v), asking, scale });
  }

  function drawPlane(plane, result) {
    const { matrix: name, color, size, picks, back, front } = plane;
    const rows = plane.rows();
    const points = plane.points ? result[plane.points] : X;
    if (name && plane.held === null) {
      const reach = 1.1 * Math.max(...[...points, ...rows].flat().map(Math.abs));
      plane.range = Number(Object.keys(RANGES).toSorted((a, b) => a - b).find((range) => range >= reach) ?? 100);
    }
    const unit = size / 2 / plane.range;
    const at = ([x, y]) => [round(size / 2 + x * unit, 1), round(size / 2 - y * unit, 1)];
    const path = (corners) => `M${corners.map((corner) => at(corner).join(" ")).join("L")}`;
    const ink = `var(--w-${color})`;
    const parts = [];
    const put = (tag, attributes) => parts.push(svg(tag, attributes));
    const circle = RANGES[plane.range];
    const middle = size / 2;
    put("path", { d: `M0 ${middle}H${size}M${middle} 0V${size}`, stroke: "var(--w-hairline)" });
    put("circle", { cx: middle, cy: middle, r: circle * unit, fill: "none", stroke: "var(--w-hairline)" });
    const taken = []; // boxes of the labels so far: left, top, right, bottom
    const texts = [];
    const below = middle + 0.71 * circle * unit;
    texts.push(svg("text", { x: below + 3, y: below + 11, fill: "var(--w-muted)" }, `r = ${circle}`));

    if (name) {
      const corners = [[0, 0], rows[0], [rows[0][0] + rows[1][0], rows[0][1] + rows[1][1]], rows[1]];
      put("path", { d: `${path(corners)}Z`, fill: ink, "fill-opacity": 0.07 });
      for (const row of rows) put("path", { d: path([[0, 0], row]), stroke: ink, "stroke-width": 6, opacity: 0.22 });
    }
    if (name === "k") drawLine(put, texts, taken, plane, at, points, result.Q[asking]);
    if (name === "v") {
      put("path", { d: `${path(hull(points))}Z`, fill: ink, "fill-opacity": 0.16, stroke: ink, "stroke-opacity": 0.5 });
      result.weights[asking].forEach((weight, j) =>
        put("path", {
          d: path([result.outputs[asking], points[j]]),
          stroke: "var(--w-output)",
          "stroke-width": round(0.5 + 5 * weight),
          "stroke-opacity": 0.55,
        }),
      );
    }
    const order = points.map((_, i) => i).toSorted((a, b) => (a === asking) - (b === asking));
    for (const i of order) {
      const on = i === asking || color !== "query";
      if (name !== "v")
        put("path", { d: path([[0, 0], points[i]]), stroke: ink, "stroke-width": 2, opacity: on ? 0.9 : 0.3 });
      drawHead(put, color, at(points[i]), points[i], on);
    }
    if (name === "v") drawStar(put, at(result.outputs[asking]));

    // labels: beside their points, outward, where no other label is
    const label = (text, place, point, attributes) => {
      const wide = 4 + [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 13 : 7), 0);
      const [x, y] = at(place);
      const angle = Math.hypot(...point) ? Math.atan2(-point[1], point[0]) : -Math.PI / 2;
      const around = [attributes.far, attributes.far + 16, attributes.far + 32].flatMap((far) =>
        [0, 1, -1, 2, -2, 3, -3, 4].map((eighth) => {
          const turned = angle + (eighth * Math.PI) / 4;
          const cx = x + Math.cos(turned) * (far + wide / 2 - 3);
          const cy = y + Math.sin(turned) * (far + 4);
          return [Math.min(size - wide / 2, Math.max(wide / 2, cx)), Math.min(size - 9, Math.max(9, cy))];
        }),
      );
      const box = ([cx, cy]) => [cx - wide / 2, cy - 7, cx + wide / 2, cy + 7];
      const free = (center) => {
        const [left, top, right, bottom] = box(center);
        return !taken.some(([l, t, r, b]) => left < r && l < right && top < b && t < bottom);
      };
      const spot = around.find(free) ?? around[0];
      taken.push(box(spot));
      const bold = attributes.bold ? 650 : 400;
      const centered = { x: round(spot[0], 1), y: round(spot[1] + 4.5, 1), "text-anchor": "middle" };
      texts.push(svg("text", { ...centered, fill: attributes.fill, "font-weight": bold }, text));
    };
    for (const point of points) {
      const [x, y] = at(point);
      taken.push([x - 5, y - 5, x + 5, y + 5]);
    }
    for (const i of order.toReversed()) {
      const bold = i === asking && (color === "query" || color === "text");
      label(tokens[i], points[i], points[i], { fill: ink, bold, far: name ? 14 : 11 });
    }
    if (name)
      rows.forEach((row, i) => label(String(i + 1), row, [-row[0], -row[1]], { fill: ink, bold: true, far: 14 }));

    back.replaceChildren(...parts);
    front.replaceChildren(...texts);
    plane.view.setAttribute("viewBox", `0 0 ${size} ${size}`);
    picks.forEach((pick, i) => {
      const [x, y] = at(rows[i]);
      pick.setAttribute("transform", `translate(${x} ${y})`);
      pick.setAttribute("aria-valuenow", rows[i][0]);
      pick.setAttribute("aria-valuetext", `(${rows[i].map((value) => shown(value, 4)).join(", ")})`);
    });
  }

  /** The line of the query through the keys, and a perpendicular from each of them. */
  function drawLine(put, texts, taken, { size, range }, at, keys, query) {
    const length = Math.hypot(...query);
    if (length === 0) return;
    const end = query.map((value) => (value / length) * range * (1 - 16 / size));
    const start = end.map((value) => -value);
    const dashed = { stroke: "var(--w-query)", "stroke-width": 1.6, "stroke-dasharray": "6 4" };
    put("path", { d: `M${at(start).join(" ")}L${at(end).join(" ")}`, ...dashed });
    const [x, y] = at(end);
    const angle = round((-Math.atan2(query[1], query[0]) * 180) / Math.PI, 1);
    put("path", { d: "M7 0L-4 5L-4 -5Z", fill: "var(--w-query)", transform: `translate(${x} ${y}) rotate(${angle})` });
    for (const key of keys) {
      const there = at(foot(key, query));
      put("path", { d: `M${at(key).join(" ")}L${there.join(" ")}`, stroke: "var(--w-key)", "stroke-dasharray": "2 3" });
      const [cx, cy] = there;
      put("circle", { cx, cy, r: 3.2, fill: "var(--w-bg)", stroke: "var(--w-key)", "stroke-width": 1.5 });
    }
    const aside = [round(x - (13 * query[1]) / length, 1), round(y - (13 * query[0]) / length, 1)];
    texts.push(svg("text", { x: aside[0], y: aside[1] + 4, "text-anchor": "middle", fill: "var(--w-query)" }, "q"));
    taken.push([aside[0] - 6, aside[1] - 7, aside[0] + 6, aside[1] + 7], [x - 6, y - 6, x + 6, y + 6]);
  }

  /** Tokens end in arrow heads, queries in circles, keys in squares, values in triangles: color is not all. */
  function drawHead(put, color, [x, y], point, on) {
    const more = { fill: `var(--w-${color})`, "fill-opacity": on ? 1 : 0.55, transform: `translate(${x} ${y})` };
    if (color === "query") put("circle", { r: 4.5, ...more });
    else if (color === "key") put("rect", { x: -4, y: -4, width: 8, height: 8, ...more });
    else if (color === "value") put("path", { d: "M0 -6L5.5 4L-5.5 4Z", ...more });
    else {
      const angle = round((-Math.atan2(point[1], point[0]) * 180) / Math.PI, 1);
      put("path", { d: "M3 0L-9 5L-9 -5Z", ...more, transform: `${more.transform} rotate(${angle})` });
    }
  }

  function drawStar(put, [x, y]) {
    const corner = (i) => {
      const [far, angle] = [i % 2 ? 3.6 : 9, (i * Math.PI) / 5];
      return `${round(far * Math.sin(angle), 1)} ${round(-far * Math.cos(angle), 1)}`;
    };
    put("path", {
      d: `M${Array.from({ length: 10 }, (_, i) => corner(i)).join("L")}Z`,
      fill: "var(--w-output)",
      stroke: "var(--w-bg)",
      class: "output",
      transform: `translate(${x} ${y})`,
    });
  }

  function drawNumbers({ scores, weights }) {
    buttons.forEach((word, i) => {
      word.setAttribute("aria-checked", i === asking);
      word.tabIndex = i === asking ? 0 : -1;
    });
    check.checked = scale;
    refused.textContent = "";
    for (const [name, rows] of Object.entries(inputs))
      rows.forEach((row, i) =>
        row.forEach((input, j) => {
          input.value = shown(matrices[name][i][j], 4);
          input.removeAttribute("aria-invalid");
        }),
      );
    const numbers = product(matrices.q, matrices.k).flat();
    numbers.forEach((value, i) => (product4[i].textContent = shown(value)));
    barsCaption.textContent = fill(words.asks, { token: tokens[asking] });
    // the tables stay and change their texts: a slow phone would take long to lay new ones out
    bars.forEach(({ score, length, weight }, j) => {
      score.textContent = fixed(scores[asking][j], 2);
      length.style.width = `${round(66 * weights[asking][j], 1)}%`;
      weight.textContent = weights[asking][j].toFixed(3);
    });
    cells.forEach((line, i) => {
      line.row.toggleAttribute("data-asks", i === asking);
      line.weights.forEach((cell, j) => {
        const weight = weights[i][j];
        cell.textContent = weight.toFixed(2);
        cell.style.background = `color-mix(in srgb, var(--w-query) ${round(50 * weight, 1)}%, var(--w-bg))`;
      });
    });
  }

  /** Tick what is done, once and for all; the numbers of those that are done for the first time. */
  function drawMissions(result) {
    const checks = Object.values(MISSIONS);
    const fresh = checks.flatMap((reached, i) => (!solved.has(i) && reached(result) ? [i] : []));
    for (const i of fresh) solved.add(i);
    heading.textContent = fill(words.missions, { done: solved.size, total: checks.length });
    goals.forEach(({ tick, row }, i) => {
      row.toggleAttribute("data-done", solved.has(i));
      tick.textContent = solved.has(i) ? "✓" : "";
      tick.setAttribute("aria-label", solved.has(i) ? words.done : words.open);
    });
    return fresh;
  }

  const resize = new ResizeObserver(() => {
    const result = attend(X, matrices, scale);
    for (const plane of planes) {
      plane.size = plane.view.clientWidth || plane.size;
      drawPlane(plane, result);
    }
  });
  resize.observe(grid);
  draw(true);
  return () => {
    resize.disconnect();
    clearTimeout(timer);
    undress();
  };
}

export default { render };
