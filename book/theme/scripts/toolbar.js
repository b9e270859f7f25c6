// What stands around a slide: the line that grows, the buttons, the list of all slides, the help.
import { element, svg } from "course:dom";
import { fill } from "course:text";
import { labelOf } from "./deck.js";
import words from "course:words";

const ICONS = {
  previous: "m12 4-6 6 6 6", next: "m8 4 6 6-6 6", notes: "M4 3h12v9H4zM7 17h6M10 12v5",
  full: "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4", help: "M7 7a3 3 0 1 1 4 3c-1 .4-1 1-1 2M10 15.5v.1",
  leave: "m5 5 10 10M15 5 5 15",
};

function button(name, act) {
  const path = svg("path", { d: ICONS[name] });
  const shown = ICONS[name] && svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, path);
  const label = `${words[name]}${words.keys[name] ? ` (${words.keys[name]})` : ""}`;
  return element("button", { class: `slides-${name}`, "aria-label": label, title: label, onclick: act }, shown);
}

/** The bar at the foot: {node, update, say}. */
export function makeToolbar(commands) {
  const line = element("i", { "aria-hidden": "true" });
  const status = element("p", { class: "visually-hidden", role: "status" });
  const note = element("p", { class: "slides-note", role: "alert" });
  const count = element("button", { class: "slides-list", title: `${words.list} (${words.keys.list})`,
    onclick: commands.list });
  const made = (name) => button(name, commands[name]);
  const node = element("nav", { class: "slides-bar", "aria-label": words.bar }, line, note,
    made("previous"), count, made("next"), made("notes"),
    document.fullscreenEnabled ? made("full") : null, made("help"), made("leave"), status);
  document.body.append(node);
  let said;
  return {
    node,
    update(position, stepped) {
      line.style.width = `${(100 * (position.slide - 1 + stepped)) / Math.max(1, position.of - 1)}%`;
      count.textContent = `${position.slide} / ${position.of}`;
      count.setAttribute("aria-label", `${count.textContent}. ${words.list}`);
      const text = fill(words.at, position);
      if (text !== said) status.textContent = said = text;
      note.textContent = "";
    },
    say(text) {
      note.textContent = text;
    },
  };
}

/** A dialog that is gone once it is closed; the focus returns to where it was. */
function dialog(title, ...content) {
  const heading = element("h2", { id: "slides-dialog-title" }, title);
  const shut = element("button", { class: "icon-button", value: "close", "aria-label": words.close }, "✕");
  const node = element("dialog", { class: "slides-dialog", "aria-labelledby": "slides-dialog-title" },
    element("form", { method: "dialog" }, heading, shut), ...content);
  node.addEventListener("close", () => node.remove());
  document.body.append(node);
  node.showModal();
  return node;
}

/** All slides by their titles; what goes on under the same title says how it begins. */
export function openList(slides, now, go) {
  const list = element("ol", {}, slides.map((slide, index) => {
    const claim = slide.claim && element("i", {}, [...slide.claim.cloneNode(true).childNodes]);
    const shown = slide.part === 1 ? [element("b", {}, slide.title), claim] : element("span", {}, labelOf(slide));
    const act = () => {
      node.close();
      go(index);
    };
    return element("li", {}, element("button", { "aria-current": index === now ? "true" : null, onclick: act }, shown));
  }));
  const node = dialog(words.list, list);
  node.querySelector("h2").after(element("button", { type: "button", onclick: () => print() }, words.print));
  const buttons = [...list.querySelectorAll("button")];
  buttons[now].focus();
  node.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    const from = buttons.indexOf(document.activeElement);
    if (!by || from < 0) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, from + by))].focus();
  });
}

export function openHelp() {
  const rows = Object.entries(words.keys).flatMap(([name, keys]) => [
    element("dt", {}, keys.split(" · ").map((key) => element("kbd", {}, key))),
    element("dd", {}, words[name]),
  ]);
  dialog(words.help, element("dl", {}, rows), element("p", {}, words.about_swipe));
}
