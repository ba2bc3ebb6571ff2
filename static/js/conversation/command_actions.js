/** What each command does on the page of a conversation, where it is typed and in the palette. */

import { findAction } from "../messages/message_menu.js";
import { find, query } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";

/**
 * @param {HTMLElement} page
 * @param {object} parts
 * @param {import("../composer/composer.js").Composer} parts.composer
 * @param {import("../server/connection.js").Connection} parts.connection
 * @param {import("../messages/message_list.js").MessageList} parts.messages
 * @param {import("../shell/navigation.js").Navigation} parts.navigation
 * @param {import("../composer/message_queue.js").MessageQueue} parts.queue
 * @param {HTMLElement} parts.keys the list of shortcuts
 * @param {HTMLDialogElement} parts.smallDialog
 * @param {Record<"notes" | "prompts" | "newPrompt" | "new" | "newTemporary", string>} parts.urls
 * @param {() => void} parts.chooseDocuments
 * @returns {import("../composer/commands.js").CommandActions}
 */
export function commandActions(
  page,
  { composer, connection, messages, navigation, queue, keys, smallDialog, urls, chooseDocuments },
) {
  const temporary = query(page, '[data-part="temporary"]');
  return {
    stop: { isAvailable: () => queue.isNeeded, run: () => queue.stop() },
    documents: { run: chooseDocuments },
    notes: { run: () => openSmallDialog(urls.notes), isAvailable: () => connection.isStored },
    model: { run: () => find(page, ".model-open").click() },
    pin: { run: () => pressOnLastReply("pin"), isAvailable: () => Boolean(messages.lastReply) && !queue.isNeeded },
    window: { run: () => pressOnLastReply("inspect"), isAvailable: () => Boolean(messages.lastReply) },
    preview: { run: () => find(page, '[data-part="preview"]').click() },
    save: { run: savePrompt, takesText: true },
    prompts: { run: () => navigation.go(urls.prompts) },
    new: { run: () => navigation.go(urls.new) },
    temporary: { run: () => navigation.go(urls.newTemporary) },
    keep: { isAvailable: () => Boolean(temporary) && connection.isStored, run: keepTemporary },
    find: { isAvailable: () => connection.isStored, run: () => document.dispatchEvent(new Event("find")) },
    keys: { run: () => keys.togglePopover() },
  };

  /** @param {string} action */
  function pressOnLastReply(action) {
    messages.lastReply && findAction(messages.lastReply, action)?.click();
  }

  /** @param {string} url */
  function openSmallDialog(url) {
    return htmx()?.ajax("GET", url, { target: "#small-dialog-body", swap: "innerHTML" });
  }

  async function savePrompt() {
    const content = composer.field.value;
    await openSmallDialog(urls.newPrompt);
    const field = query(smallDialog, '[name="content"]', HTMLTextAreaElement);
    if (field) {
      field.value = content;
    }
  }

  function keepTemporary() {
    temporary && find(temporary, "form", HTMLFormElement).requestSubmit();
  }
}
