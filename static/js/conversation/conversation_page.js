/** The page of a conversation: makes its parts and puts them together. */

import { AttachedPictures } from "../composer/attached_pictures.js";
import { startCommandsOnceTyped } from "../composer/commands_once_typed.js";
import { Composer } from "../composer/composer.js";
import { showDictationButton } from "../composer/dictation_button.js";
import { Draft } from "../composer/draft.js";
import { MessageQueue } from "../composer/message_queue.js";
import { Meter } from "../composer/meter.js";
import { startSuggestions } from "../composer/suggestions.js";
import { startWebSwitch } from "../composer/web_switch.js";
import { startDocuments } from "../documents/documents.js";
import { AutoScroll } from "../messages/auto_scroll.js";
import { startMessageActions } from "../messages/message_actions.js";
import { MessageList } from "../messages/message_list.js";
import { startPlaceKeys } from "../messages/place_keys.js";
import { startScrollableParts } from "../messages/scrollable_parts.js";
import { ThreadRange } from "../messages/thread_range.js";
import { WindowCoverage } from "../messages/window_coverage.js";
import { Connection } from "../server/connection.js";
import { getJson } from "../server/http.js";
import { Announcer } from "../shared/announcer.js";
import { fetchBundle } from "../shared/bundles.js";
import { labelCopyButtons } from "../shared/copy_buttons.js";
import { dataOf, find, query, queryAll } from "../shared/dom.js";
import { localiseTimes } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";
import { commandActions } from "./command_actions.js";
import { Costs } from "./costs.js";
import { DeletedNote } from "./deleted_note.js";
import { frameHandler } from "./frame_handlers.js";
import { startInspector } from "./inspector.js";
import { MapOfLongThread } from "./map_of_long_thread.js";
import { ModelChoice } from "./model_choice.js";
import { startReplyNotice } from "./reply_notice.js";
import { scenarioChooser } from "./scenario_choice.js";
import { Sending } from "./sending.js";
import { startKeyList, startShortcuts } from "./shortcuts.js";

/**
 * @typedef {object} Shell what stands around the conversation, and stays when another one takes its place
 * @property {import("../server/socket.js").Socket} socket
 * @property {import("../sidebar/sidebar.js").Sidebar} sidebar
 * @property {HTMLElement} announcer a polite live region
 * @property {HTMLDialogElement} smallDialog
 * @property {import("../shell/navigation.js").Navigation} navigation
 */

/**
 * Start the conversation that stands in *page*. What is returned can end it, so that another one can take its place: its
 * timers, observers and what it listens to outside of the page.
 * @param {HTMLElement} page
 * @param {Shell} shell
 * @returns {import("../shell/navigation.js").StartedView}
 */
