/**
 * The palette: one field that searches titles, the words of all conversations, commands, scenarios and language models. What is
 * found comes as HTML from the server, the same as on the page of the search; here it becomes a list box of the field.
 */

import { getFragment } from "../server/http.js";
import { closest, dataOf, find, isPlainPress, query, queryAll } from "../shared/dom.js";
import { localiseTimes } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";
import { openFind } from "./find_bar.js";

/** @import { SearchShell } from "../shell/search_keys.js" */

const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform);
const REST_MS = 120; // of the keys, before what is typed is searched for

/** @type {Palette | undefined} */
let palette;

/**
 * @param {SearchShell} shell
 * @param {() => string} early what was typed before the field was there
 */
export async function openPalette(shell, early) {
  try {
    palette ??= new Palette(
      document.importNode(await getFragment("/search/?palette=1", "[data-palette]"), true),
      shell,
    );
    palette.open(early());
  } catch {
    showProblem(sentence("notOpened"));
  }
}

class Palette {
  #timer = 0;
  #asked = 0; // counts the searches: an answer that is no longer wanted is left out
  #active = -1;
  #typed = ""; // the words of what was found
  /** What was found is for that. @type {string | undefined} */
  #drawn;

  /**
   * @param {HTMLElement} dialog
   * @param {SearchShell} shell
   */
  constructor(dialog, shell) {
    this.dialog = /** @type {HTMLDialogElement} */ (dialog);
    this.shell = shell;
    this.field = find(dialog, "input", HTMLInputElement);
    this.results = find(dialog, ".palette-results");
    this.status = find(dialog, "[data-status]");
    this.results.setAttribute("role", "listbox");
    this.results.ariaLabel = this.field.ariaLabel;
    document.body.append(dialog);
    this.field.addEventListener("input", () => this.#search(REST_MS));
    dialog.addEventListener("keydown", (event) => this.#press(event));
    dialog.addEventListener("click", (event) => this.#click(event));
    dialog.addEventListener("close", () => {
      this.#asked += 1;
      clearTimeout(this.#timer);
    });
  }

  /** @param {string} typed */
  open(typed) {
    if (!this.dialog.open) {
      this.dialog.showModal();
    }
    this.field.focus();
    this.field.select();
    if (typed) {
      this.field.value = typed;
    }
    this.#search(0);
  }

  /** @param {number} rest */
  #search(rest) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fetch(), rest);
    const words = this.field.value.split(/\s+/);
    for (const button of queryAll(this.dialog, "[data-filter]")) {
      button.ariaPressed = String(words.includes(dataOf(button, "filter")));
    }
    find(this.dialog, "[data-all]", HTMLAnchorElement).search = String(new URLSearchParams({ q: this.field.value }));
  }

  async #fetch() {
    this.#asked += 1;
    const asked = this.#asked;
    const typed = this.field.value;
    const shown = this.shell.shown();
    this.results.ariaBusy = "true";
    const fields = new URLSearchParams({ q: typed });
    if (shown?.isStored()) {
      fields.set("conversation", shown.conversation);
    }
    const found = await getFragment(`/search/?${fields}`, "[data-found]").catch(() => undefined);
    if (asked !== this.#asked) {
      return;
    }
    this.results.ariaBusy = null;
    if (!found) {
      this.#drawn = undefined; // Enter asks again
      const failed = Object.assign(document.createElement("p"), { className: "found-none", role: "none" });
      failed.textContent = this.status.textContent = dataOf(this.status, "failed");
      this.results.replaceChildren(failed);
      this.#activate(0);
      return;
    }
    this.#typed = dataOf(found, "words");
    this.#drawn = typed;
    this.#draw(document.importNode(found, true));
  }

  /** @param {HTMLElement} found */
  #draw(found) {
    const actions = this.shell.shown()?.actions ?? {};
    for (const link of queryAll(found, "[data-command]")) {
      const action = actions[dataOf(link, "command")];
      const canBeDone = action ? (action.isAvailable?.() ?? true) : link.hasAttribute("href");
      const item = /** @type {HTMLElement} */ (link.closest("li"));
      item.hidden = false;
      canBeDone || item.remove();
    }
    for (const [number, group] of queryAll(found, ".found-group").entries()) {
      const heading = find(group, "h2");
      heading.id = `palette-group-${number}`;
      group.setAttribute("role", "group");
      group.setAttribute("aria-labelledby", heading.id);
      group.hidden = !group.querySelector("[data-hit]");
    }
    for (const key of IS_MAC ? queryAll(found, "[data-control]") : []) {
      key.textContent = "⌘";
    }
    this.results.replaceChildren(found);
    this.results.scrollTop = 0;
    this.#makeOptions();
    this.#activate(0);
    this.#tell(found);
  }

  #makeOptions() {
    for (const part of queryAll(this.results, "ul, li, h2, p")) {
      part.setAttribute("role", "none"); // a list box holds groups of options alone; headings name the groups
    }
    for (const [number, link] of this.#hits.entries()) {
      link.id = `palette-hit-${number}`;
      link.setAttribute("role", "option");
      link.tabIndex = -1;
    }
    localiseTimes(this.results);
  }

