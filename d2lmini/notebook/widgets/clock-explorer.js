// Clock explorer: each pair (sin, cos) of a sinusoidal encoding is the hand of a clock, fast ones to the left. Moving by δ
// turns every hand by an angle of its own, the same from wherever one starts.

const WORDS = {
  en: {
    title: "Clock explorer", position: "Position i", shift: "Offset δ", dims: "Dimensions d", turn: "turns {angle}°", hand: "Pair {j}: dimensions {a} and {b}",
    hint: "Drag a hand, or use the sliders. Solid hand: position i. Dashed hand: position i + δ. Press a clock to follow its curve.",
    said: "Position {i}, offset {delta}. Pair {j} points at ({sin}, {cos}) and turns by {angle} degrees. The inner product of positions {i} and {to} is {dot}, as for any two positions {delta} apart.",
    rows: "positions", columns: "dimensions", outside: "Position {to} would be negative: the first position is 0.",
  },
  vi: {
    title: "Khám phá bằng đồng hồ", position: "Vị trí i", shift: "Độ lệch δ", dims: "Số chiều d", turn: "quay {angle}°", hand: "Cặp {j}: chiều {a} và {b}",
    hint: "Kéo một kim, hoặc dùng thanh trượt. Kim liền: vị trí i. Kim đứt: vị trí i + δ. Bấm vào một đồng hồ để theo dõi đường cong của nó.",
    said: "Vị trí {i}, độ lệch {delta}. Cặp {j} chỉ vào ({sin}, {cos}) và quay {angle} độ. Tích vô hướng của hai vị trí {i} và {to} là {dot}, cũng như của mọi cặp vị trí cách nhau {delta}.",
    rows: "vị trí", columns: "chiều", outside: "Vị trí {to} sẽ âm: vị trí đầu tiên là 0.",
  },
  zh: {
    title: "时钟探索器", position: "位置 i", shift: "偏移 δ", dims: "维数 d", turn: "转 {angle}°", hand: "第 {j} 对：维度 {a} 和 {b}",
    hint: "拖动指针，或使用滑块。实线指针：位置 i；虚线指针：位置 i + δ。点一个钟面，就能跟踪它的曲线。",
    said: "位置 {i}，偏移 {delta}。第 {j} 对指向 ({sin}, {cos})，转动 {angle} 度。位置 {i} 与 {to} 的内积是 {dot}，凡是相距 {delta} 的两个位置都如此。",
    rows: "位置", columns: "维度", outside: "位置 {to} 会是负数：第一个位置是 0。",
  },
};

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

const STYLE = `
.d2l-ce { font: inherit; color: var(--w-text); line-height: 1.45; }
.d2l-ce .controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(12em, 1fr)); gap: .5em 1.2em; margin-bottom: .8em; }
.d2l-ce label { display: block; font-size: .9em; color: var(--w-muted); }
.d2l-ce output { color: var(--w-text); font-variant-numeric: tabular-nums; }
.d2l-ce input[type=range] { width: 100%; accent-color: var(--w-accent); min-height: 2.2em; margin: 0; }
.d2l-ce select { display: block; width: 100%; font: inherit; color: var(--w-text); background: var(--w-bg); border: 1px solid var(--w-line); border-radius: 6px; padding: .35em .5em; min-height: 2.4em; }
.d2l-ce .clocks { display: grid; grid-template-columns: repeat(auto-fill, minmax(76px, 1fr)); gap: .4em; }
.d2l-ce .clocks button { font: inherit; font-size: .82em; color: var(--w-muted); background: none; border: 0; border-radius: 8px; padding: .3em 0; cursor: pointer; touch-action: none; }
.d2l-ce .clocks button[aria-pressed=true] { background: var(--w-surface); color: var(--w-text); font-weight: 600; }
.d2l-ce .clocks svg { pointer-events: none; } /* redrawn while pressed: the button itself must stay the target */
.d2l-ce .clocks span { display: block; font-variant-numeric: tabular-nums; white-space: nowrap; }
.d2l-ce :focus-visible { outline: 2px solid var(--w-accent); outline-offset: 2px; border-radius: 4px; }
.d2l-ce svg { display: block; max-width: 100%; margin: auto; }
.d2l-ce .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(260px, 100%), 1fr)); gap: 1em; margin-top: .8em; align-items: start; }
.d2l-ce .said, .d2l-ce .hint { margin: .7em 0 0; font-size: .93em; }
.d2l-ce .hint { color: var(--w-muted); }
`;

