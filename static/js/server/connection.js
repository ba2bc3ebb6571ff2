/**
 * A conversation's transport to the server and back: the socket, and plain HTTP when that can't connect.
 *
 * Both end in the same frames, so the page doesn't know which one it was. A message that is not acknowledged in time is
 * sent again by HTTP with the same client id, which makes it the same message.
 */

import { canReachServer, getJson, postForm, Refusal } from "./http.js";

/**
 * @import { MessageStored, ServerFrame } from "./frames.js"
 * @import { Socket } from "./socket.js"
 */

/**
 * @typedef {"socket" | "late" | "http" | "none"} Transport late is a socket that does not hear all text as it is written
 *
 * @typedef {object} Listener
 * @property {() => {position: number, isStreaming: boolean}} whereabouts what the page has
 * @property {(frame: ServerFrame) => void} onFrame
 * @property {(transport: Transport) => void} onTransport told when it changes
 *
 * @typedef {object} Waiting an attempt to store a message that the socket has not answered yet
 * @property {(frame?: MessageStored) => void} resolve
 * @property {(refusal: Refusal) => void} reject
 */

const FAILURES_UNTIL_HTTP = 2;
const POLL_MS = 1_000;
const IDLE_POLL_MS = 10_000;
const ACKNOWLEDGE_MS = 5_000;
const SYNC_PAUSE_MS = 500;
const SILENCE_MS = 3_000;
const DOUBT_MS = 10_000; // without an answer by the socket: HTTP is tried
const CHECK_MS = 4_000;
const KEPT_CONNECTIONS = 6; // to one server, over HTTP/1.1; the network may have forgotten each of them
const DEAD_MS = 30_000;
const LARGEST_FRAME_CHARACTERS = 30_000;
/** @type {Listener} */
const NO_LISTENER = {
  whereabouts: () => ({ position: 0, isStreaming: false }),
  onFrame: () => undefined,
  onTransport: () => undefined,
};

export class Connection {
  #listener = NO_LISTENER;
  /** @type {Map<string, Waiting>} by client id */
  #unacknowledged = new Map();
  /** @type {number | undefined} */
  #syncTimer;
  #syncFrom = Infinity;
  #pollTimer = 0;
  #lastSyncAt = -SYNC_PAUSE_MS;
  #heardAt = performance.now();
  /** Since when the socket owes an answer, in milliseconds; 0 if it owes none. */
  #owesSince = 0;
  #isChecking = false;
  /** @type {Transport} */
  #transport = "socket";
  /** Settles when the changes to messages made so far have been answered: the next prompt depends on them. */
  #changes = Promise.resolve();

