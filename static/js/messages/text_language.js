/** The language that a text is written in: by its letters, and among those with Latin letters by its commonest words. */

/** @type {[language: string, letters: RegExp][]} the first that most letters belong to */
const SCRIPTS = [
  ["ja", /[\u3040-\u30ff]/gu],
  ["ko", /\p{Script=Hangul}/gu],
  ["zh", /\p{Script=Han}/gu],
  ["ru", /\p{Script=Cyrillic}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["ar", /\p{Script=Arabic}/gu],
  ["he", /\p{Script=Hebrew}/gu],
  ["hi", /\p{Script=Devanagari}/gu],
  ["th", /\p{Script=Thai}/gu],
];
/** @type {Record<string, string>} words that other languages do not have, or seldom */
const WORDS = {
  en: "the and of to is that it with for this are was you have not be which",
  de: "der die das und ist nicht mit ein eine auf für den von sich auch wird dem",
  fr: "le les des et est une dans que pour pas qui avec vous sur plus nous du",
  es: "el los las y es una que en por con para del no se más como pero",
  it: "il gli di e è una che per con non del della sono come anche più nel",
  pt: "o os um uma e é que não com para do da em por mais como você",
  nl: "de het een en is van niet dat op te zijn met voor ook maar naar er",
  pl: "i w na się że nie jest do to z jak co ale dla oraz są przez",
  sv: "och att det som en är på för inte med av ett den har jag till",
};
const LETTERS_LOOKED_AT = 4_000;
const FEWEST_WORDS = 3;

/**
 * Return the tag of the language of *text*, or *otherwise* where it can't be told.
 * @param {string} text
 * @param {string} otherwise
 */
export function languageOf(text, otherwise) {
  const beginning = text.slice(0, LETTERS_LOOKED_AT);
  const letters = beginning.match(/\p{Letter}/gu)?.length ?? 0;
  for (const [language, pattern] of SCRIPTS) {
    const found = beginning.match(pattern)?.length ?? 0;
    const isKana = language === "ja"; // which stand between characters that Chinese has, too
    if (found > letters * (isKana ? 0.1 : 0.3)) {
      return language;
    }
  }
  return latinLanguageOf(beginning) ?? otherwise;
}

/** @param {string} text */
function latinLanguageOf(text) {
  const words = text.toLowerCase().match(/\p{Letter}+/gu) ?? [];
  const counts = Object.entries(WORDS).map(([language, list]) => {
    const known = new Set(list.split(" "));
    return { language, count: words.filter((word) => known.has(word)).length };
  });
  const [best, next] = counts.sort((one, other) => other.count - one.count);
  return best.count >= FEWEST_WORDS && best.count > next.count ? best.language : undefined;
}
