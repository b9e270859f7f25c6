// Every kind of exercise in one module. `state` holds the exercise in the reader's language, compiled by
// `python -m tools.compile_exercises`; `answer` holds what the reader did: {given, variant, tries, hints, checked, revealed, done}.

const STYLE = `
.d2l-exercise{container-type:inline-size;margin:1.5em 0;padding:.2em 0 .2em 1.1em;border-inline-start:3px solid var(--w-accent);
  color:var(--w-text);line-height:1.6;font-family:inherit;overflow-wrap:break-word}
.d2l-exercise *{box-sizing:border-box}
.d2l-exercise :is(p,ul,ol,figure,fieldset){margin:0;padding:0;border:0;min-width:0;max-width:none}
.d2l-exercise .d2l-kicker{display:flex;gap:.6em;align-items:baseline;font-size:.8em;letter-spacing:.02em;color:var(--w-muted)}
.d2l-exercise .d2l-kicker b{color:var(--w-accent);font-weight:600}
.d2l-exercise .d2l-kicker .d2l-solved{color:var(--w-good)}
.d2l-exercise .d2l-question{margin:.25em 0 .7em}
.d2l-exercise .d2l-break{display:block;height:.6em}
.d2l-exercise .d2l-display{display:block;overflow-x:auto;margin:.5em 0;text-align:center}
.d2l-exercise math{font-size:1.06em}
.d2l-exercise code{font-size:.88em;padding:.08em .3em;border-radius:4px;background:var(--w-surface);color:inherit;border:0}
.d2l-exercise .d2l-bound{white-space:nowrap}
.d2l-exercise:lang(zh) em{font-style:normal;font-weight:600}
.d2l-exercise .d2l-solution :is(p,ul){margin-top:.6em}
.d2l-exercise .d2l-solution ul{padding-inline-start:1.3em}
.d2l-exercise pre{margin:.6em 0;padding:.7em .9em;border:0;border-radius:6px;background:var(--w-surface);color:inherit;overflow-x:auto;
  font-size:.86em;line-height:1.5;tab-size:4}
.d2l-exercise pre code{padding:0;background:none;font-size:1em;white-space:pre}
.d2l-exercise .d2l-option{display:grid;grid-template-columns:auto 1fr;gap:0 .65em;align-items:start;padding:.3em .5em;margin:0 -.5em;
  border-radius:6px;cursor:pointer}
.d2l-exercise .d2l-option:hover{background:var(--w-surface)}
.d2l-exercise .d2l-option input{margin:.35em 0 0;width:1.05em;height:1.05em;accent-color:var(--w-accent)}
.d2l-exercise .d2l-why{padding:0 .5em .35em 1.7em;margin:0 -.5em;font-size:.92em;color:var(--w-muted)}
.d2l-exercise .d2l-why::before{content:attr(data-mark) " ";font-weight:700;color:var(--w-bad)}
.d2l-exercise .d2l-why[data-mark="✓"]::before{color:var(--w-good)}
.d2l-exercise button{font:inherit;font-size:.92em;line-height:1.3;min-height:2.3em;padding:.35em .95em;border-radius:6px;cursor:pointer;
  border:1px solid var(--w-line);background:transparent;color:var(--w-text)}
.d2l-exercise button:hover{border-color:var(--w-accent);color:var(--w-accent)}
.d2l-exercise button.d2l-main{background:var(--w-accent);border-color:var(--w-accent);color:var(--w-bg)}
.d2l-exercise button.d2l-main:hover{filter:brightness(1.08)}
.d2l-exercise :is(button,input,textarea,.d2l-solution):focus-visible{outline:3px solid var(--w-accent);outline-offset:2px}
.d2l-exercise .d2l-link{align-self:center;padding:.35em .4em;color:var(--w-accent)}
.d2l-exercise .d2l-bar{display:flex;flex-wrap:wrap;gap:.5em;margin:.8em 0 0}
.d2l-exercise .d2l-verdict{margin:.8em 0 0}
.d2l-exercise .d2l-verdict:empty{margin:0}
.d2l-exercise .d2l-verdict strong.d2l-mark{color:var(--w-bad)}
.d2l-exercise .d2l-verdict[data-good="1"] strong.d2l-mark{color:var(--w-good)}
.d2l-exercise .d2l-verdict[data-good="0.5"] strong.d2l-mark{color:var(--w-text)}
.d2l-exercise .d2l-verdict p+p{margin-top:.4em}
.d2l-exercise .d2l-help>*{margin:.8em 0 0;padding:.1em 0 .1em .9em;border-inline-start:2px solid var(--w-line)}
.d2l-exercise .d2l-help strong.d2l-name{display:block;font-size:.86em;color:var(--w-muted)}
.d2l-exercise :is(input[type=text],textarea){font:inherit;color:inherit;background:var(--w-bg);border:1px solid var(--w-line);
  border-radius:6px;padding:.3em .5em;margin:0}
.d2l-exercise .d2l-number{display:flex;flex-wrap:wrap;gap:.6em;align-items:center}
.d2l-exercise .d2l-number input{width:9em;font-variant-numeric:tabular-nums}
.d2l-exercise textarea{display:block;width:100%;min-height:7em;resize:vertical;line-height:1.6}
.d2l-exercise .d2l-scroll{overflow-x:auto;max-width:100%;padding:3px}
.d2l-exercise table{width:auto;margin:0;border-collapse:separate;border-spacing:3px;font-size:.92em;background:none;border:0;display:table}
.d2l-exercise :is(th,td){border:0;padding:0;vertical-align:middle;background:none;text-align:center;font-weight:400;color:inherit}
.d2l-exercise tbody th{text-align:end;padding-inline-end:.5em;color:var(--w-query)}
.d2l-exercise thead th{padding-bottom:.15em;color:var(--w-key)}
.d2l-exercise td input[type=text]{width:4.2em;text-align:center;font-variant-numeric:tabular-nums}
.d2l-exercise td.d2l-tick{width:3.4em;height:2.4em}
.d2l-exercise td.d2l-tick label{display:grid;place-items:center;width:100%;height:100%;min-height:2.4em;border-radius:6px;
  border:1px solid var(--w-line);cursor:pointer;font-variant-numeric:tabular-nums}
.d2l-exercise td.d2l-tick input{position:absolute;opacity:0;width:1px;height:1px}
.d2l-exercise td.d2l-tick label::after{content:"0";color:var(--w-muted)}
.d2l-exercise td.d2l-tick label:has(:checked){background:var(--w-accent);border-color:var(--w-accent)}
.d2l-exercise td.d2l-tick label:has(:checked)::after{content:"1";color:var(--w-bg)}
.d2l-exercise td.d2l-tick label:has(:focus-visible){outline:3px solid var(--w-accent);outline-offset:2px}
.d2l-exercise .d2l-cell{min-width:3.4em;padding:.35em .3em;font-variant-numeric:tabular-nums;border-color:transparent;border-radius:4px}
.d2l-exercise :is(.d2l-cell,.d2l-line,.d2l-area)[aria-pressed=true]{outline:3px solid var(--w-accent);outline-offset:1px}
.d2l-exercise .d2l-order{list-style:none;display:grid;gap:.35em}
.d2l-exercise .d2l-order li{display:grid;grid-template-columns:1.4em minmax(0,1fr) auto;gap:.5em;align-items:center;padding:.3em .4em .3em .7em;
  border-radius:6px;background:var(--w-surface)}
.d2l-exercise .d2l-order li>span:first-child{color:var(--w-muted);font-variant-numeric:tabular-nums}
.d2l-exercise .d2l-order li[data-dragged]{opacity:.5}
.d2l-exercise .d2l-order button{min-width:2.6em;padding:.2em .4em;background:var(--w-bg)}
.d2l-exercise .d2l-order button[aria-disabled=true]{opacity:.45;cursor:default}
.d2l-exercise .d2l-move{display:flex;gap:.3em}
.d2l-exercise .d2l-code{padding:.4em 0}
.d2l-exercise .d2l-line{display:grid;grid-template-columns:2.4em 1fr;width:100%;min-height:0;padding:.12em .8em .12em 0;border:0;border-radius:3px;
  text-align:start;font:inherit;color:inherit;background:none}
.d2l-exercise button.d2l-line{cursor:pointer;font-size:1em;line-height:1.6;color:var(--w-text)}
.d2l-exercise button.d2l-line:hover{background:color-mix(in srgb,var(--w-accent) 14%,transparent)}
.d2l-exercise .d2l-line[aria-pressed=true]{outline-offset:-2px;background:color-mix(in srgb,var(--w-accent) 14%,transparent)}
.d2l-exercise .d2l-line>span{color:var(--w-muted);text-align:end;padding-inline-end:.9em;user-select:none}
.d2l-exercise .d2l-code .d2l-lines{width:max-content;min-width:100%}
.d2l-exercise .d2l-picture{position:relative;max-width:680px}
.d2l-exercise .d2l-picture svg{display:block;width:100%;height:auto}
.d2l-exercise .d2l-area{position:absolute;padding:0;min-height:0;border:2px dashed transparent;border-radius:6px}
.d2l-exercise .d2l-area:is(:hover,:focus-visible){border-color:var(--w-accent)}
.d2l-exercise .d2l-unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media print{.d2l-exercise .d2l-bar,.d2l-exercise .d2l-move{display:none}}
`;

