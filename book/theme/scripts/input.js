// Keys, remote controls and swipes.

const KEYS = {
  ArrowRight: "next", ArrowDown: "next", PageDown: "next", " ": "next",
  ArrowLeft: "previous", ArrowUp: "previous", PageUp: "previous",
  Home: "first", End: "last", Escape: "leave",
  f: "full", o: "list", g: "list", n: "notes", s: "notes", b: "black", ".": "black", "?": "help",
};
// what a remote control sends turns the slide wherever the focus is
const ALWAYS = new Set(["PageDown", "PageUp", "Escape"]);
const WRITES = "input:not([type='checkbox'], [type='radio'], [type='range']), textarea, select, [contenteditable]";
const ROLES = ["slider", "radio", "tab", "option", "listbox", "spinbutton"].map((role) => `[role='${role}']`);
const RANGES = "input:is([type='radio'], [type='range'])";
const TAKES_ARROWS = `${WRITES}, ${RANGES}, ${ROLES}, :is([role='grid'], [role='toolbar']) *`;
const TAKES_SPACE = "button, summary, a, input, [role='button'], [role='radio'], [role='checkbox'], [tabindex='0']";

/** Does what has the focus keep the arrows to itself? */
export const takesArrows = (target) => target.matches?.(TAKES_ARROWS);

let typed = ""; // the number of a slide, until Enter
let typedAt = 0;
/** The number that was typed before this key; digits are kept for it. */
function numberBefore({ key, timeStamp }) {
  const number = timeStamp - typedAt < 3000 ? typed : "";
  typed = /^\d$/.test(key) ? number + key : "";
  typedAt = timeStamp;
  return Number(number);
}

/**
 * What a key asks for, {command, number}; no command where it belongs to what has the focus: a slider, a field, a
 * button, a dialog.
 */
export function commandOf(event) {
  const { key, target } = event;
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return {};
  if (document.querySelector("dialog[open]")) return {};
  const command = KEYS[key.length === 1 ? key.toLowerCase() : key];
  if (ALWAYS.has(key)) return { command };
  if (target.matches(WRITES) || (key === " " && target.matches(TAKES_SPACE))) return {};
  const number = numberBefore(event);
  if (key === "Enter" && number) return { command: "go", number };
  if (key === " " && event.shiftKey) return { command: "previous" };
  return /^(Arrow|Home|End)/.test(key) && takesArrows(target) ? {} : { command };
}

const FAR = 60; // pixels of a swipe
let stop;

/** Call `turn` with 1 or -1 at a swipe to the left or right; null: no more. */
export function onSwipe(node, turn) {
  stop?.abort();
  if (!turn) return;
  stop = new AbortController();
  let from;
  const passive = { passive: true, signal: stop.signal };
  node.addEventListener("touchstart", ({ touches, target }) => {
    from = touches.length === 1 && !ownsSwipe(target, node) && visualViewport.scale < 1.05 ? touches[0] : null;
  }, passive);
  node.addEventListener("touchend", ({ changedTouches: [to] }) => {
    if (!from) return;
    const [x, y] = [to.clientX - from.clientX, to.clientY - from.clientY];
    from = null;
    if (Math.abs(x) > FAR && Math.abs(x) > 2 * Math.abs(y) && getSelection().isCollapsed) turn(x < 0 ? 1 : -1);
  }, passive);
}

/** Is the finger on something that it moves: a slider, a picture to drag, a box that scrolls sideways? */
function ownsSwipe(target, slide) {
  for (let node = target; node && node !== slide; node = node.parentElement) {
    if (node.matches("input, textarea, select, [role='slider'], .d2l-widget svg, .d2l-widget canvas")) return true;
    if (node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(node).overflowX)) return true;
  }
  return false;
}
