// What explorers have around them, and the keys that move them.

import { element } from "./dom.js";
import { attachStyles } from "./theme.js";
import words, { language } from "course:words";
import FRAME from "./frame.css";

/** Put an explorer into its place: its root, of a class, and a function that lets go of the page's theme. */
export function frame(el, name, style, ...children) {
  const named = { role: "group", "aria-label": words.title, lang: language.tag };
  const root = element("div", { class: `d2l-explorer ${name}`, ...named }, ...children);
  el.append(root);
  return { root, undress: attachStyles(el, root, { frame: FRAME, [name]: style }) };
}

/** Which of `count` in a row an arrow key leads to from one of them; undefined: it is another key. */
export function placeByKey(event, at, count) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const to = { Home: 0, End: count - 1 }[event.key] ?? (step && (at + step + count) % count);
  if (to !== undefined) event.preventDefault();
  return to;
}
