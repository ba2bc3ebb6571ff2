/** Forms that a passkey fills: the browser asks for it, and its answer is what the form posts. */

import { fieldOf, find, queryAll } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

class OptionsUnreachable extends Error {}

/** @param {ParentNode} root */
export function startPasskeys(root) {
  for (const form of queryAll(root, "form[data-passkey]", HTMLFormElement)) {
    startPasskeyForm(form);
  }
}

/** @param {HTMLFormElement} form */
function startPasskeyForm(form) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    find(form, "button").hidden = true;
    say(form, sentence("passkeyUnsupported"));
    return;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    fill(form);
  });
}

/** @param {HTMLFormElement} form */
async function fill(form) {
  const button = find(form, "button", HTMLButtonElement);
  button.disabled = true;
  say(form, "");
  try {
    const options = await optionsOf(form);
    const credential = await askForPasskey(options.publicKey, form);
    fieldOf(form, "credential").value = JSON.stringify(credential);
    form.submit(); // which asks no listener
  } catch (error) {
    say(form, sentence(error instanceof OptionsUnreachable ? "passkeyOffline" : "passkeyFailed"));
    button.disabled = false;
  }
}

/**
 * Return the server's options for the browser: on the page, or fetched to sign a user in, as they hold for one try.
 * @param {HTMLFormElement} form
 */
async function optionsOf(form) {
  if (form.dataset.options) {
    return JSON.parse(find(document, `#${form.dataset.options}`, HTMLScriptElement).text);
  }
  try {
    const response = await fetch(form.action, { headers: { Accept: "application/json" }, credentials: "same-origin" });
    return (await response.json()).request_options;
  } catch {
    throw new OptionsUnreachable();
  }
}

/**
 * @param {any} publicKey the server's options
 * @param {HTMLFormElement} form
 */
function askForPasskey(publicKey, form) {
  return form.dataset.passkey === "create" ? createPasskey(publicKey, form) : usePasskey(publicKey);
}

/**
 * A passkey that stands for the password must be found without a name, and must ask for a finger, a face or a PIN.
 * @param {PublicKeyCredentialCreationOptionsJSON} publicKey
 * @param {HTMLFormElement} form
 */
async function createPasskey(publicKey, form) {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
  const alone = fieldOf(form, "passwordless").checked;
  options.authenticatorSelection = {
    ...options.authenticatorSelection,
    residentKey: alone ? "required" : "discouraged",
    requireResidentKey: alone,
    userVerification: alone ? "required" : options.authenticatorSelection?.userVerification,
  };
  return navigator.credentials.create({ publicKey: options });
}

/** @param {PublicKeyCredentialRequestOptionsJSON} publicKey */
async function usePasskey(publicKey) {
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
}

/**
 * @param {HTMLFormElement} form
 * @param {string} sentence
 */
function say(form, sentence) {
  const status = find(form, "[role=status]");
  status.textContent = sentence;
  status.hidden = !sentence;
}
