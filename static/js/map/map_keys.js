/** The map by keyboard: from message to message, by screens, to the ends, and from sign to sign. */

const PAGE = 0.9; // of what is on the screen

/** @param {import("./map_parts.js").MapParts} map */
export function startMapKeys(map) {
  const { strip, scroller, range, signs } = map;
  const goTo = (/** @type {number | undefined} */ position) => position !== undefined && range.goTo({ at: position });

  strip.addEventListener("keydown", (event) => {
    const { scale } = map;
    if (!scale || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const { article, position, first } = map.frame.current(scale);
    const page = PAGE * scroller.clientHeight;
    const up = () => goTo(Math.max(0, first - 1));
    const down = () => goTo(Math.min(scale.lastPosition, position + 1));
    /** @type {Record<string, () => unknown>} */
    const actions = {
      ArrowUp: up,
      ArrowLeft: up,
      ArrowDown: down,
      ArrowRight: down,
      PageUp: () => scroller.scrollBy(0, -page),
      PageDown: () => scroller.scrollBy(0, page),
      Home: () => goTo(0),
      End: () => map.toNewest(),
      "[": () => goTo(signs.all.findLast((each) => each.position < first)?.position),
      "]": () => goTo(signs.all.find((each) => each.position > position)?.position),
      Enter: () => article?.focus({ preventScroll: true }),
    };
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
}
