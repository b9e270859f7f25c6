// Finds sections for a query: MiniSearch ranks them, what stands here cuts texts into words and chooses the snippet.
// No page needed: the tests run it as well. Index and query are cut by the same rules.
import MiniSearch from "course:minisearch";

const HAN = /\p{Script=Han}/u;
const RUNS = /\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}\p{M}_√])+/gu;
const HUMPS = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** Small, its marks apart, the tone of an open syllable where the course sets it: "Mã hoá" → "mã hóa". */
const NEW_STYLE = /(?<!q)([ou])([aey])([\u0300\u0301\u0303\u0309\u0323])$/;
const small = (text) => text.toLowerCase().normalize("NFKD").replace(NEW_STYLE, "$1$3$2");
/** Without marks: "mã hóa" → "ma hoa". */
const bare = (text) => text.replace(/\p{M}/gu, "").replaceAll("đ", "d");
const fold = (text) => bare(small(text));
// The tree of the index asks each branch in turn: thousands of Chinese characters at its root would make it slow, so
// each is spelled with a sign that no word has and three of 64 others.
const SPELLED = "~";
const spelled = (letter) => {
  const code = letter.codePointAt(0);
  return SPELLED + [code >> 12, (code >> 6) & 63, code & 63].map((part) => String.fromCharCode(48 + part)).join("");
};
const isSpelled = (word) => word[0] === SPELLED;
/** One word for singular and plural, as English forms them. */
const stem = (word) =>
  word.length < 4 || !/[a-z]s$/.test(word) || /(?:ss|us|is)$/.test(word)
    ? word
    : word.replace(/ies$/, "y").replace(/s$/, "");

/**
 * The words of a run of letters: a name of the code whole and in parts, Chinese in pairs of characters. A word with
 * marks is there with and without them: marks that are typed count, those that are left out do not.
 */
const known = [new Map(), new Map()]; // most runs come again and again
function wordsOf(run, whole = false) {
  const before = known[Number(whole)];
  let words = before.get(run);
  if (!words) before.set(run, (words = cut(run, whole)));
  return words;
}
function cut(run, whole) {
  if (HAN.test(run)) {
    const letters = [...run].map(spelled);
    const pairs = letters.slice(1).map((letter, index) => letters[index] + letter);
    return whole && pairs.length ? pairs : [...pairs, letters.at(-1)];
  }
  const plain = run.replaceAll("√", "_sqrt_").replace(/^_+|_+$/g, "");
  const parts = plain.split("_").filter(Boolean).flatMap((part) => {
    const humps = part.split(HUMPS); // but not ALiBi or NaN
    return humps.every((hump) => hump.length > 2 || /\d/.test(hump)) ? humps : [part];
  });
  const all = parts.length > 1 ? [plain, ...parts] : parts;
  if (whole) return [stem(small(all[0]))];
  return [...new Set(all.map(small).flatMap((word) => [stem(bare(word)), stem(word)]))];
}
const runsOf = (text) => text.match(RUNS) || [];
const tokens = (text) => runsOf(text).flatMap((run) => wordsOf(run));
const asked = (text) => [...new Set(runsOf(text).flatMap((run) => wordsOf(run, true)))];
/** A text as it is compared with a whole query: words with a space between, and one before each. */
const line = (text) => ` ${runsOf(text).map(fold).join(" ")}`;

const BOOST = { title: 5, terms: 4, text: 1, code: 1, questions: 0.8, answers: 0.5 };
const FIELDS = Object.keys(BOOST);
const SUMMARY = 0.8; // the last section of a chapter says again what others explain
const CONTEXT = 150; // letters of a snippet; a Chinese one counts for two

/** How much better a section fits because the words of the query stand there side by side. */
function nearness(section, query) {
  const at = HAN.test(query[1]) ? query.trim() : query;
  const exact = (text) => text === query;
  let gain = 1;
  if (section.lines.terms.some(exact)) gain *= 8;
  else if (section.lines.terms.some((term) => term.startsWith(query))) gain *= 1.5;
  if (exact(section.lines.title)) gain *= 2;
  else if (section.lines.title.includes(at)) gain *= 1.5;
  if (section.lines.text.includes(at)) gain *= 1.3;
  return gain;
}

