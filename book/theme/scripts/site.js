// What the pages can do. Reading needs none of it: without this script text, formulas and links are all there.

import { copyText } from "course:copy";
import { element, svg } from "course:dom";
import { fill } from "course:text";
import { fetchJson, versioned } from "./page.js";
import { hideUntilGuessed } from "./reveal.js";
import { keyOf, recall, remember } from "./storage.js";
import words from "course:words";

const page = document.body;
const root = document.documentElement;

const failures = {};
/** Import a script that is not needed at once. Browsers remember a failed import, so a new try has a new address. */
function load(name) {
  const again = failures[name] ? `&try=${failures[name]}` : "";
  return import(versioned(`${name}.js`) + again).catch((error) => {
    failures[name] = (failures[name] ?? 0) + 1;
    throw error;
  });
}

// Theme: as the system, light, dark. The first paint is the business of the line in the head.
const NEXT_MODE = { auto: "light", light: "dark", dark: "auto" };
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const themeButton = document.querySelector(".to-theme");
function showTheme() {
  const { mode } = root.dataset;
  root.dataset.theme = mode === "auto" ? (darkSystem.matches ? "dark" : "light") : mode;
  themeButton.setAttribute("aria-label", words[`theme_${mode}`]);
  themeButton.title = words[`theme_${mode}`];
}
themeButton.addEventListener("click", () => {
  root.dataset.mode = NEXT_MODE[root.dataset.mode];
  remember("d2lmini-theme", root.dataset.mode);
  showTheme();
});
darkSystem.addEventListener("change", showTheme);
showTheme();

// Which section is being read: marked in the page's contents. A change of language keeps it, and the place of the
// heading or cell in the middle of the window.
const topOf = (node) => node.getBoundingClientRect().top;
const marks = [...document.querySelectorAll("article :is(h1, h2, h3, .cell)")];
const headings = [...document.querySelectorAll("article :is(h1, h2, h3)[id]")];
const entries = new Map();
for (const link of document.querySelectorAll(".contents a[href^='#']"))
  entries.set(decodeURIComponent(link.hash.slice(1)), link);