  /** @param {HTMLElement} found whose notes are told */
  #tell(found) {
    const length = this.#hits.filter(({ dataset }) => !("more" in dataset || "question" in dataset)).length;
    const told = dataOf(this.status, length === 1 ? "countOne" : "countMany").replace("%(count)s", String(length));
    this.status.textContent = [told, ...queryAll(found, ".found-note-line").map((note) => note.textContent)].join(" ");
  }

  /**
   * Put the next hits of a group, or of one conversation, in the place of what asked for them.
   * @param {HTMLAnchorElement} more
   */
  async #more(more) {
    if (more.ariaBusy) {
      return;
    }
    more.ariaBusy = "true";
    const asked = this.#asked;
    const found = await getFragment(more.pathname + more.search, "[data-found]").catch(() => undefined);
    if (asked !== this.#asked || !more.isConnected) {
      return;
    }
    more.ariaBusy = null;
    if (!found) {
      showProblem(dataOf(this.status, "failed"));
      return;
    }
    const next = document.importNode(found, true);
    const number = this.#hits.indexOf(more);
    const group = /** @type {HTMLElement} */ (more.closest("[data-group]"));
    const count = dataOf(more, "more") === "group" && query(next, ".found-count"); // not where they are of one conversation
    count && find(group, ".found-count").replaceWith(count);
    /** @type {HTMLElement} */ (more.closest("li")).replaceWith(...queryAll(next, "[data-group] li"));
    find(this.results, ".found").prepend(...queryAll(next, ".found-note-line"));
    this.#makeOptions();
    this.#activate(Math.min(number, this.#hits.length - 1));
    this.#tell(next);
  }

  get #hits() {
    return queryAll(this.results, "[data-hit]");
  }

  /** @param {number} number */
  #activate(number) {
    const hits = this.#hits;
    this.#active = hits.length ? (number + hits.length) % hits.length : -1;
    for (const [index, hit] of hits.entries()) {
      hit.ariaSelected = String(index === this.#active);
    }
    const active = hits[this.#active];
    this.field.setAttribute("aria-activedescendant", active?.id ?? "");
    active?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.isComposing || event.keyCode === 229) {
      return;
    }
    const isControl = event.ctrlKey || event.metaKey;
    if (isControl && event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.dialog.close();
      return;
    }
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowDown: () => this.#activate(this.#active + 1),
      ArrowUp: () => this.#activate(this.#active - 1),
      PageDown: () => this.#activate(Math.min(this.#active + 8, this.#hits.length - 1)),
      PageUp: () => this.#activate(Math.max(this.#active - 8, 0)),
      Enter: () => this.#takeOnceFound(),
      Escape: () => this.dialog.close(), // the first one would only empty a field of this kind
    };
    const action = actions[event.key];
    if (action && event.target === this.field && !isControl && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      action();
    }
  }

  /** Enter may come before the answer to what was typed last. */
  async #takeOnceFound() {
    clearTimeout(this.#timer);
    if (this.#drawn !== this.field.value) {
      await this.#fetch();
    }
    const active = this.#hits[this.#active];
    active && this.#take(active);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const filter = closest(event, "[data-filter]");
    const hit = closest(event, "[data-hit]");
    if (event.target === this.dialog || closest(event, "[data-close]")) {
      this.dialog.close();
    } else if (filter) {
      this.#toggle(dataOf(filter, "filter"));
    } else if (hit && isPlainPress(event)) {
      event.preventDefault();
      this.#take(hit);
    }
  }

  /** @param {string} filter */
  #toggle(filter) {
    const words = this.field.value.split(/\s+/).filter(Boolean);
    const isOn = words.includes(filter);
    const [name] = filter.split(":");
    const others = words.filter((word) => !(isOn ? word === filter : name === "from" && word.startsWith("from:")));
    this.field.value = [...others, ...(isOn ? [] : [filter])].join(" ");
    this.field.focus();
    this.#search(0);
  }

  /** @param {HTMLElement} hit */
  #take(hit) {
    if ("more" in hit.dataset) {
      this.#more(/** @type {HTMLAnchorElement} */ (hit));
      return;
    }
    const { command, conversation, message } = hit.dataset;
    const shown = this.shell.shown();
    this.dialog.close();
    const action = command && shown?.actions[command];
    if (action) {
      action.run();
    } else if (conversation && message) {
      const wanted = { conversation, message, typed: this.#typed };
      if (shown?.conversation === conversation) {
        openFind(this.shell, wanted);
      } else {
        this.shell.wanted = wanted;
        this.shell.navigation.go(`/c/${conversation}/`);
      }
    } else {
      const { pathname, search } = /** @type {HTMLAnchorElement} */ (hit);
      this.shell.navigation.go(pathname + search);
    }
  }
}
