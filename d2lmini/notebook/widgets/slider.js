import { h } from "./vendor/preact/preact.min.js";

const THUMB = 20; // pixels: its middle reaches neither end of the track
const APART = 6; // pixels: a finger that has moved so far does not tap

/**
 * A slider, as a component, with a label that shows its value, with so many digits or as the text that `show` makes of
 * it; `set` gets the number. A finger moves it sideways or by
 * a tap: a swipe up or down that begins on it scrolls the page and changes nothing. The range itself would jump as soon
 * as it is touched, so it gets keys only.
 */
export function Slider({ label, value, min, max, step, digits, show = (number) => number.toFixed(digits), set }) {
  const take = ({ currentTarget, clientX }) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (clientX - left - THUMB / 2) / (width - THUMB)));
    currentTarget.firstChild.focus({ preventScroll: true });
    set(Number((min + Math.round((share * (max - min)) / step) * step).toFixed(4)));
  };
  const follow = (event) => {
    event.currentTarget.began = "follows";
    event.currentTarget.setPointerCapture(event.pointerId);
    take(event);
  };
  const onPointerDown = (event) => {
    event.preventDefault(); // or the press takes the focus away again
    if (event.pointerType === "touch") event.currentTarget.began = [event.clientX, event.clientY];
    else follow(event);
  };
  const onPointerMove = (event) => {
    const { began } = event.currentTarget;
    if (began === "follows") take(event);
    else if (began) {
      const [x, y] = [Math.abs(event.clientX - began[0]), Math.abs(event.clientY - began[1])];
      if (x > APART && x > y) follow(event);
      else if (y > APART) event.currentTarget.began = null;
    }
  };
  const onPointerUp = (event) => {
    if (Array.isArray(event.currentTarget.began)) take(event);
    event.currentTarget.began = null;
  };
  const onPointerCancel = (event) => (event.currentTarget.began = null); // the page scrolls
  const onInput = (event) => set(Number(event.target.value));
  const shown = show(value);
  const named = { "aria-label": label, "aria-valuetext": shown };
  return h(
    "label",
    { class: "slide" },
    h("span", {}, label, " = ", h("output", {}, shown)),
    h(
      "span",
      { class: "rail", onPointerDown, onPointerMove, onPointerUp, onPointerCancel },
      h("input", { type: "range", min, max, step, value, onInput, ...named }),
    ),
  );
}