// Numbers as readers write them: 0.88, 0,88, .88, −3, 7/8, ８ (full width).
function parseNumber(text) {
  const plain = text.normalize("NFKC").replace(/[−–]/g, "-").replace(/\s/g, "").replace(",", ".");
  const parts = plain.split("/");
  if (parts.length > 2 || parts.some((part) => !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(part))) return NaN;
  return parts.length === 2 ? parts[0] / parts[1] : Number(parts[0]);
}

const near = (x, y, tolerance) => Math.abs(x - y) <= tolerance + 1e-12;

// Each kind: make(ctx) → {node, read, write, judge, explain?, focus}. read() is what the reader gave, null when there is
// nothing yet; judge(given) → {ok, notes}; a note is a compiled text.
const KINDS = {
  choice: options,
  predict: options,
  multiple: options,
  number,
  matrix,
  order,
  spot,
  bug,
  code,
  open,
};

function options(ctx) {
  const { state } = ctx;
  const many = state.kind === "multiple";
  const inputs = [];
  const rows = state.options.map((option, index) => {
    const input = h("input", {
      type: many ? "checkbox" : "radio",
      name: `${ctx.uid}-option`,
      id: `${ctx.uid}-${index}`,
      onchange: ctx.changed,
    });
    inputs.push(input);
    return h("div", {}, h("label", { class: "d2l-option" }, input, h("span", {}, rich(option.text))));
  });
  const chosen = () => inputs.flatMap((input, index) => (input.checked ? [index] : []));
  return {
    node: h(
      "div",
      { class: "d2l-options", role: many ? "group" : "radiogroup", "aria-labelledby": `${ctx.uid}-question` },
      rows
    ),
    read: () => (chosen().length ? (many ? chosen() : chosen()[0]) : null),
    write: (given) =>
      inputs.forEach((input, index) => (input.checked = many ? (given || []).includes(index) : given === index)),
    judge(given) {
      if (!many) return { ok: !!state.options[given].correct, notes: [state.options[given].why] };
      const wrong = given.filter((index) => !state.options[index].correct);
      const missing = state.options.filter((option, index) => option.correct && !given.includes(index)).length;
      const notes = wrong.map((index) => [{ b: state.options[index].text }, ctx.s.dash, ...state.options[index].why]);
      if (missing) notes.push(ctx.s[missing === 1 ? "one_missing" : "some_missing"]);
      return { ok: !wrong.length && !missing, notes };
    },
    // every other option's reason under it; that of the chosen one is the verdict
    explain(given) {
      rows.forEach((row, index) => {
        row.querySelector(".d2l-why")?.remove();
        if (index === given) return;
        const option = state.options[index];
        row.append(
          h(
            "div",
            { class: "d2l-why", "data-mark": option.correct ? "✓" : "✗" },
            h("span", { class: "d2l-unseen" }, ctx.s[option.correct ? "right_option" : "wrong_option"]),
            rich(option.why)
          )
        );
      });
    },
    focus: () => (inputs.find((input) => input.checked) || inputs[0]).focus(),
  };
}

