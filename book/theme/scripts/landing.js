// Leads to the language that was chosen last, else to the browser's; `#choose` keeps the page.

import { recall, remember } from "./storage.js";

const links = [...document.querySelectorAll("[data-language]")];
for (const link of links) link.addEventListener("click", () => remember("d2lmini-language", link.dataset.language));
if (location.hash !== "#choose") {
  const wanted = [recall("d2lmini-language"), ...navigator.languages.map((tag) => tag.split("-")[0])];
  const language = wanted.find((code) => links.some((link) => link.dataset.language === code));
  if (language) location.replace(links.find((link) => link.dataset.language === language).href);
}

// where the reader was, in the language that was read
const place = recall("d2lmini-place");
const last = links.find((link) => link.hreflang === place?.language);
if (last && /^[\w-]+$/.test(place.page)) {
  const link = document.createElement("a");
  link.className = "go-on";
  link.textContent = `${last.dataset.goOn} ${place.title}`;
  link.href = `${last.dataset.language}/${place.page}.html#${place.section}`;
  last.after(link);
}
