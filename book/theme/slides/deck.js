// A page cut into slides. Nothing is moved or copied, so that widgets live on: a slide is a few of the page's own
// blocks, shown while all others are hidden.

// paragraphs that announce what follows are not parted from it
const LEADS = /[:：]$/;
// what ends a list or a section may be this much higher than the room: the slide then gets smaller letters
const SQUEEZED = 1.06;
const sum = (blocks) => blocks.reduce((height, block) => height + block.height, 0);

/** What is read in a part of the page, in one line; a formula once, not also as MathML. */
export function textOf(node) {
  const copy = node.cloneNode(true);
  for (const extra of copy.querySelectorAll(".katex-mathml, .permalink, .to-copy, style")) extra.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

/** The blocks of the page in their order: {node, heading, kind}; they are marked with data-part. */
export function findBlocks(article) {
  const blocks = [];
  const add = (node, heading, kind) => {
    if (node.closest("details, .behind")) return; // what the page folds away
    node.dataset.part = "off";
    blocks.push({ node, heading, kind });
  };
  const visit = (section) => {
    const heading = section.querySelector(":scope > :is(h1, h2, h3, h4)");
    for (const child of section.children) {
      if (child === heading) child.dataset.part = "off";
      else if (child.matches("section")) visit(child);
      else if (child.matches("ul, ol")) {
        child.dataset.part = "off";
        // a list keeps its numbers when it goes on on another slide
        [...child.children].forEach((item, index) => {
          if (child.matches("ol")) item.value = index + (child.start || 1);
          add(item, heading, "item");
        });
      } else if (child.matches(".cell"))
        for (const part of child.querySelectorAll(".cell_input, .cell_output > *")) {
          const widget = part.querySelector(".d2l-widget");
          add(part, heading, widget ? "widget" : part.matches(".cell_input") ? "code" : "output");
        }
      else add(child, heading, "text");
    }
  };
  article.querySelectorAll(":scope > section").forEach(visit);
  return blocks;
}

const leads = ({ node, kind }) =>
  kind === "text" &&
  node.matches("p") &&
  (LEADS.test(node.textContent.trim()) || node.textContent.trim() === node.querySelector("strong")?.textContent.trim());

/** What stays together: code with its output, and with the paragraph that announces it; each unit is a list. */
function unitsOf(blocks, room) {
  const units = [];
  for (let i = 0; i < blocks.length; i++) {
    const unit = [blocks[i]];
    const announced = () => leads(unit.at(-1)) && blocks[i + 1] && blocks[i + 1].kind !== "widget";
    while (announced()) unit.push(blocks[++i]);
    const outputs = [];
    if (unit.at(-1).kind === "code")
      while (blocks[i + 1]?.kind === "output") outputs.push(blocks[++i]);
    const fits = (...parts) => sum(parts) <= room * SQUEEZED;
    const last = unit.at(-1);
    if (fits(...unit, ...outputs)) units.push([...unit, ...outputs]);
    else if (unit.length > 1 && (fits(last, ...outputs) || !fits(...unit))) {
      units.push(unit.slice(0, -1));
      i -= outputs.length + 1; // what was announced begins anew
    } else units.push(unit, ...outputs.map((output) => [output]));
  }
  return units;
}

/** Number the steps in which the blocks of a slide appear: what a list or a cell holds back comes one by one. */
function setSteps(slide) {
  let step = 0;
  slide.blocks.forEach((block, index) => {
    const held = block.kind === "output" || (block.kind === "item" && slide.blocks[index - 1]?.kind === "item");
    if (index && (held || step)) step++;
    block.step = step;
  });
  slide.steps = step;
}

/**
 * Cut blocks, of which each knows its height, into slides: {heading, part, blocks, steps}. Sections are not mixed, a
 * widget has a slide of its own, and the rest is filled up as far as there is room.
 */
export function cut(blocks, room) {
  const slides = [];
  const sections = new Set(blocks.map(({ heading }) => heading));
  for (const heading of sections) {
    const own = blocks.filter((block) => block.heading === heading);
    let part = 0;
    let slide, used;
    const space = room(heading);
    for (const unit of unitsOf(own, space)) {
      const next = own[own.indexOf(unit.at(-1)) + 1];
      const ends = !next || next.kind === "widget" || (unit[0].kind === "item" && next.kind !== "item");
      const height = sum(unit);
      const alone = unit[0].kind === "widget";
      const opens = heading?.tagName === "H1" && leads(unit[0]); // the title and the question stand by themselves
      if (!slide || alone || slide.alone || opens || used + height > space * (ends ? SQUEEZED : 1)) {
        slide = { heading, part: ++part, blocks: [], alone };
        used = 0;
        slides.push(slide);
      }
      slide.blocks.push(...unit);
      used += height;
    }
  }
  slides.forEach(setSteps);
  return slides;
}
