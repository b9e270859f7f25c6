// The dialog that shows, exports, imports and clears what the reader has answered.

export function open(dialog, { words, say, answers, progressOf, showProgress, remember }) {
  const status = dialog.querySelector(".status");
  const list = dialog.querySelector("dl");
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
    show();
  };
  const actions = {
    export() {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([JSON.stringify({ d2lmini: 1, answers: answers() }, null, 1)], { type: "application/json" }));
      link.download = "d2lmini-progress.json";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
    import() {
      const input = document.createElement("input");
      input.type = "file";
      input.accept = "application/json,.json";
      input.addEventListener("change", async () => {
        try {
          const given = JSON.parse(await input.files[0].text());
          if (given.d2lmini !== 1 || typeof given.answers !== "object" || !given.answers) throw new Error("not ours");
          replace({ ...answers(), ...given.answers });
          report(say("import_done", { count: Object.keys(given.answers).length }));
        } catch {
          report(words.import_failed);
        }
      });
      input.click();
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
  calm();
  report("");
  show();
  dialog.showModal();
}
