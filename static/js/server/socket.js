/** The tab's one websocket: opened again and again, with a growing and jittered pause. */

import { canReachServer, goToGate } from "./http.js";

/** @import { ServerFrame } from "./frames.js" */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;
const STEADY_AFTER_MS = 5_000;
const LEAVING_MS = 5_000;
const SIGNED_OUT = 4401;
const GATE_SHUT = 4403;
const LOST = 1006; // as browsers say it of a connection that was cut

/**
 * @typedef {object} SocketHandlers
 * @property {() => void} onOpen
 * @property {(frame: ServerFrame) => void} onFrame
 * @property {(failures: number) => void} onFailure told how many attempts have failed in a row
 */

export class Socket {
  /** @type {Set<SocketHandlers>} */
  #listeners = new Set();
  /** @type {() => void} */
  #drop = () => undefined;
  /** Whether the last socket has ended, and no other one was opened yet. */
  #isWithoutSocket = false;

  /** @param {string} path */
  constructor(path) {
    this.url = new URL(path, location.href);
    this.url.protocol = this.url.protocol.replace("http", "ws");
    this.failures = 0;
    this.timer = 0;
    this.isLeaving = false;
    addEventListener("beforeunload", () => {
      this.isLeaving = true;
    });
    addEventListener("online", () => this.#openNow());
    addEventListener("offline", () => this.#dropIfLost());
    document.addEventListener("visibilitychange", () => document.hidden || this.#openNow());
    this.socket = this.#newSocket();
  }

  /**
   * Tell *handlers* what happens from now on.
   * @param {SocketHandlers} handlers
   * @returns {() => void} ends that
   */
  listen(handlers) {
    this.#listeners.add(handlers);
    return () => this.#listeners.delete(handlers);
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /**
   * Return whether *frame* could be handed over; whether it arrived, only an answer tells.
   * @param {object} frame
   */
  send(frame) {
    if (this.isOpen) {
      this.socket.send(JSON.stringify(frame));
    }
    return this.isOpen;
  }

  /** End the socket there is, without waiting for a network that is gone, and open another soon. */
  drop() {
    this.#drop();
  }

  #open() {
    this.socket = this.#newSocket();
  }

  #newSocket() {
    const socket = new WebSocket(this.url);
    let openedAt = 0;
    let hasEnded = false;
    const end = (/** @type {number} */ code) => {
      if (!hasEnded) {
        hasEnded = true;
        this.#isWithoutSocket = true;
        this.#ended(code, openedAt);
      }
    };
    this.#isWithoutSocket = false;
    this.#drop = () => {
      socket.close();
      end(LOST);
    };
    socket.addEventListener("open", () => {
      openedAt = performance.now();
      this.#tell(({ onOpen }) => onOpen());
    });
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      hasEnded || this.#tell(({ onFrame }) => onFrame(frame));
    });
    socket.addEventListener("close", ({ code }) => end(code));
    return socket;
  }

  /** The machine is off the network: a browser notices late that the socket is, too, unless the server is on this machine. */
  async #dropIfLost() {
    const drop = this.#drop;
    if (this.isOpen && !(await canReachServer()) && this.isOpen) {
      drop();
    }
  }

  /**
   * A page that its user may no longer see is left: asked for once more, it leads to the sign-in. The draft is kept.
   * A form that ends sessions, or the account, is not cut off from its answer.
   * @param {number} code
   * @param {number} openedAt
   */
  #ended(code, openedAt) {
    if (code === SIGNED_OUT) {
      setTimeout(() => location.reload(), this.isLeaving ? LEAVING_MS : 0);
    } else if (code === GATE_SHUT) {
      goToGate();
    } else {
      this.#openLater(openedAt);
    }
  }

  /**
   * A socket that stayed open for a while was a success: the next attempt is the first again.
   * @param {number} openedAt
   */
  #openLater(openedAt) {
    const wasSteady = openedAt && performance.now() - openedAt > STEADY_AFTER_MS;
    this.failures = wasSteady ? 0 : this.failures + 1;
    this.#tell(({ onFailure }) => onFailure(this.failures));
    this.timer = setTimeout(() => this.#open(), pauseAfter(this.failures));
  }

  /** @param {(handlers: SocketHandlers) => void} call each of them */
  #tell(call) {
    for (const handlers of [...this.#listeners]) {
      call(handlers);
    }
  }

  /** Don't wait for the pause when the machine is back on the network or the tab in view. */
  #openNow() {
    if (this.#isWithoutSocket) {
      clearTimeout(this.timer);
      this.#open();
    }
  }
}

/** @param {number} failures */
function pauseAfter(failures) {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
  return longest * (0.5 + Math.random() / 2);
}
