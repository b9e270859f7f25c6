// A page cut into slides. Nothing is moved or copied, so that widgets live on: a slide is a few of the page's own
// blocks, shown while all others are hidden.

// paragraphs that announce what follows are not parted from it
const LEADS = /[:：]$/;
// what ends a list or a section may be this much higher than the room: the slide then gets smaller letters
const SQUEEZED = 1.06;
/** How high blocks are; the first row of a table on a slide stands under the table's head. */
const sum = (blocks) =>
  blocks.reduce((height, block, i) => height + block.height + (blocks[i - 1]?.kind === "row" ? 0 : block.head), 0);

/** What is read in a part of the page, in one line; a formula once, not also as MathML. */
export function textOf(node) {
  const copy = node.cloneNode(true);
  for (const extra of copy.querySelectorAll(".katex-mathml, .permalink, .to-copy, style")) extra.remove();
  for (const block of copy.querySelectorAll("div, p, li, pre, td, th")) block.append(" ");
  return copy.textContent.replace(/\s+/g, " ").trim();
}

/** How a slide that goes on under the same heading is called in a list. */
export function labelOf({ blocks: [{ node, heading }] }) {
  const explorer = node.querySelector("[data-widget]:not([data-widget='exercise'])");
  const question = ".d2l-question, [data-widget='exercise'] > div + div, svg > title";
  const named = explorer ? heading : node.querySelector(question) || node;
  return node.querySelector("img")?.alt || textOf(named);
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
      } else if (child.matches(".table")) {
        child.dataset.part = "off";
        for (const row of child.querySelectorAll("tbody tr")) add(row, heading, "row");
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

/** The list or the table that a block is a part of. */
export const wholeOf = ({ node, kind }) => (["item", "row"].includes(kind) ? node.closest("ul, ol, .table") : null);

/**
 * What stays together, where there is room for it: code with its output, the items of a list, and the paragraph that
 * announces them; each unit is a list of blocks.
 */
function unitsOf(blocks, room) {
  const units = [];
  for (let i = 0; i < blocks.length; i++) {
    const unit = [blocks[i]];
    const announced = () => leads(unit.at(-1)) && blocks[i + 1] && blocks[i + 1].kind !== "widget";
    while (announced()) unit.push(blocks[++i]);
    const last = unit.at(-1);
    const rest = []; // of the cell, the list or the table
    const whole = wholeOf(last);
    const goesOn = (block) =>
      block && (last.kind === "code" ? block.kind === "output" : whole && wholeOf(block) === whole);
    while (goesOn(blocks[i + 1])) rest.push(blocks[++i]);
    const fits = (...parts) => sum(parts) <= room * SQUEEZED;
    const over = []; // what finds no room below its code
    if (!whole) while (rest.length && !fits(last, ...rest)) over.unshift(rest.pop());
    if (fits(...unit, ...rest)) units.push([...unit, ...rest]);
    else if (whole) units.push(unit, ...rest.map((block) => [block]));
    else units.push(...[unit.slice(0, -1), [last, ...rest]].filter((part) => part.length));
    units.push(...over.map((block) => [block]));
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

/** Move an item of a list, or a row of a table, to the next slide where its last one would stand alone. */
function avoidOrphanItem(slide, before) {
  const whole = wholeOf(slide.blocks[0]);
  const ofIt = ({ blocks }) => blocks.filter((block) => wholeOf(block) === whole).length;
  if (whole && ofIt(slide) === 1 && ofIt(before) > 2) slide.blocks.unshift(before.blocks.pop());
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
    let slide;
    const space = room(heading);
    for (const unit of unitsOf(own, space)) {
      const next = own[own.indexOf(unit.at(-1)) + 1];
      const ends = !next || next.kind === "widget" || wholeOf(unit.at(-1)) !== wholeOf(next);
      const alone = unit[0].kind === "widget";
      const opens = heading?.tagName === "H1" && leads(unit[0]); // the title and the question stand by themselves
      if (!slide || alone || slide.alone || opens || sum([...slide.blocks, ...unit]) > space * (ends ? SQUEEZED : 1)) {
        slide = { heading, part: ++part, blocks: [], alone };
        slides.push(slide);
      }
      slide.blocks.push(...unit);
    }
  }
  slides.forEach((slide, index) => avoidOrphanItem(slide, slides[index - 1]));
  slides.forEach(setSteps);
  return slides;
}
