/** The drawing of the map: a row every few pixels, each as long as its words, and the marks, in a few SVG paths. */

import { find } from "../shared/dom.js";

/**
 * @import { MapScale, Piece } from "./map_scale.js"
 *
 * @typedef {"recalled" | "pinned" | "excluded"} Sign
 * @typedef {{position: number, sign: Sign}} Signed a message with a sign
 */

const PITCH = 4;
const [LEFT, RIGHT] = [3, 17]; // of the rows in the strip, with a rim at each side
const LONG = 10;
const SHORT = 6; // the last row of a message, and one that is alone
const SIGNS_AT = -10;
const HITS_AT = 26;

export class MapDrawing {
  /** @param {SVGElement} svg */
  constructor(svg) {
    this.svg = svg;
  }

  /**
   * @param {MapScale} scale
   * @param {object} view
   * @param {number} view.height in pixels
   * @param {number} view.line the position from which on the model sees everything
   * @param {Signed[]} view.signed
   * @param {number[]} view.hits positions of what a search has found
   */
  draw(scale, { height, line, signed, hits }) {
    const rows = { in: "", out: "" };
    let piece = 0;
    for (let y = PITCH / 2; y < height; y += PITCH) {
      while (piece < scale.pieces.length - 1 && scale.pieces[piece].end * height <= y) {
        piece += 1;
      }
      const drawn = scale.pieces[piece];
      const isInView = scale.messageAt(y / height).position >= line;
      rows[isInView ? "in" : "out"] += rowOf(drawn, y, height);
    }
    this.#set("in", rows.in);
    this.#set("out", rows.out);
    const at = (/** @type {number} */ position) => round(scale.placeOf(position) * height);
    /** @type {Record<Sign, string>} */
    const bars = { recalled: "", pinned: "", excluded: "" };
    const signs = { recalled: "", pinned: "" };
    for (const { position, sign } of signed) {
      const y = at(position);
      bars[sign] += `M${LEFT} ${y}H${RIGHT}`;
      if (sign !== "excluded") {
        signs[sign] += sign === "recalled" ? circle(SIGNS_AT, y) : diamond(SIGNS_AT, y);
      }
    }
    for (const sign of /** @type {Sign[]} */ (Object.keys(bars))) {
      this.#set(sign, bars[sign]);
    }
    this.#set("recalled-signs", signs.recalled);
    this.#set("pinned-signs", signs.pinned);
    this.#set("hits", [...new Set(hits.map(at))].map((y) => arrow(HITS_AT, y)).join(""));
    this.#set("newest", circle((LEFT + RIGHT) / 2, height - 5));
    const lit = find(this.svg, "[data-lit]", SVGElement);
    const top = line ? scale.placeOf(line, 0) * height : 0;
    lit.setAttribute("y", String(round(top)));
    lit.setAttribute("height", String(Math.max(0, round(height - top))));
  }

  /**
   * @param {string} layer
   * @param {string} path
   */
  #set(layer, path) {
    find(this.svg, `[data-layer="${layer}"]`, SVGElement).setAttribute("d", path);
  }
}

/**
 * @param {Piece} piece
 * @param {number} y
 * @param {number} height
 */
function rowOf({ messages, userShare, end }, y, height) {
  if (messages === 1) {
    const length = y + PITCH >= end * height ? SHORT : LONG;
    return userShare > 0.5 ? `M${RIGHT - length} ${y}H${RIGHT}` : `M${LEFT} ${y}h${length}`;
  }
  const own = round((RIGHT - LEFT - 2) * userShare);
  const other = RIGHT - LEFT - 2 - own;
  return `${other > 1 ? `M${LEFT} ${y}h${other}` : ""}${own > 1 ? `M${RIGHT - own} ${y}H${RIGHT}` : ""}`;
}

/**
 * @param {number} x
 * @param {number} y
 */
function circle(x, y) {
  return `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z`;
}

/**
 * @param {number} x
 * @param {number} y
 */
function diamond(x, y) {
  return `M${x} ${y - 4}l4 4l-4 4l-4 -4Z`;
}

/**
 * @param {number} x
 * @param {number} y
 */
function arrow(x, y) {
  return `M${x} ${y}l5 -3.5v7Z`;
}

/** @param {number} pixels */
function round(pixels) {
  return Math.round(pixels * 10) / 10;
}
