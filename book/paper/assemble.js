// Fills the printed edition from the built pages: chapters, hints, solutions, contents. `tools/paper/pdf.py` calls what
// `window.paper` has, in its order.

import { element } from "./widgets/dom.js";

const { pages, words, language, live } = JSON.parse(document.getElementById("given").textContent);
const names = new Set(pages.map((page) => page.name));
const folder = new URL(".", location.href).pathname; // of this language
const main = document.querySelector("main");
// what names other elements of the page by their ids
const REFERRING = ["aria-labelledby", "aria-describedby", "aria-controls", "headers", "for"];

const html = (markup) => document.createRange().createContextualFragment(markup);
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

/** A link with the number of the page it leads to, which is known after the first printing. */
function pageLink(text, id) {
  const [before, after] = text.split("{page}");
  return element("a", { href: `#${id}` }, before, element("span", { class: "page", "data-of": id }, "000"), after);
}

// ---- one page of the website

function read({ text }) {
  const article = new DOMParser().parseFromString(text, "text/html").querySelector("article");
  // what formulas of a page have in common is said once in its head, under names that mean other things elsewhere
  for (const [, shared, style] of text.matchAll(/:root \.katex \.(k\d+)\{([^}]*)\}/g))
    for (const node of article.querySelectorAll(`.katex .${shared}`)) node.setAttribute("style", style);
  return article;
}

