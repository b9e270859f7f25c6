// The page as slides: cuts it, shows one slide, turns. Where we are stands in the address, ?present=2#section: the
// second slide of the section. Other windows of the same page, the presenter's, follow over a channel.
import { makeToolbar, openHelp, openList } from "./toolbar.js";
import { cut, findBlocks, textOf, wholeOf } from "./deck.js";
import { commandOf, onSwipe } from "./input.js";
import { openSpeaker, speak } from "./speaker.js";
import words from "course:words";
import { adopt } from "./page.js";
import DIALOG from "./dialog.css";
import STYLE from "./slides.css";

adopt(DIALOG + STYLE);

const root = document.documentElement;
const article = document.querySelector("article");
const channel = new BroadcastChannel(`d2lmini slides ${location.pathname}`);
const send = channel.postMessage.bind(channel);
// how far a slide may be made smaller before it scrolls instead: for its height, and for long lines of code
const SHRINK = { text: 0.94, code: 0.88, widget: 0.62, line: 0.78 };
const asked = () => new URLSearchParams(location.search);
const mirror = asked().get("mirror"); // a preview in the presenter's window: "now" or "next"

let deck; // {blocks, slides}, made when the presentation begins
let position = { slide: 0, step: 0 };
let scale = 1; // how much larger everything is than on the page
let bar;
let returnPoint; // where the reader was: {slide, node, top, focus}
let wakeLock; // keeps the screen on

const titleOf = (slide) => textOf(slide.heading || document.querySelector("h1"));
const topOf = (node) => node.getBoundingClientRect().top;
const current = () => deck.slides[position.slide];

// ---- cutting: all blocks are laid out once, as wide as on a slide, and measured

function measure() {
  scale = Math.max(1.06, Math.min(innerWidth / 768, innerHeight / 432));
  root.style.setProperty("--slides-zoom", scale);
  root.style.setProperty("--slides-fit", 1);
  for (const name of ["kind", "continued", "title"]) delete article.dataset[name]; // what only some slides are
  for (const node of article.querySelectorAll("[data-part]")) node.dataset.part = "on";
  const style = getComputedStyle(article);
  const box = article.getBoundingClientRect();
  const pixel = box.width / article.offsetWidth; // whether or not the browser counts rectangles in zoomed pixels
  const inside = box.height - (parseFloat(style.paddingTop) + parseFloat(style.paddingBottom)) * pixel;
  const gap = parseFloat(style.rowGap) * pixel;
  article.style.setProperty("--slides-room", `${inside / pixel}px`);
  const heightOf = (node) => node.getBoundingClientRect().height + gap;
  const gaps = { item: 0.3, row: 1 }; // how much less there is within a list or a table
  for (const block of deck.blocks) {
    block.height = heightOf(block.node) - (gaps[block.kind] || 0) * gap;
    block.head = block.kind === "row" ? heightOf(block.node.closest("table").tHead) : 0;
  }
  const heads = new Map([...new Set(deck.blocks.map(({ heading }) => heading))].map((heading) =>
    [heading, heading ? heightOf(heading) : 0]));
  return cut(deck.blocks, (heading) => inside + gap - heads.get(heading));
}

/** Cut anew, as the window has another size now, and stay with what is shown. */
function cutAnew() {
  const shown = current()?.blocks[0];
  deck.slides = measure();
  show({ slide: Math.max(0, deck.slides.findIndex(({ blocks }) => blocks.includes(shown))), step: position.step });
}

// ---- showing

function show(place, { silent = false } = {}) {
  const before = current();
  const slide = deck.slides[place.slide];
  position = { slide: place.slide, step: Math.min(place.step, slide.steps) };
  for (const node of article.querySelectorAll("[data-part]")) node.dataset.part = "off";
  if (slide.heading) slide.heading.dataset.part = "on";
  for (const block of slide.blocks) {
    block.node.dataset.part = block.step <= position.step ? "on" : "later";
    const whole = wholeOf(block);
    if (whole) whole.dataset.part = "on";
  }
  article.dataset.kind = slide.blocks.length === 1 ? slide.blocks[0].kind : "several";
  article.toggleAttribute("data-continued", slide.part > 1);
  article.toggleAttribute("data-title", place.slide === 0);
  if (before !== slide || silent) {
    article.scrollTop = 0;
    fit();
    resized.disconnect();
    for (const { node, kind } of slide.blocks) if (kind === "widget") resized.observe(node);
  }
  const shown = { slide: position.slide + 1, of: deck.slides.length, title: titleOf(slide) };
  bar?.update(shown, slide.steps ? position.step / (slide.steps + 1) : 0);
  if (mirror) return;
  if (!article.contains(document.activeElement) || !document.activeElement.checkVisibility()) {
    if (!bar.node.contains(document.activeElement)) article.focus({ preventScroll: true });
  }
  const address = new URL(location.href);
  address.searchParams.set("present", slide.part);
  address.hash = slide.heading?.id || "";
  try {
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  } catch {
    // Safari allows 100 changes in 30 s: a reload then leads to an earlier slide
  }
  sendPosition();
}

