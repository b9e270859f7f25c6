// Only the website has links to a view; elsewhere an explorer begins at its defaults.
const hasLinks = (el) => el.closest(".d2l-widget");

/**
 * The view that a shared link asks for: `?attention=…`, JSON over the defaults. Only keys that the explorer knows, and
 * only values of the same type, are taken: a link is input from a stranger.
 */
export function sharedView(el, name, defaults) {
  if (!hasLinks(el)) return { ...defaults };
  let asked = {};
  try {
    asked = JSON.parse(new URLSearchParams(location.search).get(name) || "{}") || {};
  } catch {
    // a broken link shows the beginning
  }
  const same = (key) => typeof asked[key] === typeof defaults[key];
  return Object.fromEntries(Object.keys(defaults).map((key) => [key, same(key) ? asked[key] : defaults[key]]));
}

const REST = 300; // milliseconds without a change; Safari allows 100 changes of the address in 30 s
let timer;

/** Put the view into the address when it has come to rest, so that it can be shared; the section stays in the hash. */
export function shareView(el, name, view) {
  if (!hasLinks(el)) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    const address = new URL(location.href);
    address.searchParams.set(name, JSON.stringify(view));
    try {
      history.replaceState(history.state, "", address);
    } catch {
      // other scripts of the page used the allowance up: the explorer works, its address is older
    }
  }, REST);
}
