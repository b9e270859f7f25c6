// The explorer of the first page as it is drawn first, of elements that cannot be touched.
export default async (source) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const el = document.createElement("div");
  document.body.append(el);
  (await import(address)).default.render({ el });
  const root = el.querySelector(".d2l-listening");
  for (const name of ["data-dark", "style"]) root.removeAttribute(name);
  for (const node of [root, ...root.querySelectorAll("*:not(svg)")])
    for (const name of ["aria-checked", "aria-label", "aria-live", "lang", "role", "tabindex", "type"])
      node.removeAttribute(name);
  const markup = root.outerHTML.replaceAll("<button", "<span").replaceAll("</button>", "</span>");
  el.remove();
  document.adoptedStyleSheets = []; // else the explorer's own outlive it, under whatever this page shows next
  return markup + "\n";
};
