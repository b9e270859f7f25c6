// What the pages can do. Reading needs none of it: without this script the text, the formulas and the links are all there.

const page = document.body;
const words = JSON.parse(document.getElementById("site-words").textContent);
const say = (key, values = {}) => words[key].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
const file = (name) => new URL(`${page.dataset.static}${name}`, location.href).href;
const versioned = (name) => `${file(name)}?${page.dataset.version}`;

function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // private windows may refuse: the page works, it only forgets
  }
}
function recall(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

// Theme: as the system, light, dark. The first paint is the business of the line in the head.
const root = document.documentElement;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const themeButton = document.querySelector(".to-theme");
function showTheme() {
  const mode = root.dataset.mode;
  root.dataset.theme = mode === "auto" ? (darkSystem.matches ? "dark" : "light") : mode;
  themeButton.setAttribute("aria-label", words[`theme_${mode}`]);
  themeButton.title = words[`theme_${mode}`];
}
themeButton.addEventListener("click", () => {
  root.dataset.mode = { auto: "light", light: "dark", dark: "auto" }[root.dataset.mode];
  remember("d2lmini-theme", root.dataset.mode);
  showTheme();
});
darkSystem.addEventListener("change", showTheme);
showTheme();

// Which section is being read: marked in the page's contents, kept by a change of language.
const headings = [...document.querySelectorAll("article :is(h1, h2, h3)[id]")];
const entries = new Map();
for (const link of document.querySelectorAll(".contents a[href^='#']"))
  entries.set(decodeURIComponent(link.hash.slice(1)), link);
let section = "";
function findSection() {
  // the last sections cannot come up to the line: near the end of the page the line comes down to them
  const left = root.scrollHeight - innerHeight - scrollY;
  const line = innerHeight * (0.3 + 0.7 * Math.max(0, 1 - left / innerHeight));
  let found = headings[0];
  for (const heading of headings) {
    const { top } = heading.getBoundingClientRect();
    if (top <= line) found = heading;
    if (left < innerHeight && location.hash === `#${heading.id}` && top >= 0 && top <= innerHeight) {
      found = heading;
      break;
    }
  }
  if (!found || found.id === section) return;
  section = found.id;
  for (const [id, link] of entries) {
    if (id === section) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
  entries.get(section)?.scrollIntoView?.({ block: "nearest" });
}
let waiting = false;
addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    findSection();
  });
}, { passive: true });
findSection();

for (const link of document.querySelectorAll("a[data-language]"))
  link.addEventListener("click", () => {
    remember("d2lmini-language", link.dataset.language);
    if (scrollY > 200 || location.hash) link.hash = section;
  });
const languages = document.querySelector(".languages");
document.addEventListener("click", (event) => {
  if (languages?.open && !languages.contains(event.target)) languages.open = false;
});
languages?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !languages.open) return;
  languages.open = false;
  languages.querySelector("summary").focus();
});

// Boxes that scroll sideways can be reached and named by keyboard, and only while they do scroll.
const sizes = new ResizeObserver((boxes) => {
  for (const { target } of boxes) {
    if (target.scrollWidth > target.clientWidth + 1) {
      target.tabIndex = 0;
      target.setAttribute("role", "group");
      target.setAttribute("aria-label", words[target.dataset.label] || words.code);
    } else if (target.hasAttribute("tabindex")) {
      target.removeAttribute("tabindex");
      target.removeAttribute("role");
      target.removeAttribute("aria-label");
    }
  }
});
for (const box of document.querySelectorAll("article :is(.scroll, pre)")) {
  if (box.closest(".cell_output") && box.tagName === "PRE") box.dataset.label = "output";
  sizes.observe(box);
}

// So do formulas in the text that are wider than it.
const fitFormulas = () => {
  const formulas = [...document.querySelectorAll("article .katex")].filter((formula) => !formula.closest(".formula"));
  for (const formula of formulas) formula.classList.remove("wide");
  // all are measured before any is changed: the page is laid out once
  const wide = formulas.filter((formula) => {
    const room = formula.closest("p, li, td, th, h1, h2, h3, h4, div").clientWidth;
    return [...formula.querySelectorAll(":scope > .katex-html > .base")].some((base) => base.offsetWidth > room);
  });
  for (const formula of wide) formula.classList.add("wide");
};
document.fonts.ready.then(fitFormulas);
addEventListener("resize", fitFormulas);

