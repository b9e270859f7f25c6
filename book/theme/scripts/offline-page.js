// The page about reading without network: what this browser keeps, and what to do where a page is not kept.

import { fill } from "course:text";
import { fetchList, forget, keep, state, wantsWhole } from "./offline.js";

const parts = [...document.querySelectorAll("[data-when]")];
const texts = parts.filter((part) => part.matches("p, button"));
for (const part of texts) part.dataset.text = part.textContent;
const show = (names) => parts.forEach((part) => (part.hidden = !names.includes(part.dataset.when)));

async function describe() {
  let kept;
  try {
    kept = await state();
  } catch {
    return show(["about", "unable"]); // the browser keeps nothing for this page
  }
  const { addresses, done, total } = kept;
  const list = kept.list ?? (await fetchList().catch(() => null));
  const whole = done && done === total;
  const part = wantsWhole() ? "part_whole" : "part";
  const extent = whole ? "whole" : done ? part : "nothing";
  show(wanted ? ["missing"] : ["about", extent, done && "kept", !whole && list && "more"]);
  const values = { size: list?.size ?? "", done: total ? `${done} / ${total}` : done };
  for (const text of texts) text.textContent = fill(text.dataset.text, values);
  for (const page of document.querySelectorAll("[data-page-link]"))
    page.parentElement.hidden = Boolean(wanted) && !addresses.has(page.href);
}

// Where the worker led here instead of to a page that is not kept, that page is a click away once there is network.
const path = new URLSearchParams(location.search).get("wanted");
const wanted = path?.startsWith("/") && new URL(path, location.href).origin === location.origin && path;
if (wanted) {
  document.querySelector("[data-again]").href = wanted;
  document.title = document.querySelector("h1").textContent;
}

document.querySelector("[data-do='forget']").addEventListener("click", forget);
document.querySelector("[data-do='keep']").addEventListener("click", keep);
document.addEventListener("d2l:kept", describe);
describe();
