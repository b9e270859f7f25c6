import { language } from "course:words";

/** Fill the {name} places of a text. A value that is missing is a mistake of the caller. */
export const fill = (text, values) =>
  text.replace(/\{(\w+)\}/g, (place, name) => {
    if (!Object.hasOwn(values, name)) throw new Error(`no value for ${place} in "${text}"`);
    return values[name];
  });

const plurals = new Intl.PluralRules(language.tag);

/** The form of a word that goes with a number, from its forms {one, other, …}. */
export const plural = (forms, count) => forms[plurals.select(count)] ?? forms.other;

/** Large numbers as each language writes them: 35 333 in English and Vietnamese, 35333 in Chinese. */
export function grouped(value) {
  const digits = String(Math.round(value));
  return language.tag.startsWith("zh") ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A number with a minus sign of its own, and no minus before a zero. */
export const signed = (value, digits) =>
  value
    .toFixed(digits)
    .replace(/^-(0\.?0*)$/, "$1")
    .replace("-", "−");
