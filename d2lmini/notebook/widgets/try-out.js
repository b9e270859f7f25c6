import { element } from "./dom.js";
import { fill } from "./text.js";

/** W_q with its letter lowered, as formulas write it. */
const lowered = (text) => text.split(/_([\w\p{L}])/u).map((part, i) => (i % 2 ? element("sub", {}, part) : part));

/**
 * Things to try: each a question that opens on its answer, and a mark once the picture has been brought to where one
 * sees it. The texts are words.questions and words.answers.
 *
 * In their order, `answers` has the values to fill into each answer, and `met` functions that tell whether the reader
 * is there now. Where the values take a trained model, there is a function instead, which promises them when the answer
 * is opened; `failed` is shown if they do not come.
 * Returns the list and a function to call after each change.
 */
export function thingsToTry(words, answers, met, failed) {
  const spoken = element("p", { class: "unseen", role: "status" });
  const marks = met.map(() => element("span", { class: "mark" }));
  const list = element(
    "ol",
    {},
    answers.map((values, i) => {
      const later = typeof values === "function";
      const answer = element("p", {}, later ? "…" : lowered(fill(words.answers[i], values)));
      const complete = () =>
        values().then(
          (found) => answer.replaceChildren(...lowered(fill(words.answers[i], found))),
          () => answer.replaceChildren(failed),
        );
      const summary = element("summary", {}, lowered(fill(words.questions[i], values)), marks[i]);
      const ontoggle = later ? (event) => event.target.open && complete() : null;
      return element("li", {}, element("details", { ontoggle }, summary, answer));
    }),
  );
  const node = element("div", { class: "d2l-tries" }, element("p", {}, words.try_out), list, spoken);
  return {
    node,
    look() {
      const reached = [...met.keys()].filter((i) => !marks[i].textContent && met[i]());
      for (const i of reached) marks[i].textContent = ` ✓ ${words.tried}`;
      // each is said once, but two that are reached by one step are said together
      if (reached.length) spoken.textContent = `${reached.map((i) => i + 1).join(" + ")}: ${words.tried}`;
    },
  };
}
