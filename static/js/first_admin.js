/** Takes the token from behind the # of the first admin's link, out of the address bar, into the form. */

const form = document.getElementById("first-admin");
const token = location.hash.slice(1);

if (form && token) {
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.requestSubmit();
}