let section = "";
const isChapter = document.querySelector(".where .number");
function findSection() {
  // the last sections cannot come up to the line: near the end of the page the line comes down to them
  const left = root.scrollHeight - innerHeight - scrollY;
  const line = innerHeight * (0.3 + 0.7 * Math.max(0, 1 - left / innerHeight));
  let current = headings[0];
  for (const heading of headings) {
    const top = topOf(heading);
    if (top <= line) current = heading;
    if (left < innerHeight && location.hash === `#${heading.id}` && top >= 0 && top <= innerHeight) {
      current = heading;
      break;
    }
  }
  if (!current || current.id === section) return;
  section = current.id;
  const title = current.textContent;
  if (isChapter) remember("d2lmini-place", { language: root.lang, page: page.dataset.page, section, title });
  for (const [id, link] of entries) {
    if (id === section) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
  entries.get(section)?.scrollIntoView?.({ block: "nearest" });
}
addEventListener("scroll", () => "measured" in root.dataset && findSection(), { passive: true });

for (const link of document.querySelectorAll("a[data-language]"))
  link.addEventListener("click", () => {
    remember("d2lmini-language", link.dataset.language);
    findSection();
    if (scrollY < 200 && !location.hash) return;
    link.hash = section;
    const [middle, far] = [innerHeight / 2, (one) => Math.abs(topOf(one) - middle)];
    const near = marks.filter((one) => one.checkVisibility()).reduce((a, b) => (far(a) < far(b) ? a : b));
    remember("d2lmini-mark", { path: link.pathname, mark: marks.indexOf(near), top: topOf(near) });
  });
// The report of a mistake names the section that is being read.
for (const link of document.querySelectorAll(".to-report"))
  link.addEventListener("click", () => {
    findSection();
    const heading = document.getElementById(section).cloneNode(true);
    heading.querySelectorAll(".katex-html").forEach((node) => node.remove()); // each formula is there twice
    const place = `${location.origin}${location.pathname}#${section} (${heading.textContent.trim()})`;
    const written = document.getElementById("site-report"); // the other link only leads to it
    const address = new URL(written.href);
    address.searchParams.set("body", address.searchParams.get("body").replace(written.dataset.place, () => place));
    link.href = written.href = address.href;
    written.dataset.place = place;
  });
for (const menu of document.querySelectorAll(".menu")) {
  document.addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// Boxes that scroll sideways can be reached and named by keyboard, and only while they do scroll.
function nameBox(box) {
  if (box.scrollWidth > box.clientWidth + 1) {
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", words[box.dataset.label] || words.code);
  } else for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
}
// So do formulas in the text that are wider than it.
function fitFormulas(formulas) {
  for (const formula of formulas) formula.classList.remove("wide");
  // all are measured before any is changed: the section is laid out once
  const wide = formulas.filter((formula) => {
    const room = formula.closest("p, li, td, th, h1, h2, h3, h4, div").clientWidth;
    return [...formula.querySelectorAll(":scope > .katex-html .base")].some((base) => base.offsetWidth > room);
  });
  for (const formula of wide) formula.classList.add("wide");
}
// Measuring lays a section out that is still far away, so each waits for a quiet moment.
const parts = new Map();
for (const part of [page, ...document.querySelectorAll(".far")]) parts.set(part, { boxes: [], formulas: [] });
const partOf = (node) => parts.get(node.closest(".far") || page); // page: what stands before them
const sizes = new ResizeObserver((seen) => seen.forEach(({ target }) => nameBox(target)));
for (const box of document.querySelectorAll("article :is(.scroll, pre)")) {
  if (box.closest(".cell_output") && box.tagName === "PRE") box.dataset.label = "output";
  partOf(box).boxes.push(box);
  sizes.observe(box);
}
for (const formula of document.querySelectorAll("article .katex"))
  if (!formula.closest(".formula")) partOf(formula).formulas.push(formula);
const quietly = window.requestIdleCallback
  ? (call) => requestIdleCallback(call, { timeout: 1000 })
  : (call) => setTimeout(call, 50);
let width;
function measure() {
  // a phone's bar came or went; slides are laid out otherwise
  if (width === innerWidth || "presenting" in root.dataset) return;
  const now = (width = innerWidth);
  const waiting = [...parts];
  // "auto" would remember the height at another width
  for (const { style } of parts.keys())
    style.containIntrinsicHeight = style.containIntrinsicHeight.replace("auto ", "");
  delete root.dataset.measured;
  const next = () => {
    if (now !== width) return; // the window changed meanwhile: another round has begun
    if (!waiting.length) {
      root.dataset.measured = now;
      return findSection();
    }
    const [part, { boxes, formulas }] = waiting.shift();
    boxes.forEach(nameBox);
    fitFormulas(formulas);
    if (part !== page) {
      // the scroll bar, and a link into the page, count on it
      part.style.contentVisibility = "visible";
      part.style.containIntrinsicHeight = `auto ${part.getBoundingClientRect().height}px`;
      part.style.contentVisibility = "";
    }
    quietly(next);
  };
  quietly(next);
}
document.fonts.ready.then(measure);
addEventListener("resize", measure);
// Heights are estimates until they are measured, so restoring scrollY would lead to the wrong place: history.state has
// the first visible block and its offset instead.
if (CSS.supports("overflow-anchor", "auto")) {
  history.scrollRestoration = "manual";
  const lines = [...document.querySelectorAll("article :is(h1, h2, h3, p, li, pre, table, .d2l-widget)")].filter(
    (line) => !line.parentElement.closest(".d2l-widget"),
  );
  let kept = recall("d2lmini-mark");
  if (kept) remember("d2lmini-mark", null);
  if (kept?.path !== location.pathname) kept = null;
  const goBack = () => {
    const { line, top } = history.state || {};
    if (lines[line]) scrollBy(0, topOf(lines[line]) - top);
    else if (marks[kept?.mark]) scrollBy(0, topOf(marks[kept.mark]) - kept.top);
    else if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    else scrollTo(0, 0);
  };
  let touched = false; // the reader has moved the page: nothing pulls it back
  for (const event of ["wheel", "touchstart", "keydown", "pointerdown"])
    addEventListener(event, () => (touched = true), { once: true, passive: true });
  const hold = () => {
    if (touched || "presenting" in root.dataset) return;
    goBack();
    // what comes into view is laid out in the frames that follow, and moves what is below
    if ("measured" in root.dataset) kept = null;
    else requestAnimationFrame(hold);
  };
  if (history.state || location.hash) hold();
  addEventListener("popstate", goBack);
  let pending = null;
  const keepLine = () => {
    clearTimeout(pending);
    pending = null;
    if (!("measured" in root.dataset)) return;
    const part = [...parts.keys()].findLast((one) => topOf(one) <= 0);
    const within = (one) => part === page || part.contains(one);
    let read = lines.findIndex((one) => within(one) && topOf(one) > 0);
    if (read < 0) read = lines.findLastIndex(within); // within the last widget of a section
    if (read < 0) return;
    try {
      history.replaceState({ ...history.state, line: read, top: topOf(lines[read]) }, "");
    } catch {
      // Safari allows 100 changes in 30 s: then the way back leads to an earlier line
    }
  };
  addEventListener("scrollend", () => {
    clearTimeout(pending);
    pending = setTimeout(keepLine, 300);
  });
  // a click may lead elsewhere in the page, where another line is read
  for (const event of ["click", "pagehide"]) addEventListener(event, () => pending && keepLine(), true);
}

// The first page leads on from the place that was read last, if the course still has its chapter.
const wayOn = document.querySelector("[data-go-on]");
const lastPlace = recall("d2lmini-place", {});
const chapterLink = wayOn && document.querySelector(`[data-chapter="${CSS.escape(lastPlace.page)}"] a`);
if (chapterLink) {
  const name = chapterLink.querySelector("span:last-of-type").textContent;
  const title = lastPlace.language === root.lang ? lastPlace.title : name;
  wayOn.textContent = `${wayOn.dataset.goOn} ${title}`;
  wayOn.href = `${chapterLink.getAttribute("href")}#${lastPlace.section}`;
}

// Copy buttons: of a session with prompts, what was typed.
const PROMPT = /^(?:>>>|\.\.\.|\$)(?: |$)/;
function typed(code) {
  const lines = code.textContent.trimEnd().split("\n");
  if (!code.closest(".highlight-pycon, .highlight-console")) return lines.join("\n");
  return lines.flatMap((line) => (PROMPT.test(line) ? line.replace(PROMPT, "") : [])).join("\n").trimEnd();
}
for (const block of document.querySelectorAll("article .cell_input, article [class^='highlight-'], .typed")) {
  if (block.closest(".cell_output") || block.parentElement.closest(".cell_input")) continue;
  const onclick = async () => {
    const needs = block.previousElementSibling?.dataset.needs; // of an example of the reference: its imports
    const copied = await copyText((needs ? `${needs}\n` : "") + typed(block.querySelector("pre")));
    button.textContent = copied ? words.copied : words.copy_failed;
    setTimeout(() => (button.textContent = words.copy), 1500);
  };
  const button = element("button", { class: "to-copy", onclick }, words.copy);
  block.append(button);
}

// Answers and progress: one entry of the browser's own storage.
export const answers = () => recall("d2lmini", {}).answers || {};
export function keepAnswer(id, answer) {
  remember("d2lmini", { answers: { ...answers(), [id]: answer } });
  document.dispatchEvent(new CustomEvent("d2l:answer", { detail: { id, answer } }));
}
// the exercises of each chapter; the navigation names them
const exerciseIds = new Map();
for (const { dataset } of document.querySelectorAll("#site-chapters [data-ids]"))
  exerciseIds.set(dataset.chapter, dataset.ids.split(" ").map((name) =>
    name.includes("/") ? name : `${dataset.chapter}/${name}`));
function progressOf(name) {
  const [ids, given] = [exerciseIds.get(name) ?? [], answers()];
  return { done: ids.filter((id) => given[id]?.done === true).length, total: ids.length };
}
function showProgress() {
  for (const row of document.querySelectorAll("[data-chapter]")) {
    const progress = progressOf(row.dataset.chapter);
    if (!progress.total) continue;
    row.querySelector(".visually-hidden").textContent = fill(words.answered, progress);
    const count = row.querySelector(".count"); // in the navigation, not in the dialog
    if (!count) continue;
    count.textContent = `${progress.done}/${progress.total}`;
    count.classList.toggle("done", progress.done === progress.total);
  }
  for (const row of document.querySelectorAll("[data-progress]")) {
    const progress = progressOf(row.dataset.progress);
    row.querySelector("progress").value = progress.done;
    row.querySelector("[aria-hidden]").textContent = `${progress.done} / ${progress.total}`;
    row.querySelector(".visually-hidden").textContent = fill(words.answered, progress);
  }
}
hideUntilGuessed(answers);
// What the course calls by another name now: sections that stand elsewhere, exercises whose answers were kept before.
const fetchMoved = () => fetchJson(versioned("moved.json"));
async function findAnswers() {
  const answersById = answers();
  const ids = new Set([...exerciseIds.values()].flat());
  if (Object.keys(answersById).every((id) => ids.has(id))) return;
  const { exercises } = await fetchMoved();
  const renamed = Object.entries(answersById).filter(([id]) => Object.hasOwn(exercises, id));
  if (!renamed.length) return;
  for (const [id, answer] of renamed) {
    delete answersById[id];
    answersById[exercises[id]] ??= answer;
  }
  remember("d2lmini", { answers: answersById });
  document.dispatchEvent(new CustomEvent("d2l:answers"));
}
async function findPlace() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  if (!anchor || document.getElementById(anchor)) return;
  const { sections } = await fetchMoved();
  const former = `${page.dataset.page}#${anchor}`;
  if (!Object.hasOwn(sections, former)) return;
  const [name, there] = sections[former].split("#");
  location.replace(`${name}.html${location.search}#${there}`);
}
/** What fails without network is tried again by the next event. */
const quiet = (work) => () => work().catch(() => {});
for (const work of [findAnswers, findPlace].map(quiet)) work();
addEventListener("hashchange", quiet(findPlace));
document.addEventListener("d2l:answers", quiet(findAnswers)); // imported ones may be old, too

showProgress();
document.addEventListener("d2l:answer", showProgress);
document.addEventListener("d2l:answers", showProgress);
// another tab answered: the widgets of this one show it too
addEventListener("storage", (event) => {
  if (event.key !== keyOf("d2lmini")) return;
  document.dispatchEvent(new CustomEvent("d2l:answers"));
});

// Dialogs are fetched when first opened; after a failure the next click tries again.
async function openDialog(name) {
  document.getElementById("site-chapters")?.hidePopover?.();
  const { open } = await load(name);
  open({ answers, progressOf, showProgress, root: page.dataset.root });
}
for (const opener of document.querySelectorAll("[data-opens]"))
  opener.addEventListener("click", () => openDialog(opener.dataset.opens));
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  const control = event.ctrlKey || event.metaKey;
  const slash = event.key === "/" && !typing && !control && !event.altKey;
  if (!slash && !(event.key === "k" && control)) return;
  event.preventDefault();
  openDialog("search");
});

