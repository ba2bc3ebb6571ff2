/** The scale of the map: which message stands how far down, by the tokens of what stands above it. */

/**
 * @typedef {[first: number, last: number, messages: number, tokens: number, userTokens: number, isInView: boolean,
 *   beganAt: number, endedAt: number]} Bucket messages that follow one another, as the server counts them
 *
 * @typedef {object} Piece a bucket on the scale
 * @property {number} first position
 * @property {number} last position
 * @property {number} messages
 * @property {number} userShare of its tokens
 * @property {number} before how many messages stand above it
 * @property {number} start from 0 to 1
 * @property {number} end
 * @property {number} beganAt seconds
 * @property {number} endedAt
 */

const LEAST_TOKENS = 30; // that a message counts as: what is short can be seen too

export class MapScale {
  /** @param {Bucket[]} buckets */
  constructor(buckets) {
    /** @type {Piece[]} */
    this.pieces = [];
    const whole = buckets.reduce((sum, bucket) => sum + weightOf(bucket), 0) || 1;
    let [start, before] = [0, 0];
    for (const bucket of buckets) {
      const [first, last, messages, tokens, userTokens, , beganAt, endedAt] = bucket;
      const end = start + weightOf(bucket) / whole;
      const userShare = tokens ? userTokens / tokens : 0;
      this.pieces.push({ first, last, messages, userShare, before, start, end, beganAt, endedAt });
      [start, before] = [end, before + messages];
    }
    this.messages = before;
    this.lastPosition = this.pieces.at(-1)?.last ?? 0;
  }

  /**
   * Return how far down the message at *position* begins (*within* 0) or ends (1), from 0 to 1.
   * @param {number} position
   * @param {number} within
   */
  placeOf(position, within = 0.5) {
    const piece = this.#pieceOf(position);
    return piece ? piece.start + (piece.end - piece.start) * shareOf(piece, position, within) : 1;
  }

  /**
   * Return the message at *place*, and how far down in it that is.
   * @param {number} place from 0 to 1
   */
  messageAt(place) {
    const piece = this.pieces.find(({ end }) => place < end) ?? this.pieces.at(-1);
    if (!piece) {
      return { position: 0, within: 0 };
    }
    const size = piece.last - piece.first + 1;
    const along = Math.min(Math.max((place - piece.start) / (piece.end - piece.start), 0), 1) * size;
    const step = Math.min(Math.floor(along), size - 1);
    return { position: piece.first + step, within: Math.min(along - step, 1) };
  }

  /**
   * Return which message in the conversation stands at *position*, from 1.
   * @param {number} position
   */
  numberOf(position) {
    const piece = this.#pieceOf(position);
    return piece ? piece.before + Math.ceil(shareOf(piece, position, 1) * piece.messages) : this.messages;
  }

  /**
   * Return when what stands at *position* was said, as nearly as the buckets know.
   * @param {number} position
   */
  momentOf(position) {
    const piece = this.#pieceOf(position) ?? this.pieces.at(-1);
    const seconds = piece ? piece.beganAt + (piece.endedAt - piece.beganAt) * shareOf(piece, position, 0) : 0;
    return new Date(seconds * 1_000);
  }

  /**
   * Return how many messages stand above *position*.
   * @param {number} position
   */
  countAbove(position) {
    const piece = this.#pieceOf(position);
    return piece ? piece.before + Math.round(shareOf(piece, position, 0) * piece.messages) : this.messages;
  }

  /** @param {number} position */
  #pieceOf(position) {
    return this.pieces.find(({ last }) => position <= last);
  }
}

/** @param {Bucket} bucket */
function weightOf([, , messages, tokens]) {
  return tokens + LEAST_TOKENS * messages;
}

/**
 * @param {Piece} piece
 * @param {number} position
 * @param {number} within
 */
function shareOf({ first, last }, position, within) {
  return (Math.max(position, first) - first + within) / (last - first + 1);
}
