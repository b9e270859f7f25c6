import palette from "course:palette";

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Does the page around the widget look dark? Site: data-theme; Jupyter: data-jp-theme-light; else the system. */
function isDark() {
  const site = document.documentElement.dataset.theme;
  if (site === "dark" || site === "light") return site === "dark";
  const jupyter = document.body.dataset.jpThemeLight;
  if (jupyter) return jupyter === "false";
  return DARK.matches;
}

/**
 * Style a widget: adopt its sheets, {name: css}, once in its document or shadow root, and give `root` the palette as
 * --w-… variables that follow the page's theme. On the website its own variables win. Returns a function that stops
 * following.
 */
export function attachStyles(el, root, sheets) {
  // JupyterLab would take the arrow keys of a slider for its own shortcuts; it looks at the focused element only
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  const home = el.getRootNode();
  const host = home.adoptedStyleSheets ? home : document; // not yet attached: Jupyter renders first
  for (const [id, css] of Object.entries(sheets)) {
    if ([...host.adoptedStyleSheets].some((sheet) => sheet.d2l === id)) continue;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    sheet.d2l = id;
    host.adoptedStyleSheets = [...host.adoptedStyleSheets, sheet];
  }
  const paint = () => {
    const dark = isDark() ? 1 : 0;
    root.dataset.dark = dark;
    root.style.colorScheme = dark ? "dark" : "light";
    for (const [name, pair] of Object.entries(palette))
      root.style.setProperty(`--w-${name}`, `var(--d2l-${name}, ${pair[dark]})`);
  };
  paint();
  const watch = new MutationObserver(paint);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  DARK.addEventListener("change", paint);
  return () => {
    watch.disconnect();
    DARK.removeEventListener("change", paint);
  };
}