export function startConversation(page, { socket, sidebar, announcer: region, smallDialog, navigation }) {
  const ending = new AbortController();
  const { signal } = ending;
  const scroller = find(page, '[data-part="scroller"]');
  const list = find(page, '[data-part="messages"]');
  const form = find(page, '[data-part="composer"]', HTMLFormElement);
  const stop = find(page, '[data-part="stop"]', HTMLButtonElement);

  const conversation = dataOf(page, "conversation");
  const isStored = page.hasAttribute("data-stored");
  const urls = JSON.parse(dataOf(page, "urls"));
  /** @type {Record<string, string>} what is sent with the first message */
  const beginning = isStored
    ? {}
    : Object.fromEntries(queryAll(form, "[data-beginning]", HTMLInputElement).map(({ name, value }) => [name, value]));
  const temporary = query(page, '[data-part="temporary"]');
  const storage = temporary ? sessionStorage : localStorage; // what is temporary leaves nothing in the browser

  // The parts of the page

  const announcer = new Announcer(region, signal);
  const range = new ThreadRange(scroller, list, {
    url: urls.thread,
    onChange: () => coverage.draw(),
    signal,
  });
  const jump = find(page, '[data-part="jump"]', HTMLButtonElement);
  const autoScroll = new AutoScroll(scroller, list, jump, range, signal);
  const messages = new MessageList(list, range, {
    onEnded: (article) => announcer.readReply(article),
    onThinking: () => announcer.say(sentence("thinkingBegun")),
    onAwaitingApproval: (call) => announcer.say(dataOf(call, "announcement")),
  });
  /** @type {MapOfLongThread | undefined} */
  let map;
  const coverage = new WindowCoverage(list, {
    scroller,
    range,
    onChange: () => map?.draw(),
    say: (sentence) => announcer.say(sentence),
    signal,
  });
  sidebar.enter(conversation, { isStored });
  const connection = new Connection({ socket, conversation, urls, beginning, isStored, signal });
  const meter = new Meter(find(page, '[data-part="meter"]'), {
    url: urls.estimate,
    whereTo: () => ({ ...(connection.isStored ? { conversation } : beginning), pictures: pictures.ids.map(String) }),
    onWindow: (window) => messages.streamingArticle || coverage.update(window),
    onTooLong: (problem) => composer.showTooLong(problem),
    signal,
  });
  const draft = new Draft(conversation, { isStored, storage });
  const sending = new Sending(page, {
    connection,
    deletedNote: () => deletedNote,
    queue: () => queue,
    pictures: () => pictures,
    draft,
    url: urls.conversation,
    navigation,
    onSent(note) {
      temporaryNote?.then((shown) => shown?.begin());
      autoScroll.toNewest();
      composer.showError(note);
    },
    onLeft: () => sidebar.reload(),
    signal,
  });
  const composer = new Composer(form, {
    draft,
    send: (content, attempt) => sending.sendOrQueue(content, attempt),
    onChange: (content) => meter.estimate(content),
    onSendNow: () => sending.stopAndSend(composer.hasContent),
    onUp: () => queue.edit() || editLastMessage(),
  });
  const pictures = new AttachedPictures(find(page, '[data-part="picture-tray"]'), {
    draft,
    beginning: () => (connection.isStored ? {} : beginning),
    onAdded: () => connection.isStored || beginWithFile(),
    onChange: () => composer.picturesChanged(),
    say: (sentence) => announcer.say(sentence),
  });
  composer.attach(pictures);
  const queue = new MessageQueue(find(page, '[data-part="queued"]'), {
    conversation,
    storage,
    replyState: () => messages.replyState,
    send: (content, attempt) => sending.send(content, attempt),
    stop: () => stop.click(),
    onEdit(message) {
      pictures.putBack(message.pictures);
      composer.putBack(message.content);
    },
    say: (sentence) => announcer.say(sentence),
    signal,
  });
  /** @type {Promise<import("../composer/temporary_note.js").TemporaryNote | undefined> | null} */
  const temporaryNote =
    temporary &&
    fetchBundle("temporaryNote").then(
      (fetched) => fetched && !signal.aborted && new fetched.TemporaryNote(temporary, signal),
    );
  const deletedNote = new DeletedNote(find(page, '[data-part="deleted"]'), {
    url: urls.delete,
    ask: async () => connection.isStored && getJson(`${urls.sync}?from=${messages.position}`),
    isTemporary: Boolean(temporary),
    say: (sentence) => announcer.say(sentence),
    onRestored() {
      composer.showError("");
      connection.sync();
    },
    signal,
  });
  const onRefused = (/** @type {unknown} */ error) => composer.showFailure(error);
  const costs = new Costs(find(page, '[data-part="costs"]'), {
    onSwitched: () => connection.sync(messages.firstPosition),
    onRefused,
  });

  const chooseScenario = scenarioChooser({ connection, urls, navigation, onRefused, signal });
  const model = new ModelChoice(find(page, ".conversation-header"), {
    url: urls.model,
    connection,
    onChosen(sentence) {
      announcer.say(sentence);
      pictures.showNoPictures(model.noPictures);
      meter.refresh(composer.field.value);
    },
    onScenario: chooseScenario,
    onRefused,
  });
  pictures.showNoPictures(model.noPictures);

  map = new MapOfLongThread(page, {
    fetchFigures: () => getJson(urls.map),
    threadUrl: urls.thread,
    scroller,
    range,
    coverage,
    toNewest: () => autoScroll.toNewest(),
    signal,
  });
  startPlaceKeys(page, { range, coverage });
  startScrollableParts(list, signal);

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
      onState,
      onDeleted: (frame) => deletedNote.take(frame),
      onNotFound: (sentence) => deletedNote.look().then((isDeleted) => isDeleted || composer.showError(sentence)),
      onGapTooLarge: () => navigation.replace(urls.conversation),
    }),
    onTransport: showTransport,
  });

  // What the user does

  const [, addressed] = location.hash.match(/^#message-(\d+)$/) ?? [];
  if (addressed && !document.getElementById(`message-${addressed}`)) {
    range.goTo({ message: addressed });
  }
  startMessageActions(page, {
    connection,
    coverage,
    composer,
    meter,
    announcer,
    dialog: smallDialog,
    sheet: find(document, "#message-sheet", HTMLDialogElement),
    remark: find(document, "#remark", HTMLFormElement),
    editor: find(document, "#editor", HTMLTemplateElement),
    passageCard: find(document, "#passage-card"),
    signal,
  });
  labelCopyButtons(page);
  localiseTimes(page);
  startSuggestions(page, { onChosen: (question) => composer.propose(question) });
  const tour = query(page, '[data-part="tour"]');
  if (tour) {
    /** @type {Promise<typeof import("../composer/tour.js") | undefined>} */
    const bundle = fetchBundle("tour");
    bundle.then((fetched) =>
      fetched
        ? fetched.startTour(page, tour, { send: (content) => composer.sendBeside(content), signal })
        : tour.remove(),
    );
  }
  startReplyNotice(page, { title: () => find(page, "[data-conversation-title]").textContent ?? "", signal });
  startInspector(find(document, "#inspector", HTMLDialogElement), { range, url: urls.thread });
  document.addEventListener(
    "renamed",
    (event) => {
      const { detail } = /** @type {CustomEvent<{conversation: string, title: string}>} */ (event);
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
      if (detail.conversation === conversation) {
        meter.refresh(composer.field.value);
      }
    },
    { signal },
  );
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
  const keys = find(document, "#help");
  const actions = commandActions(page, {
    composer,
    connection,
    messages,
    navigation,
    queue,
    keys,
    smallDialog,
    urls,
    chooseDocuments: () => documents.choose(),
  });
  startCommandsOnceTyped(form, {
    composer,
    url: () =>
      `${urls.commands}${new URLSearchParams(connection.isStored ? { conversation } : { scenario: beginning.scenario })}`,
    onScenario: chooseScenario,
    say: (sentence) => announcer.say(sentence),
    actions,
  });
  showDictationButton(form, { composer, say: (sentence) => announcer.say(sentence), signal });
  startKeyList(keys, signal);
  startShortcuts(
    {
      withControl: {
        "/": () => keys.togglePopover(),
        ";": () => (document.activeElement === composer.field ? messages.moveFocus(-1) : composer.focus()),
        ".": () => queue.isNeeded && stop.click(),
      },
      withAlt: {
        ArrowUp: () => messages.moveFocus(-1),
        ArrowDown: () => messages.moveFocus(1) || composer.focus(),
      },
      alone: { "?": () => keys.togglePopover() },
    },
    signal,
  );
  document.addEventListener("promptSaved", () => announcer.say(sentence("promptSaved")), { signal });
  onState();

  function onState() {
    const { placeholderQueue = "" } = composer.field.dataset;
    composer.field.dataset.placeholderFirst ??= composer.field.placeholder;
    composer.field.placeholder = queue.isNeeded ? placeholderQueue : composer.field.dataset.placeholderFirst;
    queue.consider();
  }

  /** @returns {boolean} whether there is one that can be edited */
  function editLastMessage() {
    const last = messages.articles.findLast(({ dataset }) => dataset.role === "user");
    const link = last && !queue.isNeeded ? query(last, '[data-action="edit"]') : null;
    link?.click();
    return Boolean(link);
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
      queue.tryAgain();
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

  return {
    end: () => ending.abort(),
    get place() {
      return autoScroll.place;
    },
    restore: (place) => autoScroll.restore(place),
    focus: () => composer.focus(),
    searched: { page, conversation, url: urls.find, isStored: () => connection.isStored, range, map, actions, signal },
  };
}
