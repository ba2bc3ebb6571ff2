/** Recovery codes on their page: a button that copies them. */

import { startCopying } from "../shared/copy_buttons.js";
import { query } from "../shared/dom.js";

if (query(document, "[data-copy]")) {
  startCopying(document.body);
}
