// Clock explorer: each pair (sin, cos) of a sinusoidal encoding is the hand of a clock, fast ones to the left. Moving
// by δ turns every hand by an angle of its own, the same from wherever one starts.

import { clampInteger } from "./arithmetic.js";
import {
  BASES,
  LAST,
  baseSlider,
  clockButtons,
  compass,
  dial,
  frequency,
  hand,
  mark,
  note,
  ruled,
  short,
  wavelength,
} from "./clocks.js";
import { element, svg } from "./dom.js";
import { choice, frame, slider } from "./frame.js";
import { line, rect, setSize } from "./picture.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill, grouped, signed } from "./text.js";
import { thingsToTry } from "./try-out.js";
import words from "course:words";
import STYLE from "./clocks.css";

const WIDTHS = [4, 8, 16, 32];
const SHADES = 16; // of either sign in the table

/** Row i of the sinusoidal encoding: sine in the even columns, cosine in the odd ones. */
function encoding(i, d, base) {
  return Array.from({ length: d }, (_, c) => (c % 2 ? Math.cos : Math.sin)(i * frequency(Math.floor(c / 2), d, base)));
}

const inner = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);

/** The inner product of two positions so far apart: Σ cos(δ ω_j). */
const alike = (distance, d, base) => inner(encoding(0, d, base), encoding(distance, d, base));

/** The first distance from 2 on at which positions are at least as alike as neighbors are; undefined up to LAST. */
const firstAlike = (d, base) =>
  Array.from({ length: LAST - 1 }, (_, c) => c + 2).find((c) => alike(c, d, base) >= alike(1, d, base));

/** The distance from `from` on at which positions are most alike. */
const mostAlike = (from, d, base) =>
  Array.from({ length: LAST - from + 1 }, (_, c) => c + from).reduce((best, c) =>
    alike(c, d, base) > alike(best, d, base) ? c : best,
  );

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { frequency, wavelength, encoding, inner, alike, firstAlike, mostAlike };

/** The numbers of the answers, for the view at which the explorer begins and for the four dimensions of the third. */
function facts() {
  const angles = Array.from({ length: 8 }, (_, j) => (frequency(j, 16) * 180) / Math.PI);
  const first = firstAlike(4);
  const most = mostAlike(first, 4);
  const turns = (base) => grouped(wavelength(7, 16, base));
  const far = (base) => signed((LAST * frequency(7, 16, base) * 180) / Math.PI, 2);
  return [
    { a: angles[0].toFixed(0), b: angles[1].toFixed(0), c: angles[2].toFixed(0), e: angles[4].toFixed(2) },
    { a: (3 * angles[0]).toFixed(0), b: (3 * angles[1]).toFixed(0), dot: alike(3, 16).toFixed(3) },
    {
      first,
      dot: alike(first, 4).toFixed(3),
      near: alike(1, 4).toFixed(3),
      most,
      top: alike(most, 4).toFixed(3),
      turn: grouped(wavelength(1, 4)),
    },
    { a: turns(10), b: turns(10000), c: turns(500000), last: LAST, slow: far(500000) },
  ];
}

