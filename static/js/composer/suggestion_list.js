/**
 * A list over the composer of what may be meant by what is being typed, as a listbox: the focus stays in the field, arrows
 * go through the list, Enter and Tab take an entry, Escape closes it and leaves what is typed.
 */

/**
 * @typedef {object} Suggestion
 * @property {string} label
 * @property {string} [hint] in small letters behind it
 * @property {string} group the heading that it stands under; entries of a group follow each other
 * @property {() => unknown} take
 *
 * @typedef {object} Trigger what has been typed that opens the list
 * @property {number} start where it begins in the field
 * @property {Suggestion[]} suggestions
 */

const MOST_SHOWN = 50;

export class SuggestionList {
  /** @type {Suggestion[]} */
  #shown = [];
  #active = -1;
  /** Where the trigger begins that Escape has closed; it stays closed until another one is typed. */
  #dismissed = -1;

  /**
   * @param {HTMLTextAreaElement} field
   * @param {HTMLElement} list
   * @param {object} options
   * @param {(before: string, value: string) => Trigger | null} options.find told what stands before the caret
   * @param {(count: number) => void} options.onOpened told how many entries there are
   */
  constructor(field, list, { find, onOpened }) {
    this.field = field;
    this.list = list;
    this.find = find;
    this.onOpened = onOpened;
    field.addEventListener("input", () => this.refresh());
    field.addEventListener("click", () => this.refresh());
    field.addEventListener("keydown", (event) => this.#keyPressed(event), { capture: true });
    field.addEventListener("blur", () => this.close());
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays in the field
    list.addEventListener("click", ({ target }) => {
      const option = target instanceof Element && /** @type {HTMLElement | null} */ (target.closest("[role=option]"));
      if (option) {
        this.#take(Number(option.dataset.index));
      }
    });
  }

  get isOpen() {
    return !this.list.hidden;
  }

  /** What is typed, or what may be meant, has changed. */
  refresh() {
    const { value, selectionStart, selectionEnd } = this.field;
    const isAtCaret = selectionStart === selectionEnd && document.activeElement === this.field;
    const trigger = isAtCaret ? this.find(value.slice(0, selectionStart), value) : null;
    if (!trigger) {
      this.#dismissed = -1;
    }
    if (!trigger?.suggestions.length || trigger.start === this.#dismissed) {
      this.close();
      return;
    }
    const wasOpen = this.isOpen;
    this.#shown = trigger.suggestions.slice(0, MOST_SHOWN);
    this.start = trigger.start;
    this.#draw();
    this.#activate(0);
    if (!wasOpen) {
      this.onOpened(this.#shown.length);
    }
  }

  close() {
    this.list.hidden = true;
    this.#shown = [];
    this.#active = -1;
    this.field.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  #keyPressed(event) {
    if (!this.isOpen || event.isComposing || event.keyCode === 229) {
      return;
    }
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    if (isPlain && this.#handle(event.key)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  /**
   * @param {string} key
   * @returns {boolean} whether it was meant for the list
   */
  #handle(key) {
    const last = this.#shown.length - 1;
    switch (key) {
      case "ArrowDown":
        this.#activate(this.#active < last ? this.#active + 1 : 0);
        return true;
      case "ArrowUp":
        this.#activate(this.#active > 0 ? this.#active - 1 : last);
        return true;
      case "Enter":
      case "Tab":
        this.#take(this.#active);
        return true;
      case "Escape":
        this.#dismissed = this.start ?? -1;
        this.close();
        return true;
      default:
        return false;
    }
  }

  /** @param {number} index */
  #take(index) {
    const suggestion = this.#shown[index];
    this.close();
    suggestion?.take();
  }

  /** @param {number} index */
  #activate(index) {
    this.#active = index;
    for (const option of this.list.querySelectorAll("[role=option]")) {
      const isActive = option.id === this.#idOf(index);
      option.setAttribute("aria-selected", String(isActive));
      if (isActive) {
        option.scrollIntoView({ block: "nearest" });
      }
    }
    this.field.setAttribute("aria-activedescendant", this.#idOf(index));
  }

  /** @param {number} index */
  #idOf(index) {
    return `${this.list.id}-${index}`;
  }

  #draw() {
    /** @type {Map<string, HTMLElement>} */
    const groups = new Map();
    for (const [index, suggestion] of this.#shown.entries()) {
      const group = groups.get(suggestion.group) ?? newGroup(suggestion.group, `${this.list.id}-group-${groups.size}`);
      groups.set(suggestion.group, group);
      group.append(newOption(suggestion, this.#idOf(index), index));
    }
    this.list.replaceChildren(...groups.values());
    this.list.hidden = false;
  }
}

/**
 * @param {string} heading
 * @param {string} id
 */
function newGroup(heading, id) {
  const [group, words] = [document.createElement("div"), document.createElement("div")];
  group.role = "group";
  group.setAttribute("aria-labelledby", id);
  words.id = id;
  words.className = "suggestion-heading";
  words.role = "presentation";
  words.textContent = heading;
  group.append(words);
  return group;
}

/**
 * @param {Suggestion} suggestion
 * @param {string} id
 * @param {number} index
 */
function newOption({ label, hint }, id, index) {
  const [option, words, small] = [
    document.createElement("div"),
    document.createElement("bdi"),
    document.createElement("span"),
  ];
  option.role = "option";
  option.id = id;
  option.className = "suggestion-option";
  option.dataset.index = String(index);
  words.textContent = label;
  small.className = "suggestion-hint";
  small.textContent = hint ?? "";
  option.append(words, small);
  return option;
}
