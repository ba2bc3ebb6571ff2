/** The menu of a message: made of the page's template when it is first asked for, which keeps a long thread light. */

import { closest, find, query, queryAll } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";

/** @type {Record<string, (article: HTMLElement) => boolean>} what an item may need of its message */
const NEEDS = {
  message: () => true,
  reply: ({ dataset }) => dataset.role === "assistant",
  content: ({ dataset }) => !("withoutContent" in dataset),
  window: (article) => query(article, ".window-link") !== null,
};
const ADDRESSES = ["formaction", "href", "hx-get"];

/** @param {HTMLElement} page in which the button of a menu is pressed, which without a script opens a page */
export function startMessageMenus(page) {
  page.addEventListener(
    "click",
    (event) => {
      const article = closest(event, '[data-action="more"]')?.closest("[data-message]");
      if (article instanceof HTMLElement) {
        menuOf(article); // and the button opens it, as soon as the event has passed
      }
    },
    { capture: true },
  );
}

/**
 * Return the button or link of *article* for *action*, also from its menu.
 * @param {HTMLElement} article
 * @param {string | undefined} action
 */
export function findAction(article, action) {
  const selector = `[data-action="${action}"]`;
  return query(article, selector) ?? query(menuOf(article) ?? article, selector);
}

/**
 * Return the menu of *article*; none while its reply is being made.
 * @param {HTMLElement} article
 */
export function menuOf(article) {
  const button = query(article, '[data-action="more"]', HTMLButtonElement);
  const menu = button && query(article, "[data-menu]");
  return button && !menu ? makeMenu(article, button) : menu;
}

/**
 * @param {HTMLElement} article
 * @param {HTMLButtonElement} button
 */
function makeMenu(article, button) {
  const { content } = find(document, "#message-menu", HTMLTemplateElement);
  const menu = /** @type {HTMLElement} */ (document.importNode(find(content, "[data-menu]"), true));
  const { message = "" } = article.dataset;
  menu.id = `more-${message}`;
  menu.popover = "auto";
  for (const item of queryAll(menu, "[data-needs]")) {
    const needs = item.dataset.needs?.split(" ") ?? [];
    if (needs.every((need) => NEEDS[need](article))) {
      nameMessage(item, message);
      showState(item, article);
    } else {
      item.remove();
    }
  }
  button.after(menu);
  htmx()?.process(menu);
  button.type = "button";
  button.setAttribute("popovertarget", menu.id);
  return menu;
}

/**
 * @param {HTMLElement} item of message 0
 * @param {string} message
 */
function nameMessage(item, message) {
  for (const name of ADDRESSES) {
    const address = item.getAttribute(name);
    if (address) {
      item.setAttribute(name, address.replace("/0/", `/${message}/`));
    }
  }
}

/**
 * @param {HTMLElement} item
 * @param {HTMLElement} article whose state it shows
 */
function showState(item, article) {
  if (item instanceof HTMLButtonElement && item.name) {
    const isOn = article.hasAttribute(`data-${item.name.replace("_", "-")}`);
    item.ariaChecked = String(isOn);
    item.value = String(!isOn);
  } else if (item.dataset.action === "remark") {
    item.hidden = !query(article, '[data-action^="rate-"][aria-pressed="true"]');
  }
}
