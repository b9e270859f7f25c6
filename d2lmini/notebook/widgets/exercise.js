// Every exercise is shown by this module. `state` holds it in the reader's language, compiled by
// `python -m tools.exercises.compile`; `answer` holds what the reader did:
// {given, variant, tries, hints, checked, right, revealed, done}.

import { button, element, freshId } from "./dom.js";
import { KINDS } from "./kinds.js";
import { richText } from "./rich-text.js";
import { fill } from "./text.js";
import { attachStyles } from "./theme.js";
import { keepUnsaved, unsaved } from "./unsaved.js";
import words, { language } from "course:words";
import STYLE from "./exercise.css";

const SAVED_AFTER = 1000; // ms: while a reader types, an answer is saved at most this often
const LATE = 1000; // ms: so long may Python take to keep an answer before the reader is told
const ICONS = { right: "✓ ", wrong: "✗ ", neutral: "" };

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
      typed: () => changed(SAVED_AFTER),
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
    const notice = element("div", { class: "d2l-notice", "aria-live": "polite" });
    const undress = attachStyles(el, root, { exercise: STYLE });

    const text = (markup) => richText(markup, ctx.variant().text);
    const kind = KINDS[state.kind](ctx);
    const predicted = state.kind === "predict";
    const hints = state.hints || [];

    const checkLabel = predicted ? words.commit : kind.reveals ? words.compare : words.check;
    const checkButton = kind.unchecked ? null : button(checkLabel, () => check(), { class: "d2l-main" });
    const helpButton = button("", () => helpMore());
    const againButton = button("", () => again());
    bar.append(...[checkButton, helpButton, againButton].filter(Boolean));
    root.append(kicker, question, kind.node, bar, verdict, notice, help);
    el.append(root);

    let saving = null; // the timer of what was typed and is not saved yet
    function save() {
      clearTimeout(saving);
      saving = null;
      model.set("answer", answer);
      model.save_changes();
      if (byPython) awaitPython();
    }

    // A kernel says in `kept` which answer it has in its file; the website keeps each at once. An answer that no
    // kernel has taken waits in this browser: for this kernel, which may be busy, or for one that runs the cell anew.
    const byPython = model.get("kept") !== undefined;
    let unkept = null; // the timer of an answer that Python has not kept yet
    function awaitPython() {
      const waits = keepUnsaved(state.id, answer);
      clearTimeout(unkept);
      unkept = setTimeout(() => notice.replaceChildren(words[waits ? "unsaved" : "unsaved_lost"]), LATE);
      followKept();
    }
    function followKept() {
      if (JSON.stringify(model.get("kept")) !== JSON.stringify(answer)) return;
      clearTimeout(unkept);
      unkept = null;
      keepUnsaved(state.id, null);
      notice.replaceChildren();
      update();
    }

    const saveTyped = () => saving && save();
    const leaving = new AbortController();
    root.addEventListener("change", saveTyped); // the field is left
    // JupyterLab takes no key from a widget; this one is meant for the notebook wherever the focus is
    root.addEventListener("keydown", (event) => {
      const notebook = root.closest(".jp-Notebook");
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || !notebook) return;
      event.preventDefault();
      saveTyped();
      notebook.dispatchEvent(new KeyboardEvent("keydown", event));
    });
    for (const event of ["pagehide", "visibilitychange"]) addEventListener(event, saveTyped, leaving);

    function store(change, wait = 0) {
      answer = { ...answer, ...change };
      if (wait) saving ??= setTimeout(save, wait);
      else save();
    }

    function settled() {
      return answer.checked && (answer.right || predicted || kind.reveals);
    }

    function check() {
      if (settled() && !kind.reveals) return; // Enter in its field
      const given = kind.read();
      if (given === null) {
        const first = words[state.kind === "number" ? "number_first" : "choose_first"];
        showVerdict({ state: "neutral", heading: kind.empty ?? first });
        return kind.focus();
      }
      const result = kind.judge(given);
      if (result.unread) {
        showVerdict({ state: "neutral", notes: result.notes });
        return kind.focus();
      }
      const done = answer.done || result.ok || predicted;
      store({ given, checked: true, right: result.ok, tries: (answer.tries || 0) + 1, done });
      const pressed = checkButton.matches(":focus");
      update();
      // the pressed button is gone: the focus is with what it brought
      if (pressed && checkButton.hidden) (help.lastElementChild ?? againButton).focus();
    }

    // the reader changed the answer: an old verdict no longer speaks of it
    function changed(wait = 0) {
      if (settled() && !kind.reveals) return kind.write(answer.given); // it stands, until the reader tries again
      const given = kind.partial ? kind.partial() : kind.read();
      if (kind.reveals) return store({ given }, wait);
      store({ given, checked: false, right: false }, wait);
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

    /** `state` is "right", "wrong" or "neutral"; a note is a list of strings and nodes. */
    function showVerdict({ state: judgment, heading = "", notes = [] }) {
      verdict.dataset.state = judgment;
      const mark = element("strong", { class: "d2l-mark" }, ICONS[judgment] + heading);
      verdict.replaceChildren(
        ...(heading ? [element("p", {}, mark)] : []),
        ...notes.map((note) => element("div", { class: "d2l-note" }, note)),
      );
    }

    function judged() {
      const { ok, notes, unread } = kind.judge(answer.given);
      // an older version may have read as a number what this one asks about
      if (unread) return { state: "neutral", notes };
      if (ok) return { state: "right", heading: predicted ? words.guessed_right : words.correct, notes };
      const heading = predicted ? words.guessed_wrong : words.not_yet;
      const hint = fill(words.help_above, { button: helpLabel() });
      return { state: "wrong", heading, notes: notes.length || answer.revealed ? notes : [hint] };
    }

    function helpLabel() {
      const next = answer.hints || 0;
      return next >= hints.length ? words.show_solution : next ? words.stronger_hint : words.hint;
    }

    function shownHelp() {
      const shown = [];
      if (!settled())
        hints
          .slice(0, answer.hints || 0)
          .forEach((hint, k) => shown.push([k ? words.stronger_hint : words.hint, text(hint)]));
      if (state.solution && (answer.revealed || settled())) {
        const name = predicted ? words.reveal : kind.reveals ? words.model_answer : words.solution;
        const body = element("div", {}, element("div", {}, text(state.solution)));
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
      const missed = answer.checked && !answer.right && !over;
      const solved = element("span", { class: "d2l-solved" }, `✓ ${missed ? words.done_before : words.done}`);
      const isDone = answer.done && !unkept;
      kicker.replaceChildren(element("b", {}, words[`kind_${state.kind}`]), ...(isDone ? [solved] : []));
      const shown = String(answer.variant || 0);
      if (question.dataset.variant !== shown) {
        question.dataset.variant = shown;
        question.replaceChildren(text(state.question));
      }
      if (!answer.checked) {
        verdict.replaceChildren();
        root.querySelectorAll(".d2l-why").forEach((node) => node.remove());
      } else if (!kind.reveals) showVerdict(judged());
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
      if (checkButton) checkButton.hidden = over;
      helpButton.hidden = over || answer.revealed || predicted || kind.reveals;
      helpButton.textContent = helpLabel();
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
      if (saving) return; // what is being typed here is newer
      const theirs = model.get("answer") || {};
      if (JSON.stringify(theirs) !== JSON.stringify(answer)) restore(theirs);
    };
    model.on("change:answer", follow);
    model.on("change:kept", followKept);
    restore(answer);
    const waiting = byPython && unsaved(state.id);
    if (waiting && (waiting.done || !answer.done)) {
      restore(waiting);
      save();
    }
    return () => {
      saveTyped();
      leaving.abort();
      model.off("change:answer", follow);
      model.off("change:kept", followKept);
      clearTimeout(unkept);
      undress();
    };
  },
};
