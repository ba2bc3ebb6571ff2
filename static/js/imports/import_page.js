/**
 * The page of imports: each shows how far it is, and what its buttons have changed. Without this a page shows it once it is
 * loaded again.
 */

import { getFragment, postForm } from "../server/http.js";
import { dataOf, query, queryAll } from "../shared/dom.js";
import { localiseTimes } from "../shared/local_times.js";
import { ANNOUNCED_MS, ImportForm } from "./import_form.js";

const LOOK_AGAIN_MS = 1_500;
const MOVING = ["uploading", "waiting", "running"];

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(sentence: string) => void} options.say
 * @param {AbortSignal} options.signal ends it
 */
export function startImports(page, { say, signal }) {
  const form = /** @type {HTMLFormElement | null} */ (query(page, '[data-part="import-form"]'));
  const imports = new Imports(page, form, say, signal);
  if (form) {
    new ImportForm(form, { show: (url) => imports.show(url), say, signal });
  }
}

/** The imports that the page shows, each with how far it is for as long as it is not at its end. */
class Imports {
  #isFollowing = false;

  /**
   * @param {HTMLElement} page
   * @param {HTMLElement | null} form
   * @param {(sentence: string) => void} say
   * @param {AbortSignal} signal
   */
  constructor(page, form, say, signal) {
    this.page = page;
    this.form = form;
    this.say = say;
    this.signal = signal;
    page.addEventListener("submit", (event) => this.#change(event), { signal });
    this.#follow();
  }

  /**
   * Show an import that was just begun, below the form.
   * @param {string} url
   */
  async show(url) {
    const fresh = await getFragment(url, "[data-import]");
    query(this.page, `[data-import="${url}"]`)?.remove();
    this.form?.after(fresh);
    localiseTimes(fresh);
    this.#follow();
  }

  /**
   * A button of an import changes it here. Where the server can't be reached the form is sent, and the browser says so.
   * @param {SubmitEvent} event
   */
  async #change(event) {
    const form = /** @type {HTMLFormElement} */ (event.target);
    const shown = /** @type {HTMLElement | null} */ (form.closest("[data-import]"));
    if (!shown) {
      return;
    }
    event.preventDefault();
    try {
      await postForm(form.action);
    } catch {
      form.submit();
      return;
    }
    const fresh = await getFragment(dataOf(shown, "import"), "[data-import]").catch(() => undefined);
    const place = shown.nextElementSibling ?? shown.previousElementSibling;
    if (fresh) {
      shown.replaceWith(fresh);
      localiseTimes(fresh);
      this.#follow();
    } else {
      shown.remove(); // its report is gone
    }
    const next = query(fresh ?? place ?? this.page, "button:not(:disabled)");
    next?.focus({ preventScroll: true });
  }

  get #moving() {
    const imports = queryAll(this.page, "[data-import]");
    return imports.filter(({ dataset }) => MOVING.includes(dataset.state ?? ""));
  }

  async #follow() {
    if (this.#isFollowing) {
      return;
    }
    this.#isFollowing = true;
    let announced = performance.now();
    while (!this.signal.aborted && this.#moving.length) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      for (const shown of this.#moving) {
        const fresh = await getFragment(dataOf(shown, "import"), "[data-import]").catch(() => undefined);
        if (this.signal.aborted) {
          return;
        }
        if (!fresh || (shown.contains(document.activeElement) && fresh.dataset.state === shown.dataset.state)) {
          fresh && takeProgress(shown, fresh);
          continue; // a button that has the focus stays
        }
        shown.replaceWith(fresh);
        localiseTimes(fresh);
        const { state = "", conversations = "" } = fresh.dataset;
        if (!MOVING.includes(state)) {
          this.say(query(fresh, ".import-taken")?.textContent ?? query(fresh, "h3")?.textContent ?? "");
          document.querySelector("[data-list]")?.dispatchEvent(new CustomEvent("reload"));
        } else if (this.form && performance.now() - announced > ANNOUNCED_MS) {
          announced = performance.now();
          this.say(dataOf(this.form, "saysConversations").replace("{count}", conversations));
        }
      }
    }
    this.#isFollowing = false;
  }
}

/**
 * Show in *shown* how far *fresh* is: all but its buttons.
 * @param {HTMLElement} shown
 * @param {HTMLElement} fresh
 */
function takeProgress(shown, fresh) {
  for (const part of [".import-progress", ".import-figures"]) {
    const [old, made] = [query(shown, part), query(fresh, part)];
    if (old && made) {
      old.replaceWith(made);
    }
  }
}
