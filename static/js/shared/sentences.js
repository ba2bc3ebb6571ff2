/** What scripts say: sentences that the page has in its language, in one block of JSON. */

import { find } from "./dom.js";
import { isolateName } from "./names.js";

/**
 * A page has those that its scripts say.
 *
 * @typedef {"copy" | "copied" | "notCopied" | "replyDone"
 *   | "deletedHere" | "deletedForEver" | "deletionUndone" | "conversationNotOpened"
 *   | "notOpened" | "stillSending" | "notDone" | "siteUpdated" | "perhapsNotDone" | "gone" | "conversationGone" | "sessionChanged" | "serverFailed" | "serverRefused"
 *   | "noSocket" | "lateText" | "noConnection" | "unreachable" | "tooLarge"
 *   | "thinking" | "thinkingBegun" | "thoughtFor" | "secondsLong" | "minutesLong"
 *   | "pinned" | "unpinned" | "excluded" | "included" | "neverRecalled" | "recalledAgain" | "edited" | "shown" | "cleaned" | "awaitingApproval"
 *   | "rated" | "unrated" | "remarkSaved" | "readAloudFailed" | "passageLoading" | "passageFailed" | "horizon" | "horizonWithPins"
 *   | "oneAbove" | "above" | "recallIsOn" | "oneRecalledForLast" | "recalledForLast" | "recalledFor" | "wouldRecall"
 *   | "mapPlace" | "mapNumber"
 *   | "queued" | "queuedRemoved" | "queuedUntilEnd" | "queuedUntilApproval" | "queuedAndFailed" | "queuedAndStopped" | "queuedAndLeft" | "queuedPictures"
 *   | "suggestions" | "commands" | "savedPrompts" | "scenarios" | "scenarioChosen" | "lookIn" | "promptSaved"
 *   | "forgotten" | "remembered" | "wideCode" | "wideTable" | "deletedToday" | "deletedTomorrow" | "dictationNotice" | "dictating" | "dictationEnded" | "dictationForbidden" | "dictationFailed"
 *   | "uploadQueued" | "uploadProgress" | "uploadAdded" | "uploadKnown" | "uploadTooLarge" | "uploadUnreachable"
 *   | "pictureAdded" | "pictureTooLarge" | "picturesTooMany" | "pictureWait" | "pictureRemoveFailed"
 *   | "passkeyUnsupported" | "passkeyFailed" | "passkeyOffline"} SentenceName
 */

const PLACEHOLDER = /%\((\w+)\)s|\{(\w+)\}/g;

/** @type {Partial<Record<SentenceName, string>> | undefined} */
let sentences;

/**
 * Return the sentence *name*, with *values* in its placeholders, each of them isolated like a name.
 * @param {SentenceName} name
 * @param {Record<string, string>} [values]
 * @returns {string}
 */
export function sentence(name, values = {}) {
  sentences ??= readSentences();
  const template = sentences[name];
  if (template === undefined) {
    throw new Error(`the page has no sentence ${name}`);
  }
  return template.replace(PLACEHOLDER, (_, printf, braced) => isolateName(values[printf ?? braced] ?? ""));
}

/** @returns {Partial<Record<SentenceName, string>>} */
function readSentences() {
  return JSON.parse(find(document, "#sentences", HTMLScriptElement).text);
}
