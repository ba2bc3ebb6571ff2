/** The pictures that are to be sent with a message: added one after the other, kept with the draft, and removed again. */

import { uploadFile } from "../documents/upload_file.js";
import { postForm, Refusal, sentenceFor } from "../server/http.js";
import { dataOf, find } from "../shared/dom.js";
import { isolateName } from "../shared/names.js";
import { sentence } from "../shared/sentences.js";

/**
 * @import { Draft } from "./draft.js"
 *
 * @typedef {{id: number, name: string, width: number, height: number, alt: string}} AttachedPicture as it is stored
 */

const IS_PICTURE = /^image\/(png|jpeg|webp|gif|hei[cf])$/;
const NAME_OF_HEIC = /\.hei[cf]$/i; // for which some browsers know no type

/** @param {File} file */
export function isPicture(file) {
  return IS_PICTURE.test(file.type) || NAME_OF_HEIC.test(file.name);
}

export class AttachedPictures {
  /**
   * @param {HTMLElement} tray its dataset has the addresses and the limits
   * @param {object} options
   * @param {Draft} options.draft
   * @param {() => Record<string, string>} options.beginning what is sent with a picture that begins a conversation
   * @param {() => void} options.onAdded told of each picture that is kept now
   * @param {() => void} options.onChange told when other pictures would be sent
   * @param {(sentence: string) => void} options.say
   */
  constructor(tray, { draft, beginning, onAdded, onChange, say }) {
    this.tray = tray;
    this.draft = draft;
    this.beginning = beginning;
    this.onAdded = onAdded;
    this.onChange = onChange;
    this.say = say;
    this.list = find(tray, "ul");
    this.template = find(tray, "template", HTMLTemplateElement);
    /** @type {Promise<unknown>} */
    this.turn = Promise.resolve();
    /** @type {Map<HTMLElement, AttachedPicture | undefined>} */
    this.items = new Map();
    for (const picture of draft.pictures) {
      this.#show(this.#newItem(picture.name), picture);
    }
    this.#drawTray();
  }

  /** The pictures that would be sent now. */
  get stored() {
    return [...this.items.values()].filter((picture) => picture !== undefined);
  }

  get ids() {
    return this.stored.map(({ id }) => id);
  }

  /** Why the message can't be sent, in a sentence; empty if it can. */
  get problem() {
    return this.list.querySelector(".is-failed") ? sentence("pictureRemoveFailed") : "";
  }

  get areUploading() {
    return [...this.items].some(([item, picture]) => !picture && !item.classList.contains("is-failed"));
  }

  /**
   * Say above the field what a model does with the pictures that can't see them; "" is one that can.
   * @param {string} words
   */
  showNoPictures(words) {
    find(this.tray, "[data-no-pictures]").textContent = words;
    this.#drawTray();
  }

  /** @param {string} words about all of them */
  note(words) {
    find(this.tray, "[data-note]").textContent = words;
    this.#drawTray();
  }

  /**
   * Add the pictures among *files*; return the others.
   * @param {File[]} files
   * @returns {File[]}
   */
  take(files) {
    const pictures = files.filter(isPicture);
    const most = Number(this.tray.dataset.mostPictures);
    const fitting = pictures.slice(0, Math.max(0, most - this.items.size));
    this.note(fitting.length < pictures.length ? sentence("picturesTooMany") : "");
    for (const file of fitting) {
      this.#add(file);
    }
    return files.filter((file) => !isPicture(file));
  }

  /**
   * Show those again that are stored and were not sent after all.
   * @param {AttachedPicture[]} pictures
   */
  putBack(pictures) {
    for (const picture of pictures.filter(({ id }) => !this.ids.includes(id))) {
      this.#show(this.#newItem(picture.name), picture);
    }
    this.#changed();
  }

  /**
   * Take out those that were sent, and what was said about them.
   * @param {number[]} ids
   */
  remove(ids) {
    this.note("");
    for (const [item, picture] of [...this.items]) {
      if (picture && ids.includes(picture.id)) {
        this.#forget(item);
      }
    }
  }

