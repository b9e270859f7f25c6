// What the scripts of a page share.

const { dataset } = document.body;

/** The address of a file of this build, below the folder _static. */
export const versioned = (name) => `${new URL(`${dataset.static}${name}`, location.href).href}?${dataset.version}`;

/** Add a stylesheet to the page. */
export function adopt(css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

const answersByAddress = new Map();
/** Fetch JSON once. What has failed is fetched again when it is next asked for. */
export function fetchJson(address) {
  if (!answersByAddress.has(address)) {
    const answer = fetch(address).then((response) => {
      if (!response.ok) throw new Error(`${address}: ${response.status}`);
      return response.json();
    });
    answer.catch(() => answersByAddress.delete(address));
    answersByAddress.set(address, answer);
  }
  return answersByAddress.get(address);
}