function render({ model, el }) {
  const words = WORDS[model.get("state").lang] || WORDS.en;
  const view = sharedView(el, "clock", { position: 7, shift: 3, dims: 16, pair: 0 });
  const clamp = (value, low, high) => Math.min(high, Math.max(low, Math.round(value) || 0));
  view.dims = WIDTHS.includes(view.dims) ? view.dims : 16;
  view.position = clamp(view.position, 0, LAST);
  view.shift = clamp(view.shift, -12, 12);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const fresh = () => `d2l-ce-${Math.random().toString(36).slice(2, 8)}`;
  const slider = (min, max) => h("input", { type: "range", id: fresh(), min, max, step: 1 });
  const position = slider(0, LAST);
  const shift = slider(-12, 12);
  const dims = h("select", { id: fresh() }, WIDTHS.map((d) => h("option", { value: d }, String(d))));
  const shown = { position: h("output", {}), shift: h("output", {}) };
  const clocks = h("div", { class: "clocks", role: "group", "aria-label": words.columns });
  const heat = s("svg", { role: "img" });
  const curve = s("svg", { role: "img" });
  const said = h("p", { class: "said", "aria-live": "polite" });
  const root = h("div", { class: "d2l-ce", role: "group", "aria-label": words.title },
    h("div", { class: "controls" },
      h("div", {}, h("label", { for: position.id }, words.position, " = ", shown.position), position),
      h("div", {}, h("label", { for: shift.id }, words.shift, " = ", shown.shift), shift),
      h("div", {}, h("label", { for: dims.id }, words.dims), dims)),
    clocks, h("div", { class: "pictures" }, curve, heat), said, h("p", { class: "hint" }, words.hint));
  el.append(root);
  const undress = dress(el, root, "clock-explorer", STYLE);
  let buttons = [];
  let table = {};

  const degrees = (j) => (view.shift * frequency(j, view.dims) * 180) / Math.PI;
  const signed = (value, digits) => value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");

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
    const values = { i: view.position, to: signed(view.position + view.shift, 0), delta: signed(view.shift, 0), j: view.pair, angle: signed(degrees(view.pair), 1),
      sin: signed(here[2 * view.pair], 3), cos: signed(here[2 * view.pair + 1], 3), dot: inner(here, there).toFixed(3) };
    const text = fill(view.position + view.shift < 0 ? words.outside : words.said, values);
    if (said.textContent !== text) said.textContent = text;
    curve.setAttribute("aria-label", fill(words.hand, { j: view.pair, a: 2 * view.pair, b: 2 * view.pair + 1 }));
    heat.setAttribute("aria-label", `P: ${words.rows} × ${words.columns}`);
    if (share) shareView(el, "clock", view);
  }

  function hand(angle, color, dashed) {
    const x = 36 + 27 * Math.sin(angle);
    const y = 36 - 27 * Math.cos(angle);
    return [s("line", { x1: 36, y1: 36, x2: x, y2: y, stroke: color, "stroke-width": dashed ? 2 : 3, "stroke-linecap": "round", "stroke-dasharray": dashed ? "4 4" : null }),
      s("circle", { cx: x, cy: y, r: dashed ? 3 : 4.5, fill: color })];
  }

  function drawClocks() {
    const pairs = view.dims / 2;
    if (buttons.length !== pairs) {
      buttons = Array.from({ length: pairs }, (_, j) => {
        const face = s("svg", { viewBox: "0 0 72 72", width: 72, "aria-hidden": "true" });
        const button = h("button", { type: "button", onclick: () => { view.pair = j; draw(true); } }, face, h("span", {}));
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
      face.replaceChildren(s("circle", { cx: 36, cy: 36, r: 32, fill: "var(--w-bg)", stroke: "var(--w-line)", "stroke-width": 1.2 }),
        s("line", { x1: 36, y1: 4, x2: 36, y2: 9, stroke: "var(--w-line)", "stroke-width": 2 }),
        ...(view.shift ? hand((view.position + view.shift) * omega, "var(--w-output)", true) : []), ...hand(view.position * omega, "var(--w-position)", false));
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
    button.addEventListener("pointerdown", (event) => { last = angle(event); rest = view.position; button.setPointerCapture(event.pointerId); });
    button.addEventListener("pointermove", (event) => {
      if (last === null) return;
      const now = angle(event);
      const turned = Math.atan2(Math.sin(now - last), Math.cos(now - last));
      last = now;
      rest = Math.min(LAST, Math.max(0, rest + turned / frequency(j, view.dims)));
      if (Math.round(rest) !== view.position) { view.position = Math.round(rest); draw(false); }
    });
    const end = () => { if (last !== null) { last = null; draw(true); } };
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }

  function drawCurve() {
    const omega = frequency(view.pair, view.dims);
    const [left, right, middle, reach] = [34, 330, 92, 66];
    const x = (i) => left + ((right - left) * i) / LAST;
    const path = (f) => Array.from({ length: 241 }, (_, t) => `${t ? "L" : "M"}${x(t / 4).toFixed(1)} ${(middle - reach * f((t / 4) * omega)).toFixed(1)}`).join("");
    const dot = (i, f, color, r) => (i < 0 || i > LAST ? [] : [s("circle", { cx: x(i), cy: middle - reach * f(i * omega), r, fill: color })]);
    const text = (tx, ty, content, color, anchor) => s("text", { x: tx, y: ty, fill: color, "font-size": 13, "text-anchor": anchor || "start" }, content);
    const to = view.position + view.shift;
    curve.setAttribute("viewBox", "0 0 366 200");
    curve.setAttribute("width", 366);
    curve.replaceChildren(
      text(4, 14, fill(words.hand, { j: view.pair, a: 2 * view.pair, b: 2 * view.pair + 1 }), "var(--w-muted)"),
      ...[1, 0, -1].flatMap((v) => [s("line", { x1: left, x2: right, y1: middle - reach * v, y2: middle - reach * v, stroke: "var(--w-line)", "stroke-width": 0.6, "stroke-opacity": 0.6 }),
        text(left - 6, middle - reach * v + 4, signed(v, 0), "var(--w-muted)", "end")]),
      ...[0, 20, 40, 60].map((i) => text(x(i), 180, String(i), "var(--w-muted)", "middle")), text(right, 196, words.rows, "var(--w-muted)", "end"),
      s("line", { x1: x(view.position), x2: x(view.position), y1: middle - reach, y2: middle + reach, stroke: "var(--w-position)", "stroke-width": 1.2 }),
      s("path", { d: path(Math.sin), fill: "none", stroke: "var(--w-position)", "stroke-width": 2.2 }),
      s("path", { d: path(Math.cos), fill: "none", stroke: "var(--w-position)", "stroke-width": 1.8, "stroke-dasharray": "5 4" }),
      text(right + 4, middle - reach * Math.sin(LAST * omega) + 4, "sin", "var(--w-position)"),
      text(right + 4, middle - reach * Math.cos(LAST * omega) + (Math.abs(Math.sin(LAST * omega) - Math.cos(LAST * omega)) < 0.25 ? 16 : 4), "cos", "var(--w-position)"),
      ...dot(to, Math.sin, "var(--w-output)", 4), ...dot(to, Math.cos, "var(--w-output)", 4),
      ...dot(view.position, Math.sin, "var(--w-position)", 5.5), ...dot(view.position, Math.cos, "var(--w-position)", 5.5));
  }

  function drawHeat() {
    const d = view.dims;
    const [left, top, wide, high] = [46, 22, 300 / d, 2.5];
    if (table.dims !== d) {
      // up to 1 952 cells: made once for each d, not at every step of a drag
      table = { dims: d, cells: s("g", {}) };
      for (let i = 0; i <= LAST; i++) {
        encoding(i, d).forEach((value, c) => table.cells.append(s("rect", { x: left + c * wide, y: top + i * high, width: wide + 0.2, height: high + 0.2,
          fill: value < 0 ? "var(--w-key)" : "var(--w-query)", "fill-opacity": (0.85 * Math.abs(value)).toFixed(3) })));
      }
    }
    const row = (i, color, dash) => (i < 0 || i > LAST ? [] : [s("rect", { x: left - 2, y: top + i * high - 1, width: d * wide + 4, height: high + 2, fill: "none", stroke: color, "stroke-width": 1.6, "stroke-dasharray": dash }),
      s("text", { x: left - 6, y: top + i * high + 5, "text-anchor": "end", "font-size": 13, fill: color }, String(i))]);
    heat.setAttribute("viewBox", "0 0 352 200");
    heat.setAttribute("width", 352);
    // the cells stay where they are: to put them in again would draw all of them again
    if (heat.childNodes[2] !== table.cells)
      heat.replaceChildren(s("text", { x: left, y: 14, "font-size": 13, fill: "var(--w-muted)" }, `P: ${words.rows} ↓  ${words.columns} →`),
        s("rect", { x: left, y: top, width: d * wide, height: (LAST + 1) * high, fill: "var(--w-bg)" }), table.cells);
    while (heat.childNodes.length > 3) heat.lastChild.remove();
    heat.append(
      s("rect", { x: left + 2 * view.pair * wide, y: top - 1, width: 2 * wide, height: (LAST + 1) * high + 2, fill: "none", stroke: "var(--w-text)", "stroke-width": 1.2 }),
      ...(view.shift && Math.abs(view.shift) > 4 ? row(view.position + view.shift, "var(--w-output)", "4 3") : row(view.position + view.shift, "var(--w-output)", "4 3").slice(0, 1)),
      ...row(view.position, "var(--w-position)", null));
  }

  position.addEventListener("input", () => { view.position = Number(position.value); draw(true); });
  shift.addEventListener("input", () => { view.shift = Number(shift.value); draw(true); });
  dims.addEventListener("change", () => { view.dims = Number(dims.value); draw(true); });
  draw(false);
  return undress;
}

export default { render };
