// What explorers share: one state, a view of it, one task at a time, weights that come when something needs them.

import { element } from "./dom.js";
import { frame } from "./frame.js";
import { linkButton } from "./link-button.js";
import { shareView, sharedView } from "./shared-view.js";
import { fill } from "./text.js";
import { h, render as paint } from "./vendor/preact/preact.min.js";
import { weights } from "./weights.js";
import words from "course:words";

/** No motion is wanted: what changes is there at once. */
export const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/** A button, as a part of a view. */
export const press = (content, onClick, more = {}) => h("button", { type: "button", onClick, ...more }, content);

/** Text of the course's words, with the letter of W_q lowered, as formulas write it. */
export const lowered = (text) => text.split(/_([\w\p{L}])/u).map((part, i) => (i % 2 ? h("sub", {}, part) : part));

/** A list to choose from, of pairs of a value and its name; `set` gets the value, a text. */
export function Choice({ label, value, options, set }) {
  const onChange = (event) => set(event.target.value);
  const list = options.map(([key, name]) => h("option", { key, value: key }, name));
  return h("label", { class: "choice" }, h("span", {}, label), h("select", { value, onChange }, list));
}

/**
 * One task with its tick, as a part of a view: what is to be done; once it is done, or the reader has tried and asks
 * for it, what there was to see. The texts are words.tasks and words.answers.
 */
export function Task({ tasks, state, now, act }) {
  const { task, told, seen, tried } = state;
  const to = (step) => press(step < 0 ? "‹" : "›", () => act.begin(task + step), {
    "aria-label": step < 0 ? words.task_before : words.task_after,
    disabled: !tasks[task + step], "data-on": step > 0 && Boolean(told[task]),
  });
  const again = press("↺", () => act.begin(task), { "aria-label": words.task_again });
  const mark = (_, i) => h("i", { key: i, "data-done": Boolean(told[i]), "data-now": i === task }, told[i] && "✓");
  const count = { k: told.filter(Boolean).length, n: tasks.length };
  const { values = {}, answer } = tasks[task];
  const asks = tried && answer && !told[task] && !seen[task];
  const shown = told[task] || seen[task];
  const text = lowered(fill(shown ? words.answers[task] : words.tasks[task], shown || values));
  return h("div", { class: "task", "data-look": "task" },
    h("div", { class: "head" },
      h("p", { class: "title" }, fill(words.task, { i: task + 1, n: tasks.length })),
      h("span", { class: "marks", role: "img", "aria-label": fill(words.tasks_done, count) }, tasks.map(mark)),
      again, to(-1), to(1)),
    h("p", { role: "status", "data-done": Boolean(told[task]) }, told[task] && h("b", {}, "✓ "), text,
      asks && [" ", press(words.show_answer, () => act.tell(answer(state, now)), { class: "tell" })]));
}

/**
 * A widget's module, of which each state is shown by one view.
 *
 * name, style: of its root element, of its sheet
 * start: the state at the beginning, what a link keeps; `rest`: what a link does not keep
 * tasks: in their order {scene, done, answer, values}: what of the state a task begins with; what there is to fill into
 *   its answer once the state is the one that was asked for, else false; the same for whoever gives up (a function of
 *   state and now, optional); values for the text of the task (optional)
 * View: a component of {tasks, state, now, act, wide}
 * derived: all that the view shows of a state; gets the model, too, once its weights are here
 * checkpoint, needs, read: name of the weights for a state; does a state need them; model of their bytes (all optional)
 * link, begun: what a link keeps of a state, and the state that a link asks for: input from a stranger (optional)
 * actions: what else the reader can do, from {state, now, change, begin} (optional); `painted`: after each painting
 * isTyped: is what the reader typed in a state? Then no address shows it before the reader copies a link (optional)
 */
