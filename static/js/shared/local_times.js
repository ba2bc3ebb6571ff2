/** The viewer's time zone: told to the server for the groups of the list, and used for every `<time>`. */

import { queryAll } from "./dom.js";

const YEAR_SECONDS = 60 * 60 * 24 * 365;
const LONG_AGO_MS = 300 * 24 * 60 * 60 * 1_000; // a day and a month alone would be taken for those of this year
const LOOK_AGAIN_MS = 60_000;

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

/**
 * Write all times once more when another day has begun: what was said at 10:39 was said yesterday then.
 * @param {() => void} onNewDay
 */
export function followDays(onNewDay) {
  let day = new Date().toDateString();

  function look() {
    const today = new Date().toDateString();
    if (today !== day) {
      day = today;
      for (const element of queryAll(document, "time[data-localised]")) {
        delete element.dataset.localised;
      }
      localiseTimes(document);
      onNewDay();
    }
  }

  setInterval(look, LOOK_AGAIN_MS);
  document.addEventListener("visibilitychange", look); // a machine that slept has not counted the minutes
}

/** @param {Date} moment */
export function isLongAgo(moment) {
  return Date.now() - moment.getTime() > LONG_AGO_MS;
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
    dayOfYear: new Intl.DateTimeFormat(language, { dateStyle: "medium" }),
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
  return isLongAgo(moment) ? formats.dayOfYear.format(moment) : `${formats.day.format(moment)}, ${clock}`;
}