function number(ctx) {
  const { state, s } = ctx;
  const input = h("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-labelledby": `${ctx.uid}-label ${ctx.uid}-question`,
    oninput: ctx.changed,
    onkeydown: (event) => event.key === "Enter" && ctx.check(),
  });
  return {
    node: h("div", { class: "d2l-number" }, h("span", { id: `${ctx.uid}-label` }, s.your_number), input),
    read: () => input.value.trim() || null,
    write: (given) => (input.value = given ?? ""),
    judge(given) {
      const value = parseNumber(given);
      const variant = ctx.variant();
      if (Number.isNaN(value)) return { ok: false, notes: [s.not_a_number], unread: true };
      if (near(value, variant.answer, state.tolerance)) return { ok: true, notes: state.why ? [state.why] : [] };
      const known = state.wrong.findIndex((_, index) => near(value, variant.wrong[index], state.tolerance));
      return { ok: false, notes: known < 0 ? [] : [state.wrong[known].why] };
    },
    focus: () => input.focus(),
  };
}

function table(ctx, columns, rows, cell) {
  // a formula alone is no name to every reader of the screen: its plain words stand beside it
  const header = (scope, name) =>
    h("th", { scope }, h("span", { class: "d2l-unseen" }, ctx.plain(name)), h("span", { "aria-hidden": "true" }, rich(name)));
  const head = h("tr", {}, h("td", {}), columns.map((name) => header("col", name)));
  const body = rows.map((name, i) => h("tr", {}, header("row", name), columns.map((_, j) => cell(i, j))));
  const grid = h("table", { "aria-labelledby": `${ctx.uid}-question` }, h("thead", {}, head), h("tbody", {}, body));
  // the arrow keys walk through the cells, beside Tab
  grid.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const at = event.target.closest("td");
    if (!step || !at) return;
    const to = grid.rows[at.parentNode.rowIndex + step[0]]?.cells[at.cellIndex + step[1]];
    const field = to?.querySelector("input,button");
    if (!field) return;
    const inText = event.target.type === "text" && step[1] && event.target.value !== "";
    if (inText) return; // left and right move the caret there
    event.preventDefault();
    field.focus();
  });
  return h("div", { class: "d2l-scroll" }, grid);
}

