// The page as slides: cuts it, shows one slide, turns. Where we are stands in the address, ?present=2#section: the
// second slide of the section. Other windows of the same page, the presenter's, follow over a channel.
import { element } from "course:dom";
import { makeToolbar, openHelp, openList } from "./toolbar.js";
import { cut, findBlocks, textOf, wholeOf } from "./deck.js";
import { commandOf, onSwipe, takesArrows } from "./input.js";
import { fetchTalk, openSpeaker, speak } from "./speaker.js";
import words from "course:words";
import { adopt } from "./page.js";
import DIALOG from "./dialog.css";
import STYLE from "./slides.css";

adopt(DIALOG + STYLE);

const root = document.documentElement;
const article = document.querySelector("article");
const channel = new BroadcastChannel(`d2lmini slides ${location.pathname}`);
const send = channel.postMessage.bind(channel);
// how far a slide may be made smaller before it scrolls instead
const SHRINK = { text: 0.87, exercise: 0.62, mixed: 0.7, explorer: 0, line: 0.78 };
const LEAST = 16; // pixels of the smallest words of a figure, and how much larger they may become for it
const LARGER = 1.2;
const asked = () => new URLSearchParams(location.search);
const mirror = asked().get("mirror"); // a preview in the presenter's window: "now" or "next"

let deck; // {blocks, slides}, made when the presentation begins
let position = { slide: 0, step: 0 };
let scale = 1; // how much larger everything is than on the page
let bar;
let returnPoint; // where the reader was: {slide, node, top, focus}
let listening; // to what happens, while presenting
let wakeLock; // keeps the screen on

const titleOf = ({ heading }) => textOf(heading);
const claimOf = (heading) => heading.parentElement.querySelector(":scope > .slides-claim");
const first = () => ({ slide: 0, step: 0 });
const topOf = (node) => node.getBoundingClientRect().top;
const current = () => deck.slides[position.slide];

// ---- cutting: all blocks are laid out once, as wide as on a slide, and measured

function measure() {
  scale = Math.max(1.06, Math.min(innerWidth / 854, innerHeight / 480));
  root.style.setProperty("--slides-zoom", scale);
  article.style.setProperty("--slides-fit", 1);
  for (const node of article.querySelectorAll("[data-part]")) node.dataset.part = "on";
  article.dataset.kind = "measured";
  const style = getComputedStyle(article);
  // on a window that is not as wide the same slides, with space below
  const inside = Math.min(article.clientHeight, 480 - 44 / scale) - parseFloat(style.paddingTop) -
    parseFloat(style.paddingBottom);
  const gap = parseFloat(style.rowGap);
  const heightOf = (node) => (node ? node.offsetHeight + gap : 0);
  for (const block of deck.blocks) {
    const { node } = block;
    const [kind] = block.kind.split(" ");
    block.height = heightOf(node) * (kind === "figure" ? legible(node) : 1) - (kind === "item" ? 0.3 * gap : 0);
    block.least = Math.min(block.height, { code: 0.3, figure: 0.8 }[kind] * inside || Infinity);
    const { width, height } = node.querySelector("svg, img")?.getBoundingClientRect() || {};
    block.kind = kind === "figure" && height > 0.8 * width ? "figure tall" : kind;
    node.style.setProperty("--slides-least", `${block.least - gap}px`);
  }
  const headings = [...new Set(deck.blocks.map(({ heading }) => heading))];
  const room = () => new Map(headings.map((heading) => [heading, inside + gap - heightOf(heading)]));
  const rooms = [room()];
  const claims = new Map(headings.map((heading) => [heading, heightOf(claimOf(heading))]));
  article.dataset.kind += " continued";
  rooms.push(room());
  return cut(deck.blocks, ({ heading, part, claims: isThere }) =>
    rooms[Math.min(part, 2) - 1].get(heading) - (isThere ? claims.get(heading) : 0));
}

const sizeOf = (text) => {
  const { a, b } = text.getScreenCTM();
  return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
};
const wordsIn = (node) => [...node.querySelectorAll("svg text")].filter((text) => text.textContent.trim());

/** How much of its height at full width a figure needs for words that are large enough. */
const legible = (node) => Math.min(1, Math.max(0.3, ...wordsIn(node).map((text) => LEAST / sizeOf(text))));

/** Cut anew, as the window has another size now, and stay with what is shown. */
function cutAnew() {
  if (document.querySelector(".slides-print")) return;
  const shown = current()?.blocks[0];
  deck.slides = measure();
  show({ slide: Math.max(0, deck.slides.findIndex(({ blocks }) => blocks.includes(shown))), step: position.step });
}

// ---- showing

