// Keeps the course of this language in the browser, and says when it has changed. Fetched a while after a page has
// loaded; the worker answers from what is kept. Everything is in the caches of the browser:
//   "d2lmini /course/"              the list of files of each language whose newest build is here whole
//   "d2lmini /course/ en 1a2b3c4d"  the files of one build
// A build is fetched beside the one that is kept and takes its place when all of it is there. What was broken off is
// taken up by the next page. A file enters only if it is the one in the list: the browser compares the hash.

const root = document.documentElement;
const { dataset } = document.body;
const folder = new URL(`${dataset.static}../`, location.href); // of the language
const site = new URL("../", folder);
const language = folder.pathname.split("/").at(-2);
const KEPT = `d2lmini ${site.pathname}`;
const OFF = "d2lmini-offline-off"; // the reader wants nothing kept
const nameOf = ({ build }) => `${KEPT} ${language} ${build}`;
const addressOf = (path) => new URL(path, folder).href;
const here = new URL(location.pathname.endsWith("/") ? "index.html" : location.pathname, location.href).href;
const idle = () => new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go));
const spares = () => navigator.connection?.saveData;

function isOff() {
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return true; // where nothing may be stored, nothing is
  }
}

/** The list of files of the build that is here whole. */
async function whole() {
  if (!(await caches.has(KEPT))) return;
  return (await (await caches.open(KEPT)).match(folder.href))?.json();
}

/** What is kept: the addresses, and of the newest build its list and how many of its files are there. */
export async function state() {
  const list = (await whole()) ?? given;
  const kept = new Map();
  for (const name of await caches.keys())
    if (name.startsWith(`${KEPT} ${language} `)) kept.set(name, await (await caches.open(name)).keys());
  const addresses = new Set([...kept.values()].flat().map(({ url }) => url));
  const done = (list && kept.get(nameOf(list))?.length) || addresses.size;
  return { list, addresses, done, total: list && Object.keys(list.files).length };
}

export async function forget() {
  localStorage.setItem(OFF, "1");
  for (const name of await caches.keys())
    if (name === KEPT || name.startsWith(`${KEPT} `)) await caches.delete(name);
  await (await navigator.serviceWorker.getRegistration(site))?.unregister();
  changed();
}

export function keep() {
  localStorage.removeItem(OFF);
  return check();
}

const changed = () => document.dispatchEvent(new CustomEvent("d2l:kept"));

/** The same files in what is kept already, of an earlier build or another language: hash → where. */
async function twins() {
  const found = new Map();
  if (!(await caches.has(KEPT))) return found;
  const lists = await caches.open(KEPT);
  for (const request of await lists.keys()) {
    const answer = await lists.match(request);
    const cacheName = answer.headers.get("x-cache");
    for (const [path, hash] of Object.entries((await answer.json()).files))
      found.set(hash, [new URL(path, request.url).href, { cacheName }]);
  }
  return found;
}

async function fetched(address, integrity) {
  const answer = await fetch(address, { integrity, cache: "no-cache", priority: "low" });
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.redirected ? new Response(answer.body, answer) : answer; // else no page may be made of it
}

/** Fetch what is missing of a build, one file at a time; where the reader saves data, only what was seen. */
async function fill(list) {
  const cache = await caches.open(nameOf(list));
  const there = new Set((await cache.keys()).map(({ url }) => url));
  const seen = new Set([here]);
  for (const { name } of performance.getEntriesByType("resource")) seen.add(name);
  for (const path of Object.keys(list.files)) if (path.includes("offline")) seen.add(addressOf(path)); // what says so
  const missing = Object.entries(list.files)
    .map(([path, hash]) => [addressOf(path), hash])
    .filter(([address]) => !there.has(address))
    .toSorted(([one], [other]) => seen.has(other) - seen.has(one)); // what was seen first
  const known = missing.length ? await twins() : new Map();
  for (const [address, hash] of missing) {
    if (spares() && !seen.has(address)) return;
    await idle();
    if (isOff()) return;
    const twin = known.get(hash) && (await caches.match(...known.get(hash)));
    await cache.put(address, twin ?? (await fetched(address, hash)));
  }
  const headers = { "content-type": "application/json", "x-cache": nameOf(list) };
  await (await caches.open(KEPT)).put(folder.href, new Response(JSON.stringify(list), { headers }));
}

