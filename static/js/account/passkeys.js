/** Forms that a passkey fills: the browser asks for it, and its answer is what the form posts. */

class Unreachable extends Error {}

const CEREMONIES = { create: createPasskey, get: usePasskey };

for (const form of document.querySelectorAll("form[data-passkey]")) {
  startPasskeyForm(form);
}

function startPasskeyForm(form) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    form.querySelector("button").hidden = true;
    say(form, form.dataset.textUnsupported);
    return;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    fill(form);
  });
}

async function fill(form) {
  const button = form.querySelector("button");
  button.disabled = true;
  say(form, "");
  try {
    const options = await optionsOf(form);
    const credential = await CEREMONIES[form.dataset.passkey](options.publicKey, form);
    form.elements.credential.value = JSON.stringify(credential);
    form.submit(); // which asks no listener
  } catch (error) {
    say(form, error instanceof Unreachable ? form.dataset.textOffline : form.dataset.textFailed);
    button.disabled = false;
  }
}

/** What to ask for is on the page, or is fetched when a passkey is to sign somebody in: it holds for one try. */
async function optionsOf(form) {
  if (form.dataset.options) {
    return JSON.parse(document.getElementById(form.dataset.options).textContent);
  }
  try {
    const response = await fetch(form.action, { headers: { Accept: "application/json" }, credentials: "same-origin" });
    return (await response.json()).request_options;
  } catch {
    throw new Unreachable();
  }
}

/** A passkey that stands for the password must be found without a name, and must ask for a finger, a face or a PIN. */
async function createPasskey(publicKey, form) {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
  const alone = form.elements.passwordless.checked;
  options.authenticatorSelection = {
    ...options.authenticatorSelection,
    residentKey: alone ? "required" : "discouraged",
    requireResidentKey: alone,
    userVerification: alone ? "required" : options.authenticatorSelection.userVerification,
  };
  return navigator.credentials.create({ publicKey: options });
}

async function usePasskey(publicKey) {
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
}

function say(form, words) {
  const place = form.querySelector("[role=status]");
  place.textContent = words;
  place.hidden = !words;
}
