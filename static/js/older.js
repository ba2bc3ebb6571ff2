/** Older messages come in above; what a person reads stays where it is. */

export function keepPlaceWhenOlderArrive(scroller, onArrived) {
  let below = 0;
  scroller.addEventListener("htmx:beforeSwap", () => {
    below = scroller.scrollHeight - scroller.scrollTop;
  });
  scroller.addEventListener("htmx:afterSwap", () => {
    scroller.scrollTop = scroller.scrollHeight - below;
    onArrived();
  });
}
