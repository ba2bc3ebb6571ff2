/** The page of a conversation: puts its parts together. */

import { Composer } from "../composer/composer.js";
import { Draft } from "../composer/draft.js";
import { Meter } from "../composer/meter.js";
import { startSuggestions } from "../composer/suggestions.js";
import { startDocuments } from "../documents/documents.js";
import { Follow } from "../messages/auto_scroll.js";
import { startCitations } from "../messages/citations.js";
import { startEditing } from "../messages/message_editor.js";
import { startMessageKeys } from "../messages/message_keys.js";
import { Thread } from "../messages/message_list.js";
import { keepPlaceWhenOlderArrive } from "../messages/older_messages.js";
import { startMarking } from "../messages/pins.js";
import { startReplyActions } from "../messages/reply_actions.js";
import { startSources } from "../messages/sources.js";
import { sendDecision, startDeciding } from "../messages/tool_calls.js";
import { startVersions } from "../messages/versions.js";
import { Sight } from "../messages/window_coverage.js";
import { Connection } from "../server/connection.js";
import { postForm } from "../server/http.js";
import { Announcer } from "../shared/announcer.js";
import { labelCopyButtons, startCopying } from "../shared/copy_buttons.js";
import { openWhenFilled } from "../shared/dialogs.js";
import { localiseTimes } from "../shared/local_times.js";
import { Sidebar } from "../sidebar/sidebar.js";
import { Costs } from "./costs.js";
import { frameHandlers } from "./frame_handlers.js";
import { startInspector } from "./inspector.js";
import { startScenarioChoice } from "./scenario_choice.js";
import { startShortcuts } from "./shortcuts.js";

const page = document.getElementById("main");
const part = (name) => page.querySelector(`[data-part="${name}"]`);
const conversation = page.dataset.conversation;
const isStored = page.hasAttribute("data-stored");
const urls = JSON.parse(page.dataset.urls);
const beginning = isStored ? {} : { scenario: part("composer").elements.scenario.value };

const draft = new Draft(conversation, { isStored });
const announcer = new Announcer(part("announcer"));
const follow = new Follow(part("scroller"), part("messages"), part("jump"));
const thread = new Thread(part("messages"), {
  onEnded: (article) => announcer.readReply(article),
  onAsks: (call) => announcer.say(call.dataset.textAsks),
});
const sight = new Sight(part("messages"));
const sidebar = new Sidebar(document.getElementById("sidebar"), conversation, {
  onAsks: (sentence) => announcer.say(sentence),
});
const connection = new Connection({
  conversation,
  urls,
  beginning,
  isStored,
  whereabouts: () => ({ position: thread.position, isStreaming: Boolean(thread.streamingArticle) }),
  onFrame: (frame) => frames[frame.type]?.(frame),
  onWay: showWay,
});
const meter = new Meter(part("meter"), {
  url: urls.estimate,
  whereTo: () => (connection.isStored ? { conversation } : beginning),
  onWindow: (window) => thread.streamingArticle || sight.see(window),
});
const composer = new Composer(part("composer"), {
  draft,
  send,
  onChange: (content) => meter.estimate(content),
});
const costs = new Costs(part("costs"), {
  onSwitched: () => connection.sync(thread.firstPosition),
  onRefused: (error) => composer.showFailure(error),
});
const frames = frameHandlers({
  conversation,
  thread,
  sight,
  connection,
  sidebar,
  composer,
  page,
  meter,
  costs,
  onHole: () => location.replace(urls.conversation),
});

const documents = startDocuments(page, {
  isStored: () => connection.isStored,
  beginning: () => (connection.isStored ? {} : beginning),
  onAdded: () => connection.isStored || begun(),
  say: (sentence) => announcer.say(sentence),
});

