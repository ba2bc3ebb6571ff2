/** What the composer offers at `/` and `@`: fetched with the first key, as it is not needed before. */

import { fetchBundle, fetchStyles } from "../shared/bundles.js";

const EVENTS = ["keydown", "input"];

/**
 * @param {HTMLFormElement} form
 * @param {Parameters<typeof import("./commands.js").startCommands>[1]} options
 */
export function startCommandsOnceTyped(form, options) {
  const { field } = options.composer;

  async function start() {
    for (const name of EVENTS) {
      field.removeEventListener(name, start);
    }
    const styles = fetchStyles("searchStyles").catch(() => undefined); // of the list, too
    /** @type {typeof import("./commands.js") | undefined} */
    const fetched = await fetchBundle("commands");
    await styles;
    if (fetched) {
      fetched.startCommands(form, options).refresh();
    } else {
      listen(); // the next key tries again
    }
  }

  function listen() {
    for (const name of EVENTS) {
      field.addEventListener(name, start);
    }
  }

  listen();
}
