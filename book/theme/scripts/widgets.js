// The website as a host of the course's widgets: gives each module the model that Jupyter would give it.

class Model extends EventTarget {
  constructor(values, save) {
    super();
    this.values = values;
    this.save = save;
  }
  get(name) {
    return this.values[name];
  }
  set(name, value) {
    this.values[name] = value;
    this.dispatchEvent(new Event(`change:${name}`));
  }
  on(event, call) {
    this.addEventListener(event, call);
  }
  off(event, call) {
    this.removeEventListener(event, call);
  }
  save_changes() {
    this.save(this.values.answer);
  }
}

/** Show a widget in its place, with what `stateOf` knows of an exercise. */
export async function show(place, { load, stateOf, checkpoint, answers, keepAnswer }) {
  const id = place.dataset.id || `${document.body.dataset.page}/${place.dataset.widget}`;
  const content = place.dataset.widget === "exercise" ? stateOf(id) : {};
  const [{ default: widget }, state] = await Promise.all([load(`widgets/${place.dataset.widget}`), content]);
  const model = new Model({ state, checkpoint, answer: answers()[id] || {} }, (answer) => keepAnswer(id, answer));
  const fallback = [...place.childNodes];
  const box = document.createElement("div");
  place.append(box);
  try {
    await widget.render({ model, el: box });
  } catch (error) {
    box.remove();
    throw error;
  }
  // imported, or of another tab
  document.addEventListener("d2l:answers", () => model.set("answer", answers()[id] || {}));
  for (const node of fallback) node.remove();
  place.dataset.awake = "";
}
