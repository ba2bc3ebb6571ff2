/** Search: the palette of the shell, and find in a conversation. A bundle of its own: it is fetched when it is asked for. */

import { openFind } from "./find_bar.js";
import { openPalette } from "./palette.js";

/**
 * @param {"palette" | "find"} which
 * @param {import("../shell/search_keys.js").SearchShell} shell
 * @param {import("../shell/search_keys.js").Wanted | undefined} wanted
 * @param {() => string} early what was typed before the field was there
 */
export function openSearch(which, shell, wanted, early) {
  return which === "palette" ? openPalette(shell, early) : openFind(shell, wanted, early);
}
