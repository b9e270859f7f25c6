// The dialog that shows, exports, imports and clears what the reader has answered.

import { copyText } from "course:copy";
import { element } from "course:dom";
import { fill, plural } from "course:text";
import { dated, pack, unpack } from "./code.js";
import { adopt } from "./page.js";
import { recall, remember } from "./storage.js";
import markup from "course:markup";
import words from "course:words";
import DIALOG from "./dialog.css";
import STYLE from "./progress.css";

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
      const name = row.querySelector("a > span:last-of-type").textContent;
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
      const { answers: given } = await unpack(text);
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
  const naming = dialog.querySelector(".name input");
  naming.value = recall("d2lmini-name", "");
  naming.onchange = () => remember("d2lmini-name", naming.value.trim() || null);
  const now = () => dated(answers(), naming.value.trim());
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
      for (const other of ["d2lmini-place", "d2lmini-review", "d2lmini-name"]) remember(other, null);
      naming.value = "";
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
