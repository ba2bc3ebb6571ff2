/**
 * The part of a reply that the server has not finished yet, drawn here as it will stand at the end.
 *
 * The work stays linear: code gets what is new, other text is read again at most once a frame and for a quarter of the
 * time, and what is longer or more complex than `MAX_DRAWN_CHARACTERS` or the server's own limits grows as plain text. So
 * does all of it until the code that reads Markdown is here, which is fetched when the first reply begins. A long text
 * grows the more seldom the longer it is: with each piece the browser lays out all of it.
 */

import { labelCopyButtons } from "../shared/copy_buttons.js";
import { appendText, dataOf } from "../shared/dom.js";
import { fixColumnsOf, hideWithoutColumns } from "./table_columns.js";

/**
 * @typedef {typeof import("../markdown/markdown.js")} Markdown
 */

export const MAX_DRAWN_CHARACTERS = 20_000;
const RESTS = 3; // times as long as the last drawing took
const MAX_CLOSING_LINE = 64;
const CHARACTERS_A_MS = 1_000; // 100,000 characters grow every 100 ms

/** @type {Markdown | undefined} */
let markdown;
/** @type {Promise<Markdown> | undefined} */
let loading;

export class OpenBlock {
  #frame = 0;
  #columnsFrame = 0;
  #notBefore = 0;
  /** @type {{isClosing: RegExp, line: string, shown: number} | undefined} code at the end, which only grows */
  #code;
  #isPlain = false;
  #isNew = false;
  #isStopped = false;
  /** What is not shown yet of a text that grows, until a timer is over. */
  #held = "";
  #heldTimer = 0;
  #shown = 0; // characters
  #shownAt = 0;

  /**
   * @param {HTMLElement} element
   * @param {() => string} readText gives the whole text
   * @param {number} passages how many it may cite
   */
  constructor(element, readText, passages) {
    this.element = element;
    this.readText = readText;
    this.passages = passages;
    /** @type {InstanceType<Markdown["MarkdownTree"]> | undefined} */
    this.tree = undefined;
    /** @type {InstanceType<Markdown["DrawnMarkdown"]> | undefined} */
    this.drawn = undefined;
  }

  /** Draw the text from its beginning: it is another one now. */
  redraw() {
    this.#cancel();
    this.#isPlain = false;
    this.#code = undefined;
    if (!markdown) {
      this.#showPlain(this.readText());
      this.#redrawLater();
      return;
    }
    this.drawn?.settle();
    this.element.replaceChildren();
    this.drawn = new markdown.DrawnMarkdown(this.element);
    this.tree = new markdown.MarkdownTree(this.passages);
    this.#isNew = false; // what stood here already has faded in
    this.#draw();
    this.#isNew = true;
  }

  /** Whether all of the text is drawn. */
  get isCurrent() {
    return !this.#frame && !this.#columnsFrame && !this.#held && markdown !== undefined;
  }

  /** Draw no more: something else has taken the place. */
  stop() {
    this.#cancel();
    this.#isStopped = true;
  }