const styles = new CSSStyleSheet();
styles.replaceSync(`
  .news { position: fixed; z-index: 30; inset: auto 1rem 1rem; max-width: 30rem; margin-inline: auto;
    padding: .6rem .6rem .6rem 1rem; display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .5rem;
    border: 1px solid var(--d2l-line); border-radius: 12px; background: var(--d2l-bg); font-size: .9rem;
    box-shadow: 0 8px 32px rgb(0 0 0 / .2) }
  .news:empty { display: none }
  .news span { flex: 1 1 16rem }
  .news button { min-height: 2.75rem }
  @media print { .news { display: none } }
`);

let given; // the list of the build that the server has
let working = Promise.resolve();
// a failure is silent: the site works as before
const inTurn = (work) => (working = working.then(work).catch(() => {}));

async function fillAlone(list) {
  await navigator.locks.request(KEPT, { ifAvailable: true }, (lock) => lock && fill(list));
  await announce();
}

function check() {
  delete root.dataset.kept;
  return inTurn(async () => {
    const registered = await navigator.serviceWorker.register(new URL("worker.js", site), { updateViaCache: "none" });
    if (!navigator.onLine) return;
    const answer = await fetch(new URL("offline.json", folder), { cache: "no-cache" });
    if (!answer.ok) return;
    given = await answer.json();
    const kept = await whole();
    // an old build would hide the new one for good, as not all of it is fetched
    if (spares() && kept && kept.build !== given.build) await (await caches.open(KEPT)).delete(folder.href);
    if (kept?.build !== given.build) await fillAlone(given);
    const now = await whole();
    if (dataset.version === given.build && (now?.build === given.build || spares()))
      registered.active?.postMessage({ language, build: given.build });
  }).then(finished);
}
function finished() {
  root.dataset.kept = ""; // as much as there will be for now
  changed();
}

/** Say in every open page that the newest build is here now; one that is older offers to show it. */
const channel = new BroadcastChannel(KEPT);
async function announce() {
  channel.postMessage(language);
  await compare();
}
async function compare() {
  changed();
  const kept = await whole();
  if (!kept || kept.build === dataset.version || document.querySelector(".news")) return;
  document.adoptedStyleSheets.push(styles);
  const news = document.createElement("aside");
  news.className = "news buttons";
  news.setAttribute("role", "status");
  const text = document.createElement("span");
  text.textContent = kept.words.news;
  const button = (label, action) => {
    const made = document.createElement("button");
    made.textContent = label;
    made.addEventListener("click", action);
    return made;
  };
  // nothing reloads by itself: the reader may be in the middle of an answer
  const reload = button(kept.words.reload, () => location.reload());
  const later = button(kept.words.later, () => news.remove());
  document.body.append(news);
  // it is there before its text, so that this is read out
  requestAnimationFrame(() => news.append(text, reload, later));
}
channel.addEventListener("message", ({ data }) => data === language && inTurn(compare));

// In the foot of a page: what is kept.
const link = document.querySelector(".to-offline");
async function show() {
  const { list, done, total } = await state();
  if (!link) return;
  link.dataset.text ??= link.textContent;
  link.textContent = done && done === total ? list.words.kept.replace("{size}", list.size) : link.dataset.text;
}
document.addEventListener("d2l:kept", () => inTurn(show));

// A phone may show the course among its apps.
const manifest = Object.assign(document.createElement("link"), { rel: "manifest", href: addressOf("app.webmanifest") });
document.head.append(manifest);

if (isOff()) changed();
else {
  check();
  if (spares()) new PerformanceObserver(() => given && inTurn(() => fillAlone(given))).observe({ type: "resource" });
  let last = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || isOff() || Date.now() - last < 600_000) return;
    last = Date.now();
    check();
  });
  addEventListener("online", () => isOff() || check());
}
