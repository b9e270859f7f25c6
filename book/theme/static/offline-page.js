// The page about reading without network: what this browser keeps, and what to do where a page is not kept.

const { state, forget, keep } = await import(`./offline.js${new URL(import.meta.url).search}`);
const parts = [...document.querySelectorAll("[data-when]")];
const texts = parts.filter((part) => part.tagName === "P");
for (const part of texts) part.dataset.text = part.textContent;
const show = (names) => parts.forEach((part) => (part.hidden = !names.includes(part.dataset.when)));

async function fill() {
  let found;
  try {
    found = await state();
  } catch {
    return show(["about", "unable"]); // the browser keeps nothing for this page
  }
  const { list, addresses, done, total } = found;
  const how = done ? (done === total ? "whole" : "part") : "nothing";
  show(wanted ? ["missing"] : ["about", how, done && "kept"]);
  const values = { size: list?.size, done: total ? `${done} / ${total}` : done };
  for (const part of texts) part.textContent = part.dataset.text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
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
document.addEventListener("d2l:kept", fill);
await fill();
