// A page cut into slides. Nothing is moved or copied, so that widgets live on: a slide is a few of the page's own
// blocks, shown while all others are hidden.

// paragraphs that announce what follows are not parted from it
const LEADS = /[:：]$/;

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

/** What stays together: a paragraph with what it announces, code with its output; each unit is a list of blocks. */
function unitsOf(blocks, room) {
  const units = [];
  for (let i = 0; i < blocks.length; i++) {
    const unit = [blocks[i]];
    const height = () => unit.reduce((sum, block) => sum + block.height, 0);
    const take = () => unit.push(blocks[++i]);
    while (leads(unit.at(-1)) && blocks[i + 1] && blocks[i + 1].kind !== "widget" &&
        height() + blocks[i + 1].height <= room) take();
    while (["code", "output"].includes(unit.at(-1).kind) && blocks[i + 1]?.kind === "output" &&
        height() + blocks[i + 1].height <= room) take();
    units.push(unit);
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
      const height = unit.reduce((sum, block) => sum + block.height, 0);
      const alone = unit[0].kind === "widget";
      const opens = heading?.tagName === "H1" && leads(unit[0]); // the title and the question stand by themselves
      if (!slide || alone || slide.alone || opens || used + height > space) {
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
