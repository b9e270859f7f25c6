// A sentence, and lines from one of its words to those that it listens to. The first page shows a stored copy of what
// is drawn here until the explorer comes; `course.py previews` stores it.

import { element, svg } from "./dom.js";
import { fill } from "./text.js";
import { attend, embed, sentenceHead } from "./tiny-attention.js";
import words from "course:words";

const EVEN = 0.25; // a word of which nobody gets more listens to all alike
const TOLD = 3;
// in pixels, as in the styles: room for lines above the words, height of the words
const LINES = { wide: 128, narrow: 62 };
const WORD = { wide: 72, narrow: 62 };

const rows = words.rows.map((row) => row.split(" "));

export const tokens = rows.flat();

/** Whom each word listens to. */
export const weights = attend(tokens.map(embed), sentenceHead());

/** How much of the line a word takes: by its letters, of which Chinese ones are twice as wide. */
const room = (token) => 2.4 + [...token].reduce((sum, letter) => sum + (letter > "\u2e80" ? 2 : 1), 0);
const roomOf = (row) => row.reduce((sum, token) => sum + room(token), 0);

/** The middle of each word, from 0 to 1000 across, and its line. */
function middles(lines) {
  return lines.flatMap((row, line) => {
    let before = 0;
    return row.map((token) => {
      const x = Math.round((1000 * (before + room(token) / 2)) / roomOf(row));
      before += room(token);
      return { x, line };
    });
  });
}

/** The line from one word to another, above the words of a row or between two rows. */
function way(from, to, kind) {
  const step = LINES[kind] + WORD[kind];
  const top = (place) => place.line * step + LINES[kind];
  if (from.line === to.line) {
    const low = top(from) - 2;
    const spread = from === to ? (kind === "wide" ? 14 : 34) : 0;
    const rise = 34 + Math.abs(to.x - from.x) * (kind === "wide" ? 0.26 : 0.1);
    const high = Math.round(low - Math.min(LINES[kind] * 1.25, rise));
    return `M${from.x - spread} ${low}C${from.x - spread} ${high} ${to.x + spread} ${high} ${to.x + spread} ${low}`;
  }
  const down = from.line < to.line;
  const start = down ? top(from) + WORD[kind] : top(from) - 2;
  const end = down ? top(to) - 2 : top(to) + WORD[kind];
  const middle = (start + end) / 2;
  return `M${from.x} ${start}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${end}`;
}

/** Draw the sentence. Returns its root, the words, and how to choose one. */
export function scene() {
  const buttons = tokens.map((token) =>
    element(
      "button",
      { class: "word", type: "button", role: "radio", "data-word": token },
      element("span", { class: "name" }, token),
      element("span", { class: "share" }),
    ),
  );
  const left = [...buttons];
  const asRow = (row) =>
    element(
      "div",
      { class: "row", role: "presentation", style: `--room: ${roomOf(row)}` },
      left.splice(0, row.length),
    );
  const pictures = Object.entries({ wide: [tokens], narrow: rows }).map(([kind, lines]) => ({
    kind,
    places: middles(lines),
    node: svg("svg", {
      class: `lines ${kind}`,
      viewBox: `0 0 1000 ${lines.length * (LINES[kind] + WORD[kind])}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    }),
  }));
  const said = element("p", { class: "said", "aria-live": "polite" });
  const root = element(
    "div",
    { class: "d2l-listening" },
    element("p", { class: "invite" }, words.invite),
    element(
      "div",
      { class: "sentence" },
      pictures.map(({ node }) => node),
      element("div", { class: "rows", role: "radiogroup", "aria-label": words.row }, rows.map(asRow)),
    ),
    said,
    element("p", { class: "note" }, words.note),
  );

  /** Show whom a word listens to. */
  function choose(at) {
    const row = weights[at];
    buttons.forEach((button, i) => {
      button.setAttribute("class", i === at ? "word chosen" : "word");
      button.setAttribute("style", `--room: ${room(tokens[i])}; --share: ${row[i].toFixed(2)}`);
      button.setAttribute("aria-checked", i === at);
      button.setAttribute("tabindex", i === at ? 0 : -1);
      button.lastChild.textContent = row[i].toFixed(2);
    });
    for (const { kind, places, node } of pictures) {
      node.replaceChildren(
        ...row.map((weight, i) =>
          svg("path", {
            d: way(places[at], places[i], kind),
            "stroke-width": (0.8 + (kind === "wide" ? 11 : 8) * weight).toFixed(1),
            "stroke-opacity": (0.2 + 0.75 * weight).toFixed(2),
          }),
        ),
      );
    }
    const order = row.map((weight, i) => [weight, i]).toSorted((a, b) => b[0] - a[0] || a[1] - b[1]);
    const list = order
      .slice(0, TOLD)
      .map(([weight, i]) => `${tokens[i]} ${weight.toFixed(2)}`)
      .join(words.comma);
    said.textContent = fill(order[0][0] > EVEN ? words.listens : words.evenly, { token: tokens[at], list });
  }
  choose(tokens.indexOf(words.first));
  return { root, buttons, choose };
}
