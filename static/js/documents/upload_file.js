/** Upload one file to our own server, with progress: unlike `fetch`, this request tells how much of it was sent. */

import { goToGate, Refusal, Unreachable } from "../server/http.js";
import { dataOf } from "../shared/dom.js";

/** @typedef {{documents: {created: boolean}[]}} UploadAnswer */

/**
 * Send *file* and return what the server answers; rejected with a `Refusal` or `Unreachable` when it was not stored.
 * @param {string} url
 * @param {object} options
 * @param {Record<string, string>} options.fields what is sent beside the file
 * @param {File} options.file
 * @param {(percent: number) => void} options.onProgress
 * @param {AbortSignal} options.signal
 * @returns {Promise<UploadAnswer>}
 */
export function uploadFile(url, { fields, file, onProgress, signal }) {
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.open("POST", url);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRFToken", dataOf(document.body, "csrfToken"));
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(Math.floor((100 * loaded) / total)));
    request.addEventListener("loadend", () => settle(request, resolve, reject));
    signal.addEventListener("abort", () => request.abort());
    request.send(formOf(fields, file));
  });
}

/**
 * @param {Record<string, string>} fields
 * @param {File} file
 */
function formOf(fields, file) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, value);
  }
  form.append("files", file);
  return form;
}

/**
 * @param {XMLHttpRequest} request
 * @param {(answer: UploadAnswer) => void} resolve
 * @param {(error: Refusal | Unreachable) => void} reject
 */
function settle({ status, responseText }, resolve, reject) {
  const answer = parsed(responseText);
  if (answer?.door === "gate") {
    goToGate();
  }
  if (!answer) {
    reject(new Unreachable(status));
  } else if (status >= 400) {
    reject(new Refusal(answer));
  } else {
    resolve(answer);
  }
}

/** @param {string} json */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
