// What the explorers of positions share: how fast a pair turns, how long a turn takes, hands that can be turned.

import { grouped } from "./text.js";

export const LAST = 60;
export const BASES = [10, 100, 1000, 10000, 500000];
const APART = 6; // pixels: a finger that has moved so far does not tap

/** The angle by which pair j turns for each step, ω_j = 1 / base^(2j/d). */
export const frequency = (j, d, base = 10000) => 1 / base ** ((2 * j) / d);

/** After so many positions pair j has turned once around. */
export const wavelength = (j, d, base) => (2 * Math.PI) / frequency(j, d, base);

/** A wavelength in the room beside a clock. */
export function short(length) {
  if (length < 100) return length.toFixed(1);
  return length < 1e6 ? grouped(length) : `${(length / 1e6).toFixed(2)}·10⁶`;
}

/** An angle as the shorter way around, from −π to π. */
export const wrapped = (angle) => Math.atan2(Math.sin(angle), Math.cos(angle));

/**
 * What turns hands about the middle of a face, which holds `.dial`: `take(angle)` says what is held by a press there,
 * clockwise from the top; `turn(held, radians)` is told how far it turns. A finger takes a hand as it takes a slider,
 * sideways first, and may then go all around; a swipe up or down that begins here scrolls the page.
 */
export function byHand(take, turn) {
  const angle = (face, [x, y]) => {
    const box = face.querySelector(".dial").getBoundingClientRect();
    return Math.atan2(x - box.left - box.width / 2, box.top + box.height / 2 - y);
  };
  const grip = ({ currentTarget, pointerId, clientX, clientY }, began) => {
    currentTarget.setPointerCapture(pointerId);
    currentTarget.held = { ...take(angle(currentTarget, began)), last: angle(currentTarget, [clientX, clientY]) };
  };
  const follow = ({ currentTarget, clientX, clientY }) => {
    const { held } = currentTarget;
    const next = angle(currentTarget, [clientX, clientY]);
    const turned = wrapped(next - held.last);
    held.last = next;
    turn(held, turned);
  };
  const onPointerDown = (event) => {
    const place = [event.clientX, event.clientY];
    if (event.pointerType === "touch") event.currentTarget.began = place;
    else grip(event, place);
  };
  const onPointerMove = (event) => {
    const { began, held } = event.currentTarget;
    if (held) return follow(event);
    if (!began) return;
    const [x, y] = [Math.abs(event.clientX - began[0]), Math.abs(event.clientY - began[1])];
    if (x > APART && x > y) grip(event, began); // what lay under the finger, not where it has come to
    else if (y > APART) event.currentTarget.began = null;
  };
  const leave = (event) => Object.assign(event.currentTarget, { began: null, held: null });
  return { onPointerDown, onPointerMove, onPointerUp: leave, onPointerCancel: leave };
}
