/** The pointer on the map: pressed or dragged it leads to a place, at rest over it, it shows what is there. */

import { SNAP_PIXELS } from "./map_bubble.js";

const REST_MS = 120; // of the pointer, after which the thread follows it

export class MapPointer {
  /** @type {number | undefined} the height of the strip, in pixels, to which it drags the frame */
  dragged;
  #drags = 0;
  #restTimer = 0;

  /**
   * @param {import("./map_parts.js").MapParts} map
   * @param {AbortSignal} signal ends it
   */
  constructor(map, signal) {
    this.map = map;
    const { strip } = map;
    strip.addEventListener("pointerdown", (event) => this.#press(event));
    strip.addEventListener("pointermove", (event) => {
      if (this.dragged === undefined) {
        map.tell(this.#heightOf(event));
      } else {
        this.#drag(event);
      }
    });
    strip.addEventListener("pointerup", () => this.#release());
    strip.addEventListener("pointercancel", () => this.#release());
    strip.addEventListener("pointerleave", () => {
      if (this.dragged === undefined) {
        map.bubble.hide();
      }
    });
    strip.addEventListener("wheel", ({ deltaY }) => map.scroller.scrollBy(0, deltaY), { passive: true });
    signal.addEventListener("abort", () => clearTimeout(this.#restTimer));
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (event.button === 0) {
      const { strip } = this.map;
      event.preventDefault();
      strip.focus({ preventScroll: true });
      strip.setPointerCapture(event.pointerId);
      this.#drags += 1;
      this.#drag(event);
    }
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    this.dragged = this.#heightOf(event);
    this.map.tell(this.dragged);
    this.map.drawFrame();
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#follow(), REST_MS);
  }

  #release() {
    if (this.dragged !== undefined) {
      const drag = this.#drags;
      clearTimeout(this.#restTimer);
      this.#follow().finally(() => {
        if (drag === this.#drags) {
          this.dragged = undefined;
          this.map.bubble.hide();
          this.map.draw();
        } // else the next one has begun while the place was fetched
      });
    }
  }

  async #follow() {
    const { scale, strip, range } = this.map;
    if (scale && this.dragged !== undefined) {
      const { position, within } = scale.messageAt(this.dragged / strip.clientHeight);
      await range.goTo({ at: position }, { within });
    }
  }

  /** @param {PointerEvent} event */
  #heightOf(event) {
    const { top, height } = this.map.strip.getBoundingClientRect();
    return this.#snap(Math.min(Math.max(event.clientY - top, 0), height), height);
  }

  /**
   * Return the height of a sign that is as good as there.
   * @param {number} y
   * @param {number} height
   */
  #snap(y, height) {
    const { scale, signs, hits } = this.map;
    const positions = [...signs.all.map(({ position }) => position), ...hits.positions];
    const places = positions.map((position) => (scale?.placeOf(position) ?? 0) * height);
    return places.find((place) => Math.abs(place - y) <= SNAP_PIXELS) ?? y;
  }
}
