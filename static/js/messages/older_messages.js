/** Load older messages above; what is being read stays where it is. */

/**
 * @param {HTMLElement} scroller
 * @param {() => void} onArrived called once for all that came together
 */
export function keepPlaceWhenOlderArrive(scroller, onArrived) {
  /** @type {number | undefined} */
  let below;
  scroller.addEventListener("htmx:beforeSwap", () => {
    below = scroller.scrollHeight - scroller.scrollTop;
  });
  // htmx tells of each element that came in, though all of them are there by the first time.
  scroller.addEventListener("htmx:afterSwap", () => {
    if (below !== undefined) {
      scroller.scrollTop = scroller.scrollHeight - below;
      below = undefined;
      onArrived();
    }
  });
}
