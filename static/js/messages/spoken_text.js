/** What is spoken of a message: its language and its words, in pieces. A bundle of its own: few read a reply aloud. */

import { queryAll } from "../shared/dom.js";
import { plainText } from "../shared/plain_text.js";
import { languageOf } from "./text_language.js";

const NOT_SPOKEN = ".code-block, .citation";
const LONGEST_CHARACTERS = 220; // some voices fall silent in the middle of a longer piece

/**
 * Return what is spoken of a message, and in which language.
 * @param {HTMLElement} message
 */
export function spokenOf(message) {
  const text = spokenText(message);
  const language = languageOf(text, document.documentElement.lang);
  return { language, pieces: piecesOf(text, language) };
}

/**
 * Return the words of a message: code is not read, nor are the numbers of its sources.
 * @param {HTMLElement} message
 */
function spokenText(message) {
  const texts = queryAll(message, ".prose").map((prose) => {
    const spoken = /** @type {HTMLElement} */ (prose.cloneNode(true));
    for (const silent of queryAll(spoken, NOT_SPOKEN)) {
      silent.remove();
    }
    return plainText(spoken);
  });
  return texts.filter(Boolean).join("\n\n");
}

/**
 * Return the pieces that are spoken one after the other: sentences, and parts of very long ones.
 * @param {string} text
 * @param {string} language
 */
function piecesOf(text, language) {
  const sentences = text.split("\n").flatMap((line) => sentencesOf(line, language));
  return sentences.flatMap(
    (one) => one.match(new RegExp(`.{1,${LONGEST_CHARACTERS}}(?:\\s|$)|.{1,${LONGEST_CHARACTERS}}`, "gu")) ?? [],
  );
}

/**
 * @param {string} line
 * @param {string} language
 */
function sentencesOf(line, language) {
  if (!window.Intl?.Segmenter) {
    return line.trim() ? [line.trim()] : [];
  }
  const segments = new Intl.Segmenter(language, { granularity: "sentence" }).segment(line);
  return [...segments].map(({ segment }) => segment.trim()).filter(Boolean);
}
