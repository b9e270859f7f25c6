import { language } from "course:words";

/** Fill the {name} places of a text. */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

const plurals = new Intl.PluralRules(language.tag);

/** The form of a word that goes with a number, from its forms {one, other, …}. */
export const plural = (forms, count) => forms[plurals.select(count)] ?? forms.other;

/** Large numbers as each language writes them: 35 333 in English and Vietnamese, 35333 in Chinese. */
export function grouped(value) {
  const digits = String(Math.round(value));
  return language.tag.startsWith("zh") ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
