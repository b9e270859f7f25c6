// Every exercise is shown by this module. `state` holds it in the reader's language, compiled by
// `python -m tools.exercises.compile`; `answer` holds what the reader did:
// {given, variant, tries, hints, checked, right, revealed, done}.

import { element, freshId } from "./dom.js";
import { KINDS } from "./kinds.js";
import { richText } from "./rich-text.js";
import { attachStyles } from "./theme.js";
import words, { language } from "course:words";
import STYLE from "./exercise.css";

export default {
  render({ model, el }) {
    const state = model.get("state");
    const uid = freshId();
    let answer = { ...model.get("answer") };
    const variants = state.variants || [{}];
    const ctx = {
      state,
      uid,
      variant: () => variants[(answer.variant || 0) % variants.length] || variants[0],
      plain: (text) => richText(text, ctx.variant().text).textContent,
      check: () => check(),
      changed: () => changed(),
      keep: () => changed(),
    };

    const root = element("div", {
      class: "d2l-exercise",
      role: "group",
      "aria-label": words[`kind_${state.kind}`],
      lang: language.tag,
      "data-katex": [...document.fonts].some((font) => font.family.includes("KaTeX_Math")),
    });
    const question = element("div", { class: "d2l-question", id: `${uid}-question` });
    const kicker = element("div", { class: "d2l-kicker" });
    const verdict = element("div", { class: "d2l-verdict", role: "status" });
    const help = element("div", { class: "d2l-help", "aria-live": "polite" });
    const bar = element("div", { class: "d2l-bar" });
    const undress = attachStyles(el, root, "exercise", STYLE);

    const button = (label, act, main) =>
      element("button", { type: "button", class: main ? "d2l-main" : null, onclick: act }, label);
    const text = (segments) => richText(segments, ctx.variant().text);
    const kind = KINDS[state.kind](ctx);
    const predicted = state.kind === "predict";
    const hints = state.hints || [];

    const checkButton = kind.unchecked
      ? null
      : button(predicted ? words.commit : kind.reveals ? words.compare : words.check, () => check(), true);
    const helpButton = button("", () => helpMore());
    const againButton = button("", () => again());
    bar.append(...[checkButton, helpButton, againButton].filter(Boolean));
    root.append(kicker, question, kind.node, bar, verdict, help);
    el.append(root);

    function store(change) {
      answer = { ...answer, ...change };
      model.set("answer", answer);
      model.save_changes();
    }

    function settled() {
      return answer.checked && (answer.right || predicted || kind.reveals);
    }

    function check() {
      const given = kind.read();
      if (given === null) {
        say("0.5", words[state.kind === "number" ? "number_first" : "choose_first"], [], kind.empty);
        return kind.focus();
      }
      const result = kind.judge(given);
      if (result.unread) {
        say("0.5", "", result.notes);
        return kind.focus();
      }
      const done = answer.done || result.ok || predicted;
      store({ given, checked: true, right: result.ok, tries: (answer.tries || 0) + 1, done });
      update();
      if (settled() && !checkButton.isConnected) (againButton.hidden ? help.lastElementChild : againButton)?.focus();
    }

    // the reader changed the answer: an old verdict no longer speaks of it
    function changed() {
      const given = kind.partial ? kind.partial() : kind.read();
      if (kind.reveals) return store({ given });
      store({ given, checked: false, right: false });
      update();
    }

    function helpMore() {
      const shown = answer.hints || 0;
      if (shown < hints.length) store({ hints: shown + 1 });
      else store({ revealed: true });
      update();
      if (answer.revealed) focusHelp();
    }

    function focusHelp() {
      help.lastElementChild?.focus();
    }

    function again() {
      const variant = state.variants ? ((answer.variant || 0) + 1) % variants.length : 0;
      store({ given: null, checked: false, right: false, hints: 0, revealed: false, variant });
      kind.write(null);
      update();
      kind.focus();
    }

    function say(good, mark, notes, plain) {
      verdict.dataset.good = good;
      const icon = { 1: "✓ ", 0: "✗ ", 0.5: "" }[good];
      const first = plain || mark;
      verdict.replaceChildren(
        ...(first ? [element("p", {}, element("strong", { class: "d2l-mark" }, icon + first))] : []),
        ...notes.map((note) => element("p", {}, text(note))),
      );
    }

    function shownHelp() {
      const shown = [];
      if (!settled())
        hints
          .slice(0, answer.hints || 0)
          .forEach((hint, k) => shown.push([k ? words.stronger_hint : words.hint, text(hint)]));
      if (state.solution && (answer.revealed || settled())) {
        const name = predicted ? words.reveal : kind.reveals ? words.model_answer : words.solution;
        const body = element("div", {}, text(state.solution));
        if (state.solution_code)
          body.append(element("pre", { tabindex: "0" }, element("code", {}, state.solution_code.trimEnd())));
        if (state.points)
          body.append(
            element("p", {}, words.points),
            element(
              "ul",
              {},
              state.points.map((point) => element("li", {}, text(point))),
            ),
          );
        shown.push([name, body]);
      }
      return shown;
    }

    let drawn = "";
    function update() {
      const over = settled();
      kicker.replaceChildren(
        element("b", {}, words[`kind_${state.kind}`]),
        ...(answer.done ? [element("span", { class: "d2l-solved" }, `✓ ${words.done}`)] : []),
      );
      const shown = String(answer.variant || 0);
      if (question.dataset.variant !== shown) {
        question.dataset.variant = shown;
        question.replaceChildren(text(state.question));
      }
      if (!answer.checked) {
        verdict.replaceChildren();
        root.querySelectorAll(".d2l-why").forEach((node) => node.remove());
      } else if (!kind.reveals) {
        const { ok, notes, unread } = kind.judge(answer.given);
        // an older version may have read as a number what this one asks about
        if (unread) say("0.5", "", notes);
        else if (predicted) say(ok ? "1" : "0.5", ok ? words.guessed_right : words.guessed_wrong, notes);
        else say(ok ? "1" : "0", ok ? words.correct : words.not_yet, notes);
      }
      if (over) kind.explain?.(answer.given);
      // redrawn only when it changes, so that a screen reader is not told the same hint twice
      const key = JSON.stringify([answer.hints, answer.revealed, over, answer.variant]);
      if (key !== drawn) {
        drawn = key;
        help.replaceChildren(
          ...shownHelp().map(([name, body]) =>
            element(
              "div",
              { class: "d2l-solution", tabindex: "-1" },
              element("strong", { class: "d2l-name" }, name),
              body,
            ),
          ),
        );
      }
      const next = answer.hints || 0;
      if (checkButton) checkButton.hidden = over;
      helpButton.hidden = over || answer.revealed || predicted || kind.reveals;
      helpButton.textContent = next >= hints.length ? words.show_solution : next ? words.stronger_hint : words.hint;
      againButton.hidden = !(over || answer.revealed) || kind.reveals || kind.unchecked;
      againButton.textContent = variants.length > 1 ? words.try_another : words.again;
    }

    /** Show a kept answer. It may come from a file of another version: what does not fit is not shown. */
    const restore = (kept) => {
      const given = kept.given ?? null;
      const fits = given === null ? !kept.checked : kind.fits(given);
      answer = fits ? { ...kept } : kept.done === true ? { done: true } : {};
      kind.write(answer.given);
      update();
    };
    // Python, another tab or a progress code changed the answer
    const follow = () => {
      const theirs = model.get("answer") || {};
      if (JSON.stringify(theirs) !== JSON.stringify(answer)) restore(theirs);
    };
    model.on("change:answer", follow);
    restore(answer);
    return () => {
      model.off("change:answer", follow);
      undress();
    };
  },
};