/** Give every id of a page the page's name, so that the ids of two pages never meet. */
function rename(article, page) {
  const renamed = (id) => `${page}--${id}`;
  for (const node of article.querySelectorAll("*")) {
    if (node.id) node.id = renamed(node.id);
    for (const { name, value } of node.attributes) {
      if (REFERRING.includes(name)) node.setAttribute(name, value.split(/\s+/).map(renamed).join(" "));
      else if (value.includes("url(#")) node.setAttribute(name, value.replaceAll("url(#", `url(#${page}--`));
      else if (/^(xlink:)?href$/.test(name) && value.startsWith("#") && node.localName !== "a")
        node.setAttribute(name, renamed(value.slice(1)).replace(/^/, "#"));
    }
    // the rules of a drawing are held together by its id
    if (node.localName === "style" && node.closest("svg")) {
      const sheet = node.textContent.replace(/^#/, `#${page}--`);
      node.textContent = sheet.replaceAll("url(#", `url(#${page}--`);
    }
  }
}

/** Links between pages lead within the book, the others to the website. */
function retarget(article, page) {
  for (const link of article.querySelectorAll("a")) {
    const name = ["href", "xlink:href"].find((one) => link.hasAttribute(one));
    if (!name) continue;
    const url = new URL(link.getAttribute(name), new URL(`${page}.html`, location.href));
    if (url.origin !== location.origin) continue;
    const [, to] = url.pathname.startsWith(folder) ? /^([\w-]+)\.html$/.exec(url.pathname.slice(folder.length)) || [] : [];
    if (!names.has(to) && live) link.setAttribute(name, live + url.pathname + url.hash);
    else if (!names.has(to)) link.removeAttribute(name);
    else link.setAttribute(name, url.hash ? `#${to}--${decodeURIComponent(url.hash.slice(1))}` : `#${to}`);
  }
}

const unfolded = new Set();
/** What the website folds is printed once: the same first cell opens every chapter. */
function unfold(article) {
  for (const folded of article.querySelectorAll("details.hidden-code")) {
    folded.querySelector("summary").remove();
    const text = folded.textContent.trim();
    if (unfolded.has(text)) (folded.parentElement.children.length === 1 ? folded.parentElement : folded).remove();
    else folded.replaceWith(element("div", {}, ...folded.childNodes));
    unfolded.add(text);
  }
}

// ---- exercises and explorers

function putExercises(article, page, found) {
  for (const place of article.querySelectorAll('.d2l-widget[data-widget="exercise"]')) {
    const exercise = page.exercises[place.dataset.id];
    const number = [page.number, found.length + 1].filter(Boolean).join(".");
    const id = `exercise-${place.dataset.id.replace("/", "--")}`;
    const one = { ...exercise, number, id };
    const title = filled(words.exercise, { number });
    const seeAlso = element("p", { class: "see-also" });
    if (exercise.hints.length) seeAlso.append(pageLink(words.to_hints, `${id}-hints`), " · ");
    seeAlso.append(pageLink(words.to_solution, `${id}-solution`));
    const kicker = element("p", { class: "kicker" }, element("b", {}, title), ` · ${exercise.kind}`);
    place.replaceWith(element("section", { class: "exercise", id }, kicker, html(exercise.question), seeAlso));
    found.push(one);
  }
}

/** Explorers are shown as they are when a reader first sees them, and say where they can be moved. */
function captionExplorers(article, page) {
  for (const place of article.querySelectorAll(".d2l-widget")) {
    let heading = null;
    for (const one of article.querySelectorAll(":is(h2, h3)[id]"))
      if (one.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING) heading = one;
    const anchor = heading ? `#${heading.id.slice(page.length + 2)}` : "";
    const address = `${live}/${language}/${page}.html${anchor}`;
    const [before, after] = words.live.split("{address}");
    place.replaceChildren();
    if (!live) continue;
    const shown = element("a", { href: address }, address.replace("https://", ""));
    place.after(element("p", { class: "live" }, before, shown, after));
  }
}

async function showExplorers() {
  const addressOf = (name) => new URL(`_static/${name}`, location.href).href;
  const load = (name) => import(addressOf(`${name}.js`));
  const checkpoint = (direction) => addressOf(`checkpoints/${direction}.safetensors`);
  const { show } = await load("widgets");
  for (const place of document.querySelectorAll(".d2l-widget")) {
    await show(place, { load, checkpoint, stateOf: () => ({}), answers: () => ({}), keepAnswer() {} });
  }
}

/** What an explorer asks its reader to try stands below its picture; the answers go to the solutions. */
async function printTries() {
  for (const place of document.querySelectorAll(".d2l-widget")) {
    const kind = place.dataset.widget;
    const { default: widget } = await import(new URL(`_static/widgets/${kind}.js`, location.href).href);
    const lists = widget.printed?.();
    if (!lists) continue;
    const chapter = place.closest(".chapter").id;
    const id = `tries-${chapter}-${kind}`;
    const seeAlso = element("p", { class: "see-also" }, pageLink(words.to_solution, `${id}-solution`));
    const title = place.querySelector('[role="group"]').getAttribute("aria-label");
    const tries = element("div", { class: "tries", id }, element("p", {}, words.tries), lists[0], seeAlso);
    (live ? place.nextElementSibling : place).after(tries);
    const back = pageLink(words.to_question, id);
    const kicker = element("p", { class: "kicker" }, element("b", {}, title), " · ", back);
    document
      .getElementById(`solutions--${chapter}`)
      .parentElement.append(element("section", { class: "answer-to", id: `${id}-solution` }, kicker, lists[1]));
  }
}

// ---- the parts of the book

const headed = (title, number) => [...(number ? [element("span", { class: "number" }, String(number)), " "] : []), title];

/** Hints or solutions of all chapters, in the order of the questions. */
function backMatter(name, title, chapters, print) {
  const part = element("section", { class: "chapter back", id: name }, element("h1", {}, title));
  for (const { page, heading, exercises } of chapters) {
    const chapter = element("h2", { id: `${name}--${page.name}` }, ...headed(heading, page.number));
    part.append(element("section", {}, chapter, ...exercises.map(print).filter(Boolean)));
  }
  main.append(part);
}

function answerTo(exercise, suffix, ...children) {
  const title = filled(words.exercise, exercise);
  const back = pageLink(words.to_question, exercise.id);
  const kicker = element("p", { class: "kicker" }, element("b", {}, title), " · ", back);
  return element("section", { class: "answer-to", id: `${exercise.id}-${suffix}` }, kicker, ...children);
}

const printHints = (exercise) =>
  exercise.hints.length &&
  answerTo(
    exercise,
    "hints",
    ...exercise.hints.map((hint, k) => {
      const shown = html(hint);
      shown.firstChild.prepend(element("b", {}, k ? words.stronger_hint : words.hint), " ");
      return shown;
    }),
  );

/** The contents have the titles of the chapters and their sections; the running heads those of the chapters. */
function contents() {
  const list = document.querySelector(".contents-page ol");
  const heads = [];
  const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&").replace(/\s+/g, " ")}"`;
  for (const chapter of document.querySelectorAll(".chapter")) {
    const title = chapter.querySelector("h1");
    const line = (heading, id) =>
      element("a", { href: `#${id}` }, element("span", {}, ...copy(heading)), element("span", { class: "page", "data-of": id }, "000"));
    const copy = (heading) => [...heading.cloneNode(true).childNodes];
    const item = element("li", {}, line(title, chapter.id));
    const sections = [...chapter.querySelectorAll("h2")].filter((heading) => heading.id);
    if (sections.length) item.append(element("ol", {}, ...sections.map((one) => element("li", {}, line(one, one.id)))));
    list.append(item);
    const text = title.querySelector(".number") ? [...title.childNodes].map((node) => node.textContent.trim()).filter(Boolean).join("\u2002") : title.textContent.trim();
    chapter.style.page = `page-${chapter.id}`;
    heads.push(`@page page-${chapter.id} { @top-left { content: ${quoted(text)} } }`);
  }
  document.head.append(element("style", {}, heads.join("\n")));
}

