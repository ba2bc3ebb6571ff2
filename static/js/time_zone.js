/** The viewer's time zone: told to the server for the groups of the list, and used for every `<time>`. */

const YEAR_SECONDS = 60 * 60 * 24 * 365;

export function rememberTimeZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.cookie = `tz=${encodeURIComponent(zone)}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
}

/** Write every `<time datetime>` in *root* in the viewer's words, the whole date as its tooltip. */
export function localiseTimes(root) {
  const language = viewersLanguage();
  for (const element of root.querySelectorAll("time[datetime]:not([data-localised])")) {
    const moment = new Date(element.dateTime);
    element.dataset.localised = "";
    element.textContent = shortForm(moment, language);
    element.title = moment.toLocaleString(language, { dateStyle: "full", timeStyle: "short" });
  }
}

/** The page's language as it is written where the viewer lives: en-GB rather than en. */
function viewersLanguage() {
  const { lang } = document.documentElement;
  return navigator.languages.find((language) => language.split("-")[0] === lang.split("-")[0]) ?? lang;
}

function shortForm(moment, language) {
  const clock = moment.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
  if (moment.toDateString() === new Date().toDateString()) {
    return clock;
  }
  return `${moment.toLocaleDateString(language, { day: "numeric", month: "short" })}, ${clock}`;
}