  /** @param {File} file */
  #add(file) {
    const item = this.#newItem(file.name);
    if (file.size > Number(this.tray.dataset.mostBytes)) {
      this.#fail(item, file, sentence("pictureTooLarge"));
      return;
    }
    find(item, "[data-again]").addEventListener("click", () => {
      this.#begin(item, file);
      find(item, "[data-remove]").focus(); // the button that had the focus is gone
    });
    this.#begin(item, file);
  }

  /**
   * Send it after those before it, for the first time or once more.
   * @param {HTMLElement} item
   * @param {File} file
   */
  #begin(item, file) {
    item.classList.remove("is-failed");
    find(item, "[data-words]").textContent = "";
    find(item, "[data-again]").hidden = true;
    find(item, "progress").hidden = false;
    this.turn = this.turn.then(() => (this.items.has(item) ? this.#upload(item, file) : undefined));
    this.#changed();
  }

  /**
   * @param {HTMLElement} item
   * @param {File} file
   */
  async #upload(item, file) {
    const progress = find(item, "progress", HTMLProgressElement);
    const controller = new AbortController();
    item.addEventListener("removed", () => controller.abort());
    try {
      const answer = /** @type {any} */ (
        await uploadFile(dataOf(this.tray, "url"), {
          fields: this.beginning(),
          file,
          onProgress: (percent) => drawProgress(progress, percent),
          signal: controller.signal,
        })
      );
      const { picture: id, width, height, alt_text: alt } = answer;
      if (this.ids.includes(id)) {
        this.#forget(item); // the same picture is here already
      } else {
        this.#show(item, { id, width, height, alt, name: file.name });
        this.say(sentence("pictureAdded", { name: file.name }));
      }
      this.onAdded();
      this.#changed();
    } catch (error) {
      if (!controller.signal.aborted) {
        find(item, "[data-again]").hidden = error instanceof Refusal;
        this.#fail(item, file, sentenceFor(error, { tooLarge: "pictureTooLarge", unreachable: "uploadUnreachable" }));
      }
    }
  }

  /**
   * @param {string} name
   * @returns {HTMLElement}
   */
  #newItem(name) {
    const item = find(/** @type {DocumentFragment} */ (document.importNode(this.template.content, true)), "li");
    find(item, "[data-name]").textContent = name;
    find(item, "[data-remove]").addEventListener("click", () => {
      this.#forget(item);
      this.#changed();
    });
    this.items.set(item, undefined);
    this.list.append(item);
    return item;
  }

  /**
   * @param {HTMLElement} item
   * @param {AttachedPicture} picture
   */
  #show(item, picture) {
    const image = find(item, "img", HTMLImageElement);
    image.src = this.#addressOf(picture);
    image.alt = picture.name;
    image.hidden = false;
    find(item, "progress").hidden = true;
    const description = find(item, "input", HTMLInputElement);
    description.value = picture.alt;
    description.hidden = false;
    description.addEventListener("change", () => this.#describe(item, picture, description.value));
    this.items.set(item, picture);
  }

  /**
   * Store the words for what is to be seen; without an answer they stay in the field, to be tried again.
   * @param {HTMLElement} item
   * @param {AttachedPicture} picture
   * @param {string} words
   */
  async #describe(item, picture, words) {
    try {
      const { alt_text: alt } = await postForm(`${this.#addressOf(picture)}describe/`, { alt_text: words });
      this.items.set(item, { ...picture, alt });
      this.#changed();
    } catch (error) {
      this.note(sentenceFor(error));
    }
  }

  /**
   * @param {HTMLElement} item
   * @param {File} file
   * @param {string} reason
   */
  #fail(item, file, reason) {
    item.classList.add("is-failed");
    find(item, "progress").hidden = true;
    find(item, "[data-words]").textContent = reason;
    this.say(`${isolateName(file.name)}: ${reason}`);
    this.#changed();
  }

  /** @param {HTMLElement} item */
  #forget(item) {
    item.dispatchEvent(new Event("removed"));
    item.remove();
    this.items.delete(item);
    this.#drawTray();
    this.draft.pictures = this.stored;
  }

  #changed() {
    this.#drawTray();
    this.draft.pictures = this.stored;
    this.onChange();
  }

  #drawTray() {
    this.tray.hidden = !this.items.size && !find(this.tray, "[data-note]").textContent;
    const hint = find(this.tray, "[data-no-pictures]");
    hint.hidden = !this.items.size || !hint.textContent;
    find(this.tray, "[data-sent]", HTMLInputElement).value = this.ids.join(",");
  }

  /** @param {AttachedPicture} picture */
  #addressOf({ id }) {
    return dataOf(this.tray, "picture").replace("/0/", `/${id}/`);
  }
}

/**
 * When all of it has been sent it is being read, and how long that takes is not known.
 * @param {HTMLProgressElement} progress
 * @param {number} percent
 */
function drawProgress(progress, percent) {
  if (percent < 100) {
    progress.value = percent;
  } else {
    progress.removeAttribute("value");
  }
}
