// What the browser remembers between two visits. The storage belongs to the whole host, which on GitHub Pages all
// projects of an account share: below the root the keys carry the path of the site.

/** The folder of the whole site, all languages. */
export const site = new URL(document.documentElement.dataset.site, location.href);
export const keyOf = (name) => (site.pathname === "/" ? name : `${name} ${site.pathname}`);

export function remember(name, value) {
  try {
    localStorage.setItem(keyOf(name), JSON.stringify(value));
  } catch {
    // private windows may refuse: the page works, it only forgets
  }
}

/** What is remembered; before the keys had the path, it was under the name alone. */
export function recall(name, otherwise = null) {
  try {
    return JSON.parse(localStorage.getItem(keyOf(name)) ?? localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}