/** Show the blocks of a slide, and nothing else. */
function arrange(slide, step) {
  for (const node of article.querySelectorAll("[data-part]")) node.dataset.part = "off";
  slide.heading.dataset.part = "on";
  const claim = slide.claims && claimOf(slide.heading);
  if (claim) claim.dataset.part = slide.isLate && step < slide.steps ? "later" : "on";
  let hidden = slide.turns ? "off" : "later";
  for (const block of slide.blocks) {
    // an exercise has the room for its answers, long code that of the picture
    if (block.kind === "exercise" || (block.kind === "code" && block.least < block.height)) hidden = "off";
    block.node.dataset.part = (slide.turns ? block.step === step : block.step <= step) ? "on" : hidden;
    const whole = wholeOf(block);
    if (whole) whole.dataset.part = "on";
  }
  const kinds = new Set(slide.blocks.map(({ kind }) => kind));
  const kind = kinds.size < 2 ? [...kinds][0] || "claim" : kinds.has("exercise") ? "mixed" : "several";
  article.dataset.kind = `${kind} ${slide.part > 1 ? "continued" : slide === deck.slides[0] ? "title" : ""}`;
}

function show(place, { silent = false } = {}) {
  const before = current();
  const slide = deck.slides[place.slide];
  position = { slide: place.slide, step: Math.min(place.step, slide.steps) };
  arrange(slide, position.step);
  fit();
  if (before !== slide || silent) {
    article.scrollTop = 0;
    resized.disconnect();
    for (const { node, kind } of slide.blocks) if (kind.startsWith("ex")) resized.observe(node);
  }
  const shown = { slide: position.slide + 1, of: deck.slides.length, title: titleOf(slide) };
  bar?.update(shown, slide.steps ? position.step / (slide.steps + 1) : 0);
  if (mirror) return;
  if (!article.contains(document.activeElement) || !document.activeElement.checkVisibility()) {
    if (!bar.node.contains(document.activeElement)) article.focus({ preventScroll: true });
  }
  const address = new URL(location.href);
  address.searchParams.set("present", slide.part);
  address.hash = slide.heading.id;
  try {
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  } catch {
    // Safari allows 100 changes in 30 s: a reload then leads to an earlier slide
  }
  sendPosition();
}