function matrix(ctx) {
  const { state, s } = ctx;
  const fields = state.cells.map(() => []);
  const node = table(ctx, state.columns, state.rows, (i, j) => {
    const name = `${ctx.plain(state.rows[i])}, ${ctx.plain(state.columns[j])}`;
    const common = { "aria-label": name };
    fields[i][j] = state.binary
      ? h("input", { ...common, type: "checkbox", onchange: ctx.changed })
      : h("input", { ...common, type: "text", inputmode: "decimal", autocomplete: "off", oninput: ctx.changed });
    return state.binary
      ? h("td", { class: "d2l-tick" }, h("label", {}, fields[i][j]))
      : h("td", {}, fields[i][j]);
  });
  const read = () => fields.map((row) => row.map((field) => (state.binary ? +field.checked : field.value.trim())));
  return {
    node,
    read: () => (!state.binary && read().flat().some((text) => text === "") ? null : read()),
    partial: read,
    write: (given) =>
      fields.forEach((row, i) =>
        row.forEach((field, j) => {
          if (state.binary) field.checked = !!given?.[i][j];
          else field.value = given?.[i][j] ?? "";
        })
      ),
    judge(given) {
      const values = given.map((row) => row.map((x) => (typeof x === "number" ? x : parseNumber(x))));
      if (values.flat().some(Number.isNaN)) return { ok: false, notes: [s.not_a_number], unread: true };
      const same = (cells) =>
        cells.every((row, i) => row.every((x, j) => x === null || near(values[i][j], x, state.tolerance)));
      if (same(state.cells)) return { ok: true, notes: state.why ? [state.why] : [] };
      const known = state.wrong.find((wrong) => same(wrong.cells));
      if (known) return { ok: false, notes: [known.why] };
      const off = state.rows.filter((_, i) => !values[i].every((x, j) => near(x, state.cells[i][j], state.tolerance)));
      return { ok: false, notes: [[s.rows_off, " ", off.map((name) => ctx.plain(name)).join(", "), s.stop]] };
    },
    focus: () => fields[0][0].focus(),
    empty: s.fill_all,
  };
}

