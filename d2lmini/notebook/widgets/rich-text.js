import { element, parsed } from "./dom.js";

const CLOSING = /^[,.;:!?)”’，。；：！？、）]+/;

/**
 * A compiled text as nodes: strings, and {m: MathML}, {c: code}, {b: strong}, {i: emphasis}, {p: break}.
 * `values` fills the {{name}} places of exercises with fresh numbers.
 */
export function richText(segments, values) {
  const fill = (text) => (values ? text.replace(/\{\{([^}]+)\}\}/g, (place, name) => values[name] ?? place) : text);
  const nodes = document.createDocumentFragment();
  for (const segment of typeof segments === "string" ? [segments] : segments || []) {
    if (typeof segment === "string") {
      // a full stop or comma stays on the line of the formula or code before it
      const mark = CLOSING.exec(segment)?.[0] || "";
      const last = nodes.lastChild;
      if (mark && last && /^(math|code)$/.test(last.nodeName) && !last.dataset?.long) {
        const bound = element("span", { class: "d2l-bound" });
        last.replaceWith(bound);
        bound.append(last, mark);
        nodes.append(fill(segment.slice(mark.length)));
      } else nodes.append(fill(segment));
    } else if (segment.m) {
      const math = formula(fill(segment.m));
      nodes.append(segment.d ? element("span", { class: "d2l-display" }, math) : math);
    } else if (segment.c) {
      const long = segment.c.length >= 24; // a shape or a name is not broken across lines
      nodes.append(element("code", { class: long ? null : "d2l-bound", "data-long": long }, fill(segment.c)));
    } else if (segment.b) nodes.append(element("strong", {}, richText(segment.b, values)));
    else if (segment.i) nodes.append(element("em", {}, fill(segment.i)));
    else if (segment.p) nodes.append(element("span", { class: "d2l-break" }));
  }
  return nodes;
}

function formula(markup) {
  const math = parsed(markup.replace("<math", '<math xmlns="http://www.w3.org/1998/Math/MathML"'));
  // one letter is a variable, which formulas set in italics; a longer name (sin) is upright
  for (const name of math.querySelectorAll("mi"))
    if (name.textContent.length === 1 && !name.hasAttribute("mathvariant")) name.classList.add("d2l-variable");
  // the invisible "of" in sin x keeps the two apart, unless a bracket does
  for (const applied of math.querySelectorAll("mo + *"))
    if (applied.previousElementSibling.textContent === "\u2061" && applied.textContent !== "(")
      applied.previousElementSibling.setAttribute("rspace", "0.17em");
  return math;
}
