/** Files that are dropped anywhere on the page, or pasted into it. */

/**
 * @param {HTMLElement} zone shown while files are dragged over the page
 * @param {(files: File[]) => void} onFiles
 */
export function startDropping(zone, onFiles) {
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event.dataTransfer)) {
      event.preventDefault(); // without it nothing can be dropped, and the browser would open the file
      event.dataTransfer.dropEffect = "copy";
      zone.hidden = false;
    }
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => {
    zone.hidden ||= !relatedTarget; // of all it leaves on its way, only the page is left for nothing
  });
  document.addEventListener("drop", (event) => {
    zone.hidden = true;
    if (hasFiles(event.dataTransfer)) {
      event.preventDefault();
      onFiles(filesOf(event.dataTransfer));
    }
  });
  document.addEventListener("paste", (event) => {
    // Cells of a spreadsheet come as text and as a picture of them: whoever pastes those means the text.
    if (hasFiles(event.clipboardData) && !event.clipboardData.types.includes("text/plain")) {
      event.preventDefault();
      onFiles(filesOf(event.clipboardData));
    }
  });
}

function hasFiles(transfer) {
  return Boolean(transfer?.types.includes("Files"));
}

/** A folder comes as a file, too, but cannot be read as one. */
function filesOf(transfer) {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  return items.filter((item) => !item.webkitGetAsEntry?.()?.isDirectory).map((item) => item.getAsFile());
}
