/** The map of a conversation and its panel. A bundle of its own: a page needs it once its thread is long. */

import { find } from "../shared/dom.js";
import { ConversationMap } from "./conversation_map.js";
import { startMapPanel } from "./map_panel.js";

/**
 * @param {HTMLElement} page
 * @param {Omit<import("./conversation_map.js").MapOptions, "element">} options
 */
export function startMap(page, options) {
  const map = new ConversationMap(find(page, '[data-part="map"]'), options);
  const meter = find(page, '[data-part="meter"]');
  startMapPanel(page, { map: map.element, meter, onOpen: () => map.draw(), signal: options.signal });
  return map;
}
