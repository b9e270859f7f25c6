// What gives a prediction away opens with the guess, or when the reader asks for it. Without scripts, in print and on
// slides all is open; a find in the page and a link that leads into it open it, too.

import { element } from "course:dom";
import words from "course:words";

/** The outputs after a card, and the text from the first of them on, up to the next exercise or section. */
function partsAfter(card) {
  const parts = [];
  for (let node = card.closest(".cell").nextElementSibling; node; node = node.nextElementSibling) {
    if (node.matches("section") || node.querySelector("[data-widget]")) break;
    const output = node.querySelector(":scope > .cell_output");
    if (output) parts.push(output);
    else if (parts.length && !node.matches(".cell")) parts.push(node);
  }
  return parts;
}

/** Hide what comes after each card whose answer is not among those that are kept. */
export function hideUntilGuessed(answers) {
  for (const card of document.querySelectorAll("[data-kind=predict]")) {
    const parts = partsAfter(card);
    const isGuessed = () => answers()[card.dataset.id]?.done === true;
    if (!parts.length || isGuessed()) continue;
    const open = () => {
      for (const part of parts) part.hidden = false;
      bar.remove();
    };
    const bar = element("p", { class: "guess" }, words.guess_first, " ",
      element("button", { type: "button", onclick: open }, words.show_anyway));
    card.closest(".cell").after(bar);
    for (const part of parts) {
      part.setAttribute("hidden", "until-found");
      part.addEventListener("beforematch", open);
    }
    for (const event of ["d2l:answer", "d2l:answers"]) document.addEventListener(event, () => isGuessed() && open());
    const openTarget = () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!parts.some((part) => part.hidden && part.contains(target))) return;
      open();
      target.scrollIntoView();
    };
    openTarget();
    addEventListener("hashchange", openTarget);
  }
}
