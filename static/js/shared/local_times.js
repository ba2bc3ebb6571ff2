/** The viewer's time zone: told to the server for the groups of the list, and used for every `<time>`. */

import { queryAll } from "./dom.js";

const YEAR_SECONDS = 60 * 60 * 24 * 365;

export function rememberTimeZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.cookie = `tz=${encodeURIComponent(zone)}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
}

/**
 * Write every `<time datetime>` in *root* as the viewer reads times, the whole date as its tooltip.
 * @param {ParentNode} root
 */
export function localiseTimes(root) {
  const formats = formatsFor(viewersLanguage());
  for (const element of queryAll(root, "time[datetime]:not([data-localised])", HTMLTimeElement)) {
    const moment = new Date(element.dateTime);
    element.dataset.localised = "";
    element.textContent = shortForm(moment, formats);
    element.title = formats.whole.format(moment);
  }
}

/** The page's language as it is written where the viewer lives: en-GB rather than en. */
function viewersLanguage() {
  const { lang } = document.documentElement;
  return navigator.languages.find((language) => language.split("-")[0] === lang.split("-")[0]) ?? lang;
}

/**
 * Made once for all times of a page: they cost far more to make than to use.
 * @param {string} language
 */
function formatsFor(language) {
  return {
    clock: new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" }),
    day: new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }),
    whole: new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short" }),
  };
}

/**
 * @param {Date} moment
 * @param {ReturnType<typeof formatsFor>} formats
 */
function shortForm(moment, formats) {
  const clock = formats.clock.format(moment);
  if (moment.toDateString() === new Date().toDateString()) {
    return clock;
  }
  return `${formats.day.format(moment)}, ${clock}`;
}
