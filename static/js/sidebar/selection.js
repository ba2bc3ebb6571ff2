/** Several conversations of the list are selected, and something is done with all of them: a bar below the list. */

import { getFragment, sentenceFor } from "../server/http.js";
import { closest, dataOf, find, isPlainPress, query, queryAll } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";
import { isolateName } from "../shared/names.js";
import { showProblem } from "../shared/toasts.js";

const BOX = "[data-selection-box]";
const ENTRY = "[data-entry]";
const DIALOG = "small-dialog-body";

/** @param {HTMLElement} sidebar */
export function startSelection(sidebar) {
  /** @type {Selection | undefined} */
  let selection;
  sidebar.addEventListener("click", async (event) => {
    const asking = closest(event, "[data-select]", HTMLAnchorElement);
    if (!asking || !isPlainPress(event)) {
      return;
    }
    event.preventDefault();
    const bar = await getFragment(asking.href, "#selection-bar").catch((error) =>
      showProblem(sentenceFor(error, { unreachable: "notOpened" })),
    );
    if (bar) {
      selection?.leave();
      selection = new Selection(sidebar, bar);
      selection.toggle(dataOf(asking, "select"));
      query(sidebar, `[data-entry="${dataOf(asking, "select")}"]`)?.focus();
    }
  });
}

class Selection {
  /** @type {Set<string>} */
  #chosen = new Set();
  /** From which a range is selected. */
  #from = "";
  #ending = new AbortController();

  /**
   * @param {HTMLElement} sidebar
   * @param {HTMLElement} bar
   */
  constructor(sidebar, bar) {
    this.sidebar = sidebar;
    this.bar = bar;
    const { signal } = this.#ending;
    find(sidebar, "[data-list]").after(bar);
    sidebar.classList.add("is-selecting");
    sidebar.addEventListener("click", (event) => this.#click(event), { signal });
    sidebar.addEventListener("keydown", (event) => this.#press(event), { signal });
    sidebar.addEventListener("htmx:load", () => this.#draw(), { signal });
    bar.addEventListener("htmx:afterRequest", (event) => {
      const isArranged = event instanceof CustomEvent && event.detail.successful && event.detail.target.id !== DIALOG;
      isArranged && this.leave();
    });
    this.#draw();
  }

  /** @param {string} conversation */
  toggle(conversation) {
    this.#chosen.has(conversation) ? this.#chosen.delete(conversation) : this.#chosen.add(conversation);
    this.#from = conversation;
    this.#draw();
  }

  leave() {
    this.#ending.abort();
    const hadFocus = this.bar.contains(document.activeElement);
    this.bar.remove();
    this.sidebar.classList.remove("is-selecting");
    for (const box of queryAll(this.sidebar, BOX)) {
      box.remove();
    }
    hadFocus && query(this.sidebar, `${ENTRY}[tabindex="0"]`)?.focus();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const action = closest(event, "[data-do]");
    if (closest(event, "[data-leave]")) {
      this.leave();
    } else if (action) {
      this.#act(dataOf(action, "do"));
    } else if (closest(event, "[data-export]")) {
      this.#post(dataOf(this.bar, "exportUrl"), { conversation: [...this.#chosen] }, DIALOG, "innerHTML");
    }
    const entry = closest(event, BOX) ?? closest(event, ENTRY);
    const link = entry && query(/** @type {HTMLElement} */ (entry.closest(".entry")), ENTRY);
    if (link && !event.ctrlKey && !event.metaKey && !event.altKey) {
      entry === link && event.preventDefault();
      event.shiftKey ? this.#extendTo(dataOf(link, "entry")) : this.toggle(dataOf(link, "entry"));
    }
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.key === "Escape" && !query(document, "#entry-menu:popover-open")) {
      event.stopPropagation();
      this.leave();
    } else if (event.key === "a" && (event.ctrlKey || event.metaKey) && closest(event, "[data-list]")) {
      event.preventDefault();
      this.#choose(queryAll(this.sidebar, ENTRY));
    } else if (event.key === " " && closest(event, ENTRY)) {
      event.preventDefault();
      this.toggle(dataOf(/** @type {HTMLElement} */ (closest(event, ENTRY)), "entry"));
    }
  }

  /** @param {string} conversation */
  #extendTo(conversation) {
    const entries = queryAll(this.sidebar, ENTRY);
    const ends = [this.#from, conversation].map((id) => entries.findIndex((entry) => dataOf(entry, "entry") === id));
    const [first, last] = ends.sort((one, other) => one - other);
    this.#choose(entries.slice(Math.max(first, 0), last + 1));
  }

  /** @param {HTMLElement[]} entries */
  #choose(entries) {
    for (const entry of entries) {
      this.#chosen.add(dataOf(entry, "entry"));
    }
    this.#draw();
  }

  /** @param {string} action */
  #act(action) {
    const folder = find(this.bar, "select", HTMLSelectElement).value;
    const values = { action, folder, conversation: [...this.#chosen] };
    this.#post(dataOf(this.bar, "url"), values, "conversation-list", "outerHTML");
  }

  /**
   * @param {string} url
   * @param {Record<string, string | string[]>} values
   * @param {string} target id of what the answer takes the place of
   * @param {string} swap how, as htmx calls it
   */
  #post(url, values, target, swap) {
    const asked = htmx()?.ajax("POST", url, { source: this.bar, target: `#${target}`, swap, values });
    asked?.catch(() => undefined); // failed_requests.js says why
  }

  #draw() {
    for (const entry of queryAll(this.sidebar, ENTRY)) {
      const item = /** @type {HTMLElement} */ (entry.closest(".entry"));
      const box = query(item, BOX, HTMLInputElement) ?? this.#addBox(item, entry);
      box.checked = this.#chosen.has(dataOf(entry, "entry"));
    }
    const count = this.#chosen.size;
    const words = dataOf(this.bar, count === 0 ? "none" : count === 1 ? "one" : "several");
    find(this.bar, "[data-count]").textContent = words.replace("{count}", String(count));
    for (const button of queryAll(this.bar, "[data-do], [data-export]", HTMLButtonElement)) {
      button.disabled = count === 0;
    }
  }

  /**
   * @param {HTMLElement} item
   * @param {HTMLElement} entry
   */
  #addBox(item, entry) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.className = "selection-box";
    box.tabIndex = -1; // Space on the entry does the same
    box.dataset.selectionBox = "";
    const title = find(entry, "[data-entry-title]").textContent ?? "";
    box.setAttribute("aria-label", dataOf(this.bar, "box").replace("{title}", isolateName(title)));
    item.prepend(box);
    return box;
  }
}
