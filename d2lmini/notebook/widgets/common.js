// Shared by every widget: d2lmini.widgets.module_source() puts this text in front of the widget's own module, so
// that each module stands alone (no imports work from the blob URL of a notebook). No exports here.

/** Make an element. Strings become text nodes, never markup; `on…` attributes become listeners. */
function h(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Markup compiled with the course (MathML, SVG) as a node; parsed as XML, so scripts in it would not run. */
function parsed(markup, type) {
  const root = new DOMParser().parseFromString(markup, type || "application/xml").documentElement;
  return document.importNode(root, true);
}

/** A compiled text (strings and {m: MathML}, {c: code}, {b: strong}, {i: emphasis}, {p: break}) as nodes.
 * `values` fills the {{name}} places of exercises with fresh numbers. */
function rich(segments, values) {
  const fill = (text) => (values ? text.replace(/\{\{([^}]+)\}\}/g, (whole, name) => values[name] ?? whole) : text);
  const nodes = document.createDocumentFragment();
  for (const segment of typeof segments === "string" ? [segments] : segments || []) {
    if (typeof segment === "string") {
      // a full stop or comma stays on the line of the formula or code before it
      const mark = /^[,.;:!?)”’，。；：！？、）]+/.exec(segment)?.[0] || "";
      const last = nodes.lastChild;
      if (mark && last && /^(math|code)$/.test(last.nodeName) && !last.dataset?.long) {
        const bound = h("span", { class: "d2l-bound" });
        last.replaceWith(bound);
        bound.append(last, mark);
        nodes.append(fill(segment.slice(mark.length)));
      } else nodes.append(fill(segment));
    } else if (segment.m) {
      const math = parsed(fill(segment.m).replace("<math", '<math xmlns="http://www.w3.org/1998/Math/MathML"'));
      nodes.append(segment.d ? h("span", { class: "d2l-display" }, math) : math);
    } else if (segment.c) {
      const long = segment.c.length >= 24; // a shape or a name is not broken across lines
      nodes.append(h("code", { class: long ? null : "d2l-bound", "data-long": long }, fill(segment.c)));
    } else if (segment.b) nodes.append(h("strong", {}, rich(segment.b, values)));
    else if (segment.i) nodes.append(h("em", {}, fill(segment.i)));
    else if (segment.p) nodes.append(h("span", { class: "d2l-break" }));
  }
  return nodes;
}

/** Does the page around the widget look dark? Site: data-theme; Jupyter: data-jp-theme-light; else the system. */
function isDark() {
  const site = document.documentElement.dataset.theme;
  if (site === "dark" || site === "light") return site === "dark";
  const jupyter = document.body.dataset.jpThemeLight;
  if (jupyter) return jupyter === "false";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// The colors of the course. On the website its variables win; elsewhere the values after the comma.
const PALETTE = {
  bg: ["#ffffff", "#15181c"],
  surface: ["#f5f6f8", "#20252b"],
  text: ["#1c2126", "#e6e9ec"],
  muted: ["#57606a", "#a3adb8"],
  line: ["#8a939c", "#6b7681"],
  accent: ["#0067a5", "#6cb8f0"],
  query: ["#0067a5", "#6cb8f0"],
  key: ["#b84a00", "#ff9d5c"],
  value: ["#00785a", "#4fd1a5"],
  output: ["#7b4fa3", "#c3a1ea"],
  position: ["#8a6100", "#f0c04a"],
  cnn: ["#4a5a6a", "#a8b8c8"],
  rnn: ["#a1286a", "#ee86bd"],
  attention: ["#4338a8", "#a5a0f5"],
  good: ["#00704f", "#4fd1a5"],
  bad: ["#b3261e", "#ff9a8f"],
};

/** Style a widget: adopt the sheet once in its document or shadow root, and give `root` the palette as --w-… variables
 * that follow the page's theme. Returns a function that stops following. */
function dress(el, root, id, css) {
  // JupyterLab would take the arrow keys of a slider for its own shortcuts; it looks at the focused element only
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  const home = el.getRootNode();
  const host = home.adoptedStyleSheets ? home : document; // not yet attached: Jupyter renders first
  if (![...host.adoptedStyleSheets].some((sheet) => sheet.d2l === id)) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    sheet.d2l = id;
    host.adoptedStyleSheets = [...host.adoptedStyleSheets, sheet];
  }
  const paint = () => {
    const dark = isDark() ? 1 : 0;
    root.dataset.dark = dark;
    root.style.colorScheme = dark ? "dark" : "light";
    for (const [name, pair] of Object.entries(PALETTE))
      root.style.setProperty(`--w-${name}`, `var(--d2l-${name}, ${pair[dark]})`);
  };
  paint();
  const watch = new MutationObserver(paint);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", paint);
  return () => {
    watch.disconnect();
    system.removeEventListener("change", paint);
  };
}

// ---- for explorers -------------------------------------------------------------------------------------------------

/** Make an SVG element. */
function s(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat());
  return node;
}

/** The view that a shared link asks for: `?attention=…`, JSON over the defaults. Only keys that the explorer knows, and
 * only values of the same type, are taken: a link is input from a stranger. Outside the website there is no such link. */
function sharedView(el, name, defaults) {
  if (!el.closest(".d2l-widget")) return { ...defaults };
  let asked = {};
  try {
    asked = JSON.parse(new URLSearchParams(location.search).get(name) || "{}") || {};
  } catch {
    // a broken link shows the beginning
  }
  const same = (key) => typeof asked[key] === typeof defaults[key];
  return Object.fromEntries(Object.keys(defaults).map((key) => [key, same(key) ? asked[key] : defaults[key]]));
}

/** Put the view into the address, so that it can be shared; the section stays in the hash. */
function shareView(el, name, view) {
  if (!el.closest(".d2l-widget")) return;
  const address = new URL(location.href);
  address.searchParams.set(name, JSON.stringify(view));
  history.replaceState(history.state, "", address);
}
