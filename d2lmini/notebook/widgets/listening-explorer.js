// Listening explorer, on the first screen of the course: touch a word of a sentence, see whom it listens to.

import { scene, tokens, weights } from "./listening-scene.js";
import { attachStyles } from "./theme.js";
import { embed, sentenceHead } from "./tiny-attention.js";
import words, { language } from "course:words";
import STYLE from "./listening-explorer.css";

/** The arithmetic alone: a test compares it with PyTorch. */
export const arithmetic = { embed, sentenceHead, tokens, weights };

function render({ el }) {
  const { root, buttons, choose } = scene();
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", words.title);
  root.setAttribute("lang", language.tag);
  buttons.forEach((button, i) => {
    button.addEventListener("click", () => choose(i));
    button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && choose(i));
  });
  root.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const n = buttons.length;
    const at = buttons.indexOf(event.target);
    const to = event.key === "Home" ? 0 : event.key === "End" ? n - 1 : step ? (at + step + n) % n : -1;
    if (at < 0 || to < 0) return;
    event.preventDefault();
    choose(to);
    buttons[to].focus();
  });
  el.append(root);
  return attachStyles(el, root, { "listening-explorer": STYLE });
}

export default { render };