  #cancel() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#noteShown(0);
  }

  /** Draw the text once Markdown can be read. Without a connection it stays plain, and the server draws it at its end. */
  async #redrawLater() {
    try {
      await loadMarkdown();
    } catch {
      return;
    }
    if (!this.#isStopped) {
      this.redraw();
    }
  }

  /**
   * Draw what has been added to the text.
   * @param {string} text
   */
  append(text) {
    if (this.#frame || !(this.#isPlain || this.#code)) {
      this.#frame ||= requestAnimationFrame((now) => this.#drawNext(now));
      return;
    }
    this.#held += text;
    const pause = this.#shownAt + this.#shown / CHARACTERS_A_MS - performance.now();
    if (this.#shown < MAX_DRAWN_CHARACTERS || pause <= 0) {
      this.#grow();
    } else {
      this.#heldTimer ||= setTimeout(() => this.#grow(), pause);
    }
  }

  /** Show what was held. */
  #grow() {
    const text = this.#held;
    this.#noteShown(this.#shown + text.length);
    if (this.#isPlain) {
      appendText(this.element, text);
    } else if (!this.#appendCode(text)) {
      this.#frame ||= requestAnimationFrame((now) => this.#drawNext(now));
    }
  }

  /**
   * All of the text is shown now.
   * @param {number} characters how long it is
   */
  #noteShown(characters) {
    clearTimeout(this.#heldTimer);
    this.#heldTimer = 0;
    this.#held = "";
    this.#shown = characters;
    this.#shownAt = performance.now();
  }

  /** @param {number} now */
  #drawNext(now) {
    if (now < this.#notBefore) {
      this.#frame = requestAnimationFrame((later) => this.#drawNext(later));
      return;
    }
    this.#frame = 0;
    if (this.element.isConnected) {
      this.#draw();
    }
  }

  #draw() {
    if (!(markdown && this.tree && this.drawn)) {
      return;
    }
    const began = performance.now();
    const text = this.readText();
    this.#noteShown(text.length);
    if (text.length > MAX_DRAWN_CHARACTERS && !isLongCode(text)) {
      this.#showPlain(text);
      return;
    }
    try {
      this.drawn.show(this.tree.readOpen(text), { isNew: this.#isNew });
    } catch (error) {
      if (!(error instanceof markdown.BlockTooComplex)) {
        throw error;
      }
      this.#showPlain(text);
      return;
    }
    this.element.classList.add("is-drawn");
    this.#rememberCode(text);
    labelCopyButtons(this.element);
    if (hideWithoutColumns(this.element)) {
      this.#columnsFrame ||= requestAnimationFrame(() => {
        this.#columnsFrame = 0;
        this.element.isConnected && fixColumnsOf(this.element);
      });
    }
    const ended = performance.now();
    this.#notBefore = ended + RESTS * (ended - began);
  }

  /** @param {string} text */
  #showPlain(text) {
    this.#noteShown(text.length);
    this.#isPlain = true;
    this.element.classList.remove("is-drawn");
    this.element.textContent = text;
  }

  /** @param {string} text */
  #rememberCode(text) {
    this.#code = undefined;
    const fence = this.tree?.openCode && /(?:^|\n)(`{3,}|~{3,})[^\n]*\n(?![\s\S]*\n\1)/.exec(text);
    if (fence && !text.includes("\r")) {
      const line = text.slice(text.lastIndexOf("\n") + 1);
      const [marks] = fence[1];
      const isClosing = new RegExp(`^ {0,3}[${marks}]*[\\t ]*$`);
      this.#code = { isClosing, line, shown: isClosing.test(line) ? 0 : line.length };
    }
  }

  /**
   * @param {string} text
   * @returns {boolean} whether the code goes on, so that nothing else has to be read
   */
  #appendCode(text) {
    const code = /** @type {{isClosing: RegExp, line: string, shown: number}} */ (this.#code);
    if (/[\r\0]/.test(text)) {
      return false;
    }
    const lines = (code.line + text).split("\n");
    const rest = lines.pop() ?? "";
    if (lines.some((line) => line.trim() && code.isClosing.test(line))) {
      return false;
    }
    const isHeld = rest.length < MAX_CLOSING_LINE && code.isClosing.test(rest);
    const whole = lines.map((line) => `${line}\n`).join("");
    this.drawn?.appendToLast((whole + (isHeld ? "" : rest)).slice(code.shown));
    // Of a long line, which closes nothing, the beginning is enough to know.
    code.line = rest.slice(0, MAX_CLOSING_LINE);
    code.shown = isHeld ? 0 : code.line.length;
    return true;
  }
}

/**
 * Fetch the code that reads Markdown, once: it is a bundle of its own, whose address the page has.
 * @returns {Promise<Markdown>}
 */
async function loadMarkdown() {
  loading ??= import(dataOf(document.body, "markdown"));
  try {
    markdown = await loading;
  } catch (error) {
    loading = undefined; // the next reply tries again
    throw error;
  }
  return markdown;
}

/**
 * Whether *text* is one block of code so far: its lines need not be read again.
 * @param {string} text
 */
function isLongCode(text) {
  const [, marks] = /^\n*(`{3,}|~{3,})[^`\n]*\n/.exec(text) ?? [];
  return marks !== undefined && !text.includes(`\n${marks}`);
}