  /**
   * @param {object} options
   * @param {Socket} options.socket of the tab, which outlives this
   * @param {string} options.conversation
   * @param {Record<"messages" | "sync" | "estimate", string>} options.urls
   * @param {Record<string, string>} options.beginning what is said with the first message besides its content
   * @param {boolean} options.isStored whether the conversation exists yet: it does from its first message on
   * @param {AbortSignal} options.signal ends it
   */
  constructor({ socket, conversation, urls, beginning, isStored, signal }) {
    this.socket = socket;
    this.signal = signal;
    this.conversation = conversation;
    this.urls = urls;
    this.beginning = beginning;
    this.isStored = isStored;
    const silenceTimer = setInterval(() => this.#breakSilence(), SILENCE_MS);
    this.stopListening = socket.listen({
      onOpen: () => this.#opened(),
      onFrame: (frame) => this.#received(frame),
      onFailure: (failures) => this.#lost(failures),
    });
    // A machine that slept or changed its network finds its socket open, and often dead.
    addEventListener("online", () => this.#askAgain(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.#askAgain(), { signal });
    signal.addEventListener("abort", () => {
      clearInterval(silenceTimer);
      this.#end();
    });
    if (socket.isOpen) {
      this.#opened();
    } else if (socket.failures) {
      this.#lost(socket.failures);
    }
  }

  /** Say and ask nothing more; what was posted is still acknowledged, so that its draft goes. */
  #end() {
    this.#listener = NO_LISTENER;
    clearTimeout(this.#syncTimer);
    clearTimeout(this.#pollTimer);
    this.#leaveIfAcknowledged();
  }

  #leaveIfAcknowledged() {
    if (this.signal.aborted && !this.#unacknowledged.size) {
      this.stopListening();
    }
  }

  /**
   * Tell *listener* what comes from now on.
   * @param {Listener} listener
   */
  listen(listener) {
    this.#listener = listener;
  }

  /**
   * Hold messages and regenerations until *change* is answered: what was decided before them is to count for them.
   * @param {Promise<void>} change
   */
  waitFor(change) {
    const givenUp = new Promise((resolve) => setTimeout(resolve, ACKNOWLEDGE_MS));
    this.#changes = Promise.race([Promise.all([this.#changes, change]), givenUp]).then(() => undefined);
  }

  /**
   * Send a message; rejected with a `Refusal` or `Unreachable` when it was not stored.
   * @param {string} content
   * @param {string} clientId
   * @param {number[]} pictures their ids
   * @returns {Promise<{cleaned: boolean}>} whether characters had to be taken out of it
   */
  async post(content, clientId, pictures) {
    const answer = await this.#store("message.post", { client_id: clientId, content, pictures }, this.urls.messages);
    this.begin();
    return answer;
  }

  /**
   * Send a new version of *message*; rejected like `post`, and answered like it.
   * @param {number} message
   * @param {string} content
   * @param {string} clientId
   * @param {string} url
   * @returns {Promise<{cleaned: boolean}>}
   */
  async edit(message, content, clientId, url) {
    const answer = await this.#store("message.edit", { message, client_id: clientId, content }, url);
    this.sync(answer.position);
    return answer;
  }

  /**
   * Show the version whose address is *url*.
   * @param {string} url
   */
  async show(url) {
    const { position } = await this.#reach(postForm(url));
    this.sync(position);
  }

  /** The conversation is stored from now on. */
  begin() {
    this.isStored = true;
    this.sync();
  }

  /**
   * @param {number} reply
   * @param {string} url
   */
  stop(reply, url) {
    return this.#act("reply.stop", { reply }, url);
  }

  /**
   * @param {number} reply
   * @param {string} url
   */
  async regenerate(reply, url) {
    await this.#changes;
    return this.#act("reply.regenerate", { reply }, url);
  }

  /**
   * Continue a reply that was cut off, of which the page shows *length* code points.
   * @param {number} reply
   * @param {number} length
   * @param {string} url
   */
  continueReply(reply, length, url) {
    return this.#act("reply.continue", { reply, length }, url);
  }

  /**
   * Regenerate a reply by another language model, for that version alone.
   * @param {number} reply
   * @param {string} languageModel
   * @param {string} url
   */
  async regenerateWith(reply, languageModel, url) {
    await this.#changes;
    return this.#act("reply.regenerate_with", { reply, language_model: languageModel }, url);
  }

  /**
   * Go on with another language model and effort; blank is the scenario's.
   * @param {string} languageModel
   * @param {string} effort
   * @param {string} url
   */
  chooseModel(languageModel, effort, url) {
    return this.#act("model.choose", { language_model: languageModel, effort }, url);
  }

  /**
   * Regenerate a reply whose room was used up, with twice as much.
   * @param {string} url
   */
  async regenerateWithMoreRoom(url) {
    await this.#changes;
    await this.#reach(postForm(url, { more_room: "yes" }));
    this.sync();
  }

  /** Ask for what is stored from where the page stands, at most every `SYNC_PAUSE_MS`. */
  sync(position = Infinity) {
    if (this.signal.aborted) {
      return; // the socket follows another conversation by now
    }
    this.#syncFrom = Math.min(this.#syncFrom, position);
    const pause = this.#lastSyncAt + SYNC_PAUSE_MS - performance.now();
    this.#syncTimer ??= setTimeout(() => this.#syncNow(), Math.max(0, pause));
  }

  #syncNow() {
    const position = Math.min(this.#syncFrom, this.#listener.whereabouts().position);
    this.#syncTimer = undefined;
    this.#syncFrom = Infinity;
    this.#lastSyncAt = performance.now();
    if (!this.isStored) {
      return;
    }
    const frame = { type: "conversation.sync", conversation: this.conversation, from_position: position };
    if (!this.#ask(frame)) {
      this.#fetchSnapshot(position);
    }
  }

  /**
   * Send by the socket what it has to answer; returns whether it could be handed over.
   * @param {object} frame
   */
  #ask(frame) {
    const isSent = this.socket.send(frame);
    if (isSent) {
      this.#owesSince ||= performance.now();
    }
    return isSent;
  }

  /**
   * Read what is stored by HTTP; returns whether there was an answer.
   * @param {number} position
   */
  async #fetchSnapshot(position) {
    try {
      this.#listener.onFrame(await this.#reach(getJson(`${this.urls.sync}?from=${position}`)));
    } catch (error) {
      if (!(error instanceof Refusal)) {
        return false; // the next poll asks again
      }
      this.#listener.onFrame({ type: "error", code: error.code, message: error.message });
    }
    return true;
  }