async function assemble() {
  const chapters = [];
  for (const page of pages) {
    const article = read(page);
    article.querySelector("h2#progress")?.closest("section").remove(); // kept by the browser, for the website
    for (const extra of article.querySelectorAll(".permalink, script, .solved, .way-on")) extra.remove();
    for (const far of article.querySelectorAll(".far")) far.classList.remove("far");
    unfold(article);
    rename(article, page.name);
    retarget(article, page.name);
    const exercises = [];
    putExercises(article, page, exercises);
    captionExplorers(article, page.name);
    const title = article.querySelector("h1");
    const heading = title.textContent.trim();
    title.replaceChildren(...headed(heading, page.number));
    main.append(element("article", { class: "chapter", id: page.name }, ...article.childNodes));
    chapters.push({ page, heading, exercises });
  }
  backMatter("hints", words.hints, chapters, printHints);
  backMatter("solutions", words.solutions, chapters, (exercise) => answerTo(exercise, "solution", html(exercise.solution)));
  await showExplorers();
  await printTries();
  for (const section of document.querySelectorAll(".back > section")) if (section.children.length === 1) section.remove();
  contents();
}

/** The Chinese characters of the book: the face that is cut for them comes as a style of its own. */
const letters = () => [...new Set(document.documentElement.textContent)].filter((letter) => letter > "\u2e7f" && letter !== "\ufffd")
  .join("");

/** Make what is too wide for the paper smaller, and say what cannot be. */
async function fit() {
  await document.fonts.ready;
  const wide = [];
  const shrink = (box, inner, least) => {
    const ratio = box.clientWidth / inner.scrollWidth;
    if (ratio < 1) box.style.fontSize = `${Math.max(least, ratio * 0.995)}em`;
    return ratio;
  };
  for (const formula of document.querySelectorAll(".formula"))
    if (shrink(formula, formula, 0.7) < 0.7) formula.classList.add("broken");
  for (const table of document.querySelectorAll(".table")) shrink(table, table, 0.6);
  const edge = document.body.getBoundingClientRect().right + 1;
  for (const node of document.querySelectorAll("main :is(p, pre, table, .formula, svg, img, h1, h2, h3, li)"))
    if (node.getBoundingClientRect().right > edge) wide.push(`${node.localName}.${node.className}: ${node.textContent.slice(0, 60)}`);
  return wide;
}

/** Links within the book that lead nowhere. */
const deadLinks = () =>
  [...document.querySelectorAll("a")]
    .map((link) => link.getAttribute("href") || link.getAttribute("xlink:href") || "")
    .filter((href) => href.startsWith("#") && !document.getElementById(href.slice(1)));

/** Write page numbers into the contents and the references: {id: number}. */
function setNumbers(found) {
  for (const place of document.querySelectorAll(".page[data-of]")) place.textContent = found[place.dataset.of];
}

const lines = () =>
  [...document.querySelectorAll(".contents-page a")].map((link) => ({
    title: link.firstElementChild.textContent.trim().replace(/\s+/g, " "),
    id: link.getAttribute("href").slice(1),
    level: link.closest("ol ol") ? 2 : 1,
  }));
const references = () => [...new Set([...document.querySelectorAll(".page[data-of]")].map((place) => place.dataset.of))];

window.paper = { assemble, letters, fit, deadLinks, setNumbers, lines, references };
