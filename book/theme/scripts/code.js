// Progress codes: what the reader has answered, as a text that can be sent.

// how a progress code begins; zlib-compressed JSON in base64url follows, as in d2lmini/notebook/progress.py
const CODE = "d2l1.";
const LIMIT = 1 << 20; // letters of JSON: some hundred times what all exercises need
const NAME = 60; // letters of a name
const MADE = /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/;
const TOO_LONG = "too long";
const WORDS_AFTER = 50; // so many words that follow a code of several lines are left out
const DEPTH = 6; // of lists and objects in an answer: those of a matrix have three

const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream));

/** What a code or a file holds: these answers, the reader's name if there is one, and when it was made. */
export const dated = (answers, name) => ({
  d2lmini: 1,
  made: `${new Date().toISOString().slice(0, 16)}Z`,
  ...(name && { name }),
  answers,
});

export async function pack(progress) {
  const packed = await through(JSON.stringify(progress), new CompressionStream("deflate")).arrayBuffer();
  // one by one: as arguments of a single call they would be too many
  const letters = Array.from(new Uint8Array(packed), (byte) => String.fromCharCode(byte)).join("");
  return CODE + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** {answers, name, made} of a code or of the text of a file; those of before have neither name nor date. */
export async function unpack(text) {
  const [, code] = /d2l1\.((?:[\w-]|\s)+)/.exec(text) ?? [];
  if (code) text = await unpackCode(code.trim().split(/\s+/));
  if (text.length > LIMIT) throw new Error(TOO_LONG);
  const { d2lmini, answers, name, made } = JSON.parse(text);
  const all = Object.values(answers);
  if (d2lmini !== 1 || !all.every((answer) => typeof answer === "object" && answer && isFlat(answer, DEPTH)))
    throw new Error("not ours");
  return {
    answers,
    name: typeof name === "string" ? [...name.trim().replace(/\s+/g, " ")].slice(0, NAME).join("") : "",
    made: typeof made === "string" && MADE.test(made) && Date.parse(made) ? made : "",
  };
}

/** The text of a code that may be broken into lines, and that words may follow: mostly the first part is the code. */
async function unpackCode(parts) {
  const counts = [1, ...parts.map((_, i) => parts.length - i).slice(0, WORDS_AFTER)];
  for (const count of counts)
    try {
      return await inflate(parts.slice(0, count).join(""));
    } catch (error) {
      if (error.message === TOO_LONG) throw error;
    }
  throw new Error("not a code");
}

function inflate(code) {
  const letters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return limited(through(bytes, new DecompressionStream("deflate")).body);
}

/** The text of a stream, unless it is longer than any progress: a short code may unpack to gigabytes. */
async function limited(stream) {
  const decoder = new TextDecoder();
  let text = "";
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > LIMIT) {
      await reader.cancel();
      throw new Error(TOO_LONG);
    }
  }
}

/** Is a value nested no deeper? What is could not be kept: to write it as JSON takes a call for each level. */
const isFlat = (value, depth) =>
  typeof value !== "object" ||
  value === null ||
  (depth > 0 && Object.values(value).every((inner) => isFlat(inner, depth - 1)));