// Copy buttons
for (const block of document.querySelectorAll("article .cell_input, article [class^='highlight-']")) {
  if (block.closest(".cell_output") || block.parentElement.closest(".cell_input")) continue;
  const button = document.createElement("button");
  button.className = "to-copy";
  button.textContent = words.copy;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent.trimEnd());
    button.textContent = words.copied;
    setTimeout(() => (button.textContent = words.copy), 1500);
  });
  block.append(button);
}

// Answers and progress: one entry of the browser's own storage.
export const answers = () => recall("d2lmini", {}).answers || {};
export function keepAnswer(id, answer) {
  remember("d2lmini", { answers: { ...answers(), [id]: answer } });
  document.dispatchEvent(new CustomEvent("d2l:answer", { detail: { id, answer } }));
}
function progressOf(name) {
  const dots = [...document.querySelectorAll(`[data-dots="${CSS.escape(name)}"] i`)];
  const given = answers();
  return { done: dots.filter((dot) => given[dot.dataset.id]?.done === true).length, total: dots.length };
}
function showProgress() {
  const given = answers();
  for (const dot of document.querySelectorAll(".dots i")) dot.className = given[dot.dataset.id]?.done === true ? "done" : "";
  for (const row of document.querySelectorAll("[data-chapter]")) {
    const progress = progressOf(row.dataset.chapter);
    if (!progress.total) continue;
    let spoken = row.querySelector(".visually-hidden");
    if (!spoken) {
      spoken = document.createElement("span");
      spoken.className = "visually-hidden";
      row.append(spoken);
    }
    spoken.textContent = say("answered", progress);
  }
  for (const row of document.querySelectorAll("[data-progress]")) {
    const progress = progressOf(row.dataset.progress);
    row.querySelector("progress").value = progress.done;
    row.querySelector("[aria-hidden]").textContent = `${progress.done} / ${progress.total}`;
    row.querySelector(".visually-hidden").textContent = say("answered", progress);
  }
}
showProgress();
document.addEventListener("d2l:answer", showProgress);
// another tab answered: the widgets of this one show it too
addEventListener("storage", (event) => {
  if (event.key !== "d2lmini") return;
  showProgress();
  document.dispatchEvent(new CustomEvent("d2l:answers"));
});

// Dialogs are fetched when first opened.
async function openDialog(name) {
  const dialog = document.getElementById(`site-${name}`);
  if (!dialog || dialog.open) return;
  document.getElementById("site-chapters")?.hidePopover?.();
  const { open } = await import(versioned(`${name}.js`));
  open(dialog, { words, say, answers, progressOf, showProgress, remember, root: page.dataset.root });
}
for (const opener of document.querySelectorAll("[data-opens]"))
  opener.addEventListener("click", () => openDialog(opener.dataset.opens));
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  const asked = (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey);
  if (!asked) return;
  event.preventDefault();
  openDialog("search");
});

// Widgets wake shortly before they come into view.
const places = document.querySelectorAll(".d2l-widget[data-widget]");
if (places.length) {
  const { wake } = await import(versioned("widgets.js"));
  let states; // of all widgets of the page, fetched with the first
  const stateOf = async (number) => (await (states ??= fetch(page.dataset.states).then((answer) => answer.json())))[number];
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      wake(target, { address: versioned(`widgets/${target.dataset.widget}.js`), stateOf, answers, keepAnswer, failed: words.widget_failed });
    }
  }, { rootMargin: "600px" });
  for (const place of places) near.observe(place);
}

// The next page is fetched when the pointer rests on its link.
for (const link of document.querySelectorAll(".turn a, .chapters a"))
  link.addEventListener("pointerenter", () => {
    const ahead = document.createElement("link");
    ahead.rel = "prefetch";
    ahead.href = link.href;
    document.head.append(ahead);
  }, { once: true });
