// The dialog that shows, exports, imports and clears what the reader has answered.

const CODE = "d2l1."; // how a progress code begins; zlib-compressed JSON in base64url follows, as in d2lmini/notebook/exercises.py

const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream));

async function pack(progress) {
  const packed = await through(JSON.stringify(progress), new CompressionStream("deflate")).arrayBuffer();
  const letters = String.fromCharCode(...new Uint8Array(packed));
  return CODE + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The answers in a code or in the text of a file. */
async function unpack(text) {
  const code = /d2l1\.([\w-]+)/.exec(text.replace(/\s/g, ""));
  if (code) {
    const letters = atob(code[1].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    text = await through(bytes, new DecompressionStream("deflate")).text();
  }
  const { d2lmini, answers } = JSON.parse(text);
  const all = Object.values(answers);
  if (d2lmini !== 1 || all.some((answer) => typeof answer !== "object" || !answer)) throw new Error("not ours");
  return answers;
}

export function open(dialog, { words, say, answers, progressOf, showProgress, remember }) {
  const status = dialog.querySelector(".status");
  const list = dialog.querySelector("dl");
  const form = dialog.querySelector(".code");
  const show = () => {
    showProgress();
    list.replaceChildren();
    for (const row of document.querySelectorAll("[data-chapter]")) {
      const { done, total } = progressOf(row.dataset.chapter);
      if (!total) continue;
      const name = document.createElement("dt");
      name.textContent = row.querySelector("a > span:last-child").textContent;
      const count = document.createElement("dd");
      count.textContent = `${done} / ${total}`;
      list.append(name, count);
    }
  };
  const report = (text) => (status.textContent = text);
  const replace = (next) => {
    remember("d2lmini", { answers: next });
    document.dispatchEvent(new CustomEvent("d2l:answers"));
    show();
  };
  /** Keep what a file or code brings beside what is there; what is done once stays done. */
  const take = async (text, failed) => {
    try {
      const given = await unpack(text);
      const known = answers();
      const more = Object.entries(given).filter(([id, answer]) => answer.done || !known[id]?.done);
      replace({ ...known, ...Object.fromEntries(more) });
      report(say("import_done", { count: Object.keys(given).length }));
      return true;
    } catch {
      report(failed);
      return false;
    }
  };
  const now = () => ({ d2lmini: 1, answers: answers() });
  const actions = {
    export() {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([JSON.stringify(now(), null, 1)], { type: "application/json" }));
      link.download = "d2lmini-progress.json";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
    import() {
      const input = document.createElement("input");
      input.type = "file";
      input.accept = "application/json,.json";
      input.addEventListener("change", async () => take(await input.files[0].text(), words.import_failed));
      input.click();
    },
    async copy() {
      const code = await pack(now());
      form.elements[0].value = code; // to be seen, and copied by hand where the clipboard is closed
      form.elements[0].select();
      await navigator.clipboard?.writeText(code).then(() => report(words.copied), () => {});
    },
    reset(button) {
      if (!button.dataset.sure) {
        button.dataset.sure = "1";
        button.textContent = words.reset_sure;
        return;
      }
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
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (await take(form.elements[0].value, words.code_failed)) form.reset();
  };
  calm();
  form.reset();
  report("");
  show();
  dialog.showModal();
}
