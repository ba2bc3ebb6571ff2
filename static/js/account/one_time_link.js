/**
 * Takes the token from behind the # of a one-time link, out of the address bar, into the form.
 *
 * A second link opened in the same tab changes only what is behind the #: nothing is loaded then.
 */

import { fieldOf, query } from "../shared/dom.js";

const form = query(document, "form[data-one-time-link]", HTMLFormElement);

function submitToken() {
  const token = location.hash.slice(1);
  if (!form || !token) return;
  history.replaceState(null, "", location.pathname);
  fieldOf(form, "token").value = token;
  form.requestSubmit();
}

addEventListener("hashchange", () => {
  if (form) submitToken();
  // A reload would send the older token again; the empty query makes it another address, so the page is fetched.
  else if (location.hash) location.replace(`${location.pathname}?${location.hash}`);
});
submitToken();
