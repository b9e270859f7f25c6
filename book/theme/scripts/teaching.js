// A class's progress codes as a table: read, joined and shown in this page alone; nothing is sent.

import { copyText } from "course:copy";
import { button, element } from "course:dom";
import { fill, plural } from "course:text";
import { unpack } from "./code.js";
import { adopt, fetchJson, versioned } from "./page.js";
import words, { language } from "course:words";
import STYLE from "./teaching.css";

const SHOWN = 10; // so many exercises on which the class is stuck

/** The chapters as the navigation lists them, of the ids of their exercises: {name, title, ids}. */
const chaptersOf = (exerciseIds) =>
  [...exerciseIds].map(([name, ids]) => {
    const [number, title] = document.querySelectorAll(`#site-chapters [data-chapter="${name}"] a > span`);
    return { name, title: `${number.textContent} ${title.textContent}`, ids };
  });

/** Each code of a text with what follows it, as mails quote and break them, and where it stands. */
function pieces(text, placeOf) {
  const clean = text.replace(/^[> \t]+|=\r?$/gm, "");
  if (clean.trimStart().startsWith("{")) return [{ text: clean, place: placeOf(1) }];
  const found = [...clean.matchAll(/d2l\d\.(?:(?!d2l\d\.)[^])*/g)].map(({ 0: code, index }) =>
    ({ text: code, place: placeOf(clean.slice(0, index).split("\n").length) }));
  return found.length || !clean.trim() ? found : [{ text: "", place: placeOf(1) }];
}

/** What codes hold, a row a person, and what is to be said of those that are left out. */
async function collect(codes, moved) {
  const rows = new Map();
  const said = [];
  for (const { text, place } of codes)
    try {
      const { answers, name, made } = await unpack(text);
      for (const id of Object.keys(answers)) if (Object.hasOwn(moved, id)) answers[moved[id]] ??= answers[id];
      const key = name ? name.normalize("NFC").toLowerCase() : JSON.stringify(answers);
      const row = { name: name || place, place, made, answers };
      const other = rows.get(key);
      const [newer, older] = other && other.made > made ? [other, row] : [row, other];
      if (older) said.push(fill(words.doubled, { name: newer.name, place: older.place }));
      rows.set(key, newer);
    } catch {
      said.push(fill(words.broken, { place }));
    }
  return { rows: [...rows.values()], said };
}

/** A spreadsheet takes a cell that begins so for a formula. */
const harmless = (cell) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);
const tsv = (cells) => cells.map((row) => row.map((cell) => harmless(cell).replace(/\s/g, " ")).join("\t")).join("\n");

/** The table: titles, then a row a person; only chapters in which somebody has answered something. */
function tabulate(rows, chapters) {
  const done = ({ answers }, ids) => ids.filter((id) => answers[id]?.done === true).length;
  const every = chapters.flatMap(({ ids }) => ids);
  const worked = chapters.filter(({ ids }) => rows.some(({ answers }) => ids.some((id) => answers[id])));
  const columns = [{ ids: every }, ...worked];
  const head = [words.name, words.made, words.total, ...worked.map(({ title }) => title)];
  return [head, ...rows.map((row) =>
    [row.name, row.made, ...columns.map(({ ids }) => `${done(row, ids)}/${ids.length}`)])];
}

/** The exercises that most have tried and not solved. */
function stuck(rows, chapters) {
  const counted = chapters.flatMap(({ name, title, ids }) => ids.map((id) => {
    const tried = rows.filter(({ answers }) => answers[id]);
    const solved = tried.filter(({ answers }) => answers[id].done === true).length;
    return { page: name, called: `${title}: ${id.split("/")[1]}`, solved, open: tried.length - solved };
  }));
  return counted.filter(({ open }) => open).toSorted((a, b) => b.open - a.open || a.solved - b.solved).slice(0, SHOWN);
}

const tableOf = (caption, [head, ...rows]) =>
  element("div", { class: "scroll table", tabindex: 0, role: "region", "aria-label": caption },
    element("table", {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, head.map((cell) => element("th", { scope: "col" }, cell)))),
      element("tbody", {}, rows.map(([first, ...cells]) => element("tr", {},
        element("th", { scope: "row" }, first), cells.map((cell) => element("td", {}, cell)))))));

export function start(place, exerciseIds) {
  adopt(STYLE);
  const chapters = chaptersOf(exerciseIds);
  let [files, cells] = [[], []]; // {name, text}; of the table
  const field = element("textarea", { id: "class-codes", rows: 6, spellcheck: "false", autocomplete: "off",
    placeholder: "d2l1.…\nd2l1.…" });
  const chosen = element("input", { type: "file", multiple: true, hidden: true,
    onchange: () => take(chosen.files) });
  const status = element("div", { class: "status", role: "status" });
  const result = element("div", {});
  const tag = language.tag;
  const day = new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short" });
  const when = (made) => (made ? day.format(new Date(made)) : words.undated);

  async function take(list) {
    const read = async (file) => ({ name: file.name, text: await file.text() });
    files = [...files, ...await Promise.all([...list].map(read))];
    await show();
  }

  async function show() {
    const typed = pieces(field.value, (line) => fill(words.line, { line }));
    const codes = [...typed, ...files.flatMap(({ name, text }) => pieces(text, () => name))];
    const { exercises } = await fetchJson(versioned("moved.json"));
    const { rows, said } = await collect(codes, exercises);
    rows.sort((a, b) => a.name.localeCompare(b.name, tag, { numeric: true }));
    cells = tabulate(rows, chapters);
    const summary = codes.length ? fill(plural(words.read, rows.length), { count: rows.length }) : words.nothing;
    status.replaceChildren(...[summary, ...said].map((text) => element("p", {}, text)));
    const hard = stuck(rows, chapters).map(({ page, called, solved, open }) =>
      [element("a", { href: `${page}.html` }, called), `${open}`, `${solved}`]);
    result.replaceChildren(...(rows.length ? [
      tableOf(words.caption, cells.map((row, i) => (i ? row.with(1, when(row[1])) : row))),
      element("p", { class: "buttons" }, button(words.sheet, copy)),
    ] : []), ...(hard.length ? [tableOf(words.hard, [[words.exercise, words.open, words.solved], ...hard])] : []));
  }

  const copy = async () => status.replaceChildren((await copyText(tsv(cells))) ? words.copied : words.copy_failed);
  function clear() {
    files = [];
    for (const one of [field, chosen]) one.value = "";
    for (const node of [status, result]) node.replaceChildren();
  }
  place.ondragover = (event) => event.preventDefault();
  place.ondrop = (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  };
  place.replaceChildren(element("label", { for: field.id }, words.label), field,
    element("p", { class: "buttons" }, button(words.show, show, { class: "main" }), " ",
      button(words.files, () => chosen.click()), " ", button(words.clear, clear)),
    chosen, status, result);
}