startInspector(document.getElementById("inspector"));
openWhenFilled(document.getElementById("small-dialog"));
document.addEventListener("renamed", ({ detail }) => {
  document.getElementById("small-dialog").close();
  if (detail.conversation === conversation) {
    sidebar.showTitle(detail.title);
  }
});
keepPlaceWhenOlderArrive(part("scroller"), () => {
  localiseTimes(page);
  labelCopyButtons(page);
  sight.draw();
});
startCopying(document.body, { copied: page.dataset.textCopied });
startMarking(page, {
  sight,
  onChanging: () => meter.forget(),
  onChanged: () => meter.estimate(composer.field.value),
  onDone: (sentence) => {
    composer.showError("");
    announcer.say(sentence);
  },
  onRefused: (error) => composer.showFailure(error),
});
startCitations(page, document.getElementById("passage-card"));
startSources(page, { onNarrow: (question) => composer.narrow(question) });
startSuggestions(page, { onChosen: (question) => composer.propose(question) });
startEditing(page, {
  template: document.getElementById("editor"),
  connection,
  onSent({ cleaned }) {
    composer.showError(cleaned ? page.dataset.textCleaned : "");
    announcer.say(page.dataset.textEdited);
  },
  onRefused: (error) => composer.showFailure(error),
});
startVersions(page, {
  connection,
  onShown: () => announcer.say(page.dataset.textShown),
  onRefused: (error) => composer.showFailure(error),
});
startMessageKeys(page, { KeyP: "pin", KeyX: "exclude", KeyE: "edit" });
startReplyActions(page, { connection, onRefused: (sentence) => composer.showError(sentence) });
startDeciding(page, {
  async decide(form, allowed) {
    composer.showError("");
    await sendDecision(form, allowed).finally(() => connection.sync());
  },
  onRefused: (error) => composer.showFailure(error),
});
startScenarioChoice(part("scenario"), {
  isStored: () => connection.isStored,
  url: urls.scenario,
  conversation: urls.conversation,
  onRefused: (error) => composer.showFailure(error),
});
startShortcuts({
  KeyA: () => documents.choose(),
  KeyN: () => location.assign(urls.new),
  KeyM: () => composer.focus(),
  KeyS: () => part("stop").click(),
  KeyW: () => thread.lastReply?.querySelector('[data-action="inspect"]')?.click(),
  KeyP: () => part("preview").click(),
  ArrowUp: () => thread.moveFocus(-1),
  ArrowDown: () => thread.moveFocus(1) || composer.focus(),
  KeyH: () => document.getElementById("help").togglePopover(),
});

/** Say what is slower or missing without the socket, and take back what was said once it is there again. */
function showWay(way) {
  const banner = part("banner");
  banner.hidden = way === "socket";
  banner.textContent = { http: banner.dataset.textHttp, none: banner.dataset.textNone }[way] ?? "";
  if (way !== "none") {
    composer.clearUnreachable();
  }
}

async function send(content, attempt) {
  if (attempt.conversation !== conversation) {
    await sendAgainElsewhere(content, attempt);
    return;
  }
  const { cleaned } = await connection.post(content, attempt.clientId);
  moveIn();
  follow.toNewest();
  composer.showError(cleaned ? page.dataset.textCleaned : "");
}

/** The conversation is stored: from now on the page is its own. */
function moveIn() {
  part("composer").elements.conversation.value = conversation;
  draft.moveIn();
  history.replaceState(null, "", urls.conversation);
  document.querySelector('.languages [name="next"]').value = urls.conversation;
}

/** A document has begun the conversation; what is typed meanwhile stays, and the list shows it. */
function begun() {
  connection.begin();
  moveIn();
  draft.content = composer.field.value;
  sidebar.showTitle(page.querySelector("[data-conversation-title]").textContent);
}

/** The first message of another new conversation, whose answer was lost before the page was reloaded: go there. */
async function sendAgainElsewhere(content, { clientId, conversation: other }) {
  const urlThere = (url) => url.replace(conversation, other);
  try {
    await postForm(urlThere(urls.messages), { ...beginning, client_id: clientId, content });
  } catch (error) {
    if (error.code === "conversation_not_found") {
      draft.clear(); // it was stored and has been deleted: the next attempt is a new message
    }
    throw error;
  }
  draft.clear();
  location.assign(urlThere(urls.conversation));
}
