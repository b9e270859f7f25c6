const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * A compiled text as nodes: HTML with MathML, made by tools/exercises/text.py and by nothing else.
 * `values` fills the {{name}} places of exercises with fresh numbers, which are words and never markup.
 */
export function richText(markup, values = {}) {
  const template = document.createElement("template");
  const number = (place, name) => (values[name] ?? place).replace(/[&<>"]/g, (character) => ESCAPES[character]);
  template.innerHTML = (markup ?? "").replace(/\{\{([^}]+)\}\}/g, number);
  return document.importNode(template.content, true);
}
