// The dialog that shows, exports, imports and clears what the reader has answered.

import { copyText } from "course:copy";
import { element } from "course:dom";
import { fill, plural } from "course:text";
import { adopt } from "./page.js";
import { remember } from "./storage.js";
import markup from "course:markup";
import words from "course:words";
import DIALOG from "./dialog.css";
import STYLE from "./progress.css";

// how a progress code begins; zlib-compressed JSON in base64url follows, as in d2lmini/notebook/progress.py
const CODE = "d2l1.";
const LIMIT = 1 << 20; // letters of JSON: some hundred times what all exercises need
const TOO_LONG = "too long";
const WORDS_AFTER = 50; // so many words that follow a code of several lines are left out
const DEPTH = 6; // of lists and objects in an answer: those of a matrix have three

const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream));

async function pack(progress) {
  const packed = await through(JSON.stringify(progress), new CompressionStream("deflate")).arrayBuffer();
  // one by one: as arguments of a single call they would be too many
  const letters = Array.from(new Uint8Array(packed), (byte) => String.fromCharCode(byte)).join("");
  return CODE + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The answers in a code or in the text of a file. */
async function unpack(text) {
  const [, code] = /d2l1\.((?:[\w-]|\s)+)/.exec(text) ?? [];
  if (code) text = await unpackCode(code.trim().split(/\s+/));
  if (text.length > LIMIT) throw new Error(TOO_LONG);
  const { d2lmini, answers } = JSON.parse(text);
  const all = Object.values(answers);
  if (d2lmini !== 1 || !all.every((answer) => typeof answer === "object" && answer && isFlat(answer, DEPTH)))
    throw new Error("not ours");
  return answers;
}

/** The text of a code that may be broken into lines, and that words may follow: mostly the first part is the code. */
async function unpackCode(parts) {
  const counts = [1, ...parts.map((_, i) => parts.length - i).slice(0, WORDS_AFTER)];
  for (const count of counts)
    try {
      return await inflate(parts.slice(0, count).join(""));
    } catch (error) {
      if (error.message === TOO_LONG) throw error;
    }
  throw new Error("not a code");
}

function inflate(code) {
  const letters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return limited(through(bytes, new DecompressionStream("deflate")).body);
}

/** The text of a stream, unless it is longer than any progress: a short code may unpack to gigabytes. */
async function limited(stream) {
  const decoder = new TextDecoder();
  let text = "";
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > LIMIT) {
      await reader.cancel();
      throw new Error(TOO_LONG);
    }
  }
}

/** Is a value nested no deeper? What is could not be kept: to write it as JSON takes a call for each level. */
const isFlat = (value, depth) =>
  typeof value !== "object" ||
  value === null ||
  (depth > 0 && Object.values(value).every((inner) => isFlat(inner, depth - 1)));

let dialog;
function make() {
  adopt(DIALOG + STYLE);
  document.body.insertAdjacentHTML("beforeend", markup);
  dialog = document.getElementById("site-progress");
}

export function open({ answers, progressOf, showProgress }) {
  if (!dialog) make();
  if (dialog.open) return;
  const status = dialog.querySelector(".status");
  const list = dialog.querySelector("dl");
  const form = dialog.querySelector(".code");
  const [field] = form.elements;
  const show = () => {
    showProgress();
    list.replaceChildren();
    for (const row of document.querySelectorAll("[data-chapter]")) {
      const { done, total } = progressOf(row.dataset.chapter);
      if (!total) continue;
      const name = row.querySelector("a > span:last-child").textContent;
      list.append(element("dt", {}, name), element("dd", {}, `${done} / ${total}`));
    }
  };
  const report = (text) => (status.textContent = text);
  const replace = (next) => {
    remember("d2lmini", { answers: next });
    document.dispatchEvent(new CustomEvent("d2l:answers"));
    show();
  };
  /** Keep what a file or code brings beside what is there; what is done once stays done. */
  const merge = async (text, failed) => {
    try {
      const given = await unpack(text);
      const own = answers();
      const more = Object.entries(given).filter(([id, answer]) => answer.done || !own[id]?.done);
      replace({ ...own, ...Object.fromEntries(more) });
      const count = Object.keys(given).length;
      report(fill(plural(words.import_done, count), { count }));
      dialog.scrollTop = 0; // the new counts stand at the top
      return true;
    } catch {
      report(failed);
      return false;
    }
  };
  const now = () => ({ d2lmini: 1, answers: answers() });
  const actions = {
    export() {
      const href = URL.createObjectURL(new Blob([JSON.stringify(now(), null, 1)], { type: "application/json" }));
      const link = element("a", { href, download: "d2lmini-progress.json" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
    import() {
      const onchange = async () => merge(await input.files[0].text(), words.import_failed);
      const input = element("input", { type: "file", accept: "application/json,.json", onchange });
      input.click();
    },
    async copy() {
      const code = await pack(now());
      field.value = code; // to be seen, and copied by hand where the clipboard is closed
      field.select();
      report((await copyText(code)) ? words.copied : words.copy_failed);
    },
    reset(button) {
      if (!button.dataset.sure) {
        button.dataset.sure = "1";
        button.textContent = words.reset_sure;
        return;
      }
      for (const other of ["d2lmini-place", "d2lmini-review"]) remember(other, null);
      replace({});
      calm();
      report(words.reset_done);
    },
  };
  const reset = dialog.querySelector('[data-do="reset"]');
  const calm = () => {
    delete reset.dataset.sure;
    reset.textContent = words.reset;
  };
  for (const button of dialog.querySelectorAll("[data-do]")) button.onclick = () => actions[button.dataset.do](button);
  field.onpaste = (event) => {
    event.preventDefault(); // a field drops line ends: what follows a code would become a part of it
    const text = event.clipboardData.getData("text").replace(/\s+/g, " ");
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  };
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (await merge(field.value, words.code_failed)) form.reset();
  };
  calm();
  form.reset();
  report("");
  show();
  dialog.showModal();
}