// The card of a glossary term, fetched with the first one; a finger asks for the card, a click for the section.
for (const type of ["pointerover", "focusin", "click"])
  document.addEventListener(type, async (event) => {
    const term = event.target.closest?.(".term");
    const touched = event.pointerType === "touch";
    if (!term || (touched !== (type === "click") && type !== "focusin")) return;
    if (touched) event.preventDefault();
    const { onHover } = await load("terms");
    onHover(term, type, page.dataset.root);
  });

// Figures open large.
for (const figure of document.querySelectorAll("article .cell_output .figure")) {
  const enlarge = async () => (await load("figure")).open(figure, button);
  const attributes = { class: "icon-button to-enlarge", "aria-label": words.enlarge, onclick: enlarge };
  const arrows = svg("path", { d: "M12 4h4v4M16 4l-5 5M8 16H4v-4M4 16l5-5" });
  const button = element("button", attributes, svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, arrows));
  figure.addEventListener("click", ({ target }) => {
    if (!target.closest("a, dialog") && getSelection().isCollapsed) enlarge();
  });
  figure.parentElement.classList.add("has-figure");
  figure.after(button);
}

// The first drawing can be dragged.
const loose = document.querySelector("article svg [data-drag='token']")?.ownerSVGElement;
if (loose) load("drag").then(({ loosen }) => loosen(loose));

