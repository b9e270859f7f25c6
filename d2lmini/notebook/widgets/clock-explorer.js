// Clock explorer: each pair (sin, cos) of a sinusoidal encoding is the hand of a clock, fast ones to the left. Moving
// by δ turns every hand by an angle of its own, the same from wherever one starts.

import { element, freshId, svg } from "./dom.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill } from "./text.js";
import { attachStyles } from "./theme.js";
import words, { language } from "course:words";
import STYLE from "./clock-explorer.css";

const LAST = 60;
const WIDTHS = [4, 8, 16, 32];

/** The angle by which pair j turns for each step, ω_j = 1 / 10000^(2j/d). */
const frequency = (j, d) => 1 / 10000 ** ((2 * j) / d);

/** Row i of the sinusoidal encoding: sine in the even columns, cosine in the odd ones. */
function encoding(i, d) {
  return Array.from({ length: d }, (_, c) => (c % 2 ? Math.cos : Math.sin)(i * frequency(Math.floor(c / 2), d)));
}

const inner = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { frequency, encoding, inner };

function render({ el }) {
  const view = sharedView(el, "clock", { position: 7, shift: 3, dims: 16, pair: 0 });
  const clamp = (value, low, high) => Math.min(high, Math.max(low, Math.round(value) || 0));
  view.dims = WIDTHS.includes(view.dims) ? view.dims : 16;
  view.position = clamp(view.position, 0, LAST);
  view.shift = clamp(view.shift, -12, 12);
  const slider = (min, max) => element("input", { type: "range", id: freshId(), min, max, step: 1 });
  const position = slider(0, LAST);
  const shift = slider(-12, 12);
  const dims = element(
    "select",
    { id: freshId() },
    WIDTHS.map((d) => element("option", { value: d }, String(d))),
  );
  const shown = { position: element("output", {}), shift: element("output", {}) };
  const clocks = element("div", { class: "clocks", role: "group", "aria-label": words.columns });
  const heat = svg("svg", { role: "img" });
  const curve = svg("svg", { role: "img" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const root = element(
    "div",
    { class: "d2l-ce", role: "group", "aria-label": words.title, lang: language.tag },
    element(
      "div",
      { class: "controls" },
      element("div", {}, element("label", { for: position.id }, words.position, " = ", shown.position), position),
      element("div", {}, element("label", { for: shift.id }, words.shift, " = ", shown.shift), shift),
      element("div", {}, element("label", { for: dims.id }, words.dims), dims),
    ),
    clocks,
    element("div", { class: "pictures" }, curve, heat),
    said,
    element("p", { class: "hint" }, words.hint),
  );
  el.append(root);
  const undress = attachStyles(el, root, "clock-explorer", STYLE);
  let buttons = [];
  let table = {};

  const degrees = (j) => (view.shift * frequency(j, view.dims) * 180) / Math.PI;
  const signed = (value, digits) =>
    value
      .toFixed(digits)
      .replace(/^-(0\.?0*)$/, "$1")
      .replace("-", "−");

  function draw(share) {
    view.pair = clamp(view.pair, 0, view.dims / 2 - 1);
    position.value = view.position;
    shift.value = view.shift;
    dims.value = view.dims;
    shown.position.textContent = view.position;
    shown.shift.textContent = signed(view.shift, 0);
    drawClocks();
    drawCurve();
    drawHeat();
    const here = encoding(view.position, view.dims);
    const there = encoding(view.position + view.shift, view.dims);
    const values = {
      i: view.position,
      to: signed(view.position + view.shift, 0),
      delta: signed(view.shift, 0),
      j: view.pair,
      angle: signed(degrees(view.pair), 1),
      sin: signed(here[2 * view.pair], 3),
      cos: signed(here[2 * view.pair + 1], 3),
      dot: inner(here, there).toFixed(3),
    };
    const text = fill(view.position + view.shift < 0 ? words.outside : words.said, values);
    if (said.textContent !== text) said.textContent = text;
    curve.setAttribute("aria-label", fill(words.hand, { j: view.pair, a: 2 * view.pair, b: 2 * view.pair + 1 }));
    heat.setAttribute("aria-label", `P: ${words.rows} × ${words.columns}`);
    if (share) shareView(el, "clock", view);
  }

  function hand(angle, color, dashed) {
    const x = 36 + 27 * Math.sin(angle);
    const y = 36 - 27 * Math.cos(angle);
    return [
      svg("line", {
        x1: 36,
        y1: 36,
        x2: x,
        y2: y,
        stroke: color,
        "stroke-width": dashed ? 2 : 3,
        "stroke-linecap": "round",
        "stroke-dasharray": dashed ? "4 4" : null,
      }),
      svg("circle", { cx: x, cy: y, r: dashed ? 3 : 4.5, fill: color }),
    ];
  }

  function drawClocks() {
    const pairs = view.dims / 2;
    if (buttons.length !== pairs) {
      buttons = Array.from({ length: pairs }, (_, j) => {
        const face = svg("svg", { viewBox: "0 0 72 72", width: 72, "aria-hidden": "true" });
        const button = element(
          "button",
          {
            type: "button",
            onclick: () => {
              view.pair = j;
              draw(true);
            },
          },
          face,
          element("span", {}),
        );
        drag(button, face, j);
        return button;
      });
      clocks.replaceChildren(...buttons);
    }
    buttons.forEach((button, j) => {
      const [face, label] = button.children;
      const omega = frequency(j, view.dims);
      button.setAttribute("aria-pressed", j === view.pair);
      label.textContent = fill(words.turn, { angle: signed(degrees(j), Math.abs(degrees(j)) < 10 ? 2 : 0) });
      button.setAttribute("aria-label", `${label.textContent} · ${fill(words.hand, { j, a: 2 * j, b: 2 * j + 1 })}`);
      face.replaceChildren(
        svg("circle", { cx: 36, cy: 36, r: 32, fill: "var(--w-bg)", stroke: "var(--w-line)", "stroke-width": 1.2 }),
        svg("line", { x1: 36, y1: 4, x2: 36, y2: 9, stroke: "var(--w-line)", "stroke-width": 2 }),
        ...(view.shift ? hand((view.position + view.shift) * omega, "var(--w-output)", true) : []),
        ...hand(view.position * omega, "var(--w-position)", false),
      );
    });
  }

  /** Turning a hand moves the position by as many steps as make that hand turn so far. */
  function drag(button, face, j) {
    let last = null;
    const angle = (event) => {
      const box = face.getBoundingClientRect();
      return Math.atan2(event.clientX - box.left - box.width / 2, -(event.clientY - box.top - box.height / 2));
    };
    let rest = 0;
    button.addEventListener("pointerdown", (event) => {
      last = angle(event);
      rest = view.position;
      button.setPointerCapture(event.pointerId);
    });
    button.addEventListener("pointermove", (event) => {
      if (last === null) return;
      const now = angle(event);
      const turned = Math.atan2(Math.sin(now - last), Math.cos(now - last));
      last = now;
      rest = Math.min(LAST, Math.max(0, rest + turned / frequency(j, view.dims)));
      if (Math.round(rest) !== view.position) {
        view.position = Math.round(rest);
        draw(false);
      }
    });
    const end = () => {
      if (last !== null) {
        last = null;
        draw(true);
      }
    };
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }

  function drawCurve() {
    const omega = frequency(view.pair, view.dims);
    const [left, right, middle, reach] = [34, 330, 92, 66];
    const x = (i) => left + ((right - left) * i) / LAST;
    const path = (f) =>
      Array.from(
        { length: 241 },
        (_, t) => `${t ? "L" : "M"}${x(t / 4).toFixed(1)} ${(middle - reach * f((t / 4) * omega)).toFixed(1)}`,
      ).join("");
    const dot = (i, f, color, r) =>
      i < 0 || i > LAST ? [] : [svg("circle", { cx: x(i), cy: middle - reach * f(i * omega), r, fill: color })];
    const text = (tx, ty, content, color, anchor) =>
      svg("text", { x: tx, y: ty, fill: color, "font-size": 13, "text-anchor": anchor || "start" }, content);
    const to = view.position + view.shift;
    curve.setAttribute("viewBox", "0 0 366 200");
    curve.setAttribute("width", 366);
    curve.replaceChildren(
      text(4, 14, fill(words.hand, { j: view.pair, a: 2 * view.pair, b: 2 * view.pair + 1 }), "var(--w-muted)"),
      ...[1, 0, -1].flatMap((v) => [
        svg("line", {
          x1: left,
          x2: right,
          y1: middle - reach * v,
          y2: middle - reach * v,
          stroke: "var(--w-line)",
          "stroke-width": 0.6,
          "stroke-opacity": 0.6,
        }),
        text(left - 6, middle - reach * v + 4, signed(v, 0), "var(--w-muted)", "end"),
      ]),
      ...[0, 20, 40, 60].map((i) => text(x(i), 180, String(i), "var(--w-muted)", "middle")),
      text(right, 196, words.rows, "var(--w-muted)", "end"),
      svg("line", {
        x1: x(view.position),
        x2: x(view.position),
        y1: middle - reach,
        y2: middle + reach,
        stroke: "var(--w-position)",
        "stroke-width": 1.2,
      }),
      svg("path", { d: path(Math.sin), fill: "none", stroke: "var(--w-position)", "stroke-width": 2.2 }),
      svg("path", {
        d: path(Math.cos),
        fill: "none",
        stroke: "var(--w-position)",
        "stroke-width": 1.8,
        "stroke-dasharray": "5 4",
      }),
      text(right + 4, middle - reach * Math.sin(LAST * omega) + 4, "sin", "var(--w-position)"),
      text(
        right + 4,
        middle -
          reach * Math.cos(LAST * omega) +
          (Math.abs(Math.sin(LAST * omega) - Math.cos(LAST * omega)) < 0.25 ? 16 : 4),
        "cos",
        "var(--w-position)",
      ),
      ...dot(to, Math.sin, "var(--w-output)", 4),
      ...dot(to, Math.cos, "var(--w-output)", 4),
      ...dot(view.position, Math.sin, "var(--w-position)", 5.5),
      ...dot(view.position, Math.cos, "var(--w-position)", 5.5),
    );
  }

  function drawHeat() {
    const d = view.dims;
    const [left, top, wide, high] = [46, 22, 300 / d, 2.5];
    if (table.dims !== d) {
      // up to 1 952 cells: made once for each d, not at every step of a drag
      table = { dims: d, cells: svg("g", {}) };
      for (let i = 0; i <= LAST; i++) {
        encoding(i, d).forEach((value, c) =>
          table.cells.append(
            svg("rect", {
              x: left + c * wide,
              y: top + i * high,
              width: wide + 0.2,
              height: high + 0.2,
              fill: value < 0 ? "var(--w-key)" : "var(--w-query)",
              "fill-opacity": (0.85 * Math.abs(value)).toFixed(3),
            }),
          ),
        );
      }
    }
    const row = (i, color, dash) =>
      i < 0 || i > LAST
        ? []
        : [
            svg("rect", {
              x: left - 2,
              y: top + i * high - 1,
              width: d * wide + 4,
              height: high + 2,
              fill: "none",
              stroke: color,
              "stroke-width": 1.6,
              "stroke-dasharray": dash,
            }),
            svg(
              "text",
              { x: left - 6, y: top + i * high + 5, "text-anchor": "end", "font-size": 13, fill: color },
              String(i),
            ),
          ];
    heat.setAttribute("viewBox", "0 0 352 200");
    heat.setAttribute("width", 352);
    // the cells stay where they are: to put them in again would draw all of them again
    if (heat.childNodes[2] !== table.cells)
      heat.replaceChildren(
        svg(
          "text",
          { x: left, y: 14, "font-size": 13, fill: "var(--w-muted)" },
          `P: ${words.rows} ↓  ${words.columns} →`,
        ),
        svg("rect", { x: left, y: top, width: d * wide, height: (LAST + 1) * high, fill: "var(--w-bg)" }),
        table.cells,
      );
    while (heat.childNodes.length > 3) heat.lastChild.remove();
    heat.append(
      svg("rect", {
        x: left + 2 * view.pair * wide,
        y: top - 1,
        width: 2 * wide,
        height: (LAST + 1) * high + 2,
        fill: "none",
        stroke: "var(--w-text)",
        "stroke-width": 1.2,
      }),
      ...(view.shift && Math.abs(view.shift) > 4
        ? row(view.position + view.shift, "var(--w-output)", "4 3")
        : row(view.position + view.shift, "var(--w-output)", "4 3").slice(0, 1)),
      ...row(view.position, "var(--w-position)", null),
    );
  }

  position.addEventListener("input", () => {
    view.position = Number(position.value);
    draw(true);
  });
  shift.addEventListener("input", () => {
    view.shift = Number(shift.value);
    draw(true);
  });
  dims.addEventListener("change", () => {
    view.dims = Number(dims.value);
    draw(true);
  });
  draw(false);
  return undress;
}

export default { render };
