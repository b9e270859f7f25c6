// A figure in the whole window: as large as fits, larger by buttons, keys or a double click, moved by scrolling or
// dragging. It is the page's own figure that is shown, so that it keeps its theme and its name, and goes back after.

import { element, svg } from "course:dom";
import { adopt } from "./page.js";
import words from "course:words";
import DIALOG from "./dialog.css";
import STYLE from "./figure.css";

const STEP = 1.5;
const MOST = 6;
const ICONS = { smaller: "M5 10h10", larger: "M5 10h10M10 5v10", close: "m5 5 10 10M15 5 5 15" };

let dialog;
const parts = {};
let zoom = 1; // 1: as large as fits
let fitting = 0; // that width, in pixels

function make() {
  adopt(DIALOG + STYLE);
  for (const [name, path] of Object.entries(ICONS)) {
    const type = name === "close" ? "submit" : "button";
    const icon = svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: path }));
    const attributes = { type, class: "icon-button", "aria-label": words[name], title: words[name] };
    parts[name] = element("button", attributes, icon);
  }
  parts.stage = element("div", { class: "stage", tabindex: "0", role: "group", autofocus: true });
  parts.said = element("p", { class: "said" });
  const form = element("form", { method: "dialog" }, parts.smaller, parts.larger, parts.close);
  dialog = element("dialog", { class: "large-figure" }, form, parts.stage, parts.said);
  parts.smaller.addEventListener("click", () => scale(zoom / STEP));
  parts.larger.addEventListener("click", () => scale(zoom * STEP));
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = { "+": zoom * STEP, "=": zoom * STEP, "-": zoom / STEP, 0: 1 }[event.key];
    if (next) scale(next);
  });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  parts.stage.addEventListener("dblclick", ({ clientX, clientY }) => scale(zoom > 1 ? 1 : 2, clientX, clientY));
  parts.stage.addEventListener("pointerdown", drag);
  document.body.append(dialog);
}

/** Draw the figure at a size, so that the point at (x, y) stays where it is: the middle, if none is given. */
function scale(next, x, y) {
  const { stage } = parts;
  const figure = stage.firstElementChild;
  const box = stage.getBoundingClientRect();
  const [atX, atY] = [x ?? box.left + box.width / 2, y ?? box.top + box.height / 2];
  const before = figure.getBoundingClientRect();
  zoom = Math.min(MOST, Math.max(1, next));
  figure.style.width = `${fitting * zoom}px`;
  const after = figure.getBoundingClientRect();
  const shift = (start, size, start2, size2, at) => start2 + ((at - start) / size) * size2 - at;
  stage.scrollBy(
    shift(before.left, before.width, after.left, after.width, atX),
    shift(before.top, before.height, after.top, after.height, atY),
  );
  stage.classList.toggle("larger", zoom > 1);
  parts.smaller.setAttribute("aria-disabled", zoom <= 1);
  parts.larger.setAttribute("aria-disabled", zoom >= MOST);
}

/** A mouse moves the figure by hand; a finger scrolls it anyway. */
function drag(event) {
  if (event.pointerType !== "mouse" || event.button || zoom === 1) return;
  event.preventDefault();
  const { stage } = parts;
  const move = ({ movementX, movementY }) => stage.scrollBy(-movementX, -movementY);
  stage.setPointerCapture(event.pointerId);
  stage.focus({ focusVisible: false });
  stage.addEventListener("pointermove", move);
  stage.addEventListener("lostpointercapture", () => stage.removeEventListener("pointermove", move), { once: true });
}

/** The width at which all of the figure is seen. */
function whole(picture) {
  const { width, height } = picture.viewBox?.baseVal ?? { width: picture.naturalWidth, height: picture.naturalHeight };
  const style = getComputedStyle(parts.stage);
  const room = (size, ...sides) => sides.reduce((left, side) => left - parseFloat(style[side]), size);
  const across = room(parts.stage.clientWidth, "paddingLeft", "paddingRight");
  const down = room(parts.stage.clientHeight, "paddingTop", "paddingBottom");
  return Math.min(across, (down * width) / height);
}

/** Show a figure of the page; `opener` has the focus again afterwards. */
export function open(figure, opener) {
  if (dialog?.open) return;
  if (!dialog) make();
  const picture = [...figure.querySelectorAll("svg, img")].find((part) => part.checkVisibility());
  const name = picture.getAttribute("aria-label") || picture.alt;
  dialog.setAttribute("aria-label", name);
  parts.stage.setAttribute("aria-label", name);
  const said = figure.querySelector("desc")?.textContent ?? "";
  parts.said.textContent = said;
  parts.said.hidden = !said;

  // what keeps its place on the page meanwhile
  const place = document.createElement("div");
  place.style.height = `${figure.getBoundingClientRect().height}px`;
  figure.replaceWith(place);
  parts.stage.replaceChildren(figure);
  const fit = () => {
    fitting = whole(picture);
    scale(1);
  };
  dialog.showModal();
  fit();
  parts.stage.scrollTo(0, 0);
  if (parts.said.scrollHeight > parts.said.clientHeight) parts.said.tabIndex = 0;
  else parts.said.removeAttribute("tabindex");
  addEventListener("resize", fit);
  dialog.addEventListener("close", () => {
    removeEventListener("resize", fit);
    figure.style.width = "";
    place.replaceWith(figure);
    opener.focus({ preventScroll: true });
  }, { once: true });
}
