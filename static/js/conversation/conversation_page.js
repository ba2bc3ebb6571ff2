/** The page of a conversation: makes its parts and puts them together. */

import { AttachedPictures } from "../composer/attached_pictures.js";
import { Composer } from "../composer/composer.js";
import { Draft } from "../composer/draft.js";
import { Meter } from "../composer/meter.js";
import { startSuggestions } from "../composer/suggestions.js";
import { startWebSwitch } from "../composer/web_switch.js";
import { startDocuments } from "../documents/documents.js";
import { AutoScroll } from "../messages/auto_scroll.js";
import { startLargePictures } from "../messages/large_picture.js";
import { startMessageActions } from "../messages/message_actions.js";
import { MessageList } from "../messages/message_list.js";
import { keepPlaceWhenOlderArrive } from "../messages/older_messages.js";
import { WindowCoverage } from "../messages/window_coverage.js";
import { Connection } from "../server/connection.js";
import { Announcer } from "../shared/announcer.js";
import { labelCopyButtons } from "../shared/copy_buttons.js";
import { dataOf, fieldOf, find, query } from "../shared/dom.js";
import { localiseTimes } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";
import { Costs } from "./costs.js";
import { frameHandler } from "./frame_handlers.js";
import { startInspector } from "./inspector.js";
import { ModelChoice } from "./model_choice.js";
import { startScenarioChoice } from "./scenario_choice.js";
import { Sending } from "./sending.js";
import { startShortcuts } from "./shortcuts.js";

/**
 * @typedef {object} Shell what stands around the conversation, and stays when another one takes its place
 * @property {import("../server/socket.js").Socket} socket
 * @property {import("../sidebar/sidebar.js").Sidebar} sidebar
 * @property {HTMLElement} announcer a polite live region
 * @property {HTMLDialogElement} smallDialog
 */

/**
 * Start the conversation that stands in *page*; the function that is returned ends it, so that another one can take its
 * place: its timers, observers and what it listens to outside of the page.
 * @param {HTMLElement} page
 * @param {Shell} shell
 * @returns {{end: () => void}}
 */
