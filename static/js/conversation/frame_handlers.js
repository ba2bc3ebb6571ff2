/** What each frame from the server does to the page. */

/**
 * @import { ConversationDeleted, ConversationSnapshot, MessageMarked, ReplyPiece, ServerFrame } from "../server/frames.js"
 *
 * @typedef {object} PageParts
 * @property {HTMLElement} page
 * @property {string} conversation
 * @property {import("../messages/message_list.js").MessageList} messages
 * @property {import("../messages/window_coverage.js").WindowCoverage} coverage
 * @property {import("../server/connection.js").Connection} connection
 * @property {import("../sidebar/sidebar.js").Sidebar} sidebar
 * @property {import("../composer/composer.js").Composer} composer
 * @property {import("../composer/meter.js").Meter} meter
 * @property {import("./costs.js").Costs} costs
 * @property {import("./model_choice.js").ModelChoice} model
 * @property {() => void} onState told when a reply may have begun or ended
 * @property {(frame: ConversationDeleted) => void} onDeleted told when the conversation is deleted, or that is undone
 * @property {(sentence: string) => void} onNotFound told when the server finds no such conversation, or no such reply in it
 * @property {() => void} onGapTooLarge called when more is new than a snapshot holds, or it is above the page
 */

/**
 * Return a function that takes each frame.
 * @param {PageParts} parts
 * @returns {(frame: ServerFrame) => void}
 */
export function frameHandler({
  page,
  conversation,
  messages,
  coverage,
  connection,
  sidebar,
  composer,
  meter,
  costs,
  model,
  onState,
  onDeleted,
  onNotFound,
  onGapTooLarge,
}) {
  /** @param {ServerFrame} frame */
  function take(frame) {
    if (frame.type === "error" && frame.code === "conversation_not_found") {
      onNotFound(frame.message);
    } else if (frame.type === "error") {
      composer.showError(frame.message);
    } else if (frame.conversation === conversation) {
      takeOurs(frame);
    }
  }

  /** @param {ServerFrame} frame one about the conversation of the page */
  function takeOurs(frame) {
    switch (frame.type) {
      case "message.stored":
      case "message.shown":
      case "reply.started":
      case "reply.done":
      case "reply.failed":
        connection.sync(frame.position);
        break;
      case "reply.step":
        connection.sync();
        break;
      case "reply.searching":
        if (messages.takeWebSearch(frame)) {
          connection.sync();
        }
        break;
      case "reply.reasoning":
      case "reply.delta":
      case "reply.html":
        takePiece(frame);
        break;
      case "reply.restarted":
        messages.restart(frame);
        break;
      case "window.recorded":
        messages.showPassages(frame.reply, frame.passages);
        coverage.update({
          first_position: frame.first_position,
          recalled: frame.recalled,
          recalled_positions: frame.recalled_positions,
        });
        break;
      case "message.marked":
        takeMark(frame);
        break;
      case "conversation.deleted":
        onDeleted(frame);
        break;
      case "messages.forgotten":
        coverage.forget(frame.before);
        refreshEstimate();
        break;
      case "model.chosen":
        model.show();
        break;
      case "conversation.snapshot":
        takeSnapshot(frame);
        break;
    }
  }

  /** @param {ReplyPiece} frame */
  function takePiece(frame) {
    if (messages.takePiece(frame)) {
      connection.sync();
    }
  }

  /** @param {ConversationSnapshot} snapshot */
  function takeSnapshot(snapshot) {
    if (snapshot.from_position > messages.position || !messages.reaches(snapshot)) {
      onGapTooLarge();
      return;
    }
    if (!messages.continues(snapshot)) {
      connection.sync(messages.firstPosition);
      return;
    }
    messages.takeSnapshot(snapshot);
    costs.show(snapshot.costs);
    model.show(snapshot.model_key);
    const { recalled, recalled_positions } = snapshot.window;
    coverage.update(messages.streamingArticle ? snapshot.window : { recalled, recalled_positions });
    sidebar.showActive(snapshot.awaiting_approval, snapshot.writing);
    if (snapshot.title) {
      sidebar.showTitle(snapshot.title);
    }
    showState();
    if (!messages.streamingArticle || messages.awaitsApproval) {
      refreshEstimate();
    }
  }

  /** Ask for the window of the next message: it stays as it is until the reply goes on, which may wait for days. */
  function refreshEstimate() {
    meter.refresh(composer.field.value);
  }

  /** @param {MessageMarked} frame */
  function takeMark({ message, pinned, excluded, never_recalled }) {
    coverage.mark(message, { pinned, excluded, never_recalled });
    refreshEstimate();
  }

  function showState() {
    page.classList.toggle("is-streaming", Boolean(messages.streamingArticle));
    page.classList.toggle("is-awaiting-approval", messages.awaitsApproval);
    page.classList.toggle("is-empty", !messages.articles.length);
    onState();
  }

  return take;
}
