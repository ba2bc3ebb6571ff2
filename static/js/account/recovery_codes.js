/** Recovery codes on their page: a button that copies them. */

import { startCopying } from "../shared/copy_buttons.js";

const button = document.querySelector("[data-copy]");

if (button) {
  startCopying(document.body, { copied: button.dataset.textCopied });
}
