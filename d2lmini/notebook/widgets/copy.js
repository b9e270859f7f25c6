/**
 * Copy a text; false: the browser does not allow it. Without HTTPS there is no clipboard, only the command that copies
 * a selection.
 */
export async function copyText(text) {
  try {
    const written = navigator.clipboard.writeText(text); // throws without a clipboard: before the clock starts
    // a browser that asks the reader first, and gets no answer, would keep us waiting
    const unanswered = new Promise((_, reject) => setTimeout(reject, 1000));
    await Promise.race([written, unanswered]);
    return true;
  } catch {
    const focused = document.activeElement;
    const field = document.createElement("textarea");
    field.value = text;
    field.style.cssText = "position: fixed; opacity: 0";
    (document.querySelector("dialog[open]") ?? document.body).append(field); // outside a dialog nothing can be selected
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    focused?.focus({ preventScroll: true });
    return copied;
  }
}