/** Pieces of a text, [words, found or not], with the words of the index that were found marked. */
function marked(text, found) {
  const pieces = [];
  let end = 0;
  const add = (from, to, hit) => {
    if (from > end) pieces.push([text.slice(end, from), false]);
    if (to > from) pieces.push([text.slice(from, to), hit]);
    end = to;
  };
  for (const { 0: run, index } of text.matchAll(RUNS)) {
    if (!HAN.test(run)) {
      if (wordsOf(run).some((word) => found.has(word))) add(index, index + run.length, true);
      continue;
    }
    const letters = [...run];
    let at = index;
    let until = -1; // the letters before it belong to a pair that was found
    letters.forEach((letter, place) => {
      const next = letters[place + 1];
      if (next && found.has(spelled(letter) + spelled(next))) until = place + 2;
      else if (found.has(spelled(letter))) until = Math.max(until, place + 1);
      if (place < until) add(at, at + letter.length, true);
      at += letter.length;
    });
  }
  add(text.length, text.length, false);
  // what was found side by side is one mark
  return pieces.reduce((all, [words, hit], place) => {
    const between = /^[\s\-–]$/.test(words) && pieces[place - 1]?.[1] && pieces[place + 1]?.[1];
    const last = all.at(-1);
    if (last && last[1] === (hit || between)) last[0] += words;
    else all.push([words, hit]);
    return all;
  }, []);
}

/** The part of a text where most of what was found stands close together. */
function excerpt(text, found) {
  const pieces = marked(text, found);
  const hits = [];
  let offset = 0;
  for (const [words, hit] of pieces) {
    if (hit) hits.push({ at: offset, words: new Set(tokens(words).filter((word) => found.has(word))) });
    offset += words.length;
  }
  const letters = HAN.test(text) ? CONTEXT / 2 : CONTEXT;
  let best = 0;
  let most = -1;
  for (const { at } of hits) {
    const within = hits.filter((hit) => hit.at >= at && hit.at < at + letters * 0.7);
    // different words count for more than the same again, and side by side for more than apart
    const different = new Set(within.flatMap(({ words }) => [...words])).size;
    const value = different * 3 + Math.max(...within.map(({ words }) => words.size)) ** 2 + within.length / 10;
    if (value > most) [most, best] = [value, at];
  }
  // from the beginning of the sentence where that is near, else of a word
  let from = best;
  const before = text.slice(Math.max(0, best - Math.round(letters * 0.4)), best);
  const sentence =
    [...before.matchAll(/[.!?:;]\s+|[。！？：；]\s*/g)].at(-1) ?? [...before.matchAll(/[，、）]/g)].at(-1);
  if (best <= letters * 0.4) from = 0;
  else if (sentence) from = best - before.length + sentence.index + sentence[0].length;
  else from = best - before.length + (before.match(/^\S*\s|^/)?.[0].length ?? 0);
  if (sentence === undefined && before.length > 30 && HAN.test(before)) from = best - 15;
  let to = Math.min(text.length, from + letters);
  if (to < text.length) to -= text.slice(from, to).match(/(?:(?!\p{Script=Han})[^\s，。])*$/u)[0].length % 20;
  return [
    ...(from > 0 ? [["… ", false]] : []),
    ...marked(text.slice(from, to).trim(), found),
    ...(to < text.length ? [[" …", false]] : []),
  ];
}

/** The words of the index that stand for those of the query: themselves, else what begins with them or is alike. */
function standIns(result) {
  const all = Object.keys(result.match);
  return new Set(result.queryTerms.flatMap((word) => {
    if (result.match[word]) return [word];
    const longer = all.filter((one) => one.startsWith(word));
    if (!longer.length) return all.filter((one) => !result.queryTerms.includes(one));
    return isSpelled(word) ? [word] : longer;
  }));
}

/** Why a section was found: {kind, pieces}. What an exercise keeps back is named, not shown. */
function reason(section, result, found) {
  const covered = (text) => new Set(tokens(text).filter((word) => found.has(word))).size;
  const best = (texts) =>
    texts.map((text) => [covered(text), text]).toSorted(([one], [other]) => other - one)[0] ?? [0];
  const other = best(section.terms.flatMap(([, ...names]) => names));
  const question = best(section.questions);
  const inText = covered(section.text) || Number(covered(section.title) === found.size);
  if (other[0] > Math.max(inText, covered(section.title))) {
    const [own] = section.terms.find(([, ...names]) => names.includes(other[1]));
    const said = excerpt(section.text, new Set(tokens(own))).map(([words]) => [words, false]);
    return { kind: "term", pieces: [...marked(other[1], found), [` = ${own}: `, false], ...said] };
  }
  // the answers have only words that neither the text nor a question has
  const kept = covered(section.answers) && Math.max(inText, question[0]) < found.size;
  if (!kept && inText >= question[0] && inText && section.text)
    return { kind: "text", pieces: excerpt(section.text, found) };
  if (!kept && question[0]) return { kind: "exercise", pieces: excerpt(question[1], found) };
  const names = kept ? [] : section.code.split(" ").filter(covered);
  if (names.length) return { kind: "code", pieces: marked(names.slice(0, 6).join(" · "), found) };
  // what an exercise keeps back is named, not shown
  if (section.questions.length) return { kind: "answer", pieces: excerpt(section.questions[0], new Set()) };
  return { kind: "text", pieces: excerpt(section.text, found) };
}

