import { language } from "course:words";

const place = (id) => `d2lmini-unsaved/${language.tag}/${id}`;

/** The answer that waits in this browser for a kernel that takes it; null: none does. */
export function unsaved(id) {
  try {
    return JSON.parse(localStorage.getItem(place(id)));
  } catch {
    return null;
  }
}

/** Let an answer wait here; null: it waits no longer. Returns false where the browser keeps nothing. */
export function keepUnsaved(id, answer) {
  try {
    if (answer) localStorage.setItem(place(id), JSON.stringify(answer));
    else localStorage.removeItem(place(id));
    return true;
  } catch {
    return false;
  }
}
