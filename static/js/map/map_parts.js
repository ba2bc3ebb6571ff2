/**
 * What the parts of the map know of it: types only. They stand here because a part may not name the map's own module,
 * which imports it.
 *
 * @import { WindowCoverage } from "../messages/window_coverage.js"
 * @import { ThreadRange } from "../messages/thread_range.js"
 * @import { MapBubble } from "./map_bubble.js"
 * @import { MapFrame } from "./map_frame.js"
 * @import { MapScale } from "./map_scale.js"
 * @import { Hits, MapSigns } from "./map_signs.js"
 *
 * @typedef {object} MapParts
 * @property {HTMLElement} element of the map
 * @property {HTMLElement} strip
 * @property {HTMLElement} scroller
 * @property {ThreadRange} range
 * @property {WindowCoverage} coverage
 * @property {MapScale | undefined} scale
 * @property {MapSigns} signs
 * @property {MapFrame} frame
 * @property {MapBubble} bubble
 * @property {Hits} hits
 * @property {() => void} toNewest
 * @property {() => void} draw
 * @property {() => void} drawFrame
 * @property {(y: number) => void} tell shows in the bubble what is at a height of the strip, in pixels
 */

export {};
