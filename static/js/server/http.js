/** Requests to our own server. A refusal is thrown as `Refusal`, with the server's sentence. */

import { goToGate } from "./gate.js";

export class Refusal extends Error {
  /** @param {{code: string, message: string}} answer */
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

/** The server could not be reached or did not answer as itself; *status* is 0 without any answer. */
export class Unreachable extends Error {
  constructor(status) {
    super(`no answer (${status})`);
    this.status = status;
  }
}

export function getJson(url) {
  return request(url, { method: "GET" });
}

/** @param {Record<string, string>} fields */
export function postForm(url, fields = {}) {
  const headers = { "X-CSRFToken": document.body.dataset.csrfToken };
  return request(url, { method: "POST", headers, body: new URLSearchParams(fields) });
}

/**
 * Return the element *selector* of a piece of a page.
 * @returns {Promise<HTMLElement>}
 */
export async function getFragment(url, selector) {
  const headers = { "HX-Request": "true" };
  const response = await fetch(url, { headers, credentials: "same-origin" }).catch(() => undefined);
  const template = document.createElement("template");
  template.innerHTML = response?.ok ? await response.text() : "";
  const element = template.content.querySelector(selector);
  if (!element) {
    throw new Unreachable(response?.status ?? 0);
  }
  return element;
}

async function request(url, options) {
  const headers = { Accept: "application/json", ...options.headers };
  const response = await fetch(url, { ...options, headers, credentials: "same-origin" }).catch(() => undefined);
  const answer = await response?.json().catch(() => undefined);
  if (!answer) {
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