/** Make what is shown smaller until it fits, down to a limit; what is longer still scrolls. */
function fit() {
  const never = 1 / scale; // smaller than on the page
  const limit = Math.max(never, SHRINK[article.dataset.kind] || SHRINK.text);
  const least = Math.max(never, Math.min(limit, SHRINK.line));
  const boxes = [article, ...article.querySelectorAll("[data-part='on'] :is(pre, .scroll)")];
  for (let fitting = 1; fitting >= least; fitting -= 0.02) {
    root.style.setProperty("--slides-fit", fitting);
    const high = article.scrollHeight > article.clientHeight + 1 && fitting - 0.02 >= limit;
    const wide = boxes.some((box) => box.scrollWidth > box.clientWidth + 1) && fitting - 0.02 >= least;
    if (!high && !wide) break;
  }
}
// a widget that wakes gets its height then; once somebody works with it, nothing is made smaller under their hands
const resized = new ResizeObserver(() => {
  if (document.activeElement === article || !article.contains(document.activeElement)) fit();
});

// ---- turning

/** The place before or after one: the next step, else the next slide. */
function adjacent({ slide, step }, by) {
  const within = step + by;
  if (within >= 0 && within <= deck.slides[slide].steps) return { slide, step: within };
  const other = deck.slides[slide + by];
  return other ? { slide: slide + by, step: by > 0 ? 0 : other.steps } : { slide, step };
}

/** Turn a step; what does not fit the screen is scrolled through first. */
function turn(by) {
  const steps = by > 0 ? position.step < current().steps : position.step > 0;
  const rest = by > 0 ? article.scrollHeight - article.clientHeight - article.scrollTop : article.scrollTop;
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!steps && rest > 2)
    article.scrollBy({ top: by * article.clientHeight * 0.85, behavior: quiet ? "instant" : "smooth" });
  else show(adjacent(position, by));
}

/** What the keys, the buttons and the presenter's window can ask for. */
const commands = {
  next: () => turn(1),
  previous: () => turn(-1),
  first: () => show({ slide: 0, step: 0 }),
  last: () => show({ slide: deck.slides.length - 1, step: 0 }),
  leave: () => leave(),
  full: () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen?.())?.catch(() => {}),
  list: () => openList(deck.slides.map((slide) => ({ title: titleOf(slide), ...slide })), position.slide, (slide) =>
    show({ slide, step: 0 })),
  notes: () => openSpeaker() || bar.say(words.blocked),
  black: () => {
    root.toggleAttribute("data-black");
    sendPosition();
  },
  help: () => openHelp(),
};

function onKey(event) {
  const command = commandOf(event);
  if (root.hasAttribute("data-black") && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    commands.black();
  } else if (command) {
    event.preventDefault();
    commands[command]();
  }
}

/** A link within the page leads to the slide that has its target. */
function onClick(event) {
  if (root.hasAttribute("data-black")) commands.black();
  const link = event.target.closest?.("article a[href^='#']");
  const place = link && placeOf(decodeURIComponent(link.hash.slice(1)), 1);
  if (!place) return;
  event.preventDefault();
  show(place);
}

/** Where a part of a section is, or what has an id. */
function placeOf(id, part) {
  const target = document.getElementById(id);
  const { slides } = deck;
  const own = slides.filter(({ heading }) => heading && heading.id === id);
  const slide = own[Math.min(part, own.length) - 1] ||
    (target && slides.find(({ blocks }) => blocks.some(({ node }) => node.contains(target))));
  return slide && { slide: slides.indexOf(slide), step: 0 };
}

// ---- the presenter's window

