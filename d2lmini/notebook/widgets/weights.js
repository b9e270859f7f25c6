// How a trained model comes to a widget: on the website as a file, in a notebook from the kernel. Nothing is asked for
// before the reader touches the widget, and nothing twice.

import { checkpointHeader } from "./transformer.js";

/** The directions of which there is a model. */
export const DIRECTIONS = ["en-fr", "en-vi", "en-zh", "fr-en", "vi-en", "zh-en"];
const PATIENCE = 60; // seconds that a kernel may be busy with another cell
const kept = new Map();

/**
 * The bytes of a checkpoint, a Uint8Array, by its name: a direction ("en-vi") or "writer-en". Rejects when nothing
 * comes; asked again, it tries again.
 */
export function weights(model, name) {
  if (!kept.has(name)) {
    const address = model.get("checkpoint")?.(name); // only the website has an address
    const coming = address ? download(address) : fromKernel(model, name);
    kept.set(name, coming);
    coming.catch(() => kept.delete(name));
  }
  return kept.get(name);
}

async function download(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Ask the kernel by the trait `asked`; it answers by the trait `sent`. */
function fromKernel(model, name) {
  return new Promise((resolve, reject) => {
    const look = () => {
      const sent = model.get("sent");
      if (!sent?.byteLength) return;
      const bytes = new Uint8Array(sent.buffer, sent.byteOffset, sent.byteLength);
      const { source, target, language } = checkpointHeader(bytes).config;
      if (name !== (language ? `writer-${language}` : `${source}-${target}`)) return; // what was asked for before
      clearTimeout(timer);
      model.off("change:sent", look);
      resolve(bytes);
    };
    const timer = setTimeout(() => {
      model.off("change:sent", look);
      reject(new Error(`no answer about ${name} from the kernel`));
    }, PATIENCE * 1000);
    model.on("change:sent", look);
    look(); // it may lie there from before the page was loaded again
    model.set("asked", { checkpoint: name, at: Date.now() }); // the time makes it new when it is asked once more
    model.save_changes();
  });
}
