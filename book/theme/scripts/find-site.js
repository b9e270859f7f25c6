// Of the page for addresses that lead nowhere, at any depth: finds where the site begins, and leads there.

(async () => {
  const parts = location.pathname.split("/");
  for (let i = 1; i < parts.length; i++) {
    const base = `${parts.slice(0, i).join("/")}/`;
    if (!(await fetch(`${base}landing.js`, { method: "HEAD" })).ok) continue;
    for (const link of document.querySelectorAll("[data-language]"))
      link.href = `${base}${link.dataset.language}/index.html`;
    return;
  }
})();
