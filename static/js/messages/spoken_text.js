/** What is spoken of a message: its language and its words, in pieces. */

import { queryAll } from "../shared/dom.js";
import { plainText } from "../shared/plain_text.js";
import { languageOf } from "./text_language.js";

const NOT_SPOKEN = ".code-block, .citation";
const LONGEST_CHARACTERS = 220; // some voices fall silent in the middle of a longer piece

/**
 * Speak a message; *onEnd* is told when all of it was said, *onFail* when the browser can't.
 * @param {HTMLElement} message
 * @param {{onEnd: () => void, onFail: () => void}} options
 */
export function speak(message, { onEnd, onFail }) {
  const utterances = utterancesOf(message);
  for (const utterance of utterances) {
    utterance.onerror = ({ error }) => {
      if (error !== "canceled" && error !== "interrupted") {
        onFail();
      }
    };
    utterance.onend = () => utterance === utterances.at(-1) && onEnd();
    speechSynthesis.speak(utterance);
  }
  if (!utterances.length) {
    onEnd();
  }
}

/**
 * Return what is spoken of a message, in its language and by a voice of it.
 * @param {HTMLElement} message
 * @returns {SpeechSynthesisUtterance[]}
 */
function utterancesOf(message) {
  const text = spokenText(message);
  const language = languageOf(text, document.documentElement.lang);
  const voice = voiceFor(language);
  return piecesOf(text, language).map((piece) => {
    const utterance = Object.assign(new SpeechSynthesisUtterance(piece), { lang: voice?.lang ?? language });
    if (voice) {
      utterance.voice = voice;
    }
    return utterance;
  });
}

/**
 * Return a voice of the language, of this machine if there is one: that sends nothing anywhere.
 * @param {string} language
 */
function voiceFor(language) {
  const base = language.split("-")[0].toLowerCase();
  const fitting = speechSynthesis.getVoices().filter(({ lang }) => lang.split(/[-_]/)[0].toLowerCase() === base);
  return fitting.find(({ localService }) => localService) ?? fitting[0];
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
