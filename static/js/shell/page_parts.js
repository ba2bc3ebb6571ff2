/**
 * What pages in the shell have beside links and forms. Fetched when the first of them is shown: no conversation needs it.
 *
 * Each part looks for its own elements, and does nothing on a page that has none.
 */

import { startPasskeys } from "../account/passkeys.js";
import { startReplyNoticesSwitch } from "../account/reply_notices_switch.js";
import { startDocuments } from "../documents/documents.js";
import { startImports } from "../imports/import_page.js";
import { startEffects } from "../scenarios/effects.js";
import { startToolChoice } from "../scenarios/tool_choice.js";
import { query } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(sentence: string) => void} options.say
 * @param {AbortSignal} options.signal ends them
 */
export function startPageParts(page, { say, signal }) {
  startReplyNoticesSwitch(page);
  startPasskeys(page);
  startEffects(page);
  startToolChoice(page);
  startImports(page, { say, signal });
  if (query(page, '[data-part="shelf"]')) {
    startDocuments(page, { say, signal });
  }
}