/** Make the index of one language. `data`: {pages: [[name, title, number, weight]], sections: [[page, …]]} */
export function searchEngine(data) {
  const sections = data.sections.map(([page, anchor, title, text, terms, code, questions, answers], id) => ({
    id, page: data.pages[page], anchor, title, text, terms, code, questions, answers, lines: null,
  }));
  const index = new MiniSearch({
    fields: FIELDS,
    extractField: (section, field) =>
      field === "id" ? section.id : Array.isArray(section[field]) ? section[field].flat().join(" | ") : section[field],
    tokenize: tokens,
    processTerm: (word) => word,
    searchOptions: {
      tokenize: asked,
      boost: BOOST,
      boostDocument: (id) => {
        const { page } = sections[id];
        return page[3] * (page[2] && sections[id + 1]?.page !== page ? SUMMARY : 1);
      },
      weights: { prefix: 0.6, fuzzy: 0.4 },
      bm25: { k: 1.2, b: 0.6, d: 0.5 },
    },
  });
  let added = 0;
  /** Take up the next sections; says whether there are more. In one go a slow phone would not answer meanwhile. */
  function add(count = Infinity) {
    const end = Math.min(sections.length, added + count);
    while (added < end) index.add(sections[added++]);
    return added < sections.length;
  }

  const long = (word, least) => !isSpelled(word) && word.length >= least;
  const begins = (word) => long(word, 2) || (isSpelled(word) && word.length === 4);
  // in a long query nearly every word would be like some other
  const alike = (word, place, words) => (words.length < 5 && long(word, 4) ? 1 : false);
  const hardly = (word, place, words) => (words.length < 4 && long(word, 6) ? 2 : alike(word, place, words));
  const typing = (word, place, words) =>
    place === words.length - 1 && (begins(word) || (place > 0 && long(word, 1)));
  const anywhere = (word, place, words) => typing(word, place, words) || long(word, 3);
  /** {near: whether they only come near to what was asked, hits: the sections, the best first} */
  function search(text, limit = 12) {
    const parts = [...new Set(tokens(text).map(bare))];
    if (!parts.length) return { near: false, hits: [] };
    // the strictest way that finds something
    const ways = [
      { combineWith: "AND", prefix: typing },
      { combineWith: "AND", prefix: anywhere },
      { combineWith: "AND", prefix: typing, processTerm: bare },
      { combineWith: "AND", prefix: anywhere, processTerm: bare },
      { combineWith: "AND", prefix: anywhere, fuzzy: alike, processTerm: bare },
      { combineWith: "AND", prefix: anywhere, fuzzy: hardly, processTerm: bare },
      { combineWith: "OR", prefix: typing, fuzzy: alike, processTerm: bare, tokenize: () => parts },
    ];
    let results = [];
    let way = -1;
    while (!results.length && ++way < ways.length) {
      results = index.search(text, ways[way]);
      if (way === ways.length - 1) results = results.filter((one) => one.queryTerms.length >= parts.length / 2);
    }
    const query = line(text);
    const ranked = results.slice(0, 60).map((result) => {
      const section = sections[result.id];
      section.lines ??= { title: line(section.title), text: line(section.text), terms: section.terms.flat().map(line) };
      return { section, result, score: result.score * nearness(section, query) };
    });
    ranked.sort((one, other) => other.score - one.score);
    const hits = ranked.slice(0, limit).map(({ section, result, score }) => {
      const found = standIns(result);
      const [page, pageTitle, number] = section.page;
      const { anchor, title } = section;
      return { page, pageTitle, number, anchor, title: marked(title, found), score, ...reason(section, result, found) };
    });
    return { near: way === ways.length - 1, hits };
  }
  return { add, search };
}