function render({ el }) {
  const view = sharedView(el, "clock", { position: 7, shift: 3, dims: 16, pair: 0, base: 10000 });
  view.dims = WIDTHS.includes(view.dims) ? view.dims : 16;
  view.base = BASES.includes(view.base) ? view.base : 10000;
  view.position = clampInteger(view.position, 0, LAST);
  view.shift = clampInteger(view.shift, -12, 12);
  const set = (name, value) => {
    view[name] = value;
    draw(true);
  };
  const position = slider(words.position, 0, LAST, 1, (place) => {
    moveTo(place);
    draw(true);
  });
  const shift = slider(words.shift, -12, 12, 1, (distance) => {
    seen.positions.clear();
    set("shift", distance);
  });
  const base = baseSlider(words.base, (value) => {
    seen.bases.add(value);
    set("base", value);
  });
  const widths = WIDTHS.map((d) => [d, d]);
  const dims = choice(words.dims, widths, (d) => set("dims", Number(d)));
  const clocks = element("div", { class: "clocks", role: "group", "aria-label": words.columns });
  const heat = svg("svg", { role: "img" });
  const curve = svg("svg", { role: "img" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const looks = element("p", { class: "looks", "aria-live": "polite" });
  const seen = { step: 0, positions: new Set(), bases: new Set() };
  const met = [
    () => Math.abs(seen.step) === 1,
    () => view.shift === 3 && seen.positions.size > 1,
    () => view.dims === 4,
    () => seen.bases.has(10) && seen.bases.has(500000),
  ];
  const tries = thingsToTry(words, facts(), met);
  const { undress } = frame(
    el,
    "d2l-ce",
    STYLE,
    element("div", { class: "controls" }, position.node, shift.node, base.node, dims.node),
    clocks,
    compass("sin", "cos", true, words.direction),
    element("div", { class: "pictures" }, curve, heat),
    said,
    looks,
    element("p", { class: "hint" }, words.hint),
    tries.node,
  );
  let buttons = [];
  let table = {};

  const omega = (j) => frequency(j, view.dims, view.base);
  const degrees = (j) => (view.shift * omega(j) * 180) / Math.PI;

  function draw(share) {
    view.pair = clampInteger(view.pair, 0, view.dims / 2 - 1);
    position.input.value = view.position;
    shift.input.value = view.shift;
    dims.input.value = view.dims;
    base.show(view.base);
    position.shown.textContent = view.position;
    shift.shown.textContent = signed(view.shift, 0);
    drawClocks();
    drawCurve();
    drawHeat();
    const here = encoding(view.position, view.dims, view.base);
    const there = encoding(view.position + view.shift, view.dims, view.base);
    const values = {
      i: view.position,
      to: signed(view.position + view.shift, 0),
      delta: signed(view.shift, 0),
      j: view.pair,
      angle: signed(degrees(view.pair), 1),
      sin: signed(here[2 * view.pair], 3),
      cos: signed(here[2 * view.pair + 1], 3),
      dot: signed(inner(here, there), 3),
      wave: short(wavelength(view.pair, view.dims, view.base)),
    };
    const text = fill(view.position + view.shift < 0 ? words.outside : words.said, values);
    if (said.textContent !== text) said.textContent = text;
    sayWhatLooksAlike();
    seen.positions.add(view.position);
    tries.look();
    if (share) shareView(el, "clock", view);
  }

  function sayWhatLooksAlike() {
    const first = firstAlike(view.dims, view.base);
    const text = fill(first ? words.alike : words.apart, {
      first,
      dot: first && signed(alike(first, view.dims, view.base), 3),
      near: signed(alike(1, view.dims, view.base), 3),
      most: view.dims / 2,
      last: LAST,
    });
    if (looks.textContent !== text) looks.textContent = text;
  }

  const tip = (angle) => [Math.sin(angle), Math.cos(angle)];

  function drawClocks() {
    const pairs = view.dims / 2;
    if (buttons.length !== pairs) {
      buttons = clockButtons(clocks, pairs, (j) => set("pair", j));
      buttons.forEach((button, j) => drag(button, button.firstChild, j));
    }
    buttons.forEach((button, j) => {
      const [face, label] = button.children;
      const turn = fill(words.turn, { angle: signed(degrees(j), Math.abs(degrees(j)) < 10 ? 2 : 0) });
      const wave = fill(words.wave, { wave: short(wavelength(j, view.dims, view.base)) });
      button.setAttribute("aria-pressed", j === view.pair);
      label.textContent = `${turn}\n${wave}`;
      const pair = fill(words.hand, { j, a: 2 * j, b: 2 * j + 1 });
      button.setAttribute("aria-label", `${turn} ${wave} · ${pair}`);
      face.replaceChildren(
        ...dial(),
        line(36, 4, 36, 9, { stroke: "var(--w-line)", "stroke-width": 2 }),
        ...(view.shift ? hand(tip((view.position + view.shift) * omega(j)), "var(--w-output)", true) : []),
        ...hand(tip(view.position * omega(j)), "var(--w-position)", false),
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
    button.style.touchAction = "none"; // or a finger would scroll the page instead
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
      rest = Math.min(LAST, Math.max(0, rest + turned / omega(j)));
      if (Math.round(rest) !== view.position) {
        moveTo(Math.round(rest));
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
    const speed = omega(view.pair);
    const name = fill(words.hand, { j: view.pair, a: 2 * view.pair, b: 2 * view.pair + 1 });
    const [left, right, middle, reach] = [34, 330, 92, 66];
    const x = (i) => left + ((right - left) * i) / LAST;
    const path = (f) =>
      Array.from(
        { length: 241 },
        (_, t) => `${t ? "L" : "M"}${x(t / 4).toFixed(1)} ${(middle - reach * f((t / 4) * speed)).toFixed(1)}`,
      ).join("");
    const dot = (i, f, color, r) =>
      i < 0 || i > LAST ? [] : [svg("circle", { cx: x(i), cy: middle - reach * f(i * speed), r, fill: color })];
    const to = view.position + view.shift;
    setSize(curve, 366, 200, name);
    const wave = { fill: "none", stroke: "var(--w-position)" };
    const [last, other] = [Math.sin(LAST * speed), Math.cos(LAST * speed)];
    curve.replaceChildren(
      note(4, 14, name, "var(--w-muted)"),
      ...[1, 0, -1].flatMap((v) => ruled(left, right, middle - reach * v, signed(v, 0))),
      ...[0, 20, 40, 60].map((i) => note(x(i), 180, i, "var(--w-muted)", "middle")),
      note(right, 196, words.rows, "var(--w-muted)", "end"),
      mark(x(view.position), middle - reach, middle + reach),
      svg("path", { d: path(Math.sin), "stroke-width": 2.2, ...wave }),
      svg("path", { d: path(Math.cos), "stroke-width": 1.8, "stroke-dasharray": "5 4", ...wave }),
      note(right + 4, middle - reach * last + 4, "sin", "var(--w-position)"),
      note(right + 4, middle - reach * other + (Math.abs(last - other) < 0.25 ? 16 : 4), "cos", "var(--w-position)"),
      ...dot(to, Math.sin, "var(--w-output)", 4),
      ...dot(to, Math.cos, "var(--w-output)", 4),
      ...dot(view.position, Math.sin, "var(--w-position)", 5.5),
      ...dot(view.position, Math.cos, "var(--w-position)", 5.5),
    );
  }

  function drawHeat() {
    const d = view.dims;
    const [left, top, wide, high] = [46, 22, 300 / d, 2.5];
    if (table.dims !== d || table.base !== view.base) {
      // up to 1 952 cells in 32 colors, one path each: made once for each d and base, not at every step of a drag
      const paths = new Map();
      for (let i = 0; i <= LAST; i++)
        encoding(i, d, view.base).forEach((value, c) => {
          const shade = Math.round(SHADES * value);
          const cell = `M${left + c * wide} ${top + i * high}h${wide + 0.2}v${high + 0.2}h${-wide - 0.2}z`;
          if (shade) paths.set(shade, (paths.get(shade) ?? "") + cell);
        });
      const drawn = [...paths].map(([shade, cells]) =>
        svg("path", {
          d: cells,
          fill: shade < 0 ? "var(--w-key)" : "var(--w-query)",
          "fill-opacity": ((0.85 * Math.abs(shade)) / SHADES).toFixed(3),
        }),
      );
      table = { dims: d, base: view.base, cells: svg("g", {}, drawn) };
    }
    const row = (i, color, dash) =>
      i < 0 || i > LAST
        ? []
        : [
            rect(left - 2, top + i * high - 1, d * wide + 4, high + 2, {
              fill: "none",
              stroke: color,
              "stroke-width": 1.6,
              "stroke-dasharray": dash,
            }),
            note(left - 6, top + i * high + 5, i, color, "end"),
          ];
    setSize(heat, 352, 200, `P: ${words.rows} × ${words.columns}`);
    // the cells stay where they are: to put them in again would draw all of them again
    if (heat.childNodes[2] !== table.cells)
      heat.replaceChildren(
        note(left, 14, `P: ${words.rows} ↓  ${words.columns} →`, "var(--w-muted)"),
        rect(left, top, d * wide, (LAST + 1) * high, { fill: "var(--w-bg)" }),
        table.cells,
      );
    while (heat.childNodes.length > 3) heat.lastChild.remove();
    const pair = { fill: "none", stroke: "var(--w-text)", "stroke-width": 1.2 };
    const there = row(view.position + view.shift, "var(--w-output)", "4 3");
    heat.append(
      rect(left + 2 * view.pair * wide, top - 1, 2 * wide, (LAST + 1) * high + 2, pair),
      ...(Math.abs(view.shift) > 4 ? there : there.slice(0, 1)),
      ...row(view.position, "var(--w-position)", null),
    );
  }

  function moveTo(place) {
    seen.step = place - view.position;
    view.position = place;
  }

  draw(false);
  return undress;
}

export default { render };
