/** Recovery codes on their page: a button that copies them. */

import { startCopying } from "./copy.js";

const button = document.querySelector("[data-copy]");

if (button) {
  startCopying(document.body, { copied: button.dataset.textCopied });
}
