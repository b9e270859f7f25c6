// The card of a glossary term: it comes when the pointer rests on the term or the focus reaches it, stays while either
// is on the term or on the card, and goes with Escape or a click elsewhere.

const STYLES = `
.term-card { position: absolute; inset: auto; width: max-content; max-width: min(24rem, 100vw - 1.5rem); margin: 0;
  padding: .7rem .95rem .75rem; border: 1px solid var(--d2l-line); border-radius: 8px; background: var(--d2l-bg);
  color: var(--d2l-text); box-shadow: 0 6px 24px rgb(0 0 0 / .16); font-size: .92rem; line-height: 1.5;
  text-align: start; overflow: visible }
.term-card::before { content: ""; position: absolute; inset: -10px 0; z-index: -1 } /* the way of the pointer to it */
.term-card p { margin: 0 }
.term-card p + p { margin-top: .3rem }
.term-card .others { font-size: .85rem; color: var(--d2l-muted) }
.term-card .others span + span::before { content: "·"; margin: 0 .45em }
.term-card math { font-family: KaTeX_Main, "Latin Modern Math", "STIX Two Math", "Cambria Math", math }
@media (max-width: 40rem) {
  .term-card { position: fixed; inset-inline: .75rem; width: auto; max-width: none }
  .term-card.low { inset-block-end: calc(.75rem + env(safe-area-inset-bottom)) }
  .term-card.high { inset-block-start: .75rem }
  .term-card a { display: inline-block; padding-block: .6rem; margin-block: -.3rem -.6rem }
}`;
const REST = 200; // ms: a pointer that only passes over the text opens nothing
const LEAVE = 300; // and one on its way to the card closes nothing

let loading; // the terms of this language, fetched with the first card
let card = null;
let owner = null; // the term that the card belongs to
let wanted = null; // the one that it is being fetched for
let returned = null; // the one to which the browser gives the focus back when its card is dismissed
let timer;

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function makeCard() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  card = element("span", { className: "term-card", id: "site-term", popover: "auto" });
  card.setAttribute("role", "note");
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

function fill([name, others, meaning, address, title], explained, pages) {
  const line = element("p", { className: "others" });
  for (const [tag, text] of others) line.append(element("span", { lang: tag }, text));
  // the meaning is HTML of the course's own glossary: text, and formulas in MathML
  const said = element("p", { id: "site-term-meaning" });
  said.append(...new DOMParser().parseFromString(meaning, "text/html").body.childNodes);
  const link = element("a", { href: pages + address }, explained.replace("{title}", title));
  card.replaceChildren(element("p", {}, element("b", {}, name)), line, said, element("p", {}, link));
  card.setAttribute("aria-label", name);
}

/** Below the line of the term, or above it; on a phone at the edge that is farther from it. */
function place() {
  const lines = owner.getClientRects();
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const middle = (first.top + last.bottom) / 2;
  card.className = `term-card ${middle < innerHeight / 2 ? "low" : "high"}`;
  card.style.left = card.style.top = "";
  if (getComputedStyle(card).position === "fixed") return;
  const { width, height } = card.getBoundingClientRect();
  const fits = last.bottom + height + 16 < innerHeight || first.top < height + 16;
  const left = Math.max(12, Math.min((fits ? last : first).left, document.documentElement.clientWidth - width - 12));
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${(fits ? last.bottom + 8 : first.top - height - 8) + scrollY}px`;
}

async function show(term, { address, pages }) {
  wanted = term;
  loading ??= fetch(address).then((answer) => answer.json());
  const { explained, terms } = await loading;
  const known = terms[term.dataset.term];
  if (wanted !== term || owner === term) return;
  if (!card) makeCard();
  if (owner) card.hidePopover();
  owner = term;
  fill(known, explained, pages);
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

/** A term was met: the pointer came over it, the focus reached it, or a finger touched it. */
export function meet(term, how, host) {
  if (!term.dataset.met) {
    term.dataset.met = "";
    term.addEventListener("pointerleave", leave);
    term.addEventListener("focusout", blurred);
  }
  const dismissed = how === "focusin" && term === returned;
  returned = null;
  if (dismissed) return;
  clearTimeout(timer);
  if (how !== "pointerover") show(term, host);
  else if (term.matches(":hover")) timer = setTimeout(() => show(term, host), REST);
}
