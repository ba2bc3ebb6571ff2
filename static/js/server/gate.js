/** What a page does when its person may no longer be in: the draft is kept, and the gate leads back here. */

export function goToGate() {
  const next = encodeURIComponent(location.pathname + location.search);
  location.replace(`${document.body.dataset.gate}?next=${next}`);
}