/** Make the heading, then all that is shown, smaller until it fits, down to a limit; what is longer still scrolls. */
function fit() {
  const never = 1 / scale; // smaller than on the page
  const [kind] = article.dataset.kind.split(" ");
  const limit = Math.max(never, SHRINK[kind] ?? SHRINK.text);
  const least = Math.max(never, Math.min(limit, SHRINK.line));
  const boxes = [article, ...article.querySelectorAll(":is(pre, .scroll):is([data-part='on'], [data-part='on'] *)")];
  const isHigh = () => article.scrollHeight > article.clientHeight + 1;
  article.dataset.kind = article.dataset.kind.replace(" tight", "");
  for (const tight of kind === "explorer" ? [" tight"] : ["", " tight"]) {
    article.dataset.kind += tight;
    for (let fitting = 1; fitting >= least; fitting -= 0.02) {
      article.style.setProperty("--slides-fit", fitting);
      const wide = boxes.some((box) => box.scrollWidth > box.clientWidth + 1);
      if (!(wide && fitting - 0.02 >= least) && !(isHigh() && fitting - 0.02 >= limit)) break;
    }
    if (!isHigh()) break;
  }
  const shown = wordsIn(article).filter((text) => text.checkVisibility());
  for (const text of shown) text.style.removeProperty("--slides-words");
  for (const { text, size } of shown.map((node) => ({ text: node, size: sizeOf(node) }))) {
    const larger = parseFloat(getComputedStyle(text).fontSize) * Math.min(LARGER, (LEAST + 0.1) / size);
    if (size < LEAST) text.style.setProperty("--slides-words", `${larger}px`);
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

/** Turn a step; what does not fit the screen, and long code, is scrolled through first. */
function turn(by) {
  const boxes = [article, ...article.querySelectorAll(".cell_input[data-part=on]")];
  const box = boxes.find(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop > 2);
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (by > 0 && box) box.scrollBy({ top: box.clientHeight * 0.85, behavior: quiet ? "instant" : "smooth" });
  else show(adjacent(position, by));
}

/** What the keys, the buttons and the presenter's window can ask for. */
const commands = {
  next: () => turn(1),
  previous: () => turn(-1),
  first: () => show(first()),
  last: () => commands.go(deck.slides.length),
  go: (slide) => show({ slide: Math.max(0, Math.min(deck.slides.length, slide) - 1), step: 0 }),
  leave: () => leave(),
  full: () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen?.())?.catch(() => {}),
  list: () => openList(deck.slides.map((slide) => ({ title: titleOf(slide), claim: claimOf(slide.heading), ...slide })),
    position.slide, (slide) => commands.go(slide + 1)),
  notes: () => openSpeaker() || bar.say(words.blocked),
  black: () => {
    root.toggleAttribute("data-black");
    sendPosition();
  },
  help: () => openHelp(),
};

function onKey(event) {
  const { command, number } = commandOf(event);
  const inside = article.contains(document.activeElement) && document.activeElement !== article;
  if (root.hasAttribute("data-black") && !event.ctrlKey && !event.metaKey) commands.black();
  else if (command === "leave" && inside) article.focus({ preventScroll: true }); // out of a widget first
  else if (command) commands[command](number);
  else return;
  event.preventDefault();
}

/** A link within the page leads to the slide that has its target. */
function onClick(event) {
  if (root.hasAttribute("data-black")) commands.black();
  const link = event.target.closest?.("article a[href^='#']");
  const place = link && placeOf(decodeURIComponent(link.getAttribute("href").slice(1)), 1);
  if (!place) return;
  event.preventDefault();
  show(place);
}

/** Where a part of a section is, or what has an id. */
function placeOf(id, part) {
  const target = document.getElementById(id);
  const { slides } = deck;
  const own = slides.filter(({ heading }) => heading.id === id);
  const slide = own[Math.min(part, own.length) - 1] ||
    (target && slides.find(({ blocks }) => blocks.some(({ node }) => node.contains(target))));
  return slide && { slide: slides.indexOf(slide), step: 0 };
}

// ---- the presenter's window

const sendPosition = () =>
  mirror || send({
    at: position, width: innerWidth, height: innerHeight, black: root.hasAttribute("data-black"),
    slide: position.slide + 1, of: deck.slides.length, section: current().heading.id, title: titleOf(current()),
    said: current().said.map((block) => deck.blocks.indexOf(block)),
  });

function receive({ data }) {
  if (mirror && data.at) {
    const place = mirror === "next" ? adjacent(data.at, 1) : data.at;
    if (deck.slides[place.slide]) show(place, { silent: true });
    const isEnd = place.slide === data.at.slide && place.step === data.at.step;
    root.toggleAttribute("data-black", mirror === "next" && isEnd); // behind the last slide nothing comes
  } else if (!mirror && data.where) sendPosition();
  else if (!mirror) commands[data.command]?.(data.number);
}

// ---- on paper: the list, if it is open, else the whole deck, a slide a page

function makePrint() {
  const list = document.querySelector(".slides-dialog ol");
  const pages = list ? [element("h1", {}, titleOf(deck.slides[0])), list.cloneNode(true)] : [];
  for (const slide of list ? [] : deck.slides)
    for (let step = slide.turns ? 0 : slide.steps; step <= slide.steps; step++) {
      arrange(slide, step);
      fit();
      pages.push(article.cloneNode(true));
      for (const hidden of pages.at(-1).querySelectorAll("[data-part=off], details, .to-enlarge")) hidden.remove();
    }
  // before the page, whose drawings share their names with their copies: hidden ones lend no markers or patterns
  const print = element("div", { class: `slides-print ${list ? "handout" : ""}` }, pages);
  document.body.prepend(print);
  adopt(list ? "@page { margin: 15mm; }" : `@page { size: ${innerWidth}px ${innerHeight}px; margin: 0; }`);
  addEventListener("afterprint", () => {
    print.remove();
    document.adoptedStyleSheets = document.adoptedStyleSheets.slice(0, -1);
  }, { once: true });
  if (!list) show(position, { silent: true });
}

// ---- coming and going

/** Find the blocks of the page, and write under each heading what its section claims. */
async function makeDeck() {
  for (const [id, { claim }] of Object.entries((await fetchTalk()).sections)) {
    const shown = element("div", { class: "slides-claim" });
    shown.innerHTML = claim; // of this course: typeset when the site was built
    if (claim) document.getElementById(id)?.after(shown);
  }
  await document.fonts.ready; // else the letters get another width after they were measured
  return { blocks: findBlocks(article) };
}

async function enter() {
  const address = asked();
  const already = address.has("present");
  if (address.get("present") === "speaker") return speak(channel, send);
  const read = [...article.querySelectorAll("h1, h2, h3, p, li, pre, .d2l-widget")].find((node) => topOf(node) > 0);
  returnPoint = { node: read, top: read && topOf(read), focus: document.activeElement };
  root.dataset.presenting = mirror || "";
  if (!already) history.pushState(null, "", `?${new URLSearchParams([...address, ["present", 1]])}`);
  deck ??= await makeDeck();
  article.tabIndex = -1;
  deck.slides = measure();
  if (!mirror) bar = makeToolbar(commands);
  else document.body.inert = true;
  const part = Number(address.get("present")) || 1;
  const place = (already && placeOf(decodeURIComponent(location.hash.slice(1)), part)) || first();
  Object.assign(returnPoint, { slide: place.slide, linked: already });
  listening = new AbortController();
  const on = (target, name, act) => target.addEventListener(name, act, { signal: listening.signal });
  on(window, "resize", cutAnew);
  on(channel, "message", receive);
  show(place, { silent: true });
  if (mirror) return send({ where: true });
  on(document, "keydown", onKey);
  on(document, "click", onClick);
  on(document, "focusin", ({ target }) => bar.say(takesArrows(target) ? words.inside : "")); // how one gets out of it
  on(document, "visibilitychange", keepAwake);
  on(window, "beforeprint", makePrint);
  onSwipe(article, turn);
  keepAwake();
}

function leave(restore = true) {
  const { blocks, heading } = current();
  const stayed = position.slide === returnPoint.slide && !returnPoint.linked;
  listening.abort();
  onSwipe(article, null);
  resized.disconnect();
  wakeLock?.release();
  wakeLock = null;
  bar.node.remove();
  article.removeAttribute("tabindex");
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
  else {
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
