/** Tool calls in the thread: what is open of them stays open, and a call that asks is answered in its place. */

import { postForm } from "../server/http.js";

/**
 * Bring the calls in *article* to how they stand in *drawn*, the same step of the same reply. What has not changed is
 * not touched, so that whoever reads in it goes on.
 */
export function takeCalls(article, drawn) {
  const running = article.querySelector("[data-calls]");
  for (const call of drawn.querySelectorAll("[data-call]")) {
    const old = find(article, call.dataset.call);
    if (!old) {
      running.append(call);
    } else if (!isSame(old, call)) {
      const reading = callsIn(old.parentElement);
      old.replaceWith(call);
      goOn(reading, call.parentElement);
    }
  }
}

/** Return which calls in *element* are open, and which one has the focus. */
export function callsIn(element) {
  const open = [...element.querySelectorAll("[data-call][open]")].map(({ dataset }) => dataset.call);
  const focused = element.contains(document.activeElement) && document.activeElement.closest("[data-call]");
  return { open, focused: focused ? focused.dataset.call : undefined };
}

/** Let it go on in the *element* that has taken the place. */
export function goOn({ open, focused }, element) {
  for (const call of open) {
    find(element, call)?.toggleAttribute("open", true);
  }
  if (focused && !element.contains(document.activeElement)) {
    const call = find(element, focused);
    (call?.querySelector("summary") ?? call)?.focus({ preventScroll: true });
  }
}

/**
 * Answer calls that ask, and lead to the next one.
 *
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(form: HTMLFormElement, allowed: string) => Promise<void>} options.decide
 * @param {(error: Error) => void} options.onRefused
 */
export function startDeciding(page, { decide, onRefused }) {
  page.addEventListener("submit", async (event) => {
    const form = event.target.closest("[data-decide]");
    if (!form) {
      return;
    }
    event.preventDefault();
    if (form.ariaBusy === "true" || !event.submitter) {
      return;
    }
    form.ariaBusy = "true";
    try {
      await decide(form, event.submitter.value);
    } catch (error) {
      onRefused(error);
    } finally {
      form.ariaBusy = "false";
    }
  });
  page.addEventListener("click", ({ target }) => {
    if (target.closest('[data-action="go-to-asking"]')) {
      const asking = page.querySelector("[data-asks]");
      asking?.scrollIntoView({ block: "nearest" });
      asking?.focus({ preventScroll: true });
    }
  });
}

/** Send the answer; which call it was for, and with which arguments, stands in the form. */
export function sendDecision(form, allowed) {
  return postForm(form.action, { digest: form.elements.digest.value, allowed });
}

function find(element, call) {
  return element.querySelector(`[data-call="${call}"]`);
}

/** Whether both look the same, but for being open and for what only a page without scripts needs. */
function isSame(old, call) {
  const [before, after] = [old, call].map((element) => {
    const twin = element.cloneNode(true);
    twin.removeAttribute("open");
    twin.querySelector("[data-decide]")?.removeAttribute("aria-busy");
    twin.querySelector('[name="csrfmiddlewaretoken"]')?.remove();
    twin.normalize();
    return twin;
  });
  return before.isEqualNode(after);
}