// The page as slides, when a reader or the address asks for it
const toSlides = document.querySelector(".to-slides");
const present = async () => (await load("slides")).present();
toSlides?.addEventListener("click", (event) => {
  event.preventDefault();
  present();
});
if (toSlides && new URLSearchParams(location.search).has("present")) present();

// Load a widget when it is visible; after the first scroll, 600 px earlier. Before that, the page has the bandwidth.
// Without a file of states (a book that Jupyter Book alone has built) an exercise stays a text.
const loadable = `.d2l-widget[data-widget]${page.dataset.states ? "" : ':not([data-widget="exercise"])'}`;
const pending = new Set(document.querySelectorAll(loadable));
const host = {
  stateOf: async (id) => (await fetchJson(page.dataset.states))[id],
  checkpoint: (direction) => versioned(`checkpoints/${direction}.safetensors`),
  load,
  answers,
  keepAnswer,
  show(place, own) {
    pending.add(place);
    return loadWidget(place, own);
  },
};
async function loadWidget(place, own) {
  if (!pending.delete(place)) return;
  try {
    await (await load("widgets")).show(place, { ...host, ...own });
  } catch (error) {
    console.error(error);
    const retry = () => {
      note.remove();
      host.show(place, own);
    };
    const note = element("p", { class: "buttons", role: "alert" }, words.widget_failed,
      element("button", { onclick: retry }, words.retry));
    place.append(note);
  }
}
function loadNear(rootMargin) {
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) loadWidget(target);
  }, { rootMargin });
  for (const place of pending) near.observe(place);
}
loadNear("0px");
addEventListener("scroll", () => loadNear("600px"), { once: true, passive: true });

