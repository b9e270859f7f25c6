const DIGITS = String.raw`[1-9]\d{0,2}(?:[ _]\d{3})+|\d+`; // 262 144, 262_144, 262144

/**
 * The values that a text may have as a number: none where it is no number, two where it has two readings. A unit or a
 * percent sign makes it none; a product or a quotient of numbers is one.
 *
 * Both marks of a number in use somewhere are known: 2,400.5 and 2.400,5, 0.88 and 0,88. One mark before exactly three
 * digits could be either: 2,400 is 2400 where readers write a decimal point. Where they write a decimal comma, it might
 * as well be 2.4; so might 2.400, since the course itself writes a decimal point.
 *
 * `language` has the `decimal_mark` of its readers and their words for `powers_of_ten`: {3: "nghìn|ngàn", 6: "triệu"}.
 */
export function readings(text, language) {
  const plain = text
    .replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0)) // full-width forms
    .replace(/[−–]/g, "-")
    .replace(/\s+/g, " ") // thin and no-break spaces too
    .trim()
    .normalize();
  const parts = plain.split(/ ?\/ ?/);
  const [above, below = [1]] = parts.map((part) =>
    part
      .split(/ ?[*×·] ?/)
      .map((factor) => valuesOf(factor, language))
      .reduce((products, values) => products.flatMap((x) => values.map((y) => x * y))),
  );
  if (parts.length > 2) return [];
  return above.flatMap((x) => below.map((y) => x / y)).filter(Number.isFinite);
}

function valuesOf(text, { decimal_mark, powers_of_ten }) {
  const powers = new Map(
    Object.entries(powers_of_ten).flatMap(([power, names]) => names.split("|").map((name) => [name, power])),
  );
  const words = [...powers.keys()].filter(Boolean).join("|");
  const found = new RegExp(`^([-+]?) ?([\\d., _]*\\d[.,]?)(?:(?: ?(${words}))|e([-+]?\\d+))?$`, "iu").exec(text);
  if (!found) return [];
  const [, sign, digits, word, exponent] = found;
  const power = exponent ?? powers.get(word?.toLowerCase()) ?? 0;
  return plainReadings(digits, decimal_mark).map((plain) => Number(`${sign}${plain}e${power}`));
}

/** The numbers that digits with marks may stand for, written with a decimal point and nothing else. */
function plainReadings(digits, decimalMark) {
  const matches = (pattern) => new RegExp(`^(?:${pattern})$`).test(digits);
  const bare = (text) => text.replace(/[ _]/g, "");
  const grouped = /^[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*$/.exec(digits);
  if (grouped) {
    const [, mark] = grouped;
    const whole = digits.replaceAll(mark, "");
    if (digits.split(mark).length > 2) return [whole]; // 2,400,000 has one reading
    const decimal = digits.replace(mark, ".");
    if (decimalMark === ",") return [whole, decimal];
    return [mark === "," ? whole : decimal];
  }
  if (matches(String.raw`[1-9]\d{0,2}(?:,\d{3})+\.\d*`)) return [digits.replaceAll(",", "")];
  if (matches(String.raw`[1-9]\d{0,2}(?:\.\d{3})+,\d*`)) return [digits.replaceAll(".", "").replace(",", ".")];
  if (matches(`(?:${DIGITS})?[.,]?|(?:${DIGITS})?[.,]\\d+`)) return [bare(digits).replace(",", ".")];
  return [];
}

/** A number written so that it has one reading in every language: 1.234 as 1.2340. */
export const unmistakable = (value) => (/^-?[1-9]\d{0,2}\.\d{3}$/.test(value) ? `${value}0` : String(value));
