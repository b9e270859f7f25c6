// The search dialog: Pagefind's index of this language, shown in our own list.

let engine;

export async function open(dialog, { words, say, root }) {
  const input = dialog.querySelector("input");
  const list = dialog.querySelector("#site-search-results");
  const status = dialog.querySelector(".status");
  let asked = 0;

  const options = () => [...list.querySelectorAll("a")];
  const choose = (index) => {
    const all = options();
    all.forEach((link, position) => link.setAttribute("aria-selected", position === index));
    if (all[index]) {
      input.setAttribute("aria-activedescendant", all[index].id);
      all[index].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const chosen = () => options().findIndex((link) => link.getAttribute("aria-selected") === "true");

  async function search() {
    const mine = ++asked;
    const query = input.value.trim();
    if (!query) {
      list.replaceChildren();
      status.textContent = "";
      input.setAttribute("aria-expanded", "false");
      return;
    }
    if (!engine) return; // typed before the index is here: asked again when it is
    const { results } = await engine.search(query);
    const pages = await Promise.all(results.slice(0, 6).map((result) => result.data()));
    if (mine !== asked) return;
    const hits = pages.flatMap((found) => {
      const parts = found.sub_results.length ? found.sub_results.slice(0, 3) : [found];
      return parts.map((hit) => ({ ...hit, page: found.meta.title }));
    });
    list.replaceChildren(
      ...hits.map((hit, index) => {
        const link = document.createElement("a");
        link.id = `site-hit-${index}`;
        link.href = hit.url;
        link.setAttribute("role", "option");
        link.tabIndex = -1;
        const title = document.createElement("b");
        title.textContent = hit.title || hit.page;
        const where = document.createElement("small");
        where.textContent = hit.title && hit.title !== hit.page ? ` · ${hit.page}` : "";
        const excerpt = document.createElement("p");
        excerpt.innerHTML = hit.excerpt; // Pagefind escapes the text and adds only <mark>
        link.append(title, where, excerpt);
        link.addEventListener("click", () => dialog.close());
        return link;
      }),
    );
    input.setAttribute("aria-expanded", String(hits.length > 0));
    status.textContent = hits.length ? say("search_count", { count: hits.length }) : say("search_none", { query });
    choose(0);
  }

  input.oninput = search;
  input.onkeydown = (event) => {
    const count = options().length;
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (count) choose((chosen() + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      options()[chosen()]?.click();
    } else if (event.key === "Escape") {
      event.preventDefault(); // a search field would only clear itself
      dialog.close();
    }
  };
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close(); // its backdrop
  };
  dialog.showModal();
  input.select();
  try {
    if (!engine) {
      const pagefind = await import(new URL(`${root}pagefind/pagefind.js`, location.href).href);
      await pagefind.init();
      engine = pagefind;
    }
    search();
  } catch {
    status.textContent = words.search_failed;
  }
}
