import { copyText } from "./copy.js";
import { element, parsed } from "./dom.js";
import { fill } from "./text.js";
import { readings, unmistakable } from "./number.js";
import { richText } from "./rich-text.js";
import words, { language } from "course:words";

const near = (x, y, tolerance) => Math.abs(x - y) <= tolerance + 1e-12;

// Each kind: make(ctx) → {node, read, fits, write, judge, explain?, focus}. read() is what the reader gave, null when
// there is nothing yet; fits(given): could read() give that, which comes from a file? judge(given) → {ok, notes}; a
// note is a list of strings, which are words, and of nodes, which show compiled texts.
const isSet = (list) => Array.isArray(list) && new Set(list).size === list.length;

/** What a reader's text means as a number: {value}, or {unread} with what to say where it has no reading, or two. */
function numberIn(text) {
  const [value, other] = typeof text === "number" ? [text] : readings(text, language);
  if (value === undefined) return { unread: words.not_a_number };
  if (other === undefined) return { value };
  const [whole, decimal] = [value, other].map(unmistakable);
  return { unread: fill(words.ambiguous_number, { text, whole, decimal }) };
}

const strong = (markup) => element("strong", {}, richText(markup));
/** The notes of a verdict that may have a compiled reason. */
const reason = (markup, values) => (markup ? [[richText(markup, values)]] : []);

export const KINDS = {
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
    const input = element("input", {
      type: many ? "checkbox" : "radio",
      name: `${ctx.uid}-option`,
      id: `${ctx.uid}-${index}`,
      onchange: ctx.changed,
      onkeydown: (event) => event.key === "Enter" && ctx.check(),
    });
    inputs.push(input);
    return element(
      "div",
      {},
      element("label", { class: "d2l-option" }, input, element("span", {}, richText(option.text))),
    );
  });
  const isOption = (index) => Object.hasOwn(state.options, index) && typeof index === "number";
  const chosen = () => inputs.flatMap((input, index) => (input.checked ? [index] : []));
  return {
    node: element(
      "div",
      { class: "d2l-options", role: many ? "group" : "radiogroup", "aria-labelledby": `${ctx.uid}-question` },
      rows,
    ),
    read: () => (chosen().length ? (many ? chosen() : chosen()[0]) : null),
    fits: (given) => (many ? isSet(given) && given.length > 0 && given.every(isOption) : isOption(given)),
    write: (given) =>
      inputs.forEach((input, index) => (input.checked = many ? (given || []).includes(index) : given === index)),
    judge(given) {
      const why = (index) => richText(state.options[index].why);
      if (!many) return { ok: !!state.options[given].correct, notes: [[why(given)]] };
      const wrong = given.filter((index) => !state.options[index].correct);
      const missing = state.options.filter((option, index) => option.correct && !given.includes(index)).length;
      const notes = wrong.map((index) => [strong(state.options[index].text), words.dash, why(index)]);
      if (missing) notes.push(words[missing === 1 ? "one_missing" : "some_missing"]);
      return { ok: !wrong.length && !missing, notes };
    },
    // under every option whether it is right, and why; the reason of the chosen one is in the verdict
    explain(given) {
      rows.forEach((row, index) => {
        row.querySelector(".d2l-why")?.remove();
        const option = state.options[index];
        row.append(
          element(
            "div",
            { class: "d2l-why", "data-mark": option.correct ? "✓" : "✗" },
            element("span", { class: "d2l-unseen" }, words[option.correct ? "right_option" : "wrong_option"]),
            " ",
            index === given ? words.your_choice : richText(option.why),
          ),
        );
      });
    },
    focus: () => (inputs.find((input) => input.checked) || inputs[0]).focus(),
  };
}

function number(ctx) {
  const { state } = ctx;
  const input = element("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-labelledby": `${ctx.uid}-label ${ctx.uid}-question`,
    oninput: ctx.typed,
    onkeydown: (event) => event.key === "Enter" && ctx.check(),
  });
  return {
    node: element(
      "div",
      { class: "d2l-number" },
      element("span", { id: `${ctx.uid}-label` }, words.your_number),
      input,
    ),
    read: () => input.value.trim() || null,
    fits: (given) => typeof given === "string",
    write: (given) => (input.value = given ?? ""),
    judge(given) {
      const { value, unread } = numberIn(given);
      const variant = ctx.variant();
      if (unread) return { ok: false, notes: [unread], unread: true };
      if (near(value, variant.answer, state.tolerance)) return { ok: true, notes: reason(state.why, variant.text) };
      const slip = state.wrong.find((_, index) => near(value, variant.wrong[index], state.tolerance));
      return { ok: false, notes: reason(slip?.why, variant.text) };
    },
    focus: () => input.focus(),
  };
}

