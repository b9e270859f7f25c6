// Leads to the language that was chosen last, else to the browser's; `#choose` keeps the page.
const links = [...document.querySelectorAll("[data-language]")];
// the storage belongs to the whole host: below its root the keys carry the path of the site
const site = new URL(document.documentElement.dataset.site, location.href).pathname;
const keyOf = (name) => (site === "/" ? name : `${name} ${site}`);
const recall = (name) => {
  try {
    return JSON.parse(localStorage.getItem(keyOf(name)) ?? localStorage.getItem(name));
  } catch {
    return null;
  }
};
const remember = (language) => {
  try {
    localStorage.setItem(keyOf("d2lmini-language"), JSON.stringify(language));
  } catch {
    // not remembered, then
  }
};
for (const link of links) link.addEventListener("click", () => remember(link.dataset.language));
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