export function explorer(kind) {
  const { name, style, start, rest = {}, tasks, View, derived = () => ({}), needs = () => false } = kind;
  const { link = (state) => pick(state, start), begun = (asked) => asked, painted = () => {}, isTyped } = kind;

  function render({ model: host, el }) {
    let state = { ...start, ...rest, task: 0, told: [], seen: [], tried: false, loading: "" };
    let wanted = null; // the state that waits for weights
    const models = new Map();
    const view = {}; // what a link keeps
    const mount = element("div", { class: "view" });
    const button = element("p", { class: "link" }, linkButton(el, name, view, words));
    const { root, undress } = frame(el, `d2l-${name}`, style, mount, button);
    const modelOf = (of) => kind.checkpoint && models.get(kind.checkpoint(of));
    const now = () => derived(state, modelOf(state));

    /** What did not come is asked for again at the next touch. */
    async function load(checkpoint) {
      const bytes = await weights(host, checkpoint);
      if (!models.has(checkpoint)) models.set(checkpoint, kind.read(bytes));
    }

    /** Bring the page to a state; the one that is there stays until the weights for it have come. */
    async function change(next, focused) {
      const asked = { ...state, tried: true, ...wanted, ...next };
      if (needs(asked) && !modelOf(asked)) {
        wanted = { ...wanted, ...next };
        show({ loading: "coming" });
        try {
          await load(kind.checkpoint(asked));
        } catch {
          const missed = wanted;
          act.retry = () => change(missed, focused);
          wanted = null;
          return show({ loading: "failed" });
        }
        if (!wanted) return; // another change has brought this one, too
        return change({}, focused);
      }
      wanted = null;
      show({ ...asked, loading: "" });
      shareView(el, name, view, isTyped?.(state));
      if (focused) mount.querySelector(focused)?.focus();
    }

    const act = {
      change,
      begin: (task, more) => change({ ...start, ...rest, ...tasks[task].scene, ...more, task, tried: false }),
      tell: (values) => show({ seen: Object.assign([...state.seen], { [state.task]: values }) }),
    };
    Object.assign(act, kind.actions?.({ ...act, state: () => state, now }));

    function show(next) {
      state = { ...state, ...next };
      const found = now();
      const done = tasks[state.task].done(state, found);
      if (done && !state.told[state.task]) state.told = Object.assign([...state.told], { [state.task]: done });
      const held = mount.contains(el.getRootNode().activeElement);
      paint(h(View, { tasks, state, now: found, act, wide: mount.clientWidth >= 560 }), mount);
      painted(mount, state, found);
      // what was pressed may be gone
      if (held && !mount.contains(el.getRootNode().activeElement))
        (mount.querySelector("[data-rest]") ?? mount.querySelector(".task button")).focus();
      Object.assign(view, link(state), { task: state.task });
    }

    const resize = new ResizeObserver(() => show({}));
    resize.observe(mount);
    if (kind.checkpoint) {
      const touched = () => load(kind.checkpoint(state)).catch(() => {}); // that is told when something needs it
      for (const event of ["pointerdown", "focusin"]) root.addEventListener(event, touched, { once: true });
    }
    show({});
    const defaults = { ...link(state), task: 0 };
    const asked = sharedView(el, name, defaults);
    if (Object.keys(defaults).some((key) => String(asked[key]) !== String(defaults[key]))) {
      const task = tasks[asked.task] ? asked.task : 0;
      change({ ...begun(asked), task, tried: false });
    }
    return () => {
      resize.disconnect();
      undress();
    };
  }

  return { render };
}

/** What an object has of the keys of another. */
export const pick = (from, keys) => Object.fromEntries(Object.keys(keys).map((key) => [key, from[key]]));

/**
 * The same for a kind that can answer all its tasks, without weights and guesses of the reader: a book on paper gets
 * tasks and answers as two lists.
 */
export function printable(kind) {
  const { start, rest = {}, tasks, derived = () => ({}) } = kind;
  const asked = ({ values = {} }, i) => fill(words.tasks[i], values);
  const told = ({ scene, answer }, i) => {
    const state = { ...start, ...rest, ...scene };
    return fill(words.answers[i], answer(state, derived(state)));
  };
  const listed = (text) => {
    const list = element("ol", {});
    paint(tasks.map((task, i) => h("li", { key: i }, lowered(text(task, i)))), list);
    return list;
  };
  return { ...explorer(kind), printed: () => [asked, told].map(listed) };
}

/** That weights are on their way or did not come, and a button to ask again; a part of a view. */
export function Loading({ state, act }) {
  if (state.loading === "coming") return h("span", { class: "coming" }, words.loading);
  if (state.loading === "failed")
    return h("span", { class: "failed" }, words.failed, " ", press(words.retry, act.retry));
  return null;
}
