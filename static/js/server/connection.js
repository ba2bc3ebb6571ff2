/**
 * A conversation's way to the server and back: by the socket, and by plain HTTP when that can't connect.
 *
 * Both ways end in the same frames, so whoever listens doesn't know which one it was. A message that is not
 * acknowledged in time is sent again by HTTP with the same client id, which makes it the same message.
 */

import { getJson, postForm, Refusal } from "./http.js";
import { Socket } from "./socket.js";

const FAILURES_UNTIL_HTTP = 2;
const POLL_MS = 1_000;
const IDLE_POLL_MS = 10_000;
const ACKNOWLEDGE_MS = 5_000;
const SYNC_PAUSE_MS = 500;
const SILENCE_MS = 3_000;
const LARGEST_FRAME_CHARACTERS = 30_000;

export class Connection {
  /**
   * @param {object} options
   * @param {string} options.conversation
   * @param {{socket: string, messages: string, sync: string, estimate: string}} options.urls
   * @param {Record<string, string>} options.beginning what is said with the first message besides its content
   * @param {boolean} options.isStored whether the conversation exists yet: it does from its first message on
   * @param {() => {position: number, isStreaming: boolean}} options.whereabouts what the page has
   * @param {(frame: object) => void} options.onFrame
   * @param {(way: "socket" | "http" | "none") => void} options.onWay told when it changes
   */
  constructor({ conversation, urls, beginning, isStored, whereabouts, onFrame, onWay }) {
    Object.assign(this, { conversation, urls, beginning, isStored, whereabouts, onFrame, onWay });
    this.unacknowledged = new Map();
    this.lastSyncAt = -SYNC_PAUSE_MS;
    this.heardAt = performance.now();
    this.way = "socket";
    setInterval(() => this.#breakSilence(), SILENCE_MS);
    this.socket = new Socket(urls.socket, {
      onOpen: () => this.#opened(),
      onFrame: (frame) => this.#received(frame),
      onFailure: (failures) => this.#lost(failures),
    });
  }

  /**
   * Send a message; rejected with a `Refusal` or `Unreachable` when it was not stored.
   * @returns {Promise<{cleaned: boolean}>} whether characters had to be taken out of it
   */
  async post(content, clientId) {
    const answer = await this.#store("message.post", { client_id: clientId, content }, this.urls.messages);
    this.begin();
    return answer;
  }

  /** Send a new version of *message*; rejected like `post`, and answered like it. */
  async edit(message, content, clientId, url) {
    const answer = await this.#store("message.edit", { message, client_id: clientId, content }, url);
    this.sync(answer.position);
    return answer;
  }

  /** Show the version whose address is *url*. */
  async show(url) {
    const { position } = await this.#reach(postForm(url));
    this.sync(position);
  }

  /** The conversation is stored from now on. */
  begin() {
    this.isStored = true;
    this.sync();
  }

  stop(reply, url) {
    return this.#act("reply.stop", reply, url);
  }

  regenerate(reply, url) {
    return this.#act("reply.regenerate", reply, url);
  }

  /** Ask for what is stored from where the page stands, at most every `SYNC_PAUSE_MS`. */
  sync(position = Infinity) {
    this.syncFrom = Math.min(this.syncFrom ?? Infinity, position);
    const pause = this.lastSyncAt + SYNC_PAUSE_MS - performance.now();
    this.syncTimer ??= setTimeout(() => this.#syncNow(), Math.max(0, pause));
  }

  #syncNow() {
    const position = Math.min(this.syncFrom, this.whereabouts().position);
    this.syncTimer = this.syncFrom = undefined;
    this.lastSyncAt = performance.now();
    if (!this.isStored) {
      return;
    }
    const frame = { type: "conversation.sync", conversation: this.conversation, from_position: position };
    if (!this.socket.send(frame)) {
      this.#fetchSnapshot(position);
    }
  }

  async #fetchSnapshot(position) {
    try {
      this.onFrame(await this.#reach(getJson(`${this.urls.sync}?from=${position}`)));
    } catch (error) {
      if (error instanceof Refusal) {
        this.onFrame({ type: "error", code: error.code, message: error.message });
      } // otherwise the next poll asks again
    }
  }

  /** Send by the socket what is to be stored, and by HTTP where that is not open, too narrow or does not answer. */
  async #store(type, fields, url) {
    const fits = fields.content.length <= LARGEST_FRAME_CHARACTERS;
    const frame = { type, conversation: this.conversation, ...fields };
    const isSent = this.isStored && fits && this.socket.send(frame);
    const stored = isSent && (await this.#acknowledged(fields.client_id));
    return stored || this.#reach(postForm(url, { ...this.beginning, ...fields }));
  }

  async #act(type, reply, url) {
    if (!this.socket.send({ type, conversation: this.conversation, reply })) {
      await this.#reach(postForm(url));
      this.sync();
    }
  }

  /** Ask something by HTTP only to learn whether the server is there; a conversation that is stored is asked for. */
  async #probe() {
    await this.#reach(postForm(this.urls.estimate, { ...this.beginning, content: "" })).catch(() => undefined);
  }

  /** Wait for an answer by HTTP and note whether there was one; a refusal is one. */
  async #reach(request) {
    const isReached = await request.then(
      () => true,
      (error) => error instanceof Refusal,
    );
    if (!this.socket.isOpen && !isReached) {
      this.#goBy("none");
    } else if (!this.socket.isOpen && this.socket.failures >= FAILURES_UNTIL_HTTP) {
      this.#goBy("http");
    }
    return request;
  }

  #goBy(way) {
    if (this.way !== way) {
      this.way = way;
      this.onWay(way);
    }
  }

  /** Resolve to the frame that says so, or to nothing if none came in time; reject if the socket refused. */
  #acknowledged(clientId) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.unacknowledged.get(clientId)?.resolve(), ACKNOWLEDGE_MS);
      const settle = (done) => (value) => {
        clearTimeout(timer);
        this.unacknowledged.delete(clientId);
        done(value);
      };
      this.unacknowledged.set(clientId, { resolve: settle(resolve), reject: settle(reject) });
    });
  }

  /** Ask when a reply streams and the socket says nothing: the process that makes it may be one it can't hear. */
  #breakSilence() {
    if (this.whereabouts().isStreaming && performance.now() - this.heardAt >= SILENCE_MS) {
      this.sync();
    }
  }

  #received(frame) {
    this.heardAt = performance.now();
    const waiting = this.unacknowledged.get(frame.client_id);
    if (waiting && frame.type === "message.stored") {
      waiting.resolve(frame);
    } else if (waiting && frame.type === "error") {
      waiting.reject(new Refusal(frame));
      return;
    }
    this.onFrame(frame);
  }

  #opened() {
    clearTimeout(this.pollTimer);
    this.#goBy("socket");
    this.sync();
  }

  #lost(failures) {
    for (const { resolve } of [...this.unacknowledged.values()]) {
      resolve();
    }
    if (failures >= FAILURES_UNTIL_HTTP) {
      this.#poll();
    }
  }

  #poll() {
    clearTimeout(this.pollTimer);
    if (this.socket.isOpen) {
      return;
    }
    this.isStored ? this.sync() : this.#probe();
    this.pollTimer = setTimeout(() => this.#poll(), this.whereabouts().isStreaming ? POLL_MS : IDLE_POLL_MS);
  }
}