function order(ctx) {
  const { state, s } = ctx;
  let sequence = [...state.shuffled];
  const list = h("ol", { class: "d2l-order", "aria-labelledby": `${ctx.uid}-question` });
  const news = h("span", { class: "d2l-unseen", "aria-live": "polite" });
  const items = state.items.map((item, id) => {
    const name = ctx.plain(item.text);
    const arrow = (by, sign, label) =>
      h("button", { type: "button", "aria-label": `${label}: ${name}`, onclick: () => shift(id, by, true) }, sign);
    const node = h(
      "li",
      { draggable: "true" },
      h("span", { "aria-hidden": "true" }),
      h("span", {}, rich(item.text)),
      h("span", { class: "d2l-move" }, arrow(-1, "↑", s.move_up), arrow(1, "↓", s.move_down))
    );
    node.addEventListener("dragstart", (event) => {
      event.dataTransfer.setData("text/plain", name);
      node.dataset.dragged = 1;
    });
    node.addEventListener("dragend", () => delete node.dataset.dragged);
    node.addEventListener("dragover", (event) => {
      const from = items.findIndex((other) => other.dataset.dragged);
      if (from < 0) return;
      event.preventDefault();
      if (from !== id) shift(from, sequence.indexOf(id) - sequence.indexOf(from));
    });
    return node;
  });
  function draw() {
    sequence.forEach((id, place) => {
      const node = items[id];
      node.firstChild.textContent = place + 1;
      const [up, down] = node.querySelectorAll("button");
      up.setAttribute("aria-disabled", place === 0);
      down.setAttribute("aria-disabled", place === items.length - 1);
      if (list.children[place] !== node) list.insertBefore(node, list.children[place] || null);
    });
  }
  function shift(id, by, announce) {
    const from = sequence.indexOf(id);
    const to = from + by;
    if (to < 0 || to >= sequence.length) return;
    const held = document.activeElement;
    sequence.splice(to, 0, ...sequence.splice(from, 1));
    draw();
    if (announce) {
      held?.focus(); // moving a node in the document drops its focus
      news.textContent = `${ctx.plain(state.items[id].text)}: ${to + 1} / ${items.length}`;
    }
    ctx.changed();
  }
  draw();
  return {
    node: h("div", {}, list, news),
    read: () => [...sequence],
    write(given) {
      sequence = [...(given || state.shuffled)];
      draw();
    },
    judge(given) {
      const first = given.findIndex((id, place) => id !== place);
      if (first < 0) return { ok: true, notes: state.why ? [state.why] : [] };
      const item = state.items[given[first]];
      return { ok: false, notes: [[s.place.replace("{place}", first + 1), " ", { b: item.text }, s.dash, ...item.why]] };
    },
    focus: () => list.querySelector("button").focus(),
  };
}

