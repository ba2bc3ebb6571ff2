/** Requests to our own server. A refusal is thrown as `Refusal`, with the server's sentence. */

import { dataOf } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

const LONGEST_MS = 30_000; // a network that swallows everything says so at no time
const UNAVAILABLE = 503; // the database is away: as good as no answer

/** @import { SentenceName } from "../shared/sentences.js" */

export class Refusal extends Error {
  /** @param {{code: string, message: string}} answer */
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

/** The server could not be reached or did not answer as itself; *status* is 0 without any answer. */
export class Unreachable extends Error {
  /** @param {number} status */
  constructor(status) {
    super(`no answer (${status})`);
    this.status = status;
  }

  /** A proxy before the server may have a lower limit of its own, and answers in its own words. */
  get isTooLarge() {
    return this.status === 413;
  }
}

/**
 * Choose the sentence for what was thrown: the server's own for a refusal.
 * @param {unknown} error
 * @param {{tooLarge?: SentenceName, unreachable?: SentenceName}} names of the sentences when there is no answer
 * @returns {string}
 */
export function sentenceFor(error, { tooLarge = "tooLarge", unreachable = "unreachable" } = {}) {
  if (error instanceof Refusal && error.code) {
    return error.message;
  }
  return sentence(error instanceof Unreachable && error.isTooLarge ? tooLarge : unreachable);
}

/**
 * Return whether the server answers anything within *longestMs*.
 * @returns {Promise<boolean>}
 */
export async function canReachServer(longestMs = LONGEST_MS) {
  const signal = AbortSignal.timeout(longestMs);
  const response = await fetch("/healthz", { method: "HEAD", signal, cache: "no-store" }).catch(() => undefined);
  return Boolean(response);
}

/** Leave for the gate, which leads back here: the user may no longer be in. The draft is kept. */
export function goToGate() {
  const next = encodeURIComponent(location.pathname + location.search);
  location.replace(`${document.body.dataset.gate}?next=${next}`);
}

/**
 * @param {string} url
 * @returns {Promise<any>}
 */
export function getJson(url) {
  return request(url, { method: "GET" });
}

/**
 * @param {string} url
 * @param {Record<string, string | string[]>} fields one with several values is sent once for each
 * @returns {Promise<any>}
 */
export function postForm(url, fields = {}) {
  const headers = { "X-CSRFToken": dataOf(document.body, "csrfToken") };
  const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const body = new URLSearchParams(pairs);
  // What was pressed just before the page is left still arrives; browsers refuse it for 64 kB and more.
  return request(url, { method: "POST", headers, body, keepalive: String(body).length < 16_000 });
}

/**
 * Return the element *selector* of a piece of a page.
 * @param {string} url
 * @param {string} selector
 * @returns {Promise<HTMLElement>}
 */
export async function getFragment(url, selector) {
  const headers = { "HX-Request": "true" };
  const signal = AbortSignal.timeout(LONGEST_MS);
  const response = await fetch(url, { headers, signal, credentials: "same-origin" }).catch(() => undefined);
  const template = document.createElement("template");
  template.innerHTML = response?.ok ? await response.text() : "";
  const element = /** @type {HTMLElement | null} */ (template.content.querySelector(selector));
  if (!element) {
    throw new Unreachable(response?.status ?? 0);
  }
  return element;
}

/**
 * @param {string} url
 * @param {{method: string, headers?: Record<string, string>, body?: URLSearchParams, keepalive?: boolean}} options
 * @returns {Promise<any>}
 */
async function request(url, options) {
  const headers = { Accept: "application/json", ...options.headers };
  const signal = AbortSignal.timeout(LONGEST_MS);
  const response = await fetch(url, { ...options, headers, signal, credentials: "same-origin" }).catch(() => undefined);
  const answer = await response?.json().catch(() => undefined);
  if (!response || !answer || response.status === UNAVAILABLE) {
    throw new Unreachable(response?.status ?? 0);
  }
  if (answer.door === "gate") {
    goToGate();
  }
  if (!response.ok) {
    throw new Refusal(answer);
  }
  return answer;
}
