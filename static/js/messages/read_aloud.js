/** Read a reply aloud, by a voice of the browser's own; where it has none the button is not shown. */

import { closest, query, queryAll } from "../shared/dom.js";
import { plainText } from "../shared/plain_text.js";
import { sentence } from "../shared/sentences.js";
import { languageOf } from "../shared/text_language.js";

const NOT_SPOKEN = ".code-block, .citation";
const LONGEST_CHARACTERS = 220; // some voices fall silent in the middle of a longer piece

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(error: Error) => void} options.onRefused
 * @param {AbortSignal} options.signal ends it
 */
export function startReadingAloud(page, { onRefused, signal }) {
  const speech = window.speechSynthesis;
  if (!speech) {
    return;
  }
  const showButtons = () => document.documentElement.toggleAttribute("data-speaks", speech.getVoices().length > 0);
  showButtons();
  speech.addEventListener?.("voiceschanged", showButtons, { signal });

  function stop() {
    speech.cancel();
    const pressed = query(page, '[data-action="read-aloud"][aria-pressed="true"]');
    if (pressed) {
      pressed.ariaPressed = "false";
    }
  }

  /** @param {HTMLElement} button */
  function read(button) {
    const message = /** @type {HTMLElement} */ (button.closest("[data-message]"));
    const text = spokenText(message);
    const language = languageOf(text, document.documentElement.lang);
    const voice = voiceFor(speech.getVoices(), language);
    const pieces = piecesOf(text, language);
    button.ariaPressed = "true";
    pieces.forEach((piece, index) => {
      const utterance = Object.assign(new SpeechSynthesisUtterance(piece), { lang: voice?.lang ?? language });
      if (voice) {
        utterance.voice = voice;
      }
      utterance.onerror = ({ error }) => {
        if (error !== "canceled" && error !== "interrupted") {
          stop();
          onRefused(new Error(sentence("readAloudFailed")));
        }
      };
      if (index === pieces.length - 1) {
        utterance.onend = () => stop();
      }
      speech.speak(utterance);
    });
    if (!pieces.length) {
      stop();
    }
  }

  page.addEventListener("click", (event) => {
    const button = closest(event, '[data-action="read-aloud"]');
    if (button) {
      const isReading = button.ariaPressed === "true";
      stop();
      isReading || read(button);
    }
  });
  window.addEventListener("pagehide", stop, { signal });
  signal.addEventListener("abort", stop);
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
export function piecesOf(text, language) {
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

/**
 * Return a voice of the language, of this machine if there is one: that sends nothing anywhere.
 * @param {SpeechSynthesisVoice[]} voices
 * @param {string} language
 */
function voiceFor(voices, language) {
  const base = language.split("-")[0].toLowerCase();
  const fitting = voices.filter(({ lang }) => lang.split(/[-_]/)[0].toLowerCase() === base);
  return fitting.find(({ localService }) => localService) ?? fitting[0];
}
