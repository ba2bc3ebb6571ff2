/** Drag and drop: files that are dropped anywhere on the page, or pasted into it. */

/**
 * @param {HTMLElement} zone shown while files are dragged over the page
 * @param {(files: File[]) => void} onFiles
 * @param {AbortSignal} [signal] ends it
 */
export function startFileDrop(zone, onFiles, signal) {
  document.addEventListener(
    "dragover",
    (event) => {
      if (event.dataTransfer && hasFiles(event.dataTransfer)) {
        event.preventDefault(); // without it nothing can be dropped, and the browser would open the file
        event.dataTransfer.dropEffect = "copy";
        zone.hidden = false;
      }
    },
    { signal },
  );
  document.addEventListener(
    "dragleave",
    ({ relatedTarget }) => {
      zone.hidden ||= !relatedTarget; // it leaves many elements on its way, but only the page for nothing
    },
    { signal },
  );
  document.addEventListener(
    "drop",
    (event) => {
      zone.hidden = true;
      if (event.dataTransfer && hasFiles(event.dataTransfer)) {
        event.preventDefault();
        onFiles(filesOf(event.dataTransfer));
      }
    },
    { signal },
  );
  document.addEventListener(
    "paste",
    (event) => {
      const pasted = event.clipboardData;
      // Cells of a spreadsheet come as text and as a picture of them: the text is meant.
      if (pasted && hasFiles(pasted) && !pasted.types.includes("text/plain")) {
        event.preventDefault();
        onFiles(filesOf(pasted));
      }
    },
    { signal },
  );
}

/** @param {DataTransfer} transfer */
function hasFiles(transfer) {
  return transfer.types.includes("Files");
}

/**
 * A folder comes as a file, too, but cannot be read as one.
 * @param {DataTransfer} transfer
 */
function filesOf(transfer) {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  return items
    .filter((item) => !item.webkitGetAsEntry?.()?.isDirectory)
    .map((item) => item.getAsFile())
    .filter((file) => file !== null);
}