const sendPosition = () =>
  mirror || send({
    at: position, width: innerWidth, height: innerHeight, black: root.hasAttribute("data-black"),
    slide: position.slide + 1, of: deck.slides.length, section: current().heading?.id, title: titleOf(current()),
  });

function receive({ data }) {
  if (mirror && data.at) {
    const place = mirror === "next" ? adjacent(data.at, 1) : data.at;
    if (deck.slides[place.slide]) show(place, { silent: true });
  } else if (!mirror && data.where) sendPosition();
  else if (!mirror) commands[data.command]?.();
}

// ---- coming and going

async function enter() {
  const address = asked();
  const already = address.has("present");
  if (address.get("present") === "speaker") return speak(channel, send);
  const read = [...article.querySelectorAll("h1, h2, h3, p, li, pre, .d2l-widget")].find((node) => topOf(node) > 0);
  returnPoint = { node: read, top: read && topOf(read), focus: document.activeElement };
  root.dataset.presenting = mirror || "";
  if (!already) history.pushState(null, "", `?${new URLSearchParams([...address, ["present", 1]])}`);
  await document.fonts.ready; // else the letters get another width after they were measured
  article.tabIndex = -1;
  deck = { blocks: findBlocks(article) };
  deck.slides = measure();
  if (!mirror) bar = makeToolbar(commands);
  else document.body.inert = true;
  const part = Number(address.get("present")) || 1;
  const place = (already && placeOf(decodeURIComponent(location.hash.slice(1)), part)) || { slide: 0, step: 0 };
  Object.assign(returnPoint, { slide: place.slide, linked: already });
  addEventListener("resize", cutAnew);
  channel.addEventListener("message", receive);
  if (mirror) {
    show(place, { silent: true });
    return send({ where: true });
  }
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick);
  onSwipe(article, turn);
  show(place, { silent: true });
  keepAwake();
  document.addEventListener("visibilitychange", keepAwake);
}

function leave(restore = true) {
  const { blocks, heading } = current();
  const stayed = position.slide === returnPoint.slide && !returnPoint.linked;
  removeEventListener("resize", cutAnew);
  channel.removeEventListener("message", receive);
  document.removeEventListener("keydown", onKey);
  document.removeEventListener("click", onClick);
  document.removeEventListener("visibilitychange", keepAwake);
  onSwipe(article, null);
  resized.disconnect();
  wakeLock?.release();
  wakeLock = null;
  bar.node.remove();
  article.removeAttribute("tabindex");
  for (const name of ["kind", "continued", "title"]) delete article.dataset[name];
  for (const node of article.querySelectorAll("[data-part]")) delete node.dataset.part;
  delete root.dataset.presenting;
  root.removeAttribute("data-black");
  if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
  dispatchEvent(new Event("resize")); // the page measures itself, if the window has another width now
  if (!restore) return;
  const address = new URL(location.href);
  address.searchParams.delete("present");
  history.replaceState(null, "", address);
  if (stayed && returnPoint.node) holdInPlace(returnPoint.node, returnPoint.top);
  else holdInPlace(current().part > 1 ? blocks[0].node : heading, parseFloat(getComputedStyle(root).scrollPaddingTop));
  if (stayed && returnPoint.focus?.matches("a, button")) returnPoint.focus.focus({ preventScroll: true });
  else if (heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.addEventListener("blur", () => heading.removeAttribute("tabindex"), { once: true });
  }
}

/** Scroll so that a line is this far from the top, and hold it while what comes into view is laid out. */
function holdInPlace(line, top, frames = 10) {
  scrollBy({ top: topOf(line) - top, behavior: "instant" });
  if (frames && !("presenting" in root.dataset)) requestAnimationFrame(() => holdInPlace(line, top, frames - 1));
}

async function keepAwake() {
  if (document.visibilityState !== "visible") return;
  wakeLock = await navigator.wakeLock?.request("screen").catch(() => null);
  if (!("presenting" in root.dataset)) wakeLock?.release(); // left meanwhile
}

// Back and forward. In the capture phase: before the page looks up the line that was read.
addEventListener("popstate", () => {
  const presenting = "presenting" in root.dataset;
  if (!asked().has("present")) {
    if (presenting) leave(false);
  } else if (!presenting) enter();
  else show(placeOf(decodeURIComponent(location.hash.slice(1)), Number(asked().get("present"))) || position);
}, true);

export const present = () => "presenting" in root.dataset || enter();