function table(ctx, columns, rows, cell) {
  // a formula alone is no name to every reader of the screen: its plain words stand beside it
  const header = (scope, name) =>
    element(
      "th",
      { scope },
      element("span", { class: "d2l-unseen" }, ctx.plain(name)),
      element("span", { "aria-hidden": "true" }, richText(name)),
    );
  const head = element(
    "tr",
    {},
    element("td", {}),
    columns.map((name) => header("col", name)),
  );
  const body = rows.map((name, i) =>
    element(
      "tr",
      {},
      header("row", name),
      columns.map((_, j) => cell(i, j)),
    ),
  );
  const grid = element(
    "table",
    { "aria-labelledby": `${ctx.uid}-question` },
    element("thead", {}, head),
    element("tbody", {}, body),
  );
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
  return element("div", { class: "d2l-scroll" }, grid);
}

const isTable = (rows, height, width) =>
  Array.isArray(rows) && rows.length === height && rows.every((row) => Array.isArray(row) && row.length === width);

function matrix(ctx) {
  const { state } = ctx;
  const fields = state.cells.map(() => []);
  const setBit = (event) => {
    if (!["0", "1"].includes(event.key)) return;
    event.target.checked = event.key === "1";
    ctx.changed();
  };
  const node = table(ctx, state.columns, state.rows, (i, j) => {
    const name = `${ctx.plain(state.rows[i])}, ${ctx.plain(state.columns[j])}`;
    const common = { "aria-label": name };
    fields[i][j] = state.binary
      ? element("input", { ...common, type: "checkbox", onchange: ctx.changed, onkeydown: setBit })
      : element("input", { ...common, type: "text", inputmode: "decimal", autocomplete: "off", oninput: ctx.typed });
    return state.binary
      ? element("td", { class: "d2l-tick" }, element("label", {}, fields[i][j]))
      : element("td", {}, fields[i][j]);
  });
  const inFields = () => fields.map((row) => row.map((field) => (state.binary ? +field.checked : field.value.trim())));
  return {
    node,
    read: () => (inFields().flat().includes("") ? null : inFields()),
    partial: inFields,
    fits: (given) =>
      isTable(given, state.rows.length, state.columns.length) &&
      given.flat().every((cell) => (state.binary ? cell === 0 || cell === 1 : /string|number/.test(typeof cell))),
    write: (given) =>
      fields.forEach((row, i) =>
        row.forEach((field, j) => {
          if (state.binary) field.checked = !!given?.[i][j];
          else field.value = given?.[i][j] ?? "";
        }),
      ),
    judge(given) {
      const read = given.map((row) => row.map(numberIn));
      const unread = read.flat().find((cell) => cell.unread)?.unread;
      if (unread) return { ok: false, notes: [unread], unread: true };
      const values = read.map((row) => row.map((cell) => cell.value));
      const same = (cells) =>
        cells.every((row, i) => row.every((x, j) => x === null || near(values[i][j], x, state.tolerance)));
      if (same(state.cells)) return { ok: true, notes: reason(state.why) };
      const slip = state.wrong.find((wrong) => same(wrong.cells));
      if (slip) return { ok: false, notes: reason(slip.why) };
      const off = state.rows.filter((_, i) => !values[i].every((x, j) => near(x, state.cells[i][j], state.tolerance)));
      return { ok: false, notes: [[words.rows_off, " ", off.map((name) => ctx.plain(name)).join(", "), words.stop]] };
    },
    focus: () => fields[0][0].focus(),
    empty: words.fill_all,
  };
}

