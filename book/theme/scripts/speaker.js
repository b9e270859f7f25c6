// The presenter's window: what is shown, what comes next, the notes of the section, the time. It is the same page,
// opened as ?present=speaker; both windows may be reloaded, as each asks the other where it is.
import { element } from "course:dom";
import { fill } from "course:text";
import { commandOf } from "./input.js";
import { findBlocks } from "./deck.js";
import words from "course:words";

/** What this page has for a presentation, from book/talk.py; it changes with a notebook, without a new version. */
export async function fetchTalk() {
  const answer = await fetch(`${document.body.dataset.static}notes.json`, { cache: "no-cache" }).catch(() => ({}));
  return (answer.ok && (await answer.json())[document.body.dataset.page]) || { minutes: 0, sections: {} };
}

/** Open it; false: the browser does not let us. */
export function openSpeaker() {
  const address = new URL(location.href);
  address.searchParams.set("present", "speaker");
  return Boolean(open(address, "d2lmini-speaker", "popup,width=1100,height=720"));
}

/** A small live picture of the audience's screen, or of the one after it. */
function preview(which, label) {
  const address = new URL(location.href);
  address.searchParams.set("present", "1");
  address.searchParams.set("mirror", which);
  const frame = element("iframe", { src: address.href, title: label, tabindex: "-1" });
  const box = element("div", { class: "slides-preview" }, frame);
  let size = { width: 1280, height: 720 };
  const scale = () => {
    frame.style.width = `${size.width}px`;
    frame.style.height = `${size.height}px`;
    box.style.aspectRatio = `${size.width} / ${size.height}`;
    box.style.width = `min(100%, 50dvh * ${size.width / size.height})`;
    frame.style.transform = `scale(${box.clientWidth / size.width})`;
  };
  new ResizeObserver(scale).observe(box);
  const resize = ({ width, height }) => {
    size = { width, height };
    scale();
  };
  return { node: element("figure", {}, element("figcaption", {}, label), box), resize };
}

export async function speak(channel, send) {
  const now = preview("now", words.now);
  const next = preview("next", words.coming);
  const notes = element("div", { class: "slides-text", role: "region", "aria-label": words.notes_of, tabindex: "0" });
  const place = element("p", { role: "status" }, words.waiting);
  const clock = element("time", {});
  const elapsed = element("time", { role: "timer" });
  let since = Date.now();
  const length = element("span", {});
  let shown;
  const restart = () => {
    since = Date.now();
    tick();
  };
  function tick() {
    const seconds = Math.floor((Date.now() - since) / 1000);
    const two = (number) => String(number).padStart(2, "0");
    elapsed.textContent = `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
    clock.textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }
  tick();
  setInterval(tick, 500);
  const command = (name, label) =>
    element("button", { onclick: () => send({ command: name }) }, label);
  document.title = `${words.notes} · ${document.title}`;
  document.documentElement.dataset.presenting = "speaker";
  document.body.append(
    element("main", { class: "slides-speaker" }, element("h1", { class: "visually-hidden" }, words.notes),
      now.node, next.node, notes,
      element("footer", {}, command("previous", words.previous), command("next", words.next), place, elapsed, length,
        element("button", { onclick: restart }, words.restart), clock)),
  );
  const blocks = findBlocks(document.querySelector("article"));
  const { minutes, sections } = await fetchTalk();
  const headings = [...document.querySelectorAll("article :is(h1, h2)")].map(({ id }) => id);
  channel.addEventListener("message", ({ data }) => {
    if (!data.at) return;
    for (const { resize } of [now, next]) resize(data);
    place.textContent = fill(words.at, data) + (data.black ? ` · ${words.black}` : "");
    if (shown === data.slide) return;
    shown = data.slide;
    const before = headings.slice(0, headings.indexOf(data.section)).map((id) => sections[id]?.minutes || 0);
    length.textContent = fill(words.takes, { now: Math.round(before.reduce((a, b) => a + b, 0)), minutes });
    const note = sections[data.section]?.note;
    const written = note ? note.split(/\n\s*\n/).map((part) => element("p", {}, part)) : [];
    const said = data.said.map((index) => blocks[index].node.cloneNode(true));
    for (const node of said) delete node.dataset.part;
    notes.replaceChildren(...written, element("div", { class: "said" }, said));
    if (!notes.textContent) notes.textContent = words.no_notes;
    notes.scrollTop = 0;
  });
  document.addEventListener("keydown", (event) => {
    const { command: name, number } = commandOf(event);
    if (!name || ["full", "list", "notes", "help"].includes(name)) return;
    event.preventDefault();
    if (name === "leave") close();
    else send({ command: name, number });
  });
  send({ where: true });
}
