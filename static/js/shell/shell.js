/** The shell: what stands around a conversation, and is started once for all that are shown in it. */

import { startConversation } from "../conversation/conversation_page.js";
import { Socket } from "../server/socket.js";
import { Announcer } from "../shared/announcer.js";
import { startCopying } from "../shared/copy_buttons.js";
import { openWhenFilled } from "../shared/dialogs.js";
import { dataOf, find } from "../shared/dom.js";
import { startMenus } from "../shared/menus.js";
import { Sidebar } from "../sidebar/sidebar.js";

const page = find(document, "#main");
const region = find(document, '[data-part="announcer"]');
const smallDialog = find(document, "#small-dialog", HTMLDialogElement);
const announcer = new Announcer(region);

startCopying(document.body, (sentence) => announcer.say(sentence));
startMenus(document.body);
openWhenFilled(smallDialog);
startConversation(page, {
  socket: new Socket(dataOf(document.body, "socket")),
  sidebar: new Sidebar(find(document, "#sidebar"), { onAwaitingApproval: (sentence) => announcer.say(sentence) }),
  announcer: region,
  smallDialog,
});