  /**
   * Send by the socket what is to be stored, and by HTTP where that is not open, too narrow or does not answer.
   * @param {string} type
   * @param {{client_id: string, content: string, message?: number, pictures?: number[]}} fields
   * @param {string} url
   * @returns {Promise<{cleaned: boolean, position: number}>}
   */
  async #store(type, fields, url) {
    await this.#changes;
    const fits = fields.content.length <= LARGEST_FRAME_CHARACTERS;
    const frame = { type, conversation: this.conversation, ...fields };
    const isSent = this.isStored && fits && this.#ask(frame);
    const stored = isSent ? await this.#acknowledged(fields.client_id) : undefined;
    return stored ?? this.#reach(postForm(url, { ...this.beginning, ...inForm(fields) }));
  }

  /**
   * @param {string} type
   * @param {Record<string, string | number>} fields
   * @param {string} url
   */
  async #act(type, fields, url) {
    if (!this.socket.send({ type, conversation: this.conversation, ...fields })) {
      await this.#reach(postForm(url, inForm(fields)));
      this.sync();
    }
  }

  /** Ask something by HTTP only to learn whether the server is there; a conversation that is stored is asked for. */
  async #probe() {
    await this.#reach(postForm(this.urls.estimate, { ...this.beginning, content: "" })).catch(() => undefined);
  }

  /**
   * Wait for an answer by HTTP and note whether there was one; a refusal is one.
   * @template T
   * @param {Promise<T>} request
   * @returns {Promise<T>}
   */
  async #reach(request) {
    const isReached = await request.then(
      () => true,
      (error) => error instanceof Refusal,
    );
    if (!this.socket.isOpen && !isReached) {
      this.#changeTransport("none");
    } else if (!this.socket.isOpen && this.socket.failures >= FAILURES_UNTIL_HTTP) {
      this.#changeTransport("http");
    }
    return request;
  }

  /** @param {Transport} transport */
  #changeTransport(transport) {
    if (this.#transport !== transport) {
      this.#transport = transport;
      this.#listener.onTransport(transport);
    }
  }

  /**
   * Resolve to the frame that says so, or to nothing if none came in time; reject if the socket refused.
   * @param {string} clientId
   * @returns {Promise<MessageStored | undefined>}
   */
  #acknowledged(clientId) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#unacknowledged.get(clientId)?.resolve(), ACKNOWLEDGE_MS);
      const forget = () => {
        clearTimeout(timer);
        this.#unacknowledged.delete(clientId);
        this.#leaveIfAcknowledged();
      };
      this.#unacknowledged.set(clientId, {
        resolve: (frame) => {
          forget();
          resolve(frame);
        },
        reject: (refusal) => {
          forget();
          reject(refusal);
        },
      });
    });
  }

  /** Ask when a reply streams and the socket says nothing: the process that makes it may be one it can't hear. */
  #breakSilence() {
    this.#dropIfDead();
    const silence = performance.now() - this.#heardAt;
    const { isStreaming } = this.#listener.whereabouts();
    if ((isStreaming && silence >= SILENCE_MS) || (this.#transport === "late" && silence >= IDLE_POLL_MS)) {
      this.sync();
    }
  }

  /**
   * Drop a socket that owes an answer while HTTP brings one, or that owes it for too long while HTTP brings nothing: a
   * server that is slow for both is waited for. Browsers keep a socket that the network has forgotten open for minutes,
   * and it takes what it is given.
   */
  async #dropIfDead() {
    const owesSince = this.#owesSince;
    const owes = owesSince ? performance.now() - owesSince : 0;
    if (owes < DOUBT_MS || this.#isChecking) {
      return;
    }
    this.#isChecking = true;
    const isDead = await this.#checkByHttp(owes).finally(() => {
      this.#isChecking = false;
    });
    if (isDead && this.#owesSince === owesSince && !this.signal.aborted) {
      this.socket.drop();
    }
  }

  /**
   * Return whether HTTP shows that a socket which has owed an answer for *owes* milliseconds is dead.
   *
   * A browser closes a connection whose request is given up. So all that it keeps are asked, and then a new one.
   * @param {number} owes
   */
  async #checkByHttp(owes) {
    const { position } = this.#listener.whereabouts();
    const checks = await Promise.all(Array.from({ length: KEPT_CONNECTIONS }, () => canReachServer(CHECK_MS)));
    const isReached = checks.includes(true) || (await canReachServer(CHECK_MS));
    return isReached ? this.#fetchSnapshot(position) : owes >= DEAD_MS;
  }

  #askAgain() {
    if (performance.now() - this.#heardAt >= SILENCE_MS) {
      this.sync();
    }
  }

  /** @param {ServerFrame} frame */
  #received(frame) {
    this.#owesSince = 0;
    if (frame.conversation === this.conversation) {
      this.#heardAt = performance.now(); // others' frames come by another topic, and say nothing about this one
    }
    if (frame.type === "conversation.snapshot") {
      this.#changeTransport(frame.live ? "socket" : "late");
    }
    const waiting = "client_id" in frame && frame.client_id ? this.#unacknowledged.get(frame.client_id) : undefined;
    if (waiting && frame.type === "message.stored") {
      waiting.resolve(frame);
    } else if (waiting && frame.type === "error") {
      waiting.reject(new Refusal(frame));
      return;
    }
    this.#listener.onFrame(frame);
  }

  #opened() {
    this.#owesSince = 0;
    clearTimeout(this.#pollTimer);
    this.#changeTransport("socket");
    this.sync();
  }

  /** @param {number} failures */
  #lost(failures) {
    this.#owesSince = 0;
    for (const { resolve } of [...this.#unacknowledged.values()]) {
      resolve();
    }
    if (failures >= FAILURES_UNTIL_HTTP || !navigator.onLine) {
      this.#poll();
    }
  }

  #poll() {
    clearTimeout(this.#pollTimer);
    if (this.socket.isOpen || this.signal.aborted) {
      return;
    }
    this.isStored ? this.sync() : this.#probe();
    const { isStreaming } = this.#listener.whereabouts();
    this.#pollTimer = setTimeout(() => this.#poll(), isStreaming ? POLL_MS : IDLE_POLL_MS);
  }
}

/**
 * Write *fields* as a form takes them.
 * @param {Record<string, string | number | number[]>} fields
 * @returns {Record<string, string | string[]>}
 */
function inForm(fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
  );
}
