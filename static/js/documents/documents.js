/** Documents of a page: files come in by the chooser, by dropping and by pasting, and lists show what becomes of them. */

import { closeByItself } from "../shared/dialogs.js";
import { refreshDocuments, startDocumentLists } from "./document_lists.js";
import { startDropping } from "./file_drop.js";
import { Uploads } from "./upload_queue.js";

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(sentence: string) => void} options.say
 * @param {() => boolean} [options.isStored] whether what the documents belong to exists yet
 * @param {() => Record<string, string>} [options.beginning] what is sent with the first file, which begins it
 * @param {() => void} [options.onAdded]
 * @returns {{choose: () => void}} `choose` opens the chooser of files
 */
export function startDocuments(page, { say, isStored = () => true, beginning = () => ({}), onAdded = () => {} }) {
  const shelf = page.querySelector('[data-part="shelf"]');
  const chooser = page.querySelector('[data-part="chooser"]');
  const panel = document.getElementById("documents-panel");
  const uploads = new Uploads(shelf, {
    beginning,
    say,
    onAdded: () => {
      onAdded();
      refreshDocuments();
    },
  });

  chooser.addEventListener("change", () => {
    uploads.add([...chooser.files]);
    chooser.value = ""; // so that the same file can be chosen again
  });
  function choose() {
    panel?.close(); // the file on its way is shown behind it
    chooser.click();
  }
  startDropping(document.querySelector('[data-part="drop-zone"]'), (files) => uploads.add(files));
  startDocumentLists({ isStored, say });
  if (panel) {
    startPanel(panel);
  }
  document.addEventListener("click", ({ target }) => target.closest('[data-action="add-documents"]') && choose());
  return { choose };
}

/** All documents at the side, where only few have their place on the page. */
function startPanel(panel) {
  closeByItself(panel);
  document.addEventListener("click", (event) => {
    if (event.target.closest('[data-action="open-documents"]')) {
      event.preventDefault();
      panel.showModal();
      refreshDocuments();
    }
  });
}
