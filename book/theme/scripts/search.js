// The search dialog: a field and the list that it fills. What is found comes from the engine.
import { element } from "course:dom";
import { fill, plural } from "course:text";
import { searchEngine as engineOf } from "./search-engine.js";
import { adopt, versioned } from "./page.js";
import markup from "course:markup";
import words from "course:words";
import DIALOG from "./dialog.css";
import STYLE from "./search.css";

const PER_PAGE = 4;
let loading; // the index of this language, fetched and made when the dialog is first opened

async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const engine = engineOf(await answer.json());
  while (engine.add(20)) await new Promise((resume) => setTimeout(resume));
  return engine;
}

const pieces = (parts) => parts.map(([text, found]) => (found ? element("mark", {}, text) : text));

export const searchEngine = engineOf; // tests ask it

let dialog;
function make() {
  adopt(DIALOG + STYLE);
  document.body.insertAdjacentHTML("beforeend", markup);
  dialog = document.getElementById("site-search");
}

export async function open({ root }) {
  if (!dialog) make();
  if (dialog.open) return;
  const input = dialog.querySelector("input");
  const list = dialog.querySelector("#site-search-results");
  const status = dialog.querySelector(".status");
  const tries = dialog.querySelector(".tries");
  let engine;
  let hurried = false; // Enter was pressed before the index was there

  const options = () => [...list.querySelectorAll("a")];
  const chosen = () => options().findIndex((link) => link.getAttribute("aria-selected") === "true");
  const choose = (index) => {
    const all = options();
    all.forEach((link, position) => link.setAttribute("aria-selected", position === index));
    if (all[index]) {
      input.setAttribute("aria-activedescendant", all[index].id);
      // the first with the name of its page above it
      if (index) all[index].scrollIntoView({ block: "nearest" });
      else list.scrollTop = 0;
    } else input.removeAttribute("aria-activedescendant");
  };

  function option(hit, index) {
    const { href } = new URL(`${root}${hit.page}.html#${hit.anchor}`, location.href);
    const label = words[`search_in_${hit.kind}`];
    const kind = label ? [element("em", {}, label), " "] : [];
    return element("a",
      { id: `site-hit-${index}`, tabindex: -1, href, role: "option", onclick: () => dialog.close() },
      element("b", { lang: hit.page === "api" ? "en" : null }, pieces(hit.title)),
      element("p", {}, kind, pieces(hit.pieces)));
  }
  /** The pages in the order of their best section, each with its sections in the order of theirs. */
  function groups(hits) {
    const pages = Map.groupBy ? Map.groupBy(hits, ({ page }) => page) : new Map();
    if (!Map.groupBy) for (const hit of hits) pages.set(hit.page, [...(pages.get(hit.page) ?? []), hit]);
    let index = 0;
    return [...pages.values()].map((all, place) => {
      const { number, pageTitle } = all[0];
      const id = `site-hits-${place}`;
      const title = number ? `${number} · ${pageTitle}` : pageTitle;
      return element("div", { role: "group", "aria-labelledby": id },
        element("div", { id, role: "presentation" }, title),
        all.slice(0, PER_PAGE).map((hit) => option(hit, index++)));
    });
  }
  function show(hits, message, suggest) {
    list.replaceChildren(...groups(hits));
    input.setAttribute("aria-expanded", String(hits.length > 0));
    list.hidden = !hits.length;
    tries.hidden = !suggest;
    if (status.textContent !== message) status.textContent = message;
    choose(0);
  }
  function search() {
    const query = input.value.trim();
    if (!query) return show([], "", true);
    if (!engine) return show([], words.search_loading, false);
    const { near, hits } = engine.search(query);
    const count = groups(hits).reduce((sum, group) => sum + group.querySelectorAll("a").length, 0);
    const message = near ? fill(words.search_near, { query }) : fill(plural(words.search_count, count), { count });
    show(hits, hits.length ? message : fill(words.search_none, { query }), !hits.length);
    if (hurried) options()[0]?.click();
    hurried = false;
  }

  if (!tries.childElementCount) {
    tries.append(element("span", {}, words.search_try));
    for (const text of words.search_examples) {
      const onclick = () => {
        input.value = text;
        input.focus();
        input.dispatchEvent(new Event("input"));
      };
      tries.append(element("button", { type: "button", onclick }, text));
    }
  }
  // letters that are still being put together are no word yet
  input.oninput = (event) => event.isComposing || search();
  input.oncompositionend = search;
  input.onkeydown = (event) => {
    const count = options().length;
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (count) choose((chosen() + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      hurried = !engine;
      options()[chosen()]?.click();
    } else if (event.key === "Escape") {
      event.preventDefault(); // a search field would only clear itself
      dialog.close();
    }
  };
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close(); // its backdrop
  };
  dialog.showModal();
  input.select();
  search();
  try {
    loading ??= load(versioned("search.json"));
    engine = await loading;
    search();
  } catch {
    loading = undefined;
    show([], words.search_failed, false);
  }
}
