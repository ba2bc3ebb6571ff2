/** Actions on the messages of the page: pin, edit, show versions and sources, stop, regenerate, approve. */

import { fetchBundle, fetchStyles } from "../shared/bundles.js";
import { closeByItself } from "../shared/dialogs.js";
import { closest, find, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { startCitationsOnceMet } from "./citations_once_met.js";
import { startForgetting } from "./forgetting.js";
import { startEditing } from "./message_editor.js";
import { startMessageKeys } from "./message_keys.js";
import { menuOf, startMessageMenus } from "./message_menu.js";
import { startOncePressed } from "./once_pressed.js";
import { startPins } from "./pins.js";
import { startRegenerateWith, startReplyActions } from "./reply_actions.js";
import { startSources } from "./sources.js";
import { sendDecision, startDeciding } from "./tool_calls.js";
import { startVersions } from "./versions.js";
import { followVoices } from "./voices.js";

const RATING = '[data-action="rate-good"], [data-action="rate-bad"], [data-action="remark"]';
const READ_ALOUD = '[data-action="read-aloud"]';
const PICTURE = '[data-action="see-picture"]';

/**
 * @param {HTMLElement} page
 * @param {object} parts
 * @param {import("../server/connection.js").Connection} parts.connection
 * @param {import("./window_coverage.js").WindowCoverage} parts.coverage
 * @param {import("../composer/composer.js").Composer} parts.composer
 * @param {import("../composer/meter.js").Meter} parts.meter
 * @param {import("../shared/announcer.js").Announcer} parts.announcer
 * @param {HTMLDialogElement} parts.dialog in which another model is chosen for a reply
 * @param {HTMLDialogElement} parts.sheet of actions, on touch screens
 * @param {HTMLFormElement} parts.remark in which a rating is explained
 * @param {HTMLTemplateElement} parts.editor the form in which a message is edited
 * @param {HTMLElement} parts.passageCard
 * @param {AbortSignal} parts.signal ends them
 */
export function startMessageActions(
  page,
  { connection, coverage, composer, meter, announcer, dialog, sheet, remark, editor, passageCard, signal },
) {
  const onRefused = (/** @type {unknown} */ error) => composer.showFailure(error);

  const marking = {
    connection,
    coverage,
    onChanging: () => meter.forget(),
    onChanged: () => meter.refresh(composer.field.value),
    /** @param {string} sentence */
    onDone(sentence) {
      composer.showError("");
      announcer.say(sentence);
    },
    onRefused,
  };

  startMessageMenus(page);
  startPins(page, marking);
  startForgetting(page, marking);
  startEditing(page, {
    template: editor,
    connection,
    onSent({ cleaned }) {
      composer.showError(cleaned ? sentence("cleaned") : "");
      announcer.say(sentence("edited"));
    },
    onRefused,
  });
  startVersions(page, { connection, onShown: () => announcer.say(sentence("shown")), onRefused });
  const onReplyRefused = (/** @type {string} */ sentence) => composer.showError(sentence);
  startReplyActions(page, { connection, onRefused: onReplyRefused });
  startRegenerateWith(dialog, { connection, onRefused: onReplyRefused, signal });
  startDeciding(page, {
    async decide(form, allowed) {
      composer.showError("");
      await sendDecision(form, allowed).finally(() => connection.sync());
    },
    onRefused,
  });
  const onUnreachable = () => composer.showError(sentence("unreachable"));
  const rating = { form: remark, say: announcer.say.bind(announcer), onRefused: onReplyRefused };
  startOncePressed(page, RATING, "ratings", (fetched) => fetched.startRatings(page, rating), onUnreachable);
  followVoices(signal);
  const reading = { onRefused: (/** @type {Error} */ { message }) => composer.showError(message), signal };
  startOncePressed(page, READ_ALOUD, "readAloud", (fetched) => fetched.startReadingAloud(page, reading), onUnreachable);
  const large = find(document, "#large-picture");
  startOncePressed(page, PICTURE, "largePicture", (fetched) => fetched.startLargePictures(page, large), onUnreachable);
  startSheet(page, sheet, onRefused);
  startPressing(page);
  startCitationsOnceMet(page, passageCard, signal);
  startSources(page, { onNarrow: (question) => composer.narrow(question) });
  startMessageKeys(page, { KeyP: "pin", KeyX: "exclude", KeyE: "edit", KeyW: "inspect" });
}

/**
 * @param {HTMLElement} page
 * @param {HTMLDialogElement} dialog
 * @param {(error: unknown) => void} onRefused
 */
function startSheet(page, dialog, onRefused) {
  closeByItself(dialog);
  page.addEventListener("click", async (event) => {
    const article = closest(event, '[data-action="open-sheet"]')?.closest("[data-message]");
    if (article instanceof HTMLElement) {
      const coming = Promise.all([fetchBundle("messageSheet"), fetchStyles("messageSheetStyles")]);
      /** @type {(typeof import("./message_sheet.js") | undefined)[]} */
      const [fetched] = await coming.catch(() => []);
      if (!fetched) {
        onRefused(new Error(sentence("unreachable")));
      } else if (article.isConnected && !dialog.open) {
        menuOf(article); // whose items it has too
        fetched.showMessageSheet(dialog, article);
      }
    }
  });
}

/**
 * An item with `data-stands-for` stands for another button of its message.
 * @param {HTMLElement} page
 */
function startPressing(page) {
  page.addEventListener("click", (event) => {
    const item = closest(event, "[data-stands-for]");
    const article = item?.closest("[data-message]");
    const button = article && query(article, `[data-action="${item?.dataset.standsFor}"]`);
    if (button) {
      event.preventDefault();
      button.click();
    }
  });
}
