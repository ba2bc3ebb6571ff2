/** The tab's one websocket: opened again and again, with a growing and jittered pause. */

import { goToGate } from "./gate.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;
const STEADY_AFTER_MS = 5_000;
const SIGNED_OUT = 4401;
const GATE_SHUT = 4403;

export class Socket {
  /**
   * @param {string} path
   * @param {{onOpen: () => void, onFrame: (frame: object) => void, onFailure: (failures: number) => void}} handlers
   */
  constructor(path, handlers) {
    this.url = new URL(path, location.href);
    this.url.protocol = this.url.protocol.replace("http", "ws");
    this.handlers = handlers;
    this.failures = 0;
    addEventListener("online", () => this.#openNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.#openNow());
    this.#open();
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Return whether *frame* could be handed over; whether it arrived, only an answer tells. */
  send(frame) {
    if (this.isOpen) {
      this.socket.send(JSON.stringify(frame));
    }
    return this.isOpen;
  }

  #open() {
    const socket = new WebSocket(this.url);
    let openedAt = 0;
    socket.addEventListener("open", () => {
      openedAt = performance.now();
      this.handlers.onOpen();
    });
    socket.addEventListener("message", ({ data }) => this.handlers.onFrame(JSON.parse(data)));
    socket.addEventListener("close", ({ code }) => this.#ended(code, openedAt));
    this.socket = socket;
  }

  /** Whoever may be in no more sees the page no more: asked for anew, it leads to the sign-in. The draft is kept. */
  #ended(code, openedAt) {
    if (code === SIGNED_OUT) {
      location.reload();
    } else if (code === GATE_SHUT) {
      goToGate();
    } else {
      this.#closed(openedAt);
    }
  }

  /** A socket that stayed open for a while was a success: the next attempt is the first again. */
  #closed(openedAt) {
    const wasSteady = openedAt && performance.now() - openedAt > STEADY_AFTER_MS;
    this.failures = wasSteady ? 0 : this.failures + 1;
    this.handlers.onFailure(this.failures);
    this.timer = setTimeout(() => this.#open(), pauseAfter(this.failures));
  }

  /** Don't wait for the pause when the machine is back on the network or the tab in view. */
  #openNow() {
    if (this.socket.readyState === WebSocket.CLOSED) {
      clearTimeout(this.timer);
      this.#open();
    }
  }
}

function pauseAfter(failures) {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
  return longest * (0.5 + Math.random() / 2);
}
