/** Make an element. Strings become text nodes, never markup; `on…` attributes become listeners. */
export const element = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);

/** Make an SVG element, by the same rules. */
export const svg = (tag, attributes, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Make a button that does something when it is pressed. */
export const button = (content, onclick, attributes = {}) =>
  element("button", { type: "button", onclick, ...attributes }, content);

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Markup compiled with the course (MathML, SVG) as a node; parsed as XML, so scripts in it would not run. */
export function parsed(markup, type = "application/xml") {
  return document.importNode(new DOMParser().parseFromString(markup, type).documentElement, true);
}

/** An id that no other widget of the page has. */
export const freshId = () => `d2l-${Math.random().toString(36).slice(2)}`;
