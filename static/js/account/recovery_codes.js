/** Recovery codes on their page: a button that copies them. */

import { startCopying } from "../shared/copy_buttons.js";
import { dataOf, query } from "../shared/dom.js";

const button = query(document, "[data-copy]");

if (button) {
  startCopying(document.body, { copied: dataOf(button, "textCopied") });
}
