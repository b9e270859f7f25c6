// The card of a glossary term: it comes when the pointer rests on the term or the focus reaches it, stays while either
// is on the term or on the card, and goes with Escape or a click elsewhere.

import { element } from "course:dom";
import { fill } from "course:text";
import { adopt, fetchJson, versioned } from "./page.js";
import words from "course:words";
import STYLE from "./terms.css";

const REST = 200; // ms: a pointer that only passes over the text opens nothing
const LEAVE = 300; // and one on its way to the card closes nothing

let card = null;
let owner = null; // the term that the card belongs to
let wanted = null; // the one that it is being fetched for
let returned = null; // the one to which the browser gives the focus back when its card is dismissed
let timer;

function makeCard() {
  adopt(STYLE);
  card = element("span", { class: "term-card", id: "site-term", popover: "auto", role: "note" });
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", leave);
  card.addEventListener("focusout", blurred);
  card.addEventListener("beforetoggle", ({ newState }) => {
    if (newState === "closed" && card.contains(document.activeElement)) returned = owner;
  });
  card.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") return;
    owner?.removeAttribute("aria-describedby");
    owner = null;
    card.remove();
  });
}

function describe([name, others, meaning, address, title], pages) {
  const names = others.map(([tag, text]) => element("span", { lang: tag }, text));
  // the meaning is HTML of the course's own glossary: text, and formulas in MathML
  const { body } = new DOMParser().parseFromString(meaning, "text/html");
  const link = element("a", { href: pages + address }, fill(words.explained, { title }));
  card.replaceChildren(
    element("p", {}, element("b", {}, name)), element("p", { class: "others" }, names),
    element("p", { id: "site-term-meaning" }, [...body.childNodes]), element("p", {}, link),
  );
  card.setAttribute("aria-label", name);
}

/** Below the line of the term, or above it where there is no room. */
function place() {
  const lines = owner.getClientRects();
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const { width, height } = card.getBoundingClientRect();
  const fits = last.bottom + height + 16 < innerHeight || first.top < height + 16;
  const left = Math.max(12, Math.min((fits ? last : first).left, document.documentElement.clientWidth - width - 12));
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${(fits ? last.bottom + 8 : first.top - height - 8) + scrollY}px`;
}

async function show(term, pages) {
  wanted = term;
  const { terms } = await fetchJson(versioned("terms.json"));
  if (wanted !== term || owner === term) return;
  if (!card) makeCard();
  if (owner) card.hidePopover();
  owner = term;
  describe(terms[term.dataset.term], pages);
  term.after(card); // the next stop of the Tab key is its link
  term.setAttribute("aria-describedby", "site-term-meaning");
  card.showPopover();
  place();
}

function hide() {
  clearTimeout(timer);
  wanted = null;
  if (card?.isConnected) card.hidePopover();
}
const inUse = (node) => node && (node === owner || card?.contains(node));
function leave() {
  clearTimeout(timer);
  wanted = null;
  timer = setTimeout(() => inUse(document.activeElement) || hide(), LEAVE);
}
function blurred({ relatedTarget }) {
  if (!inUse(relatedTarget) && !card?.matches(":hover") && !owner?.matches(":hover")) hide();
}

/** Show the card when the pointer comes over a term, the focus reaches it, or a finger touches it. */
export function onHover(term, type, pages) {
  if (!term.dataset.met) {
    term.dataset.met = "";
    term.addEventListener("pointerleave", leave);
    term.addEventListener("focusout", blurred);
  }
  const dismissed = type === "focusin" && term === returned;
  returned = null;
  if (dismissed) return;
  clearTimeout(timer);
  // without its card a term is a link: a finger, which meant the card, follows it
  const present = () => show(term, pages).catch(() => type === "click" && location.assign(term.href));
  if (type !== "pointerover") present();
  else if (term.matches(":hover")) timer = setTimeout(present, REST);
}
