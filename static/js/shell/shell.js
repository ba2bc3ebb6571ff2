/** The shell: what stands around conversations and pages, and is started once for all that are shown in it. */

import { startConversation } from "../conversation/conversation_page.js";
import { Socket } from "../server/socket.js";
import { Announcer } from "../shared/announcer.js";
import { startCopying } from "../shared/copy_buttons.js";
import { openWhenFilled } from "../shared/dialogs.js";
import { closest, dataOf, find } from "../shared/dom.js";
import "../shared/every_page.js";
import { followDays } from "../shared/local_times.js";
import { startMenus } from "../shared/menus.js";
import { Sidebar } from "../sidebar/sidebar.js";
import { startFailedRequests } from "./failed_requests.js";
import { startLostFocus } from "./lost_focus.js";
import { Navigation } from "./navigation.js";
import { startPage } from "./page.js";
import { startPageLoads } from "./page_loads.js";
import { startSearch } from "./search_keys.js";

const DIALOG_DONE = ["renamed", "notesSaved", "promptSaved"]; // events that an answer brings

const region = find(document, '[data-part="announcer"]');
const smallDialog = find(document, "#small-dialog", HTMLDialogElement);
const announcer = new Announcer(region);
const socket = new Socket(dataOf(document.body, "socket"));
const sidebar = new Sidebar(find(document, "#sidebar"), {
  onAwaitingApproval: (sentence) => announcer.say(sentence),
});
/** @type {import("./navigation.js").SearchedConversation | undefined} */
let searched;
const navigation = new Navigation({
  view: find(document, '[data-part="view"]'),
  start(main) {
    const shell = { socket, sidebar, announcer: region, smallDialog, navigation };
    const isConversation = main.matches(".conversation");
    const view = isConversation ? startConversation(main, shell) : startPage(main, shell);
    searched = view.searched;
    return view;
  },
  onArrived(news) {
    sidebar.close();
    announcer.say(news ?? sidebar.title);
    onArrived();
  },
  onStayed(gone) {
    sidebar.close(); // which may lie over what is said
    gone && sidebar.remove(gone);
  },
});

const onArrived = startSearch({ shown: () => searched, navigation });
let wasLost = false; // the socket, and with it frames about the list
socket.listen({
  onOpen() {
    if (wasLost) {
      wasLost = false;
      sidebar.reload();
    }
  },
  onFrame: (frame) => sidebar.take(frame),
  onFailure() {
    wasLost = true;
  },
});
for (const event of DIALOG_DONE) {
  document.addEventListener(event, () => smallDialog.close());
}
document.addEventListener("restored", (event) => {
  const { detail } = /** @type {CustomEvent<{address: string}>} */ (event);
  closest(event, ".toast")?.remove();
  location.pathname === detail.address || navigation.go(detail.address);
});
startCopying(document.body, (sentence) => announcer.say(sentence));
startMenus(document.body);
openWhenFilled(smallDialog);
startFailedRequests({
  onFailed: (element) => sidebar.element.contains(element) && sidebar.close(),
  onGone: (conversation) => sidebar.remove(conversation),
});
startPageLoads(socket);
startLostFocus(() => sidebar.takeFocus() || navigation.takeFocus());
followDays(() => sidebar.reload());
navigation.begin();