export function startConversation(page, { socket, sidebar, announcer: region, smallDialog }) {
  const ending = new AbortController();
  const { signal } = ending;
  const scroller = find(page, '[data-part="scroller"]');
  const list = find(page, '[data-part="messages"]');
  const form = find(page, '[data-part="composer"]', HTMLFormElement);

  const conversation = dataOf(page, "conversation");
  const isStored = page.hasAttribute("data-stored");
  const urls = JSON.parse(dataOf(page, "urls"));
  /** @type {Record<string, string>} what is sent with the first message */
  const beginning = isStored
    ? {}
    : {
        scenario: fieldOf(form, "scenario").value,
        language_model: fieldOf(form, "language_model").value,
        effort: fieldOf(form, "effort").value,
      };

  // The parts of the page

  const announcer = new Announcer(region, signal);
  const autoScroll = new AutoScroll(scroller, list, find(page, '[data-part="jump"]', HTMLButtonElement), signal);
  const messages = new MessageList(list, {
    onEnded: (article) => announcer.readReply(article),
    onThinking: () => announcer.say(sentence("thinkingBegun")),
    onAwaitingApproval: (call) => announcer.say(dataOf(call, "announcement")),
  });
  const coverage = new WindowCoverage(list);
  sidebar.enter(conversation);
  const connection = new Connection({ socket, conversation, urls, beginning, isStored, signal });
  const meter = new Meter(find(page, '[data-part="meter"]'), {
    url: urls.estimate,
    whereTo: () => ({ ...(connection.isStored ? { conversation } : beginning), pictures: pictures.ids.map(String) }),
    onWindow: (window) => messages.streamingArticle || coverage.update(window),
    signal,
  });
  const draft = new Draft(conversation, { isStored });
  const sending = new Sending(page, { connection, draft, url: urls.conversation, signal });
  const composer = new Composer(form, {
    draft,
    async send(content, attempt) {
      const note = await sending.send(content, attempt);
      if (note !== undefined) {
        autoScroll.toNewest();
        composer.showError(note);
      }
    },
    onChange: (content) => meter.estimate(content),
  });
  const pictures = new AttachedPictures(find(page, '[data-part="picture-tray"]'), {
    draft,
    beginning: () => (connection.isStored ? {} : beginning),
    onAdded: () => connection.isStored || beginWithFile(),
    onChange: () => composer.picturesChanged(),
    say: (sentence) => announcer.say(sentence),
  });
  composer.attach(pictures);
  const onRefused = (/** @type {unknown} */ error) => composer.showFailure(error);
  const costs = new Costs(find(page, '[data-part="costs"]'), {
    onSwitched: () => connection.sync(messages.firstPosition),
    onRefused,
  });

  const model = new ModelChoice(find(page, ".conversation-header"), {
    url: urls.model,
    connection,
    onChosen(sentence) {
      announcer.say(sentence);
      pictures.showBlindness(model.blindness);
      meter.refresh(composer.field.value);
    },
    onRefused,
  });
  pictures.showBlindness(model.blindness);

  // What comes from the server

  connection.listen({
    whereabouts: () => ({ position: messages.position, isStreaming: Boolean(messages.streamingArticle) }),
    onFrame: frameHandler({
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
      onGapTooLarge: () => location.replace(urls.conversation),
    }),
    onTransport: showTransport,
  });
  keepPlaceWhenOlderArrive(scroller, () => {
    localiseTimes(page);
    labelCopyButtons(page);
    coverage.draw();
  });

  // What the user does

  startMessageActions(page, {
    connection,
    coverage,
    composer,
    meter,
    announcer,
    dialog: smallDialog,
    editor: find(document, "#editor", HTMLTemplateElement),
    passageCard: find(document, "#passage-card"),
    signal,
  });
  labelCopyButtons(page);
  localiseTimes(page);
  startSuggestions(page, { onChosen: (question) => composer.propose(question) });
  startInspector(find(document, "#inspector", HTMLDialogElement));
  startLargePictures(page, find(document, "#large-picture", HTMLDialogElement));
  startPictureChooser(find(page, '[data-part="picture-chooser"]', HTMLInputElement));
  document.addEventListener(
    "renamed",
    (event) => {
      const { detail } = /** @type {CustomEvent<{conversation: string, title: string}>} */ (event);
      smallDialog.close();
      if (detail.conversation === conversation) {
        sidebar.showTitle(detail.title);
      }
    },
    { signal },
  );
  document.addEventListener(
    "notesSaved",
    (event) => {
      const { detail } = /** @type {CustomEvent<{conversation: string}>} */ (event);
      smallDialog.close();
      if (detail.conversation === conversation) {
        meter.refresh(composer.field.value);
      }
    },
    { signal },
  );
  startScenarioChoice(query(page, '[data-part="scenario"]', HTMLFormElement), {
    isStored: () => connection.isStored,
    url: urls.scenario,
    conversation: urls.conversation,
    signal,
    onRefused,
  });
  const documents = startDocuments(page, {
    isStored: () => connection.isStored,
    beginning: () => (connection.isStored ? {} : beginning),
    onAdded: () => connection.isStored || beginWithFile(),
    takePictures: (files) => pictures.take(files),
    signal,
    say: (sentence) => announcer.say(sentence),
  });
  startWebSwitch(form, {
    isStored: () => connection.isStored,
    url: urls.webSearch,
    beginning,
    onSwitched: () => meter.refresh(composer.field.value),
    onRefused,
  });
  startShortcuts(
    {
      KeyA: () => documents.choose(),
      KeyN: () => location.assign(urls.new),
      KeyM: () => composer.focus(),
      KeyS: () => find(page, '[data-part="stop"]').click(),
      KeyW: () => messages.lastReply && query(messages.lastReply, '[data-action="inspect"]')?.click(),
      KeyP: () => find(page, '[data-part="preview"]').click(),
      ArrowUp: () => messages.moveFocus(-1),
      ArrowDown: () => messages.moveFocus(1) || composer.focus(),
      KeyH: () => find(document, "#help").togglePopover(),
    },
    signal,
  );

  /** @param {HTMLInputElement} chooser of files, opened by the button beside the field */
  function startPictureChooser(chooser) {
    find(page, '[data-action="add-pictures"]').addEventListener("click", () => chooser.click());
    chooser.addEventListener("change", () => {
      documents.add([...(chooser.files ?? [])]); // which keeps what is no picture
      chooser.value = ""; // so that the same file can be chosen again
      composer.focus();
    });
  }

  /**
   * Say what is slower or missing without the socket, and take it back once the socket is there again.
   * @param {import("../server/connection.js").Transport} transport
   */
  function showTransport(transport) {
    const banner = find(page, '[data-part="banner"]');
    banner.hidden = transport === "socket";
    banner.textContent = {
      socket: "",
      late: sentence("lateText"),
      http: sentence("noSocket"),
      none: sentence("noConnection"),
    }[transport];
    if (transport !== "none") {
      composer.clearUnreachable();
    }
  }

  /** A document or a picture has begun the conversation; what is typed meanwhile stays, and the list shows it. */
  function beginWithFile() {
    connection.begin();
    sending.markStored();
    draft.content = composer.field.value;
    draft.pictures = pictures.stored;
    if (!signal.aborted) {
      sidebar.showTitle(find(page, "[data-conversation-title]").textContent);
    }
  }

  return { end: () => ending.abort() };
}
