// In the head of every page, before the first paint: the chosen theme, or the system's. A page opened as a file gets
// no mode: it can run no other script, and site.css hides what would need one. And the fonts that lie in the page,
// which would else be unpacked only after it.

import { recall } from "./storage.js";

const { dataset, style } = document.documentElement;
const chosen = recall("d2lmini-theme");
const mode = chosen === "light" || chosen === "dark" ? chosen : "auto";
if (location.protocol !== "file:") dataset.mode = mode;
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
dataset.theme = mode === "auto" ? system : mode;
style.visibility = "hidden";
const inside = [...document.fonts].filter((font) => /KaTeX|Page/.test(font.family));
Promise.allSettled(inside.map((font) => font.load())).then(() => (style.visibility = ""));
