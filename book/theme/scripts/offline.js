// Keeps visited pages in the browser, or the whole course of this language where the reader has asked for it, and says
// when it has changed. Fetched a while after a page has loaded; the worker answers from what is kept. Everything is in
// the caches of the browser:
//   "d2lmini /course/"              the list of files of each language whose newest build is here whole
//   "d2lmini /course/ en 1a2b3c4d"  the files of one build
// A build is fetched beside the one that is kept and takes its place when all of it is there. What was broken off is
// taken up by the next page. A file enters only if it is the one in the list: the browser compares the hash.

import { element } from "course:dom";
import { fill } from "course:text";
import { adopt } from "./page.js";
import { recall, remember, site } from "./storage.js";
import words from "course:words";
import STYLE from "./offline.css";

const root = document.documentElement;
const { dataset } = document.body;
const folder = new URL(`${dataset.static}../`, location.href); // of the language
const language = folder.pathname.split("/").at(-2);
const KEPT = `d2lmini ${site.pathname}`;
const CHOICE = "d2lmini-offline"; // "whole": the reader has asked for everything; "off": for nothing
// before the choice had three values it was a key of its own
const choice = () => recall(CHOICE) ?? (recall("d2lmini-offline-off") ? "off" : "visited");
const isOff = () => choice() === "off";
export const wantsWhole = () => choice() === "whole";
const nameOf = ({ build }) => `${KEPT} ${language} ${build}`;
const addressOf = (path) => new URL(path, folder).href;
const here = new URL(location.pathname.endsWith("/") ? "index.html" : location.pathname, location.href).href;
const idle = () => new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go));

/** The list of files of the build that is here whole. */
async function whole() {
  if (!(await caches.has(KEPT))) return;
  return (await (await caches.open(KEPT)).match(folder.href))?.json();
}

/** What is kept: the addresses, and of the newest build its list and how many of its files are there. */
export async function state() {
  const list = (await whole()) ?? newest;
  const kept = new Map();
  for (const name of await caches.keys())
    if (name.startsWith(`${KEPT} ${language} `)) kept.set(name, await (await caches.open(name)).keys());
  const addresses = new Set([...kept.values()].flat().map(({ url }) => url));
  const done = (list && kept.get(nameOf(list))?.length) || addresses.size;
  return { list, addresses, done, total: list && Object.keys(list.files).length };
}

export async function forget() {
  remember(CHOICE, "off");
  for (const name of await caches.keys())
    if (name === KEPT || name.startsWith(`${KEPT} `)) await caches.delete(name);
  await (await navigator.serviceWorker.getRegistration(site))?.unregister();
  changed();
}

/** Keep the whole course. */
export function keep() {
  remember(CHOICE, "whole");
  return check();
}

const changed = () => document.dispatchEvent(new CustomEvent("d2l:kept"));

/** The same files in what is kept already, of an earlier build or another language: hash → where. */
async function twins() {
  const placeByHash = new Map();
  if (!(await caches.has(KEPT))) return placeByHash;
  const lists = await caches.open(KEPT);
  for (const request of await lists.keys()) {
    const answer = await lists.match(request);
    const cacheName = answer.headers.get("x-cache");
    for (const [path, hash] of Object.entries((await answer.json()).files))
      placeByHash.set(hash, [new URL(path, request.url).href, { cacheName }]);
  }
  return placeByHash;
}

async function fetched(address, integrity) {
  const answer = await fetch(address, { integrity, cache: "no-cache", priority: "low" });
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.redirected ? new Response(answer.body, answer) : answer; // else no page may be made of it
}

