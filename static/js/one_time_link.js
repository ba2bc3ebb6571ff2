/** Takes the token from behind the # of a one-time link, out of the address bar, into the form. */

const form = document.querySelector("form[data-one-time-link]");
const token = location.hash.slice(1);

if (form && token) {
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.requestSubmit();
}
