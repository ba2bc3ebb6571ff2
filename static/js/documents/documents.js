/** Documents of a page: files come in by the chooser, by dropping and by pasting, and lists show their progress. */

import { fetchBundle } from "../shared/bundles.js";
import { closeByItself } from "../shared/dialogs.js";
import { closest, find, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";
import { refreshDocuments, startDocumentLists } from "./document_lists.js";
import { startFileDrop } from "./file_drop.js";

/** @import { UploadQueue } from "./upload_queue.js" */

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(sentence: string) => void} options.say
 * @param {() => boolean} [options.isStored] whether what the documents belong to exists yet
 * @param {() => Record<string, string>} [options.beginning] what is sent with the first file, which begins it
 * @param {() => void} [options.onAdded]
 * @param {(files: File[]) => File[]} [options.takePictures] takes what is no document, and returns the rest
 * @param {AbortSignal} [options.signal] ends it
 * @returns {{choose: () => void, add: (files: File[]) => void}} `choose` opens the chooser of files, `add` takes some
 */
export function startDocuments(
  page,
  { say, isStored = () => true, beginning = () => ({}), onAdded = () => {}, takePictures = (files) => files, signal },
) {
  const shelf = find(page, '[data-part="shelf"]');
  const chooser = find(page, '[data-part="chooser"]', HTMLInputElement);
  const panel = /** @type {HTMLDialogElement | null} */ (document.getElementById("documents-panel"));
  let queue = /** @type {UploadQueue | undefined} */ (undefined);

  /** Return the queue, which is fetched for the first file; nothing if it does not come. */
  async function fetchQueue() {
    /** @type {typeof import("./upload_queue.js") | undefined} */
    const fetched = await fetchBundle("uploadQueue");
    if (fetched) {
      queue ??= new fetched.UploadQueue(shelf, {
        beginning,
        say,
        onAdded: () => {
          onAdded();
          refreshDocuments();
        },
      });
    }
    return queue;
  }

  /** @param {File[]} files */
  async function add(files) {
    const documents = takePictures(files);
    if (documents.length) {
      const uploads = await fetchQueue();
      uploads ? uploads.add(documents) : showProblem(sentence("uploadUnreachable"));
    }
  }
  chooser.addEventListener("change", () => {
    add([...(chooser.files ?? [])]);
    chooser.value = ""; // so that the same file can be chosen again
  });
  function choose() {
    panel?.close(); // the file on its way is shown behind it
    chooser.click();
  }
  startFileDrop(find(document, '[data-part="drop-zone"]'), add, signal);
  startDocumentLists({
    isStored,
    say,
    async onFailed(name, reason) {
      if (query(shelf, ".is-folded")) {
        (await fetchQueue())?.showFailure(name, reason); // its row, which says it elsewhere, is not shown here
      }
    },
    signal,
  });
  if (panel) {
    startPanel(panel, signal);
  }
  const chooseIfPressed = (/** @type {Event} */ event) => closest(event, '[data-action="add-documents"]') && choose();
  document.addEventListener("click", chooseIfPressed, { signal });
  return { choose, add };
}

/**
 * All documents at the side, where only few have their place on the page.
 * @param {HTMLDialogElement} panel
 * @param {AbortSignal} [signal]
 */
function startPanel(panel, signal) {
  closeByItself(panel);
  document.addEventListener(
    "click",
    (event) => {
      if (closest(event, '[data-action="open-documents"]')) {
        event.preventDefault();
        panel.showModal();
        refreshDocuments();
      }
    },
    { signal },
  );
}
