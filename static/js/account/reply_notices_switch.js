/** The switch on the account page: whether this browser says that a reply is done. */

import { find, query } from "../shared/dom.js";
import { areNoticesOn, isSupported, switchNotices } from "../shared/reply_notices.js";

const section = query(document, "[data-reply-notices]");
if (section && isSupported()) {
  const box = find(section, "input", HTMLInputElement);
  const refused = find(section, "[data-refused]");
  section.hidden = false;
  box.checked = areNoticesOn();
  box.addEventListener("change", async () => {
    const wanted = box.checked;
    box.checked = await switchNotices(wanted);
    refused.hidden = !wanted || box.checked;
  });
}
