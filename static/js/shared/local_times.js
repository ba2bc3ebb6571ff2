/** The viewer's time zone: told to the server for the groups of the list, and used for every `<time>`. */

const YEAR_SECONDS = 60 * 60 * 24 * 365;

export function rememberTimeZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.cookie = `tz=${encodeURIComponent(zone)}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
}

/** Write every `<time datetime>` in *root* in the viewer's words, the whole date as its tooltip. */
export function localiseTimes(root) {
  const words = wordsFor(viewersLanguage());
  for (const element of root.querySelectorAll("time[datetime]:not([data-localised])")) {
    const moment = new Date(element.dateTime);
    element.dataset.localised = "";
    element.textContent = shortForm(moment, words);
    element.title = words.whole.format(moment);
  }
}

/** The page's language as it is written where the viewer lives: en-GB rather than en. */
function viewersLanguage() {
  const { lang } = document.documentElement;
  return navigator.languages.find((language) => language.split("-")[0] === lang.split("-")[0]) ?? lang;
}

/** What is made once for all times of a page: it costs far more to make than to use. */
function wordsFor(language) {
  return {
    clock: new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" }),
    day: new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }),
    whole: new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short" }),
  };
}

function shortForm(moment, words) {
  const clock = words.clock.format(moment);
  if (moment.toDateString() === new Date().toDateString()) {
    return clock;
  }
  return `${words.day.format(moment)}, ${clock}`;
}