/** Fetch what is missing of a build, one file at a time: what was seen, and the rest if the reader has asked for it. */
async function fetchMissing(list) {
  const cache = await caches.open(nameOf(list));
  const there = new Set((await cache.keys()).map(({ url }) => url));
  const seen = new Set([here]);
  for (const { name } of performance.getEntriesByType("resource")) seen.add(name);
  for (const path of Object.keys(list.files)) if (path.includes("offline")) seen.add(addressOf(path)); // what says so
  const missing = Object.entries(list.files)
    .map(([path, hash]) => [addressOf(path), hash])
    .filter(([address]) => !there.has(address))
    .toSorted(([one], [other]) => seen.has(other) - seen.has(one)); // what was seen first
  const copies = missing.length ? await twins() : new Map();
  for (const [address, hash] of missing) {
    if (!wantsWhole() && !seen.has(address)) return;
    await idle();
    if (isOff()) return;
    const twin = copies.get(hash) && (await caches.match(...copies.get(hash)));
    await cache.put(address, twin ?? (await fetched(address, hash)));
  }
  const headers = { "content-type": "application/json", "x-cache": nameOf(list) };
  await (await caches.open(KEPT)).put(folder.href, new Response(JSON.stringify(list), { headers }));
}

let newest; // the list of the build that the server has
let working = Promise.resolve();
// a failure is silent: the site works as before
const inTurn = (work) => (working = working.then(work).catch(() => {}));

async function fetchLocked(list) {
  await navigator.locks.request(KEPT, { ifAvailable: true }, (lock) => lock && fetchMissing(list));
  await announce();
}

/** The list of the build that the server has. */
export async function fetchList() {
  const answer = await fetch(new URL("offline.json", folder), { cache: "no-cache" });
  if (!answer.ok) throw new Error(`offline.json: ${answer.status}`);
  return answer.json();
}

function check() {
  delete root.dataset.kept;
  return inTurn(async () => {
    const registered = await navigator.serviceWorker.register(new URL("worker.js", site), { updateViaCache: "none" });
    if (!navigator.onLine) return;
    newest = await fetchList();
    const kept = await whole();
    // an old build would hide the new one for good, as not all of it is fetched
    if (!wantsWhole() && kept && kept.build !== newest.build) await (await caches.open(KEPT)).delete(folder.href);
    if (kept?.build !== newest.build) await fetchLocked(newest);
    const now = await whole();
    if (dataset.version === newest.build && (now?.build === newest.build || !wantsWhole()))
      registered.active?.postMessage({ language, build: newest.build });
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
  adopt(STYLE);
  const button = (label, onclick) => element("button", { onclick }, label);
  const news = element("aside", { class: "news buttons", role: "status" });
  // nothing reloads by itself: the reader may be in the middle of an answer
  const reload = button(words.reload, () => location.reload());
  const later = button(words.later, () => news.remove());
  document.body.append(news);
  // it is there before its text, so that this is read out
  requestAnimationFrame(() => news.append(element("span", {}, words.news), reload, later));
}
channel.addEventListener("message", ({ data }) => data === language && inTurn(compare));

// In the foot of a page: what is kept.
const link = document.querySelector(".to-offline");
async function show() {
  const { list, done, total } = await state();
  if (!link) return;
  link.dataset.text ??= link.textContent;
  link.textContent = done && done === total ? fill(words.kept, { size: list.size }) : link.dataset.text;
}
document.addEventListener("d2l:kept", () => inTurn(show));

// A phone may show the course among its apps.
document.head.append(element("link", { rel: "manifest", href: addressOf("app.webmanifest") }));

if (isOff()) changed();
else {
  check();
  // what this page fetches later is seen, too; each address once: a damaged file is not to be fetched for ever
  const noticed = new Set(performance.getEntriesByType("resource").map(({ name }) => name));
  new PerformanceObserver((list) => {
    const fresh = list.getEntries().filter(({ name }) => !noticed.has(name));
    for (const { name } of fresh) noticed.add(name);
    if (fresh.length && newest && !wantsWhole()) inTurn(() => fetchLocked(newest));
  }).observe({ type: "resource" });
  let last = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || isOff() || Date.now() - last < 600_000) return;
    last = Date.now();
    check();
  });
  addEventListener("online", () => isOff() || check());
}
