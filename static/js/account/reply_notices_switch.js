/** The switch on the account page: whether this browser says that a reply is done. */

import { find, query } from "../shared/dom.js";
import { areNoticesOn, isSupported, switchNotices } from "../shared/reply_notices.js";

/** @param {ParentNode} root */
export function startReplyNoticesSwitch(root) {
  const section = query(root, "[data-reply-notices]");
  if (!section || !isSupported()) {
    return;
  }
  const box = find(section, "input", HTMLInputElement);
  const refused = find(section, "[data-refused]");
  section.hidden = false;
  find(root, "[data-with-reply-notices]").hidden = false;
  box.checked = areNoticesOn();
  box.addEventListener("change", async () => {
    const wanted = box.checked;
    box.checked = await switchNotices(wanted);
    refused.hidden = !wanted || box.checked;
  });
}
