// Path explorer: choose an input and an output, see the shortest path between them in a CNN, an RNN and self-attention;
// then move n, d and k and see which of the three is cheapest, and by which way of counting.

const WORDS = {
  en: {
    title: "Path explorer", from: "Input", to: "Output", edges: ["{e} edge", "{e} edges"], none: "no path",
    names: ["Convolution", "Recurrent", "Self-attention"], n: "Tokens n", d: "Width d", k: "Kernel k", counting: "Arithmetic counted",
    conventions: { order: "by the orders in O(): k n d², n d², n² d", mixing: "exactly, mixing only: k n d², 2 n d², 2 n² d", projections: "exactly, with attention's projections: + 4 n d²" },
    columns: ["Layer", "Multiply-adds", "Sequential steps", "Longest path"], cheapest: "cheapest",
    hint: "Press a token at the bottom, then one at the top, or use the sliders. The picture has seven tokens; the table has n.",
    said: "From input {a} to output {b}: convolution {c}, recurrent {r}, self-attention {s}.", layers: ["{l} layer", "{l} layers"],
    costs: "With n = {n}, d = {d}, k = {k}, the least arithmetic: {who}.",
  },
  vi: {
    title: "Khám phá đường đi", from: "Đầu vào", to: "Đầu ra", edges: ["{e} cạnh", "{e} cạnh"], none: "không có đường",
    names: ["Tích chập", "Hồi tiếp", "Tự chú ý"], n: "Số token n", d: "Bề rộng d", k: "Bộ lọc k", counting: "Cách đếm phép tính",
    conventions: { order: "theo bậc trong O(): k n d², n d², n² d", mixing: "chính xác, chỉ phần trộn: k n d², 2 n d², 2 n² d", projections: "chính xác, kể cả các phép chiếu của chú ý: + 4 n d²" },
    columns: ["Tầng", "Phép nhân-cộng", "Bước tuần tự", "Đường dài nhất"], cheapest: "rẻ nhất",
    hint: "Bấm một token ở hàng dưới rồi một token ở hàng trên, hoặc dùng thanh trượt. Hình có bảy token; bảng có n token.",
    said: "Từ đầu vào {a} đến đầu ra {b}: tích chập {c}, hồi tiếp {r}, tự chú ý {s}.", layers: ["{l} tầng", "{l} tầng"],
    costs: "Với n = {n}, d = {d}, k = {k}, ít phép tính nhất: {who}.",
  },
  zh: {
    title: "路径探索器", from: "输入", to: "输出", edges: ["{e} 条边", "{e} 条边"], none: "没有路径",
    names: ["卷积", "循环", "自注意力"], n: "词元数 n", d: "宽度 d", k: "卷积核 k", counting: "计算量的数法",
    conventions: { order: "按 O() 的量级：k n d²、n d²、n² d", mixing: "精确，只数混合：k n d²、2 n d²、2 n² d", projections: "精确，含注意力的投影：+ 4 n d²" },
    columns: ["层", "乘加次数", "顺序步数", "最长路径"], cheapest: "最省",
    hint: "先点下面一行的词元，再点上面一行的，或者用滑块。图中有七个词元，表中有 n 个。",
    said: "从输入 {a} 到输出 {b}：卷积 {c}，循环 {r}，自注意力 {s}。", layers: ["{l} 层", "{l} 层"],
    costs: "n = {n}、d = {d}、k = {k} 时，计算量最少的是：{who}。",
  },
};

const KINDS = ["convolution", "recurrent", "attention"];
const TOKENS = 7;
const COLOR = { convolution: "cnn", recurrent: "rnn", attention: "attention" };
const DASH = { convolution: "1.5 5", recurrent: "7 4", attention: null };

