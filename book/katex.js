// Beside KaTeX in the engine of book/katex.py, which calls these.
/* oxlint-disable no-underscore-dangle -- so KaTeX names what few need */

/** Take accented letters in \text{…} from the page's font: KaTeX's have none, and it would pile accents on letters. */
globalThis.takeLetters = (metrics) => {
  const { katex } = globalThis;
  for (const style of ["Regular", "Bold", "Italic", "BoldItalic"]) katex.__setFontMetrics(`page-${style}`, metrics);
  for (const code of Object.keys(metrics)) {
    const letter = String.fromCodePoint(code);
    katex.__defineSymbol("text", "page", "textord", letter, letter);
  }
};

/** JSON, so that both engines hand back one kind of value. */
globalThis.typeset = (source, displayMode, output) => {
  try {
    const options = { displayMode, throwOnError: true, strict: "ignore", output };
    // a place between two formulas that the style sheet makes a gap, or a line's end where a line is short; within an
    // environment it would begin a row
    const isParted = displayMode && output !== "mathml" && !source.includes("\\begin");
    const parts = isParted ? source.replaceAll("\\qquad", "\\newline ") : source;
    return JSON.stringify({ html: globalThis.katex.renderToString(parts, options) });
  } catch (error) {
    return JSON.stringify({ error: String(error.message || error) });
  }
};
