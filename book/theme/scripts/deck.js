// A page cut into slides. Nothing is moved or copied, so that widgets live on: a slide is a few of the page's own
// blocks, shown while all others are hidden. What is only said, paragraphs and most lists, goes to the notes.

const LEADS = /[:：?？]$/; // a paragraph that ends so belongs to what follows

const SQUEEZED = 1.05; // what is as much higher than the room gets smaller letters

/** What is read in a part of the page, in one line; a formula once, not also as MathML. */
export function textOf(node) {
  const copy = node.cloneNode(true);
  for (const extra of copy.querySelectorAll(".katex-mathml, .permalink, .to-copy, style")) extra.remove();
  for (const block of copy.querySelectorAll("div, p, li, pre, td, th")) block.append(" ");
  return copy.textContent.replace(/\s+/g, " ").trim();
}

/** How a slide that goes on under the same heading is called in a list. */
export function labelOf({ heading, blocks: [block] }) {
  const question = ".d2l-question, [data-widget='exercise'] > div + div, svg > title";
  if (!block || block.kind === "explorer") return textOf(heading);
  return block.node.querySelector("img")?.alt || textOf(block.node.querySelector(question) || block.node);
}

function kindOf(part) {
  const widget = part.querySelector("[data-widget]");
  if (widget) return widget.dataset.widget === "exercise" ? "exercise" : "explorer";
  if (part.matches(".cell_input")) return "code";
  return part.matches(".has-figure") || part.querySelector("img, svg") ? "figure" : "output";
}

/** The blocks of the page in their order: {node, heading, kind}; they are marked with data-part. */
export function findBlocks(article) {
  const blocks = [];
  const add = (node, heading, kind) => {
    if (node.closest("details, .behind")) return; // what the page folds away
    node.dataset.part = "off";
    blocks.push({ node, heading, kind });
  };
  const top = article.querySelector(":scope > section");
  const last = top.querySelector(":scope > section:last-of-type");
  const visit = (section) => {
    const heading = section.querySelector(":scope > :is(h1, h2, h3, h4)");
    // the aims, what is to be remembered, and where there is nothing to see
    const shows = section.querySelector(":scope > :is(.cell, .formula, .table)");
    const lists = section === top || section === last || !shows;
    for (const child of section.children) {
      if (child === heading || child.matches(".slides-claim")) child.dataset.part = "off";
      else if (child.matches("section")) visit(child);
      else if (child.matches("ul, ol") && lists) {
        child.dataset.part = "off";
        for (const item of child.children) add(item, heading, "item");
      } else if (child.matches(".cell"))
        for (const part of child.querySelectorAll(".cell_input, .cell_output > *")) add(part, heading, kindOf(part));
      else if (child.matches(".formula, .table")) add(child, heading, child.matches(".table") ? "table" : "formula");
      else add(child, heading, section === top && child.matches("p:has(+ ul)") ? "lead" : "said");
    }
  };
  visit(top);
  return blocks;
}

/** What contains a block and is shown with it: its list. */
export const wholeOf = ({ node, kind }) => (kind === "item" ? node.parentElement : null);

const sum = (blocks, size) => blocks.reduce((height, block) => height + block[size], 0);

/** What stays together: code with its output, the items of a list with what announces them. */
function unitsOf(blocks) {
  const units = [];
  const owner = ({ node, kind }) => (kind === "lead" ? node.nextElementSibling : node.closest("ul, ol, .cell") || node);
  for (const block of blocks) {
    const unit = units.at(-1);
    if (unit && owner(unit[0]) === owner(block)) unit.push(block);
    else units.push([block]);
  }
  return units;
}

/** Number the steps in which the blocks of a slide appear: what a list or a cell holds back comes one by one. */
function setSteps(slide) {
  let step = 0;
  slide.blocks.forEach((block, index) => {
    const before = slide.blocks[index - 1];
    const held = /^(output|figure)/.test(block.kind) || before?.kind === "exercise" ||
      (block.kind === "item" && before?.kind === "item");
    if (index && (held || step) && block.heading?.tagName !== "H1") step++;
    block.step = step;
  });
  slide.steps = slide.isLate ? Math.max(step, 1) : step;
}

/**
 * Cut blocks, of which each knows its height and the least it can do with, into slides: {heading, part, blocks, said,
 * steps, turns, claims, isLate}. Sections are not mixed; on a slide that turns, the exercises come one by one in the
 * same place. One slide of a section says what it claims: from the beginning, or late, with its last step.
 *
 * @param room how much there is on a slide below its heading and claim
 */
export function cut(blocks, room) {
  const slides = [];
  for (const heading of new Set(blocks.map((block) => block.heading))) {
    const own = blocks.filter((block) => block.heading === heading);
    let slide;
    const waiting = []; // paragraphs of which it is not known yet to which slide they belong
    const [first] = own.filter(({ kind }) => kind !== "said" && kind !== "formula");
    const asking = own.findLast(({ node }) => node.querySelector("[data-kind=predict]"));
    let claims = !asking; // the next slide says what the section claims: after what is to be predicted
    const open = () => {
      slides.push(slide = { heading, part: (slide?.part || 0) + 1, blocks: [], said: [], claims });
      claims = false;
    };
    open();
    slide.isLate = slide.claims && first?.kind.startsWith("ex"); // after the exercise or explorer that begins it
    for (const unit of unitsOf(own)) {
      const [{ kind }] = unit;
      if (kind === "said") {
        waiting.push(unit[0]);
        continue;
      }
      const most = () => room(slide) * SQUEEZED;
      const alone = kind === "explorer";
      const onlyExercises = kind === "exercise" && slide.blocks.every((block) => block.kind === kind);
      // for a formula the code before it scrolls
      const fits = sum([...slide.blocks, ...unit], kind === "formula" ? "least" : "height") <= most();
      const before = slide;
      if (slide.blocks.length && onlyExercises && (slide.turns || !fits)) slide.turns = true;
      else if (slide.blocks.length && (!fits || slide.turns || alone || slide.alone)) open();
      const lead = before !== slide && LEADS.test(waiting.at(-1)?.node.textContent.trim()) ? waiting.splice(-1) : [];
      before.said.push(...waiting.splice(0));
      slide.said.push(...lead);
      slide.alone = alone;
      for (const block of unit) { // what has no room below its code, though the code scrolls, has its own slide
        const full = slide.blocks.length && sum([...slide.blocks, block], "least") > most();
        if (full && block.kind !== "item" && !slide.turns) open();
        slide.blocks.push(block);
        claims ||= block === asking;
      }
    }
    if (claims) Object.assign(slide, { claims, isLate: true });
    slide.said.push(...waiting);
  }
  slides.forEach(setSteps);
  return slides;
}