/** Nodes [level, position] of a shortest path from input a to output b (from 1), or null where there is none. */
function shortestPath(kind, a, b, k) {
  if (kind === "attention") return [[0, a], [1, b]];
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

const STYLE = `
.d2l-pe { font: inherit; color: var(--w-text); line-height: 1.45; }
.d2l-pe .controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(11em, 1fr)); gap: .4em 1.2em; margin: .4em 0 .8em; }
.d2l-pe label { display: block; font-size: .9em; color: var(--w-muted); }
.d2l-pe output { color: var(--w-text); font-variant-numeric: tabular-nums; }
.d2l-pe input { width: 100%; accent-color: var(--w-accent); min-height: 2.2em; margin: 0; }
.d2l-pe select { display: block; width: 100%; font: inherit; color: var(--w-text); background: var(--w-bg); border: 1px solid var(--w-line); border-radius: 6px; padding: .35em .5em; min-height: 2.4em; }
.d2l-pe .wide { grid-column: 1 / -1; }
.d2l-pe .panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: .8em; align-items: end; }
.d2l-pe figure { margin: 0; text-align: center; }
.d2l-pe figcaption { font-size: .92em; margin-top: .3em; font-variant-numeric: tabular-nums; }
.d2l-pe svg { display: block; width: 100%; max-width: 300px; margin: auto; }
.d2l-pe .node { cursor: pointer; }
.d2l-pe .scroll { overflow-x: auto; }
.d2l-pe table { border-collapse: collapse; width: 100%; font-size: .93em; font-variant-numeric: tabular-nums; margin: 0; }
.d2l-pe th, .d2l-pe td { text-align: right; padding: .35em .6em; border-bottom: 1px solid var(--w-line); font-weight: 400; }
.d2l-pe th:first-child { text-align: left; }
.d2l-pe thead th { color: var(--w-muted); font-size: .92em; }
.d2l-pe td.best { font-weight: 650; }
.d2l-pe td small { display: block; font-size: .8em; color: var(--w-good); font-weight: 600; }
.d2l-pe :focus-visible { outline: 2px solid var(--w-accent); outline-offset: 2px; border-radius: 4px; }
.d2l-pe .said, .d2l-pe .hint { margin: .7em 0 .3em; font-size: .93em; }
.d2l-pe .hint { color: var(--w-muted); }
`;

function render({ model, el }) {
  const words = WORDS[model.get("state").lang] || WORDS.en;
  const view = sharedView(el, "path", { from: 1, to: 5, n: 32, d: 64, k: 3, counting: "projections" });
  const clamp = (value, low, high) => Math.min(high, Math.max(low, Math.round(value) || low));
  const power = (value, low, high) => 2 ** clamp(Math.log2(value), low, high);
  view.from = clamp(view.from, 1, TOKENS);
  view.to = clamp(view.to, 1, TOKENS);
  view.n = power(view.n, 2, 16);
  view.d = power(view.d, 3, 11);
  view.k = [3, 5, 7].includes(view.k) ? view.k : 3;
  if (!Object.hasOwn(words.conventions, view.counting)) view.counting = "projections";

  const fresh = () => `d2l-pe-${Math.random().toString(36).slice(2, 8)}`;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const plural = (forms, name, value) => fill(forms[value === 1 ? 0 : 1], { [name]: value });
  // name: [least, greatest, step, from value to slider, and back]
  const exponent = [(value) => Math.log2(value), (place) => 2 ** place];
  const same = [(value) => value, (place) => place];
  const SLIDERS = { from: [1, TOKENS, 1, ...same], to: [1, TOKENS, 1, ...same], n: [2, 16, 1, ...exponent], d: [3, 11, 1, ...exponent], k: [3, 7, 2, ...same] };
  const sliders = {};
  const fields = Object.entries(SLIDERS).map(([name, [min, max, step, , back]]) => {
    const input = h("input", { type: "range", id: fresh(), min, max, step, oninput: () => { view[name] = back(Number(input.value)); draw(true); } });
    const shown = h("output", { for: input.id });
    sliders[name] = { input, shown };
    return [name, h("div", {}, h("label", { for: input.id }, words[name], " = ", shown), input)];
  });
  const field = Object.fromEntries(fields);
  const counting = h("select", { id: fresh(), onchange: () => { view.counting = counting.value; draw(true); } },
    Object.entries(words.conventions).map(([name, text]) => h("option", { value: name }, text)));
  counting.value = view.counting;
  const panels = KINDS.map(() => ({ picture: s("svg", { role: "img" }), caption: h("figcaption", {}) }));
  const body = h("tbody", {});
  const said = h("p", { class: "said", "aria-live": "polite" });
  const verdict = h("p", { class: "said", "aria-live": "polite" });
  const root = h("div", { class: "d2l-pe", role: "group", "aria-label": words.title },
    h("div", { class: "controls" }, field.from, field.to, field.k),
    h("div", { class: "panels" }, panels.map(({ picture, caption }) => h("figure", {}, picture, caption))), said,
    h("div", { class: "controls" }, field.n, field.d, h("div", { class: "wide" }, h("label", { for: counting.id }, words.counting), counting)),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words.counting },
      h("table", {}, h("thead", {}, h("tr", {}, words.columns.map((name) => h("th", { scope: "col" }, name)))), body)),
    verdict, h("p", { class: "hint" }, words.hint));
  el.append(root);
  const undress = dress(el, root, "path-explorer", STYLE);

  function draw(share) {
    for (const [name, { input, shown }] of Object.entries(sliders)) {
      input.value = SLIDERS[name][3](view[name]);
      shown.textContent = view[name].toLocaleString("en").replaceAll(",", " ");
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
    const onPath = (a, b) => path && path.some((node, t) => t && String(path[t - 1]) === String(a) && String(node) === String(b));
    const lines = [];
    const edge = (a, b) => {
      const lit = onPath(a, b);
      lines.push([lit, s("line", { x1: x(a[1]), y1: y(a[0]), x2: x(b[1]), y2: y(b[0]), stroke: lit ? color : "var(--w-line)", "stroke-width": lit ? 4 : 1, "stroke-opacity": lit ? 1 : 0.45, "stroke-dasharray": lit ? DASH[kind] : null, "stroke-linecap": "round" })]);
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
        const pick = level === 0 ? () => { view.from = position; draw(true); } : () => { view.to = position; draw(true); };
        nodes.push(s("circle", { class: "node", cx: x(position), cy: y(level), r: lit ? 8 : 6, fill: lit ? color : "var(--w-bg)", stroke: lit ? color : "var(--w-line)", "stroke-width": 1.6, onclick: pick }));
        if (level === 0) nodes.push(s("text", { x: x(position), y: y(0) + 24, "text-anchor": "middle", "font-size": 13, fill: position === view.from ? "var(--w-text)" : "var(--w-muted)", "font-weight": position === view.from ? 700 : 400 }, String(position)));
        if (level === levels && position === view.to) nodes.push(s("text", { x: x(position), y: y(level) - 13, "text-anchor": "middle", "font-size": 13, "font-weight": 700, fill: "var(--w-text)" }, String(position)));
      }
    const length = path ? plural(words.edges, "e", path.length - 1) : words.none;
    picture.setAttribute("viewBox", `0 0 236 ${height}`);
    picture.setAttribute("aria-label", `${name}: ${length}`);
    picture.replaceChildren(...lines.map(([, line]) => line), ...nodes);
    caption.replaceChildren(h("strong", { style: `color: ${color}` }, name), ` · ${length}${kind === "convolution" ? ` · ${plural(words.layers, "l", path.length - 1)}` : ""}`);
    return length;
  }

  function drawTable() {
    const arithmeticCosts = multiplyAdds(view.n, view.d, view.k, view.counting);
    const rows = KINDS.map((kind) => [arithmeticCosts[kind], sequentialSteps(kind, view.n), longestPath(kind, view.n, view.k)]);
    const best = [0, 1, 2].map((c) => Math.min(...rows.map((row) => row[c])));
    const number = (value) => value.toLocaleString("en").replaceAll(",", "\u202f");
    body.replaceChildren(...rows.map((row, r) => h("tr", {}, h("th", { scope: "row" }, words.names[r]),
      row.map((value, c) => h("td", { class: value === best[c] ? "best" : null }, number(value), value === best[c] ? h("small", {}, words.cheapest) : null)))));
    const who = words.names.filter((_, r) => rows[r][0] === best[0]).join(" = ");
    const text = fill(words.costs, { n: number(view.n), d: number(view.d), k: view.k, who });
    if (verdict.textContent !== text) verdict.textContent = text;
  }

  draw(false);
  return undress;
}

export default { render };
