// Questions about the parts of the course: five before a part, the same five after it, ten between two parts. Each is
// an exercise with fresh numbers, and one answer counts. What was answered here is kept apart from the exercises.

import { element } from "course:dom";
import { fill, plural } from "course:text";
import { adopt } from "./page.js";
import { recall, remember } from "./storage.js";
import words from "course:words";
import STYLE from "./review.css";

const KEY = "d2lmini-review";
/** {rounds: {name: {ids, results}}, asked: {id: {variant, right}}}: a round goes on where it was left. */
const kept = () => ({ rounds: {}, asked: {}, ...recall(KEY) });
const isOver = (round) => round?.results.length === round?.ids.length;

export function start(host) {
  adopt(STYLE);
  const parts = [...document.querySelectorAll("[data-part]")];
  const known = parts.flatMap((part) =>
    [...(part.querySelector("template")?.content.children ?? [])].map(({ dataset }) => dataset.id));

  /** Ten of the chapters that the reader has worked in: first what was missed, then what was not asked yet. */
  function ten() {
    const answers = host.answers();
    const read = new Set(Object.keys(answers).map((id) => id.split("/")[0]));
    const { asked } = kept();
    const isMissed = (id) => (asked[id] ? !asked[id].right : (answers[id]?.tries ?? 0) > 1);
    return known
      .filter((id) => read.has(id.split("/")[0]))
      .map((id) => [(isMissed(id) ? 0 : asked[id] ? 2 : 1) + Math.random(), id])
      .toSorted(([one], [other]) => one - other)
      .slice(0, 10)
      .map(([, id]) => id);
  }

  /** Show one question; resolves with whether the first answer to it was right. */
  function ask(box, id, title, silent) {
    const variant = ((kept().asked[id] ?? host.answers()[id])?.variant ?? 0) + 1;
    let answer = { variant };
    return new Promise((resolve) => {
      let right;
      const goOn = () => resolve({ variant, right: right ?? false });
      const next = element("button", { type: "button", onclick: goOn }, words.pass);
      const keepAnswer = (_, given) => {
        answer = given;
        if (right !== undefined || !(given.checked || given.revealed)) return;
        right = Boolean(given.checked && given.right && !given.hints);
        if (silent) goOn();
        else next.textContent = words.next;
      };
      const place = element("div", { class: "d2l-widget", "data-widget": "exercise", "data-id": id });
      const heading = element("h3", { tabindex: -1 }, title);
      box.replaceChildren(heading, place, element("p", { class: "buttons" }, next));
      host.show(place, { answers: () => ({ [id]: answer }), keepAnswer });
      heading.scrollIntoView();
      heading.focus();
    });
  }

  /** Ask the questions of a round, from where it was left; each answer is kept at once. */
  async function run(part, name, round) {
    const box = element("div", { class: "round", "data-round": name });
    for (const other of parts) other.hidden = other !== part;
    part.querySelector(".score").remove();
    part.querySelector(".buttons").replaceWith(box);
    while (!isOver(round)) {
      const id = round.ids[round.results.length];
      const title = fill(words.question, { place: round.results.length + 1, of: round.ids.length });
      const given = await ask(box, id, title, name.endsWith("before"));
      round = { ...round, results: [...round.results, given.right] };
      const { rounds, asked } = kept();
      remember(KEY, { rounds: { ...rounds, [name]: round }, asked: { ...asked, [id]: given } });
    }
    box.remove();
    parts.forEach(show);
    part.querySelector(".score").focus();
  }

  /** What a part offers, and what came of it so far. */
  function show(part) {
    const { part: key, five } = part.dataset;
    const { rounds } = kept();
    const ofPart = () => five.split(" ");
    const choices = key === "ten" ? { ten } : { before: ofPart, after: ofPart };
    const buttons = element("p", { class: "buttons" });
    const told = {};
    for (const [kind, choose] of Object.entries(choices)) {
      const name = `${key} ${kind}`;
      const last = rounds[name]?.ids.every((id) => known.includes(id)) ? rounds[name] : undefined;
      if (last && isOver(last)) told[kind] = { right: last.results.filter(Boolean).length, of: last.ids.length };
      if (kind === "before" && told.before) continue; // it would no longer be before
      const round = last && !isOver(last) ? last : { ids: choose(), results: [] };
      const label = round.results.length
        ? fill(words.go_on, { place: round.results.length + 1, of: round.ids.length })
        : words[kind];
      const onclick = () => run(part, name, round);
      if (round.ids.length) buttons.append(element("button", { type: "button", onclick }, label));
    }
    const more = (told.after?.right ?? 0) - (told.before?.right ?? 0);
    const said = Object.entries(told).map(([kind, score]) => fill(words[`score_${kind}`], score));
    if (told.before && more > 0) said.push(fill(plural(words.more, more), { count: more }));
    if (!buttons.childElementCount) said.push(words.nothing_read);
    part.hidden = false;
    part.querySelectorAll(".buttons, .score").forEach((node) => node.remove());
    part.append(buttons, element("p", { class: "score", tabindex: -1 }, said.join(" ")));
  }

  parts.forEach(show);
  document.addEventListener("d2l:answers", () => document.querySelector(".round") ?? parts.forEach(show));
}
