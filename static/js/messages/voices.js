/** Whether the browser has a voice to read a reply aloud; where it has none the buttons for that are not shown. */

/** @param {AbortSignal} signal ends it */
export function followVoices(signal) {
  const speech = window.speechSynthesis;
  const show = () => document.documentElement.toggleAttribute("data-speaks", speech.getVoices().length > 0);
  if (speech) {
    show();
    speech.addEventListener?.("voiceschanged", show, { signal });
  }
}
