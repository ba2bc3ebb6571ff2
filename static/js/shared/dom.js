/** Elements found with their type: what must be there is, or an error says what is missing. */

/**
 * Return the first element in *root* that matches *selector*.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => E} [kind]
 * @returns {E}
 */
export function find(root, selector, kind) {
  const element = query(root, selector, kind);
  if (!element) {
    throw new Error(`nothing on the page matches ${selector}`);
  }
  return element;
}

/**
 * Return the first element in *root* that matches *selector*, if there is one.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => E} [_kind] only for the type
 * @returns {E | null}
 */
export function query(root, selector, _kind) {
  return /** @type {E | null} */ (root.querySelector(selector));
}

/**
 * Return all elements in *root* that match *selector*.
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => E} [_kind] only for the type
 * @returns {E[]}
 */
export function queryAll(root, selector, _kind) {
  return /** @type {E[]} */ ([...root.querySelectorAll(selector)]);
}

/**
 * Return the element that *event* is about, or the nearest one around it, that matches *selector*.
 * @template {Element} [E=HTMLElement]
 * @param {Event} event
 * @param {string} selector
 * @param {new () => E} [_kind] only for the type
 * @returns {E | null}
 */
export function closest({ target }, selector, _kind) {
  return target instanceof Element ? /** @type {E | null} */ (target.closest(selector)) : null;
}

/**
 * Whether a press is a plain one: with another button, or with a key held down, it has a meaning of the browser's.
 * @param {MouseEvent} event
 */
export function isPlainPress({ button, ctrlKey, metaKey, shiftKey, altKey }) {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
}

/**
 * Return the field *name* of *form*.
 * @template {Element} [E=HTMLInputElement]
 * @param {HTMLFormElement} form
 * @param {string} name
 * @param {new () => E} [_kind] only for the type
 * @returns {E}
 */
export function fieldOf(form, name, _kind) {
  return /** @type {E} */ (/** @type {unknown} */ (form.elements.namedItem(name)));
}

/**
 * Return the element that has the focus, if it is in *element*.
 * @param {Element} [element]
 * @returns {HTMLElement | null}
 */
export function focusedIn(element = document.body) {
  const focused = document.activeElement;
  return focused instanceof HTMLElement && element.contains(focused) ? focused : null;
}

/**
 * Add *text* to the end of *element*. The text node grows and is not rewritten: the work for a long text stays linear.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function appendText(element, text) {
  if (text && element.lastChild instanceof Text) {
    element.lastChild.appendData(text);
  } else if (text) {
    element.textContent = text;
  }
}

/**
 * Return what the server wrote into `data-…` of *element*.
 * @param {HTMLElement} element
 * @param {string} name as in its `dataset`
 */
export function dataOf(element, name) {
  return element.dataset[name] ?? "";
}
