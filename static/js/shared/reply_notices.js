/** Whether this browser is to say that a reply is done: the user's choice here, and the browser's permission. */

const KEY = "reply-notices";
/** Of a reply that is done, before the title, until the page is looked at. */
export const MARK = "● ";

/** @returns {boolean} */
export function areNoticesOn() {
  return isSupported() && Notification.permission === "granted" && read() === "on";
}

/** @returns {boolean} */
export function isSupported() {
  return "Notification" in window;
}

/**
 * @param {boolean} isOn
 * @returns {Promise<boolean>} whether they are on now: the browser may ask, and the user refuse
 */
export async function switchNotices(isOn) {
  try {
    localStorage.setItem(KEY, isOn ? "on" : "off");
  } catch {
    return false; // a browser that keeps nothing
  }
  if (isOn && Notification.permission === "default") {
    await Notification.requestPermission();
  }
  return areNoticesOn();
}

function read() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