// one of several buttons, pressed: a cell of a heatmap, an area of a picture, a line of code
function pick(ctx, parts, node) {
  let given = null;
  const write = (index) => {
    given = index ?? null;
    parts.forEach((part) => part.button?.setAttribute("aria-pressed", part.index === given));
  };
  parts.forEach((part) =>
    part.button?.addEventListener("click", () => {
      write(part.index);
      ctx.changed();
    })
  );
  write(null);
  return {
    node,
    read: () => given,
    write,
    judge(index) {
      const part = parts.find((one) => one.index === index);
      return { ok: !!part.correct, notes: [part.why] };
    },
    focus: () => parts.find((part) => part.button).button.focus(),
  };
}

function spot(ctx) {
  const { state } = ctx;
  const parts = [];
  if (state.picture) {
    const picture = h("div", { class: "d2l-picture" }, parsed(state.picture, "image/svg+xml"));
    state.areas.forEach((area, index) => {
      const button = h("button", { type: "button", class: "d2l-area", "aria-label": ctx.plain(area.text) });
      ["left", "top", "width", "height"].forEach((side, k) => (button.style[side] = `${area.box[k]}%`));
      parts.push({ ...area, button, index });
      picture.append(button);
    });
    return pick(ctx, parts, picture);
  }
  const columns = state.columns.length;
  const grid = table(ctx, state.columns, state.rows, (i, j) => {
    const shown = state.values[i][j];
    const name = `${ctx.plain(state.rows[i])}, ${ctx.plain(state.columns[j])}: ${shown}`;
    const button = h("button", { type: "button", class: "d2l-cell", "aria-label": name }, shown);
    const ink = Math.min(1, Math.max(0, Number(shown)));
    // white to blue as in the heatmaps, never so dark that the number could not be read in the text color
    button.style.background = `color-mix(in srgb, var(--w-query) ${Math.round(38 * ink)}%, var(--w-surface))`;
    const spotted = state.spots.find((one) => one.row === i && one.column === j) || { why: state.elsewhere };
    parts.push({ ...spotted, button, index: i * columns + j });
    return h("td", {}, button);
  });
  return pick(ctx, parts, grid);
}

function listing(lines) {
  return h("pre", { class: "d2l-code", tabindex: "0" }, h("div", { class: "d2l-lines" }, lines));
}

function bug(ctx) {
  const parts = ctx.state.lines.map((line, index) => {
    const content = [h("span", { "aria-hidden": "true" }, String(index + 1)), h("code", {}, line.code || " ")];
    if (!line.why) return { node: h("div", { class: "d2l-line" }, content) };
    const label = `${ctx.s.line} ${index + 1}: ${line.code.trim()}`;
    const button = h("button", { type: "button", class: "d2l-line", "aria-label": label }, content);
    return { ...line, index, button, node: button };
  });
  const code = listing(parts.map((part) => part.node));
  code.removeAttribute("tabindex"); // the buttons in it scroll it
  return pick(ctx, parts, code);
}

// A function to write: checked by d2l.check() where Python runs; here the task, the starting point and the solution.
function code(ctx) {
  const { state, s } = ctx;
  const copy = h(
    "button",
    {
      type: "button",
      onclick: async () => {
        await navigator.clipboard.writeText(state.starter);
        copy.textContent = s.copied;
      },
    },
    s.copy
  );
  const colab = document.querySelector(".to-colab"); // only the website has this link
  const lines = state.starter.replace(/\n$/, "");
  return {
    node: h(
      "div",
      {},
      h("pre", { tabindex: "0", "aria-label": s.starter }, h("code", {}, lines)),
      h("p", {}, rich(s.check_with), " ", h("code", {}, state.call)),
      h("div", { class: "d2l-bar" }, copy, colab && h("a", { class: "d2l-link", href: colab.href }, s.run_colab))
    ),
    read: () => null,
    write: () => {},
    judge: () => ({ ok: false, notes: [] }),
    unchecked: true,
    focus: () => copy.focus(),
  };
}

