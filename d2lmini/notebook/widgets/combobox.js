import { element, freshId } from "./dom.js";

/**
 * A text field that offers completions while one types, by the ARIA pattern of a combobox: arrow keys go through them,
 * Enter or a click takes one, Escape closes. `offers(text, caret)` returns [{label, text, caret}]: what to show, and
 * what the field holds when it is taken. Enter without a choice calls `entered`.
 */
export function combobox({ field, label, lang, offers, entered }) {
  const id = freshId();
  const list = element("ul", { role: "listbox", id, "aria-label": label, hidden: true });
  const input = element("input", {
    type: "text",
    role: "combobox",
    id: field,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    maxlength: 120,
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": id,
  });
  let shown = [];
  let at = -1;

  function mark(next) {
    at = next;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", i === at));
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `${id}-${at}`);
  }
  function close() {
    shown = [];
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  }
  function take(offer) {
    input.value = offer.text;
    input.setSelectionRange(offer.caret, offer.caret);
    input.focus();
    close();
  }
  function look() {
    close();
    shown = offers(input.value, input.selectionStart);
    if (!shown.length) return;
    list.lang = lang();
    list.replaceChildren(
      ...shown.map((offer, i) =>
        element(
          "li",
          {
            role: "option",
            id: `${id}-${i}`,
            "aria-selected": "false",
            // the field keeps the focus
            onpointerdown: (event) => event.preventDefault(),
            onclick: () => take(offer),
          },
          offer.label,
        ),
      ),
    );
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }
  input.addEventListener("input", look);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // Enter ends the input of a Chinese word
    const { length } = shown;
    if (event.key === "Enter") {
      event.preventDefault();
      if (at >= 0) take(shown[at]);
      else {
        close();
        entered();
      }
    } else if (event.key === "Escape" && length) {
      event.preventDefault();
      event.stopPropagation(); // JupyterLab would leave the cell
      close();
    } else if (length && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      // one place more than offers: back in the text
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark(((at + 1 + step + length + 1) % (length + 1)) - 1);
    }
  });
  return { input, node: element("div", { class: "combobox" }, input, list), look };
}
