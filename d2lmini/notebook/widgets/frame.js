// What explorers have around them, and what moves them.

import { element, freshId } from "./dom.js";
import { attachStyles } from "./theme.js";
import words, { language } from "course:words";
import FRAME from "./frame.css";

/** Put an explorer into its place: its root, of a class, and a function that lets go of the page's theme. */
export function frame(el, name, style, ...children) {
  const root = element(
    "div",
    { class: `d2l-explorer ${name}`, role: "group", "aria-label": words.title, lang: language.tag },
    ...children,
  );
  el.append(root);
  return { root, undress: attachStyles(el, root, { frame: FRAME, [name]: style }) };
}

/** A slider with a label that shows its value; `set` gets the number. */
export function slider(label, min, max, step = 1, set = null) {
  const oninput = set && (() => set(Number(input.value)));
  const input = element("input", { type: "range", id: freshId(), min, max, step, oninput });
  const shown = element("output", { for: input.id });
  const node = element("div", {}, element("label", { for: input.id }, label, " = ", shown), input);
  return { node, input, shown };
}

/** A list to choose from, of pairs of a value and its name; `set` gets the value, a text. */
export function choice(label, options, set = null) {
  const list = options.map(([value, name]) => element("option", { value }, name));
  const input = element("select", { id: freshId(), onchange: set && (() => set(input.value)) }, list);
  return { node: element("div", {}, element("label", { for: input.id }, label), input), input };
}

/** The first line of a table; a cell without a name is no header. */
export function tableHead(names) {
  const cell = (name) => (name ? element("th", { scope: "col" }, name) : element("td", {}));
  return element("thead", {}, element("tr", {}, names.map(cell)));
}

/** Which of `count` in a row an arrow key leads to from one of them; undefined: it is another key. */
export function placeByKey(event, at, count) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const to = { Home: 0, End: count - 1 }[event.key] ?? (step && (at + step + count) % count);
  if (to !== undefined) event.preventDefault();
  return to;
}
