/** The viewer's time zone: told to the server for the groups of the list, and used for every `<time>`. */

import { queryAll } from "./dom.js";

const YEAR_SECONDS = 60 * 60 * 24 * 365;
const LONG_AGO_MS = 300 * 24 * 60 * 60 * 1_000; // a day and a month alone would be taken for those of this year
const LOOK_AGAIN_MS = 60_000;
/** @type {Intl.DateTimeFormatOptions} */
export const CLOCK = { hour: "2-digit", minute: "2-digit" };

export function rememberTimeZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.cookie = `tz=${encodeURIComponent(zone)}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
}

/**
 * Write every `<time datetime>` in *root* as the viewer reads times, the whole date as its tooltip.
 * @param {ParentNode} root
 */
export function localiseTimes(root) {
  const formats = makeFormats();
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

/**
 * Return a format of moments in the page's language; in English day before month and 24 hours, as the server writes.
 * @param {Intl.DateTimeFormatOptions} options
 */
export function timeFormat(options) {
  const { lang } = document.documentElement;
  return new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, options);
}

/** Made once for all times of a page: they cost far more to make than to use. */
function makeFormats() {
  return {
    clock: timeFormat(CLOCK),
    dayAndClock: timeFormat({ day: "numeric", month: "short", ...CLOCK }),
    dayOfYear: timeFormat({ dateStyle: "medium" }),
    whole: timeFormat({ dateStyle: "full", timeStyle: "short" }),
  };
}

/**
 * @param {Date} moment
 * @param {ReturnType<typeof makeFormats>} formats
 */
function shortForm(moment, formats) {
  const isToday = moment.toDateString() === new Date().toDateString();
  const { clock, dayOfYear, dayAndClock } = formats;
  return (isToday ? clock : isLongAgo(moment) ? dayOfYear : dayAndClock).format(moment);
}
