// The first drawing of the course: its tokens can be dragged, and the output for the first of them follows.

import { element, svg } from "course:dom";
import { spread } from "course:spread";
import { fill } from "course:text";
import { adopt } from "./page.js";
import words from "course:words";
import STYLE from "./drag.css";

const [LEFT, TOP, UNIT] = [310, 212, 150]; // of the drawing: its origin, and the length of a token
const MOST = 1.1; // how far from the axes a token may go; below, there is less room
const ROOM = 24.5; // pixels that each handle has for itself
const APART = 6; // pixels: a finger that has moved so far does not tap
const MOVES = { ArrowRight: [0.05, 0], ArrowLeft: [-0.05, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] };

const onPaper = ([x, y]) => [LEFT + x * UNIT, TOP - y * UNIT];
const put = (node, values) => Object.entries(values).forEach(([name, value]) => node.setAttribute(name, value));
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** The average of points, as scaled by the exponential of their products with the first, and those weights. */
export function attend(points) {
  const powers = points.map(([x, y]) => Math.exp(x * points[0][0] + y * points[0][1]));
  const sum = powers.reduce((a, b) => a + b, 0);
  const weights = powers.map((power) => power / sum);
  const output = [0, 1].map((axis) => weights.reduce((all, weight, i) => all + weight * points[i][axis], 0));
  return { weights, output };
}

/** The corners of a fence around points: from each to the one that has all others on its left. */
function fence(points) {
  const left = ([ax, ay], [bx, by]) => ([cx, cy]) => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) >= 0;
  const start = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])[0];
  const found = [start];
  const same = (a, b) => a[0] === b[0] && a[1] === b[1];
  while (found.length <= points.length) {
    const here = found.at(-1);
    const next = points.find((one) => !same(one, here) && points.every(left(here, one)));
    if (!next || same(next, start)) break;
    found.push(next);
  }
  return found;
}

/** Let the tokens of a drawing be moved, by hand or by arrow keys. */
export function loosen(drawing) {
  adopt(STYLE);
  const parts = (name) => [...drawing.querySelectorAll(`[data-drag="${name}"]`)];
  const [tokens, names, [edge], [output]] = ["token", "name", "fence", "output"].map(parts);
  const end = (line) => ["x2", "y2"].map((name) => Number(line.getAttribute(name)));
  const points = tokens.map(end).map(([x, y]) => [(x - LEFT) / UNIT, (TOP - y) / UNIT]);
  const [begun, first] = [structuredClone(points), attend(points).output];
  const lines = points.map(() => svg("line", { stroke: "var(--d2l-output)", "stroke-opacity": 0.6 }));
  output.before(...lines);
  const handles = names.map((name, i) => makeHandle(name.textContent, i));
  const figure = drawing.parentElement;
  figure.classList.add("loose");
  figure.append(...handles);
  figure.after(element("p", { class: "drag-hint" }, fill(words.hint, { name: names[0].textContent })));

  function makeHandle(name, i) {
    const handle = element("div", { class: "handle", role: "slider", tabindex: 0, "aria-label": name });
    let grip = null;
    const follow = (event) => {
      grip.follows = true;
      handle.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
    };
    handle.addEventListener("keydown", (event) => {
      const by = MOVES[event.key];
      if (!by) return;
      event.preventDefault();
      move(i, [points[i][0] + by[0], points[i][1] + by[1]]);
    });
    handle.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      event.preventDefault();
      grip = { at: [event.clientX, event.clientY], from: points[i] };
      if (event.pointerType !== "touch" || handle.matches(":focus")) follow(event);
    });
    handle.addEventListener("pointermove", (event) => {
      if (!grip) return;
      const [x, y] = [event.clientX - grip.at[0], event.clientY - grip.at[1]];
      if (!grip.follows && Math.hypot(x, y) > APART) {
        if (Math.abs(y) > Math.abs(x)) return (grip = null); // the page scrolls
        follow(event);
      }
      const pixels = UNIT * drawing.getScreenCTM().a;
      if (grip.follows) move(i, [grip.from[0] + x / pixels, grip.from[1] - y / pixels]);
    });
    handle.addEventListener("pointerup", () => {
      if (grip) handle.focus({ preventScroll: true }); // a finger chooses by a tap
      grip = null;
    });
    handle.addEventListener("pointercancel", () => (grip = null));
    handle.addEventListener("click", (event) => event.stopPropagation()); // the figure does not open
    return handle;
  }

  function move(i, [x, y]) {
    points[i] = [clamp(x, -MOST, MOST), clamp(y, -0.85, MOST)];
    draw();
  }

  function draw() {
    const { weights, output: now } = attend(points);
    const [ox, oy] = onPaper(now);
    const [box, around] = [drawing, figure].map((node) => node.getBoundingClientRect());
    const { a: scale } = drawing.getScreenCTM();
    const zoom = around.width / figure.offsetWidth; // on slides
    const [left, top] = [box.left - around.left, box.top - around.top];
    const inside = ([x, y]) => [(left + x * scale) / zoom + figure.scrollLeft, (top + y * scale) / zoom];
    const places = spread(points.map(onPaper).map(inside), ROOM);
    points.forEach((point, i) => {
      const [x, y] = onPaper(point);
      const shift = onPaper(begun[i]);
      put(tokens[i], { x2: x, y2: y });
      put(names[i], { transform: `translate(${x - shift[0]} ${y - shift[1]})` });
      put(lines[i], { x1: ox, y1: oy, x2: x, y2: y, "stroke-width": 8 * weights[i] });
      [handles[i].style.left, handles[i].style.top] = places[i].map((pixels) => `${pixels}px`);
      const [px, py, a, b] = [...point, ...now].map((value) => value.toFixed(2));
      const told = fill(words.at, { name: names[i].textContent, x: px, y: py, a, b });
      put(handles[i], { "aria-valuenow": px, "aria-valuemin": -MOST, "aria-valuemax": MOST, "aria-valuetext": told });
    });
    edge.setAttribute("points", fence(points).map((point) => onPaper(point).join(",")).join(" "));
    const [fx, fy] = onPaper(first);
    output.setAttribute("transform", `translate(${ox - fx} ${oy - fy})`);
  }

  new ResizeObserver(draw).observe(drawing);
}