// The next page is there before it is asked for: the rules in the head see to links that the pointer rests on, here are
// those that the keyboard rests on, and the one at the end of the page when the reader has come there.
const ruled = HTMLScriptElement.supports?.("speculationrules");
function fetchAhead(link) {
  const elsewhere = link?.origin !== location.origin || link.pathname === location.pathname;
  if (elsewhere || !link.pathname.endsWith(".html") || link.classList.contains("ahead")) return;
  link.classList.add("ahead");
  if (ruled) return;
  const ahead = document.createElement("link");
  ahead.rel = "prefetch";
  ahead.href = link.href;
  document.head.append(ahead);
}
document.addEventListener("focusin", ({ target }) => {
  setTimeout(() => document.activeElement === target && fetchAhead(target.closest("a[href]")), 200);
});
if (!ruled) document.addEventListener("pointerover", ({ target }) => fetchAhead(target.closest("a[href]")));
const next = document.querySelector(".turn .next");
const end = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && fetchAhead(next));
if (next) addEventListener("scroll", () => end.observe(next), { once: true, passive: true });

// A page that was made ready ahead, or comes back as it was left, may have missed a change of the theme or an answer.
function catchUp() {
  root.dataset.mode = recall("d2lmini-theme", "auto");
  showTheme();
  document.dispatchEvent(new CustomEvent("d2l:answers"));
}
document.addEventListener("prerenderingchange", catchUp);
addEventListener("pageshow", ({ persisted }) => persisted && catchUp());

// What keeps visited pages for reading without network waits until this page has what it needs.
// The page about that shows what is kept.
if (page.dataset.page === "offline") load("offline-page");
else if (document.querySelector(".to-offline")) {
  const later = () => setTimeout(() => load("offline").catch(() => {}), 3000);
  if ("serviceWorker" in navigator) addEventListener("load", later);
  else document.querySelector(".to-offline").parentNode.hidden = true; // without HTTPS browsers keep nothing
}

// The page of questions about the parts of the course
if (page.dataset.page === "review") load("review").then(({ start }) => start(host));

// The page for teachers: what a class has solved
const classTable = document.querySelector(".class-table");
if (classTable) load("teaching").then(({ start }) => start(classTable, exerciseIds));