function order(ctx) {
  const { state } = ctx;
  let sequence = [...state.shuffled];
  const list = element("ol", { class: "d2l-order", "aria-labelledby": `${ctx.uid}-question` });
  const news = element("span", { class: "d2l-unseen", "aria-live": "polite" });
  const items = state.items.map((item, id) => {
    const name = ctx.plain(item.text);
    const arrow = (by, sign, label) =>
      element(
        "button",
        { type: "button", "aria-label": `${label}: ${name}`, onclick: () => shift(id, by, true) },
        sign,
      );
    const node = element(
      "li",
      { draggable: "true" },
      element("span", { "aria-hidden": "true" }),
      element("span", {}, richText(item.text)),
      element("span", { class: "d2l-move" }, arrow(-1, "↑", words.move_up), arrow(1, "↓", words.move_down)),
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
    node: element("div", {}, list, news),
    read: () => [...sequence],
    fits: (given) => isSet(given) && given.length === items.length && given.every((id) => state.shuffled.includes(id)),
    write(given) {
      sequence = [...(given || state.shuffled)];
      draw();
    },
    judge(given) {
      const first = given.findIndex((id, place) => id !== place);
      if (first < 0) return { ok: true, notes: reason(state.why) };
      const item = state.items[given[first]];
      const place = fill(words.place, { place: first + 1 });
      return { ok: false, notes: [[place, " ", strong(item.text), words.dash, richText(item.why)]] };
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
    }),
  );
  write(null);
  return {
    node,
    read: () => given,
    fits: (index) => parts.some((part) => part.button && part.index === index),
    write,
    judge(index) {
      const { correct, why } = parts.find((part) => part.index === index);
      return { ok: !!correct, notes: reason(why) };
    },
    focus: () => parts.find((part) => part.button).button.focus(),
  };
}

function spot(ctx) {
  const { state } = ctx;
  const parts = [];
  if (state.picture) {
    const drawing = state.picture.replaceAll("var(--d2l-", "var(--w-"); // also where no page sets the colors
    const picture = element("div", { class: "d2l-picture" }, parsed(drawing, "image/svg+xml"));
    state.areas.forEach((area, index) => {
      const button = element("button", { type: "button", class: "d2l-area", "aria-label": ctx.plain(area.text) });
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
    const button = element("button", { type: "button", class: "d2l-cell", "aria-label": name }, shown);
    const ink = Math.min(1, Math.max(0, Number(shown)));
    // white to blue as in the heatmaps, never so dark that the number could not be read in the text color
    button.style.background = `color-mix(in srgb, var(--w-query) ${Math.round(38 * ink)}%, var(--w-surface))`;
    const spotted = state.spots.find((one) => one.row === i && one.column === j) || { why: state.elsewhere };
    parts.push({ ...spotted, button, index: i * columns + j });
    return element("td", {}, button);
  });
  return pick(ctx, parts, grid);
}

function bug(ctx) {
  const parts = ctx.state.lines.map((line, index) => {
    const content = [
      element("span", { "aria-hidden": "true" }, String(index + 1)),
      " ", // what is seen has to stand in the name: not "1scores"
      element("code", {}, line.code || " "),
    ];
    if (!line.why) return { node: element("div", { class: "d2l-line" }, content) };
    const label = `${words.line} ${index + 1}: ${line.code.trim()}`;
    const button = element("button", { type: "button", class: "d2l-line", "aria-label": label }, content);
    return { ...line, index, button, node: button };
  });
  const lines = parts.map((part) => part.node); // its buttons scroll it
  return pick(ctx, parts, element("pre", { class: "d2l-code" }, element("div", { class: "d2l-lines" }, lines)));
}

// A function to write: checked by d2l.check() where Python runs; here the task, the starting point and the solution.
function code(ctx) {
  const { state } = ctx;
  const task = `${state.starter.trimEnd()}\n\n\n${state.call}\n`;
  const lab = globalThis.jupyterapp; // JupyterLab, if it lends itself to scripts, as `course.py lab` has it
  const begin = async () => {
    const notebook = lab.shell.currentWidget.content;
    notebook.activeCellIndex = notebook.widgets.findIndex((cell) => cell.node.contains(copy));
    await lab.commands.execute("notebook:insert-cell-below");
    notebook.activeCell.model.sharedModel.setSource(task);
    await lab.commands.execute("notebook:enter-edit-mode");
  };
  const copyTask = async () => {
    await copyText(task);
    copy.textContent = words.copied;
    copy.closest(".jp-Notebook, .cell")?.focus(); // where the keys B and Escape are those of the notebook
  };
  const copy = element("button", { type: "button", onclick: lab ? begin : copyTask }, words[lab ? "begin" : "copy"]);
  const colab = document.querySelector(".to-colab"); // only the website has these: in a notebook Python is here
  const places = document.querySelector(".places");
  const elsewhere = (event) => {
    event.stopPropagation(); // a click beside the menu would close it
    places.open = true;
    places.querySelector("summary").focus();
  };
  const lines = state.starter.replace(/\n$/, "");
  return {
    node: element(
      "div",
      {},
      element("pre", { tabindex: "0", "aria-label": words.starter }, element("code", {}, lines)),
      element("p", {}, colab ? words.check_with : words.check_here, " ", element("code", {}, state.call)),
      element(
        "div",
        { class: "d2l-bar" },
        copy,
        colab && element("a", { class: "d2l-link", href: colab.href }, words.run_colab),
        places &&
          element("button", { type: "button", onclick: elsewhere }, places.querySelector("summary").textContent),
      ),
    ),
    read: () => null,
    fits: () => false,
    write: () => {},
    judge: () => ({ ok: false, notes: [] }),
    unchecked: true,
    focus: () => copy.focus(),
  };
}

function open(ctx) {
  const area = element("textarea", {
    "aria-label": words.your_answer,
    oninput: ctx.typed,
    placeholder: words.your_answer,
  });
  return {
    node: area,
    read: () => area.value.trim() || null,
    partial: () => area.value,
    fits: (given) => typeof given === "string",
    write: (given) => (area.value = given ?? ""),
    judge: () => ({ ok: true, notes: [] }),
    focus: () => area.focus(),
    empty: words.write_first,
    reveals: true,
  };
}
