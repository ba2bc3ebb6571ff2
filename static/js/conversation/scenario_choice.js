/** Choosing another scenario: for the conversation of the page, or for the one that the page is about to begin. */

import { postForm } from "../server/http.js";
import { sentence } from "../shared/sentences.js";

/** @typedef {(id: number | string, name: string) => Promise<void>} ChooseScenario */

/**
 * Return what chooses a scenario, and shows the page with it.
 * @param {object} options
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {Record<"scenario" | "conversation" | "newHere", string>} options.urls
 * @param {import("../shell/navigation.js").Navigation} options.navigation
 * @param {(error: unknown) => void} options.onRefused
 * @param {AbortSignal} options.signal of the page, which may be left meanwhile
 * @returns {ChooseScenario}
 */
export function scenarioChooser({ connection, urls, navigation, onRefused, signal }) {
  return async (id, name) => {
    try {
      if (connection.isStored) {
        await postForm(urls.scenario, { scenario: String(id) });
      }
      const isLeft = signal.aborted;
      const address = connection.isStored ? urls.conversation : `${urls.newHere}scenario=${id}`;
      isLeft || navigation.replace(address, sentence("scenarioChosen", { name }));
    } catch (error) {
      onRefused(error);
    }
  };
}
