/**
 * What the composer offers while a message begins with `/` (commands, saved prompts, scenarios), and while a word begins
 * with `@` (the documents that questions are looked up in). The server says what there is each time a list opens.
 */

import { getJson, sentenceFor } from "../server/http.js";
import { find } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { SuggestionList } from "./suggestion_list.js";

/**
 * @import { Composer } from "./composer.js"
 * @import { Suggestion, Trigger } from "./suggestion_list.js"
 *
 * @typedef {object} Offered the server's answer
 * @property {{name: string, label: string}[]} commands
 * @property {{name: string, url: string}[]} prompts
 * @property {{name: string, id: number}[]} scenarios
 * @property {string[]} documents
 *
 * @typedef {Record<string, {isAvailable?: () => boolean, takesText?: boolean, run: () => unknown}>} CommandActions by the
 *   command's name; one that *takesText* may be followed by it in the field
 */

const COMMAND = /^\/([^\n]{0,60})$/;
const COMMAND_AND_TEXT = /^\/([a-z]+)\s+(?=\S)/;
const NAME = /(?:^|\s)@([^\n@]{0,80})$/;
const FRESH_MS = 2_000;
/** @type {Offered} */
const NOTHING = { commands: [], prompts: [], scenarios: [], documents: [] };

/**
 * @param {HTMLFormElement} form
 * @param {object} options
 * @param {Composer} options.composer
 * @param {() => string} options.url where the server says what there is
 * @param {CommandActions} options.actions
 * @param {(id: number, name: string) => unknown} options.onScenario told which one is chosen
 * @param {(sentence: string) => void} options.say
 * @returns {SuggestionList}
 */
export function startCommands(form, { composer, url, actions, onScenario, say }) {
  let offered = NOTHING;
  let askedAt = Number.NEGATIVE_INFINITY;
  const { field } = composer;

  const list = new SuggestionList(field, find(form, '[data-part="suggestion-list"]'), {
    find: (before) => commandsFor(before) ?? documentsFor(before),
    onOpened: (count) => say(sentence("suggestions", { count: String(count) })),
  });

  /** Ask what there is, and show it once it has come: the page may have been open for days. */
  async function renew() {
    if (performance.now() - askedAt < FRESH_MS) {
      return;
    }
    askedAt = performance.now();
    try {
      offered = await getJson(url());
      list.refresh();
    } catch {
      askedAt = Number.NEGATIVE_INFINITY; // what was typed stays; the next key asks again
    }
  }

  /**
   * @param {string} before
   * @returns {Trigger | null}
   */
  function commandsFor(before) {
    const typed = COMMAND.exec(before);
    const [begin, name] = COMMAND_AND_TEXT.exec(before) ?? [];
    if (!typed && !begin) {
      return null;
    }
    renew();
    const fitting = typed ? allCommands("").filter(({ label, hint }) => fits(typed[1], `${hint ?? ""} ${label}`)) : [];
    const named = begin && actions[name]?.takesText ? allCommands(before.slice(begin.length)) : [];
    return { start: 0, suggestions: fitting.length ? fitting : named.filter(({ hint }) => hint === `/${name}`) };
  }

  /**
   * @param {string} text what follows the command's name, and is left in the field
   * @returns {Suggestion[]}
   */
  function allCommands(text) {
    const commands = offered.commands
      .filter(({ name }) => actions[name] && (actions[name].isAvailable?.() ?? true))
      .map(({ name, label }) => ({
        label,
        hint: `/${name}`,
        group: sentence("commands"),
        take() {
          composer.replaceBeforeCaret(0, text);
          actions[name].run();
        },
      }));
    const prompts = offered.prompts.map(({ name, url: address }) => ({
      label: name,
      group: sentence("savedPrompts"),
      take: () => insertPrompt(address),
    }));
    const scenarios = offered.scenarios.map(({ name, id }) => ({
      label: name,
      group: sentence("scenarios"),
      take() {
        composer.replaceBeforeCaret(0, "");
        onScenario(id, name);
      },
    }));
    return [...prompts, ...commands, ...scenarios];
  }

  /** @param {string} address */
  async function insertPrompt(address) {
    try {
      const { content } = await getJson(address);
      composer.replaceBeforeCaret(0, content);
    } catch (error) {
      composer.showError(sentenceFor(error)); // each bundle has its own class `Refusal`: the composer would not know this one
    }
  }

  /**
   * @param {string} before
   * @returns {Trigger | null}
   */
  function documentsFor(before) {
    const typed = NAME.exec(before);
    if (!typed) {
      return null;
    }
    renew();
    const start = before.length - typed[1].length - 1;
    const suggestions = offered.documents
      .filter((name) => name.toLowerCase().includes(typed[1].toLowerCase()))
      .map((name) => ({
        label: name,
        group: sentence("lookIn"),
        take: () => composer.replaceBeforeCaret(start, `@${name} `),
      }));
    return { start, suggestions };
  }

  return list;
}

/**
 * Whether *typed* is the beginning of a word of *words* and of those after it; in a script without spaces, a part.
 * @param {string} typed
 * @param {string} words
 */
function fits(typed, words) {
  const [part, whole] = [typed.toLowerCase(), ` ${words.toLowerCase().replaceAll("/", "")}`];
  return whole.includes(` ${part}`) || (/[^\x20-\x7e]/.test(part) && whole.includes(part));
}