function open(ctx) {
  const { state, s } = ctx;
  const area = h("textarea", { "aria-label": s.your_answer, oninput: ctx.keep, placeholder: s.your_answer });
  return {
    node: area,
    read: () => area.value.trim() || null,
    partial: () => area.value,
    write: (given) => (area.value = given ?? ""),
    judge: () => ({ ok: true, notes: [] }),
    focus: () => area.focus(),
    empty: s.write_first,
    reveals: true,
  };
}

export default {
  render({ model, el }) {
    const state = model.get("state");
    const s = state.strings;
    const uid = `d2l-${Math.random().toString(36).slice(2)}`;
    let answer = { ...model.get("answer") };
    const variants = state.variants || [{}];
    const ctx = {
      state,
      s,
      uid,
      variant: () => variants[(answer.variant || 0) % variants.length] || variants[0],
      plain: (text) => rich(text, ctx.variant().text).textContent,
      check: () => check(),
      changed: () => changed(),
      keep: () => changed(),
    };

    const root = h("div", { class: "d2l-exercise", role: "group", "aria-label": s["kind_" + state.kind], lang: state.lang });
    const question = h("div", { class: "d2l-question", id: `${uid}-question` });
    const kicker = h("div", { class: "d2l-kicker" });
    const verdict = h("div", { class: "d2l-verdict", role: "status" });
    const help = h("div", { class: "d2l-help", "aria-live": "polite" });
    const bar = h("div", { class: "d2l-bar" });
    const undress = dress(el, root, "exercise", STYLE);

    const button = (label, act, main) =>
      h("button", { type: "button", class: main ? "d2l-main" : null, onclick: act }, label);
    const text = (segments) => rich(segments, ctx.variant().text);
    const kind = KINDS[state.kind](ctx);
    const predicted = state.kind === "predict";
    const hints = state.hints || [];

    const checkButton = kind.unchecked
      ? null
      : button(predicted ? s.commit : kind.reveals ? s.compare : s.check, () => check(), true);
    const helpButton = button("", () => helpMore());
    const againButton = button("", () => again());
    bar.append(...[checkButton, helpButton, againButton].filter(Boolean));
    root.append(kicker, question, kind.node, bar, verdict, help);
    el.append(root);

    function store(change) {
      answer = { ...answer, ...change };
      model.set("answer", answer);
      model.save_changes();
    }

    function settled() {
      return answer.checked && (answer.right || predicted || kind.reveals);
    }

    function check() {
      const given = kind.read();
      if (given === null) {
        say("0.5", s[state.kind === "number" ? "number_first" : "choose_first"], [], kind.empty);
        return kind.focus();
      }
      const result = kind.judge(given);
      if (result.unread) {
        say("0.5", "", result.notes);
        return kind.focus();
      }
      const done = answer.done || result.ok || predicted;
      store({ given, checked: true, right: result.ok, tries: (answer.tries || 0) + 1, done });
      update();
      if (settled() && !checkButton.isConnected) againButton.hidden ? focusHelp() : againButton.focus();
    }

    // the reader changed the answer: an old verdict no longer speaks of it
    function changed() {
      const given = kind.partial ? kind.partial() : kind.read();
      if (kind.reveals) return store({ given });
      store({ given, checked: false, right: false });
      update();
    }

    function helpMore() {
      const shown = answer.hints || 0;
      if (shown < hints.length) store({ hints: shown + 1 });
      else store({ revealed: true });
      update();
      if (answer.revealed) focusHelp();
    }

    function focusHelp() {
      help.lastElementChild?.focus();
    }

    function again() {
      const variant = state.variants ? ((answer.variant || 0) + 1) % variants.length : 0;
      store({ given: null, checked: false, right: false, hints: 0, revealed: false, variant });
      kind.write(null);
      update();
      kind.focus();
    }

    function say(good, mark, notes, plain) {
      verdict.dataset.good = good;
      const icon = { 1: "✓ ", 0: "✗ ", 0.5: "" }[good];
      const first = plain || mark;
      verdict.replaceChildren(
        ...(first ? [h("p", {}, h("strong", { class: "d2l-mark" }, icon + first))] : []),
        ...notes.map((note) => h("p", {}, text(note)))
      );
    }

    function shownHelp() {
      const shown = [];
      if (!settled())
        hints.slice(0, answer.hints || 0).forEach((hint, k) => shown.push([k ? s.stronger_hint : s.hint, text(hint)]));
      if (state.solution && (answer.revealed || settled())) {
        const name = predicted ? s.reveal : kind.reveals ? s.model_answer : s.solution;
        const body = h("div", {}, text(state.solution));
        if (state.solution_code) body.append(h("pre", { tabindex: "0" }, h("code", {}, state.solution_code.trimEnd())));
        if (state.points) body.append(h("p", {}, s.points), h("ul", {}, state.points.map((point) => h("li", {}, text(point)))));
        shown.push([name, body]);
      }
      return shown;
    }

    let drawn = "";
    function update() {
      const over = settled();
      kicker.replaceChildren(
        h("b", {}, s["kind_" + state.kind]),
        ...(answer.done ? [h("span", { class: "d2l-solved" }, `✓ ${s.done}`)] : [])
      );
      const shown = String(answer.variant || 0);
      if (question.dataset.variant !== shown) {
        question.dataset.variant = shown;
        question.replaceChildren(text(state.question));
      }
      if (!answer.checked) {
        verdict.replaceChildren();
        root.querySelectorAll(".d2l-why").forEach((node) => node.remove());
      } else if (!kind.reveals) {
        const result = kind.judge(answer.given);
        const mark = predicted ? (result.ok ? s.guessed_right : s.guessed_wrong) : result.ok ? s.correct : s.not_yet;
        say(predicted && !result.ok ? "0.5" : result.ok ? "1" : "0", mark, result.notes);
      }
      if (over) kind.explain?.(answer.given);
      // redrawn only when it changes, so that a screen reader is not told the same hint twice
      const key = JSON.stringify([answer.hints, answer.revealed, over, answer.variant]);
      if (key !== drawn) {
        drawn = key;
        help.replaceChildren(
          ...shownHelp().map(([name, body]) =>
            h("div", { class: "d2l-solution", tabindex: "-1" }, h("strong", { class: "d2l-name" }, name), body)
          )
        );
      }
      const next = answer.hints || 0;
      if (checkButton) checkButton.hidden = over;
      helpButton.hidden = over || answer.revealed || predicted || kind.reveals;
      helpButton.textContent = next >= hints.length ? s.show_solution : next ? s.stronger_hint : s.hint;
      againButton.hidden = !(over || answer.revealed) || kind.reveals || kind.unchecked;
      againButton.textContent = variants.length > 1 ? s.try_another : s.again;
    }

    /** Show a kept answer. It may come from a file of another version: what does not fit is not shown. */
    const restore = (kept) => {
      answer = { ...kept };
      try {
        kind.write(answer.given);
        update();
      } catch {
        answer = answer.done === true ? { done: true } : {};
        kind.write();
        update();
      }
    };
    // Python, another tab or a progress code changed the answer
    const follow = () => {
      const theirs = model.get("answer") || {};
      if (JSON.stringify(theirs) !== JSON.stringify(answer)) restore(theirs);
    };
    model.on("change:answer", follow);
    restore(answer);
    return () => {
      model.off("change:answer", follow);
      undress();
    };
  },
};
