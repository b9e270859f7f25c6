import { element } from "./dom.js";
import { fill } from "./text.js";

/** W_q with its letter lowered, as formulas write it. */
const lowered = (text) => text.split(/_([\w\p{L}])/u).map((part, i) => (i % 2 ? element("sub", {}, part) : part));

/**
 * Things to try: each a question that opens on its answer, and a mark once the picture has been brought to where one
 * sees it. The texts are words.questions and words.answers.
 *
 * `tries` has, in their order, {values, met}: what to fill into an answer, and whether the reader is there now.
 * Where the values take a trained model, there is {later, otherwise} instead: a function that promises them when the
 * answer is opened, and the text to show if they do not come.
 * Returns the list and a function to call after each change.
 */
export function thingsToTry(words, tries) {
  const spoken = element("p", { class: "unseen", role: "status" });
  const marks = tries.map(() => element("span", { class: "mark" }));
  const list = element(
    "ol",
    {},
    tries.map(({ values = {}, later, otherwise }, i) => {
      const answer = element("p", {}, later ? "…" : lowered(fill(words.answers[i], values)));
      const complete = () =>
        later().then(
          (found) => answer.replaceChildren(...lowered(fill(words.answers[i], found))),
          () => answer.replaceChildren(otherwise),
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
      const reached = tries.map(({ met }, i) => !marks[i].textContent && met() && i).filter((i) => i !== false);
      for (const i of reached) marks[i].textContent = ` ✓ ${words.tried}`;
      // each is said once, but two that are reached by one step are said together
      if (reached.length) spoken.textContent = `${reached.map((i) => i + 1).join(" + ")}: ${words.tried}`;
    },
  };
}
