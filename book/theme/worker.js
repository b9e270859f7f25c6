// Answers from what the pages have kept (offline.js says what and how), so that the course can be read without
// network. It knows nothing of its own between two requests: which build is whole stands in the caches.

const SITE = new URL(self.registration.scope).pathname;
const KEPT = `d2lmini ${SITE}`; // the caches belong to the whole host: their names tell whose they are
// What an author serves on the own machine changes at any time, and costs nothing to ask for.
const LOCAL = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

addEventListener("install", () => self.skipWaiting());
addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
addEventListener("message", (event) => event.waitUntil(tidy(event.data)));
addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !pathname.startsWith(SITE)) return;
  if (request.integrity) return; // offline.js wants it from the server
  event.respondWith(answer(request));
});

/** The caches of this site: those of the builds that are whole, and all, these first. */
async function stores() {
  const whole = [];
  if (await caches.has(KEPT)) {
    const manifests = await caches.open(KEPT);
    for (const request of await manifests.keys()) whole.push((await manifests.match(request)).headers.get("x-cache"));
  }
  const others = (await caches.keys()).filter((name) => name.startsWith(`${KEPT} `) && !whole.includes(name));
  return { whole, all: [...whole, ...others] };
}

async function find(names, address) {
  for (const cacheName of names) {
    const found = await caches.match(address, { cacheName });
    if (found) return found;
  }
}

async function answer(request) {
  const { whole, all } = await stores();
  const url = new URL(request.url);
  const isPage = request.mode === "navigate";
  // With its version an address means the same file in every build: a page that is still open gets its own ones.
  if (url.search && !isPage) return (await find(all, url.href)) ?? fetch(request);
  url.search = url.hash = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  else if (isPage && !url.pathname.split("/").at(-1).includes(".")) url.pathname += ".html";
  // Any other address comes from the build that is whole, or from the server: not from one that is half there.
  const kept = LOCAL ? undefined : await find(whole, url.href);
  if (kept) return kept;
  try {
    return await fetch(request);
  } catch (failure) {
    const rest = await find(all, url.href);
    if (rest) return rest;
    if (isPage) return noPage(url.pathname, all);
    throw failure;
  }
}

/** Leads to the page that says so, in the language that was asked for, else in one that is kept. */
async function noPage(wanted, names) {
  const asked = wanted.slice(SITE.length).split("/")[0];
  const languages = names.map((name) => name.slice(KEPT.length + 1).split(" ")[0]);
  for (const language of [asked, ...languages]) {
    const address = new URL(`${SITE}${language}/offline.html`, location.href);
    if (!(await find(names, address.href))) continue;
    address.search = new URLSearchParams({ wanted });
    return Response.redirect(address.href);
  }
  return Response.error();
}

/** Delete the other builds of a language, if the page that asks is the only one open: another may need them. */
async function tidy({ language, build }) {
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (open.length > 1) return;
  for (const name of await caches.keys())
    if (name.startsWith(`${KEPT} ${language} `) && !name.endsWith(` ${build}`)) await caches.delete(name);
}
