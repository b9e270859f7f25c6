import { copyText } from "./copy.js";
import { element } from "./dom.js";
import { hasLinks, writeView } from "./shared-view.js";

/** A button that puts a view with what the reader typed into the address, and copies that. */
export function linkButton(el, name, view, words) {
  if (!hasLinks(el)) return element("span", { hidden: true });
  const onclick = async () => {
    writeView(name, view);
    button.textContent = (await copyText(location.href)) ? words.link_copied : words.link_shown;
    setTimeout(() => (button.textContent = words.copy_link), 3000);
  };
  const button = element("button", { type: "button", "aria-live": "polite", onclick }, words.copy_link);
  return button;
}
