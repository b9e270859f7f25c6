// Only the website has links to a view; elsewhere an explorer begins at its defaults.
export const hasLinks = (el) => el.closest(".d2l-widget");

/** What the address asks of an explorer: `?attention=…`, JSON. A broken link shows the beginning. */
function viewInAddress(name) {
  try {
    return JSON.parse(new URLSearchParams(location.search).get(name)) ?? {};
  } catch {
    return {};
  }
}

/**
 * The view that a shared link asks for, over the defaults. Only keys that the explorer knows, and only values of the
 * same type, are taken: a link is input from a stranger.
 */
export function sharedView(el, name, defaults) {
  const wanted = hasLinks(el) ? viewInAddress(name) : {};
  const same = (key) => typeof wanted[key] === typeof defaults[key];
  return Object.fromEntries(Object.keys(defaults).map((key) => [key, same(key) ? wanted[key] : defaults[key]]));
}

const REST = 300; // milliseconds without a change; Safari allows 100 changes of the address in 30 s
let timer;

/**
 * Put the view into the address when it has come to rest, so that it can be shared; the section stays in the hash.
 * A sentence that the reader `typed` enters the address by the button alone: no history or log learns it before.
 */
export function shareView(el, name, view, typed = false) {
  if (!hasLinks(el)) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    const isPrivate = typed && viewInAddress(name).sentence !== view.sentence;
    writeView(name, isPrivate ? null : view);
  }, REST);
}

/** Put a view into the address; null: take it out. */
export function writeView(name, view) {
  const address = new URL(location.href);
  if (view) address.searchParams.set(name, JSON.stringify(view));
  else address.searchParams.delete(name);
  try {
    history.replaceState(history.state, "", address);
  } catch {
    // other scripts of the page used the allowance up: the explorer works, its address is older
  }
}
